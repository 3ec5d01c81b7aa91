"""Profiles: quantities as functions of time, with their first and second derivatives.

A profile is a frozen dataclass; its numbers are inputs of the kernels, so changing them compiles nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, cos, sin, step
from tailwork.errors import ArgumentError
from tailwork.robots.quantities import SMALLEST, Described, all_numbers, number, numbers, positive


class _Pieces(Described):
    """What is a polynomial at every time."""

    def _piece(self, t: Scalar) -> tuple[Scalar, Sequence[Scalar]]:
        """The time since the piece began, and the piece's coefficients."""
        raise NotImplementedError

    def value(self, t: Scalar) -> Scalar:
        """The curve [SI]."""
        s, coefficients = self._piece(t)
        return _horner(coefficients, s)

    def rate(self, t: Scalar) -> Scalar:
        """First derivative [SI/s]."""
        s, coefficients = self._piece(t)
        return _horner(_derived(coefficients), s)

    def acceleration(self, t: Scalar) -> Scalar:
        """Second derivative [SI/s²]."""
        s, coefficients = self._piece(t)
        return _horner(_derived(_derived(coefficients)), s)


@dataclass(frozen=True, kw_only=True)
class Polynomial(_Pieces):
    """Σ coefficients[k] t^k, of the time t [s]."""

    coefficients: tuple[Scalar, ...] = numbers("SI")  # of the powers of t, from the constant on; the k-th in SI/s^k

    def _piece(self, t: Scalar) -> tuple[Scalar, Sequence[Scalar]]:
        return t, self.coefficients


@dataclass(frozen=True, kw_only=True)
class Sine(Described):
    """offset + amplitude · sin(2π t/period + phase), of the time t [s]."""

    amplitude: Scalar = number("SI")  # half of the way from least to greatest
    period: Scalar = positive("s")  # of an oscillation
    phase: Scalar = number("rad", 0.0)  # at time 0
    offset: Scalar = number("SI", 0.0)  # the mean

    def _angle(self, t: Scalar) -> tuple[Scalar, Scalar]:
        pace = math.tau / self.period
        return t * pace + self.phase, pace

    def value(self, t: Scalar) -> Scalar:
        """The sine [SI]."""
        return sin(self._angle(t)[0]) * self.amplitude + self.offset

    def rate(self, t: Scalar) -> Scalar:
        """First derivative [SI/s]."""
        angle, pace = self._angle(t)
        return cos(angle) * (self.amplitude * pace)

    def acceleration(self, t: Scalar) -> Scalar:
        """Second derivative [SI/s²]."""
        angle, pace = self._angle(t)
        return sin(angle) * (self.amplitude * pace * pace * -1.0)


class _RestToRest(Described):
    """From rest to rest within a duration, by a polynomial of the share of it that has passed, then at rest."""

    start: Scalar
    duration: Scalar

    def _path(self) -> tuple[Scalar, Sequence[Scalar]]:
        """How far it goes, and the coefficients of what is done of that."""
        raise NotImplementedError

    def _share(self, t: Scalar) -> tuple[Scalar, Scalar]:
        """Share of the duration that has passed, at most 1; and 1 until the end and at it, then 0: values, rates and
        accelerations all change sides together."""
        going = 1.0 - step(t / self.duration - 1.0)
        return going * (t / self.duration) + (1.0 - going), going

    def value(self, t: Scalar) -> Scalar:
        """The polynomial, then its end [rad]."""
        sweep, coefficients = self._path()
        return self.start + sweep * _horner(coefficients, self._share(t)[0])

    def rate(self, t: Scalar) -> Scalar:
        """First derivative [rad/s]."""
        sweep, coefficients = self._path()
        return sweep * _horner(_derived(coefficients), self._share(t)[0]) / self.duration

    def acceleration(self, t: Scalar) -> Scalar:
        """Second derivative [rad/s²]; it jumps to zero at the end."""
        (sweep, coefficients), (share, going) = self._path(), self._share(t)
        return sweep * (_horner(_derived(_derived(coefficients)), share) * going) / (self.duration * self.duration)


@dataclass(frozen=True, kw_only=True)
class PointToPoint(_RestToRest):
    """From rest to rest by a cubic within a duration, then at rest (the papers' tail motions)."""

    start: Scalar = number("rad")  # value until time 0
    end: Scalar = number("rad")  # value from the duration on
    duration: Scalar = positive("s")  # of the motion

    def _path(self) -> tuple[Scalar, Sequence[Scalar]]:
        return self.end - self.start, (0.0, 0.0, 3.0, -2.0)


@dataclass(frozen=True, kw_only=True)
class Shaped(_RestToRest):
    """From rest to rest within a duration, the cubic of the papers with two further shapes, then at rest.

    start + sweep [3 s² − 2 s³ + s² (1 − s)² (early + skew (1 − 2 s))] with s = t/duration: `early` > 0 runs ahead of
    the cubic, `skew` > 0 does so in the first half and falls behind in the second.
    """

    start: Scalar = number("rad", 0.0)  # where it begins
    sweep: Scalar = number("rad")  # how far it goes
    duration: Scalar = positive("s")  # how long it takes
    early: Scalar = number("", 0.0)  # how far it runs ahead in the middle [1]
    skew: Scalar = number("", 0.0)  # how far ahead in the first half, and behind in the second [1]

    def _path(self) -> tuple[Scalar, Sequence[Scalar]]:
        early, skew = self.early, self.skew  # the powers of s are multiplied out
        return self.sweep, (
            0.0,
            0.0,
            3.0 + early + skew,
            -2.0 - early * 2.0 - skew * 4.0,
            early + skew * 5.0,
            skew * -2.0,
        )


@dataclass(frozen=True, kw_only=True)
class PiecewiseCubic(_Pieces):
    """The smoothest curve through points: a cubic spline with given rates at its ends (at rest by default).

    Second derivatives are continuous in between. Before the first and after the last point it holds their values.
    """

    times: tuple[Scalar, ...] = numbers("s")  # of the points, increasing
    values: tuple[Scalar, ...] = numbers("SI")  # at the points
    start_rate: Scalar = number("SI/s", 0.0)  # at the first point
    end_rate: Scalar = number("SI/s", 0.0)  # at the last point

    def check(self) -> None:
        """At least two points, at times that increase."""
        if len(self.times) < 2 or len(self.times) != len(self.values):
            raise ArgumentError("times", self.times, f"at least two times, as many as values ({len(self.values)})")
        if all_numbers(*self.times) and any(b - a < SMALLEST for a, b in zip(self.times, self.times[1:], strict=False)):
            raise ArgumentError("times", self.times, "times that increase")

    def _rates(self) -> list[Scalar]:
        """Rates at the points, so that second derivatives agree there (a tridiagonal system, by elimination)."""
        t, y, n = self.times, self.values, len(self.times)
        h = [t[k + 1] - t[k] for k in range(n - 1)]
        slopes = [(y[k + 1] - y[k]) / h[k] for k in range(n - 1)]
        above: list[Scalar] = [0.0]
        right: list[Scalar] = [self.start_rate]
        for k in range(1, n - 1):
            before, after = 1.0 / h[k - 1], 1.0 / h[k]
            pivot = 2.0 * (before + after) - before * above[-1]
            load = 3.0 * (slopes[k - 1] * before + slopes[k] * after) - before * right[-1]
            above.append(after / pivot)
            right.append(load / pivot)
        rates = [self.end_rate]
        for k in range(n - 2, 0, -1):
            rates.insert(0, right[k] - above[k] * rates[0])
        return [self.start_rate, *rates]

    def _piece(self, t: Scalar) -> tuple[Scalar, Sequence[Scalar]]:
        times, y, rates = self.times, self.values, self._rates()
        pieces: list[tuple[Scalar, ...]] = [(times[0], y[0], 0.0, 0.0, 0.0)]
        for k in range(len(times) - 1):
            h = times[k + 1] - times[k]
            slope = (y[k + 1] - y[k]) / h
            second = (3.0 * slope - 2.0 * rates[k] - rates[k + 1]) / h
            third = (rates[k] + rates[k + 1] - 2.0 * slope) / (h * h)
            pieces.append((times[k], y[k], rates[k], second, third))
        pieces.append((times[-1], y[-1], 0.0, 0.0, 0.0))
        chosen = list(pieces[0])
        for k, piece in enumerate(pieces[1:]):
            begun = step(t - times[k]) if k else 1.0 - step(times[0] - t)  # the first point belongs to its piece
            chosen = [old + begun * (new - old) for old, new in zip(chosen, piece, strict=True)]
        return t - chosen[0], chosen[1:]


@dataclass(frozen=True, kw_only=True)
class Mapped(Described):
    """A smooth function of another profile, such as a joint angle as a function of the share of a motion done.

    The function is a Chebyshev series between `low` and `high`, the ends of what the inner profile takes.
    """

    inner: Polynomial | Sine | PointToPoint | Shaped | PiecewiseCubic  # the profile that the function is of
    coefficients: tuple[Scalar, ...] = numbers("SI")  # of the series, in the unit of what it gives
    low: Scalar = number("SI", -1.0)  # least value of the inner profile
    high: Scalar = number("SI", 1.0)  # greatest value of the inner profile

    def check(self) -> None:
        """At least one coefficient, between ends that are apart."""
        if not self.coefficients:
            raise ArgumentError("coefficients", self.coefficients, "at least one coefficient")
        if all_numbers(self.low, self.high) and not self.low < self.high:
            raise ArgumentError("high", self.high, f"more than low, {self.low}")

    def _series(self, order: int, t: Scalar) -> Scalar:
        """Derivative of the function of this order, by Clenshaw's recurrence."""
        coefficients = list(self.coefficients)
        for _ in range(order):
            coefficients = _chebyshev_derived(coefficients, 2.0 / (self.high - self.low))
        x = (self.inner.value(t) * 2.0 - (self.low + self.high)) / (self.high - self.low)
        after: Scalar = 0.0
        last: Scalar = 0.0
        for c in reversed(coefficients[1:]):
            last, after = c + x * 2.0 * last - after, last
        return coefficients[0] + x * last - after

    def value(self, t: Scalar) -> Scalar:
        """The function of the inner profile [SI]."""
        return self._series(0, t)

    def rate(self, t: Scalar) -> Scalar:
        """First derivative [SI/s]."""
        return self._series(1, t) * self.inner.rate(t)

    def acceleration(self, t: Scalar) -> Scalar:
        """Second derivative [SI/s²]."""
        rate = self.inner.rate(t)
        return self._series(2, t) * (rate * rate) + self._series(1, t) * self.inner.acceleration(t)


@dataclass(frozen=True, kw_only=True)
class Pulse(Described):
    """A value from a start on, for a duration, and zero before and from its end on.

    Steps end where it jumps. On ground, where steps are fixed but for method="event-driven", it acts for whole ones.
    """

    size: Scalar = number("SI")  # of the pulse
    start: Scalar = number("s", 0.0)  # when it begins
    duration: Scalar = positive("s")  # how long it lasts

    def value(self, t: Scalar) -> Scalar:
        """The pulse [SI]."""
        return self.size * (step(self.start + self.duration - t) - step(self.start - t))

    def rate(self, t: Scalar) -> Scalar:
        """Zero but at the jumps [SI/s]."""
        return 0.0

    def acceleration(self, t: Scalar) -> Scalar:
        """Zero but at the jumps [SI/s²]."""
        return 0.0


Profiles = Polynomial | Sine | PointToPoint | Shaped | PiecewiseCubic | Mapped
"""Every kind of profile."""


def held(value: float) -> Polynomial:
    """A profile that does not change, of any unit."""
    return Polynomial(coefficients=(value,))


def point_to_point(start: float, end: float, duration: float) -> PointToPoint:
    """From rest at `start` to rest at `end` [rad] within `duration` [s] by a cubic; it stays at the end."""
    return PointToPoint(start=start, end=end, duration=duration)


def _horner(coefficients: Sequence[Scalar], t: Scalar) -> Scalar:
    result: Scalar = 0.0
    for c in reversed(coefficients):
        result = result * t + c
    return result


def _derived(coefficients: Sequence[Scalar]) -> tuple[Scalar, ...]:
    return tuple(c * float(k) for k, c in enumerate(coefficients) if k)


def _chebyshev_derived(coefficients: Sequence[Scalar], scale: Scalar) -> list[Scalar]:
    """Coefficients of the derivative of a Chebyshev series, times a scale."""
    if len(coefficients) == 1:
        return [0.0]
    derived: list[Scalar] = [0.0] * (len(coefficients) + 1)
    for k in range(len(coefficients) - 1, 0, -1):
        derived[k - 1] = derived[k + 1] + coefficients[k] * (2.0 * k)
    derived[0] = derived[0] * 0.5
    return [c * scale for c in derived[: len(coefficients) - 1]]


def pulse(size: float, duration: float, start: float = 0.0) -> Pulse:
    """A value [SI] for a duration [s] from a start [s] on."""
    return Pulse(size=size, duration=duration, start=start)
