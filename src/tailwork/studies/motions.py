"""Tail motions named by what the tail's centre of mass does, the same for every kind of tail.

The direction from the mount to the tail's centre of mass is given by a roll alpha about the tail's axis and a bend
theta away from it: alpha = 0 bends down (+) and up, alpha = −90° bends to the right (+) and left. A motion leads from
one direction to another; `profiles` in tailwork.studies.tail_coordinates says what a tail must do for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tailwork.control.profiles import PointToPoint, Sine
from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.quantities import Described, number, positive
from tailwork.typing import Floats

PROFILES = ("cubic", "sine")
SPACES = ("polar", "joints")
SIDEWAYS = -math.pi / 2  # roll at which a bend goes to the right
PLANE = 1e-9  # how far a plane may be off
DURATION = 0.3  # [s], of the papers' motions
PERIOD = 1.2  # [s], of the papers' sine


@dataclass(frozen=True, kw_only=True)
class TailMotion(Described):
    """From one direction of the tail's centre of mass to another.

    In the space "polar" the two numbers of a direction are (alpha, theta); in "joints" they are (ta, tb), the angles of
    a pendulum that points there. Both move in proportion to one share of the motion: "cubic" goes from 0 to 1 within
    the duration, from rest to rest; "sine" swings between −1 and 1 about the start.
    """

    name: str  # for tables, file names and captions
    start: tuple[float, float]  # direction at the start [rad]
    end: tuple[float, float]  # direction at the end, or farthest of a sine [rad]
    space: str = "polar"  # what the numbers of a direction are: "polar" or "joints"
    profile: str = "cubic"  # how the share of the motion goes: "cubic" or "sine"
    duration: float = positive("s", 0.3)  # of the cubic, and of the run
    period: float = number("s", 0.0)  # of the sine; 0 for a cubic

    def check(self) -> None:
        """Known words, finite angles, a period with a sine alone, and a bend in a plane that tails can follow."""
        if self.profile not in PROFILES:
            raise UnknownNameError.among("profile", self.profile, PROFILES, "profile")
        if self.space not in SPACES:
            raise UnknownNameError.among("space", self.space, SPACES, "space")
        if (self.profile == "sine") != (self.period > 0):
            raise RobotError("period", self.period, "a period [s] greater than 0 with a sine, none with a cubic")
        if not all(math.isfinite(x) for x in (*self.start, *self.end)):
            raise RobotError("end", self.end, "finite angles [rad]")
        if self.space == "polar" and self.start[0] == self.end[0] and not _upright(self.start[0]):
            raise RobotError("start", self.start, "a bend in the vertical or the horizontal plane (alpha of 0 or ±90°)")

    @property
    def share(self) -> PointToPoint | Sine:
        """The share of the motion done, over time."""
        if self.profile == "sine":
            return Sine(amplitude=1.0, period=self.period)
        return PointToPoint(start=0.0, end=1.0, duration=self.duration)

    @property
    def shares(self) -> tuple[float, float]:
        """Least and greatest share [1]."""
        return (-1.0, 1.0) if self.profile == "sine" else (0.0, 1.0)

    def directions(self, share: Floats) -> tuple[Floats, Floats]:
        """(alpha, theta) at given shares [rad]."""
        first, second = (a + (b - a) * share for a, b in zip(self.start, self.end, strict=True))
        if self.space == "polar":
            return first, second
        return np.arctan2(-np.sin(second), np.cos(second) * np.sin(first)), np.arccos(np.cos(first) * np.cos(second))

    @property
    def axis(self) -> str:
        """What the motion is meant to do to the torso: "pitch", "roll" or "yaw"."""
        if self.space == "joints" or self.start[0] != self.end[0]:
            return "roll"
        return "yaw" if abs(math.cos(self.start[0])) < PLANE else "pitch"


def _upright(alpha: float) -> bool:
    return min(abs(math.cos(alpha)), abs(math.sin(alpha))) < PLANE


def yaw(angle: float, duration: float = 0.3) -> TailMotion:
    """The tail bends to the right by an angle [deg]."""
    return _bend("yaw", SIDEWAYS, angle, duration)


def pitch(angle: float, duration: float = 0.3, period: float = 0.0) -> TailMotion:
    """The tail bends down by an angle [deg]; with a period [s] it swings down and up."""
    return _bend("pitch", 0.0, angle, duration, period)


def roll(bend: float, angle: float = 45.0, duration: float = 0.3) -> TailMotion:
    """The tail, bent down by `bend` [deg], rolls about its axis by `angle` [deg] (2020, Sect. 5.1)."""
    for name, value in (("bend", bend), ("angle", angle)):
        _nonzero(name, value)
    theta = math.radians(bend)
    name = (f"roll{bend:g}" if angle == 45.0 else f"roll{bend:g}by{angle:g}") + _lasting(duration)
    return TailMotion(name=name, start=(0.0, theta), end=(math.radians(angle), theta), duration=duration)


def coupled(
    pitch_from: float = 20.0, pitch_to: float = 0.0, yaw_from: float = 0.0, yaw_to: float = -50.0, duration: float = 0.3
) -> TailMotion:
    """Pitch and yaw of a pendulum together [deg]: up and to the left, unless told otherwise (2020, Sect. 5.2)."""
    angles = (pitch_from, pitch_to, yaw_from, yaw_to)
    for angle in angles:
        _finite("coupled", angle)
    a, b, c, d = (math.radians(angle) for angle in angles)
    usual = angles == (20.0, 0.0, 0.0, -50.0)
    name = "coupled" if usual else f"coupled{pitch_from:g}to{pitch_to:g}and{yaw_from:g}to{yaw_to:g}"
    name += _lasting(duration)
    return TailMotion(name=name, start=(a, c), end=(b, d), space="joints", duration=duration)


def _bend(kind: str, alpha: float, angle: float, duration: float, period: float = 0.0) -> TailMotion:
    _nonzero(kind, angle)
    ends = {"start": (alpha, 0.0), "end": (alpha, math.radians(angle))}
    swing = {"profile": "sine", "period": period} if period else {}
    wave = "" if not period else "sine" if period == PERIOD else f"sine{period:g}s"
    return TailMotion(name=f"{kind}{angle:g}{wave}{_lasting(duration)}", duration=duration, **ends, **swing)


def _lasting(duration: float) -> str:
    """What a name says of an unusual duration."""
    return "" if duration == DURATION else f"in{duration:g}s"


def _finite(name: str, angle: Any) -> None:
    if isinstance(angle, bool) or not isinstance(angle, Real) or not math.isfinite(angle):
        raise RobotError(name, angle, "a finite angle [deg]")


def _nonzero(name: str, angle: Any) -> None:
    _finite(name, angle)
    if angle == 0:
        raise RobotError(name, angle, "an angle other than 0 [deg]")


def motion_words(motion: TailMotion) -> str:
    """A motion in a few words."""
    first, last = (tuple(round(math.degrees(x), 6) for x in pair) for pair in (motion.start, motion.end))
    if motion.space == "joints":
        said = f"pitch from {first[0]:g}° to {last[0]:g}°, yaw from {first[1]:g}° to {last[1]:g}°"
    elif motion.axis == "roll":
        said = f"rolls from {first[0]:g}° to {last[0]:g}°, bent by {first[1]:g}°"
    else:
        ways = ("to the right", "to the left") if motion.axis == "yaw" else ("down", "up")
        said = f"bends {ways[last[1] < 0]} by {abs(last[1]):g}°"
    if motion.period:
        return f"the first {motion.duration:g} s of a sine of {motion.period:g} s that {said}"
    return f"{said} in {motion.duration:g} s"


KINDS = {"yaw": yaw, "pitch": pitch, "roll": roll, "coupled": coupled}
FIRST = {"yaw": "angle", "pitch": "angle", "roll": "bend"}
"""What the number after the colon is."""
WORDS = {
    "yaw": ("duration",),
    "pitch": ("duration", "period"),
    "roll": ("angle", "duration"),
    "coupled": ("pitch_from", "pitch_to", "yaw_from", "yaw_to", "duration"),
}


def motion_from_text(text: str) -> TailMotion:
    """A motion as text [deg, s]: "yaw:40", "roll:40,angle=30", "pitch:20,period=1.2", "coupled"."""
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise UnknownNameError.among(
            "motion", kind, KINDS, "kind of motion (write yaw:40, pitch:20, roll:40 or coupled)"
        )
    values: dict[str, float] = {}
    for k, item in enumerate(filter(None, rest.split(","))):
        name, equals, value = item.partition("=")
        if not equals and k == 0 and kind in FIRST:
            name, value = FIRST[kind], name
        elif name not in WORDS[kind]:
            raise UnknownNameError.among(f"motion {text}", name, WORDS[kind], "word, with = and a number")
        if name in values:
            raise RobotError(f"motion {text}", name, "each word once")
        try:
            values[name] = float(value)
        except ValueError:
            raise RobotError(f"motion {text}", value, "a number") from None
    if values.get("period") == 0.0:
        raise RobotError(f"motion {text}", values["period"], "a period [s] greater than 0, or none")
    if kind in FIRST and FIRST[kind] not in values:
        raise RobotError("motion", text, f"an angle in degrees, such as {kind}:40")
    return KINDS[kind](**values)
