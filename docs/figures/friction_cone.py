"""The cone of friction at a foot, with a force that stays, one that slips and one that pulls."""

from __future__ import annotations

import numpy as np
import sketch
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

HALF = 31.0  # half the opening [deg], tan = mu


def draw() -> Figure:
    """Seen from the side."""
    figure, (axes,) = sketch.sheet(5.6, 2.7)
    sketch.ground(axes, -0.9, 0.9, 0.0, 0.09)
    reach = 0.95
    left, right = (reach * sketch.direction(90.0 + sign * HALF) for sign in (1.0, -1.0))
    cone = np.array([np.zeros(2), left, right])
    axes.add_patch(Polygon(cone, facecolor="#d1ede5", edgecolor="none"))
    for edge in (left, right):
        sketch.line(axes, [(0.0, 0.0), edge], sketch.GREEN, 1.2)
    sketch.line(axes, [(0.0, 0.0), (0.0, 0.84)], sketch.FAINT, 1.0, linestyle="--")
    inside = 0.66 * sketch.direction(106.0)
    outside = 0.62 * sketch.direction(38.0)
    sketch.arrow(axes, (0.0, 0.0), inside, sketch.BLUE, width=2.2)
    sketch.text(axes, sketch.beside(inside, -0.05, 0.06), "$f$", sketch.BLUE)
    sketch.arrow(axes, (0.0, 0.0), outside, sketch.VERMILION, width=2.2)
    sketch.text(axes, sketch.beside(outside, 0.13, 0.03), "slips", sketch.VERMILION, 11.0)
    sketch.angle(axes, (0.0, 0.0), 0.42, 90.0, 90.0 - HALF, "", sketch.ANGLE, headed=False)
    sketch.text(axes, (0.19, 0.58), r"$\arctan\mu$", sketch.ANGLE)
    sketch.text(axes, (-0.33, 0.93), "stays", sketch.GREEN, 11.0)
    sketch.hinge(axes, (0.0, 0.0), 0.03, sketch.BODY_EDGE)
    sketch.arrow(axes, (0.0, 0.0), (-0.12, -0.3), sketch.VERMILION, width=2.2)
    sketch.text(axes, (-0.27, -0.22), "pulls", sketch.VERMILION, 11.0)
    sketch.window(axes, (-0.95, 0.95), (-0.36, 1.02))
    return figure
