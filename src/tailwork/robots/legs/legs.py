"""Kinds of legs. A kind of leg is the only place that knows a closed form of its inverse kinematics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tailwork.algebra.expression import Scalar, cos, sin, sqrt
from tailwork.errors import RobotError
from tailwork.robots.body import Body, bar, cylinder_inertia
from tailwork.robots.limb import IDENTITY, Foot, Joint, Limb, Motor
from tailwork.robots.quantities import (
    Described,
    Matrix,
    Vector,
    all_numbers,
    nonnegative,
    number,
    positive,
    vector,
    vectors,
)

FORWARD_FRAMES: dict[str, Matrix] = {
    "y": IDENTITY,
    "x": ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
}
"""Axes of the leg frame (x right, y forward, z up) in a torso frame whose forward axis is y or x."""

KNEE_SIGNS = {"forward": -1.0, "backward": 1.0}
MOST_LEGS = 64
"""More legs in one part than this are refused: a typing error, or equations too large to compile."""


def _from_hip(foot: Vector, hip: Vector, rotation: Matrix) -> list[Scalar]:
    """The foot from the hip in the leg frame; both are given in the torso frame [m]."""
    from_hip = [f - h for f, h in zip(foot, hip, strict=True)]
    return [sum((rotation[i][k] * from_hip[i] for i in range(3)), 0.0) for k in range(3)]


def _two_bars(x: Scalar, y: Scalar, first: Scalar, second: Scalar, bend: float) -> list[tuple[Scalar, Scalar]]:
    """(cosine, sine) of the two angles of a chain of two bars in a plane whose end is at (x, y) [m].

    x = first cos f + second cos(f + g), y = first sin f + second sin(f + g); g has the sign `bend`.
    """
    reach2 = y * y + x * x
    cos_g = (reach2 - (first * first + second * second)) * (1.0 / (2.0 * first * second))
    sin_g = sqrt(1.0 - cos_g * cos_g) * bend
    along, beside = first + second * cos_g, second * sin_g
    per_reach2 = 1.0 / reach2
    cos_f = (along * x + beside * y) * per_reach2
    sin_f = (along * y - beside * x) * per_reach2
    return [(cos_f, sin_f), (cos_g, sin_g)]


def _two_bar_reach(first: Scalar, second: Scalar) -> tuple[Scalar, Scalar]:
    """Extension of two bars that are folded, and of two in line."""
    return abs(first - second) / (first + second), 1.0


@dataclass(frozen=True, kw_only=True)
class ThreeHinge:
    """Closed form of the leg with a hip that swings about the forward axis, then two parallel hinges.

    In the leg frame (x right, y forward, z up) with the foot at s from the hip, rho = sqrt(sx² + sz²):
    ha = atan2(−sx, −sz); the leg plane then holds a two-bar chain that reaches (sy, rho − hip_length), with the knee
    angle k from the law of cosines (Liu & Ben-Tzvi 2020, Eqs. 8–10 for hip_length = 0; Biswal & Mohanty, Eqs. 11–13
    as corrected, for the foot below the hip). The foot is taken to be below the hip axis.
    """

    hip: Vector
    rotation: Matrix
    hip_length: Scalar
    thigh_length: Scalar
    shank_length: Scalar
    knee_sign: float

    def angles(self, foot: Vector) -> list[tuple[Scalar, Scalar]]:
        """(cosine, sine) of ha, hb and k for a foot at `foot` in the torso frame [m]."""
        sx, sy, sz = _from_hip(foot, self.hip, self.rotation)
        rho = sqrt(sx * sx + sz * sz)
        bars = _two_bars(rho - self.hip_length, sy, self.thigh_length, self.shank_length, self.knee_sign)
        per_rho = 1.0 / rho
        return [(-sz * per_rho, -sx * per_rho), *bars]

    def extension(self, foot: Vector) -> Scalar:
        """Distance from the hinge hb to the foot as a share of thigh + shank."""
        sx, sy, sz = _from_hip(foot, self.hip, self.rotation)
        down = sqrt(sx * sx + sz * sz) - self.hip_length
        return sqrt(sy * sy + down * down) * (1.0 / (self.thigh_length + self.shank_length))

    def reach(self) -> tuple[Scalar, Scalar]:
        """Extension of the folded and of the straight leg."""
        return _two_bar_reach(self.thigh_length, self.shank_length)


@dataclass(frozen=True, kw_only=True)
class ThreeHingeLegs(Described):
    """Alike legs of three hinges: ha about the forward axis, then hb and k about the axis across.

    Ideal bars. At zero angles a leg hangs straight down; k < 0 puts the knee forward; a positive knee torque
    extends a leg whose knee is forward. With hip_length > 0 a first bar leads from ha to hb (Biswal & Mohanty); with
    hip_length = 0 the two hinges cross in one point (the SRRR leg of Liu & Ben-Tzvi).
    """

    kind: ClassVar[str] = "three_hinge_legs"

    hips: tuple[Vector, ...] = vectors("m")  # in the torso frame, legs 1, 2, …
    feet: tuple[Vector, ...] = vectors("m")  # where they stand, in the inertial frame
    thigh_length: Scalar = positive("m")  # from the hinge hb to the knee
    shank_length: Scalar = positive("m")  # from the knee to the foot
    thigh_mass: Scalar = positive("kg")  # of each thigh
    shank_mass: Scalar = positive("kg")  # of each shank
    hip_length: Scalar = nonnegative("m", 0.0)  # of the bar from ha to hb; 0: the hinges cross in one point
    hip_mass: Scalar = nonnegative("kg", 0.0)  # of that bar
    knee: str = "forward"  # which way it bends, "forward" or "backward"
    forward: str = "y"  # axis of the torso frame that points forward, "x" or "y"
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known

    def check(self) -> None:
        """As many feet as hips, and known words for knee and forward."""
        if not self.hips:
            raise RobotError("hips", self.hips, "at least one hip")
        if len(self.hips) > MOST_LEGS:
            raise RobotError("hips", len(self.hips), f"at most {MOST_LEGS} hips")
        if len(self.hips) != len(self.feet):
            raise RobotError("feet", self.feet, f"as many feet as hips, {len(self.hips)}")
        if self.knee not in KNEE_SIGNS:
            raise RobotError("knee", self.knee, "'forward' or 'backward'")
        if self.forward not in FORWARD_FRAMES:
            raise RobotError("forward", self.forward, "'x' or 'y', the axis of the torso frame that points forward")
        if isinstance(self.hip_mass, float) and self.hip_mass > 0 and self.hip_length == 0:
            raise RobotError("hip_mass", self.hip_mass, "0 where hip_length is 0 (there is no hip bar)")

    def limbs(self, name: str) -> dict[str, Limb]:
        """The legs, named leg1, leg2, … (for a part named "legs")."""
        stem = name.removesuffix("s")
        return {f"{stem}{k + 1}": self._limb(k) for k in range(len(self.hips))}

    def _limb(self, k: int) -> Limb:
        rotation = FORWARD_FRAMES[self.forward]
        hip_bar = None
        if not (isinstance(self.hip_mass, float) and self.hip_mass == 0.0):
            hip_bar = bar(self.hip_mass, self.hip_length, 2)
        joints = (
            Joint(name="ha", axis=(0.0, 1.0, 0.0), offset=self.hips[k], rotation=rotation, body=hip_bar),
            Joint(
                name="hb", axis=(1.0, 0.0, 0.0), parent="ha", offset=(0.0, 0.0, -self.hip_length),
                body=bar(self.thigh_mass, self.thigh_length, 2),
            ),
            Joint(
                name="k", axis=(1.0, 0.0, 0.0), parent="hb", offset=(0.0, 0.0, -self.thigh_length),
                body=bar(self.shank_mass, self.shank_length, 2),
            ),
        )  # fmt: skip
        return Limb(
            joints=joints,
            actuators=tuple(Motor(name=j.name, coordinate=j.name, limit=self.torque_limit) for j in joints),
            foot=Foot(joint="k", point=(0.0, 0.0, -self.shank_length), place=self.feet[k]),
            closed_form=ThreeHinge(
                hip=self.hips[k],
                rotation=rotation,
                hip_length=self.hip_length,
                thigh_length=self.thigh_length,
                shank_length=self.shank_length,
                knee_sign=KNEE_SIGNS[self.knee],
            ),
        )


@dataclass(frozen=True, kw_only=True)
class FiveHinge:
    """Closed form of the insect's leg whose coxa keeps its elevation gamma and its twist alpha.

    In the leg frame with the foot at s from the hip: Rz(−gamma) s = Ry(beta) Rx(alpha) (X, Y, 0), which gives Y, X > 0
    and beta; femur and tibia are a two-bar chain that reaches (X − coxa, Y) with the knee up (tibia < 0).
    """

    hip: Vector
    rotation: Matrix
    gamma: Scalar
    alpha: Scalar
    coxa_length: Scalar
    femur_length: Scalar
    tibia_length: Scalar

    def _unfolded(self, foot: Vector) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """The foot across the axis of beta, first and third component of Rz(−gamma) s, then X and Y."""
        sx, sy, sz = _from_hip(foot, self.hip, self.rotation)
        c, s = cos(self.gamma), sin(self.gamma)
        across = c * sx + s * sy
        y = (c * sy - s * sx) / cos(self.alpha)
        beside = y * sin(self.alpha)
        return across, sz, sqrt(across * across + sz * sz - beside * beside), y

    def angles(self, foot: Vector) -> list[tuple[Scalar, Scalar]]:
        """(cosine, sine) of gamma, beta, alpha, femur and tibia for a foot at `foot` in the torso frame [m]."""
        px, pz, x, y = self._unfolded(foot)
        beside = y * sin(self.alpha)  # (px, pz) is (x, beside) turned by beta
        per_rho2 = 1.0 / (x * x + beside * beside)
        gamma, alpha = ((cos(angle), sin(angle)) for angle in (self.gamma, self.alpha))
        beta = ((x * px + beside * pz) * per_rho2, (beside * px - x * pz) * per_rho2)
        return [gamma, beta, alpha, *_two_bars(x - self.coxa_length, y, self.femur_length, self.tibia_length, -1.0)]

    def extension(self, foot: Vector) -> Scalar:
        """Distance from the hinge of the femur to the foot as a share of femur + tibia."""
        _, _, x, y = self._unfolded(foot)
        beyond_coxa = x - self.coxa_length
        return sqrt(beyond_coxa * beyond_coxa + y * y) * (1.0 / (self.femur_length + self.tibia_length))

    def reach(self) -> tuple[Scalar, Scalar]:
        """Extension of the folded and of the straight leg."""
        return _two_bar_reach(self.femur_length, self.tibia_length)


@dataclass(frozen=True, kw_only=True)
class InsectLeg(Described):
    """An insect's leg of five hinges: body–coxa three (Euler 3-2-1), coxa–femur and femur–tibia one each.

    The leg frame has x outward, y up, z fore–aft (Nelson & Quinn). The torso frame has x forward, y left, z up. The
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

    def limbs(self, name: str) -> dict[str, Limb]:
        """The leg, under the name of the part."""
        outward = 1.0 if self.side == "left" else -1.0
        rotation: Matrix = ((0.0, 0.0, outward), (outward, 0.0, 0.0), (0.0, 1.0, 0.0))
        names = ("gamma", "beta", "alpha", "femur", "tibia")
        joints = (
            Joint(name="gamma", axis=(0.0, 0.0, 1.0), offset=self.hip, rotation=rotation),
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
                hip=self.hip,
                rotation=rotation,
                gamma=self.coxa_gamma,
                alpha=self.coxa_alpha,
                coxa_length=self.coxa_length,
                femur_length=self.femur_length,
                tibia_length=self.tibia_length,
            ),
        )
        return {name: limb}

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
