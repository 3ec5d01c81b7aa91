"""Profiles: rates and accelerations are derivatives, by floats and compiled; and the choices that they are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from oracles.layout import Array
from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import INPUT, Tape, larger, smaller, step
from tailwork.control import Mapped, PiecewiseCubic, PointToPoint, Polynomial, Sine, held, point_to_point
from tailwork.control.profiles import Profiles
from tailwork.errors import ArgumentError
from tailwork.kernels.casadi_export import casadi_function
from tailwork.kernels.graph import Graph, finished
from tailwork.kernels.kernel import Kernel
from tailwork.robots.paths import rebuild, robot_numbers

TIMES, VALUES = (0.1, 0.25, 0.3, 0.62, 0.9), (0.2, -0.4, 0.5, 0.1, 0.7)
SINE = Sine(amplitude=0.7, period=0.43, phase=0.4, offset=0.1)
CURVE = PiecewiseCubic(times=TIMES, values=VALUES)
MOVE = PointToPoint(start=0.2, end=-0.9, duration=0.55)
SERIES = (0.3, -1.1, 0.4, 0.25, -0.15, 0.05)
PROFILES: dict[str, Profiles] = {
    "polynomial": Polynomial(coefficients=(0.3, -1.0, 2.0, 0.5, -3.0)),
    "constant": held(0.4),
    "sine": SINE,
    "move": MOVE,
    "curve": CURVE,
    "curve with end rates": PiecewiseCubic(times=TIMES, values=VALUES, start_rate=-1.5, end_rate=2.5),
    "line of two points": PiecewiseCubic(times=(0.0, 1.0), values=(1.0, 2.0)),
    "function of a sine": Mapped(inner=SINE, coefficients=SERIES, low=-0.6, high=0.8),
    "function of a move": Mapped(inner=MOVE, coefficients=SERIES, low=-0.9, high=0.2),
    "function of a curve": Mapped(inner=CURVE, coefficients=SERIES, low=-0.5, high=1.0),
    "line of a polynomial": Mapped(inner=Polynomial(coefficients=(0.0, 2.0, 1.0)), coefficients=(0.5, 2.0)),
    "constant of a sine": Mapped(inner=SINE, coefficients=(0.25,)),
}
KNOTS = (*TIMES, MOVE.duration)
SMOOTH = [float(t) for t in np.linspace(0.011, 1.1, 40) if min(abs(t - knot) for knot in KNOTS) > 5e-3]
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # of central differences of order 8
profiles = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES.keys())


def slope(function: Any, t: float, h: float = 1e-3) -> float:
    """Derivative by central differences of order 8; nothing may jump within 4 h."""
    return sum(w * (function(t + k * h) - function(t - k * h)) for k, w in WEIGHTS.items()) / h


def all_three(profile: Profiles, t: float) -> list[float]:
    """Value, rate and acceleration by floats."""
    return [profile.value(t), profile.rate(t), profile.acceleration(t)]


def compiled(profile: Profiles, times: Array) -> tuple[Array, Array]:
    """(times, 3) value, rate and acceleration by a kernel whose parameters are the profile's numbers; and (times, 2)
    derivatives of value and rate that were taken on the tape."""
    tape, parameters = Tape(), list[float]()

    def symbol(path: str, number: float, kind: Any) -> Any:
        parameters.append(number)
        return tape.record(INPUT, len(parameters))

    symbolic = rebuild(profile, symbol)
    assert sorted(parameters) == sorted(robot_numbers(profile).values())
    (t,) = tape.inputs(1, 0)
    found = [symbolic.value(t), symbolic.rate(t), symbolic.acceleration(t)]
    derived = [row[0] for row in jacobian(tape, found[:2], [t])]
    kernel = Kernel(finished(tape, [*found, *derived], 1, len(parameters)))
    columns = kernel(times[:, None], kernel.constants(np.array(parameters)))
    return columns[:, :3], columns[:, 3:]


@profiles
def test_rates_are_derivatives(profile: Profiles) -> None:
    """Rate and acceleration are the slopes of value and rate, by differences of order 8."""
    for t in SMOOTH:
        value, rate, acceleration = all_three(profile, t)
        assert rate == pytest.approx(slope(profile.value, t), rel=1e-9, abs=1e-11), t
        assert acceleration == pytest.approx(slope(profile.rate, t), rel=1e-9, abs=1e-9), t
        assert math.isfinite(value)


@profiles
def test_compiled_profiles(profile: Profiles) -> None:
    """Compiled, with its numbers as inputs, a profile is what floats give, and derivatives on the tape agree."""
    times = np.array([-0.1, 0.0, *SMOOTH, *np.nextafter(KNOTS, 0.0), *np.nextafter(KNOTS, 2.0), *KNOTS])
    found, derived = compiled(profile, times)
    expected = np.array([all_three(profile, float(t)) for t in times])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(derived[: 2 + len(SMOOTH)], found[: 2 + len(SMOOTH), 1:], rtol=1e-12, atol=1e-12)


@profiles
def test_same_bits_in_lanes(profile: Profiles) -> None:
    """One time alone gives the bits of the same time among many."""
    times = np.array(SMOOTH)
    many = compiled(profile, times)[0]
    for k in (0, 7, len(times) - 1):
        np.testing.assert_array_equal(compiled(profile, times[k : k + 1])[0][0], many[k])


# Through points


@pytest.mark.parametrize("ends", [(0.0, 0.0), (-1.5, 2.5)], ids=["rest", "moving"])
def test_curve_is_the_clamped_spline(ends: tuple[float, float]) -> None:
    """Between its ends a curve is SciPy's clamped cubic spline, with both derivatives."""
    curve = PiecewiseCubic(times=TIMES, values=VALUES, start_rate=ends[0], end_rate=ends[1])
    spline = CubicSpline(TIMES, VALUES, bc_type=((1, ends[0]), (1, ends[1])))
    for t in np.linspace(TIMES[0], TIMES[-1], 101)[1:]:
        expected = [float(spline(t, order)) for order in range(3)]
        assert all_three(curve, float(t)) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_curve_goes_through_its_points() -> None:
    """At each time a curve has its value, and there value, rate and acceleration are continuous."""
    for t, value in zip(TIMES, VALUES, strict=True):
        assert CURVE.value(t) == pytest.approx(value, abs=1e-14)
    for t in TIMES[1:-1]:
        before, after = (all_three(CURVE, float(np.nextafter(t, towards))) for towards in (0.0, 2.0))
        np.testing.assert_allclose(before, after, rtol=1e-12, atol=1e-12)
        jump = slope(CURVE.acceleration, t + 5e-3) - slope(CURVE.acceleration, t - 5e-3)
        assert abs(jump) > 10.0  # the third derivative is not: these are pieces


def test_curve_holds_its_ends() -> None:
    """Before the first point and after the last, a curve rests there, exactly."""
    for curve in (CURVE, PROFILES["curve with end rates"]):
        for t in (-1e3, -0.1, 0.0, 0.0999):
            assert all_three(curve, t) == [VALUES[0], 0.0, 0.0]
        for t in (0.9001, 1.0, 1e3):
            assert all_three(curve, t) == [VALUES[-1], 0.0, 0.0]


def test_smoothest_curve() -> None:
    """A curve through one more point, off this one, bends more (∫ acceleration²)."""

    def bend(curve: PiecewiseCubic) -> float:
        times = np.linspace(TIMES[0], TIMES[-1], 2002)[1:-1]
        return float(np.mean([curve.acceleration(float(t)) ** 2 for t in times]))

    def through(aside: float) -> PiecewiseCubic:
        extra = CURVE.value(0.45) + aside
        return PiecewiseCubic(times=(*TIMES[:3], 0.45, *TIMES[3:]), values=(*VALUES[:3], extra, *VALUES[3:]))

    assert bend(through(0.0)) == pytest.approx(bend(CURVE), rel=1e-11)
    for aside in (-1e-2, 1e-2):
        assert bend(through(aside)) > bend(CURVE) + 0.1


@pytest.mark.parametrize(
    ("times", "values", "said"),
    [
        ((0.0,), (1.0,), r"times: got \(0\.0,\); required: at least two times, as many as values \(1\)"),
        ((), (), r"times: got \(\); required: at least two"),
        ((0.0, 1.0), (1.0, 2.0, 3.0), r"as many as values \(3\)"),
        ((0.0, 1.0, 1.0), (1.0, 2.0, 3.0), "times that increase"),
        ((0.0, 2.0, 1.0), (1.0, 2.0, 3.0), "times that increase"),
        ((0.0, 1e-300, 1.0), (1.0, 2.0, 3.0), "times that increase"),
        ((0.0, math.nan), (1.0, 2.0), r"times\.2: got nan; required: a finite number \[s\]"),
        ((0.0, 1.0), (1.0, "2"), r"values\.2: got '2'"),
        ((0.0, 1.0), 1.0, "values: got 1.0; required: a list of finite numbers"),
    ],
)
def test_wrong_points(times: Any, values: Any, said: str) -> None:
    """Times that do not increase, or are too few, or not as many as values, are refused by name."""
    with pytest.raises(ArgumentError, match=said):
        PiecewiseCubic(times=times, values=values)


# Motions from rest to rest, series


def test_move_stays_at_its_end() -> None:
    """From rest to rest by 3 s² − 2 s³, then at the end, exactly."""
    move = point_to_point(0.2, -0.9, 0.55)
    assert move == MOVE
    assert all_three(move, 0.0)[:2] == [0.2, 0.0]
    assert move.acceleration(0.0) == pytest.approx(6 * -1.1 / 0.55**2, rel=1e-14)
    assert move.value(0.275) == pytest.approx(-0.35, abs=1e-15)
    assert move.rate(0.275) == pytest.approx(1.5 * -1.1 / 0.55, rel=1e-14)
    assert move.value(0.55) == pytest.approx(-0.9, abs=1e-15)
    assert move.rate(0.55) == 0.0
    for t in (0.5501, 1.0, 1e6):
        assert all_three(move, t) == [move.value(0.55), 0.0, 0.0]


@pytest.mark.parametrize("duration", [0.0, -1.0, math.inf, math.nan, "1"])
def test_wrong_durations(duration: Any) -> None:
    """A motion takes some time; a sine has a period."""
    with pytest.raises(ArgumentError, match=r"duration: got .*greater than 0"):
        PointToPoint(start=0.0, end=1.0, duration=duration)
    with pytest.raises(ArgumentError, match=r"period: got .*greater than 0"):
        Sine(amplitude=1.0, period=duration)


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_series_is_that_of_numpy(count: int) -> None:
    """A function of time itself is NumPy's Chebyshev series on the same interval, with both derivatives."""
    low, high = -0.3, 1.7
    series = np.polynomial.Chebyshev(SERIES[:count], domain=[low, high])
    time = Polynomial(coefficients=(0.0, 1.0))
    mapped = Mapped(inner=time, coefficients=SERIES[:count], low=low, high=high)
    for t in np.linspace(low, high, 23):
        expected = [float(f(t)) for f in (series, series.deriv(1), series.deriv(2))]
        assert all_three(mapped, float(t)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_wrong_series() -> None:
    """A series has coefficients and an interval, and a profile inside that is not a series itself."""
    with pytest.raises(ArgumentError, match=r"coefficients: got \(\); required: at least one"):
        Mapped(inner=SINE, coefficients=())
    for high in (0.0, -1.0):
        with pytest.raises(ArgumentError, match=r"high: got .*more than low, 0\.0"):
            Mapped(inner=SINE, coefficients=(1.0,), low=0.0, high=high)
    with pytest.raises(ArgumentError, match="inner: got "):
        Mapped(inner=PROFILES["function of a sine"], coefficients=(1.0,))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="inner: got "):
        Mapped(inner=0.5, coefficients=(1.0,))  # type: ignore[arg-type]


# Larger, smaller, step

SPECIAL = (math.nan, math.inf, -math.inf, 0.0, 1.0, -1.0, 1e-310, 2.5)
PAIRS = [(a, b) for a in SPECIAL for b in SPECIAL]


def choices() -> Graph:
    """larger(a, b), smaller(a, b), step(a), larger(a, 0.5) and smaller(0.5, b) recorded."""
    tape = Tape()
    a, b = tape.inputs(2, 0)
    return finished(tape, [larger(a, b), smaller(a, b), step(a), larger(a, 0.5), smaller(0.5, b)], 2, 0)


def expected_choices(a: float, b: float) -> list[float]:
    """The same by NumPy, whose maximum and minimum propagate NaN."""
    return [np.maximum(a, b), np.minimum(a, b), float(a > 0), np.maximum(a, 0.5), np.minimum(0.5, b)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_choices_of_floats(a: float, b: float) -> None:
    """Of two floats; what is not a number stays so."""
    found = [larger(a, b), smaller(a, b), step(a), larger(a, 0.5), smaller(0.5, b)]
    np.testing.assert_array_equal(found, expected_choices(a, b))


def test_compiled_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled the same, NaN included, with the same bits in lanes and alone, signs of zeros included."""
    monkeypatch.setattr("tailwork.kernels.kernel.OFTEN", 0)
    rng = np.random.default_rng(0)
    rows = np.array([*PAIRS, (0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0), *rng.normal(size=(50, 2))])
    kernel = Kernel(choices())
    constants = kernel.constants(np.empty(0))
    many = kernel(rows, constants)
    np.testing.assert_array_equal(many, [expected_choices(*row) for row in rows])
    alone = np.array([kernel(row[None], constants)[0] for row in rows])
    numbers_only = ~np.isnan(many)
    np.testing.assert_array_equal(np.isnan(alone), np.isnan(many))
    np.testing.assert_array_equal(alone[numbers_only].view(np.int64), many[numbers_only].view(np.int64))


def test_derivatives_of_choices() -> None:
    """Away from kinks the derivative of the larger is that of the larger; a step has none."""
    tape = Tape()
    a, b = tape.inputs(2, 0)
    outputs = [larger(a * a, b * 3.0), smaller(a * b, a + b), step(a - b), step(a) * b, smaller(larger(a, -0.4), 0.4)]
    slopes = [entry for row in jacobian(tape, outputs, [a, b]) for entry in row]
    kernel = Kernel(finished(tape, [*outputs, *slopes], 2, 0))
    constants = kernel.constants(np.empty(0))
    rng = np.random.default_rng(1)
    h, near = 1e-4, 0
    for row in rng.uniform(-1.5, 1.5, size=(200, 2)):
        x, y = row
        if min(abs(x * x - 3 * y), abs(x * y - x - y), abs(x - y), abs(x), abs(abs(x) - 0.4)) < 1e-2:
            near += 1
            continue
        aside = h * np.eye(2)
        differences = (kernel(row + aside, constants) - kernel(row - aside, constants))[:, :5].T / (2 * h)
        found = kernel(row[None], constants)[0, 5:].reshape(5, 2)
        np.testing.assert_allclose(found, differences, rtol=0, atol=1e-11)
    assert near < 50


def test_choices_in_casadi() -> None:
    """As a CasADi function they have the same values and derivatives."""
    function = casadi_function("choices", choices(), {"x": 2}, {"y": (5,)})
    slopes = function.factory("slopes", ["x"], ["jac:y:x"])
    rng = np.random.default_rng(2)
    for row in [*rng.uniform(-2.0, 2.0, size=(20, 2)), np.array([math.inf, 0.0]), np.array([1.0, -math.inf])]:
        np.testing.assert_array_equal(np.array(function(row)).ravel(), expected_choices(*row))
        a, b = row
        expected = [[a > b, a < b], [a < b, a > b], [0, 0], [a > 0.5, 0], [0, b < 0.5]]
        np.testing.assert_array_equal(np.array(slopes(row)), np.array(expected, dtype=float))
