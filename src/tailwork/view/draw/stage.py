"""A robot before a camera: drawn once in a panel, and moved from time to time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D

from tailwork.typing import Floats
from tailwork.view.draw.camera import ABOVE, Camera, camera, heights_of
from tailwork.view.draw.moment import Moment
from tailwork.view.draw.solids import LINE, Parts, Patches, circles, padded, paint, parts_of, patches, repaint, shadow
from tailwork.view.draw.style import Theme
from tailwork.view.scene import Scene
from tailwork.view.scene.scene import ARROW

SHAFT = 0.012
"""Half the width of arrows, as such a share."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A scene, its parts, and from where it is looked at."""

    scene: Scene
    parts: Parts
    camera: Camera
    theme: Theme

    def robot(self, moment: Moment, faded: float = 0.0) -> Patches:
        """The robot, `faded` from 0 (as it is) to 1 (paper)."""
        return patches(self.parts, moment, self.camera, self.theme, faded)

    def shadow(self, moment: Moment) -> Patches:
        """Its shadow on the ground."""
        return shadow(self.parts, moment, self.camera, self.theme, heights_of(self.scene.terrain))

    def feet(self, moment: Moment) -> Floats:
        """Where the ground's forces act (feet, 3) [m]."""
        frames, points = [f.frame for f in self.scene.forces], [f.point for f in self.scene.forces]
        turned = np.einsum("fij,fj->fi", moment.rotations[frames], np.array(points).reshape(-1, 3))
        return moment.places[frames] + turned

    def arrows(self, moment: Moment) -> Patches:
        """Forces of the ground on the feet, in their colours; in that of warnings where a foot would pull."""
        starts = self.feet(moment)
        ends = starts + moment.forces * (ARROW * self.parts.size / self.scene.force_unit)
        colors = [self.theme.warning if force[2] < 0 else self.theme.readable(foot.color)
                  for foot, force in zip(self.scene.forces, moment.forces, strict=True)]  # fmt: skip
        outlines = _arrows(self.camera.project(starts), self.camera.project(ends), SHAFT * self.parts.size)
        return _plain(outlines, colors, self.theme.paper)

    def centers(self, moment: Moment) -> Patches:
        """Centres of mass as discs."""
        radii = np.array([marker.radius for marker in self.scene.markers])
        outlines = circles(self.camera.project(moment.markers), 0.7 * radii[:, None, None] * np.eye(2))
        return _plain(outlines, [marker.color for marker in self.scene.markers], "#10161d")

    def under(self, moment: Moment) -> Floats:
        """The place on the ground under the torso (3,) [m]."""
        return moment.places[0] * [1.0, 1.0, 0.0]


def subject(scene: Scene, view: str, theme: Theme) -> Subject:
    """A scene in a view: one of `tailwork.view.draw.camera.VIEWS`, or two angles."""
    return Subject(scene, parts_of(scene, theme), camera(view, scene.forward), theme)


def joined(found: Iterable[Patches]) -> tuple[Floats, Floats]:
    """Lower left and upper right corner on the sheet of many patches [m]."""
    corners = [patches.corners for patches in found if len(patches.outlines)]
    return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)


def seen_from_above(one: Subject, moment: Moment) -> tuple[Floats, Floats]:
    """Least and greatest x and y of a robot, (2,) each [m]."""
    return patches(one.parts, moment, ABOVE, one.theme).corners


def _plain(outlines: Floats, colors: Sequence[str], edge: str) -> Patches:
    """Polygons in one colour each, with edges in one."""
    faces = np.array([to_rgba(color) for color in colors]).reshape(-1, 4)
    edges = np.tile(to_rgba(edge), (len(outlines), 1))
    return Patches(outlines, faces, edges, np.zeros(len(outlines)), np.ones(len(outlines)))


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


ROBOT, FORCES, CENTERS = "robot", "foot forces", "centres of mass"
"""Names (gid) of what is drawn."""


@dataclass(frozen=True, eq=False)
class Stage:
    """What moves in a panel."""

    subject: Subject
    line: float  # width of edges [pt]
    shadow: PolyCollection | None
    robot: PolyCollection
    forces: PolyCollection | None
    centers: PolyCollection | None
    traces: tuple[Line2D, ...]  # of the centres of mass; none: not shown
    ways: tuple[Floats, ...]  # of the same, on the sheet, over the times of the scene [m]

    @property
    def moving(self) -> list[Artist]:
        """All that moves, lowest first."""
        return [drawn for drawn in (self.shadow, self.robot, *self.traces, self.centers, self.forces) if drawn]

    def show(self, moment: Moment) -> None:
        """Move all to where it is at a moment."""
        if self.shadow is not None:
            repaint(self.shadow, self.subject.shadow(moment), line=self.line)
        repaint(self.robot, self.subject.robot(moment), line=self.line)
        if self.forces is not None:
            repaint(self.forces, self.subject.arrows(moment), line=self.line)
        if self.centers is not None:
            repaint(self.centers, self.subject.centers(moment), line=self.line)
        past = self.subject.scene.times <= moment.time
        places = self.subject.camera.project(moment.markers)
        for trace, way, place in zip(self.traces, self.ways, places[: len(self.traces)], strict=True):
            trace.set_data([*way[past, 0], place[0]], [*way[past, 1], place[1]])


def set_stage(axes: Axes, one: Subject, moment: Moment, *, forces: bool, traces: bool, line: float = LINE) -> Stage:
    """Draw a robot at a moment, with its shadow.

    Args:
        axes: the panel.
        one: the robot.
        moment: when.
        forces: with arrows for the forces on the feet.
        traces: with centres of mass and the ways that they have come.
        line: width of edges [pt].
    """
    markers = one.scene.markers if traces else ()
    stage = Stage(
        subject=one,
        line=line,
        shadow=paint(axes, one.shadow(moment), zorder=1.0) if one.camera.sees_ground else None,
        robot=paint(axes, one.robot(moment), line=line),
        forces=paint(axes, one.arrows(moment), line=line, zorder=5.0) if forces and one.scene.forces else None,
        centers=paint(axes, one.centers(moment), line=line, zorder=4.0) if traces else None,
        traces=tuple(axes.plot([], [], color=one.theme.readable(marker.color), linewidth=2.0 * line, zorder=3.0,
                               gid=marker.name)[0] for marker in markers),
        ways=tuple(one.camera.project(marker.places) for marker in markers),
    )  # fmt: skip
    for drawn, name in ((stage.robot, ROBOT), (stage.forces, FORCES), (stage.centers, CENTERS)):
        if drawn is not None:
            drawn.set_gid(name)
    stage.show(moment)
    return stage
