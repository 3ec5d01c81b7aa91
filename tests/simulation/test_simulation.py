"""simulate() and Run: wrong input is refused with what is wrong; results have names and units and can be kept."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import tailwork
from oracles.layout import Array
from tailwork.control import Constant, Driven, Polynomial, Sine, Tracking, point_to_point
from tailwork.errors import (
    ArgumentError,
    ControllerError,
    FileError,
    StateError,
    TailworkError,
    UnknownNameError,
)
from tailwork.kernels import kernel as kernel_module
from tailwork.kernels import native
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Run, load_run, simulate


@cache
def model() -> Model:
    """The 2020 quadruped with the pendulum tail."""
    return Model(liu2020("pendulum"))


@cache
def prescribed() -> Model:
    """The same with the tail's motion given."""
    return Model(liu2020("pendulum"), prescribed=("tail",))


@cache
def resting() -> tuple[float, ...]:
    """Efforts that hold the stand."""
    return tuple(float(x) for x in model().static_torques(model().standing()))


def simulated(**changes: Any) -> Run:
    """20 ms of the stand with the tail in motion, with something changed."""
    m = changes.pop("model", model())
    v = np.zeros(8)
    v[6:] = 1.0, 2.0
    given = {"control": Constant(values=resting())} | changes
    return simulate(m, given.pop("state", (m.standing(), v)), given.pop("duration", 0.02), **given)


@cache
def usual() -> Run:
    """A run that is only looked at."""
    return simulated()


# Wrong input


@pytest.mark.parametrize("name", ["duration", "rtol", "atol", "step", "control_rate"])
@pytest.mark.parametrize("value", [0, 0.0, -1.0, float("nan"), float("inf"), True, "1", [1.0]])
def test_wrong_numbers(name: str, value: Any) -> None:
    """What must be a positive number says so, by name."""
    with pytest.raises(ArgumentError, match=f"{name}: got .*a finite number greater than 0"):
        simulated(**({"method": "dopri5"} | {name: value}))


@pytest.mark.parametrize("samples", [1, 0, -3, 2.5, True, "9"])
def test_wrong_samples(samples: Any) -> None:
    """Samples are an integer of at least 2."""
    with pytest.raises(ArgumentError, match=r"samples: got .*at least 2"):
        simulated(samples=samples)


def test_unknown_method() -> None:
    """A misspelt method is offered the right one."""
    with pytest.raises(UnknownNameError, match="did you mean 'rodas5p'"):
        simulated(method="rodas5")


def test_fixed_steps() -> None:
    """rk4 needs a step; auto has none."""
    with pytest.raises(ArgumentError, match="step: got None; required: a fixed step"):
        simulated(method="rk4")
    with pytest.raises(ArgumentError, match=r"step: got 0\.001; required: no fixed step"):
        simulated(step=0.001)


@pytest.mark.parametrize(
    "state",
    [np.zeros(7), np.zeros(9), (np.zeros(8), np.zeros(7)), np.full(8, np.nan), "stand"],
    ids=["short", "long", "short v", "nan", "text"],
)
def test_wrong_state(state: Any) -> None:
    """A state of the wrong length, not finite or no numbers is refused."""
    with pytest.raises(TailworkError, match=r"^[qv]: "):
        simulated(state=state)


def test_batch_of_states() -> None:
    """A run has one start: several at once are refused, not mixed up."""
    with pytest.raises(TailworkError):
        simulated(state=np.tile(model().standing(), (2, 1)))


def test_unreachable_start() -> None:
    """A start whose feet are out of reach says so."""
    q = model().standing()
    q[2] = 0.6
    with pytest.raises(StateError, match=r"^q: .*leg1"):
        simulated(state=q)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.zeros(3), r"array\(\[0., 0., 0.\]\)"),
        (np.full(14, np.nan), "nan"),
        (0.0, "returned 0.0 at"),
        (np.zeros((1, 14)), r"array\(\[\[0."),
        (None, "returned None at"),
    ],
    ids=["short", "nan", "scalar", "batch", "None"],
)
def test_wrong_controller(answer: Any, said: str) -> None:
    """A controller's wrong answer is shown with the time and what is required, at the start or later."""
    for wrong_from in (0.0, 0.0055):
        time = "t = 0 s" if wrong_from == 0.0 else "t = 0.006 s"
        with pytest.raises(StateError) as raised:
            simulated(control=lambda t, q, v, at=wrong_from: answer if t >= at else np.array(resting()))
        assert time in str(raised.value)
        assert "required: 14 finite efforts, for leg1.ha, " in str(raised.value)
        assert raised.match(said)


def test_what_a_controller_did_is_kept() -> None:
    """A controller that goes wrong in the middle: the error holds the run until then, the answer on one line."""
    with pytest.raises(ControllerError, match=r"returned array\(\[nan") as caught:
        simulated(control=lambda t, q, v: resting() if t < 0.0045 else np.full(14, np.nan), duration=0.02)
    run = caught.value.run
    assert run.stopped is not None and run.stopped.time == run.duration == pytest.approx(0.005, abs=1e-15)
    assert "\n" not in str(caught.value)
    same = simulated(control=lambda t, q, v: resting(), duration=0.005)
    np.testing.assert_array_equal(run.data["q"], same.data["q"])
    assert pickle.loads(pickle.dumps(caught.value)).run is None


def test_controller_that_returns_text() -> None:
    """A controller that returns no numbers is refused in the same way."""
    with pytest.raises(StateError, match="controller returned"):
        simulated(control=lambda t, q, v: "full power")


def test_controller_that_fails() -> None:
    """An error inside the controller comes through as it is."""

    def control(t: float, q: Array, v: Array) -> Array:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        simulated(control=control)


@pytest.mark.parametrize("control", [5, [lambda t, q, v: resting()] * 2, "pd"], ids=["number", "two functions", "text"])
def test_control_that_is_none(control: Any) -> None:
    """What is neither a law nor a function is refused by name."""
    with pytest.raises(TailworkError, match="control"):
        simulated(control=control)


def test_wrong_number_of_efforts() -> None:
    """Constant efforts are as many as actuators; the message names them."""
    with pytest.raises(ArgumentError, match=r"values: got 3; required: 14 efforts, for leg1\.ha"):
        simulated(control=Constant(values=(1.0, 2.0, 3.0)))


def test_unknown_names_in_laws() -> None:
    """Actuators, limbs and coordinates that are not there are named, with the nearest that are."""
    sine = Sine(amplitude=1.0, period=1.0)
    with pytest.raises(UnknownNameError, match=r"actuator: got 'tail\.tc'.*did you mean 'tail\.tb'"):
        simulated(control=Driven(actuator="tail.tc", profile=sine))
    with pytest.raises(UnknownNameError, match=r"limb: got 'tial'.*did you mean 'tail'"):
        simulated(control=Tracking(limb="tial", coordinate="ta", profile=sine, kp=1.0, kd=1.0))
    with pytest.raises(ArgumentError, match="coordinate: got 'tc'; required: a coordinate of tail that a motor drives"):
        simulated(control=Tracking(limb="tail", coordinate="tc", profile=sine, kp=1.0, kd=1.0))


@pytest.mark.parametrize("tail", [None, {}, {"tail": {"ta": Sine(amplitude=1.0, period=1.0)}}])
def test_missing_motion(tail: Any) -> None:
    """A prescribed limb needs a profile for each coordinate."""
    with pytest.raises(ArgumentError, match=r"motions: got .*a profile for each coordinate of .* tail, \['ta', 'tb'\]"):
        simulated(model=prescribed(), control=Constant(values=resting()[:12]), motions=tail)


def test_unknown_coordinate_in_a_motion() -> None:
    """A profile for a coordinate that is not there is refused."""
    motion = {name: Sine(amplitude=0.1, period=1.0) for name in ("ta", "tb", "tc")}
    with pytest.raises(ArgumentError, match="'tc'"):
        simulated(model=prescribed(), control=Constant(values=resting()[:12]), motions={"tail": motion})


@pytest.mark.parametrize("which", ["unknown limb", "limb that is not prescribed"])
def test_motion_for_a_limb_that_has_none(which: str) -> None:
    """A motion for a limb that the model does not prescribe is refused, not ignored."""
    motion = {name: Sine(amplitude=0.1, period=1.0) for name in ("ta", "tb")}
    with pytest.raises(ArgumentError, match=r"motions: got .*prescribed limb"):
        simulated(motions={"tial" if which == "unknown limb" else "tail": motion})


# Control


def test_sampled_constant_is_the_law() -> None:
    """A Python controller that always returns the same gives what Constant gives, but for where steps end."""
    tight = {"rtol": 1e-12, "atol": 1e-13}
    compiled, sampled = simulated(**tight), simulated(control=lambda t, q, v: resting(), **tight)
    np.testing.assert_allclose(sampled.data["q"], compiled.data["q"], atol=1e-13)
    np.testing.assert_array_equal(sampled.data["tau"], compiled.data["tau"])


def test_sampled_with_fixed_steps_is_the_law() -> None:
    """With the same fixed steps, sampled constant efforts give the law's states to rounding."""
    fixed = {"method": "rk4", "step": 0.001}
    compiled, sampled = simulated(**fixed), simulated(control=lambda t, q, v: resting(), **fixed)
    np.testing.assert_allclose(sampled.data["q"], compiled.data["q"], atol=1e-15)


def test_sampled_converges_to_the_law() -> None:
    """A PD law sampled and held comes to the compiled law as one over its rate."""
    profile = Sine(amplitude=0.3, period=0.2)
    law = Tracking(limb="tail", coordinate="tb", profile=profile, kp=20.0, kd=0.5)
    exact = simulated(control=(Constant(values=resting()), law), rtol=1e-11, atol=1e-12).data["q"].to_numpy()

    def control(t: float, q: Array, v: Array) -> Array:
        tau = np.array(resting())
        tau[13] += 20.0 * (profile.value(t) - q[7]) + 0.5 * (profile.rate(t) - v[7])
        return tau

    off = []
    for rate in (1000.0, 2000.0, 4000.0):
        run = simulated(control=control, control_rate=rate, rtol=1e-11, atol=1e-12)
        off.append(float(np.abs(run.data["q"].to_numpy() - exact).max()))
    assert off[0] < 2e-3
    assert off[0] / off[1] == pytest.approx(2.0, abs=0.1)
    assert off[1] / off[2] == pytest.approx(2.0, abs=0.1)


def test_controller_is_asked_at_its_rate() -> None:
    """The controller is asked at 0, 1/rate, 2/rate, …, and what it does to its arguments changes nothing."""
    asked: list[float] = []

    def control(t: float, q: Array, v: Array) -> Array:
        asked.append(t)
        q[:], v[:] = 99.0, 99.0
        return np.array(resting())

    run = simulated(control=control, control_rate=400.0)
    np.testing.assert_allclose(asked, np.arange(8) / 400.0, rtol=1e-15)
    np.testing.assert_allclose(run.data["q"], usual().data["q"], atol=1e-6)


def test_controller_sees_the_prescribed_tail() -> None:
    """A controller sees a prescribed tail where its motion puts it, at the start too."""
    seen: list[Array] = []

    def control(t: float, q: Array, v: Array) -> Array:
        seen.append(np.concatenate([q[6:], v[6:]]))
        return np.array(resting()[:12])

    motion = {"ta": Polynomial(coefficients=(0.1, 1.0)), "tb": Polynomial(coefficients=(0.2, -1.0))}
    m = prescribed()
    simulate(m, m.standing(), 0.003, control=control, motions={"tail": motion})
    for k, row in enumerate(seen):
        np.testing.assert_allclose(row, [0.1 + 0.001 * k, 0.2 - 0.001 * k, 1.0, -1.0], atol=1e-14)


def test_laws_add_up() -> None:
    """Efforts of several laws are added."""
    more = Driven(actuator="tail.tb", profile=Polynomial(coefficients=(0.5, 2.0)))
    run = simulated(control=(Constant(values=resting()), more, more))
    added = run.data["tau"].sel(actuator="tail.tb") - resting()[13]
    np.testing.assert_allclose(added, 2 * (0.5 + 2.0 * run.data["time"]), atol=1e-14)


def test_profiles_are_their_own_derivatives() -> None:
    """Rates and accelerations of profiles are those of central differences; point_to_point rests at both ends."""
    profiles = (
        Polynomial(coefficients=(0.3, -1.0, 2.0, 0.5)),
        Sine(amplitude=0.7, period=0.3, phase=0.4, offset=0.1),
        point_to_point(0.2, 1.1, 0.5),
    )
    h = 1e-5
    for profile in profiles:
        for t in (0.0, 0.13, 0.4):
            rate = (profile.value(t + h) - profile.value(t - h)) / (2 * h)
            acceleration = (profile.rate(t + h) - profile.rate(t - h)) / (2 * h)
            assert profile.rate(t) == pytest.approx(rate, abs=1e-6)
            assert profile.acceleration(t) == pytest.approx(acceleration, abs=1e-5)
    move = profiles[2]
    ends = [move.value(0.0), move.rate(0.0), move.value(0.5), move.rate(0.5)]
    assert ends == pytest.approx([0.2, 0.0, 1.1, 0.0], abs=1e-14)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is compiled from now on."""
    calls: list[str] = []
    real = native.compiled

    def compiled(identity: str, assembly: Callable[[], str], **more: Any) -> native.Code:
        calls.append(identity)
        return real(identity, assembly, **more)

    for module in (native, kernel_module):
        if hasattr(module, "compiled"):
            monkeypatch.setattr(module, "compiled", compiled)
    return calls


def pushed(effort: float, kp: float, method: str, **more: Any) -> Run:
    """A run with laws whose numbers are these."""
    values = tuple(x + effort for x in resting())
    law = Tracking(limb="tail", coordinate="ta", profile=Sine(amplitude=effort, period=0.3), kp=kp, kd=0.1)
    return simulated(control=(Constant(values=values), law), method=method, **more)


@pytest.mark.parametrize("method", ["dopri5", "rodas5p"])
def test_numbers_of_laws_compile_nothing(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other gains, torques and profiles use the same machine code, and act."""
    first = pushed(0.1, 10.0, method, events=())
    calls = counted(monkeypatch)
    second = pushed(0.2, 20.0, method, events=())
    assert calls == []
    assert np.abs(second.data["tau"] - first.data["tau"]).max() > 0.1
    # Laws of another structure do compile: more coefficients for each method, so that neither finds the other's.
    more = tuple(range(1, 6 + len(method)))
    simulated(control=Driven(actuator="leg2.k", profile=Polynomial(coefficients=more)))
    assert calls


def test_events_compile_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default events need no compilation when only numbers of laws change."""
    pushed(0.1, 10.0, "dopri5")
    calls = counted(monkeypatch)
    pushed(0.2, 20.0, "dopri5")
    assert calls == []


# Runs


UNITS = {
    "q": "m, rad", "v": "m/s, rad/s", "acceleration": "m/s^2, rad/s^2", "tau": "N m, N", "prescribed_effort": "N m",
    "power": "W", "dissipation": "W", "foot_force": "N", "extension": "1", "kinetic_energy": "J",
    "gravitational_energy": "J", "elastic_energy": "J", "linear_momentum": "N s", "angular_momentum": "N m s",
    "points": "m", "part_center": "m", "part_linear_momentum": "N s", "part_angular_momentum": "N m s",
}  # fmt: skip


def test_names_and_units() -> None:
    """Every quantity has its unit, every axis its names, as the model gives them."""
    data, m = usual().data, model()
    assert {name: data[name].attrs["units"] for name in data.data_vars} | {"prescribed_effort": "N m"} == UNITS
    assert data["time"].attrs["units"] == "s"
    assert data.attrs["robot"] == "liu2020-pendulum"
    names = {
        "coordinate": m.coordinate_names, "velocity": m.velocity_names, "actuator": m.actuator_names,
        "source": m.actuator_names, "foot": m.foot_names, "axis": ("x", "y", "z"), "point": m.point_names,
        "part": m.part_names, "coordinate_unit": ("m",) * 3 + ("rad",) * 5, "actuator_unit": m.actuator_units,
        "velocity_unit": ("m/s",) * 3 + ("rad/s",) * 5,
    }  # fmt: skip
    for axis, expected in names.items():
        assert tuple(data[axis].to_numpy()) == expected
    np.testing.assert_allclose(data["time"], np.linspace(0.0, 0.02, 201), rtol=1e-15)


def test_data_are_the_models() -> None:
    """Data are what the model says of the states in them."""
    data, m = usual().data, model()
    q, v, tau = (data[name].to_numpy() for name in ("q", "v", "tau"))
    np.testing.assert_array_equal(q[0], m.standing())
    np.testing.assert_allclose(data["acceleration"], m.forward_dynamics(q, v, tau), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(data["foot_force"], m.foot_forces(q, v, tau), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(data["kinetic_energy"], m.energy(q, v).kinetic, rtol=1e-13)
    np.testing.assert_array_equal(data["points"], m.points(q))


@pytest.mark.parametrize("case", ["standing", "prescribed", "flight", "stopped at the start"])
def test_saved_and_read(case: str, tmp_path: Path) -> None:
    """A saved run is read back by xarray as it was: values bit by bit, names, units."""
    run = usual()
    if case == "prescribed":
        motion = {name: Sine(amplitude=0.1, period=1.0) for name in ("ta", "tb")}
        run = simulated(model=prescribed(), control=Constant(values=resting()[:12]), motions={"tail": motion})
    if case == "flight":
        aloft = Model(liu2020("pendulum"), "none")
        run = simulated(model=aloft, state=aloft.standing(), control=())
    if case == "stopped at the start":
        run = simulated(events=(tailwork.simulation.LegStraight(extension=0.5),))
    file = tmp_path / "run.nc"
    run.save(str(file))
    with xarray.open_dataset(file, engine="scipy").load() as read:
        for name in run.data.data_vars:
            np.testing.assert_array_equal(read[name], run.data[name])
            assert read[name].attrs["units"] == UNITS[name]
            assert read[name].dims == run.data[name].dims
        for name in run.data.coords:
            assert list(read[name].to_numpy()) == list(run.data[name].to_numpy())
        assert read.attrs["robot"] == "liu2020-pendulum"
    again = load_run(file)
    assert again.model.robot == run.model.robot and again.model.layout.drive() == run.model.layout.drive()
    assert (again.stopped, again.events, again.method) == (run.stopped, run.events, run.method)
    assert again.energy_balance_error() == run.energy_balance_error()
    assert again.summary() == run.summary()
    with pytest.raises(StateError, match="simulate it again"):
        again.path(np.zeros(1))


@pytest.mark.parametrize("content", [b"", b"no netcdf", b"CDF\x01" + bytes(60)])
def test_what_is_not_a_run(content: bytes, tmp_path: Path) -> None:
    """A file that is no run is an error that names it."""
    (tmp_path / "other.nc").write_bytes(content)
    with pytest.raises(FileError, match="other"):
        load_run(tmp_path / "other.nc")
    with pytest.raises(FileError, match="no such file"):
        load_run(tmp_path / "none.nc")


def test_saving_where_it_cannot(tmp_path: Path) -> None:
    """A folder that is not there is named."""
    with pytest.raises(FileError, match=r"missing/run\.nc"):
        usual().save(str(tmp_path / "missing" / "run.nc"))


def test_many_calls_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code returns now and then, so that a run can be interrupted; the steps are the same."""
    whole = simulated(duration=0.3)
    for name in ("PAUSE", "ROOM"):  # returns after so many steps, and where there is no room for more
        monkeypatch.setattr(importlib.import_module("tailwork.simulation.integrate.integrator"), name, 7)
    parts = simulated(duration=0.3)
    assert len(parts.trajectory.times) > 14
    np.testing.assert_array_equal(parts.data["q"], whole.data["q"])
    short = simulated(duration=0.3, max_steps=10)
    assert short.stopped is not None and "more steps than allowed" in short.stopped.reason
    assert len(short.trajectory.times) == 11


def test_run_certifies_itself() -> None:
    """Feet stay to 1e-14 m; forces and friction are those of the data; the assumption is judged by both."""
    run = usual()
    assert run.foot_closure_error() < 1e-14
    force = run.data["foot_force"].to_numpy()
    assert run.min_normal_force() == force[..., 2].min() > 0.0
    needed = (np.hypot(force[..., 0], force[..., 1]) / force[..., 2]).max()
    assert run.friction_needed() == pytest.approx(needed, rel=1e-14)
    assert run.assumption_held()
    assert run.assumption_held(friction=needed * 1.001)
    assert not run.assumption_held(friction=needed * 0.999)
    assert run.stopped is None
    assert run.duration == 0.02


def test_summary() -> None:
    """The summary names robot, method and why, the energy balance, forces, and why the run stopped."""
    text = usual().summary()
    for said in ("liu2020-pendulum: 0.02 s by dopri5", "energy balance to", "smallest normal force", "the feet stay"):
        assert said in text
    assert "stopped" not in text
    run = simulated(control=Constant(values=tuple(1.5 * x for x in resting())), duration=1.0)
    assert run.stopped is not None
    assert f"stopped at {run.stopped.time:.4f} s: {run.stopped.reason}" in run.summary()


def test_path_between_samples() -> None:
    """A run can be asked at any time within it, and only there."""
    run = usual()
    assert run.path(np.array([0.0, 0.00123, 0.02])).foot_forces.shape == (3, 4, 3)
    for wrong in (-1e-6, 0.0200001):
        with pytest.raises(StateError, match=r"times: required: between 0 and 0\.02 s"):
            run.path(np.array([wrong]))


def test_point_to_point_stays_at_its_end() -> None:
    """A motion from rest to rest holds its end: value, rate and acceleration, by floats and in a run twice as long."""
    profile = point_to_point(0.1, 0.6, 0.2)
    assert [profile.value(t) for t in (0.0, 0.1, 0.2, 0.4)] == pytest.approx([0.1, 0.35, 0.6, 0.6], abs=1e-14)
    assert [profile.rate(t) for t in (0.0, 0.1, 0.2, 0.4)] == pytest.approx([0.0, 3.75, 0.0, 0.0], abs=1e-13)
    assert [profile.acceleration(t) for t in (0.0, 0.1, 0.4)] == pytest.approx([75.0, 0.0, 0.0], abs=1e-11)
    for t in (0.05, 0.15, 0.25):
        h = 1e-6
        slope = (profile.value(t + h) - profile.value(t - h)) / (2 * h)
        bend = (profile.rate(t + h) - profile.rate(t - h)) / (2 * h)
        assert (slope, bend) == pytest.approx((profile.rate(t), profile.acceleration(t)), abs=1e-8)
    motion = {"ta": Polynomial(coefficients=(0.0,)), "tb": profile}
    for method in ("dopri5", "rodas5p"):
        run = simulated(
            model=prescribed(),
            duration=0.25,
            control=Constant(values=resting()[:12]),
            motions={"tail": motion},
            method=method,
        )
        swung = run.data["q"].sel(coordinate="tail.tb")
        assert float(swung[-1]) == pytest.approx(0.6, abs=1e-14)
        assert run.stopped is None


@pytest.mark.parametrize("wrong", [(0.0, 1.0, 0.0), (0.0, "40deg", 0.3), (0.0, 1.0, -1.0), (np.nan, 1.0, 1.0)], ids=str)
def test_wrong_motions(wrong: Any) -> None:
    with pytest.raises(ArgumentError):
        point_to_point(*wrong)


@pytest.mark.parametrize("wrong", [{"tail": 1.0}, {"tail": [1.0]}, [1.0], {"tail": {"ta": 1.0, "tb": 1.0}}], ids=str)
def test_motions_of_the_wrong_kind(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="profiles by limb and coordinate"):
        simulated(model=prescribed(), control=Constant(values=resting()[:12]), motions=wrong)
