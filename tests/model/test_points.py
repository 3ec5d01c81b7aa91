"""What controllers are made of: joint rates, Jacobians of points and their drift, the centroidal momentum matrix."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from oracles.layout import Array, relative
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import random_state, random_tree
from tailwork.errors import ArgumentError, RobotError, StateError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import biswal, blaberus, liu2018, liu2020
from tailwork.robots.robot import Robot

CASES: dict[str, tuple[Robot, str | tuple[str, ...], str]] = {
    "liu2018": (liu2018(), "all", "free"),
    "two feet": (liu2020("r3"), ("leg1", "leg3"), "free"),
    "usrt": (liu2020("usrt"), "all", "free"),
    "biswal": (biswal(), "all", "free"),
    "blaberus": (blaberus(), "none", "free"),
    "fixed": (liu2020("r3"), "none", "fixed"),
    "sliders": (random_tree(np.random.default_rng(3), 2, sliders=True), "none", "free"),
    "tree": (random_tree(np.random.default_rng(1), 2, geared=True), "none", "free"),
}
OFFSET = (0.03, -0.2, 0.1)


def case(name: str, seed: int = 3) -> tuple[Model, PinocchioOracle, Array, Array]:
    """A model, its oracle and a random state."""
    robot, stance, torso = CASES[name]
    model = Model(robot, stance, torso=torso)
    q, v, _ = random_state(robot, model.layout.stance, np.random.default_rng(seed), torso)
    return model, PinocchioOracle(robot, model.layout.stance, torso), q, v


def every_point(model: Model) -> list[tuple[str, str | None, tuple[float, ...]]]:
    """A point of every body that is no joint, foot or tip."""
    joints = [(name, joint.name, OFFSET) for name, limb in model.layout.limbs.items() for joint in limb.joints]
    return [("torso", None, OFFSET), *joints]


@pytest.mark.parametrize("name", CASES)
def test_jacobians_of_points_beside_pinocchio(name: str) -> None:
    """Of a point of every body, stance legs included; and their drift, the acceleration while v does not change."""
    model, oracle, q, v = case(name)
    motion = oracle._motion(q, v)
    size, resting = oracle.layout.size, np.zeros(oracle.layout.tree_size)
    resting[size:] = -np.linalg.solve(motion.feet[:, size:], oracle._foot_bias(motion))
    to_pin = motion.to_pin @ motion.to_tree
    oracle.tree.move(motion.pin_q, motion.pin_v, motion.to_pin @ resting + motion.extra)
    points = every_point(model)
    ids = [oracle.tree.id(limb, joint) for limb, joint, _ in points]
    drifts = [oracle.tree.acceleration(k, OFFSET) for k in ids]
    scale = max(np.abs(drifts).max(), 1.0)
    oracle.tree.place(motion.pin_q)
    places = dict(zip(model.point_names, model.points(q), strict=True))
    for limb, joint in oracle.tree.ids:
        expected = oracle.tree.point(oracle.tree.ids[limb, joint], np.zeros(3))
        np.testing.assert_allclose(places[f"{limb}.{joint}"], expected, rtol=0, atol=1e-14)
    for point, k, drift in zip(points, ids, drifts, strict=True):
        expected = oracle.tree.jacobian(k, OFFSET) @ to_pin
        np.testing.assert_allclose(model.point_jacobian(point, q), expected, rtol=0, atol=2e-13)
        np.testing.assert_allclose(model.point_drift(point, q, v), drift, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("name", CASES)
def test_they_are_what_differences_find(name: str) -> None:
    """d(points)/dt = J v, d(J v)/dt = drift and d(angles)/dt = rates, along the rates of the coordinates."""
    model, _, q, v = case(name, 5)
    step, along = 1e-4, model.coordinate_rates(q, v)
    steps = np.array([-2.0, -1.0, 1.0, 2.0])
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * step)
    states = q + step * steps[:, None] * along

    def rate(values: Array) -> Array:
        return np.einsum("t,t...->...", weights, values)

    places = dict(zip(model.point_names, rate(model.points(states)), strict=True))
    for point, expected in places.items():
        scale = max(np.abs(expected).max(), 1.0)
        np.testing.assert_allclose(model.point_jacobian(point, q) @ v, expected, rtol=0, atol=1e-9 * scale)
        drift = rate(model.point_jacobian(point, states) @ v)
        found = model.point_drift(point, q, v)
        np.testing.assert_allclose(found, drift, rtol=0, atol=1e-8 * max(np.abs(drift).max(), 1.0))
    rates, angles = model.joint_rates(q, v), model.joint_angles(states)
    assert rates.keys() == angles.keys()
    for joint, values in angles.items():
        np.testing.assert_allclose(
            rates[joint], rate(np.unwrap(values)), rtol=0, atol=1e-8 * max(abs(rates[joint]), 1.0)
        )


@pytest.mark.parametrize("name", [name for name in CASES if name != "fixed"])
def test_the_centroidal_momentum_matrix(name: str) -> None:
    """A v is the momentum that sums over the bodies of Pinocchio."""
    model, oracle, q, v = case(name)
    linear, angular = oracle.momentum(q, v)
    found = model.centroidal_momentum_matrix(q) @ v
    assert relative(found[:3], linear) < 1e-12 and relative(found[3:], angular) < 1e-12
    momentum = model.centroidal_momentum(q, v)
    assert relative(momentum.linear, linear) < 1e-12 and relative(momentum.angular, angular) < 1e-12


def test_points_come_in_batches_and_by_name() -> None:
    model = Model(liu2020())
    q = np.tile(model.standing(), (2, 3, 1))
    assert model.point_jacobian("tail.tip", q).shape == (2, 3, 3, 8)
    assert model.point_drift("tail.tip", q, np.ones(8)).shape == (2, 3, 3)
    assert model.centroidal_momentum_matrix(q).shape == (2, 3, 6, 8)
    by_name = model.point_jacobian("tail.tip", q[0, 0])
    np.testing.assert_array_equal(by_name, model.point_jacobian(("tail", "tb", (0.0, -0.48, 0.0)), q[0, 0]))
    np.testing.assert_array_equal(model.point_jacobian("torso", q[0, 0])[:, :3], np.eye(3))
    assert np.abs(model.point_jacobian("leg1.foot", q[0, 0])).max() < 1e-15  # it is pinned
    with pytest.raises(UnknownNameError, match=r"tail\.tip"):
        model.point_jacobian("tail.tp", q)
    with pytest.raises(UnknownNameError):
        model.point_jacobian(("tail", "tc", OFFSET), q)
    with pytest.raises(ArgumentError, match="limb, joint and offset"):
        model.point_jacobian(("tail", "tb"), q)  # type: ignore[arg-type]


# Values as Python has them


def test_models_travel_between_processes() -> None:
    """A pickled model is the same model, also in another process."""
    model = Model(liu2020("r3"), ("leg1", "leg2"), prescribed=["tail"], attitude="quaternion")
    again = pickle.loads(pickle.dumps(model))
    assert again.layout == model.layout and again.robot == model.robot
    q = model.standing()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(model.mass_matrix, q).result(), model.mass_matrix(q))


def test_equal_robots_hash_equal() -> None:
    assert len({liu2020(), liu2020(), liu2018()}) == 2
    assert hash(liu2020("usrt")) == hash(liu2020("usrt").replace({"tail.mount.y": -0.25}))


def test_robots_and_models_are_shown_in_a_few_lines() -> None:
    assert repr(liu2020()).splitlines() == [
        "Robot liu2020-pendulum: 22.6 kg, facing y",
        "  torso: 12 kg",
        "  legs: ThreeHingeLegs, 9.6 kg, 12 joints in leg1, leg2, leg3, leg4",
        "  tail: Pendulum, 1 kg, 2 joints",
    ]
    assert repr(Model(liu2020())).splitlines() == [
        "Model of liu2020-pendulum: torso free (rpy), pinned feet: leg1, leg2, leg3, leg4",
        "  8 velocities: v_x, v_y, v_z, omega_x, omega_y, omega_z, tail.ta rate, tail.tb rate",
        "  14 actuators: leg1.ha, leg1.hb, leg1.k, leg2.ha, leg2.hb, leg2.k, leg3.ha, leg3.hb, …",
    ]


@pytest.mark.parametrize("kind", [ArgumentError, RobotError, UnknownNameError, StateError])
def test_errors_of_arguments_are_value_errors(kind: type[Exception]) -> None:
    assert issubclass(kind, ValueError)
