"""From where the robots are seen."""

from __future__ import annotations

import math

import numpy as np

from tailwork.typing import Floats

DIRECTION = np.array([-0.55, -1.0, 0.62]) / np.linalg.norm([-0.55, -1.0, 0.62])
"""From the robots to the eye: behind them, where their tails are, to the left and above."""
NARROW = 0.6
"""Windows that are narrower than this, for their height, are those of phones: controls cover their lower part."""
FREE = 0.4
"""Share of a phone's height that they leave free."""


def eye_for(middle: Floats, radius: float, aspect: float, field: float) -> tuple[Floats, Floats]:
    """Where the eye is and where it looks, so that a ball is seen in the free part of the window [m].

    Args:
        middle: of the ball [m].
        radius: of the ball [m].
        aspect: width of the window for its height.
        field: angle from the lower edge of the window to the upper one [rad].
    """
    free = FREE if aspect < NARROW else 1.0
    slope = math.tan(field / 2.0)
    way = radius / math.sin(math.atan(min(free, aspect) * slope))
    right = np.cross([0.0, 0.0, 1.0], DIRECTION)
    up = np.cross(DIRECTION, right / np.linalg.norm(right))
    lower = (1.0 - free) * slope  # what is free is above the middle of the window: the eye looks down
    position = middle + way * DIRECTION
    return position, position - way * (DIRECTION + lower * up) / math.hypot(1.0, lower)
