"""Time-lapse of robots: fading ghosts, and the same moments one by one (Liu & Ben-Tzvi 2020, Fig. 13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailwork.errors import RobotError
from tailwork.kernels.kernel import Floats
from tailwork.robots.facing import forward_axis
from tailwork.scene.colors import looks, shown
from tailwork.simulation import Run
from tailwork.simulation.pose import torso_rotations
from tailwork.view.camera import Camera, camera
from tailwork.view.ground import Ground, draw_ground, ground_under
from tailwork.view.paint import Pose, Solid, lit, paint, paint_shadow
from tailwork.view.solids import box_corners, limb_bars, torso_box
from tailwork.view.stops import folded, stop_note
from tailwork.view.style import FAINT, PAGE, WARNING, look

HEAD, TITLE, TIME, GAP, EDGE = 0.3, 0.24, 0.18, 0.14, 0.06  # heights of titles and times, distances [in]
PALEST, PALE = 0.85, 0.35  # how far the oldest ghost and the last but one are faded
TRACE = "tail centre of mass"
"""Name (gid) of the path of a tail's centre of mass."""


@dataclass(frozen=True)
class Strip:
    """A run to be drawn: its solids, and its poses at the moments shown."""

    solid: Solid
    camera: Camera
    times: Floats  # [s]
    poses: list[Pose]
    traces: list[tuple[Floats, Floats]]  # by tail: path of its centre of mass, all and at the moments shown [m]
    stopped: str  # when and why it ended early; empty: it did not

    def places(self) -> Floats:
        """All points of all poses, corners of the torso among them, (…, 3) [m]."""
        box = box_corners(self.solid.lower, self.solid.upper)
        corners = [pose.place + box @ pose.rotation.T for pose in self.poses]
        return np.concatenate([*corners, *(np.array(list(pose.points.values())) for pose in self.poses)])


def time_lapse(runs: Mapping[str, Run], *, frames: int = 6, view: str = "three-quarter", title: str = "") -> Figure:
    """A row a run: ghosts, older ones paler, then the same moments one by one with their times.

    Args:
        runs: by tail.
        frames: how many moments, evenly spaced over the longest run. A run that ended early ends with its last moment.
        view: "three-quarter", "side", "rear" or "top".
        title: above the rows.
    """
    if not isinstance(frames, int) or frames < 2:
        raise RobotError("frames", frames, "a whole number, at least 2")
    if not runs:
        raise RobotError("runs", dict(runs), "at least one run")
    with look():
        styles = looks(runs)
        times = np.linspace(0.0, max(run.duration for run in runs.values()), frames)
        strips = {label: _strip(run, times, view, styles[label].color) for label, run in runs.items()}
        return _figure(strips, frames, title)


def _strip(run: Run, times: Floats, view: str, color: str) -> Strip:
    """What is drawn of a run, at those of the times that it reached; if it ended earlier, at its end, too."""
    samples = run.data["time"].to_numpy()
    reached = [time for time in times if time <= run.duration * (1.0 + 1e-9)]
    close = run.duration - reached[-1] < 0.1 * times[1]  # to its end
    reached = [*(reached[:-1] if close else reached), run.duration]
    rows = [int(np.abs(samples - samples[0] - time).argmin()) for time in reached]
    fall = _fall(run)
    tails = [name for name in run.model.layout.limbs if name not in run.model.layout.legs]
    paths = [run.data["part_center"].sel(part=name).to_numpy() - fall for name in tails]
    return Strip(
        solid=robot_solid(run, color),
        camera=camera(view, forward_axis(run.model.robot)),
        times=samples[rows],
        poses=poses_at(run, rows),
        traces=[(path, path[rows]) for path in paths],
        stopped=stop_note(run),
    )


def robot_solid(run: Run, tail_color: str) -> Solid:
    """The solids of the robot of a run."""
    lower, upper = torso_box(run.model.robot)
    bars = limb_bars(run.model.layout, 0.038 * float((upper - lower).max()))
    return Solid(lower, upper, tuple(bars), "xy".index(forward_axis(run.model.robot)), tail_color)


def poses_at(run: Run, rows: Sequence[int]) -> list[Pose]:
    """Its poses at some samples; in the air, as seen by an eye that falls with it."""
    points = run.data["points"].to_numpy()[rows] - _fall(run)[rows][:, None]
    rotations = torso_rotations(run.model.layout, run.data["q"].to_numpy()[rows])
    names = run.model.point_names
    return [
        Pose(dict(zip(names, place, strict=True)), place[0], turn)
        for place, turn in zip(points, rotations, strict=True)
    ]


def _fall(run: Run) -> Floats:
    """How far a robot in the air has come down with its centre of mass, which is not drawn, (times, 3) [m]."""
    fall = np.zeros((len(run.data["time"]), 3))
    if run.model.layout.torso_free and not run.model.foot_names and run.ground is None:
        height = run.model.center_of_mass(run.data["q"].to_numpy())[:, 2]
        fall[:, 2] = height - height[0]
    return fall


@dataclass(frozen=True)
class Sheet:
    """A figure, measured in inches from its upper left corner, whose panels all show the same part of the world."""

    figure: Figure
    low: Floats  # lower left corner of each panel, on the sheet of the camera [m]
    high: Floats

    def panel(self, left: float, top: float, width: float) -> Axes:
        """An empty panel without axes."""
        wide, tall = self.figure.get_size_inches()
        height = width * _aspect(self.low, self.high)
        axes = self.figure.add_axes((left / wide, 1.0 - (top + height) / tall, width / wide, height / tall))
        axes.set_axis_off()
        axes.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        return axes

    def write(self, left: float, top: float, text: str, **style: Any) -> None:
        """Text that hangs from a place."""
        wide, tall = self.figure.get_size_inches()
        self.figure.text(left / wide, 1.0 - top / tall, text, va="top", **style)


def _figure(strips: Mapping[str, Strip], frames: int, title: str) -> Figure:
    """All rows, arranged."""
    ground = ground_under(np.concatenate([strip.places() for strip in strips.values()]))
    low, high = _limits(list(strips.values()), ground)
    aspect = _aspect(low, high)
    columns = max(2, ceil(frames / (2 if frames <= 8 else 3)))
    lines = ceil(frames / columns)
    # The panel with the ghosts is as high as all lines of frames; both together fill the page.
    small = (PAGE - GAP - 2 * EDGE - lines * TIME / aspect) / (lines + columns)
    step = small * aspect + TIME
    large = lines * step / aspect
    row = TITLE + lines * step
    head = HEAD if title else 0.0
    height = head + len(strips) * (row + GAP) + TIME
    sheet = Sheet(Figure(figsize=(PAGE, height)), low, high)
    if title:
        sheet.write(EDGE, EDGE, title, fontsize=9, fontweight="bold")
    for k, (label, strip) in enumerate(strips.items()):
        top = head + k * (row + GAP)
        sheet.write(EDGE, top + EDGE, shown(label), fontweight="bold", color=lit(strip.solid.tail_color, -0.2))
        sheet.write(EDGE + large + GAP, top + EDGE, folded(strip.stopped, 68), color=WARNING, fontsize=7)
        _draw_ghosts(sheet.panel(EDGE, top + TITLE, large), strip, ground)
        for n, (time, pose) in enumerate(zip(strip.times, strip.poses, strict=True)):
            left, here = EDGE + large + GAP + (n % columns) * small, top + TITLE + (n // columns) * step
            axes = sheet.panel(left, here, small)
            draw_ground(axes, strip.camera, ground)
            paint_shadow(axes, strip.camera, strip.solid, pose)
            paint(axes, strip.camera, strip.solid, pose)
            sheet.write(left + small / 2, here + small * aspect, f"{time * 1e3:.0f} ms", ha="center", color=FAINT)
    notes = [f"grid {ground.shown}"] if any(strip.camera.sees_ground for strip in strips.values()) else []
    notes += ["circles: centre of mass of the tail"] if any(strip.traces for strip in strips.values()) else []
    sheet.write(EDGE, height - TIME, "; ".join(notes).capitalize(), fontsize=7, color=FAINT)
    return sheet.figure


def _aspect(low: Floats, high: Floats) -> float:
    wide, tall = high - low
    return float(tall / wide)


def _limits(strips: list[Strip], ground: Ground) -> tuple[Floats, Floats]:
    """Lower left and upper right corner of all that is drawn, on the sheet of the camera [m]."""
    sides = zip(ground.lower, ground.upper, strict=True)
    corners = np.array([(x, y, 0.0) for x, y in product(*sides)])
    sheet = np.concatenate([strip.camera.project(np.concatenate([strip.places(), corners])) for strip in strips])
    bars = max((bar.start_radius for strip in strips for bar in strip.solid.bars), default=0.0)
    margin = max(0.03 * float(np.ptp(sheet, axis=0).max()), 1.4 * bars)
    return sheet.min(axis=0) - margin, sheet.max(axis=0) + margin


def _draw_ghosts(axes: Axes, strip: Strip, ground: Ground) -> None:
    """All poses, the oldest palest and behind; the paths of the tails' centres of mass on top."""
    draw_ground(axes, strip.camera, ground)
    paint_shadow(axes, strip.camera, strip.solid, strip.poses[-1])
    faded = [*np.linspace(PALEST, PALE, len(strip.poses) - 1), 0.0]  # mixed with white: nothing shines through
    for k, (pose, pale) in enumerate(zip(strip.poses, faded, strict=True)):
        paint(axes, strip.camera, strip.solid, pose, faded=float(pale), zorder=2.0 + k / len(strip.poses))
    color = lit(strip.solid.tail_color, -0.45)
    for path, moments in strip.traces:
        axes.plot(*strip.camera.project(path).T, color=color, linewidth=0.8, zorder=4, gid=TRACE)
        axes.plot(
            *strip.camera.project(moments).T, linestyle="none", marker="o", markersize=2.4, markerfacecolor="white",
            color=color, markeredgewidth=0.7, zorder=5,
        )  # fmt: skip
