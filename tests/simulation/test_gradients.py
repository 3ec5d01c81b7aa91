"""Derivatives backwards: of graphs, and of whole runs by their start, design and control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import Tape, arctan2, cos, larger, sin, sqrt, step
from tailwork.control import Constant, Tracking, point_to_point
from tailwork.errors import ArgumentError, StateError
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.vjp import vjp
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import gradient, gradients, simulate_batch
from tailwork.simulation.system import System

DURATION, STEP = 0.1, 1e-3
FIXED: dict[str, Any] = {"method": "rk4", "step": STEP}
NAMES = (
    "tail.length", "tail.mass", "torso.mass", "legs.thigh_length", "legs.shank_mass", "tail.mount.y", "gravity",
    "legs.hips.2.x", "control.1.values.5", "control.3.kp", "control.3.profile.end",
)  # fmt: skip


def test_backwards_equals_forwards() -> None:
    """Weights pulled back through every operation are the weights times the Jacobian."""
    tape = Tape()
    a, b, c, d = tape.inputs(4, 0)
    outputs = [
        sin(a * b) / (1.0 + c * c) - sqrt(a * a + b * b),
        arctan2(a - c, b + d) * cos(d) + larger(a, b) * c,
        -(a / d) + step(c) * b - larger(-c, 0.3) * a,
        a * a * a,
        2.5,
    ]
    by_each = jacobian(tape, outputs, [a, b, c, d])
    forwards = Kernel(finished(tape, [x for row in by_each for x in row], 3, 1))
    backwards = Kernel(vjp(finished(tape, outputs, 3, 1)))
    rng = np.random.default_rng(2)
    for _ in range(20):
        x, parameter, weights = rng.uniform(-2.0, 2.0, 3), rng.uniform(1.0, 2.0, 1), rng.normal(size=5)
        matrix = forwards.row(x, forwards.constants(parameter)).reshape(5, 4)
        found = backwards.row(np.concatenate([x, weights]), backwards.constants(parameter))
        np.testing.assert_allclose(found, weights @ matrix, rtol=1e-13, atol=1e-14)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(liu2020("pendulum"))


def control(model: Model) -> list[Any]:
    """Constant torques of the legs, and a tail that swings to the side."""
    torques = model.static_torques(model.standing())[:12]
    profiles = {"ta": point_to_point(0.0, 0.1, DURATION), "tb": point_to_point(0.0, 0.7, DURATION)}
    servos = [Tracking(limb="tail", coordinate=c, profile=p, kp=900.0, kd=20.0) for c, p in profiles.items()]
    return [Constant(values=(*torques, 0.0, 0.0)), *servos]


def start(model: Model) -> tuple[np.ndarray, np.ndarray]:
    return model.standing(), np.linspace(-0.1, 0.1, 8)


def turned(moment: Any) -> Any:
    """Yaw and height of the torso, and how fast the tail is."""
    return moment.coordinate("phi_z") + moment.coordinate("z") * moment.rate("tail.tb")


def ended(model: Model, state: Any, parameters: dict[str, np.ndarray] | None = None, **how: Any) -> np.ndarray:
    """The same of many runs."""
    found = simulate_batch(model, state, DURATION, parameters=parameters, control=control(model), **how)
    assert found.finished.all()
    return found.q[:, 5] + found.q[:, 2] * found.v[:, 7]


def differences(values: np.ndarray, h: float) -> float:
    """Derivative from values at +h, −h, +h/2 and −h/2: of order four."""
    wide, narrow = (values[0] - values[1]) / (2.0 * h), (values[2] - values[3]) / h
    return (4.0 * narrow - wide) / 3.0


SHIFTS = np.array([1.0, -1.0, 0.5, -0.5])


STIFF: dict[str, Any] = {"method": "rodas5p", "step": STEP}
TIGHT: dict[str, Any] = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-14}


@pytest.mark.measured("derivatives")
@pytest.mark.parametrize("how", [FIXED, STIFF, TIGHT], ids=["rk4", "rodas5p", "dopri5"])
def test_by_design_and_control(measured: Callable[..., None], model: Model, how: dict[str, Any]) -> None:
    """Against differences of order four of the same steps, or of tight ones."""
    found = gradient(model, start(model), DURATION, turned, by=NAMES, control=control(model), **how)
    system = System(model, control(model))
    assert found.value == pytest.approx(ended(model, start(model), **how)[0], rel=1e-13)
    for name in NAMES:
        number = system.numbers[name]
        h = 1e-3 * abs(number)
        wanted = differences(ended(model, start(model), {name: number + SHIFTS * h}, **how), h)
        off = abs(found.by_parameter[name] - wanted) / max(abs(wanted), 1e-3 / abs(number))
        measured("a run by design and control, adjoint beside differences", off, at_most=1e-6)


@pytest.mark.parametrize("how", [FIXED, STIFF], ids=["rk4", "rodas5p"])
def test_by_the_start(model: Model, how: dict[str, Any]) -> None:
    """All coordinates and velocities."""
    found = gradient(model, start(model), DURATION, turned, control=control(model), **how)
    q, v = start(model)
    for by, part in ((found.by_q, 0), (found.by_v, 1)):
        for k in range(8):
            rows = [np.tile(q, (4, 1)), np.tile(v, (4, 1))]
            rows[part][:, k] += SHIFTS * 1e-3
            wanted = differences(ended(model, (rows[0], rows[1]), **how), 1e-3)
            assert by[k] == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("how", [TIGHT, STIFF], ids=["dopri5", "rodas5p"])
def test_integral(model: Model, how: dict[str, Any]) -> None:
    """The integral of a rate, and its derivatives, are those of the net change."""
    arguments: dict[str, Any] = {"by": NAMES, "control": control(model), **how}
    net = gradient(model, start(model), DURATION, lambda end: end.coordinate("tail.tb"), **arguments)
    whole = gradient(model, start(model), DURATION, integrand=lambda now: now.rate("tail.tb"), **arguments)
    both = gradient(model, start(model), DURATION, lambda end: end.coordinate("tail.tb") * 2.0,
                    integrand=lambda now: -now.rate("tail.tb"), **arguments)  # fmt: skip
    tail = model.coordinate_names.index("tail.tb")
    by_q = net.by_q - np.eye(8)[tail]  # the start itself is not part of the integral
    for found, factor in ((whole, 1.0), (both, 1.0)):
        assert found.value == pytest.approx(factor * net.value, rel=1e-8)
    np.testing.assert_allclose(whole.by_q, by_q, atol=1e-7 * np.abs(by_q).max())
    np.testing.assert_allclose(both.by_q, net.by_q + np.eye(8)[tail], atol=1e-7 * np.abs(net.by_q).max())
    for name in NAMES:
        assert whole.by_parameter[name] == pytest.approx(net.by_parameter[name], rel=1e-6, abs=1e-9)


def falling(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """A start from which a leg is soon straight."""
    q, v = start(model)
    v[2] = 3.0
    return q, v


@pytest.mark.parametrize("method", ["dopri5", "rodas5p"])
def test_end_at_an_event(model: Model, method: str) -> None:
    """Where an event ends the run, its time moves with the design: what the run comes to moves with that, too."""
    how: dict[str, Any] = {"method": method, "rtol": 1e-11, "atol": 1e-13}
    names = ("tail.mass", "legs.thigh_length", "control.1.values.5")
    found = gradient(model, falling(model), DURATION, turned, by=names, control=control(model), **how)
    assert "nearly straight" in found.note and "how that time moves" in found.note
    lasting = gradient(model, falling(model), DURATION, integrand=lambda now: 1.0, by=names,
                       control=control(model), **how)  # fmt: skip
    assert lasting.value == pytest.approx(lasting.time, rel=1e-13)
    assert 0.0 < lasting.time < DURATION
    system = System(model, control(model))
    for name in names:
        number = system.numbers[name]
        h = 1e-3 * abs(number)
        runs = simulate_batch(model, falling(model), DURATION, parameters={name: number + SHIFTS * h},
                              control=control(model), **how)  # fmt: skip
        assert not runs.finished.any()
        values = runs.q[:, 5] + runs.q[:, 2] * runs.v[:, 7]
        assert found.by_parameter[name] == pytest.approx(differences(values, h), rel=1e-5)
        assert lasting.by_parameter[name] == pytest.approx(differences(runs.times, h), rel=1e-5)


def test_many_at_once(model: Model) -> None:
    """Each of many gradients has the bits of a single one, whatever the threads; a design that cannot be says so."""
    masses = np.array([0.8, 1.0, -1.0, 1.3])
    arguments: dict[str, Any] = {"control": control(model), **FIXED}
    found = gradients(model, start(model), DURATION, turned, parameters={"tail.mass": masses},
                      by=["tail.length", "tail.mass"], threads=2, **arguments)  # fmt: skip
    assert "tail.mass" in found.notes[2] and "not possible" in found.notes[2]
    assert np.isnan(found.values[2]) and np.isnan(found.by_parameter["tail.length"][2])
    for k in (0, 1, 3):
        changed = Model(model.robot.replace({"tail.mass": float(masses[k])}))
        alone = gradient(changed, start(model), DURATION, turned, by=["tail.length", "tail.mass"], **arguments)
        assert found.notes[k] == ""
        assert found.values[k] == alone.value
        assert {name: values[k] for name, values in found.by_parameter.items()} == alone.by_parameter
        np.testing.assert_array_equal(found.by_q[k], alone.by_q)


@pytest.mark.measured("derivatives")
def test_stiff_tail(measured: Callable[..., None]) -> None:
    """A flexible tail pulled by cables: within 1e-7 of tight differences, though its steps are far longer than its
    fastest motion."""
    model = Model(liu2020("usrt").without("legs").replace({"tail.links": 2, "tail.segments": 1}))
    q = model.standing()
    arguments: dict[str, Any] = {"control": Constant(values=(30.0, 20.0, 0.0)), "events": ()}
    names = ("tail.bending_stiffness", "tail.bending_damping", "tail.link_mass", "torso.mass", "control.1.values.1")
    found = gradient(model, q, 0.2, turned_by_cables, by=names, rtol=1e-8, atol=1e-10, **arguments)
    system = System(model, [arguments["control"]], events=())
    scale = 0.0
    wrong = []
    for name in names:
        number = system.numbers[name]
        h = 1e-3 * abs(number)
        runs = simulate_batch(model, q, 0.2, parameters={name: number + SHIFTS * h}, rtol=1e-11, atol=1e-13,
                              **arguments)  # fmt: skip
        assert runs.finished.all() and runs.method == "rodas5p"
        values = runs.q[:, 5] + runs.q[:, 6] * runs.v[:, 7]
        wanted = differences(values, h) * number
        scale = max(scale, abs(wanted))
        wrong.append(abs(found.by_parameter[name] * number - wanted))
    measured("a run of a stiff tail, adjoint beside differences", max(wrong) / scale, at_most=1e-7)


def turned_by_cables(end: Any) -> Any:
    """Yaw of the torso, and how the tail bends."""
    return end.coordinate("phi_z") + end.coordinate("tail.theta_1") * end.rate("tail.phi_1")


def test_what_has_no_gradient(model: Model) -> None:
    """A run that ends where it starts, nothing to differentiate, names that are none: each says so."""
    q, v = start(model)
    high = q.copy()
    high[2] = 0.497
    with pytest.raises(StateError, match=r"no derivatives: it starts where it ends: leg. nearly straight"):
        gradient(model, (high, v), DURATION, turned, control=control(model), method="dopri5")
    with pytest.raises(ArgumentError, match="objective: got None; required: an objective or an integrand"):
        gradient(model, q, DURATION, control=control(model))
    with pytest.raises(ArgumentError, match="integrand: got 3; required: a function of a context"):
        gradient(model, q, DURATION, turned, integrand=3, control=control(model))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^by: got 'tail\.lenght'"):
        gradient(model, q, DURATION, turned, by=["tail.lenght"], control=control(model))
    with pytest.raises(ArgumentError, match=r"^by: got 'tail\.length'; required: a list of names"):
        gradient(model, q, DURATION, turned, by="tail.length", control=control(model))
    with pytest.raises(StateError, match="got 2 states; required: one; see `gradients`"):
        gradient(model, np.stack([q, q]), DURATION, turned, control=control(model))


def test_a_goal_that_moves(model: Model) -> None:
    """An objective that has changed what it looks at is recorded anew."""
    goal = [0.0]

    def off(end: Any) -> Any:
        return end.coordinate("z") - goal[0]

    arguments: dict[str, Any] = {"control": control(model), **FIXED}
    before = gradient(model, start(model), DURATION, off, **arguments).value
    goal[0] = 5.0
    assert gradient(model, start(model), DURATION, off, **arguments).value == pytest.approx(before - 5.0, rel=1e-13)


@pytest.mark.parametrize("method", ["dopri5", "rodas5p"])
def test_by_the_end_of_a_motion_that_lasts_as_long_as_the_run(model: Model, method: str) -> None:
    """By the duration of a motion that is over just then: what both sides tend to."""
    control_of = control(model)
    found = gradient(model, start(model), DURATION, lambda end: end.coordinate("phi_z"), control=control_of,
                     by=["control.3.profile.duration"], method=method)  # fmt: skip
    h = 1e-5  # the two sides differ by the second derivative, which jumps
    runs = simulate_batch(model, start(model), DURATION, control=control_of, method=method, rtol=1e-11, atol=1e-13,
                          parameters={"control.3.profile.duration": DURATION + h * np.array([1.0, -1.0])})  # fmt: skip
    wanted = (runs.q[0, 5] - runs.q[1, 5]) / (2.0 * h)
    assert found.by_parameter["control.3.profile.duration"] == pytest.approx(wanted, rel=2e-5)


def test_two_events_at_once(model: Model) -> None:
    """A symmetric robot that rises: all its legs are straight at the same time, and the note says so."""
    q, v = model.standing(), np.zeros(8)
    v[2] = 3.0
    found = gradient(model, (q, v), DURATION, integrand=lambda now: 1.0, method="dopri5", rtol=1e-10, atol=1e-12,
                     by=["gravity"])  # fmt: skip
    assert "at the same time" in found.note and "one side only" in found.note


def test_objectives_that_are_none(model: Model) -> None:
    """What is no number says so, and so does what is not finite."""
    arguments: dict[str, Any] = {"control": control(model), **FIXED}
    for wrong in (lambda end: None, lambda end: [1.0], lambda end: "z", lambda end: 1.0 / 0.0):
        with pytest.raises(ArgumentError, match=r"objective: got .*; required: a function that makes one number"):
            gradient(model, start(model), DURATION, wrong, **arguments)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="no derivatives: the objective is not a finite number"):
        gradient(model, start(model), DURATION, lambda end: 1.0 / (end.t - DURATION), **arguments)
    with pytest.raises(ArgumentError, match="each name once"):
        gradient(model, start(model), DURATION, turned, by=["tail.mass", "tail.mass"], **arguments)
