"""Two bars that hang from a torso which is held: the example that is worked by hand."""

from __future__ import annotations

import numpy as np
import sketch
from matplotlib.figure import Figure

FIRST, SECOND = 35.0, 40.0  # theta_1, theta_2 [deg]


def draw() -> Figure:
    """Seen from the right: y to the right, z up."""
    figure, (axes,) = sketch.sheet(4.2, 3.2)
    o = np.zeros(2)
    knee = 0.3 * sketch.direction(FIRST - 90.0)
    end = knee + 0.2 * sketch.direction(FIRST + SECOND - 90.0)
    sketch.plate(axes, [(-0.1, 0.0), (0.1, 0.0), (0.1, 0.05), (-0.1, 0.05)])
    sketch.text(axes, (0.17, 0.03), "held", sketch.FAINT, 10.0)
    sketch.line(axes, [o, (0.0, -0.2)], sketch.FAINT, 1.0, linestyle="--")
    sketch.line(axes, [knee, knee + 0.16 * sketch.direction(FIRST - 90.0)], sketch.FAINT, 1.0, linestyle="--")
    sketch.bar(axes, [o, knee], 7.0)
    sketch.bar(axes, [knee, end], 7.0)
    for point in (o, knee):
        sketch.hinge(axes, point, 0.01)
    for name, point in (("$x_1$", knee / 2), ("$x_2$", (knee + end) / 2)):
        sketch.hinge(axes, point, 0.006, sketch.BODY_EDGE)
        sketch.text(axes, sketch.beside(point, 0.032, 0.022), name)
    sketch.angle(axes, o, 0.13, -90.0, FIRST - 90.0, r"$\theta_1$", beyond=1.25)
    sketch.angle(axes, knee, 0.11, FIRST - 90.0, FIRST + SECOND - 90.0, r"$\theta_2$", beyond=1.3, where=0.42)
    sketch.text(axes, sketch.beside(knee * 0.62, -0.075, -0.085), "$m_1,\\ L_1$")
    sketch.text(axes, sketch.beside(end, 0.035, -0.045), "$m_2,\\ L_2$")
    sketch.corner(axes, (-0.22, -0.2), 0.09, "y", "z")
    sketch.arrow(axes, (-0.12, -0.06), (-0.12, -0.14), sketch.FORCE)
    sketch.text(axes, (-0.145, -0.1), "$g$", sketch.FORCE)
    sketch.window(axes, (-0.27, 0.47), (-0.36, 0.08))
    return figure
