"""The angles of a leg, as the 2020 and the 2018 paper count them."""

from __future__ import annotations

import numpy as np
import sketch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HA, HB, K = 24.0, 42.0, -78.0  # [deg]


def draw() -> Figure:
    """From behind; from the right with the angles of 2020; the same with those of 2018."""
    figure, (behind, ours, theirs) = sketch.sheet(7.2, 3.3, (1.0, 1.0, 1.0))
    _from_behind(behind)
    knee = _from_the_right(ours)
    sketch.line(ours, [knee, knee + 0.13 * sketch.direction(HB - 90.0)], sketch.FAINT, 1.0, linestyle="--")
    sketch.angle(ours, (0.0, 0.0), 0.1, -90.0, HB - 90.0, "$hb$", beyond=1.4, where=0.42)
    sketch.angle(ours, knee, 0.085, HB - 90.0, HB + K - 90.0, "$k < 0$", beyond=1.4, where=0.6)
    knee = _from_the_right(theirs)
    sketch.angle(theirs, (0.0, 0.0), 0.1, -90.0, HB - 90.0, "$-hb_{18}$", beyond=1.5, where=-0.75, headed=False)
    sketch.angle(theirs, knee, 0.07, HB + 90.0, HB + K + 270.0, r"$\kappa$", beyond=1.35, headed=False)
    sketch.text(theirs, (0.02, -0.4), r"$\kappa = \pi + k$", sketch.ANGLE)
    for axes, words in ((behind, "from behind"), (ours, "from the right, 2020"), (theirs, "from the right, 2018")):
        sketch.text(axes, (0.0, 0.13), words, sketch.INK, 10.0)
        sketch.window(axes, (-0.29, 0.29), (-0.47, 0.16))
    return figure


def _from_behind(axes: Axes) -> None:
    """x to the right, z up: ha."""
    foot = 0.36 * sketch.direction(-90.0 - HA)
    sketch.plate(axes, [(-0.13, 0.0), (0.24, 0.0), (0.24, 0.035), (-0.13, 0.035)])
    sketch.line(axes, [(0.0, 0.0), (0.0, -0.38)], sketch.FAINT, 1.0, linestyle="--")
    sketch.bar(axes, [(0.0, 0.0), foot], 6.0)
    sketch.hinge(axes, (0.0, 0.0), 0.013)
    sketch.hinge(axes, foot, 0.009)
    sketch.angle(axes, (0.0, 0.0), 0.2, -90.0, -90.0 - HA, "$ha$", beyond=1.22)
    sketch.text(axes, (0.028, -0.03), "H")
    sketch.corner(axes, (0.12, -0.37), 0.09, "x", "z", "y", away=True)


def _from_the_right(axes: Axes) -> np.ndarray:
    """y to the right, z up: hip, knee and foot; where the knee is."""
    knee = 0.21 * sketch.direction(HB - 90.0)
    foot = knee + 0.21 * sketch.direction(HB + K - 90.0)
    sketch.plate(axes, [(-0.25, 0.0), (0.12, 0.0), (0.12, 0.035), (-0.25, 0.035)])
    sketch.line(axes, [(0.0, 0.0), (0.0, -0.17)], sketch.FAINT, 1.0, linestyle="--")
    sketch.bar(axes, [(0.0, 0.0), knee], 6.0)
    sketch.bar(axes, [knee, foot], 5.0)
    for point in ((0.0, 0.0), knee):
        sketch.hinge(axes, point, 0.013)
    sketch.hinge(axes, foot, 0.009)
    sketch.text(axes, (-0.03, -0.03), "H")
    sketch.text(axes, sketch.beside(knee, 0.035, 0.012), "K")
    sketch.text(axes, sketch.beside(foot, -0.03, -0.02), "F")
    sketch.corner(axes, (-0.22, -0.37), 0.09, "y", "z", "x")
    return knee
