"""Events: found where the trajectory says, recorded or ending the run; runs that cannot go on say why."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

from tailwork.control import Constant, Driven, Polynomial, Sine
from tailwork.errors import ArgumentError, TailworkError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import FootPulls, FootSlips, LegStraight, Run, When, simulate
from tailwork.simulation.events import Event

METHODS = ("dopri5", "rodas5p")


@cache
def standing() -> Model:
    """The 2020 quadruped with the pendulum tail, on four feet."""
    return Model(liu2020("pendulum"))


def rising(events: tuple[Event, ...] = (LegStraight(),), push: float = 1.25, duration: float = 0.5, **more) -> Run:
    """Torques a quarter above those that hold it: the torso rises until the legs are straight."""
    model = standing()
    q = model.standing()
    law = Constant(values=tuple(push * np.asarray(model.static_torques(q))))
    return simulate(model, q, duration, control=law, events=events, **more)


def drop(moment) -> object:
    """Height of P above 0.41 m, turned round: falls below zero as the torso rises."""
    return 0.41 - moment.coordinate("z")


def height_event(run: Run, height: float) -> float:
    """When the torso passes a height by an independent search on the trajectory [s]."""
    return brentq(lambda t: run.trajectory.states(np.array([t]))[0][0, 2] - height, 0.0, run.duration, xtol=1e-15)


def finite(run: Run) -> bool:
    """Whether all data are numbers."""
    return all(np.isfinite(values.to_numpy()).all() for values in run.data.data_vars.values())


@pytest.mark.measured("events")
@pytest.mark.parametrize("method", METHODS)
def test_straight_leg_ends_the_run(measured: Callable[..., None], method: str) -> None:
    """The run ends where the extension is 0.985, to 1e-12, and says which leg it was and when."""
    run = rising(method=method)
    assert run.stopped is not None
    assert run.stopped.reason.endswith("nearly straight (extension 0.985)")
    assert run.stopped.time == run.duration < 0.5
    leg = run.stopped.reason.split()[0]
    last = run.data["extension"].isel(time=-1)
    apart = abs(float(last.sel(foot=leg)) - 0.985)
    measured("extension at which a straight leg ends a run, less 0.985", apart, at_most=1e-12)
    assert float(last.max()) < 0.985 + 1e-12
    assert float(run.data["extension"].isel(time=-2).max()) < 0.985
    assert finite(run)


@pytest.mark.measured("events")
def test_stop_time_is_that_of_a_run_without_the_event(measured: Callable[..., None]) -> None:
    """A run that only watches passes 0.95 at the time at which the other stops, found by SciPy on its own samples."""
    stopped = rising((LegStraight(extension=0.95),), rtol=1e-12, atol=1e-12)
    free = rising((), duration=0.22, rtol=1e-12, atol=1e-12)
    assert stopped.stopped is not None

    def left(t: float) -> float:
        return 0.95 - float(free.path(np.array([t])).extensions.max())

    apart = abs(stopped.stopped.time - brentq(left, 0.05, 0.22, xtol=1e-15))
    measured("time of an event beside SciPy's search on a run without it", apart, at_most=1e-9, unit="s")


@pytest.mark.measured("events")
@pytest.mark.parametrize("method", METHODS)
def test_when(measured: Callable[..., None], method: str) -> None:
    """A quantity of one's own is found where an independent search on the same trajectory finds it, to 1e-12 s."""
    watch = When(name="high", quantity=drop)
    run = rising((watch,), duration=0.2, method=method)
    assert run.stopped is None
    ((time, name),) = run.events
    assert name == "high"
    apart = abs(time - height_event(run, 0.41))
    measured("time of an event beside SciPy's search on the same run", apart, at_most=1e-12, unit="s")


def test_watching_changes_nothing() -> None:
    """Recording events leaves the trajectory as it is, bit by bit."""
    watched = rising((When(name="high", quantity=drop), FootPulls(), FootSlips(friction=0.01)), duration=0.2)
    free = rising((), duration=0.2)
    np.testing.assert_array_equal(watched.data["q"], free.data["q"])


def test_stop_at_own_event() -> None:
    """With action 'stop' the run ends there, its last state on the threshold, and the event is listed once."""
    run = rising((When(name="high", quantity=drop, action="stop"),), duration=0.2)
    assert run.stopped is not None
    assert run.stopped.reason == "high"
    assert float(run.data["q"].isel(time=-1).sel(coordinate="z")) == pytest.approx(0.41, abs=1e-13)
    assert run.events == ((run.stopped.time, "high"),)


def several(action: str) -> tuple[Event, ...]:
    """Heights passed one after the other within one step; the later ones are listed first."""
    heights = {"third": 0.4104, "second": 0.4102, "first": 0.41}
    return tuple(
        When(name=name, quantity=lambda m, h=h: h - m.coordinate("z"), action=action if name == "second" else "record")
        for name, h in heights.items()
    )


def test_several_events_are_found_each() -> None:
    """Events within the same step are all found, each at its own time."""
    run = rising(several("record"), duration=0.2)
    found = {name: time for time, name in run.events}
    assert set(found) == {"first", "second", "third"}
    for name, height in {"first": 0.41, "second": 0.4102, "third": 0.4104}.items():
        assert found[name] == pytest.approx(height_event(run, height), abs=1e-12)


def test_several_events_are_in_order_of_time() -> None:
    """Events are listed in the order in which they happen."""
    times = [time for time, _ in rising(several("record"), duration=0.2).events]
    assert times == sorted(times)


def test_nothing_happens_after_the_end() -> None:
    """A run that stops lists no event later than its end."""
    run = rising(several("stop"), duration=0.2)
    assert run.stopped is not None
    assert run.stopped.reason == "second"
    assert [name for _, name in run.events] == ["first", "second"]


def test_already_past_at_the_start() -> None:
    """What is below zero at the start is recorded there; if it stops, nothing is simulated, and the start is kept."""
    low = When(name="low", quantity=lambda m: m.coordinate("z") - 0.5)
    run = rising((low,), duration=0.05)
    assert run.events == ((0.0, "low"),)
    assert run.stopped is None
    run = rising((When(name="low", quantity=low.quantity, action="stop"),), duration=0.05)
    assert run.stopped is not None
    assert (run.stopped.time, run.stopped.reason, run.duration) == (0.0, "low", 0.0)
    assert run.data.sizes["time"] == 1
    np.testing.assert_array_equal(run.data["q"].isel(time=0), standing().standing())
    assert finite(run)
    assert "low" in run.summary()


def test_sampled_control_records_once() -> None:
    """With a controller in Python an event that stays below zero is listed once, not at every sample."""
    model = standing()
    q = model.standing()
    tau = model.static_torques(q)
    low = When(name="low", quantity=lambda m: m.coordinate("z") - 0.5)
    run = simulate(model, q, 0.01, control=lambda t, q, v: tau, events=(low,))
    assert run.events == ((0.0, "low"),)


def yanked(events: tuple[Event, ...]) -> Run:
    """The tail swung hard: the torso would be pulled off its feet."""
    model = Model(liu2020("pendulum"), prescribed=("tail",))
    q = model.standing()
    free = Model(liu2020("pendulum")).static_torques(q)[:12]
    motion = {"ta": Sine(amplitude=1.0, period=0.2), "tb": Sine(amplitude=0.5, period=0.3)}
    return simulate(model, q, 0.08, control=Constant(values=tuple(free)), motions={"tail": motion}, events=events)


def test_feet_that_pull() -> None:
    """FootPulls is where a normal force of the path passes zero, and the run's assumption did not hold."""
    run = yanked((FootPulls(),))
    assert run.stopped is None
    assert run.events
    for time, name in run.events:
        foot = run.model.foot_names.index(name.split()[0])
        around = run.path(np.array([time - 1e-7, time + 1e-7])).foot_forces[:, foot, 2]
        assert around[0] > 0.0 > around[1]
    assert run.min_normal_force() < 0.0
    assert run.friction_needed() == np.inf
    assert not run.assumption_held()


def test_feet_that_slip() -> None:
    """FootSlips is where a foot needs just the friction given; it stops if asked to."""
    run = yanked((FootSlips(friction=0.2, action="stop"),))
    assert run.stopped is not None
    assert run.stopped.reason.endswith("needs friction above 0.2")
    foot = run.model.foot_names.index(run.stopped.reason.split()[0])
    x, y, z = run.path(np.array([run.duration])).foot_forces[0, foot]
    assert np.hypot(x, y) / z == pytest.approx(0.2, abs=1e-10)
    assert run.friction_needed() == pytest.approx(0.2, abs=1e-10)


def test_bad_action() -> None:
    """An action is 'stop' or 'record'."""
    with pytest.raises(ArgumentError, match="action: got 'halt'; required: 'stop' or 'record'"):
        FootPulls(action="halt")


def test_unknown_coordinate_in_an_event() -> None:
    """An event that asks for a coordinate that is not there says which ones are near."""
    with pytest.raises(TailworkError, match=r"tail\.tb"):
        rising((When(name="x", quantity=lambda m: m.coordinate("tail.tc")),), duration=0.01)


def test_flight_has_no_legs_to_watch() -> None:
    """Without feet on the ground the default events watch nothing and the run goes to its end."""
    model = Model(liu2020("pendulum"), "none")
    run = simulate(model, model.standing(), 0.05)
    assert run.stopped is None
    assert run.min_normal_force() == np.inf


# Runs that cannot go on


@pytest.mark.parametrize("more", [{"method": "dopri5"}, {"method": "rodas5p"}, {"method": "rk4", "step": 1e-3}])
def test_a_run_that_cannot_go_on(more: dict) -> None:
    """With nothing watched the legs reach their end: what there is is returned, finite, with the reason."""
    run = rising((), push=2.0, duration=2.0, **more)
    assert run.stopped is not None
    assert run.stopped.time == run.duration < 2.0
    assert "small enough" in run.stopped.reason
    assert finite(run)
    assert run.data.sizes["time"] == 201


def test_too_many_steps() -> None:
    """A run that would take more steps than allowed ends there and says so."""
    run = rising(duration=0.2, max_steps=5)
    assert run.stopped is not None
    assert "more steps than allowed" in run.stopped.reason
    assert len(run.trajectory.times) == 6
    assert finite(run)


def test_a_cable_that_would_push_ends_the_run() -> None:
    """Whoever asks for it, a law or a controller, at once or later: what was simulated is kept, the reason named."""
    model = Model(liu2020("usrt").without("legs").replace({"tail.links": 2, "tail.segments": 1}))
    pulls = (8.0, 0.0)
    slackening = Driven(actuator="tail.T_1", profile=Polynomial(coefficients=(5.0, -250.0)))
    cases = [
        (Constant(values=(-5.0, *pulls)), 0.0),
        ((Constant(values=(0.0, *pulls)), slackening), 0.02),
        (lambda t, q, v: (5.0 if t < 0.0095 else -1.0, *pulls), 0.01),
    ]
    for control, ends in cases:
        run = simulate(model, model.standing(), 0.03, control=control, events=())
        assert run.stopped is not None and run.stopped.reason == "tail.T_1 would have to push"
        assert run.stopped.time == pytest.approx(ends, abs=1e-12)
        assert run.data["tau"].sel(actuator="tail.T_1").max() == pytest.approx(-5.0 if ends == 0.0 else 5.0)
        assert np.isfinite(run.data["acceleration"]).all()
