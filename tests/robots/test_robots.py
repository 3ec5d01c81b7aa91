"""Descriptions: bodies, legs, tails and the robots of the papers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailwork import robots
from tailwork.algebra import expression as ex
from tailwork.errors import ArgumentError, RobotError, UnknownNameError
from tailwork.robots import (
    BendingSpring,
    Body,
    Cable,
    Foot,
    FreeLimb,
    Hole,
    InsectLeg,
    Joint,
    JointSpring,
    Limb,
    Motor,
    Pendulum,
    PlateTorso,
    PointSpring,
    Robot,
    ThreeHingeLegs,
    Tip,
    Torso,
    bar,
    point_mass,
)
from tailwork.robots.body import tipped_bar
from tailwork.robots.paths import robot_numbers

PRESETS = {
    "liu2018": robots.liu2018(),
    "liu2020": robots.liu2020(tail=None),
    "liu2020-pendulum": robots.liu2020(tail="pendulum"),
    "liu2020-r3": robots.liu2020(tail="r3"),
    "liu2020-usrt": robots.liu2020(tail="usrt"),
    "biswal": robots.biswal(),
    "blaberus": robots.blaberus(),
}
sizes = st.floats(1e-3, 1e3)


def bodies(robot: Robot) -> list[Body]:
    """All bodies of a robot, the torso first."""
    limbs = robot.limbs().values()
    return [robot.torso_body()] + [joint.body for limb in limbs for joint in limb.joints if joint.body is not None]


def total_mass(robot: Robot) -> float:
    return math.fsum(body.mass for body in bodies(robot))


def inertia_about_origin(*masses: Body) -> np.ndarray:
    """Inertia matrix of bodies about the origin of their frame [kg m²]."""
    total = np.zeros((3, 3))
    for body in masses:
        xx, yy, zz, xy, xz, yz = body.inertia
        c = np.array(body.com)
        total += np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        total += body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return total


# Bodies


@settings(deadline=None)
@given(mass=sizes, length=sizes, direction=st.integers(0, 2), sign=st.sampled_from([-1, 1]))
def test_a_bar_is_three_point_masses(mass: float, length: float, direction: int, sign: int) -> None:
    """m/6 at each end and 2m/3 in the middle have the mass, centre and inertia of a uniform bar."""
    end = np.eye(3)[direction] * length * sign
    points = [
        point_mass(mass / 6, (0.0, 0.0, 0.0)),
        point_mass(2 * mass / 3, tuple(end / 2)),
        point_mass(mass / 6, tuple(end)),
    ]
    rod = bar(mass, length, direction, sign)
    assert math.isclose(sum(p.mass for p in points), rod.mass, rel_tol=1e-14)
    np.testing.assert_allclose(sum(p.mass * np.array(p.com) for p in points) / mass, rod.com, rtol=1e-14)
    np.testing.assert_allclose(inertia_about_origin(*points), inertia_about_origin(rod), rtol=1e-13, atol=1e-300)


@settings(deadline=None)
@given(mass=st.floats(1e-12, 1e3), tip=st.floats(1e-12, 1e3), length=sizes, direction=st.integers(0, 2))
def test_a_tipped_bar_is_a_bar_and_a_point_mass(mass: float, tip: float, length: float, direction: int) -> None:
    rod = bar(mass, length, direction)
    end = point_mass(tip, tuple(-np.eye(3)[direction] * length))
    both = tipped_bar(mass, tip, length, direction)
    assert math.isclose(both.mass, mass + tip, rel_tol=1e-14)
    expected = (mass * np.array(rod.com) + tip * np.array(end.com)) / (mass + tip)
    np.testing.assert_allclose(both.com, expected, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(inertia_about_origin(both), inertia_about_origin(rod, end), rtol=1e-13, atol=1e-300)


def test_the_exact_thin_plate_is_allowed_and_a_little_more_is_not() -> None:
    assert Body(mass=1.0, inertia=(1.0, 2.0, 3.0, 0.0, 0.0, 0.0)).inertia[2] == 3.0
    for inertia in ((1.0, 2.0, 3.0 + 1e-9, 0, 0, 0), (-1e-9, 1.0, 1.0, 0, 0, 0), (1.0, 1.0, 1.0, 2.0, 0, 0)):
        with pytest.raises(RobotError, match="moments of inertia that a body can have") as caught:
            Body(mass=1.0, inertia=inertia)
        assert caught.value.path == "inertia"


# Tails


@pytest.mark.parametrize(("links", "segments"), [(1, 1), (1, 3), (3, 1), (4, 3), (24, 2)])
def test_r3_of_any_size(links: int, segments: int) -> None:
    limb = robots.r3(links_per_segment=links, segments=segments, mount=(0.0, -0.25, 0.0)).limbs("tail")["tail"]
    assert len(limb.joints) == 1 + links * segments
    assert limb.coordinates == ("alpha", *(f"beta_{s + 1}" for s in range(segments)))
    assert limb.gearing is not None
    gearing = np.array(limb.gearing)
    np.testing.assert_array_equal(gearing.sum(axis=0), [1.0] + [links] * segments)
    np.testing.assert_array_equal(gearing.sum(axis=1), 1.0)
    assert [a.name for a in limb.actuators] == ["roll", *(f"T_beta_{s + 1}" for s in range(segments))]
    assert all(isinstance(a, Motor) and a.ratio == links * 0.025 for a in limb.actuators[1:])


@pytest.mark.parametrize(("links", "segments"), [(1, 1), (3, 3), (3, 1), (10, 5), (48, 2)])
def test_usrt_of_any_size(links: int, segments: int) -> None:
    limb = robots.usrt(links=links, segments=segments).limbs("tail")["tail"]
    assert len(limb.joints) == len(limb.coordinates) == 2 * links
    assert limb.coordinates[:2] == ("theta_1", "phi_1")
    assert sum(isinstance(s, BendingSpring) for s in limb.springs) == links
    assert sum(isinstance(s, PointSpring) for s in limb.springs) == links
    assert len(limb.actuators) == 3 * segments
    for j, cable in enumerate(limb.actuators):
        assert isinstance(cable, Cable)
        held = links // segments * (j // 3 + 1)
        assert [hole.joint for hole in cable.route] == [None, *(f"theta_{i + 1}" for i in range(held))]


def test_usrt_spring_length_when_straight() -> None:
    """58.28 mm between A and B at q = 0, from Table 1 with both measured from the far joint."""
    tail = robots.usrt()
    for spring in tail.limbs("tail")["tail"].springs:
        if isinstance(spring, PointSpring):
            start = np.array(spring.first_point)
            end = np.array(spring.second_point)
            if spring.first is not None:
                end = end + np.array([0.0, -tail.link_length, 0.0])
            assert abs(np.linalg.norm(end - start) - 0.05828) < 5e-6


def test_usrt_spreads_its_springs_over_the_links() -> None:
    tail = robots.usrt(links=12, segments=2, extension_stiffness=(1.0, 2.0, 3.0), extension_rest=(0.04,))
    springs = [s for s in tail.limbs("tail")["tail"].springs if isinstance(s, PointSpring)]
    assert [s.stiffness for s in springs] == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    assert {s.rest_length for s in springs} == {0.04}


@pytest.mark.parametrize(
    ("build", "path"),
    [
        (lambda: robots.r3(links_per_segment=0), "links_per_segment"),
        (lambda: robots.r3(links_per_segment=10**9), "links_per_segment"),
        (lambda: robots.r3(segments=2.0), "segments"),  # type: ignore[arg-type]
        (lambda: robots.r3(segments=True), "segments"),
        (lambda: robots.r3(links_per_segment=100, segments=100), "segments"),
        (lambda: robots.r3(link_inertia=(1.0, 1.0, 3.0, 0.0, 0.0, 0.0)), "link_inertia"),
        (lambda: robots.usrt(links=2, segments=5), "links"),
        (lambda: robots.usrt(links=-6), "links"),
        (lambda: robots.usrt(links=10**9), "links"),
        (lambda: robots.usrt(links="6"), "links"),  # type: ignore[arg-type]
        (lambda: robots.usrt(extension_rest=()), "extension_rest"),
        (lambda: robots.usrt(extension_rest=(0.1, -0.1)), "extension_rest.2"),
        (lambda: robots.usrt(extension_rest=0.1), "extension_rest"),  # type: ignore[arg-type]
        (lambda: robots.pendulum(length=0.5, mass=0.0), "mass"),
        (lambda: robots.pendulum(length=-0.5, mass=1.0), "length"),
        (lambda: robots.pendulum(length=0.5, mass=1.0, mount=1.0), "mount"),
        (lambda: robots.pendulum(length=0.5, mass=1.0, mount={1.0, 2.0, 3.0}), "mount"),
        (lambda: robots.pendulum(length=1j, mass=1.0), "length"),
        (lambda: robots.pendulum(length=[0.5], mass=1.0), "length"),
        (lambda: robots.pendulum(length=np.array([0.5]), mass=1.0), "length"),
        (lambda: robots.pendulum(length=np.datetime64("2020-01-01"), mass=1.0), "length"),
    ],
)
def test_impossible_tails(build: Callable[[], object], path: str) -> None:
    with pytest.raises(RobotError) as caught:
        build()
    assert caught.value.path == path


def test_numbers_of_other_types_become_floats() -> None:
    tail = robots.r3(
        links_per_segment=np.int64(3), link_mass=np.float32(0.5), mount=np.array([0, 1, 2]), link_length=np.array(0.25)
    )
    assert (type(tail.links_per_segment), type(tail.link_mass), type(tail.link_length)) == (int, float, float)
    assert tail.mount == (0.0, 1.0, 2.0)


# Limbs and robots built in Python


def joints() -> tuple[Joint, ...]:
    return (
        Joint(name="a", axis=(1.0, 0.0, 0.0)),
        Joint(name="b", axis=(0.0, 0.0, 1.0), parent="a", body=Body(mass=1.0)),
        Joint(name="c", axis=(0.0, 0.0, 1.0), parent="b", offset=(0.0, 0.1, 0.0), body=Body(mass=1.0)),
    )


ON_TORSO, ON_Z = Hole(joint=None, point=(0, 0, 0)), Hole(joint="z", point=(0, 0, 0))


def test_lists_become_tuples() -> None:
    limb = Limb(joints=list(joints()), coordinates=["x"], gearing=[[1], [2], [0]])  # type: ignore[arg-type]
    assert limb == Limb(joints=joints(), coordinates=("x",), gearing=((1.0,), (2.0,), (0.0,)))


@pytest.mark.parametrize(
    ("fields", "path", "required"),
    [
        ({"joints": ()}, "joints", "at least one joint"),
        ({"joints": None}, "joints", "a list"),
        ({"joints": joints()[0]}, "joints", "a list"),
        ({"joints": ("a",)}, "joints.1", "a Joint"),
        ({"joints": (joints()[0],)}, "joints.a.body", "a body on a joint that carries no other joint"),
        ({"joints": joints()[1:]}, "joints.b.parent", "a known joint"),
        ({"joints": joints()[::-1]}, "joints.c.parent", "parents come first"),
        ({"joints": joints() + joints()[:1]}, "joints.a.name", "no other joint"),
        ({"coordinates": "abc"}, "coordinates", "a list"),
        ({"coordinates": (1, 2, 3)}, "coordinates.1", "text"),
        ({"coordinates": ("a", "b")}, "coordinates", "in any order"),
        ({"coordinates": ("a", "b", "b")}, "coordinates", "names that differ"),
        ({"gearing": ((1, 0), (0, 1))}, "gearing", "3 joints × 3 coordinates"),
        ({"gearing": (1.0, 2.0, 3.0)}, "gearing.1", "a list"),
        ({"coordinates": ("x",), "gearing": ((math.inf,), (1,), (1,))}, "gearing.1.1", "a finite number"),
        ({"coordinates": ("x",), "gearing": ((0,), (0,), (0,))}, "gearing", "move some joint"),
        ({"actuators": (Joint,)}, "actuators.1", "a Motor or a Cable"),
        ({"actuators": (Motor(name="m", coordinate="z"),)}, "actuators.m.coordinate", "a known coordinate"),
        ({"actuators": (Motor(name="m", coordinate="a"),) * 2}, "actuators.m.name", "no other actuator"),
        ({"actuators": (Cable(name="t", route=(ON_TORSO, ON_Z)),)}, "actuators.t.route.2.joint", "a known joint"),
        ({"springs": (JointSpring(joint="z"),)}, "springs.1.joint", "a known joint"),
        ({"springs": (BendingSpring(first="b", second="c", stiffness=1.0),)}, "springs.1", "universal joint"),
        ({"foot": Foot(joint="z", point=(0, 0, 0), place=(0, 0, 0))}, "foot.joint", "a known joint"),
        ({"foot": "c"}, "foot", "a Foot"),
        ({"tip": Tip(joint="z", point=(0, 0, 0))}, "tip.joint", "a known joint"),
    ],
)
def test_impossible_limbs(fields: dict[str, Any], path: str, required: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Limb(**({"joints": joints()} | fields))
    assert caught.value.path == path
    assert required in caught.value.required


@pytest.mark.parametrize(
    ("build", "path"),
    [
        (lambda: Joint(name="a", axis=(0.0, 0.0, 0.0)), "axis"),
        (lambda: Joint(name="a", axis=(1.0, 1.0, 0.0)), "axis"),
        (lambda: Joint(name="a", axis=(ex.Tape().inputs(1, 0)[0], 0.0, 0.0)), "axis.x"),
        (lambda: Joint(name="", axis=(1.0, 0.0, 0.0)), "name"),
        (lambda: Joint(name="a.b", axis=(1.0, 0.0, 0.0)), "name"),
        (lambda: Joint(name=1, axis=(1.0, 0.0, 0.0)), "name"),  # type: ignore[arg-type]
        (lambda: Joint(name="a", axis=(1.0, 0.0, 0.0), body=1.0), "body"),  # type: ignore[arg-type]
        (lambda: Joint(name="a", axis=(1, 0, 0), rotation=((1, 0, 0), (0, 1, 0), (0, 0, 2))), "rotation"),
        (lambda: Joint(name="a", axis=(1, 0, 0), rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1))), "rotation"),
        (lambda: Joint(name="a", axis=(1, 0, 0), rotation=(1, 0, 0)), "rotation"),
        (lambda: Joint(name="a", axis=(1, 0, 0), armature=-1.0), "armature"),
        (lambda: Cable(name="t", route=(Hole(joint=None, point=(0, 0, 0)),)), "route"),
        (lambda: InsectLeg(**(dataclasses.asdict(robots.blaberus().part("hind_left")) | {"side": "up"})), "side"),
        (lambda: Torso(mass=1.0, inertia=(1.0, 1.0, 3.0, 0.0, 0.0, 0.0)), "inertia"),
        (lambda: FreeLimb(limb=joints()), "limb"),  # type: ignore[arg-type]
    ],
)
def test_impossible_pieces(build: Callable[[], object], path: str) -> None:
    with pytest.raises(RobotError) as caught:
        build()
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": 3}, "name"),
        ({"torso": None}, "torso"),
        ({"torso": PlateTorso}, "torso"),
        ({"torso": PlateTorso(mass=1e200, width=1e200, length=1.0)}, "torso.inertia.yy"),
        ({"parts": [robots.pendulum(length=1.0, mass=1.0)]}, "parts"),
        ({"parts": {"torso": robots.pendulum(length=1.0, mass=1.0)}}, "parts.torso"),
        ({"parts": {"a.b": robots.pendulum(length=1.0, mass=1.0)}}, "parts.a.b"),
        ({"parts": {3: robots.pendulum(length=1.0, mass=1.0)}}, "parts.3"),
        ({"parts": {"tail": robots.pendulum}}, "tail"),
        ({"parts": {"tail": robots.pendulum(length=1e200, mass=1.0)}}, "tail.inertia.xx"),
        ({"parts": {f"t{k}": robots.usrt(links=128, segments=1) for k in range(5)}}, "t4"),
        ({"gravity": -9.81}, "gravity"),
        ({"stand": 0.4}, "stand"),
    ],
)
def test_impossible_robots(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(RobotError) as caught:
        Robot(**({"name": "r", "torso": PlateTorso(mass=1.0, width=1.0, length=1.0), "parts": {}} | fields))
    assert caught.value.path == path


def test_limb_names_must_differ() -> None:
    with pytest.raises(RobotError, match="limb names that differ") as caught:
        robots.liu2020().with_part("leg1", robots.pendulum(length=1.0, mass=1.0))
    assert caught.value.path == "leg1"


def test_unknown_names_are_answered_with_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="'pendulum'"):
        robots.liu2020(tail="pendulun")
    with pytest.raises(UnknownNameError, match="'tail'"):
        robots.liu2020().part("tial")
    with pytest.raises(UnknownNameError, match="'legs'"):
        robots.liu2020().without("leg")


# The robots of the papers


@pytest.mark.parametrize(
    ("name", "mass", "joint_count"),
    [
        ("liu2018", 37.0393, 14),  # 26.9078 + 4 (0.9453 + 1.2289) + 1.4347
        ("liu2020", 21.6, 12),  # 12 + 4 (1.2 + 1.2)
        ("liu2020-pendulum", 22.6, 14),
        ("liu2020-r3", 22.6005, 25),  # base 0.0897 + 12 · 0.0759
        ("liu2020-usrt", 22.62, 24),  # 6 · 0.17
        ("biswal", 3.4, 12),
        ("blaberus", 2.6e-3, 30),
    ],
)
def test_total_mass_and_joints(name: str, mass: float, joint_count: int) -> None:
    assert math.isclose(total_mass(PRESETS[name]), mass, rel_tol=1e-12)
    assert sum(len(limb.joints) for limb in PRESETS[name].limbs().values()) == joint_count


def test_presets_are_listed() -> None:
    real = {"go2", "a1", "anymal_c", "solo12", "spot", "spirit40"}
    assert set(robots.presets()) == {"liu2018", "liu2020", "biswal", "blaberus"} | real
    for name, build in robots.presets().items():
        assert build().name.startswith(name)


def test_liu2020_table() -> None:
    robot = PRESETS["liu2020-pendulum"]
    assert robot.torso == PlateTorso(mass=12.0, width=0.3, length=0.5)
    np.testing.assert_allclose(robot.torso_body().inertia, (0.25, 0.09, 0.34, 0.0, 0.0, 0.0), rtol=1e-15)
    assert (robot.gravity, robot.stand) == (9.8, (0.0, 0.0, 0.4))
    assert robot.part("tail") == Pendulum(length=0.48, mass=1.0, mount=(0.0, -0.25, 0.0))
    for tail in ("r3", "usrt"):
        limb = PRESETS[f"liu2020-{tail}"].limbs()["tail"]
        length = -math.fsum(joint.offset[1] for joint in limb.joints[1:]) - limb.tip.point[1]
        assert math.isclose(length, 0.48), "all three tails are equally long"


def test_liu2018_table() -> None:
    tail = PRESETS["liu2018"].limbs()["tail"].joint("tb").body
    assert tail == point_mass(1.4347, (0.0, -0.6, 0.0))
    hips = PRESETS["liu2018"].part("legs").hips
    assert math.isclose(math.dist(hips[0], hips[1]), 0.48)
    assert math.isclose(math.dist(hips[1], hips[2]), 0.54)


def test_blaberus_has_36_degrees_of_freedom() -> None:
    robot = PRESETS["blaberus"]
    limbs = robot.limbs()
    assert len(limbs) == 6
    assert 6 + sum(len(limb.coordinates) for limb in limbs.values()) == 36
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for place in ("front", "middle", "hind"):
            assert math.copysign(1.0, robot.part(f"{place}_{side}").hip[1]) == sign
            # The leg frame: x outward, y up.
            rotation = np.array(limbs[f"{place}_{side}"].joints[0].rotation)
            np.testing.assert_array_equal(rotation[:, 0], [0.0, sign, 0.0])
            np.testing.assert_array_equal(rotation[:, 1], [0.0, 0.0, 1.0])


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "blaberus"])
def test_standing_feet_are_within_reach(name: str) -> None:
    robot = PRESETS[name]
    for limb in robot.limbs().values():
        if limb.foot is not None:
            assert limb.closed_form is not None
            foot = tuple(a - b for a, b in zip(limb.foot.place, robot.stand, strict=True))
            assert 0.5 < limb.closed_form.extension(foot) < 1.0


@pytest.mark.parametrize("knee", ["forward", "backward"])
@pytest.mark.parametrize("forward", ["x", "y"])
@pytest.mark.parametrize("hip_length", [0.0, 0.07])
def test_closed_form_puts_the_foot_in_its_place(knee: str, forward: str, hip_length: float) -> None:
    legs = ThreeHingeLegs(
        hips=((0.1, 0.2, 0.05),),
        feet=((0.15, 0.1, -0.4),),
        thigh_length=0.25,
        shank_length=0.3,
        thigh_mass=1.0,
        shank_mass=1.0,
        hip_length=hip_length,
        hip_mass=hip_length,
        knee=knee,
    )
    limb = legs.limbs("legs", forward)["leg1"]
    assert limb.closed_form is not None
    angles = [math.atan2(sine, cosine) for cosine, sine in limb.closed_form.angles(legs.feet[0])]
    assert (angles[2] < 0) == (knee == "forward")
    place, turn = np.zeros(3), np.eye(3)
    for joint, angle in zip(limb.joints, angles, strict=True):
        place = place + turn @ joint.offset
        x, y, z = joint.axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = turn @ np.array(joint.rotation)
        turn = turn @ (np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)
    assert limb.foot is not None
    np.testing.assert_allclose(place + turn @ limb.foot.point, legs.feet[0], atol=1e-14)


# Builders are laws: they take symbols as well as numbers


def evaluated(tape: ex.Tape, inputs: Sequence[float]) -> list[float]:
    """The value of every entry of a tape."""
    values: list[float] = []
    binary = {
        ex.ADD: lambda a, b: a + b,
        ex.SUB: lambda a, b: a - b,
        ex.MUL: lambda a, b: a * b,
        ex.DIV: lambda a, b: a / b,
    }
    for operation, first, second in tape.entries:
        if operation == ex.INPUT:
            values.append(inputs[first])
        elif operation == ex.CONSTANT:
            values.append(first)
        elif operation == ex.NEG:
            values.append(-values[first])
        else:
            values.append(binary[operation](values[first], values[second]))
    return values


def built_numbers(robot: Robot) -> dict[str, Any]:
    """Every number of the limbs and of the torso that a robot builds."""
    found: dict[str, Any] = {f"torso.{k}": v for k, v in robot_numbers(robot.torso_body()).items()}
    for name, limb in robot.limbs().items():
        free = FreeLimb(limb=dataclasses.replace(limb, closed_form=None))
        found |= {f"{name}.{path}": value for path, value in robot_numbers(free).items()}
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_a_robot_of_symbols_follows_the_numbers(name: str) -> None:
    """Built once from symbols, then evaluated at changed numbers = built from the changed numbers."""
    robot = PRESETS[name]
    given = {path: value for path, value in robot_numbers(robot).items() if value != 0.0}
    rng = np.random.default_rng(1)
    factors = dict.fromkeys((path.rpartition(".")[0] if "inertia" in path else path for path in given), 1.0)
    factors = {path: rng.uniform(0.8, 1.2) for path in factors}  # one for all moments, so that they stay possible
    changed = {p: v * factors[p.rpartition(".")[0] if "inertia" in p else p] for p, v in given.items()}

    tape = ex.Tape()
    symbols = dict(zip(given, tape.inputs(len(given), 0), strict=True))
    symbolic = built_numbers(robot.replace(symbols))
    values = evaluated(tape, list(changed.values()))
    expected = built_numbers(robot.replace(changed))
    assert symbolic.keys() == expected.keys()
    assert sum(isinstance(x, ex.Expression) for x in symbolic.values()) > 20
    for path, value in symbolic.items():
        number = values[value.index] if isinstance(value, ex.Expression) else value
        assert math.isclose(number, expected[path], rel_tol=1e-13, abs_tol=1e-300), path


def test_tail_length_reaches_offset_and_inertia() -> None:
    length, mass, tip = ex.Tape().inputs(3, 0)
    body = Pendulum(length=length, mass=mass, tip_mass=tip).limbs("tail")["tail"].joint("tb").body
    assert body is not None
    assert isinstance(body.com[1], ex.Expression)
    assert isinstance(body.inertia[0], ex.Expression)
    assert body.inertia[1] == 0.0, "what is zero by structure stays zero"


def test_casadi_symbols() -> None:
    casadi = pytest.importorskip("casadi")
    length, mass = casadi.SX.sym("length"), casadi.SX.sym("mass")
    body = Pendulum(length=length, mass=mass).limbs("tail")["tail"].joint("tb").body
    assert body is not None
    slope = casadi.Function("slope", [length, mass], [casadi.jacobian(body.inertia[0], length)])
    assert math.isclose(float(slope(0.48, 1.2)), 1.2 * 0.48 / 6)
