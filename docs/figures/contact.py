"""A foot in compliant ground."""

from __future__ import annotations

import numpy as np
import sketch
from matplotlib.figure import Figure

DEPTH = 0.34


def draw() -> Figure:
    """Seen from the side; the depth is much exaggerated."""
    figure, (axes,) = sketch.sheet(6.2, 3.3)
    foot, anchor, base = np.array([0.35, -DEPTH]), np.array([-1.0, -DEPTH]), -1.25
    sketch.ground(axes, -1.7, 1.7, 0.0, 1.45)
    sketch.bar(axes, [(0.75, 0.75), foot], 9.0)
    for x, part, name, side in ((0.25, sketch.spring, "$k$", -0.16), (0.5, sketch.damper, "$c$", 0.17)):
        part(axes, (x, foot[1]), (x, base), 0.075)
        sketch.text(axes, (x + side, (foot[1] + base) / 2), name)
    sketch.line(axes, [(0.1, base), (0.65, base)], sketch.BODY_EDGE, 3.0)
    sketch.line(axes, [(0.2, foot[1]), (0.55, foot[1])], sketch.BODY_EDGE, 1.4, zorder=4)
    for y, part, name, side in ((-0.28, sketch.spring, "$k_t$", 0.17), (-0.47, sketch.damper, "$c_t$", -0.16)):
        part(axes, (anchor[0], y), (foot[0] - 0.16, y), 0.06)
        sketch.text(axes, ((anchor[0] + foot[0]) / 2 - 0.1, y + side), name)
    sketch.line(axes, [(anchor[0], -0.55), (anchor[0], -0.2)], sketch.BODY_EDGE, 3.0)
    sketch.line(axes, [(foot[0] - 0.16, -0.47), (foot[0] - 0.16, -0.28)], sketch.BODY_EDGE, 1.4, zorder=4)
    sketch.line(axes, [(foot[0] - 0.16, foot[1]), foot], sketch.BODY_EDGE, 1.4, zorder=4)
    sketch.hinge(axes, foot, 0.06, "white")
    sketch.text(axes, (anchor[0] - 0.06, -0.68), "anchor", size=10.0)
    sketch.text(axes, (foot[0] + 0.42, foot[1] - 0.13), "foot", size=10.0)
    for end in ((0.95, 0.0), (0.95, -DEPTH)):
        sketch.arrow(axes, (0.95, -DEPTH / 2), end, sketch.ANGLE, width=1.2, head=6.5)
    sketch.line(axes, [(0.45, -DEPTH), (1.05, -DEPTH)], sketch.FAINT, 0.9, linestyle="--")
    sketch.text(axes, (1.05, -DEPTH / 2), "$d$", sketch.ANGLE)
    sketch.named_arrow(axes, (-1.35, 0.0), (-1.35, 0.5), "$n$", sketch.AXES["z"], side=-0.1, share=0.85, width=1.8)
    for x, low in ((anchor[0], -0.2), (foot[0], foot[1])):
        sketch.line(axes, [(x, low), (x, 0.24)], sketch.FAINT, 0.9, linestyle="--")
    sketch.arrow(axes, (anchor[0], 0.17), (foot[0], 0.17), sketch.ANGLE, width=1.2, head=6.5)
    sketch.text(axes, ((anchor[0] + foot[0]) / 2, 0.27), "$x$", sketch.ANGLE)
    sketch.window(axes, (-1.75, 1.75), (-1.45, 0.85))
    return figure
