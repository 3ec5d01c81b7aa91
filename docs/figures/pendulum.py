"""The two angles of a pendulum tail."""

from __future__ import annotations

import sketch
from matplotlib.figure import Figure

TA, TB = 28.0, 38.0  # [deg]


def draw() -> Figure:
    """From the right: ta. From above: tb."""
    figure, (side, above) = sketch.sheet(6.6, 2.9, (1.25, 1.0))
    tip = 0.42 * sketch.direction(180.0 + TA)
    sketch.plate(side, [(0.0, -0.02), (0.24, -0.02), (0.24, 0.02), (0.0, 0.02)])
    sketch.line(side, [(0.0, 0.0), (-0.44, 0.0)], sketch.FAINT, 1.0, linestyle="--")
    sketch.bar(side, [(0.0, 0.0), tip], 6.0)
    sketch.hinge(side, (0.0, 0.0), 0.013)
    sketch.angle(side, (0.0, 0.0), 0.24, 180.0, 180.0 + TA, "$ta$", beyond=1.17)
    sketch.text(side, (0.01, 0.05), "T")
    sketch.text(side, sketch.beside(tip, -0.025, -0.02), "N")
    sketch.text(side, sketch.beside(0.62 * tip, 0.035, -0.035), "$t$")
    sketch.corner(side, (0.08, -0.26), 0.09, "y", "z", "x")
    sketch.text(side, (-0.12, 0.13), "from the right", size=10.0)
    sketch.window(side, (-0.47, 0.27), (-0.33, 0.17))

    tip = 0.36 * sketch.direction(TB - 90.0)
    sketch.plate(above, [(-0.14, 0.0), (0.14, 0.0), (0.14, 0.08), (-0.14, 0.08)])
    sketch.line(above, [(0.0, 0.0), (0.0, -0.38)], sketch.FAINT, 1.0, linestyle="--")
    sketch.bar(above, [(0.0, 0.0), tip], 6.0)
    sketch.hinge(above, (0.0, 0.0), 0.013)
    sketch.angle(above, (0.0, 0.0), 0.22, -90.0, TB - 90.0, "$tb$", beyond=1.17)
    sketch.text(above, (-0.035, 0.02), "T")
    sketch.text(above, sketch.beside(tip, 0.03, -0.01), "N")
    sketch.text(above, sketch.beside(0.6 * tip, 0.045, 0.01), "$t$")
    sketch.corner(above, (-0.24, -0.28), 0.09, "x", "y", "z")
    sketch.text(above, (0.0, 0.12), "from above", size=10.0)
    sketch.window(above, (-0.3, 0.3), (-0.4, 0.15))
    return figure
