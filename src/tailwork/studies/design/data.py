"""Answers as plain data, as JSON holds it, and back. Runs are files of their own, known by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tailwork.simulation import Run
from tailwork.studies.data import json_value, made
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.multistart import Screen
from tailwork.studies.design.pareto import Partial
from tailwork.studies.design.problem import Study
from tailwork.studies.design.variables import design_of
from tailwork.studies.scenario import Scenario

BEST, GIVEN, POINT = "best", "given", "point-{:02d}"
"""Names of runs: of the best design, of the robot as the problem has it, and of points of a front, from 1."""
OF_SCREEN = 256
"""Designs of the screen that are kept: the best ones."""


def answer_data(answer: Answer) -> tuple[dict[str, Any], dict[str, Run]]:
    """An answer as plain data, and its runs by name."""
    runs = {BEST: answer.verified.run}
    if answer.given is not None:
        runs[GIVEN] = answer.given.run
    if answer.front is not None:
        runs |= {POINT.format(k + 1): one.run for k, one in answer.front.samples.items()}
    kept = replace(answer, search=replace(answer.search, screen=_best_of(answer)))
    return {"design": json_value(answer.values), **json_value(kept, but=(Study, Scenario, Run))}, runs


def answer_from(data: Mapping[str, Any], study: Study, runs: Mapping[str, Run]) -> Answer:
    """The answer that was kept; of its screen there are the best designs."""

    def whole(one: Mapping[str, Any], design: Any, run: str) -> dict[str, Any]:
        return {**one, "design": design_of(study, study.named(design)), "run": runs[run]}

    given, front = data["given"], data["front"]
    if given is not None:
        given = {**given, "run": runs[GIVEN]}
    if front is not None:
        samples = {int(k): one for k, one in front["samples"].items()}
        seen = {k: whole(one, front["designs"][k], POINT.format(k + 1)) for k, one in samples.items()}
        front = {**front, "samples": seen}
    checked = whole(data["verified"], data["best"]["design"], BEST)
    found = made(Answer, {**data, "study": study, "verified": checked, "given": given, "front": front})
    if not found.search.optima:
        raise ValueError("no optimum")
    return found


def partial_from(data: Mapping[str, Any], size: int, goals: int) -> Partial:
    """A front under way, of so many variables and goals."""
    found = made(Partial, data)
    return replace(found, ends=found.ends.reshape(-1, size), rates=found.rates.reshape(-1, goals - 1))


def _best_of(answer: Answer) -> Screen:
    """The best designs of the screen: within the limits first, then by the goal."""
    screen, goal = answer.search.screen, answer.study.goals[0]
    merit = screen.measures[goal.measure] * goal.sign
    order = np.lexsort((np.where(np.isfinite(merit), merit, np.inf), screen.violation))[:OF_SCREEN]
    order = order[np.isfinite(merit[order]) & np.isfinite(screen.violation[order])]
    measures = {name: values[order] for name, values in screen.measures.items()}
    return Screen(screen.designs[order], measures, screen.violation[order])
