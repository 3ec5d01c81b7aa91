"""Answers as plain data, as JSON holds it, and back. Runs are files of their own, known by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tailwork.simulation import Run
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.nlp import Solved
from tailwork.studies.design.pareto import Front, Partial
from tailwork.studies.design.problem import Study
from tailwork.studies.design.search import Found, Optimum, Screen
from tailwork.studies.design.uncertainty import Indices, Robust, Swing, Tolerance
from tailwork.studies.design.variables import design_of
from tailwork.studies.design.verify import Alone, Verified
from tailwork.typing import Floats

BEST, GIVEN = "best", "given"
"""Names of runs: of the best design, and of the robot as the problem has it."""
INFINITE = {None: math.nan, "inf": math.inf, "-inf": -math.inf}
"""What stands in JSON for numbers that it does not have."""
OF_SCREEN = 256
"""Designs of the screen that are kept: the best ones."""


def plain(value: Any) -> Any:
    """A value as JSON holds it: arrays and tuples as lists, numbers that are none as null, infinite ones as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def answer_data(answer: Answer) -> tuple[dict[str, Any], dict[str, Run]]:
    """An answer as plain data, and its runs by name."""
    runs = {BEST: answer.verified.run}
    if answer.given is not None:
        runs[GIVEN] = answer.given.run
    data: dict[str, Any] = {
        "choice": answer.choice,
        "design": answer.values,
        "best": answer.best,
        "optima": answer.found.optima,
        "starts": answer.found.starts,
        "screen": _best_of(answer),
        "verified": _measures(answer.verified),
        "given": None if answer.given is None else answer.given.measures,
        "swings": answer.swings,
        "indices": answer.indices,
        "tolerance": answer.tolerance,
        "airborne": answer.airborne,
        "robust": answer.robust,
        "unguarded": answer.unguarded,
        "margins": answer.margins,
    }
    if answer.front is not None:
        rest = {f.name: getattr(answer.front, f.name) for f in fields(answer.front) if f.name != "samples"}
        samples = answer.front.samples
        data["front"] = {**rest, "samples": {str(k): _measures(one) for k, one in samples.items()}}
        runs |= {_point(k): one.run for k, one in samples.items()}
    return plain(data), runs


def answer_from(data: Mapping[str, Any], study: Study, runs: Mapping[str, Run]) -> Answer:
    """The answer that was kept; of its screen there are the best designs."""
    best = _solved(data["best"])
    optima = tuple(Optimum(_solved(one["solved"]), one["times"]) for one in data["optima"])
    if not optima:
        raise ValueError("no optimum")
    screen = data["screen"]
    return Answer(
        study=study,
        choice=dict(data["choice"]),
        found=Found(
            optima, data["starts"],
            Screen(_array(screen["designs"]), _arrays(screen["measures"]), _array(screen["violation"])),
        ),
        best=best,
        verified=_verified(data["verified"], study, best.design, runs[BEST]),
        given=None if data["given"] is None else Alone(runs[GIVEN], as_numbers(data["given"])),
        swings=tuple(Swing(**as_numbers(one)) for one in data["swings"]),
        indices=Indices(
            tuple(data["indices"]["variables"]), _array(data["indices"]["first"]), _array(data["indices"]["total"]),
            data["indices"]["judged"],
        ),
        tolerance=_tolerance(data["tolerance"]),
        airborne=data["airborne"],
        robust=None if data["robust"] is None else Robust(**data["robust"]),
        unguarded=None if data["unguarded"] is None else _solved(data["unguarded"]),
        margins=data["margins"],
        front=_front(data["front"], study, runs) if "front" in data else None,
    )  # fmt: skip


def partial_from(data: Mapping[str, Any], size: int, goals: int) -> Partial:
    """A front under way, of so many variables and goals."""
    return Partial(
        data["method"],
        _array(data["starts"]).reshape(-1, size),
        _array(data["ends"]).reshape(-1, size),
        _array(data["rates"]).reshape(-1, goals - 1),
        data["polished"],
    )


def _best_of(answer: Answer) -> Screen:
    """The best designs of the screen: within the limits first, then by the goal."""
    screen, goal = answer.found.screen, answer.study.goals[0]
    merit = screen.measures[goal.measure] * (-1.0 if goal.sense == "most" else 1.0)
    order = np.lexsort((np.where(np.isfinite(merit), merit, np.inf), screen.violation))[:OF_SCREEN]
    order = order[np.isfinite(merit[order]) & np.isfinite(screen.violation[order])]
    measures = {name: values[order] for name, values in screen.measures.items()}
    return Screen(screen.designs[order], measures, screen.violation[order])


def _measures(one: Verified) -> dict[str, dict[str, float]]:
    return {"coarse": one.coarse, "fine": one.fine, "alone": one.alone}


def _verified(data: Mapping[str, Any], study: Study, design: Floats, run: Run) -> Verified:
    names = (variable.name for variable in study.variables)
    return Verified(
        design_of(study, dict(zip(names, design.tolist(), strict=True))), run,
        as_numbers(data["coarse"]), as_numbers(data["fine"]), as_numbers(data["alone"]),
    )  # fmt: skip


def _solved(data: Mapping[str, Any]) -> Solved:
    return Solved(**{**as_numbers(data), "design": _array(data["design"])})


def _tolerance(data: Mapping[str, Any]) -> Tolerance:
    histograms = {name: (_array(borders), _array(counts)) for name, (borders, counts) in data["histograms"].items()}
    numbers = {name: as_numbers(data[name]) for name in ("mean", "deviation", "low", "high")}
    return Tolerance(data["spread"], data["count"], **numbers, violated=data["violated"], histograms=histograms,
                     judged=data["judged"])  # fmt: skip


def _front(data: Mapping[str, Any], study: Study, runs: Mapping[str, Run]) -> Front:
    designs = _array(data["designs"])
    return Front(
        designs=designs,
        measures=_arrays(data["measures"]),
        rates=_arrays(data["rates"]),
        agree=tuple(data["agree"]),
        excess=data["excess"],
        method=data["method"],
        polished=data["polished"],
        samples={
            int(k): _verified(one, study, designs[int(k)], runs[_point(int(k))]) for k, one in data["samples"].items()
        },
    )  # fmt: skip


def _point(k: int) -> str:
    """Name of the run of a front's point."""
    return f"point-{k + 1:02d}"


def _array(values: Any) -> Floats:
    return np.array(values, dtype=np.float64)  # null becomes not a number


def _arrays(data: Mapping[str, Any]) -> dict[str, Floats]:
    return {name: _array(values) for name, values in data.items()}


def as_numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    """What JSON holds by name, with numbers that are none, or infinite, as such again."""
    return {name: INFINITE.get(value, value) if isinstance(value, (str, type(None))) else value
            for name, value in data.items()}  # fmt: skip
