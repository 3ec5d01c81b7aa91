"""Chains of links on universal joints, of which several tails are made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tailwork.algebra.expression import Scalar, cos, sin
from tailwork.errors import RobotError
from tailwork.robots.body import Body
from tailwork.robots.limb import MOST_JOINTS, Cable, Hole, Joint
from tailwork.robots.quantities import Vector
from tailwork.robots.tails.bend_angles import bend_per_joint, check_bend
from tailwork.robots.tails.tail import Tail
from tailwork.typing import Floats

AXES: dict[str, tuple[str, Vector]] = {"pitch": ("phi", (1.0, 0.0, 0.0)), "yaw": ("theta", (0.0, 0.0, 1.0))}
"""Names and axes of the two hinges of a universal joint: link i follows link i−1 by Rx(phi_i) Rz(theta_i)."""


def link_joint(i: int) -> str | None:
    """The joint whose frame is that of link i of a chain with both hinges; the torso's for i = 0."""
    return f"theta_{i}" if i else None


def chain_joints(bodies: Sequence[Body], starts: Sequence[Scalar], axes: Sequence[str] = tuple(AXES)) -> list[Joint]:
    """Joints of links behind each other, link i `starts[i − 1]` behind the link before it [m]: hinges without a body,
    but for the last of each link."""
    joints: list[Joint] = []
    for i, (body, start) in enumerate(zip(bodies, starts, strict=True), start=1):
        for axis in axes:
            name, direction = AXES[axis]
            first = axis == axes[0]
            joints.append(
                Joint(
                    name=f"{name}_{i}", axis=direction, parent=joints[-1].name if joints else None,
                    offset=(0.0, -start, 0.0) if first and i > 1 else (0.0, 0.0, 0.0),
                    body=body if axis == axes[-1] else None,
                )
            )  # fmt: skip
    return joints


def segment_sizes(links: int, segments: int) -> list[int]:
    """How many links each segment has, as even as they allow."""
    ends = [(s + 1) * links // segments for s in range(segments)]
    return [b - a for a, b in zip([0, *ends], ends, strict=False)]


class UniversalChain(Tail):
    """Base of tails of equal links on universal joints phi_i, theta_i, alone or geared to coordinates of segments."""

    links: int  # of all segments together
    segments: int  # one after the other
    link_length: Scalar  # from joint to joint [m]
    link_com: Scalar  # from a link's joint to its centre of mass [m]
    link_mass: Scalar  # of each link [kg]

    def check_counts(self) -> None:
        """At least one link a segment, and not too many."""
        for name in ("links", "segments"):
            count = getattr(self, name)
            if not 1 <= count <= MOST_JOINTS // 2:
                raise RobotError(name, count, f"an integer from 1 to {MOST_JOINTS // 2}")
        if self.links < self.segments:
            raise RobotError("links", self.links, f"at least one link a segment, {self.segments}")

    def link_masses(self) -> list[Scalar]:
        """Of the links, from the mount to the tip [kg]."""
        return [self.link_mass] * self.links

    def segment_sizes(self) -> list[int]:
        """How many links each segment has."""
        return segment_sizes(self.links, self.segments)

    def on_link(self, i: int, from_far_joint: Vector) -> Vector:
        """A point given from the far joint of link i [m], in the frame of link i; of the mount for i = 0."""
        x, y, z = from_far_joint
        return (x, y - self.link_length, z) if i else from_far_joint

    def cables(self, radius: Scalar, height: Scalar, limit: Scalar) -> tuple[Cable, ...]:
        """Three cables a segment, held at its last link, through holes at radius · [cos, height, sin] from the far
        joint of every link [m]; `limit` is the largest tension [N]."""
        found = []
        for j in range(1, 3 * self.segments + 1):
            angle = math.radians((120 * j - 90) % 360)  # gamma_j; whole turns removed so that equal holes are equal
            hole = (radius * math.cos(angle), radius * height, radius * math.sin(angle))
            last = sum(self.segment_sizes()[: (j - 1) // 3 + 1])
            route = tuple(Hole(joint=link_joint(i), point=self.on_link(i, hole)) for i in range(last + 1))
            found.append(Cable(name=f"T_{j}", route=route, limit=limit))
        return tuple(found)

    def bent(self, pitch: Scalar, yaw: Scalar) -> dict[str, Scalar]:
        """All coordinates where every universal joint turns alike [rad]."""
        joints = range(1, self.links + 1)
        return {f"phi_{i}": pitch for i in joints} | {f"theta_{i}": yaw for i in joints}

    def bends_by_segment(self, coordinates: Mapping[str, Scalar]) -> list[tuple[Scalar, Scalar]]:
        """By segment: sums of its joint angles about x and about z [rad]."""
        found: list[tuple[Scalar, Scalar]] = []
        first = 1
        for size in self.segment_sizes():
            own = range(first, first + size)
            found.append((
                sum((coordinates[f"phi_{i}"] for i in own), 0.0), sum((coordinates[f"theta_{i}"] for i in own), 0.0),
            ))  # fmt: skip
            first += size
        return found

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """An even bend in one plane, to first order in what each universal joint turns [rad]."""
        bend = bend_per_joint(self.link_masses(), self.link_length, self.link_com, theta, angle)
        return self.bent(bend * cos(alpha), -(bend * sin(alpha)))

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Bends [rad] before the tail rolls up."""
        check_bend(self.link_masses(), self.link_length, self.link_com, theta, angle)

    def curvatures(self, coordinates: Mapping[str, Scalar], alpha: Scalar) -> list[Scalar]:
        """By segment, in the plane alpha [1/m]."""
        return [
            (across * cos(alpha) - upright * sin(alpha)) / (self.link_length * float(size))
            for (across, upright), size in zip(self.bends_by_segment(coordinates), self.segment_sizes(), strict=True)
        ]
