"""Rigid bodies: mass, centre of mass and central inertia, with constructors for the ideal shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tailwork.algebra.expression import Scalar
from tailwork.errors import ArgumentError
from tailwork.robots.air import Drag
from tailwork.robots.quantities import (
    Kind,
    RobotPart,
    Symmetric,
    Vector,
    caption,
    checked,
    positive,
    symmetric,
    vector,
)
from tailwork.robots.shapes import Shape


@dataclass(frozen=True, kw_only=True)
class Body(RobotPart):
    """A rigid body in the frame that carries it."""

    mass: Scalar = positive("kg")  # of the body
    com: Vector = vector("m", (0.0, 0.0, 0.0))  # its centre of mass
    inertia: Symmetric = symmetric("kg m^2", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))  # about the centre of mass
    shapes: tuple[Shape, ...] = caption(())  # to draw it, in its frame; none: as its limb is drawn by default
    drag: tuple[Drag, ...] = ()  # elements that the air drags on


def with_point_mass(body: Body, mass: Scalar, place: Vector) -> Body:
    """A body with a mass [kg] fixed to it at a point of its frame [m]."""
    total = body.mass + mass
    x, y, z = (a - b for a, b in zip(place, body.com, strict=True))
    share, reduced = mass / total, body.mass * mass / total
    more = (y * y + z * z, x * x + z * z, x * x + y * y, -(x * y), -(x * z), -(y * z))
    cx, cy, cz = (a + b * share for a, b in zip(body.com, (x, y, z), strict=True))
    xx, yy, zz, xy, xz, yz = (a + b * reduced for a, b in zip(body.inertia, more, strict=True))
    return replace(body, mass=total, com=(cx, cy, cz), inertia=(xx, yy, zz, xy, xz, yz))


def point_mass(mass: Scalar, place: Vector) -> Body:
    """A mass [kg] at one point of its frame [m]."""
    return Body(mass=mass, com=place)


def bar(mass: Scalar, length: Scalar, direction: int, sign: int = -1) -> Body:
    """An ideal bar, a uniform thin rod, from the origin along an axis of its frame.

    Mass [kg] and length [m]; `direction` is 0, 1 or 2 for x, y or z, `sign` the way it points. Zero inertia about
    itself, m L²/12 across (conventions of both Liu & Ben-Tzvi papers).
    """
    if not isinstance(direction, int) or direction not in (0, 1, 2):
        raise ArgumentError("direction", direction, "0, 1 or 2, for x, y or z")
    if not isinstance(sign, int) or sign not in (-1, 1):
        raise ArgumentError("sign", sign, "1 or -1")
    mass, length = checked("mass", mass, Kind("kg")), checked("length", length, Kind("m"))
    return _slender(mass, length * (0.5 * sign), mass * length * length / 12.0, direction)


def tipped_bar(mass: Scalar, tip_mass: Scalar, length: Scalar, direction: int, sign: int = -1) -> Body:
    """An ideal bar of `mass` [kg] with a point mass `tip_mass` [kg] at its far end."""
    total = mass + tip_mass
    # About the common centre of mass: the bar's own, and the reduced mass of bar and tip at half a length apart.
    across = (mass / 12.0 + mass * tip_mass / (total * 4.0)) * length * length
    return _slender(total, (mass * 0.5 + tip_mass) * length / total * sign, across, direction)


def _slender(mass: Scalar, reach: Scalar, across: Scalar, direction: int) -> Body:
    """A body of no width along an axis, with its centre of mass at `reach` and a moment of inertia `across`."""
    x, y, z = (reach if k == direction else 0.0 for k in range(3))
    return Body(mass=mass, com=(x, y, z), inertia=_about_axis(0.0, across, direction))


def _about_axis(along: Scalar, across: Scalar, direction: int) -> Symmetric:
    xx, yy, zz = (along if k == direction else across for k in range(3))
    return (xx, yy, zz, 0.0, 0.0, 0.0)


def plate_inertia(mass: Scalar, width: Scalar, length: Scalar) -> Symmetric:
    """Central inertia of a thin rectangular plate, `width` along x, `length` along y [m] (2020, Table 1)."""
    xx = mass * length * length / 12.0
    yy = mass * width * width / 12.0
    return (xx, yy, xx + yy, 0.0, 0.0, 0.0)


def ellipsoid_inertia(mass: Scalar, a: Scalar, b: Scalar, c: Scalar) -> Symmetric:
    """Central inertia of a uniform ellipsoid with semi-axes a, b, c along x, y, z [m]."""
    fifth = mass / 5.0
    return (fifth * (b * b + c * c), fifth * (a * a + c * c), fifth * (a * a + b * b), 0.0, 0.0, 0.0)


def cylinder_inertia(mass: Scalar, radius: Scalar, length: Scalar, direction: int) -> Symmetric:
    """Central inertia of a uniform cylinder along an axis of its frame [m]."""
    across = mass * (radius * radius / 4.0 + length * length / 12.0)
    return _about_axis(mass * radius * radius / 2.0, across, direction)
