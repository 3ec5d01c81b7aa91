"""Tails by what one sees of them: length, mass, links, stiffness and mount, the same for every kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tailwork.errors import UnknownNameError
from tailwork.robots.tails import R3, Pendulum, Usrt

Tail = Pendulum | R3 | Usrt
NAMES = ("length", "mass", "mount y", "mount z", "links", "stiffness")


def length_of(tail: Tail) -> float:
    """From the mount to the tip of the straight tail [m]."""
    return float(tail.length) if isinstance(tail, Pendulum) else links_of(tail) * float(tail.link_length)


def mass_of(tail: Tail) -> float:
    """Of the whole tail [kg]."""
    if isinstance(tail, Pendulum):
        return float(tail.mass) + float(tail.tip_mass)
    if isinstance(tail, R3):
        return sum(float(share) for share in tail.link_shares()) * float(tail.link_mass) + float(tail.base_mass)
    return links_of(tail) * float(tail.link_mass)


def links_of(tail: Tail) -> int:
    """How many links it has in all."""
    if isinstance(tail, Pendulum):
        return 1
    return tail.links_per_segment * tail.segments if isinstance(tail, R3) else tail.links


def redesigned(tail: Tail, design: Mapping[str, float]) -> Tail:
    """A tail with some of its NAMES changed.

    Length and mass are those of the whole tail, whatever the number of links. Links stay alike: centres of mass go
    with their length, inertias with their mass and the square of their length. The springs of a USRT that carry its
    weight are placed and stiffened so that they carry the new one as well as they did the old.

    Args:
        tail: the tail as it is.
        design: lengths in m, masses in kg, stiffness in N m/rad, links as a number (of an R3: in each segment).
    """
    for name in design:
        if name not in NAMES:
            raise UnknownNameError.among("tail", name, NAMES, "number of a tail's design")
    x, y, z = tail.mount
    tail = replace(tail, mount=(x, design.get("mount y", y), design.get("mount z", z)))
    longer = design.get("length", length_of(tail)) / length_of(tail)
    heavier = design.get("mass", mass_of(tail)) / mass_of(tail)
    if isinstance(tail, Pendulum):
        return replace(tail, length=tail.length * longer, mass=tail.mass * heavier, tip_mass=tail.tip_mass * heavier)
    before = links_of(tail)
    if isinstance(tail, R3):
        tail = replace(tail, links_per_segment=int(design.get("links", tail.links_per_segment)))
    else:
        tail = replace(tail, links=int(design.get("links", tail.links)))
    fewer = before / links_of(tail)
    stretched, share = longer * fewer, heavier * fewer  # length and mass of a link, as multiples of the old
    links: dict[str, Any] = {
        "link_length": tail.link_length * stretched,
        "link_com": tail.link_com * stretched,
        "link_mass": tail.link_mass * share,
        "link_inertia": _times(tail.link_inertia, share * stretched**2),
    }
    if isinstance(tail, R3):
        base = {"base_mass": tail.base_mass * heavier, "base_inertia": _times(tail.base_inertia, heavier)}
        return replace(tail, **links, **base)
    springs = {
        "bending_stiffness": design.get("stiffness", tail.bending_stiffness),
        # The moment of the weight goes with mass and length; that of a spring with its stiffness, stretch and arm.
        "extension_stiffness": _times(tail.extension_stiffness, heavier * longer / stretched**2),
        "extension_rest": _times(tail.extension_rest, stretched),
        "point_a": _times(tail.point_a, stretched),
        "point_b": _times(tail.point_b, stretched),
    }
    return replace(tail, **links, **springs)


def _times(values: tuple[Any, ...], factor: float) -> tuple[Any, ...]:
    return tuple(value * factor for value in values)
