"""Exported robots are the same robots in MuJoCo and Pinocchio, and files say what they cannot hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import yaml
from scipy.spatial.transform import Rotation
from test_forward import facing_x

from oracles.layout import Layout, relative
from oracles.mujoco_oracle import MujocoOracle
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import ROBOTS, random_state, random_tree
from real_robots import urdf
from tailwork.algebra.expression import Tape
from tailwork.cli.main import main
from tailwork.errors import FileError, RobotError, TailworkError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import (
    Air,
    Body,
    Cable,
    ContactPoint,
    Foot,
    FreeLimb,
    Hole,
    Joint,
    JointSpring,
    Limb,
    Motor,
    PointSpring,
    Robot,
    Shape,
    Torso,
    import_robot,
    liu2020,
    load,
    r3,
)
from tailwork.robots.io.closure import read_closure
from tailwork.robots.io.mjcf_writer import mjcf_text
from tailwork.robots.io.urdf_writer import roll_pitch_yaw, urdf_texts

ALL = ("leg1", "leg2", "leg3", "leg4")
FACING_X = {f"{tail}, x forward": facing_x(liu2020(tail)) for tail in ("pendulum", "r3", "usrt")}
EXPORTED = {**ROBOTS, **FACING_X}
NOT_EXACT = {"usrt", "usrt, x forward"}
"""Robots with springs on the bend of a universal joint, which MuJoCo lacks."""


def opened(text: str, robot: Robot, stance: tuple[str, ...] = ()) -> MujocoOracle:
    """The model of a file in MuJoCo, its contacts left out."""
    oracle = MujocoOracle(robot, stance, text=text)
    oracle.model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    return oracle


def mujoco_error(name: str, stance: tuple[str, ...], refinements: int) -> float:
    """Largest relative difference of accelerations of an exported robot, on three random states."""
    robot = EXPORTED[name]
    oracle, model = opened(mjcf_text(robot, stance)[0], robot, stance), Model(robot, stance)
    errors = []
    for seed in range(3):
        q, v, tau = random_state(robot, stance, np.random.default_rng(seed))
        found, _ = oracle.accelerations(q, v, tau, refinements=refinements)
        errors.append(oracle.layout.difference(found, model.forward_dynamics(q, v, tau)))
    return max(errors)


@pytest.mark.parametrize("name", [name for name in EXPORTED if name not in NOT_EXACT])
def test_mjcf_moves_as_the_robot_does(name: str) -> None:
    """In the air accelerations are the same to 1e-11; gears, which MuJoCo solves softly, once they are solved."""
    geared = any(limb.gearing is not None for limb in EXPORTED[name].limbs().values())
    assert mujoco_error(name, (), refinements=12) < 1e-11
    assert mujoco_error(name, (), refinements=0) < (1e-2 if geared else 1e-11)


@pytest.mark.parametrize("name", [name for name in EXPORTED if name != "blaberus" and name not in NOT_EXACT])
def test_mjcf_stands_as_the_robot_does(name: str) -> None:
    """On pinned feet: to 1e-10 once MuJoCo's constraints are solved; as the file is, to 2e-4, and 1e-2 with gears."""
    geared = any(limb.gearing is not None for limb in EXPORTED[name].limbs().values())
    assert mujoco_error(name, ALL, refinements=12) < 1e-10
    assert mujoco_error(name, ALL, refinements=0) < (1e-2 if geared else 2e-4)


@pytest.mark.parametrize("name", sorted(NOT_EXACT))
def test_bending_springs_are_nearly_right_in_mjcf(name: str) -> None:
    """Tendons that stand for springs on bends of up to 0.7 rad leave accelerations within 5 %, and the file says so."""
    assert 1e-4 < mujoco_error(name, (), refinements=0) < 0.05
    text, notes = mjcf_text(EXPORTED[name])
    assert any("universal joint" in note for note in notes) and "universal joint" in text.split("-->")[0]


@pytest.mark.parametrize("geared", [False, True])
def test_mjcf_of_random_trees(geared: bool) -> None:
    """Branches, rotors, springs, dampers, turned frames and full matrices of gears arrive in MuJoCo."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        robot = random_tree(rng, 4, geared)
        text, _ = mjcf_text(robot)
        oracle, model = opened(text, robot), Model(robot, "none")
        q, v, tau = random_state(robot, (), rng)
        found, _ = oracle.accelerations(q, v, tau, refinements=12)
        assert oracle.layout.difference(found, model.forward_dynamics(q, v, tau)) < 1e-11


def test_controls_of_mjcf_are_the_efforts_of_a_model() -> None:
    """Actuators have the names of a model's, in its order; cables only pull; limits are ranges of the controls."""
    robot = liu2020("usrt").replace({"legs.torque_limit": 30.0, "tail.tension_limit": 200.0})
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot)[0])
    assert tuple(model.actuator(k).name for k in range(model.nu)) == Model(robot).actuator_names
    np.testing.assert_array_equal(model.actuator_ctrlrange[:12], [[-30.0, 30.0]] * 12)
    np.testing.assert_array_equal(model.actuator_ctrlrange[12:], [[0.0, 200.0]] * 6)


def test_an_exported_robot_stands_in_mujoco() -> None:
    """From its key frame, with the torques of rest, the torso stays for 0.1 s: feet pinned, or on MuJoCo's floor."""
    robot = liu2020("pendulum")
    torques = Model(robot).static_torques(Model(robot).standing())
    for stance in ((), ALL):
        model = mujoco.MjModel.from_xml_string(mjcf_text(robot, stance)[0])
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        start = data.qpos[:7].copy()
        data.ctrl[:] = torques
        mujoco.mj_step(model, data, 100)
        assert data.time == pytest.approx(0.1) and np.abs(data.qpos[:7] - start).max() < 5e-4


def real_leg() -> Robot:
    """A robot with what real robots have: ranges, limits, friction, a slider, balls as feet, contact points, shapes."""
    turn = tuple(map(tuple, Rotation.from_euler("xyz", (0.3, -0.2, 0.5)).as_matrix().tolist()))
    shapes = (
        Shape(kind="box", size=(0.3, 0.2, 0.1), color=(0.8, 0.2, 0.1)),
        Shape(kind="mesh", vertices=((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)),
              faces=((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)), place=(0.0, 0.0, 0.1), rotation=turn),
    )  # fmt: skip
    body = Body(mass=0.7, com=(0.01, 0.02, -0.1), inertia=(0.004, 0.003, 0.002, 1e-4, -2e-4, 3e-4),
                shapes=(Shape(kind="capsule", size=(0.02, 0.2), place=(0.0, 0.0, -0.1), rotation=turn),))  # fmt: skip
    limb = Limb(
        joints=(
            Joint(name="hip", axis=(1.0, 0.0, 0.0), offset=(0.2, 0.1, 0.0), rotation=turn, body=body, armature=0.01,
                  range=(-0.8, 0.9), speed_limit=20.0),
            Joint(name="knee", axis=(0.0, 1.0, 0.0), parent="hip", offset=(0.0, 0.0, -0.2), body=body),
            Joint(name="shaft", axis=(0.0, 0.0, 1.0), parent="knee", offset=(0.0, 0.0, -0.1), body=body,
                  motion="slider", range=(-0.02, 0.03), friction=0.4),
        ),
        actuators=(Motor(name="hip", coordinate="hip", ratio=2.0, limit=15.0),),
        springs=(JointSpring(joint="shaft", stiffness=500.0, rest=0.01, damping=2.0, preload=4.0),
                 JointSpring(joint="knee", preload=-0.6),
                 JointSpring(joint="shaft", stiffness=300.0, rest=-0.01, damping=1.0)),
        foot=Foot(joint="shaft", point=(0.0, 0.0, -0.2), place=(0.2, 0.1, 0.02), radius=0.02),
        contacts=(ContactPoint(name="heel", joint="knee", point=(0.0, 0.0, -0.1), radius=0.01, friction=0.5),),
    )  # fmt: skip
    return Robot(
        name="real <leg> & co", stand=(0.0, 0.0, 0.5), parts={"leg": FreeLimb(limb=limb)},
        torso=Torso(mass=3.0, inertia=(0.02, 0.03, 0.04, 0.0, 0.0, 0.001), shapes=shapes),
        contacts=(ContactPoint(name="belly", point=(0.0, 0.0, -0.05), restitution=0.5),),
    )  # fmt: skip


def test_what_real_robots_have_arrives_in_mujoco() -> None:
    """Ranges, rotors, friction, sliders, springs that add up, balls of feet and contact points, shapes."""
    robot = real_leg()
    text, notes = mjcf_text(robot)
    model = mujoco.MjModel.from_xml_string(text)
    np.testing.assert_array_equal(model.jnt_range[1:], [(-0.8, 0.9), (0.0, 0.0), (-0.02, 0.03)])
    np.testing.assert_array_equal(model.jnt_type[1:], [mujoco.mjtJoint.mjJNT_HINGE] * 2 + [mujoco.mjtJoint.mjJNT_SLIDE])
    np.testing.assert_array_equal(model.dof_armature[6:], [0.01, 0.0, 0.0])
    np.testing.assert_array_equal(model.dof_frictionloss[6:], [0.0, 0.0, 0.4])
    assert model.jnt_stiffness[3] == 800.0 and model.dof_damping[8] == 3.0
    assert model.qpos_spring[-1] == pytest.approx((500.0 * 0.01 - 300.0 * 0.01 + 4.0) / 800.0)
    assert model.jnt_stiffness[2] * model.qpos_spring[-2] == pytest.approx(-0.6)
    assert model.geom("leg").size[0] == 0.02 and model.geom("leg.heel").friction[0] == 0.5
    assert model.geom("torso.belly").size[0] == 1e-5 and model.geom("floor").pos[2] == 0.0
    assert model.body_mass.sum() == pytest.approx(5.1, rel=1e-15)
    kinds = [mujoco.mjtGeom(k).name.removeprefix("mjGEOM_").lower() for k in model.geom_type]
    assert sorted(kinds) == ["box", "capsule", "capsule", "capsule", "mesh", "plane", "sphere", "sphere", "sphere"]
    assert model.mesh_facenum[0] == 4
    said = " ".join(notes)
    assert (
        "leg.hip 20" in said and "closed form at zero: leg" in said and "frictionloss" in said and "restitution" in said
    )
    for body, limb_joint in zip(range(2, 5), robot.limbs()["leg"].joints, strict=True):
        turn = Rotation.from_quat(model.body_iquat[body], scalar_first=True).as_matrix()
        xx, yy, zz, xy, xz, yz = limb_joint.body.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        np.testing.assert_allclose(turn @ np.diag(model.body_inertia[body]) @ turn.T, tensor, atol=1e-17)


@pytest.mark.parametrize("name", EXPORTED)
def test_urdf_is_the_same_tree_in_pinocchio(name: str) -> None:
    """Mass matrix and bias of the URDF, read by Pinocchio, are those of the robot's tree, to rounding."""
    robot = EXPORTED[name]
    read = pin.buildModelFromXML(urdf_texts(robot)[0][".urdf"], pin.JointModelFreeFlyer())
    assert pin.computeTotalMass(read) == pytest.approx(robot.mass(), rel=1e-15)
    tree = PinocchioOracle(robot).tree
    rng = np.random.default_rng(0)
    angles, v = rng.uniform(-1.0, 1.0, tree.model.nv - 6), rng.normal(size=tree.model.nv)
    quaternion = Rotation.random(rng=rng).as_quat()
    expected = pin.neutral(tree.model)
    found = pin.neutral(read)
    expected[:7] = found[:7] = [0.1, 0.2, 0.3, *quaternion]
    order = np.arange(read.nv)
    for (limb, joint), number in tree.ids.items():
        here, there = tree.model.joints[number], read.joints[read.getJointId(f"{limb}.{joint}")]
        expected[here.idx_q] = angles[here.idx_v - 6]
        found[there.idx_q : there.idx_q + there.nq] = (
            [np.cos(expected[here.idx_q]), np.sin(expected[here.idx_q])] if there.nq == 2 else expected[here.idx_q]
        )
        order[there.idx_v] = here.idx_v
    for model in (tree.model, read):
        model.gravity.linear = np.array([0.0, 0.0, -robot.gravity])
    read.armature = tree.model.armature[order]  # which URDF lacks
    mass = pin.crba(tree.model, tree.model.createData(), expected)[np.ix_(order, order)]
    assert relative(pin.crba(read, read.createData(), found), mass) < 1e-14
    bias = pin.nonLinearEffects(tree.model, tree.model.createData(), expected, v)[order]
    assert relative(pin.nonLinearEffects(read, read.createData(), found, v[order]), bias) < 1e-14


def mjcf_reread_error(robot: Robot, folder: Path) -> float:
    """Writes a robot as MJCF and reads it back: the largest relative difference of accelerations in the air."""
    robot.export(folder / "robot.xml")
    again = load(folder / "robot.xml", forward=robot.forward)
    here, there = Model(robot, "none"), Model(again, "none")
    assert there.actuator_names == here.actuator_names
    same = (
        here.coordinate_names if set(here.coordinate_names) == set(there.coordinate_names) else there.coordinate_names
    )
    order = [same.index(name) for name in there.coordinate_names]  # a tail's joints may be listed otherwise
    layout, errors = Layout(robot), []
    for seed in range(3):
        q, v, tau = random_state(robot, (), np.random.default_rng(seed))
        expected, found = here.forward_dynamics(q, v, tau), np.empty(len(v))
        found[order] = there.forward_dynamics(q[order], v[order], tau)
        errors.append(layout.difference(found, expected))
    return max(errors)


@pytest.mark.parametrize("name", [name for name in EXPORTED if name not in NOT_EXACT])
def test_mjcf_gives_the_robot_back(name: str, tmp_path: Path) -> None:
    """Written and read again, gears and motors on several joints included, accelerations are the same to 1e-11: what
    MuJoCo's least moments of inertia leave."""
    assert mjcf_reread_error(EXPORTED[name], tmp_path) < 1e-11


def test_cables_and_springs_come_back_from_mjcf(tmp_path: Path) -> None:
    """The USRT without the springs that MuJoCo lacks: six cables and six springs between points act as before."""
    robot = liu2020("usrt").replace({"tail.bending_stiffness": 0.0, "tail.bending_damping": 0.0})
    assert mjcf_reread_error(robot, tmp_path) < 1e-11
    notes = import_robot(tmp_path / "robot.xml", forward="y").notes
    assert not any("tendon" in note for note in notes)
    liu2020("usrt").export(tmp_path / "robot.xml")
    notes = import_robot(tmp_path / "robot.xml", forward="y").notes
    assert sum("the spring of tendon" in note for note in notes) == 6


@pytest.mark.parametrize("name", ["go2", "go1"])
def test_real_robots_with_a_tail_of_ours_come_back(name: str, tmp_path: Path) -> None:
    """From their makers' URDF, with an R3 on it, out as URDF and MJCF and in again: 1e-12, on feet too."""
    robot = load(urdf(name)).with_tail(r3())
    legs = tuple(leg for leg, limb in robot.limbs().items() if limb.closed_form is not None)
    assert len(legs) == 4
    assert reread_error(robot, tmp_path) < 1e-12 and reread_error(robot, tmp_path, legs) < 1e-12
    assert mjcf_reread_error(robot, tmp_path) < 1e-12


def test_legs_without_a_closed_form_come_back_as_they_stand(tmp_path: Path) -> None:
    """Talos, whose legs have six hinges: its bent knees are in TOML, MJCF (a key frame) and the YAML beside URDF."""
    robot, legs = load(urdf("talos")), ("leg_left", "leg_right")
    robot.save(tmp_path / "robot.toml")
    robot.export(tmp_path / "robot.xml")
    robot.export(tmp_path / "robot.urdf")
    wanted = [robot.limbs()[leg].foot_angles for leg in legs]
    assert wanted[0]["4"] == 0.859395
    for file in ("robot.toml", "robot.xml", "robot.urdf"):
        assert [load(tmp_path / file).limbs()[leg].foot_angles for leg in legs] == wanted, file


def reread_error(robot: Robot, folder: Path, stance: tuple[str, ...] = ()) -> float:
    """Writes a robot as URDF and reads it back: the largest relative difference of accelerations."""
    robot.export(folder / "robot.urdf", stance)
    again = load(folder / "robot.urdf")
    here, there = Model(robot, stance or "none"), Model(again, stance or "none")
    assert (there.coordinate_names, there.actuator_names) == (here.coordinate_names, here.actuator_names)
    assert again.mass() == robot.mass() and again.stand == robot.stand and again.gravity == robot.gravity
    layout, errors = Layout(robot, stance), []
    for seed in range(3):
        q, v, tau = random_state(robot, stance, np.random.default_rng(seed))
        errors.append(layout.difference(there.forward_dynamics(q, v, tau), here.forward_dynamics(q, v, tau)))
    return max(errors)


@pytest.mark.parametrize("name", EXPORTED)
def test_urdf_and_yaml_give_the_robot_back(name: str, tmp_path: Path) -> None:
    """Written and read again, a robot has the same accelerations, in the air and on its feet, to 1e-12."""
    assert reread_error(EXPORTED[name], tmp_path) < 1e-12
    if name != "blaberus":
        assert reread_error(EXPORTED[name], tmp_path, ALL) < 1e-12


@pytest.mark.parametrize("geared", [False, True])
def test_urdf_and_yaml_give_random_trees_back(geared: bool, tmp_path: Path) -> None:
    """Branches, sliders, rotors, springs, turned frames and full matrices of gears."""
    for seed in range(2):
        assert reread_error(random_tree(np.random.default_rng(seed), 4, geared, sliders=True), tmp_path) < 1e-12


def test_drag_of_the_air_is_read_back(tmp_path: Path) -> None:
    """A cheetah's tail in wind: its drag stands in the YAML."""
    robot = replace(liu2020(None).with_tail("cheetah"), air=Air(wind=(2.0, -1.0, 0.0)))
    assert robot.has_drag() and reread_error(robot, tmp_path) < 1e-12


def test_what_real_robots_have_is_read_back(tmp_path: Path) -> None:
    """Ranges, speed limits, friction, rotors, springs, feet, contact points and simple shapes are as they were."""
    robot = real_leg()
    robot.export(tmp_path / "leg.urdf")
    again = load(tmp_path / "leg.urdf")
    before, after = robot.limbs()["leg"], again.limbs()["leg"]
    for key in ("coordinates", "gearing", "actuators", "springs", "foot", "tip", "contacts"):
        assert getattr(after, key) == getattr(before, key)
    for one, other in zip(before.joints, after.joints, strict=True):
        for key in ("name", "axis", "parent", "offset", "range", "speed_limit", "friction", "armature", "motion"):
            assert getattr(other, key) == getattr(one, key)
        np.testing.assert_allclose(other.rotation, one.rotation, rtol=0, atol=3e-16)
        assert replace(other.body, shapes=()) == replace(one.body, shapes=())
    assert again.contacts == robot.contacts and again.torso_body().shapes == robot.torso_body().shapes[:1]
    notes = import_robot(tmp_path / "leg.urdf").notes
    assert any("leg.yaml" in note for note in notes)


def test_a_yaml_of_another_shape_is_refused(tmp_path: Path) -> None:
    """Errors have the line; a YAML of somebody else's, or one beside a URDF that is read by options, is left alone."""
    liu2020("r3").export(tmp_path / "robot.urdf")
    file = tmp_path / "robot.yaml"
    text = file.read_text(encoding="utf-8")
    for old, new, message in (
        ('  "tail":', "  tail: &anchor", r"line \d+: Expecting.*; required: JSON, as tailwork writes it"),
        ('"gravity": 9.8', '"gravity": 9.8 !!python/object', r"line \d+: Expecting"),
        ('"gravity": 9.8', '"weight": 9.8', "the key 'weight'; required: one of the keys format, gravity"),
        ('"forward":', '"gravity": 1.0,\n"forward":', "gravity, .* each key once"),
        ('"limbs": {', '"limbs": [], "other": {', "required: keys and values, as tailwork writes them"),
        ('"joints":', '"mass": 1.0, "joints":', "the key 'mass'; required: one of the keys joints"),
        ('"bend_12"]', '"bend_13"]', "bend_12.*required: the joints of the URDF, each in one limb"),
        ('"coordinate": "beta_2"', '"coordinate": "beta_3"', "tail.actuators.*beta_3"),
        ('"gearing": [[1.0', '"gearing": [[[1.0]', r"gearing|JSON"),
    ):
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(TailworkError, match=message):
            load(tmp_path / "robot.urdf")
    file.write_text("any: [thing, &else]\n", encoding="utf-8")
    assert "tail" in load(tmp_path / "robot.urdf", feet=["leg1.foot"], posture={"leg1.k": -1.0}).limbs()


def test_roll_pitch_and_yaw_keep_every_digit() -> None:
    """Angles give the rotation back to rounding, also where roll and yaw turn about one axis."""
    rng = np.random.default_rng(1)
    near = [Rotation.from_euler("ZYX", (0.3, sign * (np.pi / 2 + d), 1.1)) for sign in (1, -1)
            for d in (0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-5)]  # fmt: skip
    for rotation in [*near, *(Rotation.random(rng=rng) for _ in range(200))]:
        turn = rotation.as_matrix()
        roll, pitch, yaw = roll_pitch_yaw(turn)
        again = Rotation.from_euler("z", yaw) * Rotation.from_euler("y", pitch) * Rotation.from_euler("x", roll)
        np.testing.assert_allclose(again.as_matrix(), turn, rtol=0, atol=1e-15)


def test_urdf_says_what_it_can() -> None:
    """Kinds of joints, ranges, limits, damping, friction and mimic; spheres of feet; meshes as files beside it."""
    texts, notes = urdf_texts(real_leg(), folder="meshes")
    root = ElementTree.fromstring(texts[".urdf"])
    joints = {joint.get("name"): joint for joint in root.iterfind("joint")}
    assert [joint.get("type") for joint in joints.values()] == ["revolute", "continuous", "prismatic", "fixed"]
    limit = joints["leg.hip"].find("limit")
    assert limit is not None
    expected = {"lower": -0.8, "upper": 0.9, "effort": 30.0, "velocity": 20.0}
    assert {key: float(value) for key, value in limit.items()} == expected
    dynamics = joints["leg.shaft"].find("dynamics")
    assert dynamics is not None and {k: float(x) for k, x in dynamics.items()} == {"damping": 3.0, "friction": 0.4}
    meshes = [mesh.get("filename") for mesh in root.iterfind("link/visual/geometry/mesh")]
    assert meshes == ["meshes/torso.2.obj"] and texts["meshes/torso.2.obj"].count("f ") == 4
    assert len(notes) == 1 and "rotors" in notes[0] and "springs" in notes[0]
    r3 = ElementTree.fromstring(urdf_texts(liu2020("r3"))[0][".urdf"])
    assert [mimic.get("joint") for mimic in r3.iterfind("joint/mimic")] == ["tail.bend_1"] * 5 + ["tail.bend_7"] * 5


def test_export_writes_files_and_says_what_they_lack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`robot.export` and `tailwork export` write the same; notes are returned, printed and in the file."""
    robot = liu2020("r3")
    notes = robot.export(tmp_path / "robot.xml", stance="all")
    assert any("gears" in note for note in notes) and any("feet" in note for note in notes)
    assert main(["export", "liu2020", "--tail", "r3", "--out", str(tmp_path / "same.xml"), "--stance", "all"]) == 0
    assert (tmp_path / "same.xml").read_bytes() == (tmp_path / "robot.xml").read_bytes()
    printed = capsys.readouterr().out
    assert all(note in printed for note in notes)
    assert main(["export", "liu2020", "--out", str(tmp_path / "robot.urdf"), "--stance", "leg1,leg3"]) == 0
    assert '"pinned": ["leg1", "leg3"]' in (tmp_path / "robot.yaml").read_text(encoding="utf-8")
    real_leg().export(tmp_path / "leg.urdf")
    assert (tmp_path / "leg_meshes" / "torso.2.obj").is_file()


@pytest.mark.parametrize(
    "names", [("a b", "c/d", "α"), ("\"q\" 'α' \\ \t\n\x7f", "<x>", "&y; */"), ("floor", "torso", "world"),
              ("spring", "gear", "foot")]
)  # fmt: skip
def test_any_name_is_exported(names: tuple[str, str, str], tmp_path: Path) -> None:
    """Spaces, quotes, markup and the words that files use themselves: MuJoCo reads the file, we read both back."""
    first, second, third = names
    body = Body(mass=1.0, com=(0.0, 0.0, -0.1), inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0))
    holes = (Hole(joint=None, point=(0.1, 0.0, 0.0)), Hole(joint=second, point=(0.0, 0.1, 0.0)))
    limb = Limb(
        joints=(
            Joint(name=first, axis=(1.0, 0.0, 0.0), body=body),
            Joint(name=second, axis=(0.0, 1.0, 0.0), parent=first, body=body),
        ),
        actuators=(Motor(name=first, coordinate=first), Cable(name=third, route=holes)),
        springs=(PointSpring(first=None, first_point=(0.0, 0.0, 0.3), second=second, second_point=(0.1, 0.0, 0.0),
                             stiffness=3.0, rest_length=0.1),),
        foot=Foot(joint=second, point=(0.0, 0.0, -0.2), place=(0.0, 0.0, 0.0)),
        contacts=(ContactPoint(name=third, joint=first, point=(0.0, 0.0, 0.0)),),
    )  # fmt: skip
    torso = Torso(mass=3.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
    robot = Robot(name=third, torso=torso, parts={"floor": FreeLimb(limb=limb)}, stand=(0.0, 0.0, 1.0))
    for stance in ("none", "all"):
        model = mujoco.MjModel.from_xml_string(mjcf_text(robot, () if stance == "none" else ("floor",))[0])
        assert [model.joint(k).name for k in (1, 2)] == [f"floor.{first}", f"floor.{second}"]
        robot.export(tmp_path / "robot.urdf", stance)
        again = load(tmp_path / "robot.urdf")
        assert again.name == third and again.limbs()["floor"] == replace(limb, closed_form=None)
    assert "example.c" in Model(robot, "none").export_c(tmp_path / "c", ["center_of_mass"])


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    """Symbols, control characters in names, unknown legs and unknown formats."""
    robot = liu2020("pendulum")
    with pytest.raises(FileError, match=r"let it end in .xml, .mjcf or .urdf"):
        robot.export(tmp_path / "robot.sdf")
    with pytest.raises(UnknownNameError, match="leg4"):
        robot.export(tmp_path / "robot.xml", stance=["leg9"])
    with pytest.raises(RobotError, match="control characters"):
        replace(robot, name="a\x01").export(tmp_path / "robot.xml")
    with pytest.raises(RobotError, match="symbols"):
        robot.replace({"tail.mass": Tape().inputs(1, 0)[0]}).export(tmp_path / "robot.xml")
    assert not list(tmp_path.iterdir())


def test_the_yaml_holds_what_urdf_lacks(tmp_path: Path) -> None:
    """It is YAML: a reader of YAML finds what ours finds."""
    liu2020("usrt").export(tmp_path / "robot.urdf", ALL)
    found = yaml.safe_load((tmp_path / "robot.yaml").read_text(encoding="utf-8"))
    assert found == read_closure(tmp_path / "robot.yaml")
    tail = found["limbs"]["tail"]
    assert [cable["name"] for cable in tail["actuators"]] == [f"T_{k}" for k in range(1, 7)]
    hole = [0.0325 * np.cos(np.pi / 6), 0.0325 * 0.0035 - 0.25, 0.01625]
    assert tail["actuators"][0]["route"][0] == {"point": pytest.approx(hole)}
    assert [spring["kind"] for spring in tail["springs"]] == ["bending", "point"] * 6
    assert found["pinned"] == list(ALL)
