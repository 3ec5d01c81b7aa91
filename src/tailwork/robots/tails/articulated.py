"""The articulated tail: segments of rigid links on universal joints that all turn alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.body import Body
from tailwork.robots.limb import MOST_JOINTS, Limb, Motor, Tip
from tailwork.robots.quantities import Symmetric, Vector, nonnegative, number, positive, symmetric, vector
from tailwork.robots.tails.pendulum import check_universal, universal_angles
from tailwork.robots.tails.tail import REACHED, Adjustable
from tailwork.robots.tails.universal_chain import AXES, UniversalChain, chain_joints
from tailwork.typing import Floats

DRIVES = ("motors", "cables")


@dataclass(frozen=True)
class Articulated(UniversalChain):
    """Rigid links on universal joints; pitch and yaw are equal along a segment, as a rigid transmission between the
    links or cables of invariant length make them (Liu & Ben-Tzvi, J. Mech. Robot. 12(2), 2020; Liu, Wang & Ben-Tzvi,
    J. Mech. Robot. 11(5), 2019).

    Coordinates pitch_1, yaw_1, pitch_2, yaw_2, …: the angles of each joint of segment 1, 2, …; + bends down and to the
    right. With `axes` of ("pitch",) or ("yaw",) the joints are hinges and the tail bends in one plane. Driven by a
    motor on each coordinate or, with `drive` "cables", by a pair of cables on pulleys of `cable_radius` at each joint:
    one signed tension, of one cable less that of its antagonist. By default the links are those of the R3 (2020,
    Table 1). Vectors are in the tail's axes: x right, y forward, z up.
    """

    kind: ClassVar[str] = "articulated"
    kept: ClassVar[tuple[str, ...]] = ("mount", "cable_radius")

    links_per_segment: int = 6  # alike in all segments
    segments: int = 2  # one after the other, each with two coordinates
    link_length: Scalar = positive("m", 0.04)  # from joint to joint
    link_com: Scalar = number("m", 0.0327)  # from a link's joint to its centre of mass
    link_mass: Scalar = positive("kg", 0.0759)  # of each link
    link_inertia: Symmetric = symmetric("kg m^2", (8.13e-5, 16.26e-5, 18.68e-5, 0.0, 0.0, 0.0))  # central
    axes: tuple[str, ...] = tuple(AXES)  # that each joint turns about, in this order: "pitch", "yaw" or both
    drive: str = "motors"  # or "cables"
    cable_radius: Scalar = positive("m", 0.025)  # of the pulleys, with cables
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known
    tension_limit: Scalar = nonnegative("N", 0.0)  # of each pair of cables; 0: not known

    def check(self) -> None:
        """At least one link, and not too many; known words."""
        for name in ("links_per_segment", "segments"):
            count = getattr(self, name)
            if not 1 <= count <= MOST_JOINTS:
                raise RobotError(name, count, f"an integer from 1 to {MOST_JOINTS}")
        if len(self.axes) * self.links > MOST_JOINTS:
            raise RobotError("segments", self.segments, f"at most {MOST_JOINTS} hinges in all")
        if self.axes not in (("pitch", "yaw"), ("pitch",), ("yaw",)):
            raise RobotError("axes", self.axes, "('pitch', 'yaw'), ('pitch',) or ('yaw',)")
        if self.drive not in DRIVES:
            raise UnknownNameError.among("drive", self.drive, DRIVES, "drive")

    @property
    def links(self) -> int:
        """Of all segments together."""
        return self.links_per_segment * self.segments

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The tail as a limb of a torso that faces along `forward`."""
        link = Body(mass=self.link_mass, com=(0.0, -self.link_com, 0.0), inertia=self.link_inertia)
        joints = chain_joints([link] * self.links, [self.link_length] * self.links, self.axes)
        columns = [(segment, axis) for segment in range(self.segments) for axis in self.axes]
        gearing = tuple(
            tuple(float((k // (len(self.axes) * self.links_per_segment), self.axes[k % len(self.axes)]) == own)
                  for own in columns)
            for k in range(len(joints))
        )  # fmt: skip
        coordinates = tuple(f"{axis}_{segment + 1}" for segment, axis in columns)
        limb = Limb(
            joints=tuple(joints),
            coordinates=coordinates,
            gearing=gearing,
            actuators=tuple(map(self._motor, coordinates)),
            tip=Tip(joint=joints[-1].name, point=(0.0, -self.link_length, 0.0)),
        )
        return {name: self.on_torso(limb, forward)}

    def _motor(self, coordinate: str) -> Motor:
        if self.drive == "motors":
            return Motor(name=coordinate, coordinate=coordinate, limit=self.torque_limit)
        arm = self.links_per_segment * self.cable_radius
        return Motor(name=f"T_{coordinate}", coordinate=coordinate, ratio=arm, unit="N", limit=self.tension_limit)

    def adjustable(self, forward: str = "y") -> tuple[Adjustable, ...]:
        """The number of links, too."""
        most = max(10, self.links_per_segment)
        links = Adjustable("links_per_segment", "", 1, most, "the tail keeps its length and mass", integer=True)
        return (*super().adjustable(forward), links)

    def tracking_gains(self) -> dict[str, tuple[Scalar, Scalar]]:
        """A bandwidth of 100 rad/s, critically damped, on what moves with a segment's coordinate: every joint turns
        the tail beyond it by as much [N m/rad], [N m s/rad]."""
        inertia = self.inertia_about_mount() * float(self.links_per_segment**2)
        return dict.fromkeys(self.driven, (1e4 * inertia, 200.0 * inertia))

    def bent(self, pitch: Scalar, yaw: Scalar) -> dict[str, Scalar]:
        """All coordinates where every joint turns alike [rad]."""
        turns = {"pitch": pitch, "yaw": yaw}
        return {f"{axis}_{s + 1}": turns[axis] for s in range(self.segments) for axis in self.axes}

    def bends_by_segment(self, coordinates: Mapping[str, Scalar]) -> list[tuple[Scalar, Scalar]]:
        """By segment: sums of its joint angles about x and about z [rad]."""
        count = float(self.links_per_segment)
        sums = [[coordinates.get(f"{axis}_{s + 1}", 0.0) * count for axis in AXES] for s in range(self.segments)]
        return [(pitch, yaw) for pitch, yaw in sums]

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """An even bend in one plane, to first order in what each joint turns; of a single link exactly [rad]."""
        if self.links > 1:
            return super().coordinates(alpha, theta, angle)
        return self.bent(*universal_angles(alpha, theta))

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Bends [rad] in a plane that the joints have, before the tail rolls up."""
        for axis, aside in (("yaw", np.sin(alpha)), ("pitch", np.cos(alpha))):
            if axis not in self.axes and np.abs(aside * np.sin(theta)).max(initial=0.0) > REACHED:
                raise RobotError("motion", axis, f"a bend in the plane of this tail, whose joints only {self.axes[0]}")
        if self.links > 1:
            super().check_directions(alpha, theta, angle)
        else:
            check_universal(alpha, theta)
