"""Variables that do nothing: found by designs that differ in one of them alone."""

from __future__ import annotations

import numpy as np

from tailwork.errors import RobotError
from tailwork.studies.design.evaluate import Evaluator
from tailwork.typing import Floats

COMPARED = 16
"""Designs that are compared with ones that differ from them in one variable."""
UNCHANGED = 1e-10
"""Measures that differ by less than this share of their size are the same."""


def refuse_idle(evaluator: Evaluator, designs: Floats) -> None:
    """Make sure that each variable changes a goal or a limit.

    Args:
        evaluator: of the problem.
        designs: that can be judged, (designs, variables); the first few are taken.

    Raises:
        RobotError: a variable does nothing.
    """
    names = evaluator.study.asked
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
            raise RobotError(f"variables.{variable.name}", [variable.low, variable.high], required)
