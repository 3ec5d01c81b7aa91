"""Tables of a sweep: the designs at the ends of each measure, and why designs ended early."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.format import rounded
from tailwork.studies.perform import perform_many
from tailwork.studies.possible import CHECKS, footnote, impossible, marked
from tailwork.studies.sweep.folder import Results

SHOWN = 5
"""Designs at each end of a measure."""
TAIL_HEADS = ("tail [kg]", "tail [m]")
_NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
"""A number that stands by itself, not one in a name such as leg4."""


@dataclass(frozen=True)
class Extremes:
    """The designs with the highest and the lowest values of a measure, of those that ran to their end."""

    heads: list[str]  # of the columns between what was varied and the value
    rows: list[list[str]]  # "highest", "lowest" or "", number of the design, varied, size of the tail, value
    note: str  # what marks mean; empty: there are none
    wrong: dict[int, list[str]]  # by design: what is impossible about it


def ends(results: Results) -> dict[str, Extremes]:
    """By measure: the designs at its ends, with total mass [kg] and length [m] of the tail unless they are varied.

    These designs are performed again, to mark those that are impossible.
    """
    chosen = {name: _ends(results, name) for name in results.sweep.measures}
    designs = sorted({design for own in chosen.values() for _, design in own})
    runs: dict[int, dict[str, float]] = {}
    if designs:
        values = {path: column[designs] for path, column in results.values.items()}
        found = perform_many(results.sweep.scenario, values, measures=CHECKS).measures
        runs = {design: {name: float(found[name][k]) for name in CHECKS} for k, design in enumerate(designs)}
    return {name: _table(results, name, own, runs) for name, own in chosen.items()}


def _ends(results: Results, measure: str) -> list[tuple[str, int]]:
    """The designs at the ends of a measure, each with what stands before it."""
    values = results.measures[measure]
    candidates = np.flatnonzero(results.whole & np.isfinite(values))
    order = candidates[np.argsort(values[candidates], kind="stable")].tolist()
    parts = {"highest": order[::-1]}
    if len(order) > 2 * SHOWN:
        parts = {"highest": order[::-1][:SHOWN], "lowest": order[:SHOWN]}
    return [("" if k else which, design) for which, some in parts.items() for k, design in enumerate(some)]


def _table(
    results: Results, measure: str, chosen: list[tuple[str, int]], runs: Mapping[int, Mapping[str, float]]
) -> Extremes:
    varied = [[f"{column[design]:.4g}" for column in results.values.values()] for _, design in chosen]
    sizes = [[f"{float(total):.4g}" for total in _tail_size(results, design)] for _, design in chosen]
    known = list(zip(*varied, strict=True))
    shown = [k for k, column in enumerate(zip(*sizes, strict=True)) if column not in known]
    rows = []
    for (which, design), own, size in zip(chosen, varied, sizes, strict=True):
        value = rounded(float(results.measures[measure][design]))
        cells = [str(design), *own, *(size[k] for k in shown), value]
        rows.append([which, *marked(cells, [*([""] * (len(cells) - 2)), measure], runs[design])])
    own = {design: runs[design] for _, design in chosen}
    wrong = {design: list(impossible(found).values()) for design, found in own.items()}
    return Extremes([TAIL_HEADS[k] for k in shown], rows, footnote(own.values()), wrong)


def _tail_size(results: Results, design: int) -> tuple[Scalar, Scalar]:
    """Mass of the tail of a design with its actuators [kg], and its length [m]."""
    scenario = results.sweep.scenario
    changes = {path: column[design].item() for path, column in results.values.items()}
    tail = scenario.with_robot(scenario.robot.replace(changes)).tail_part
    return tail.carried_mass(), tail.total_length()


def reason_rows(results: Results) -> list[tuple[int, int, str]]:
    """Why designs ended early or are not possible: how many, the number of one, and its reason; the most first.

    Reasons that differ only in their numbers count as one.
    """
    counts = np.bincount(results.which, minlength=len(results.texts))
    firsts = np.full(len(results.texts), -1)
    firsts[results.which[::-1]] = np.arange(len(results.which))[::-1]
    groups: dict[str, tuple[int, int, str]] = {}
    for text, count, first in sorted(zip(results.texts, counts, firsts, strict=True), key=lambda found: found[2]):
        if text:
            kind = _NUMBER.sub("#", text)
            before = groups.get(kind, (0, int(first), text))
            groups[kind] = (before[0] + int(count), before[1], before[2])
    return sorted(groups.values(), key=lambda found: (-found[0], found[1]))


def ended_text(results: Results) -> str:
    """How many designs ended early and how many are not possible; empty: none."""
    lost = ((int(results.early.sum()), "ended early"), (int(results.refused.sum()), "not possible"))
    said = " and ".join(f"{count:,} {what}" for count, what in lost if count)
    return f"of {results.sweep.designs:,} designs, {said}" if said else ""


def no_value_text(results: Results) -> str:
    """Why no design has a value of a measure."""
    if results.whole.any():
        return "no design has a value: this robot has nothing that it measures"
    count, _, reason = reason_rows(results)[0]
    return f"no design ran to its end ({count:,} of {results.sweep.designs:,}: {reason})"


def warning_text(results: Results) -> str:
    """How many designs are not to be trusted, and why, of the first of them; empty: none."""
    if not results.warned:
        return ""
    first, said = next(iter(results.warned.items()))
    return f"{len(results.warned):,} designs are not to be trusted: {said} (design {first})"
