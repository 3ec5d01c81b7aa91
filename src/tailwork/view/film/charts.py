"""Curves beside a moving robot, with a cursor that goes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tailwork.typing import Floats
from tailwork.view.draw.style import Theme, zero_line
from tailwork.view.scene import Curve, Plot, Scene
from tailwork.view.scene.colors import LINES, lit

LETTER, ROW, HEAD, AXIS, BELOW = 0.062, 0.145, 0.25, 0.36, 0.36
"""Width of a letter, heights of a row of a legend and of a title; room for numbers at the left and below [in]."""
SMALL_TEXT = 7.0  # size of the letters of a legend [pt]
SHADES = (0.0, 0.4, -0.4)  # of pitch, roll and yaw: how much brighter they are than the robot's colour
IMPOSED = " (imposed)"  # how the name of an effort ends that makes a motion as it is prescribed
CURSOR = "cursor"  # name (gid) of the cursors


@dataclass(frozen=True, eq=False)
class Chart:
    """A panel as drawn, and what moves in it."""

    cursor: Line2D
    dots: PathCollection
    times: Floats  # of the scene [s]
    values: Floats  # of the curves (curves, times)

    @property
    def moving(self) -> list[Artist]:
        """All that moves, lowest first."""
        return [self.cursor, self.dots]

    def show(self, time: float) -> None:
        """Move the cursor to a time [s]; it stays where the run ended."""
        at = float(np.clip(time, self.times[0], self.times[-1]))
        self.cursor.set_xdata([at * 1e3, at * 1e3])
        self.dots.set_offsets([(at * 1e3, np.interp(at, self.times, values)) for values in self.values])


def panels_of(scene: Scene) -> list[Plot]:
    """Angles of the torso, normal forces of the feet, and efforts of the tail, as far as there are any."""
    angles = [(plot, plot.curves[0]) for plot in scene.plots if plot.group == "angles"]
    found = []
    if angles:
        curves = tuple(Curve(plot.title, curve.values, lit(curve.color, SHADES[k % len(SHADES)]), k)
                       for k, (plot, curve) in enumerate(angles))  # fmt: skip
        found.append(replace(angles[0][0], title="torso angles", curves=curves))
    for plot in scene.plots:
        if plot.key == "normal force" or (plot.group == "torques" and plot.key.startswith("tail")):
            found.append(_shortened(plot))
    return sorted(found, key=lambda panel: panel.title.startswith("tail"))


def _shortened(panel: Plot) -> Plot:
    """The same curves, without what all of their names begin or end with: a limb, and that they are imposed."""
    names, title = [curve.name for curve in panel.curves], panel.title
    if all(name.endswith(IMPOSED) for name in names):
        names, title = [name.removesuffix(IMPOSED) for name in names], f"{title}{IMPOSED}"
    limbs = {name.partition(".")[0] if "." in name else "" for name in names}
    if len(limbs) == 1 and "" not in limbs:
        names = [name.partition(".")[2] for name in names]
    curves = (replace(c, name=name.replace("_", " ")) for name, c in zip(names, panel.curves, strict=True))
    return replace(panel, title=title, curves=tuple(curves))


def spans(columns: Sequence[Sequence[Plot]]) -> list[list[tuple[float, float]]]:
    """Least and greatest value of every panel of every column; panels side by side of one kind share theirs."""
    shared: dict[tuple[int, str, str], list[float]] = {}
    for panels in columns:
        for row, panel in enumerate(panels):
            values = np.concatenate([curve.values[np.isfinite(curve.values)] for curve in panel.curves])
            shared.setdefault((row, panel.title, panel.unit), []).extend([values.min(), values.max(), 0.0])
    found = []
    for panels in columns:
        found.append([])
        for row, panel in enumerate(panels):
            here = shared[row, panel.title, panel.unit]
            margin = 0.07 * max(max(here) - min(here), 1e-9)
            found[-1].append((min(here) - margin, max(here) + margin))
    return found


def heads_of(columns: Sequence[Sequence[Plot]], widths: Sequence[float]) -> list[list[float]]:
    """Heights of titles and legends of every panel of every column so wide [in]; the same for panels side by side."""
    rows = [[_arranged(panel, width)[0] for panel in panels] for panels, width in zip(columns, widths, strict=True)]
    most = [max(counts[k] for counts in rows if k < len(counts)) for k in range(max(map(len, rows)))]
    return [[HEAD + ROW * most[k] for k in range(len(panels))] for panels in columns]


def draw_charts(
    figure: Figure, scene: Scene, panels: Sequence[Plot], spans: Sequence[tuple[float, float]], heads: Sequence[float],
    place: tuple[float, float, float, float], until: tuple[float, float], theme: Theme,
) -> list[Chart]:  # fmt: skip
    """Panels one below the other, with their least and greatest values, the heights of their titles and legends [in],
    and a place on the figure: left, top, width, height from its upper left corner [in]; over times of all scenes."""
    left, top, width, height = place
    wide, tall = figure.get_size_inches()
    each = (height - BELOW - sum(heads)) / len(panels)
    charts = []
    for panel, span, head in zip(panels, spans, heads, strict=True):
        figure.text(left / wide, 1.0 - (top + HEAD - 0.03) / tall, panel.heading, va="bottom")
        top += head
        axes = figure.add_axes(((left + AXIS) / wide, 1.0 - (top + each) / tall, (width - AXIS) / wide, each / tall))
        charts.append(_chart(axes, scene, panel, span, until, theme))
        _legend(axes, _arranged(panel, width)[1])
        top += each
        if len(charts) < len(panels):
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel("time [ms]", fontsize=SMALL_TEXT, labelpad=1.5)
    return charts


def _arranged(panel: Plot, width: float) -> tuple[int, int]:
    """Rows below the title, and columns, of the legend of a panel so wide [in]; no rows: it is beside the title."""
    names = [len(curve.name) for curve in panel.curves]
    if LETTER * (len(panel.heading) + 3) + sum(0.37 + LETTER * name for name in names) < width:
        return 0, len(names)
    columns = max(1, min(len(names), int((width - AXIS) / (0.37 + LETTER * max(names)))))
    rows = -(-len(names) // columns)
    return rows, -(-len(names) // rows)


def _legend(axes: Axes, columns: int) -> None:
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, borderpad=0.0, borderaxespad=0.2,
        handlelength=1.9, handletextpad=0.4, columnspacing=0.9, labelspacing=0.15, fontsize=SMALL_TEXT,
    )  # fmt: skip


def _chart(
    axes: Axes, scene: Scene, panel: Plot, span: tuple[float, float], until: tuple[float, float], theme: Theme
) -> Chart:
    colors = [theme.readable(curve.color) for curve in panel.curves]
    for curve, color in zip(panel.curves, colors, strict=True):
        axes.plot(scene.times * 1e3, curve.values, color=color, linestyle=LINES[curve.dash], linewidth=1.1,
                  label=curve.name)  # fmt: skip
    zero_line(axes)
    axes.set(xlim=(until[0] * 1e3, until[1] * 1e3), ylim=span)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.tick_params(labelsize=SMALL_TEXT)
    cursor = axes.axvline(scene.times[0] * 1e3, color=theme.ink, linewidth=0.8, zorder=3, animated=True, gid=CURSOR)
    values = np.array([curve.values for curve in panel.curves])
    dots = axes.scatter(np.full(len(values), until[0] * 1e3), values[:, 0], s=9.0, c=colors, edgecolors=theme.paper,
                        linewidths=0.5, zorder=4, animated=True, clip_on=False)  # fmt: skip
    return Chart(cursor, dots, scene.times, values)
