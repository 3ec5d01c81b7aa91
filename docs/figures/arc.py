"""The bend of an arc and that of its centre of mass."""

from __future__ import annotations

import numpy as np
import sketch
from matplotlib.figure import Figure

GAMMA, LENGTH = 100.0, 1.0  # central angle [deg], length of the tail in the drawing


def draw() -> Figure:
    """From the right: y to the right, z up; the tail leaves the mount T backwards and bends down."""
    figure, (axes,) = sketch.sheet(4.6, 3.3)
    gamma = np.radians(GAMMA)
    radius = LENGTH / gamma
    turns = np.linspace(0.0, gamma, 80)
    arc = radius * np.stack([-np.sin(turns), np.cos(turns) - 1.0], axis=-1)
    mount, center, mass = np.zeros(2), np.array([0.0, -radius]), arc.mean(axis=0)
    sketch.plate(axes, [(0.0, -0.045), (0.3, -0.045), (0.3, 0.045), (0.0, 0.045)])
    for end in (arc[0], arc[-1]):
        sketch.line(axes, [center, end], sketch.FAINT, 1.0, linestyle=":")
    sketch.angle(axes, center, 0.17, 90.0, 90.0 + GAMMA, r"$\gamma$")
    sketch.line(axes, [mount, (-0.8, 0.0)], sketch.FAINT, 1.0, linestyle="--")
    sketch.line(axes, [mount, 2.0 * mass], sketch.FAINT, 1.0, linestyle="--")
    theta = np.degrees(np.arctan2(-mass[1], -mass[0]))
    sketch.angle(axes, mount, 0.56, 180.0, 180.0 + theta, r"$\theta$", beyond=1.12)
    sketch.bar(axes, arc, 6.0)
    sketch.hinge(axes, mount, 0.02)
    sketch.hinge(axes, mass, 0.026, sketch.ORANGE)
    sketch.text(axes, sketch.beside(mass, 0.17, -0.075), "centre of mass", size=10.0)
    sketch.text(axes, (0.04, 0.09), "T")
    sketch.text(axes, (0.17, 0.0), "torso", size=10.0)
    sketch.corner(axes, (0.14, -0.62), 0.13, "y", "z", "x")
    sketch.window(axes, (-0.9, 0.36), (-0.76, 0.15))
    return figure
