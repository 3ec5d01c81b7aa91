"""The leg of an insect: five hinges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tailwork.algebra.expression import Scalar, cos, sin, sqrt
from tailwork.errors import RobotError
from tailwork.robots.body import Body, cylinder_inertia
from tailwork.robots.legs.two_bars import two_bar_reach, two_bars
from tailwork.robots.limb import FORWARD_FRAMES, Foot, Joint, Limb, Motor, placed
from tailwork.robots.quantities import Matrix, RobotPart, Vector, all_numbers, number, positive, vector


@dataclass(frozen=True, kw_only=True)
class FiveHinge:
    """Closed form of the insect's leg whose coxa keeps its elevation gamma and its twist alpha.

    In the leg frame, the hip at its origin, with the foot at s: Rz(−gamma) s = Ry(beta) Rx(alpha) (X, Y, 0), which
    gives Y, X > 0 and beta; femur and tibia are a two-bar chain that reaches (X − coxa, Y), the knee up (tibia < 0).
    """

    gamma: Scalar
    alpha: Scalar
    coxa_length: Scalar
    femur_length: Scalar
    tibia_length: Scalar

    def _unfolded(self, foot: Vector) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """The foot across the axis of beta, first and third component of Rz(−gamma) s, then X and Y."""
        sx, sy, sz = foot
        c, s = cos(self.gamma), sin(self.gamma)
        across = c * sx + s * sy
        y = (c * sy - s * sx) / cos(self.alpha)
        beside = y * sin(self.alpha)
        return across, sz, sqrt(across * across + sz * sz - beside * beside), y

    def angles(self, foot: Vector) -> list[tuple[Scalar, Scalar]]:
        """(cosine, sine) of gamma, beta, alpha, femur and tibia for a foot at `foot` in the leg frame [m]."""
        px, pz, x, y = self._unfolded(foot)
        beside = y * sin(self.alpha)  # (px, pz) is (x, beside) turned by beta
        per_rho2 = 1.0 / (x * x + beside * beside)
        gamma, alpha = ((cos(angle), sin(angle)) for angle in (self.gamma, self.alpha))
        beta = ((x * px + beside * pz) * per_rho2, (beside * px - x * pz) * per_rho2)
        return [gamma, beta, alpha, *two_bars(x - self.coxa_length, y, self.femur_length, self.tibia_length, -1.0)]

    def extension(self, foot: Vector) -> Scalar:
        """Distance from the hinge of the femur to the foot as a share of femur + tibia."""
        _, _, x, y = self._unfolded(foot)
        beyond_coxa = x - self.coxa_length
        return sqrt(beyond_coxa * beyond_coxa + y * y) * (1.0 / (self.femur_length + self.tibia_length))

    def reach(self) -> tuple[Scalar, Scalar]:
        """Extension of the folded and of the straight leg."""
        return two_bar_reach(self.femur_length, self.tibia_length)


@dataclass(frozen=True, kw_only=True)
class InsectLeg(RobotPart):
    """An insect's leg of five hinges: body–coxa three (Euler 3-2-1), coxa–femur and femur–tibia one each.

    The leg frame has x outward, y up, z fore–aft (Nelson & Quinn): forward on the left, backward on the right. The
    coxa is half an ellipsoid, with its centre of mass at 3/8 of its length; femur and tibia are cylinders. Five hinges
    are two more than a foot's place asks for: in its closed form the coxa keeps `coxa_gamma` and `coxa_alpha`.
    """

    kind: ClassVar[str] = "insect_leg"

    side: str  # "left" or "right" of the body
    hip: Vector = vector("m")  # in the torso frame
    foot: Vector = vector("m")  # where it stands, in the inertial frame
    coxa_mass: Scalar = positive("kg")  # of the first link
    femur_mass: Scalar = positive("kg")  # of the second
    tibia_mass: Scalar = positive("kg")  # of the third, which ends in the foot
    coxa_length: Scalar = positive("m")  # from the hip to the femur
    femur_length: Scalar = positive("m")  # from the coxa to the tibia
    tibia_length: Scalar = positive("m")  # from the femur to the foot
    coxa_height: Scalar = positive("m")  # a semi-axis of the coxa across its length, up
    coxa_width: Scalar = positive("m")  # the other one, fore and aft
    rod_radius: Scalar = positive("m")  # of femur and tibia
    coxa_gamma: Scalar = number("rad", math.radians(-25.0))  # kept in the closed form; estimate: 25° down
    coxa_alpha: Scalar = number("rad", 0.0)  # kept in the closed form: the turn of the coxa about its length

    def check(self) -> None:
        """A known side, and a turn of the coxa below a right angle."""
        if self.side not in ("left", "right"):
            raise RobotError("side", self.side, "'left' or 'right'")
        if all_numbers(self.coxa_alpha) and not abs(self.coxa_alpha) < math.pi / 2:
            raise RobotError("coxa_alpha", self.coxa_alpha, "an angle between −pi/2 and pi/2 [rad]")

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The leg, under the name of the part, on a torso that faces along `forward`."""
        left = 1.0 if self.side == "left" else -1.0
        frame: Matrix = ((-left, 0.0, 0.0), (0.0, 0.0, left), (0.0, 1.0, 0.0))  # its axes in right, forward, up
        names = ("gamma", "beta", "alpha", "femur", "tibia")
        joints = (
            Joint(name="gamma", axis=(0.0, 0.0, 1.0)),
            Joint(name="beta", axis=(0.0, 1.0, 0.0), parent="gamma"),
            Joint(name="alpha", axis=(1.0, 0.0, 0.0), parent="beta", body=self._coxa()),
            Joint(
                name="femur", axis=(0.0, 0.0, 1.0), parent="alpha", offset=(self.coxa_length, 0.0, 0.0),
                body=self._rod(self.femur_mass, self.femur_length),
            ),
            Joint(
                name="tibia", axis=(0.0, 0.0, 1.0), parent="femur", offset=(self.femur_length, 0.0, 0.0),
                body=self._rod(self.tibia_mass, self.tibia_length),
            ),
        )  # fmt: skip
        limb = Limb(
            joints=joints,
            actuators=tuple(Motor(name=n, coordinate=n) for n in names),
            foot=Foot(joint="tibia", point=(self.tibia_length, 0.0, 0.0), place=self.foot),
            closed_form=FiveHinge(
                gamma=self.coxa_gamma,
                alpha=self.coxa_alpha,
                coxa_length=self.coxa_length,
                femur_length=self.femur_length,
                tibia_length=self.tibia_length,
            ),
        )
        return {name: placed(placed(limb, (0.0, 0.0, 0.0), frame), self.hip, FORWARD_FRAMES[forward])}

    def _coxa(self) -> Body:
        m, length, height, width = self.coxa_mass, self.coxa_length, self.coxa_height, self.coxa_width
        fifth = m / 5.0
        about_base_y = fifth * (length * length + width * width)
        about_base_z = fifth * (length * length + height * height)
        reach = length * 0.375
        shift = m * reach * reach
        inertia = (fifth * (height * height + width * width), about_base_y - shift, about_base_z - shift, 0.0, 0.0, 0.0)
        return Body(mass=m, com=(reach, 0.0, 0.0), inertia=inertia)

    def _rod(self, mass: Scalar, length: Scalar) -> Body:
        return Body(mass=mass, com=(length * 0.5, 0.0, 0.0), inertia=cylinder_inertia(mass, self.rod_radius, length, 0))
