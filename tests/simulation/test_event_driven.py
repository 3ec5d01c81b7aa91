"""Rigid ground from event to event: what mechanics says in closed form, balances, and agreement with pinned feet."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.quadruped import dropped, model_of, trotting
from tailwork import Model, load_run, simulate, simulate_batch
from tailwork.control import JointServo, held_posture, posed
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.robots import Body, ContactPoint, FreeLimb, Joint, Limb, Robot, Torso, go2, liu2020
from tailwork.simulation import Force, Lands, RigidGround, Run, When, pulse
from tailwork.simulation.contact.ground import HeightField
from tests.oracles.walkers import compass_events, compass_robot, compass_state, lone_body, slope
from tests.simulation.test_rigid_ground import random_drops

TIGHT: dict[str, Any] = {"method": "event-driven", "rtol": 1e-9, "atol": 1e-9}


def run_body(model: Model, place: tuple[float, float, float], velocity: tuple[float, ...], duration: float,
             ground: RigidGround, **more: Any) -> Run:  # fmt: skip
    q, v = np.array([*place, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    v[: len(velocity)] = velocity
    return simulate(model, (q, v), duration, ground=ground, **{**TIGHT, **more})


def test_a_puck_that_bounces_comes_to_rest_in_finite_time() -> None:
    """Each rebound is half as fast, so that there are infinitely many until 3 sqrt(0.2) s (g = 10, e = ½, from 1 m);
    the run has a bounded number of them, and all energy is in its losses."""
    run = run_body(lone_body((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0), (), 2.0, RigidGround(friction=0.5, restitution=0.5))
    assert run.changes[-1][0] == pytest.approx(3.0 * np.sqrt(0.2), abs=1e-8)
    assert run.changes[-1][1:] == ("torso.p0", "stick")
    assert len(run.data["impact_time"]) < 40
    assert float(run.data["impact_loss"].sum()) == pytest.approx(10.0, abs=1e-9)
    assert run.final_state[0][2] == pytest.approx(0.0, abs=1e-14)
    assert np.diff(run.data["impact_time"][:5]) == pytest.approx(np.sqrt(0.2) * 0.5 ** np.arange(4), abs=1e-9)


def test_friction_stops_a_puck_where_coulomb_says() -> None:
    """From 1 m/s at friction ½ it slides for 0.2 s and 0.1 m, and the ground takes its kinetic energy."""
    run = run_body(lone_body((0.0, 0.0, 0.0)), (0.0, 0.0, 0.0), (1.0,), 1.0, RigidGround(friction=0.5))
    assert run.final_state[0][:3] == pytest.approx([0.1, 0.0, 0.0], abs=1e-11)
    assert run.changes == ((pytest.approx(0.2, abs=1e-9), "torso.p0", "stick"),)
    assert float(run.data["foot_work"][-1, 0]) == pytest.approx(-0.5, abs=1e-12)


def test_a_puck_across_a_slope_turns_and_stops() -> None:
    """At 20° and friction ½ from 0.5 m/s across, speed and direction obey v' = g (sin − mu cos · cosine of the angle to
    the fall line), whose integral stops it at 0.2263713505 s."""
    tilt, mu, g, v0 = np.radians(20.0), 0.5, 10.0, 0.5
    down, hold = g * np.sin(tilt), mu * g * np.cos(tilt)
    stop = v0 * hold / (hold**2 - down**2)
    assert stop == pytest.approx(0.2263713505, abs=1e-10)
    ground = RigidGround(friction=mu, surface=slope(tilt, "x"))
    run = run_body(lone_body((0.0, 0.0, 0.0)), (0.0, 0.0, 0.0), (0.0, v0), 0.4, ground)
    assert run.changes[-1] == (pytest.approx(stop, abs=1e-8), "torso.p0", "stick")


@pytest.mark.parametrize(("friction", "impulse"), [(0.0, 0.3622568544), (10.0, 0.5598819334)])
def test_a_rod_that_strikes_the_ground_gets_the_impulse_of_rigid_impact(friction: float, impulse: float) -> None:
    """A rod of 1 kg and 1 m at 40° with 1 m/s: Λ_z = 1/(1 + 3 cos²) without friction; where its end sticks, from the
    full 2 × 2 matrix 1 + 3 nᵀn of its end."""
    angle, half = np.radians(40.0), 0.5
    r = -half * np.array([np.cos(angle), np.sin(angle)])
    matrix = np.eye(2) + 12.0 * np.array([[r[1] ** 2, -r[0] * r[1]], [-r[0] * r[1], r[0] ** 2]])
    expected = 1.0 / matrix[1, 1] if friction == 0.0 else np.linalg.solve(matrix, [0.0, 1.0])[1]
    assert expected == pytest.approx(impulse, abs=1e-10)
    model = lone_body((r[0], 0.0, r[1]), inertia=1.0 / 12.0)
    run = run_body(model, (0.0, 0.0, -r[1]), (0.0, 0.0, -1.0), 0.01, RigidGround(friction=friction))
    assert run.data["impact_impulse"][0, 0, 2] == pytest.approx(expected, abs=1e-12)
    assert run.data["impact_time"][0] == 0.0


def test_a_bead_on_curved_ground_stays_on_it_and_keeps_its_energy() -> None:
    """Without friction a point slides on a trough as a bead on a wire: it swings to the same height, and its normal
    force is m (g cos + v²/R) at the bottom."""
    trough = HeightField.sampled(lambda x, y: 0.25 * x * x + 0.0 * y, (-2.0, 2.0), (-1.0, 1.0), 0.25)
    start = (1.0, 0.0, 0.25)
    ground = RigidGround(friction=0.0, surface=trough)
    run = run_body(lone_body((0.0, 0.0, 0.0)), start, (), 3.0, ground, samples=301)
    q, v = run.data["q"].to_numpy(), run.data["v"].to_numpy()
    x, z, speed = q[:, 0], q[:, 2], np.linalg.norm(v[:, :3], axis=1)
    assert np.abs(z - 0.25 * x * x).max() < 1e-9  # between steps; where they end it is 1e-15
    assert run.energy_balance_error() < 1e-7
    bottom = int(np.abs(x).argmin())
    radius = (1.0 + (0.5 * x[bottom]) ** 2) ** 1.5 / 0.5
    force = np.linalg.norm(run.data["foot_force"][bottom, 0])
    assert force == pytest.approx(10.0 / np.sqrt(1.0 + 0.25 * x[bottom] ** 2) + speed[bottom] ** 2 / radius, rel=1e-6)


def test_a_quadruped_that_is_dropped_strikes_lifts_and_stands() -> None:
    """It falls 10 cm freely; impulses, lift-off and the posture after 1 s are those of another implementation."""
    model, servo, q = dropped(0.0)
    q[2] += 0.1
    run = simulate(model, q, 1.0, control=servo, ground=RigidGround(friction=0.6), **TIGHT)
    assert run.data["impact_time"][0] == pytest.approx(np.sqrt(0.2 / 9.81), abs=1e-9)
    assert run.data["impact_time"][0] == pytest.approx(0.142784312, abs=1e-9)
    assert float(run.data["impact_impulse"][0, :, 2].sum()) == pytest.approx(1.734894, abs=1e-6)
    lifted = next(t for t, _, state in run.changes if state == "air")
    assert lifted == pytest.approx(0.179874867, abs=1e-8)
    assert run.final_state[0][:3] == pytest.approx([0.0, -0.0119672411, 0.317784546], abs=1e-8)
    assert run.energy_balance_error() < 1e-7
    assert run.momentum_balance_error() < 1e-7


def test_the_robot_of_2020_that_is_dropped_strikes_as_another_implementation_says() -> None:
    """Servos hold its legs while it falls 8 cm at 9.8 m/s²: all four feet strike at once."""
    robot = liu2020("pendulum").replace({"gravity": 9.8})
    model = model_of(robot)
    q = posed(model)
    servo = JointServo(table=held_posture(model, q), kp=300.0, kd=8.0)
    q[2] += 0.08
    run = simulate(model, q, 0.13, control=servo, ground=RigidGround(friction=0.8), **TIGHT)
    assert run.data["impact_time"][0] == pytest.approx(np.sqrt(0.16 / 9.8), abs=1e-9)
    assert float(run.data["impact_impulse"][0, :, 2].sum()) == pytest.approx(5.745010, abs=1e-6)
    assert float(run.data["impact_loss"][0]) == pytest.approx(3.5969449, abs=1e-6)


def test_rotors_take_more_of_a_drop() -> None:
    """The same drop with 0.01 kg m² on each axis of the legs: the impact takes 5.1764 J, as another implementation
    says."""
    robot = liu2020("pendulum").replace({"gravity": 9.8})
    q = posed(model_of(robot))
    parts: dict[str, Any] = {"tail": robot.parts["tail"]}
    for leg in robot.feet():
        limb = robot.limbs()[leg]
        joints = tuple(replace(joint, armature=0.01) for joint in limb.joints)
        parts[leg] = FreeLimb(limb=replace(limb, joints=joints, closed_form=None))
    model = model_of(replace(robot, parts=parts))
    v = np.zeros(len(model.velocity_names))
    v[2] = -np.sqrt(2.0 * 9.8 * 0.08)
    assert model.impact(q, v, friction=0.8, points=model.contact_names).loss == pytest.approx(5.1764, abs=5e-5)


def test_a_rimless_wheel_keeps_the_cosine_of_its_spin_at_every_step() -> None:
    """Simulated down a slope, each impact leaves ω⁺ = ω⁻ cos 2α of the spin, which comes to 1.09546284 rad/s: energies
    lost in four impacts are those of this recursion, ω⁻² = ω⁺² + 4 g/l sin α sin γ between them."""
    alpha, gamma, g, inertia, spin = np.pi / 8.0, 0.08, 9.81, 1e-6, 1.3
    angles, lean = 2.0 * alpha * np.arange(8), alpha - gamma
    model = lone_body(*((0.0, float(np.sin(a)), float(-np.cos(a))) for a in angles), inertia=inertia, gravity=g)
    hub, turn = np.array([0.0, -np.sin(lean), np.cos(lean)]), (np.cos(lean / 2.0), np.sin(lean / 2.0), 0.0, 0.0)
    v = np.concatenate([np.cross([-spin, 0.0, 0.0], hub), [-spin, 0.0, 0.0]])
    ground = RigidGround(friction=5.0, surface=slope(gamma, "y"))
    run = simulate(model, (np.array([*hub, *turn]), v), 4.0, ground=ground, **TIGHT)
    gain, losses = 4.0 * g * np.sin(alpha) * np.sin(gamma), []
    for _ in range(4):
        before = np.sqrt(spin**2 + gain)
        spin = before * np.cos(2.0 * alpha)
        losses.append(0.5 * (before**2 - spin**2))
    assert run.data["impact_loss"].to_numpy() == pytest.approx(losses, rel=3e-6)  # the hub has some inertia
    assert spin**2 - 1.09546284**2 == pytest.approx((1.3**2 - 1.09546284**2) / 2.0**4, abs=1e-7)


@pytest.mark.measured("rigid ground")
def test_a_trot_has_eight_digits_whatever_the_tolerance(measured: Callable[..., None]) -> None:
    """A second with some two hundred events ends at the same place for tolerances from 1e-7 to 1e-9; feet that stick
    do not drift, and impulses, work and losses balance."""
    model, servo, q, v = trotting()
    runs = [simulate(model, (q, v), 1.0, control=servo, ground=RigidGround(friction=0.6), method="event-driven",
                     rtol=tolerance, atol=tolerance) for tolerance in (1e-7, 1e-8, 1e-9)]  # fmt: skip
    for run in runs:
        assert run.final_state[0][:3] == pytest.approx([-0.02841379, 0.43167873, 0.31603068], abs=1.5e-8)
    run = runs[-1]
    apart = max(np.abs(own.final_state[0][:3] - run.final_state[0][:3]).max() for own in runs)
    measured("event-driven: 1 s of trot, tolerances 1e-7 to 1e-9", apart, at_most=1e-8, unit="m")
    measured("event-driven: energy of a trot", run.energy_balance_error(), at_most=1e-8, unit="1")
    assert run.momentum_balance_error() < 1e-6
    assert (run.data["impact_loss"] >= -1e-12).all()
    forces = run.data["foot_force"].to_numpy()
    across, normal = np.hypot(forces[..., 0], forces[..., 1]), forces[..., 2]
    assert normal.min() >= 0.0
    assert (across <= 0.6 * normal * (1.0 + 1e-9) + 1e-9).all()
    feet = [model.point_names.index(f"{name}.foot") for name in model.layout.legs]
    places, contact = run.data["points"].to_numpy()[:, feet], run.data["contact"].to_numpy()
    sticks = (contact[1:] == 1) & (contact[:-1] == 1)
    changed = np.zeros_like(sticks)
    times = run.data["time"].to_numpy()
    for t, name, _ in run.changes:
        k = int(np.searchsorted(times, t)) - 1
        changed[max(k, 0), list(model.layout.legs).index(name)] = True
    drift = np.abs(np.diff(places, axis=0)).max(axis=2)[sticks & ~changed]
    assert len(drift) > 100
    measured("event-driven: drift of feet that stand in a trot, 5 ms", drift.max(), at_most=1e-13, unit="m")


def test_pinned_feet_are_the_case_without_events() -> None:
    """A robot that sinks with its feet on rough ground moves as with feet that are pinned, to the tolerance."""
    model, _, q = dropped(0.0)
    free = simulate(model, q, 0.12, ground=RigidGround(friction=3.0), **TIGHT)
    assert free.changes == ()
    pinned = Model(model.robot, attitude="quaternion")
    own = simulate(pinned, pinned.standing(), 0.12, rtol=1e-9, atol=1e-11, method="dopri5")
    (a, _), (b, _) = free.final_state, own.final_state
    names = pinned.coordinate_names
    assert a[: len(names)] == pytest.approx(b, abs=2e-9)
    assert free.data["foot_force"].to_numpy() == pytest.approx(own.data["foot_force"].to_numpy(), abs=1e-6)


def test_feet_of_a_wheel_that_stops_do_not_chatter_for_ever() -> None:
    """A rimless wheel that rocks to rest on level ground strikes infinitely often in finite time; its run has a bounded
    number of events, and the wheel lies still on two spokes."""
    angles = np.radians(45.0 * np.arange(8))
    points = [(0.0, float(np.sin(a)), float(-np.cos(a))) for a in angles]
    model = lone_body(*points, inertia=0.2)
    rise = np.cos(np.radians(22.5))
    q = np.array([0.0, 0.0, rise, np.cos(np.radians(11.25)), np.sin(np.radians(11.25)), 0.0, 0.0])
    q[2] += 0.05
    run = simulate(model, (q, np.zeros(6)), 4.0, ground=RigidGround(friction=2.0), method="event-driven")
    assert len(run.changes) < 400
    assert np.abs(run.final_state[1]).max() < 1e-9
    assert sorted(run.final_contact.states).count("stick") == 2


def test_a_joint_comes_to_its_stop_and_momentum_stays() -> None:
    """In the air a limb that hits its stop stops relative to the torso: momenta stay, and kinetic energy is lost."""
    body = Body(mass=0.5, com=(0.0, 0.0, -0.2), inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0))
    limb = Limb(joints=(Joint(name="j", axis=(1.0, 0.0, 0.0), range=(-0.5, 0.5), body=body),))
    torso = Torso(mass=1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
    robot = Robot(name="stop", torso=torso, parts={"arm": FreeLimb(limb=limb)}, gravity=0.0,
                  contacts=(ContactPoint(name="p", point=(0.0, 0.0, 0.0)),))  # fmt: skip
    model = model_of(robot)
    v = np.zeros(7)
    v[6] = 2.0
    q = np.array([0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    run = simulate(model, (q, v), 1.0, ground=RigidGround(friction=1.0), **TIGHT)
    assert any("comes to its stop" in what for _, what in run.events)
    assert run.final_state[0][7] == pytest.approx(0.5, abs=1e-12)
    assert run.final_state[1][6] == pytest.approx(0.0, abs=1e-12)
    for name in ("linear_momentum", "angular_momentum"):
        assert run.data[name][-1].to_numpy() == pytest.approx(run.data[name][0].to_numpy(), abs=1e-10)
    assert run.data["kinetic_energy"][-1] < run.data["kinetic_energy"][0]


def test_a_ball_rolls_down_a_slope_without_slipping() -> None:
    """A solid ball accelerates by 5/7 g sin and turns with v/r; its balance closes."""
    radius, tilt = 0.1, np.radians(10.0)
    ball = Robot(
        name="ball", torso=Torso(mass=1.0, inertia=(0.004, 0.004, 0.004, 0.0, 0.0, 0.0)), parts={}, gravity=10.0,
        contacts=(ContactPoint(name="p", point=(0.0, 0.0, 0.0), radius=radius),),
    )  # fmt: skip
    ground = RigidGround(friction=0.8, surface=slope(tilt, "x"))
    run = run_body(model_of(ball), (0.0, 0.0, radius / np.cos(tilt)), (), 1.0, ground)
    speed = 10.0 * np.sin(tilt) * 5.0 / 7.0
    q, v = run.final_state
    assert v[:3] == pytest.approx([speed * np.cos(tilt), 0.0, -speed * np.sin(tilt)], abs=1e-9)
    assert v[4] == pytest.approx(speed / radius, abs=1e-8)
    assert q[0] == pytest.approx(0.5 * speed * np.cos(tilt), abs=1e-9)
    assert set(run.final_contact.states) == {"stick"}


def test_runs_stop_where_a_foot_lands_and_tell_of_other_events() -> None:
    """`Lands` stops a walker at its step; other events are found between; a controller in Python is asked on time."""
    model = model_of(compass_robot())
    state = compass_state(0.2186688, -0.3233886, -1.0923836, -0.3773739)
    upright = When(name="stance is upright", quantity=lambda c: c.q[c.layout.coordinates["left"]][0])
    asked: list[float] = []

    def watch(t: float, q: Any, v: Any) -> Any:
        asked.append(t)
        return np.zeros(0)

    ground = RigidGround(friction=10.0, surface=slope(np.radians(3.0), "y"))
    events = [*compass_events(), Lands(point="right", action="stop"), upright]
    run = simulate(model, state, 2.0, ground=ground, events=events, control=watch, control_rate=50.0, **TIGHT)
    assert run.stopped is not None
    assert run.stopped.reason == "right lands"
    assert run.stopped.time == pytest.approx(0.73434639, abs=1e-7)
    assert asked == pytest.approx(np.arange(37) / 50.0)
    assert any(what == "stance is upright" for _, what in run.events)
    assert "right: " in run.summary()


def test_limits_that_an_impact_exceeds_are_told_of() -> None:
    """A robot that drops asks its motors for more than they give from one instant to the next: at the impact the same
    joints are named as by time stepping; and a torso that sinks is told of."""
    robot = go2()
    model = Model(robot, stance="none", attitude="quaternion")
    q = posed(model)
    servo = JointServo.for_robot(robot, held_posture(model, q))
    q[2] += 0.3
    runs = [
        simulate(model, q, 0.3, control=servo, ground=RigidGround(friction=0.6), method=method)
        for method in ("event-driven", "time-stepping")
    ]
    told = [{what for _, what in run.events} for run in runs]
    assert told[0] == told[1] and len(told[0]) == 12
    impact = float(runs[0].data["impact_time"][0])
    assert {time for time, _ in runs[0].events} == {impact}
    limp = simulate(model, q, 0.5, ground=RigidGround(friction=0.6), method="event-driven")
    assert any(what.startswith("torso is under the ground") for _, what in limp.events)


def test_runs_are_saved_and_pickled_with_their_phases(tmp_path: Path) -> None:
    """A file and a pickle bring back phases, impacts and ground."""
    run = run_body(lone_body((0.0, 0.0, 0.0)), (0.0, 0.0, 0.1), (1.0,), 0.5, RigidGround(friction=0.3))
    run.save(tmp_path / "run.nc")
    for other in (load_run(tmp_path / "run.nc"), pickle.loads(pickle.dumps(run))):
        assert other.changes == run.changes
        assert other.ground == run.ground
        assert other.method == "event-driven"
        assert other.data["impact_impulse"].equals(run.data["impact_impulse"])


def test_what_cannot_be_simulated_from_event_to_event_is_refused() -> None:
    """Errors say what is wrong and what to do."""
    model = lone_body((0.0, 0.0, 0.0))
    with pytest.raises(ArgumentError, match="under the ground"):
        run_body(model, (0.0, 0.0, -0.1), (), 0.1, RigidGround(friction=0.5))
    with pytest.raises(ArgumentError, match="step"):
        run_body(model, (0.0, 0.0, 0.1), (), 0.1, RigidGround(friction=0.5), step=1e-3)
    with pytest.raises(ArgumentError, match="RigidGround"):
        simulate(model, np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]), 0.1, method="event-driven")
    fallen = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match="one run at a time"):
        simulate_batch(model, fallen, 0.1, ground=RigidGround(friction=0.5), method="event-driven")
    with pytest.raises(ArgumentError, match="event-driven"):
        simulate(model, fallen, 0.1, ground=RigidGround(friction=0.5), events=[Lands(point="torso.p0")])
    with pytest.raises(UnknownNameError, match="contact point"):
        run_body(model, (0.0, 0.0, 1.0), (), 0.1, RigidGround(friction=0.5), events=[Lands(point="p0")])
    with pytest.raises(ArgumentError, match="points"):
        nobody = model_of(Robot(name="n", torso=Torso(mass=1.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)), parts={}))
        simulate(nobody, np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]), 0.1, ground=RigidGround(friction=1.0), **TIGHT)


def test_contacts_that_change_too_often_are_stepped_through_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where events come faster than allowed, a spell by time stepping takes over: the run goes on to its end, rests,
    and says when that was."""
    monkeypatch.setattr("tailwork.simulation.event_driven.job.MOST_EVENTS", 4)
    monkeypatch.setattr("tailwork.simulation.event_driven.job.WINDOW", 0.05)
    ground = RigidGround(friction=0.5, restitution=0.5)
    run = run_body(lone_body((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0), (0.2,), 2.0, ground)
    noted = [t for t, what in run.events if "time stepping" in what]
    assert len(noted) >= 1
    assert 1.2 < noted[0] < 1.4
    assert run.stopped is None
    assert run.duration == 2.0
    assert run.final_state[0][2] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(run.final_state[1]).max() < 1e-9
    assert run.final_contact.states == ("stick",)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.8])
def test_nothing_falls_through_the_ground(restitution: float) -> None:
    """Boxes thrown anyhow, eight corners each: none is ever under the ground, and energy only falls."""
    model = box()
    rng = np.random.default_rng(5)
    for _ in range(8):
        q = np.array([0.0, 0.0, 0.4, *rng.normal(size=4)])
        q[3:] /= np.linalg.norm(q[3:])
        v = rng.normal(size=6) * [1, 1, 1, 3, 3, 3]
        ground = RigidGround(friction=0.5, restitution=restitution)
        run = simulate(model, (q, v), 0.8, ground=ground, samples=801, **TIGHT)
        assert run.stopped is None
        assert lowest_gap(run) > -1e-8
        energy = run.data["kinetic_energy"] + run.data["gravitational_energy"]
        assert float(energy.diff("time").max()) < 1e-7


def test_a_shallow_touch_between_two_steps_is_found() -> None:
    """A corner that is under the ground for less than a step: the run ends at one place, whatever the tolerance."""
    q = np.array([0.0, 0.0, 0.4, 0.779116629058037, -0.20766136014403286, 0.5133879884590298, -0.29374616786328045])
    v = np.array([1.760667296993123, 0.19921798301385701, -0.3820022921434805, 7.657272076113243, -0.9734155688563175,
                  -3.6636700491784087])  # fmt: skip
    ends = [
        simulate(box(), (q, v), 0.8, ground=RigidGround(friction=0.5, restitution=0.8), method="event-driven",
                 rtol=tolerance, atol=tolerance).final_state[0]
        for tolerance in (1e-8, 1e-9, 1e-10)
    ]  # fmt: skip
    assert max(np.abs(end - ends[-1]).max() for end in ends) < 1e-7


def test_limp_robots_come_through_jams_and_chatter() -> None:
    """Real robots dropped anyhow: no run ends early, and nothing is deeper than time stepping leaves it in spells."""
    model, q, v = random_drops("anymal_c", 22)
    for k in (6, 18, 21):  # in which friction jams a foot that slips
        ground = RigidGround(friction=0.5)
        run = simulate(
            model, (q[k], v[k]), 0.4, ground=ground, samples=200, method="event-driven", rtol=1e-8, atol=1e-8
        )
        assert run.stopped is None
        assert any("friction jams" in what or "too often" in what for _, what in run.events)
        assert lowest_gap(run) > -1e-4


def box() -> Model:
    """A box with eight corners that touch."""
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.05, 0.05)]
    return lone_body(*corners, inertia=0.02, gravity=9.81)


def lowest_gap(run: Run) -> float:
    """The deepest that a point or a joint at its stop is over a run [m or rad]."""
    model = run.model
    points = len(model.contact_names)
    none = {"tau": np.zeros(len(model.actuator_names)), "prescribed_acceleration": (), "forces": None}
    q, v = run.data["q"].to_numpy(), run.data["v"].to_numpy()
    flat = {"heights": np.zeros(points), "normals": np.tile([0.0, 0.0, 1.0], points)}
    return float(model.ask("contact_state", q=q, v=v, **none, **flat)["gaps"].min())


def test_room_for_events_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for few events at first, and spells, a run is the same to the bit."""
    monkeypatch.setattr("tailwork.simulation.event_driven.job.MOST_EVENTS", 4)
    monkeypatch.setattr("tailwork.simulation.event_driven.job.WINDOW", 0.05)
    rng, ends = np.random.default_rng(5), []
    q, v = np.array([0.0, 0.0, 0.4, *rng.normal(size=4)]), rng.normal(size=6) * [1, 1, 1, 3, 3, 3]
    for room in (256, 3, 14, 15):
        monkeypatch.setattr("tailwork.simulation.event_driven.job.ROOM", room)
        run = simulate(box(), (q, v), 0.8, ground=RigidGround(friction=0.5, restitution=0.5), method="event-driven")
        ends.append((*run.final_state, run.events, run.changes))
    for end in ends[1:]:
        assert all(np.array_equal(one, other) for one, other in zip(end[:2], ends[0][:2], strict=True))
        assert end[2:] == ends[0][2:]


def test_what_happens_in_a_spell_is_in_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a spell, an event stops the run where it happens, a landing is told of, and impacts and changes of
    contacts are kept."""
    monkeypatch.setattr("tailwork.simulation.event_driven.job.MOST_EVENTS", 4)
    monkeypatch.setattr("tailwork.simulation.event_driven.job.WINDOW", 0.5)
    model, ground = lone_body((0.0, 0.0, 0.0)), RigidGround(friction=0.5, restitution=0.5)
    whole = run_body(model, (0.0, 0.0, 0.1), (0.2,), 1.0, ground)
    begun = min(t for t, what in whole.events if "spell" in what)
    for later in (0.001, 0.004):
        late = When(name="late", quantity=lambda c, end=begun + later: end - c.t, action="stop")
        run = run_body(model, (0.0, 0.0, 0.1), (0.2,), 1.0, ground, events=[late])
        assert run.stopped is not None
        assert run.stopped.reason == "late"
        assert run.duration == run.stopped.time == pytest.approx(begun + later, abs=3e-4)
    times = whole.data["impact_time"].to_numpy()
    assert (np.diff(times) >= 0.0).all()
    assert any(begun < t < begun + 0.1 for t in times)
    assert whole.changes[-1][2] == "stick"
    landed = run_body(model, (0.0, 0.0, 0.1), (0.2,), 1.0, ground, events=[Lands(point="torso.p0")])
    assert sum(what == "torso.p0 lands" for _, what in landed.events) >= 4


def test_a_geared_joint_comes_to_its_stop_while_events_are_watched() -> None:
    """Both stops of a joint that turns twice as far as its coordinate: as by time stepping, and the energy balances."""
    link = Body(mass=0.3, com=(0.0, -0.1, 0.0), inertia=(3e-3, 1e-3, 3e-3, 0.0, 0.0, 0.0))
    joints = (
        Joint(name="a", axis=(1.0, 0.0, 0.0), offset=(0.0, -0.1, 0.0), body=link),
        Joint(name="c", parent="a", axis=(1.0, 0.0, 0.0), offset=(0.0, -0.2, 0.0), body=link, range=(-0.3, 0.4)),
    )
    tail = Limb(joints=joints, coordinates=("bend",), gearing=((1.0,), (2.0,)))
    robot = Robot(
        name="geared", torso=Torso(mass=1.0, inertia=(0.02, 0.02, 0.02, 0.0, 0.0, 0.0)), gravity=0.0,
        parts={"tail": FreeLimb(limb=tail)}, contacts=(ContactPoint(name="p", point=(0.0, 0.0, -0.1)),),
    )  # fmt: skip
    model = model_of(robot)
    watch = When(name="falls", quantity=lambda c: c.q[2] - 1.0)
    for rate in (3.0, -3.0):
        q, v = np.array([0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0]), np.array([*[0.0] * 6, rate])
        runs = [simulate(model, (q, v), 0.5, ground=RigidGround(friction=0.7), events=[watch], method=method)
                for method in ("event-driven", "time-stepping")]  # fmt: skip
        stops = [next(t for t, what in run.events if what == "tail.c comes to its stop") for run in runs]
        assert stops[0] == pytest.approx(stops[1], abs=1e-4)
        assert runs[0].final_state[0] == pytest.approx(runs[1].final_state[0], abs=1e-4)
        bend = runs[0]["tail.bend"].to_numpy()
        assert bend.min() > -0.15 - 1e-9 and bend.max() < 0.2 + 1e-9
        assert runs[0].energy_balance_error() < 1e-7


def test_time_stepping_converges_to_the_run_from_event_to_event() -> None:
    """With touchdowns located, halving the step of a trot takes more than half of the error away, on the whole."""
    model, servo, q, v = trotting()
    ground = RigidGround(friction=0.6)
    exact = simulate(model, (q, v), 0.5, control=servo, ground=ground, **TIGHT).final_state[0]
    errors = []
    for step in (2e-3, 5e-4, 1.25e-4):
        own = simulate(model, (q, v), 0.5, control=servo, ground=ground, step=step).final_state[0]
        errors.append(float(np.linalg.norm(own[:3] - exact[:3])))
    assert errors[2] < errors[0] / 16.0
    assert errors[2] < 1e-4


def test_a_push_in_time_moves_a_body_as_far_as_newton_says() -> None:
    """8 N for half a second against 5 N of friction on 1 kg: 3 m/s² on, then 5 m/s² off, 0.6 m in all; before a push of
    4 N the body does not move, and the balances count the pushes."""
    model = lone_body((0.0, 0.0, 0.0))
    for size, stop, way in ((8.0, 0.8, 0.6), (4.0, 0.0, 0.0)):
        force = Force(x=pulse(size, 0.5))
        run = run_body(model, (0.0, 0.0, 0.0), (), 1.0, RigidGround(friction=0.5), forces=force)
        assert run.final_state[0][0] == pytest.approx(way, abs=1e-8)
        assert run.momentum_balance_error() < 1e-8
        assert run.energy_balance_error() < 1e-7
        if way:
            assert run.changes[-1] == (pytest.approx(stop, abs=1e-7), "torso.p0", "stick")
