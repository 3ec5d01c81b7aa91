"""Time stepping on rigid ground: closed forms of pucks, balls and wheels, drops and gaits, batches, bad input.

By hand, with as many drops as wanted: python -m tests.simulation.test_rigid_ground 10000
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent.parent)]

from benchmarks.quadruped import dropped, everywhere, model_of, quadruped, trotting
from oracles.layout import Array
from oracles.states import ROBOTS
from pucks import LIMIT, incline, puck
from tailwork.control import Constant, JointServo
from tailwork.control.gait.foot_kinematics import posed
from tailwork.control.gait.joint_table import held_posture
from tailwork.errors import ArgumentError
from tailwork.kernels.translate import drivers_in_python
from tailwork.model import Model
from tailwork.robots import (
    ContactPoint,
    Robot,
    Torso,
    a1,
    anymal_c,
    blaberus,
    gecko,
    go2,
    liu2020,
    solo12,
    spirit40,
    spot,
)  # fmt: skip
from tailwork.robots.robot import FreeLimb
from tailwork.simulation import (
    CompliantGround,
    Force,
    HeightField,
    RigidGround,
    Run,
    load_run,
    simulate,
    simulate_batch,
)
from tailwork.simulation.events import FootPulls, When
from tailwork.simulation.run import Contact

GROUND = RigidGround(friction=0.6)
WALKED = np.array([-0.02841379, 0.43167873, 0.31603068])  # P of the trot after 1 s, by another method
DROPPED = np.array([0.0, -0.0119672411, 0.317784546])  # of the drop


def thrown(place: Any, velocity: Any, duration: float, ground: RigidGround, **more: Any) -> Run:
    """The puck, which is a point of 1 kg under 10 m/s²."""
    model = Model(puck(), "none")
    q, v = np.zeros(7), np.zeros(7)
    q[:3], v[:3] = place, velocity
    return simulate(model, (q, v), duration, ground=ground, **more)


def landings(run: Run, foot: str) -> list[float]:
    """When a foot comes down [s]."""
    before, found = "air", []
    for time, name, state in run.changes:
        if name == foot:
            found += [time] if before == "air" and state != "air" else []
            before = state
    return found


@pytest.mark.measured("rigid ground")
def test_a_bouncing_puck(measured: Callable[..., None]) -> None:
    """From 1 m it lands after sqrt(2 h/g), again after as long as the halved speeds take, and rests after
    3 sqrt(0.2) s: bounces below 1 cm/s, the last 2 ms of them, are left out."""
    run = thrown((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1.5, RigidGround(friction=0.5, restitution=0.5))
    fall = np.sqrt(0.2)
    expected = [fall * (1.0 + 2.0 * sum(0.5**k for k in range(1, n + 1))) for n in range(4)]
    apart = np.abs(np.array(landings(run, "foot")[:4]) - expected)
    measured("touchdowns of a bouncing puck", apart.max(), at_most=1e-9, unit="s")
    assert 3.0 * fall - 3e-3 < run.changes[-1][0] < 3.0 * fall + 1e-3
    assert abs(run.final_state[0][2]) < 1e-6 and run.final_contact.states == ("stick",)
    assert run.data["foot_impulse"][-1, 0, 2] == pytest.approx(15.0, rel=1e-9)


def test_a_sliding_puck() -> None:
    """It stops after v²/(2 μ g) = 0.1 m; the last step is not a whole one."""
    run = thrown((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.3, RigidGround(friction=0.5))
    assert run.final_state[0][0] == pytest.approx(0.1, abs=3e-6)
    assert run.final_state[1][0] == 0.0
    assert run.data["foot_work"][-1, 0] == pytest.approx(-0.5, rel=1e-12)  # all of its energy


@pytest.mark.parametrize("step", [1e-3, 2.5e-4])
def test_sideways_on_a_slope(step: float) -> None:
    """On 20° with friction 0.5 a puck pushed across stops after 0.2263713505 s: friction turns with its velocity."""
    field, _, _ = incline(np.radians(20.0))
    run = thrown((0.0, 0.0, 0.0), (0.0, 0.5, 0.0), 0.3, RigidGround(friction=0.5, surface=field), step=step)
    stops = [time for time, _, state in run.changes if state == "stick"]
    assert stops[-1] == pytest.approx(0.2263713505, abs=2.0 * step)
    assert np.abs(run.final_state[1]).max() < 1e-12


def test_down_a_slope() -> None:
    """It slides by g (sin − μ cos), and not at all where friction holds it."""
    field, _, down = incline(np.radians(30.0))
    run = thrown((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.5, RigidGround(friction=0.2, surface=field))
    expected = 10.0 * (np.sin(np.radians(30.0)) - 0.2 * np.cos(np.radians(30.0))) * 0.5 * down
    assert np.abs(run.final_state[1][:3] - expected).max() < 1e-9
    held = thrown((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.5, RigidGround(friction=0.6, surface=field))
    assert np.abs(held.final_state[1]).max() < 1e-12 and held.assumption_held()


def test_a_ball_that_begins_to_roll() -> None:
    """A ball that slides at 1 m/s rolls after 2 v/(7 μ g), at 5/7 of its speed, and then goes on so."""
    radius, mu = 0.1, 0.3  # and 2/5 m r² about each axis
    torso = Torso(mass=2.0, inertia=(0.008, 0.008, 0.008, 0.0, 0.0, 0.0))
    ball = ContactPoint(name="skin", point=(0.0, 0.0, 0.0), radius=radius)
    model = model_of(Robot(name="ball", torso=torso, parts={}, contacts=(ball,), gravity=9.81))
    q = model.standing()
    q[2] = radius
    run = simulate(model, (q, np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])), 0.3, ground=RigidGround(friction=mu))
    assert [state for _, _, state in run.changes] == ["slip", "stick"]
    assert run.changes[1][0] == pytest.approx(2.0 / (7.0 * mu * 9.81), abs=1.1e-3)
    _, v = run.final_state
    assert v[0] == pytest.approx(5.0 / 7.0, rel=1e-12) and v[4] == pytest.approx(v[0] / radius, rel=1e-12)


@pytest.mark.measured("rigid ground")
@pytest.mark.parametrize(("step", "error"), [(1e-3, 6e-4), (2.5e-4, 2.5e-4)])
def test_a_rimless_wheel(measured: Callable[..., None], step: float, error: float) -> None:
    """Eight spokes of 1 m down a slope of 0.08 rad: the speed after impacts comes to cot(2 α) sqrt(4 g/l sin α sin γ),
    its square nearer by half (cos² 2α) each time; α is half the angle between spokes."""
    alpha, slope, gravity = np.pi / 8.0, 0.08, 9.81
    spokes = tuple(ContactPoint(name=f"spoke{k}", point=(np.sin(2.0 * alpha * k), 0.0, -np.cos(2.0 * alpha * k)))
                   for k in range(8))  # fmt: skip
    torso = Torso(mass=1.0, inertia=(1e-6, 1e-6, 1e-6, 0.0, 0.0, 0.0))
    model = model_of(Robot(name="wheel", torso=torso, parts={}, contacts=spokes, gravity=gravity))
    fall = np.tan(slope)
    field = HeightField.sampled(lambda x, y: -fall * x, (-2.0, 20.0), (-1.0, 1.0), 1.0)
    q, v = model.standing(), np.zeros(6)
    turn = slope - alpha  # on spoke 0, the one behind it just off the ground
    q[3], q[5] = np.cos(0.5 * turn), np.sin(0.5 * turn)
    q[:3] = [np.sin(turn), 0.0, np.cos(turn)]
    v[4] = 1.3
    v[:3] = np.cross([0.0, v[4], 0.0], q[:3])
    run = simulate(model, (q, v), 6.0, ground=RigidGround(friction=5.0, surface=field), step=step, samples=10)
    limit = np.sqrt(4.0 * gravity * np.sin(alpha) * np.sin(slope)) / np.tan(2.0 * alpha)
    assert limit == pytest.approx(1.09546284, abs=1e-8)
    count = int((run.data["impact_time"] > 0.0).sum())  # at the start it stands on a spoke
    assert count >= 6
    place, rates = run.final_state
    turned = 2.0 * np.arctan2(place[5], place[3])
    fallen = np.cos(turned - 2.0 * alpha * count) - np.cos(turn)  # of the hub over its spoke, since the last impact
    speed = np.sqrt(rates[4] ** 2 + 2.0 * gravity * fallen)
    expected = np.sqrt(limit**2 + (1.3**2 - limit**2) * 0.5**count)
    measured(f"speed of a rimless wheel, steps of {step:g} s", abs(speed - expected), at_most=error, unit="rad/s")


def test_the_quadruped_of_2020_drops() -> None:
    """From 8 cm it lands after sqrt(2 h/g) with the impulse and the loss of the impact of its bodies, by M alone: the
    gains of its legs have no part in it."""
    model = Model(liu2020("pendulum"), "none")
    q = posed(model)
    legs = replace(held_posture(model, q))
    servo = JointServo(table=legs, kp=300.0, kd=8.0)
    q[2] += 0.08
    run = simulate(model, q, 0.2, control=servo, ground=RigidGround(friction=0.6))
    assert run.data["impact_time"][0] == pytest.approx(0.127775313, abs=1e-9)
    assert run.data["impact_impulse"][0, :, 2].sum() == pytest.approx(5.745010, abs=1e-6)
    assert run.data["impact_loss"][0] == pytest.approx(3.5969449, abs=1e-6)


@pytest.mark.measured("rigid ground")
def test_a_quadruped_drops(measured: Callable[..., None]) -> None:
    """A robot of 12.6 kg from 10 cm: touchdown to nine digits, impulse to seven, and where it comes to rest, beside an
    event-driven solution."""
    model, servo, q = dropped()
    run = simulate(model, q, 1.0, control=servo, ground=GROUND, step=5e-4)
    assert run.data["impact_time"][0] == pytest.approx(0.142784312, abs=1e-9)
    assert run.data["impact_impulse"][0, :, 2].sum() == pytest.approx(1.734894, abs=1e-6)
    lifts = [time for time, foot, state in run.changes if foot == "leg1" and state == "air"]
    assert lifts[0] == pytest.approx(0.179874867, abs=1e-3)
    apart = np.abs(run.final_state[0][:3] - DROPPED).max()
    measured("a drop beside an event-driven solution, 0.5 ms", apart, at_most=1e-5, unit="m")
    assert "lands 1× (at 0.1428 s)" in run.summary() or "lands 2×" in run.summary()


@pytest.mark.measured("rigid ground")
def test_a_trot_converges(measured: Callable[..., None]) -> None:
    """After 1 s and a dozen touchdowns the torso is where an event-driven solution has it, at the second order: located
    touchdowns take the error of the first order away."""
    model, servo, q, v = trotting()
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        run = simulate(model, (q, v), 1.0, control=servo, ground=GROUND, step=step, samples=2)
        errors.append(float(np.linalg.norm(run.final_state[0][:3] - WALKED)))
        measured(f"a trot beside an event-driven solution, {step:g} s", errors[-1], at_most=400.0 * step**2, unit="m")
    assert errors[0] > 2.5 * errors[1] > 6.0 * errors[2] > 15.0 * errors[3]


def test_mujoco_comes_near() -> None:
    """MuJoCo's trot of the same robot, whose contacts are soft by as much as its step allows, comes towards the same
    place as its steps shrink: another engine and another model of contact."""
    mujoco_walk = pytest.importorskip("benchmarks.engines.mujoco_walk")
    model, servo, q, v = trotting()
    errors = []
    for step in (1e-3, 2.5e-4, 1e-4):
        walk = mujoco_walk.walk(model, 0.6, mujoco_walk.rigid(step), servo, q, v, 1.0, step, 100.0)
        errors.append(float(np.linalg.norm(walk()[-1] - WALKED)))
    assert errors[0] > 3.0 * errors[1] > 6.0 * errors[2] and errors[2] < 3e-3


@cache
def walkers() -> tuple[Model, JointServo, Array, Array]:
    """The trot from states that differ."""
    model, servo, q, v = trotting()
    rng = np.random.default_rng(4)
    states = np.tile(v, (11, 1))
    states[:, :6] += 0.1 * rng.normal(size=(11, 6))
    return model, servo, np.tile(q, (11, 1)), states


def test_a_batch_is_its_runs() -> None:
    """Bit for bit, whatever its size, order and number of threads, with designs that differ."""
    model, servo, q, v = walkers()
    masses = np.linspace(6.0, 8.0, 11)
    options: dict[str, Any] = {"control": servo, "ground": GROUND, "step": 1e-3}
    whole = simulate_batch(model, (q, v), 0.15, parameters={"torso.mass": masses}, threads=2, **options)
    order = np.random.default_rng(0).permutation(11)
    mixed = simulate_batch(
        model, (q[order], v[order]), 0.15, parameters={"torso.mass": masses[order]}, threads=1, **options
    )  # fmt: skip
    assert np.array_equal(mixed.q, whole.q[order]) and np.array_equal(mixed.v, whole.v[order])
    for k in (0, 5, 10):
        other = model_of(model.robot.replace({"torso.mass": masses[k]}))
        alone = simulate(other, (q[k], v[k]), 0.15, **options)
        assert np.array_equal(alone.final_state[0], whole.q[k]) and np.array_equal(alone.final_state[1], whole.v[k])
    few = simulate_batch(model, (q[3:5], v[3:5]), 0.15, parameters={"torso.mass": masses[3:5]}, **options)
    assert np.array_equal(few.q, whole.q[3:5])


def test_each_run_has_its_own_ground() -> None:
    """Friction and restitution of each run, with the bits that it has alone; an impossible ground refuses its run, for
    the reason that the ground gives."""
    model, servo, q, v = walkers()
    q = q + np.eye(q.shape[1])[2] * 0.01  # lands first
    options: dict[str, Any] = {"control": servo, "step": 1e-3}
    frictions, rebounds = [0.1, 0.24, 0.38, 0.52, -0.1, 0.8], [0.0, 0.2, 0.4, 0.0, 0.6, 2.0]
    numbers = {"ground.friction": frictions, "ground.restitution": rebounds}
    found = simulate_batch(model, (q[:6], v[:6]), 0.15, ground=GROUND, parameters=numbers, **options)
    for k in range(4):
        ground = RigidGround(friction=frictions[k], restitution=rebounds[k])
        alone = simulate(model, (q[k], v[k]), 0.15, ground=ground, **options)
        assert np.array_equal(alone.final_state[0], found.q[k]) and np.array_equal(alone.final_state[1], found.v[k])
    assert found.reasons[4].startswith("not possible: friction: got -0.1")
    assert found.reasons[5].startswith("not possible: restitution: got 2.0; required: from 0 to 1")
    assert np.isnan(found.q[4:]).all() and found.parameters["ground.friction"][0] == 0.1
    with pytest.raises(ArgumentError, match=r"number of the ground \(ground.friction, ground.restitution\)"):
        simulate_batch(model, (q, v), 0.1, ground=GROUND, parameters={"ground.stiffness": 1e5}, **options)
    with pytest.raises(ArgumentError, match="none here"):
        simulate_batch(Model(puck(), "none"), np.zeros(7), 0.1, parameters={"ground.friction": 0.5})


def test_a_batch_goes_on_where_another_has_ended() -> None:
    """Each run from its own state and contacts: as single runs that go on, bit for bit."""
    model, servo, q, v = walkers()
    options: dict[str, Any] = {"control": servo, "ground": GROUND, "step": 1e-3}
    first = simulate_batch(model, (q, v), 0.1, **options)
    assert np.array_equal(first.times, np.full(11, 0.1))
    assert len({contact.states for contact in first.final_contacts}) > 1
    options["start_time"] = 0.1  # the gait goes on, too
    later = simulate_batch(model, (first.q, first.v), 0.1, contact=first.final_contacts, **options)
    for k in (0, 7, 10):
        run = simulate(model, (q[k], v[k]), 0.1, **options | {"start_time": 0.0})
        assert run.final_contact.states == first.final_contacts[k].states
        further = simulate(model, run.final_state, 0.1, contact=run.final_contact, **options)
        assert np.array_equal(further.final_state[0], later.q[k])
        assert np.array_equal(further.final_state[1], later.v[k]) and later.times[k] == 0.2
        assert later.energy_balance_error()[k] == further.energy_balance_error()
    assert pickle.loads(pickle.dumps(first)).final_contacts[3].states == first.final_contacts[3].states
    with pytest.raises(ArgumentError, match="of one length"):
        simulate_batch(model, (q, v), 0.1, contact=first.final_contacts[:3], **options)
    with pytest.raises(ArgumentError, match=r"contact: got \[\]; .*one for each run"):
        simulate_batch(model, (q, v), 0.1, contact=[], **options)
    with pytest.raises(ArgumentError, match=r"contact: .*in a batch also one for each run"):
        simulate(model, (q[0], v[0]), 0.1, contact=first.final_contacts, **options)  # pyright: ignore[reportArgumentType]


def test_plain_python_is_the_driver() -> None:
    """Run as plain Python, the driver gives the same bits."""
    model, servo, q = dropped(0.002)
    options: dict[str, Any] = {"control": servo, "ground": GROUND, "step": 1e-3, "samples": 5}
    compiled = simulate(model, q, 0.024, **options)
    with drivers_in_python():
        plain = simulate(model, q, 0.024, **options)
    assert len(compiled.changes) >= 4 and plain.changes == compiled.changes
    for name in ("q", "v", "foot_force", "foot_impulse", "foot_work", "joint_work", "contact"):
        assert np.array_equal(plain.data[name], compiled.data[name], equal_nan=True), name


REAL = {preset.__name__: preset for preset in (go2, a1, anymal_c, solo12, spot, spirit40, gecko)}
"""Presets of real robots."""
DROPPED_ROBOTS = (*ROBOTS, *REAL, "cheetah")


@cache
def dropped_model(name: str) -> Model:
    """A preset by name; "cheetah" is a Go2 with that tail, "blaberus with rotors" has an armature on its hips."""
    if name == "blaberus with rotors":
        robot = blaberus()
        for leg, limb in robot.limbs().items():
            joints = tuple(replace(joint, armature=0.0 if joint.body and joint.name != "alpha" else 1e-10)
                           for joint in limb.joints)  # fmt: skip
            robot = robot.with_part(leg, FreeLimb(limb=replace(limb, joints=joints, closed_form=None)))
    else:
        robot = go2().with_tail("cheetah") if name == "cheetah" else REAL[name]() if name in REAL else ROBOTS[name]
    if not robot.contact_points():  # the gecko's torso and tail
        robot = replace(robot, contacts=(ContactPoint(name="belly", point=(0.0, 0.0, 0.0), radius=0.01),))
    return Model(robot, "none", attitude="quaternion")


def random_drops(name: str, count: int) -> tuple[Model, Array, Array]:
    """A preset in the air, turned anyhow, spinning and moving its joints."""
    model = dropped_model(name)
    scale, points = float(model.robot.stand[2]) or 0.1, len(model.contact_names)
    q, v = np.tile(posed(model), (count, 1)), np.zeros((count, len(model.velocity_names)))
    for k in range(count):
        rng = np.random.default_rng(k)
        v[k] = rng.normal(size=v.shape[1])
        q[k, 3:7] = rng.normal(size=4)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    gaps = model.ask(
        "contact_state", q=q, v=v, tau=np.zeros(len(model.actuator_names)), prescribed_acceleration=(), forces=None,
        heights=np.zeros(points), normals=np.tile([0.0, 0.0, 1.0], points),
    )["gaps"]  # fmt: skip
    q[:, 2] += 0.2 * scale - gaps[:, :points].min(axis=1)
    v[:, :3] *= np.sqrt(scale)
    v[:, 6:] *= 0.3
    return model, q, v


@pytest.mark.parametrize("name", ["r3", "biswal", "blaberus with rotors", "go2"])
def test_drops_stay_finite(name: str) -> None:
    """Robots dropped anyhow, limp, keep finite numbers to the end; all presets by hand. (The hips of the cockroach
    without rotors have three axes without inertia: where they come in line, its runs end and say so.)"""
    model, q, v = random_drops(name, 4)
    found = simulate_batch(model, (q, v), 0.4, ground=RigidGround(friction=0.7))
    assert np.isfinite(found.q).all() and np.isfinite(found.v).all() and not any(found.reasons)


def test_a_robot_that_falls_lies_on_the_ground() -> None:
    """With points on knees, corners and tail it comes to rest on them, none deeper than a tenth of a millimetre."""
    model = model_of(everywhere(quadruped(armature=1e-3)))
    q = posed(model_of(quadruped()))
    q[2], q[3:7] = 0.75, [np.cos(0.9), np.sin(0.9), 0.0, 0.0]
    hold = JointServo(table=held_posture(model_of(quadruped()), posed(model_of(quadruped()))), kp=60.0, kd=3.0)
    run = simulate(model, q, 2.5, control=hold, ground=GROUND)
    gaps = model.ask(
        "contact_state", q=run.final_state[0], v=run.final_state[1], tau=np.zeros(len(model.actuator_names)),
        prescribed_acceleration=(), forces=None, heights=np.zeros(13), normals=np.tile([0.0, 0.0, 1.0], 13),
    )["gaps"]  # fmt: skip
    assert gaps.min() > -1e-4 and np.count_nonzero(gaps < 1e-4) >= 3
    assert np.abs(run.final_state[1]).max() < 0.05
    weight = float(model.robot.mass()) * 9.81
    assert run.data["foot_force"][-1, :, 2].sum() == pytest.approx(weight, rel=2e-2)


def test_a_joint_comes_to_its_stop() -> None:
    """A joint with a range swings against its end and rests there; it never goes beyond by more than the tolerance."""
    robot = quadruped()
    limb = robot.limbs()["tail"]
    joints = tuple(replace(joint, range=(-0.3, 0.5)) if joint.name == "ta" else joint for joint in limb.joints)
    robot = robot.with_part("tail", FreeLimb(limb=replace(limb, joints=joints)))
    model = Model(robot.replace({"gravity": 0.0}), "none", attitude="quaternion")
    q, v = posed(model_of(quadruped())), np.zeros(len(model.velocity_names))
    q[2] = 2.0
    v[model.velocity_names.index("tail.ta rate")] = 3.0
    run = simulate(model, (q, v), 0.4, ground=GROUND)
    angle = run.data["q"].sel(coordinate="tail.ta").to_numpy()
    assert 0.4999 < angle.max() < 0.5 + 2e-5
    assert any("tail.ta comes to its stop" in what for _, what in run.events)
    before = model.energy(q, v).kinetic
    assert run.data["kinetic_energy"][-1] < before  # the stop is hit without rebound


def test_a_controller_in_python() -> None:
    """Efforts of a controller that is asked every millisecond are those of the same law, bit for bit."""
    model, _, q = dropped(0.01)
    efforts = np.linspace(-1.0, 1.0, len(model.actuator_names))
    law = simulate(model, q, 0.1, control=Constant(values=tuple(efforts)), ground=GROUND, step=1e-3)
    asked = simulate(model, q, 0.1, control=lambda t, q, v: efforts, ground=GROUND, step=1e-3)
    assert np.array_equal(law.final_state[0], asked.final_state[0])


def test_forces_and_a_prescribed_tail() -> None:
    """A push from outside is in the balance of momentum, and so is what moves a prescribed tail."""
    from tailwork.control import point_to_point
    from tailwork.simulation import pulse

    robot = quadruped()
    model = Model(robot, "none", prescribed=["tail"], attitude="quaternion")
    whole = model_of(robot)
    q = posed(whole)
    legs = [name for name in whole.coordinate_names[7:] if not name.startswith("tail")]
    table = held_posture(whole, q)
    keep = [table.coordinates.index(name) for name in legs]
    servo = JointServo(
        table=replace(table, coordinates=tuple(legs), values=table.values[:, keep], slopes=table.slopes[:, keep]),
        kp=300.0, kd=6.0,
    )  # fmt: skip
    q[2] += 1e-4
    swing = {"tail": {"ta": point_to_point(0.0, 0.4, 0.2), "tb": point_to_point(0.0, 0.6, 0.2)}}
    push = Force(limb="torso", x=pulse(20.0, 0.1))
    run = simulate(model, q, 0.25, control=servo, motions=swing, forces=push, ground=GROUND, step=2.5e-4)
    assert run.momentum_balance_error() < 2e-4 and run.energy_balance_error() < 0.01


def test_events_and_measures() -> None:
    """Events are seen where steps end and stop a run, alone and in a batch; limits of motors are watched and respected;
    measures of a batch see its contacts."""
    model, q, ground = Model(puck(), "none"), np.zeros(7), RigidGround(friction=0.5, restitution=0.3)
    q[2] = 0.5
    low = When(name="below 10 cm", quantity=lambda context: context.q[2] - 0.1)
    late = When(name="after 0.6 s", quantity=lambda context: 0.6 - context.t, action="stop")
    strong = Constant(values=(0.05,))  # more than the motor can
    run = simulate(model, q, 1.0, ground=ground, control=strong, events=(low, late), step=1e-3)
    assert run.stopped is not None and run.stopped.reason == "after 0.6 s" and run.duration == pytest.approx(0.601)
    assert [what for _, what in run.events] == [
        "foot.motor is asked for more than its limit", "below 10 cm", "after 0.6 s"
    ]  # fmt: skip
    assert run.events[1][0] == pytest.approx(np.sqrt(0.08), abs=1e-3)
    kept = simulate(model, q, 0.1, ground=ground, control=strong, limits="respect")
    assert kept.data["tau"].max() == LIMIT
    batch = simulate_batch(
        model, np.tile(q, (3, 1)), 1.0, ground=ground, control=strong, events=(late,), step=1e-3,
        measures={"lowest": lambda chunk: np.nanmin(chunk.q[..., 2], axis=1),
                  "impulse": lambda chunk: np.nanmax(chunk.feet["foot_impulse"][:, :, 0, 2], axis=1)},
    )  # fmt: skip
    assert set(batch.reasons) == {"after 0.6 s"} and np.array_equal(batch.q[0], run.final_state[0])
    assert batch["lowest"].min() >= -1e-12 and (batch["impulse"] > 1.3 * np.sqrt(10.0)).all()


def test_runs_are_kept(tmp_path: Path) -> None:
    """A run on rigid ground comes back from a file with its ground, changes and impacts; and goes on where it ended."""
    model, servo, q = dropped(0.02)
    run = simulate(model, q, 0.2, control=servo, ground=RigidGround(friction=0.6, restitution=0.1))
    run.save(tmp_path / "run.nc")
    again = load_run(tmp_path / "run.nc")
    assert again.ground == run.ground and again.changes == run.changes and again.summary() == run.summary()
    assert np.array_equal(again.data["impact_impulse"], run.data["impact_impulse"])
    further = simulate(
        model, again.final_state, 0.2, control=servo, ground=again.ground, contact=again.final_contact, start_time=0.2
    )
    straight = simulate(model, q, 0.4, control=servo, ground=run.ground)
    assert np.abs(further.final_state[0] - straight.final_state[0]).max() < 1e-4


def test_bad_input() -> None:
    """Each with what was wrong, what is required and what to do."""
    model, servo, q = dropped()
    with pytest.raises(ArgumentError, match=r"friction: got -0\.1"):
        RigidGround(friction=-0.1)
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        RigidGround(friction=0.5, restitution=1.5)
    cliff = HeightField(x=(-1.0, 1.0), y=(-1.0, 1.0), heights=np.repeat([[0.0], [0.0], [3.0]], 3, axis=1))
    with pytest.raises(ArgumentError, match="cliff"):
        RigidGround(friction=0.5, surface=cliff)
    inside = q.copy()
    inside[2] -= 0.2
    with pytest.raises(ArgumentError, match="under the ground"):
        simulate(model, inside, 0.1, control=servo, ground=GROUND)
    with pytest.raises(ArgumentError, match=r"damping \(kd\) of 6 .*Leave the step out"):
        simulate(model, q, 0.1, control=servo, ground=GROUND, step=4e-3)
    with pytest.raises(ArgumentError, match=r"step: got 0.1; required: at most 0.02 s, .*\(0.001 s would be taken\)"):
        simulate(model, q, 0.1, ground=GROUND, step=0.1)
    with pytest.raises(ArgumentError, match="stance='none'"):
        simulate(Model(liu2020("pendulum")), Model(liu2020("pendulum")).standing(), 0.1, ground=GROUND)
    for method in ("time-stepping", "event-driven"):
        with pytest.raises(ArgumentError, match="other things than pinned feet"):
            simulate(model, q, 0.1, ground=GROUND, events=[FootPulls()], method=method)
    with pytest.raises(ArgumentError, match="other things than pinned feet"):
        simulate_batch(model, q, 0.1, ground=GROUND, events=[FootPulls()])
    with pytest.raises(ArgumentError, match="RigidGround"):
        simulate(model, q, 0.1, ground="rigid")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="time-stepping"):
        simulate(model, q, 0.1, ground=GROUND, method="rk4")
    with pytest.raises(ArgumentError, match="feet or other contact points"):
        bare = Robot(name="bare", torso=Torso(mass=1.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)), parts={})
        simulate(Model(bare, "none"), np.zeros(6), 0.1, ground=GROUND)
    with pytest.raises(ArgumentError, match="one of"):
        simulate(model, q, 0.1, ground=GROUND, contact=Contact(("glue",) * 4, np.zeros((4, 3))))


def test_a_lane_that_fails_has_its_own_status() -> None:
    """One run leaves the field, one starts inside the ground: the others are what they are alone."""
    model = Model(puck(), "none")
    field = HeightField(x=(-1.0, 1.0), y=(-1.0, 1.0), heights=np.zeros((5, 5)))
    ground = RigidGround(friction=0.1, surface=field)
    q, v = np.zeros((3, 7)), np.zeros((3, 7))
    v[0, 0], q[1, 2], v[2, 0] = 5.0, -0.5, 0.5
    found = simulate_batch(model, (q, v), 0.5, ground=ground)
    assert found.reasons[0] == "a foot leaves the height field" and 0.15 < found.times[0] < 0.3
    assert found.reasons[1].startswith("not possible: state: got 'foot 0.5 m under the ground'")
    alone = simulate(model, (q[2], v[2]), 0.5, ground=ground)
    assert found.reasons[2] == "" and np.array_equal(found.q[2], alone.final_state[0])


def test_stiff_compliant_ground_comes_near() -> None:
    """Compliant ground that is made stiffer and damped leads to the same rest, another method and other equations."""
    model, servo, q = dropped(0.0)
    rigid = simulate(model, q, 0.5, control=servo, ground=RigidGround(friction=0.8))
    ground = CompliantGround(
        stiffness=1e6, damping=1.0, tangential_stiffness=1e6, tangential_damping=500.0, static_friction=0.8,
        kinetic_friction=0.8,
    )  # fmt: skip
    soft = simulate(model, q, 0.5, control=servo, ground=ground)
    assert np.abs(rigid.final_state[0][:3] - soft.final_state[0][:3]).max() < 3e-4


if __name__ == "__main__":
    total = int(sys.argv[1])
    for robot in (*DROPPED_ROBOTS, "blaberus with rotors"):
        dropped_robot, places, rates = random_drops(robot, total // len(DROPPED_ROBOTS) + 1)
        for bounce in (0.0, 0.5):
            batch = simulate_batch(
                dropped_robot, (places, rates), 0.4, ground=RigidGround(friction=0.7, restitution=bounce)
            )
            fine = np.isfinite(batch.q).all(axis=1)
            print(f"{robot}, restitution {bounce}: {len(batch)} drops, {np.count_nonzero(~fine)} not finite, "
                  f"{np.count_nonzero(~batch.finished)} ended early, {batch.steps.max()} steps")  # fmt: skip
