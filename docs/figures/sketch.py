"""What the figures of the mechanics pages share: colours, letters, a projection, arrows, angles, springs.

Lengths are in the units of the drawing, sizes of letters and lines in points. All functions draw on given axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Polygon
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Points: TypeAlias = Sequence[ArrayLike] | Array

INK = "#24292f"
ORANGE, GREEN, BLUE, VERMILION, PURPLE = "#d8952b", "#009e73", "#0072b2", "#d55e00", "#a3618a"
"""The colours of Okabe and Ito, as in the library's own pictures; two of them darker, so that letters are legible."""
CABLE, SPRING = "#2b3036", "#a9782a"
AXES = {"x": VERMILION, "y": GREEN, "z": BLUE}
"""Of the axes of frames."""
BODY, LIGHT, BODY_EDGE, PLATE = "#8796a6", "#b4bfca", "#4f5d6b", "#dde3e9"
GROUND, GROUND_LINES = "#e1dbd0", "#c9bfae"
ANGLE, FORCE, PLACE, FAINT = PURPLE, ORANGE, INK, "#8c959f"
SIZE = 12.0
"""Of letters."""


def sheet(width: float, height: float, panels: Sequence[float] = (1.0,)) -> tuple[Figure, list[Axes]]:
    """A white sheet [in] with panels side by side, as wide as their shares; equal scales, no axes."""
    figure = Figure(figsize=(width, height), facecolor="white")
    total, left, made = sum(panels), 0.0, []
    for share in panels:
        axes = figure.add_axes((left, 0.0, share / total, 1.0))
        axes.set_aspect("equal")
        axes.axis("off")
        made.append(axes)
        left += share / total
    return figure, made


def window(axes: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    """What part of the plane is shown."""
    axes.set_xlim(*x)
    axes.set_ylim(*y)


def seen_from(azimuth: float, elevation: float) -> Callable[[ArrayLike], Array]:
    """A parallel projection of points (..., 3) to the paper (..., 2), for an eye in a direction [deg]."""
    a, e = np.radians(azimuth), np.radians(elevation)
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    up = np.array([-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)])
    return lambda points: np.asarray(points, dtype=float) @ np.stack([right, up], axis=-1)


def direction(angle: float) -> Array:
    """The unit vector that many degrees counterclockwise from the right."""
    return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])


def beside(point: ArrayLike, right: float, up: float) -> Array:
    """A point that far from another one."""
    return np.asarray(point, dtype=float) + np.array([right, up])


def text(axes: Axes, at: ArrayLike, words: str, color: str = INK, size: float = SIZE, **more: Any) -> None:
    """Words or a symbol, centred on a point."""
    x, y = np.asarray(at, dtype=float)
    how: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 9.0} | more
    axes.text(x, y, words, color=color, fontsize=size, math_fontfamily="cm", **how)


def line(axes: Axes, points: Points, color: str = INK, width: float = 1.0, **more: Any) -> None:
    """A line through points."""
    x, y = _stacked(points).T
    how: dict[str, Any] = {"solid_capstyle": "round", "zorder": 2.0} | more
    axes.plot(x, y, color=color, linewidth=width, **how)


def _stacked(points: Points) -> Array:
    """Points as rows."""
    return np.array([np.asarray(point, dtype=float) for point in points])


def bar(axes: Axes, points: Points, width: float = 6.0, color: str = BODY, behind: bool = False) -> None:
    """A bar, or bars in a row, with dark edges; `behind` plates or before them."""
    depth = 1.5 if behind else 3.0
    line(axes, points, BODY_EDGE, width + 1.6, zorder=depth)
    line(axes, points, color, width, zorder=depth + 0.1)


def hinge(axes: Axes, at: ArrayLike, radius: float, color: str = "white", behind: bool = False) -> None:
    """A hinge seen along its axis, or a point."""
    x, y = np.asarray(at, dtype=float)
    depth = 1.7 if behind else 5.0
    axes.add_patch(Circle((x, y), radius, facecolor=color, edgecolor=BODY_EDGE, linewidth=1.2, zorder=depth))


def plate(axes: Axes, corners: Points, color: str = PLATE) -> None:
    """A filled polygon with dark edges."""
    axes.add_patch(Polygon(_stacked(corners), facecolor=color, edgecolor=BODY_EDGE, linewidth=1.2, zorder=2.5))


def arrow(
    axes: Axes, start: ArrayLike, end: ArrayLike, color: str = PLACE, width: float = 1.5, head: float = 9.0, **more: Any
) -> None:
    """An arrow from a point to another."""
    (x0, y0), (x1, y1) = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    style = f"-|>,head_width={head / 24:.3f},head_length={head / 12:.3f}"
    how: dict[str, Any] = {"zorder": 6.0, "shrinkA": 0.0, "shrinkB": 0.0, "mutation_scale": 10.0} | more
    axes.add_patch(FancyArrowPatch((x0, y0), (x1, y1), arrowstyle=style, color=color, linewidth=width, **how))


def named_arrow(
    axes: Axes, start: ArrayLike, end: ArrayLike, name: str, color: str = PLACE, side: float = 0.0, share: float = 0.5,
    **more: Any,
) -> None:  # fmt: skip
    """An arrow with its name beside it: `side` to its left, a `share` of the way along."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    arrow(axes, a, b, color, **more)
    along = (b - a) / np.linalg.norm(b - a)
    text(axes, a + share * (b - a) + side * np.array([-along[1], along[0]]), name, color)


def frame(
    axes: Axes, origin: ArrayLike, tips: Mapping[str, ArrayLike], names: Mapping[str, str], beyond: float = 1.25
) -> None:
    """The axes of a frame: by letter of the axis, where its arrow ends; names stand a little beyond."""
    o = np.asarray(origin, dtype=float)
    for letter, tip in tips.items():
        end = np.asarray(tip, dtype=float)
        arrow(axes, o, end, AXES[letter], width=1.8)
        text(axes, o + beyond * (end - o), names[letter], AXES[letter])


def corner(
    axes: Axes, at: ArrayLike, length: float, right: str, up: str, through: str = "", away: bool = False
) -> None:
    """The directions of a view: axes to the right and up, and the one through the paper, if it is named: towards the
    reader (a dot), or `away` (a cross)."""
    o = np.asarray(at, dtype=float)
    tips = {right: beside(o, length, 0.0), up: beside(o, 0.0, length)}
    frame(axes, o, tips, {letter: f"${letter}$" for letter in tips}, 1.27)
    if not through:
        return
    radius, color = 0.145 * length, AXES[through]
    axes.add_patch(Circle((o[0], o[1]), radius, facecolor="white", edgecolor=color, linewidth=1.6, zorder=7))
    if away:
        d = 0.7 * radius
        for sign in (1.0, -1.0):
            line(axes, [beside(o, -d, -sign * d), beside(o, d, sign * d)], color, 1.4, zorder=8)
    else:
        axes.add_patch(Circle((o[0], o[1]), 0.32 * radius, color=color, zorder=8))
    text(axes, beside(o, -2.4 * radius, -1.6 * radius), f"${through}$", color)


def angle(
    axes: Axes, center: ArrayLike, radius: float, first: float, last: float, name: str, color: str = ANGLE,
    beyond: float = 1.35, where: float = 0.5, headed: bool = True,
) -> None:  # fmt: skip
    """An angle from one direction to another [deg], counted from the right, with an arrowhead and its name."""
    c = np.asarray(center, dtype=float)
    turns = np.radians(np.linspace(first, last, 60))
    arc = c + radius * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
    line(axes, arc[:-3] if headed else arc, color, 1.5, zorder=6)
    if headed:
        arrow(axes, arc[-6], arc[-1], color, width=1.2, head=7.5)
    middle = np.radians(first + where * (last - first))
    text(axes, c + beyond * radius * np.array([np.cos(middle), np.sin(middle)]), name, color)


def ground(axes: Axes, start: float, end: float, height: float, deep: float) -> None:
    """A level ground from the left to the right."""
    corners = [(start, height), (end, height), (end, height - deep), (start, height - deep)]
    axes.add_patch(Polygon(corners, facecolor=GROUND, edgecolor="none", zorder=0.5))
    line(axes, [(start, height), (end, height)], BODY_EDGE, 1.2, zorder=1)


def spring(axes: Axes, start: ArrayLike, end: ArrayLike, across: float, turns: int = 5, color: str = BODY_EDGE) -> None:
    """A coil between two points, `across` wide to either side."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    along = b - a
    side = across * np.array([-along[1], along[0]]) / np.linalg.norm(along)
    shares = np.concatenate([[0.0, 0.18], np.linspace(0.18, 0.82, 2 * turns + 1)[1:-1], [0.82, 1.0]])
    swings = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], turns)[: 2 * turns - 1], [0.0, 0.0]])
    line(axes, a + shares[:, None] * along + swings[:, None] * side, color, 1.4, zorder=4, solid_joinstyle="round")


def damper(axes: Axes, start: ArrayLike, end: ArrayLike, across: float, color: str = BODY_EDGE) -> None:
    """A dashpot between two points, `across` wide to either side."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    along = b - a
    side = across * np.array([-along[1], along[0]]) / np.linalg.norm(along)
    line(axes, [a, a + 0.42 * along], color, 1.4, zorder=4)
    line(axes, [a + 0.42 * along - 0.7 * side, a + 0.42 * along + 0.7 * side], color, 2.4, zorder=4)
    cup = [a + 0.28 * along + side, a + 0.68 * along + side, a + 0.68 * along - side, a + 0.28 * along - side]
    line(axes, cup, color, 1.4, zorder=4, solid_joinstyle="miter")
    line(axes, [a + 0.68 * along, b], color, 1.4, zorder=4)
