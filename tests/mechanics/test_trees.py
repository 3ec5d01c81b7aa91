"""The engine and Nelson & Quinn's formulation, written apart from each other, say the same about trees of bodies.

Random branching trees are also held against Pinocchio and MuJoCo. There the engine's equations are evaluated in
floating point, without compiling, so that trees can be of any size. The formulation's velocities are the rates of true
coordinates, Euler angles among them; the engine's have omega in the inertial frame. With v = E q-dot, matrices go over
as Eᵀ M E and the bias as Eᵀ (h + M E-dot q-dot).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.layout import Layout as OracleLayout
from oracles.layout import PointForce, relative
from oracles.mujoco_oracle import MujocoOracle
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import random_design, random_state, random_tree
from tailwork.mechanics.attitude import rotation_matrix
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.inverse import generalised_force, mass_matrix
from tailwork.mechanics.layout import Layout, Push, make_layout
from tailwork.model import Model
from tailwork.papers.liu2020.torso import angular_acceleration, rate_matrix
from tailwork.papers.nelson_quinn import quasicoordinates as nelson_quinn
from tailwork.papers.nelson_quinn.body_tree import tree_of
from tailwork.papers.spatial import Array
from tailwork.robots import blaberus, liu2020
from tailwork.robots.body import Body
from tailwork.robots.limb import Motor
from tailwork.robots.robot import FreeLimb, Robot

ALL = ("leg1", "leg2", "leg3", "leg4")
trees = given(bodies=st.integers(1, 25), seed=st.integers(0, 2**32 - 1))


def examples(count: int) -> settings:
    """So many trees, the same ones every time."""
    return settings(max_examples=count, deadline=None, derandomize=True, database=None)


def denser(body: Body, factor: float) -> Body:
    """A body of the same shape and another density."""
    xx, yy, zz, xy, xz, yz = (factor * moment for moment in body.inertia)
    return replace(body, mass=factor * body.mass, inertia=(xx, yy, zz, xy, xz, yz))


def plain_tree(rng: np.random.Generator, bodies: int, sliders: bool = False) -> Robot:
    """A random tree without rotors and springs, its masses within two decades."""
    robot = random_tree(rng, bodies, sliders=sliders)  # with masses from 0.5 to 2 kg
    limb = robot.limbs()["tree"]
    joints = tuple(
        replace(joint, armature=0.0, body=joint.body and denser(joint.body, 5.0 ** rng.uniform(-1.0, 1.0)))
        for joint in limb.joints
    )
    return replace(robot, parts={"tree": FreeLimb(limb=replace(limb, joints=joints, springs=()))})


@dataclass(frozen=True)
class Engine:
    """The engine's equations for a robot in a state, with efforts and pushes, in floating point."""

    layout: Layout
    q: Array
    v: Array
    tau: Array
    pushed: Array  # forces of the pushes, inertial frame [N]

    def inputs(self, pushed: Array) -> Inputs:
        return Inputs(self.q.tolist(), self.v.tolist(), self.tau.tolist(), forces=list(pushed))

    @cached_property
    def mass(self) -> Array:
        return np.array(mass_matrix(self.layout, self.q.tolist()), dtype=float)

    @cached_property
    def bias(self) -> Array:
        """Velocity and gravity terms; pushes are not in it."""
        force = generalised_force(self.layout, self.inputs(0.0 * self.pushed), [0.0] * len(self.v))
        return np.array(force, dtype=float)

    @cached_property
    def push(self) -> Array:
        """Generalised force of the pushes."""
        force = generalised_force(self.layout, self.inputs(self.pushed), [0.0] * len(self.v))
        return self.bias - np.array(force, dtype=float)

    @cached_property
    def acceleration(self) -> Array:
        return np.array(forward_dynamics(self.layout, self.inputs(self.pushed)).acceleration, dtype=float)

    @property
    def point_forces(self) -> list[PointForce]:
        pairs = zip(self.layout.pushes, self.pushed, strict=True)
        return [(push.limb, push.joint, push.point, force) for push, force in pairs]

    @property
    def joint_torques(self) -> Array:
        """Torques of the motors by coordinate."""
        layout, torques = self.layout, np.zeros(len(self.v))
        for name in layout.actuated:
            limb = layout.limbs[name]
            for motor, effort in zip(limb.actuators, self.tau[layout.efforts[name]], strict=True):
                assert isinstance(motor, Motor)
                place = layout.rates[name].start + limb.coordinates.index(motor.coordinate)
                torques[place] += float(motor.ratio) * effort
        return torques[6:]

    def point_forces_on(self, tree: nelson_quinn.BodyTree) -> list[tuple[nelson_quinn.BodyPoint, Array]]:
        return [(tree.point(limb, joint, point), np.array(force)) for limb, joint, point, force in self.point_forces]


def random_engine(bodies: int, seed: int, reach: float, sliders: bool = False) -> Engine:
    """A random tree, the torso's Euler angles anywhere but singular, joint angles within ±reach, pushed in three
    places."""
    rng = np.random.default_rng([bodies, seed])
    robot = plain_tree(rng, bodies, sliders)
    carriers = [joint.name for joint in robot.limbs()["tree"].joints if joint.body]
    places = [("torso", None), *(("tree", str(rng.choice(carriers))) for _ in range(2))]
    pushes = [Push(limb, joint, tuple(rng.uniform(-0.3, 0.3, 3).tolist())) for limb, joint in places]
    layout = make_layout(robot, "none", (), "free", "rpy", pushes)
    size = len(layout.velocity_names)
    q, v = rng.uniform(-reach, reach, size), 2.0 * rng.normal(size=size)
    q[3:6] = rng.uniform(-1.0, 1.0, 3) * (np.pi, 1.4, np.pi)
    return Engine(layout, q, v, 5.0 * rng.normal(size=size - 6), 10.0 * rng.normal(size=(3, 3)))


@dataclass(frozen=True)
class Literal:
    """The formulation's equations for a state of the engine, and the map from its velocities to the engine's."""

    tree: nelson_quinn.BodyTree
    state: nelson_quinn.TreeState
    map: Array  # E, the engine's v = E · q-dot
    drift: Array  # E-dot q-dot, the engine's acceleration where the true coordinates have none


def in_true_coordinates(robot: Robot, q: Array, v: Array) -> Literal:
    """By Euler angles of the torso."""
    tree, turn, drift = tree_of(robot), np.eye(len(v)), np.zeros(len(v))
    turn[3:6, 3:6] = rate_matrix(q[3:6])
    q_dot = np.linalg.solve(turn, v)
    drift[3:6] = angular_acceleration(q[3:6], q_dot[3:6], np.zeros(3))
    return Literal(tree, nelson_quinn.true_state(tree, q, q_dot), turn, drift)


def in_quasicoordinates(robot: Robot, q: Array, v: Array, attitude: str = "rpy") -> Literal:
    """By omega_1 of the torso, which is the engine's omega in another frame and so has no drift."""
    tree, turn, joints = tree_of(robot), np.eye(len(v)), len(v) - 6
    rotation = np.array(rotation_matrix(attitude, q[3 : len(q) - joints].tolist()), dtype=float)
    turn[3:6, 3:6] = rotation
    state = nelson_quinn.quasi_state(
        tree, position=q[:3], rotation=rotation, angles=q[len(q) - joints :], velocity=v[:3],
        omega=rotation.T @ v[3:6], rates=v[6:],
    )  # fmt: skip
    return Literal(tree, state, turn, np.zeros(len(v)))


def scaled(matrix: Array, by: Array) -> Array:
    """A mass matrix in units that put ones on the diagonal of another: light bodies count as much as heavy ones."""
    unit = 1.0 / np.sqrt(np.diag(by))
    return matrix * np.outer(unit, unit)


def assert_same_matrices(engine: Engine, literal: Literal) -> None:
    """Mass matrix, bias and forces of pushes agree; those are differences of biases in the engine."""
    tree, state, e = literal.tree, literal.state, literal.map
    mass = nelson_quinn.mass_matrix(tree, state)
    assert relative(scaled(e.T @ engine.mass @ e, mass), scaled(mass, mass)) < 2e-14
    bias = e.T @ (engine.bias + engine.mass @ literal.drift)
    assert relative(bias, nelson_quinn.bias(tree, state)) < 2e-14
    push = sum(nelson_quinn.point_force(tree, state, *force) for force in engine.point_forces_on(tree))
    assert relative(e.T @ engine.push, push) < 1e-13


def literal_acceleration(engine: Engine, literal: Literal) -> Array:
    """The engine's acceleration as the formulation has it."""
    tree, state = literal.tree, literal.state
    found = nelson_quinn.forward_dynamics(tree, state, engine.joint_torques, engine.point_forces_on(tree))
    return literal.map @ found + literal.drift


@examples(20)
@trees
def test_matrices_are_those_of_nelson_and_quinn(bodies: int, seed: int) -> None:
    """Mass matrix, bias and forces on points, in any state of any tree, with either description of the torso."""
    engine = random_engine(bodies, seed, reach=np.pi)
    robot, q, v = engine.layout.robot, engine.q, engine.v
    assert_same_matrices(engine, in_true_coordinates(robot, q, v))
    assert_same_matrices(engine, in_quasicoordinates(robot, q, v))


@examples(20)
@trees
def test_matrices_are_those_of_pinocchio_and_mujoco(bodies: int, seed: int) -> None:
    """MuJoCo's bodies have a little more inertia, without which it takes no thin ones."""
    engine = random_engine(bodies, seed, reach=np.pi, sliders=seed % 2 == 1)
    for oracle, tolerance in (
        (PinocchioOracle(engine.layout.robot), 2e-14),
        (MujocoOracle(engine.layout.robot), 1e-12),
    ):
        mass = oracle.mass_matrix(engine.q)
        assert relative(scaled(engine.mass, mass), scaled(mass, mass)) < tolerance
        assert relative(engine.bias, oracle.bias(engine.q, engine.v)) < tolerance


@pytest.mark.measured("equations")
@examples(15)
@trees
def test_accelerations_are_those_of_nelson_and_quinn_and_pinocchio(
    measured: Callable[..., None], bodies: int, seed: int
) -> None:
    """Joints stay within 0.5 rad, because a joint of three hinges near its singularity answers with few digits."""
    engine = random_engine(bodies, seed, reach=0.5)
    robot, q, v = engine.layout.robot, engine.q, engine.v
    for literal in (in_true_coordinates(robot, q, v), in_quasicoordinates(robot, q, v)):
        apart = relative(literal_acceleration(engine, literal), engine.acceleration)
        measured("trees of up to 25 bodies beside Nelson & Quinn's equations", apart, at_most=1e-12)
    expected, _ = PinocchioOracle(robot).accelerations(q, v, engine.tau, engine.point_forces)
    apart = relative(engine.acceleration, expected)
    measured("trees of up to 25 bodies beside Pinocchio's matrices", apart, at_most=1e-12)


@pytest.mark.measured("equations")
@examples(15)
@trees
def test_accelerations_with_sliders_are_those_of_pinocchio(
    measured: Callable[..., None], bodies: int, seed: int
) -> None:
    """About every other joint slides instead of turning."""
    engine = random_engine(bodies, seed, reach=0.5, sliders=True)
    expected, _ = PinocchioOracle(engine.layout.robot).accelerations(
        engine.q, engine.v, engine.tau, engine.point_forces
    )
    apart = relative(engine.acceleration, expected)
    measured("trees with sliders, up to 25 bodies, beside Pinocchio's matrices", apart, at_most=1e-12)


@pytest.mark.measured("equations")
def test_the_cockroach(measured: Callable[..., None]) -> None:
    """All 36 degrees of freedom, in the compiled model, with forces of the ground on all six feet in the engine."""
    rng = np.random.default_rng(1)
    for robot in (blaberus(), random_design(blaberus(), rng)):
        model = Model(robot, "none")
        q, v, tau = random_state(robot, (), rng)
        q[3:6] = rng.uniform(-1.0, 1.0, 3)
        literal = in_true_coordinates(robot, q, v)
        tree, e = literal.tree, literal.map
        assert tree.coordinate_names == model.coordinate_names
        feet = [Push(name, limb.foot.joint, limb.foot.point) for name, limb in robot.limbs().items() if limb.foot]
        layout = make_layout(robot, "none", (), "free", "rpy", feet)
        weight = 9.81 * sum(body.mass for body in tree.bodies)
        engine = Engine(layout, q, v, tau, rng.uniform(0.0, weight, (6, 3)))
        blocks = OracleLayout(robot)
        assert [tree.coordinate_names[3 + column] for column in tree.bodies[1].columns] == [
            "front_left.gamma", "front_left.beta", "front_left.alpha",
        ]  # fmt: skip
        assert_same_matrices(engine, literal)
        still = np.zeros(len(v))
        mass, weights = nelson_quinn.mass_matrix(tree, literal.state), model.bias(q, still)
        fast = 1e6  # accelerations at which an insect's inertia outweighs its weight
        columns = (model.generalised_force(q, still, fast * np.eye(len(v))).T - weights[:, None]) / fast
        assert relative(scaled(e.T @ columns @ e, mass), scaled(mass, mass)) < 1e-13
        bias = np.linalg.solve(e.T, nelson_quinn.bias(tree, literal.state)) - columns @ literal.drift
        assert blocks.difference(model.bias(q, v), bias) < 1e-13
        assert blocks.difference(literal_acceleration(engine, literal), engine.acceleration) < 1e-13
        unpushed = replace(engine, pushed=0.0 * engine.pushed)
        apart = blocks.difference(literal_acceleration(unpushed, literal), model.forward_dynamics(q, v, tau))
        measured("cockroach, 36 freedoms, beside Nelson & Quinn's equations", apart, at_most=1e-13)


@pytest.mark.parametrize("pitch", [90.0, -90.0])
def test_torso_at_right_angles(pitch: float) -> None:
    """Where its Euler angles are singular, the torso in quasicoordinates moves as that of the quaternion engine."""
    rng = np.random.default_rng(2)
    robot = plain_tree(rng, 6)
    layout = make_layout(robot, "none", (), "free", "quaternion", [Push("torso")])
    half, joints = np.radians(pitch) / 2.0, len(layout.velocity_names) - 6
    q = np.concatenate([rng.normal(size=3), [np.cos(half), 0.0, np.sin(half), 0.0], rng.uniform(-0.5, 0.5, joints)])
    engine = Engine(layout, q, rng.normal(size=6 + joints), rng.normal(size=joints), rng.normal(size=(1, 3)))
    literal = in_quasicoordinates(robot, q, engine.v, "quaternion")
    assert_same_matrices(engine, literal)
    assert relative(literal_acceleration(engine, literal), engine.acceleration) < 1e-12


@pytest.mark.measured("equations")
def test_pinned_feet_are_constraints_on_the_tree(measured: Callable[..., None]) -> None:
    """Legs pinned in closed form are those of the free tree with multipliers: M a + h = tau + Jᵀ f, J a + drift = 0."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        robot = random_design(liu2020("pendulum"), rng) if seed else liu2020("pendulum")
        model, blocks = Model(robot), OracleLayout(robot, ALL)
        q, v, tau = random_state(robot, ALL, rng)
        angles = np.concatenate([q, *(blocks.closed_form_angles(leg, q) for leg in ALL)])
        feet = list(tree_of(robot).feet.values())
        at_rest = in_true_coordinates(robot, angles, np.zeros(len(angles)))
        jacobian = np.vstack([nelson_quinn.point_jacobian(at_rest.tree, at_rest.state, foot) for foot in feet])
        jacobian = jacobian @ np.linalg.inv(at_rest.map)
        legs = -np.linalg.solve(jacobian[:, len(v) :], jacobian[:, : len(v)] @ v)

        literal = in_true_coordinates(robot, angles, np.concatenate([v, legs]))
        tree, state = literal.tree, literal.state
        drift = np.concatenate([nelson_quinn.point_drift(tree, state, foot) for foot in feet])
        constraint = jacobian @ literal.map
        matrix = np.block([
            [nelson_quinn.mass_matrix(tree, state), -constraint.T],
            [constraint, np.zeros((len(drift), len(drift)))],
        ])  # fmt: skip
        torques = np.concatenate([np.zeros(6), tau[12:], tau[:12]])  # tau has the legs first, the tree last
        answer = np.linalg.solve(matrix, np.concatenate([torques - nelson_quinn.bias(tree, state), -drift]))
        accelerations = literal.map @ answer[: len(angles)] + literal.drift
        found = model.path(q, v, tau)
        apart = blocks.difference(found.acceleration, accelerations[: len(v)])
        measured("pinned legs beside a tree with multipliers, accelerations", apart, at_most=1e-13)
        apart = relative(found.foot_forces, answer[len(angles) :].reshape(4, 3))
        measured("pinned legs beside a tree with multipliers, foot forces", apart, at_most=1e-13)
