"""Accelerations and foot forces are those of two independent engines, for any state, design, stance and tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from oracles.layout import Array, PointForce, relative
from oracles.mujoco_oracle import MujocoOracle
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import ROBOTS, random_design, random_state, random_tree
from tailwork.algebra.expression import Scalar
from tailwork.model import Model, Push
from tailwork.robots import Cable, Hole, JointSpring, ThreeHingeLegs, liu2020, r3, usrt
from tailwork.robots.limb import Limb
from tailwork.robots.quantities import nonnegative
from tailwork.robots.robot import Robot

ALL = ("leg1", "leg2", "leg3", "leg4")
CASES = [
    *((name, ALL) for name in ROBOTS if name != "blaberus"),
    ("liu2018", ("leg1", "leg3")),
    ("pendulum", ("leg1", "leg3", "leg4")),
    ("r3", ("leg4",)),
    ("usrt", ("leg2", "leg4")),
    ("biswal", ("leg1", "leg4")),
    *((name, ()) for name in ("pendulum", "r3", "usrt", "biswal", "blaberus")),
]
every_case = pytest.mark.parametrize(
    ("name", "stance"), CASES, ids=lambda x: x if isinstance(x, str) else f"{len(x)}feet"
)
PINOCCHIO = dict.fromkeys(ROBOTS, 2e-13) | {"usrt": 2e-12}  # springs of 2900 N/m on links of 0.17 kg cost a digit
MUJOCO = 1e-8


def seeded(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Runs a test for some seeds, the same ones every time; a seed cannot be made simpler, so none is shrunk."""
    setting = settings(max_examples=examples, derandomize=True, deadline=None, database=None, phases=(Phase.generate,))
    return lambda test: setting(given(seed=st.integers(0, 2**32 - 1))(test))


def random_case(name: str, stance: tuple[str, ...], seed: int) -> tuple[Robot, Array, Array, Array]:
    """A random design of a robot and a random state of it."""
    rng = np.random.default_rng(seed)
    robot = random_design(ROBOTS[name], rng)
    return robot, *random_state(robot, stance, rng)


@pytest.mark.measured("equations")
@every_case
@seeded(8)
def test_pinocchio(measured: Callable[..., None], name: str, stance: tuple[str, ...], seed: int) -> None:
    """Accelerations and foot forces are those of a dense solve of Pinocchio's matrices, for any design and state."""
    robot, q, v, tau = random_case(name, stance, seed)
    model, oracle = Model(robot, stance), PinocchioOracle(robot, stance)
    expected, feet = oracle.accelerations(q, v, tau)
    found = model.path(q, v, tau)
    assert oracle.layout.difference(model.forward_dynamics(q, v, tau), expected) < PINOCCHIO[name]
    apart = oracle.layout.difference(found.acceleration, expected)
    measured(f"accelerations beside Pinocchio's matrices, {name}", apart, at_most=PINOCCHIO[name])
    measured("foot forces beside Pinocchio's matrices, all robots", relative(found.foot_forces, feet), at_most=5e-13)


@pytest.mark.measured("equations")
@every_case
@seeded(2)
def test_mujoco(measured: Callable[..., None], name: str, stance: tuple[str, ...], seed: int) -> None:
    """Accelerations and foot forces are MuJoCo's, as nearly as its soft constraints can tell."""
    robot, q, v, tau = random_case(name, stance, seed)
    found, oracle = Model(robot, stance).path(q, v, tau), MujocoOracle(robot, stance)
    expected, feet = oracle.accelerations(q, v, tau)
    apart = oracle.layout.difference(found.acceleration, expected)
    measured("accelerations beside MuJoCo, refined, all robots", apart, at_most=MUJOCO)
    measured("foot forces beside MuJoCo, refined, all robots", relative(found.foot_forces, feet), at_most=MUJOCO)


@pytest.mark.parametrize("name", ["pendulum", "r3", "usrt", "biswal", "blaberus"])
def test_fixed_torso(name: str) -> None:
    """With the torso fixed to the ground, limbs move as Pinocchio says."""
    rng = np.random.default_rng(1)
    for robot in (ROBOTS[name], random_design(ROBOTS[name], rng)):
        model, oracle = Model(robot, "none", torso="fixed"), PinocchioOracle(robot, torso="fixed")
        q, v, tau = random_state(robot, (), rng, "fixed")
        assert oracle.layout.difference(model.forward_dynamics(q, v, tau), oracle.accelerations(q, v, tau)[0]) < 2e-13


@pytest.mark.parametrize(
    "tail",
    [
        usrt(links=4, segments=2, mount=(0.0, -0.25, 0.0)),
        usrt(links=9, segments=3, link_length=0.05, link_com=0.03, link_mass=0.11, mount=(0.0, -0.25, 0.0)),
        r3(links_per_segment=3, segments=3, mount=(0.0, -0.25, 0.0)),
    ],
    ids=["usrt-4", "usrt-9", "r3-3x3"],
)
def test_other_numbers_of_links(tail: object) -> None:
    """Tails of any number of links and segments move as Pinocchio says."""
    rng = np.random.default_rng(2)
    robot = liu2020(None).with_part("tail", tail)
    model, oracle = Model(robot), PinocchioOracle(robot, ALL)
    for _ in range(5):
        q, v, tau = random_state(robot, ALL, rng)
        expected, feet = oracle.accelerations(q, v, tau)
        found = model.path(q, v, tau)
        assert oracle.layout.difference(found.acceleration, expected) < 1e-12
        assert relative(found.foot_forces, feet) < 5e-13


@dataclass(frozen=True, kw_only=True)
class SprungLegs(ThreeHingeLegs):
    """Legs with rotors, a spring and damper at the knee, and a cable from the torso through the thigh to the shank."""

    armature: Scalar = nonnegative("kg m^2", 0.03)
    stiffness: Scalar = nonnegative("N m/rad", 30.0)
    damping: Scalar = nonnegative("N m s/rad", 0.8)

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The legs."""
        return {key: self._sprung(limb) for key, limb in super().limbs(name, forward).items()}

    def _sprung(self, limb: Limb) -> Limb:
        x, y, z = limb.joints[0].offset
        route = (
            Hole(joint=None, point=(x + 0.02, y + 0.1, z + 0.03)),
            Hole(joint="hb", point=(0.01, 0.05, -0.1)),
            Hole(joint="k", point=(0.0, 0.04, -0.05)),
        )
        return dataclasses.replace(
            limb,
            joints=tuple(dataclasses.replace(joint, armature=self.armature) for joint in limb.joints),
            springs=(JointSpring(joint="k", stiffness=self.stiffness, rest=-0.9, damping=self.damping),),
            actuators=(*limb.actuators, Cable(name="pull", route=route)),
        )


def with_sprung_legs() -> Robot:
    """The 2020 robot on such legs, with rotors in its tail too."""
    robot = liu2020("pendulum").replace({"tail.armature": 0.01})
    plain = robot.part("legs")
    fields = {f.name: getattr(plain, f.name) for f in dataclasses.fields(plain)}
    return robot.with_part("legs", SprungLegs(**fields))


def test_rotors_springs_and_cables_in_legs() -> None:
    """Stance and swing legs may have rotors, springs, dampers and cables: all act as in Pinocchio."""
    rng, stance = np.random.default_rng(3), ("leg1", "leg3")
    for robot in (with_sprung_legs(), random_design(with_sprung_legs(), rng)):
        model, oracle = Model(robot, stance), PinocchioOracle(robot, stance)
        q, v, _ = random_state(robot, stance, rng)
        tau = rng.uniform(0.0, 20.0, len(model.actuator_names))
        expected, feet = oracle.accelerations(q, v, tau)
        found = model.path(q, v, tau)
        assert oracle.layout.difference(found.acceleration, expected) < 2e-14
        assert relative(found.foot_forces, feet) < 1e-13
        passive = oracle.generalised_forces(q, v, np.zeros(len(tau)))
        assert relative(model.mass_matrix(q), oracle.mass_matrix(q)) < 1e-14
        assert relative(model.bias(q, v), oracle.bias(q, v) - passive) < 1e-14
        assert relative(model.actuation_matrix(q) @ tau, oracle.generalised_forces(q, v, tau) - passive) < 1e-14


def test_cables_in_stance_legs_help_to_stand() -> None:
    """Cables of stance legs share the torso with all motors: together they hold it, and none pushes."""
    model = Model(with_sprung_legs())
    q, zero = model.standing(), np.zeros(8)
    efforts = model.static_torques(q)
    assert np.abs(model.forward_dynamics(q, zero, efforts)).max() < 1e-8
    cables = [k for k, unit in enumerate(model.actuator_units) if unit == "N"]
    assert len(cables) == 4 and (efforts[cables] >= 0.0).all()


PUSHES = {
    "r3": (Push("tail", "bend_4", (0.0, -0.02, 0.05)), Push("tail", "roll", (0.1, 0.0, 0.0))),
    "usrt": (Push("tail", "theta_3", (0.03, -0.04, 0.0)), Push("tail", "phi_5", (0.0, 0.02, 0.1))),
}
ON_LEGS = (
    Push("leg1", "ha", (0.05, 0.0, -0.1)),
    Push("leg1", "hb", (0.0, 0.02, -0.2)),
    Push("leg3", "k", (0.01, 0.0, -0.1)),
    Push("leg2", "hb", (0.0, 0.0, -0.1)),
    Push("leg4", "k", (0.0, 0.03, -0.2)),
)


@pytest.mark.parametrize("name", PUSHES)
def test_pushes(name: str) -> None:
    """Outside forces on torso, tail, stance and swing legs act as they do in Pinocchio, two on one body add up."""
    rng = np.random.default_rng(4)
    robot, stance = ROBOTS[name], ("leg1", "leg3")
    on_torso = (Push("torso", point=(0.1, 0.2, 0.05)), Push("torso", point=(-0.2, 0.0, 0.0)))
    pushes = (*on_torso, *PUSHES[name], *ON_LEGS, ON_LEGS[2])
    model, oracle = Model(robot, stance, pushes=pushes), PinocchioOracle(robot, stance)
    for _ in range(5):
        q, v, tau = random_state(robot, stance, rng)
        pushed = rng.normal(size=(len(pushes), 3)) * 20.0
        forces = [(p.limb, p.joint, p.point, f) for p, f in zip(pushes, pushed, strict=True)]
        expected, feet = oracle.accelerations(q, v, tau, forces)
        found = model.path(q, v, tau, forces=pushed)
        assert oracle.layout.difference(found.acceleration, expected) < 1e-12
        assert relative(found.foot_forces, feet) < 1e-13
        np.testing.assert_array_equal(model.path(q, v, tau, forces=pushed.ravel()).acceleration, found.acceleration)
        passive = oracle.generalised_forces(q, v, np.zeros(len(tau)), forces)
        assert relative(model.bias(q, v, forces=pushed), oracle.bias(q, v) - passive) < 1e-14


def tree_forces(robot: Robot, rng: np.random.Generator) -> tuple[list[Push], list[PointForce]]:
    """A push on the first and on the last joint of a tree."""
    names = [joint.name for joint in robot.limbs()["tree"].joints]
    pushes = [Push("tree", name, tuple(rng.uniform(-0.2, 0.2, 3).tolist())) for name in (names[0], names[-1])]
    return pushes, [(p.limb, p.joint, p.point, rng.normal(size=3) * 5.0) for p in pushes]


@pytest.mark.parametrize("torso", ["free", "fixed"])
@pytest.mark.parametrize("kind", ["hinges", "geared", "sliders", "geared sliders"])
@pytest.mark.parametrize("bodies", [2, 4])
def test_random_trees(bodies: int, kind: str, torso: str) -> None:
    """Trees that branch, with any axes, rotors, springs and gears: mass matrix, bias and accelerations."""
    geared, sliders = "geared" in kind, "sliders" in kind
    rng = np.random.default_rng([bodies, geared])
    robot = random_tree(rng, bodies, geared, sliders)
    pushes, forces = tree_forces(robot, rng)
    model, oracle = Model(robot, "none", torso=torso, pushes=pushes), PinocchioOracle(robot, torso=torso)
    pushed = np.array([force for *_, force in forces])
    for _ in range(3):
        q, v, tau = random_state(robot, (), rng, torso)
        assert (
            relative(model.forward_dynamics(q, v, tau, forces=pushed), oracle.accelerations(q, v, tau, forces)[0])
            < 1e-13
        )
        passive = oracle.generalised_forces(q, v, np.zeros(len(tau)), forces)
        bias = model.bias(q, v, forces=pushed)
        assert relative(bias, oracle.bias(q, v) - passive) < 1e-14
        mass = oracle.mass_matrix(q)
        columns = model.generalised_force(q, v, np.eye(len(v)), forces=pushed).T - bias[:, None]
        assert relative(columns, mass) < 1e-13
        if bodies < 3:  # larger ones take seconds to compile
            assert relative(model.mass_matrix(q), mass) < 1e-14
