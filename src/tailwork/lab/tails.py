"""The numbers that one can move in the lab, with units and ranges, and tails that are changed by them.

A tail is asked only for its limb, its mount and the fields that it has, so that any tail can be changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tailwork.errors import UnknownNameError
from tailwork.robots.robot import Robot
from tailwork.studies.motions import DURATION

NAMES = ("length", "mass", "mount x", "mount y", "mount z", "links", "stiffness")
"""What can be changed of a tail, if it has it."""
STEPS = 200
"""A slider has about as many."""
MOUNT_RANGE = 0.15
"""How far a mount can be moved either way [m]."""
MOST_LINKS = 10


def length_of(tail: Any) -> float:
    """From the mount to the tip of the straight tail [m]; 0 where the limb has no tip."""
    (limb,) = tail.limbs("tail").values()
    places: dict[str | None, Any] = {None: np.zeros(3)}
    for joint in limb.joints:
        places[joint.name] = places[joint.parent] + np.array(joint.offset, dtype=float)
    if limb.tip is None:
        return 0.0
    tip = places[limb.tip.joint] + np.array(limb.tip.point, dtype=float)
    return round(float(np.linalg.norm(tip - places[limb.joints[0].name])), 12)


def mass_of(tail: Any) -> float:
    """Of the whole tail [kg]."""
    (limb,) = tail.limbs("tail").values()
    return round(float(sum(joint.body.mass for joint in limb.joints if joint.body is not None)), 12)


def _links_field(tail: Any) -> str:
    """The field that counts the links of a tail, or of each of its segments; empty: it has none."""
    return next((name for name in ("links_per_segment", "links") if hasattr(tail, name)), "")


def redesigned(tail: Any, design: Mapping[str, float]) -> Any:
    """A tail with some of its NAMES changed.

    Length and mass are those of the whole tail, whatever the number of links. Links stay alike: centres of mass go
    with their length, inertias with their mass and the square of their length. Springs that carry the weight of a tail
    are placed and stiffened so that they carry the new one as well as they did the old.

    Args:
        tail: the tail as it is.
        design: lengths in m, masses in kg, stiffness in N m/rad, links as a number (in each segment, if it counts so).
    """
    for name in design:
        if name not in NAMES:
            raise UnknownNameError.among("tail", name, NAMES, "number of a tail's design")
    mount = tuple(design.get(f"mount {axis}", value) for axis, value in zip("xyz", tail.mount, strict=True))
    longer = design["length"] / length_of(tail) if "length" in design else 1.0
    heavier = design["mass"] / mass_of(tail) if "mass" in design else 1.0
    links, fewer = _links_field(tail), 1.0
    changes: dict[str, Any] = {"mount": mount}
    if links and "links" in design:
        changes[links] = int(design["links"])
        fewer = getattr(tail, links) / changes[links]
    stretched, share = longer * fewer, heavier * fewer  # length and mass of a link, as multiples of the old
    factors = {
        "length": longer, "mass": heavier, "tip_mass": heavier, "base_mass": heavier, "base_inertia": heavier,
        "link_length": stretched, "link_com": stretched, "link_mass": share, "link_inertia": share * stretched**2,
        # The moment of the weight goes with mass and length; that of a spring with its stiffness, stretch and arm.
        "extension_stiffness": heavier * longer / stretched**2, "extension_rest": stretched, "point_a": stretched,
        "point_b": stretched,
    }  # fmt: skip
    for name, factor in factors.items():
        if hasattr(tail, name) and factor != 1.0:
            value = getattr(tail, name)
            changes[name] = tuple(x * factor for x in value) if isinstance(value, tuple) else value * factor
    if "stiffness" in design and hasattr(tail, "bending_stiffness"):
        changes["bending_stiffness"] = design["stiffness"]
    return replace(tail, **changes)


@dataclass(frozen=True)
class Slider:
    """A number with its range. An integer counts something: another count is another structure."""

    name: str
    unit: str
    low: float
    high: float
    step: float
    value: float
    text: str = ""  # what is shown, if not the name
    hint: str = ""

    @property
    def label(self) -> str:
        """What is shown beside it."""
        return f"{self.text or self.name} [{self.unit}]" if self.unit else self.text or self.name

    @property
    def whole(self) -> bool:
        """Whether it counts something."""
        return isinstance(self.value, int)


def tail_sliders(tail: Any, forward: str = "y") -> tuple[Slider, ...]:
    """What can be changed of a tail on a robot that faces along an axis."""
    mount = dict(zip("xyz", map(float, tail.mount), strict=True))
    found = [_around("mass", "kg", mass_of(tail), 0.25, 3.0, "of the whole tail")]
    if length_of(tail) > 0.0:
        found.insert(0, _around("length", "m", length_of(tail), 0.4, 2.0, "from the mount to the tip, when straight"))
    for axis, way in ((forward, "forward"), ("z", "up")):
        low, high = (round(mount[axis] + side * MOUNT_RANGE, 9) for side in (-1, 1))
        hint = f"{way}: where the tail starts, in the torso frame"
        found.append(Slider(f"mount {axis}", "m", low, high, 0.005, mount[axis], hint=hint))
    field = _links_field(tail)
    if field:
        links, least = getattr(tail, field), 2 if field == "links_per_segment" else getattr(tail, "segments", 1)
        text = "links a segment" if field == "links_per_segment" else "links"
        hint = "the tail keeps its length and mass; another number is another structure, compiled once"
        found.append(Slider("links", "", min(least, links), max(MOST_LINKS, links), 1, links, text, hint))
    stiffness = float(getattr(tail, "bending_stiffness", 0.0))
    if stiffness > 0.0:
        found.append(_around("stiffness", "N m/rad", stiffness, 0.25, 4.0, "of each joint against bending"))
    return tuple(found)


def torso_slider(robot: Robot) -> Slider:
    """The mass of the torso."""
    return _around("torso mass", "kg", float(robot.torso.body().mass), 0.5, 2.0)


def motion_sliders(kind: str) -> tuple[Slider, ...]:
    """The numbers of a kind of motion, by the names of its arguments."""
    angles = {
        "yaw": (_angle("angle", 40, 80, "angle", "to the right"),),
        "pitch": (_angle("angle", 20, 60, "angle", "down"),),
        "roll": (_angle("bend", 40, 80, "bend", "down"), _angle("angle", 45, 90, "roll", "about the tail's axis")),
        "coupled": (
            _angle("pitch_from", 20, 60, "pitch from", "down"),
            _angle("pitch_to", 0, 60, "pitch to", "down"),
            _angle("yaw_from", 0, 80, "yaw from", "to the right"),
            _angle("yaw_to", -50, 80, "yaw to", "to the right"),
        ),
    }[kind]
    return (*angles, Slider("duration", "s", 0.1, 1.0, 0.01, DURATION))


def friction_slider() -> Slider:
    """The friction between feet and ground."""
    return Slider("friction", "", 0.0, 2.0, 0.05, 0.6, hint="between feet and ground: would the feet have stayed?")


def _angle(name: str, value: int, most: int, text: str, hint: str) -> Slider:
    return Slider(name, "°", -float(most), float(most), 1.0, float(value), text, hint)


def _around(name: str, unit: str, value: float, least: float, most: float, hint: str = "") -> Slider:
    """A slider from `least` to `most` times its value, in steps of 1, 2 or 5 of a digit that meet the value."""
    wanted = value * (most - least) / STEPS
    digit = 10.0 ** math.floor(math.log10(wanted))
    step = max(digit * times for times in (1.0, 2.0, 5.0) if digit * times <= wanted * (1.0 + 1e-9))
    low, high = (round(value + math.trunc(value * (times - 1.0) / step) * step, 9) for times in (least, most))
    return Slider(name, unit, low, high, float(f"{step:.1g}"), value, hint=hint)
