"""A robot before a camera: drawn once in a panel, and moved from one time to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D

from tailwork.typing import Floats
from tailwork.view.draw.camera import ABOVE, Camera, camera, heights_of
from tailwork.view.draw.solids import (
    LINE,
    Parts,
    Patches,
    circles,
    drawn_parts,
    padded,
    paint,
    patches,
    repaint,
    shadow,
)
from tailwork.view.draw.style import Theme
from tailwork.view.scene import Scene
from tailwork.view.scene.sample import SceneSample

SHAFT = 0.012  # half the width of arrows, as a share of the torso's longest side
ROBOT, FORCES, CENTERS = "robot", "foot forces", "centres of mass"  # names (gid) of what is drawn


@dataclass(frozen=True, eq=False)
class Subject:
    """A scene, its parts, and from where it is looked at."""

    scene: Scene
    parts: Parts
    camera: Camera
    theme: Theme

    def robot(self, sample: SceneSample, faded: float = 0.0) -> Patches:
        """The robot, `faded` from 0 (as it is) to 1 (paper)."""
        return patches(self.parts, sample, self.camera, self.theme, faded)

    def shadow(self, sample: SceneSample) -> Patches:
        """Its shadow on the ground."""
        return shadow(self.parts, sample, self.camera, self.theme, heights_of(self.scene.terrain))

    def arrows(self, sample: SceneSample) -> Patches:
        """Forces of the ground on the feet, in their colours; in that of warnings where a foot would pull."""
        starts, ends = np.swapaxes(self.camera.project(sample.arrows(self.scene)), 0, 1)
        colors = [self.theme.warning if force[2] < 0 else self.theme.readable(foot.color)
                  for foot, force in zip(self.scene.forces, sample.forces, strict=True)]  # fmt: skip
        return _plain(_arrows(starts, ends, SHAFT * self.parts.size), colors, self.theme.paper)

    def centers(self, sample: SceneSample) -> Patches:
        """Centres of mass as discs."""
        radii = np.array([marker.radius for marker in self.scene.markers])
        outlines = circles(self.camera.project(sample.markers), 0.7 * radii[:, None, None] * np.eye(2))
        return _plain(outlines, [marker.color for marker in self.scene.markers], "#10161d")

    def under(self, sample: SceneSample) -> Floats:
        """The place on the ground under the torso (3,) [m]."""
        return sample.places[0] * [1.0, 1.0, 0.0]


def subject(scene: Scene, view: str, theme: Theme) -> Subject:
    """A scene in a view: one of `tailwork.view.draw.camera.VIEWS`, or two angles."""
    return Subject(scene, drawn_parts(scene, theme), camera(view, scene.forward), theme)


def joined(found: Iterable[Patches]) -> tuple[Floats, Floats]:
    """Lower left and upper right corner on the sheet of many patches [m]."""
    corners = [patches.corners for patches in found if len(patches.outlines)]
    return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)


def seen_from_above(one: Subject, sample: SceneSample) -> tuple[Floats, Floats]:
    """Least and greatest x and y of a robot, (2,) each [m]."""
    return patches(one.parts, sample, ABOVE, one.theme).corners


def _plain(outlines: Floats, colors: Sequence[str], edge: str) -> Patches:
    """Polygons in one colour each, with edges in one."""
    count = len(outlines)
    faces = np.array([to_rgba(color) for color in colors]).reshape(-1, 4)
    return Patches(outlines, faces, np.tile(to_rgba(edge), (count, 1)), np.zeros(count), np.ones(count))


def _arrows(starts: Floats, ends: Floats, half: float) -> Floats:
    """Outlines of arrows on the sheet, (n, corners, 2)."""
    along = ends - starts
    length = np.hypot(*along.T)[:, None]
    unit = along / np.maximum(length, 1e-12)
    across = half * np.minimum(1.0, length / (4.0 * half)) * np.stack([-unit[:, 1], unit[:, 0]], axis=-1)
    neck = ends - unit * np.minimum(4.5 * half, 0.6 * length)
    corners = (starts + across, neck + across, neck + 2.6 * across, ends,
               neck - 2.6 * across, neck - across, starts - across, starts + across)  # fmt: skip
    return padded(np.stack(corners, axis=1))


@dataclass(frozen=True, eq=False)
class Stage:
    """What moves in a panel."""

    subject: Subject
    line: float  # width of edges [pt]
    shapes: tuple[tuple[PolyCollection, Callable[[SceneSample], Patches]], ...]  # shadow, robot, centres, arrows
    traces: tuple[Line2D, ...]  # of the centres of mass; none: not shown
    paths: tuple[Floats, ...]  # of the same, on the sheet, over the times of the scene [m]

    @property
    def moving(self) -> list[Artist]:
        """All that moves, lowest first."""
        return sorted([*(drawn for drawn, _ in self.shapes), *self.traces], key=lambda artist: artist.get_zorder())

    def show(self, sample: SceneSample) -> None:
        """Move all to where it is in a sample."""
        for drawn, patches_at in self.shapes:
            repaint(drawn, patches_at(sample), line=self.line)
        past = self.subject.scene.times <= sample.time
        places = self.subject.camera.project(sample.markers)
        for trace, path, place in zip(self.traces, self.paths, places[: len(self.traces)], strict=True):
            trace.set_data([*path[past, 0], place[0]], [*path[past, 1], place[1]])


def set_stage(
    axes: Axes, one: Subject, sample: SceneSample, *, forces: bool, traces: bool, line: float = LINE
) -> Stage:
    """Draw a robot with its shadow, edges so wide [pt]; with arrows for the forces on the feet, with centres of mass
    and their paths until then."""
    markers = one.scene.markers if traces else ()
    wanted = (
        (one.camera.sees_ground, None, 1.0, one.shadow), (True, ROBOT, 2.0, one.robot),
        (traces, CENTERS, 4.0, one.centers), (forces and bool(one.scene.forces), FORCES, 5.0, one.arrows),
    )  # fmt: skip
    shapes = []
    for _, name, zorder, patches_at in (kind for kind in wanted if kind[0]):
        shapes.append((paint(axes, zorder=zorder), patches_at))
        shapes[-1][0].set_gid(name)
    lines = tuple(axes.plot([], [], color=one.theme.readable(marker.color), linewidth=2.0 * line, zorder=3.0,
                            gid=marker.name)[0] for marker in markers)  # fmt: skip
    paths = tuple(one.camera.project(marker.places) for marker in markers)
    stage = Stage(one, line, tuple(shapes), lines, paths)
    stage.show(sample)
    return stage
