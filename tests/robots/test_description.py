"""What a description holds beside hinges: ranges, contact points, shapes, and tails that are mounted at an angle."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tailwork
from tailwork import robots
from tailwork.errors import RobotError, TailworkError
from tailwork.robots import FORWARD_FRAMES, Body, ContactPoint, FreeTail, Joint, Limb, Pendulum, Shape, placed
from tailwork.robots.paths import structure

AXIS = (0.0, 0.0, 1.0)


@pytest.mark.parametrize("forward", ["x", "y"])
@pytest.mark.parametrize("tail", ["pendulum", "r3", "usrt", "free"])
def test_a_mount_rotation_turns_the_whole_tail_about_its_mount(tail: str, forward: str) -> None:
    """Roll, pitch and yaw about forward, left and up, in this order about fixed axes, as in URDF."""
    angles = (0.3, -0.5, 0.7)
    part = robots.liu2020("usrt" if tail == "free" else tail).part("tail")
    if tail == "free":
        part = FreeTail(shape=part.limb)
    bare = replace(robots.liu2020(None), forward=forward)
    straight, turned = (bare.with_part("tail", x) for x in (part, replace(part, mount_rotation=angles)))
    frame = np.array(FORWARD_FRAMES[forward])
    fixed = np.array([frame[:, 1], -frame[:, 0], frame[:, 2]]).T  # forward, left, up
    turn = fixed @ Rotation.from_euler("xyz", angles).as_matrix() @ fixed.T
    mount = np.array(straight.limbs()["tail"].joints[0].offset)
    models = [tailwork.Model(robot, stance="none", torso="fixed") for robot in (straight, turned)]
    q = np.random.default_rng(1).uniform(-0.3, 0.3, len(models[0].coordinate_names))
    before, after = (model.points(q) for model in models)
    here = [k for k, name in enumerate(models[0].point_names) if name.startswith("tail")]
    assert after[here] == pytest.approx(mount + (before[here] - mount) @ turn.T, abs=1e-15)
    m = [model.mass_matrix(q) for model in models]
    assert m[1] == pytest.approx(m[0], abs=1e-16)


@pytest.mark.parametrize("tail", ["pendulum", "r3", "usrt"])
def test_a_tail_written_out_is_the_same_tail_whichever_way_the_robot_faces(tail: str) -> None:
    """Its limb in its own axes, or as the torso has it, hangs where the tail does and moves as it does; and a robot
    that faces x is the one that faces y, all places turned."""
    part, angles = robots.liu2020(tail).part("tail"), (0.3, -0.5, 0.7)
    bare, found = robots.liu2020(None), {}
    frames = {forward: np.array(FORWARD_FRAMES[forward]) for forward in ("x", "y")}
    for forward, frame in frames.items():
        there = replace(part, mount=tuple(frame @ part.mount), mount_rotation=angles)
        robot = replace(bare, forward=forward).with_part("tail", there)
        out = FreeTail(shape=there.limb, mount_rotation=angles)
        taken = FreeTail.of_limb(robot.limbs()["tail"], forward)
        models = [tailwork.Model(robot.with_part("tail", x), stance="none", torso="fixed") for x in (there, out, taken)]
        q = np.random.default_rng(1).uniform(-0.3, 0.3, len(models[0].coordinate_names))
        v = np.random.default_rng(2).normal(size=len(models[0].velocity_names))
        here = [k for k, name in enumerate(models[0].point_names) if name.startswith("tail")]
        own = [k for k, name in enumerate(models[0].velocity_names) if name.startswith("tail")]
        found[forward] = [
            (x.points(q)[here] @ frame, x.mass_matrix(q)[np.ix_(own, own)], x.bias(q, v)[own]) for x in models
        ]
    for motion in (*found["x"], *found["y"]):
        for one, other in zip(motion, found["y"][0], strict=True):
            assert one == pytest.approx(other, rel=1e-13, abs=1e-15)


def test_a_quarter_turn_of_the_mount_is_exact() -> None:
    """A pitch of 90° makes the tail point straight up: no entry is left to rounding."""
    tail = Pendulum(length=0.4, mass=1.0)
    up = replace(tail, mount_rotation=(0.0, np.pi / 2, 0.0))
    rotation = up.limbs("tail", "x")["tail"].joints[0].rotation
    assert set(np.ravel(rotation)) <= {-1.0, 0.0, 1.0}
    assert np.array(rotation) @ (0.0, -1.0, 0.0) == pytest.approx((0.0, 0.0, 1.0), abs=0.0)
    assert up.limb == tail.limb, "in its own frame it is the same tail"


def test_an_own_tail_that_ignores_its_mount_rotation_says_so() -> None:
    @dataclass(frozen=True)
    class Stiff(Pendulum):
        kind = "stiff"

        def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
            tail = Pendulum(length=self.length, mass=self.mass)
            return {name: placed(tail.limb, self.mount, FORWARD_FRAMES[forward])}

    robot = robots.liu2020().with_part("tail", Stiff(length=0.4, mass=1.0))
    with pytest.raises(RobotError, match="on_torso"):
        robot.replace({"tail.mount_rotation": (0.1, 0.0, 0.0)})


def link(**fields: Any) -> Joint:
    """A joint with a body."""
    return Joint(**{"name": "link", "axis": AXIS, "body": Body(mass=1.0, com=(0.1, 0.0, 0.0))} | fields)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: link(motion="ball"), "'hinge', 'slider'"),
        (lambda: link(range=(1.0, -1.0)), "the lower one below the upper"),
        (lambda: link(range=(0.0,)), "two finite numbers"),
        (lambda: link(range=(0.0, float("nan"))), "finite"),
        (lambda: link(range=3.0), "two finite numbers"),
        (lambda: link(friction=-1.0), "not negative"),
        (lambda: link(speed_limit=-1.0), "not negative"),
        (lambda: ContactPoint(name="a.b", point=(0, 0, 0)), "no dot"),
        (lambda: ContactPoint(name="a", point=(0, 0, 0), radius=-0.1), "not negative"),
        (lambda: Limb(joints=(link(),), contacts=(ContactPoint(name="a", point=(0, 0, 0)),)), "a joint of the limb"),
        (lambda: Limb(joints=(link(),), contacts=(ContactPoint(name="a", joint="b", point=(0, 0, 0)),)), "link"),
        (lambda: replace(robots.liu2020(), contacts=(ContactPoint(name="a", joint="b", point=(0, 0, 0)),)), "torso"),
        (lambda: replace(robots.liu2020(), contacts=(ContactPoint(name="a", point=(0, 0, 0)),) * 2), "no other"),
        (lambda: Shape(kind="cone", size=(1.0,)), "box, sphere"),
        (lambda: Shape(kind="sphere", size=(1.0, 2.0)), "1 lengths"),
        (lambda: Shape(kind="sphere", size=(-1.0,)), "none negative"),
        (lambda: Shape(kind="sphere", size=(1.0,), color=(2.0, 0.0, 0.0)), "from 0 to 1"),
        (lambda: Shape(kind="sphere", size=(1.0,), rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1))), "reflection"),
        (lambda: Shape(kind="sphere", size=(1.0,), vertices=((0, 0, 0),)), "no mesh"),
        (lambda: Shape(kind="mesh"), "at least one triangle"),
        (lambda: Shape(kind="mesh", vertices=((0, 0, 0),), faces=((0, 0, 1),)), "numbers of vertices"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, said: str) -> None:
    with pytest.raises(TailworkError, match=said):
        make()


def test_contact_points_come_in_a_fixed_order() -> None:
    """Feet in the order of legs, then those of limbs, then those of the torso."""
    shape = robots.liu2020().part("tail").limb
    end = ContactPoint(name="end", joint="tb", point=(0.0, -0.48, 0.0), radius=0.01)
    robot = robots.liu2020(None).with_part("tail", FreeTail(shape=replace(shape, contacts=(end,))))
    robot = replace(robot, contacts=(ContactPoint(name="nose", point=(0.0, 0.25, 0.0)),))
    points = robot.contact_points()
    assert list(points) == [*robot.feet(), "tail.end", "torso.nose"]
    assert points["tail.end"] == ("tail", end)
    assert points["torso.nose"][0] == "torso"
    assert pickle.loads(pickle.dumps(robot)) == robot
    assert hash(robot) != hash(replace(robot, contacts=()))


def test_numbers_of_the_new_fields_go_by_path_and_shapes_are_no_structure() -> None:
    limb = Limb(joints=(link(range=(-1.0, 2.0), friction=0.1),))
    robot = robots.liu2020(None).with_part("arm", robots.FreeLimb(limb=limb))
    changed = robot.replace({"arm.limb.joints.link.range.upper": 1.0, "arm.limb.joints.link.friction": 0.2})
    joint = changed.limbs()["arm"].joints[0]
    assert (joint.range, joint.friction) == ((-1.0, 1.0), 0.2)
    assert structure(changed) == structure(robot)
    body = replace(robot.limbs()["arm"].joints[0].body, shapes=(Shape(kind="sphere", size=(0.1,)),))  # type: ignore[type-var]
    drawn = robot.replace({"arm.limb.joints.link.body": body})
    assert drawn != robot
    assert structure(drawn) == structure(robot)
