"""URDF files: the physics of real robots is that of Pinocchio, and what is no robot says why."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import tailwork
from oracles.layout import relative
from oracles.pinocchio_file import PinocchioFile
from oracles.states import random_state
from real_robots import urdf
from tailwork import Model
from tailwork.errors import ArgumentError, RobotError, UnknownNameError
from tailwork.robots import FreeLimb, Imported, OffsetLeg, import_robot
from tailwork.robots.paths import numbers

NAMED = ("a1", "anymal_b", "b1", "go1", "go2", "laikago", "solo12")


@cache
def imported(name: str) -> Imported:
    """A real robot; dry friction, which Pinocchio has not, left out."""
    found = import_robot(urdf(name))
    dry = {path: 0.0 for path in numbers(found.robot) if path.endswith(".friction") and ".joints." in path}
    return dataclasses.replace(found, robot=found.robot.replace(dry))


@pytest.mark.measured("equations")
@pytest.mark.parametrize("name", [*NAMED, "anymal_c", "b1_arm"])
def test_free_robots_beside_pinocchio(measured: Callable[..., None], name: str) -> None:
    """Mass matrix, bias and acceleration are those of Pinocchio, which reads the file by itself; so is the mass."""
    found = imported(name)
    model = Model(found.robot, "none")
    oracle, rng = PinocchioFile(urdf(name), found, model), np.random.default_rng(1)
    assert found.robot.mass() == pytest.approx(oracle.mass(), rel=1e-15)
    for _ in range(5):
        q, v = rng.uniform(-1.5, 1.5, len(model.coordinate_names)), rng.normal(size=len(model.velocity_names))
        tau = rng.normal(size=len(model.actuator_names))
        oracle.put(q, v)
        expected, _ = oracle.accelerations(tau)
        for what, ours, theirs in (
            ("mass matrices", model.mass_matrix(q), oracle.mass_matrix()),
            ("biases", model.bias(q, v), oracle.bias()),
            ("accelerations", model.forward_dynamics(q, v, tau), expected),
        ):
            who, most = (
                ("real robots", 1e-12) if name != "anymal_c" else ("ANYmal C, axes put straight by 5e-12", 1e-11)
            )
            measured(f"{what} of {who}, beside Pinocchio's own reading", relative(ours, theirs), at_most=most)


@pytest.mark.measured("equations")
@pytest.mark.parametrize("name", NAMED)
def test_pinned_robots_beside_pinocchio(measured: Callable[..., None], name: str) -> None:
    """On four pinned feet, accelerations and foot forces are those of a KKT solve with Pinocchio's own reading."""
    found = imported(name)
    legs = tuple(found.robot.limbs())
    pinned, free = Model(found.robot), Model(found.robot, "none")
    oracle, rng = PinocchioFile(urdf(name), found, free), np.random.default_rng(2)
    for _ in range(5):
        q, v, tau = random_state(found.robot, legs, rng)
        angles, rates = pinned.joint_angles(q), pinned.joint_rates(q, v)
        joints = free.coordinate_names[6:]
        oracle.put(np.array([*q, *map(angles.get, joints)]), np.array([*v, *map(rates.get, joints)]))
        expected, feet = oracle.accelerations(tau, legs)
        path = pinned.path(q, v, tau)
        measured("accelerations of real robots on four feet", relative(path.acceleration, expected[:6]), at_most=1e-11)
        measured("forces on four feet of real robots", relative(path.foot_forces.ravel(), feet), at_most=1e-11)


def test_the_same_names_as_in_the_file_and_what_it_says_of_joints() -> None:
    """Go2: limbs and joints by short names; ranges, limits, speeds and the mass of the rotors are there."""
    found = import_robot(urdf("go2"))
    robot = found.robot
    assert list(robot.parts) == ["FL", "FR", "RL", "RR"] and robot.forward == "x"
    assert found.joints["RR_calf_joint"] == "RR.calf"
    leg = robot.limbs()["FL"]
    assert [joint.name for joint in leg.joints] == ["hip", "thigh", "calf"]
    assert leg.joints[0].range == (-1.0472, 1.0472) and leg.joints[0].speed_limit == 30.1
    assert [motor.limit for motor in leg.actuators] == [23.7, 23.7, 45.43]
    assert robot.masses()["torso"] == pytest.approx(6.921 + 4 * 0.089, abs=0.01)
    assert any("FL_hip_rotor" in note for note in found.notes)
    assert found.meshes["torso"][0].file.endswith("base.dae")


def test_standing_is_the_posture_of_the_file() -> None:
    """The standing model has the joint angles of the SRDF to the millimetre to which its feet are level; feet touch."""
    found = import_robot(urdf("a1"))
    model = Model(found.robot)
    angles = model.joint_angles(model.standing())
    assert angles["FL.thigh"] == pytest.approx(0.9, abs=0.1) and angles["FL.calf"] < -1.0
    for foot in found.robot.feet().values():
        assert foot.place[2] == foot.radius == 0.02


def test_legs_without_a_closed_form() -> None:
    """Solo has two hinges a leg: they swing, and say why. Talos has six: pinned, they ride in the configuration, which
    the posture of the file starts."""
    solo = imported("solo")
    assert all(isinstance(part, FreeLimb) for part in solo.robot.parts.values())
    assert any("FL cannot be pinned" in note for note in solo.notes)
    with pytest.raises(RobotError, match="at least three hinges"):
        Model(solo.robot, "all")
    found = import_robot(urdf("talos"))
    assert any("leg_left has no closed form" in note for note in found.notes)
    model = Model(found.robot, ("leg_left", "leg_right"))
    q = model.standing()
    q[6:] = [found.posture.get(name, 0.0) for name in model.coordinate_names[6:]]
    q = model.closed(q)
    knee = model.coordinate_names.index("leg_left.4")
    assert q[knee] == pytest.approx(found.posture["leg_left.4"], abs=0.01) and q[knee] > 0.1
    assert isinstance(import_robot(urdf("b1_arm")).robot.parts["link01"], FreeLimb)


def test_options_say_what_the_file_cannot() -> None:
    """Feet, posture, radius and the forward axis; what is unknown is answered with what there is."""
    file = urdf("laikago")
    robot = tailwork.load(file, feet=["FL_foot", "FR_foot"], foot_radius=0.03)
    assert list(robot.feet()) == ["FR", "FL"]
    assert {foot.radius for foot in robot.feet().values()} == {0.03}
    with pytest.raises(UnknownNameError, match="did you mean 'FL_foot'"):
        tailwork.load(file, feet=["FL_fot"])
    with pytest.raises(UnknownNameError, match="joint of the file"):
        tailwork.load(file, posture={"FL_hip": 0.0})
    with pytest.raises(UnknownNameError, match="'standing'"):
        tailwork.load(urdf("go2"), posture="standin")
    straight = {joint: 0.0 for joint in import_robot(urdf("solo12")).joints}
    with pytest.raises(RobotError, match="bent knee"):
        tailwork.load(urdf("solo12"), posture=straight)
    with pytest.raises(RobotError, match="above its hip"):
        upwards = {joint: 3.0 if "thigh" in joint else 0.0 for joint in import_robot(file).joints}
        tailwork.load(file, posture=upwards)
    with pytest.raises(ArgumentError, match="root link"):
        tailwork.load(file, base="trunk")
    for axis, x in (("x", 1.0), ("-x", -1.0)):
        turned = tailwork.load(file, forward=axis)
        hips = [limb.joints[0].offset[0] for limb in turned.limbs().values()]
        assert turned.forward == "x" and np.sign(hips[0]) == x
    assert tailwork.load(file, forward="y").forward == "y"
    with pytest.raises(RobotError, match="'-x'"):
        tailwork.load(file, forward="z")


def test_robots_from_files_save_as_toml(tmp_path: object) -> None:
    """An equal robot comes back."""
    for name in ("go1", "b1_arm", "solo"):
        robot = tailwork.load(urdf(name))
        robot.save(f"{tmp_path}/robot.toml")
        assert tailwork.load(f"{tmp_path}/robot.toml") == robot


def test_a_robot_is_read_in_less_than_a_third_of_a_second() -> None:
    """The largest of the quadrupeds, mean of three."""
    start = time.perf_counter()
    for _ in range(3):
        assert isinstance(tailwork.load(urdf("anymal_c")).part("LF"), OffsetLeg)
    assert (time.perf_counter() - start) / 3 < 0.3
