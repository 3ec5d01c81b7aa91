"""Numbers of a tail as a whole that stand for several of its own: its mass, its length, the share at its tip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tailwork.errors import RobotError
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.typing import Floats

DERIVED = {
    Pendulum: {"total_mass": "kg", "tip_share": "1", "total_length": "m"},
    R3: {"total_mass": "kg", "total_length": "m"},
    Usrt: {"total_mass": "kg", "total_length": "m"},
}
"""By kind of tail: such numbers and their units."""
REPLACED = {
    "total_mass": ("mass", "tip_mass", "link_mass"),
    "tip_share": ("mass", "tip_mass"),
    "total_length": ("length", "link_length", "link_com"),
}
"""By such a number: those that follow from it, and so cannot vary by themselves."""
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def derived_names(tail: Any) -> dict[str, str]:
    """Such numbers of a tail, and their units."""
    return DERIVED.get(type(tail), {})


def own_numbers(tail: Any, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """The tail's own numbers, (designs,), that follow from numbers of the whole; the others of `values` as they are.

    Links stay alike: centres of mass go with their length, inertias with their mass and the square of their length.
    The base of an R3 keeps its mass. Nothing is checked: differences reach a little beyond what is possible.

    Args:
        tail: as it is where nothing is said.
        values: by name, within the tail, (designs,).
    """
    found = dict(values)
    whole = {name: found.pop(name) for name in derived_names(tail) if name in found}
    if not whole:
        return found
    for name in whole:
        for follows in (*REPLACED[name], *(f"link_inertia.{moment}" for moment in INERTIA if name != "tip_share")):
            if follows in found:
                raise RobotError("variables", follows, f"either {follows} or {name}, from which it follows")
    if isinstance(tail, Pendulum):
        return found | _pendulum(tail, whole)
    return found | _links(tail, whole, found)


def _pendulum(tail: Pendulum, whole: Mapping[str, Floats]) -> dict[str, Floats]:
    bar, tip = float(tail.mass), float(tail.tip_mass)
    size = np.ones_like(next(iter(whole.values())))
    mass = whole.get("total_mass", (bar + tip) * size)
    share = whole.get("tip_share", tip / (bar + tip) * size)
    length = {"length": whole["total_length"]} if "total_length" in whole else {}
    masses = {"mass": (1.0 - share) * mass, "tip_mass": share * mass} if whole.keys() - {"total_length"} else {}
    return length | masses


def _links(tail: R3 | Usrt, whole: Mapping[str, Floats], others: Mapping[str, Floats]) -> dict[str, Floats]:
    size = np.ones_like(next(iter(whole.values())))
    if isinstance(tail, R3):
        links, base = tail.links_per_segment * tail.segments, others.get("base_mass", float(tail.base_mass) * size)
        shares = links * (1.0 - 0.5 * others.get("taper", float(tail.taper) * size) * (links > 1))
    else:
        links, base, shares = tail.links, 0.0, tail.links * size
    length = whole.get("total_length", links * float(tail.link_length) * size)
    longer = length / (links * float(tail.link_length))
    mass = (whole["total_mass"] - base) / shares if "total_mass" in whole else float(tail.link_mass) * size
    heavier = mass / float(tail.link_mass)
    found = {"link_length": length / links, "link_com": float(tail.link_com) * longer, "link_mass": mass}
    for name, moment in zip(INERTIA, tail.link_inertia, strict=True):
        if float(moment) != 0.0:
            found[f"link_inertia.{name}"] = float(moment) * heavier * longer * longer
    return found


def check_whole(tail: Any, values: Mapping[str, float]) -> None:
    """Refuses numbers of the whole that no tail can have; the other numbers of `values` may bear on them."""
    base = values.get("base_mass", float(tail.base_mass)) if isinstance(tail, R3) else 0.0
    for name, value in values.items():
        if name == "total_mass" and not value > base:
            what = f"more than the mass of its base, {base:g} kg" if base else "a mass greater than 0 [kg]"
            raise RobotError(name, value, what)
        if name == "total_length" and not value > 0.0:
            raise RobotError(name, value, "a length greater than 0 [m]")
        if name == "tip_share" and not 0.0 <= value <= 1.0:
            raise RobotError(name, value, "a share from 0 to 1")
