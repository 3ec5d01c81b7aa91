"""A limb on the torso: motion from root to tip, inertia and load from tip to root."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sketch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

JOINTS = np.array([(0.0, 0.0), (0.62, 0.12), (1.2, -0.08), (1.74, 0.1)])


def draw() -> Figure:
    """Three links, with what goes outward above and what comes back below."""
    figure, (axes,) = sketch.sheet(6.8, 2.9)
    sketch.plate(axes, [(-0.75, -0.22), (0.0, -0.22), (0.0, 0.22), (-0.75, 0.22)])
    sketch.text(axes, (-0.45, 0.08), "torso", size=10.0)
    sketch.hinge(axes, (-0.45, -0.06), 0.022, sketch.BODY_EDGE)
    sketch.text(axes, (-0.37, -0.06), "P")
    for a, b in pairwise(JOINTS):
        sketch.bar(axes, [a, b], 9.0)
    for k, joint in enumerate(JOINTS[:-1], start=1):
        sketch.hinge(axes, joint, 0.04)
        sketch.text(axes, sketch.beside(joint, 0.07 if k == 1 else 0.0, 0.11), f"$\\theta_{k}$", sketch.ANGLE)
    above, below = 0.36, -0.34
    stops = [(-0.45, 0.0), *(tuple((a + b) / 2) for a, b in pairwise(JOINTS))]
    xs = [x for x, _ in stops]
    for k, (start, end) in enumerate(pairwise(xs)):
        _hop(axes, start + 0.05, end - 0.05, above, 0.1, sketch.BLUE)
        _hop(axes, end - 0.05, start + 0.05, below, -0.1, sketch.VERMILION)
        name = r"$\mathcal{I}',\ \beta'$" if k else r"$\mathcal{I}_\mathrm{limb},\ \beta_\mathrm{limb}$"
        sketch.text(axes, ((start + end) / 2, below - 0.17), name, sketch.VERMILION)
        sketch.text(axes, ((start + end) / 2, above + 0.17), r"$\omega,\ \alpha,\ a$", sketch.BLUE)
    sketch.text(axes, (-0.98, above + 0.17), "root to tip", sketch.BLUE, 10.0)
    sketch.text(axes, (-0.98, below - 0.17), "tip to root", sketch.VERMILION, 10.0)
    sketch.window(axes, (-1.25, 1.85), (-0.62, 0.62))
    return figure


def _hop(axes: Axes, start: float, end: float, height: float, rise: float, color: str) -> None:
    """A curved arrow from one body to the next."""
    s = np.linspace(0.0, 1.0, 40)
    path = np.stack([start + s * (end - start), height + rise * 4.0 * s * (1.0 - s)], axis=-1)
    sketch.line(axes, path[:-3], color, 1.6, zorder=6)
    sketch.arrow(axes, path[-5], path[-1], color, width=1.4, head=8.0)
