"""How cost grows, drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from benchmarks.races.growth import Growth
from tailwork.view.draw.style import PAGE, arranged, look, new_figure
from tailwork.view.scene.colors import looks

TITLES = {"links": "links of the tail", "legs": "legs", "states": "states in a call", "threads": "threads"}
MANY = 1000
"""Where sizes go beyond this, every other one is written."""
STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)


def growth_figure(growths: Sequence[Growth]) -> Figure:
    """Time of an evaluation against links, legs, states in a call and threads."""
    with look():
        figure = new_figure(PAGE, 4.6)
        panels = figure.subplots(2, 2).ravel()
        styles = looks([growth.name for growth in growths])
        for axes, (against, title) in zip(panels, TITLES.items(), strict=True):
            own = [growth for growth in growths if growth.against == against]
            for growth in own:
                style = styles[growth.name]
                axes.plot(growth.sizes, _costs(growth), color=style.color, linestyle=style.line, marker=style.marker,
                          label=_said(growth))  # fmt: skip
            _arrange(axes, title, sorted({size for growth in own for size in growth.sizes}))
        return arranged(figure)


def _costs(growth: Growth) -> list[float]:
    """Nanoseconds an evaluation."""
    if growth.against == "states":
        return [time / size for time, size in zip(growth.times, growth.sizes, strict=True)]
    return list(growth.times)


def _said(growth: Growth) -> str:
    """What a line is, with its exponent."""
    name = growth.name.partition(",")[0]
    return f"{name}: time ~ n$^{{{growth.exponent:.2f}}}$" if growth.against in ("links", "legs") else name


def _arrange(axes: Axes, title: str, sizes: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(title)
    axes.set_ylabel("ns an evaluation")
    axes.xaxis.set_major_locator(FixedLocator(sizes if sizes[-1] < MANY else sizes[::2]))
    marks = (np.array(STEPS) * 10.0 ** np.arange(-1, 7)[:, None]).ravel()
    axes.yaxis.set_major_locator(FixedLocator(marks.tolist()))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(ScalarFormatter())
    axes.set_xlim(sizes[0] / 1.12, sizes[-1] * 1.12)
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.3, high * 1.3)
    axes.legend(loc="best")
