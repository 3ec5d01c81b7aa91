"""A robot that walks: when its feet touch the ground, its torso over time, and pictures of it over a stride."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tailwork.control.gait.gait import Gait, leg_roles
from tailwork.errors import ArgumentError, UnknownNameError, as_floats
from tailwork.robots import Robot
from tailwork.simulation import Run
from tailwork.simulation.contact.ground import CONTACT_NAMES
from tailwork.simulation.pose import run_torso_angles
from tailwork.typing import Floats
from tailwork.view.draw.camera import Ground, draw_ground, meshed, nice
from tailwork.view.draw.picture import EDGE, GAP, HEAD, TIME, Sheet
from tailwork.view.draw.stage import Subject, joined, set_stage, subject
from tailwork.view.draw.style import FAINT, LIGHT, PAGE, RULE, PlainFigure, arranged, look, new_figure
from tailwork.view.scene import scene_of
from tailwork.view.scene.colors import BLUE, GREEN, INK, LINES, PURPLE, STATE_COLORS, VERMILION, mixed
from tailwork.view.scene.sample import SceneSample, samples_at

BAR, PLAN = 0.56, 0.12  # heights of a bar and of the line of the gait, where feet are 1 apart
ROW_NAMES = {2: ("front", "hind"), 3: ("front", "middle", "hind")}
SIDES = ("left", "right")
UNITS = {"m": 1.0, "cm": 100.0}  # of lengths: how many make a metre
LINE_COLORS = {"torso": BLUE, "pitch": GREEN, "roll": PURPLE}


def spells(times: Floats, states: Sequence[int]) -> list[tuple[float, float, int]]:
    """(start, end, state) of every spell in which a state lasts; a sample's state lasts until the next sample."""
    numbers = np.asarray(states)[:-1]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    ends = [*starts[1:], len(numbers)]
    return [(float(times[a]), float(times[b]), int(numbers[a])) for a, b in zip(starts, ends, strict=True)]


def footfall(
    run: Run,
    *,
    window: tuple[float, float] | None = None,
    gait: Gait | None = None,
    names: Mapping[str, str] | None = None,
    title: str = "",
) -> Figure:
    """A bar a foot over time [s], coloured where it sticks and where it slips, empty in the air.

    Args:
        run: on ground.
        window: from when to when [s]; None: all of it.
        gait: if not None, a thin line under each bar is the stance that it asks for.
        names: of the feet as they are printed; None: their own.
        title: above the bars.
    """
    if not isinstance(run, Run) or run.ground is None:
        shown = run.model.robot.name if isinstance(run, Run) else run
        raise ArgumentError("run", shown, "a run on ground, on which feet come and go")
    times = run.data["time"].to_numpy()
    ends = as_floats("window", times[[0, -1]] if window is None else window, "two times [s]")
    if ends.shape != (2,):
        raise ArgumentError("window", window, "two times [s]")
    first, last = ends
    rows = np.flatnonzero((times >= first - 1e-9) & (times <= last + 1e-9))
    if len(rows) < 2:
        raise ArgumentError("window", window, f"a part of the run, which lasts from {times[0]:g} to {times[-1]:g} s")
    feet = [str(foot) for foot in run.data["foot"].to_numpy()]
    with look():
        figure = new_figure(PAGE, 0.27 * len(feet) + 0.95)
        axes = figure.subplots()
        for k, foot in enumerate(feet):
            found = spells(times[rows], run.data["contact"].sel(foot=foot).to_numpy()[rows].tolist())
            for state, color in STATE_COLORS.items():
                bars = [(a, b - a) for a, b, number in found if CONTACT_NAMES[number] == state]
                axes.broken_barh(bars, (k - BAR / 2, BAR), facecolors=color, linewidth=0.0, gid=f"{foot} {state}")
            if gait is not None and foot in gait.legs:
                stance = gait.in_stance(foot, times[rows]).astype(int).tolist()
                wanted = [(a, b - a) for a, b, there in spells(times[rows], stance) if there]
                axes.broken_barh(wanted, (k + BAR / 2 + 0.06, PLAN), facecolors=INK, linewidth=0.0, gid=f"{foot} gait")
        axes.set(xlim=(times[rows[0]], times[rows[-1]]), ylim=(len(feet) - 0.4, -0.5), xlabel="time [s]")
        axes.set_yticks(range(len(feet)), [(names or {}).get(foot, foot.replace("_", " ")) for foot in feet])
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0.0)
        axes.spines["left"].set_visible(False)
        keys = [Patch(facecolor=color, label=f"foot {state}s") for state, color in STATE_COLORS.items()]
        keys += [] if gait is None else [Patch(facecolor=INK, label="stance in the gait (thin bar)")]
        return arranged(figure, title, keys)


def leg_names(robot: Robot) -> dict[str, str]:
    """By leg of a robot with four or six: where it is, as "front left"."""
    roles = leg_roles(robot)
    rows = ROW_NAMES[len(roles) // 2]
    return {leg: f"{rows[row]} {SIDES[side]}" for leg, (row, side) in roles.items()}


def samples_a_stride(run: Run, gait: Gait) -> int:
    """How many samples a stride has, by the whole run: samples are at whole steps, and so not quite even."""
    return round(gait.period * (len(run.data["time"]) - 1) / run.duration)


def _check_walk(run: Run, gait: Gait) -> None:
    if run.ground is None or run.duration < gait.period * (1.0 - 1e-3):
        raise ArgumentError("run", run.model.robot.name, f"a run on compliant ground of {gait.period:g} s at least")


def torso_travel(run: Run, gait: Gait, *, settling: int, unit: str = "m", title: str = "") -> Figure:
    """Height and forward speed of the torso, its pitch and roll, over time [s]: all of a run, and its last two strides.

    Args:
        run: of a walking robot.
        gait: the desired one.
        settling: strides at the start that numbers leave out: shaded.
        unit: of lengths, "m" or "cm".
        title: above the panels.
    """
    _check_walk(run, gait)
    if unit not in UNITS:
        raise UnknownNameError.among("unit", unit, UNITS, "unit of length")
    times, ahead, scale = run.data["time"].to_numpy(), run.model.robot.forward, UNITS[unit]
    angles = {name: np.degrees(angle) for name, angle in run_torso_angles(run).items()}
    rows = {
        f"height [{unit}]": {"torso": scale * run.data["q"].sel(coordinate="z").to_numpy()},
        f"speed [{unit}/s]": {"torso": scale * run.data["v"].sel(velocity=f"v_{ahead}").to_numpy()},
        "angle [deg]": {"pitch": angles["pitch"], "roll": angles["roll"]},
    }
    each = samples_a_stride(run, gait)
    last = slice(max(0, len(times) - 1 - 2 * each), None)
    stride = np.ones(each) / each
    with look():
        figure = new_figure(PAGE, 4.4)
        panels = figure.subplots(len(rows), 2, sharex="col", sharey="row", width_ratios=(3, 2))
        for (whole, late), (quantity, lines) in zip(panels, rows.items(), strict=True):
            for name, values in lines.items():
                whole.plot(times, values, color=mixed(LINE_COLORS[name], "#ffffff", 0.6), linewidth=0.5, gid=name)
                means = (np.convolve(one, stride, "valid") for one in (times, values))
                whole.plot(*means, color=LINE_COLORS[name], gid=f"{name}, mean")
                late.plot(times[last], values[last], color=LINE_COLORS[name], gid=name)
            whole.axvspan(0.0, settling * gait.period, color=RULE, alpha=0.6, linewidth=0.0, zorder=0.4)
            whole.set_ylabel(quantity)
        for axes in panels[1]:
            axes.axhline(scale * gait.speed, color=VERMILION, linewidth=0.9, linestyle=LINES[1], zorder=3)
        for axes, what in zip(panels[0], ("whole run; bold: mean over a stride", "last two strides"), strict=True):
            axes.set_title(what)
        for axes in panels[-1]:
            axes.set_xlabel("time [s]")
        keys = [Line2D([], [], color=color, label=name) for name, color in LINE_COLORS.items()]
        keys += [
            Line2D([], [], color=VERMILION, linewidth=0.9, linestyle=LINES[1], label="desired speed"),
            Line2D([], [], color=RULE, linewidth=6.0, label="left out of the numbers"),
        ]
        return arranged(figure, title, keys)


def stride_pictures(
    run: Run, gait: Gait, *, views: Sequence[str] = ("side", "top"), frames: int = 8, columns: int = 4, title: str = ""
) -> Figure:
    """The last stride of a run as pictures that go along with the robot; feet on the ground are marked.

    Args:
        run: on compliant ground, a stride long at least.
        gait: gives the length of a stride.
        views: one below the other; see `tailwork.view.draw.camera.VIEWS`.
        frames: how many times of the stride, evenly spaced.
        columns: how many of them stand side by side.
        title: above the pictures.
    """
    times = run.data["time"].to_numpy()
    _check_walk(run, gait)
    wanted = times[-1] - gait.period * (1.0 - np.arange(frames) / frames)
    rows = [int(np.abs(times - sample).argmin()) for sample in wanted]
    scene = scene_of(run)
    feet = [force.foot for force in scene.forces]
    shown = samples_at(scene, times[rows])
    subjects = [subject(scene, view, LIGHT) for view in views]
    bounds = [_bounds(one, shown) for one in subjects]
    with look():
        width = (PAGE - 2 * EDGE - (columns - 1) * GAP) / columns
        heights = [width * (high - low)[1] / (high - low)[0] for low, high in bounds]
        line = sum(heights) + TIME + GAP
        head = HEAD if title else 0.0
        lines = -(-frames // columns)
        figure = PlainFigure(figsize=(PAGE, head + lines * line + TIME))
        sheets = [Sheet(figure, low, high) for low, high in bounds]
        if title:
            sheets[0].write(EDGE, EDGE, title, fontsize=9, fontweight="bold")
        mesh = nice(scene.size / 5.0)
        for n, (row, sample) in enumerate(zip(rows, shown, strict=True)):
            left, top = EDGE + (n % columns) * (width + GAP), head + (n // columns) * line
            states = run.data["contact"].isel(time=row).to_numpy()
            touching = {foot: CONTACT_NAMES[int(state)] for foot, state in zip(feet, states, strict=True)}
            for sheet, one, tall in zip(sheets, subjects, heights, strict=True):
                axes = sheet.panel(left, top, width, one.camera.project(one.under(sample)))
                _draw(axes, one, sample, touching, mesh)
                top += tall
            text = f"{(times[row] - times[rows[0]]) * 1e3:.0f} ms"
            sheets[0].write(left + width / 2, top, text, ha="center", color=FAINT)
        note = (
            f"Grid {Ground(np.zeros(2), np.zeros(2), mesh).shown}. A foot that sticks is blue, one that slips orange."
        )
        sheets[0].write(EDGE, head + lines * line, note, fontsize=7, color=FAINT)
        return figure


def _bounds(one: Subject, shown: Sequence[SceneSample]) -> tuple[Floats, Floats]:
    """Lower left and upper right corner of the robot on the sheet, from the place under its torso [m]."""
    corners = [(joined([one.robot(sample)]), one.camera.project(one.under(sample))) for sample in shown]
    low = np.min([low - here for (low, _), here in corners], axis=0)
    high = np.max([high - here for (_, high), here in corners], axis=0)
    margin = 0.05 * float((high - low).max())
    return low - margin, high + margin


def _draw(axes: Axes, one: Subject, sample: SceneSample, touching: dict[str, str], mesh: float) -> None:
    """One view at one time; the panel goes along with the robot, the grid stays."""
    under, size = one.under(sample), one.scene.size
    ground = meshed(under[:2] - 3.0 * size, under[:2] + 3.0 * size, mesh)
    draw_ground(axes, one.camera, ground, LIGHT, one.scene.terrain)
    set_stage(axes, one, sample, forces=False, traces=False)
    for force, place in zip(one.scene.forces, sample.feet(one.scene), strict=True):
        state = touching[force.foot]
        if state in STATE_COLORS:
            axes.plot(
                *one.camera.project(place), marker="o", markersize=4.2, color=STATE_COLORS[state],
                markeredgecolor="white", markeredgewidth=0.5, zorder=4, gid=f"{force.foot}.foot {state}",
            )  # fmt: skip
