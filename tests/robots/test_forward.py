"""A robot says which axis is forward, once; written x forward or y forward, it is the same robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailwork.mechanics.attitude import torso_angle_rates, torso_angles
from tailwork.mechanics.layout import make_layout
from tailwork.model import Model
from tailwork.robots import FORWARD_FRAMES, Robot, Torso, biswal, blaberus, liu2018, liu2020, load, presets
from tailwork.simulation.pose import continuous_angles
from tailwork.typing import Floats

TURN = np.array(FORWARD_FRAMES["x"])  # axes right, forward, up in a torso frame that faces x
TAILS = ("pendulum", "r3", "usrt")


def turned(x: Any) -> Any:
    """A vector of a frame that faces y, in one that faces x."""
    x = np.asarray(x)
    return np.stack([x[..., 1], -x[..., 0], x[..., 2]], axis=-1)


def facing_x(robot: Robot) -> Robot:
    """The same robot in a frame that faces x: all places are turned."""
    legs, tail = robot.part("legs"), robot.part("tail")
    parts = {
        "legs": replace(legs, hips=turned(legs.hips), feet=turned(legs.feet)),
        "tail": replace(tail, mount=turned(tail.mount)),
    }
    return replace(robot, forward="x", parts=parts, stand=turned(robot.stand))


def q_facing_x(q: Floats) -> Floats:
    """Coordinates with a quaternion, for the robot that faces x."""
    return np.concatenate([turned(q[:3]), q[3:4], turned(q[4:7]), q[7:]])


def v_facing_x(v: Floats) -> Floats:
    """Velocities or accelerations, for the robot that faces x."""
    return np.concatenate([turned(v[:3]), turned(v[3:6]), v[6:]])


def random_state(model: Model, seed: int) -> tuple[Floats, Floats, Floats]:
    chance = np.random.default_rng(seed)
    q = model.standing()
    q += 0.05 * chance.normal(size=len(q))
    q[3:7] /= np.linalg.norm(q[3:7])
    tau = chance.uniform(0.0, 5.0, len(model.actuator_names))
    return q, chance.normal(size=len(model.velocity_names)), tau


@pytest.mark.parametrize("stance", ["all", "none"])
@pytest.mark.parametrize("tail", TAILS)
def test_a_robot_written_x_forward_has_the_same_physics(tail: str, stance: str) -> None:
    """Accelerations, foot forces, energies, momenta and places, to rounding."""
    robot = liu2020(tail)
    here = Model(robot, stance, attitude="quaternion")
    there = Model(facing_x(robot), stance, attitude="quaternion")
    for seed in range(3):
        q, v, tau = random_state(here, seed)
        one, other = here.path(q, v, tau), there.path(q_facing_x(q), v_facing_x(v), tau)
        scale = np.abs(one.acceleration).max()
        np.testing.assert_allclose(other.acceleration, v_facing_x(one.acceleration), rtol=0, atol=1e-11 * scale)
        if stance == "all":
            scale = np.abs(one.foot_forces).max()
            np.testing.assert_allclose(other.foot_forces, turned(one.foot_forces), rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(other.powers, one.powers, rtol=0, atol=1e-12 * np.abs(one.powers).max())
        np.testing.assert_allclose(there.energy(q_facing_x(q), v_facing_x(v)), here.energy(q, v), rtol=1e-13)
        np.testing.assert_allclose(there.points(q_facing_x(q)), turned(here.points(q)), rtol=0, atol=1e-14)


@pytest.mark.parametrize("tail", TAILS)
def test_tails_leave_the_torso_backwards(tail: str) -> None:
    """At rest the tip of a tail is straight behind the mount."""
    for robot, behind in ((liu2020(tail), (0.0, -1.0, 0.0)), (facing_x(liu2020(tail)), (-1.0, 0.0, 0.0))):
        model = Model(robot, "none")
        points = dict(zip(model.point_names, model.points(model.standing()), strict=True))
        away = points["tail.tip"] - (np.array(robot.part("tail").mount) + robot.stand)
        np.testing.assert_allclose(away / np.linalg.norm(away), behind, atol=1e-12)


def test_presets_say_which_way_they_face() -> None:
    assert {name for name, make in presets().items() if make().forward == "y"} == {"liu2018", "liu2020"}


def test_an_insect_may_face_y() -> None:
    """Its feet are then where they were, turned."""
    robot = blaberus()
    legs = {name: replace(leg, hip=TURN.T @ leg.hip, foot=TURN.T @ leg.foot) for name, leg in robot.parts.items()}
    xx, yy, zz, *_ = robot.torso_body().inertia
    torso = Torso(mass=robot.torso_body().mass, inertia=(yy, xx, zz, 0.0, 0.0, 0.0))
    here = Model(Robot(name="y", forward="y", torso=torso, parts=legs), "none", attitude="quaternion")
    there = Model(robot, "none", attitude="quaternion")
    q, v, tau = random_state(here, 5)
    expected = v_facing_x(here.forward_dynamics(q, v, 1e-6 * tau))
    found = there.forward_dynamics(q_facing_x(q), v_facing_x(v), 1e-6 * tau)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(there.points(q_facing_x(q)), turned(here.points(q)), rtol=0, atol=1e-15)


def test_files_say_it(tmp_path: Any) -> None:
    robot = facing_x(liu2020("usrt"))
    robot.save(tmp_path / "robot.toml")
    assert 'forward = "x"' in (tmp_path / "robot.toml").read_text(encoding="utf-8")
    assert load(tmp_path / "robot.toml") == robot


# Roll, pitch and yaw


def rotation(axis: Any, angle: float) -> Floats:
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * (across @ across)


def coordinates(attitude: str, r: Floats) -> list[float]:
    """Attitude coordinates of a rotation matrix."""
    if attitude == "quaternion":
        w = np.sqrt(1.0 + np.trace(r)) / 2.0
        return [w, *((r[[2, 0, 1], [1, 2, 0]] - r[[1, 2, 0], [2, 0, 1]]) / (4.0 * w))]
    return [np.arctan2(r[2, 1], r[2, 2]), np.arcsin(-r[2, 0]), np.arctan2(r[1, 0], r[0, 0])]


@pytest.mark.parametrize("attitude", ["rpy", "quaternion"])
@pytest.mark.parametrize("make", [liu2018, biswal])
def test_roll_pitch_and_yaw_are_one_definition(make: Any, attitude: str) -> None:
    """R = Rz(yaw) R_forward(roll) R_right(pitch); a positive pitch lifts the nose; values do not depend on the axes."""
    layout = make_layout(make(), "none", (), "free", attitude, ())
    right, forward, _ = np.array(FORWARD_FRAMES[layout.robot.forward]).T
    for roll, pitch, yaw in ((0.3, -0.4, 0.7), (-1.2, 0.1, -2.0), (0.0, 0.5, 0.0)):
        r = rotation((0.0, 0.0, 1.0), yaw) @ rotation(forward, roll) @ rotation(right, pitch)
        q = [0.1, 0.2, 0.3, *coordinates(attitude, r), *[0.0] * 20]
        np.testing.assert_allclose(torso_angles(layout, q), (roll, pitch, yaw), atol=1e-13)
    assert (rotation(right, 0.1) @ forward)[2] > 0.0


@pytest.mark.parametrize(("attitude", "facing"), [("rpy", "x"), ("quaternion", "x"), ("quaternion", "y")])
def test_a_robot_that_rolls_or_pitches_over_has_done_that_alone(attitude: str, facing: str) -> None:
    """By 260°, with a little of the others: without jumps, and the same backwards."""
    robot = liu2020("pendulum") if facing == "y" else facing_x(liu2020("pendulum"))
    layout = make_layout(robot, "none", (), "free", attitude, ())
    right, forward, _ = np.array(FORWARD_FRAMES[facing]).T
    turns = np.linspace(0.0, 1.45 * np.pi, 200)
    for sign in (1.0, -1.0):
        for roll, pitch in ((1.0, 0.0), (0.0, 1.0)):
            if attitude == "rpy" and pitch:
                continue  # its coordinates are singular on the way
            q = [
                coordinates(
                    attitude,
                    rotation((0.0, 0.0, 1.0), 0.1)
                    @ rotation(forward, 0.02 * pitch + sign * roll * turn)
                    @ rotation(right, 0.02 * roll + sign * pitch * turn),
                )
                for turn in turns
            ]
            q = np.concatenate([np.zeros((200, 3)), q, np.zeros((200, 20))], axis=1)
            found = continuous_angles(layout, q)
            wanted = [[sign * roll * turn + 0.02 * pitch, sign * pitch * turn + 0.02 * roll, 0.1] for turn in turns]
            np.testing.assert_allclose(found.T, wanted, atol=1e-9)


def test_facing_y_they_are_the_coordinates() -> None:
    layout = make_layout(liu2018(), "all", (), "free", "rpy", ())
    assert torso_angles(layout, [0.0, 0.0, 0.0, 0.1, 0.2, 9.0, 0.0, 0.0]) == (0.2, 0.1, 9.0)


@pytest.mark.parametrize("attitude", ["rpy", "rpy-small-angle", "quaternion"])
@pytest.mark.parametrize("make", [liu2018, biswal])
def test_their_rates_are_what_differences_find(make: Any, attitude: str) -> None:
    """Along the rates of the coordinates; yaw beyond half a turn stays continuous for rpy coordinates."""
    model = Model(make(), "none", attitude=attitude)
    q, v, _ = random_state(Model(make(), "none", attitude="quaternion"), 3)
    v[3:6] = 0.5, -0.3, 0.8
    if attitude != "quaternion":
        q = np.concatenate([q[:3], [0.3, -0.2, 3.1], q[7:]])
    rates, step = model.coordinate_rates(q, v), 1e-5
    ahead, behind = (np.array(torso_angles(model.layout, list(q + k * step * rates))) for k in (1.0, -1.0))
    found = torso_angle_rates(model.layout, list(q), list(v))
    np.testing.assert_allclose(found, (ahead - behind) / (2.0 * step), atol=1e-8)
