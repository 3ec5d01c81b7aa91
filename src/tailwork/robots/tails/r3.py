"""The R3 tail: a roll joint, then segments of rigid links geared to bend evenly in one plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError
from tailwork.robots.body import Body
from tailwork.robots.limb import FORWARD_FRAMES, MOST_JOINTS, Joint, Limb, Motor, Tip, placed
from tailwork.robots.quantities import (
    Described,
    Symmetric,
    Vector,
    all_numbers,
    nonnegative,
    number,
    positive,
    symmetric,
    vector,
)


@dataclass(frozen=True)
class R3(Described):
    """Roll–revolute–revolute tail (Liu & Ben-Tzvi 2020, Sect. 3.2.2; numbers: Table 1).

    Coordinates alpha (roll about y), beta_1, beta_2, … (angle of each joint of segment 1, 2, …, about x; + bends
    down at alpha = 0). Actuators: a roll torque and one cable tension a segment, on pulleys of `cable_radius` at
    each of its joints (Eqs. 71–73). The paper has one signed tension a segment: that of the cable that bends it down
    less that of its antagonist. Vectors of base and links are in the tail's axes: x right, y forward, z up.
    """

    kind: ClassVar[str] = "r3"

    links_per_segment: int = 6  # alike in all segments
    segments: int = 2  # one after the other, each bent by its own cable
    link_length: Scalar = positive("m", 0.04)  # from joint to joint, L_J2J
    link_com: Scalar = number("m", 0.0327)  # from a link's joint to its centre of mass, L_J2C
    link_mass: Scalar = positive("kg", 0.0759)  # of the first link; of all, without a taper
    link_inertia: Symmetric = symmetric("kg m^2", (8.13e-5, 16.26e-5, 18.68e-5, 0.0, 0.0, 0.0))  # central
    base_mass: Scalar = positive("kg", 0.0897)  # of the first body, which rolls and carries the links
    base_com: Vector = vector("m", (0.0, 0.0, 0.0))  # from the mount; not in the paper, taken on the roll axis
    base_inertia: Symmetric = symmetric("kg m^2", (4.33e-5, 3.67e-5, 4.04e-5, 0.0, 0.0, 0.0))  # central
    cable_radius: Scalar = positive("m", 0.025)  # of the pulleys, R_cbl
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of the roll motor; 0: not known
    tension_limit: Scalar = nonnegative("N", 0.0)  # of each segment's cable; 0: not known
    taper: Scalar = nonnegative("", 0.0)  # share by which the last link is lighter than the first; not in the paper

    def check(self) -> None:
        """At least one link, and not too many; a last link with a mass."""
        for name in ("links_per_segment", "segments"):
            count = getattr(self, name)
            if not 1 <= count < MOST_JOINTS:
                raise RobotError(name, count, f"an integer from 1 to {MOST_JOINTS - 1}")
        if self.links_per_segment * self.segments >= MOST_JOINTS:
            raise RobotError("segments", self.segments, f"fewer than {MOST_JOINTS} links in all")
        if all_numbers(self.taper) and not self.taper < 1.0:
            raise RobotError("taper", self.taper, "a share below 1: the last link has a mass, too")

    def link_shares(self) -> list[Scalar]:
        """Mass of each link as a share of the first's [1]: it falls evenly by `taper`. Inertias go with the masses."""
        count = self.links_per_segment * self.segments
        return [1.0 - self.taper * (k / max(1, count - 1)) for k in range(count)]

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The tail as a limb of a torso that faces along `forward`."""
        base = Body(mass=self.base_mass, com=self.base_com, inertia=self.base_inertia)
        joints = [Joint(name="roll", axis=(0.0, 1.0, 0.0), body=base)]
        gearing = [tuple([1.0] + [0.0] * self.segments)]
        for k, share in enumerate(self.link_shares()):
            joints.append(
                Joint(
                    name=f"bend_{k + 1}", axis=(1.0, 0.0, 0.0), parent=joints[-1].name, body=self._link(share),
                    offset=(0.0, -self.link_length, 0.0) if k else (0.0, 0.0, 0.0),
                )
            )  # fmt: skip
            segment = k // self.links_per_segment
            gearing.append(tuple([0.0] + [float(segment == s) for s in range(self.segments)]))
        arm = self.links_per_segment * self.cable_radius
        betas = [f"beta_{s + 1}" for s in range(self.segments)]
        motors = [Motor(name="roll", coordinate="alpha", limit=self.torque_limit)]
        motors += [
            Motor(name=f"T_{beta}", coordinate=beta, ratio=arm, unit="N", limit=self.tension_limit) for beta in betas
        ]
        limb = Limb(
            joints=tuple(joints),
            coordinates=("alpha", *betas),
            gearing=tuple(gearing),
            actuators=tuple(motors),
            tip=Tip(joint=joints[-1].name, point=(0.0, -self.link_length, 0.0)),
        )
        return {name: placed(limb, self.mount, FORWARD_FRAMES[forward])}

    def _link(self, share: Scalar) -> Body:
        xx, yy, zz, xy, xz, yz = (moment * share for moment in self.link_inertia)
        return Body(mass=self.link_mass * share, com=(0.0, -self.link_com, 0.0), inertia=(xx, yy, zz, xy, xz, yz))
