"""Robots that stand: rest torques, rest angles and leg angles as equations of the robot's numbers.

One run, a batch of designs, a gradient and a search over designs use the same equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, sqrt
from tailwork.algebra.vectors import Array, array, dot, zeros
from tailwork.control.context import Context
from tailwork.control.laws import FootImpedance, JointImpedance, by_motors, least_norm
from tailwork.errors import ArgumentError, check_known
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.inverse import actuation_matrix, generalised_force
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import center_of_mass
from tailwork.mechanics.pinned import leg_needs
from tailwork.mechanics.solve import Factored
from tailwork.mechanics.torso import TorsoState, pinned_values, stance_leg, torso_state
from tailwork.robots.quantities import Described, nonnegative, numbers
from tailwork.robots.robot import Robot
from tailwork.robots.sizes import leg_length, mass_without_tails

DISTRIBUTIONS = ("minimum-norm", "straight-down")
HOLDS = ("joint", "foot")
MASS_ON_LEG, LEG_LENGTH = 5.4, 0.5
"""Of the quadruped of Liu & Ben-Tzvi 2020 without its tail [kg], [m]."""


@dataclass(frozen=True, kw_only=True)
class RestTorques(Described):
    """Constant torques of the legs that hold the robot at rest in a posture, all other limbs held.

    "minimum-norm": the smallest torques (least sum of squares) that balance the robot, as in Liu & Ben-Tzvi 2020,
    Eq. 85. "straight-down": the feet share the weight by the smallest normal forces that balance it about both level
    axes, and none pushes sideways; each leg's torques then follow from its own statics.
    """

    distribution: str = "minimum-norm"  # or "straight-down"
    posture: tuple[Scalar, ...] = numbers("m, rad", ())  # q; by default the initial configuration of the run

    def check(self) -> None:
        """A known distribution."""
        check_known("distribution", [self.distribution], DISTRIBUTIONS, "distribution")

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """The torques, by motor [N m]."""
        layout, q = standing_layout(context, self.posture)
        if self.distribution == "minimum-norm":
            still = [0.0] * len(layout.velocity_names)
            force = generalised_force(layout, Inputs(q, still, ()), still)[:6]
            actuation = actuation_matrix(layout, q)[:6]
            if actuation.shape[1] < 6:
                raise ArgumentError("control", "RestTorques", "at least six leg motors")
            return dict(zip(layout.actuator_names, least_norm(actuation, force), strict=True))
        torso = torso_state(layout, q, [0.0] * len(layout.velocity_names))
        efforts: dict[str, Scalar] = {}
        for name, normal in zip(layout.stance, normal_forces(layout, q), strict=True):
            torques = standing_torques(layout, torso, name, array([0.0, 0.0, normal]))
            efforts |= by_motors(context, name, torques)
        return efforts


@dataclass(frozen=True, kw_only=True)
class HoldPosture(Described):
    """Springs and dampers that hold the legs in a posture, at every joint or at every foot."""

    at: str  # "joint" or "foot"
    stiffness: Scalar = nonnegative("")  # of each joint [N m/rad] or foot [N/m]
    damping: Scalar = nonnegative("")  # of each joint [N m s/rad] or foot [N s/m]
    scaled: bool = False  # whether these are gains of the robot of 2020, which follow mass and legs: see `gain_factors`
    posture: tuple[Scalar, ...] = numbers("m, rad", ())  # q; by default the initial configuration of the run

    def check(self) -> None:
        """A known place."""
        check_known("at", [self.at], HOLDS, "place of the springs")

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Torques of the legs' motors [N m]."""
        layout, q = standing_layout(context, self.posture)
        torso = torso_state(layout, q, [0.0] * len(layout.velocity_names))
        efforts: dict[str, Scalar] = {}
        for name in layout.stance:
            leg = stance_leg(layout, torso, name)
            stiffer, damped = gain_factors(layout.robot, name, self.at) if self.scaled else (1.0, 1.0)
            gains = {"stiffness": self.stiffness * stiffer, "damping": self.damping * damped}
            if self.at == "joint":
                law = JointImpedance(leg=name, rest=tuple(pinned_values(leg)), **gains)
            else:
                law = FootImpedance(leg=name, rest=(leg.foot[0], leg.foot[1], leg.foot[2]), **gains)
            efforts |= law.efforts(context)
        return efforts


def gain_factors(robot: Robot, leg: str, at: str) -> tuple[Scalar, Scalar]:
    """By how much the stiffness and the damping that hold a leg, at its joints or its foot, are larger than those of
    the quadruped of Liu & Ben-Tzvi 2020 [1]: so that the robot gives way by the same share of its size, in the same
    shape of time.

    With m the mass on each leg, without tails, and l the length of the leg: springs of feet go as m/l, those of joints
    as m l; times go as √l, so dampers as springs times √l (Froude's law, in the same gravity).
    """
    legs = [name for name, limb in robot.limbs().items() if limb.foot is not None]
    heavier = mass_without_tails(robot) * (1.0 / (len(legs) * MASS_ON_LEG))
    longer = leg_length(robot.limbs()[leg]) * (1.0 / LEG_LENGTH)
    stiffer = heavier * longer if at == "joint" else heavier / longer
    return stiffer, stiffer * sqrt(longer)


@dataclass(frozen=True, kw_only=True)
class StandingAngles(Described):
    """The motion of a leg that keeps the joint angles with which the robot stands, such as in the air."""

    def coordinates(self, layout: Layout, limb: str, t: Scalar) -> Mapping[str, Scalar]:
        """All coordinates of the leg [rad]."""
        return standing_angles(layout.robot, limb)


def standing_angles(robot: Robot, leg: str) -> dict[str, Scalar]:
    """Joint angles of a leg [rad] of the robot that stands level where it says, its feet in their places; without a
    closed form, or of more than three hinges, coordinates as its foot says (`Foot.angles`), or zero."""
    limb = robot.limbs()[leg]
    if limb.closed_form is None or len(limb.joints) != 3:
        return dict.fromkeys(limb.coordinates, 0.0) | limb.foot_angles
    layout = Layout(robot, (leg,), tuple(name for name in robot.limbs() if name != leg))
    q = [*robot.stand, *([0.0] * (len(layout.coordinate_names) - 3))]
    pinned = stance_leg(layout, torso_state(layout, q, [0.0] * len(layout.velocity_names)), leg)
    return dict(zip((joint.name for joint in pinned.limb.joints), pinned_values(pinned), strict=True))


def standing_layout(context: Context, posture: Sequence[Scalar]) -> tuple[Layout, list[Scalar]]:
    """The robot with its feet pinned and all other limbs held, and its configuration in a posture of the run's model.

    Legs in stance are those of the model, or all legs where it pins none.
    """
    layout = context.layout
    if posture and len(posture) != len(layout.coordinate_names):
        raise ArgumentError("posture", len(posture), f"{len(layout.coordinate_names)} coordinates")
    q = posture or context.initial()
    stance = layout.stance or layout.legs
    if not stance:
        raise ArgumentError("control", "a robot without legs", "a robot with legs to stand on")
    if not layout.torso_free:
        raise ArgumentError("control", "a fixed torso", "a robot whose torso is free")
    held = tuple(name for name in layout.limbs if name not in stance)
    pinned = Layout(layout.robot, stance, held, riding=layout.riding)
    own = list(q[:3]) + (list(q[3:6]) if layout.attitude != "quaternion" else [0.0, 0.0, 0.0])
    for name in (*pinned.moving, *pinned.dependent):
        own += list(q[layout.coordinates[name]])
    return pinned, own


def normal_forces(layout: Layout, q: Sequence[Scalar]) -> list[Scalar]:
    """By leg in stance: its share of the weight [N], all feet pushing straight down."""
    feet = [foot.place for foot in (layout.limbs[name].foot for name in layout.stance) if foot is not None]
    rows = [[1.0] * len(feet), [foot[0] for foot in feet], [foot[1] for foot in feet]]
    middle = center_of_mass(layout, q)
    weight = layout.robot.mass() * layout.robot.gravity
    matrix = array([[sum((a * b for a, b in zip(one, other, strict=True)), 0.0) for other in rows] for one in rows])
    first, by_x, by_y = Factored(matrix).solve([weight, weight * middle[0], weight * middle[1]])
    return [first + by_x * foot[0] + by_y * foot[1] for foot in feet]


def standing_torques(layout: Layout, torso: TorsoState, name: str, force: Array) -> dict[str, Scalar]:
    """Joint torques of a leg at rest whose foot the ground pushes by a force, inertial frame [N]."""
    leg = stance_leg(layout, torso, name)
    still = [0.0] * len(leg.axes)
    gravity, no_pushes = leg.turn.outward(torso.gravity), [None] * len(still)
    bodies, needs, _ = leg_needs(leg, zeros(3), zeros(3), gravity, still, still, no_pushes)
    handed_on = sum((body.force for body in bodies), zeros(3)) - leg.turn.outward(torso.from_inertial(force))
    return {
        joint.name: need + dot(arm, handed_on)
        for joint, need, arm in zip(leg.limb.joints, needs, leg.arms, strict=True)
    }
