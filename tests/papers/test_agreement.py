"""The engine and the papers' own formulations, written apart from each other, say the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from oracles.layout import Array, Layout, relative
from oracles.states import random_design, random_state
from tailwork.model import Model
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.papers.liu2018 import model as paper2018
from tailwork.papers.liu2020 import model as paper2020
from tailwork.robots import liu2018, liu2020, pendulum, r3, usrt
from tailwork.robots.robot import Robot, Torso

ALL = ("leg1", "leg2", "leg3", "leg4")
MOUNT = (0.02, -0.3, 0.05)
FULL = (9e-5, 16e-5, 18e-5, 1e-5, -2e-5, 3e-5)  # kg m², an inertia with products
SIGNS_2018 = np.tile([1.0, -1.0, 1.0], 4)  # hb counts the other way round in 2018


def odd(tail: object, knee: str) -> Robot:
    """A robot without symmetries: centre of mass off P, full inertia, unequal feet."""
    base = liu2020(None)
    feet = ((0.17, 0.27, 0.01), (-0.12, 0.22, 0.02), (-0.16, -0.29, -0.01), (0.13, -0.21, 0.0))
    legs = replace(base.part("legs"), thigh_length=0.28, shank_length=0.23, shank_mass=0.7, feet=feet, knee=knee)
    torso = Torso(mass=11.0, com=(0.01, -0.02, 0.03), inertia=(0.3, 0.2, 0.35, 0.01, -0.02, 0.03))
    return replace(base, torso=torso, parts={"legs": legs, "tail": tail}, gravity=9.6)


ROBOTS = {
    "pendulum": liu2020("pendulum"),
    "r3": liu2020("r3"),
    "usrt": liu2020("usrt"),
    "no tail": liu2020(None),
    "odd pendulum": odd(pendulum(length=0.5, mass=0.7, tip_mass=0.4, mount=MOUNT, armature=0.003), "backward"),
    "odd r3": odd(
        r3(links_per_segment=2, segments=3, base_com=(0.01, 0.02, -0.03), base_inertia=FULL, link_inertia=FULL,
           mount=MOUNT), "forward",
    ),
    "odd usrt": odd(
        usrt(links=4, segments=3, link_inertia=FULL, point_a=(0.004, 0.003, 0.03), point_b=(-0.006, 0.02, 0.02),
             hole_height=0.1, mount=MOUNT, extension_stiffness=(900.0, 300.0)), "backward",
    ),
}  # fmt: skip


def states(robot: Robot, count: int = 4) -> list[tuple[Robot, Array, Array, Array, Array]]:
    """The robot, then random designs of it, each with q, v, tau and a in a random state."""
    found = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        design = random_design(robot, rng) if seed else robot
        q, v, tau = random_state(design, ALL, rng)
        found.append((design, q, v, tau, 5.0 * rng.normal(size=len(v))))
    return found


def scaled(found: Array, expected: Array) -> tuple[Array, Array]:
    """Mass matrices with ones on the diagonal, so that a link of the tail counts as much as the torso."""
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    return found / scale, expected / scale


@pytest.mark.measured("equations")
@pytest.mark.parametrize("name", ROBOTS)
def test_2020(measured: Callable[..., None], name: str) -> None:
    """Liu & Ben-Tzvi 2020, Eqs. 3 and 68–84: matrices, bias, inverse and forward dynamics."""
    for robot, q, v, tau, a in states(ROBOTS[name]):
        model, layout = Model(robot), Layout(robot, ALL)
        apart = relative(*scaled(model.mass_matrix(q), paper2020.mass_matrix(robot, q)))
        measured("mass matrix beside the formulas of 2020, seven robots", apart, at_most=2e-14)
        assert layout.difference(model.bias(q, v), paper2020.bias(robot, q, v)) < 2e-13
        assert layout.difference(model.generalised_force(q, v, a), paper2020.inverse_dynamics(robot, q, v, a)) < 2e-13
        actuation = paper2020.actuation_matrix(robot, q)
        assert relative(model.actuation_matrix(q), actuation) < 3e-14
        expected = np.linalg.solve(paper2020.mass_matrix(robot, q), actuation @ tau - paper2020.bias(robot, q, v))
        apart = layout.difference(model.forward_dynamics(q, v, tau), expected)
        measured("accelerations beside the formulas of 2020, seven robots", apart, at_most=1e-12)


@pytest.mark.measured("equations")
def test_2018(measured: Callable[..., None]) -> None:
    """Liu & Ben-Tzvi 2018, Eqs. 27–55: the same, in the paper's own leg angles and split of the actuators."""
    for robot, q, v, tau, a in states(liu2018(), 8):
        model, layout = Model(robot), Layout(robot, ALL)
        mass, bias = paper2018.mass_matrix(robot, q), paper2018.coriolis(robot, q, v) + paper2018.gravity(robot, q)
        assert relative(*scaled(model.mass_matrix(q), mass)) < 2e-14
        assert layout.difference(model.bias(q, v), bias) < 5e-14
        assert layout.difference(model.generalised_force(q, v, a), paper2018.inverse_dynamics(robot, q, v, a)) < 5e-14
        redundant = [model.actuator_names.index(name) for name in LIU2018_REDUNDANT]
        others = [k for k in range(14) if k not in redundant]
        # 2018 lists ha of legs 1 and 2, then the knees; ours go leg by leg.
        ours = ["leg1.ha", "leg2.ha", *(f"leg{i}.k" for i in (1, 2, 3, 4)), "tail.ta", "tail.tb"]
        columns = [model.actuator_names.index(name) for name in ours]
        assert sorted(columns) == others
        signs = np.concatenate([SIGNS_2018, [1.0, 1.0]])
        j_a, j_p = paper2018.actuation_jacobians(robot, q)
        assert relative(model.actuation_matrix(q)[:, columns], j_a.T) < 1e-14
        assert relative((model.actuation_matrix(q) * signs)[:, redundant], j_p.T) < 1e-14
        expected = paper2018.forward_dynamics(robot, q, v, tau[columns], (tau * signs)[redundant])
        apart = layout.difference(model.forward_dynamics(q, v, tau), expected)
        measured("accelerations beside the formulas of 2018", apart, at_most=1e-13)
