"""Compiled code: its functions to the last digits, the same bits alone and in lanes, and when it is compiled."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_expressions import FORESTS, INPUTS, Tree, assert_bounded, points, recorded

from oracles.states import random_design, random_state
from tailwork import Model, Push
from tailwork.algebra.expression import Scalar, Tape, arctan2
from tailwork.errors import RobotError
from tailwork.kernels import kernel as kernel_module
from tailwork.kernels.casadi_export import casadi_function
from tailwork.kernels.emit import FARTHEST
from tailwork.kernels.graph import cut, finished, split
from tailwork.kernels.kernel import Constants, Kernel
from tailwork.kernels.parts import GROUP, LARGE
from tailwork.mechanics.springs_and_cables import bending
from tailwork.model import compiled as model_module
from tailwork.robots import biswal, blaberus, liu2018, liu2020
from tailwork.robots.paths import robot_numbers
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

ALL = ("leg1", "leg2", "leg3", "leg4")
PRESETS: dict[str, tuple[Robot, tuple[str, ...]]] = {
    "liu2018": (liu2018(), ALL),
    "no tail": (liu2020(None), ALL),
    "pendulum": (liu2020("pendulum"), ALL),
    "r3": (liu2020("r3"), ALL),
    "usrt": (liu2020("usrt"), ALL),
    "biswal": (biswal(), ALL),
    "blaberus": (blaberus(), ()),
}
extended = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs a longer float to compare with")


@pytest.fixture(scope="module", autouse=True)
def lanes_at_once() -> Iterator[None]:
    """Lanes for batches of any size, which else come only where they pay."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_module, "OFTEN", 0)
        yield


def kernel_of(function: Callable[..., list[Scalar]], count: int) -> Callable[..., Floats]:
    """A function of numbers, compiled; it takes one array an argument and gives one column a result."""
    tape = Tape()
    kernel = Kernel(finished(tape, function(*tape.inputs(count, 0)), count, 0))
    constants = kernel.constants(np.empty(0))
    return lambda *x: kernel(np.column_stack([np.asarray(a, dtype=np.float64) for a in x]), constants)


def units(found: Floats, exact: Any) -> Any:
    """Errors in units of the last place of the exact values."""
    return np.abs(found.astype(np.longdouble) - exact) / np.spacing(np.abs(exact.astype(np.float64)))


def same_bits(one: Floats, other: Floats) -> bool:
    """Equal in shape and in every bit (0 and −0 differ)."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()


# Functions.


@pytest.fixture(scope="module")
def wave() -> Callable[..., Floats]:
    """Sine and cosine as compiled."""
    return kernel_of(lambda x: [x.sin(), x.cos()], 1)


def angles(low: float, high: float) -> Floats:
    """Random angles of both signs, and those next to multiples of a quarter turn."""
    rng = np.random.default_rng(0)
    spread = np.exp(rng.uniform(math.log(low), math.log(high), 30000)) * rng.choice([-1.0, 1.0], 30000)
    turns = np.unique(np.floor(np.exp(rng.uniform(0.0, math.log(1 + high * 2 / math.pi), 5000))))
    near = (turns.astype(np.longdouble) * (np.longdouble(math.pi / 2) + np.longdouble(6.123233995736766e-17))).astype(
        float
    )
    near = near[near <= high]
    return np.concatenate([spread, near, -near, np.nextafter(near, 0.0), np.nextafter(near, np.inf)])


@extended
@pytest.mark.parametrize(("low", "high", "most"), [(1e-12, 1.0, 1.1), (1.0, 1e5, 1.6), (1e5, 1e12, 1.6)])
def test_sine_and_cosine(wave: Callable[..., Floats], low: float, high: float, most: float) -> None:
    """Within 1.6 units of the last place up to 1e12 rad, next to their zeros too."""
    x = angles(low, high)
    y = wave(x)
    exact = x.astype(np.longdouble)
    assert units(y[:, 0], np.sin(exact)).max() < most
    assert units(y[:, 1], np.cos(exact)).max() < most


def test_sine_and_cosine_of_small_angles(wave: Callable[..., Floats]) -> None:
    """Down to the smallest numbers the sine is the angle and the cosine one."""
    x = np.concatenate([[0.0, 5e-324, 2.2e-308, 1e-310], 10.0 ** np.arange(-300.0, -8.0)])
    y = wave(np.concatenate([x, -x]))
    assert np.array_equal(y[:, 0], np.concatenate([x, -x]))
    assert np.array_equal(y[:, 1], np.ones(2 * len(x)))


def test_sine_is_odd_and_cosine_even(wave: Callable[..., Floats]) -> None:
    x = angles(1e-3, 1e6)
    assert np.array_equal(wave(-x), wave(x) * [-1.0, 1.0])


def test_sine_and_cosine_of_what_is_no_angle(wave: Callable[..., Floats]) -> None:
    """Infinity and NaN give NaN, which the model reports."""
    assert np.isnan(wave([np.inf, -np.inf, np.nan])).all()


def test_sine_and_cosine_of_huge_angles(wave: Callable[..., Floats]) -> None:
    """An angle too large to be reduced gives NaN, never a wrong number."""
    x = np.array([1.1, 2.0, 3.0, 10.0, 1e3, 1e7, 1e100, 1e290]) * FARTHEST
    assert np.isnan(wave(np.concatenate([x, -x]))).all()


def test_square_root_and_division_are_exactly_rounded() -> None:
    run = kernel_of(lambda a, b: [a.sqrt(), a / b, 1.0 / b], 2)
    rng = np.random.default_rng(1)
    a, b = 10.0 ** rng.uniform(-300, 300, (2, 4001))
    assert np.array_equal(run(a, b)[:, 0], np.sqrt(a))
    b = rng.normal(size=4001)
    assert np.array_equal(run(a, b)[:, 1], a / b)
    assert np.array_equal(run(a, b)[:, 2], 1.0 / b)


def test_square_root_and_division_at_their_limits() -> None:
    """They answer as the standard says, never trap: the model sees what is not finite."""
    run = kernel_of(lambda a, b: [a.sqrt(), a / b], 2)
    found = run([0.0, -0.0, -1.0, 1.0, -1.0, 0.0, 5e-324, np.inf], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0, np.inf])
    nan, inf = np.nan, np.inf
    expected = [[0, 0], [-0.0, -0.0], [nan, -1], [1, inf], [nan, -inf], [0, nan], [math.sqrt(5e-324), 0], [inf, nan]]
    assert np.array_equal(found, np.array(expected), equal_nan=True)


@extended
def test_angles_of_directions_and_of_cosines() -> None:
    """atan2 within one unit of the last place."""
    run = kernel_of(lambda y, x: [arctan2(y, x), arctan2(y, 1.0), arctan2(1.0, x)], 2)
    rng = np.random.default_rng(2)
    y, x = rng.normal(size=(2, 20001)) * 10.0 ** rng.uniform(-10, 10, (2, 20001))
    long_y, long_x = y.astype(np.longdouble), x.astype(np.longdouble)
    found = run(y, x)
    for column, exact in enumerate(
        (np.arctan2(long_y, long_x), np.arctan(long_y), np.arctan2(np.longdouble(1), long_x))
    ):
        assert units(found[:, column], exact).max() < 1.0


def test_angles_at_their_limits() -> None:
    run = kernel_of(lambda y, x: [arctan2(y, x)], 2)
    y, x = [0.0, -0.0, 0.0, -0.0, 1.0, -1.0, 0.0], [1.0, 1.0, -1.0, -1.0, 0.0, 0.0, 0.0]
    assert same_bits(run(y, x)[:, 0], np.arctan2(y, x))


def test_functions_give_the_same_bits_alone_and_in_lanes() -> None:
    """By the scalar function, by the loop of rows (three are fewer than lanes) and by lanes."""
    run = kernel_of(lambda x, y: [x.sin(), x.cos(), (y * y).sqrt(), y / x, arctan2(y, x)], 2)
    rng = np.random.default_rng(8)
    x, y = rng.uniform(-4.0, 4.0, 18000), rng.normal(size=18000)
    together = run(x, y)
    by_three = [run(x[k : k + 3], y[k : k + 3]) for k in range(0, 18000, 3)]
    alone = [run(x[k : k + 1], y[k : k + 1]) for k in range(18000)]
    assert same_bits(np.concatenate(by_three), together)
    assert same_bits(np.concatenate(alone), together)


# Random graphs: the emitter, which fuses products into sums.


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of this module's own for kernels that nobody needs again."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("kernels")
        patch.setenv("TAILWORK_CACHE", str(place))
        yield place


@given(FORESTS, st.lists(points(), min_size=19, max_size=19))
@settings(max_examples=40, deadline=None)
def test_compiled_graphs_agree_with_the_equations(own_cache: Path, forest: list[Tree], rows: list[list[float]]) -> None:
    """Random graphs, compiled, give what the equations give to rounding, with the same bits in lanes and alone."""
    kernel = Kernel(recorded(forest))
    for row in rows[:2]:
        rows_here = np.array([[*other[:INPUTS], *row[INPUTS:]] for other in rows])  # one design, many states
        constants = kernel.constants(rows_here[0, INPUTS:])
        together = kernel(np.ascontiguousarray(rows_here[:, :INPUTS]), constants)
        for k, point in enumerate(rows_here):
            alone = kernel(np.ascontiguousarray(point[None, :INPUTS]), constants)
            assert same_bits(alone, together[k : k + 1])
            assert_bounded([float(y) for y in alone[0]], forest, [float(x) for x in point])


def test_products_are_fused_into_sums_in_every_place() -> None:
    """a b + c and its relatives are rounded once: exact where the rounded product would lose everything."""
    run = kernel_of(lambda a, b, c, d: [a * b + c, d - a * b, a * b - d, c + (a * b + d) * d], 4)
    found = run([1.0 + 2.0**-30], [1.0 - 2.0**-30], [-1.0], [1.0])[0]
    assert found[:3].tolist() == [-(2.0**-60), 2.0**-60, -(2.0**-60)]
    assert abs(found[3] - 1.0) <= 2.0**-52
    twice = kernel_of(lambda a, b: [a * b + a * b, a * b + b * b], 2)
    assert twice([3.0], [5.0])[0].tolist() == [30.0, 40.0]


# The same bits, however many states there are and in whatever order.


@pytest.fixture(scope="module", params=PRESETS)
def stated(request: pytest.FixtureRequest) -> tuple[Model, Floats, Floats, Floats]:
    """A model with twenty states of its robot."""
    robot, stance = PRESETS[request.param]
    rng = np.random.default_rng(3)
    states = [random_state(robot, stance, rng) for _ in range(20)]
    q, v, tau = (np.array(x) for x in zip(*states, strict=True))
    return Model(robot, stance), q, v, tau


def test_any_number_of_states_gives_the_same_bits(stated: tuple[Model, Floats, Floats, Floats]) -> None:
    """One at a time by the scalar function, or 1 to 20 together: blocks of lanes, then the rest by the loop of rows."""
    model, q, v, tau = stated
    alone = np.array([model.forward_dynamics(*row) for row in zip(q, v, tau, strict=True)])
    for count in range(1, 21):
        assert same_bits(model.forward_dynamics(q[:count], v[:count], tau[:count]), alone[:count])
        assert same_bits(model.forward_dynamics(q[-count:], v[-count:], tau[-count:]), alone[-count:])


def test_any_order_of_states_gives_the_same_bits(stated: tuple[Model, Floats, Floats, Floats]) -> None:
    """No lane knows of its neighbours, nor of which lane it is."""
    model, q, v, tau = stated
    together = model.forward_dynamics(q, v, tau)
    rng = np.random.default_rng(4)
    for _ in range(10):
        order = rng.permutation(20)
        assert same_bits(model.forward_dynamics(q[order], v[order], tau[order]), together[order])


def test_an_evaluator_gives_the_same_bits(stated: tuple[Model, Floats, Floats, Floats]) -> None:
    """The function for inner loops is the same function."""
    model, q, v, tau = stated
    together = model.forward_dynamics(q, v, tau)
    evaluator = model.evaluator("forward_dynamics")
    for k in range(20):
        for name, value in (("q", q[k]), ("v", v[k]), ("tau", tau[k])):
            evaluator.arguments[name][:] = value
        evaluator()
        assert same_bits(np.array(evaluator.answers["acceleration"]), together[k])


def test_a_state_that_cannot_be_evaluated_leaves_its_neighbours_alone() -> None:
    """In a block of lanes a NaN stays in its lane."""
    run = kernel_of(lambda a, b: [a.sqrt() / b + a.sin() * b], 2)
    a, b = np.linspace(0.1, 3.0, 16), np.linspace(-2.0, 2.0, 16)
    whole = run(a, b)
    for k in range(16):
        holed = a.copy()
        holed[k] = -1.0
        found = run(holed, b)
        assert np.isnan(found[k, 0])
        assert same_bits(np.delete(found, k, 0), np.delete(whole, k, 0))


def test_arrays_may_lie_anywhere() -> None:
    """Lanes are read and written at any address of a double."""
    tape = Tape()
    x, y = tape.inputs(2, 0)
    kernel = Kernel(finished(tape, [x * y, x - y, x.cos()], 2, 0))
    constants = kernel.constants(np.empty(0))
    store = np.random.default_rng(5).normal(size=2 * 16 + 8)
    expected = kernel(store[:32].reshape(16, 2).copy(), constants)
    for shift in range(8):
        moved = np.zeros(2 * 16 + 8)
        moved[shift : shift + 32] = store[:32]
        assert same_bits(kernel(moved[shift : shift + 32].reshape(16, 2), constants), expected)


# Many rows: the lane function part by part.


def in_parts(kernel: Kernel, constants: Constants, x: Floats) -> Floats:
    """Outputs for rows of inputs, whole blocks of lanes."""
    y = np.full((len(x), kernel.outputs), np.nan)
    kernel.lane_loop(x, constants, y)()
    return y


def test_parts_give_the_same_bits_for_any_number_of_blocks() -> None:
    """Several blocks go through each part together and what is left alone, each as the scalar function does."""
    tape = Tape()
    x = tape.inputs(9, 0)
    values = [*x, tape.inputs(1, 9)[0].sin()]
    for k in range(300):  # reaches back far enough to cross parts, with products, quotients and signs of all kinds
        a, b, c = values[-1], values[-2 - k % 7], values[(5 * k) % len(values)]
        options = (
            a * b + c,
            c - a * b,
            (a * a + 1.0).sqrt(),
            a / (b * b + 1.0),
            (a + 2.0 * c).cos() * b,
            arctan2(a, b),
        )
        values.append(options[k % len(options)])
    kernel = Kernel(finished(tape, [values[40], -values[150], values[-1], x[3], values[-1] * 2.0, values[9]], 9, 1))
    constants = kernel.constants(np.array([0.7]))
    rows = np.random.default_rng(6).normal(size=(kernel.width * (2 * GROUP + 3), 9))
    alone = np.array([kernel.row(row, constants) for row in rows])
    assert np.isfinite(alone).all()
    for blocks in (0, 1, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP + 3):
        count = blocks * kernel.width
        assert same_bits(in_parts(kernel, constants, rows[:count]), alone[:count])


@pytest.mark.parametrize("name", ["pendulum", "usrt"])
def test_many_states_give_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call with very many states goes part by part; here 43 are taken for very many."""
    robot, stance = PRESETS[name]
    model = Model(robot, stance)
    rng = np.random.default_rng(7)
    q, v, tau = (np.array(x) for x in zip(*(random_state(robot, stance, rng) for _ in range(43)), strict=True))
    few = model.forward_dynamics(q, v, tau)
    monkeypatch.setattr(kernel_module, "MANY", 43)
    assert same_bits(model.forward_dynamics(q, v, tau), few)


def test_functions_of_large_graphs_give_the_same_bits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Functions of a graph that is taken for large go part by part."""
    monkeypatch.setenv("TAILWORK_CACHE", str(tmp_path / "whole"))
    monkeypatch.setattr(kernel_module.parts, "LARGE", 10_000)
    tape = Tape()
    x, values = tape.inputs(5, 0), list(tape.inputs(5, 0))
    for k in range(700):
        values.append((values[-1] * values[-5] + x[k % 5]).sin() if k % 3 else values[-2] / (1.0 + values[-4] * x[0]))
    graph = finished(tape, [values[40], -values[150], values[-1], x[3], values[9]], 5, 0)
    kernel = Kernel(graph)
    constants, rows = kernel.constants(np.empty(0)), np.random.default_rng(6).normal(size=(8 * kernel.width, 5))
    alone = np.array([kernel.row(row, constants) for row in rows])
    assert np.isfinite(alone).all()
    monkeypatch.setenv("TAILWORK_CACHE", str(tmp_path / "parts"))
    monkeypatch.setattr(kernel_module.parts, "LARGE", 0)
    monkeypatch.setattr(kernel_module, "OFTEN", 0)
    in_parts = Kernel(graph)
    assert "@scalar3" in kernel_module.parts.scalar_module(*split(graph))
    assert "@lanes3" in kernel_module.parts.lane_module(in_parts._main, in_parts.width)
    assert same_bits(np.array([in_parts.row(row, constants) for row in rows]), alone)
    assert same_bits(in_parts(rows, constants), alone)


def test_lanes_are_compiled_when_they_pay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Few rows go to the scalar function; once many have come, lanes are compiled, and give the same bits."""
    monkeypatch.setenv("TAILWORK_CACHE", str(tmp_path))
    tape = Tape()
    x, y = tape.inputs(2, 0)
    kernel = Kernel(finished(tape, [x.sin() * y, x / y + y], 2, 0))
    constants = kernel.constants(np.empty(0))
    rows = np.random.default_rng(8).normal(size=(5 * kernel.width + 1, 2))
    monkeypatch.setattr(kernel_module, "OFTEN", 2 * len(rows))
    made = []
    lane_module = kernel_module.parts.lane_module
    monkeypatch.setattr(kernel_module.parts, "lane_module", lambda *given: made.append(given) or lane_module(*given))
    by_scalar = kernel(rows, constants)
    assert not made
    assert same_bits(kernel(rows, constants), by_scalar) and len(made) == 1
    assert same_bits(kernel(rows, constants), by_scalar) and len(made) == 1


def test_operations_carried_out() -> None:
    """A fused product and sum are two, and a product fused into two sums is carried out twice; signs are free."""

    def count(function: Callable[..., list[Scalar]]) -> tuple[int, int]:
        tape = Tape()
        kernel = Kernel(finished(tape, function(*tape.inputs(3, 0)), 3, 0))
        return kernel.flops, kernel.executed

    assert count(lambda a, b, c: [a * b + c]) == (2, 2)
    assert count(lambda a, b, c: [a * b + c, a * b - c]) == (3, 4)
    assert count(lambda a, b, c: [-(a / b), (a - c).sqrt()]) == (3, 3)


# Net bending of a universal joint.


def exact_ratio(cosine: Any, sine: Any) -> Any:
    """sigma/sin sigma in long floats."""
    sigma = np.arctan2(sine, cosine)
    return np.where(sine == 0, np.longdouble(1), sigma / np.where(sine == 0, 1, sine))


@extended
def test_bending() -> None:
    """sigma/sin sigma to 2e-15 up to 160°; beyond, to what the rounding of cos sigma leaves: u/(1 + cos sigma)."""
    rng = np.random.default_rng(6)
    degrees = np.concatenate(
        [10.0 ** rng.uniform(-12, 0, 1000), rng.uniform(0, 179.9, 4000), [0.0, 90.0, 160.0, 179.9]]
    )
    run = kernel_of(lambda ca, sa, cb, sb: list(bending((ca, sa), (cb, sb))), 4)
    for share in (0.0, 0.3, 0.7, 1.0):  # of the bending in the first angle
        first = np.minimum(np.radians(degrees) * share, 1.5) if share < 1.0 else np.radians(degrees)
        second = np.radians(degrees) * math.sqrt(1 - share**2)
        ca, sa, cb, sb = np.cos(first), np.sin(first), np.cos(second), np.sin(second)
        long_ca, long_sa, long_cb, long_sb = (
            f(x.astype(np.longdouble)) for x in (first, second) for f in (np.cos, np.sin)
        )
        cosine, sine = long_ca * long_cb, np.sqrt(long_sa**2 + (long_ca * long_sb) ** 2)
        exact = exact_ratio(cosine, sine)
        ratio, sine2, ga, gb = run(ca, sa, cb, sb).T
        left = 1.0 + cosine.astype(float)
        error = np.abs((ratio - exact) / exact).astype(float)
        assert error[left > 1 + math.cos(math.radians(160.0))].max() < 2e-15
        assert (error <= 5e-16 + 2.0**-53 * 1.5 / left).all()
        assert np.abs(sine2 - sine**2).max() < 5e-16
        assert np.abs(ga - long_sa * long_cb).max() < 3e-16
        assert np.abs(gb - long_ca * long_sb).max() < 3e-16


def test_bending_is_smooth_where_there_is_none() -> None:
    """At sigma = 0 the ratio is 1, its slope 0 and its curvature 1/3, through CasADi too."""
    assert bending((1.0, 0.0), (1.0, 0.0)) == (1.0, 0.0, 0.0, 0.0)
    small = 10.0 ** np.arange(-160.0, -2.0, 0.5)
    for sigma in small:
        for angles_ in ((sigma, 0.0), (0.0, sigma)):
            (a, b), series = angles_, 1.0 + sigma**2 / 6 + 7 * sigma**4 / 360
            ratio = bending((math.cos(a), math.sin(a)), (math.cos(b), math.sin(b)))[0]
            assert abs(ratio - series) < 5e-16
    tape = Tape()
    a, b = tape.inputs(2, 0)
    graph = finished(tape, [bending((a.cos(), a.sin()), (b.cos(), b.sin()))[0]], 2, 0)
    function = casadi_function("f", graph, {"x": 2}, {"y": (1,)})
    x = casadi.SX.sym("x", 2)
    hessian, gradient = casadi.hessian(function(x), x)
    found = [np.array(casadi.Function("h", [x], [e])([0.0, 0.0])) for e in (gradient, hessian)]
    np.testing.assert_allclose(found[0], np.zeros((2, 1)), atol=1e-15)
    np.testing.assert_allclose(found[1], np.eye(2) / 3, atol=1e-14)


# When it is compiled.


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All modules handed to LLVM or its cache from now on; no kernel of earlier tests is known."""
    handed: list[str] = []
    compiled = kernel_module.compiled

    def counted(identity: str, assembly: Callable[[], str], **more: Any) -> Any:
        handed.append(identity)
        return compiled(identity, assembly, **more)

    monkeypatch.setattr(kernel_module, "compiled", counted)
    monkeypatch.setattr(model_module, "_kernels", {})
    return handed


def asked(model: Model) -> list[Floats]:
    """Some answers of a model in the state in which its robot stands."""
    q, v = model.standing(), np.full(len(model.velocity_names), 0.1)
    tau = np.full(len(model.actuator_names), 0.5)
    path = model.path(q, v, tau)
    return [path.acceleration, path.foot_forces, path.powers, model.forward_dynamics(q, v, tau), model.bias(q, v)]


@pytest.mark.parametrize("name", ["liu2018", "pendulum", "usrt"])
def test_changed_numbers_are_not_compiled(name: str, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one of a robot's numbers, nor all at once, nor a new model; and the answers are those of the new numbers."""
    robot, stance = PRESETS[name]
    first = Model(robot, stance)
    answers = asked(first)
    known = len(compilations)
    assert known == 3, "forward dynamics, path, bias"
    rng = np.random.default_rng(7)
    changed = random_design(robot, rng)
    found = asked(Model(changed, stance))
    for path, value in list(robot_numbers(robot).items())[:: 1 if name == "pendulum" else 4]:
        if value:
            try:
                Model(robot.replace({path: value * 1.01}), stance)
            except RobotError:  # an inertia that no body has: its entries change only together
                assert "inertia" in path
    assert len(compilations) == known
    assert all(same_bits(a, b) for a, b in zip(asked(first), answers, strict=True)), "the first model is as it was"
    monkeypatch.setattr(model_module, "_kernels", {})
    afresh = asked(Model(changed, stance))
    assert len(compilations) == 2 * known
    assert set(compilations[:known]) == set(compilations[known:]), "the very same code"
    assert all(same_bits(a, b) for a, b in zip(found, afresh, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(found, answers, strict=True))


def test_numbers_that_look_special_are_not_compiled(compilations: list[str]) -> None:
    """A one, a minus sign, or two numbers that happen to be equal are no structure."""
    robot = liu2020("pendulum").without("legs")
    Model(robot)
    for changes in (
        {"torso.mass": 1.0, "tail.length": 1.0},
        {"torso.mass": 2.0, "tail.mass": 2.0},
        {"tail.mount.y": 0.25},
        {"gravity": 1.0},
        {"tail.mass": 1e-150},
        {"stand": (1.0, 2.0, 3.0)},
        {"name": "another"},
    ):
        Model(robot.replace(changes))
    assert len(compilations) == 1


@pytest.mark.parametrize(
    "changes",
    [{"tail.tip_mass": 0.1}, {"tail.armature": 1e-4}, {"tail.mount.x": 0.1}, {"tail.mount.y": 0.0}, {"gravity": 0.0}],
)
def test_a_zero_that_comes_or_goes_is_compiled(changes: dict[str, float], compilations: list[str]) -> None:
    """What is exactly zero is structure; back again nothing is compiled."""
    robot = liu2020("pendulum").without("legs")
    Model(robot)
    Model(robot.replace(changes))
    assert len(set(compilations)) == len(compilations) == 2
    Model(robot.replace(changes).replace({path: robot_numbers(robot)[path] for path in changes}))
    assert len(compilations) == 2


def test_a_change_of_structure_is_compiled(compilations: list[str]) -> None:
    """More links, another drive of a limb, another attitude, a push: each its own code, once."""
    robot = liu2020("usrt").without("legs").replace({"tail.links": 2, "tail.segments": 1})

    def models() -> None:
        Model(robot)
        Model(robot.replace({"tail.links": 3}))
        Model(robot, prescribed=["tail"])
        Model(robot, torso="fixed")
        Model(robot, attitude="quaternion")
        Model(robot, pushes=[Push("tail", "theta_2")])

    models()
    assert len(set(compilations)) == len(compilations) == 6
    models()
    assert len(compilations) == 6


def test_no_compiler_is_needed(tmp_path: Path) -> None:
    """With nothing on the PATH and an empty cache the answers are the same bits."""
    robot = liu2020("pendulum").without("legs")
    code = (
        "from tailwork import Model; from tailwork.robots import liu2020\n"
        "model = Model(liu2020('pendulum').without('legs'))\n"
        "print(model.forward_dynamics([0.1] * 8, [0.2] * 8, [0.3] * 2).tobytes().hex())"
    )
    environment = {"PATH": "", "TAILWORK_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    expected = Model(robot).forward_dynamics([0.1] * 8, [0.2] * 8, [0.3] * 2)
    assert ran.stdout.strip() == expected.tobytes().hex()
    assert len(list(tmp_path.iterdir())) == 1


def test_long_functions_are_cut_and_compute_the_same() -> None:
    """Beyond a length, functions consist of several parts: the same sums, alone and in lanes."""
    count = 3 * LARGE

    def equations(x: Scalar, y: Scalar) -> list[Scalar]:
        for k in range(count):
            x = x + y if k % 3 else x - y
        return [x]

    run = kernel_of(equations, 2)
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 9))
    expected = [equations(float(a), float(b))[0] for a, b in zip(x, y, strict=True)]
    assert np.array_equal(run(x, y)[:, 0], expected)
    assert np.array_equal(run(x[:1], y[:1])[:, 0], expected[:1])


def test_a_graph_in_two_parts() -> None:
    """A graph cut in two gives what the whole gives: the second part gets, besides the inputs that come late, what the
    first hands over, once each; both know the parameters."""
    tape = Tape()
    a, b, late, other, mass, length = tape.inputs(6, 0)  # two early, two late, two parameters
    shared = a * b + mass
    first = [shared.sin(), a]
    second = [shared * late + b * length, (late - other) * length, mass * length, shared, 2.0]
    parts, values = cut(tape, first, second, 2, 4, 2), np.array([0.3, -1.7, 0.9, 2.1])
    parameters = np.array([1.3, 0.7])
    early, later, whole = (
        Kernel(graph) for graph in (parts.first, parts.second, finished(tape, [*first, *second], 4, 2))
    )
    found = early(values[None, :2], early.constants(parameters))[0]
    assert len(found) == 2 + parts.handed and parts.handed == 2  # shared, b · length
    rest = later(np.concatenate([found[2:], values[2:]])[None], later.constants(parameters))[0]
    expected = whole(values[None], whole.constants(parameters))[0]
    np.testing.assert_array_max_ulp(np.concatenate([found[:2], rest]), expected, maxulp=2)
