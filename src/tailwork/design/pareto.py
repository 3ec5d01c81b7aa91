"""Trade-offs between several goals: designs of which none is better in one goal without being worse in another.

An evolutionary method (NSGA-III, by pymoo) spreads designs over the front. Each is then polished: its first goal is
made the best that it can be while the others stay as they are. Without pymoo, the screen's own best are polished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from tailwork.design.evaluate import Evaluator
from tailwork.design.nlp import Program, sides_of
from tailwork.design.problem import Goal, Limit
from tailwork.design.search import ALLOWED, Progress, Screen, impossible, screened, violations
from tailwork.kernels.kernel import Floats

GENERATIONS, POPULATION = 60, 128
POINTS = 48
"""Of the front that are polished."""


@dataclass(frozen=True)
class Front:
    """Designs of a Pareto set and their goals, sorted by the first goal."""

    designs: Floats  # (points, variables)
    goals: dict[str, Floats]  # by measure, (points,)
    method: str  # by which it was spread
    polished: int  # points that the polish has improved


def front(evaluator: Evaluator, tell: Progress = lambda what: None, points: int = POINTS) -> Front:
    """The Pareto set of a problem with several goals.

    Raises:
        ImpossibleError: no design meets the limits.
    """
    goals = evaluator.study.goals
    tell("screening")
    screen = screened(evaluator)
    evolved = find_spec("pymoo") is not None
    tell(f"evolving {GENERATIONS} generations" if evolved else "pymoo is not installed: taking the screen's best")
    designs = _evolved(evaluator, screen) if evolved else screen.designs[screen.violation <= 0.0]
    if not len(designs):
        raise impossible(evaluator, screen, tell)
    values = _costs(evaluator, designs)
    kept = _spread(values[_nondominated(values)], points)
    designs = designs[_nondominated(values)][kept]
    better: list[Floats] = []
    count = 0
    for k, design in enumerate(designs):
        tell(f"polishing {k + 1} of {len(designs)}")
        solved = _polished(evaluator, design)
        count += solved is not design
        better.append(solved)
    ends = np.array(better)
    costs = _costs(evaluator, ends)
    ends = ends[_nondominated(costs)]
    measures = evaluator.measures(ends, [goal.measure for goal in goals])
    order = np.argsort(measures[goals[0].measure])
    return Front(
        ends[order], {name: x[order] for name, x in measures.items()}, "NSGA-III" if evolved else "screen", count
    )


def _signs(goals: Sequence[Goal]) -> Floats:
    return np.array([-1.0 if goal.sense == "most" else 1.0 for goal in goals])


def _costs(evaluator: Evaluator, designs: Floats) -> Floats:
    """Goals of designs, the less the better, (designs, goals)."""
    goals = evaluator.study.goals
    found = evaluator.measures(designs, [goal.measure for goal in goals])
    costs = np.stack([found[goal.measure] for goal in goals], axis=1) * _signs(goals)
    return np.where(np.isfinite(costs), costs, np.inf)


def _nondominated(costs: Floats) -> np.ndarray:
    """Which rows no other row is at least as good as in everything and better in something."""
    fine: np.ndarray = np.array(np.isfinite(costs).all(axis=1))
    for k in np.flatnonzero(fine):
        others = costs[fine]
        fine[k] = not ((others <= costs[k]).all(axis=1) & (others < costs[k]).any(axis=1)).any()
    return fine


def _spread(costs: Floats, count: int) -> np.ndarray:
    """Rows far apart: the best in each goal, then each time the farthest from those chosen."""
    span = np.ptp(costs, axis=0)
    scaled = (costs - costs.min(axis=0)) / np.where(span > 0.0, span, 1.0)
    chosen = list(dict.fromkeys(scaled.argmin(axis=0).tolist()))
    while len(chosen) < min(count, len(costs)):
        away = np.linalg.norm(scaled[:, None] - scaled[chosen], axis=2).min(axis=1)
        if away.max() <= 0.0:
            break
        chosen.append(int(away.argmax()))
    return np.array(chosen)


def _polished(evaluator: Evaluator, design: Floats) -> Floats:
    """The design on the front that is as good in all goals but the first, which is the best that it can be there."""
    goals, measured = evaluator.study.goals, evaluator.measures
    before = measured(design[None], [goal.measure for goal in goals])
    floors = [
        Limit(goal.measure, least=float(before[goal.measure][0]))
        if goal.sense == "most"
        else Limit(goal.measure, most=float(before[goal.measure][0]))
        for goal in goals[1:]
    ]
    scale = max(abs(float(before[goals[0].measure][0])), 1e-9)
    solved = Program(evaluator, goals[0], sides_of([*evaluator.study.limits, *floors]), scale).solve(design)
    gain = (solved.goal - float(before[goals[0].measure][0])) * (1.0 if goals[0].sense == "most" else -1.0)
    return solved.design if solved.violation <= ALLOWED and gain > 0.0 else design


def _evolved(evaluator: Evaluator, screen: Screen) -> Floats:
    """Designs that an evolutionary method has spread over the front, within all limits."""
    from pymoo.algorithms.moo.nsga3 import NSGA3
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize
    from pymoo.util.ref_dirs import get_reference_directions

    study = evaluator.study
    sides = sides_of(study.limits)
    names = list(dict.fromkeys([g.measure for g in study.goals] + [x.measure for x in study.limits]))
    signs = _signs(study.goals)

    class Designing(Problem):
        def __init__(self) -> None:
            super().__init__(
                n_var=len(evaluator.variables), n_obj=len(study.goals), n_ieq_constr=max(1, len(sides)),
                xl=evaluator.low, xu=evaluator.high,
            )  # fmt: skip

        def _evaluate(self, x: Floats, out: dict[str, Any], *_: Any, **__: Any) -> None:
            found = evaluator.measures(np.ascontiguousarray(x, dtype=np.float64), names)
            costs = np.stack([found[goal.measure] for goal in study.goals], axis=1) * signs
            over = [side.sign * (found[side.limit.measure] - side.bound) / side.scale for side in sides]
            out["F"] = np.where(np.isfinite(costs), costs, 1e6)
            out["G"] = np.nan_to_num(np.stack(over, axis=1), nan=1e6) if over else np.full((len(x), 1), -1.0)

    directions = get_reference_directions("energy", len(study.goals), POPULATION, seed=study.seed)
    first = screen.designs[np.argsort(screen.violation, kind="stable")[: len(directions)]]
    sampling: Any = first  # pymoo takes the designs themselves as well
    method = NSGA3(ref_dirs=directions, pop_size=len(directions), sampling=sampling)
    found: Any = minimize(Designing(), method, ("n_gen", GENERATIONS), seed=study.seed, verbose=False)
    last: Floats = np.atleast_2d(np.asarray(found.pop.get("X"), dtype=np.float64))
    within = violations(sides, evaluator.measures(last, names)) <= ALLOWED if sides else np.ones(len(last), dtype=bool)
    return last[within]
