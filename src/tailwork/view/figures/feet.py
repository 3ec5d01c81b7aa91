"""What the ground must do for the feet to stay where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailwork.errors import RobotError
from tailwork.simulation import Run
from tailwork.typing import Floats
from tailwork.view.draw.style import COLUMN, PAGE, WARNING, arranged, legend_below, look, new_figure, titled
from tailwork.view.figures.stops import mark_stop
from tailwork.view.scene.colors import FEET, LINES, shown

MOST_FRICTION = 2.0
"""The axis of friction never goes beyond this; hardly any ground gives more."""


def foot_forces(runs: Mapping[str, Run], *, title: str = "") -> Figure:
    """A column a tail: normal force of each foot [N] above, friction that it needs below, over time [ms].

    Friction needed is tangential over normal force. Its axis is cut at 2, and says so where that leaves something out.
    """
    feet = list(dict.fromkeys(foot for run in runs.values() for foot in run.model.foot_names))
    if not feet:
        raise RobotError("runs", list(runs), "runs with feet on the ground")
    with look():
        figure = new_figure(COLUMN if len(runs) == 1 else PAGE, 3.9)
        axes = figure.subplots(2, len(runs), sharex=True, sharey="row", squeeze=False)
        most = 0.0
        for (above, below), (label, run) in zip(axes.T, runs.items(), strict=True):
            times = run.data["time"].to_numpy() * 1e3
            for foot in run.model.foot_names:
                force = run.data["foot_force"].sel(foot=foot).to_numpy()
                needed = friction(force)
                style = _style(feet.index(foot))
                above.plot(times, force[:, 2], gid=foot, **style)
                below.plot(times, needed, gid=foot, **style)
                most = max(most, float(needed.max()))
                if run.stopped is not None:
                    mark_stop(above, times[-1], force[-1, 2], style["color"])
            stopped = "" if run.stopped is None else f" (stopped at {run.stopped.time * 1e3:.0f} ms)"
            above.set_title(shown(label) + stopped, fontweight="bold")
            below.set_xlabel("time [ms]")
        for place in axes[0]:
            _mark_pulling(place)
        axes[0, 0].set_ylabel("normal force [N]")
        axes[1, 0].set_ylabel("friction needed [1]")
        axes[1, 0].set_ylim(0.0, min(MOST_FRICTION, 1.08 * most or 1.0))
        if most > MOST_FRICTION:
            for place in axes[1]:
                place.set_title(
                    f"axis cut at {MOST_FRICTION:g}; infinite where a foot pulls", color=WARNING, fontsize=7
                )
        figure.align_ylabels()
        titled(figure, title)
        legend_below(figure, [Line2D([], [], label=foot, **_style(k)) for k, foot in enumerate(feet)])
        return arranged(figure)


def friction(force: Floats) -> Floats:
    """Tangential over normal force of (…, 3) forces; infinite where a foot would pull."""
    across, normal = np.hypot(force[..., 0], force[..., 1]), force[..., 2]
    return np.where(normal > 0, across / np.where(normal > 0, normal, 1.0), np.inf)


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
