"""The linearisation that stiff methods use: against derivatives on the tape, differences, and the system's Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.engines.replay import replay
from oracles.layout import Array
from oracles.states import random_state, random_tree
from tailwork.algebra.derivatives import along, jacobian
from tailwork.algebra.expression import Scalar, Tape, sqrt
from tailwork.algebra.vectors import array, times
from tailwork.control import Driven, Polynomial, Sine, Tracking, point_to_point
from tailwork.kernels.graph import Graph, finished
from tailwork.mechanics.derivatives.linearised import linearised, turn_by_attitude
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.inverse import torso_frame_actuation, torso_frame_force
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.torso import torso_state
from tailwork.model import Model
from tailwork.robots import Air, Drag, Robot, TailDrag, blaberus, liu2018, liu2020, spot
from tailwork.robots.paths import robot_numbers
from tailwork.robots.springs import JointSpring, PointSpring
from tailwork.simulation.system import System

WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of order 8
ALL = ("leg1", "leg2", "leg3", "leg4")


def sprung() -> Layout:
    """Stance legs with springs, dampers and rotors on their joints."""
    layout = Layout(liu2020("pendulum"), ALL)
    limbs = dict(layout.limbs)
    for name in layout.stance:
        joints = tuple(replace(joint, armature=0.02) for joint in limbs[name].joints)
        springs = [JointSpring(joint=j.name, stiffness=30.0, rest=0.1, damping=0.5) for j in joints]
        reach = PointSpring(first=None, first_point=(0.1, 0.0, 0.1), second="k", second_point=(0.0, 0.02, -0.1),
                            stiffness=200.0, rest_length=0.2)  # fmt: skip
        limbs[name] = replace(limbs[name], joints=joints, springs=(*springs, reach))
    layout.__dict__["limbs"] = limbs
    return layout


def offset() -> Layout:
    """Legs with a sideways offset, dampers and rotors; dry friction, too sharp for these differences, left out."""
    dry = {path: 0.0 for path in robot_numbers(spot()) if path.endswith(".friction")}
    return Layout(spot().replace(dry), ("fl", "fr", "hl", "hr"))


FIXED_TREE = random_tree(np.random.default_rng(1), 2, geared=True)
FREE_TREES = random_tree(np.random.default_rng(2), 3, geared=False)
LAYOUTS: dict[str, Callable[[], Layout]] = {
    "pendulum": lambda: Layout(liu2020("pendulum"), ALL),
    "r3": lambda: Layout(liu2020("r3"), ALL),
    "usrt": lambda: Layout(liu2020("usrt"), ALL),
    "swing legs": lambda: Layout(liu2020("pendulum"), ("leg1", "leg3")),
    "quaternion": lambda: Layout(liu2020("pendulum"), ALL, attitude="quaternion"),
    "sprung legs": sprung,
    "offset legs": offset,
    "cockroach": lambda: Layout(blaberus(), ()),
    "fixed tree": lambda: Layout(FIXED_TREE, (), torso="fixed"),
    "free trees": lambda: Layout(FREE_TREES, ()),
    "sliders": lambda: Layout(random_tree(np.random.default_rng(2), 3, sliders=True), ()),
    "geared sliders": lambda: Layout(random_tree(np.random.default_rng(4), 3, geared=True, sliders=True), ()),
    "geared trees": lambda: Layout(random_tree(np.random.default_rng(4), 3, geared=True), ()),
}


def state_of(layout: Layout, seed: int = 3) -> tuple[Array, Array, Array, Array]:
    """q, v, tau, a."""
    rng = np.random.default_rng(seed)
    q, v, tau = random_state(layout.robot, layout.stance, rng, layout.torso)
    if layout.attitude == "quaternion":
        q = np.concatenate([q[:3], [1.1, 0.1, -0.05, 0.07], q[6:]])  # not of length one: the equations allow that
    return q, v, tau, rng.normal(size=len(v)) * (1.0 + np.abs(v))


def residual(layout: Layout, q: list[Scalar], v: list[Scalar], tau: list[Scalar], a: list[Scalar]) -> list[Scalar]:
    """M a + h − B tau, the torso's rows in the torso frame."""
    torso = torso_state(layout, q, v)
    pushed = times(torso_frame_actuation(layout, torso, q), array(tau)) if tau else [0.0] * len(v)
    return [f - p for f, p in zip(torso_frame_force(layout, torso, Inputs(q, v, ()), a), pushed, strict=True)]


def replayed(graph: Graph, points: Array, constants: Sequence[float] = ()) -> Array:
    """Outputs of a graph for one point or for rows of points; nothing is compiled."""
    values = [np.broadcast_to(value, points.shape[:-1]) for value in replay(graph, constants, np)(points.T)]
    return np.stack(values, axis=-1)


def evaluated(tape: Tape, outputs: list[Scalar], points: Array) -> Array:
    """Values of expressions of the tape's inputs, for one point or for rows of points."""
    return replayed(finished(tape, outputs, points.shape[-1], 0), points)


def symbols(state: Sequence[Array]) -> tuple[Tape, list[list[Scalar]]]:
    """A tape and its inputs, in parts as long as those of a state."""
    tape, ends = Tape(), np.cumsum([0, *(len(part) for part in state)])
    names = tape.inputs(int(ends[-1]), 0)
    return tape, [list(names[i:k]) for i, k in pairwise(ends)]


def slopes(layout: Layout, q: Array, v: Array, tau: Array, a: Array) -> dict[str, Array]:
    """Derivatives of the residual by q, v and a, by the equations under test."""
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


@pytest.mark.parametrize("name", LAYOUTS)
def test_is_the_derivative_of_the_equations(name: str) -> None:
    """By coordinates, velocities and accelerations, against differences of M a + h − B tau."""
    layout = LAYOUTS[name]()
    state = state_of(layout)
    found, point = slopes(layout, *state), np.concatenate(state)
    tape, parts = symbols(state)
    rows = residual(layout, *parts)
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
    layout = LAYOUTS[name]()
    state = state_of(layout)
    found = slopes(layout, *state)
    tape, (q, v, tau, a) = symbols(state)
    rows = residual(layout, q, v, tau, a)
    for argument, variables in (("q", q), ("v", v), ("a", a)):
        by = jacobian(tape, rows, variables)
        expected = evaluated(tape, [x for row in by for x in row], np.concatenate(state))
        assert close(found[argument], expected.reshape(len(rows), len(variables)), 1e-11)


def test_mass_is_symmetric() -> None:
    """As recorded: equal entries are one entry of the tape, and so kept once by a stage."""
    layout = LAYOUTS["usrt"]()
    tape, parts = symbols(state_of(layout))
    found = linearised(tape, layout, *parts)
    limb = found.mass[:, 6:]
    assert all(getattr(limb[i, k - 6], "index", 0) == getattr(found.mass[k, i], "index", 0)
               for i in range(18) for k in range(6, 18))  # fmt: skip


def windy() -> Robot:
    """The 2020 robot with drag on torso and tail, in a wind."""
    robot = liu2020("pendulum").replace({"tail.drag": TailDrag(radius=0.2)})
    drag = (Drag(area=0.3, point=(0.1, 0.0, 0.2)),)
    return replace(robot, torso=replace(robot.torso, drag=drag), air=Air(wind=(3.0, -2.0, 1.0)))


def systems() -> dict[str, Callable[[], System]]:
    """Systems whose stages are checked."""
    pd = Tracking(limb="tail", coordinate="ta", profile=Sine(amplitude=0.3, period=0.4), kp=80.0, kd=3.0)
    push = Driven(actuator="tail.tb", profile=Polynomial(coefficients=(0.1, 2.0, -3.0)))
    curves = {"ta": point_to_point(0.1, 0.8, 0.3), "tb": Sine(amplitude=0.5, period=0.3, phase=0.2)}
    return {
        "pendulum": lambda: System(Model(liu2020("pendulum"))),
        "r3": lambda: System(Model(liu2020("r3"))),
        "usrt": lambda: System(Model(liu2020("usrt"))),
        "liu2018": lambda: System(Model(liu2018())),
        "quaternion": lambda: System(Model(liu2020("pendulum"), attitude="quaternion")),
        "small angles": lambda: System(Model(liu2020("pendulum"), attitude="rpy-small-angle")),
        "prescribed": lambda: System(Model(liu2020("pendulum"), prescribed=["tail"]), motions={"tail": curves}),
        "controlled": lambda: System(Model(liu2020("pendulum")), (pd, push)),
        "flight": lambda: System(Model(liu2020("pendulum"), "none")),
        "two feet": lambda: System(Model(liu2020("r3"), ("leg1", "leg3"))),
        "fixed tree": lambda: System(Model(FIXED_TREE, "none", torso="fixed")),
        "fixed torso": lambda: System(Model(liu2020("usrt"), "none", torso="fixed")),
        "free trees": lambda: System(Model(FREE_TREES, "none")),
        "wind": lambda: System(Model(windy(), ("leg1", "leg3"))),
        "wind, prescribed": lambda: System(Model(windy(), "none", prescribed=["tail"]), motions={"tail": curves}),
    }


@pytest.mark.parametrize("name", systems())
def test_a_stage_solves_its_equations(name: str) -> None:
    """(sigma 1 − J) u = F + h d df/dt with J and df/dt from differences of the derivative."""
    system, rng, t = systems()[name](), np.random.default_rng(5), 0.1
    q, v, _, _ = state_of(system.model.layout)
    held, n = rng.normal(size=system.efforts), system.size
    at = np.concatenate([[t], system.state(q, v)])
    graphs = system.graphs("derivative") | system.graphs("linear")

    def answer(kind: str, points: Array) -> Array:
        graph, names = graphs[kind]
        return replayed(graph, points, [system.numbers[name] for name in names])

    steps = np.diag([1e-4, *[2e-4] * n])  # by time and by the state
    moved = np.stack([at + k * steps for k in (*WEIGHTS, *(-k for k in WEIGHTS))]).reshape(-1, 1 + n)
    values = answer("derivative", np.column_stack([moved, np.tile(held, (len(moved), 1))])).reshape(2, 4, 1 + n, n)
    by_t, *by_x = np.tensordot(list(WEIGHTS.values()), values[0] - values[1], 1) / np.diag(steps)[:, None]
    f = answer("derivative", np.concatenate([at, held]))
    for sigma in (30.0, 1e3, 1e5):
        kept = answer("linear", np.concatenate([at, held, f, [sigma]]))
        right = rng.normal(size=n) * np.abs(f).max()
        found = answer("solve", np.concatenate([kept, right, [0.37]]))
        expected = np.linalg.solve(sigma * np.eye(n) - np.transpose(by_x), right + 0.37 * by_t)
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
