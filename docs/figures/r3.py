"""The R3 tail: its bend, the same at all joints of a segment, and its roll."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sketch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BETAS, LINK = (5.0, 9.0), 0.1  # bends of the two segments [deg], length of a link in the drawing
ALPHA = 38.0  # [deg]


def draw() -> Figure:
    """From the right, at alpha = 0; from behind, rolled."""
    figure, (side, behind) = sketch.sheet(7.2, 3.3, (2.15, 1.0))
    _bent(side)
    _rolled(behind)
    return figure


def _bent(axes: Axes) -> None:
    """Twelve links, y to the right and z up."""
    places, turns = [np.zeros(2)], []
    turn = 180.0
    for i in range(12):
        turn += BETAS[i // 6]
        turns.append(turn)
        places.append(places[-1] + LINK * sketch.direction(turn))
    sketch.plate(axes, [(0.06, -0.06), (0.4, -0.06), (0.4, 0.06), (0.06, 0.06)])
    sketch.plate(axes, [(-0.02, -0.03), (0.06, -0.03), (0.06, 0.03), (-0.02, 0.03)], sketch.LIGHT)
    for i, (a, b) in enumerate(pairwise(places)):
        sketch.bar(axes, [a, b], 6.0, sketch.BODY if i < 6 else sketch.LIGHT)
    for place in places[:-1]:
        sketch.hinge(axes, place, 0.014)
    for i, name in ((3, r"$\beta_1$"), (8, r"$\beta_2$")):
        ahead = places[i] + 0.26 * sketch.direction(turns[i - 1])
        sketch.line(axes, [places[i], ahead], sketch.FAINT, 1.0, linestyle="--")
        beyond = places[i] + 0.26 * sketch.direction(turns[i])
        sketch.line(axes, [places[i], beyond], sketch.FAINT, 1.0, linestyle=":")
        sketch.angle(axes, places[i], 0.235, turns[i - 1] - 14.0, turns[i - 1], "", headed=True)
        sketch.angle(axes, places[i], 0.235, turns[i] + 14.0, turns[i], "", headed=True)
        middle = (turns[i - 1] + turns[i]) / 2
        sketch.text(axes, places[i] + 0.31 * sketch.direction(middle - 9.0), name, sketch.ANGLE)
    sketch.text(axes, sketch.beside(places[3], 0.08, -0.16), "segment 1", size=10.0)
    sketch.text(axes, sketch.beside(places[9], 0.16, -0.08), "segment 2", size=10.0)
    sketch.text(axes, (0.02, 0.075), "T")
    sketch.text(axes, (0.23, 0.0), "torso", size=10.0)
    sketch.corner(axes, (0.12, -0.6), 0.15, "y", "z", "x")
    sketch.text(axes, (-0.3, 0.24), r"from the right, $\alpha = 0$", size=10.0)
    sketch.window(axes, (-1.12, 0.45), (-0.75, 0.3))


def _rolled(axes: Axes) -> None:
    """The plane of bending from behind, x to the right and z up."""
    sketch.plate(axes, [(-0.24, -0.06), (0.24, -0.06), (0.24, 0.06), (-0.24, 0.06)])
    sketch.line(axes, [(0.0, 0.0), (0.0, -0.5)], sketch.FAINT, 1.0, linestyle="--")
    sketch.line(axes, [(0.0, 0.0), (0.33, 0.0)], sketch.FAINT, 1.0, linestyle=":")
    sketch.bar(axes, [(0.0, 0.0), 0.45 * sketch.direction(-90.0 - ALPHA)], 6.0)
    sketch.hinge(axes, (0.0, 0.0), 0.03)
    sketch.angle(axes, (0.0, 0.0), 0.3, -90.0, -90.0 - ALPHA, r"$\alpha$", beyond=1.2)
    sketch.text(axes, (0.2, -0.13), r"$\alpha = -90^\circ$:", sketch.FAINT, 10.0)
    sketch.text(axes, (0.2, -0.2), "bends right", sketch.FAINT, 10.0)
    sketch.corner(axes, (0.1, -0.6), 0.15, "x", "z", "y", away=True)
    sketch.text(axes, (0.0, 0.24), "from behind", size=10.0)
    sketch.window(axes, (-0.38, 0.38), (-0.75, 0.3))
