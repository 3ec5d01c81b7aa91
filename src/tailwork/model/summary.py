"""A robot at rest in numbers: what `tailwork show` prints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.model.efforts.allocation import Allocation
from tailwork.model.model import LIU2018_REDUNDANT, Model
from tailwork.robots.robot import Robot
from tailwork.typing import Floats


def pinnable(robot: Robot) -> list[str]:
    """Legs whose feet can be pinned: those of three hinges with a closed form."""
    legs = {name: robot.limbs()[name] for name in robot.feet()}
    return [name for name, limb in legs.items() if limb.closed_form is not None and len(limb.joints) == 3]


@dataclass(frozen=True)
class StandingSummary:
    """A robot standing still on its pinned feet."""

    q: Floats
    angles: dict[str, Floats]  # of all joints [rad]
    allocation: Allocation  # smallest efforts at rest
    held: bool  # whether they hold everything
    foot_forces: Floats  # (feet, 3) [N], for those efforts
    mass_condition: float  # condition number of the mass matrix
    chosen_condition: float | None  # of the 2018 paper's eight actuators, where the robot has them


def standing(model: Model) -> StandingSummary:
    """The state of rest that the robot describes as standing."""
    q, zero, names = model.standing(), np.zeros(len(model.velocity_names)), model.actuator_names
    allocation, chosen = model.allocation(q, zero, zero), None
    left = len(names) - len(LIU2018_REDUNDANT)
    if "tail.ta" in names and set(LIU2018_REDUNDANT) <= set(names) and left == len(zero):
        chosen = float(model.allocation(q, zero, zero, redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0)).condition)
    return StandingSummary(
        q=q,
        angles=model.joint_angles(q),
        allocation=allocation,
        held=bool(allocation.reached),
        foot_forces=model.foot_forces(q, zero, allocation.efforts),
        mass_condition=float(np.linalg.cond(model.mass_matrix(q))),
        chosen_condition=chosen,
    )
