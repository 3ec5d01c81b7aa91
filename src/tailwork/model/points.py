"""Points of a robot by name, or by limb, joint and place: the frame that holds them, and where they are in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.mechanics.kinematics import named_points
from tailwork.mechanics.layout import Layout, Push, check_push
from tailwork.typing import Floats

Point: TypeAlias = str | tuple[str, str | None, Sequence[float]]
"""The name of a point; or a limb (or "torso"), its joint (None for the torso) and a place in that frame [m]."""


def named_places(layout: Layout) -> dict[str, tuple[int, Floats]]:
    """By name of a point: the number of its frame, the torso's first, and its place there [m]."""
    points = named_points(layout).items()
    return {name: _placed(layout, limb, joint, offset) for name, (limb, joint, offset) in points}


def frame_and_offset(layout: Layout, known: Mapping[str, tuple[int, Floats]], point: Point) -> tuple[int, Floats]:
    """Number of the frame that holds a point, the torso's first, and the point in it [m]."""
    if isinstance(point, str):
        if point not in known:
            raise UnknownNameError.among("point", point, known, "point")
        return known[point]
    try:
        limb, name, offset = point
    except (TypeError, ValueError, OverflowError):
        required = "the name of a point, or limb, joint and offset, such as ('tail', 'tb', (0.0, -0.48, 0.0))"
        raise ArgumentError("point", point, required) from None
    checked = Push(limb, name, offset)  # type: ignore[arg-type]  # which checks it
    check_push(checked, layout.limbs)
    return _placed(layout, limb, 0 if limb == "torso" else layout.limbs[limb].index(name), checked.point)


def _placed(layout: Layout, limb: str, joint: int, offset: Sequence[Any]) -> tuple[int, Floats]:
    """Number of the frame of a joint, and a point in it [m]."""
    names = list(layout.limbs)
    before = [] if limb == "torso" else names[: names.index(limb)]
    first = 0 if limb == "torso" else 1 + sum(len(layout.limbs[name].joints) for name in before)
    return first + joint, np.array(offset, dtype=float)
