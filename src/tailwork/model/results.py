"""What a model answers with, where one array is not enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tailwork.typing import Floats


class Energy(NamedTuple):
    """Energies [J], one for each state."""

    kinetic: Floats  # of all motion [J]
    gravitational: Floats  # zero at height z = 0 [J]
    elastic: Floats  # of all springs [J]

    @property
    def total(self) -> Floats:
        """Their sum [J]."""
        return self.kinetic + self.gravitational + self.elastic


class Momentum(NamedTuple):
    """Momenta in the inertial frame, (..., 3)."""

    linear: Floats  # [N s]
    angular: Floats  # about the centre of mass [N m s]


class PartMomenta(NamedTuple):
    """Momenta of the robot's parts in the inertial frame; for the names see `Model.part_names`."""

    masses: Floats  # (..., parts) [kg]
    centers: Floats  # (..., parts, 3), centres of mass [m]
    linear: Floats  # (..., parts, 3) [N s]
    angular: Floats  # (..., parts, 3), about the whole robot's centre of mass, seen from there [N m s]


class PathValues(NamedTuple):
    """Accelerations and what a path is judged by, from one kernel."""

    acceleration: Floats  # (..., velocities) [m/s², rad/s²]
    foot_forces: Floats  # (..., feet, 3), of the ground on the pinned feet, inertial frame [N]
    extensions: Floats  # (..., feet) [1]; 1 is a straight leg
    prescribed_efforts: Floats  # (..., prescribed coordinates) [N m]
    powers: Floats  # (..., actuators + prescribed coordinates) [W]
    dissipation: Floats  # (...), power that the dampers take [W]
    outside_power: Floats  # (...), power that outside forces and the air give [W]


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact does. Leading dimensions as those of the arguments."""

    v: Floats  # (..., velocities) after it [m/s, rad/s]
    impulses: Floats  # (..., points, 3), of the ground on the robot, inertial frame [N s]
    stops: Floats  # (..., joints with a range): of the stops, away from them [N m s or N s]
    slips: np.ndarray  # (..., points): which slip; yes or no
    loss: Floats  # (...), of kinetic energy [J]
    sweeps: np.ndarray  # (...): how many the solution took
    residual: Floats  # (...), how far the solution is from the laws of contact [m/s]; not small: none was found


@dataclass(frozen=True, eq=False)
class ContactForces:
    """What contacts do that stay as they are. Leading dimensions as those of the arguments."""

    acceleration: Floats  # (..., velocities) [m/s², rad/s²]
    forces: Floats  # (..., points, 3), of the ground on the robot, inertial frame [N]
