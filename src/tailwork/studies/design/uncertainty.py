"""How sure an answer is: what each variable does to it, alone and together, and what manufacturing spread does; and
designs that keep their limits although what is made scatters.

To first order, independent normal errors of the variables move a measure by a normal error whose standard deviation
sigma follows from its slopes. A limit that shall hold with some chance is moved inwards by z sigma, z being the normal
quantile of that chance; the design is solved again, until slopes and design fit each other.

A measure that is the worst along the path may be as bad at several moments. Each of them then has that chance, and all
together a lower one: what a Monte Carlo sample finds is reported beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.studies.design.evaluate import SMALL, Evaluator
from tailwork.studies.design.multistart import ImpossibleError, Tell
from tailwork.studies.design.optimizer import Program, Side, Solution, side_rows, sides_of
from tailwork.studies.possible import ALLOWED
from tailwork.typing import Floats

MANY = 4096
"""Designs of a Monte Carlo sample, and at most so many at a time."""
BASE = 2048
"""Base samples of the Sobol indices."""
SPREAD = 0.02
"""Standard deviation of what is made, as a share of each value, by default."""
LEAST_SCATTER = 0.1
"""Of a variable's range: its scatter is a share of no less. What is zero is not made without error, either."""
MOVED = 0.05
"""Of a variable's range, by which it moves alone."""
BINS = 40
"""Of the histograms of a Monte Carlo sample."""


@dataclass(frozen=True)
class Swing:
    """What one variable alone does to a measure between two values, all others as they are."""

    variable: str
    low: float  # of the variable, in its unit
    high: float
    at_low: float  # the measure there, in its unit
    at_high: float


@dataclass(frozen=True)
class Indices:
    """Sobol indices of a measure over the bounds: shares of its variance, alone and with interactions.

    Designs that cannot be judged count with the mean of the others; `judged` is the share of those that can.
    """

    variables: tuple[str, ...]
    first: Floats
    total: Floats
    judged: float


@dataclass(frozen=True)
class Tolerance:
    """What becomes of a design whose numbers scatter: mean, standard deviation and 5 % to 95 % by measure."""

    spread: float
    count: int
    mean: dict[str, float]
    deviation: dict[str, float]
    low: dict[str, float]  # 5 %
    high: dict[str, float]  # 95 %
    violated: dict[str, float]  # by side of a limit, in words: share of the sample beyond it
    histograms: dict[str, tuple[Floats, Floats]]  # by measure: borders of bins, and how many fall into each
    judged: float  # share of the sample that can be judged; the rest counts as beyond every limit, and nowhere else


def swings(evaluator: Evaluator, design: Floats, name: str) -> tuple[Swing, ...]:
    """What each variable does alone when it moves by 5 % of its range, within its bounds; the largest first.

    Those whose moves cannot be judged come last.
    """
    reach = np.diag(MOVED * (evaluator.high - evaluator.low))
    moved = np.clip(np.concatenate([design - reach, design + reach]), evaluator.low, evaluator.high)
    *values, here = evaluator.measures(np.concatenate([moved, design[None]]), [name])[name].tolist()
    size = len(design)
    found = [
        Swing(v.name, float(moved[k, k]), float(moved[size + k, k]), values[k], values[size + k])
        for k, v in enumerate(evaluator.variables)
    ]

    def reach_of(swing: Swing) -> float:
        size = np.ptp([swing.at_low, swing.at_high, here])
        return -float(size) if np.isfinite(size) else np.inf

    return tuple(sorted(found, key=reach_of))


def indices(evaluator: Evaluator, name: str) -> Indices:
    """Sobol indices of a measure over the whole bounds (Saltelli's estimator, SciPy)."""
    counted: list[tuple[int, int]] = []

    def measured(x: Floats) -> Floats:
        designs = np.ascontiguousarray(x.T)
        parts = [designs[k : k + MANY] for k in range(0, len(designs), MANY)]
        values = np.concatenate([evaluator.measures(part, [name])[name] for part in parts])
        fine = np.isfinite(values)
        counted.append((int(fine.sum()), len(fine)))
        return np.where(fine, values, values[fine].mean() if fine.any() else 0.0)[None]

    from scipy.stats import sobol_indices, uniform  # slow to import, and needed for this alone

    ranges = [uniform(v.low, v.high - v.low) for v in evaluator.variables]
    found = sobol_indices(func=measured, n=BASE, dists=ranges, rng=evaluator.study.seed)
    judged = sum(fine for fine, _ in counted) / sum(every for _, every in counted)
    names = tuple(v.name for v in evaluator.variables)
    return Indices(names, np.ravel(found.first_order), np.ravel(found.total_order), judged)


def tolerance(evaluator: Evaluator, design: Floats, names: Sequence[str], spread: float = SPREAD) -> Tolerance:
    """What independent normal errors do to a design; their standard deviation is a share of each value.

    Small values scatter by that share of a tenth of their range. Bounds are not kept: what is made may lie beyond.
    """
    checked_spread("spread", spread)
    from scipy.stats import qmc  # slow to import, and needed for this alone

    scatter = qmc.MultivariateNormalQMC(np.zeros(len(design)), rng=evaluator.study.seed).random(MANY)
    designs = design + spread * scatter_sizes(evaluator, design) * scatter
    for k, variable in enumerate(evaluator.variables):
        if variable.name.endswith(".tip_share"):
            designs[:, k] = np.clip(designs[:, k], 0.0, 1.0)
    sides = sides_of(evaluator.study.limits)
    wanted = list(dict.fromkeys([*names, *(side.limit.measure for side in sides)]))
    found = evaluator.measures(designs, wanted)
    beyond = {side.words: ~(side.sign * (found[side.limit.measure] - side.bound) <= 0.0) for side in sides}
    known = {name: x[~np.isnan(x)] for name, x in found.items()}

    def each(statistic: Callable[[Floats], Any]) -> dict[str, float]:
        return {name: float(statistic(x)) if len(x) else np.nan for name, x in known.items()}

    with np.errstate(invalid="ignore"):  # of what is infinite in some designs
        return Tolerance(
            spread, MANY, each(np.mean), each(np.std), each(lambda x: np.quantile(x, 0.05)),
            each(lambda x: np.quantile(x, 0.95)), {words: float(np.mean(x)) for words, x in beyond.items()},
            {name: _histogram(x) for name, x in known.items()}, min(len(x) for x in known.values()) / MANY,
        )  # fmt: skip


def checked_spread(path: str, spread: float) -> None:
    """Make sure that a spread is one."""
    if isinstance(spread, bool) or not isinstance(spread, (int, float)) or not 0.0 < spread < 1.0:
        raise ArgumentError(path, spread, "a share between 0 and 1, such as 0.02")


def scatter_sizes(evaluator: Evaluator, design: Floats) -> Floats:
    """What the scatter of each variable is a share of: its value, but no less than a tenth of its range."""
    return np.maximum(np.abs(design), LEAST_SCATTER * (evaluator.high - evaluator.low))


def _histogram(values: Floats) -> tuple[Floats, Floats]:
    """Borders of bins and how many values fall into each, but for one in a thousand at each end."""
    fine = values[np.isfinite(values)]
    counts, borders = np.histogram(fine, BINS, tuple(np.quantile(fine, [0.001, 0.999])) if len(fine) else None)
    return borders, counts.astype(float)


ROUNDS = 3
"""How often the design is solved again with the margins of the one before."""


@dataclass(frozen=True)
class Robust:
    """How sure limits shall be kept: with a chance, to first order, for what is made with some scatter."""

    spread: float = SPREAD  # standard deviation as a share of each value
    chance: float = 0.95

    def __post_init__(self) -> None:
        checked_spread("spread", self.spread)
        if isinstance(self.chance, bool) or not isinstance(self.chance, (int, float)) or not 0.5 <= self.chance < 1.0:
            raise ArgumentError("chance", self.chance, "a chance from 0.5 to less than 1, such as 0.95")

    @property
    def quantile(self) -> float:
        """How many standard deviations a limit is away."""
        from scipy.stats import norm  # slow to import, and needed for this alone

        return float(norm.ppf(self.chance))


def safe_optimum(
    evaluator: Evaluator, first: Solution, robust: Robust, tell: Tell
) -> tuple[Solution, dict[str, float]]:
    """The best design that keeps every limit with the chance that is asked for, from the best one without; and by side
    of a limit, in words, how far it was moved inwards. Prices are by the limits as they were stated. If no design does,
    an ImpossibleError says so."""
    goal = evaluator.study.goals[0]
    sides = sides_of(evaluator.study.limits)
    solved, margins = first, np.zeros(len(sides))
    for k in range(ROUNDS):
        tell(f"margins against scatter, round {k + 1} of {ROUNDS}")
        margins = _margins(evaluator, solved.design, sides, robust)
        moved = [
            replace(side, bound=side.bound - side.sign * margin) for side, margin in zip(sides, margins, strict=True)
        ]
        solved = Program(evaluator, goal, moved, max(abs(first.goal), 1e-9)).solve(solved.design)
        if solved.violation > ALLOWED:
            words = [
                f"{side.words.replace('_', ' ')} by a margin of {x:.3g}" for side, x in zip(sides, margins, strict=True)
            ]
            what = f"[robust] with a spread of {robust.spread:g} and a chance of {robust.chance:g}, which keeps "
            measured = evaluator.alone(solved.design, list(dict.fromkeys(side.limit.measure for side in sides)))
            raise ImpossibleError([what + ", ".join(words)], evaluator.study.named(solved.design), measured)
        stated = zip(moved, sides, strict=True)
        solved = replace(solved, multipliers={side.words: solved.multipliers[other.words] for other, side in stated})
    return solved, {side.words: float(margin) for side, margin in zip(sides, margins, strict=True)}


def _margins(evaluator: Evaluator, design: Floats, sides: list[Side], robust: Robust) -> Floats:
    """How far each limit has to be moved inwards, in the unit of its measure.

    Any node may come to be the worst: of two that are as bad, that which scatters more counts.
    """
    nodes, times = evaluator.linearised(design)
    scatter = robust.spread * scatter_sizes(evaluator, design)
    margins = np.zeros(len(sides))
    for k, side in enumerate(sides):
        rows = side.sign * side_rows(evaluator, side, nodes, times)
        values, deviations = np.real(rows[0]), np.linalg.norm(np.imag(rows).T / SMALL * scatter, axis=1)
        margins[k] = (values + robust.quantile * deviations).max() - values.max()
    return margins
