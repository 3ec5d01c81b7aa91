"""The linearisation that stiff methods use: against derivatives on the tape, differences, and the system's Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from oracles.layout import Array
from oracles.states import random_state, random_tree
from tailwork.algebra.derivatives import along, jacobian
from tailwork.algebra.expression import Scalar, Tape, sqrt
from tailwork.algebra.vectors import array, times
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.inverse import torso_frame_actuation, torso_frame_force
from tailwork.mechanics.linearised import linearised, turn_by_attitude
from tailwork.mechanics.torso import torso_state
from tailwork.model import Model
from tailwork.robots import blaberus, liu2020
from tailwork.robots.limb import JointSpring, PointSpring
from tailwork.simulation import Tracking, point_to_point
from tailwork.simulation.system import System

WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of order 8


def sprung() -> Model:
    """Stance legs with springs, dampers and rotors on their joints."""
    model = Model(liu2020("pendulum"))
    limbs = dict(model.layout.limbs)
    for name in model.layout.stance:
        joints = tuple(replace(joint, armature=0.02) for joint in limbs[name].joints)
        springs = [JointSpring(joint=j.name, stiffness=30.0, rest=0.1, damping=0.5) for j in joints]
        reach = PointSpring(first=None, first_point=(0.1, 0.0, 0.1), second="k", second_point=(0.0, 0.02, -0.1),
                            stiffness=200.0, rest_length=0.2)  # fmt: skip
        limbs[name] = replace(limbs[name], joints=joints, springs=(*springs, reach))
    model.layout.__dict__["limbs"] = limbs
    return model


MODELS: dict[str, Callable[[], Model]] = {
    "pendulum": lambda: Model(liu2020("pendulum")),
    "r3": lambda: Model(liu2020("r3")),
    "usrt": lambda: Model(liu2020("usrt")),
    "swing legs": lambda: Model(liu2020("pendulum"), ("leg1", "leg3")),
    "quaternion": lambda: Model(liu2020("pendulum"), attitude="quaternion"),
    "sprung legs": sprung,
    "cockroach": lambda: Model(blaberus(), "none"),
    "fixed tree": lambda: Model(random_tree(np.random.default_rng(1), 2, geared=True), "none", torso="fixed"),
    "free trees": lambda: Model(random_tree(np.random.default_rng(2), 3, geared=False), "none"),
    "geared trees": lambda: Model(random_tree(np.random.default_rng(4), 3, geared=True), "none"),
}


def state_of(model: Model, seed: int = 3) -> tuple[Array, Array, Array, Array]:
    """q, v, tau, a."""
    rng = np.random.default_rng(seed)
    q, v, tau = random_state(model.robot, model.layout.stance, rng, model.layout.torso)
    if model.layout.attitude == "quaternion":
        q = np.concatenate([q[:3], [1.1, 0.1, -0.05, 0.07], q[6:]])  # not of length one: the equations allow that
    return q, v, tau, rng.normal(size=len(v)) * (1.0 + np.abs(v))


def residual(model: Model, q: list[Scalar], v: list[Scalar], tau: list[Scalar], a: list[Scalar]) -> list[Scalar]:
    """M a + h − B tau, the torso's rows in the torso frame."""
    layout = model.layout
    torso = torso_state(layout, q, v)
    pushed = times(torso_frame_actuation(layout, torso, q), array(tau)) if tau else [0.0] * len(v)
    return [f - p for f, p in zip(torso_frame_force(layout, torso, Inputs(q, v, ()), a), pushed, strict=True)]


def evaluated(tape: Tape, outputs: list[Scalar], points: Array) -> Array:
    """Values of expressions of the tape's inputs, for one point or for rows of points."""
    rows = np.atleast_2d(points)
    kernel = Kernel(finished(tape, outputs, rows.shape[1], 0), lanes=False)
    return kernel(rows, kernel.constants(np.zeros(0))).reshape(*points.shape[:-1], len(outputs))


def symbols(state: Sequence[Array]) -> tuple[Tape, list[list[Scalar]]]:
    """A tape and its inputs, in parts as long as those of a state."""
    tape, ends = Tape(), np.cumsum([0, *(len(part) for part in state)])
    names = tape.inputs(int(ends[-1]), 0)
    return tape, [list(names[i:k]) for i, k in pairwise(ends)]


def slopes(model: Model, q: Array, v: Array, tau: Array, a: Array) -> dict[str, Array]:
    """Derivatives of the residual by q, v and a, by the equations under test."""
    layout = model.layout
    tape, parts = symbols((q, v, tau, a))
    found = linearised(tape, layout, *parts)
    n, first = len(v), 3 + len(q) - len(v) + 3  # of the limbs' coordinates
    turn = turn_by_attitude(tape, found.torso.rotation, parts[0][3:first]) if layout.torso_free else array([[]])
    wanted = [found.mass, found.by_rate, found.by_place, found.torso.rotation, turn]
    values = evaluated(tape, [x for m in wanted for x in m.ravel()], np.concatenate([q, v, tau, a]))
    mass, by_rate, by_place, rotation, turn = (
        part.reshape(m.shape)
        for part, m in zip(np.split(values, np.cumsum([m.size for m in wanted])[:-1]), wanted, strict=True)
    )
    if not layout.torso_free:
        return {"q": by_place, "v": by_rate, "a": mass}
    back, shift = np.eye(n), np.eye(n, len(q))
    back[:3, :3] = back[3:6, 3:6] = shift[:3, :3] = rotation.T
    shift[3:, 3:] = 0.0
    shift[3:6, 3:first] = turn
    shift[6:, first:] = np.eye(n - 6)
    return {"q": by_place @ shift, "v": by_rate @ back, "a": mass @ back}


def close(found: Array, expected: Array, share: float) -> bool:
    """Equal to a share of each row's largest entry, rows that are small against all others measured by those."""
    scale = np.abs(expected).max(axis=1, keepdims=True)
    return bool((np.abs(found - expected) <= share * np.maximum(scale, 1e-3 * scale.max())).all())


@pytest.mark.parametrize("name", MODELS)
def test_is_the_derivative_of_the_equations(name: str) -> None:
    """By coordinates, velocities and accelerations, against differences of M a + h − B tau."""
    model = MODELS[name]()
    state = state_of(model)
    found, point = slopes(model, *state), np.concatenate(state)
    tape, parts = symbols(state)
    rows = residual(model, *parts)
    ends = np.cumsum([0, *(len(part) for part in state)])
    for argument, start, end, step in (("q", 0, 1, 1e-3), ("v", 1, 2, 1e-1), ("a", 3, 4, 1e-1)):
        directions = np.eye(len(point))[ends[start] : ends[end]] * step
        moved = np.stack([point + k * directions for k in (*WEIGHTS, *(-k for k in WEIGHTS))])
        plus, minus = np.split(evaluated(tape, rows, moved.reshape(-1, len(point))).reshape(8, len(directions), -1), 2)
        expected = np.tensordot(list(WEIGHTS.values()), plus - minus, 1).T / step
        assert close(found[argument], expected, 2e-8)


@pytest.mark.parametrize("name", ["cockroach", "free trees", "fixed tree"])
def test_agrees_with_the_tape(name: str) -> None:
    """To rounding, with the same derivatives taken operation by operation."""
    model = MODELS[name]()
    state = state_of(model)
    found = slopes(model, *state)
    tape, (q, v, tau, a) = symbols(state)
    rows = residual(model, q, v, tau, a)
    for argument, variables in (("q", q), ("v", v), ("a", a)):
        by = jacobian(tape, rows, variables)
        expected = evaluated(tape, [x for row in by for x in row], np.concatenate(state))
        assert close(found[argument], expected.reshape(len(rows), len(variables)), 1e-11)


def test_mass_is_symmetric() -> None:
    """As recorded: equal entries are one entry of the tape, and so kept once by a stage."""
    model = MODELS["usrt"]()
    tape, parts = symbols(state_of(model))
    found = linearised(tape, model.layout, *parts)
    limb = found.mass[:, 6:]
    assert all(getattr(limb[i, k - 6], "index", 0) == getattr(found.mass[k, i], "index", 0)
               for i in range(18) for k in range(6, 18))  # fmt: skip


SYSTEMS: dict[str, Callable[[], System]] = {
    "pendulum": lambda: System(MODELS["pendulum"]()),
    "quaternion": lambda: System(MODELS["quaternion"]()),
    "small angles": lambda: System(Model(liu2020("pendulum"), attitude="rpy-small-angle")),
    "fixed tree": lambda: System(MODELS["fixed tree"]()),
    "free trees": lambda: System(MODELS["free trees"]()),
    "prescribed": lambda: System(
        Model(liu2020("pendulum"), prescribed=["tail"]),
        motions={"tail": {"ta": point_to_point(0.0, 0.3, 0.3), "tb": point_to_point(0.0, 0.7, 0.3)}},
    ),
    "controlled": lambda: System(
        MODELS["pendulum"](),
        [Tracking(limb="tail", coordinate="tb", profile=point_to_point(0.0, 0.7, 0.3), kp=1000.0, kd=20.0)],
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_stage_solves_its_equations(name: str) -> None:
    """(sigma 1 − J) u = F + h d df/dt with J and df/dt from differences of the compiled derivative."""
    system, rng, t = SYSTEMS[name](), np.random.default_rng(5), 0.1
    q, v, _, _ = state_of(system.model)
    x, held, n = system.state(q, v), rng.normal(size=system.efforts), system.size
    kernels = {kind: system.kernel(kind) for kind in ("derivative", "linear", "solve")}

    def answer(kind: str, *parts: Array) -> Array:
        kernel, constants = kernels[kind]
        return kernel(np.concatenate(parts)[None], constants)[0]

    def f(t: float, x: Array) -> Array:
        return answer("derivative", np.array([t]), x, held)

    def slope(function: Callable[[float], Array], step: float) -> Array:
        terms = [w * (function(k * step) - function(-k * step)) for k, w in WEIGHTS.items()]
        return np.sum(terms, axis=0) / step

    by_x = np.stack([slope(lambda h, e=e: f(t, x + h * e), 2e-4) for e in np.eye(n)], axis=1)
    by_t = slope(lambda h: f(t + h, x), 1e-4)
    for sigma in (30.0, 1e3, 1e5):
        kept = answer("linear", np.array([t]), x, held, f(t, x), np.array([sigma]))
        right = rng.normal(size=n) * np.abs(f(t, x)).max()
        found = answer("solve", kept, right, np.array([0.37]))
        expected = np.linalg.solve(sigma * np.eye(n) - by_x, right + 0.37 * by_t)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_along_directions() -> None:
    """Chains of one variable, joins of several, variables that are held, and plain numbers among them."""
    tape = Tape()
    x, y, z = tape.inputs(3, 0)
    chain = sqrt((x * x + 3.0) * x)
    outputs = [chain * y, chain + chain * chain, y * 2.0, 5.0]
    rows = along(tape, outputs, [[(x, 1.0)], [(x, 2.0), (y, z)], [(y, 0.0)], [(3.0, 1.0)]])
    point = np.array([0.7, -1.3, 0.4])
    found = evaluated(tape, [value for row in rows for value in row], point).reshape(4, 4)
    a, b, c = point
    s = np.sqrt((a * a + 3.0) * a)
    ds = (3.0 * a * a + 3.0) / (2.0 * s)
    by_x = np.array([ds * b, ds + 2.0 * s * ds, 0.0, 0.0])
    expected = np.stack([by_x, 2.0 * by_x + np.array([s * c, 0.0, 2.0 * c, 0.0]), np.zeros(4), np.zeros(4)], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
