"""Figures of runs: the torso, the feet, net rotations, curvatures, and plain quantities over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.mechanics.compliant.impedance import friction_ratio
from tailwork.simulation import Run
from tailwork.simulation.pose import TURNS, run_torso_angles, torso_rates
from tailwork.typing import Floats
from tailwork.view.draw.style import (
    COLUMN,
    FAINT,
    PAGE,
    WARNING,
    arranged,
    line_key,
    look,
    new_figure,
    panel_grid,
    zero_line,
)  # fmt: skip
from tailwork.view.scene.build import check_runs
from tailwork.view.scene.colors import BLUE, FEET, GREEN, LINES, VERMILION, looks, printed
from tailwork.view.scene.curves import stop_note

NOTE_WIDTH = 92  # letters a line of why a run stopped
STOPPED = "stopped"  # name (gid) of the crosses where lines end early
LEAST_SPAN = (0.2, 2.0)  # of the axes of angles [deg] and rates [deg/s]
MOST_FRICTION = 2.0  # the axis of friction never goes beyond this; hardly any ground gives more
BAND = {"color": "#c3cad2", "linewidth": 3.6}  # how the desired curvature is drawn: a broad pale line under the others
COLORS = (BLUE, VERMILION, GREEN)


def draw_run(axes: Axes, run: Run, values: Floats, **style: Any) -> None:
    """The last samples of a quantity of a run over time [ms]; a small cross where it stopped early."""
    times = run.data["time"].to_numpy()[-len(values) :] * 1e3
    axes.plot(times, values, **style)
    if run.stopped is not None:
        axes.plot(
            times[-1:], values[-1:], marker="x", color=style["color"], markersize=5.0, markeredgewidth=1.3,
            linestyle="none", clip_on=False, zorder=4, gid=STOPPED,
        )  # fmt: skip


def torso_response(runs: Mapping[str, Run], *, title: str = "") -> Figure:
    """Pitch, roll and yaw [deg] above, their rates [deg/s] below, over time [ms]; one line a tail.

    A run that stopped early ends in a cross, and the legend says when and why.
    """
    check_runs(runs)
    notes = {label: stop_note(run) for label, run in runs.items()}
    keys = []
    with look():
        figure = new_figure(PAGE, 3.6 + 0.17 * len(list(filter(None, notes.values()))))
        axes = figure.subplots(2, 3, sharex=True)
        for label, style in looks(runs).items():
            run, note = runs[label], notes[label]
            for row, values in zip(axes, (run_torso_angles(run), torso_rates(run)), strict=True):
                for place, name in zip(row, TURNS, strict=True):
                    draw_run(place, run, np.degrees(values[name]), label=printed(label), **style.stroke)
            text = fill(f"{printed(label)}, {note}", NOTE_WIDTH) if note else printed(label)
            keys.append(line_key(text, style, marker="x" if note else None))
        for row, least, quantity in zip(axes, LEAST_SPAN, ("{} [deg]", "{} rate [deg/s]"), strict=True):
            for place, name in zip(row, TURNS, strict=True):
                zero_line(place)
                place.set_ylabel(quantity.format(name))
                low, high = place.get_ylim()
                if high - low < least:  # rounding is not blown up
                    place.set_ylim((low + high - least) / 2, (low + high + least) / 2)
        for place in axes[1]:
            place.set_xlabel("time [ms]")
        return arranged(figure, title, keys)


def foot_forces(runs: Mapping[str, Run], *, title: str = "") -> Figure:
    """A column a tail: normal force of each foot [N] above, friction that it needs below, over time [ms].

    Friction needed is tangential over normal force. Its axis is cut at 2, and says so where that leaves something out.
    """
    check_runs(runs)
    feet = list(dict.fromkeys(foot for run in runs.values() for foot in run.model.foot_names))
    if not feet:
        raise ArgumentError("runs", list(runs), "runs with feet on the ground")
    with look():
        figure = new_figure(COLUMN if len(runs) == 1 else PAGE, 3.9)
        axes = figure.subplots(2, len(runs), sharex=True, sharey="row", squeeze=False)
        most = 0.0
        for (above, below), (label, run) in zip(axes.T, runs.items(), strict=True):
            for foot in run.model.foot_names:
                force = run.data["foot_force"].sel(foot=foot).to_numpy()
                needed = friction_ratio(force)
                style = _style(feet.index(foot))
                draw_run(above, run, force[:, 2], gid=foot, **style)
                below.plot(run.data["time"].to_numpy() * 1e3, needed, gid=foot, **style)
                most = max(most, float(needed.max()))
            stopped = "" if run.stopped is None else f" (stopped at {run.stopped.time * 1e3:.0f} ms)"
            above.set_title(printed(label) + stopped, fontweight="bold")
            below.set_xlabel("time [ms]")
        for place in axes[0]:
            _mark_pulling(place)
        axes[0, 0].set_ylabel("normal force [N]")
        axes[1, 0].set_ylabel("friction needed [1]")
        axes[1, 0].set_ylim(0.0, min(MOST_FRICTION, 1.08 * most or 1.0))
        if most > MOST_FRICTION:
            said = f"axis cut at {MOST_FRICTION:g}; infinite where a foot pulls"
            for place in axes[1]:
                place.set_title(said, color=WARNING, fontsize=7)
        return arranged(figure, title, [Line2D([], [], label=foot, **_style(k)) for k, foot in enumerate(feet)])


def _style(k: int) -> dict[str, Any]:
    """How the k-th foot is drawn, in every column."""
    return {"color": FEET[k % len(FEET)], "linestyle": LINES[k % len(LINES)], "linewidth": 1.2}


def _mark_pulling(axes: Axes) -> None:
    """The line below which a foot would have to pull, with room to say so."""
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -0.14 * max(high, 1e-12)), high)
    axes.axhline(0.0, color=WARNING, linewidth=0.8, zorder=1.5)
    axes.annotate(
        "below: a foot would pull", (0.02, 0.0), (0.0, -2.5), xycoords=axes.get_yaxis_transform(),
        textcoords="offset points", color=WARNING, fontsize=7, va="top",
    )  # fmt: skip


def net_rotation(
    angles: ArrayLike,
    by_tail: Mapping[str, Sequence[float]],
    *,
    axis: str,
    title: str = "",
    ends: Mapping[str, Sequence[bool]] | None = None,
    airborne: Mapping[str, Sequence[float]] | None = None,
) -> Figure:
    """Net rotation of the torso against the bending angle of the tail.

    Args:
        angles: bending angles of the tail [deg].
        by_tail: by tail, how far the torso turned at each of them [deg]; NaN leaves a point out.
        axis: what turned: "yaw", "roll" or "pitch".
        title: above the panel.
        ends: by tail, whether each run ended early; such points are hollow.
        airborne: by tail, how far the same motions turn the robot in the air [deg]; thin lines.
    """
    bent = np.asarray(angles, dtype=float)
    keys, hollow = [], False
    with look():
        figure = new_figure(COLUMN, 2.8)
        axes = figure.subplots()
        zero_line(axes)
        for label, style in looks(by_tail).items():
            turned = np.asarray(by_tail[label], dtype=float)
            early = np.asarray((ends or {}).get(label, [False] * len(bent)), dtype=bool)
            axes.plot(bent, turned, label=printed(label), **style.stroke)
            dots = {"linestyle": "none", "marker": style.marker, "color": style.color, "markersize": 4.5, "zorder": 3}
            axes.plot(bent[~early], turned[~early], gid="whole runs", **dots)
            axes.plot(bent[early], turned[early], gid="ended early", markerfacecolor="white", **dots)
            if airborne is not None:
                axes.plot(bent, airborne[label], color=style.color, linewidth=0.7, linestyle=":", gid="airborne")
            keys.append(line_key(printed(label), style, marker=style.marker, markersize=4.5))
            hollow = hollow or bool(early.any())
        if hollow:
            keys.append(Line2D([], [], color=FAINT, linestyle="none", marker="o", mfc="white", label="ended early"))
        if airborne is not None:
            keys.append(Line2D([], [], color=FAINT, linestyle=":", linewidth=0.9, label="in the air"))
        axes.set(xlabel="tail bending angle [deg]", ylabel=f"net torso {axis} [deg]")
        return arranged(figure, title, keys)


def curvature_tracking(
    times: ArrayLike | Mapping[str, ArrayLike],
    desired: Mapping[str, ArrayLike],
    actual: Mapping[str, ArrayLike],
    *,
    title: str = "",
) -> Figure:
    """Curvatures [1/m] over time [ms] above, actual less desired below.

    Args:
        times: of the samples [s]; by "tail, segment" where lines have times of their own (runs of different lengths).
        desired: by "tail, segment": desired curvature [1/m].
        actual: by "tail, segment": curvature found [1/m]; may end early (fewer samples).
        title: above the panels.
    """
    with look():
        figure = new_figure(COLUMN, 3.9)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        keys = [Line2D([], [], label="desired", **BAND)]
        drawn: list[tuple[Floats, Floats]] = []
        for label, style in looks(actual).items():
            if label not in desired:
                raise UnknownNameError.among("desired", label, desired, "line")
            found, wanted = (np.asarray(lines[label], dtype=float) for lines in (actual, desired))
            milliseconds = np.asarray(times[label] if isinstance(times, Mapping) else times, dtype=float) * 1e3
            target = (milliseconds[: len(wanted)], wanted)
            if not any(all(map(np.array_equal, target, other)) for other in drawn):  # most lines share their target
                above.plot(*target, zorder=1.5, gid="desired", **BAND)
                drawn.append(target)
            until = milliseconds[: len(found)]
            above.plot(until, found, label=printed(label), gid="actual", **style.stroke)
            below.plot(until, found - wanted[: len(found)], gid="error", **style.stroke)
            keys.append(line_key(printed(label), style))
        for axes in (above, below):
            zero_line(axes)
        above.set_ylabel("curvature [1/m]")
        below.set(xlabel="time [ms]", ylabel="error [1/m]")
        return arranged(figure, title, keys)


@dataclass(frozen=True)
class Panel:
    """What one panel shows: lines by label, each (times [s], values)."""

    quantity: str  # with its unit
    lines: Mapping[str, tuple[Floats, Floats]]
    log: bool = False


def series(panels: Sequence[Panel], *, columns: int = 3, title: str = "") -> Figure:
    """Panels side by side over time [ms]; a label has the same line in each."""
    labels = dict.fromkeys(label for panel in panels for label in panel.lines)
    styles = {
        label: {"label": label, "color": COLORS[k % len(COLORS)], "linestyle": LINES[k % len(LINES)]}
        for k, label in enumerate(labels)
    }
    with look():
        figure, places = panel_grid(len(panels), columns, PAGE, 1.75, 0.6)
        for k, (axes, panel) in enumerate(zip(places, panels, strict=True)):
            if not panel.log:
                zero_line(axes)
            for label, (times, values) in panel.lines.items():
                axes.plot(np.asarray(times) * 1e3, values, **styles[label])
            if panel.log:
                axes.set_yscale("log")
            axes.set(ylabel=panel.quantity, xlabel="time [ms]" if k + columns >= len(panels) else "")
        return arranged(figure, title, [Line2D([], [], **style) for style in styles.values()])
