"""The integration methods: tableaus fulfil their order conditions, steps converge at their order; and derivatives of
expressions, which the stiff method takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import Scalar, Tape, arctan2, cos, opaque, sin, sqrt
from tailwork.control import Constant
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Run, simulate
from tailwork.simulation.integrate.tableaus import DORMAND_PRINCE, RK4, RODAS5P, Rosenbrock, RungeKutta

METHODS = {method.name: method for method in (RK4, DORMAND_PRINCE, RODAS5P)}
every_method = pytest.mark.parametrize("name", METHODS)
THETAS = np.linspace(0.0, 1.0, 11)
Tree = tuple  # a rooted tree is the tuple of the trees on its root


# Order conditions


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with as many nodes (Butcher)."""
    if order == 1:
        return ((),)
    found = set()
    for sizes in partitions(order - 1):
        for branches in branchings(sizes):
            found.add(tuple(sorted(branches)))
    return tuple(sorted(found))


def partitions(total: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Ways to write a number as a sum of falling terms."""
    if total == 0:
        yield ()
    for first in range(min(total, most or total), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def branchings(sizes: tuple[int, ...]) -> Iterator[tuple[Tree, ...]]:
    """All ways to choose trees of these sizes."""
    if not sizes:
        yield ()
        return
    same = sizes.count(sizes[0])
    for chosen in combinations_with_replacement(trees(sizes[0]), same):
        for rest in branchings(sizes[same:]):
            yield (*chosen, *rest)


def nodes(tree: Tree) -> int:
    """Number of nodes."""
    return 1 + sum(nodes(branch) for branch in tree)


def density(tree: Tree) -> int:
    """gamma of a tree: the product of the sizes of all its subtrees."""
    return nodes(tree) * prod(density(branch) for branch in tree)


def standard_form(method: RungeKutta | Rosenbrock) -> tuple[Array, Array, Array, Array, Array, Array]:
    """(alpha, gamma, b, e, p, c): k_i = h f(x + Σ alpha_ij k_j) + h J Σ gamma_ij k_j, x_new = x + Σ b_i k_i.

    Rosenbrock methods are given by u = Γ k: Hairer & Wanner II, IV.7.
    """
    if isinstance(method, RungeKutta):
        a, b, c, e, p = method.arrays
        return a, np.zeros_like(a), b, e, p, c
    a, b, c, e, p, extra = method.arrays
    stages = len(b)
    gamma = np.linalg.inv(np.eye(stages) / method.gamma - extra[:stages])
    return a @ gamma, gamma, b @ gamma, e @ gamma, gamma.T @ p, c


def elementary(tree: Tree, alpha: Array, beta: Array) -> Array:
    """What a tree demands of each stage: a node with one branch sees beta = alpha + gamma, one with more alpha."""
    if len(tree) == 1:
        return beta @ elementary(tree[0], alpha, beta)
    return np.prod([alpha @ elementary(branch, alpha, beta) for branch in tree], axis=0, initial=1.0) * np.ones(
        len(alpha)
    )


def misses(method: RungeKutta | Rosenbrock, weights: Array, order: int, theta: float = 1.0) -> float:
    """Largest miss of the conditions of exactly this order, at a share theta of the step."""
    alpha, gamma, *_ = standard_form(method)
    missed = [weights @ elementary(tree, alpha, alpha + gamma) - theta**order / density(tree) for tree in trees(order)]
    return float(np.abs(missed).max())


def test_numbers_of_trees() -> None:
    """There are 1, 1, 2, 4, 9, 20 rooted trees of 1 to 6 nodes; a method of order 5 meets 17 conditions."""
    assert [len(trees(k)) for k in range(1, 7)] == [1, 1, 2, 4, 9, 20]


@pytest.mark.measured("methods")
@every_method
def test_order_conditions(measured: Callable[..., None], name: str) -> None:
    """Each method meets all conditions up to its order, and not those of the next."""
    method = METHODS[name]
    b = standard_form(method)[2]
    for order in range(1, method.order + 1):
        measured(f"conditions up to order {method.order} of {name}", misses(method, b, order), at_most=1e-13)
    assert misses(method, b, method.order + 1) > 1e-5


@pytest.mark.parametrize("name", ["dopri5", "rodas5p"])
def test_embedded_order(name: str) -> None:
    """The embedded methods are of order 4 and no more: the error that steps are chosen by is of order 5."""
    method = METHODS[name]
    _, _, b, e, _, _ = standard_form(method)
    for order in range(1, 5):
        assert misses(method, b - e, order) < 1e-13
    assert misses(method, b - e, 5) > 1e-4


@pytest.mark.parametrize(("name", "order"), [("rk4", 3), ("dopri5", 4), ("rodas5p", 4)])
def test_dense_order_conditions(name: str, order: int) -> None:
    """Between the ends of a step RK4 is of order 3, the others of order 4."""
    method = METHODS[name]
    p = standard_form(method)[4]
    powers = np.arange(1, p.shape[1] + 1)
    for theta in THETAS:
        weights = p @ theta**powers
        for k in range(1, order + 1):
            assert misses(method, weights, k, theta) < 1e-12
    assert misses(method, p @ 0.5**powers, order + 1, 0.5) > 1e-5


@every_method
def test_dense_ends(name: str) -> None:
    """The polynomial between begins at the step's start and ends at its end; its slope there is that of the ODE for
    the explicit methods, so that it is continuously differentiable."""
    method = METHODS[name]
    _, b, _, _, p, *_ = method.arrays
    np.testing.assert_allclose(p.sum(axis=1), b, atol=2e-14 * np.abs(p).max())
    if isinstance(method, RungeKutta):
        first, last = np.eye(len(b))[[0, -1]]
        np.testing.assert_allclose(p[:, 0], first, atol=1e-15)
        np.testing.assert_allclose(p @ np.arange(1, p.shape[1] + 1), last, atol=1e-13)


@every_method
def test_rows(name: str) -> None:
    """Stages are at the sums of their rows; Rosenbrock methods also see time as a state (d is the row sum of Γ)."""
    method = METHODS[name]
    alpha, gamma, b, _, _, c = standard_form(method)
    np.testing.assert_allclose(alpha.sum(axis=1), c, atol=3e-14)
    if isinstance(method, Rosenbrock):
        np.testing.assert_allclose(gamma.sum(axis=1), method.d, atol=3e-14)
        np.testing.assert_allclose(np.diag(gamma), method.gamma, rtol=1e-14)
    else:
        np.testing.assert_array_equal(alpha[-1], b)  # the last stage is the derivative at the new point


def test_stability_of_rodas5p() -> None:
    """RODAS5P is L-stable: |R(iy)| ≤ 1 on the imaginary axis, R(∞) = 0; so is its embedded method at infinity."""
    alpha, gamma, b, e, _, _ = standard_form(RODAS5P)
    beta, one = alpha + gamma, np.ones(len(b))
    for y in np.geomspace(1e-3, 1e6, 400):
        stages = np.linalg.solve(np.eye(len(b)) - 1j * y * beta, one)
        assert abs(1.0 + 1j * y * (b @ stages)) <= 1.0 + 1e-12
    assert abs(1.0 - b @ np.linalg.solve(beta, one)) < 1e-11
    assert abs(1.0 - (b - e) @ np.linalg.solve(beta, one)) < 1e-11


# Convergence in plain NumPy


def plain_step(method: RungeKutta | Rosenbrock, t: float, x: float, h: float) -> float:
    """One step of x' = −2 t x² as the tableau's description says."""

    def f(t: float, x: float) -> float:
        return -2.0 * t * x * x

    u = np.zeros(len(method.b))
    if isinstance(method, RungeKutta):
        a, b, c, *_ = method.arrays
        for i in range(len(b)):
            u[i] = h * f(t + c[i] * h, x + a[i] @ u)
        return x + float(b @ u)
    a, b, c, _, _, extra = method.arrays
    by_x, by_t = -4.0 * t * x, -2.0 * x * x
    for i in range(len(b)):
        right = f(t + c[i] * h, x + a[i] @ u) + extra[i] @ u / h + h * method.d[i] * by_t
        u[i] = right / (1.0 / (h * method.gamma) - by_x)
    return x + float(b @ u)


@every_method
def test_order_on_a_scalar(name: str) -> None:
    """On x' = −2 t x², x = 1/(1 + t²), the largest error falls at the order."""
    method = METHODS[name]
    errors = []
    for count in (40, 80):
        h, x, worst = 1.0 / count, 1.0, 0.0
        for k in range(count):
            x = plain_step(method, k * h, x, h)
            worst = max(worst, abs(x - 1.0 / (1.0 + ((k + 1) * h) ** 2)))
        errors.append(worst)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(method.order, abs=0.1), errors


# Convergence on a robot


@cache
def pendulum() -> Model:
    """The 2020 quadruped with the pendulum tail."""
    return Model(liu2020("pendulum"))


@cache
def swung(method: str, step: float | None, rtol: float = 1e-13) -> Run:
    """0.2 s of the pendulum robot, its tail thrown sideways, by a method with steps of one length."""
    model = pendulum()
    q = model.standing()
    v = np.zeros_like(q)
    v[-2:] = 1.0, 4.0
    law = Constant(values=tuple(model.static_torques(q)))
    return simulate(model, (q, v), 0.2, control=law, method=method, step=step, rtol=rtol, atol=rtol, events=())


def final(run: Run) -> Array:
    """State at the end."""
    return run.trajectory.states(np.array([run.duration]))[0][0]


def observed(errors: list[float]) -> float:
    """Order that errors show when the steps are halved."""
    return float(np.log2(errors[0] / errors[1]))


@pytest.mark.measured("methods")
@every_method
def test_order_on_the_robot(measured: Callable[..., None], name: str) -> None:
    """Errors of the compiled methods fall at their order, 4, 5 and 5, on the pendulum robot (within 0.2)."""
    exact = final(swung("dopri5", 0.0005))
    errors = [float(np.linalg.norm(final(swung(name, h)) - exact)) for h in (0.005, 0.0025)]
    order = METHODS[name].order
    measured(f"order that {name} shows on the robot, less {order}", abs(observed(errors) - order), at_most=0.2)


@pytest.mark.parametrize(("name", "step"), [("rk4", 0.005), ("dopri5", 0.01), ("rodas5p", 0.01)])
def test_order_of_dense_output(name: str, step: float) -> None:
    """Between steps errors fall at order 4 or faster (RK4's cubic: local error of order 4), on the whole path."""
    times = np.linspace(0.0, 0.2, 203)
    exact = swung("dopri5", 0.0005).trajectory.states(times)[0]
    errors = [float(np.abs(swung(name, h).trajectory.states(times)[0] - exact).max()) for h in (step, step / 2)]
    assert observed(errors) > 3.7, errors


@pytest.mark.parametrize("name", ["rk4", "dopri5", "rodas5p"])
def test_dense_output_is_continuous(name: str) -> None:
    """Each step's polynomial ends where the next begins."""
    steps = swung(name, 0.01).trajectory.pieces[0].steps
    p = METHODS[name].arrays[4]
    ends = steps.states[:-1] + np.einsum("i,kin->kn", p.sum(axis=1), steps.stages)
    np.testing.assert_allclose(ends, steps.states[1:], atol=1e-13)


@pytest.mark.measured("methods")
def test_methods_agree_at_tight_tolerances(measured: Callable[..., None]) -> None:
    """The explicit and the stiff method agree to 1e-11 when both are asked for 1e-12."""
    apart = np.abs(final(swung("rodas5p", None, 1e-12)) - final(swung("dopri5", None))).max()
    measured("stiff beside explicit method at tolerance 1e-12, 0.2 s", apart, at_most=1e-11)


# Derivatives of expressions


def differences(f: Callable[[Array], Array], x: Array, step: float) -> Array:
    """df/dx by central differences of order 6, columns by x."""
    columns = []
    for direction in np.eye(len(x)) * step:
        rows = np.array([x + k * direction for k in (1, -1, 2, -2, 3, -3)])
        y = f(rows)
        slope = 0.75 * (y[0] - y[1]) - 0.15 * (y[2] - y[3]) + (y[4] - y[5]) / 60.0
        columns.append(slope / step)
    return np.array(columns).T


def random_expressions(rng: np.random.Generator, tape: Tape, count: int) -> tuple[list[Scalar], list[Scalar]]:
    """Inputs and expressions of them by all operations, away from where these are not smooth."""
    inputs: list[Scalar] = list(tape.inputs(3, 0))
    pool = list(inputs)
    for _ in range(count):
        a, b = (pool[k] for k in rng.integers(len(pool), size=2))
        made = [
            lambda a=a, b=b: a + b,
            lambda a=a, b=b: a - b,
            lambda a=a, b=b: sin(a) * b,
            lambda a=a, b=b: a / (b * b + 1.5),
            lambda a=a, b=b: -a * 0.5,
            lambda a=a, b=b: sqrt(a * a + b * b + 0.5),
            lambda a=a, b=b: cos(a - b),
            lambda a=a, b=b: arctan2(a, b * b + 1.0),
            lambda a=a, b=b: opaque(a + 0.25),
        ][rng.integers(9)]()
        pool.append(sin(made) if rng.random() < 0.3 else made)
    return inputs, pool[-4:]


@pytest.mark.parametrize("seed", range(12))
def test_jacobian_of_expressions(seed: int) -> None:
    """jacobian() is what central differences find, for random expressions of every operation."""
    rng, tape = np.random.default_rng(seed), Tape()
    inputs, outputs = random_expressions(rng, tape, 25)
    slopes = [entry for row in jacobian(tape, outputs, inputs) for entry in row]
    kernel = Kernel(finished(tape, [*outputs, *slopes], 3, 0))
    constants = kernel.constants(np.zeros(0))
    x = rng.uniform(-1.0, 1.0, 3)
    found = kernel(x[None], constants)[0, 4:].reshape(4, 3)
    expected = differences(lambda rows: kernel(np.ascontiguousarray(rows), constants)[:, :4], x, 3e-3)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(expected).max()))


def test_jacobian_of_opaque_copies() -> None:
    """An opaque copy is varied alone: y = x · copy(x) has dy/dcopy = x and dy/dx = copy + x · 1 as if plain."""
    tape = Tape()
    (x,) = tape.inputs(1, 0)
    copy = opaque(x)
    by_copy, by_x, by_both = (jacobian(tape, [x * copy], at)[0] for at in ([copy], [x], [x, copy]))
    kernel = Kernel(finished(tape, [*by_copy, *by_x, *by_both], 1, 0))
    np.testing.assert_allclose(kernel(np.array([[3.0]]), kernel.constants(np.zeros(0)))[0], [3.0, 6.0, 3.0, 3.0])


def test_jacobian_of_numbers() -> None:
    """Plain numbers have no derivatives, and nothing is varied by them."""
    tape = Tape()
    (x,) = tape.inputs(1, 0)
    assert jacobian(tape, [2.0], [x]) == [[0.0]]
    assert jacobian(tape, [x, x], [5.0]) == [[0.0], [0.0]]
    assert jacobian(tape, [x], []) == [[]]


def test_steps_that_are_far_too_long_return_what_there_is() -> None:
    """A stiff tail by explicit fixed steps: the run ends, says why and holds states that can be looked at."""
    model = Model(liu2020("usrt"))
    efforts = (*resting_legs(), *([5.0] * 6))
    for seed in range(4):  # in some, legs are out of reach between the ends of steps
        v = 0.3 * np.random.default_rng(seed).normal(size=len(model.velocity_names))
        run = simulate(model, (model.standing(), v), 0.3, method="rk4", step=1e-3, control=Constant(values=efforts))
        assert run.stopped is not None and "the given one is too long" in run.stopped.reason
        assert np.isfinite(run.data["q"]).all() and run.data["time"][-1] == run.stopped.time
        assert run.energy_balance_error() > 0.1  # such steps are worth nothing, and the run says so


def resting_legs() -> list[float]:
    """Leg torques that nearly hold the stand with the USRT."""
    model = Model(liu2020("pendulum"))
    return model.static_torques(model.standing())[:12].tolist()
