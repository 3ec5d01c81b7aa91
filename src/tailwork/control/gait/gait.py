"""Gaits: when each leg is on the ground, and where its foot goes seen from the torso.

A stride is one round of all legs. A leg stands for a share of it, the duty factor, then swings forward. Presets find
each leg's role (its row from the front, its side) from where its hip is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from tailwork.algebra.expression import Scalar
from tailwork.control.gait.foot_kinematics import hip
from tailwork.errors import ArgumentError, RobotError, check_known
from tailwork.robots.quantities import Described, all_numbers, nonnegative, number, numbers, positive
from tailwork.robots.robot import Robot
from tailwork.robots.sizes import leg_length
from tailwork.typing import Floats

NO_SHARE = 1e-12
"""What is missing to a whole stride by less than this is rounding."""
USUAL_SPEED, USUAL_FREQUENCY, USUAL_LIFT = 0.58, 1.6, 0.06  # √m/s, √m/s, 1
"""Of a gait of legs of a length of 1 m: speed [m/s], frequency [Hz] and lift [m]; others in proportion, at the same
Froude number."""
PRESETS: dict[str, tuple[int | None, Callable[[int, int, int], float]]] = {
    "a walk": (None, lambda row, side, rows: (side * rows + rows - 1 - row) / (2 * rows)),
    "a trot": (2, lambda row, side, rows: ((row + side) % 2) / 2),
    "a pace": (2, lambda row, side, rows: side / 2),
    "a bound": (2, lambda row, side, rows: row / 2),
    "a tripod gait": (3, lambda row, side, rows: ((row + side) % 2) / 2),
}
"""Rows of legs that a gait needs (None: two or more), and the phase at which a leg begins its stance, of its row, its
side and the number of rows."""


@dataclass(frozen=True, kw_only=True)
class Gait(Described):
    """A gait along a straight line or a circle, with the torso level and at constant speed."""

    legs: tuple[str, ...]  # their names in the model
    phases: tuple[Scalar, ...] = numbers(
        "", requirement="at least 0 and below 1", allowed=lambda share: 0.0 <= share < 1.0
    )  # by leg: the share of the stride at which its stance begins
    duty: Scalar = number("")  # share of the stride that a leg is on the ground
    frequency: Scalar = positive("Hz")  # strides a second
    speed: Scalar = number("m/s")  # of the torso, forward
    lift: Scalar = nonnegative("m")  # height of a foot in mid-swing
    turn: Scalar = number("rad/s", 0.0)  # of the torso about the vertical through P, to the left

    def check(self) -> None:
        """Legs named once, with a phase each, and a duty between 0 and 1."""
        if not all_numbers(*self.phases, self.duty, self.frequency, self.speed, self.lift, self.turn):
            raise ArgumentError("gait", self.legs, "numbers only, no symbols")
        if not self.legs or len(set(self.legs)) != len(self.legs):
            raise ArgumentError("legs", self.legs, "at least one leg, each named once")
        if len(self.phases) != len(self.legs):
            raise ArgumentError("phases", self.phases, f"one a leg, {len(self.legs)}")
        if not 0.0 < self.duty < 1.0:
            raise ArgumentError("duty", self.duty, "a share of the stride above 0 and below 1")
        most = math.pi * float(self.frequency) / float(self.duty)
        if abs(self.turn) > most:
            required = f"at most {most:.3g} rad/s, half a turn while a foot is on the ground (is it in degrees?)"
            raise ArgumentError("turn", self.turn, required)

    @property
    def period(self) -> float:
        """Of a stride [s]."""
        return 1.0 / self.frequency

    @property
    def stride(self) -> float:
        """Distance of the torso in a stride [m]."""
        return self.speed * self.period

    @property
    def step_length(self) -> float:
        """Distance of a foot on the ground, seen from the torso [m]."""
        return self.stride * self.duty

    def share(self, leg: str, t: ArrayLike) -> Floats:
        """Share of the leg's stride that is over at a time [s]: from 0, when its stance begins, to 1."""
        check_known("leg", [leg], self.legs, "leg of the gait")
        share = np.mod(np.asarray(t, dtype=float) * self.frequency - self.phases[self.legs.index(leg)], 1.0)
        return np.where(share > 1.0 - NO_SHARE, 0.0, share)

    def in_stance(self, leg: str, t: ArrayLike) -> np.ndarray:
        """Whether a leg is on the ground at a time [s]."""
        return self.share(leg, t) < self.duty

    def offset(self, leg: str, t: ArrayLike) -> tuple[Floats, Floats]:
        """Foot from its place in mid-stance of a straight walk, (forward, up) seen from the torso [m], and its rate
        [m/s]: (..., 2) each. `foot` is that of any walk.

        In stance the foot rests on the ground, so it goes back at the torso's speed. In swing it goes from rest to
        rest over the ground: a stride forward by a cubic, up and down by a quartic. Rates have no jumps.
        """
        share = self.share(leg, t)
        stance, swing_time = share < self.duty, (1.0 - self.duty) * self.period
        u = np.where(stance, 0.0, (share - self.duty) / (1.0 - self.duty))  # share of the swing that is over
        over_ground, rising = u * u * (3.0 - 2.0 * u), 16.0 * u * u * (1.0 - u) * (1.0 - u)
        forward = self.stride * (0.5 * self.duty - share + over_ground)
        forward_rate = 6.0 * u * (1.0 - u) * self.stride / swing_time - self.speed
        up_rate = 32.0 * u * (1.0 - u) * (1.0 - 2.0 * u) * self.lift / swing_time
        return np.stack([forward, rising * self.lift], axis=-1), np.stack([forward_rate, up_rate], axis=-1)

    def foot(self, leg: str, times: Floats, middle: ArrayLike, strides: int | None = None) -> tuple[Floats, Floats]:
        """Place of a foot, (forward, left, up) seen from the torso [m], and its rate [m/s]: (times, 3) each.

        On the ground it rests; it is put down where it will be in its place in mid-stance when half of its stance is
        over. In the air it goes over the ground as in `offset`.

        Args:
            leg: by its name.
            times: [s].
            middle: its place in mid-stance, likewise [m].
            strides: None: the gait goes on for ever. Else it starts from standing, comes up to its speed within the
                first stride, slows down within the last, and stands.
        """
        level, height = np.split(np.asarray(middle, dtype=float), [2])
        swing_time = (1.0 - self.duty) * self.period
        if strides is None:
            share = self.share(leg, times)
            passed, pace = (share - 0.5 * self.duty) * self.period, np.ones_like(times)
            u = np.clip((share - self.duty) / (1.0 - self.duty), 0.0, 1.0)
            before, after = level, self._seen(level, np.array([self.period]))[0]
        else:
            passed, pace = self._progress(times, strides)
            lifts = (np.arange(-1, strides + 1) + self.phases[self.legs.index(leg)] + self.duty) * self.period
            whole = strides * self.period * (1.0 + NO_SHARE)
            lifts = lifts[(lifts >= -NO_SHARE) & (lifts + swing_time <= whole)]
            middles = np.concatenate([[0.0], 0.5 * (lifts[:-1] + swing_time + lifts[1:]), [whole]])
            places = self._seen(level, self._progress(middles[: len(lifts) + 1], strides)[0])
            begun = np.searchsorted(lifts, times, side="right")
            u = np.clip((times - np.append(-np.inf, lifts)[begun]) / swing_time, 0.0, 1.0)
            before, after = places[np.maximum(begun - 1, 0)], places[begun]
        over_ground, rising = u * u * (3.0 - 2.0 * u), 16.0 * u * u * (1.0 - u) * (1.0 - u)
        place = before + (after - before) * over_ground[:, None]
        rate = (after - before) * (6.0 * u * (1.0 - u) / swing_time)[:, None]
        angle, torso = self.turn * passed, self._seen(np.zeros(2), passed)
        seen, moved = _turned(place - torso, -angle), _turned(rate, -angle)
        moved[:, 0] += pace * (self.turn * seen[:, 1] - self.speed)
        moved[:, 1] -= pace * self.turn * seen[:, 0]
        up_rate = 32.0 * u * (1.0 - u) * (1.0 - 2.0 * u) * self.lift / swing_time
        return np.column_stack([seen, height + rising * self.lift]), np.column_stack([moved, up_rate])

    def _seen(self, level: Floats, passed: Floats) -> Floats:
        """A place of the torso's level frame after times of walking [s], in that frame at time 0: (times, 2) [m]."""
        angle = self.turn * passed
        ahead = self.speed * passed * np.sinc(angle / np.pi)
        aside = self.speed * passed * np.sin(angle / 2.0) * np.sinc(angle / (2.0 * np.pi))
        return np.stack([ahead, aside], axis=-1) + _turned(np.broadcast_to(level, (len(passed), 2)), angle)

    def _progress(self, times: Floats, strides: int) -> tuple[Floats, Floats]:
        """Of a walk of so many strides: how long it takes to come as far at full speed [s], and the share of speed."""
        end = strides * self.period
        u, w = (np.clip(x / self.period, 0.0, 1.0) for x in (times, end - times))
        half = self.period / 2.0
        coming, going = (self.period * x**3 * (1.0 - 0.5 * x) for x in (u, w))  # integral of x² (3 − 2 x)
        middle = np.clip(times - self.period, 0.0, end - 2.0 * self.period)
        passed = np.where(times <= self.period, coming, half + middle + np.where(w < 1.0, half - going, 0.0))
        pace = np.where(times <= self.period, u * u * (3.0 - 2.0 * u), w * w * (3.0 - 2.0 * w))
        return passed, pace


def _turned(places: Floats, angle: Floats) -> Floats:
    """Level places, each turned to the left by its angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * places[:, 0] - s * places[:, 1], s * places[:, 0] + c * places[:, 1]], axis=-1)


class _Pacing(TypedDict, total=False):
    """What all presets take: see `walk`."""

    speed: float | None
    frequency: float | None
    lift: float | None
    turn: float


def walk(robot: Robot, *, duty: float = 0.75, **pacing: Unpack[_Pacing]) -> Gait:
    """Four legs or more, one after the other from hind to front: left side, then right (lateral sequence).

    Args:
        robot: with two or more legs on each side.
        duty: share of the stride that a leg is on the ground [1]; of four legs, one at a time is in the air.
        pacing: `speed` of the torso, forward [m/s]; by default `USUAL_SPEED` times the root of the length of the legs.
            `frequency` of strides [Hz]; by default `USUAL_FREQUENCY` over that root. `lift`, height of a foot in
            mid-swing [m]; by default `USUAL_LIFT` of that length. `turn` of the torso about the vertical, to the left
            [rad/s]; by default 0.
    """
    return _preset(robot, "a walk", duty, **pacing)


def trot(robot: Robot, *, duty: float = 0.5, **pacing: Unpack[_Pacing]) -> Gait:
    """Four legs: the diagonal pairs in turn; arguments [1], [m/s], [Hz], [m] and [rad/s] as of `walk`."""
    return _preset(robot, "a trot", duty, **pacing)


def pace(robot: Robot, *, duty: float = 0.5, **pacing: Unpack[_Pacing]) -> Gait:
    """Four legs: the left pair and the right pair in turn; arguments [1], [m/s], [Hz], [m] and [rad/s] as of `walk`."""
    return _preset(robot, "a pace", duty, **pacing)


def bound(robot: Robot, *, duty: float = 0.4, **pacing: Unpack[_Pacing]) -> Gait:
    """Four legs: the front pair and the hind pair in turn, with a flight between them; arguments [1], [m/s], [Hz], [m]
    and [rad/s] as of `walk`."""
    return _preset(robot, "a bound", duty, **pacing)


def tripod(robot: Robot, *, duty: float = 0.55, **pacing: Unpack[_Pacing]) -> Gait:
    """Six legs: front and hind leg of a side with the middle one of the other, in turn with the other three; three feet
    or more are always on the ground, as of a cockroach. Arguments [1], [m/s], [Hz], [m] and [rad/s] as of `walk`."""
    return _preset(robot, "a tripod gait", duty, **pacing)


def forward_direction(robot: Robot) -> Floats:
    """The unit vector that points forward in the torso frame."""
    return np.eye(3)["xyz".index(robot.forward)]


def leg_roles(robot: Robot) -> dict[str, tuple[int, int]]:
    """By leg: its row, 0 at the front, and its side, 0 left and 1 right, from where its hip is."""
    legs = {name: limb for name, limb in robot.limbs().items() if limb.foot is not None}
    ahead = forward_direction(robot)
    left = np.cross([0.0, 0.0, 1.0], ahead)
    places = {name: (float(hip(limb) @ ahead), float(hip(limb) @ left)) for name, limb in legs.items()}
    roles: dict[str, tuple[int, int]] = {}
    for side, sign in enumerate((1.0, -1.0)):
        there = [name for name, (_, aside) in places.items() if aside * sign > 0.0]
        there.sort(key=lambda name: -places[name][0])
        if len({places[name][0] for name in there}) != len(there):
            raise RobotError("robot", there, "legs of a side one behind the other: hips that differ along the robot")
        roles |= {name: (row, side) for row, name in enumerate(there)}
    rows = {side: [row for row, other in roles.values() if other == side] for side in (0, 1)}
    if not legs or len(roles) != len(legs) or len(rows[0]) != len(rows[1]):
        raise RobotError("robot", robot.name, f"legs in pairs, a left and a right one; its legs are {_listed(legs)}")
    return {name: roles[name] for name in legs}


def _preset(robot: Robot, what: str, duty: float, **pacing: Unpack[_Pacing]) -> Gait:
    """One of `PRESETS` for a robot."""
    if not isinstance(robot, Robot):
        raise ArgumentError("robot", robot, "a Robot, from tailwork.robots or tailwork.load")
    for name in pacing:
        check_known(name, [name], ("duty", *_Pacing.__annotations__), f"number of {what}")
    roles, (rows, phase) = leg_roles(robot), PRESETS[what]
    found = len(roles) // 2
    if found < 2 if rows is None else found != rows:
        wanted = "four legs or more" if rows is None else f"{2 * rows} legs"
        raise RobotError("robot", robot.name, f"{wanted} in pairs for {what}; its legs are {_listed(roles)}")
    phases = tuple(phase(row, side, found) for row, side in roles.values())
    length = sum(float(leg_length(robot.limbs()[name])) for name in roles) / len(roles)
    usual = {
        "speed": USUAL_SPEED * math.sqrt(length), "frequency": USUAL_FREQUENCY / math.sqrt(length),
        "lift": USUAL_LIFT * length,
    }  # fmt: skip
    given = {name: value for name, value in pacing.items() if value is not None}
    return Gait(legs=tuple(roles), phases=phases, duty=duty, **usual | given)  # type: ignore[arg-type]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
