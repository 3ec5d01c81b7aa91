"""Footfall diagram: when each foot of a walking robot sticks to the ground, slips, or is in the air."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from tailwork.control.gait.gait import Gait
from tailwork.errors import RobotError
from tailwork.simulation import Run
from tailwork.simulation.contact.ground import CONTACT_NAMES
from tailwork.typing import Floats
from tailwork.view.draw.style import PAGE, arranged, look, new_figure, titled
from tailwork.view.scene.colors import BLUE, INK, ORANGE

STATE_COLORS = {"stick": BLUE, "slip": ORANGE}
"""Of feet on the ground, in every picture; a foot in the air has none."""
BAR, PLAN = 0.56, 0.12  # heights of a bar and of the line of the gait, where feet are 1 apart


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
        run: on compliant ground.
        window: from when to when [s]; None: all of it.
        gait: if given, a thin line under each bar is the stance that it asks for.
        names: of the feet as they are printed; None: their own.
        title: above the bars.
    """
    if run.ground is None:
        raise RobotError("run", run.model.robot.name, "a run on compliant ground, on which feet come and go")
    times = run.data["time"].to_numpy()
    first, last = (times[0], times[-1]) if window is None else window
    rows = np.flatnonzero((times >= first - 1e-9) & (times <= last + 1e-9))
    if len(rows) < 2:
        raise RobotError("window", window, f"a part of the run, which lasts from {times[0]:g} to {times[-1]:g} s")
    feet = [str(foot) for foot in run.data["foot"].to_numpy()]
    with look():
        figure = new_figure(PAGE, 0.27 * len(feet) + 0.95)
        axes = figure.subplots()
        for k, foot in enumerate(feet):
            found = spells(times[rows], run.data["contact"].sel(foot=foot).to_numpy()[rows].tolist())
            for state, color in STATE_COLORS.items():
                bars = [(a, b - a) for a, b, number in found if CONTACT_NAMES[number] == state]
                axes.broken_barh(bars, (k - BAR / 2, BAR), facecolors=color, linewidth=0.0, gid=f"{foot} {state}")
            if gait is not None:
                wanted = [(a, b - a) for a, b, there in _wanted(gait, foot, times[rows]) if there]
                axes.broken_barh(wanted, (k + BAR / 2 + 0.06, PLAN), facecolors=INK, linewidth=0.0, gid=f"{foot} gait")
        axes.set(xlim=(times[rows[0]], times[rows[-1]]), ylim=(len(feet) - 0.4, -0.5), xlabel="time [s]")
        axes.set_yticks(range(len(feet)), [(names or {}).get(foot, foot.replace("_", " ")) for foot in feet])
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0.0)
        axes.spines["left"].set_visible(False)
        keys = [Patch(facecolor=color, label=f"foot {state}s") for state, color in STATE_COLORS.items()]
        keys += [] if gait is None else [Patch(facecolor=INK, label="stance in the gait (thin bar)")]
        titled(figure, title)
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), handlelength=1.2)
        return arranged(figure)


def _wanted(gait: Gait, foot: str, times: Floats) -> list[tuple[float, float, int]]:
    return spells(times, gait.in_stance(foot, times).astype(int).tolist())
