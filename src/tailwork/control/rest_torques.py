"""Constant leg torques under which a robot rests with its feet pushing straight down, as equations of its design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, dot, zeros
from tailwork.control.context import Moment
from tailwork.control.laws import by_motors
from tailwork.errors import RobotError
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import center_of_mass
from tailwork.mechanics.pinned import leg_needs
from tailwork.mechanics.solve import Factored
from tailwork.mechanics.torso import TorsoState, stance_leg, torso_state
from tailwork.robots.quantities import Described, numbers


@dataclass(frozen=True, kw_only=True)
class StraightDown(Described):
    """Torques of the legs in stance that hold the robot in a posture while no foot pushes sideways.

    The feet share the weight by the smallest normal forces (least sum of squares) that balance it about both level
    axes; each leg's torques then follow from its own statics. They are equations of the robot's masses and lengths, so
    that many designs each have their own, and derivatives by the design know them.
    """

    posture: tuple[Scalar, ...] = numbers("m, rad")  # q

    def efforts(self, moment: Moment) -> Mapping[str, Scalar]:
        """The torques, by motor [N m]."""
        layout = moment.layout
        if len(self.posture) != len(layout.coordinate_names):
            raise RobotError("posture", len(self.posture), f"{len(layout.coordinate_names)} coordinates")
        if not layout.stance:
            raise RobotError("control", "StraightDown", "a model with legs in stance")
        torso = torso_state(layout, self.posture, [0.0] * len(layout.velocity_names))
        efforts: dict[str, Scalar] = {}
        for name, normal in zip(layout.stance, normal_forces(layout, self.posture), strict=True):
            torques = _leg_torques(layout, torso, name, array([0.0, 0.0, normal]))
            efforts |= by_motors(moment, name, torques)
        return efforts


def normal_forces(layout: Layout, posture: tuple[Scalar, ...]) -> list[Scalar]:
    """By leg in stance: its share of the weight [N], all feet pushing straight down."""
    feet = [foot.place for foot in (layout.limbs[name].foot for name in layout.stance) if foot is not None]
    rows = [[1.0] * len(feet), [foot[0] for foot in feet], [foot[1] for foot in feet]]
    middle = center_of_mass(layout, posture)
    weight = layout.robot.mass() * layout.robot.gravity
    matrix = array([[sum((a * b for a, b in zip(one, other, strict=True)), 0.0) for other in rows] for one in rows])
    first, by_x, by_y = Factored(matrix).solve([weight, weight * middle[0], weight * middle[1]])
    return [first + by_x * foot[0] + by_y * foot[1] for foot in feet]


def _leg_torques(layout: Layout, torso: TorsoState, name: str, force: Array) -> dict[str, Scalar]:
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
