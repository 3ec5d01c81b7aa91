"""Derivatives through events: against differences of runs, closed forms and another model of Goswami's walker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.quadruped import dropped, model_of
from tailwork.control import Sine, Tracking
from tailwork.errors import ArgumentError, StateError
from tailwork.simulation import HeightField, PeriodicGait, RigidGround, periodic_gait, sensitivities, simulate, stride
from tailwork.simulation.event_driven.job import drive_job
from tailwork.simulation.event_driven.runs import started_job
from tailwork.simulation.event_driven.saltation import Variation, varied
from tailwork.simulation.event_driven.state import RunJob
from tailwork.simulation.options import Options
from tailwork.simulation.system import System
from tailwork.typing import Floats
from tests.oracles.walkers import (
    GOSWAMI,
    compass_cycle,
    compass_events,
    compass_robot,
    compass_speed,
    compass_state,
    hopper,
    lone_body,
    slope,
)

Measured = Callable[..., None]
SLOPE = RigidGround(friction=10.0, surface=slope(GOSWAMI["slope"], "y"))
FINE = Options(rtol=1e-11, atol=1e-11, method="event-driven")


def driven(system: System, ground: RigidGround, x: Floats, duration: float, keep: bool = False) -> RunJob:
    """A run to its end."""
    job = started_job(system, ground, x, None, 0.0, np.zeros(0), FINE, np.zeros(system.efforts), keep)
    job.longest = 2e-3 if keep else job.longest
    drive_job(job, duration)
    return job


def compare(system: System, ground: RigidGround, x: Floats, duration: float, h: float, numbers: dict[str, float],
            differing: Any, skip: set[int]) -> tuple[float, float]:  # fmt: skip
    """Largest difference between derivatives of the final state and central differences of runs, and the largest
    derivative; `differing(name, value)` is (system, ground) with another number."""
    n, count = len(x), len(numbers)
    rates = np.concatenate([np.zeros((n, count)), np.eye(count)])
    job = driven(system, ground, x, duration, keep=True)
    variation = Variation(system, ground, job, list(numbers), rates)
    own = varied(variation, variation.at_start(x, np.eye(n + count, n)), np.zeros(0))
    worst = largest = 0.0
    for k in [k for k in range(n) if k not in skip]:
        ends = [driven(system, ground, x + sign * h * np.eye(n)[k], duration).x for sign in (1.0, -1.0)]
        difference = (ends[0] - ends[1]) / (2.0 * h)
        worst, largest = max(worst, np.abs(difference - own.final[k]).max()), max(largest, np.abs(difference).max())
    for k, (name, value) in enumerate(numbers.items()):
        own_h = h * max(1.0, abs(value))
        others = [differing(name, value + sign * own_h) for sign in (1.0, -1.0)]
        ends = [driven(other, under, x, duration).x for other, under in others]
        difference = (ends[0] - ends[1]) / (2.0 * own_h)
        worst = max(worst, np.abs(difference - own.final[n + k]).max())
    return worst, largest


def test_derivatives_through_an_oblique_rebound_are_those_of_differences() -> None:
    """A body strikes with spin, friction and restitution: derivatives by its state, by the ground's numbers and by the
    factors of its contact point."""
    system, ground = System(lone_body((0.1, 0.0, -0.2))), RigidGround(friction=0.1, restitution=0.5)
    x = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.3, 0.0, 0.1, 0.2, 0.3])

    def differing(name: str, value: float) -> tuple[System, RigidGround]:
        if name.startswith("contacts"):
            return System(model_of(system.model.robot.replace({name: value}))), ground
        return system, replace(ground, **{name.removeprefix("ground."): value})

    factors = {"contacts.p0.friction": 1.0, "contacts.p0.restitution": 1.0}
    numbers = {"ground.friction": 0.1, "ground.restitution": 0.5, **factors}
    worst, largest = compare(system, ground, x, 0.6, 1e-6, numbers, differing, set())
    assert worst < 2e-8 * largest


@pytest.mark.measured("rigid ground")
def test_derivatives_through_a_landing_that_slips_and_sticks_are_those_of_differences(measured: Measured) -> None:
    """Two feet of a quadruped with servos land, lift, land again, slip and come to rest, nine events: derivatives by
    state, gain and mass."""
    model, servo, q = dropped(0.0)
    q[2] += 0.05
    q[3:7] = np.cos(0.075), 0.6 * np.sin(0.075), 0.8 * np.sin(0.075), 0.0
    system, ground = System(model, (servo,)), RigidGround(friction=0.6)

    def differing(name: str, value: float) -> tuple[System, RigidGround]:
        if name.startswith("control"):
            return System(model, (replace(servo, kp=value),)), ground
        return System(model_of(model.robot.replace({name: value})), (servo,)), ground

    x = system.state(q, np.zeros(20))
    numbers = {"control.1.kp": 300.0, "torso.mass": 7.0}
    worst, largest = compare(
        system, ground, x, 0.1045, 1e-6, numbers, differing, set(range(41)) - {1, 2, 8, 12, 21, 23, 30, 36}
    )
    measured("event-driven: derivatives through nine events", worst / largest, at_most=1e-6, unit="1")


def test_a_walker_on_a_gentler_slope_has_the_multipliers_of_its_own_equations() -> None:
    """Where the other foot has hardly any impulse as it lifts."""
    cycle, period, multipliers = compass_cycle(slope=np.radians(2.0))
    ground = RigidGround(friction=10.0, surface=slope(np.radians(2.0), "y"))
    gait = periodic_gait(
        model_of(compass_robot()), compass_state(*cycle), ground=ground, until="right", swap={"left": "right"},
        events=compass_events(),
    )  # fmt: skip
    assert gait.period == pytest.approx(period, abs=1e-9)
    assert all(np.abs(gait.multipliers - own).min() < 1e-8 for own in multipliers)


@pytest.mark.measured("rigid ground")
def test_goswamis_walker_has_the_cycle_and_multipliers_of_its_own_equations(measured: Measured) -> None:
    """Newton's method on the return map of the robot in space finds period, step, state and multipliers that the two
    equations of the planar walker have; and the period goes with one over the root of gravity."""
    cycle, period, multipliers = compass_cycle()
    model = model_of(compass_robot())
    start = compass_state(*(cycle + np.array([1e-3, -1e-3, -2e-3, 3e-3])))
    gait = periodic_gait(
        model, start, ground=SLOPE, until="right", swap={"left": "right"}, events=compass_events(), by=["gravity"]
    )
    assert gait.period == pytest.approx(0.73434639, abs=1e-8)
    measured("event-driven: period of the compass walker", abs(gait.period - period), at_most=1e-9, unit="s")
    assert np.linalg.norm(gait.displacement) == pytest.approx(0.53544542, abs=1e-8)
    turned = 2.0 * gait.start[0][4]  # the torso turns freely about the hips; legs are counted from it
    assert gait.start[0][7:] + turned == pytest.approx(cycle[:2], abs=1e-7)
    assert gait.start[1][6:] + gait.start[1][3] == pytest.approx(cycle[2:], abs=1e-7)
    for own in multipliers:
        measured("event-driven: its multipliers", np.abs(gait.multipliers - own).min(), at_most=1e-6, unit="1")
    assert np.abs(gait.multipliers - (-0.199726 + 0.544476j)).min() < 1e-6
    assert gait.period_by["gravity"] == pytest.approx(-gait.period / (2.0 * 9.81), rel=1e-6)
    assert "multipliers" in gait.summary() and "derivatives of the motion from event to event" in gait.summary()
    assert "of the gait that stays periodic" in gait.differentiated


def test_a_walker_is_found_at_a_speed_by_its_slope_and_at_a_period_by_its_mass() -> None:
    """Slope, or mass of the hip, solved for together with the state: the planar walker with that number has the wanted
    speed or period, and their derivatives."""
    model, start = model_of(compass_robot()), compass_state(0.2186688, -0.3233886, -1.0923836, -0.3773739)
    walks: Any = {"ground": SLOPE, "until": "right", "swap": {"left": "right"}, "events": compass_events()}
    gait = periodic_gait(model, start, vary=["ground.slope_y"], conditions={"speed": 0.74}, by=["speed"], **walks)
    assert gait.numbers is not None and gait.numbers_by is not None
    assert np.linalg.norm(gait.displacement) / gait.period == pytest.approx(0.74, abs=1e-9)
    slope_found, small = np.arctan(-gait.numbers["ground.slope_y"]), 1e-5
    low, cycle, high = (compass_cycle(slope=slope_found + sign * small) for sign in (-1.0, 0.0, 1.0))
    assert gait.period == pytest.approx(cycle[1], abs=1e-9)
    assert compass_speed(*cycle[:2]) == pytest.approx(0.74, abs=1e-9)
    per_speed = 2.0 * small / (compass_speed(*high[:2]) - compass_speed(*low[:2]))
    expected = -per_speed / np.cos(slope_found) ** 2  # the slope is a tangent
    assert gait.numbers_by["speed"]["ground.slope_y"] == pytest.approx(expected, rel=1e-6)
    heavy = periodic_gait(model, start, vary=["torso.mass"], conditions={"period": 0.738}, by=["gravity"], **walks)
    assert heavy.numbers is not None and heavy.period == pytest.approx(0.738, abs=1e-10)
    assert compass_cycle(m_hip=heavy.numbers["torso.mass"])[1] == pytest.approx(0.738, abs=1e-8)
    assert heavy.period_by["gravity"] == pytest.approx(0.0, abs=1e-12)  # the mass follows, and the period stays


def test_a_hopper_is_found_at_a_height_by_the_target_of_its_servo() -> None:
    """The amplitude of the leg's target solved for a height at the start of the period: simulated again, the hopper
    comes back to its start; how the amplitude follows the height is what two other gaits say."""
    model, ground = hopper(), RigidGround(friction=0.8)
    servo = Tracking(limb="leg", coordinate="s", profile=Sine(amplitude=0.06, period=0.4), kp=1500.0, kd=8.0)
    q, v = np.array([0.0, 0.0, 0.51, 1.0, 0.0, 0.0, 0.0, 0.0036]), np.zeros(7)
    v[2], v[6] = 0.665, 0.58

    def gait(height: float) -> PeriodicGait:
        name = "control.1.profile.amplitude"
        return periodic_gait(model, (q, v), ground=ground, period=0.4, control=servo, vary=[name],
                             conditions={"z": height}, by=["z"])  # fmt: skip

    found, below, above = (gait(height) for height in (0.512, 0.5119, 0.5121))
    assert found.problem is not None and found.numbers is not None and found.numbers_by is not None
    again = simulate(model, found.start, 0.4, control=found.problem.control, ground=ground, method="event-driven",
                     rtol=1e-10, atol=1e-10)  # fmt: skip
    assert len(again.changes) == 2 and found.start[0][2] == pytest.approx(0.512, abs=1e-10)
    for own, first in zip(again.final_state, found.start, strict=True):
        assert own == pytest.approx(first, abs=1e-8)
    (amplitude,) = found.numbers
    slope_of = (above.numbers[amplitude] - below.numbers[amplitude]) / 2e-4  # type: ignore[index]
    assert found.numbers_by["z"][amplitude] == pytest.approx(slope_of, rel=1e-5)


def test_derivatives_on_curved_ground_are_those_of_differences() -> None:
    """A body falls into a bowl and slides on: derivatives by its state, the friction and the slope of the bowl."""
    bowl = HeightField.sampled(lambda x, y: 0.25 * x * x + 0.1 * x * y + 0.15 * y * y, (-2.0, 2.0), (-2.0, 2.0), 0.25)
    system, ground = System(lone_body((0.1, 0.05, -0.2), inertia=0.2)), RigidGround(friction=0.2, surface=bowl)
    x = np.array([0.5, 0.3, 1.0, 1.0, 0.0, 0.0, 0.0, 0.4, -0.3, 0.0, 0.5, 0.4, 0.3])

    def differing(name: str, value: float) -> tuple[System, RigidGround]:
        if name == "ground.friction":
            return system, replace(ground, friction=value)
        return system, replace(ground, surface=bowl.tilted(*(value if name.endswith(axis) else 0.0 for axis in "xy")))

    numbers = {"ground.friction": 0.2, "ground.slope_x": 0.0, "ground.slope_y": 0.0}
    worst, largest = compare(system, ground, x, 0.7, 1e-6, numbers, differing, set())
    assert worst < 1e-8 * largest


@pytest.mark.parametrize("inertia", [0.05, 1e-3, 1e-4, 1e-6, 1e-9])
def test_a_rimless_wheel_forgets_half_of_a_disturbance_a_step(inertia: float) -> None:
    """With its mass at the hub, the spin after impacts is cot 2α sqrt(4 g/l sin α sin γ), and a step leaves cos² 2α of
    a disturbance; with inertia J the same with (J + m l² cos 2α)/(J + m l²)."""
    alpha, gamma, g = np.pi / 8.0, 0.08, 9.81
    share = (inertia + np.cos(2.0 * alpha)) / (inertia + 1.0)
    gain = 4.0 * g * np.sin(alpha) * np.sin(gamma) / (inertia + 1.0)
    spin = np.sqrt(share**2 * gain / (1.0 - share**2))
    heavy = np.cos(2.0 * alpha) / np.sin(2.0 * alpha) * np.sqrt(4.0 * g * np.sin(alpha) * np.sin(gamma))
    assert heavy == pytest.approx(1.09546284, abs=1e-8)
    angles = 2.0 * alpha * np.arange(8)
    model = lone_body(*((0.0, float(np.sin(a)), float(-np.cos(a))) for a in angles), inertia=inertia, gravity=g)
    lean = alpha - gamma  # of spoke 0, which stands at the origin with the hub behind it
    hub = np.array([0.0, -np.sin(lean), np.cos(lean)])
    turn = np.array([np.cos(lean / 2.0), np.sin(lean / 2.0), 0.0, 0.0])
    omega = np.array([-spin, 0.0, 0.0])
    v = np.concatenate([np.cross(omega, hub), omega])
    ground = RigidGround(friction=5.0, surface=slope(gamma, "y"))
    found = stride(model, (np.concatenate([hub, turn]), v), ground=ground, until="torso.p1")
    assert found.end[1][3] == pytest.approx(-spin, abs=1e-8)
    assert inertia > 1e-8 or spin == pytest.approx(heavy, abs=1e-8)
    push = np.zeros(12)
    push[6:] = np.concatenate([np.cross([1.0, 0.0, 0.0], hub), [1.0, 0.0, 0.0]])
    assert (found.monodromy @ push)[9] == pytest.approx(share**2, abs=1e-6)


def test_contacts_that_close_together_are_pointed_out() -> None:
    """Where two feet land at once the derivative is one in a direction only, and the stride says so."""
    model = lone_body((0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (0.1, -0.1, 0.0), (-0.1, -0.1, 0.0))
    q = np.array([0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0])
    found = stride(model, q, ground=RigidGround(friction=0.5), until="torso.p0")
    assert any("close together" in note for note in found.notes)


def test_strides_that_do_not_end_are_refused() -> None:
    """A foot that never lands, no section, a controller in Python."""
    model, q = lone_body((0.0, 0.0, 0.0)), np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    ground = RigidGround(friction=0.5)
    with pytest.raises(StateError, match="does not land"):
        stride(model, q, ground=ground, until="torso.p0")
    with pytest.raises(ArgumentError, match="until"):
        stride(model, q, ground=ground)
    with pytest.raises(ArgumentError, match="laws"):
        stride(model, q, ground=ground, period=0.1, control=lambda t, q, v: np.zeros(0))  # pyright: ignore[reportArgumentType]
    how: dict[str, Any] = {"ground": ground, "period": 0.1}
    refused: list[dict[str, Any]] = [
        {"iterations": 0}, {"iterations": 2.5}, {"conditions": ["speed"]}, {"vary": "gravity"}, {"by": "gravity"},
        {"method": "time-stepping"}, {"vary": ["gravity"], "by": ["gravity"]},
    ]  # fmt: skip
    for wrong in refused:
        with pytest.raises(ArgumentError, match=f"^{next(iter(wrong))}: got"):
            periodic_gait(model, q, **how, **wrong)
    with pytest.raises(ArgumentError, match=r"by: got 'ground\.slope_x'; required: a known number of the ground"):
        stride(model, q, **how, by=["ground.slope_x"])


def test_sensitivities_over_time_go_through_impacts() -> None:
    """A rebound: height and speed before and after it by the height of the fall, the ground's restitution and gravity
    are those of the closed form z = e v t' − ½ g t'²."""
    model, ground = lone_body((0.0, 0.0, 0.0)), RigidGround(friction=0.5, restitution=0.5)
    q = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    found = sensitivities(
        model, q, 0.8, by=["ground.restitution", "gravity"], start=["z"], ground=ground, samples=9, rtol=1e-10
    )
    g, height, e, t = 10.0, 1.0, 0.5, found.times[-1]
    fall = np.sqrt(2.0 * height / g)
    after = t - fall
    speed = e * g * fall
    by_height = (e * g * after - speed + g * after) / (g * fall)  # of z: fall changes by dh/(g fall)
    assert found.q["z"][0, -1, 2] == pytest.approx(by_height, abs=1e-9)
    assert found.q["z"][0, 2, 2] == pytest.approx(1.0, abs=1e-12)
    assert found.q["ground.restitution"][0, -1, 2] == pytest.approx(g * fall * after, abs=1e-9)
    assert found.v["ground.restitution"][0, -1, 2] == pytest.approx(g * fall, abs=1e-9)
    # z = e sqrt(2 g h) (t − fall) − ½ g (t − fall)², fall = sqrt(2 h/g)
    by_gravity = e * np.sqrt(height / (2.0 * g)) * after + (speed - g * after) * fall / (2.0 * g) - 0.5 * after**2
    assert found.q["gravity"][0, -1, 2] == pytest.approx(by_gravity, abs=1e-9)
    assert found.notes == ("",)


def test_sensitivities_of_a_state_at_rest_are_those_of_runs() -> None:
    """A puck at rest on rough ground stays where it is, however it is pushed a little, and says that these are
    derivatives in one direction; a quaternion counts by the attitude that it stands for."""
    model, ground = lone_body((0.0, 0.0, 0.0)), RigidGround(friction=0.5)
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    found = sensitivities(model, q, 0.5, start=["x", "z", "v_x", "v_z", "quat_w"], ground=ground, samples=3)
    for name in ("z", "v_x", "v_z", "quat_w"):
        assert np.abs(found.q[name][0, -1]).max() < 1e-12 and np.abs(found.v[name][0, -1]).max() < 1e-12
    assert found.q["x"][0, -1] == pytest.approx([1.0, 0, 0, 0, 0, 0, 0], abs=1e-12)
    assert "one direction" in found.notes[0]
