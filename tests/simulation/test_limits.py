"""Limits of actuators in runs: reported or respected, for free and prescribed limbs, and kept in files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.control import Constant, Driven, Sine, held, point_to_point
from tailwork.errors import ArgumentError, RobotError
from tailwork.model import Model
from tailwork.robots import liu2020, usrt
from tailwork.robots.io.toml import load_toml, save_toml
from tailwork.robots.robot import Robot
from tailwork.simulation import Run, simulate

LIMIT = 0.6
SWING = Sine(amplitude=1.0, period=0.08)  # [N m]
BEYOND = "tail.tb is asked for more than its limit"


def limited(limit: float) -> Robot:
    """The 2020 robot's torso and tail in the air, the tail's motors limited; 0: not limited."""
    return liu2020("pendulum").without("legs").replace({"tail.torque_limit": limit})


@cache
def model(limit: float = LIMIT) -> Model:
    """Its model."""
    return Model(limited(limit))


@cache
def driven(limits: str, limit: float = LIMIT, method: str = "dopri5") -> Run:
    """0.1 s with the tail's second motor asked for a sine of 1 N m, at tight tolerances."""
    m = model(limit)
    control = Driven(actuator="tail.tb", profile=SWING)
    return simulate(m, m.standing(), 0.1, control=control, limits=limits, method=method, rtol=1e-10, atol=1e-12)


def test_limits_are_there() -> None:
    """Every motor of the tail has its limit, those of the legs none."""
    robot = liu2020("pendulum").replace({"tail.torque_limit": LIMIT})
    limits = {f"{name}.{a.name}": a.limit for name, limb in robot.limbs().items() for a in limb.actuators}
    assert {limits["tail.ta"], limits["tail.tb"]} == {LIMIT}
    assert {limit for name, limit in limits.items() if name.startswith("leg")} == {0.0}


def test_report_applies_what_is_asked() -> None:
    """Reported: the whole effort acts, the motion is that of a robot without limits, and the excess is an event."""
    run = driven("report")
    asked = np.array([SWING.value(float(t)) for t in run.data["time"]])
    np.testing.assert_allclose(run.data["tau"].sel(actuator="tail.tb"), asked, rtol=0, atol=1e-14)
    free = driven("report", limit=0.0)
    assert free.events == ()
    np.testing.assert_allclose(run.data["q"], free.data["q"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("limits", ["report", "respect"])
def test_events_are_where_the_limit_is_passed(limits: str) -> None:
    """Each time that |effort| rises through the limit is an event, where the sine says."""
    rise = np.arcsin(LIMIT) / (2 * np.pi) * SWING.period
    expected = [rise, rise + SWING.period / 2, rise + SWING.period]
    found = driven(limits).events
    assert [name for _, name in found] == [BEYOND] * 3
    np.testing.assert_allclose([time for time, _ in found], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["dopri5", "rodas5p"])
def test_respect_saturates(method: str) -> None:
    """Respected: the effort is the asked one cut off at ± the limit, never beyond it, and this is what moves the robot.

    Accelerations are those of the cut-off effort, and the energy balance closes with its work.
    """
    run = driven("respect", method=method)
    asked = np.array([SWING.value(float(t)) for t in run.data["time"]])
    tau = run.data["tau"].sel(actuator="tail.tb").to_numpy()
    assert np.abs(tau).max() == LIMIT
    np.testing.assert_allclose(tau, np.clip(asked, -LIMIT, LIMIT), rtol=0, atol=1e-14)
    assert (np.abs(tau) == LIMIT).sum() > 100
    q, v, efforts = (run.data[name].to_numpy() for name in ("q", "v", "tau"))
    expected = model().forward_dynamics(q, v, efforts)
    np.testing.assert_allclose(run.data["acceleration"], expected, rtol=1e-10, atol=1e-10)
    assert run.energy_balance_error() < 1e-7
    swung = float(np.abs(run.data["q"].sel(coordinate="tail.tb")).max())
    assert swung < 0.9 * float(np.abs(driven("report").data["q"].sel(coordinate="tail.tb")).max())


def test_respect_changes_nothing_below_the_limit() -> None:
    """A limit that is not reached leaves the run as it is, and no event."""
    wide, none = driven("respect", limit=1.5), driven("respect", limit=0.0)
    assert wide.events == none.events == ()
    np.testing.assert_allclose(wide.data["q"], none.data["q"], rtol=0, atol=1e-13)


def test_limits_of_a_controller_in_python() -> None:
    """What a controller asks for is cut off, too, and reported once for each time that it is passed."""
    asked: list[float] = []

    def control(t: float, q: Array, v: Array) -> Array:
        asked.append(2.0 if 0.0045 < t < 0.0075 else -0.1)
        return np.array([0.0, asked[-1]])

    m = model()
    for limits, largest in (("report", 2.0), ("respect", LIMIT)):
        asked.clear()
        run = simulate(m, m.standing(), 0.01, control=control, limits=limits)
        tau = run.data["tau"].sel(actuator="tail.tb").to_numpy()
        assert tau.max() == largest
        assert tau.min() == -0.1
        ((time, name),) = run.events
        assert name == BEYOND
        assert time == pytest.approx(0.005, abs=1e-12)


def test_prescribed_limbs_report() -> None:
    """A prescribed tail moves as told; where its motion needs more than the limit, this is an event.

    Respected it cannot be, which is said; without limits of its own there is nothing to respect.
    """
    m = Model(limited(2.0), prescribed=("tail",))
    motion = {"tail": {"ta": held(0.0), "tb": point_to_point(0.0, 0.7, 0.2)}}
    run = simulate(m, m.standing(), 0.15, motions=motion, limits="report")
    events = [(time, name) for time, name in run.events if name == BEYOND]
    needed = run.data["prescribed_effort"].sel(prescribed="tail.tb")
    assert float(np.abs(needed).max()) > 2.0
    (first, _), (braking, _) = events
    assert first == 0.0  # from the first moment on
    before, at = run.path(np.array([braking - 1e-6, braking + 1e-6])).prescribed_efforts[:, 1]
    assert abs(before) < 2.0 < abs(at)
    q = run.data["q"].sel(coordinate="tail.tb")
    expected = [motion["tail"]["tb"].value(float(t)) for t in run.data["time"]]
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-14)
    with pytest.raises(ArgumentError, match=r"^limits: got 'respect'; required: 'report' where a prescribed limb's"):
        simulate(m, m.standing(), 0.15, motions=motion, limits="respect")
    unlimited = simulate(
        Model(limited(0.0), prescribed=("tail",)), m.standing(), 0.15, motions=motion, limits="respect"
    )
    np.testing.assert_array_equal(unlimited.data["q"], run.data["q"])


def test_limits_of_tensions() -> None:
    """A cable has a limit on its tension; respected, it pulls no more."""
    tail = usrt(links=2, segments=2, mount=(0.0, -0.25, 0.0), tension_limit=20.0)
    m = Model(liu2020(None).without("legs").with_part("tail", tail))
    values = (30.0, 5.0, 5.0, 5.0, 5.0, 5.0)
    run = simulate(m, m.standing(), 0.005, control=Constant(values=values), limits="respect", method="dopri5")
    assert run.events == ((0.0, "tail.T_1 is asked for more than its limit"),)
    assert set(run.data["tau"].sel(actuator="tail.T_1").to_numpy()) == {20.0}
    assert set(run.data["tau"].sel(actuator="tail.T_2").to_numpy()) == {5.0}


@pytest.mark.parametrize("limits", ["ignore", "", None, True, 5.0])
def test_wrong_choice(limits: Any) -> None:
    """Limits are reported or respected."""
    with pytest.raises(ArgumentError, match=r"limits: got .*; required: 'report' or 'respect'"):
        simulate(model(), model().standing(), 0.01, limits=limits)


@pytest.mark.parametrize("limit", [-1.0, float("inf"), float("nan"), "5"])
def test_wrong_limits(limit: Any) -> None:
    """A limit is a finite number that is not negative."""
    with pytest.raises(RobotError, match=r"tail\.torque_limit: got .*not negative"):
        liu2020("pendulum").replace({"tail.torque_limit": limit})


@pytest.mark.parametrize(
    ("tail", "limits"),
    [
        ("pendulum", {"legs.torque_limit": 40.25, "tail.torque_limit": 0.1}),
        ("r3", {"tail.torque_limit": 1.1, "tail.tension_limit": 80.0}),
        ("usrt", {"legs.torque_limit": 7.0, "tail.tension_limit": 123.4}),
    ],
)
def test_limits_in_files(tail: str, limits: dict[str, float], tmp_path: Path) -> None:
    """A robot with limits is the same robot after a file, and so are its actuators."""
    robot = liu2020(tail).replace(limits)
    file = tmp_path / "robot.toml"
    save_toml(robot, file)
    again = load_toml(file)
    assert again == robot != liu2020(tail)
    found = {a.limit for limb in again.limbs().values() for a in limb.actuators}
    assert found - {0.0} == set(limits.values())
