"""A panel on which a robot stands: drawn once, and moved from moment to moment."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D

from tailwork.typing import Floats
from tailwork.view.draw.moment import Moment
from tailwork.view.draw.paint import LINE, paint, repaint
from tailwork.view.draw.subject import Subject

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
