"""Plain panels of quantities over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailwork.typing import Floats
from tailwork.view.draw.style import PAGE, arranged, legend_below, look, new_figure, titled, zero_line
from tailwork.view.scene.colors import BLUE, GREEN, LINES, VERMILION

COLORS = (BLUE, VERMILION, GREEN)


@dataclass(frozen=True)
class Panel:
    """What one panel shows: lines by label, each (times [s], values)."""

    quantity: str  # with its unit
    lines: Mapping[str, tuple[Floats, Floats]]
    log: bool = False


def series(panels: Sequence[Panel], *, columns: int = 3, title: str = "") -> Figure:
    """Panels side by side over time [ms]; a label has the same line in each."""
    labels = list(dict.fromkeys(label for panel in panels for label in panel.lines))
    looks = {
        label: {"color": COLORS[k % len(COLORS)], "linestyle": LINES[k % len(LINES)]} for k, label in enumerate(labels)
    }
    rows = -(-len(panels) // columns)
    with look():
        figure = new_figure(PAGE, 1.75 * rows + 0.6)
        grid = figure.subplots(rows, columns, squeeze=False)
        for k, axes in enumerate(grid.flat):
            if k >= len(panels):
                axes.set_axis_off()
                continue
            panel = panels[k]
            if not panel.log:
                zero_line(axes)
            for label, (times, values) in panel.lines.items():
                axes.plot(np.asarray(times) * 1e3, values, label=label, **looks[label])
            if panel.log:
                axes.set_yscale("log")
            axes.set_ylabel(panel.quantity)
            if k + columns >= len(panels):
                axes.set_xlabel("time [ms]")
        titled(figure, title)
        legend_below(figure, [Line2D([], [], label=label, **looks[label]) for label in labels])
        return arranged(figure)
