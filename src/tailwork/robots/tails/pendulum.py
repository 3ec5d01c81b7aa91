"""The single-link pendulum tail on a universal joint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from tailwork.algebra.expression import Scalar, arctan2, cos, sin, sqrt
from tailwork.errors import RobotError
from tailwork.robots.body import Body, bar, point_mass, tipped_bar
from tailwork.robots.limb import Joint, Limb, Motor, Tip
from tailwork.robots.quantities import Vector, all_numbers, nonnegative, positive, vector
from tailwork.robots.tails.tail import Tail
from tailwork.typing import Floats

SINGULAR = math.radians(89.9)
"""Yaw of a pendulum that is too near to its singular joint [rad]."""


@dataclass(frozen=True)
class Pendulum(Tail):
    """An ideal bar, a point mass at its tip, or both, on a universal joint.

    Tail vector t = Rx(ta) Rz(tb) [0, −length, 0]: +ta swings it down, +tb to the right (Liu & Ben-Tzvi 2018, Eq. 10;
    2020, Eq. 25), in axes right, forward, up. `mass` is the mass of the bar; 0 leaves the tip mass alone (2018).
    """

    kind: ClassVar[str] = "pendulum"

    length: Scalar = positive("m")  # of the bar
    mass: Scalar = nonnegative("kg")  # of the bar; 0: all mass is at the tip
    tip_mass: Scalar = nonnegative("kg", 0.0)  # a point mass at the far end
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame
    armature: Scalar = nonnegative("kg m^2", 0.0)  # of both motors; > 0 keeps the joint regular at tb = ±90°

    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known

    def check(self) -> None:
        """Some mass, of the bar or at its tip."""
        if all_numbers(self.mass, self.tip_mass) and self.mass == self.tip_mass == 0.0:
            raise RobotError("mass", self.mass, "mass or tip_mass greater than 0")

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The tail as a limb of a torso that faces along `forward`."""
        joints = (
            Joint(name="ta", axis=(1.0, 0.0, 0.0), armature=self.armature),
            Joint(name="tb", axis=(0.0, 0.0, 1.0), parent="ta", armature=self.armature, body=self._body()),
        )
        motors = tuple(Motor(name=joint.name, coordinate=joint.name, limit=self.torque_limit) for joint in joints)
        limb = Limb(joints=joints, actuators=motors, tip=Tip(joint="tb", point=(0.0, -self.length, 0.0)))
        return {name: self.on_torso(limb, forward)}

    def _body(self) -> Body:
        if isinstance(self.mass, float) and self.mass == 0.0:
            return point_mass(self.tip_mass, (0.0, -self.length, 0.0))
        if isinstance(self.tip_mass, float) and self.tip_mass == 0.0:
            return bar(self.mass, self.length, 1)
        return tipped_bar(self.mass, self.tip_mass, self.length, 1)

    def totals(self) -> dict[str, str]:
        """Mass, length, and the share of the mass that is at the tip."""
        return {**super().totals(), "tip_share": "1"}

    def follow(self, total: str) -> tuple[str, ...]:
        """Both masses, or the length."""
        return ("length",) if total == "total_length" else ("mass", "tip_mass")

    def total(self, name: str) -> Scalar:
        """The value of one of `totals`, in its unit."""
        return self.tip_mass / self.total_mass() if name == "tip_share" else super().total(name)

    def total_mass(self) -> Scalar:
        """Mass of bar and tip [kg]."""
        return self.mass + self.tip_mass

    def with_totals(self, values: Mapping[str, Scalar]) -> Self:
        """Of totals [kg], [m], [1]: the share at the tip stays by default; motors keep their armature."""
        self.check_totals(values)
        share = values.get("tip_share", self.total("tip_share"))
        if all_numbers(share) and not 0.0 <= share <= 1.0:
            raise RobotError("tip_share", share, "a share from 0 to 1")
        mass = values.get("total_mass", self.total_mass())
        changes = {"length": values["total_length"]} if "total_length" in values else {}
        if values.keys() - {"total_length"}:
            changes |= {"mass": mass * (1.0 - share), "tip_mass": mass * share}
        return replace(self, **changes)

    def tracking_gains(self) -> dict[str, tuple[Scalar, Scalar]]:
        """Within the 0.5° of Liu & Ben-Tzvi 2020 up to 80° [N m/rad], [N m s/rad]."""
        return {"ta": (1000.0, 20.0), "tb": (1000.0, 20.0)}

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """Both angles [rad] in closed form; every kind of `angle` is the same for a rigid tail."""
        ta, tb = universal_angles(alpha, theta)
        return {"ta": ta, "tb": tb}

    def universal_coordinates(self, ta: Scalar, tb: Scalar) -> dict[str, Scalar]:
        """These [rad]."""
        return {"ta": ta, "tb": tb}

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Less than 90° to the side [rad]."""
        check_universal(alpha, theta)


def universal_angles(alpha: Scalar, theta: Scalar) -> tuple[Scalar, Scalar]:
    """Angles (ta, tb) of a universal joint that points a rigid link into a direction [rad]."""
    aside = sin(alpha) * sin(theta)
    return arctan2(cos(alpha) * sin(theta), cos(theta)), -arctan2(aside, sqrt(1.0 - aside * aside))


def check_universal(alpha: Floats, theta: Floats) -> None:
    """Refuses directions [rad] in which a rigid link on a universal joint cannot point."""
    aside = np.abs(np.arcsin(np.sin(alpha) * np.sin(theta)))
    beyond = np.where(np.abs(np.cos(alpha)) < 1e-9, np.abs(theta), aside) >= SINGULAR
    if beyond.any() or np.abs(theta).max() >= math.pi:
        size = f"{math.degrees(np.abs(theta).max()):.4g}°"
        required = "less than 90° to the side: a universal joint is singular there (in one plane more can be imposed, "
        raise RobotError("motion", size, f"{required}or driven by motors with an armature)")
