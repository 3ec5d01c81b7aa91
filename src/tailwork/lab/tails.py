"""The numbers that one can move in the lab, with units and ranges, and robots whose tails are changed by them.

A tail itself says what of it people like to change, so that any tail can be changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tailwork.robots.robot import Robot
from tailwork.robots.tails.tail import Tail, tail_name
from tailwork.studies.motions import DURATION

STEPS = 200  # a slider has about as many


def value_of(tail: Tail, path: str) -> float:
    """A number of a tail by its path within it, such as "total_length" or "mount.z"; an integer where it counts."""
    if path in tail.totals():
        return round(float(tail.total(path)), 12)
    name, _, axis = path.partition(".")
    value = getattr(tail, name)
    return value["xyz".index(axis)] if axis else value


def redesigned(robot: Robot, design: Mapping[str, float]) -> Robot:
    """A robot with some numbers of its tail changed, by their paths within the tail.

    Another number of links leaves the tail its length and mass.

    Args:
        robot: with one tail.
        design: values in SI units, such as {"total_length": 0.5, "mount.z": 0.02, "links": 4}.
    """
    name = tail_name(robot)
    tail: Tail = robot.part(name)
    counts = [one.path for one in tail.adjustable(robot.forward) if one.integer]
    for path in counts:
        if path in design and design[path] != value_of(tail, path):
            tail = tail.with_links(int(design[path]))
    changed = robot if tail is robot.part(name) else robot.with_part(name, tail)
    rest = {path: value for path, value in design.items() if path not in counts}
    known = [one.path for one in tail.adjustable(robot.forward)]
    rest = {path: x for path, x in rest.items() if path not in known or x != value_of(tail, path)}
    return changed.replace({f"{name}.{path}": value for path, value in rest.items()}) if rest else changed


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


def tail_sliders(robot: Robot) -> tuple[Slider, ...]:
    """What can be changed of a robot's tail."""
    tail: Tail = robot.part(tail_name(robot))
    found = []
    for one in tail.adjustable(robot.forward):
        value, text = value_of(tail, one.path), one.path.removeprefix("total_").replace("_", " ").replace(".", " ")
        if one.integer:
            hint = f"{one.meaning}; another number is another structure, compiled once"
            found.append(Slider(one.path, one.unit, min(one.low, value), max(one.high, value), 1, value, text, hint))
        else:
            found.append(_between(one.path, one.unit, float(value), one.low, one.high, text, one.meaning))
    return tuple(found)


def torso_slider(robot: Robot) -> Slider:
    """The mass of the torso."""
    mass = float(robot.torso_body().mass)
    return _between("torso mass", "kg", mass, 0.5 * mass, 2.0 * mass)


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


def _between(name: str, unit: str, value: float, least: float, most: float, text: str = "", hint: str = "") -> Slider:
    """A slider within a range, in steps of 1, 2 or 5 of a digit that meet the value."""
    wanted = (most - least) / STEPS
    digit = 10.0 ** math.floor(math.log10(wanted))
    step = max(digit * times for times in (1.0, 2.0, 5.0) if digit * times <= wanted * (1.0 + 1e-9))
    low, high = (round(value + math.trunc((end - value) / step * (1.0 + 1e-12)) * step, 9) for end in (least, most))
    return Slider(name, unit, low, high, float(f"{step:.1g}"), value, text, hint)
