"""Controllers in Python: together with laws, with state of their own, with answers in a buffer that is used again."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.control import Constant, Tracking, held, point_to_point
from tailwork.control.standing import HoldPosture, RestTorques
from tailwork.errors import ArgumentError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Run, Standing, simulate

LAWS = (
    RestTorques(),
    HoldPosture(at="joint", stiffness=200.0, damping=5.0),
    Tracking(limb="tail", coordinate="tb", profile=point_to_point(0.0, 0.4, 0.1), kp=100.0, kd=2.0),
)


def model() -> Model:
    return Model(liu2020("pendulum"))


def test_laws_and_a_controller_add_up() -> None:
    """A constant torque by a law or by a controller beside the same laws is the same; the record has the sum."""
    torque = Constant(values=(1.5,), actuators=("tail.ta",))
    by_law = simulate(model(), Standing(), 0.1, control=[*LAWS, torque], rtol=1e-10, atol=1e-12, samples=21)
    by_both = simulate(
        model(), Standing(), 0.1, control=[*LAWS, lambda t, q, v: {"tail.ta": 1.5}], rtol=1e-10, atol=1e-12, samples=21
    )
    for name in ("q", "v", "tau"):
        np.testing.assert_allclose(by_both.data[name].to_numpy(), by_law.data[name].to_numpy(), rtol=0, atol=1e-7)
    alone = simulate(model(), Standing(), 0.1, control=LAWS, samples=2)
    assert np.abs(alone.data["q"].to_numpy()[-1] - by_law.data["q"].to_numpy()[-1]).max() > 1e-3
    assert by_both.energy_balance_error() < 1e-8


def test_efforts_are_held_between_samples_beside_laws() -> None:
    """The laws act all the time, the controller's part stays as it was at its last sample."""

    def ramp(t: float, q: Array, v: Array) -> Mapping[str, float]:
        return {"tail.tb": 10.0 * t}

    spring = Tracking(limb="tail", coordinate="tb", profile=held(0.0), kp=5.0, kd=0.0)
    run = simulate(model(), Standing(), 0.1, control=[spring, ramp], control_rate=100.0, samples=101, events=())
    times, tau, angle = (
        run.data["time"].to_numpy(),
        run.data["tau"].sel(actuator="tail.tb").to_numpy(),
        run.data["q"].sel(coordinate="tail.tb").to_numpy(),
    )
    inside = np.abs(times * 100.0 - np.round(times * 100.0)) > 1e-6
    np.testing.assert_allclose((tau + 5.0 * angle)[inside], 0.1 * np.floor(times * 100.0)[inside], rtol=0, atol=1e-9)


class Integral:
    """A PI controller of the tail: it adds up the error, which it forgets at `reset`."""

    def __init__(self) -> None:
        self.sum, self.calls, self.resets = 0.0, 0, 0

    def reset(self) -> None:
        self.sum, self.calls = 0.0, 0
        self.resets += 1

    def __call__(self, t: float, q: Array, v: Array) -> Mapping[str, float]:
        error = 0.3 - q[-1]
        self.sum += error * 1e-3
        self.calls += 1
        return {"tail.tb": 20.0 * error + 100.0 * self.sum - 1.0 * v[-1]}


def test_a_controller_with_state_starts_anew() -> None:
    """`reset` is called before each run: a second run with the same controller is the same, to the last digit."""
    controller = Integral()

    def run() -> Run:
        return simulate(model(), Standing(), 0.1, control=[*LAWS[:2], controller], samples=11)

    first = run()
    assert controller.resets == 1 and controller.calls == 100 and controller.sum > 0.0
    kept = controller.sum
    second = run()
    assert controller.resets == 2 and controller.calls == 100 and controller.sum == kept
    np.testing.assert_array_equal(second.data["q"].to_numpy(), first.data["q"].to_numpy())


def test_an_answer_in_a_buffer_that_is_used_again() -> None:
    """Answers are copied: a controller may write all of them into one array, and into the state it was given."""
    own = model()
    buffer = np.zeros(len(own.actuator_names))

    def fresh(t: float, q: Array, v: Array) -> Array:
        efforts = np.zeros(len(own.actuator_names))
        efforts[-1] = 0.5 - 4.0 * q[-1] + 30.0 * t
        return efforts

    def reused(t: float, q: Array, v: Array) -> Array:
        buffer[:] = fresh(t, q, v)
        q[:], v[:] = np.nan, np.nan
        return buffer

    runs = [
        simulate(own, Standing(), 0.05, control=[*LAWS[:2], one], control_rate=200.0, samples=51)
        for one in (fresh, reused)
    ]
    for name in ("q", "tau"):
        np.testing.assert_array_equal(runs[1].data[name].to_numpy(), runs[0].data[name].to_numpy())


def test_two_controllers_are_refused() -> None:
    """Laws, and at most one function."""
    with pytest.raises(ArgumentError, match=r"^control: got .*at most one such function"):
        simulate(model(), Standing(), 0.01, control=[lambda t, q, v: {}, lambda t, q, v: {}])
    with pytest.raises(ArgumentError, match=r"^control: got .*a law; of constant efforts that is Constant"):
        simulate(model(), Standing(), 0.01, control=[3.0])  # type: ignore[list-item]
