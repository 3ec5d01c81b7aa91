"""Runs that ended before their time: how pictures say so."""

from __future__ import annotations

from textwrap import fill

from matplotlib.axes import Axes

from tailwork.simulation import Run

STOPPED = "stopped"
"""Name (gid) of the crosses where lines end early."""


def stop_note(run: Run) -> str:
    """When and why a run ended early; empty: it did not."""
    if run.stopped is None:
        return ""
    return f"stopped at {run.stopped.time * 1e3:.0f} ms: {run.stopped.reason}"


def folded(text: str, width: int = 92) -> str:
    """Long text in several lines."""
    return fill(text, width)


def mark_stop(axes: Axes, time: float, value: float, color: str) -> None:
    """A small cross where a line ends early."""
    axes.plot(
        [time], [value], marker="x", color=color, markersize=5.0, markeredgewidth=1.3, linestyle="none", clip_on=False,
        zorder=4, gid=STOPPED,
    )  # fmt: skip
