"""The continuum tail converges to the elastic rod that it stands for, and is the USRT where it has its numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from oracles.layout import Array, relative
from oracles.states import random_state
from tailwork.model import Model, Push
from tailwork.robots import Continuum, Pendulum, Robot, Usrt, liu2020
from tailwork.robots.tails.tail import Tail

LENGTH, MASS, RIGIDITY = 0.5, 0.3, 0.8
ROOTS = (1.87510407, 4.69409113, 7.85475744)
"""Of cos x cosh x = −1: natural frequencies of a cantilever are (root/length)² √(EI/mass per length)."""


def held(tail: Tail, gravity: float = 0.0) -> Model:
    """A tail on a torso that does not move, with a place at its tip for a force."""
    robot = dataclasses.replace(liu2020(None).without("legs"), gravity=gravity).with_part("tail", tail)
    tip = robot.limbs()["tail"].tip
    assert tip is not None
    return Model(robot, "none", torso="fixed", pushes=(Push("tail", tip.joint, tip.point),))


def rod(links: int, **changes: object) -> Continuum:
    """A rod of so many links."""
    numbers = {"length": LENGTH, "mass": MASS, "rigidity": RIGIDITY, "links": links}
    numbers |= {"damping_rigidity": 0.0, "carried_gravity": 0.0}
    return Continuum(**numbers | changes)  # type: ignore[arg-type]


def stiffness(model: Model, q: Array, force: Array) -> Array:
    """d(bias)/dq by central differences."""
    still, step = np.zeros(len(model.velocity_names)), 1e-6
    rows = [
        (model.bias(q + step * e, still, forces=force) - model.bias(q - step * e, still, forces=force)) / (2 * step)
        for e in np.eye(len(q))
    ]
    return np.array(rows).T


def at_rest(model: Model, force: Array, steps: int = 4) -> Array:
    """Coordinates at which springs, weight and a force at the tip balance: Newton's method, the load in parts."""
    q = np.zeros(len(model.coordinate_names))
    for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
        for _ in range(8):
            load = model.bias(q, np.zeros_like(q), forces=share * force)
            q = q - np.linalg.solve(stiffness(model, q, share * force), load)
    assert np.abs(model.bias(q, np.zeros_like(q), forces=force)).max() < 1e-9
    return q


def tip(model: Model, q: Array) -> Array:
    """Where the tip is [m]."""
    return model.points(q)[model.point_names.index("tail.tip")]


def falls_as_the_square(errors: list[float]) -> None:
    """Twice the links, a quarter of the error."""
    for coarse, fine in pairwise(errors):
        assert fine < coarse / 3.7


@pytest.mark.measured("tails")
def test_small_deflection(measured: Callable[..., None]) -> None:
    """A cantilever under a small force at its tip: F L³/(3 EI)."""
    errors, force = [], 1e-4
    for links in (4, 8, 16):
        model = held(rod(links))
        down = -tip(model, at_rest(model, np.array([[0.0, 0.0, -force]]), 1))[2]
        errors.append(abs(down / (force * LENGTH**3 / (3.0 * RIGIDITY)) - 1.0))
    falls_as_the_square(errors)
    measured("deflection of a cantilever of 16 links", errors[-1], at_most=0.002)


def elastica(force: float) -> Array:
    """Tip of a cantilever under a large vertical force: EI theta'' = −F cos theta, theta(0) = 0, theta'(L) = 0."""

    def slope(s: Array, y: Array) -> Array:
        return np.array([y[1], -force / RIGIDITY * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    grid = np.linspace(0.0, LENGTH, 41)
    found = solve_bvp(
        slope, lambda a, b: np.array([a[0], b[1], a[2], a[3]]), grid, np.zeros((4, len(grid))), tol=1e-10,
        max_nodes=20000,
    )  # fmt: skip
    assert found.success
    return np.array([-found.y[2, -1], -found.y[3, -1]])


@pytest.mark.measured("tails")
def test_large_deflection(measured: Callable[..., None]) -> None:
    """The same under a force that bends it by two thirds of a right angle: Euler's elastica."""
    force = 3.0 * RIGIDITY / LENGTH**2
    y, z = elastica(force)
    assert abs(z) > 0.59 * LENGTH
    errors = []
    for links in (4, 8, 16):
        model = held(rod(links))
        place = tip(model, at_rest(model, np.array([[0.0, 0.0, -force]])))
        assert abs(place[0]) < 1e-9
        errors.append(float(np.hypot(place[1] - y, place[2] - z)) / LENGTH)
    falls_as_the_square(errors)
    measured("tip of an elastica of 16 links, share of its length", errors[-1], at_most=0.002)


@pytest.mark.measured("tails")
@pytest.mark.parametrize("drive", ["cables", "motors"])
def test_natural_frequencies(measured: Callable[..., None], drive: str) -> None:
    """The first three of a clamped rod, in both planes; with motors, of one whose motors stand still."""
    errors = []
    for links in (5, 10, 20):
        model = held(rod(links, drive=drive))
        q, none = np.zeros(len(model.coordinate_names)), np.zeros((1, 3))
        free = [k for k, name in enumerate(model.coordinate_names) if name not in ("tail.ta", "tail.tb")]
        mass, stiff = (m[np.ix_(free, free)] for m in (model.mass_matrix(q), stiffness(model, q, none)))
        squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiff)).real)[:6]
        found = np.sqrt(np.sqrt(squares * MASS / LENGTH / RIGIDITY)) * LENGTH
        errors.append(float(np.abs(found / np.repeat(ROOTS, 2) - 1.0).max()))
    falls_as_the_square(errors)
    measured("roots of the first three frequencies of a cantilever of 20 links", errors[-1], at_most=0.004)


def test_sag() -> None:
    """A level rod sags by w L⁴/(8 EI) under a small weight, and not at all in the gravity that it is made for."""
    gravity = 1e-3
    force = np.zeros((1, 3))
    down = -tip(model := held(rod(16), gravity), at_rest(model, force, 1))[2]
    assert down == pytest.approx(MASS / LENGTH * gravity * LENGTH**4 / (8.0 * RIGIDITY), rel=0.004)
    made = held(rod(5, carried_gravity=9.81, taper=0.5), 9.81)
    still = np.zeros(len(made.coordinate_names))
    assert np.abs(made.bias(still, still, forces=force)).max() < 1e-15


def test_taper() -> None:
    """Links of a tapered rod have the mass, centre and inertia of a cone, however many they are."""
    taper = 0.6
    radius = np.polynomial.Polynomial([1.0, -taper])  # of the share of the length
    square = radius**2 / (radius**2).integ()(1.0)
    x = np.polynomial.Polynomial([0.0, 1.0])
    center, second = ((square * x**k).integ()(1.0) * MASS * LENGTH**k for k in (1, 2))
    for links, drive in ((1, "cables"), (3, "motors"), (7, "cables")):
        tail = rod(links, taper=taper, drive=drive)
        bodies, places, place = [], [], 0.0
        for joint in tail.limb.joints:
            place -= joint.offset[1]
            if joint.body is not None:
                bodies.append(joint.body)
                places.append(place - joint.body.com[1])
        assert sum(body.mass for body in bodies) == pytest.approx(MASS, rel=1e-14)
        pairs = list(zip(bodies, places, strict=True))
        assert sum(body.mass * at for body, at in pairs) == pytest.approx(center, rel=1e-13)
        whole = sum(body.inertia[0] + body.mass * at**2 for body, at in pairs)
        assert whole == pytest.approx(second, rel=1e-13)
        assert whole == pytest.approx(tail.inertia_about_mount(), rel=1e-13)


def test_a_straight_rod_is_a_bar() -> None:
    """Very stiff, straight and at rest, it hangs on the torso as a clamped bar: the same inertia about the mount."""
    assert rod(9).inertia_about_mount() == pytest.approx(
        Pendulum(length=LENGTH, mass=MASS).inertia_about_mount(), rel=1e-14
    )


def test_with_the_numbers_of_the_usrt_it_is_the_usrt() -> None:
    """Without extension springs: the same accelerations in any state, under the same tensions."""
    usrt = Usrt(extension_stiffness=(0.0,), extension_rest=(0.0,), mount=(0.0, -0.25, 0.0))
    step, mass = 0.08, 0.17
    xx, yy, zz = (17.41e-5 - mass * step**2 / 12, 8.3e-5, 16.6e-5 - mass * step**2 / 12)
    tail = Continuum(
        length=6 * step, mass=6 * mass, rigidity=20.0 * step, damping_rigidity=1.0 * step, links=6, segments=2,
        section_inertia=(xx / step, yy / step, zz / step, 0.0, 0.0, 0.0), com_share=0.0466 / step, first_joint=1.0,
        hole_height=0.0035, carried_gravity=0.0, mount=(0.0, -0.25, 0.0),
    )  # fmt: skip
    robots: list[Robot] = [liu2020(None).with_part("tail", one) for one in (tail, usrt)]
    rng, legs = np.random.default_rng(1), ("leg1", "leg2", "leg3", "leg4")
    ours, theirs = (Model(robot) for robot in robots)
    assert ours.coordinate_names == theirs.coordinate_names
    for _ in range(3):
        q, v, tau = random_state(robots[1], legs, rng)
        assert relative(ours.forward_dynamics(q, v, tau), theirs.forward_dynamics(q, v, tau)) < 1e-12
