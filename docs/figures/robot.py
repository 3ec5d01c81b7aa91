"""The quadruped with its frames, the numbers of its legs and the vectors that place hips and tail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sketch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailwork.mechanics import kinematics
from tailwork.mechanics.layout import make_layout
from tailwork.robots import liu2020

SHIFT = np.array([0.02, 0.92, 0.0])  # from the origin of S to below the torso [m]
HALF = np.array([(0.15, 0.25, 0.0), (-0.15, 0.25, 0.0), (-0.15, -0.25, 0.0), (0.15, -0.25, 0.0)])


def draw() -> Figure:
    """Seen from behind, from the right and from above."""
    robot = liu2020("pendulum")
    layout = make_layout(robot, "all", (), "free", "rpy", ())
    q = [*robot.stand, 0.0, 0.0, 0.0, 0.0, 0.0]
    places = np.array(kinematics.points(layout, q), dtype=float).reshape(-1, 3) + SHIFT
    at = dict(zip(kinematics.point_names(layout), places, strict=True))
    paper = sketch.seen_from(-38.0, 22.0)
    figure, (axes,) = sketch.sheet(6.6, 3.7)
    for k in np.arange(-0.4, 0.61, 0.2):
        sketch.line(axes, paper([(k, -0.1, 0.0), (k, 1.5, 0.0)]), sketch.GROUND_LINES, 0.6, zorder=0)
    for k in np.arange(-0.1, 1.51, 0.2):
        sketch.line(axes, paper([(-0.4, k, 0.0), (0.6, k, 0.0)]), sketch.GROUND_LINES, 0.6, zorder=0)

    center = at["torso"]
    for i in (2, 3):
        _leg(axes, paper, at, i, behind=True)
    sketch.plate(axes, paper(center + HALF))
    for i in (1, 4):
        _leg(axes, paper, at, i, behind=False)
    sketch.bar(axes, paper([at["tail.ta"], at["tail.tip"]]), 5.0)
    sketch.hinge(axes, paper(at["tail.ta"]), 0.012)

    zero = np.zeros(3)
    for origin, length, mark, beyond in ((zero, 0.2, "S", 1.2), (center, 0.13, "P", 1.35)):
        tips = {letter: paper(origin + length * unit) for letter, unit in zip("xyz", np.eye(3), strict=True)}
        sketch.frame(axes, paper(origin), tips, {letter: f"${letter}_{mark}$" for letter in "xyz"}, beyond)
    sketch.named_arrow(axes, paper(zero), paper(center), "$p$", side=-0.035, share=0.42)
    sketch.named_arrow(axes, paper(center), paper(at["leg1.ha"]), "$a_1$", side=-0.03, share=0.57)
    sketch.named_arrow(axes, paper(center), paper(at["tail.ta"]), "$r$", side=-0.03, share=0.5)
    sketch.text(axes, sketch.beside(paper(zero), -0.04, 0.0), "S")
    sketch.text(axes, sketch.beside(paper(center), 0.005, -0.045), "P")
    sketch.text(axes, sketch.beside(paper(at["tail.ta"]), 0.01, -0.045), "T")
    sketch.text(axes, sketch.beside(paper(at["tail.tip"]), 0.0, 0.045), "tail", size=10.0)
    for i in range(1, 5):
        sketch.text(axes, sketch.beside(paper(at[f"leg{i}.foot"]), 0.0, -0.055), f"{i}", size=12.0, weight="bold")
    ahead, further = (center + np.array([0.0, y, 0.0]) for y in (0.31, 0.44))
    sketch.arrow(axes, paper(ahead), paper(further), sketch.FAINT)
    sketch.text(axes, sketch.beside(paper(further), 0.075, 0.02), "forward", sketch.FAINT, 10.0)
    sketch.window(axes, (-0.15, 1.35), (-0.24, 0.74))
    return figure


def _leg(axes: Axes, paper: Callable, at: dict[str, np.ndarray], i: int, behind: bool) -> None:
    """Thigh, shank and foot."""
    hip, knee, foot = (at[f"leg{i}.{name}"] for name in ("ha", "k", "foot"))
    sketch.bar(axes, paper([hip, knee]), 5.0, behind=behind)
    sketch.bar(axes, paper([knee, foot]), 4.0, behind=behind)
    for point in (hip, knee, foot):
        sketch.hinge(axes, paper(point), 0.011, behind=behind)
