"""Designs that keep their limits although what is made scatters: limits tightened by what the scatter does to them.

To first order, independent normal errors of the variables move a measure by a normal error whose standard deviation
sigma follows from its slopes. A limit that shall hold with some chance is moved inwards by z sigma, z being the normal
quantile of that chance; the design is solved again, until slopes and design fit each other.

A measure that is the worst along the path may be as bad at several moments. Each of them then has that chance, and all
together a lower one: what a Monte Carlo sample finds is reported beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tailwork.errors import RobotError
from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.nlp import Program, Side, Solved, sides_of
from tailwork.studies.design.search import ImpossibleError
from tailwork.studies.design.spread import SPREAD, checked_spread, scatter_sizes
from tailwork.typing import Floats

ROUNDS = 3
"""How often the design is solved again with the margins of the one before."""


@dataclass(frozen=True)
class Robust:
    """How sure limits shall be kept: with a chance, to first order, for what is made with some scatter."""

    spread: float = SPREAD  # standard deviation as a share of each value
    chance: float = 0.95

    def __post_init__(self) -> None:
        checked_spread("robust.spread", self.spread)
        if isinstance(self.chance, bool) or not isinstance(self.chance, (int, float)) or not 0.5 <= self.chance < 1.0:
            raise RobotError("robust.chance", self.chance, "a chance from 0.5 to less than 1, such as 0.95")

    @property
    def quantile(self) -> float:
        """How many standard deviations a limit is away."""
        from scipy.stats import norm  # slow to import, and needed for this alone

        return float(norm.ppf(self.chance))


@dataclass(frozen=True)
class Guarded:
    """A design with margins to its limits."""

    solved: Solved  # prices are by the limits as they were stated
    margins: dict[str, float]  # by side of a limit, in words: how far it was moved inwards


def guarded(
    evaluator: Evaluator, first: Solved, robust: Robust, allowed: float, tell: Callable[[str], None]
) -> Guarded:
    """The best design that keeps every limit with the chance that is asked for, from the best one without.

    Raises:
        ImpossibleError: no design was found that does.
    """
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
        if solved.violation > allowed:
            raise _too_sure(evaluator, solved, sides, margins, robust)
        stated = zip(moved, sides, strict=True)
        solved = replace(solved, multipliers={side.words: solved.multipliers[other.words] for other, side in stated})
    return Guarded(solved, {side.words: float(margin) for side, margin in zip(sides, margins, strict=True)})


def _too_sure(
    evaluator: Evaluator, solved: Solved, sides: list[Side], margins: Floats, robust: Robust
) -> ImpossibleError:
    """That limits cannot be kept with their margins."""
    names = list(dict.fromkeys(side.limit.measure for side in sides))
    measured = evaluator.measures(solved.design[None], names)
    words = [
        f"{side.words.replace('_', ' ')} by a margin of {margin:.3g}"
        for side, margin in zip(sides, margins, strict=True)
    ]
    what = f"[robust] with a spread of {robust.spread:g} and a chance of {robust.chance:g}, which keeps "
    return ImpossibleError(
        [what + ", ".join(words)],
        dict(zip((variable.name for variable in evaluator.variables), solved.design.tolist(), strict=True)),
        {name: float(values[0]) for name, values in measured.items()},
    )


def _margins(evaluator: Evaluator, design: Floats, sides: list[Side], robust: Robust) -> Floats:
    """How far each limit has to be moved inwards, in the unit of its measure."""
    by_measure = evaluator.derivatives(design, list(dict.fromkeys(side.limit.measure for side in sides)))
    scatter = robust.spread * scatter_sizes(evaluator, design)
    deviations = [float(np.linalg.norm(by_measure[side.limit.measure] * scatter)) for side in sides]
    return robust.quantile * np.array(deviations)
