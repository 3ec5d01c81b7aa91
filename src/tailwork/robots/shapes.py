"""Shapes that a body is drawn with. They have no part in the equations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tailwork.errors import RobotError
from tailwork.robots.quantities import RobotPart, check_rotation

SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "mesh": 0}
"""By kind of shape: how many lengths it has."""


@dataclass(frozen=True, kw_only=True)
class Shape(RobotPart):
    """A shape in the frame of the body that it shows.

    `size` [m] is, of a box, its lengths along x, y and z; of a sphere, its radius; of a cylinder, its radius and its
    length along z; of a capsule, its radius and the length of its straight part along z. A mesh has no size but
    `vertices` [m] and `faces`, three numbers of vertices each, from 0.
    """

    kind: str  # "box", "sphere", "cylinder", "capsule" or "mesh"
    size: tuple[float, ...] = ()  # [m]
    place: tuple[float, ...] = (0.0, 0.0, 0.0)  # of its centre (of the origin of a mesh), in the body's frame [m]
    rotation: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # columns: axes [1]
    color: tuple[float, ...] | None = None  # red, green, blue [1], each from 0 to 1; None: the colour of its limb
    vertices: tuple[tuple[float, ...], ...] = ()  # of a mesh [m]
    faces: tuple[tuple[int, ...], ...] = ()  # of a mesh: triangles

    def check(self) -> None:
        """Lengths as the kind has, a place, a rotation, a colour, triangles between vertices."""
        if self.kind not in SIZES:
            raise RobotError("kind", self.kind, f"one of {', '.join(SIZES)}")
        if len(self.size) != SIZES[self.kind] or any(x < 0.0 for x in self.size):
            raise RobotError("size", self.size, f"of a {self.kind}: {SIZES[self.kind]} lengths, none negative [m]")
        if len(self.place) != 3:
            raise RobotError("place", self.place, "three finite numbers [m]")
        if [len(row) for row in self.rotation] != [3, 3, 3]:
            raise RobotError("rotation", self.rotation, "a 3×3 rotation matrix")
        check_rotation("rotation", self.rotation)
        if self.color is not None and (len(self.color) != 3 or not all(0.0 <= x <= 1.0 for x in self.color)):
            raise RobotError("color", self.color, "red, green and blue, each from 0 to 1")
        if self.kind == "mesh":
            if any(len(vertex) != 3 for vertex in self.vertices):
                raise RobotError("vertices", f"{len(self.vertices)} vertices", "three finite numbers each [m]")
            if any(len(face) != 3 or not all(0 <= k < len(self.vertices) for k in face) for face in self.faces):
                raise RobotError("faces", f"{len(self.faces)} faces", "three numbers of vertices each, from 0")
            if not self.faces:
                raise RobotError("faces", self.faces, "at least one triangle of a mesh")
        elif self.vertices or self.faces:
            raise RobotError("vertices", f"{len(self.vertices)} vertices", f"none: a {self.kind} is no mesh")

    def reach(self, direction: Sequence[float]) -> float:
        """How far it reaches from its place along a unit vector of its body's frame [m]."""
        own = [sum(d * row[k] for d, row in zip(direction, self.rotation, strict=True)) for k in range(3)]
        if self.kind == "mesh":
            return max(sum(a * x for a, x in zip(own, vertex, strict=True)) for vertex in self.vertices)
        if self.kind == "box":
            return sum(abs(a) * x for a, x in zip(own, self.size, strict=True)) / 2.0
        along = abs(own[2])  # the share of the shape's own axis
        wide = self.size[0] * (math.sqrt(max(0.0, 1.0 - along * along)) if self.kind == "cylinder" else 1.0)
        return wide + (along * self.size[1] / 2.0 if len(self.size) > 1 else 0.0)
