"""Runs on compliant ground: steps, going on, files, controllers, and input that is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from pucks import (
    DAMPED,
    EVERY,
    EXACT,
    LIMIT,
    TURNING,
    bumpy,
    differing,
    ground,
    incline,
    model,
    puck,
    quadrupeds,
    tailed,
    thrown,
    with_tail,
)
from tailwork.control import Constant, Driven, Sine, point_to_point
from tailwork.control.gait.joint_table import JointTable
from tailwork.control.servo import JointServo
from tailwork.errors import ArgumentError, ControllerError, StateError, UnknownNameError
from tailwork.kernels import kernel as kernel_module
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import FootSlips, Run, load_run, simulate
from tailwork.simulation.contact.ground import HeightField
from tailwork.simulation.contact.on_ground import tables_of
from tailwork.simulation.contact.stepping import aim
from tailwork.simulation.run import Contact

# Steps


def test_step_that_is_too_long() -> None:
    """More than 2 over the ground's frequency, sqrt(k/m), is refused; the message says how long it may be."""
    with pytest.raises(ArgumentError, match=r"step: got 0.015; required: at most 0.0141 s: .*141.4 rad/s.*0.000707 s"):
        thrown(step=0.015)


def test_step_that_is_long() -> None:
    run = thrown(step=0.01, duration=0.1)
    assert run.why_method == "steps of 0.01 s; step times the ground's frequency 1.4, coarser than the 0.1 that is " \
                             "taken of itself"  # fmt: skip


@pytest.mark.parametrize(("step", "samples", "taken"), [(5e-4, EVERY, 5e-4), (7e-4, EVERY, 0.1 / 143)])
def test_step_as_asked(step: float, samples: int, taken: float) -> None:
    """A whole number of steps, none longer than asked, fills the duration."""
    run = thrown(step=step, duration=0.1, samples=samples)
    assert np.diff(run.data["time"].to_numpy()) == pytest.approx(taken, rel=1e-9)
    assert run.duration == pytest.approx(0.1, rel=1e-14)
    assert run.method == "implicit-euler" and "coarser" not in run.why_method


@pytest.mark.parametrize("samples", [2, 11, 201])
def test_step_that_is_chosen(samples: int) -> None:
    """At most 0.1 over the ground's frequency; samples are spaced evenly."""
    run = thrown(duration=0.1, samples=samples)
    times = run.data["time"].to_numpy()
    assert len(times) == samples and np.diff(times) == pytest.approx(0.1 / (samples - 1), rel=1e-9)
    product = float(run.why_method.split()[-1])
    assert 0.05 < product <= 0.1


def test_halving_the_step_halves_the_error() -> None:
    """While the foot sticks on a hillside, swinging: differences of halved steps halve."""
    ends = []
    for step in (4e-4, 2e-4, 1e-4, 5e-5):
        run = thrown((0.0, 0.0, -1e-3), (0.02, 0.01, -0.02), 0.02, on=ground(surface=bumpy(), **DAMPED), step=step,
                     contact=Contact(("stick",), np.array([[0.0, 0.0, 0.0]])))  # fmt: skip
        assert run.changes == ()
        ends.append(np.concatenate(run.final_state))
    changes = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    assert changes[:-1] / changes[1:] == pytest.approx(2.0, abs=0.1)


def test_more_steps_than_allowed() -> None:
    with pytest.raises(ArgumentError, match="max_steps: got 10; required: at least 200"):
        thrown(duration=0.1, step=5e-4, max_steps=10)


# Going on, the same bits, files


def over_hills(duration: float = 0.5, **more: Any) -> Run:
    """Thrown over hills, with steps that add up exactly."""
    start = {"place": (0.0, 0.0, 0.03), "velocity": (1.0, 0.5, 0.0)} if "contact" not in more else {}
    on = ground(surface=bumpy(), **DAMPED)
    return thrown(**start, duration=duration, on=on, step=EXACT / 4, **more)


def test_same_inputs_same_bits() -> None:
    assert differing(over_hills(), over_hills()) == []
    assert over_hills().changes == over_hills().changes


@pytest.mark.parametrize("first", [0.125, 0.1875, 0.25])
def test_going_on_from_a_run(first: float) -> None:
    """A run that goes on from another's end and contact is one long run, bit by bit, wherever it is cut."""
    whole, begun = over_hills(), over_hills(first)
    rest = simulate(model(), begun.final_state, 0.5 - first, ground=begun.ground, contact=begun.final_contact,
                    step=EXACT / 4)  # fmt: skip
    for one, other in zip(whole.final_state, rest.final_state, strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole.final_contact.states == rest.final_contact.states
    np.testing.assert_array_equal(whole.final_contact.anchors, rest.final_contact.anchors)
    late = [(time + first, *what) for time, *what in rest.changes]
    assert whole.changes == (*begun.changes, *late)


def test_samples_change_nothing() -> None:
    few, many = over_hills(samples=2), over_hills(samples=1000)
    np.testing.assert_array_equal(few.final_state[0], many.final_state[0])
    assert few.changes == many.changes


def test_saved_and_loaded(tmp_path: Path) -> None:
    """Data, ground with its heights, changes, contact and certificates come back with the same bits."""
    run = over_hills()
    run.save(tmp_path / "run.nc")
    again = load_run(tmp_path / "run.nc")
    assert differing(run, again) == []
    assert run.ground is not None and again.ground is not None
    assert again.ground.as_text() == run.ground.as_text()
    assert (again.changes, again.events, again.stopped) == (run.changes, run.events, run.stopped)
    assert again.summary() == run.summary()
    assert again.momentum_balance_error() == run.momentum_balance_error()
    assert again.energy_balance_error() == run.energy_balance_error()
    assert again.final_contact.states == run.final_contact.states
    np.testing.assert_array_equal(again.final_contact.anchors, run.final_contact.anchors)
    onward = [simulate(model(), r.final_state, 0.1, ground=r.ground, contact=r.final_contact) for r in (run, again)]
    assert differing(*onward) == []


def test_path_is_not_known() -> None:
    with pytest.raises(StateError, match="on ground"):
        over_hills().path(np.array([0.1]))


def test_changed_numbers_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither numbers of the robot nor of the ground nor its heights are part of what is compiled."""
    usual = over_hills()

    def refuse(*_: object, **more: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(kernel_module, "compiled", refuse)
    changed = Model(puck().replace({"torso.mass": 1.3, "gravity": 9.0, "foot.limb.joints.spin.body.mass": 0.2}), "none")
    other = ground(stiffness=3e4, damping=0.5, static_friction=1.0, surface=incline(0.2)[0])
    run = thrown((0.0, 0.0, 0.03), (1.0, 0.5, 0.0), robot=changed, on=other)
    assert not np.array_equal(run.final_state[0], usual.final_state[0])
    with pytest.raises(AssertionError, match="compiled again"):
        thrown(robot=Model(puck(gravity=0.0), "none"))


# The edge of the field


def test_a_foot_leaves_the_field() -> None:
    """The run ends there and says so; everything until then is kept."""
    field = HeightField.sampled(lambda x, y: 0.0, (-1.0, 0.05), (-1.0, 1.0), 0.1)
    run = thrown(velocity=(1.0, 0.0, 0.0), on=ground(surface=field, **DAMPED), step=1e-3)
    assert run.stopped is not None and run.stopped.reason == "a foot leaves the height field"
    x = run.data["q"].to_numpy()[:, 0]
    assert run.stopped.time == run.duration == pytest.approx((1.0 - np.sqrt(0.5)) / 5.0, abs=3e-3)
    assert x[-1] > 0.05 >= x[:-1].max() and np.isfinite(run.data["q"].to_numpy()).all()
    assert "stopped at" in run.summary()


def test_a_start_outside_the_field() -> None:
    with pytest.raises(ArgumentError, match=r"state: got 'foot'.*outside"):
        thrown((30.5, 0.0, 1.0), on=ground(surface=incline(0.1)[0]))


# Wrong input


@pytest.mark.parametrize("depth", [2e-9, 0.01])
def test_a_foot_that_starts_in_the_ground(depth: float) -> None:
    """Is refused, by name, with its depth; it is allowed if the contact says so."""
    with pytest.raises(ArgumentError, match=rf"state: got 'foot {depth:g} m under the ground'.*contact"):
        thrown((0.0, 0.0, -depth))
    place = np.array([0.0, 0.0, -depth])
    assert thrown(place, contact=Contact(("stick",), place[None])).stopped is None
    assert thrown((0.0, 0.0, -5e-10)).stopped is None, "rounding is forgiven"


def air(feet: int = 1) -> Contact:
    """Feet that do not touch."""
    return Contact(("air",) * feet, np.full((feet, 3), np.nan))


WRONG_CONTACTS: dict[str, Any] = {
    "too many": air(2),
    "none": air(0),
    "unknown state": Contact(("fly",), np.zeros((1, 3))),
    "no anchor": Contact(("stick",), np.full((1, 3), np.nan)),
    "too many anchors": Contact(("stick",), np.zeros((2, 3))),
    "a flat anchor": Contact(("stick",), np.zeros((1, 2))),
    "one row": Contact(("stick",), np.zeros(3)),
    "no anchors": Contact(("stick",), None),  # type: ignore[arg-type]
    "no contact": ("stick",),
}


@pytest.mark.parametrize("what", WRONG_CONTACTS)
def test_wrong_contacts(what: str) -> None:
    with pytest.raises(ArgumentError, match=r"^contact: got"):
        thrown(contact=WRONG_CONTACTS[what])


def table(*coordinates: str) -> JointTable:
    """All at zero."""
    zeros = np.zeros((1, len(coordinates)))
    return JointTable(coordinates=coordinates, period=1.0, values=zeros, slopes=zeros)


def servo(*coordinates: str, kp: float = 1.0) -> JointServo:
    """Holds coordinates at zero."""
    return JointServo(table=table(*coordinates), kp=kp, kd=0.1)


def test_wrong_calls() -> None:
    """What does not go together is refused, and the message says what does."""
    q, pinned = np.zeros(7), Model(liu2020("pendulum"))
    with pytest.raises(ArgumentError, match=r"ground: got 'pinned feet'.*stance='none'"):
        simulate(pinned, pinned.standing(), 0.1, ground=ground())
    footless = Model(liu2020("pendulum").without("legs"), "none")
    with pytest.raises(ArgumentError, match=r"ground: got 'liu2020-pendulum'.*a robot with feet"):
        simulate(footless, np.zeros(8), 0.1, ground=ground())
    with pytest.raises(ArgumentError, match=r"contact: got .*none without a ground"):
        simulate(model(), q, 0.1, contact=air())
    with pytest.raises(ArgumentError, match="control: got 'JointServo'; required: a ground"):
        simulate(model(), q, 0.1, control=servo("foot.spin"))
    with pytest.raises(ArgumentError, match="ground: got 3; required: a CompliantGround"):
        simulate(model(), q, 0.1, ground=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="ground: got None; required: a CompliantGround"):
        simulate(model(), q, 0.1, method="implicit-euler")


@pytest.mark.parametrize("method", ["rk4", "dopri5", "rodas5p", "euler"])
def test_methods_for_other_systems(method: str) -> None:
    with pytest.raises(ArgumentError, match=f"method: got '{method}'; required: 'auto' or 'implicit-euler'"):
        thrown(method=method, step=1e-3)


def test_wrong_servos() -> None:
    with pytest.raises(UnknownNameError, match=r"table.coordinates: got 'foot.spn'.*did you mean 'foot.spin'"):
        thrown(control=servo("foot.spn"))
    with pytest.raises(
        UnknownNameError, match=r"table.coordinates: got 'phi_x'.*that a motor drives; valid: foot.spin"
    ):
        thrown(control=servo("phi_x"))
    with pytest.raises(ArgumentError, match=r"control: got 'foot.spin'; required: one servo a coordinate"):
        thrown(control=[servo("foot.spin"), servo("foot.spin", kp=2.0)])
    with pytest.raises(ArgumentError, match=r"kp: got -1.0"):
        servo("foot.spin", kp=-1.0)
    with pytest.raises(ArgumentError, match=r"table: got 3; required: a JointTable"):
        JointServo(table=3, kp=1.0, kd=1.0)  # type: ignore[arg-type]


def test_only_soft_ground_has_contacts() -> None:
    """A run with pinned feet knows neither the balance of momentum nor a contact at its end."""
    run = simulate(model(), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]), 0.01)
    for asked in (run.momentum_balance_error, lambda: run.final_contact):
        with pytest.raises(StateError, match="on ground"):
            asked()


def test_tables_as_drivers_take_them() -> None:
    """Drivers look up the angles and rates that the tables tell, of several tables at once."""
    chance = np.random.default_rng(3)
    tables = [
        JointTable(coordinates=tuple("abc"[:n]), period=period, values=chance.normal(size=(rows, n)),
                   slopes=chance.normal(size=(rows, n)))
        for n, period, rows in ((3, 0.7, 5), (1, 1.9, 1), (2, 0.25, 12))
    ]  # fmt: skip
    targets = np.empty(12)
    for time in chance.uniform(0.0, 5.0, 50):
        aim(tables_of([tables]), 0, time, 0, targets[:, None])
        found = [t.at(time) for t in tables]
        np.testing.assert_allclose(targets[:6], np.concatenate([values for values, _ in found]), atol=1e-12)
        np.testing.assert_allclose(targets[6:], np.concatenate([rates for _, rates in found]), atol=1e-10)


# Controllers in Python, and limits

PER_TORQUE = 1.0 / TURNING[0] + 1.0 / TURNING[1]
"""Acceleration of the hinge for a torque of its motor: foot and torso turn against each other [1/(kg m²)]."""


def test_a_controller_is_sampled_and_held() -> None:
    """The motor's torque turns foot and torso by what was asked at each tick, held until the next, to rounding."""
    asked: list[float] = []

    def controller(t: float, q: Array, v: Array) -> list[float]:
        asked.append(t)
        return [0.01 * np.sin(40.0 * t)]

    run = thrown(duration=0.1, control=controller, control_rate=100.0, step=1e-3, samples=101)
    assert asked == pytest.approx(np.arange(10) * 0.01, abs=1e-12)
    torque = np.repeat(0.01 * np.sin(40.0 * np.array(asked)), 10)
    rate = run.data["v"].sel(velocity="foot.spin rate").to_numpy()
    np.testing.assert_allclose(rate, np.concatenate([[0.0], np.cumsum(torque) * 1e-3 * PER_TORQUE]), atol=1e-13)
    np.testing.assert_allclose(run.data["tau"].to_numpy()[1:, 0], torque, atol=1e-15)
    assert run.events == ()


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [np.nan], "much", None])
def test_a_wrong_answer_leaves_the_run_so_far(wrong: Any) -> None:
    """The error says when; its run goes until then and can be used."""
    with pytest.raises(ControllerError, match=r"returned .* at t = 0.05 s; required: 1 finite efforts") as caught:
        thrown((0.0, 0.0, 0.01), duration=0.2, step=1e-3, control=lambda t, q, v: [0.01] if t < 0.0499 else wrong)
    run = caught.value.run
    assert run.duration == pytest.approx(0.05, rel=1e-12)
    assert run.stopped is not None and run.stopped.reason == "the controller gave no efforts"
    usual = thrown((0.0, 0.0, 0.01), duration=0.05, step=1e-3, control=lambda t, q, v: [0.01])
    np.testing.assert_allclose(run.final_state[0], usual.final_state[0], atol=1e-15)


def beyond(limits: str) -> Run:
    """A motor that is asked for twice its limit from 0.05 s on."""
    ask = lambda t, q, v: [2.0 * LIMIT if t > 0.0499 else 0.5 * LIMIT]  # noqa: E731
    return thrown(duration=0.1, step=1e-3, control=ask, limits=limits)


@pytest.mark.parametrize(("limits", "gives"), [("report", 2.0 * LIMIT), ("respect", LIMIT)])
def test_limits_are_reported_and_respected(limits: str, gives: float) -> None:
    """Either way the event says when; the torque is what was asked, or the limit, and the hinge feels that."""
    run = beyond(limits)
    ((time, what),) = run.events
    assert what == "foot.motor is asked for more than its limit"
    assert time == pytest.approx(0.051, abs=1e-12)
    rate = run.data["v"].sel(velocity="foot.spin rate").to_numpy()[-1]
    assert rate == pytest.approx(PER_TORQUE * 0.05 * (0.5 * LIMIT + gives), rel=1e-11)
    assert np.abs(run.data["tau"].to_numpy()).max() == pytest.approx(gives, rel=1e-14)


# Clocks, falls, and what is of pinned feet alone


def test_going_on_from_the_moment_of_touch_down() -> None:
    """The foot is under the ground without having touched it: its contact says that this is so."""
    run = thrown((0.0, 0.0, 0.05), duration=0.1, step=1e-3)
    assert run.final_contact.states == ("air",) and run.final_state[0][2] < 0.0
    onward = simulate(model(), run.final_state, 0.1, ground=ground(), contact=run.final_contact, step=1e-3)
    whole = thrown((0.0, 0.0, 0.05), duration=0.2, step=1e-3)
    np.testing.assert_allclose(onward.final_state[0], whole.final_state[0], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("step", [None, 2e-4])
def test_a_controller_is_asked_at_its_rate(step: float | None) -> None:
    asked: list[float] = []
    thrown(duration=0.05, control=lambda t, q, v: asked.append(t) or [0.0], control_rate=1000.0, step=step)
    np.testing.assert_allclose(asked, np.arange(50) * 1e-3, atol=1e-12)
    with pytest.raises(
        ArgumentError, match=r"step: got 0.0015; required: at most 0.001 s, the period of the controller"
    ):
        thrown(duration=0.05, control=lambda t, q, v: [0.0], control_rate=1000.0, step=1.5e-3)


def test_the_clock_of_a_run_can_start_later() -> None:
    """Two runs one after the other are one: a tail whose motion is given goes on where it was."""
    robot = with_tail()
    motion = {"tail": {"swing": point_to_point(0.0, 1.0, 0.2)}}
    q = np.zeros(8)
    q[2] = 0.15
    kwargs: dict[str, Any] = {"ground": ground(**DAMPED), "motions": motion, "step": EXACT}
    whole = simulate(robot, q, 128 * EXACT, **kwargs)
    first = simulate(robot, q, 48 * EXACT, **kwargs)
    second = simulate(
        robot, first.final_state, 80 * EXACT, contact=first.final_contact, start_time=48 * EXACT, **kwargs
    )
    assert second.data["time"].to_numpy()[0] == 48 * EXACT and second.duration == 80 * EXACT
    np.testing.assert_allclose(second.final_state[0], whole.final_state[0], rtol=0.0, atol=1e-13)


def test_the_clock_of_a_pinned_run_can_start_later() -> None:
    pinned, _ = quadrupeds()
    law = Driven(actuator="tail.tb", profile=Sine(amplitude=1.0, period=0.07))
    legs = Constant(values=tuple(pinned.static_torques(pinned.standing())))
    whole = simulate(pinned, pinned.standing(), 0.06, control=[legs, law], method="rk4", step=1e-3)
    first = simulate(pinned, pinned.standing(), 0.02, control=[legs, law], method="rk4", step=1e-3)
    second = simulate(pinned, first.final_state, 0.04, control=[legs, law], method="rk4", step=1e-3, start_time=0.02)
    np.testing.assert_allclose(second.final_state[0], whole.final_state[0], rtol=0.0, atol=1e-13)
    with pytest.raises(ArgumentError, match="start_time: got nan"):
        simulate(pinned, pinned.standing(), 0.02, start_time=np.nan)


def test_a_robot_that_falls_through_is_noticed() -> None:
    """Only feet touch the ground; the run says when something else is in it."""
    run = thrown((0.0, 0.0, 0.15), duration=0.5, robot=on_one_foot(), on=ground(**DAMPED))
    ((time, what),) = run.events
    assert "is under the ground, which only feet and contact points touch: the robot has fallen" in what
    points = run.data["points"].sel(axis="z").to_numpy()
    others = points[:, [not name.endswith(".foot") for name in run.model.point_names]].min(axis=1)
    assert time == run.data["time"].to_numpy()[np.argmax(others < 0.0)]
    assert what in run.summary()


@cache
def on_one_foot() -> Model:
    """On one foot beside its centre of mass, without the tail: it falls."""
    return Model(tailed().without("tail"), "none")


def test_measures_of_pinned_feet_are_not_for_the_ground() -> None:
    run = thrown((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 0.05)
    for measure in (run.friction_needed, run.min_normal_force, run.foot_closure_error):
        with pytest.raises(StateError, match="pinned feet"):
            measure()
    assert not run.assumption_held()


def test_events_of_pinned_feet_are_not_for_the_ground() -> None:
    with pytest.raises(ArgumentError, match=r"events: got FootSlips.*`changes`"):
        thrown(events=(FootSlips(friction=0.5),))


def test_shares_of_time_do_not_depend_on_samples() -> None:
    lines = {
        tuple(line for line in thrown((0.0, 0.0, 0.05), duration=0.3, step=1e-3, samples=n).summary().splitlines()
              if line.startswith("foot:"))
        for n in (2, 31, 301)
    }  # fmt: skip
    assert len(lines) == 1 and "air 100%" not in str(lines)
