"""Legs of three hinges: of quadrupeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tailwork.algebra.expression import Scalar, sqrt
from tailwork.errors import RobotError
from tailwork.robots.body import bar
from tailwork.robots.legs.two_bars import two_bar_reach, two_bars
from tailwork.robots.limb import FORWARD_FRAMES, Foot, Joint, Limb, Motor, placed
from tailwork.robots.quantities import RobotPart, Vector, nonnegative, positive, vectors

KNEE_SIGNS = {"forward": -1.0, "backward": 1.0}
MOST_LEGS = 64
"""More legs in one part than this are refused: a typing error, or equations too large to compile."""


@dataclass(frozen=True, kw_only=True)
class ThreeHinge:
    """Closed form of the leg with a hip that swings about the forward axis, then two parallel hinges.

    In the leg frame (x right, y forward, z up, the hip at the origin) with the foot at s, rho = sqrt(sx² + sz²):
    ha = atan2(−sx, −sz); the leg plane then holds a two-bar chain that reaches (sy, rho − hip_length), with the knee
    angle k from the law of cosines (Liu & Ben-Tzvi 2020, Eqs. 8–10 for hip_length = 0; Biswal & Mohanty, Eqs. 11–13
    as corrected, for the foot below the hip). The foot is taken to be below the hip axis.
    """

    hip_length: Scalar
    thigh_length: Scalar
    shank_length: Scalar
    knee_sign: float

    def angles(self, foot: Vector) -> list[tuple[Scalar, Scalar]]:
        """(cosine, sine) of ha, hb and k for a foot at `foot` in the leg frame [m]."""
        sx, sy, sz = foot
        rho = sqrt(sx * sx + sz * sz)
        bars = two_bars(rho - self.hip_length, sy, self.thigh_length, self.shank_length, self.knee_sign)
        per_rho = 1.0 / rho
        return [(-sz * per_rho, -sx * per_rho), *bars]

    def extension(self, foot: Vector) -> Scalar:
        """Distance from the hinge hb to the foot as a share of thigh + shank."""
        sx, sy, sz = foot
        down = sqrt(sx * sx + sz * sz) - self.hip_length
        return sqrt(sy * sy + down * down) * (1.0 / (self.thigh_length + self.shank_length))

    def reach(self) -> tuple[Scalar, Scalar]:
        """Extension of the folded and of the straight leg."""
        return two_bar_reach(self.thigh_length, self.shank_length)


@dataclass(frozen=True, kw_only=True)
class ThreeHingeLegs(RobotPart):
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
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known

    def check(self) -> None:
        """As many feet as hips, and a known word for the knee."""
        if not self.hips:
            raise RobotError("hips", self.hips, "at least one hip")
        if len(self.hips) > MOST_LEGS:
            raise RobotError("hips", len(self.hips), f"at most {MOST_LEGS} hips")
        if len(self.hips) != len(self.feet):
            raise RobotError("feet", self.feet, f"as many feet as hips, {len(self.hips)}")
        if self.knee not in KNEE_SIGNS:
            raise RobotError("knee", self.knee, "'forward' or 'backward'")
        if isinstance(self.hip_mass, float) and self.hip_mass > 0 and self.hip_length == 0:
            raise RobotError("hip_mass", self.hip_mass, "0 where hip_length is 0 (there is no hip bar)")

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The legs of a torso that faces along `forward`, named leg1, leg2, … (for a part named "legs")."""
        stem, frame = name.removesuffix("s"), FORWARD_FRAMES[forward]
        return {f"{stem}{k + 1}": placed(self._limb(foot), hip, frame)
                for k, (hip, foot) in enumerate(zip(self.hips, self.feet, strict=True))}  # fmt: skip

    def _limb(self, foot: Vector) -> Limb:
        """A leg in its own frame."""
        hip_bar = None
        if not (isinstance(self.hip_mass, float) and self.hip_mass == 0.0):
            hip_bar = bar(self.hip_mass, self.hip_length, 2)
        joints = (
            Joint(name="ha", axis=(0.0, 1.0, 0.0), body=hip_bar),
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
            foot=Foot(joint="k", point=(0.0, 0.0, -self.shank_length), place=foot),
            closed_form=ThreeHinge(
                hip_length=self.hip_length,
                thigh_length=self.thigh_length,
                shank_length=self.shank_length,
                knee_sign=KNEE_SIGNS[self.knee],
            ),
        )
