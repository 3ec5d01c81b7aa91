"""Tails beyond the papers': each moves as two engines say, and becomes a simpler one where it should."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest

from oracles.layout import Array, relative
from oracles.mujoco_oracle import MujocoOracle
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import random_state
from tailwork import simulate
from tailwork.control import Constant
from tailwork.errors import ArgumentError
from tailwork.model import Model
from tailwork.robots import (
    R3,
    Articulated,
    Body,
    Continuum,
    FreeTail,
    Joint,
    Limb,
    Pendulum,
    ReactionWheel,
    Robot,
    Torso,
    TwoLink,
    liu2020,
)  # fmt: skip
from tailwork.robots.tails.tail import Tail

ALL = ("leg1", "leg2", "leg3", "leg4")
MOUNT = (0.0, -0.25, 0.02)
BAR = {"link_length": 0.48, "link_com": 0.24, "link_mass": 1.0, "link_inertia": (0.0192, 0.0, 0.0192, 0.0, 0.0, 0.0)}
TAILS: dict[str, Tail] = {
    "articulated": Articulated(links_per_segment=3, mount=MOUNT),
    "articulated by cables, in a plane": Articulated(axes=("yaw",), drive="cables", segments=3, mount=MOUNT),
    "continuum": Continuum(
        length=0.5, mass=0.6, rigidity=0.4, damping_rigidity=0.01, links=4, segments=2, taper=0.4, mount=MOUNT,
        section_inertia=(1e-4, 2e-4, 1e-4, 0.0, 0.0, 0.0), carried_gravity=9.8,
    ),
    "continuum by motors": Continuum(
        length=0.5, mass=0.6, rigidity=0.4, links=3, drive="motors", armature=0.002, mount=MOUNT
    ),
    "two links": TwoLink(first_length=0.3, second_length=0.2, first_mass=0.6, second_mass=0.3, mount=MOUNT),
    "two links, passive": TwoLink(
        first_length=0.3, second_length=0.2, first_mass=0.6, second_mass=0.3, tip_mass=0.1, second="passive",
        stiffness=2.0, damping=0.03, armature=0.01, mount=MOUNT,
    ),
    "wheels": ReactionWheel(mass=0.4, radius=0.1, mount=MOUNT),
}  # fmt: skip


def carrying(tail: Tail) -> Robot:
    """The 2020 robot with a tail."""
    return liu2020(None).with_part("tail", tail)


@pytest.mark.measured("tails")
@pytest.mark.parametrize("name", TAILS)
def test_accelerations(measured: Callable[..., None], name: str) -> None:
    """Accelerations and foot forces are those of a dense solve of Pinocchio's matrices, and MuJoCo's."""
    rng, robot = np.random.default_rng(1), carrying(TAILS[name])
    model, oracle, other = Model(robot), PinocchioOracle(robot, ALL), MujocoOracle(robot, ALL)
    for k in range(3):
        q, v, tau = random_state(robot, ALL, rng)
        found, (expected, feet) = model.path(q, v, tau), oracle.accelerations(q, v, tau)
        apart = oracle.layout.difference(found.acceleration, expected)
        measured("accelerations with other tails beside Pinocchio's matrices", apart, at_most=1e-12)
        assert relative(found.foot_forces, feet) < 5e-13
        if k == 0:
            assert oracle.layout.difference(found.acceleration, other.accelerations(q, v, tau)[0]) < 1e-8


@pytest.mark.parametrize("name", TAILS)
def test_energy(name: str) -> None:
    """In a run of 0.1 s energy grows by what motors give and dampers take, to the tolerance of the method."""
    robot = carrying(TAILS[name]).without("legs")
    model = Model(robot)
    rng = np.random.default_rng(2)
    q, v, tau = random_state(robot, (), rng)
    run = simulate(model, (q, v), 0.1, control=Constant(values=tuple(0.1 * tau)), rtol=1e-10, atol=1e-12)
    assert run.energy_balance_error() < 1e-9


def accelerations(robot: Robot, q: Array, v: Array, tau: Array) -> Array:
    """Of a robot in the air."""
    return Model(robot, "none").forward_dynamics(q, v, tau)


def test_an_articulated_tail_of_one_link_is_the_pendulum() -> None:
    """The same accelerations, and the same coordinates for every direction."""
    one = Articulated(links_per_segment=1, segments=1, mount=MOUNT, **BAR)
    pendulum = Pendulum(length=0.48, mass=1.0, mount=MOUNT)
    robots = [carrying(tail).without("legs") for tail in (one, pendulum)]
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v, tau = random_state(robots[1], (), rng)
        found, expected = (accelerations(robot, q, v, tau) for robot in robots)
        assert relative(found, expected) < 1e-12
        alpha, theta = rng.uniform(-3.0, 3.0), rng.uniform(-1.4, 1.4)
        for angle in ("arc", "chain", "tip"):
            ours = one.coordinates(alpha, theta, angle)
            assert list(ours.values()) == list(pendulum.coordinates(alpha, theta, angle).values())


def with_base_on_torso(robot: Robot, tail: R3) -> Robot:
    """A robot whose torso holds the base of an R3, too, which does not roll."""
    bodies = (robot.torso_body(), Body(mass=tail.base_mass, com=tail.mount, inertia=tail.base_inertia))
    masses = np.array([float(body.mass) for body in bodies])
    places = np.array([body.com for body in bodies], dtype=float)
    center = masses @ places / masses.sum()
    whole = np.zeros((3, 3))
    for body, mass, place in zip(bodies, masses, places - center, strict=True):
        xx, yy, zz, xy, xz, yz = (float(x) for x in body.inertia)
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        whole += own + mass * (place @ place * np.eye(3) - np.outer(place, place))
    inertia = (whole[0, 0], whole[1, 1], whole[2, 2], whole[0, 1], whole[0, 2], whole[1, 2])
    return dataclasses.replace(robot, torso=Torso(mass=masses.sum(), com=tuple(center), inertia=inertia))


def test_an_articulated_tail_in_a_plane_is_the_r3() -> None:
    """With hinges about x alone, geared by segment and pulled by cables as the R3's, while the robot moves in the plane
    in which the R3 does not roll."""
    r3 = R3(mount=MOUNT, links_per_segment=4)
    flat = Articulated(links_per_segment=4, axes=("pitch",), drive="cables", mount=MOUNT)
    rolling = carrying(r3).without("legs")
    planar = with_base_on_torso(carrying(flat).without("legs"), r3)
    rng = np.random.default_rng(4)
    for _ in range(3):
        q, v, tau = np.zeros(8), np.zeros(8), rng.uniform(-20.0, 20.0, 2)
        q[[1, 2, 3, 6, 7]], v[[1, 2, 3, 6, 7]] = rng.uniform(-0.3, 0.3, 5), rng.normal(size=5)
        found = accelerations(planar, q, v, tau)
        rolled, rolls = (np.insert(x, 6, 0.0) for x in (q, v))
        expected = accelerations(rolling, rolled, rolls, np.insert(tau, 0, 0.0))
        assert abs(expected[6]) < 1e-12 * np.abs(expected).max()
        assert relative(found, np.delete(expected, 6)) < 1e-12


def test_two_links_in_line_are_the_pendulum() -> None:
    """Where the second joint is as good as rigid, two bars behind each other move as the one bar that they are."""
    both = TwoLink(
        first_length=0.2, second_length=0.28, first_mass=0.2, second_mass=0.28, second="passive", stiffness=1e9,
        mount=MOUNT,
    )  # fmt: skip
    one = Pendulum(length=0.48, mass=0.48, mount=MOUNT)
    models = [Model(carrying(tail).without("legs"), "none") for tail in (both, one)]
    q, v, tau = random_state(models[1].robot, (), np.random.default_rng(5))
    expected = models[1].forward_dynamics(q, v, tau)
    # A rigid joint transmits what it must: solve for the torques at which the second joint does not accelerate.
    places, rates = (np.append(x, [0.0, 0.0]) for x in (q, v))
    active = Model(carrying(dataclasses.replace(both, second="active", stiffness=0.0)).without("legs"), "none")

    def second(torques: Array) -> Array:
        return active.forward_dynamics(places, rates, np.append(tau, torques))

    start = second(np.zeros(2))
    slope = np.column_stack([second(row) - start for row in np.eye(2)])
    held = second(np.array(np.linalg.solve(slope[8:], -start[8:]), dtype=np.float64))
    assert relative(held[:8], expected) < 1e-12


def test_reaction_wheel_turns_the_torso_by_the_ratio_of_inertias() -> None:
    """In the air, at rest at first: torso and wheel keep I_torso a + I_wheel (a + b) = 0, whatever the torque does."""
    wheel = ReactionWheel(mass=0.5, radius=0.12, wheels=("yaw",))
    robot = Robot(
        name="disc", torso=Torso(mass=5.0, inertia=(0.1, 0.1, 0.15, 0.0, 0.0, 0.0)), parts={"tail": wheel}, gravity=0.0
    )
    model = Model(robot, "none")
    own = 0.5 * 0.5 * 0.12**2
    run = simulate(model, (np.zeros(7), np.zeros(7)), 0.5, control=Constant(values=(0.02,)), rtol=1e-12, atol=1e-14)
    torso, turned = run.data["q"].to_numpy()[-1, [5, 6]]
    np.testing.assert_allclose(turned, 0.5 * 0.02 * 0.5**2 * (1.0 / own + 1.0 / 0.15), rtol=1e-12)
    np.testing.assert_allclose(torso, -turned * own / (0.15 + own), rtol=1e-12)


@pytest.mark.parametrize("name", TAILS)
def test_totals_and_links(name: str) -> None:
    """A copy with other totals has them, and one with other links the same ones."""
    tail = TAILS[name]
    wanted = {"total_mass": 1.3, "total_length": 0.7}
    other = tail.with_totals({key: value for key, value in wanted.items() if key in tail.totals()})
    for total in tail.totals():
        assert other.total(total) == pytest.approx(wanted[total], rel=1e-14)
    if isinstance(tail, (Articulated, Continuum)):
        more = tail.with_links(5)
        assert more.links == 5 * (tail.segments if isinstance(tail, Articulated) else 1)
        assert more.total_mass() == pytest.approx(tail.total_mass(), rel=1e-14)
        assert more.total_length() == pytest.approx(tail.total_length(), rel=1e-14)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Articulated(links_per_segment=0), "an integer from 1"),
        (lambda: Articulated(axes=("roll",)), "'pitch', 'yaw'"),
        (lambda: Articulated(drive="ropes"), "motors"),
        (lambda: Continuum(rigidity=0.0, damping_rigidity=0.0), "rigidity or damping_rigidity"),
        (lambda: Continuum(length=0.5, mass=1.0, rigidity=1.0, taper=1.0), "a share below 1"),
        (lambda: Continuum(length=0.5, mass=1.0, rigidity=1.0, drive="motors", segments=2), "1 with motors"),
        (lambda: TwoLink(first_length=1.0, second_length=1.0, first_mass=1.0, second_mass=1.0, second="no"), "passi"),
        (lambda: ReactionWheel(mass=1.0, radius=0.1, wheels=("pitch", "pitch")), "each once"),
        (lambda: ReactionWheel(mass=1.0, radius=0.1, gyration=1.2), "at most 1"),
        (lambda: ReactionWheel(mass=1.0, radius=0.1).with_totals({"total_length": 1.0}), "one of total_mass"),
    ],
)  # fmt: skip
def test_impossible_tails(make: object, said: str) -> None:
    """Each says what is required."""
    with pytest.raises(ArgumentError, match=said):
        make()  # type: ignore[operator]


def test_a_gearing_without_inverse() -> None:
    """Coordinates that move the joints alike cannot be told apart: refused, where the mass matrix would be singular."""
    joints = tuple(
        Joint(name=f"j{k}", axis=(1.0, 0.0, 0.0), parent=f"j{k - 1}" if k else None, body=Body(mass=1.0))
        for k in range(3)
    )
    with pytest.raises(ArgumentError, match="gearing"):
        FreeTail(shape=Limb(joints=joints, coordinates=("a", "b"), gearing=((1.0, 2.0), (2.0, 4.0), (3.0, 6.0))))


def test_a_plane_that_a_tail_does_not_have() -> None:
    """A tail with hinges about z alone cannot bend down."""
    flat = Articulated(axes=("yaw",))
    flat.check_directions(np.array([-math.pi / 2]), np.array([0.5]))
    with pytest.raises(ArgumentError, match="plane of this tail"):
        flat.check_directions(np.array([0.0]), np.array([0.5]))


def test_actuators_ride_at_the_mount() -> None:
    """A tail's actuators are a point mass at its mount: they add ½ m v² and m g z of that point, and its momentum; a
    tail that is only named gets as heavy ones as the tail that it replaces."""
    bare = liu2020("pendulum").replace({"tail.mount": MOUNT})
    robot, mass = bare.replace({"tail.actuator_mass": 0.7}), 0.7
    q, v, _ = random_state(bare, (), np.random.default_rng(3))
    model, without = Model(robot, "none"), Model(bare, "none")
    place = model.points(q)[model.point_names.index("tail.ta")]
    speed = model.point_jacobian("tail.ta", q) @ v
    energy, before = model.energy(q, v), without.energy(q, v)
    assert energy.kinetic - before.kinetic == pytest.approx(0.5 * mass * speed @ speed, rel=1e-11)
    assert energy.gravitational - before.gravitational == pytest.approx(mass * robot.gravity * place[2], rel=1e-11)
    gained = model.centroidal_momentum(q, v).linear - without.centroidal_momentum(q, v).linear
    np.testing.assert_allclose(gained, mass * speed, rtol=0, atol=1e-12)
    assert robot.mass() - bare.mass() == pytest.approx(mass, rel=1e-13)
    assert robot.with_tail("r3").mass() == pytest.approx(robot.mass(), rel=1e-13)
