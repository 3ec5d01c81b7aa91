"""Stills of runs: one time, ghosts, or times one by one (Liu & Ben-Tzvi 2020, Fig. 13)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from numbers import Real
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailwork.errors import ArgumentError, UnknownNameError, as_floats
from tailwork.files import file_kind, write_whole
from tailwork.format import capitalised
from tailwork.simulation import Run
from tailwork.typing import Floats
from tailwork.view.draw.camera import Ground, draw_ground, ground_under
from tailwork.view.draw.solids import LINE, paint
from tailwork.view.draw.stage import Subject, joined, seen_from_above, set_stage, subject
from tailwork.view.draw.style import DARK, DOTS_PER_INCH, KINDS, LIGHT, PAGE, PlainFigure, Theme, drawing, rendered
from tailwork.view.scene import Scene, scene_of, scenes_of
from tailwork.view.scene.build import check_runs
from tailwork.view.scene.colors import lit, looks, printed
from tailwork.view.scene.sample import SceneSample, samples_at
from tailwork.view.scene.scene import ARROW

PICTURES = ("strip", "ghosts", "pose")
FRAMES, MOST_FRAMES = 6, 60
"""Times of a strip or of ghosts: by default, and how many at most can be told apart on a page."""
WIDEST = 6  # most times of a strip side by side
HEAD, TITLE, TIME, GAP, EDGE = 0.3, 0.24, 0.18, 0.14, 0.06  # heights of titles and times, distances [in]
PALEST, PALE = 0.85, 0.35  # how far the oldest ghost and the last but one are faded
LETTERS = 17.0  # of the smallest text, an inch
BOLD = 0.68  # width of a bold letter as a share of its size
BENDS = 3  # degree of the smooth path on which an eye goes along
SMALL = 0.7 * LINE  # width of edges in small panels [pt]
ARROWS_TEXT = f"arrows: forces on the feet; the robot’s weight would be {ARROW:g} torsos long"


@dataclass(frozen=True)
class Sheet:
    """A figure, measured in inches from its upper left corner, whose panels all show the same part of the world."""

    figure: Figure
    low: Floats  # lower left corner of each panel, on the sheet of the camera [m]
    high: Floats

    def panel(self, left: float, top: float, width: float, shift: Floats | float = 0.0) -> Axes:
        """An empty panel without axes; the eye has gone so far from where it was (2,) [m]."""
        wide, tall = self.figure.get_size_inches()
        height = width * aspect(self.low, self.high)
        axes = self.figure.add_axes((left / wide, 1.0 - (top + height) / tall, width / wide, height / tall))
        axes.set_axis_off()
        show_part(axes, self.low, self.high, shift)
        return axes

    def write(self, left: float, top: float, text: str, **style: Any) -> None:
        """Text that hangs from a place."""
        wide, tall = self.figure.get_size_inches()
        self.figure.text(left / wide, 1.0 - top / tall, text, va="top", **style)

    def frame(self, title: str, below: Sequence[str], color: str) -> None:
        """A title above all panels, and lines below them."""
        self.write(EDGE, EDGE, title, fontsize=9, fontweight="bold")
        for n, line in enumerate(reversed(below)):
            self.write(EDGE, self.figure.get_figheight() - TIME * (n + 1), line, fontsize=7, color=color)

    def name(self, left: float, top: float, strip: Strip, width: float) -> None:
        """The name of a run, in its colour, and so small that it is no wider than that [in]."""
        size = min(rcParams["font.size"], 72.0 * width / (BOLD * len(strip.label)))
        self.write(left, top + EDGE, strip.label, fontweight="bold", color=strip.color, fontsize=size)


def aspect(low: Floats, high: Floats) -> float:
    """Height over width."""
    wide, tall = high - low
    return float(tall / wide)


def show_part(axes: Axes, low: Floats, high: Floats, shift: Floats | float = 0.0) -> None:
    """Show the part of the world between two corners (2,), so far from there (2,) [m]."""
    (left, lower), (right, upper) = low + shift, high + shift
    axes.set(xlim=(left, right), ylim=(lower, upper))


@dataclass(frozen=True, eq=False)
class Strip:
    """A robot, the samples at which it is shown, and how far the eye has gone along with it by then."""

    subject: Subject
    samples: list[SceneSample]
    shifts: Floats  # how far the eye has gone over the ground (samples, 3) [m]

    @property
    def label(self) -> str:
        """Its name as it is printed."""
        return printed(self.subject.scene.label)

    @property
    def color(self) -> str:
        """In which its name is written."""
        return lit(self.subject.scene.color, 0.25 if self.subject.theme.dark else -0.2)

    @property
    def follows(self) -> bool:
        """Whether the eye goes along."""
        return bool(self.shifts.any())

    def eye(self, number: int) -> Floats:
        """How far the eye has gone on the sheet at a sample (2,) [m]."""
        return self.subject.camera.project(self.shifts[number])


def strip_of(one: Subject, shown: list[SceneSample], follow: bool = False) -> Strip:
    """A robot at some samples; where it walks farther than its torso is long, the eye may go along, smoothly."""
    places = np.array([one.under(sample) for sample in shown])
    gone = places - places[0]
    if not follow or float(np.linalg.norm(gone, axis=1).max()) < one.scene.size:
        return Strip(one, shown, np.zeros_like(gone))
    order = np.arange(len(shown))
    fitted = np.polynomial.Polynomial
    smooth = [fitted.fit(order, shift, min(BENDS, len(order) - 1))(order) for shift in gone.T]
    return Strip(one, shown, np.array(smooth).T)


def time_lapse(runs: Mapping[str, Run], *, frames: int = 6, view: str = "three-quarter", title: str = "") -> Figure:
    """A row a run: ghosts, older ones paler, then the same times one by one.

    Args:
        runs: by tail.
        frames: how many times, evenly spaced over the longest run. A run that ended early ends with its last one.
        view: "three-quarter", "side", "rear", "top", or two angles (see `tailwork.view.draw.camera.camera`).
        title: above the rows.
    """
    check_runs(runs)
    styles = looks(runs)
    scenes = [scene_of(run, label, color=styles[label].color) for label, run in runs.items()]
    strips = strips_of(scenes, even_times(scenes, frames), view, LIGHT)
    with drawing(LIGHT):
        return _rows(strips, False, False, title, ghosts=frames)


def even_times(scenes: Sequence[Scene], frames: int) -> Floats:
    """Times [s], evenly spaced over the longest scene."""
    if not isinstance(frames, int) or not 2 <= frames <= MOST_FRAMES:
        raise ArgumentError("frames", frames, f"an integer from 2 to {MOST_FRAMES} (at least 2)")
    return np.linspace(min(s.times[0] for s in scenes), max(s.times[-1] for s in scenes), frames)


def strips_of(scenes: Sequence[Scene], times: Floats, view: str, theme: Theme, follow: bool = False) -> list[Strip]:
    """What is drawn of scenes, at those of the times [s] that they reached; if one ended earlier, at its end, too."""
    found = []
    for scene in scenes:
        first, last = scene.times[0], scene.times[-1]
        reached = [time for time in times if first - 1e-9 <= time <= last + 1e-9]
        if last < times[-1] - 1e-9:
            close = len(reached) > 1 and last - reached[-1] < 0.1 * np.diff(times).min()
            reached = [*(reached[:-1] if close else reached), last]
        found.append(strip_of(subject(scene, view, theme), samples_at(scene, reached or [first]), follow))
    return found


def ground_of(strips: Sequence[Strip]) -> Ground:
    """The ground under all that is shown; for an eye that goes along, as it is at the first sample."""
    corners = [
        np.array(seen_from_above(strip.subject, sample)) - shift[:2]
        for strip in strips
        for sample, shift in zip(strip.samples, strip.shifts, strict=True)
    ]
    return ground_under(np.concatenate(corners).min(axis=0), np.concatenate(corners).max(axis=0))


def limits(strips: Sequence[Strip], ground: Ground, forces: bool = False) -> tuple[Floats, Floats]:
    """Lower left and upper right corner of all that is drawn, on the sheet of the camera [m]."""
    flat = np.array([(x, y, 0.0) for x, y in product(*zip(ground.lower, ground.upper, strict=True))])
    corners = []
    for strip in strips:
        one = strip.subject
        corners.append(one.camera.project(flat))
        for number, sample in enumerate(strip.samples):
            drawn = [one.robot(sample), one.arrows(sample)] if forces else [one.robot(sample)]
            corners.append(np.array(joined(drawn)) - strip.eye(number))
    low, high = np.concatenate(corners).min(axis=0), np.concatenate(corners).max(axis=0)
    margin = 0.03 * float((high - low).max())
    return low - margin, high + margin


def draw_ghosts(axes: Axes, strip: Strip, ground: Ground, traces: bool = True) -> None:
    """All poses, the oldest palest and behind; the paths of the centres of mass of its tails on top."""
    one = strip.subject
    draw_ground(axes, one.camera, ground, one.theme, one.scene.terrain)
    if one.camera.sees_ground:
        paint(axes, one.shadow(strip.samples[-1]), zorder=1.0)
    faded = [*np.linspace(PALEST, PALE, len(strip.samples) - 1), 0.0]  # mixed with paper: nothing shines through
    for k, (sample, pale) in enumerate(zip(strip.samples, faded, strict=True)):
        paint(axes, one.robot(sample, float(pale)), zorder=2.0 + k / len(strip.samples))
    for k in traced(one.scene) if traces else ():
        marker = one.scene.markers[k]
        color = one.theme.readable(marker.color)
        dots = one.camera.project(np.array([sample.markers[k] for sample in strip.samples]))
        axes.plot(*one.camera.project(marker.places).T, color=color, linewidth=0.8, zorder=4, gid=marker.name)
        axes.plot(
            *dots.T, linestyle="none", marker="o", markersize=2.4, markerfacecolor=one.theme.paper,
            color=color, markeredgewidth=0.7, zorder=5,
        )  # fmt: skip


def traced(scene: Scene, ghosts: bool = True) -> range:
    """Numbers of the markers that are drawn: all; over ghosts those of tails, or that of a robot without."""
    return range(1 if ghosts and len(scene.markers) > 1 else 0, len(scene.markers))


def draw_samples(
    sheet: Sheet, strip: Strip, ground: Ground, place: tuple[float, float], width: float, columns: int,
    forces: bool = False, traces: bool = False,
) -> None:  # fmt: skip
    """The samples one by one, with their times, in panels so wide from a place (left, top) on [in]."""
    step = width * aspect(sheet.low, sheet.high)
    one = strip.subject
    for n, sample in enumerate(strip.samples):
        left, top = place[0] + (n % columns) * width, place[1] + (n // columns) * (step + TIME)
        axes = sheet.panel(left, top, width, strip.eye(n))
        draw_ground(axes, one.camera, ground.near(strip.shifts[n]), one.theme, one.scene.terrain)
        set_stage(axes, one, sample, forces=forces, traces=traces, line=SMALL)
        sheet.write(left + width / 2, top + step, in_ms(sample.time), ha="center", color=one.theme.faint)


def in_ms(time: float) -> str:
    """A time [s] as it is printed."""
    return f"{time * 1e3:.0f} ms"


def notes_of(scenes: Sequence[Scene], width: float) -> list[str]:
    """Lines so wide [in] of what must be known of runs, each with its name if there are several."""
    lines: list[str] = []
    for scene in scenes:
        name = f"{printed(scene.label)}: " if len(scenes) > 1 else ""
        for note in scene.caption.notes:
            lines += lines_of(f"{name}{note}", width)
    return lines


def lines_of(text: str, width: float) -> list[str]:
    """Text in lines so wide [in]; none for none."""
    return fill(text, int(LETTERS * width)).splitlines()


def legend_text(
    strips: Sequence[Strip], ground: Ground, forces: bool = False, traces: bool = True, ghosts: bool = True
) -> str:
    """What grid, circles and arrows mean."""
    notes = [f"{'grid' if strips[0].subject.camera.sees_ground else 'marks'} {ground.shown}"]
    scenes = [strip.subject.scene for strip in strips]
    names = dict.fromkeys(scene.markers[k].name for scene in scenes for k in traced(scene, ghosts))
    notes += [f"circles: {', '.join(names)}"] if traces and names else []
    notes += [ARROWS_TEXT] if forces and any(scene.forces for scene in scenes) else []
    return capitalised("; ".join(notes))


def picture(
    shown: Mapping[str, Run] | Sequence[Scene],
    kind: str = "strip",
    *,
    frames: int = FRAMES,
    times: Sequence[float] | None = None,
    view: str = "three-quarter",
    forces: bool | None = None,
    traces: bool | None = None,
    dark: bool = False,
    transparent: bool = False,
    title: str = "",
) -> Figure:
    """A picture of one or more runs.

    Args:
        shown: runs by label, or their scenes.
        kind: "strip": times one by one, a row a run; "ghosts": times over each other, older ones paler; "pose": one
            time.
        frames: how many times, evenly spaced over the longest run, of a strip or of ghosts.
        times: these times instead [s]; of a pose one, else the last.
        view: "three-quarter", "side", "rear", "top", or two angles (see `tailwork.view.draw.camera.camera`).
        forces: with arrows for the forces on the feet (not over ghosts); if None, a pose has them.
        traces: with centres of mass and their paths; if None, all but a strip have them.
        dark: light on dark paper.
        transparent: without the paper.
        title: above all.
    """
    scenes = as_scenes(shown)
    if not isinstance(kind, str) or kind not in PICTURES:
        raise UnknownNameError.among("kind", str(kind), PICTURES, "kind of picture")
    theme = DARK if dark else LIGHT
    strips = strips_of(scenes, _times(scenes, kind, frames, times), view, theme, follow=kind == "strip")
    forces = kind == "pose" if forces is None else forces
    traces = kind != "strip" if traces is None else traces
    with drawing(theme):
        figure = _rows(strips, forces, traces, title) if kind == "strip" else _large(strips, forces, traces, title)
    if transparent:
        figure.patch.set_alpha(0.0)
    return figure


def as_scenes(shown: Mapping[str, Run] | Sequence[Scene]) -> tuple[Scene, ...]:
    """Scenes, of runs by label if need be; one at least."""
    if isinstance(shown, Mapping):
        return scenes_of(shown)
    if not isinstance(shown, (list, tuple)) or not shown or not all(isinstance(scene, Scene) for scene in shown):
        raise ArgumentError("shown", shown, "runs by label, {'r3': run}, or scenes; at least one")
    return tuple(shown)


def write_picture(figure: Figure, path: str | os.PathLike[str], *, dpi: float = DOTS_PER_INCH) -> Path:
    """Write a figure as PNG, PDF or SVG, by the end of the name, whole or not at all; its path.

    Args:
        figure: what `picture` has drawn, or any other one.
        path: of the file.
        dpi: of a PNG [dots an inch].
    """
    kind = check_picture(path)
    if not isinstance(dpi, Real) or not 10 <= dpi <= 2400:
        raise ArgumentError("dpi", dpi, "a number from 10 to 2400")
    write_whole(path, rendered(figure, kind, float(dpi)))
    return Path(path)


def check_picture(path: str | os.PathLike[str]) -> str:
    """The kind of a picture by the end of its name: "png", "pdf" or "svg"; its folder must be there."""
    return file_kind(path, KINDS, "a picture")


def _times(scenes: Sequence[Scene], kind: str, frames: int, times: Sequence[float] | None) -> Floats:
    """The times of a picture [s], in order."""
    first, last = min(scene.times[0] for scene in scenes), max(scene.times[-1] for scene in scenes)
    if times is None:
        return np.array([last]) if kind == "pose" else even_times(scenes, frames)
    wanted = np.sort(as_floats("times", times, "numbers [s]").reshape(-1))
    if not len(wanted) or not (wanted >= first - 1e-9).all() or not (wanted <= last + 1e-9).all():
        raise ArgumentError("times", times, f"times within the run, from {first:g} to {last:g} s")
    if kind == "pose" and len(wanted) != 1:
        raise ArgumentError("times", times, "one time for a pose; a strip or ghosts take several")
    return wanted


def _rows(strips: Sequence[Strip], forces: bool, traces: bool, title: str, ghosts: int = 0) -> Figure:
    """A row a run, of times one by one; before so many of them (0: none) a panel with all times as ghosts."""
    theme, ground = strips[0].subject.theme, ground_of(strips)
    low, high = limits(strips, ground, forces)
    tall, most, large, left = aspect(low, high), max(len(strip.samples) for strip in strips), 0.0, EDGE
    if ghosts:  # their panel is as high as all lines of times; both together fill the page
        columns = max(2, ceil(ghosts / (2 if ghosts <= 8 else 3)))
        lines = ceil(ghosts / columns)
        width = (PAGE - GAP - 2 * EDGE - lines * TIME / tall) / (lines + columns)
        large = lines * (width * tall + TIME) / tall
        left, rows = EDGE + large + GAP, [TITLE + lines * (width * tall + TIME) + GAP] * len(strips)
    else:
        columns = ceil(most / ceil(most / WIDEST))
        width = (PAGE - 2 * EDGE) / columns
        rows = [TITLE + ceil(len(s.samples) / columns) * (width * tall + TIME) + GAP for s in strips]
    head = HEAD if title else 0.0
    sheet = Sheet(PlainFigure(figsize=(PAGE, head + sum(rows) + TIME)), low, high)
    sheet.frame(title, [legend_text(strips, ground, forces, traces or ghosts > 0, ghosts > 0)], theme.faint)
    for strip, top in zip(strips, head + np.cumsum([0.0, *rows[:-1]]), strict=True):
        sheet.name(EDGE, top, strip, (left if ghosts else 0.35 * PAGE) - 2 * EDGE)
        for note in strip.subject.scene.caption.notes[:1]:  # such as why it stopped
            place, text = (left, fill(note, 68)) if ghosts else (0.35 * PAGE, fill(note, 78))
            color = theme.warning if note.startswith("stopped") else theme.faint
            sheet.write(place, top + EDGE, text, color=color, fontsize=7)
        if ghosts:
            draw_ghosts(sheet.panel(EDGE, top + TITLE, large), strip, ground)
        draw_samples(sheet, strip, ground, (left, top + TITLE), width, columns, forces, traces)
    return sheet.figure


def _large(strips: Sequence[Strip], forces: bool, traces: bool, title: str) -> Figure:
    """A large panel a run, side by side: its ghosts, or its only sample."""
    theme, ground = strips[0].subject.theme, ground_of(strips)
    ghosts = any(len(strip.samples) > 1 for strip in strips)
    low, high = limits(strips, ground, forces and not ghosts)
    columns = ceil(len(strips) / ceil(len(strips) / 3))
    width = (PAGE - 2 * EDGE - (columns - 1) * GAP) / columns
    row = TITLE + width * aspect(low, high) + TIME + GAP
    head = HEAD if title else 0.0
    below = [
        legend_text(strips, ground, forces and not ghosts, traces, ghosts),
        *notes_of([strip.subject.scene for strip in strips], PAGE - 2 * EDGE),
    ]
    height = head + ceil(len(strips) / columns) * row + TIME * len(below)
    sheet = Sheet(PlainFigure(figsize=(PAGE, height)), low, high)
    sheet.frame(title, below, theme.faint)
    for n, strip in enumerate(strips):
        left, top = EDGE + (n % columns) * (width + GAP), head + (n // columns) * row
        one, last = strip.subject, strip.samples[-1]
        sheet.name(left, top, strip, width)
        axes = sheet.panel(left, top + TITLE, width)
        if ghosts:
            draw_ghosts(axes, strip, ground, traces)
        else:
            draw_ground(axes, one.camera, ground, theme, one.scene.terrain)
            set_stage(axes, one, last, forces=forces, traces=traces)
        times = in_ms(last.time) if len(strip.samples) == 1 else f"{in_ms(strip.samples[0].time)} to {in_ms(last.time)}"
        sheet.write(left + width / 2, top + row - TIME - GAP, times, ha="center", color=theme.faint)
    return sheet.figure
