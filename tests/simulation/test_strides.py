"""Derivatives through events: against differences of runs, closed forms and another model of Goswami's walker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailwork.errors import ArgumentError, StateError
from tailwork.simulation import RigidGround, periodic_gait, sensitivities, stride
from tailwork.simulation.event_driven.job import drive_job
from tailwork.simulation.event_driven.runs import started_job
from tailwork.simulation.event_driven.state import Job
from tailwork.simulation.event_driven.variations import Variation, varied
from tailwork.simulation.options import Options
from tailwork.simulation.system import System
from tailwork.typing import Floats
from tests.oracles.walkers import (
    GOSWAMI,
    compass_cycle,
    compass_events,
    compass_robot,
    compass_state,
    free_model,
    lone_body,
    slope,
    standing_quadruped,
)

Measured = Callable[..., None]
SLOPE = RigidGround(friction=10.0, surface=slope(GOSWAMI["slope"], "y"))
FINE = Options(rtol=1e-11, atol=1e-11, method="event-driven")


def driven(system: System, ground: RigidGround, x: Floats, duration: float, keep: bool = False) -> Job:
    """A run to its end."""
    job = started_job(system, ground, x, 0.0, np.zeros(0), FINE, np.zeros(system.efforts), keep)
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
    own = varied(Variation(system, ground, job, list(numbers), rates), np.eye(n + count, n), np.zeros(0))
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
    """A body strikes with spin, friction and restitution: derivatives by its state and by the ground's numbers."""
    system, ground = System(lone_body((0.1, 0.0, -0.2))), RigidGround(friction=0.1, restitution=0.5)
    x = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.3, 0.0, 0.1, 0.2, 0.3])

    def differing(name: str, value: float) -> tuple[System, RigidGround]:
        return system, replace(ground, **{name.removeprefix("ground."): value})

    numbers = {"ground.friction": 0.1, "ground.restitution": 0.5}
    worst, largest = compare(system, ground, x, 0.6, 1e-6, numbers, differing, set(range(3, 7)))
    assert worst < 2e-8 * largest


@pytest.mark.measured("rigid ground")
def test_derivatives_through_a_landing_that_slips_and_sticks_are_those_of_differences(measured: Measured) -> None:
    """Two feet of a quadruped with servos land, lift, land again, slip and come to rest, nine events: derivatives by
    state, gain and mass."""
    model, servo, q = standing_quadruped()
    q[2] += 0.05
    q[3:7] = np.cos(0.075), 0.6 * np.sin(0.075), 0.8 * np.sin(0.075), 0.0
    system, ground = System(model, (servo,)), RigidGround(friction=0.6)

    def differing(name: str, value: float) -> tuple[System, RigidGround]:
        if name.startswith("control"):
            return System(model, (replace(servo, kp=value),)), ground
        return System(free_model(model.robot.replace({name: value})), (servo,)), ground

    x = system.state(q, np.zeros(20))
    numbers = {"control.1.kp": 300.0, "torso.mass": 7.0}
    worst, largest = compare(
        system, ground, x, 0.1045, 1e-6, numbers, differing, set(range(41)) - {1, 2, 8, 12, 21, 23, 30, 36}
    )
    measured("event-driven: derivatives through nine events", worst / largest, at_most=1e-6, unit="1")


@pytest.mark.measured("rigid ground")
def test_goswamis_walker_has_the_cycle_and_multipliers_of_its_own_equations(measured: Measured) -> None:
    """Newton's method on the return map of the robot in space finds period, step, state and multipliers that the two
    equations of the planar walker have; and the period goes with one over the root of gravity."""
    cycle, period, multipliers = compass_cycle()
    model = free_model(compass_robot())
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
    assert "multipliers" in gait.summary()


def test_a_rimless_wheel_forgets_half_of_a_disturbance_a_step() -> None:
    """With its mass at the hub, the spin after impacts is cot 2α sqrt(4 g/l sin α sin γ), and a step leaves cos² 2α of
    a disturbance; with inertia J the same with (J + m l² cos 2α)/(J + m l²)."""
    alpha, gamma, g, inertia = np.pi / 8.0, 0.08, 9.81, 0.05
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
