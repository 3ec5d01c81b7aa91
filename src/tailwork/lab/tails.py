"""Tails by what one sees of them (length, mass, links, stiffness and mount), and the sliders that change them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tailwork.errors import UnknownNameError
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.studies.motions import DURATION

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


STEPS = 200
"""A slider has about as many."""
MOUNT_WAY = 0.15
"""How far a mount can be moved either way [m]."""
MOST_LINKS = 10


@dataclass(frozen=True)
class Slider:
    """A number with its range. A whole number counts something: another count is another structure."""

    name: str
    unit: str
    low: float
    high: float
    step: float
    value: float
    words: str = ""  # what is shown, if not the name
    hint: str = ""

    @property
    def label(self) -> str:
        """What is shown beside it."""
        said = self.words or self.name
        return f"{said} [{self.unit}]" if self.unit else said

    @property
    def whole(self) -> bool:
        """Whether it counts something."""
        return isinstance(self.value, int)


def tail_sliders(tail: Pendulum | R3 | Usrt) -> tuple[Slider, ...]:
    """What can be changed of a tail."""
    _, y, z = (float(value) for value in tail.mount)
    found = [
        _around("length", "m", length_of(tail), 0.4, 2.0, "from the mount to the tip of the straight tail"),
        _around("mass", "kg", mass_of(tail), 0.25, 3.0, "of the whole tail"),
        _mount("mount y", y, "forward: where the tail starts, in the torso frame"),
        _mount("mount z", z, "up: where the tail starts, in the torso frame"),
    ]
    if not isinstance(tail, Pendulum):
        words = "links a segment" if isinstance(tail, R3) else "links"
        least, links = (2, tail.links_per_segment) if isinstance(tail, R3) else (tail.segments, tail.links)
        hint = "the tail keeps its length and mass; another number is another structure, compiled once"
        found.append(Slider("links", "", min(least, links), max(MOST_LINKS, links), 1, links, words, hint))
    if isinstance(tail, Usrt):
        stiffness = float(tail.bending_stiffness)
        if stiffness > 0:
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


def _angle(name: str, value: int, most: int, words: str, hint: str) -> Slider:
    return Slider(name, "°", -float(most), float(most), 1.0, float(value), words, hint)


def _mount(name: str, value: float, hint: str) -> Slider:
    return Slider(name, "m", round(value - MOUNT_WAY, 9), round(value + MOUNT_WAY, 9), 0.005, value, hint=hint)


def _around(name: str, unit: str, value: float, least: float, most: float, hint: str = "") -> Slider:
    """A slider from `least` to `most` times its value, in steps of 1, 2 or 5 of a digit that meet the value."""
    wanted = value * (most - least) / STEPS
    digit = 10.0 ** math.floor(math.log10(wanted))
    step = max(digit * times for times in (1.0, 2.0, 5.0) if digit * times <= wanted * (1.0 + 1e-9))
    low, high = (round(value + math.trunc(value * (times - 1.0) / step) * step, 9) for times in (least, most))
    return Slider(name, unit, low, high, float(f"{step:.1g}"), value, hint=hint)
