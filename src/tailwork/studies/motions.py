"""Tail motions as people say them: yaw, pitch, roll and coupled, in degrees. See `tailwork.control.TailMotion`."""

from __future__ import annotations

import math
from typing import Any

from tailwork.control.tail_motion import TailMotion
from tailwork.errors import ArgumentError, UnknownNameError, check_known, is_finite_number
from tailwork.format import rounded

SIDEWAYS = -math.pi / 2  # roll at which a bend goes to the right
DURATION = 0.3  # [s], of the papers' motions
PERIOD = 1.2  # [s], of the papers' sine


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
    return TailMotion(name=name, axis="roll", start=(0.0, theta), end=(math.radians(angle), theta), duration=duration)


def sweep(axis: str, angle: float, duration: float = DURATION, early: float = 0.0, skew: float = 0.0) -> TailMotion:
    """The tail sweeps from straight to an angle [deg] within a duration [s], to the right for "yaw", down for "pitch".

    Of a tail of many links the angle is that of its last one. `early` and `skew` shape the profile, see `Shaped`.
    """
    check_known("axis", [axis], ("yaw", "pitch"), "axis")
    _finite("sweep", angle)
    alpha = SIDEWAYS if axis == "yaw" else 0.0
    return TailMotion(
        name=f"{axis} sweep", axis=axis, start=(alpha, 0.0), end=(alpha, math.radians(angle)), angle="tip",
        duration=duration, early=early, skew=skew,
    )  # fmt: skip


def coupled(
    pitch_from: float = 20.0, pitch_to: float = 0.0, yaw_from: float = 0.0, yaw_to: float = -50.0, duration: float = 0.3
) -> TailMotion:
    """Pitch and yaw of a pendulum together [deg]: up and to the left, by default (2020, Sect. 5.2)."""
    angles = (pitch_from, pitch_to, yaw_from, yaw_to)
    for angle in angles:
        _finite("coupled", angle)
    pitch_from, pitch_to, yaw_from, yaw_to = angles = tuple(map(float, angles))
    a, b, c, d = (math.radians(angle) for angle in angles)
    usual = angles == (20.0, 0.0, 0.0, -50.0)
    name = "coupled" if usual else f"coupled{pitch_from:g}to{pitch_to:g}and{yaw_from:g}to{yaw_to:g}"
    name += _lasting(duration)
    return TailMotion(name=name, axis="roll", start=(a, c), end=(b, d), space="joints", duration=duration)


def _bend(kind: str, alpha: float, angle: float, duration: float, period: float = 0.0) -> TailMotion:
    _nonzero(kind, angle)
    angle = float(angle)
    if not is_finite_number(period):
        raise ArgumentError("period", period, "a finite number that is not negative [s]; 0: no swing")
    ends = {"start": (alpha, 0.0), "end": (alpha, math.radians(angle))}
    swing = {"profile": "sine", "period": period} if period else {}
    wave = "" if not period else "sine" if period == PERIOD else f"sine{period:g}s"
    return TailMotion(name=f"{kind}{angle:g}{wave}{_lasting(duration)}", axis=kind, duration=duration, **ends, **swing)


def _lasting(duration: float) -> str:
    """What a name says of an unusual duration."""
    return "" if not is_finite_number(duration) or duration == DURATION else f"in{float(duration):g}s"


def _finite(name: str, angle: Any) -> None:
    if not is_finite_number(angle):
        raise ArgumentError(name, angle, "a finite angle [deg]")


def _nonzero(name: str, angle: Any) -> None:
    _finite(name, angle)
    if angle == 0:
        raise ArgumentError(name, angle, "an angle other than 0 [deg]")


def motion_text(motion: TailMotion) -> str:
    """What the tail does, in words that follow "the tail"."""
    sine = bool(motion.period)
    it, until = (" it", "and") if sine else ("", "to")

    def over(first: float, last: float) -> str:
        """From the start to the end [rad]; of a sine, between its ends."""
        low, high = (math.degrees(x) for x in (2.0 * first - last if sine else first, last))
        return f"{'between' if sine else 'from'} {_degrees(low)}° {until} {_degrees(high)}°"

    (a, b), (c, d) = motion.start, motion.end
    if motion.space == "joints":
        said = f"pitches{it} {over(a, c)} and yaws{it} {over(b, d)}"
    elif motion.axis == "roll":
        way = "by" if a else "down by" if b > 0.0 else "up by"
        bent = f"{way} {_degrees(math.degrees(b if a else abs(b)))}°" if b == d else f"by {over(b, d)}"
        said = f"rolls{it} {over(a, c)}, bent {bent},"
    else:
        ways = ("to the right", "to the left") if motion.axis == "yaw" else ("down", "up")
        side = math.cos(a) if motion.axis == "pitch" else -math.sin(a)
        first, second = ways if side * (d - b) > 0.0 else ways[::-1]
        size = f"{_degrees(math.degrees(abs(d - b)))}°"
        said = f"swings it {size} {first} and {second}" if sine else f"bends {first} by {size}"
        said += f", from {_degrees(math.degrees(b))}° on," if b else ""
    if not sine:
        return f"{said} in {motion.duration:g} s"
    part = f"the first {motion.duration:g} s" if motion.duration < motion.period else f"{motion.duration:g} s"
    return f"follows {part} of a sine of {motion.period:g} s that {said.removesuffix(',')}"


def _degrees(x: float) -> str:
    return rounded(round(x, 6))


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
    if not isinstance(text, str):
        raise ArgumentError("motion", text, "text, such as 'yaw:40'")
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
            raise ArgumentError(f"motion {text}", name, "each word once")
        try:
            values[name] = float(value)
        except ValueError:
            raise ArgumentError(f"motion {text}", value, "a number") from None
    if values.get("period") == 0.0:
        raise ArgumentError(f"motion {text}", values["period"], "a period [s] greater than 0, or none")
    if kind in FIRST and FIRST[kind] not in values:
        raise ArgumentError("motion", text, f"an angle in degrees, such as {kind}:40")
    return KINDS[kind](**values)
