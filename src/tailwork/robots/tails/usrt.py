"""The USRT: a flexible tail of links on sprung universal joints, bent by cables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError
from tailwork.robots.body import Body
from tailwork.robots.limb import Limb, Tip
from tailwork.robots.quantities import (
    Symmetric,
    Vector,
    interval,
    nonnegative,
    number,
    numbers,
    positive,
    symmetric,
    vector,
)
from tailwork.robots.springs import BendingSpring, PointSpring
from tailwork.robots.tails.tail import Adjustable, scaled
from tailwork.robots.tails.universal_chain import UniversalChain, chain_joints, link_joint
from tailwork.robots.variable_stiffness import VariableStiffness

PAPER_EXTENSION_STIFFNESS = (2921.2, 2921.2, 1369.4, 910.6, 245.2, 245.2)  # N/m, Table 1
PAPER_EXTENSION_REST = (0.03835, 0.03835, 0.03683, 0.03683, 0.03759, 0.03759)  # m, Table 1


def along_links(values: tuple[Scalar, ...], count: int) -> tuple[Scalar, ...]:
    """Values given along a tail, read at `count` links: link i of n takes the entry at the same share of length."""
    return tuple(values[(2 * k + 1) * len(values) // (2 * count)] for k in range(count))


@dataclass(frozen=True)
class Usrt(UniversalChain):
    """Universal spatial robotic tail (Liu & Ben-Tzvi 2020, Sects. 3.2.3 and 4; numbers: Table 1).

    Link i follows link i−1 by Rx(phi_i) Rz(theta_i). Coordinates theta_1, phi_1, theta_2, phi_2, … Each universal
    joint has a compression spring and a damper on its net bending angle and an extension spring between point A of
    the link before and point B of its own; A, B and the cable holes are given from the link's far joint. Segment s
    is pulled by three cables through holes 120° apart, held at its last link. Actuators: the tensions. Vectors are in
    the tail's axes: x right, y forward, z up.

    `extension_stiffness` and `extension_rest` may have one entry a link or any other number, which is then spread
    over the links.
    """

    kind: ClassVar[str] = "usrt"

    links: int = 6  # of all segments together
    segments: int = 2  # one after the other, each with three cables of its own
    link_length: Scalar = positive("m", 0.08)  # from joint to joint, L_J2J
    link_com: Scalar = number("m", 0.0466)  # from a link's joint to its centre of mass, L_J2C
    link_mass: Scalar = positive("kg", 0.17)  # of each link
    link_inertia: Symmetric = symmetric("kg m^2", (17.41e-5, 8.3e-5, 16.6e-5, 0.0, 0.0, 0.0))  # central
    bending_stiffness: Scalar = nonnegative("N m/rad", 20.0)  # of the compression spring of each joint, k_cmp
    bending_damping: Scalar = nonnegative("N m s/rad", 1.0)  # of each joint, c_dmp
    bending_blend: Scalar = positive("rad", 0.01)  # see BendingSpring; not in the paper
    extension_stiffness: tuple[Scalar, ...] = numbers(
        "N/m", PAPER_EXTENSION_STIFFNESS, requirement="none negative", allowed=lambda x: x >= 0
    )  # of the extension springs, from the mount to the tip
    extension_rest: tuple[Scalar, ...] = numbers(
        "m", PAPER_EXTENSION_REST, requirement="none negative", allowed=lambda x: x >= 0
    )  # their lengths at rest
    point_a: Vector = vector("m", (0.0, 0.0, 0.0305))  # p_JA: where an extension spring begins, on the link before
    point_b: Vector = vector("m", (0.0, 0.0225, 0.021))  # p_JB: where it ends, on its own link
    hole_radius: Scalar = positive("m", 0.0325)  # of the circle of cable holes, R_hl
    hole_height: Scalar = number("", 0.0035)  # holes at R_hl [cos, hole_height, sin], as Table 1 prints it
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame
    tension_limit: Scalar = nonnegative("N", 0.0)  # of each cable; 0: not known
    stiffness_range: tuple[Scalar, Scalar] | None = interval("N m/rad")  # of an actuator of bending_stiffness
    stiffness_rate: Scalar = nonnegative("N m/(rad s)", 0.0)  # how fast it changes at most; 0: not known

    def check(self) -> None:
        """At least one link a segment, and not too many; at least one number for each spring."""
        self.check_counts()
        for name in ("extension_stiffness", "extension_rest"):
            if not getattr(self, name):
                raise RobotError(name, (), "at least one number")

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The tail as a limb of a torso that faces along `forward`."""
        link = Body(mass=self.link_mass, com=(0.0, -self.link_com, 0.0), inertia=self.link_inertia)
        joints = chain_joints([link] * self.links, [self.link_length] * self.links)
        coordinates = tuple(n for i in range(1, self.links + 1) for n in (f"theta_{i}", f"phi_{i}"))
        limb = Limb(
            joints=tuple(joints),
            coordinates=coordinates,
            springs=self._springs(),
            actuators=(*self.cables(self.hole_radius, self.hole_height, self.tension_limit), *self._stiffness()),
            tip=Tip(joint=joints[-1].name, point=(0.0, -self.link_length, 0.0)),
        )
        return {name: self.on_torso(limb, forward)}

    def _stiffness(self) -> tuple[VariableStiffness, ...]:
        """The actuator of the bending stiffness, if it has one: of every other spring."""
        if self.stiffness_range is None:
            return ()
        bent = tuple(range(1, 2 * self.links, 2))
        return (
            VariableStiffness(
                name="stiffness", springs=bent, nominal=self.bending_stiffness, range=self.stiffness_range,
                rate_limit=self.stiffness_rate,
            ),
        )  # fmt: skip

    def _springs(self) -> tuple[BendingSpring | PointSpring, ...]:
        stiffness = along_links(self.extension_stiffness, self.links)
        rest = along_links(self.extension_rest, self.links)
        springs: list[BendingSpring | PointSpring] = []
        for i in range(1, self.links + 1):
            springs.append(
                BendingSpring(
                    first=f"phi_{i}", second=f"theta_{i}", stiffness=self.bending_stiffness,
                    damping=self.bending_damping, blend=self.bending_blend,
                )
            )  # fmt: skip
            springs.append(
                PointSpring(
                    first=link_joint(i - 1), first_point=self.on_link(i - 1, self.point_a),
                    second=link_joint(i), second_point=self.on_link(i, self.point_b),
                    stiffness=stiffness[i - 1], rest_length=rest[i - 1],
                )
            )  # fmt: skip
        return tuple(springs)

    def follow(self, total: str) -> tuple[str, ...]:
        """Numbers of the links, and of the springs that carry their weight."""
        springs = ("link_inertia", "extension_stiffness")
        if total == "total_mass":
            return ("link_mass", *springs)
        return ("link_length", "link_com", "extension_rest", "point_a", "point_b", *springs)

    def with_totals(self, values: Mapping[str, Scalar]) -> Self:
        """Of a total mass [kg] and length [m]: links stay alike, springs that carry the weight carry the new one."""
        self.check_totals(values)
        longer = values["total_length"] / self.total_length() if "total_length" in values else 1.0
        heavier = values["total_mass"] / self.total_mass() if "total_mass" in values else 1.0
        return self._links_scaled(longer, heavier, heavier / longer)

    def _links_scaled(self, longer: Scalar, heavier: Scalar, stiffer: Scalar) -> Self:
        """Each link so many times as long and as heavy, its extension spring so many times as stiff."""
        lengths = ("link_length", "link_com", "extension_rest", "point_a", "point_b")
        return replace(
            self, **{name: scaled(getattr(self, name), longer) for name in lengths},
            link_mass=self.link_mass * heavier, extension_stiffness=scaled(self.extension_stiffness, stiffer),
            link_inertia=scaled(self.link_inertia, heavier * longer * longer),
        )  # fmt: skip

    def with_links(self, count: int) -> Self:
        """A copy with another number of links, of the same mass and length."""
        fewer = self.links / count
        # The moment of the weight stays; that of a spring goes with its stiffness, stretch and arm.
        return replace(self, links=count)._links_scaled(fewer, fewer, 1.0 / fewer**2)

    def adjustable(self, forward: str = "y") -> tuple[Adjustable, ...]:
        """The number of links and their stiffness, too."""
        links = Adjustable("links", "", self.segments, max(10, self.links), "the tail keeps its length and mass", True)
        stiffness = float(self.bending_stiffness)
        joints = Adjustable("bending_stiffness", "N m/rad", 0.25 * stiffness, 4.0 * stiffness, "of each joint")
        return (*super().adjustable(forward), links, *([joints] if stiffness > 0.0 else []))

    def tracking_gains(self) -> dict[str, tuple[Scalar, Scalar]]:
        """Of the bend of a segment [N m/rad], [N m s/rad]; the paper does not state its cable controller."""
        return {"bend": (60.0, 3.0)}
