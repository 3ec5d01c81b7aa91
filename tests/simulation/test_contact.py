"""Feet on compliant ground: springs, friction and rebound of a puck; tails; a quadruped that drops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from oracles.layout import Array, relative
from pucks import (
    ACROSS,
    AIR,
    DAMPED,
    EVERY,
    EXACT,
    GRAVITY,
    KINETIC,
    MASS,
    SLIP,
    STATIC,
    STICK,
    STIFFNESS,
    TAIL_LIMIT,
    bumpy,
    differing,
    ground,
    in_cone,
    incline,
    inclined,
    puck,
    quadrupeds,
    thrown,
    with_tail,
)
from tailwork.control import Constant, Polynomial, point_to_point
from tailwork.control.gait.foot_kinematics import posed
from tailwork.control.gait.joint_table import JointTable, held_posture
from tailwork.control.servo import JointServo
from tailwork.kernels import kernel as kernel_module
from tailwork.mechanics.attitude import rotation_matrix
from tailwork.model import Model
from tailwork.robots import biswal
from tailwork.simulation import Run, simulate
from tailwork.simulation.contact.ground import CompliantGround
from tailwork.simulation.integrate.balance import unbalanced
from tailwork.simulation.run import Contact

# Rest


@pytest.mark.measured("ground")
@pytest.mark.parametrize("step", [None, 1e-4, 1e-2])
def test_weight_presses_the_foot_in(measured: Callable[..., None], step: float | None) -> None:
    """At rest the puck is m g/k below the surface, to rounding, whatever the step."""
    run = thrown(duration=3.0, on=ground(damping=20.0), step=step)
    apart = abs(run.data["q"].to_numpy()[-1, 2] * STIFFNESS / (MASS * GRAVITY) + 1.0)
    measured("depth at rest beside weight over stiffness", apart, at_most=1e-12)
    assert run.data["foot_force"].to_numpy()[-1, 0] == pytest.approx([0.0, 0.0, MASS * GRAVITY], abs=1e-11)


@pytest.mark.parametrize("step", [EXACT, 8 * EXACT])
def test_balance_stays(step: float) -> None:
    """Pressed in by m g/k at the start, it does not move at all, on ground that has no dampers either."""
    place = (0.0, 0.0, -MASS * GRAVITY / STIFFNESS)
    run = thrown(place, contact=Contact(("stick",), np.array([place])), step=step)
    assert np.abs(run.data["v"].to_numpy()).max() < 1e-15
    assert run.changes == () and run.assumption_held()


@pytest.mark.parametrize("angle", [0.1, 0.5, np.arctan(STATIC) - 1e-6])
def test_incline_that_static_friction_holds(angle: float) -> None:
    """tan(angle) < mu_s: with its springs stretched by its weight the puck stays where it is, to rounding."""
    run, place, _ = inclined(angle, "stick")
    np.testing.assert_allclose(run.data["q"].to_numpy()[:, :3], np.tile(place, (len(run.data["time"]), 1)), atol=1e-15)
    assert run.changes == ()


@pytest.mark.measured("ground")
@pytest.mark.parametrize("angle", [np.arctan(STATIC) + 1e-6, 0.9, 1.2])
def test_incline_that_static_friction_does_not_hold(measured: Callable[..., None], angle: float) -> None:
    """tan(angle) > mu_s: it slips at once, with g (sin − mu_k cos), to rounding."""
    run, _, down = inclined(angle, "stick")
    wanted = GRAVITY * (np.sin(angle) - KINETIC * np.cos(angle))
    speed = run.data["v"].to_numpy()[:, :3] @ down
    falling = wanted * run.data["time"].to_numpy()
    np.testing.assert_allclose(speed, falling, rtol=1e-12)
    measured("speed of sliding down an incline beside g (sin − mu cos) t", relative(speed, falling), at_most=1e-12)
    assert run.changes == ((0.0, "foot", "slip"),)
    assert not run.assumption_held()


@pytest.mark.parametrize("angle", [np.arctan(KINETIC) + 1e-3, 0.6])
def test_between_the_frictions_what_slips_goes_on(angle: float) -> None:
    """mu_k < tan(angle) < mu_s: what sticks stays, what slips is not caught."""
    run, _, down = inclined(angle, "slip")
    wanted = GRAVITY * (np.sin(angle) - KINETIC * np.cos(angle))
    assert run.data["v"].to_numpy()[-1, :3] @ down == pytest.approx(wanted * run.duration, rel=1e-11)
    assert run.changes == ()
    assert inclined(angle, "stick", 0.05)[0].changes == ()


def test_below_kinetic_friction_what_slips_is_caught() -> None:
    run, _, _ = inclined(0.3, "slip")
    assert run.changes == ((0.0, "foot", "stick"),)
    assert np.abs(run.data["v"].to_numpy()[-1]).max() < 1e-3


def test_settling_on_an_incline() -> None:
    """From the first touch, without any contact given, it comes to rest where weight stretches its springs."""
    angle = 0.3
    field, normal, down = incline(angle)
    run = thrown(duration=3.0, on=ground(surface=field, damping=20.0, tangential_damping=100.0))
    assert np.abs(run.data["v"].to_numpy()[-1]).max() < 1e-9
    sunk = run.final_contact.anchors[0] - run.data["q"].to_numpy()[-1, :3]
    assert sunk @ down == pytest.approx(-MASS * GRAVITY * np.sin(angle) / ACROSS, rel=1e-8)
    assert run.data["q"].to_numpy()[-1, :3] @ normal == pytest.approx(
        -MASS * GRAVITY * np.cos(angle) / STIFFNESS, rel=1e-8
    )


# Sliding


def sliding(speed: float, step: float, direction: Array, duration: float = 0.4, **dampers: float) -> Run:
    """On the flat, with springs stretched as kinetic friction does; every step is kept."""
    place = np.array([0.0, 0.0, -MASS * GRAVITY / STIFFNESS])
    contact = Contact(("slip",), (place - KINETIC * MASS * GRAVITY / ACROSS * direction)[None])
    on = ground(**dampers)
    return thrown(place, speed * direction, duration, on=on, contact=contact, step=step, samples=EVERY)


DIRECTIONS = [np.array([1.0, 0.0, 0.0]), np.array([-0.6, 0.8, 0.0])]


@pytest.mark.measured("ground")
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_sliding_loses_momentum_to_friction(measured: Callable[..., None], direction: Array) -> None:
    """While it slips the momentum lost is mu_k times the impulse of the normal force, to rounding; then it sticks."""
    run = sliding(1.0, 1e-3, direction, **DAMPED)
    ((stop, _, what),) = run.changes
    slips = run.data["time"].to_numpy() <= stop
    momentum, impulse = run.data["linear_momentum"].to_numpy(), run.data["foot_impulse"].to_numpy()[:, 0]
    lost = (momentum[0] - momentum) @ direction
    np.testing.assert_allclose(lost[slips], KINETIC * impulse[slips, 2], rtol=1e-12, atol=1e-14)
    apart = relative(lost[slips], KINETIC * impulse[slips, 2])
    measured("momentum lost in sliding beside mu times the normal impulse", apart, at_most=1e-12)
    assert stop == pytest.approx(1.0 / (KINETIC * GRAVITY), abs=2e-3)
    assert what == "stick" and (run.data["contact"].to_numpy()[~slips] == STICK).all()
    aside = run.data["q"].to_numpy()[:, :3] @ np.cross([0.0, 0.0, 1.0], direction)
    assert np.abs(aside).max() < 1e-15


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_sliding_stops_after_the_way_of_friction(direction: Array) -> None:
    """After v²/(2 mu_k g), the error of first order; then its spring takes it back by as much as it was stretched."""
    wanted, back, errors = 1.0 / (2.0 * KINETIC * GRAVITY), KINETIC * MASS * GRAVITY / ACROSS, []
    for step in (4e-4, 2e-4, 1e-4):
        way = sliding(1.0, step, direction, 0.5, damping=1.0, tangential_damping=100.0)
        along = way.data["q"].to_numpy()[:, :3] @ direction
        errors.append([along.max() - wanted, along[-1] - (wanted - back)])
    np.testing.assert_allclose(np.abs(errors), 0.5 * np.array([[4e-4], [2e-4], [1e-4]]) * [1.0, 1.0], rtol=0.1)


def test_friction_only_takes_energy() -> None:
    """While the puck slips the ground's work falls with every step; what is gone in the end is its kinetic energy."""
    run = sliding(1.0, 1e-3, DIRECTIONS[1], 1.0, **DAMPED)
    work, mode = run.data["foot_work"].to_numpy()[:, 0], run.data["contact"].to_numpy()[1:, 0]
    assert (np.diff(work)[mode == SLIP] < 0.0).all()
    assert work[-1] == pytest.approx(-0.5, rel=1e-3)


# Bouncing


def test_flight_is_that_of_the_method() -> None:
    """In the air momentum is exact, and the height is z0 − g t (t + h)/2: a parabola, and half a step's error."""
    run = thrown((0.1, 0.2, 2.0), (0.3, -0.4, 0.5), 0.3, step=1e-3)
    t, q = run.data["time"].to_numpy(), run.data["q"].to_numpy()
    np.testing.assert_allclose(run.data["linear_momentum"].to_numpy()[:, 2], 0.5 - GRAVITY * t, atol=1e-13)
    np.testing.assert_allclose(q[:, 2], 2.0 + 0.5 * t - 0.5 * GRAVITY * t * (t + 1e-3), atol=1e-13)
    np.testing.assert_allclose(q[:, :2], np.outer(t, [0.3, -0.4]) + np.array([0.1, 0.2]), atol=1e-14)


def test_undamped_bounce() -> None:
    """The puck never comes higher than it was; what is missing falls at first order."""
    height, missing = 0.05, []
    for step in (2e-4, 1e-4, 5e-5, 2.5e-5):
        run = thrown((0.0, 0.0, height), duration=0.6, step=step, samples=3001)
        z, t = run.data["q"].to_numpy()[:, 2], run.data["time"].to_numpy()
        assert z.max() == height, "the start is the highest point"
        missing.append(height - z[(t > 0.15) & (t < 0.35)].max())
        work, mode = run.data["foot_work"].to_numpy(), run.data["contact"].to_numpy()
        assert (work[mode == AIR] <= 0.0).all() and work.min() < -0.4
    assert np.array(missing[:-1]) / missing[1:] == pytest.approx(2.0, abs=0.05)


@cache
def weightless() -> Model:
    """The puck with next to no gravity."""
    return Model(puck(gravity=1e-9), "none")


def rebound(damping: float, step: float) -> float:
    """Speed after the impact over the one before, 1 m/s."""
    run = thrown(velocity=(0.0, 0.0, -1.0), duration=0.06, on=ground(damping=damping), robot=weightless(), step=step)
    assert run.final_contact.states == ("air",)
    return float(run.data["v"].to_numpy()[-1, 2])


def exact_rebound(damping: float) -> float:
    """Of Hunt & Crossley's law at 1 m/s: m v v' = −k d (1 + c v) integrated, c (1 + e) = log((1 + c)/(1 − c e))."""
    most = min(1.0, 1.0 / damping) * (1.0 - 1e-12)
    return float(brentq(lambda e: damping * (1.0 + e) - np.log((1.0 + damping) / (1.0 - damping * e)), 1e-6, most))


@pytest.mark.measured("ground")
@pytest.mark.parametrize("damping", [0.01, 0.3, 1.0, 3.0])
def test_restitution(measured: Callable[..., None], damping: float) -> None:
    """The rebound comes near that of the law at first order, from below: less is never lost than should be."""
    errors = exact_rebound(damping) - np.array([rebound(damping, step) for step in (2e-4, 1e-4, 5e-5)])
    assert (errors > 0.0).all()
    assert errors[:-1] / errors[1:] == pytest.approx(2.0, abs=0.04)
    measured("rebound beside Hunt & Crossley's, steps extrapolated", abs(2.0 * errors[2] - errors[1]), at_most=2e-4)


@pytest.mark.parametrize("damping", [0.02, 0.01])
def test_restitution_of_little_damping(damping: float) -> None:
    """e → 1 − (2/3) c v, with an error of (c v)²; steps extrapolated to none."""
    found = 2.0 * rebound(damping, 2e-5) - rebound(damping, 4e-5)
    lossless = 2.0 * rebound(0.0, 2e-5) - rebound(0.0, 4e-5)
    assert lossless == pytest.approx(1.0, abs=1e-4)
    assert found - lossless + 1.0 == pytest.approx(1.0 - 2.0 / 3.0 * damping, abs=0.5 * damping**2)


def test_forces_stay_in_the_friction_cone() -> None:
    """Over hills, slipping, sticking and in the air by turns: in every step the ground pushes, within friction."""
    run = thrown((0.0, 0.0, 0.03), (1.0, 0.5, 0.0), 0.6, on=ground(surface=bumpy(), **DAMPED), step=7e-4, samples=EVERY)
    share = in_cone(run)
    assert len(share) > 10 and {state for _, _, state in run.changes} == {"air", "stick", "slip"}
    assert run.momentum_balance_error() < 1e-13


def test_momentum_and_energy_close() -> None:
    """Impulses leave nothing of the momentum unexplained; work leaves a share of the energy, of first order."""
    errors = []
    for step in (4e-4, 2e-4, 1e-4):
        run = thrown((0.0, 0.0, 0.03), (1.0, 0.5, 0.0), 0.6, on=ground(surface=bumpy(), **DAMPED), step=step)
        assert run.momentum_balance_error() < 1e-13
        errors.append(run.energy_balance_error())
    assert errors[0] < 2e-3
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.1)


# A tail whose motion is given


def swinging(step: float, height: float = 0.15, duration: float = 0.2, attitude: str = "rpy") -> Run:
    """Dropped from a height of P while the tail swings by 1 rad; every step is kept."""
    robot = with_tail(attitude)
    q, v = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.velocity_names))
    q[2] = height
    if attitude == "quaternion":
        q[3] = 1.0
    v[:3], v[3:6] = (0.3, 0.1, 0.0), (0.4, -0.3, 0.5)
    motion = {"tail": {"swing": point_to_point(0.0, 1.0, 0.2)}}
    return simulate(robot, (q, v), duration, ground=ground(**DAMPED), motions=motion, step=step, samples=EVERY)


STEPS = (4e-4, 2e-4, 1e-4)


def test_a_given_tail_in_flight() -> None:
    """The torso turns against the tail: angular and linear momentum are kept, at first order."""
    errors = []
    for step in STEPS:
        run = swinging(step, height=2.0)
        turning = run.data["angular_momentum"].to_numpy()
        falling = np.outer(run.data["time"].to_numpy(), [0.0, 0.0, -1.2 * GRAVITY])
        moving = run.data["linear_momentum"].to_numpy() - falling
        errors.append([np.abs(turning - turning[0]).max(), np.abs(moving - moving[0]).max()])
        yaw = run.data["part_angular_momentum"].to_numpy()[:, :, 2]
        assert np.ptp(yaw, axis=0).max() > 0.01, "parts exchange it"
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.05)
    assert np.max(errors) < 3e-3


def test_a_given_tail_on_the_ground() -> None:
    """The ground's forces on the foot explain what angular momentum gains, about the centre of mass, at first order."""
    errors = []
    for step in STEPS:
        run = swinging(step)
        assert run.changes, "it lands"
        foot = run.data["points"].sel(point="foot.foot").to_numpy()
        arm = (foot - run.model.center_of_mass(run.data["q"].to_numpy()))[:-1]
        force = run.data["foot_force"].to_numpy()[1:, 0]
        gained = np.diff(run.data["angular_momentum"].to_numpy(), axis=0)
        total = np.linalg.norm(gained.sum(axis=0))
        assert total > 0.01
        errors.append(np.linalg.norm((gained - step * np.cross(arm, force)).sum(axis=0)) / total)
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.3)
    assert errors[-1] < 0.02


def test_a_given_tail_works() -> None:
    """Work of the tail's motor, of its spring and of the ground is the energy gained, at first order."""
    errors = [swinging(step).energy_balance_error() for step in STEPS]
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.3)
    assert errors[-1] < 0.01


def test_power_of_a_given_tail() -> None:
    """What the tail's motor gives goes into its spring, its damper and the rest of the robot, at first order."""
    errors = []
    for step in STEPS:
        data = swinging(step).data
        times, power = data["time"].to_numpy(), data["power"].sum("source").to_numpy() - data["dissipation"].to_numpy()
        given = float(np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(times)))
        stored = float(data["elastic_energy"][-1] - data["elastic_energy"][0])
        errors.append(abs(given - stored - float(data["joint_work"][-1])))
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.3)
    assert errors[-1] < 2e-3 * np.ptp(data["kinetic_energy"].to_numpy())


@pytest.mark.parametrize("height", [1.0, 0.1 - 1.2 * GRAVITY / STIFFNESS])
def test_limit_of_a_given_tail(height: float) -> None:
    """To hold the tail takes nothing while the robot falls; while it stands, soon more than the motor's limit, and the
    run says when."""
    robot, q = with_tail(), np.zeros(8)
    q[2] = height
    foot = robot.points(q)[list(robot.point_names).index("foot.foot")]
    contact = Contact(("air" if height == 1.0 else "stick",), foot[None])
    motion = {"tail": {"swing": Polynomial(coefficients=(0.0,))}}
    run = simulate(robot, q, 0.02, ground=ground(**DAMPED), contact=contact, motions=motion, step=1e-4)
    times, effort = run.data["time"].to_numpy()[1:], np.abs(run.data["prescribed_effort"].to_numpy()[1:, 0])
    if height == 1.0:
        assert effort.max() < 1e-14 and run.events == ()
    else:
        ((time, what),) = run.events
        assert what == "tail.motor is asked for more than its limit"
        assert time == pytest.approx(times[effort > TAIL_LIMIT][0], abs=2.1e-4)


def test_quaternions_give_the_same_motion() -> None:
    """Attitude by quaternion or by angles: the difference falls at first order."""
    differences = []
    for step in STEPS:
        places, turns = [], []
        for attitude in ("rpy", "quaternion"):
            q = swinging(step, attitude=attitude).final_state[0]
            places.append(q[:3])
            turns.append(np.array(rotation_matrix(attitude, list(q[3:-2])), dtype=float))
        differences.append(np.abs(np.subtract(*places)).max() + np.abs(np.subtract(*turns)).max())
    assert np.array(differences[:-1]) / differences[1:] == pytest.approx(2.0, abs=0.3)
    assert differences[-1] < 1e-3


# Stiff ground


@pytest.mark.measured("ground")
def test_stiff_ground_comes_near_pinned_feet(measured: Callable[..., None]) -> None:
    """More than the torques of rest for 0.05 s: places differ from pinned feet's by 1/stiffness, as do attitudes."""
    pinned, free = quadrupeds()
    q = pinned.standing()
    more = np.concatenate([np.linspace(-3.0, 3.0, 12), [0.5, -0.4]])
    law = Constant(values=tuple(np.asarray(pinned.static_torques(q)) + more))
    wanted = simulate(pinned, q, 0.05, control=law, method="dopri5", rtol=1e-10, atol=1e-12)
    assert wanted.min_normal_force() > 50.0
    place, turn = [], []
    for stiffness in (1e4, 1e5, 1e6, 1e7):
        on = CompliantGround(
            stiffness=stiffness, damping=1.0, tangential_stiffness=stiffness,
            tangential_damping=2.0 * np.sqrt(stiffness), static_friction=3.0, kinetic_friction=3.0,
        )  # fmt: skip
        run = simulate(free, posed(free), 0.05, ground=on, control=law, step=2.5e-3 / np.sqrt(stiffness))
        assert run.final_contact.states == ("stick",) * 4
        away = run.final_state[0][:6] - wanted.final_state[0][:6]
        place.append(np.abs(away[:3]).max())
        turn.append(np.abs(away[3:]).max())
    assert place[0] > place[1] and turn[0] > turn[1], "the softest is not yet near"
    assert np.array(place[1:-1]) / place[2:] == pytest.approx(10.0, abs=0.5)
    assert np.array(turn[1:-1]) / turn[2:] == pytest.approx(10.0, abs=2.5)
    measured("torso on ground of 1e6 N/m beside pinned feet after 0.05 s", place[2], at_most=9e-6, unit="m")


# A quadruped that drops (its kernels are those of the trot)


@cache
def dropping_model() -> Model:
    """Biswal's quadruped."""
    return Model(biswal(), "none")


def dropped(step: float = 1.25e-4, kp: float = 30.0, kd: float = 0.5, height: float = 0.05, **changes: Any) -> Run:
    """From a height [m], moving and turning, its joints held; every step is kept."""
    robot = dropping_model()
    stand = posed(robot)
    q, v = stand.copy(), np.zeros(18)
    q[2] += height
    v[:6] = 1.0, 0.3, 0.0, 0.0, 0.0, 0.5
    numbers: dict[str, Any] = {
        "stiffness": 2e4, "damping": 1.0, "tangential_stiffness": 2e4, "tangential_damping": 20.0,
        "static_friction": 0.8, "kinetic_friction": 0.6,
    }  # fmt: skip
    hold = JointServo(table=held_posture(robot, stand), kp=kp, kd=kd)
    on = CompliantGround(**(numbers | changes))
    return simulate(robot, (q, v), 0.4, ground=on, control=hold, step=step, samples=EVERY)


def test_a_drop_gains_no_energy() -> None:
    """Bouncing and sliding: joints and ground explain the energy at first order; in the air the ground only took."""
    errors = []
    for step in (2e-4, 1e-4, 5e-5):
        run = dropped(step)
        flying = (run.data["contact"].to_numpy() == AIR).all(axis=1)
        work = run.data["foot_work"].sum("foot").to_numpy()
        assert flying.sum() > len(flying) / 5 and np.count_nonzero(np.diff(flying)) > 2, "it bounces"
        assert (work[flying] <= 0.0).all()
        energies = np.stack([run.data[f"{kind}_energy"].to_numpy() for kind in ("kinetic", "gravitational")], axis=-1)
        errors.append(float(unbalanced(energies, work + run.data["joint_work"].to_numpy())))
        assert run.energy_balance_error() < 2e-3
    assert errors[0] < 2e-3
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize("step", [1e-3, 1.25e-4])
def test_a_drop_on_undamped_ground_gains_no_energy(step: float) -> None:
    """Neither does ground that is all springs give more than it took, with coarse steps either."""
    run = dropped(step, damping=0.0, tangential_damping=0.0)
    flying = (run.data["contact"].to_numpy() == AIR).all(axis=1)
    assert (run.data["foot_work"].sum("foot").to_numpy()[flying] <= 0.0).all()


@pytest.mark.parametrize(("static", "kinetic"), [(0.8, 0.6), (0.3, 0.3), (1.5, 1.5)])
@pytest.mark.parametrize("step", [1e-3, 1.25e-4])
def test_a_drop_stays_in_the_friction_cone(step: float, static: float, kinetic: float) -> None:
    """In every step no foot pulls, and none has more friction than there is; those that slip have all of it."""
    share = in_cone(dropped(step, static_friction=static, kinetic_friction=kinetic), slack=1e-8)
    assert share.max() > 0.5


def test_a_drop_has_the_same_bits() -> None:
    assert differing(dropped(), dropped()) == []


def foot_jacobians(robot: Model, q: Array) -> Array:
    """Velocities of all feet for unit velocities, (12, 18), joints by differences."""
    feet = [k for k, name in enumerate(robot.point_names) if name.endswith(".foot")]
    places, tiny = robot.points(q)[feet], 1e-6 * np.eye(18)[6:]
    jacobian = np.zeros((4, 3, 18))
    jacobian[:, :, :3] = np.eye(3)
    jacobian[:, :, 3:6] = np.cross(np.eye(3)[None], (places - q[:3])[:, None]).swapaxes(1, 2)
    moved = (robot.points(q + tiny) - robot.points(q - tiny))[:, feet] / 2e-6
    jacobian[:, :, 6:] = moved.transpose(1, 2, 0)
    return jacobian.reshape(12, 18)


@pytest.mark.measured("ground")
def test_one_step_is_that_of_the_equation(measured: Callable[..., None]) -> None:
    """(M + h B + h² K) a = Q − b + Jᵀf − h K v, dense, with servos and feet that stick; Q aims at the step's end."""
    robot, chance, h, kp, kd = dropping_model(), np.random.default_rng(8), 1e-4, 30.0, 0.5
    q, v = posed(robot), 0.1 * chance.normal(size=18)
    q[2:6] += -0.003, 0.01, -0.02, 0.3
    names = robot.coordinate_names[6:]
    hold = JointTable(coordinates=names, period=0.3, values=q[6:] + 0.1 * chance.normal(size=(5, 12)),
                      slopes=chance.normal(size=(5, 12)))  # fmt: skip
    jacobian = foot_jacobians(robot, q)
    feet = robot.points(q)[[k for k, name in enumerate(robot.point_names) if name.endswith(".foot")]]
    touch = feet[:, 2] < 0.0
    assert touch.sum() >= 2
    anchors = feet + 1e-3 * chance.normal(size=(4, 3))
    contact = Contact(tuple("stick" if x else "air" for x in touch), np.where(touch[:, None], anchors, np.nan))
    on = ground(static_friction=1e6, kinetic_friction=1e6, **DAMPED)
    run = simulate(robot, (q, v), h, ground=on, contact=contact, control=JointServo(table=hold, kp=kp, kd=kd), step=h)

    depth, rate = -feet[:, 2], (jacobian @ v).reshape(4, 3)
    normal = STIFFNESS * depth * (1.0 - on.damping * rate[:, 2])
    force = -ACROSS * (feet - anchors) - on.tangential_damping * rate
    force[:, 2] = normal
    stiffness = np.tile([ACROSS, ACROSS, 0.0], (4, 1))
    stiffness[:, 2] = STIFFNESS * (1.0 - on.damping * rate[:, 2])
    damping = np.tile([on.tangential_damping, on.tangential_damping, 0.0], (4, 1))
    damping[:, 2] = STIFFNESS * depth * on.damping
    force, stiffness, damping = (np.ravel(part * touch[:, None]) for part in (force, stiffness, damping))
    target, target_rate = hold.at(h)
    joints = np.repeat([0.0, 1.0], [6, 12])
    own = np.concatenate([np.zeros(6), kp * (target - q[6:]) + kd * (target_rate - v[6:])])
    zero, unit = np.zeros(18), np.eye(18)
    mass = robot.generalised_force(np.tile(q, (18, 1)), zero, unit) - robot.generalised_force(q, zero, zero)
    k = kp * np.diag(joints) + jacobian.T @ (stiffness[:, None] * jacobian)
    b = kd * np.diag(joints) + jacobian.T @ (damping[:, None] * jacobian)
    load = own - robot.generalised_force(q, v, zero) + jacobian.T @ force - h * k @ v
    a = np.linalg.solve(mass + h * b + h * h * k, load)
    np.testing.assert_allclose(run.final_state[1], v + h * a, rtol=1e-7, atol=1e-9)
    measured("one step beside its equation solved densely", relative(run.final_state[1], v + h * a), at_most=1e-7)
    np.testing.assert_allclose(run.final_state[0][6:], q[6:] + h * (v + h * a)[6:], rtol=1e-12, atol=1e-12)
    resisted = (h * damping + h * h * stiffness) * (jacobian @ a)
    applied = (force - h * stiffness * (jacobian @ v) - resisted).reshape(4, 3)
    np.testing.assert_allclose(run.data["foot_force"].to_numpy()[-1], applied, rtol=1e-6, atol=1e-6)


def test_flight_converges() -> None:
    """Tumbling with free joints: energy, momenta and the parabola of the centre of mass, all at first order."""
    robot = dropping_model()
    q = posed(robot)
    q[2], q[3:6] = 2.0, (0.3, -0.2, 0.4)
    v = np.random.default_rng(1).normal(size=18) * np.repeat([1.0, 2.0, 3.0], [3, 3, 12])
    free = JointServo(table=held_posture(robot, posed(robot)), kp=0.0, kd=0.0)
    mass = robot.part_momenta(q, v).masses.sum()
    errors = []
    for step in (2e-4, 1e-4, 5e-5):
        run = simulate(robot, (q, v), 0.2, ground=ground(), control=free, step=step)
        data, t = run.data, run.data["time"].to_numpy()
        energy = (data["kinetic_energy"] + data["gravitational_energy"]).to_numpy()
        turning, moving = data["angular_momentum"].to_numpy(), data["linear_momentum"].to_numpy()
        weight = np.array([0.0, 0.0, -mass * robot.robot.gravity])
        center = robot.center_of_mass(data["q"].to_numpy())
        parabola = center[0] + np.outer(t, moving[0] / mass) + 0.5 * np.outer(t * t, weight / mass)
        kept = [energy / energy[0], turning / np.linalg.norm(turning[0])]
        errors.append([*(np.abs(x - x[0]).max() for x in kept),
                       np.abs(moving - moving[0] - np.outer(t, weight)).max() / np.linalg.norm(moving[0]),
                       np.abs(center - parabola).max()])  # fmt: skip
        assert run.changes == () and run.momentum_balance_error() < 0.2 * step
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=2e-3)
    assert np.max(errors[0]) < 5e-3


def test_gains_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do gains and tables of a servo."""
    dropped()

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(kernel_module, "compiled", refuse)
    assert dropped(kp=20.0, kd=0.0).stopped is None
    assert dropped(kp=0.0, kd=0.0).stopped is None


# Landing


@pytest.mark.parametrize("friction", [0.5, 1.0, 10.0])
@pytest.mark.parametrize("speed", [0.05, 0.2])
def test_a_landing_with_a_damper_across_takes_energy(friction: float, speed: float) -> None:
    """A puck that lands moving sideways slips at first, because of the damper. The ground gives it nothing: it moves
    on slower than before, as one that integrates the same law on its own says."""
    on = ground(tangential_damping=40.0, static_friction=friction, kinetic_friction=friction)
    above = 1e-4  # after a fall from 5 cm
    falling = -np.sqrt(2.0 * GRAVITY * (0.05 - above))
    run = thrown((0.0, 0.0, above), (speed, 0.0, falling), 0.04, on=on, step=1e-5, samples=EVERY)
    landed = np.flatnonzero(np.diff(run.data["contact"].to_numpy()[:, 0] == AIR))
    assert len(landed) == 2, "it lands and leaves"
    work = run.data["foot_work"].to_numpy()[:, 0]
    assert work.max() <= 0.0
    after = run.data["v"].to_numpy()[-1, 0]
    assert abs(after) < speed
    assert after == pytest.approx(landing(friction, speed, 2e-6), abs=2e-3 * speed)


def landing(friction: float, speed: float, h: float) -> float:
    """Sideways speed after a landing from 5 cm by short explicit steps of a point on the same springs and damper."""
    x, z, vx, vz, anchor = 0.0, 0.0, speed, -np.sqrt(2.0 * GRAVITY * 0.05), 0.0
    while z <= 0.0:
        normal = -STIFFNESS * z
        trial = -ACROSS * (x - anchor) - 40.0 * vx
        force = max(min(trial, friction * normal), -friction * normal)
        vx, vz = vx + h * force / MASS, vz + h * (normal / MASS - GRAVITY)
        x, z = x + h * vx, z + h * vz
        if force != trial:
            longest = abs(force) / ACROSS
            anchor = x - max(min(x - anchor, longest), -longest)
    return vx


def test_ground_without_friction_does_not_slow() -> None:
    """Neither sticking nor slipping takes anything sideways."""
    run = thrown((0.0, 0.0, 0.0), (0.3, -0.1, 0.0), 0.2, on=ground(static_friction=0.0, kinetic_friction=0.0, **DAMPED))
    np.testing.assert_allclose(run.data["v"].to_numpy()[:, :2], np.tile([0.3, -0.1], (201, 1)), rtol=0.0, atol=1e-15)
