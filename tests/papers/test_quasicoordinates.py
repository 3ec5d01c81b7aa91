"""Facts about Nelson & Quinn's formulation: its identities, its derivatives, its energy, and what it refuses.

That its equations of motion are the engine's, Pinocchio's and MuJoCo's stands in test_trees.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from oracles.layout import relative
from tailwork.errors import ArgumentError, StateError, UnknownNameError
from tailwork.papers.nelson_quinn.body_tree import BodyTree, tree_of
from tailwork.papers.nelson_quinn.quasicoordinates import (
    TreeState,
    bias,
    central_inertia,
    forward_dynamics,
    gravity,
    kinetic_energy,
    mass_matrix,
    phi,
    phi_bar,
    phi_bar_dot,
    phi_dot,
    point_drift,
    point_force,
    point_jacobian,
    potential_energy,
    quasi_bias,
    quasi_drift,
    quasi_mass_matrix,
    quasi_state,
    relative_map,
    spin,
    stacked_unit,
    true_map,
    true_state,
)
from tailwork.papers.spatial import Array, skew
from tailwork.robots import blaberus, liu2020
from tailwork.robots.body import Body
from tailwork.robots.limb import Foot, Joint, Limb
from tailwork.robots.quantities import Vector
from tailwork.robots.robot import FreeLimb, Robot, Torso

POINTS = 5  # mass points a body
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SKEWED = (0.6, 0.0, 0.8)
SLOPE = 1e-10  # what differences of fourth order reach


def vector(values: Array) -> Vector:
    """Three numbers as a description has them."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def made_of_points(masses: Array, points: Array) -> Body:
    """The rigid body of some mass points [kg, m]."""
    com = masses @ points / masses.sum()
    moments = np.sum([m * skew(arm).T @ skew(arm) for m, arm in zip(masses, points - com, strict=True)], axis=0)
    xx, yy, zz = (float(moment) for moment in np.diag(moments))
    products = (float(moments[0, 1]), float(moments[0, 2]), float(moments[1, 2]))
    return Body(mass=float(masses.sum()), com=vector(com), inertia=(xx, yy, zz, *products))


def branching() -> tuple[Robot, Array, Array]:
    """A torso with a limb of four bodies that branches twice, and the mass points of all five bodies.

    Joints have three, two, one and two rotations; some axes are skewed and some frames turned.
    """
    rng = np.random.default_rng(1)
    masses, points = rng.uniform(0.1, 0.5, (5, POINTS)), rng.uniform(-0.2, 0.2, (5, POINTS, 3))
    bodies = [made_of_points(m, p) for m, p in zip(masses, points, strict=True)]
    rows = [vector(row) for row in Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix()]
    turned = (rows[0], rows[1], rows[2])
    joints = (
        Joint(name="a1", axis=Z, offset=(0.1, -0.2, 0.05), rotation=turned),
        Joint(name="a2", axis=Y, parent="a1"),
        Joint(name="a3", axis=X, parent="a2", body=bodies[1]),
        Joint(name="b1", axis=SKEWED, parent="a3", offset=(0.0, 0.3, 0.1)),
        Joint(name="b2", axis=Y, parent="b1", rotation=turned, body=bodies[2]),
        Joint(name="c1", axis=X, parent="a3", offset=(-0.2, 0.1, 0.0), body=bodies[3]),
        Joint(name="d1", axis=Y, offset=(0.0, 0.2, -0.1)),
        Joint(name="d2", axis=SKEWED, parent="d1", body=bodies[4]),
    )
    order = ("d1", "a3", "b1", "a1", "c1", "d2", "a2", "b2")
    foot = Foot(joint="b2", point=(0.0, 0.1, -0.3), place=(0.0, 0.0, 0.0))
    torso = Torso(mass=bodies[0].mass, com=bodies[0].com, inertia=bodies[0].inertia)
    limb = Limb(joints=joints, coordinates=order, foot=foot)
    return Robot(name="branching", torso=torso, parts={"limb": FreeLimb(limb=limb)}), masses, points


ROBOT, MASSES, CLOUDS = branching()
TREE = tree_of(ROBOT)
SIZE = len(TREE.coordinate_names)
Q, Q_DOT = np.random.default_rng(2).uniform(-1.0, 1.0, (2, SIZE)) * [[1.0], [2.0]]
STATE = true_state(TREE, Q, Q_DOT)
SOME_POINTS = CLOUDS[:, 0]


def slope(
    function: Callable[[TreeState], Array | float], acceleration: Array | None = None, step: float = 1e-3
) -> Array:
    """Time derivative of a function of the state, with true coordinates accelerating so, by central differences."""
    a = np.zeros(SIZE) if acceleration is None else acceleration

    def at(t: float) -> Array:
        return np.asarray(function(true_state(TREE, Q + t * Q_DOT + t * t / 2.0 * a, Q_DOT + t * a)))

    return (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step)


def blocks(matrix: Array, count: int) -> Array:
    """The 3 × 3 blocks of a matrix, indexed by row and column of blocks."""
    return matrix.reshape(-1, 3, count, 3).swapaxes(1, 2)


# The tree


def test_tree_of_a_robot() -> None:
    """Hinges without a body join the next ones; coordinates keep the order of the robot's."""
    assert [body.name for body in TREE.bodies] == ["torso", "limb.a3", "limb.b2", "limb.c1", "limb.d2"]
    assert [body.parent for body in TREE.bodies] == [-1, 0, 1, 1, 0]
    assert [len(body.rotations) for body in TREE.bodies] == [3, 3, 2, 1, 2]
    names = [TREE.coordinate_names[3 + column] for body in TREE.bodies for column in body.columns]
    assert names[:6] == ["phi_z", "phi_y", "phi_x", "limb.a1", "limb.a2", "limb.a3"]
    assert sorted(names) == sorted(TREE.coordinate_names[3:])
    assert list(TREE.path(2)) == [(1, 2), (0, 1)]
    assert TREE.feet["limb"].body == 2 and TREE.point("torso", None, X).body == 0


def test_cockroach_and_quadruped() -> None:
    """36 degrees of freedom on 19 bodies; a quadruped with a pendulum has 20 on 10."""
    for robot, bodies, freedoms in ((blaberus(), 19, 36), (liu2020("pendulum"), 10, 20)):
        tree = tree_of(robot)
        assert (len(tree.bodies), len(tree.coordinate_names)) == (bodies, freedoms)
        assert list(tree.feet) == [name for name, limb in robot.limbs().items() if limb.foot]


# Identities


def test_eq_8() -> None:
    """a~b~ + b~ᵀa~ + (b~a)~ = 0, for matrices; the print has vectors."""
    a, b = np.random.default_rng(3).normal(size=(2, 3))
    np.testing.assert_allclose(skew(a) @ skew(b) + skew(b).T @ skew(a) + skew(skew(b) @ a), 0.0, atol=1e-15)


def test_eqs_13_and_25() -> None:
    """Phi omega_G = C^ Psi_G, and Phi-dot + Phi omega_G~ᵀ + C^ Psi_G~ Qᵀ = 0, which cancels the Coriolis terms.

    Slots of C^, Psi and Q: rho_i of every body, then L of every body but the first, on its parent.
    """
    count = len(TREE.bodies)
    slots = [(i, SOME_POINTS[i]) for i in range(count)] + [(b.parent, b.offset) for b in TREE.bodies[1:]]
    c_hat, q_sum = np.zeros((count, 3, len(slots), 3)), np.zeros((count, 3, len(slots), 3))
    for j in range(count):
        c_hat[j, :, j] = STATE.rotations[j]
        for i, child in TREE.path(j):
            c_hat[j, :, count + child - 1] = STATE.rotations[i]
    for slot, (i, _) in enumerate(slots):
        q_sum[i, :, slot] = np.eye(3)
    c_hat, q_sum = c_hat.reshape(3 * count, -1), q_sum.reshape(3 * count, -1)
    psi = [skew(STATE.omega(i)) @ arm for i, arm in slots]
    psi_tilde = np.zeros((3 * len(slots),) * 2)
    for slot, velocity in enumerate(psi):
        psi_tilde[3 * slot : 3 * slot + 3, 3 * slot : 3 * slot + 3] = skew(velocity)
    big_phi = phi(TREE, STATE, SOME_POINTS)
    np.testing.assert_allclose(big_phi @ STATE.absolute, c_hat @ np.concatenate(psi), atol=1e-14)
    coriolis = phi_dot(TREE, STATE, SOME_POINTS) + big_phi @ spin(TREE, STATE).T + c_hat @ psi_tilde @ q_sum.T
    np.testing.assert_allclose(coriolis, 0.0, atol=1e-15)


def test_eqs_32_to_36() -> None:
    """Integrals over the masses, here sums over mass points, are products of Phi-bar, m_G and I*_G."""
    omega, i_v, m = STATE.absolute, stacked_unit(TREE), TREE.masses[:, None]
    bar, bar_dot, i_star = phi_bar(TREE, STATE), phi_bar_dot(TREE, STATE), central_inertia(TREE)
    first, second, third = np.zeros((3, bar.shape[1])), np.zeros(bar.shape), np.zeros(len(omega))
    about_origins = np.zeros((len(TREE.bodies), 3, 3))
    for k in range(POINTS):
        dm, points = np.repeat(MASSES[:, k], 3)[:, None], CLOUDS[:, k]
        big_phi = phi(TREE, STATE, points)
        first += i_v.T @ (dm * big_phi)
        second += big_phi.T @ (dm * big_phi)
        third += big_phi.T @ (dm[:, 0] * (phi_dot(TREE, STATE, points) @ omega))
        about_origins += [mass * skew(rho).T @ skew(rho) for mass, rho in zip(MASSES[:, k], points, strict=True)]
    np.testing.assert_allclose(first, i_v.T @ (m * bar), atol=1e-15)
    np.testing.assert_allclose(second, bar.T @ (m * bar) + i_star, atol=1e-15)
    turning = bar.T @ (m[:, 0] * (bar_dot @ omega)) + spin(TREE, STATE) @ i_star @ omega
    np.testing.assert_allclose(third, turning, atol=1e-14)
    for body, i_origin in zip(TREE.bodies, about_origins, strict=True):
        s = skew(body.com)
        np.testing.assert_allclose(body.inertia, i_origin + body.mass * s @ s, atol=1e-16)


def test_d_of_the_torso() -> None:
    """The 3-2-1 body: D in closed form, columns for the rates of alpha, beta, gamma."""
    a, b, _ = Q[3:6]
    expected = [
        [1.0, 0.0, -np.sin(b)],
        [0.0, np.cos(a), np.cos(b) * np.sin(a)],
        [0.0, -np.sin(a), np.cos(b) * np.cos(a)],
    ]
    np.testing.assert_allclose(STATE.rate_map[:3, :3], expected, atol=1e-15)


def test_blocks_of_d_and_of_the_relative_map() -> None:
    """D has a body's own angles in its rows only, C^R ancestors only."""
    ancestors = {(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 3), (4, 0), (4, 4)}
    maps = blocks(relative_map(TREE, STATE.rotations), len(TREE.bodies))
    for j, row in enumerate(maps):
        for i, block in enumerate(row):
            expected = STATE.rotations[j].T @ STATE.rotations[i] if (j, i) in ancestors else np.zeros((3, 3))
            np.testing.assert_allclose(block, expected, atol=1e-15)
    for i, body in enumerate(TREE.bodies):
        rows = STATE.rate_map[3 * i : 3 * i + 3]
        assert set(np.flatnonzero(np.abs(rows).max(axis=0))) == set(body.columns)
        np.testing.assert_allclose(np.linalg.norm(rows[:, body.columns], axis=0), 1.0, atol=1e-15)


# Derivatives


def test_quasicoordinates_are_angular_velocities() -> None:
    """C_Ni-dot = C_Ni omega_i~, and of the joint alone C_pi-dot = C_pi Omega_i~ seen from the parent p."""
    rates = slope(lambda state: state.rotations)
    for i, body in enumerate(TREE.bodies):
        expected = STATE.rotations[i] @ skew(STATE.omega(i))
        np.testing.assert_allclose(rates[i], expected, atol=SLOPE)
        carried = STATE.rotations[i].T @ STATE.rotations[body.parent] @ STATE.omega(body.parent) if i else np.zeros(3)
        np.testing.assert_allclose(STATE.relative[3 * i : 3 * i + 3], STATE.omega(i) - carried, atol=1e-14)


def test_rates_of_d_phi_and_omega() -> None:
    """D-dot, Eq. 22 and the drift of Eq. 50 are time derivatives."""
    np.testing.assert_allclose(STATE.rate_map_dot, slope(lambda state: state.rate_map), atol=SLOPE)
    expected = slope(lambda state: phi(TREE, state, SOME_POINTS))
    np.testing.assert_allclose(phi_dot(TREE, STATE, SOME_POINTS), expected, atol=SLOPE)
    np.testing.assert_allclose(quasi_drift(TREE, STATE), slope(lambda state: state.absolute), atol=SLOPE)


def test_points() -> None:
    """Jacobian and drift of a foot: velocity, its rate, and virtual work of a force on it."""
    foot = TREE.feet["limb"]

    def velocity(state: TreeState) -> Array:
        return point_jacobian(TREE, state, foot) @ np.concatenate([state.velocity, state.rates])

    rng = np.random.default_rng(4)
    acceleration, force = rng.normal(size=SIZE), rng.normal(size=3)
    expected = point_jacobian(TREE, STATE, foot) @ acceleration + point_drift(TREE, STATE, foot)
    np.testing.assert_allclose(slope(velocity, acceleration), expected, atol=SLOPE)
    assert point_force(TREE, STATE, foot, force) @ Q_DOT == pytest.approx(force @ velocity(STATE), abs=1e-14)
    np.testing.assert_allclose(point_force(TREE, STATE, foot, force)[:3], force, atol=1e-15)


def test_gravity() -> None:
    """Eqs. 37–39: the weight's power is the loss of potential energy."""
    power = gravity(TREE, STATE) @ np.concatenate([STATE.velocity, STATE.absolute])
    assert -slope(lambda state: potential_energy(TREE, state)) == pytest.approx(power, abs=1e-9)


# Equations of motion


def test_eq_46() -> None:
    """True-coordinate equations are those in absolute quasicoordinates, mapped by virtual work."""
    to_quasi = true_map(TREE, STATE)
    drift = np.concatenate([np.zeros(3), quasi_drift(TREE, STATE)])
    mass = quasi_mass_matrix(TREE, STATE)
    assert relative(mass, mass.T) < 1e-16 and np.linalg.eigvalsh(mass).min() > 0.0
    assert relative(bias(TREE, STATE), to_quasi.T @ (quasi_bias(TREE, STATE) + mass @ drift)) < 1e-14
    a = np.random.default_rng(5).normal(size=SIZE)
    speeds = slope(lambda state: np.concatenate([state.velocity, state.absolute]), a)
    np.testing.assert_allclose(speeds, to_quasi @ a + drift, atol=SLOPE)


def test_energy_balance() -> None:
    """Kinetic and potential energy change by the power of torques and foot forces alone."""
    rng, foot = np.random.default_rng(6), TREE.feet["limb"]
    torques, force = rng.normal(size=SIZE - 6), rng.normal(size=3)
    acceleration = forward_dynamics(TREE, STATE, torques, [(foot, force)])
    change = slope(lambda state: kinetic_energy(TREE, state) + potential_energy(TREE, state), acceleration, step=1e-4)
    power = torques @ Q_DOT[6:] + force @ point_jacobian(TREE, STATE, foot) @ Q_DOT
    assert change == pytest.approx(power, rel=1e-9)


def coriolis_power(tree: BodyTree, state: TreeState) -> float:
    """Power of the velocity terms [W]: rates · (bias − its gravity)."""
    rates = np.concatenate([state.velocity, state.rates])
    return float(rates @ (bias(tree, state) + true_map(tree, state).T @ gravity(tree, state)))


def test_the_rate_of_d_is_needed() -> None:
    """Velocity terms have the power ½ rates · M-dot · rates. Without D-dot alpha-dot in xi they do not, and the
    torques that the cockroach needs to go on as it does are off by more than a tenth."""
    expected = 0.5 * Q_DOT @ slope(lambda state: mass_matrix(TREE, state)) @ Q_DOT
    assert coriolis_power(TREE, STATE) == pytest.approx(expected, rel=1e-9)
    without = coriolis_power(TREE, replace(STATE, rate_map_dot=0.0 * STATE.rate_map_dot))
    assert abs(without - expected) > 0.1 * abs(expected)
    rng, tree = np.random.default_rng(7), tree_of(blaberus())
    state = true_state(tree, rng.uniform(-0.5, 0.5, 36), 10.0 * rng.normal(size=36))
    torques = bias(tree, state)[6:]
    missing = torques - bias(tree, replace(state, rate_map_dot=0.0 * state.rate_map_dot))[6:]
    assert np.linalg.norm(missing) > 0.1 * np.linalg.norm(torques)


# Refusals


@pytest.mark.parametrize("beta", [90.0, -90.0])
def test_singular_torso(beta: float) -> None:
    """At beta = ±90° of the torso true coordinates fail, with advice; quasicoordinates of the torso do not."""
    q = Q.copy()
    q[4] = np.radians(beta)
    state = true_state(TREE, q, Q_DOT)
    with pytest.raises(StateError, match=r"(?s)torso.*phi_y.*quasi_state.*quaternion"):
        mass_matrix(TREE, state)
    with pytest.raises(StateError, match="quaternion"):
        forward_dynamics(TREE, state, np.zeros(SIZE - 6))
    assert np.isfinite(quasi_bias(TREE, state)).all()
    free = quasi_state(
        TREE, position=q[:3], rotation=state.rotations[0], angles=q[6:], velocity=Q_DOT[:3], omega=state.omega(0),
        rates=Q_DOT[6:],
    )  # fmt: skip
    np.testing.assert_allclose(free.absolute, state.absolute, atol=1e-14)
    acceleration = forward_dynamics(TREE, free, np.zeros(SIZE - 6))
    left = mass_matrix(TREE, free) @ acceleration + bias(TREE, free)
    np.testing.assert_allclose(left, 0.0, atol=1e-13)


def test_singular_joint() -> None:
    """A joint of three rotations fails where the middle one is ±90°; one of two with parallel axes fails always."""
    tree = tree_of(blaberus())
    q = np.zeros(36)
    beta = tree.coordinate_names.index("hind_left.beta")
    q[beta] = -np.pi / 2.0
    with pytest.raises(StateError, match=r"hind_left\.alpha .*hind_left\.beta.*singular.*another sequence"):
        bias(tree, true_state(tree, q, np.zeros(36)))
    q[beta] += 1e-3
    assert np.isfinite(forward_dynamics(tree, true_state(tree, q, np.zeros(36)), np.zeros(30))).all()
    joints = ROBOT.limbs()["limb"].joints
    parallel = tree_of(with_joints(*joints[:-1], replace(joints[-1], axis=Y)))
    with pytest.raises(StateError, match=r"limb\.d1, limb\.d2.*parallel"):
        mass_matrix(parallel, true_state(parallel, Q, Q_DOT))


def with_joints(*joints: Joint) -> Robot:
    """The branching robot with another limb."""
    return ROBOT.with_part("limb", FreeLimb(limb=Limb(joints=joints)))


A1, A2, A3, B1, B2, C1, D1, D2 = ROBOT.limbs()["limb"].joints
SOME_BODY = B2.body


@pytest.mark.parametrize(
    ("robot", "path", "required"),
    [
        (liu2020("r3"), "tail.gearing", "no gears"),
        (liu2020("usrt"), "tail.springs", "no springs"),
        (liu2020("pendulum").replace({"tail.armature": 0.01}), "tail.joints.ta.armature", "no rotors"),
        (with_joints(A1, replace(A2, offset=(0.0, 0.1, 0.0)), A3), "limb.joints.a2.offset", "share one point"),
        (
            with_joints(A1, A2, replace(A3, body=None), replace(B1, offset=(0.0, 0.0, 0.0), body=SOME_BODY)),
            "limb.joints.b1",
            "at most 3 hinges",
        ),
        (with_joints(A1, replace(A2, body=SOME_BODY), replace(A3, parent="a1")), "limb.joints.a1.body", "several"),
    ],
    ids=["gears", "springs", "rotors", "offset", "four rotations", "branch without a body"],
)
def test_robots_that_are_not_covered(robot: Robot, path: str, required: str) -> None:
    with pytest.raises(ArgumentError, match=required) as caught:
        tree_of(robot)
    assert caught.value.path == path


def test_points_need_a_body() -> None:
    """A foot, or any point, is one of a body; a hinge without one has none."""
    limb = replace(ROBOT.limbs()["limb"], foot=Foot(joint="b1", point=X, place=X))
    with pytest.raises(ArgumentError, match="carries a body"):
        tree_of(ROBOT.with_part("limb", FreeLimb(limb=limb)))
    with pytest.raises(UnknownNameError, match=r"limb\.b2"):
        TREE.point("limb", "b1", X)


def test_arguments_of_the_wrong_kind() -> None:
    with pytest.raises(ArgumentError, match="a Robot"):
        tree_of("blaberus")  # type: ignore[arg-type]
    with pytest.raises(StateError, match=r"q: has shape \(3,\); required: \(14,\)"):
        true_state(TREE, Q[:3], Q_DOT)
    with pytest.raises(StateError, match="q_dot: has entries that are not finite"):
        true_state(TREE, Q, Q_DOT * np.nan)
    with pytest.raises(StateError, match="torques"):
        forward_dynamics(TREE, STATE, np.zeros(SIZE))
    with pytest.raises(StateError, match="rotation: is no rotation matrix"):
        quasi_state(
            TREE, position=X, rotation=-np.eye(3), angles=Q[6:], velocity=X, omega=X, rates=Q_DOT[6:]
        )  # fmt: skip
