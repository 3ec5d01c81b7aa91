"""A run as things to be looked at: frames that move, solids on them, lines, arrows, traces, and curves beside them.

Every picture, page and video is made from a `Scene` alone; nothing here knows how it will be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tailwork.errors import UnknownNameError
from tailwork.typing import Floats

Triple = tuple[float, float, float]  # a place in a frame, or sizes along its axes [m]

RowIndices = NDArray[np.intp]  # numbers of samples
ARROW = 1.4  # length of an arrow of `Scene.force_unit`, as a share of the torso's longest side


@dataclass(frozen=True, eq=False)
class SceneFrame:
    """A rigid frame over time, seen from the inertial frame."""

    name: str  # "torso", or "limb.joint"
    places: Floats  # of its origin, (times, 3) [m]
    turns: Floats  # unit quaternions w, x, y, z to the inertial frame [1], (times, 4); neighbours never change sign

    def rotations(self) -> Floats:
        """The same turns as matrices, (times, 3, 3) [1]."""
        return rotation_matrices(self.turns)

    def path(self, point: Triple) -> Floats:
        """Where a point of the frame is over time, (times, 3) [m]."""
        return self.places + self.rotations() @ np.array(point)


AXES: tuple[Triple, Triple, Triple] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Box:
    """A box whose sides lie along the axes of its frame, or along axes of its own."""

    center: Triple  # in its frame [m]
    size: Triple  # along its axes [m]
    axes: tuple[Triple, Triple, Triple] = AXES  # unit vectors along its sides, in its frame [1]

    @property
    def corners(self) -> list[Triple]:
        """All eight, in its frame [m]; the last axis changes fastest."""
        center, half = np.array(self.center), np.array(self.size) / 2.0
        return [point_of(center + half * signs @ np.array(self.axes)) for signs in product((-1.0, 1.0), repeat=3)]


@dataclass(frozen=True)
class Bar:
    """A round bar that may taper; its ends are rounded, or flat as those of a disc."""

    start: Triple  # in its frame [m]
    end: Triple  # in its frame [m]
    start_radius: float  # [m]
    end_radius: float  # [m]
    rounded: bool = True  # whether its ends are


@dataclass(frozen=True)
class Ball:
    """A ball, or an ellipsoid with its axes along those of its frame."""

    center: Triple  # in its frame [m]
    radii: Triple  # along the axes of its frame [m]


@dataclass(frozen=True)
class Surface:
    """Triangles, as of a mesh."""

    vertices: tuple[Triple, ...]  # in its frame [m]
    faces: tuple[tuple[int, int, int], ...]  # numbers of vertices, counter-clockwise seen from outside


SceneShape = Box | Bar | Ball | Surface


@dataclass(frozen=True)
class Solid:
    """A shape on a frame. Roles: "torso", "front" (the torso's front end), "leg", "joint", "foot" and "tail"."""

    frame: int  # number of the frame that holds it
    shape: SceneShape  # a `Box`, a `Bar`, a `Ball` or a `Surface`
    color: str  # "#rrggbb"
    role: str  # what it is a part of


@dataclass(frozen=True)
class Thread:
    """A line through points of frames: a cable, or a spring, drawn as a coil of a radius."""

    kind: str  # "cable" or "spring"
    name: str  # of the cable, or of the spring
    points: tuple[tuple[int, Triple], ...]  # (number of a frame, point in it [m])
    color: str  # "#rrggbb"
    radius: float  # of the cable, or of the coil [m]


@dataclass(frozen=True, eq=False)
class ForceArrow:
    """The force of the ground on a foot."""

    foot: str  # its name
    frame: int  # number of the frame that holds the foot
    point: Triple  # in the frame [m]
    forces: Floats  # inertial frame, (times, 3) [N]
    color: str  # "#rrggbb"


@dataclass(frozen=True)
class ContactPhases:
    """When a point of the robot touches the ground, and how; in the air in between."""

    point: str  # its name
    frame: int  # number of the frame that holds it
    place: Triple  # in the frame [m]
    color: str  # "#rrggbb", of its bar
    spans: tuple[tuple[float, float, str], ...]  # (from [s], to [s], "stick" or "slip"), one after the other
    impulses: tuple[tuple[float, Triple], ...] = ()  # of impacts: (time [s], of the ground, inertial frame [N s])


@dataclass(frozen=True, eq=False)
class Marker:
    """A centre of mass and its path."""

    name: str  # what it marks
    places: Floats  # (times, 3) [m]
    color: str  # "#rrggbb"
    radius: float  # [m]


@dataclass(frozen=True, eq=False)
class Terrain:
    """The ground: the plane z = 0, or heights on a grid."""

    x: Floats  # of the columns of the grid [m]; empty: the plane
    y: Floats  # of the rows of the grid [m]
    heights: Floats  # (x, y) [m]

    @property
    def flat(self) -> bool:
        """Whether it is the plane z = 0."""
        return self.heights.size == 0


FLAT = Terrain(np.zeros(0), np.zeros(0), np.zeros((0, 0)))


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity over the times of the scene."""

    name: str  # for the legend
    values: Floats  # (times,), in the unit of its plot; NaN: not shown there
    color: str  # "#rrggbb"
    dash: int = 0  # number of the line style


@dataclass(frozen=True)
class Plot:
    """Curves of one unit. Plots of several scenes with the same key are shown as one where `shared`."""

    key: str  # "pitch", "normal force", …
    title: str  # for the reader
    unit: str  # of all its curves
    group: str  # "angles", "rates", "torques" or "feet"
    curves: tuple[Curve, ...]  # over the times of the scene
    shared: bool = False  # whether plots of several scenes are one

    @property
    def heading(self) -> str:
        """Title and unit."""
        return f"{self.title} [{self.unit}]"


@dataclass(frozen=True)
class Caption:
    """What is shown, as text."""

    robot: str  # its name
    motion: str  # what the tail or the legs do; empty: not known
    measures: tuple[tuple[str, str], ...]  # (what, how much, with its unit)
    notes: tuple[str, ...]  # why it ended early, what is not as it seems


@dataclass(frozen=True, eq=False)
class Scene:
    """All of a run that can be seen. Lengths in m, in the inertial frame (z up, ground at z = 0)."""

    label: str  # its name among others
    color: str  # of its tail and of its curves
    forward: str  # axis of the torso frame that points forward, "x" or "y"
    times: Floats  # [s]
    frames: tuple[SceneFrame, ...]  # the first is the torso
    solids: tuple[Solid, ...]  # torso, links, joints and feet
    threads: tuple[Thread, ...]  # cables and springs
    forces: tuple[ForceArrow, ...]  # of the ground on the feet
    phases: tuple[ContactPhases, ...]  # of what can touch the ground; none where feet are pinned or there is no ground
    markers: tuple[Marker, ...]  # centres of mass
    terrain: Terrain  # the ground
    weight: float  # of the robot [N]: what arrows are measured by
    plots: tuple[Plot, ...]  # what can be plotted beside it
    events: tuple[tuple[float, str], ...]  # (time [s], what happened)
    tips: tuple[tuple[str, int, Triple], ...]  # (limb, number of a frame, point in it [m]): ends of limbs with no foot
    caption: Caption  # what is shown, as text

    @property
    def duration(self) -> float:
        """From the first to the last sample [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def size(self) -> float:
        """Longest side of the torso [m]."""
        lower, upper = extent_of([solid.shape for solid in self.solids if solid.role == "torso"])
        return float((upper - lower).max())

    @property
    def force_unit(self) -> float:
        """What arrows are measured by [N]: the robot's weight, or the largest force where it weighs nothing."""
        largest = max((float(np.abs(force.forces).max(initial=0.0)) for force in self.forces), default=0.0)
        return self.weight or largest or 1.0

    @cached_property
    def stacked(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Places [m] and turns [1] of all frames, forces [N] and markers [m] over time, (times, things, 3 or 4)."""
        groups = (
            [frame.places for frame in self.frames], [frame.turns for frame in self.frames],
            [force.forces for force in self.forces], [marker.places for marker in self.markers],
        )  # fmt: skip
        none = np.empty((len(self.times), 0, 3))
        places, turns, forces, markers = (np.stack(group, axis=1) if group else none for group in groups)
        return places, turns, forces, markers

    def frame(self, name: str) -> SceneFrame:
        """The frame of that name."""
        for frame in self.frames:
            if frame.name == name:
                return frame
        raise UnknownNameError.among("frame", name, (frame.name for frame in self.frames), "frame")

    def extent(self) -> tuple[Floats, Floats]:
        """Lower and upper corner of all that is ever drawn but arrows [m]."""
        lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
        for solid in self.solids:
            points, radius = _skeleton(solid.shape)
            if len(points) > 8:  # of a mesh its box will do
                points = Box(*_middle_and_size(points)).corners
            for point in points:
                path = self.frames[solid.frame].path(point)
                lower = np.minimum(lower, path.min(axis=0) - radius)
                upper = np.maximum(upper, path.max(axis=0) + radius)
        return lower, upper


def directions(forward: str) -> tuple[Floats, Floats]:
    """Unit vectors ahead of a robot that faces along an axis, and to its right: y and x, or x and −y."""
    if forward == "y":
        return np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    return np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])


def rotation_matrices(turns: Floats) -> Floats:
    """Rotations (…, 3, 3) of unit quaternions w, x, y, z, (…, 4) [1]."""
    found = Rotation.from_quat(turns.reshape(-1, 4), scalar_first=True).as_matrix()
    return found.reshape(*turns.shape[:-1], 3, 3)


def point_of(values: Any) -> Triple:
    """Three numbers as a point."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def _middle_and_size(points: Sequence[Triple]) -> tuple[Triple, Triple]:
    """Of the box that holds points, along the axes [m]."""
    lower, upper = np.min(points, axis=0), np.max(points, axis=0)
    return point_of((lower + upper) / 2.0), point_of(upper - lower)


def extent_of(shapes: Iterable[SceneShape]) -> tuple[Floats, Floats]:
    """Lower and upper corner of shapes of one frame, in it [m]."""
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in shapes:
        points, radius = _skeleton(shape)
        lower = np.minimum(lower, np.min(points, axis=0) - radius)
        upper = np.maximum(upper, np.max(points, axis=0) + radius)
    return lower, upper


def _skeleton(shape: SceneShape) -> tuple[Sequence[Triple], float]:
    """Points that span a shape, and how far it reaches beyond them [m]."""
    if isinstance(shape, Bar):
        return [shape.start, shape.end], max(shape.start_radius, shape.end_radius)
    if isinstance(shape, Ball):
        return [shape.center], max(shape.radii)
    if isinstance(shape, Surface):
        return shape.vertices, 0.0
    return shape.corners, 0.0
