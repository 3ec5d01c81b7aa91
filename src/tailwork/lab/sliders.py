"""The numbers that one can move in the lab, with their units and ranges."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tailwork.lab.design import length_of, mass_of
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.studies.motions import DURATION

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
    return _around("torso mass", "kg", float(robot.torso_body().mass), 0.5, 2.0)


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
