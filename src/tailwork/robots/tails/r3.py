"""The R3 tail: a roll joint, then segments of rigid links geared to bend evenly in one plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError
from tailwork.robots.body import Body
from tailwork.robots.limb import MOST_JOINTS, Joint, Limb, Motor, Tip
from tailwork.robots.quantities import Symmetric, Vector, all_numbers, nonnegative, number, positive, symmetric, vector
from tailwork.robots.tails.bend_angles import bend_per_joint, check_bend
from tailwork.robots.tails.tail import Adjustable, Tail, scaled
from tailwork.typing import Floats


@dataclass(frozen=True)
class R3(Tail):
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
        return {name: self.on_torso(limb, forward)}

    def _link(self, share: Scalar) -> Body:
        xx, yy, zz, xy, xz, yz = (moment * share for moment in self.link_inertia)
        return Body(mass=self.link_mass * share, com=(0.0, -self.link_com, 0.0), inertia=(xx, yy, zz, xy, xz, yz))

    def follow(self, total: str) -> tuple[str, ...]:
        """Numbers of the links."""
        own = ("link_mass",) if total == "total_mass" else ("link_length", "link_com")
        return (*own, "link_inertia")

    def with_totals(self, values: Mapping[str, Scalar]) -> Self:
        """Of a total mass [kg] and length [m]: links stay alike, inertias go with mass and length; the base stays."""
        least = self.base_mass if all_numbers(self.base_mass) else 0.0
        self.check_totals(values, least)
        shares = self.link_shares()
        length = values["total_length"] / float(len(shares)) if "total_length" in values else self.link_length
        whole = sum(shares[1:], shares[0])
        mass = (values["total_mass"] - self.base_mass) / whole if "total_mass" in values else self.link_mass
        longer, heavier = length / self.link_length, mass / self.link_mass
        return replace(
            self, link_length=length, link_com=self.link_com * longer, link_mass=mass,
            link_inertia=scaled(self.link_inertia, heavier * longer * longer),
        )  # fmt: skip

    def adjustable(self, forward: str = "y") -> tuple[Adjustable, ...]:
        """The number of links, too."""
        most = max(10, self.links_per_segment)
        links = Adjustable("links_per_segment", "", 2, most, "the tail keeps its length and mass", integer=True)
        return (*super().adjustable(forward), links)

    def tracking_gains(self) -> dict[str, tuple[Scalar, Scalar]]:
        """Those of a pendulum [N m/rad], [N m s/rad]; beta moves twelve joints at once."""
        return {"alpha": (1000.0, 20.0)} | {name: (12e3, 240.0) for name in self.driven if name != "alpha"}

    def _masses(self) -> list[Scalar]:
        return [share * self.link_mass for share in self.link_shares()]

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """Roll, and the even bend of all joints [rad]."""
        bend = bend_per_joint(self._masses(), self.link_length, self.link_com, theta, angle)
        return {"alpha": alpha} | {f"beta_{s + 1}": bend for s in range(self.segments)}

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Bends [rad] before the tail rolls up."""
        check_bend(self._masses(), self.link_length, self.link_com, theta, angle)

    def curvatures(self, coordinates: Mapping[str, Scalar], alpha: Scalar) -> list[Scalar]:
        """By segment [1/m]."""
        return [coordinates[f"beta_{s + 1}"] / self.link_length for s in range(self.segments)]
