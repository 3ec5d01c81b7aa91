"""Accuracy against time of every method and engine, one panel a robot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.races.work_precision import Point
from tailwork.typing import Floats
from tailwork.view.draw.style import FAINT, PAGE, arranged, look, new_figure, titled
from tailwork.view.scene.colors import BLUE, GREEN, INK, LINES, ORANGE, PURPLE, SKY, VERMILION, Look, printed

LOOKS = {
    "Dormand–Prince": Look(SKY, LINES[0], "o"),
    "Dormand–Prince, lanes": Look(BLUE, LINES[0], "s"),
    "Rodas5P": Look(GREEN, LINES[0], "^"),
    "Rodas5P, lanes": Look(BLUE, LINES[0], "s"),
    "SciPy RK45 on Pinocchio": Look(PURPLE, LINES[2], "D"),
    "SciPy LSODA on our kernel": Look(PURPLE, LINES[2], "D"),
    "MuJoCo RK4, rollout": Look(VERMILION, LINES[1], "v"),
    "MuJoCo implicitfast, rollout": Look(ORANGE, LINES[1], "P"),
}
OTHER = Look(FAINT, LINES[3], "X")
EXPLAINED = (
    "large marks: tolerance 1e-6, or steps of 1 ms; lanes and rollout: many runs at once on two threads, else one "
    "run on one thread"
)
FLOOR = 1e-14
"""Errors below this are rounding: they are drawn here."""


def accuracy_against_time(points: Sequence[Point], *, title: str = "") -> Figure:
    """Error of the torso's pose after 0.3 s over the time of one run, both logarithmic; large marks: usual settings."""
    robots = list(dict.fromkeys(point.robot for point in points))
    with look():
        figure = new_figure(PAGE, 4.1)
        panels = figure.subplots(1, len(robots), squeeze=False)[0]
        for axes, robot in zip(panels, robots, strict=True):
            _panel(axes, [point for point in points if point.robot == robot])
            axes.set_title(printed(robot))
            axes.set_xlabel("time of one run [ms]")
        panels[0].set_ylabel("error of the torso’s pose [m, rad]")
        figure.supxlabel(EXPLAINED, fontsize=7.0, color=FAINT)
        titled(figure, title)
        figure.draw_without_rendering()
        for axes in panels:
            _label(axes)
        return arranged(figure)


def _panel(axes: Axes, points: Sequence[Point]) -> None:
    for method in dict.fromkeys(point.method for point in points):
        own = sorted((p for p in points if p.method == method), key=lambda p: -p.setting)
        style = LOOKS.get(method, OTHER)
        times, errors = [p.time for p in own], [max(p.error, FLOOR) for p in own]
        axes.plot(times, errors, color=style.color, linestyle=style.line, marker=style.marker, markersize=3.2,
                  linewidth=1.0, label=method, gid=method)  # fmt: skip
        usual = [k for k, p in enumerate(own) if p.usual]
        axes.plot([times[k] for k in usual], [errors[k] for k in usual], color=style.color, linestyle="",
                  marker=style.marker, markersize=6.5, markeredgecolor=INK, markeredgewidth=0.7)  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    times = [point.time for point in points]
    axes.set_xlim(min(times) / 8.0, max(times) * 2.5)  # room for names
    axes.margins(y=0.1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())


def _label(axes: Axes) -> None:
    """The name of every curve beside it, where it covers least of the others and of their names."""
    figure = axes.get_figure()
    assert figure is not None
    scale = figure.dpi / 72.0
    curves = {str(line.get_gid()): axes.transData.transform(line.get_xydata()) for line in axes.lines if line.get_gid()}
    marks = np.concatenate([_dense(curve) for curve in curves.values()])
    frame = axes.get_window_extent()
    taken: list[Floats] = []
    for method, curve in curves.items():
        text = method.replace(", ", ",\n").replace(" on ", "\non ")
        others = np.concatenate([np.empty((0, 2)), *(_dense(c) for name, c in curves.items() if name != method)])
        rows = text.split("\n")
        width, height = max(map(len, rows)) * 4.05 * scale, len(rows) * 9.0 * scale
        best: tuple[float, Floats] | None = None
        for at, (side, level), gap in product(_dense(curve, 20), product((-1, 0, 1), repeat=2), (6.0, 11.0, 18.0)):
            if side == level == 0:
                continue
            center = at + np.array([side * (width / 2 + gap * scale), level * (height / 2 + gap * scale)])
            box = np.array(
                [center[0] - width / 2, center[1] - height / 2, center[0] + width / 2, center[1] + height / 2]
            )
            outside = max(0.0, frame.x0 - box[0], box[2] - frame.x1, frame.y0 - box[1], box[3] - frame.y1)
            covered, near = _within(marks, box, 2 * scale), _within(others, box, 9 * scale)
            met = sum(bool((box[:2] < other[2:]).all() and (other[:2] < box[2:]).all()) for other in taken)
            price = 50.0 * met + 3.0 * outside + covered + 0.12 * near + 0.3 * gap + 0.5 * abs(side * level)
            if best is None or price < best[0]:
                best = price, box
        assert best is not None
        taken.append(best[1])
        middle = axes.transData.inverted().transform((best[1][:2] + best[1][2:]) / 2)
        color = LOOKS.get(method, OTHER).color
        axes.text(middle[0], middle[1], text, color=color, fontsize=7.0, ha="center", va="center", linespacing=1.05)


def _within(points: Floats, box: Floats, margin: float) -> int:
    """How many points lie in a box (left, lower, right, upper) or near it."""
    return int(((points > box[:2] - margin).all(axis=1) & (points < box[2:] + margin).all(axis=1)).sum())


def _dense(curve: Floats, pixels: int = 3) -> Floats:
    """Points along a curve on the screen, a few pixels apart."""
    if len(curve) < 2:
        return curve
    parts = [np.linspace(a, b, max(2, int(np.hypot(*(b - a)) / pixels)), endpoint=False) for a, b in pairwise(curve)]
    return np.concatenate([*parts, curve[-1:]])
