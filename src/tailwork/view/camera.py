"""From where a robot is looked at: parallel projection onto the sheet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.errors import UnknownNameError
from tailwork.kernels.kernel import Floats

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


def camera(view: str, forward: str = "y") -> Camera:
    """The camera of a view, for a robot that faces along an axis: "y" (x is right) or "x" (y is left)."""
    if view not in VIEWS:
        raise UnknownNameError.among("view", str(view), VIEWS, "view")
    ahead, right = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)) if forward == "y" else ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
    turn, lift = np.radians(VIEWS[view])
    level = np.sin(turn) * np.array(right) - np.cos(turn) * np.array(ahead)
    toward = np.cos(lift) * level + np.sin(lift) * UP
    across = np.cross(UP, level)
    return Camera(across, np.cross(toward, across), toward)
