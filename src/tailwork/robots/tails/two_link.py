"""The two-link pendulum: a bar on a universal joint and a second one behind it, driven or hanging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tailwork.algebra.expression import Scalar, arctan2, cos, sin, sqrt
from tailwork.errors import UnknownNameError
from tailwork.robots.body import bar, tipped_bar
from tailwork.robots.limb import Joint, Limb, Motor, Tip
from tailwork.robots.quantities import Vector, nonnegative, positive, vector
from tailwork.robots.springs import JointSpring
from tailwork.robots.tails.bend_angles import chain_angle
from tailwork.robots.tails.pendulum import check_universal, universal_angles
from tailwork.robots.tails.tail import Tail, direction_vector
from tailwork.typing import Floats

SECOND = ("active", "passive")


@dataclass(frozen=True, kw_only=True)
class TwoLink(Tail):
    """Two ideal bars behind each other, each on a universal joint; a point mass at the tip, if any.

    Coordinates ta, tb of the first joint and tc, td of the second: each link follows the one before by Rx Rz, so that
    ta and tc swing it down, tb and td to the right. Motors drive the first joint, and the second where it is "active";
    a "passive" one has springs and dampers, or none of either. By default as large as those of
    Liu & Ben-Tzvi 2020.
    """

    kind: ClassVar[str] = "two_link"
    kept: ClassVar[tuple[str, ...]] = ("mount", "armature")

    first_length: Scalar = positive("m", 0.24)  # of the first bar
    second_length: Scalar = positive("m", 0.24)  # of the second bar
    first_mass: Scalar = positive("kg", 0.5)  # of the first bar
    second_mass: Scalar = positive("kg", 0.5)  # of the second bar
    tip_mass: Scalar = nonnegative("kg", 0.0)  # a point mass at the far end
    second: str = "active"  # whether motors drive the second joint: "active" or "passive"
    stiffness: Scalar = nonnegative("N m/rad", 0.0)  # of the springs on both axes of the second joint
    damping: Scalar = nonnegative("N m s/rad", 0.0)  # of its dampers
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame
    armature: Scalar = nonnegative("kg m^2", 0.0)  # of each motor
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known

    def check(self) -> None:
        """A known word."""
        if self.second not in SECOND:
            raise UnknownNameError.among("second", self.second, SECOND, "second joint")

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The tail as a limb of a torso that faces along `forward`."""
        tipped = not isinstance(self.tip_mass, float) or self.tip_mass > 0.0
        last = tipped_bar(self.second_mass, self.tip_mass, self.second_length, 1) if tipped else None
        bodies = (bar(self.first_mass, self.first_length, 1), last or bar(self.second_mass, self.second_length, 1))
        driven = ("ta", "tb", "tc", "td") if self.second == "active" else ("ta", "tb")
        joints: list[Joint] = []
        for (across, up), body, start in zip(
            (("ta", "tb"), ("tc", "td")), bodies, (0.0, self.first_length), strict=True
        ):
            before = joints[-1].name if joints else None
            rotor = self.armature if across in driven else 0.0
            offset: Vector = (0.0, -start, 0.0) if joints else (0.0, 0.0, 0.0)
            joints.append(Joint(name=across, axis=(1.0, 0.0, 0.0), parent=before, offset=offset, armature=rotor))
            joints.append(Joint(name=up, axis=(0.0, 0.0, 1.0), parent=across, body=body, armature=rotor))
        held = not all(isinstance(x, float) and x == 0.0 for x in (self.stiffness, self.damping))
        springs = [JointSpring(joint=own, stiffness=self.stiffness, damping=self.damping) for own in ("tc", "td")]
        limb = Limb(
            joints=tuple(joints),
            actuators=tuple(Motor(name=own, coordinate=own, limit=self.torque_limit) for own in driven),
            springs=tuple(springs) if held else (),
            tip=Tip(joint="td", point=(0.0, -self.second_length, 0.0)),
        )
        return {name: self.on_torso(limb, forward)}

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """Both joints bend alike, in one plane; with a passive second one the straight tail points there [rad]."""
        if self.second == "passive":
            ta, tb = universal_angles(alpha, theta)
            return {"ta": ta, "tb": tb, "tc": 0.0, "td": 0.0}
        beyond = self.second_mass + self.tip_mass
        first = (self.first_mass * 0.5 + beyond) * self.first_length
        bend = chain_angle(theta, [first, (self.second_mass * 0.5 + self.tip_mass) * self.second_length])
        ta, tb = universal_angles(alpha, bend)
        # The second link lies in the same plane, at twice the bend: its direction as the first link sees it.
        x, y, z = direction_vector(alpha, bend * 2.0)
        y, z = y * cos(ta) + z * sin(ta), z * cos(ta) - y * sin(ta)
        x, y = x * cos(tb) + y * sin(tb), y * cos(tb) - x * sin(tb)
        return {"ta": ta, "tb": tb, "tc": arctan2(-z, -y), "td": arctan2(x, sqrt(y * y + z * z))}

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Less than 90° to the side [rad]."""
        check_universal(alpha, theta)
        super().check_directions(alpha, theta, angle)
