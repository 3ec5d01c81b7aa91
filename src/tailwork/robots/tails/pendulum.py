"""The single-link pendulum tail on a universal joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError
from tailwork.robots.body import Body, bar, point_mass, tipped_bar
from tailwork.robots.limb import FORWARD_FRAMES, Joint, Limb, Motor, Tip, placed
from tailwork.robots.quantities import Described, Vector, all_numbers, nonnegative, positive, vector


@dataclass(frozen=True)
class Pendulum(Described):
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
        return {name: placed(limb, self.mount, FORWARD_FRAMES[forward])}

    def _body(self) -> Body:
        if isinstance(self.mass, float) and self.mass == 0.0:
            return point_mass(self.tip_mass, (0.0, -self.length, 0.0))
        if isinstance(self.tip_mass, float) and self.tip_mass == 0.0:
            return bar(self.mass, self.length, 1)
        return tipped_bar(self.mass, self.tip_mass, self.length, 1)
