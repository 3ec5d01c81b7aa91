"""How far the torso turns for how far the tail bends (Liu & Ben-Tzvi 2020, Figs. 10, 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from tailwork.view.draw.style import (
    COLUMN,
    FAINT,
    arranged,
    legend_below,
    line_key,
    look,
    new_figure,
    titled,
    zero_line,
)
from tailwork.view.scene.colors import looks, shown


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
    with look():
        figure = new_figure(COLUMN, 2.8)
        axes = figure.subplots()
        zero_line(axes)
        keys = []
        hollow = False
        for label, style in looks(by_tail).items():
            turned = np.asarray(by_tail[label], dtype=float)
            early = np.asarray((ends or {}).get(label, [False] * len(bent)), dtype=bool)
            axes.plot(bent, turned, color=style.color, linestyle=style.line, label=shown(label))
            dots = {"linestyle": "none", "marker": style.marker, "color": style.color, "markersize": 4.5, "zorder": 3}
            axes.plot(bent[~early], turned[~early], gid="whole runs", **dots)
            axes.plot(bent[early], turned[early], gid="ended early", markerfacecolor="white", **dots)
            if airborne is not None:
                axes.plot(bent, airborne[label], color=style.color, linewidth=0.7, linestyle=":", gid="airborne")
            keys.append(line_key(shown(label), style, marker=style.marker, markersize=4.5))
            hollow = hollow or bool(early.any())
        if hollow:
            keys.append(Line2D([], [], color=FAINT, linestyle="none", marker="o", mfc="white", label="ended early"))
        if airborne is not None:
            keys.append(Line2D([], [], color=FAINT, linestyle=":", linewidth=0.9, label="in the air"))
        axes.set_xlabel("tail bending angle [deg]")
        axes.set_ylabel(f"net torso {axis} [deg]")
        titled(figure, title)
        legend_below(figure, keys)
        return arranged(figure)
