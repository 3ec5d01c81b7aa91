"""From where a robot is looked at: parallel projection onto the sheet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.errors import RobotError, UnknownNameError
from tailwork.typing import Floats

UP = np.array([0.0, 0.0, 1.0])

VIEWS = {"three-quarter": (44.0, 32.0), "side": (90.0, 0.0), "rear": (0.0, 0.0), "top": (90.0, 90.0)}
"""By view: how far the eye is turned from behind the robot to its right, and how far above the ground [deg]."""


@dataclass(frozen=True)
class Camera:
    """Unit vectors of the inertial frame: to the right and up on the sheet, and towards the eye."""

    right: Floats
    up: Floats
    toward: Floats

    def project(self, points: Floats) -> Floats:
        """Places on the sheet [m] of points (…, 3) of the inertial frame."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def depth(self, points: Floats) -> Floats:
        """How near the eye points are [m]; greater is nearer."""
        return points @ self.toward

    @property
    def sees_ground(self) -> bool:
        """Whether the ground is more than a line."""
        return abs(float(self.toward[2])) > 0.05


ABOVE = Camera(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), UP)
"""Sees x and y as they are."""


def camera(view: str, forward: str = "y") -> Camera:
    """The camera of a view, for a robot that faces along an axis: "y" (x is right) or "x" (y is left).

    Args:
        view: one of `VIEWS`, or such a pair of angles as text, "44,32".
        forward: where the robot faces.
    """
    ahead, right = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)) if forward == "y" else ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
    turn, lift = np.radians(_angles(view))
    level = np.sin(turn) * np.array(right) - np.cos(turn) * np.array(ahead)
    toward = np.cos(lift) * level + np.sin(lift) * UP
    across = np.cross(UP, level)
    return Camera(across, np.cross(toward, across), toward)


def _angles(view: str) -> tuple[float, float]:
    """Both angles of a view [deg]."""
    if view in VIEWS:
        return VIEWS[view]
    if "," not in str(view):
        raise UnknownNameError.among("view", str(view), VIEWS, 'view, or two angles as "44,32"')
    try:
        turn, lift = (float(angle) for angle in view.split(","))
    except ValueError:
        turn, lift = np.nan, np.nan
    if not np.isfinite(turn) or not -90.0 <= lift <= 90.0:
        required = (
            'how far the eye is turned from behind to the right, and how far it is raised (−90 to 90), as "44,32"'
        )
        raise RobotError("view", view, f"{required} [deg]")
    return turn, lift
