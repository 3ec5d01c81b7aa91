"""Stills of runs: one moment, ghosts, or moments one by one."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from math import ceil
from numbers import Real
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tailwork.errors import RobotError, UnknownNameError
from tailwork.files import kind_of, write_whole
from tailwork.simulation import Run
from tailwork.typing import Floats
from tailwork.view.draw.ghosts import (
    Strip,
    draw_ghosts,
    draw_moments,
    even_times,
    ground_of,
    in_ms,
    limits,
    notes_of,
    said,
    strips_of,
    write_notes,
)
from tailwork.view.draw.ground import draw_ground
from tailwork.view.draw.panels import EDGE, GAP, HEAD, TIME, TITLE, Sheet, aspect
from tailwork.view.draw.stage import set_stage
from tailwork.view.draw.style import DOTS_PER_INCH, KINDS, METADATA, PAGE, look
from tailwork.view.draw.theme import DARK, LIGHT, drawing
from tailwork.view.scene import Scene, scenes_of

PICTURES = ("strip", "ghosts", "pose")
FRAMES = 6
WIDEST = 6
"""Most moments of a strip side by side."""


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
        kind: "strip": moments one by one, a row a run; "ghosts": moments over each other, older ones paler; "pose": one
            moment.
        frames: how many moments, evenly spaced over the longest run, of a strip or of ghosts.
        times: these moments instead [s]; of a pose one, else the last.
        view: "three-quarter", "side", "rear", "top", or two angles (see `tailwork.view.draw.camera.camera`).
        forces: with arrows for the forces on the feet (not over ghosts); if None, a pose has them.
        traces: with centres of mass and their ways; if None, all but a strip have them.
        dark: light on dark paper.
        transparent: without the paper.
        title: above all.
    """
    scenes = as_scenes(shown)
    if kind not in PICTURES:
        raise UnknownNameError.among("kind", str(kind), PICTURES, "kind of picture")
    theme = DARK if dark else LIGHT
    strips = strips_of(scenes, _times(scenes, kind, frames, times), view, theme, follow=kind == "strip")
    forces = kind == "pose" if forces is None else forces
    traces = kind != "strip" if traces is None else traces
    with drawing(theme):
        figure = _strips(strips, forces, traces, title) if kind == "strip" else _large(strips, forces, traces, title)
    if transparent:
        figure.patch.set_alpha(0.0)
    return figure


def as_scenes(shown: Mapping[str, Run] | Sequence[Scene]) -> tuple[Scene, ...]:
    """Scenes, of runs by label if need be; one at least."""
    if isinstance(shown, Mapping):
        return scenes_of(shown)
    if not shown or not all(isinstance(scene, Scene) for scene in shown):
        raise RobotError("shown", shown, "runs by label, {'r3': run}, or scenes; at least one")
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
        raise RobotError("dpi", dpi, "a number from 10 to 2400")
    memory = io.BytesIO()
    with look():
        figure.savefig(memory, format=kind, dpi=float(dpi), metadata=METADATA[kind], facecolor="auto")
    write_whole(path, memory.getvalue())
    return Path(path)


def check_picture(path: str | os.PathLike[str]) -> str:
    """The kind of a picture by the end of its name: "png", "pdf" or "svg"; its folder must be there."""
    return kind_of(path, KINDS, "a picture")


def _times(scenes: Sequence[Scene], kind: str, frames: int, times: Sequence[float] | None) -> Floats:
    """The moments of a picture [s], in order."""
    first, last = min(scene.times[0] for scene in scenes), max(scene.times[-1] for scene in scenes)
    if times is None:
        return np.array([last]) if kind == "pose" else even_times(scenes, frames)
    try:
        wanted = np.sort(np.array(times, dtype=float).reshape(-1))
    except (TypeError, ValueError):
        raise RobotError("times", times, "numbers [s]") from None
    if not len(wanted) or not (wanted >= first - 1e-9).all() or not (wanted <= last + 1e-9).all():
        raise RobotError("times", times, f"times within the run, from {first:g} to {last:g} s")
    if kind == "pose" and len(wanted) != 1:
        raise RobotError("times", times, "one time for a pose; a strip or ghosts take several")
    return wanted


def _strips(strips: Sequence[Strip], forces: bool, traces: bool, title: str) -> Figure:
    """A row a run, of moments one by one."""
    theme, ground = strips[0].subject.theme, ground_of(strips)
    low, high = limits(strips, ground, forces)
    most = max(len(strip.moments) for strip in strips)
    columns = ceil(most / ceil(most / WIDEST))
    width = (PAGE - 2 * EDGE) / columns
    rows = [TITLE + ceil(len(s.moments) / columns) * (width * aspect(low, high) + TIME) + GAP for s in strips]
    head = HEAD if title else 0.0
    height = head + sum(rows) + TIME
    sheet = Sheet(Figure(figsize=(PAGE, height)), low, high)
    _write_title(sheet, title)
    for strip, top in zip(strips, head + np.cumsum([0.0, *rows[:-1]]), strict=True):
        sheet.write(EDGE, top + EDGE, strip.label, fontweight="bold", color=strip.color)
        write_notes(sheet, 0.35 * PAGE, top + EDGE, strip, 78)
        draw_moments(sheet, strip, ground, (EDGE, top + TITLE), width, columns, forces, traces)
    sheet.write(EDGE, height - TIME, said(strips, ground, forces, traces, ghosts=False), fontsize=7, color=theme.faint)
    return sheet.figure


def _large(strips: Sequence[Strip], forces: bool, traces: bool, title: str) -> Figure:
    """A large panel a run, side by side: its ghosts, or its only moment."""
    theme, ground = strips[0].subject.theme, ground_of(strips)
    ghosts = any(len(strip.moments) > 1 for strip in strips)
    low, high = limits(strips, ground, forces and not ghosts)
    columns = ceil(len(strips) / ceil(len(strips) / 3))
    width = (PAGE - 2 * EDGE - (columns - 1) * GAP) / columns
    row = TITLE + width * aspect(low, high) + TIME + GAP
    head = HEAD if title else 0.0
    below = [
        said(strips, ground, forces and not ghosts, traces, ghosts),
        *notes_of([strip.subject.scene for strip in strips], PAGE - 2 * EDGE),
    ]
    height = head + ceil(len(strips) / columns) * row + TIME * len(below)
    sheet = Sheet(Figure(figsize=(PAGE, height)), low, high)
    _write_title(sheet, title)
    for n, strip in enumerate(strips):
        left, top = EDGE + (n % columns) * (width + GAP), head + (n // columns) * row
        one, last = strip.subject, strip.moments[-1]
        sheet.write(left, top + EDGE, strip.label, fontweight="bold", color=strip.color)
        axes = sheet.panel(left, top + TITLE, width)
        if ghosts:
            draw_ghosts(axes, strip, ground, traces)
        else:
            draw_ground(axes, one.camera, ground, theme, one.scene.terrain)
            set_stage(axes, one, last, forces=forces, traces=traces)
        times = in_ms(last.time) if len(strip.moments) == 1 else f"{in_ms(strip.moments[0].time)} to {in_ms(last.time)}"
        sheet.write(left + width / 2, top + row - TIME - GAP, times, ha="center", color=theme.faint)
    for n, line in enumerate(below):
        sheet.write(EDGE, height - TIME * (len(below) - n), line, fontsize=7, color=theme.faint)
    return sheet.figure


def _write_title(sheet: Sheet, title: str) -> None:
    if title:
        sheet.write(EDGE, EDGE, title, fontsize=9, fontweight="bold")
