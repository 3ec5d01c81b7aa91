"""Pictures of a scenario on compliant ground beside the same one on pinned feet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailwork.mechanics.compliant.impedance import friction_ratio
from tailwork.simulation import Run
from tailwork.simulation.contact.ground import CONTACT_NAMES
from tailwork.simulation.pose import TURNS, run_torso_angles
from tailwork.studies.compare.ground_comparison import PINNED, GroundComparison, pinned_times
from tailwork.view.draw.style import FAINT, PAGE, WARNING, arranged, look, new_figure, zero_line
from tailwork.view.figures.runs import draw_run
from tailwork.view.scene.colors import BLUE, GREEN, INK, LINES, ORANGE, PURPLE, SKY, VERMILION

FROM_PINNED, TURNED = "P from pinned [mm]", "turned from pinned [deg]"
MARK: Any = {"color": WARNING, "linewidth": 0.8}
DECADES = 1e5  # what is smaller by this than the largest difference is not shown
COLORS = (ORANGE, GREEN, BLUE, PURPLE, SKY, VERMILION)
LARGEST = 1e6  # at which it ends
ABOVE = 2.0  # the axis of friction ends at so many times the friction that there is
BEFORE, AFTER = 0.1, 0.15
"""Shares of the run that are shown before feet first slip or lift, and after they last begin to."""
MOST_COLUMNS = 4


def _styles(comparison: GroundComparison) -> dict[str, dict[str, Any]]:
    """How each run is drawn in every picture."""
    styles: dict[str, dict[str, Any]] = {PINNED: {"color": INK, "linestyle": LINES[0], "linewidth": 1.6}}
    for k, label in enumerate(list(comparison.runs)[1:]):
        color, line = COLORS[k % len(COLORS)], LINES[(k + 1) % len(LINES)]
        styles[label] = {"color": color, "linestyle": line, "linewidth": 1.2}
    return styles


def _keys(styles: Mapping[str, Mapping[str, Any]]) -> list[Line2D]:
    """Entries in the legend for the runs."""
    return [Line2D([], [], label=label, color=s["color"], linestyle=s["linestyle"]) for label, s in styles.items()]


def torso_figure(comparison: GroundComparison, *, title: str = "") -> Figure:
    """Pitch, roll and yaw of the torso [deg] above; its height and how far it is from pinned below; over time [ms].

    A line marks when the first foot slips or lifts. A run that stopped early ends in a cross.
    """
    styles, runs = _styles(comparison), comparison.runs
    with look():
        figure = new_figure(PAGE, 3.9)
        (*angles, height, place, attitude) = figure.subplots(2, 3, sharex=True).flat
        for label, run in runs.items():
            turned = run_torso_angles(run)
            for axes, name in zip(angles, TURNS, strict=True):
                draw_run(axes, run, np.degrees(turned[name]), **styles[label])
            draw_run(height, run, run.data["q"].sel(coordinate="z").to_numpy() * 1e3, **styles[label])
        for axes, name in zip(angles, TURNS, strict=True):
            zero_line(axes)
            axes.set_ylabel(f"{name} [deg]")
        height.set(xlabel="time [ms]", ylabel="height of P [mm]")
        for label, ground in zip(list(runs)[1:], comparison.grounds, strict=False):
            times = ground.times[1:] * 1e3
            place.plot(times, ground.place_difference[1:] * 1e3, **styles[label])
            attitude.plot(times, np.degrees(ground.attitude_difference[1:]), **styles[label])
        for axes, name in ((place, FROM_PINNED), (attitude, TURNED)):
            axes.set_yscale("log")
            axes.set_ylim(bottom=axes.get_ylim()[1] / DECADES)
            axes.set(xlabel="time [ms]", ylabel=name)
        keys = _keys(styles)
        if slip_times(comparison):
            for axes in (*angles, height, place, attitude):
                axes.axvline(min(slip_times(comparison)) * 1e3, **MARK)
            keys.append(Line2D([], [], label="first slip or lift", **MARK))
        return arranged(figure, title, keys)


def slip_times(comparison: GroundComparison) -> list[float]:
    """All times at which feet first slip or lift, or would [s]."""
    every = [*comparison.pinned_times.values(), *(f for g in comparison.grounds for f in g.first_times.values())]
    return [time for first in every for time in first.known]


def feet_figure(comparison: GroundComparison, *, zoomed: bool = False, title: str = "") -> Figure:
    """A column a foot, over time [ms]: its normal force [N], its friction, and when it slips or is in the air.

    Zoomed: only around the time when feet slip or lift. The axis of friction is cut at twice the friction that there
    is.
    """
    feet, styles, runs = list(comparison.pinned_times), _styles(comparison), comparison.runs
    columns = min(len(feet), MOST_COLUMNS)
    blocks = -(-len(feet) // columns)
    heights = [1.6, 1.4, 0.16 * len(runs) + 0.15]
    with look():
        figure = new_figure(PAGE, (sum(heights) + 0.5) * blocks + 0.6)
        grid = figure.subplots(
            3 * blocks, columns, sharex=True, sharey="row", squeeze=False, height_ratios=heights * blocks
        )
        for k in range(blocks * columns):
            panels = grid[3 * (k // columns) : 3 * (k // columns) + 3, k % columns]
            if k >= len(feet):
                for axes in panels:
                    axes.set_axis_off()
                continue
            for label, run in runs.items():
                first = 0 if run.ground is None else 1  # on compliant ground, forces are those of the step before
                force = run.data["foot_force"].sel(foot=feet[k]).to_numpy()[first:]
                draw_run(panels[0], run, force[:, 2], **styles[label])
                panels[1].plot(run.data["time"].to_numpy()[first:] * 1e3, friction_ratio(force), **styles[label])
            zero_line(panels[0])
            panels[0].set_title(feet[k], fontweight="bold")
            panels[1].axhline(comparison.friction, **MARK)
            panels[1].set_ylim(0.0, min(ABOVE * comparison.friction or 1.0, LARGEST))
            _draw_spans(panels[2], comparison, feet[k], styles)
            panels[2].set_xlabel("time [ms]")
            panels[2].tick_params(labelbottom=True)
            if k % columns == 0:
                panels[0].set_ylabel("normal force [N]")
                panels[1].set_ylabel("friction [1]")
        if zoomed:
            grid[0, 0].set_xlim(*(1e3 * time for time in _around(comparison)))
        states = [Line2D([], [], color=FAINT, linewidth=5, alpha=0.45, label="slips"),
                  Line2D([], [], color=WARNING, linewidth=5, label="in the air")]  # fmt: skip
        limit = Line2D([], [], label=f"friction {comparison.friction:g}", **MARK)
        return arranged(figure, title, [*_keys(styles), limit, *states])


def _around(comparison: GroundComparison) -> tuple[float, float]:
    """The time in which feet begin to slip or lift [s]."""
    known, end = slip_times(comparison), max(run.duration for run in comparison.runs.values())
    return max(0.0, min(known) - BEFORE * end), min(end, max(known) + AFTER * end)


def _draw_spans(axes: Axes, comparison: GroundComparison, foot: str, styles: Mapping[str, Any]) -> None:
    """A row a run, the pinned one on top: when the foot slips or is in the air, or would."""
    for row, (label, run) in enumerate(comparison.runs.items()):
        for start, end, state in foot_spans(run, foot, comparison.friction):
            color = WARNING if state == "air" else styles[label]["color"]
            axes.barh(-row, (end - start) * 1e3, left=start * 1e3, height=0.8, color=color,
                      alpha=1.0 if state == "air" else 0.45, gid=state)  # fmt: skip
    count = len(styles)
    axes.set_ylim(-count + 0.4, 0.6)
    axes.set_yticks([-k for k in range(count)], list(styles), fontsize=6.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def foot_spans(run: Run, foot: str, available: float) -> list[tuple[float, float, str]]:
    """(start, end [s], state) of the times in which a foot slips or is in the air; a pinned one: in which it would."""
    times, end = run.data["time"].to_numpy(), float(run.data["time"].to_numpy()[-1])
    if run.ground is not None:
        first = CONTACT_NAMES[int(run.data["contact"].sel(foot=foot).to_numpy()[0])]
        marks = [(0.0, first), *((time, state) for time, name, state in run.changes if name == foot)]
    else:
        force = run.data["foot_force"].sel(foot=foot).to_numpy()
        states = np.where(force[:, 2] < 0.0, "air", np.where(friction_ratio(force) > available, "slip", "stick"))
        first = pinned_times(run, available)[foot]
        known = {"slip": first.slips, "air": first.lifts}  # between the samples
        marks = []
        for k in np.flatnonzero(np.append(True, states[1:] != states[:-1])):
            marks.append((known.pop(str(states[k]), None) or float(times[k]), str(states[k])))
    ends = [*(time for time, _ in marks[1:]), end]
    return [(start, stop, state) for (start, state), stop in zip(marks, ends, strict=True) if state != "stick"]


def convergence_figure(comparison: GroundComparison, *, title: str = "") -> Figure:
    """How far the torso is from the one on pinned feet against stiffness: as long as all feet stick, and in the first
    half of that time."""
    stiffness = np.array([float(g.ground.stiffness) for g in comparison.grounds])
    halves = {"while all feet stick": (comparison.convergence(), BLUE, "o"),
              "in the first half of it": (comparison.convergence(comparison.sticking / 2), ORANGE, "s")}  # fmt: skip
    with look():
        figure = new_figure(PAGE, 2.5)
        for axes, name in zip(figure.subplots(1, 2), (FROM_PINNED, TURNED), strict=True):
            for found, color, marker in halves.values():
                values = found.place * 1e3 if name == FROM_PINNED else np.degrees(found.attitude)
                axes.loglog(stiffness, values[-1] * stiffness[-1] / stiffness, color=FAINT, linewidth=0.8, zorder=1.5)
                axes.loglog(stiffness, values, color=color, marker=marker, linestyle="none")
            axes.set(xlabel="stiffness [N/m]", ylabel=name)
        keys = [Line2D([], [], color=color, marker=marker, linestyle="none", label=f"largest {text}")
                for text, (_, color, marker) in halves.items()]  # fmt: skip
        return arranged(figure, title, [*keys, Line2D([], [], color=FAINT, linewidth=0.8, label="1/stiffness")])
