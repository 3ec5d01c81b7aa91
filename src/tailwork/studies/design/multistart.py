"""The best design of a problem: screen, diverse starts, a gradient method from each; how often each end is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.errors import ArgumentError, TailworkError
from tailwork.studies.design.evaluate import STRAIGHT, Evaluator
from tailwork.studies.design.optimizer import Program, Side, Solution, sides_of
from tailwork.studies.design.problem import Goal, Limit
from tailwork.studies.design.verify import FINER, as_given
from tailwork.studies.measures import unit_of
from tailwork.studies.possible import ALLOWED
from tailwork.typing import Floats

SCREENED = 2048
STARTS = 4
AMONG = 64
"""Starts are chosen from so many of the best that the screen has seen, far apart."""
SAME = 1e-4
"""Optima whose goals differ by less than this share are one."""
BINDING = 1e-9
"""Least price of a limit that holds the least violated design back."""

COMPARED = 16
"""Designs that are compared with ones that differ from them in one variable."""
UNCHANGED = 1e-10
"""Measures that differ by less than this share of their size are the same."""

Tell = Callable[[str], None]
"""Told what is done next."""


class ImpossibleError(TailworkError):
    """A problem that no design solves.

    Attributes:
        conflict: limits that cannot hold together, in words; none of them could be left out.
        design: the least violated design, by variable.
        measures: its measures.
    """

    def __init__(self, conflict: Sequence[str], design: dict[str, float], measures: dict[str, float]) -> None:
        self.conflict = tuple(conflict)
        self.design = design
        self.measures = measures
        near = ", ".join(f"{name} = {value:.4g}" for name, value in design.items())
        what = " and ".join(self.conflict)
        more = "cannot be met" if len(self.conflict) == 1 else "cannot hold together"
        has = ", ".join(f"{name} {value:.4g} {unit_of(name)}" for name, value in measures.items())
        super().__init__(
            f"limits: no design was found that meets them: {what} {more} within the bounds of the variables; required: "
            f"a wider bound or a looser limit. The least violated design has {has} at {near}"
        )


@dataclass(frozen=True)
class Screen:
    """Designs spread over the bounds, with their measures."""

    designs: Floats
    measures: dict[str, Floats]
    violation: Floats  # of each, the worst as a share of its bound; 0: within all limits

    @property
    def judged(self) -> Floats:
        """Designs whose measures are all numbers."""
        return self.designs[np.isfinite(np.stack(list(self.measures.values()))).all(axis=0)]


@dataclass(frozen=True)
class Optimum:
    """An end that searches came to, and how many did."""

    solved: Solution
    times: int


@dataclass(frozen=True)
class SearchResult:
    """What a search has found, the best first."""

    optima: tuple[Optimum, ...]  # the ends that searches came to, the best first
    starts: int  # how many searches there were
    screen: Screen  # the designs that were looked at before

    @property
    def best(self) -> Solution:
        """The best design."""
        return self.optima[0].solved


def screened(evaluator: Evaluator, count: int = SCREENED, seed: int | None = None) -> Screen:
    """So many designs of a Sobol sequence over the bounds, judged; the seed is the problem's by default."""
    from scipy.stats import qmc  # slow to import, and needed for this alone

    study = evaluator.study
    sequence = qmc.Sobol(len(evaluator.variables), rng=study.seed if seed is None else seed)
    designs = evaluator.low + (evaluator.high - evaluator.low) * sequence.random(count)
    measures = evaluator.measures(designs, study.measures)
    found = Screen(designs, measures, violations(sides_of(study.limits), measures))
    if not len(found.judged):
        raise _nothing_judged(evaluator, designs)
    return found


def _nothing_judged(evaluator: Evaluator, designs: Floats) -> ArgumentError:
    """Why none of some designs can be simulated: too few steps, the bounds, or what the robot does."""
    study, few = evaluator.study, designs[:COMPARED]
    finer = evaluator.measures(few, study.measures, FINER * study.steps)
    if np.isfinite(np.stack(list(finer.values()))).all(axis=0).any():
        required = f"more: with {FINER * study.steps} designs can be simulated of which these steps make nothing"
        return ArgumentError("steps", study.steps, required)
    straight = int((evaluator.extensions(few) > STRAIGHT).sum())
    why = "a leg comes to be straight" if straight else "the motion goes beyond all bounds"
    policy = f"under the leg policy '{study.scenario.policy}'"
    screen = f"in all {len(designs):,} designs of the screen {why} {policy}"
    if as_given(study, study.measures) is not None:
        required = f"bounds nearer to the robot as it is given, which can do it: {screen}. Lengths are in m, "
        required += "masses in kg, angles of motions in deg, times in s"
    else:
        required = f"a motion that the robot can make: {screen}, and the robot as it is given cannot make its own. "
        required += "Take a slower or smaller one, a lighter tail, or another policy"
    return ArgumentError(
        "variables", [f"{v.name} {v.low:g} … {v.high:g} {v.unit}" for v in evaluator.variables], required
    )


def violations(sides: Sequence[Side], measures: dict[str, Floats]) -> Floats:
    """The worst violation of each design as a share of its bound; infinite where any measure is NaN."""
    worst = np.where(np.isnan(np.stack(list(measures.values()))).any(axis=0), np.inf, 0.0)
    for side in sides:
        over = side.sign * (measures[side.limit.measure] - side.bound) / side.scale
        worst = np.maximum(worst, np.where(np.isnan(over), np.inf, over))
    return worst


def diverse(screen: Screen, evaluator: Evaluator, goal: Goal, count: int = STARTS) -> Floats:
    """Good starts that are far apart: the best, then each time the farthest from those chosen."""
    merit = screen.measures[goal.measure] * goal.sign
    order = np.lexsort((np.where(np.isfinite(merit), merit, np.inf), np.round(screen.violation, 12)))
    among = order[np.isfinite(screen.violation[order])][: max(AMONG, count)]
    scaled = (screen.designs[among] - evaluator.low) / (evaluator.high - evaluator.low)
    return screen.designs[among[far_apart(scaled, [0], count)]]


def far_apart(points: Floats, first: Sequence[int], count: int) -> list[int]:
    """So many of some points, unless they are fewer: the first, then each time the farthest from those chosen."""
    chosen = list(first)
    while len(chosen) < min(count, len(points)):
        away = np.linalg.norm(points[:, None] - points[chosen], axis=2).min(axis=1)
        if away.max() <= 0.0:
            break
        chosen.append(int(away.argmax()))
    return chosen


def best_design(evaluator: Evaluator, tell: Tell = lambda what: None, starts: int = STARTS) -> SearchResult:
    """The best design for the first goal of a problem.

    Raises:
        ImpossibleError: no design meets the limits.
        ArgumentError: a variable does nothing.
    """
    goal = evaluator.study.goals[0]
    tell(f"screening {SCREENED} designs")
    screen = screened(evaluator)
    refuse_unused(evaluator, screen.judged)
    sides = sides_of(evaluator.study.limits)
    values = screen.measures[goal.measure]
    scale = float(np.nanstd(values[np.isfinite(values)])) or 1.0
    program = Program(evaluator, goal, sides, scale)
    ends: list[Solution] = []
    for k, start in enumerate(diverse(screen, evaluator, goal, starts)):
        tell(f"search {k + 1} of {starts}")
        ends.append(program.solve(start))
    fine = [end for end in ends if end.violation <= ALLOWED]
    if not fine:
        tell("no search ended within all limits: looking for the design that violates them least")
        nearest = _least_violated(evaluator, screen, evaluator.study.limits)
        if nearest.violation > ALLOWED:
            raise infeasible_limits(evaluator, screen, nearest, tell)
        again = program.solve(nearest.design)
        fine = [again if again.violation <= ALLOWED else program.at(nearest.design)]
        ends.append(again)
    return SearchResult(_together(fine, goal), len(ends), screen)


def _together(ends: list[Solution], goal: Goal) -> tuple[Optimum, ...]:
    """Ends that are the same counted, the best first; of each, the end that meets limits and conditions best."""
    found: list[Optimum] = []
    for end in sorted(ends, key=lambda end: goal.sign * end.goal):
        same = next((k for k, o in enumerate(found) if abs(o.solved.goal - end.goal) <= SAME * abs(end.goal)), None)
        if same is None:
            found.append(Optimum(end, 1))
        else:
            better = min(found[same].solved, end, key=lambda one: max(one.violation, one.residual))
            found[same] = Optimum(better, found[same].times + 1)
    return tuple(found)


def infeasible_limits(
    evaluator: Evaluator, screen: Screen, nearest: Solution | None = None, tell: Tell = lambda what: None
) -> ImpossibleError:
    """Which limits of a problem cannot hold together, and the design that violates them least (`nearest`, if that is
    known already)."""
    tell("no design meets all limits: looking for those that conflict")
    limits = list(evaluator.study.limits)
    nearest = nearest or _least_violated(evaluator, screen, limits)
    binding = {words for words, price in nearest.multipliers.items() if price > BINDING}
    conflict = [limit for limit in limits if binding & {side.words for side in sides_of([limit])}]
    if not conflict or _least_violated(evaluator, screen, conflict).violation <= ALLOWED:
        conflict = list(limits)  # what binds there is not all
    for limit in list(conflict):  # leave out one after the other: what is left over conflicts without it
        rest = [other for other in conflict if other is not limit]
        if rest and _least_violated(evaluator, screen, rest).violation > ALLOWED:
            conflict = rest
    measured = evaluator.alone(nearest.design, [limit.measure for limit in conflict])
    return ImpossibleError([limit.words for limit in conflict], evaluator.study.named(nearest.design), measured)


def _least_violated(evaluator: Evaluator, screen: Screen, limits: Sequence[Limit]) -> Solution:
    """The design that violates some limits least."""
    sides = sides_of(limits)
    order = np.argsort(violations(sides, screen.measures))[:STARTS]
    ends = [Program(evaluator, None, sides).solve(screen.designs[k]) for k in order]
    return min(ends, key=lambda end: end.violation)


def refuse_unused(evaluator: Evaluator, designs: Floats) -> None:
    """Refuses a variable that changes no goal and no limit of the first few of some designs that can be judged."""
    names = evaluator.study.measures
    base = designs[:COMPARED]
    size, count = len(evaluator.variables), len(base)
    if not count:
        return
    moved = np.tile(base, (1 + size, 1, 1))
    for k in range(size):  # each by half of its range, to the side where there is room
        half = 0.5 * (evaluator.high[k] - evaluator.low[k])
        moved[1 + k, :, k] += np.where(base[:, k] > evaluator.low[k] + half, -half, half)
    found = evaluator.measures(moved.reshape(-1, size), names)
    values = np.stack([found[name].reshape(1 + size, count) for name in names], axis=-1)
    same = np.abs(values[1:] - values[0]) <= UNCHANGED * np.abs(values[0])
    same |= ~np.isfinite(values[0])
    for variable, nothing in zip(evaluator.variables, same.all(axis=(1, 2)), strict=True):
        if nothing:
            required = f"a variable that changes something: none of {', '.join(names)} depends on it; leave it out"
            raise ArgumentError(f"variables.{variable.name}", [variable.low, variable.high], required)
