"""Contact points and balls on compliant ground: rolling, sliding, lying, and what runs record of them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tailwork
from pucks import AIR, EVERY, GRAVITY, MASS, STICK, ground, thrown
from pucks import puck as pointed
from tailwork.control import held, point_to_point
from tailwork.model import Model
from tailwork.robots import ContactPoint, FreeTail, Robot, Torso, liu2020
from tailwork.simulation import Contact, HeightField, Run, simulate, simulate_batch
from tailwork.view.scene import scene_of

RADIUS = 0.1
INERTIA = 0.4 * MASS * RADIUS**2  # of a solid sphere
CORNERS = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (-0.05, 0.05)]


def ball(friction: float = 1.0) -> Robot:
    """A solid sphere of 1 kg: a torso that touches the ground as a ball about P."""
    torso = Torso(mass=MASS, inertia=(INERTIA, INERTIA, INERTIA, 0.0, 0.0, 0.0))
    point = ContactPoint(name="ball", point=(0.0, 0.0, 0.0), radius=RADIUS, friction=friction)
    return Robot(name="ball", gravity=GRAVITY, torso=torso, parts={}, contacts=(point,))


def box() -> Robot:
    """A box of 1 kg that touches the ground with its eight corners."""
    torso = Torso(mass=MASS, inertia=(0.004, 0.014, 0.016, 0.0, 0.0, 0.0))
    points = tuple(ContactPoint(name=f"c{k}", point=corner) for k, corner in enumerate(CORNERS))
    return Robot(name="box", gravity=GRAVITY, torso=torso, parts={}, contacts=points)


def rolled(robot: Robot, place: tuple[float, ...], velocity: tuple[float, ...], duration: float, **more: object) -> Run:
    """A run of a torso alone."""
    q, v = np.zeros(6), np.zeros(6)
    q[: len(place)], v[: len(velocity)] = place, velocity
    on = more.pop("on", ground(damping=0.5, tangential_damping=40.0))
    more.setdefault("contact", Contact(("stick",), np.array([[*q[:2], q[2] - RADIUS]])) if place[2] < RADIUS else None)
    return simulate(Model(robot, "none"), (q, v), duration, ground=on, **more)  # type: ignore[arg-type]


SUNK = MASS * GRAVITY / 1e4  # depth at rest [m]


def test_a_ball_rolls_down_an_incline_with_five_sevenths_of_what_slides() -> None:
    """a = g sin/(1 + I/(m r²)); the point that touches is at rest, so that next to no work is lost."""
    tilt = 0.2
    heights = -np.tan(tilt) * np.linspace(-1.0, 3.0, 9)[:, None] * np.ones((1, 5))
    slope = HeightField(x=(-1.0, 3.0), y=(-1.0, 1.0), heights=heights)
    on = ground(damping=0.5, tangential_damping=40.0, surface=slope)
    normal = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    place = normal * (RADIUS - SUNK * np.cos(tilt))
    touching = Contact(("stick",), (place - normal * RADIUS)[None])
    run = rolled(ball(), tuple(place), (), 0.8, on=on, contact=touching)
    speed = 5.0 / 7.0 * GRAVITY * np.sin(tilt) * 0.8
    along = run.final_state[1][0] * np.cos(tilt) - run.final_state[1][2] * np.sin(tilt)
    assert along == pytest.approx(speed, rel=5e-3)
    assert run.final_state[1][4] * RADIUS == pytest.approx(along, rel=5e-3), "it rolls"
    assert set(run.data["contact"].to_numpy()[1:, 0]) == {STICK}
    energy = run.data["kinetic_energy"] + run.data["gravitational_energy"]
    assert abs(float(energy[-1] - energy[0])) < 0.01 * float(run.data["kinetic_energy"][-1])
    assert run.momentum_balance_error() < 1e-12


def test_a_thrown_ball_slips_until_it_rolls() -> None:
    """Friction mu m g slows it and turns it until v = omega r, at 5/7 of its first speed, after 2 v0/(7 mu g)."""
    speed, friction = 2.0, 0.5  # kinetic
    run = rolled(ball(), (0.0, 0.0, RADIUS - SUNK), (speed,), 0.2)
    time = 2.0 * speed / (7.0 * friction * GRAVITY)
    assert run.final_state[1][0] == pytest.approx(5.0 / 7.0 * speed, rel=2e-3)
    assert run.final_state[1][4] * RADIUS == pytest.approx(5.0 / 7.0 * speed, rel=2e-3)
    assert [t for t, _, state in run.changes if state == "stick"][-1] == pytest.approx(time, abs=2e-3)
    half = np.abs(run.data["time"].to_numpy() - 0.5 * time).argmin()
    at = float(run.data["time"][half])
    assert float(run.data["v"][half, 0]) == pytest.approx(speed - friction * GRAVITY * at, rel=1e-3)
    assert float(run.data["v"][half, 4]) == pytest.approx(2.5 * friction * GRAVITY * at / RADIUS, rel=5e-3)


def test_a_ball_goes_on_rolling_where_a_run_goes_on() -> None:
    """Two runs of half the time, the second from where the first ends, are one run, but for the change of omega over a
    step."""
    start = (0.0, 0.0, RADIUS - SUNK), (1.0, 0.3, 0.0, -3.0, 10.0, 0.0)
    whole = rolled(ball(), *start, 0.1, step=2e-4)
    first = rolled(ball(), *start, 0.05, step=2e-4)
    on = ground(damping=0.5, tangential_damping=40.0)
    second = simulate(first.model, first.final_state, 0.05, ground=on, step=2e-4, contact=first.final_contact)
    assert second.final_state[0] == pytest.approx(whole.final_state[0], abs=1e-9)
    assert second.final_state[1] == pytest.approx(whole.final_state[1], abs=1e-6)


def test_a_factor_of_friction_is_that_of_the_ground() -> None:
    """A ball of half the friction moves as on ground of half the friction; none at all slides for ever."""
    on = ground(damping=0.5, tangential_damping=40.0)
    half = ground(damping=0.5, tangential_damping=40.0, static_friction=0.4, kinetic_friction=0.25)
    start = (0.0, 0.0, RADIUS - SUNK), (2.0,)
    one, other = rolled(ball(friction=0.5), *start, 0.1, on=on), rolled(ball(), *start, 0.1, on=half)
    assert one.final_state[1] == pytest.approx(other.final_state[1], abs=1e-12)
    ice = rolled(ball(friction=0.0), *start, 0.1, on=on)
    assert ice.final_state[1][[0, 4]] == pytest.approx([2.0, 0.0], abs=1e-12)


def test_numbers_of_points_differ_from_run_to_run_in_a_batch() -> None:
    model, on = Model(ball(), "none"), ground(damping=0.5, tangential_damping=40.0)
    q, v = np.array([0.0, 0.0, RADIUS, 0.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    varied = {"contacts.ball.friction": [0.3, 0.6, 1.0], "contacts.ball.radius": [0.1, 0.09, 0.08]}
    batch = simulate_batch(model, (q, v), 0.1, ground=on, parameters=varied, step=2e-4)
    for k, (friction, radius) in enumerate(zip(*varied.values(), strict=True)):
        robot = ball().replace({"contacts.ball.friction": friction, "contacts.ball.radius": radius})
        alone = simulate(Model(robot, "none"), (q, v), 0.1, ground=on, step=2e-4)
        assert batch.q[k] == pytest.approx(alone.final_state[0], abs=1e-13)


def test_a_box_comes_to_lie_on_its_corners() -> None:
    """It falls on a corner, tumbles and ends with four corners in the ground, each under a quarter of its weight."""
    run = rolled(box(), (0.0, 0.0, 0.3, 0.4, 0.3, 0.2), (0.3,), 2.5)
    assert np.abs(run.final_state[1]).max() < 1e-3
    height = run.final_state[0][2]
    lying = [side - SUNK / 4 for side in (0.05, 0.1, 0.2)]
    assert min(abs(height - x) for x in lying) < 1e-6
    assert sorted(run.final_contact.states) == ["air"] * 4 + ["stick"] * 4
    forces = run.data["foot_force"].to_numpy()[-1]
    assert forces[:, 2].sum() == pytest.approx(MASS * GRAVITY, rel=1e-3)
    assert run.momentum_balance_error() < 1e-12
    assert run.energy_balance_error() < 0.02
    assert "under the ground" not in run.summary()


def test_a_point_is_as_good_as_a_foot() -> None:
    """The puck on a contact point in the place of its foot moves alike, bit by bit."""
    robot = pointed()
    limb = robot.limbs()["foot"]
    point = ContactPoint(name="under", joint="spin", point=(0.0, 0.0, 0.0))
    other = robot.replace({"foot.limb": replace(limb, foot=None, contacts=(point,))})
    start = {"place": (0.0, 0.0, 0.02), "velocity": (1.0, 0.5, 0.0), "duration": 0.3}
    one, two = (thrown(**start, robot=Model(x, "none"), samples=EVERY) for x in (robot, other))
    assert (one.data["q"].to_numpy() == two.data["q"].to_numpy()).all()
    assert list(two.data["foot"].to_numpy()) == ["foot.under"]
    assert [change[0] for change in one.changes] == [change[0] for change in two.changes]


def test_a_robot_that_falls_lies_on_its_torso_and_tail(tmp_path: Path) -> None:
    """Without torques the quadruped sinks down until corners of the torso and its tail carry it; the run can be saved,
    drawn, pickled and told in words."""
    robot = liu2020("r3")
    limb = robot.part("tail").limb
    tip = ContactPoint(name="tip", joint=limb.joints[-1].name, point=(0.0, -0.04, 0.0), radius=0.02)
    robot = robot.with_part("tail", FreeTail(shape=replace(limb, contacts=(tip,))))
    corners = [(x, y, -0.03) for x in (-0.15, 0.15) for y in (-0.25, 0.25)]
    robot = replace(robot, contacts=tuple(ContactPoint(name=f"c{k}", point=c) for k, c in enumerate(corners)))
    on = ground(damping=1.0, tangential_damping=40.0)
    run = simulate(Model(robot, "none"), tailwork.simulation.Standing(), 0.9, ground=on, step=5e-4)
    assert list(run.data["foot"].to_numpy()) == list(robot.contact_points())
    touched = {name for _, name, state in run.changes if state != "air"}
    assert touched >= {"tail.tip", "torso.c0"}
    torso = run.data["points"].to_numpy()[:, 0, 2]
    assert torso[-1] == pytest.approx(0.03, abs=5e-3), "P is 3 cm above the corners"
    assert run.momentum_balance_error() < 2e-3  # of first order in the step, as every articulated robot has it
    assert "tail.tip" in run.summary()
    run.save(tmp_path / "run.nc")
    again = tailwork.load_run(tmp_path / "run.nc")
    assert again.model.robot == robot
    assert again.final_contact.states == run.final_contact.states
    assert pickle.loads(pickle.dumps(run)).final_contact.states == run.final_contact.states
    assert {force.foot for force in scene_of(run).forces} == set(robot.contact_points())


def test_a_ball_foot_stands_a_radius_higher() -> None:
    """Pinned at its centre, a ball stands as a point does; on compliant ground it stands on its lowest point."""
    robot = pointed()
    standing = robot.replace({"foot.limb.foot.radius": 0.05})
    touching = Contact(("stick",), np.array([[0.0, 0.0, -SUNK]]))
    run = thrown((0.0, 0.0, 0.05 - SUNK), duration=0.2, robot=Model(standing, "none"), contact=touching)
    assert run.data["q"].to_numpy()[:, 2] == pytest.approx(0.05 - SUNK, abs=1e-9)
    flying = thrown((0.0, 0.0, 0.06), duration=1e-3, robot=Model(standing, "none"))
    assert run.data["contact"].to_numpy()[-1, 0] == STICK and flying.data["contact"].to_numpy()[-1, 0] == AIR


def test_points_on_a_fixed_torso_and_on_a_prescribed_tail() -> None:
    """A tail whose motion is imposed presses on the ground: the torso is pushed up by what the tail is pushed with."""
    robot = liu2020("pendulum")
    tip = ContactPoint(name="tip", joint="tb", point=(0.0, -0.48, 0.0))
    robot = robot.with_part("tail", FreeTail(shape=replace(robot.part("tail").limb, contacts=(tip,))))
    model = Model(robot, "none", prescribed=["tail"])
    motion = {"tail": {"ta": point_to_point(0.0, np.radians(75.0), 0.25), "tb": held(0.0)}}
    on = ground(damping=1.0, tangential_damping=40.0)
    run = simulate(model, tailwork.simulation.Standing(), 0.3, ground=on, motions=motion, step=5e-4)
    assert run.momentum_balance_error() < 2e-3  # of first order in the step, as every articulated robot has it
    assert run.energy_balance_error() < 0.02
    assert any(name == "tail.tip" and state != "air" for _, name, state in run.changes)
