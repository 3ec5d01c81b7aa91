"""Robots without motors on rigid ground: joints at their stops and feet that land come to rest, and stay there."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tailwork.control import posed
from tailwork.model import Model
from tailwork.robots import Body, ContactPoint, Joint, Limb, Robot, Torso, a1, spot
from tailwork.robots.robot import FreeLimb
from tailwork.simulation import RigidGround, Run, gradient, gradients, simulate, simulate_batch
from tailwork.simulation.integrate.compiled import WIDTH

PRESETS = {"a1": a1, "spot": spot}


@cache
def limp(name: str) -> Model:
    """A preset with balls at hips and knees."""
    robot = PRESETS[name]()
    for leg in robot.feet():
        limb = robot.part(leg).limb
        balls = [ContactPoint(name=part, joint=limb.joints[k].name, point=(0.0, 0.0, 0.0), radius=radius)
                 for part, k, radius in (("hip", 1, 0.03), ("knee", 2, 0.02))]  # fmt: skip
        robot = robot.replace({f"{leg}.limb": replace(limb, contacts=tuple(balls))})
    return Model(robot, "none", attitude="quaternion")


def fallen(name: str, friction: float) -> Run:
    """Two seconds from a stance that nothing holds."""
    model = limp(name)
    return simulate(model, posed(model), 2.0, ground=RigidGround(friction=friction), step=1e-3, samples=5)


@pytest.mark.parametrize(("name", "friction"), [("a1", 0.7), ("a1", 0.3), ("spot", 0.3)])
def test_a_limp_robot_comes_to_rest(name: str, friction: float) -> None:
    """Contacts and stops without rebound take all of the motion: each lifts a few times, then nothing does any more,
    and the ground carries the weight."""
    run = fallen(name, friction)
    assert run.data["kinetic_energy"][-1] < 1e-9
    lifts = [time for time, _, state in run.changes if state == "air"]
    assert max(lifts) < 1.8 and len(lifts) < 60
    assert max(time for time, what in run.events if "stop" in what) < 1.8
    robot = limp(name).robot
    weight = float(robot.mass()) * float(robot.gravity)
    borne = run.data["foot_force"][-1, :, 2].sum()
    assert borne == pytest.approx(weight, rel=1e-4)  # contacts settle to 1e-5 m/s in a step of 1 ms


def test_a_limp_robot_from_event_to_event() -> None:
    """Feet, knees and stops that meet hundreds of times in a tenth of a second: what changes too often is stepped
    through, and the robot lies where it lies by steps, with its energy accounted for."""
    model = limp("a1")
    run = simulate(model, posed(model), 0.6, ground=RigidGround(friction=0.7), method="event-driven", samples=5)
    assert run.stopped is None and any("too often" in what for _, what in run.events)
    assert run.energy_balance_error() < 1e-4 and run.data["kinetic_energy"][-1] < 1e-9
    lain = fallen("a1", 0.7)
    assert run["z"][-1] == pytest.approx(float(lain["z"][-1]), abs=1e-3)


def test_contacts_of_one_leg_settle() -> None:
    """A foot and a joint at its stop meet in one leg, which a sweep after the other brings to rest slowly: each round
    is solved all the same."""
    assert "did not settle" not in fallen("a1", 0.7).summary()


def test_a_batch_is_its_runs() -> None:
    """Bit for bit, where Newton's method ends what sweeps in lanes have begun."""
    model = limp("a1")
    count = WIDTH + 3  # some lanes take a second run
    q = np.tile(posed(model), (count, 1))
    q[:, 2] += np.linspace(0.0, 0.02, count)
    many = simulate_batch(model, q, 0.5, ground=RigidGround(friction=0.7), step=1e-3)
    for k in (0, 3, count - 1):
        alone = simulate(model, q[k], 0.5, ground=RigidGround(friction=0.7), step=1e-3, samples=2)
        assert np.array_equal(alone.final_state[0], many.q[k]) and np.array_equal(alone.final_state[1], many.v[k])


def test_gradients_through_stops_and_feet_of_one_leg() -> None:
    """Contacts that Newton's method opens bear nothing at all, not even rounding: derivatives are those of differences
    of the same rounds."""
    model = limp("a1")
    q, h, how = posed(model), 2e-7, {"ground": RigidGround(friction=0.7), "step": 1e-3}
    q[2:7] += [0.02, 0.0, 0.02, 0.03, 0.01]
    q[3:7] /= np.linalg.norm(q[3:7])
    exact = gradient(model, q, 0.21, ahead, **how)
    moved = q + h * np.concatenate([np.eye(len(q)), -np.eye(len(q))])
    above, below = gradients(model, moved, 0.21, ahead, **how).values.reshape(2, -1)
    assert "did not settle" not in simulate(model, q, 0.21, **how).summary()
    assert (above - below) / (2.0 * h) == pytest.approx(exact.by_q, abs=3e-8)  # rounding of the differences


def ahead(end: Any) -> Any:
    """Where it is and how fast, in one number."""
    return end.q[0] + 0.3 * end.q[2] + 0.2 * end.v[1]


def test_an_impact_along_the_ground_lifts_nothing() -> None:
    """A bar that turns about an upright axis on a block comes to its stop. The block then turns with it on smooth
    ground, as angular momentum has it, and its corners bear their load all the time."""
    corners = tuple(ContactPoint(name=f"{k}", point=(0.1 * x, 0.1 * y, -0.05))
                    for k, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))))  # fmt: skip
    body = Body(mass=0.5, com=(0.0, 0.0, 0.0), inertia=(0.01, 0.01, 0.02, 0.0, 0.0, 0.0))
    bar = Limb(joints=(Joint(name="turn", axis=(0.0, 0.0, 1.0), range=(-0.5, 0.5), body=body),))
    torso = Torso(mass=4.0, inertia=(0.02, 0.02, 0.03, 0.0, 0.0, 0.0))
    robot = Robot(name="block", gravity=9.81, torso=torso, parts={"bar": FreeLimb(limb=bar)}, contacts=corners)
    model = Model(robot, "none", attitude="quaternion")
    q, v = np.zeros(len(model.coordinate_names)), np.zeros(len(model.velocity_names))
    q[2], q[3], v[-1] = 0.05, 1.0, 4.0
    run = simulate(model, (q, v), 0.3, ground=RigidGround(friction=0.0), step=1e-3)
    assert [what for _, what in run.events] == ["bar.turn comes to its stop"]
    assert not any(state == "air" for _, _, state in run.changes)
    assert run.final_state[1] == pytest.approx([0.0] * 5 + [0.02 * 4.0 / 0.05, 0.0], abs=1e-9)
