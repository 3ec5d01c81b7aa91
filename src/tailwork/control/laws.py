"""Control laws as equations: functions of time, state and numbers that are compiled with the robot.

A law is a frozen dataclass; its numbers (gains, torques, angles) are inputs of the kernel, so changing them compiles
nothing. Laws add up: each gives efforts to some of the actuators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, arctan2, cos, sin
from tailwork.algebra.vectors import Array, array, cross, dot, times, zeros
from tailwork.control.context import Context
from tailwork.control.profiles import Profiles
from tailwork.errors import ArgumentError, check_known
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import leg_with_angles
from tailwork.mechanics.solve import Factored
from tailwork.mechanics.torso import LimbState, limb_state
from tailwork.robots.limb import Limb, Motor
from tailwork.robots.quantities import Described, Vector, nonnegative, numbers, vector


@dataclass(frozen=True, kw_only=True)
class Constant(Described):
    """Constant efforts, one for each actuator of the model, or for those that are named."""

    values: tuple[Scalar, ...] = numbers("N m or N")  # the efforts
    actuators: tuple[str, ...] = ()  # none named: all, in the order of the model

    def check(self) -> None:
        """Names that differ."""
        if len(set(self.actuators)) != len(self.actuators):
            raise ArgumentError("actuators", self.actuators, "names that differ")

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """The efforts by name [N m or N]."""
        names = self.actuators or context.layout.actuator_names
        if len(names) != len(self.values):
            raise ArgumentError("values", len(self.values), f"{len(names)} efforts, for {', '.join(names)}")
        return dict(zip(names, self.values, strict=True))


@dataclass(frozen=True, kw_only=True)
class Driven(Described):
    """One actuator's effort as a function of time."""

    actuator: str  # by its name in the model, such as "tail.ta"
    profile: Profiles  # of its effort [N m or N]

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """The effort now [N m or N]."""
        return {self.actuator: self.profile.value(context.t)}


@dataclass(frozen=True, kw_only=True)
class Stiffness(Described):
    """The stiffness of springs that an actuator changes, as a function of time."""

    actuator: str  # by its name in the model, such as "tail.stiffness"
    profile: Profiles  # of the stiffness itself, in the actuator's unit

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """What is added to the nominal stiffness [N m/rad, or as the actuator says]."""
        names = context.layout.actuator_names
        known = {names[k]: actuator for k, actuator in context.layout.stiffnesses.items()}
        check_known("actuator", [self.actuator], known, "variable stiffness")
        return {self.actuator: self.profile.value(context.t) - known[self.actuator].nominal}


@dataclass(frozen=True, kw_only=True)
class Tracking(Described):
    """PD on one coordinate by the motor that drives it: kp (desired − q) + kd (desired rate − rate), [N m]."""

    limb: str  # its name in the model
    coordinate: str  # of that limb, which a motor drives
    profile: Profiles  # what the coordinate shall do [rad]
    kp: Scalar = nonnegative("N m/rad")  # of the error
    kd: Scalar = nonnegative("N m s/rad")  # of the error of its rate

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """The motor's effort: torque [N m], or tension on its arm [N]."""
        check_known("limb", [self.limb], context.layout.limbs, "limb")
        motors, name = motors_of(context.layout.limbs[self.limb]), f"{self.limb}.{self.coordinate}"
        if self.coordinate not in motors:
            required = f"a coordinate of {self.limb} that a motor drives, of {list(motors)}"
            raise ArgumentError("coordinate", self.coordinate, required)
        check_free("limb", name, context.layout)
        motor, value, rate = motors[self.coordinate], self.profile.value(context.t), self.profile.rate(context.t)
        return {f"{self.limb}.{motor.name}": followed_effort(context, name, motor, (value, rate), self.kp, self.kd)}


@dataclass(frozen=True, kw_only=True)
class JointImpedance(Described):
    """A leg whose joints are held by springs and dampers: stiffness (rest − angle) − damping · rate."""

    leg: str  # its name in the model
    rest: tuple[Scalar, ...] = numbers("rad")  # by joint
    stiffness: Scalar = nonnegative("N m/rad")  # of each spring
    damping: Scalar = nonnegative("N m s/rad")  # of each damper

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Torques of the leg's motors [N m]."""
        limb = leg_of(context, self.leg)
        if len(self.rest) != len(limb.joints):
            raise ArgumentError("rest", self.rest, f"{len(limb.joints)} angles, one a joint")
        if self.leg in context.layout.stance:
            leg = context.leg(self.leg)
            pairs = [(c * cos(rest) + s * sin(rest), s * cos(rest) - c * sin(rest))
                     for rest, (c, s) in zip(self.rest, leg.angles, strict=True)]  # fmt: skip
            rates, missing = leg.rates, [arctan2(sine, cosine) * -1.0 for cosine, sine in pairs]
        else:
            state = free_leg(context, self.leg)
            rates, missing = state.rates, [rest - value for rest, value in zip(self.rest, state.values, strict=True)]
        torques = [x * self.stiffness - rate * self.damping for x, rate in zip(missing, rates, strict=True)]
        return by_motors(context, self.leg, dict(zip((joint.name for joint in limb.joints), torques, strict=True)))


@dataclass(frozen=True, kw_only=True)
class FootImpedance(Described):
    """A leg whose foot is held in its place under the torso by a spring and a damper, alike in every direction.

    The leg pushes its foot by stiffness (rest − s) − damping · s-dot, with s the foot from P, all in the torso frame.
    """

    leg: str  # its name in the model
    rest: Vector = vector("m")  # of the foot from P, in the torso frame
    stiffness: Scalar = nonnegative("N/m")  # of the spring
    damping: Scalar = nonnegative("N s/m")  # of the damper

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Torques of the leg's motors [N m]: the force's virtual work."""
        limb = leg_of(context, self.leg)
        if self.leg in context.layout.stance:
            leg, torso = context.leg(self.leg), context.torso
            away = -(torso.velocity + cross(torso.omega, leg.foot))
            local = leg.turn.outward((array(self.rest) - leg.foot) * self.stiffness - away * self.damping)
        else:
            state = free_leg(context, self.leg)
            leg = leg_with_angles(limb, state.angles, zeros(3), lambda turn: zeros(3))
            foot = array(limb.joints[0].offset) + leg.turn.inward(leg.spans[0] - leg.ends[0])
            away = sum((arm * rate for arm, rate in zip(leg.arms, state.rates, strict=True)), zeros(3))
            local = leg.turn.outward((array(self.rest) - foot) * self.stiffness) - away * self.damping
        torques = {joint.name: dot(arm, local) for joint, arm in zip(limb.joints, leg.arms, strict=True)}
        return by_motors(context, self.leg, torques)


def least_norm(matrix: Array, wanted: Iterable[Scalar]) -> Array:
    """The smallest x (least sum of squares) for which matrix · x is as wanted."""
    return times(matrix.T, array(Factored(times(matrix, matrix.T)).solve(list(wanted))))


def motors_of(limb: Limb) -> dict[str, Motor]:
    """The motors of a limb by the coordinate that they drive."""
    return {motor.coordinate: motor for motor in limb.actuators if isinstance(motor, Motor)}


def followed_effort(
    context: Context, name: str, motor: Motor, target: tuple[Scalar, Scalar], kp: Scalar, kd: Scalar
) -> Scalar:
    """A motor's effort [N m or N] for a coordinate that follows a target and its rate [rad, rad/s] by PD."""
    short, slow = target[0] - context.coordinate(name), target[1] - context.rate(name)
    return (short * kp + slow * kd) / motor.ratio


def check_free(path: str, name: str, layout: Layout) -> None:
    """Refuses a coordinate, by its name in the model, of a leg whose foot is pinned: it is none of the state."""
    leg = name.partition(".")[0]
    if leg in layout.stance and name not in layout.coordinate_names:
        required = f"a coordinate of a limb that is free: this model pins the foot of {leg}. Take one that pins none, "
        required += "Model(robot, stance='none'), or a law of legs that stand, such as HoldPosture"
        raise ArgumentError(path, name, required)


def leg_of(context: Context, name: str) -> Limb:
    """A leg by name."""
    check_known("leg", [name], context.layout.legs, "leg")
    return context.layout.limbs[name]


def free_leg(context: Context, name: str) -> LimbState:
    """Joint angles and rates of a leg that is not in stance."""
    layout = context.layout
    return limb_state(layout.limbs[name], context.q[layout.coordinates[name]], context.v[layout.rates[name]])


def by_motors(context: Context, name: str, torques: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Efforts of the motors that give torques to a leg's joints."""
    motors = motors_of(context.layout.limbs[name])
    for joint in torques:
        if joint not in motors:
            raise ArgumentError("leg", name, f"a leg with a motor on each joint; {joint} has none")
    return {f"{name}.{motors[joint].name}": torque / motors[joint].ratio for joint, torque in torques.items()}
