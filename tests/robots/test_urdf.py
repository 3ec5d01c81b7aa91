"""URDF files: the physics of real robots is that of Pinocchio, and what is no robot says why."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import tailwork
from oracles.layout import relative
from oracles.pinocchio_file import PinocchioFile
from oracles.states import random_state
from real_robots import urdf
from tailwork import Model
from tailwork.control import joint_table, posed, trot
from tailwork.control.posture import posture_warnings
from tailwork.errors import ArgumentError, RobotError, UnknownNameError
from tailwork.robots import FreeLimb, Imported, OffsetLeg, import_robot
from tailwork.robots.paths import robot_numbers
from tailwork.simulation import Standing

NAMED = ("a1", "anymal_b", "b1", "go1", "go2", "laikago", "solo12")


@cache
def imported(name: str) -> Imported:
    """A real robot; dry friction, which Pinocchio has not, left out."""
    found = import_robot(urdf(name))
    dry = {path: 0.0 for path in robot_numbers(found.robot) if path.endswith(".friction") and ".joints." in path}
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


def test_where_an_srdf_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder of the file and in srdf beside that folder, also where the file is named without a folder; not in a
    folder srdf below it."""
    (tmp_path / "urdf" / "srdf").mkdir(parents=True)
    (tmp_path / "srdf").mkdir()
    shutil.copy(urdf("a1"), tmp_path / "urdf" / "a1.urdf")
    for folder, calf in (("srdf", -1.7), ("urdf/srdf", -1.1)):
        posture = {"thigh": 0.9, "calf": calf}
        joints = [f'<joint name="{leg}_{joint}_joint" value="{value}"/>'
                  for leg in ("FL", "FR", "RL", "RR") for joint, value in posture.items()]  # fmt: skip
        state = f'<group_state name="standing" group="all">{"".join(joints)}</group_state>'
        (tmp_path / folder / "a1.srdf").write_text(f'<robot name="a1">{state}</robot>')
    monkeypatch.chdir(tmp_path / "urdf")
    for name in ("a1.urdf", "../urdf/a1.urdf", str(tmp_path / "urdf" / "a1.urdf")):
        assert import_robot(name).posture["FL.calf"] == -1.7


def test_legs_without_a_closed_form() -> None:
    """Solo has two hinges a leg: they swing, and say why. Talos has six: pinned, they ride in the configuration, and it
    stands in the posture of the file: knees bent, not at zero, pinned, free and as a simulation starts."""
    solo = imported("solo")
    assert all(isinstance(part, FreeLimb) for part in solo.robot.parts.values())
    assert any("FL cannot be pinned" in note for note in solo.notes)
    with pytest.raises(ArgumentError, match="at least three hinges"):
        Model(solo.robot, "all")
    found = import_robot(urdf("talos"))
    assert any("leg_left has no closed form" in note for note in found.notes)
    model = Model(found.robot, ("leg_left", "leg_right"))
    legs = {name: value for name, value in found.posture.items() if name.startswith("leg_")}
    assert legs["leg_left.4"] > 0.8
    free = Model(found.robot, "none")
    for here, q in (
        (model, model.standing()),
        (model, Standing().configuration(model.layout, {})),
        (free, posed(free)),
        (free, Standing().configuration(free.layout, {})),
    ):
        there = dict(zip(here.coordinate_names, q, strict=True))
        assert {name: there[name] for name in legs} == pytest.approx(legs, abs=1e-12)
    assert isinstance(import_robot(urdf("b1_arm")).robot.parts["link01"], FreeLimb)


def test_a_humanoid_whose_file_has_no_posture_stands_straight_on_its_soles() -> None:
    """G1: hips, knees and ankles at zero (the middle of a hip's range is a split of 70°), and all four balls of each
    sole touch level ground."""
    found = import_robot(urdf("g1"))
    assert any("stand straight" in note for note in found.notes)
    assert all(value == 0.0 for name, value in found.posture.items() if name.startswith(("left", "right")))
    model = pin.buildModelFromUrdf(str(urdf("g1")), pin.JointModelFreeFlyer())
    data, q = model.createData(), pin.neutral(model)
    q[2] = found.robot.stand[2]
    pin.framesForwardKinematics(model, data, q)
    for name in ("left", "right"):
        limb, ankle = found.robot.limbs()[name], data.oMf[model.getFrameId(f"{name}_ankle_roll_link")]
        assert limb.foot is not None and len(limb.contacts) == 3
        for ball in (limb.foot, *limb.contacts):
            assert ankle.act(np.array(ball.point))[2] == pytest.approx(ball.radius, abs=1e-6) and ball.radius == 0.005


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


def two_hinges(axis: str, knee: str = "") -> str:
    """A quadruped whose legs are a thigh of 0.16 m and a shank of 0.18 m on parallel hinges."""
    body = "<inertial><origin xyz='{}'/><mass value='{}'/><inertia ixx='{}' iyy='{}' izz='{}' "
    body += "ixy='0' ixz='0' iyz='0'/></inertial>"
    links = [f"<link name='base'>{body.format('0 0 0', 2, 0.02, 0.02, 0.02)}</link>"]
    for name, (x, y) in {"FL": (0.2, 0.1), "FR": (0.2, -0.1), "BL": (-0.2, 0.1), "BR": (-0.2, -0.1)}.items():
        for link, length in (("thigh", 0.16), ("shank", 0.18)):
            bar = body.format(f"0 0 {-length / 2}", 0.1, 3e-4, 3e-4, 1e-5)
            links.append(f"<link name='{name}_{link}'>{bar}</link>")
        links.append(f"<link name='{name}_foot'/>")
        turns = f"<axis xyz='{axis}'/><limit lower='LOW' upper='HIGH' effort='9' velocity='9'/></joint>"
        links += [
            f"<joint name='{name}_hip' type='revolute'><parent link='base'/><child link='{name}_thigh'/>"
            f"<origin xyz='{x} {y} 0'/>{turns.replace('LOW', '-3').replace('HIGH', '3')}",
            f"<joint name='{name}_knee' type='revolute'><parent link='{name}_thigh'/><child link='{name}_shank'/>"
            f"<origin xyz='0 0 -0.16'/>{turns.replace('LOW', knee or '-3').replace('HIGH', '3')}",
            f"<joint name='{name}_end' type='fixed'><parent link='{name}_shank'/><child link='{name}_foot'/>"
            "<origin xyz='0 0 -0.18'/></joint>",
        ]
    return f"<robot name='two'>{''.join(links)}</robot>"


@pytest.mark.parametrize("forward", ["x", "-x", "y"])
def test_legs_of_two_hinges_are_bent_where_nobody_says_how_they_stand(tmp_path: Path, forward: str) -> None:
    """Each foot below its hip, three quarters of thigh and shank away, knees backward; so a trot by default fits."""
    file = tmp_path / "two.urdf"
    file.write_text(two_hinges("1 0 0" if forward == "y" else "0 1 0"))
    found = import_robot(file, forward=forward)
    model = Model(found.robot, "none")
    q = posed(model)
    places = dict(zip(model.point_names, model.points(q), strict=True))
    for leg in ("FL", "FR", "BL", "BR"):
        hip, knee, foot = (places[f"{leg}.{name}"] for name in ("hip", "knee", "foot"))
        np.testing.assert_allclose(foot, [*hip[:2], 0.0], atol=1e-12)
        assert hip[2] == pytest.approx(0.75 * 0.34, abs=1e-12)
        assert (knee - hip)["xy".index(found.robot.forward)] < -0.05
    assert any("0.75 of thigh and shank away, and that knees point backward (option posture)" in x for x in found.notes)
    joint_table(model, trot(found.robot))


def test_knees_that_bend_one_way_alone_and_robots_that_face_elsewhere(tmp_path: Path) -> None:
    """The range of a knee decides; legs that cannot step forward are told of."""
    file = tmp_path / "two.urdf"
    file.write_text(two_hinges("0 1 0", knee="0"))  # only positive angles: about y they turn the shank forward
    found = import_robot(file)
    assert found.posture["FL.knee"] > 0.5 and found.posture["FL.hip"] < -0.1
    file.write_text(two_hinges("1 0 0"))
    assert import_robot(file).notes[-1] == (
        "no hinge of the legs moves a foot along x, which is taken to point forward (option forward)"
    )


def test_knees_that_may_bend_both_ways_point_backward(tmp_path: Path) -> None:
    """Where neither a posture nor the range of a knee tells; a note says so. Each foot is below its hip, as assumed."""
    shutil.copy(urdf("solo12"), tmp_path / "solo12.urdf")  # without the SRDF beside it
    found = import_robot(tmp_path / "solo12.urdf")
    said = "knees point backward where their ranges are the same both ways (FL_KFE, FR_KFE, HL_KFE, HR_KFE; option"
    assert said in found.notes[-1]
    model = Model(found.robot, "none")
    points = model.points(posed(model))
    for leg in model.foot_names:
        hip, knee, foot = (points[model.point_names.index(f"{leg}.{name}")] for name in ("HFE", "KFE", "foot"))
        assert knee[0] < hip[0] - 0.05 and foot[0] == pytest.approx(hip[0], abs=1e-12)
    assert not posture_warnings(found.robot)


def test_a_posture_that_is_missing_or_in_degrees(tmp_path: Path) -> None:
    """What to write is in the message, for Python and for a command, and why the file does not tell."""
    shutil.copy(urdf("solo12"), tmp_path / "solo12.urdf")  # without the SRDF beside it
    with pytest.raises(RobotError) as caught:
        tailwork.load(tmp_path / "solo12.urdf", posture={"FR_KFE": -1.4})
    said = str(caught.value)
    assert "the range of FL_KFE is the same both ways" in said and "--posture FL_HFE=0.7,FL_KFE=-1.4,… of a" in said
    posture = {f"{leg}_{joint}": 80.0 for leg in ("FL", "FR", "HL", "HR") for joint in ("HFE", "KFE")}
    with pytest.raises(RobotError, match=r"Hinges are in rad: are values such as 80 in degrees\?"):
        tailwork.load(tmp_path / "solo12.urdf", posture=posture)
