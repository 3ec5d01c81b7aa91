"""MJCF files, through MuJoCo: the physics of real robots is MuJoCo's, and what cannot be held is refused by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

import tailwork
from oracles.layout import relative
from oracles.mujoco_file import MujocoFile
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import random_state
from real_robots import mjcf
from tailwork import Model
from tailwork.errors import ArgumentError, FileError, RobotError, UnknownNameError
from tailwork.robots import Imported, import_robot
from tailwork.robots.paths import robot_numbers


@cache
def imported(name: str) -> Imported:
    """A real robot; dry friction, which MuJoCo has as a constraint, left out."""
    found = import_robot(mjcf(name))
    dry = {path: 0.0 for path in robot_numbers(found.robot) if path.endswith(".friction") and ".joints." in path}
    return Imported(found.robot.replace(dry), found.notes, found.joints, found.meshes)


@pytest.mark.measured("equations")
@pytest.mark.parametrize("name", ["go1", "spot"])
def test_free_robots_beside_mujoco(measured: Callable[..., None], name: str) -> None:
    """Mass matrix (armatures included), bias and acceleration are those of MuJoCo, which reads the file by itself."""
    found = imported(name)
    model = Model(found.robot, "none")
    oracle, rng = MujocoFile(mjcf(name), found, model), np.random.default_rng(1)
    assert found.robot.mass() == pytest.approx(oracle.mass(), rel=1e-15)
    for _ in range(5):
        q, v = rng.uniform(-1.5, 1.5, len(model.coordinate_names)), rng.normal(size=len(model.velocity_names))
        tau = rng.normal(size=len(model.actuator_names))
        oracle.put(q, v, tau)
        for what, ours, theirs in (
            ("mass matrices", model.mass_matrix(q), oracle.mass_matrix()),
            ("biases", model.bias(q, v), oracle.bias()),
            ("accelerations", model.forward_dynamics(q, v, tau), oracle.accelerations()),
        ):
            measured(f"{what} of MJCF robots beside MuJoCo's own reading", relative(ours, theirs), at_most=1e-12)


@pytest.mark.measured("equations")
@pytest.mark.parametrize("name", ["go1", "spot"])
def test_pinned_robots(measured: Callable[..., None], name: str) -> None:
    """On four pinned feet, accelerations and foot forces are those of a KKT solve."""
    robot = imported(name).robot
    legs = tuple(robot.limbs())
    model, oracle, rng = Model(robot), PinocchioOracle(robot, legs), np.random.default_rng(3)
    for _ in range(5):
        q, v, tau = random_state(robot, legs, rng)
        expected, feet = oracle.accelerations(q, v, tau)
        path = model.path(q, v, tau)
        apart = oracle.layout.difference(path.acceleration, expected)
        measured("accelerations of MJCF robots on four feet", apart, at_most=1e-11)
        measured("forces on four feet of MJCF robots", relative(path.foot_forces, feet), at_most=1e-11)


BASE = '<body name="trunk"><freejoint/><geom size=".1 .05 .04" type="box"/>{}</body>'


def write(folder: Path, inside: str, rest: str = "") -> Path:
    """An MJCF of a trunk and what is on it."""
    file = folder / "robot.xml"
    file.write_text(f"<mujoco><worldbody>{BASE.format(inside)}</worldbody>{rest}</mujoco>", encoding="utf-8")
    return file


ARM = '<body name="{0}" pos="0 0 .1"><joint name="{0}" axis="0 1 0" {1}/><geom size=".02 .01" type="capsule"/></body>'


def test_several_joints_on_a_body_sliders_gears_and_limits(tmp_path: Path) -> None:
    """A body on a hinge and a slider with anchors of their own, a joint that follows it, servos with limits: mass
    matrices are MuJoCo's, gears are rows of the limb's gearing, limits are the motors'."""
    inside = (
        '<body name="a" pos=".1 0 0" quat="1 .2 .1 0"><joint name="turn" axis="0 1 0" pos="0 0 .05" range="-1 1" '
        'limited="true" damping=".3" armature=".02"/><joint name="slide" type="slide" axis="0 0 1" pos=".01 0 0"/>'
        '<geom size=".03 .1" type="capsule"/><body name="b" pos="0 0 .2"><joint name="follow" axis="0 1 0"/>'
        '<geom size=".02" pos=".1 0 0"/></body></body>'
    )
    rest = (
        '<equality><joint joint1="follow" joint2="turn" polycoef=".1 -2 0 0 0"/></equality>'
        '<actuator><motor joint="turn" gear="3" ctrlrange="-2 2" ctrllimited="true"/>'
        '<position joint="slide" kp="10" forcerange="-7 7"/></actuator>'
    )
    found = import_robot(write(tmp_path, inside, rest), feet=[])
    (limb,) = found.robot.limbs().values()
    assert limb.coordinates == ("turn", "slide") and limb.gearing == ((1.0, 0.0), (0.0, 1.0), (-2.0, 0.0))
    assert [motor.limit for motor in limb.actuators] == [6.0, 7.0]
    assert np.degrees(limb.joints[0].range) == pytest.approx([-1.0, 1.0]) and limb.joints[0].armature == 0.02
    free = found.robot.with_part("a", tailwork.robots.FreeLimb(limb=limb))
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(m)
    turn, slide = 0.4, 0.03
    data.qpos[7:] = (turn, slide, 0.1 - 2.0 * turn)
    mujoco.mj_forward(m, data)
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, full)
    basis = np.zeros((m.nv, 8))
    basis[:6, :6], basis[6, 6], basis[7, 7], basis[8, 6] = np.eye(6), 1.0, 1.0, -2.0
    model = Model(free, "none")
    assert model.actuator_units == ("N m", "N")
    ours = model.mass_matrix(np.array([0.0] * 6 + [turn, slide]))
    assert relative(ours, basis.T @ full @ basis) < 1e-12


@pytest.mark.parametrize(
    ("inside", "rest", "said"),
    [
        ('<body><joint type="ball"/><geom size=".1"/></body>', "", "three hinges"),
        (ARM.format("a", 'ref="0.3"'), "", "no `ref`"),
        (ARM.format("a", 'stiffness="1 2"'), "", "a plain stiffness"),
        (ARM.format("a", ""), '<equality><weld body1="a"/></equality>', "no closed loops"),
        (ARM.format("a", ""), '<equality><connect body1="a" anchor="0 0 0"/></equality>', "no closed loops"),
        (ARM.format("a", ""), '<equality><joint joint1="a"/></equality>', "follows another in proportion"),
    ],
)
def test_what_cannot_be_held_is_refused_by_name(tmp_path: Path, inside: str, rest: str, said: str) -> None:
    """With what to do instead."""
    with pytest.raises(RobotError, match=said):
        tailwork.load(write(tmp_path, inside, rest), feet=[])


def test_what_is_left_out_is_noted(tmp_path: Path) -> None:
    """What tendons have besides springs and motors, inactive welds, other bodies, actuators on sites."""
    rest = (
        '<worldbody><body name="box"><freejoint/><geom size=".01"/></body></worldbody>'
        '<worldbody><site name="s"/></worldbody><actuator><motor tendon="t"/><motor site="s"/></actuator>'
        '<tendon><fixed name="t" damping="2"><joint joint="a" coef="3"/></fixed></tendon>'
        '<equality><weld body1="a" active="false"/></equality>'
    )
    found = import_robot(write(tmp_path, ARM.format("a", ""), rest), feet=[])
    for said in ("damping of tendon t", "not active", "box", "works on a site"):
        assert said in " ".join(found.notes)
    (motor,) = (actuator for limb in found.robot.limbs().values() for actuator in limb.actuators)
    assert (motor.name, motor.ratio, motor.unit) == ("t", 3.0, "N")
    (tmp_path / "planar.xml").write_text(
        '<mujoco><compiler settotalmass="2"/><worldbody><body name="cart"><joint name="rail" type="slide"/>'
        '<geom size=".1"/>'
        + ARM.format("a", "") + "</body></worldbody></mujoco>", encoding="utf-8",
    )  # fmt: skip
    notes = " ".join(import_robot(tmp_path / "planar.xml", feet=[]).notes)
    assert "cart moves by rail alone in the file" in notes and "MuJoCo: compiler attribute" in notes


def test_without_mujoco_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo is optional."""
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(FileError, match=r"tailwork\[mjcf\]"):
        tailwork.load(write(tmp_path, ARM.format("a", "")))


def test_errors_of_files(tmp_path: Path) -> None:
    """No MJCF, not compiled by MuJoCo, a base that is not there, options of other formats."""
    file = tmp_path / "robot.xml"
    for text, said in (("<sdf/>", "an SDF"), ("<mujoco><worldbody pos='a'/></mujoco>", "MuJoCo"),
                       ("<mujoco/>", "one body"),
                       ('<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>', "DOCTYPE")):  # fmt: skip
        file.write_text(text, encoding="utf-8")
        with pytest.raises((FileError, RobotError), match=said):
            tailwork.load(file)
    write(tmp_path, ARM.format("a", ""))
    with pytest.raises(UnknownNameError, match="'trunk'"):
        tailwork.load(file, base="trunck")
    with pytest.raises(ArgumentError, match="keyframes"):
        tailwork.load(file, srdf="robot.srdf")
    with pytest.raises(RobotError, match=r"feet=\[…\], of a"):
        tailwork.load(file)
    file.write_text('<robot name="r"><link name="a"/></robot>', encoding="utf-8")
    with pytest.raises(RobotError, match="link a"):
        tailwork.load(file, feet=[])
