"""Trade-offs between several goals: designs of which none is better in one goal without being worse in another.

An evolutionary method (NSGA-III, by pymoo) spreads designs over the front. Each is then polished: its first goal is
made the best that it can be while the others stay as they are. Without pymoo, the screen's own best are polished.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.multistart import (
    Screen,
    Tell,
    far_apart,
    infeasible_limits,
    refuse_unused,
    screened,
    violations,
)
from tailwork.studies.design.optimizer import Program, Solution, sides_of
from tailwork.studies.design.problem import Goal, Limit
from tailwork.studies.design.verify import FINER, Verified, verified
from tailwork.studies.possible import ALLOWED, CHECKS
from tailwork.typing import Floats

GENERATIONS, POPULATION = 60, 128
POINTS = 48
"""Of the front that are polished."""


@dataclass(frozen=True)
class Partial:
    """A front under way: designs that are spread over it, of which the first few have been polished."""

    method: str
    starts: Floats  # (points, variables)
    ends: Floats  # (points done, variables)
    rates: Floats  # (points done, goals − 1): gain of the first goal for each unit that another one is given up
    polished: int = 0  # ends that are better than their starts


@dataclass(frozen=True)
class Front:
    """Designs of a Pareto set, sorted by the first goal, looked at again at finer steps and by single adaptive runs."""

    designs: Floats  # (points, variables)
    measures: dict[str, Floats]  # goals, what is limited and what may be impossible, at finer steps, (points,)
    rates: dict[str, Floats]  # by goal but the first: gain of the first one for each unit given up; NaN: none
    agree: tuple[bool, ...]  # whether each point's single adaptive run agrees
    excess: float  # worst violation of a limit at finer steps, as a share of its bound
    method: str  # by which it was spread
    polished: int  # points that the polish has improved
    samples: dict[int, Verified]  # points to be looked at: the best in each goal and the most even one


def front(
    evaluator: Evaluator, tell: Tell = lambda what: None, also: Floats | None = None,
    before: Partial | None = None, keep: Callable[[Partial], None] = lambda partial: None,
) -> Front:  # fmt: skip
    """The Pareto set of a problem with several goals.

    Args:
        evaluator: of the problem.
        tell: told what is done next.
        also: further designs within the limits, (designs, variables), such as the best for one goal alone.
        before: what was finished before an interruption.
        keep: told of each point that is finished.

    Raises:
        ImpossibleError: no design meets the limits.
        ArgumentError: a variable does nothing.
    """
    partial = before or _begun(evaluator, tell, also)
    finer = evaluator.with_steps(FINER * evaluator.study.steps)
    for k in range(len(partial.ends), len(partial.starts)):
        tell(f"polishing {k + 1} of {len(partial.starts)}")
        partial = _one_more(evaluator, finer, partial)
        keep(partial)
    costs = _costs(finer, partial.ends)
    best = np.flatnonzero(_nondominated(costs))
    best = best[np.argsort(costs[best, 0] * evaluator.study.goals[0].sign)]
    tell("verifying the front by single adaptive runs")
    return _looked_at(evaluator, partial, best)


def _begun(evaluator: Evaluator, tell: Tell, also: Floats | None) -> Partial:
    """Designs spread over the front."""
    tell("screening")
    screen = screened(evaluator)
    refuse_unused(evaluator, screen.judged)
    evolved = find_spec("pymoo") is not None
    tell(f"evolving {GENERATIONS} generations" if evolved else "pymoo is not installed: taking the screen's best")
    designs = _evolved(evaluator, screen) if evolved else screen.designs[screen.violation <= 0.0]
    if also is not None:
        designs = np.concatenate([also, designs])
    if not len(designs):
        raise infeasible_limits(evaluator, screen, tell=tell)
    values = _costs(evaluator, designs)
    best = _nondominated(values)
    shares = _scaled(values[best])
    starts = designs[best][far_apart(shares, list(dict.fromkeys(shares.argmin(axis=0).tolist())), POINTS)]
    method, others = "NSGA-III" if evolved else "screen", len(evaluator.study.goals) - 1
    return Partial(method, starts, np.zeros((0, starts.shape[1])), np.zeros((0, others)))


def _one_more(evaluator: Evaluator, finer: Evaluator, partial: Partial) -> Partial:
    """One more point polished, at the steps of the search and then at finer ones."""
    design = partial.starts[len(partial.ends)]
    better = _polished(evaluator, design)
    better = _polished(finer, design if better is None else better[0].design) or better
    end, rates = (design, np.full(partial.rates.shape[1], np.nan)) if better is None else (better[0].design, better[1])
    return replace(
        partial,
        ends=np.concatenate([partial.ends, end[None]]),
        rates=np.concatenate([partial.rates, rates[None]]),
        polished=partial.polished + (better is not None),
    )


def _looked_at(evaluator: Evaluator, partial: Partial, best: np.ndarray) -> Front:
    """The points of the front, verified."""
    study, designs = evaluator.study, partial.ends[best]
    checked = [verified(evaluator, design) for design in designs]
    shares = _scaled(_costs(evaluator, designs))
    wanted = dict.fromkeys([*study.measures, *(name for name in CHECKS if name in checked[0].fine)])
    measures = {name: np.array([one.fine[name] for one in checked]) for name in wanted}
    return Front(
        designs=designs,
        measures=measures,
        rates={goal.measure: partial.rates[best, k] for k, goal in enumerate(study.goals[1:])},
        agree=tuple(not one.disagreements() for one in checked),
        excess=float(violations(sides_of(study.limits), measures).max(initial=0.0)),
        method=partial.method,
        polished=partial.polished,
        samples={k: checked[k] for k in sorted({*shares.argmin(axis=0).tolist(), int(shares.max(axis=1).argmin())})},
    )


def _scaled(costs: Floats) -> Floats:
    """Costs as shares of their ranges."""
    span = np.ptp(costs, axis=0)
    return (costs - costs.min(axis=0)) / np.where(span > 0.0, span, 1.0)


def _costs(evaluator: Evaluator, designs: Floats) -> Floats:
    """Goals of designs, the less the better, (designs, goals)."""
    goals = evaluator.study.goals
    return _costs_of(goals, evaluator.measures(designs, [goal.measure for goal in goals]), np.inf)


def _costs_of(goals: Sequence[Goal], measures: Mapping[str, Floats], worst: float) -> Floats:
    costs = np.stack([measures[goal.measure] * goal.sign for goal in goals], axis=1)
    return np.where(np.isfinite(costs), costs, worst)


def _nondominated(costs: Floats) -> np.ndarray:
    """Which rows no other row is at least as good as in everything and better in something."""
    fine: np.ndarray = np.array(np.isfinite(costs).all(axis=1))
    for k in np.flatnonzero(fine):
        others = costs[fine]
        fine[k] = not ((others <= costs[k]).all(axis=1) & (others < costs[k]).any(axis=1)).any()
    return fine


def _polished(evaluator: Evaluator, design: Floats) -> tuple[Solution, Floats] | None:
    """The design on the front that is as good in all goals but the first, which is the best that it can be there.

    With it, how much of the first goal is gained for each unit given up in another. None: nothing better was found.
    """
    study = evaluator.study
    first, *others = study.goals
    before = evaluator.alone(design, [goal.measure for goal in study.goals])
    floors = [
        Limit(goal.measure, **{"least" if goal.sense == "most" else "most": before[goal.measure]}) for goal in others
    ]
    floored = sides_of(floors)
    words = [side.words for side in floored]
    sides = floored + [side for side in sides_of(study.limits) if side.words not in words]  # one met exactly is a floor
    program = Program(evaluator, first, sides, max(abs(before[first.measure]), 1e-9))
    solved = program.solve(design)
    worse = (solved.goal - before[first.measure]) * first.sign >= 0.0
    if solved.violation > ALLOWED or (worse and program.at(design).violation <= ALLOWED):
        return None
    same = [[x.words for x in program.sides if (x.limit.measure, x.sign) == (f.limit.measure, f.sign)] for f in floored]
    return solved, np.array([sum(solved.multipliers[name] for name in names) for names in same])


def _evolved(evaluator: Evaluator, screen: Screen) -> Floats:
    """Designs that an evolutionary method has spread over the front, within all limits."""
    from pymoo.algorithms.moo.nsga3 import NSGA3
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize
    from pymoo.util.ref_dirs import get_reference_directions

    study = evaluator.study
    sides = sides_of(study.limits)

    class Designing(Problem):
        def __init__(self) -> None:
            super().__init__(
                n_var=len(evaluator.variables), n_obj=len(study.goals), n_ieq_constr=max(1, len(sides)),
                xl=evaluator.low, xu=evaluator.high,
            )  # fmt: skip

        def _evaluate(self, x: Floats, out: dict[str, Any], *_: Any, **__: Any) -> None:
            found = evaluator.measures(np.ascontiguousarray(x, dtype=np.float64), study.measures)
            over = [side.sign * (found[side.limit.measure] - side.bound) / side.scale for side in sides]
            out["F"] = _costs_of(study.goals, found, 1e6)
            out["G"] = (
                np.nan_to_num(np.stack(over, axis=1), nan=1e6, posinf=1e6) if over else np.full((len(x), 1), -1.0)
            )

    goals = len(study.goals)
    parts = next(k for k in itertools.count(1) if math.comb(k + goals, goals - 1) > POPULATION)  # as many as have room
    directions = get_reference_directions("uniform", goals, n_partitions=parts)
    first = screen.designs[np.argsort(screen.violation, kind="stable")[: len(directions)]]
    sampling: Any = first  # pymoo takes the designs themselves as well
    method = NSGA3(ref_dirs=directions, pop_size=len(directions), sampling=sampling)
    found: Any = minimize(Designing(), method, ("n_gen", GENERATIONS), seed=study.seed, verbose=False)
    last: Floats = np.atleast_2d(np.asarray(found.pop.get("X"), dtype=np.float64))
    within = violations(sides, evaluator.measures(last, study.measures)) <= ALLOWED
    return last[within]
