"""The continuum tail: a slender elastic rod as links on sprung universal joints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Self

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.body import Body
from tailwork.robots.limb import Limb, Motor, Tip
from tailwork.robots.quantities import (
    Symmetric,
    Vector,
    all_numbers,
    interval,
    nonnegative,
    number,
    positive,
    symmetric,
    vector,
)
from tailwork.robots.springs import BendingSpring, JointSpring
from tailwork.robots.tails.articulated import DRIVES
from tailwork.robots.tails.pendulum import check_universal, universal_angles
from tailwork.robots.tails.tail import Adjustable
from tailwork.robots.tails.universal_chain import UniversalChain, chain_joints
from tailwork.robots.variable_stiffness import VariableStiffness
from tailwork.typing import Floats

GAUSS = ((-math.sqrt(0.6), 5.0 / 18.0), (0.0, 8.0 / 18.0), (math.sqrt(0.6), 5.0 / 18.0))
"""Places in (−1, 1) and weights of Gauss's rule of three points, exact for the taper's polynomials (degree 4)."""


@dataclass(frozen=True, kw_only=True)
class Continuum(UniversalChain):
    """A slender elastic rod of bending stiffness EI per length, with internal damping, straight where nothing loads it.

    `links` links on universal joints, Rx(phi_i) Rz(theta_i); each joint has a spring and a damper on its net bending
    angle for the bending of the piece of rod about it. Driven by "cables" (three a segment, through holes 120° apart,
    held at its last link; the rod is clamped to the torso) or by "motors" (two, that turn its clamped end on a
    universal joint, ta and tb). A clamped rod's first joint stands for half a link, so that static deflections and
    natural frequencies converge as the square of a link's length.

    With a `taper` the radius falls evenly towards the tip; mass per length goes with its square, bending stiffness,
    damping and the section's inertia with its fourth power. A level rod sags under its weight unless it is made for it:
    `carried_gravity` pre-bends it so that it is straight and level in that gravity.

    By default of the size of the tails of Liu & Ben-Tzvi 2020, as stiff and as damped as the joints of its USRT, whose
    extension springs carry the weight: 20 N m/rad and 1 N m s/rad every 0.08 m, in 9.8 m/s².
    """

    kind: ClassVar[str] = "continuum"

    length: Scalar = positive("m", 0.48)  # from mount to tip
    mass: Scalar = positive("kg", 1.0)  # of the whole rod
    rigidity: Scalar = nonnegative("N m^2", 1.6)  # EI, at the mount
    damping_rigidity: Scalar = nonnegative("N m^2 s", 0.08)  # moment for a rate of curvature, at the mount
    links: int = 12  # of all segments together
    segments: int = 1  # one after the other, each with three cables of its own
    drive: str = "cables"  # or "motors"
    taper: Scalar = nonnegative("", 0.0)  # share by which the radius at the tip is smaller than at the mount
    section_inertia: Symmetric = symmetric("kg m", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))  # of the section, per length
    com_share: Scalar = number("", 0.5)  # where the centre of mass of an even link is, as a share of its length
    first_joint: Scalar = positive("", 0.5)  # links that a clamped rod's first joint stands for; 1: as all others
    carried_gravity: Scalar = nonnegative("m/s^2", 9.8)  # in which the level rod is straight; 0: it sags
    bending_blend: Scalar = positive("rad", 0.01)  # see BendingSpring
    hole_radius: Scalar = positive("m", 0.0325)  # of the circle of cable holes
    hole_height: Scalar = number("", 0.0)  # holes at radius · [cos, hole_height, sin] from a link's far end
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame
    tension_limit: Scalar = nonnegative("N", 0.0)  # of each cable; 0: not known
    armature: Scalar = nonnegative("kg m^2", 0.0)  # of each motor
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known
    stiffness_range: tuple[Scalar, Scalar] | None = interval("N m^2")  # of the rigidity as an actuator; None: fixed
    stiffness_rate: Scalar = nonnegative("N m^2/s", 0.0)  # how fast it changes at most; 0: not known

    def check(self) -> None:
        """Counts of links and segments; known words; a tip with a radius."""
        self.check_counts()
        if self.drive not in DRIVES:
            raise UnknownNameError.among("drive", self.drive, DRIVES, "drive")
        if self.drive == "motors" and self.segments != 1:
            raise RobotError("segments", self.segments, "1 with motors, which bend the rod at its base alone")
        if all_numbers(self.taper) and not self.taper < 1.0:
            raise RobotError("taper", self.taper, "a share below 1: the tip has a radius, too")
        if all_numbers(self.rigidity, self.damping_rigidity) and self.rigidity == self.damping_rigidity == 0.0:
            raise RobotError("rigidity", self.rigidity, "rigidity or damping_rigidity greater than 0")

    @property
    def link_length(self) -> Scalar:
        """From joint to joint [m]."""
        return self.length * (1.0 / self.links)

    @property
    def link_com(self) -> Scalar:
        """From a link's joint to its centre of mass, of even links [m]."""
        return self.link_length * self.com_share

    def _cuts(self) -> list[float]:
        """Where the joints are, from the mount, in links; the tip."""
        if self.drive == "cables":
            return [float(k) for k in range(self.links + 1)]
        return [0.0, *(k + 0.5 for k in range(self.links)), float(self.links)]

    def _share(self, at: float) -> Scalar:
        """The radius as a share of that at the mount, so many links behind it."""
        return 1.0 - self.taper * (at / self.links)

    def _piece(self, start: float, end: float) -> Body:
        """The rod between two cuts, in the frame of its first end."""
        step = self.link_length
        masses: list[Scalar] = []
        fourth: Scalar = 0.0
        places = [(start + end) / 2 + (end - start) / 2 * x for x, _ in GAUSS]
        # Mass per length in units of that at the mount; the whole rod's is the mean of (1 − taper s)².
        whole = 1.0 - self.taper + self.taper * self.taper * (1.0 / 3.0)
        for place, (_, weight) in zip(places, GAUSS, strict=True):
            square = self._share(place) * self._share(place)
            masses.append(square * self.mass * (weight * (end - start) / self.links) / whole)
            fourth = fourth + square * square * (weight * (end - start))
        mass = sum(masses[1:], masses[0])
        center = sum((m * (place - start) for m, place in zip(masses, places, strict=True)), 0.0) / mass * step
        away = [step * (place - start) - center for place in places]
        # Three points have the second moment of the piece: exact, as its integrand is of degree 4.
        spread = sum((m * a * a for m, a in zip(masses, away, strict=True)), 0.0)
        xx, yy, zz, xy, xz, yz = (moment * fourth * step for moment in self.section_inertia)
        com = center + (self.com_share - 0.5) * step * (end - start)
        return Body(mass=mass, com=(0.0, -com, 0.0), inertia=(xx + spread, yy, zz + spread, xy, xz, yz))

    def _bodies(self) -> list[Body]:
        cuts = self._cuts()
        return [self._piece(a, b) for a, b in pairwise(cuts)]

    def link_masses(self) -> list[Scalar]:
        """Of the links, from the mount to the tip [kg]."""
        return [body.mass for body in self._bodies()]

    def joint_stiffness(self) -> list[Scalar]:
        """By sprung joint: its stiffness [N m/rad]."""
        return [self.rigidity * piece for piece in self._pieces()]

    def _pieces(self) -> list[Scalar]:
        """By sprung joint: (radius/radius at the mount)⁴ / length of the rod that it stands for [1/m]."""
        found: list[Scalar] = []
        for cut in self._cuts()[1 if self.drive == "motors" else 0 : -1]:
            square = self._share(cut) * self._share(cut)
            length = self.link_length * self.first_joint if cut == 0.0 else self.link_length
            found.append(square * square / length)
        return found

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The tail as a limb of a torso that faces along `forward`."""
        bodies, cuts, clamped = self._bodies(), self._cuts(), self.drive == "cables"
        steps = [self.link_length * (b - a) for a, b in pairwise(cuts)]
        joints = chain_joints(bodies, [0.0, *steps[:-1]])
        names = [(f"phi_{i}", f"theta_{i}") for i in range(1, len(bodies) + 1)]
        if not clamped:  # the first universal joint is the motors', the others are numbered from 1
            names = [("ta", "tb"), *names[:-1]]
            new = {old: own for k, pair in enumerate(names) for old, own in zip(_pair(k + 1), pair, strict=True)}
            joints = [
                replace(x, name=new[x.name], parent=None if x.parent is None else new[x.parent],
                        armature=self.armature if new[x.name] in names[0] else 0.0) for x in joints
            ]  # fmt: skip
        springs: list[BendingSpring | JointSpring] = []
        for (first, second), piece in zip(names[0 if clamped else 1 :], self._pieces(), strict=True):
            springs.append(
                BendingSpring(
                    first=first, second=second, stiffness=self.rigidity * piece,
                    damping=self.damping_rigidity * piece, blend=self.bending_blend,
                )
            )  # fmt: skip
        if not (isinstance(self.carried_gravity, float) and self.carried_gravity == 0.0):
            springs += self._preloads(bodies, steps, [first for first, _ in names])
        motors = tuple(Motor(name=own, coordinate=own, limit=self.torque_limit) for own in names[0])
        drives = self.cables(self.hole_radius, self.hole_height, self.tension_limit) if clamped else motors
        limb = Limb(
            joints=tuple(joints),
            coordinates=tuple(own for first, second in names for own in (second, first)),
            springs=tuple(springs),
            actuators=(*drives, *self._stiffness()),
            tip=Tip(joint=joints[-1].name, point=(0.0, -steps[-1], 0.0)),
        )
        return {name: self.on_torso(limb, forward)}

    def _stiffness(self) -> tuple[VariableStiffness, ...]:
        """The actuator of the rigidity, if it has one: of all bending springs, which come first."""
        if self.stiffness_range is None:
            return ()
        pieces = self._pieces()
        return (
            VariableStiffness(
                name="stiffness", springs=tuple(range(1, len(pieces) + 1)), nominal=self.rigidity,
                factors=tuple(pieces), unit="N m^2", range=self.stiffness_range, rate_limit=self.stiffness_rate,
            ),
        )  # fmt: skip

    def _preloads(self, bodies: list[Body], steps: list[Scalar], names: list[str]) -> list[JointSpring]:
        """Moments that carry the level rod: those of its weight beyond each sprung joint, upwards."""
        moment: Scalar = 0.0
        beyond: Scalar = 0.0
        found: list[JointSpring] = []
        for body, step, name in zip(reversed(bodies), reversed(steps), reversed(names), strict=True):
            moment = moment + beyond * step - body.mass * body.com[1]
            beyond = beyond + body.mass
            if name != "ta":
                found.insert(0, JointSpring(joint=name, preload=-(moment * self.carried_gravity)))
        return found

    def follow(self, total: str) -> tuple[str, ...]:
        """The number itself, and what goes with it."""
        return ("mass" if total == "total_mass" else "length", "section_inertia")

    def total_mass(self) -> Scalar:
        """Of the rod [kg]."""
        return self.mass

    def total_length(self) -> Scalar:
        """Of the rod [m]."""
        return self.length

    def with_totals(self, values: Mapping[str, Scalar]) -> Self:
        """Of a total mass [kg] and length [m]: the same material and section, so that stiffness stays; the inertia of
        the section goes with the mass per length."""
        self.check_totals(values)
        mass, length = values.get("total_mass", self.mass), values.get("total_length", self.length)
        heavier = (mass / self.mass) / (length / self.length)
        xx, yy, zz, xy, xz, yz = (moment * heavier for moment in self.section_inertia)
        return replace(self, mass=mass, length=length, section_inertia=(xx, yy, zz, xy, xz, yz))

    def with_links(self, count: int) -> Self:
        """A copy with another number of links: the same rod, cut finer or coarser."""
        return replace(self, links=count)

    def adjustable(self, forward: str = "y") -> tuple[Adjustable, ...]:
        """The number of links and the stiffness, too."""
        links = Adjustable("links", "", self.segments, max(16, self.links), "the rod stays the same", True)
        rigidity = float(self.rigidity)
        stiff = Adjustable("rigidity", "N m^2", 0.25 * rigidity, 4.0 * rigidity, "bending stiffness EI at the mount")
        return (*super().adjustable(forward), links, *([stiff] if rigidity > 0.0 else []))

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """An even bend by cables, to first order in what each joint turns; by motors the straight rod, turned [rad]."""
        if self.drive == "cables":
            return super().coordinates(alpha, theta, angle)
        ta, tb = universal_angles(alpha, theta)
        return {"ta": ta, "tb": tb} | self.bent(0.0, 0.0)

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Bends before the tail rolls up; by motors less than 90° to the side [rad]."""
        if self.drive == "cables":
            super().check_directions(alpha, theta, angle)
        else:
            check_universal(alpha, theta)

    @property
    def bending_stiffness(self) -> Scalar:
        """Of the middle joint, which cables that bend the rod feed forward [N m/rad]."""
        stiffness = self.joint_stiffness()
        return stiffness[len(stiffness) // 2]


def _pair(i: int) -> tuple[str, str]:
    return f"phi_{i}", f"theta_{i}"
