"""The pictures of a video: what stands still is drawn once, what moves is drawn over it each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from tailwork.typing import Floats
from tailwork.view.draw.camera import Ground, draw_ground, meshed
from tailwork.view.draw.picture import (
    Strip,
    ground_of,
    in_ms,
    legend_text,
    limits,
    lines_of,
    notes_of,
    show_part,
    strip_of,
)
from tailwork.view.draw.stage import Stage, set_stage, subject
from tailwork.view.draw.style import PlainFigure, Theme, drawing
from tailwork.view.film.charts import ROW, Chart, draw_charts, heads_of, panels_of, spans
from tailwork.view.scene import Scene
from tailwork.view.scene.colors import printed
from tailwork.view.scene.sample import samples_at

LOOKS = 25  # times at which one looks how much room the robots need
HEIGHT, HIGHER = 4.6, 6.0
"""Least height of the sheet with one robot and with several [in]. Letters grow with the number of pixels."""
LEAST, EACH = 5.0, 2.6  # least width of the sheet, and of it for each robot [in]
HEAD, FOOT, NAME, MARGIN = 0.36, 0.26, 0.24, 0.1  # heights of caption, note and names, and distance from the edges [in]
BESIDE, ABOVE = 0.6, 0.46  # share of the robot where its curves are beside and below it

Place = tuple[float, float, float, float]  # left, top, width and height, from the upper left corner of the sheet [in]


@dataclass(frozen=True, eq=False)
class Shot:
    """A robot's panel as drawn, and what moves in it; the eye goes along with a robot that walks."""

    strip: Strip  # a sample a picture
    low: Floats  # lower left corner of what is seen in the first picture, on the sheet of the camera [m]
    high: Floats
    seen: Ground  # all that ever comes into sight
    axes: Axes
    stage: Stage
    ground: LineCollection | PolyCollection | None  # None: it stands still

    @property
    def moving(self) -> list[Artist]:
        """All that moves, lowest first."""
        return self.stage.moving if self.ground is None else [self.ground, *self.stage.moving]

    def show(self, number: int) -> None:
        """Move all to where it is in a picture."""
        if self.strip.follows:
            show_part(self.axes, self.low, self.high, self.strip.eye(number))
        self.stage.show(self.strip.samples[number])


def set_shots(
    figure: Figure, strips: Sequence[Strip], ground: Ground, corners: tuple[Floats, Floats], places: Sequence[Place],
    forces: bool, traces: bool,
) -> list[Shot]:  # fmt: skip
    """Draw a panel a robot, all at the same scale, so that all between two corners (2,) of the sheet [m] is seen."""
    low, high = corners
    scale = max(float(((high - low) / place[2:]).max()) for place in places)  # m an inch
    wide, tall = figure.get_size_inches()
    shots = []
    for strip, (left, top, width, height) in zip(strips, places, strict=True):
        half, one = scale * np.array([width, height]) / 2.0, strip.subject
        start, end = (low + high) / 2.0 - half, (low + high) / 2.0 + half
        axes = figure.add_axes((left / wide, 1.0 - (top + height) / tall, width / wide, height / tall))
        axes.set_axis_off()
        show_part(axes, start, end)
        seen = _passed(strip, ground, half) if strip.follows else ground
        drawn = draw_ground(axes, one.camera, seen, one.theme, one.scene.terrain)
        stage = set_stage(axes, one, strip.samples[0], forces=forces, traces=traces)
        shots.append(Shot(strip, start, end, seen, axes, stage, drawn if strip.follows else None))
        for artist in shots[-1].moving:
            artist.set_animated(True)
    return shots


def _passed(strip: Strip, ground: Ground, half: Floats) -> Ground:
    """All the ground that comes into sight of an eye that goes along and sees half as much to each side."""
    reach = 2.0 * float(half.max()) / max(0.3, abs(float(strip.subject.camera.toward[2])))
    shifts = strip.shifts[:, :2]
    return meshed(ground.lower + shifts.min(axis=0) - reach, ground.upper + shifts.max(axis=0) + reach, ground.mesh)


@dataclass(frozen=True, eq=False)
class Film:
    """Pictures that can be drawn one after the other."""

    canvas: FigureCanvasAgg
    shots: list[Shot]
    charts: list[Chart]
    clock: Text
    times: Floats  # of the pictures [s]
    still: Any  # what stands still, as matplotlib keeps it

    def picture(self, number: int) -> memoryview:
        """A picture: red, green, blue and alpha of its pixels, row by row from the top; it holds until the next."""
        self.canvas.restore_region(self.still)
        moving: list[Artist] = []
        for shot in self.shots:
            shot.show(number)
            moving += shot.moving
        for chart in self.charts:
            chart.show(self.times[number])
            moving += chart.moving
        self.clock.set_text(in_ms(self.times[number]))
        for artist in (*moving, self.clock):
            artist.draw(self.canvas.get_renderer())
        return self.canvas.buffer_rgba()


def film(
    scenes: Sequence[Scene], times: Floats, size: tuple[int, int], *, view: str, theme: Theme, plots: bool,
    forces: bool, traces: bool, slow: str,
) -> Film:  # fmt: skip
    """A film of scenes side by side, pictures of a size [pixels] at some times [s]; the rest as for `write_video`, with
    text that says how slow it is."""
    dpi = min(size[0] / max(LEAST, EACH * len(scenes)), size[1] / (HEIGHT if len(scenes) == 1 else HIGHER))
    wide, tall = size[0] / dpi, size[1] / dpi
    with drawing(theme):
        figure = PlainFigure(figsize=(wide, tall), dpi=dpi)
        canvas = FigureCanvasAgg(figure)
        strips = [strip_of(subject(scene, view, theme), samples_at(scene, times), follow=True) for scene in scenes]
        few = np.unique(np.linspace(0, len(times) - 1, LOOKS).astype(int))
        looked = [Strip(strip.subject, [strip.samples[k] for k in few], strip.shifts[few]) for strip in strips]
        ground = ground_of(looked)
        clock, left_over = _write_caption(canvas, scenes, slow, theme)
        meant = legend_text(strips, ground, forces, traces, ghosts=False)
        below = [*lines_of(left_over, wide), *lines_of(meant, wide), *notes_of(scenes, wide)]
        columns = [panels_of(scene) if plots else [] for scene in scenes]
        places = _places(wide, tall - ROW * (len(below) - 1), [bool(panels) for panels in columns])
        until = (min(scene.times[0] for scene in scenes), max(scene.times[-1] for scene in scenes))
        corners = limits(looked, ground, forces)
        shots = set_shots(figure, strips, ground, corners, [robot for robot, _ in places], forces, traces)
        charts: list[Chart] = []
        heads = heads_of(columns, [curves[2] for _, curves in places])
        for strip, panels, span, head, (robot, curves) in zip(
            strips, columns, spans(columns), heads, places, strict=True
        ):
            if panels:
                charts += draw_charts(figure, strip.subject.scene, panels, span, head, curves, until, theme)
            if len(scenes) > 1:
                left, top = robot[0] / wide, 1.0 - (robot[1] - NAME) / tall
                figure.text(left, top, strip.label, va="top", fontweight="bold", color=strip.color)
        for n, line in enumerate(reversed(below)):
            figure.text(MARGIN / wide, (0.4 * FOOT + n * ROW) / tall, line, va="center", fontsize=7, color=theme.faint)
        canvas.draw()
        return Film(canvas, shots, charts, clock, times, canvas.copy_from_bbox(figure.bbox))


def _places(wide: float, tall: float, curves: Sequence[bool]) -> list[tuple[Place, Place]]:
    """For every scene: where its robot is, and where its curves are, if it has any."""
    count, height = len(curves), tall - HEAD - FOOT
    each = (wide - 2 * MARGIN) / count
    found = []
    for k, has_curves in enumerate(curves):
        left, top, across, down = MARGIN + k * each, HEAD, each - (MARGIN if k < count - 1 else 0.0), height
        if count > 1:
            top, down = top + NAME, down - NAME
        if not any(curves):
            found.append(((left, top, across, down), (left, top, across, down)))
        elif count == 1 and wide > 1.2 * tall:
            robot = BESIDE * across if has_curves else across
            found.append(((left, top, robot - MARGIN, down), (left + robot, top, across - robot - MARGIN, down)))
        else:
            robot = ABOVE * down
            found.append(((left, top, across, robot), (left, top + robot, across - MARGIN, down - robot)))
    return found


def _write_caption(canvas: FigureCanvasAgg, scenes: Sequence[Scene], slow: str, theme: Theme) -> tuple[Text, str]:
    """Robot and motion at the left, the clock and how slow it is at the right; the clock, and what found no room."""
    figure = canvas.figure
    wide, height = figure.get_figwidth(), 1.0 - 0.5 * HEAD / figure.get_figheight()
    robots = dict.fromkeys(scene.caption.robot for scene in scenes)
    motions = dict.fromkeys(filter(None, (scene.caption.motion for scene in scenes)))
    name = printed(scenes[0].label) if len(scenes) == 1 else ", ".join(robots)
    more = "  ·  ".join([*(robots if len(scenes) == 1 and name not in robots else ()), *motions])

    def write(place: float, text: str, **style: Any) -> tuple[Text, float, float]:
        """Text, and where it starts and ends, as shares of the width."""
        written = figure.text(place, height, text, va="center", **style)
        box = written.get_window_extent(canvas.get_renderer())
        return written, box.x0 / figure.bbox.width, box.x1 / figure.bbox.width

    bold: dict[str, Any] = {"fontweight": "bold", "fontsize": 9}
    _, tempo, _ = write(1.0 - MARGIN / wide, slow, ha="right", color=theme.faint)
    longest = in_ms(max(scene.times[-1] for scene in scenes))
    clock, least, _ = write(tempo - 0.1 / wide, longest, ha="right", animated=True, **bold)
    _, _, end = write(MARGIN / wide, name, **bold)
    written, _, end = write(end + 0.1 / wide, more, color=theme.faint)
    if end < least - 0.1 / wide:
        return clock, ""
    written.remove()
    return clock, more
