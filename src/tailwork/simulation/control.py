"""Control laws as equations: functions of time, state and numbers that are compiled with the robot.

A law is a frozen dataclass; its numbers (gains, torques, angles) are inputs of the kernel, so changing them compiles
nothing. Laws add up: each gives efforts to some of the actuators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tailwork.algebra.expression import Scalar, cos, sin, sqrt
from tailwork.errors import RobotError, UnknownNameError
from tailwork.mechanics.layout import Layout
from tailwork.robots.limb import Motor
from tailwork.robots.quantities import Described, number, numbers, positive


@dataclass(frozen=True)
class Moment:
    """What a law or an event may look at: the time [s] and the state, as scalars; for events, the efforts too."""

    layout: Layout
    t: Scalar
    q: Sequence[Scalar]
    v: Sequence[Scalar]
    tau: Sequence[Scalar] = ()

    def coordinate(self, name: str) -> Scalar:
        """A coordinate by name."""
        return self.q[self._index(name, self.layout.coordinate_names)]

    def rate(self, name: str) -> Scalar:
        """The rate of a limb's coordinate by name."""
        return self.v[self._index(f"{name} rate", self.layout.velocity_names)]

    def _index(self, name: str, names: tuple[str, ...]) -> int:
        if name not in names:
            raise UnknownNameError.among("control", name, names, "coordinate")
        return names.index(name)


class Law(Protocol):
    """Anything that gives efforts."""

    def efforts(self, moment: Moment) -> Mapping[str, Scalar]:
        """Efforts by actuator name."""
        ...


@dataclass(frozen=True, kw_only=True)
class Polynomial(Described):
    """Σ coefficients[k] t^k."""

    coefficients: tuple[Scalar, ...] = numbers("SI")

    def value(self, t: Scalar) -> Scalar:
        """The polynomial."""
        return _horner(self.coefficients, t)

    def rate(self, t: Scalar) -> Scalar:
        """First derivative."""
        return _horner(_derived(self.coefficients), t)

    def acceleration(self, t: Scalar) -> Scalar:
        """Second derivative."""
        return _horner(_derived(_derived(self.coefficients)), t)


@dataclass(frozen=True, kw_only=True)
class Sine(Described):
    """offset + amplitude · sin(2π t/period + phase)."""

    amplitude: Scalar = number("SI")
    period: Scalar = positive("s")
    phase: Scalar = number("rad", 0.0)
    offset: Scalar = number("SI", 0.0)

    def _angle(self, t: Scalar) -> tuple[Scalar, Scalar]:
        pace = 6.283185307179586 / self.period
        return t * pace + self.phase, pace

    def value(self, t: Scalar) -> Scalar:
        """The sine."""
        return sin(self._angle(t)[0]) * self.amplitude + self.offset

    def rate(self, t: Scalar) -> Scalar:
        """First derivative."""
        angle, pace = self._angle(t)
        return cos(angle) * (self.amplitude * pace)

    def acceleration(self, t: Scalar) -> Scalar:
        """Second derivative."""
        angle, pace = self._angle(t)
        return sin(angle) * (self.amplitude * pace * pace * -1.0)


@dataclass(frozen=True, kw_only=True)
class PointToPoint(Described):
    """From rest to rest by a cubic within a duration, then at rest (the papers' tail motions)."""

    start: Scalar = number("rad")
    end: Scalar = number("rad")
    duration: Scalar = positive("s")

    def _share(self, t: Scalar) -> tuple[Scalar, Scalar]:
        """Share of the motion done, at most 1, and whether it is still going on (1 or 0)."""
        over = t / self.duration - 1.0
        size = sqrt(over * over + 1e-30)  # |over|, with a derivative everywhere
        return 1.0 + (over - size) * 0.5, 0.5 - over / size * 0.5

    def value(self, t: Scalar) -> Scalar:
        """The cubic, then its end."""
        s, _ = self._share(t)
        return self.start + (self.end - self.start) * (s * s * (3.0 - s * 2.0))

    def rate(self, t: Scalar) -> Scalar:
        """First derivative."""
        s, _ = self._share(t)
        return (self.end - self.start) * (s * (1.0 - s) * 6.0) / self.duration

    def acceleration(self, t: Scalar) -> Scalar:
        """Second derivative; it jumps to zero at the end."""
        s, going = self._share(t)
        return (self.end - self.start) * ((6.0 - s * 12.0) * going) / (self.duration * self.duration)


Profiles = Polynomial | Sine | PointToPoint
"""Every kind of profile."""


def point_to_point(start: float, end: float, duration: float) -> PointToPoint:
    """From rest at `start` to rest at `end` [rad] within `duration` [s] by a cubic; it stays at the end."""
    return PointToPoint(start=start, end=end, duration=duration)


@dataclass(frozen=True, kw_only=True)
class Constant(Described):
    """Constant efforts, one for each actuator of the model."""

    values: tuple[Scalar, ...] = numbers("N m or N")

    def efforts(self, moment: Moment) -> Mapping[str, Scalar]:
        """The efforts, by name."""
        names = moment.layout.actuator_names
        if len(names) != len(self.values):
            raise RobotError("values", len(self.values), f"{len(names)} efforts, for {', '.join(names)}")
        return dict(zip(names, self.values, strict=True))


@dataclass(frozen=True, kw_only=True)
class Driven(Described):
    """One actuator's effort as a function of time."""

    actuator: str
    profile: Polynomial | Sine | PointToPoint

    def efforts(self, moment: Moment) -> Mapping[str, Scalar]:
        """The effort now."""
        if self.actuator not in moment.layout.actuator_names:
            raise UnknownNameError.among("actuator", self.actuator, moment.layout.actuator_names, "actuator")
        return {self.actuator: self.profile.value(moment.t)}


@dataclass(frozen=True, kw_only=True)
class Tracking(Described):
    """PD on one coordinate by the motor that drives it: kp (desired − q) + kd (desired rate − rate), [N m]."""

    limb: str
    coordinate: str
    profile: Polynomial | Sine | PointToPoint
    kp: Scalar = number("N m/rad")
    kd: Scalar = number("N m s/rad")

    def efforts(self, moment: Moment) -> Mapping[str, Scalar]:
        """The motor's effort: torque, or tension on its arm."""
        limb = moment.layout.limbs.get(self.limb)
        if limb is None:
            raise UnknownNameError.among("limb", self.limb, moment.layout.limbs, "limb")
        for actuator in limb.actuators:
            if isinstance(actuator, Motor) and actuator.coordinate == self.coordinate:
                name = f"{self.limb}.{self.coordinate}"
                short = self.profile.value(moment.t) - moment.coordinate(name)
                slow = self.profile.rate(moment.t) - moment.rate(name)
                return {f"{self.limb}.{actuator.name}": (short * self.kp + slow * self.kd) / actuator.ratio}
        driven = [actuator.coordinate for actuator in limb.actuators if isinstance(actuator, Motor)]
        raise RobotError("coordinate", self.coordinate, f"a coordinate of {self.limb} that a motor drives, of {driven}")


def _horner(coefficients: Sequence[Scalar], t: Scalar) -> Scalar:
    result: Scalar = 0.0
    for c in reversed(coefficients):
        result = result * t + c
    return result


def _derived(coefficients: Sequence[Scalar]) -> tuple[Scalar, ...]:
    return tuple(c * float(k) for k, c in enumerate(coefficients) if k)
