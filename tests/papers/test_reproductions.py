"""Numbers that the papers print, and that follow from them without simulation, by the engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.errors import UnreachableError
from tailwork.model import Model
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.papers.report import sizes_text
from tailwork.robots import liu2018, liu2020

EQ_85 = np.array([0, 1.63, 7.7, 0, 1.63, 7.7, 0, 1.9, 7.16, 0, 1.9, 7.16])  # N m, ha, hb, k of legs 1..4
NO_REDUNDANT = dict.fromkeys(LIU2018_REDUNDANT, 0.0)


def missing(model: Model, tau: Array) -> Array:
    """Generalised force that efforts leave over at rest in the stance [N, N m]."""
    rest = np.zeros(len(model.velocity_names))
    return model.actuation_matrix(model.standing()) @ tau - model.bias(model.standing(), rest)


@pytest.mark.measured("papers")
def test_eq_85(measured: Callable[..., None]) -> None:
    """2020, Eq. 85: the smallest leg torques that hold the robot, to every printed digit; computed with g = 9.81."""
    model = Model(liu2020("pendulum").replace({"gravity": 9.81}))
    torques = model.static_torques(model.standing())
    np.testing.assert_array_equal(np.round(torques[:12], 2) + 0.0, EQ_85)
    apart = np.abs(torques[:12] - EQ_85).max()
    measured("2020, Eq. 85, twelve torques, half a printed digit allowed", apart, at_most=0.005, unit="N m")
    np.testing.assert_allclose(torques[[1, 2, 7, 8]], [1.6304, 7.7018, 1.9012, 7.1603], rtol=0, atol=5e-5)
    np.testing.assert_allclose(torques[12:], [-9.81 * 0.24, 0.0], rtol=0, atol=1e-14)  # a bar of 1 kg, half of 0.48 m
    np.testing.assert_allclose(missing(model, torques), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("tail", "lift", "pitch"), [("pendulum", 0.160, -0.008), ("r3", 0.155, -0.103), ("usrt", -0.036, 0.154)]
)
def test_eq_85_against_the_tabled_gravity(tail: str, lift: float, pitch: float) -> None:
    """2020, Table 1: with g = 9.8 the torques of Eq. 85 leave a little lift and pitch over, another with each tail."""
    model = Model(liu2020(tail))
    legs = np.concatenate([EQ_85, np.zeros(len(model.actuator_names) - 12)])
    np.testing.assert_allclose(missing(model, legs)[:6], [0.0, -0.01, lift, pitch, 0.0, 0.0], rtol=0, atol=5e-4)


def torso_slopes(model: Model, tau: Array) -> Array:
    """d(rates)/d(state) of the torso (12 × 12) about the stance, the tail held straight, the legs' torques fixed."""
    tail = len(model.prescribed_names)
    still = np.zeros(tail)
    size, step = 6, 1e-3

    def rates(x: Array) -> Array:
        q, v = np.concatenate([x[:size], still]), np.concatenate([x[size:], still])
        return np.concatenate(
            [
                model.coordinate_rates(q, v)[:size],
                model.forward_dynamics(q, v, tau, prescribed_acceleration=still)[:size],
            ]
        )

    start = np.concatenate([model.standing()[:size], np.zeros(size)])
    np.testing.assert_allclose(rates(start), 0.0, atol=1e-12)
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    columns = [
        sum(w * (rates(start + k * step * e) - rates(start - k * step * e)) for k, w in weights.items()) / step
        for e in np.eye(2 * size)
    ]
    return np.array(columns).T


def test_open_loop_poles_of_the_torso() -> None:
    """The stance of Eq. 85 (g = 9.81, pendulum held straight) falls in roll, pitch and yaw at these rates [1/s]."""
    robot = liu2020("pendulum").replace({"gravity": 9.81})
    whole = Model(robot)
    torques = whole.static_torques(whole.standing())[:12]
    poles, shapes = np.linalg.eig(torso_slopes(Model(robot, prescribed=["tail"]), torques))
    assert np.abs(poles.imag).max() < 1e-6
    found: dict[str, float] = {}
    for k in np.argsort(poles.real):  # the fastest of each kind is kept
        found[whole.coordinate_names[np.abs(shapes[:6, k]).argmax()]] = float(poles.real[k])
    assert found["phi_y"] == pytest.approx(9.55, abs=5e-3)
    assert found["phi_x"] == pytest.approx(8.14, abs=5e-3)
    assert found["phi_z"] == pytest.approx(6.31, abs=5e-3)
    np.testing.assert_allclose(np.sort(poles.real), np.sort(-poles.real), atol=1e-6)  # each falls as it rises


@pytest.mark.measured("papers")
def test_2018_torques_carry_the_weight(measured: Callable[..., None]) -> None:
    """2018, Sect. 4.1: knee torques of 15, 15, 20.5, 20.5 N m carry the weight but for 0.77 N."""
    model = Model(liu2018())
    efforts = dict(zip((f"leg{i}.k" for i in (1, 2, 3, 4)), (15.0, 15.0, 20.5, 20.5), strict=True)) | {"tail.ta": -7.7}
    tau = np.array([efforts.get(name, 0.0) for name in model.actuator_names])
    apart = abs(missing(model, tau)[2] + 0.77)
    measured("2018, Sect. 4.1, weight that the torques leave, less 0.77 N", apart, at_most=5e-3, unit="N")


def pitch_motion(t: Array) -> tuple[Array, Array, Array]:
    """q, v and a of the pitch motion of 2018, Sect. 4.2, where phi_x alone turns and so omega = phi-dot."""
    rate = 2 * np.pi / 0.3
    shape = np.zeros(8)
    shape[3], shape[7] = np.pi / 36, -np.pi / 18
    standing = np.array([0.2, 0.3, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    swing = np.sin(rate * t)[:, None] * shape
    return standing + swing, rate * np.cos(rate * t)[:, None] * shape, -(rate**2) * swing


def test_condition_of_the_2018_actuators() -> None:
    """2018, Eq. 41: along the pitch motion, J_tau,a has condition numbers from 102 to 117, and its torques do it."""
    model = Model(liu2018())
    q, v, a = pitch_motion(np.linspace(0.0, 0.3, 301))
    allocation = model.allocation(q, v, a, redundant=NO_REDUNDANT)
    assert round(allocation.condition.min()) == 102
    assert round(allocation.condition.max()) == 117
    np.testing.assert_allclose(allocation.residual, 0.0, atol=5e-12)
    np.testing.assert_allclose(model.forward_dynamics(q, v, allocation.efforts), a, rtol=0, atol=1e-11)
    redundant = [name in NO_REDUNDANT for name in model.actuator_names]
    np.testing.assert_array_equal(allocation.efforts[:, redundant], 0.0)


def test_the_2018_actuators_are_singular_in_the_2020_stance() -> None:
    """Legs 1 and 2 then swing alike: the eight actuators cannot give most accelerations, all fourteen can."""
    model = Model(liu2020("pendulum"))
    q, v = model.standing(), np.zeros(8)
    a = np.random.default_rng(0).normal(size=8)
    with pytest.raises(UnreachableError, match="condition number"):
        model.inverse_dynamics(q, v, a, redundant=NO_REDUNDANT)
    assert model.allocation(q, v, a, redundant=NO_REDUNDANT).condition > 1e15
    np.testing.assert_allclose(model.forward_dynamics(q, v, model.inverse_dynamics(q, v, a)), a, rtol=0, atol=1e-12)


@pytest.mark.parametrize("paper", ["liu2018", "liu2020", "nelson_quinn", "biswal"])
def test_every_figure_has_a_counterpart(paper: str) -> None:
    """Reports list figures and tables of their paper in order, none twice, each with where to look."""
    rows = import_module(f"tailwork.papers.{paper}.report").COUNTERPARTS
    figures = [int(n) for name, *_ in rows if name.startswith("Fig") for n in re.findall(r"\d+", name)]
    assert figures == sorted(set(figures)) and figures[0] == 1
    assert all(shown and where for _, shown, where in rows)


def test_reports_say_what_robots_and_tails_weigh_and_measure() -> None:
    robots = (liu2020("pendulum"), liu2020("none"))
    assert sizes_text(robots) == (
        "Played above: liu2020-pendulum, 22.6 kg with a tail: pendulum of 1 kg and 0.48 m (as published); "
        "liu2020, 21.6 kg."
    )
    assert sizes_text(()) == ""
