"""Pictures of a design problem's answer: what moves it, how it scatters, and trade-offs between goals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from tailwork.format import headed, rounded
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.optimizer import sides_of
from tailwork.studies.design.pareto import Front
from tailwork.studies.design.problem import Study
from tailwork.studies.design.text import best_name, measure_head, plain_name, unit_text
from tailwork.studies.design.variables import known_variables, value_in
from tailwork.typing import Floats
from tailwork.view.draw.style import COLUMN, FAINT, PAGE, WARNING, arranged, color_bar, look, new_figure, panel_grid
from tailwork.view.figures.runs import Panel, series
from tailwork.view.scene.colors import BLUE, INK, ORANGE, SKY, VERMILION

COLOURS = "viridis"
BAR = 0.3  # height of a variable's row in bar charts [in]
SAME = 1e-9  # values that differ by less than this share are the same: no bar
ACROSS = 3  # panels beside each other
LABEL = 10.0  # how far the number of a ring is from its middle [pt]
PANEL = 130.0  # about the width and the height of a panel of a front [pt]
MOMENTS = 121  # at which a motion is drawn


def tail_motion(answer: Answer, *, title: str = "") -> Figure:
    """How far the tail has swept [deg] and how fast [deg/s], as the problem has it and as the best design does."""
    scenario, best = answer.study.scenario, answer.verified.design
    angles: dict[str, tuple[Floats, Floats]] = {}
    rates: dict[str, tuple[Floats, Floats]] = {}
    for label, one in (("as given", scenario), (best_name(answer.study), best)):
        sweep, share = value_in(one, "sweep"), one.motion.share
        times = np.linspace(0.0, one.duration, MOMENTS)
        angles[label] = times, np.array([sweep * float(share.value(t)) for t in times])
        rates[label] = times, np.array([sweep * float(share.rate(t)) for t in times])
    panels = [Panel("angle of the tail [deg]", angles), Panel("its rate [deg/s]", rates)]
    return series(panels, columns=2, title=title)


def tornado(answer: Answer, *, title: str = "") -> Figure:
    """What each variable alone does to the goal around the best design, the largest on top."""
    goal = answer.study.goals[0].measure
    units, best = known_variables(answer.study), answer.verified.coarse[goal]
    swings = answer.swings[::-1]
    with look():
        figure, axes = _bar_chart([headed(one.variable, units[one.variable]) for one in swings])
        for row, one in enumerate(swings):
            # One above the other: where the best design is the best of all, both point the same way.
            for value, end, place, colour in (
                (one.low, one.at_low, row + 0.18, ORANGE), (one.high, one.at_high, row - 0.18, BLUE),
            ):  # fmt: skip
                if not math.isfinite(end) or math.isclose(end, best, rel_tol=SAME):
                    continue
                axes.barh(place, end - best, left=best, height=0.34, color=colour, zorder=2, gid=one.variable)
                axes.annotate(
                    rounded(value, 3), (end, place), (3.0 if end > best else -3.0, 0.0), textcoords="offset points",
                    va="center", ha="left" if end > best else "right", fontsize=6.5, color=FAINT,
                )  # fmt: skip
        axes.axvline(best, color=INK, linewidth=0.8, zorder=3)
        axes.set_ylim(-0.5, len(swings) - 0.5)
        axes.margins(x=0.12)
        axes.set_xlabel(measure_head(goal))
        keys: list[Any] = [Patch(color=ORANGE, label="variable decreased"), Patch(color=BLUE, label="increased")]
        return arranged(figure, title, keys)


def _bar_chart(names: Sequence[str]) -> tuple[Figure, Axes]:
    """A figure for bars with long names at their left."""
    figure = new_figure(PAGE * 0.8, 0.85 + BAR * len(names))
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.12)  # [in]: the names are wider in a file than where the layout is settled
    axes = figure.subplots()
    axes.set_yticks(range(len(names)), names)
    axes.grid(False, axis="y")
    return figure, axes


def sobol_chart(answer: Answer, *, title: str = "") -> Figure:
    """Sobol indices of the goal over the whole bounds: alone, and with interactions."""
    found = answer.indices
    order = np.argsort(found.total)
    with look():
        figure, axes = _bar_chart([found.variables[k] for k in order])
        for row, k in enumerate(order):
            first, total = (float(np.clip(x[k], 0.0, None)) for x in (found.first, found.total))
            axes.barh(row, total, height=0.62, color=SKY, zorder=2, gid="with interactions")
            axes.barh(row, first, height=0.3, color=BLUE, zorder=3, gid="alone")
        axes.set_xlim(left=0.0)
        axes.set_xlabel(f"share of the variance of {plain_name(answer.study.goals[0].measure)} over the bounds")
        keys: list[Any] = [Patch(color=BLUE, label="alone"), Patch(color=SKY, label="with interactions")]
        return arranged(figure, title, keys)


def scatter_histograms(answer: Answer, *, title: str = "") -> Figure:
    """What becomes of goals and limited measures where the variables scatter; limits in red."""
    names = answer.study.measures
    sides, across = sides_of(answer.study.limits), min(ACROSS, len(names))
    with look():
        width = PAGE * across / ACROSS if across > 1 else COLUMN
        figure, panels = panel_grid(len(names), across, width, 1.55, 0.55)
        for axes, name in zip(panels, names, strict=True):
            borders, counts = answer.tolerance.histograms[name]
            _histogram(axes, borders, counts, [side for side in sides if side.limit.measure == name])
            if math.isfinite(answer.verified.fine[name]):
                axes.axvline(answer.verified.fine[name], color=INK, linewidth=1.0, linestyle="--", gid="as designed")
            axes.set_xlabel(measure_head(name))
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
        keys = [
            Line2D([], [], color=INK, linestyle="--", linewidth=1.0, label="as designed"),
            Line2D([], [], color=WARNING, linewidth=1.2, label="limit"),
            Patch(color=VERMILION, label="beyond it"),
        ]
        return arranged(figure, title, keys if sides else keys[:1])


def _histogram(axes: Axes, borders: Floats, counts: Floats, sides: Sequence[Any]) -> None:
    centres = 0.5 * (borders[1:] + borders[:-1])
    beyond = np.zeros(len(counts), dtype=bool)
    low, high = float(borders[0]), float(borders[-1])
    room = 0.6 * (high - low)
    for side in sides:
        beyond |= side.sign * (centres - side.bound) > 0.0
        if low - room <= side.bound <= high + room:
            axes.axvline(side.bound, color=WARNING, linewidth=1.2, gid="limit")
        else:  # far off: on which side
            right, text = side.bound > high, f"limit {rounded(side.bound)}"
            axes.text(
                0.99 if right else 0.01, 0.98, f"{text} →" if right else f"← {text}", transform=axes.transAxes,
                ha="right" if right else "left", va="top", fontsize=6.5, color=WARNING,
            )  # fmt: skip
    colours = np.where(beyond, VERMILION, SKY)
    axes.bar(centres, counts, width=np.diff(borders), color=colours.tolist(), zorder=2)
    axes.set_ylim(0.0, 1.22 * max(float(counts.max(initial=0.0)), 1.0))
    axes.grid(False)


def pareto_pairs(study: Study, front: Front, *, title: str = "") -> Figure:
    """The front in each pair of goals; a third goal is the colour."""
    names = [goal.measure for goal in study.goals]
    pairs = list(itertools.combinations(names, 2))
    across = min(ACROSS, len(pairs))
    size = (PAGE, 2.75) if across > 1 else (COLUMN * 1.2, 3.0)
    with look():
        figure, panels = panel_grid(len(pairs), across, *size, 0.4)
        for axes, (first, second) in zip(panels, pairs, strict=True):
            others = [name for name in names if name not in (first, second)]
            more: Any = {"c": front.measures[others[0]], "cmap": COLOURS} if others else {"color": BLUE}
            x, y = front.measures[second], front.measures[first]
            drawn = axes.scatter(x, y, s=20.0, zorder=3, linewidths=0.4, edgecolors="white", gid="front", **more)
            axes.set(xlabel=measure_head(second), ylabel=measure_head(first))
            for k in front.samples:
                axes.plot(x[k], y[k], "o", mfc="none", mec=VERMILION, mew=1.2, markersize=8.5, zorder=4, gid="sample")
                axes.annotate(
                    str(k + 1), (x[k], y[k]), _free_place(x, y, k), textcoords="offset points", fontsize=7.0,
                    color=VERMILION, zorder=5, ha="center", va="center",
                    path_effects=[withStroke(linewidth=2.0, foreground="white")],
                )  # fmt: skip
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(MaxNLocator(5))
            axes.margins(0.09)
            if others:
                color_bar(figure, drawn, measure_head(others[0]), ax=axes, location="top", aspect=26, pad=0.02)
        return arranged(figure, title)


def _free_place(x: Floats, y: Floats, k: int) -> tuple[float, float]:
    """Where the number of the k-th point stands, from its middle [pt]: where other points are farthest."""
    span = np.array([np.ptp(x) or 1.0, np.ptp(y) or 1.0])
    away = PANEL * (np.column_stack([x, y]) - [x[k], y[k]]) / span
    places = [LABEL * np.array([math.cos(turn), math.sin(turn)]) for turn in np.arange(8) * math.tau / 8 + 0.7]
    room = [np.linalg.norm(np.delete(away, k, axis=0) - place, axis=1).min(initial=PANEL) for place in places]
    best = places[int(np.argmax(np.round(room, 6)))]
    return float(best[0]), float(best[1])


def parallel_coordinates(
    study: Study, designs: Floats, measures: Mapping[str, Floats], *,
    best: tuple[Floats, Mapping[str, float]] | None = None, title: str = "",
) -> Figure:  # fmt: skip
    """Designs as lines over all variables and goals, coloured by the first goal.

    Args:
        study: the problem.
        designs: (designs, variables).
        measures: of the goals, (designs,).
        best: a design that is drawn on top, (variables,), and its measures.
        title: above the panel.
    """
    goals = [goal.measure for goal in study.goals]
    units = known_variables(study)
    labels = [_broken(variable.name, units[variable.name]) for variable in study.variables]
    low, high = np.array([(variable.low, variable.high) for variable in study.variables]).T
    colour = measures[goals[0]]
    more = {name: [] if best is None else [best[1][name]] for name in goals}
    ends = [(min([*measures[name], *more[name]]), max([*measures[name], *more[name]])) for name in goals]
    start = np.array([*low, *(lo for lo, _ in ends)])
    span = np.array([*(high - low), *(hi - lo if hi > lo else 1.0 for lo, hi in ends)])
    scaled = (np.column_stack([designs, *(measures[name] for name in goals)]) - start) / span
    norm = Normalize(*ends[0])
    limits = [*zip(low, high, strict=True), *ends]
    labels += [_broken(plain_name(name), unit_text(name)) for name in goals]
    with look():
        figure = new_figure(PAGE, 3.3)
        axes = figure.subplots()
        axes.grid(False)
        places = np.arange(len(labels))
        order = np.argsort(colour if study.goals[0].sense == "most" else -colour)  # the best on top
        lines = LineCollection(
            [np.column_stack([places, scaled[k]]) for k in order], array=colour[order], cmap=COLOURS,
            norm=norm, linewidths=0.9, alpha=0.75, gid="designs",
        )  # fmt: skip
        axes.add_collection(lines)
        if best is not None:
            share = (np.array([*best[0], *(best[1][name] for name in goals)]) - start) / span
            axes.plot(places, share, color=VERMILION, linewidth=2.0, zorder=4, gid="best")
        for place, (lo, hi) in enumerate(limits):
            axes.plot([place, place], [0.0, 1.0], color="#8c959f", linewidth=0.6, zorder=1)
            axes.text(place, 1.03, rounded(float(hi), 3), ha="center", va="bottom", fontsize=6.5, color=FAINT)
            axes.text(place, -0.03, rounded(float(lo), 3), ha="center", va="top", fontsize=6.5, color=FAINT)
        axes.set(xlim=(-0.3, len(labels) - 0.7), ylim=(-0.1, 1.1))
        axes.set_xticks(places, labels, fontsize=6.5)
        axes.tick_params(length=0.0, pad=2.0)
        axes.set_yticks([])
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        color_bar(figure, ScalarMappable(norm, COLOURS), measure_head(goals[0]), ax=axes, aspect=28, pad=0.01)
        key = Line2D([], [], color=VERMILION, linewidth=2.0, label=best_name(study))
        return arranged(figure, title, [] if best is None else [key])


def _broken(name: str, unit: str) -> str:
    """A label in short lines."""
    return headed(name.replace(".", ".\n", 1).replace("_", " ").replace(" ", "\n", 2), unit).replace(" [", "\n[")
