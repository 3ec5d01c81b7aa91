"""Two links of the USRT, to scale: universal joint, extension spring, cable; and the holes of a link."""

from __future__ import annotations

import numpy as np
import sketch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailwork.robots import usrt

BEND = 24.0  # phi_i [deg]
MM = 1e3


def draw() -> Figure:
    """From the right, in millimetres; a disc as seen along the tail."""
    figure, (side, disc) = sketch.sheet(7.2, 3.1, (2.0, 1.0))
    _links(side)
    _disc(disc)
    return figure


def _links(axes: Axes) -> None:
    tail = usrt()
    length, radius = MM * tail.link_length, MM * tail.hole_radius
    turn = np.radians(BEND)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])  # y, z of frame i on the paper

    def before(y: float, z: float) -> np.ndarray:
        """A point of link i−1 given from joint i."""
        return np.array([y, z])

    def own(y: float, z: float) -> np.ndarray:
        """A point of link i given from joint i + 1."""
        return turned @ np.array([y - length, z])

    a = before(MM * tail.point_a[1], MM * tail.point_a[2])
    b = own(MM * tail.point_b[1], MM * tail.point_b[2])
    sketch.bar(axes, [before(length, 0.0), before(0.0, 0.0)], 8.0)
    sketch.bar(axes, [before(0.0, 0.0), own(0.0, 0.0)], 8.0)
    for point in (before, own):
        sketch.bar(axes, [point(0.0, radius + 4.0), point(0.0, -radius - 4.0)], 4.0, sketch.LIGHT)
    sketch.line(axes, [own(length, 0.0), own(length, 0.0) + 1.3 * length * np.array([-1.0, 0.0])], sketch.FAINT, 1.0,
                linestyle="--")  # fmt: skip
    lower = [before(length, -radius), before(0.0, -radius), own(0.0, -radius)]
    sketch.line(axes, lower, sketch.CABLE, 1.4, zorder=4)
    sketch.arrow(axes, lower[0], sketch.beside(lower[0], 16.0, 0.0), sketch.FORCE, width=1.6)
    sketch.text(axes, sketch.beside(lower[0], 22.0, 0.0), "$T$", sketch.FORCE)
    foot = own(MM * tail.point_b[1], 0.0)
    sketch.bar(axes, [foot, b], 3.0, sketch.LIGHT)
    sketch.spring(axes, a, b, 3.2, 7, sketch.SPRING)
    for name, point, shift in (("A", a, (7.0, 3.0)), ("B", b, (-3.0, 7.0))):
        sketch.hinge(axes, point, 1.8)
        sketch.text(axes, point + shift, name)
    for name, point, shift in (("$D_{i-1}$", lower[1], (12.0, 7.0)), ("$D_i$", lower[2], (-9.0, 0.0))):
        sketch.hinge(axes, point, 1.8, sketch.CABLE)
        sketch.text(axes, point + np.array(shift), name)
    for point in (before(0.0, 0.0), own(0.0, 0.0)):
        sketch.hinge(axes, point, 3.4)
    sketch.angle(axes, (0.0, 0.0), 0.5 * length, 180.0, 180.0 + BEND, r"$\sigma$", beyond=0.8, where=0.42)
    sketch.text(axes, before(0.62 * length, 9.0), "link $i-1$", size=10.0)
    sketch.text(axes, own(0.52 * length, -9.0), "link $i$", size=10.0)
    sketch.corner(axes, before(1.12 * length, 34.0), 17.0, "y", "z")
    sketch.window(axes, (-118.0, 122.0), (-78.0, 62.0))


def _disc(axes: Axes) -> None:
    """The holes, seen from behind: x to the right, z up."""
    tail = usrt()
    radius = MM * tail.hole_radius
    around = np.linspace(0.0, 360.0, 80)
    sketch.plate(axes, [(radius + 5.0) * sketch.direction(t) for t in around])
    sketch.hinge(axes, (0.0, 0.0), 3.4)
    for j in (1, 2, 3):
        hole = radius * sketch.direction(120.0 * j - 90.0)
        sketch.hinge(axes, hole, 2.6, sketch.CABLE)
        sketch.text(axes, 0.72 * hole, f"{j}")
    top = (0.0, MM * tail.point_a[2])
    sketch.hinge(axes, top, 2.0)
    sketch.text(axes, (8.0, MM * tail.point_a[2] + 0.0), "A")
    sketch.angle(axes, (0.0, 0.0), 11.0, 30.0, 150.0, "120°", beyond=1.6, headed=False)
    sketch.corner(axes, (-52.0, -52.0), 17.0, "x", "z")
    sketch.text(axes, (0.0, 54.0), "a link from behind", size=10.0)
    sketch.window(axes, (-62.0, 58.0), (-78.0, 62.0))
