"""Air, and what of a body it drags on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, is_zero, sqrt
from tailwork.errors import RobotError
from tailwork.robots.quantities import Kind, RobotPart, Vector, checked, nonnegative, positive, vector

MOST_PIECES = 1000


@dataclass(frozen=True, kw_only=True)
class Air(RobotPart):
    """The air around a robot, at rest or in a steady wind."""

    density: Scalar = positive("kg/m^3", 1.184)  # dry air at 25 °C and one atmosphere
    wind: Vector = vector("m/s", (0.0, 0.0, 0.0))  # its velocity, inertial frame


@dataclass(frozen=True, kw_only=True)
class Drag(RobotPart):
    """An element of a body that the air drags on: force = −½ density · coefficient · area · |u| u at its point.

    u is the velocity of the point against the air. A slender element with an `axis` feels only the part of u across
    it (cross-flow); without one, all directions are alike.
    """

    area: Scalar = positive("m^2")  # that meets the flow
    coefficient: Scalar = positive("", 1.0)  # C_d
    point: Vector = vector("m", (0.0, 0.0, 0.0))  # in the body's frame
    axis: Vector = vector("", (0.0, 0.0, 0.0), structure=True)  # unit vector along a slender element; zeros: none

    def check(self) -> None:
        """An axis of length one, or none."""
        length = math.sqrt(sum(a * a for a in self.axis))
        if length != 0.0 and abs(length - 1.0) > 1e-9:
            required = f"a unit vector along the element, or zeros (this one has length {length:.6g})"
            raise RobotError("axis", self.axis, required)


@dataclass(frozen=True, kw_only=True)
class TailDrag(RobotPart):
    """Drag of the air on a tail: its links are round bars in cross-flow, its tip may have a sail."""

    radius: Scalar = nonnegative("m", 0.0)  # of the tail with its fur or feathers; 0: its links are not dragged on
    coefficient: Scalar = positive("", 1.1)  # C_d of both; by default that of a long cylinder across the flow
    tip_area: Scalar = nonnegative("m^2", 0.0)  # of a sail at the tip, alike on all sides; 0: none

    def check(self) -> None:
        """Something to drag on."""
        if is_zero(self.radius) and is_zero(self.tip_area):
            raise RobotError("radius", self.radius, "a radius or a tip_area greater than 0")

    def elements(self, end: Vector, tip: bool) -> tuple[Drag, ...]:
        """Those of a link from the origin of its frame to its end [m], at which the tail may have its tip."""
        bar = () if is_zero(self.radius) else slender_drag(end, self.radius, self.coefficient)
        sail = tip and not is_zero(self.tip_area)
        return (*bar, *((Drag(area=self.tip_area, coefficient=self.coefficient, point=end),) if sail else ()))


def slender_drag(end: Vector, radius: Scalar, coefficient: Scalar, pieces: int = 1) -> tuple[Drag, ...]:
    """A round bar from the origin of a body's frame to a point on one of its axes, in cross-flow.

    Two elements a piece, at Gauss's points: exact for the moment of a bar that turns about its end.

    Args:
        end: in the body's frame [m].
        radius: of the bar [m].
        coefficient: C_d of a cylinder across the flow [1].
        pieces: into which it is cut, at most 1000.
    """
    if isinstance(pieces, bool) or not isinstance(pieces, int) or not 1 <= pieces <= MOST_PIECES:
        raise RobotError("pieces", pieces, f"an integer from 1 to {MOST_PIECES}")
    end, radius = checked("end", end, Kind("m", (3,))), checked("radius", radius, Kind("m"))
    x, y, z = (0.0 if is_zero(a) else 1.0 for a in end)
    if x + y + z == 0.0:
        raise RobotError("drag", end, "a length greater than 0 [m] of what the air drags on")
    if x + y + z != 1.0:
        raise RobotError("drag", end, "a bar along an axis of its body's frame; others are written as Drag")
    reach = sum(end[1:], end[0])
    length = sqrt(reach * reach)
    found = []
    for piece in range(pieces):
        for side in (-1.0, 1.0):
            share = (piece + 0.5 + side / math.sqrt(12.0)) / pieces
            px, py, pz = (0.0 if is_zero(a) else a * share for a in end)
            area = radius * length * (1.0 / pieces)  # 2 radius × half a piece
            found.append(Drag(area=area, coefficient=coefficient, point=(px, py, pz), axis=(x, y, z)))
    return tuple(found)
