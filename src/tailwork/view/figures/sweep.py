"""Pictures of a sweep: curves over one varied number, maps over two, a matrix of maps over more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from tailwork.format import headed, minus
from tailwork.studies.measures import unit_of
from tailwork.studies.sweep.axes import LOG, SweepAxis
from tailwork.studies.sweep.folder import Results
from tailwork.typing import Floats
from tailwork.view.draw.style import COLUMN, PAGE, WARNING, arranged, color_bar, look, new_figure, zero_line
from tailwork.view.scene.colors import BLUE, INK, VERMILION

GREY = "#c9d1d9"
VEIL = 0.55  # how white the map is where runs ended early
MOST_SHOWN = 5  # varied numbers in a matrix of maps
MOST_BINS = 24
SMOOTH = 0.02  # contour lines are drawn where second differences are less than this share of the range
MOST_DOTS = 80  # curves of more designs are lines alone
FEWEST_CELLS = 5  # a map with fewer cells in a direction has no contour lines
OUTLIERS = 0.01
"""Share of the designs at each end that does not set the range of colours, where it would stretch it much."""


def measure_label(name: str) -> str:
    """A measure as an axis names it."""
    return headed(name.replace("_", " "), unit_of(name))


def varied_label(varied: SweepAxis) -> str:
    """What is varied, as an axis names it."""
    return headed(varied.path, varied.unit)


def curves(results: Results, *, title: str = "") -> Figure:
    """Measures over the one number that is varied, a panel each."""
    (varied,) = results.sweep.varied
    order = np.argsort(results.values[varied.path], kind="stable")
    x = results.values[varied.path][order]
    whole, early, refused = (mask[order] for mask in (results.whole, results.early, results.refused))
    names = results.sweep.measures
    with look():
        figure = new_figure(PAGE * 0.72, 0.75 + 1.65 * len(names))
        panels = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0]
        dots = {"linestyle": "none", "marker": "o", "markersize": 3.2, "zorder": 3}
        for axes, name in zip(panels, names, strict=True):
            y = results.measures[name][order]
            y = np.where(np.isfinite(y), y, np.nan)
            if np.nanmin(y, initial=np.inf) < 0.0 < np.nanmax(y, initial=-np.inf):
                zero_line(axes)
            axes.plot(x, np.where(refused, np.nan, y), color=BLUE, gid="measure")
            if len(x) <= MOST_DOTS:
                axes.plot(x[whole], y[whole], color=BLUE, **dots)
            if early.any():
                axes.plot(x[early], y[early], color=BLUE, markerfacecolor="white", gid="ended early", **dots)
            if refused.any():
                axes.plot(
                    x[refused], np.zeros(refused.sum()), "x", color=WARNING, markersize=4.0, clip_on=False, zorder=4,
                    transform=axes.get_xaxis_transform(), gid="not possible",
                )  # fmt: skip
            axes.set_ylabel(measure_label(name).replace(" [", "\n["))
            _scale(axes, "x", varied)
        panels[-1].set_xlabel(varied_label(varied))
        hollow = {"color": BLUE, "marker": "o", "markersize": 3.2, "mfc": "white"}
        keys = _end_keys(results, hollow, {"color": WARNING, "marker": "x", "markersize": 4.0})
        return arranged(figure, title, keys)


def design_map(results: Results, measure: str, *, title: str = "") -> Figure:
    """A measure over the two numbers that are varied: cells of a grid, or points where designs were drawn."""
    first, second = results.sweep.varied
    colours = _Colours(results.measures[measure][~results.refused])
    with look():
        figure = new_figure(COLUMN * 1.5, COLUMN * 1.22)
        axes = figure.subplots()
        axes.grid(False)
        draw = _cells if results.sweep.sampling == "grid" else _points
        drawn = draw(axes, results, measure, colours)
        _ends(axes, results, measure)
        _scale(axes, "x", first)
        _scale(axes, "y", second)
        axes.set(xlabel=varied_label(first), ylabel=varied_label(second))
        color_bar(figure, drawn, measure_label(measure), ax=axes, extend=colours.extend, aspect=28, pad=0.02)
        return arranged(figure, title, _map_keys(results))


def pair_matrix(results: Results, measure: str, *, title: str = "") -> Figure:
    """A measure over three or more varied numbers: its mean over each pair, and its spread over each alone.

    Means and spreads are over all designs that ran to their end, whatever the other numbers are.
    """
    shown = results.sweep.varied[:MOST_SHOWN]
    use = results.whole & np.isfinite(results.measures[measure])
    values = results.measures[measure][use]
    binned = [_Bins(one, results.values[one.path], results.sweep.sampling == "grid") for one in shown]
    places = [bins.places[use] for bins in binned]
    means = {(row, column): _mean(values, places[column], places[row], binned[column].count, binned[row].count)
             for row in range(len(shown)) for column in range(row)}  # fmt: skip
    found = np.concatenate([mean.ravel() for mean in means.values()])
    colours = _Colours(found)
    count = len(shown)
    with look():
        figure = new_figure(PAGE, 0.4 + PAGE * 0.88)
        panels = figure.subplots(count, count, squeeze=False, sharex="col")
        drawn: Any = None
        for row, column in np.ndindex(count, count):
            axes: Any = panels[row, column]
            if column > row:
                axes.set_visible(False)
                continue
            if column == row:
                _spread(axes, binned[row], places[row], values)
                axes.set_ylabel(measure_label(measure))
            else:
                axes.grid(False)
                axes.set_facecolor(GREY)
                drawn = axes.pcolormesh(
                    binned[column].edges, binned[row].edges, means[row, column], cmap=colours.map, norm=colours.norm,
                    rasterized=True,
                )  # fmt: skip
                _scale(axes, "y", shown[row])
                axes.tick_params(labelleft=column == 0)
                axes.set_ylabel(varied_label(shown[row]) if column == 0 else "")
            _scale(axes, "x", shown[column])
            axes.set_xlabel(varied_label(shown[column]) if row == count - 1 else "")
        beside = figure.add_axes((0.68, 0.72, 0.018, 0.22), label="colours")  # above the diagonal nothing else is
        color_bar(figure, drawn, f"mean {measure_label(measure)}", cax=beside, extend=colours.extend)
        missing = [] if np.isfinite(found).all() else [Patch(facecolor=GREY, label="no design there ran to its end")]
        return arranged(figure, title, missing)


def _scale(axes: Axes, which: str, varied: SweepAxis) -> None:
    """A logarithmic axis where values are spaced so, with plain numbers."""
    if varied.spacing == LOG:
        axes.set(**{f"{which}scale": "log"})
        axis = axes.xaxis if which == "x" else axes.yaxis
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_minor_formatter(NullFormatter())


class _Colours:
    """Colours for values: from low to high, or from a centre at zero both ways where there are both signs."""

    def __init__(self, values: Floats) -> None:
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        inner = np.quantile(finite, [OUTLIERS, 1 - OUTLIERS]) if finite.size else np.array([low, high])
        room = float(inner[1] - inner[0])
        below, above = inner[0] - low > 0.5 * room > 0.0, high - inner[1] > 0.5 * room > 0.0
        low, high = float(inner[0]) if below else low, float(inner[1]) if above else high
        above = above or bool(np.isposinf(values).any())
        below = below or bool(np.isneginf(values).any())
        self.extend = ("neither", "min", "max", "both")[below + 2 * above]
        both = min(high, -low) > 0.1 * (high - low)
        if both:
            reach = max(high, -low)
            low, high = -reach, reach
        if low == high:
            low, high = low - 0.5, high + 0.5
        self.norm = Normalize(low, high)
        self.line = INK if both else "white"
        self.map: Colormap = matplotlib.colormaps["RdBu_r" if both else "viridis"]


def _grid(results: Results) -> tuple[list[Floats], Callable[[np.ndarray], np.ndarray]]:
    """Of a grid of two varied numbers, both in rising order: the centres of its cells, and a function from a column of
    the results to cells, rows for the second number and columns for the first."""
    first, second = results.sweep.varied
    orders = [np.argsort(one.at(np.arange(one.size)), kind="stable") for one in (first, second)]
    centres = [one.at(order).astype(float) for one, order in zip((first, second), orders, strict=True)]
    return centres, lambda column: column.reshape(first.size, second.size)[np.ix_(*orders)].T


def _edges(centres: Floats, logarithmic: bool) -> Floats:
    """Borders of cells half-way between their centres."""
    if len(centres) == 1:
        half = abs(centres[0]) * 0.05 or 0.5
        return np.array([centres[0] - half, centres[0] + half])
    x = np.log(centres) if logarithmic else centres
    middle = (x[1:] + x[:-1]) / 2
    edges = np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])
    return np.exp(edges) if logarithmic else edges


def _cells(axes: Axes, results: Results, measure: str, colours: _Colours) -> Any:
    centres, cells = _grid(results)
    x, y = (_edges(c, one.spacing == LOG) for c, one in zip(centres, results.sweep.varied, strict=True))
    values = cells(np.where(results.refused, np.nan, results.measures[measure]))
    early, refused = cells(results.early), cells(results.refused)
    axes.set_facecolor(GREY)
    drawn = axes.pcolormesh(
        x, y, np.ma.masked_invalid(np.nan_to_num(values, nan=np.nan, posinf=1e300, neginf=-1e300)), cmap=colours.map,
        norm=colours.norm, rasterized=True,
    )  # fmt: skip
    if early.any():
        veil = np.ma.masked_equal(early.astype(float), 0.0)
        axes.pcolormesh(x, y, veil, cmap=ListedColormap(["white"]), alpha=VEIL, rasterized=True, gid="ended early")
    for mask, name in ((early, "border early"), (refused, "border refused")):
        axes.add_collection(LineCollection(_borders(mask, x, y), colors=INK, linewidths=0.8, gid=name), autolim=False)
    smooth = np.where(cells(results.whole) & np.isfinite(values), values, np.nan)
    if is_smooth(smooth):
        _contours(axes, centres, smooth, colours)
    return drawn


def _contours(axes: Axes, centres: list[Floats], values: Floats, colours: _Colours) -> None:
    shown = np.clip(values, colours.norm.vmin, colours.norm.vmax)
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    levels = [level for level in MaxNLocator(8).tick_values(low, high) if low < level < high]
    if levels:
        heights = np.ma.masked_invalid(values)
        lines = axes.contour(*centres, heights, levels=levels, colors=colours.line, linewidths=0.7, linestyles="-")
        axes.clabel(lines, fontsize=6.5, fmt=lambda level: minus(f"{level:g}"))


def is_smooth(values: Floats) -> bool:
    """Whether a map is one of a smooth function, so that lines of equal height say something."""
    if min(values.shape) < FEWEST_CELLS or np.isfinite(values).mean() < 0.2:
        return False
    room = np.nanmax(values) - np.nanmin(values)
    bends = np.concatenate([np.abs(np.diff(values, 2, axis=axis)).ravel() for axis in (0, 1)])
    bends = bends[np.isfinite(bends)]
    few = max(1.0, (25.0 / min(values.shape)) ** 2)  # second differences fall with the square of the number of cells
    return bool(room > 0.0 and bends.size and np.quantile(bends, 0.9) < SMOOTH * room * few)


def _borders(mask: np.ndarray, x: Floats, y: Floats) -> list[Any]:
    """Lines around the cells of a mask, where they do not meet each other or the border of the map."""
    found: list[Any] = []
    for row, column in zip(*np.nonzero(mask[:, 1:] != mask[:, :-1]), strict=True):
        found.append([(x[column + 1], y[row]), (x[column + 1], y[row + 1])])
    for row, column in zip(*np.nonzero(mask[1:] != mask[:-1]), strict=True):
        found.append([(x[column], y[row + 1]), (x[column + 1], y[row + 1])])
    return found


def _points(axes: Axes, results: Results, measure: str, colours: _Colours) -> Any:
    x, y = results.values.values()
    size = float(np.clip(9000.0 / len(x), 1.5, 30.0))
    ran = ~results.refused & ~np.isnan(results.measures[measure])
    more: dict[str, Any] = {"s": size, "rasterized": True}
    early = results.early
    drawn = axes.scatter(x[ran], y[ran], c=results.measures[measure][ran], cmap=colours.map, norm=colours.norm,
                         linewidths=0.0, **more)  # fmt: skip
    axes.scatter(x[early], y[early], facecolor="white", alpha=VEIL, linewidths=0.0, gid="ended early", **more)
    axes.scatter(x[early], y[early], facecolor="none", edgecolor=INK, linewidths=0.4, **more)
    axes.scatter(x[results.refused], y[results.refused], marker="x", color=WARNING, linewidths=0.8,
                 gid="not possible", **more)  # fmt: skip
    return drawn


def _ends(axes: Axes, results: Results, measure: str) -> None:
    """Marks at the designs of the highest and the lowest value."""
    values = np.where(results.whole & np.isfinite(results.measures[measure]), results.measures[measure], np.nan)
    if np.isnan(values).all():
        return
    x, y = results.values.values()
    for design, marker in ((int(np.nanargmax(values)), "^"), (int(np.nanargmin(values)), "v")):
        axes.plot(x[design], y[design], marker, color=VERMILION, markersize=6.0, markeredgecolor="white",
                  markeredgewidth=0.8, clip_on=False, zorder=5, gid="end")  # fmt: skip


def _map_keys(results: Results) -> list[Any]:
    keys: list[Any] = []
    if results.whole.any():
        mark = {"linestyle": "none", "color": VERMILION, "markersize": 6.0, "markeredgecolor": "white"}
        keys += [Line2D([], [], marker=m, label=text, **mark) for m, text in (("^", "highest"), ("v", "lowest"))]
    if results.sweep.sampling != "grid":
        dot = {"marker": "o", "mfc": "#b9d3d0", "mec": INK, "mew": 0.4}
        return keys + _end_keys(results, dot, {"marker": "x", "color": WARNING})
    kinds = (("#b9d3d0", "ended early", results.early), (GREY, "not possible", results.refused))
    return keys + [Patch(facecolor=color, edgecolor=INK, linewidth=0.8, label=f"{text} ({mask.sum():,})")
                   for color, text, mask in kinds if mask.any()]  # fmt: skip


def _end_keys(results: Results, early: dict[str, Any], refused: dict[str, Any]) -> list[Any]:
    """Entries in the legend for designs that ended early or are not possible, if there are any, in some styles."""
    keys = ((results.early, "ended early", early), (results.refused, "not possible", refused))
    return [Line2D([], [], linestyle="none", label=f"{text} ({mask.sum():,})", **style)
            for mask, text, style in keys if mask.any()]  # fmt: skip


class _Bins:
    """Cells of one varied number: its values in a grid, else equal parts of its range."""

    def __init__(self, varied: SweepAxis, values: np.ndarray, grid: bool) -> None:
        listed = np.unique(values) if grid or varied.spacing == "listed" else np.zeros(0)
        if 0 < len(listed) <= MOST_BINS:
            self.centres = listed.astype(float)
            self.edges = _edges(self.centres, varied.spacing == LOG)
            self.places = np.searchsorted(listed, values)
        else:
            parts = int(np.clip(np.sqrt(len(values) / 20.0), 4, MOST_BINS))
            ends = float(values.min()), float(values.max())
            borders = (np.geomspace if varied.spacing == LOG else np.linspace)(*ends, 2 * parts + 1)
            self.edges, self.centres = borders[::2], borders[1::2]
            self.places = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, parts - 1)
        self.count = len(self.centres)


def _mean(values: Floats, columns: np.ndarray, rows: np.ndarray, width: int, height: int) -> Floats:
    """Mean of the values in each cell; NaN where there are none."""
    cells = rows * width + columns
    counts = np.bincount(cells, minlength=width * height)
    sums = np.bincount(cells, weights=values, minlength=width * height)
    with np.errstate(invalid="ignore"):
        return (sums / np.where(counts, counts, np.nan)).reshape(height, width)


def _spread(axes: Axes, bins: _Bins, places: np.ndarray, values: Floats) -> None:
    """Median of a measure in each bin of a number, and between which values eight of ten designs are."""
    order = np.argsort(places, kind="stable")
    groups = np.split(values[order], np.searchsorted(places[order], np.arange(1, bins.count)))
    found = np.array([np.quantile(g, [0.1, 0.5, 0.9]) if g.size else [np.nan] * 3 for g in groups])
    axes.fill_between(bins.centres, found[:, 0], found[:, 2], color=BLUE, alpha=0.18, linewidth=0.0)
    axes.plot(bins.centres, found[:, 1], color=BLUE)
    axes.yaxis.tick_right()  # maps stand close at the left
    axes.yaxis.set_label_position("right")
    axes.spines["right"].set_visible(True)
    axes.spines["left"].set_visible(False)
