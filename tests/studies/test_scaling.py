"""A robot of another size: what is chosen for it by default makes it move alike (Froude's law)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from real_robots import urdf
from tailwork.control import JointServo, joint_table, trot, walk, walking_start
from tailwork.control.standing import gain_factors
from tailwork.model import Model
from tailwork.robots import Robot, biswal, liu2018, liu2020, load
from tailwork.robots.paths import rebuild
from tailwork.robots.quantities import Kind
from tailwork.robots.tails.fit import EXPONENTS
from tailwork.simulation import CompliantGround, simulate
from tailwork.studies import POLICIES, Scenario, measured, perform, perform_many, yaw
from tailwork.studies.compare.on_ground import perform_on_ground

HEAVIER, LONGER = 0.1, 0.25


def resized(robot: Robot) -> Robot:
    """A robot a tenth as heavy and a quarter as long, in the same gravity."""

    def visit(path: str, value: Any, kind: Kind) -> Any:
        by_mass, by_length = EXPONENTS.get(kind.unit, (0.0, 0.0))
        return value * HEAVIER**by_mass * LONGER**by_length

    return rebuild(robot, visit)


def two_sizes(policy: str) -> tuple[Scenario, Scenario]:
    """A manoeuvre of the 2020 robot, and of one of another size in times that go with the root of its length."""
    one = Scenario(liu2020(), yaw(40), policy)
    return one, Scenario(resized(liu2020()), replace(yaw(40), duration=0.3 * LONGER**0.5), policy)


@pytest.mark.parametrize("policy", ["joint", "foot"])
def test_legs_hold_robots_of_all_sizes_alike(policy: str) -> None:
    """Pinned, the torso turns by the same angles, and needs the same friction; torques go as mass times length."""
    found = [measured(perform(one, samples=61, rtol=1e-10), one) for one in two_sizes(policy)]
    for name, factor in (
        ("yaw", 1.0), ("pitch", 1.0), ("roll", 1.0), ("friction_needed", 1.0), ("tail_rotation", 1.0),
        ("peak_tail_torque", HEAVIER * LONGER), ("least_normal_force", HEAVIER), ("tail_energy", HEAVIER * LONGER),
    ):  # fmt: skip
        assert found[1][name] == pytest.approx(factor * found[0][name], rel=1e-6, abs=1e-9), name
    assert abs(found[0]["roll"]) > 0.01


def test_ground_is_as_soft_for_robots_of_all_sizes() -> None:
    """On the ground that is chosen for each, both sink by the same share of their size and turn by the same angles."""
    turned, sunk = [], []
    for scenario in two_sizes("joint"):
        ground = CompliantGround.for_robot(scenario.robot)
        run = perform_on_ground(scenario, ground, samples=31)
        q = run.data["q"].to_numpy()
        turned.append(q[:, 3:6])
        sunk.append(1.0 - q[0, 2] / float(scenario.robot.stand[2]))
    assert float(CompliantGround.for_robot(resized(liu2020())).stiffness) == 4e4
    assert sunk[0] == pytest.approx(sunk[1], rel=1e-6) and 5e-4 < sunk[0] < 2e-3
    np.testing.assert_allclose(turned[0], turned[1], atol=1e-6)
    assert np.abs(turned[0]).max() > 1e-3


def test_gains_of_the_2020_robot_stay() -> None:
    """With each of its tails, to rounding; those of others follow mass and legs, and words say them."""
    for tail in ("pendulum", "r3", "usrt", None):
        for at in ("joint", "foot"):
            assert gain_factors(liu2020(tail), "leg3", at) == pytest.approx((1.0, 1.0), rel=1e-15)
    assert POLICIES["joint"].text(liu2020()).endswith("at the joints, of 200 N m/rad and 5 N m s/rad")
    assert POLICIES["foot"].text(liu2020()).endswith("at the feet, of 5000 N/m and 100 N s/m")
    share, longer = 3.4 / 21.6, 0.27 / 0.5
    expected = (share * longer, share * longer**1.5)
    assert gain_factors(biswal(), "leg1", "joint") == pytest.approx(expected, rel=1e-12)
    assert POLICIES["constant"].text(biswal()) == POLICIES["constant"].meaning


def test_gains_follow_every_design_of_a_batch() -> None:
    """Another torso and other legs: side by side as alone."""
    scenario = Scenario(liu2018(), yaw(30), "joint")
    changes = {"torso.mass": [20.0, 30.0], "legs.shank_length": [0.3, 0.33]}
    many = perform_many(scenario, changes, measures=["yaw", "roll"])
    for k in range(2):
        own = scenario.with_robot(scenario.robot.replace({path: x[k] for path, x in changes.items()}))
        alone = measured(perform(own), own, ["yaw", "roll"])
        for name in ("yaw", "roll"):
            assert many.measures[name][k] == pytest.approx(alone[name], rel=1e-6), name


def test_gaits_go_with_the_size_of_a_robot() -> None:
    """At one Froude number: speeds go as √length, frequencies as 1/√length, lifts as length; so the shape of a stride,
    in lengths of the legs, is the same. Gains of the servo go as those of the leg policies."""
    robot = liu2020(None)
    one, two = trot(robot), trot(resized(robot))
    assert two.speed == pytest.approx(one.speed * LONGER**0.5) and two.lift == pytest.approx(one.lift * LONGER)
    assert two.stride == pytest.approx(one.stride * LONGER) and two.phases == one.phases
    assert walk(robot, speed=0.1).speed == 0.1 and walk(robot, lift=0.02).speed == walk(robot).speed
    model = Model(robot, "none")
    servo = JointServo.for_robot(robot, joint_table(model, one))
    assert (servo.kp, servo.kd) == pytest.approx((350.0, 8.0), rel=1e-14)
    small = JointServo.for_robot(resized(robot), servo.table)
    assert (small.kp, small.kd) == pytest.approx((350 * HEAVIER * LONGER, 8 * HEAVIER * LONGER**1.5), rel=1e-12)


def test_a_real_robot_trots_without_tuning() -> None:
    """The Go2, by a gait, a servo and ground that are all made for it: after a second it has gone forward, upright."""
    robot = load(urdf("go2"), foot_radius=0.022)
    model, gait = Model(robot, "none"), trot(robot)
    table = joint_table(model, gait)
    ground, servo = CompliantGround.for_robot(robot, static_friction=0.8), JointServo.for_robot(robot, table)
    run = simulate(model, walking_start(model, gait, table), 1.0, ground=ground, control=servo)
    q = run.data["q"].to_numpy()
    assert run.stopped is None and np.degrees(np.abs(q[:, 3:6])).max() < 15.0
    assert 0.2 < q[-1, 0] / gait.speed < 1.5 and abs(q[-1, 1]) < 0.1 and q[:, 2].min() > 0.9 * q[0, 2]
