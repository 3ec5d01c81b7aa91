"""Leg policies: what the legs do while the tail moves. The torso's answer depends on them more than on the tail.

- "paper": the constant torques of Liu & Ben-Tzvi 2020, Eq. 85, whatever the tail (for quadrupeds of three-hinge legs).
- "constant": constant torques that balance the robot at the start, the smallest that do. As unstable as the first.
- "joint": those torques, and every joint held by a spring and a damper.
- "foot": those torques, and every foot held in its place under the torso by a spring and a damper.
- "airborne": no feet on the ground; the legs keep their shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.control.context import Law
from tailwork.control.laws import Constant, FootImpedance, JointImpedance
from tailwork.control.profiles import Profiles, held
from tailwork.errors import RobotError, UnknownNameError
from tailwork.model import Model
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

POLICIES = ("paper", "constant", "joint", "foot", "airborne")
EQUATION_85 = (0.0, 1.63, 7.7, 0.0, 1.63, 7.7, 0.0, 1.9, 7.16, 0.0, 1.9, 7.16)  # [N m], ha, hb, k of legs 1 to 4
NEARLY = 2.0  # [N m], how far the torques of Eq. 85 may be from those that balance a robot
JOINT_STIFFNESS, JOINT_DAMPING = 200.0, 5.0  # [N m/rad], [N m s/rad]
FOOT_STIFFNESS, FOOT_DAMPING = 5000.0, 100.0  # [N/m], [N s/m]
POLICY_TEXT = {
    "paper": "the constant leg torques of Liu & Ben-Tzvi 2020, Eq. 85 (an open loop, and unstable)",
    "constant": "constant leg torques that balance the robot at the start (an open loop, and unstable)",
    "joint": f"leg joints held by springs of {JOINT_STIFFNESS:g} N m/rad and dampers of {JOINT_DAMPING:g} N m s/rad",
    "foot": f"feet held under the torso by springs of {FOOT_STIFFNESS:g} N/m and dampers of {FOOT_DAMPING:g} N s/m",
    "airborne": "no feet on the ground",
}
"""By policy: what the legs do, as text for tables and reports."""


@dataclass(frozen=True)
class Stand:
    """A robot ready to move its tail: the model, where it stands, and what its legs do."""

    model: Model
    q: Floats
    laws: Sequence[Law]
    legs: dict[str, dict[str, Profiles]]  # motions of legs that are prescribed, by leg and joint


def stand(
    robot: Robot,
    policy: str,
    tail: str,
    shape: dict[str, float],
    *,
    prescribed: bool,
    attitude: str = "rpy",
) -> Stand:
    """A model of the robot in stance, or in the air, with the laws of its legs.

    Args:
        robot: the robot.
        policy: what the legs do; one of POLICIES.
        tail: name of the tail.
        shape: the tail's coordinates at the start [rad], by name.
        prescribed: whether the tail's motion is imposed.
        attitude: as for Model.
    """
    if policy not in POLICIES:
        raise UnknownNameError.among("policy", policy, POLICIES, "leg policy")
    given = [tail] if prescribed else []
    standing = Model(robot, prescribed=given, attitude=attitude)
    q = _with_shape(standing, tail, shape)
    if policy == "airborne":
        return _airborne(robot, standing, q, given, attitude, tail, shape)
    feet = standing.foot_names
    if not feet:
        raise RobotError("policy", policy, "'airborne' for a robot that has no leg to stand on")
    others = [name for name in standing.actuator_names if name.split(".")[0] != tail]
    torques = balancing_torques(robot, tail, shape)
    if policy == "paper":
        # Eq. 85 is of the quadruped of the paper: it nearly balances that, with any of its tails.
        if len(others) != len(EQUATION_85) or np.abs(torques - np.array(EQUATION_85)).max() > NEARLY:
            required = "'constant', 'joint' or 'foot': the torques of Eq. 85 do not balance this robot"
            raise RobotError("policy", policy, required)
        torques = np.array(EQUATION_85)
    laws: list[Law] = [Constant(values=tuple(map(float, torques)), actuators=tuple(others))]
    if policy == "joint":
        angles = standing.joint_angles(q)
        for foot in feet:
            joints = standing.layout.limbs[foot].joints
            rest = tuple(float(angles[f"{foot}.{joint.name}"]) for joint in joints)
            laws.append(JointImpedance(leg=foot, rest=rest, stiffness=JOINT_STIFFNESS, damping=JOINT_DAMPING))
    if policy == "foot":
        for foot in feet:
            place = standing.layout.limbs[foot].foot
            assert place is not None
            rest_x, rest_y, rest_z = np.array(place.place, dtype=float) - q[:3]  # the torso stands level
            rest = (float(rest_x), float(rest_y), float(rest_z))
            laws.append(FootImpedance(leg=foot, rest=rest, stiffness=FOOT_STIFFNESS, damping=FOOT_DAMPING))
    return Stand(standing, q, laws, {})


def balancing_torques(robot: Robot, tail: str, shape: dict[str, float]) -> Floats:
    """The smallest torques of all but the tail that hold the robot at rest, the tail held in its shape [N m]."""
    model = Model(robot, prescribed=[tail])
    q = _with_shape(model, tail, shape)
    return model.static_torques(q)


def _with_shape(model: Model, tail: str, shape: dict[str, float]) -> Floats:
    q = model.standing()
    for name, angle in shape.items():
        q[model.coordinate_names.index(f"{tail}.{name}")] = angle
    return q


def _airborne(
    robot: Robot, standing: Model, q: Floats, given: list[str], attitude: str, tail: str, shape: dict[str, float]
) -> Stand:
    """The robot in the air, its legs in the shape in which it stood."""
    legs = list(standing.foot_names)
    angles = standing.joint_angles(q)
    model = Model(robot, "none", prescribed=[*given, *legs], attitude=attitude)
    motions: dict[str, dict[str, Profiles]] = {}
    start = _with_shape(model, tail, shape)
    for leg in legs:
        motions[leg] = {c: held(float(angles[f"{leg}.{c}"])) for c in model.layout.limbs[leg].coordinates}
        for c in motions[leg]:
            start[model.coordinate_names.index(f"{leg}.{c}")] = float(angles[f"{leg}.{c}"])
    return Stand(model, start, [], motions)
