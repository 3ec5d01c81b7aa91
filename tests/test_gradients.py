"""Derivatives backwards: of graphs, and of whole runs by their start, design and control."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import Tape, arctan2, cos, larger, sin, sqrt, step
from tailwork.errors import RobotError, StateError
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.pullback import pulled_back
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Constant, Tracking, gradient, point_to_point, simulate_batch
from tailwork.simulation.batch import parameter_names
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
    forwards = Kernel(finished(tape, [x for row in by_each for x in row], 3, 1), lanes=False)
    backwards = Kernel(pulled_back(finished(tape, outputs, 3, 1)), lanes=False)
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


@pytest.mark.parametrize("how", [FIXED, {"method": "dopri5", "rtol": 1e-12, "atol": 1e-14}], ids=["rk4", "dopri5"])
def test_by_design_and_control(model: Model, how: dict[str, Any]) -> None:
    """Against differences of order four of the same steps, or of tight ones."""
    found = gradient(model, start(model), DURATION, turned, parameters=NAMES, control=control(model), **how)
    system = System(model, control(model))
    assert found.value == pytest.approx(ended(model, start(model), **how)[0], rel=1e-13)
    for name in NAMES:
        number = system.numbers[parameter_names(system)[name]]
        h = 1e-3 * abs(number)
        wanted = differences(ended(model, start(model), {name: number + SHIFTS * h}, **how), h)
        assert found.by_parameter[name] == pytest.approx(wanted, rel=1e-6, abs=1e-9 / abs(number))


def test_by_the_start(model: Model) -> None:
    """All coordinates and velocities."""
    found = gradient(model, start(model), DURATION, turned, control=control(model), **FIXED)
    q, v = start(model)
    for by, part in ((found.by_q, 0), (found.by_v, 1)):
        for k in range(8):
            rows = [np.tile(q, (4, 1)), np.tile(v, (4, 1))]
            rows[part][:, k] += SHIFTS * 1e-3
            wanted = differences(ended(model, (rows[0], rows[1]), **FIXED), 1e-3)
            assert by[k] == pytest.approx(wanted, rel=1e-7, abs=1e-9)


def test_what_has_no_gradient(model: Model) -> None:
    """A run that an event ends, a stiff method, names that are none: each says so."""
    q, v = start(model)
    v = v.copy()
    v[2] = 3.0
    with pytest.raises(StateError, match=r"ended at .*leg. nearly straight.* before its time"):
        gradient(model, (q, v), DURATION, turned, control=control(model))
    with pytest.raises(RobotError, match="method: got 'rodas5p'; required: an explicit method"):
        gradient(model, q, DURATION, turned, control=control(model), method="rodas5p")
    with pytest.raises(RobotError, match=r"parameters: got 'tail\.lenght'"):
        gradient(model, q, DURATION, turned, parameters=["tail.lenght"], control=control(model))
