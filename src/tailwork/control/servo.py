"""A servo on many joints that follow a table of angles, such as a gait's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar
from tailwork.control.context import Context
from tailwork.control.gait.joint_table import JointTable
from tailwork.control.laws import check_free, followed_effort, motors_of
from tailwork.control.standing import gain_factors
from tailwork.errors import ArgumentError, RobotError, UnknownNameError, check_known, shown
from tailwork.mechanics.layout import Layout
from tailwork.robots.limb import Motor
from tailwork.robots.quantities import Described, nonnegative
from tailwork.robots.robot import Robot

SERVO_GAINS = (350.0, 8.0)
"""Of a robot that walks: kp [N m/rad] and kd [N m s/rad] of the quadruped of Liu & Ben-Tzvi 2020."""


@dataclass(frozen=True, kw_only=True)
class FollowTargets(Described):
    """PD on coordinates by the motors that drive them: kp (target − q) + kd (target rate − rate), [N m]."""

    coordinates: tuple[str, ...]
    kp: Scalar = nonnegative("N m/rad")
    kd: Scalar = nonnegative("N m s/rad")

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """The motors' efforts: torque, or tension on its arm."""
        found: dict[str, Scalar] = {}
        for name in self.coordinates:
            limb, motor = driving_motor(context.layout, name)
            effort = followed_effort(context, name, motor, context.targets[name], self.kp, self.kd)
            found[f"{limb}.{motor.name}"] = effort
        return found


@dataclass(frozen=True, kw_only=True)
class JointServo:
    """Joints that follow a table by a PD law each, kp [N m/rad] and kd [N m s/rad].

    The table is looked up in compiled code while the run goes on, so it may be long. It is for robots on compliant or
    rigid ground. Only the gains are inputs of the kernels.
    """

    table: JointTable  # what the joints shall do
    kp: float  # of the error [N m/rad]
    kd: float  # of the error of the rate [N m s/rad]

    def __post_init__(self) -> None:
        if not isinstance(self.table, JointTable):
            raise ArgumentError("table", self.table, "a JointTable, such as joint_table(model, gait)")
        self.law()

    @classmethod
    def for_robot(cls, robot: Robot, table: JointTable) -> JointServo:
        """With gains that suit the mass and the legs of a robot: those of `SERVO_GAINS` for the quadruped of Liu &
        Ben-Tzvi 2020, of others as `gain_factors` says (the mean of its legs)."""
        if not isinstance(robot, Robot):
            raise ArgumentError("robot", shown(robot), "a Robot first, then a table; of a Model it is model.robot")
        factors = [gain_factors(robot, leg, "joint") for leg in robot.feet()]
        if not factors:
            raise RobotError("robot", robot.name, "a robot with legs")
        kp, kd = (float(sum(own)) / len(own) for own in zip(*factors, strict=True))
        return cls(table=table, kp=SERVO_GAINS[0] * kp, kd=SERVO_GAINS[1] * kd)

    def law(self) -> FollowTargets:
        """What is compiled."""
        return FollowTargets(coordinates=self.table.coordinates, kp=self.kp, kd=self.kd)

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """The motors' efforts [N m or N]."""
        return self.law().efforts(context)


def driving_motor(layout: Layout, name: str) -> tuple[str, Motor]:
    """The limb and the motor that drive a coordinate, by its name in the model."""
    limb, _, coordinate = name.partition(".")
    motors = {limb: motors_of(layout.limbs[limb]) for limb in layout.actuated}
    if coordinate not in motors.get(limb, {}):
        driven = [f"{limb}.{coordinate}" for limb, own in motors.items() for coordinate in own]
        raise UnknownNameError.among("table.coordinates", name, driven, "coordinate that a motor drives")
    return limb, motors[limb][coordinate]


def followed(servos: Sequence[JointServo], layout: Layout) -> tuple[str, ...]:
    """All coordinates that servos drive, each by one of them only."""
    names = [name for servo in servos for name in servo.table.coordinates]
    for name in names:
        check_free("table.coordinates", name, layout)
    check_known("table.coordinates", names, layout.coordinate_names, "coordinate of the model")
    for name in names:
        driving_motor(layout, name)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError("control", twice, "one servo a coordinate")
    return tuple(names)
