"""Changed copies of robots by path."""

from __future__ import annotations

import pytest

from tailwork import robots
from tailwork.algebra.expression import Tape
from tailwork.errors import ArgumentError, RobotError, UnknownNameError
from tailwork.robots import Body, FreeLimb, Joint, JointSpring, Limb, Motor, Pendulum, Robot
from tailwork.robots.paths import paths, robot_numbers


def with_free_limb() -> Robot:
    limb = Limb(
        joints=(
            Joint(name="a", axis=(1.0, 0.0, 0.0), offset=(0.1, 0.2, 0.3)),
            Joint(name="b", axis=(0.0, 1.0, 0.0), parent="a", body=Body(mass=2.0)),
        ),
        actuators=(Motor(name="m", coordinate="b"),),
        springs=(JointSpring(joint="a", stiffness=1.0), JointSpring(joint="b", stiffness=2.0)),
    )
    return robots.liu2020(tail=None).with_part("arm", FreeLimb(limb=limb))


def test_numbers_vectors_and_structure() -> None:
    robot = robots.liu2020(tail="usrt")
    changed = robot.replace(
        {
            "name": "longer",
            "gravity": 9.81,
            "stand": [0.0, 0.0, 0.41],
            "torso.mass": 13,
            "legs.thigh_length": 0.27,
            "legs.hips.2.x": -0.2,
            "legs.knee": "backward",
            "tail.mount": (0.0, -0.3, 0.1),
            "tail.links": 12,
            "tail.segments": 3,
            "tail.extension_rest": [0.04],
            "tail.link_inertia.xx": 17.5e-5,
        }
    )
    assert (changed.name, changed.gravity, changed.stand) == ("longer", 9.81, (0.0, 0.0, 0.41))
    assert changed.torso_body().mass == 13.0
    legs, tail = changed.part("legs"), changed.part("tail")
    assert (legs.thigh_length, legs.knee) == (0.27, "backward")
    assert legs.hips == ((0.15, 0.25, 0.0), (-0.2, 0.25, 0.0), (-0.15, -0.25, 0.0), (0.15, -0.25, 0.0))
    assert (tail.mount, tail.links, tail.segments, tail.extension_rest) == ((0.0, -0.3, 0.1), 12, 3, (0.04,))
    assert tail.link_inertia == (17.5e-5, 8.3e-5, 16.6e-5, 0.0, 0.0, 0.0)
    assert len(changed.limbs()["tail"].joints) == 24
    assert robot == robots.liu2020(tail="usrt"), "the robot itself stays as it was"


def test_nothing_to_change_gives_an_equal_robot() -> None:
    assert robots.blaberus().replace({}) == robots.blaberus()


def test_components_of_one_vector_together() -> None:
    changed = robots.liu2018().replace({"tail.mount.x": 0.1, "tail.mount.z": 0.2})
    assert changed.part("tail").mount == (0.1, -0.34, 0.2)


def test_a_whole_part_can_be_exchanged() -> None:
    changed = robots.liu2018().replace({"tail": Pendulum(length=1.0, mass=2.0), "torso.mass": 20.0})
    assert changed.part("tail").length == 1.0
    assert changed.torso_body().mass == 20.0
    assert list(changed.parts) == ["legs", "tail"]


def test_inside_a_limb_written_out() -> None:
    changed = with_free_limb().replace(
        {
            "arm.limb.joints.a.offset.y": 0.5,
            "arm.limb.joints.b.body.mass": 3.0,
            "arm.limb.joints.b.axis": (0.0, 0.0, 1.0),
            "arm.limb.actuators.m.ratio": 0.02,
            "arm.limb.springs.2.rest": 0.1,
        }
    )
    limb = changed.limbs()["arm"]
    assert limb.joint("a").offset == (0.1, 0.5, 0.3)
    assert limb.joint("b").axis == (0.0, 0.0, 1.0)
    assert limb.joint("b").body == Body(mass=3.0)
    assert limb.actuators == (Motor(name="m", coordinate="b", ratio=0.02),)
    assert limb.springs == (JointSpring(joint="a", stiffness=1.0), JointSpring(joint="b", stiffness=2.0, rest=0.1))


@pytest.mark.parametrize("robot", [robots.liu2020(tail="r3"), robots.blaberus(), with_free_limb()])
def test_every_number_can_be_replaced_by_its_path(robot: Robot) -> None:
    found = robot_numbers(robot)
    assert found.keys() <= set(paths(robot))
    for path, value in found.items():
        assert robot.replace({path: value}) == robot


def test_symbols_are_taken_as_numbers() -> None:
    symbol = Tape().inputs(1, 0)[0]
    assert robots.liu2020().replace({"tail.length": symbol}).part("tail").length is symbol


@pytest.mark.parametrize(
    ("path", "offered"),
    [
        ("tail.lenght", "'tail.length'"),
        ("tail.mount.w", "'tail.mount.x'"),
        ("thigh_length", "'legs.thigh_length'"),
        ("leg.thigh_length", "'legs.thigh_length'"),
        ("gravitty", "'gravity'"),
        ("legs.hips.5.x", "'legs.hips.4.x'"),
        ("legs.hips.0.x", "'legs.hips.4.x'"),
        ("torso.mass.x", "'torso.mass'"),
        ("zzz", "valid: name"),
        ("tail.kind", "'tail.mount'"),
        ("", "valid: name"),
        ("tail.", "'tail'"),
        (".tail", "'tail'"),
    ],
)
def test_unknown_paths(path: str, offered: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        robots.liu2020().replace({"torso.mass": 13.0, path: 1.0})
    assert caught.value.path == path
    assert offered in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "path", "required"),
    [
        ({"torso.mass": -1.0}, "torso.mass", "greater than 0"),
        ({"torso.mass": 1e-300}, "torso.mass", "greater than 0 and not below 1e-150"),
        ({"torso.mass": "13 kg"}, "torso.mass", "a plain number in kg"),
        ({"torso.mass": True}, "torso.mass", "a finite number [kg]"),
        ({"torso.mass": None}, "torso.mass", "a finite number [kg]"),
        ({"torso.mass": 10**400}, "torso.mass", "a finite number [kg]"),
        ({"gravity": float("nan")}, "gravity", "a finite number [m/s^2]"),
        ({"tail.mount": (0.0, -0.25)}, "tail.mount", "three finite numbers [m]"),
        ({"tail.mount.y": float("inf")}, "tail.mount.y", "a finite number [m]"),
        ({"legs.hips.3": (0.0, 0.0)}, "legs.hips.3", "three finite numbers [m]"),
        ({"legs.hips.3.z": "low"}, "legs.hips.3.z", "a plain number in m"),
        ({"legs.feet": (0.0, 0.0, 0.0)}, "legs.feet", "a list of vectors"),
        ({"legs.feet": [(0.0, 0.0, 0.0)]}, "legs.feet", "as many feet as hips, 4"),
        ({"legs.knee": "sideways"}, "legs.knee", "'forward' or 'backward'"),
        ({"legs.knee": 1}, "legs.knee", "text"),
        ({"legs.hip_mass": 0.1}, "legs.hip_mass", "0 where hip_length is 0"),
        ({"tail.mass": 0.0}, "tail.mass", "mass or tip_mass greater than 0"),
        ({"tail": "pendulum"}, "tail", "a part that builds limbs"),
        ({"tail": Pendulum}, "tail", "a part that builds limbs"),
        ({"torso": None}, "torso", "a torso"),
        ({"name": 3}, "name", "text"),
        ({"tail.mount": (0, 0, 0), "tail.mount.y": 1}, "tail.mount.y", "not both at once"),
        ({"tail.mount.y": 1, "tail.mount": (0, 0, 0)}, "tail.mount", "not both at once"),
    ],
)
def test_values_are_checked_as_on_creation(changes: dict[str, object], path: str, required: str) -> None:
    robot = robots.liu2020()
    with pytest.raises(RobotError) as caught:
        robot.replace({"stand.z": 0.3, **changes})
    assert caught.value.path == path
    assert required in caught.value.required
    assert robot == robots.liu2020()


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"arm.limb.joints.b.body.mass": 0.0}, "arm.limb.joints.b.body.mass"),
        ({"arm.limb.joints.b.axis": (0.0, 0.0, 2.0)}, "arm.limb.joints.b.axis"),
        ({"arm.limb.joints.b.parent": "c"}, "arm.limb.joints.b.parent"),
        ({"arm.limb.joints.b.name": "a"}, "arm.limb.joints.a.name"),
        ({"arm.limb.springs.1.joint": "c"}, "arm.limb.springs.1.joint"),
        ({"arm.limb.actuators.m.coordinate": "c"}, "arm.limb.actuators.m.coordinate"),
        ({"arm.limb.joints": ()}, "arm.limb.joints"),
        ({"arm.limb": None}, "arm.limb"),
    ],
)
def test_errors_inside_a_limb_have_the_full_path(changes: dict[str, object], path: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        with_free_limb().replace(changes)
    assert caught.value.path == path


def test_two_changes_that_are_only_possible_together() -> None:
    robot = robots.liu2020(tail="usrt")
    with pytest.raises(RobotError) as caught:
        robot.replace({"tail.segments": 8})
    assert caught.value.path == "tail.links"
    assert robot.replace({"tail.segments": 8, "tail.links": 8}).part("tail").links == 8
