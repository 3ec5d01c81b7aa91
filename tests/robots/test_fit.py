"""Any tail on any robot: where it hangs, how large it is, and that another size is the same design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tailwork.errors import RobotError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import FreeTail, Robot, Shape, Torso, biswal, liu2018, liu2020, pendulum, spirit40
from tailwork.robots.sizes import leg_length, mass_without_tails, torso_size
from tailwork.robots.tails.fit import (
    LENGTH_SHARE,
    MASS_SHARE,
    PUBLISHED,
    as_published,
    default_size,
    named_tail,
    similar,
    tail_text,
    with_named_tail,
)
from tailwork.robots.tails.tail import Tail


@pytest.mark.parametrize("kind", [*PUBLISHED, "continuum", "two_link"])
def test_a_tail_of_another_size_is_dynamically_similar(kind: str) -> None:
    """On a fixed torso, three times as heavy and a quarter as long: at the same angles and with rates as 1/√length,
    accelerations go as 1/length (Froude's law), with springs, dampers and weight all counted. Half as heavy and long
    a base alone would break it."""
    heavier, longer = 3.0, 0.25
    tail = named_tail(kind)
    mass, length = float(tail.total_mass()), float(tail.total_length())
    other = similar(tail, mass=mass * heavier, length=length * longer)
    one, two = (Model(replace(liu2020(None), parts={"tail": x}), "none", torso="fixed") for x in (tail, other))
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-0.3, 0.3, (2, 5, len(one.coordinate_names)))
    still = np.zeros(len(one.actuator_names))
    expected = one.forward_dynamics(q, v, still) / longer
    np.testing.assert_allclose(two.forward_dynamics(q, v / np.sqrt(longer), still), expected, rtol=1e-9)
    assert float(other.total_mass()) == pytest.approx(3.0 * mass, rel=1e-14)
    assert float(other.total_length()) == pytest.approx(0.25 * length, rel=1e-14)


@pytest.mark.parametrize("robot", [biswal(), liu2018(), liu2020(None)], ids=lambda robot: robot.name)
def test_tails_put_on_a_robot_weigh_and_measure_the_same(robot: Robot) -> None:
    """As the robot's own tail, or shares of its torso; they hang behind, in one place, under one name."""
    mass, length = default_size(robot)
    mounts = set()
    for kind in PUBLISHED:
        found = robot.with_tail(kind)
        tail: Tail = found.part("tail")
        assert tail.kind == kind and found.name == f"{robot.name}-{kind}"
        assert (float(tail.total_mass()), float(tail.total_length())) == pytest.approx((mass, length), rel=1e-13)
        assert found.mass() == pytest.approx(mass_without_tails(robot) + mass, rel=1e-13)
        assert {name: part for name, part in found.parts.items() if name != "tail"} == {"legs": robot.part("legs")}
        mounts.add(found.limbs()["tail"].joints[0].offset)
        assert found.with_tail("usrt").name == f"{robot.name}-usrt", "one in the place of the other"
    assert mounts == {(0.0, -0.34, 0.0) if robot.name == "liu2018" else torso_size(robot).rear}
    if robot.name == "liu2018":
        assert (mass, length) == (1.4347, 0.6), "as its own tail"


def test_shares_of_the_torso_are_those_of_the_2020_robot() -> None:
    """1 kg and 0.48 m, at its published mount, so a pendulum by name is that of the paper."""
    assert (12.0 * MASS_SHARE, 0.5 * LENGTH_SHARE) == (1.0, 0.48)
    assert liu2020(None).with_tail("pendulum") == liu2020()
    for kind in PUBLISHED:
        assert with_named_tail(liu2020(), kind, published=True) == liu2020(kind)
        assert as_published(liu2020(kind).part("tail"))
    assert not as_published(liu2020(None).with_tail("r3").part("tail"))
    assert with_named_tail(liu2020("r3"), "none") == liu2020(None)
    assert tail_text(liu2020("usrt").part("tail")) == "usrt of 1.02 kg and 0.48 m (as published)"
    assert tail_text(biswal().with_tail("r3").part("tail")) == "r3 of 0.167 kg and 0.346 m"


def test_where_a_torso_ends() -> None:
    """Between the rear hips, or farther back where a plate or a shape ends; without legs, a box of its inertia."""
    assert torso_size(biswal()).rear == (-0.18, 0.0, -0.04) and torso_size(biswal()).length == 0.36
    box = Shape(kind="box", size=(0.1, 0.5, 0.1), place=(-0.1, 0.0, 0.0), rotation=((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    ball = Shape(kind="cylinder", size=(0.02, 0.4), rotation=((0.0, 0, 1.0), (0, 1.0, 0), (-1.0, 0, 0)))
    shown = replace(biswal(), torso=replace(biswal().torso, shapes=(box, ball)))  # type: ignore[type-var]
    assert torso_size(shown).rear == (-0.35, 0.0, -0.04), "the box lies along x"
    torso = Torso(mass=2.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.26, 0.34, 0.0, 0.0, 0.0))
    alone = Robot(name="box", forward="x", torso=torso, parts={"tail": pendulum(length=0.3, mass=0.1)})
    assert torso_size(alone).length == pytest.approx((6 * 0.5 / 2.0) ** 0.5)
    assert torso_size(alone).rear[0] == pytest.approx(0.1 - torso_size(alone).length / 2, abs=1e-9)
    assert [leg_length(limb) for limb in biswal().limbs().values()] == pytest.approx([0.27] * 4)


def test_a_tail_described_in_full_stays_as_it_is() -> None:
    """Its own numbers and its own mount, unless a mount is given; turned where that is asked for."""
    tail = pendulum(length=0.3, mass=0.2)
    assert biswal().with_tail(tail).part("tail") == replace(tail, mount=(-0.18, 0.0, -0.04))
    assert biswal().with_tail(replace(tail, mount=(0.1, 0.0, 0.0))).part("tail").mount == (0.1, 0.0, 0.0)
    up = biswal().with_tail(tail, mount=[-0.1, 0.0, 0.05], rotation=[0.0, np.pi / 2, 0.0])
    model = Model(up, "none")
    q = model.standing()
    centers = model.part_momenta(q, np.zeros(len(model.velocity_names))).centers
    np.testing.assert_allclose(centers[model.part_names.index("tail")] - q[:3], [-0.1, 0.0, 0.05 + 0.15], atol=1e-15)


def test_a_tail_written_out_can_be_mounted_and_resized() -> None:
    """Its first joint is its mount, in the torso's axes; its place stays when it grows."""
    limb = replace(pendulum(length=0.3, mass=0.2), mount=(0.0, 0.0, 0.0)).limb
    robot = biswal().with_tail(FreeTail(shape=limb))
    assert robot.limbs()["tail"].joints[0].offset == (-0.18, 0.0, -0.04)
    larger = similar(robot.part("tail"), mass=0.8, length=0.6)
    assert (float(larger.total_mass()), float(larger.total_length())) == pytest.approx((0.8, 0.6), rel=1e-14)
    assert robot.with_part("tail", larger).limbs()["tail"].joints[0].offset == (-0.18, 0.0, -0.04)


def test_what_is_refused() -> None:
    """Kinds that are not known, sizes that no tail has, and tails without a mount."""
    with pytest.raises(UnknownNameError, match="did you mean 'pendulum'"):
        biswal().with_tail("pendulim")
    with pytest.raises(RobotError, match=r"tail: got 3; required: a tail, such as tailwork.robots.pendulum"):
        biswal().with_tail(3)
    with pytest.raises(RobotError, match="described in full, such as FreeTail"):
        named_tail("tail")
    with pytest.raises(RobotError, match="a mass greater than 0"):
        with_named_tail(biswal(), "r3", mass=-1.0)
    with pytest.raises(RobotError, match=r"--tail of a command, puts one on"):
        with_named_tail(biswal(), "own")


def test_a_tail_that_is_turned_is_replaced_by_one_that_is() -> None:
    """Spirit 40's tail stands up: so does another one in its place, unless it is told where it hangs."""
    robot = spirit40()
    model = Model(robot.with_tail("r3"), "none")
    q = model.standing()
    up = model.part_momenta(q, np.zeros(len(model.velocity_names))).centers[model.part_names.index("tail")] - q[:3]
    mount = np.array(robot.limbs()["tail"].joints[0].offset)
    assert (up - mount)[2] > 0.3 and np.abs((up - mount)[:2]).max() < 1e-12
    assert not any(robot.with_tail(pendulum(length=0.3, mass=0.2), mount=(-0.2, 0.0, 0.0)).part("tail").mount_rotation)


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        ({"mass": 600.0}, "600 g are 0.6"), ({"length": 500.0}, "500 mm are 0.5"),
        ({"mount": (0.0, -250.0, 0.0)}, "250 mm are 0.25"),
    ],
)  # fmt: skip
def test_sizes_that_look_like_typing_errors(tail: dict[str, object], said: str) -> None:
    """Grams and millimetres are pointed out; usual tails warn of nothing (warnings are errors here)."""
    usual: dict[str, object] = {"length": 0.5, "mass": 1.0, "mount": (0.0, -0.25, 0.0)}
    with pytest.warns(UserWarning, match=said):
        liu2020().with_tail(pendulum(**usual | tail))  # type: ignore[arg-type]
    liu2020().with_tail(pendulum(**usual))  # type: ignore[arg-type]
