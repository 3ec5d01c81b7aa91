"""Facts about mechanics that the papers' formulations must satisfy.

Derivatives are taken by central differences of eighth order, so tolerances can be close to rounding. The reference for
all inertia is the description itself: d'Alembert's principle over the bodies of `robot.limbs()`, which shares nothing
with the formulations but the closed form of the leg angles (and that is checked by the closure of the loop).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from tailwork.errors import RobotError, StateError, UnknownNameError
from tailwork.papers.liu2018 import legs as legs2018
from tailwork.papers.liu2018 import model as liu2018
from tailwork.papers.liu2020 import legs, pendulum, r3, usrt
from tailwork.papers.liu2020 import model as liu2020
from tailwork.papers.liu2020.torso import (
    angle_rates,
    angular_acceleration,
    fixed_point_acceleration,
    fixed_point_jacobian,
    rate_matrix,
    torso_at_rest,
    torso_motion,
    torso_rotation,
)
from tailwork.robots import blaberus
from tailwork.robots import liu2018 as robot2018
from tailwork.robots import liu2020 as robot2020
from tailwork.robots.limb import Cable, Motor
from tailwork.robots.robot import Robot, Torso
from tailwork.robots.springs import BendingSpring, PointSpring
from tailwork.robots.tails import R3, Pendulum, Usrt

FIRST = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
SECOND = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}
SLOPE = 2e-12  # what first differences reach
EQ_85 = np.array([0, 1.63, 7.7, 0, 1.63, 7.7, 0, 1.9, 7.16, 0, 1.9, 7.16])  # N m, ha, hb, k of legs 1..4


def odd_robot(tail: object | None, knee: str = "forward") -> Robot:
    """A robot without symmetries: centre of mass off P, full inertia, unequal legs, and this tail."""
    base = robot2020(None)
    feet = ((0.17, 0.27, 0.01), (-0.12, 0.22, 0.02), (-0.16, -0.29, -0.01), (0.13, -0.21, 0.0))
    leg_set = replace(base.part("legs"), thigh_length=0.28, shank_length=0.23, shank_mass=0.7, feet=feet, knee=knee)
    torso = Torso(mass=11.0, com=(0.01, -0.02, 0.03), inertia=(0.3, 0.2, 0.35, 0.01, -0.02, 0.03))
    parts = {"legs": leg_set} | ({"tail": tail} if tail else {})
    return replace(base, torso=torso, parts=parts, gravity=9.6)


ODD_INERTIA = (9e-5, 16e-5, 18e-5, 1e-5, -2e-5, 3e-5)
ROBOTS: dict[str, Robot] = {
    "liu2018": robot2018(),
    "pendulum": robot2020("pendulum"),
    "r3": robot2020("r3"),
    "usrt": robot2020("usrt"),
    "no tail": odd_robot(None),
    "odd pendulum": odd_robot(
        Pendulum(length=0.5, mass=0.7, tip_mass=0.4, mount=(0.02, -0.3, 0.05), armature=0.003), "backward"
    ),
    "odd r3": odd_robot(
        R3(
            links_per_segment=2, segments=3, base_com=(0.01, 0.02, -0.03), base_inertia=ODD_INERTIA,
            link_inertia=ODD_INERTIA, mount=(0.02, -0.3, 0.05),
        )
    ),
    "odd usrt": odd_robot(
        Usrt(
            links=4, segments=3, link_inertia=ODD_INERTIA, point_a=(0.004, 0.003, 0.03), point_b=(-0.006, 0.02, 0.02),
            hole_height=0.1, mount=(0.02, -0.3, 0.05), extension_stiffness=(900.0, 300.0),
        ),
        "backward",
    ),
}  # fmt: skip
every_robot = pytest.mark.parametrize("name", ROBOTS)


def assert_agree(actual: object, expected: object, tolerance: float) -> None:
    """Equal within a tolerance that is relative to the largest entry, or absolute where that is below 1."""
    scale = max(1.0, float(np.abs(np.asarray(expected)).max()))
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=tolerance * scale)


def derivative(function: Callable[[float], object], step: float = 2e-3) -> np.ndarray:
    """d function/dh at h = 0."""
    differences = [c * (np.asarray(function(k * step)) - np.asarray(function(-k * step))) for k, c in FIRST.items()]
    return np.sum(differences, axis=0) / step


def second_derivative(function: Callable[[float], object], step: float = 2e-3) -> np.ndarray:
    """d² function/dh² at h = 0."""
    total = SECOND[0] * np.asarray(function(0.0))
    for k in range(1, 5):
        total = total + SECOND[k] * (np.asarray(function(k * step)) + np.asarray(function(-k * step)))
    return total / step**2


def turned(axis_angle: np.ndarray) -> np.ndarray:
    """The rotation matrix of a rotation vector [rad]."""
    angle = np.linalg.norm(axis_angle)
    if angle == 0:
        return np.eye(3)
    x, y, z = axis_angle / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def axial(matrix: np.ndarray) -> np.ndarray:
    """The vectors of a stack of skew matrices."""
    return np.stack([matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0]], axis=-1)


def moved(q: np.ndarray, displacement: np.ndarray) -> np.ndarray:
    """q after a displacement in the directions of v: the torso turns about inertial axes."""
    rotation = turned(displacement[3:6]) @ torso_rotation(q[3:6])
    phi = [
        np.arctan2(rotation[2, 1], rotation[2, 2]),
        np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0])),
        np.arctan2(rotation[1, 0], rotation[0, 0]),
    ]
    return np.concatenate([q[:3] + displacement[:3], phi, q[6:] + displacement[6:]])


def jacobian(function: Callable[[np.ndarray], object], q: np.ndarray) -> np.ndarray:
    """Derivative of function(q) by v, the directions last."""
    columns = [derivative(lambda h, e=e: function(moved(q, h * e))) for e in np.eye(len(q))]
    return np.stack(columns, axis=-1)


def random_state(robot: Robot, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A pose near the stance with the tail anywhere in reach, a velocity and an acceleration."""
    rng = np.random.default_rng(seed)
    n = liu2020.coordinate_count(robot)
    q = np.zeros(n)
    q[:3] = np.array(robot.stand) + rng.uniform(-0.03, 0.03, 3) - [0, 0, 0.04]  # knees well bent
    q[3:6] = rng.uniform(-0.15, 0.15, 3)
    q[6:] = rng.uniform(-0.5, 0.5, n - 6)
    return q, rng.normal(size=n) / 2, 2 * rng.normal(size=n)


# The description's own mechanics: frames, bodies, springs and cables of robot.limbs().

Frames = dict[str | None, tuple[np.ndarray, np.ndarray]]


def point_on(at: Frames, joint: str | None, point: tuple[float, float, float]) -> np.ndarray:
    """A point of a joint's body in the inertial frame."""
    rotation, origin = at[joint]
    return origin + rotation @ np.array(point)


class Tree:
    """The bodies, hinges and springs of a robot's description, with the feet where they stand."""

    def __init__(self, robot: Robot) -> None:
        self.gravity, self.torso = robot.gravity, robot.torso_body()
        self.limbs, self.legs = robot.limbs(), legs.legs_of(robot)
        carried = [j.body for limb in self.limbs.values() for j in limb.joints if j.body]
        self.masses = np.array([body.mass for body in [self.torso, *carried]])
        moments = np.array([body.inertia for body in [self.torso, *carried]])
        self.inertias = moments[:, [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]

    def angles(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Angles of all joints of all limbs, in the order of the limb's joints."""
        rotation = torso_rotation(q[3:6])
        leg_angles = [legs.leg_angles(leg, legs.hip_to_foot(leg, rotation, q[:3])) for leg in self.legs]
        found = {f"leg{i + 1}": angles for i, angles in enumerate(leg_angles)}
        if "tail" in self.limbs:
            limb = self.limbs["tail"]
            if limb.gearing is not None:
                found["tail"] = np.array(limb.gearing) @ q[6:]
            else:
                found["tail"] = q[6:][[limb.coordinates.index(joint.name) for joint in limb.joints]]
        return found

    def frames(self, q: np.ndarray) -> dict[str, Frames]:
        """Rotation and origin of every joint frame of every limb; None is the torso."""
        angles, torso = self.angles(q), (torso_rotation(q[3:6]), q[:3])
        found: dict[str, Frames] = {}
        for name, limb in self.limbs.items():
            at: Frames = {None: torso}
            for joint, angle in zip(limb.joints, angles[name], strict=True):
                rotation, origin = at[joint.parent]
                own = rotation @ np.array(joint.rotation) @ turned(angle * np.array(joint.axis))
                at[joint.name] = own, origin + rotation @ np.array(joint.offset)
            found[name] = at
        return found

    def poses(self, q: np.ndarray) -> np.ndarray:
        """(centre of mass | rotation) of every body, 3 × 4 each; the torso first, the tail last."""
        placed = [(torso_rotation(q[3:6]), q[:3], self.torso)]
        for name, at in self.frames(q).items():
            placed += [(*at[joint.name], joint.body) for joint in self.limbs[name].joints if joint.body]
        return np.array([np.column_stack([x + r @ np.array(body.com), r]) for r, x, body in placed])

    def weight_energy(self, q: np.ndarray) -> float:
        """Energy of the weights [J]."""
        return self.gravity * self.masses @ self.poses(q)[:, 2, 0]

    def elastic_energy(self, q: np.ndarray) -> float:
        """Energy of all springs [J]."""
        if "tail" not in self.limbs:
            return 0.0
        limb, angles, at = self.limbs["tail"], self.angles(q)["tail"], self.frames(q)["tail"]
        energy = 0.0
        for spring in limb.springs:
            if isinstance(spring, BendingSpring):
                cosine = np.cos(angles[limb.index(spring.first)]) * np.cos(angles[limb.index(spring.second)])
                energy += spring.stiffness * np.arccos(cosine) ** 2 / 2
            elif isinstance(spring, PointSpring):
                ends = [(spring.first, spring.first_point), (spring.second, spring.second_point)]
                first, second = (point_on(at, joint, point) for joint, point in ends)
                energy += spring.stiffness * (np.linalg.norm(second - first) - spring.rest_length) ** 2 / 2
        return energy

    def strokes(self, q: np.ndarray) -> list[float]:
        """What each actuator works along: a motor its coordinate times its ratio, a cable its shortening."""
        angles, found = self.angles(q), []
        for name, at in self.frames(q).items():
            limb = self.limbs[name]
            coordinates = q[6:] if name == "tail" else angles[name]
            for actuator in limb.actuators:
                if isinstance(actuator, Motor):
                    found.append(actuator.ratio * coordinates[limb.coordinates.index(actuator.coordinate)])
                elif isinstance(actuator, Cable):
                    holes = np.array([point_on(at, hole.joint, hole.point) for hole in actuator.route])
                    found.append(-np.linalg.norm(np.diff(holes, axis=0), axis=1).sum())
        return found


def damping_force(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What the dampers of the description ask of the actuators [N m]."""
    force = np.zeros(len(q))
    tail = robot.parts.get("tail")
    if isinstance(tail, Usrt):
        for k in range(6, len(q), 2):
            (theta, phi), rates = q[k : k + 2], v[k : k + 2]
            g = np.array([np.sin(theta) * np.cos(phi), np.cos(theta) * np.sin(phi)])
            sine2, blend2 = 1 - (np.cos(theta) * np.cos(phi)) ** 2, tail.bending_blend**2
            force[k : k + 2] = tail.bending_damping * (g * (g @ rates) + blend2 * rates) / (sine2 + blend2)
    return force


def along(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Callable[[float], np.ndarray]:
    """A path with velocity v and acceleration a at time 0."""
    return lambda t: moved(q, t * v + t * t / 2 * a)


# Kinematics


@every_robot
def test_thigh_and_shank_close_the_loop(name: str) -> None:
    robot = ROBOTS[name]
    for seed in range(5):
        q, _, _ = random_state(robot, seed)
        for leg in legs.legs_of(robot):
            s = legs.hip_to_foot(leg, torso_rotation(q[3:6]), q[:3])
            angles = legs.leg_angles(leg, s)
            closed = legs.thigh_vector(leg, angles) + legs.shank_vector(leg, angles)
            assert_agree(closed, s, 1e-14)
            assert np.sign(angles[2]) == leg.knee_sign


@pytest.mark.parametrize("name", ["liu2018", "odd r3"])
def test_both_papers_place_the_legs_alike(name: str) -> None:
    robot = ROBOTS[name]
    q, v, a = random_state(robot)
    torso = torso_motion(q, v, a)
    flip = np.array([1.0, -1.0, 1.0])  # hb counts the other way round in 2018
    for leg in legs.legs_of(robot):
        new, old = (module.leg_pose(leg, torso.rotation, torso.position) for module in (legs, legs2018))
        assert_agree(old.angles * flip - [0, 0, np.pi], new.angles, 1e-14)
        assert_agree(old.j_joints * flip[:, None], new.j_joints, 1e-14)
        assert_agree(old.j_knee, new.j_knee, 1e-14)
        accelerations = legs2018.joint_accelerations(leg, old, torso) * flip
        assert_agree(accelerations, legs.joint_accelerations(leg, new, torso), 1e-14)
        assert_agree(legs2018.knee_acceleration(leg, old, torso), legs.knee_acceleration(leg, new, torso), 1e-14)


def test_2018_hip_angle_with_an_obtuse_angle_at_the_hip() -> None:
    leg = replace(legs.legs_of(robot2018())[0], thigh_length=0.2, shank_length=0.4)
    s = np.array([0.03, 0.05, -0.23])
    angles = legs2018.leg_angles(leg, s)
    assert_agree(angles * [1, -1, 1] - [0, 0, np.pi], legs.leg_angles(leg, s), 1e-14)


def test_angular_velocity_and_acceleration_of_the_torso() -> None:
    phi, rate, second = np.array([0.4, -0.7, 1.1]), np.array([0.8, -0.5, 0.6]), np.array([-1.1, 0.3, 2.0])
    path = lambda t: torso_rotation(phi + t * rate + t * t / 2 * second)  # noqa: E731
    spin = derivative(path) @ path(0).T
    omega = rate_matrix(phi) @ rate
    assert_agree(axial(spin), omega, SLOPE)
    assert_agree(angle_rates(phi, omega), rate, 1e-14)
    change = second_derivative(path) @ path(0).T - spin @ spin
    assert_agree(axial(change), angular_acceleration(phi, rate, second), 1e-9)


@pytest.mark.parametrize(
    ("module", "name"),
    [(legs, name) for name in ROBOTS] + [(legs2018, name) for name in ("liu2018", "r3", "odd r3")],  # knees forward
)
def test_leg_jacobians_and_accelerations(module: ModuleType, name: str) -> None:
    robot = ROBOTS[name]
    q, v, a = (x[:6] for x in random_state(robot))
    torso = torso_motion(q, v, a)
    for leg in legs.legs_of(robot):

        def pose(q: np.ndarray, leg: legs.Leg = leg) -> legs.LegPose:
            return module.leg_pose(leg, torso_rotation(q[3:6]), q[:3])

        def hip(q: np.ndarray, leg: legs.Leg = leg) -> np.ndarray:
            return q[:3] + torso_rotation(q[3:6]) @ leg.hip

        def knee(q: np.ndarray, leg: legs.Leg = leg) -> np.ndarray:
            return hip(q, leg) + torso_rotation(q[3:6]) @ module.thigh_vector(leg, module.leg_angles(leg, pose(q).s))

        here = pose(q)
        assert_agree(here.j_s, jacobian(lambda q: pose(q).s, q), SLOPE)
        assert_agree(here.j_joints, jacobian(lambda q: pose(q).angles, q), SLOPE)
        assert_agree(here.j_hip, jacobian(hip, q), SLOPE)
        assert_agree(here.j_knee, jacobian(knee, q), SLOPE)
        rates = derivative(lambda h: pose(moved(q, h * v)).j_joints @ (v + h * a), 1e-3)
        assert_agree(module.joint_accelerations(leg, here, torso), rates, SLOPE)
        hip_change = derivative(lambda h: pose(moved(q, h * v)).j_hip @ (v + h * a))
        assert_agree(fixed_point_acceleration(torso, torso.rotation @ leg.hip), hip_change, SLOPE)
        knee_change = derivative(lambda h: pose(moved(q, h * v)).j_knee @ (v + h * a), 1e-3)
        assert_agree(module.knee_acceleration(leg, here, torso), knee_change, SLOPE)
        np.testing.assert_array_equal(fixed_point_jacobian(torso.rotation @ leg.hip), here.j_hip)


@pytest.mark.parametrize("name", ["liu2018", "pendulum", "odd pendulum"])
def test_pendulum_tip_and_turning(name: str) -> None:
    robot = ROBOTS[name]
    tail = robot.part("tail")
    q, v, a = random_state(robot)
    torso = torso_motion(q, v, a)
    found = pendulum.tip_jacobian(tail, torso, q[6:])
    assert_agree(found, jacobian(lambda q: pendulum.tip_position(tail, torso_at_rest(q), q[6:]), q), SLOPE)
    assert_agree(pendulum.tip_velocity(tail, torso, q[6:], v[6:]), found @ v, 1e-14)
    change = derivative(
        lambda h: pendulum.tip_jacobian(tail, torso_at_rest(moved(q, h * v)), (q + h * v)[6:]) @ (v + h * a)
    )
    assert_agree(pendulum.tip_acceleration(tail, torso, q[6:], v[6:], a[6:]), change, SLOPE)
    poses = Tree(robot).poses
    spin = jacobian(lambda q: poses(q)[-1, :, 1:], q)
    turning = np.einsum("abk,cb->ack", spin, poses(q)[-1, :, 1:])
    assert_agree(pendulum.angular_jacobian(torso, q[6:]), axial(np.moveaxis(turning, 2, 0)).T, SLOPE)


@pytest.mark.parametrize("name", ["r3", "usrt", "odd r3", "odd usrt"])
def test_links_of_the_chains(name: str) -> None:
    """Places against the description; Jacobians and accelerations against differences of what they derive from."""
    robot = ROBOTS[name]
    tail = robot.part("tail")
    module = liu2020._TAILS[type(tail)]
    q, v, a = random_state(robot)
    links = module.all_links(tail, torso_motion(q, v, a), q[6:], v[6:], a[6:])

    def at(q: np.ndarray) -> list:
        still = np.zeros(len(q) - 6)
        return module.all_links(tail, torso_at_rest(q), q[6:], still, still)

    described = Tree(robot).poses(q)[-len(links) :]
    assert_agree([link.com for link in links], described[:, :, 0], 1e-14)
    assert_agree([link.turning.rotation for link in links], described[:, :, 1:], 1e-14)
    com = jacobian(lambda q: [link.com for link in at(q)], q)
    assert_agree([link.com_jacobian for link in links], com, SLOPE)
    spin = np.einsum(
        "iabk,icb->ikac", jacobian(lambda q: [link.turning.rotation for link in at(q)], q), described[..., 1:]
    )
    angular = np.moveaxis(axial(spin), 1, 2)
    assert_agree([link.turning.jacobian for link in links], angular, SLOPE)
    omega = [link.turning.jacobian @ v for link in links]
    assert_agree([link.turning.omega for link in links], omega, 1e-14)
    change = derivative(lambda h: [link.com_jacobian @ (v + h * a) for link in at(moved(q, h * v))])
    assert_agree([link.com_acceleration for link in links], change, SLOPE)
    change = derivative(lambda h: [link.turning.jacobian @ (v + h * a) for link in at(moved(q, h * v))])
    assert_agree([link.turning.omega_dot for link in links], change, SLOPE)


# Dynamics


@every_robot
def test_inverse_dynamics_is_dalembert_over_the_bodies(name: str) -> None:
    robot = ROBOTS[name]
    q, v, a = random_state(robot)
    tree = Tree(robot)
    poses, masses = tree.poses, tree.masses
    path = along(q, v, a)
    here, virtual = poses(q), jacobian(poses, q)
    first, second = derivative(lambda t: poses(path(t))), second_derivative(lambda t: poses(path(t)))
    rotations = here[:, :, 1:]
    inertia = rotations @ tree.inertias @ rotations.transpose(0, 2, 1)
    spin = first[:, :, 1:] @ rotations.transpose(0, 2, 1)
    omega, omega_dot = axial(spin), axial(second[:, :, 1:] @ rotations.transpose(0, 2, 1) - spin @ spin)
    force = masses[:, None] * (second[:, :, 0] + [0, 0, robot.gravity])
    moment = np.einsum("iab,ib->ia", inertia, omega_dot)
    moment += np.cross(omega, np.einsum("iab,ib->ia", inertia, omega))
    turning = axial(np.einsum("iabk,icb->ikac", virtual[:, :, 1:], rotations))
    tau = np.einsum("iak,ia->k", virtual[:, :, 0], force) + np.einsum("ika,ia->k", turning, moment)
    tau += jacobian(tree.elastic_energy, q) + damping_force(robot, q, v)
    if isinstance(robot.parts.get("tail"), Pendulum):
        tau[6:] += robot.part("tail").armature * a[6:]
    assert_agree(liu2020.inverse_dynamics(robot, q, v, a), tau, 1e-10)


@every_robot
def test_mass_matrix(name: str) -> None:
    """Symmetric, positive definite, and the same by columns (Eq. 84) as written out (Eqs. 80–83)."""
    robot = ROBOTS[name]
    for seed in range(3):
        q, v, _ = random_state(robot, seed)
        mass = liu2020.mass_matrix(robot, q)
        assert_agree(mass, mass.T, 1e-14)
        assert np.linalg.eigvalsh(mass).min() > 0
        columns = liu2020.mass_matrix_by_columns(robot, q, v)
        # Eq. (84) subtracts forces of some 100 N, so its rounding is theirs.
        assert_agree(columns, mass, 1e-13)


@every_robot
def test_forward_dynamics_inverts_inverse_dynamics(name: str) -> None:
    robot = ROBOTS[name]
    q, v, a = random_state(robot)
    tau = liu2020.inverse_dynamics(robot, q, v, a)
    mass, bias = liu2020.mass_matrix(robot, q), liu2020.bias(robot, q, v)
    assert_agree(mass @ a + bias, tau, 1e-14)
    assert_agree(liu2020.forward_dynamics(robot, q, v, tau), a, 1e-9)


@every_robot
def test_power_of_the_actuators_is_energy_gained_and_dissipated(name: str) -> None:
    robot = ROBOTS[name]
    q, v, _ = random_state(robot)
    matrix = liu2020.actuation_matrix(robot, q)
    tau = matrix @ np.random.default_rng(1).uniform(-5, 5, matrix.shape[1])
    a = liu2020.forward_dynamics(robot, q, v, tau)
    tree = Tree(robot)

    def energy(h: float) -> float:
        here, rates = moved(q, h * v), v + h * a
        kinetic = rates @ liu2020.mass_matrix(robot, here) @ rates / 2
        return float(kinetic + tree.weight_energy(here) + tree.elastic_energy(here))

    gained = derivative(energy, 1e-4)
    dissipated = damping_force(robot, q, v) @ v
    assert_agree(gained + dissipated, tau @ v, 1e-9)
    if isinstance(robot.parts.get("tail"), Usrt):
        assert dissipated > 0


@every_robot
def test_actuation_matrix_is_the_work_of_the_described_actuators(name: str) -> None:
    """Motors work on their coordinate times their ratio, cables against their length (Eq. 78, with −T dl)."""
    robot = ROBOTS[name]
    q, _, _ = random_state(robot)
    assert_agree(liu2020.actuation_matrix(robot, q), jacobian(Tree(robot).strokes, q).T, SLOPE)


# The elements of the USRT


@pytest.mark.parametrize("name", ["usrt", "odd usrt"])
def test_cable_lengths(name: str) -> None:
    robot = ROBOTS[name]
    tail = robot.part("tail")
    q, _, _ = random_state(robot)
    rows = usrt.actuation_jacobian(tail, q[6:])
    for j in range(1, 3 * tail.segments + 1):
        shortening = jacobian(lambda q, j=j: -usrt.cable_length(tail, j, q[6:]), q)
        assert_agree(rows[j - 1], shortening, SLOPE)


@pytest.mark.parametrize(("theta", "phi"), [(0.3, -0.4), (1.2, 0.9), (-0.02, 0.0), (2e-5, 3e-5)])
def test_elastic_forces_are_gradients(theta: float, phi: float) -> None:
    tail = Usrt()
    at = np.array([theta, phi])
    step = float(1e-2 * np.linalg.norm(at))

    def bending(x: np.ndarray) -> float:
        return tail.bending_stiffness * usrt.bending_angle(*x) ** 2 / 2

    def stretching(x: np.ndarray) -> float:
        length = np.linalg.norm(usrt.span(tail, x[0], x[1], np.array(tail.point_a), np.array(tail.point_b)))
        return tail.extension_stiffness[0] * (length - tail.extension_rest[0]) ** 2 / 2

    slope = [derivative(lambda h, e=e: bending(at + h * e), step) for e in np.eye(2)]
    assert_agree(usrt.compression_loading(tail, theta, phi) / step, np.array(slope) / step, SLOPE)
    slope = [derivative(lambda h, e=e: stretching(at + h * e), 1e-2) for e in np.eye(2)]
    assert_agree(usrt.extension_loading(tail, 1, theta, phi), slope, SLOPE)


def test_bending_spring_and_damper_at_the_straight_joint() -> None:
    """Stiffness and damping are alike in all directions there, and the paper's law returns away from it."""
    tail = Usrt()
    assert np.all(usrt.compression_loading(tail, 0.0, 0.0) == 0)
    slopes = np.array([derivative(lambda h, e=e: usrt.compression_loading(tail, *(h * e)), 1e-5) for e in np.eye(2)])
    assert_agree(slopes, tail.bending_stiffness * np.eye(2), 1e-12)
    rates = np.array([0.7, -0.3])
    assert_agree(usrt.damping_loading(tail, 0.0, 0.0, rates), tail.bending_damping * rates, 1e-15)
    theta, phi = 0.5, 0.4
    printed = usrt.bending_gradient(theta, phi) / np.sin(usrt.bending_angle(theta, phi))
    sharp = replace(tail, bending_blend=1e-9)
    assert_agree(
        usrt.damping_loading(sharp, theta, phi, rates), tail.bending_damping * printed * (printed @ rates), 1e-14
    )


def test_spring_length_of_the_straight_usrt() -> None:
    tail = Usrt()
    span = usrt.span(tail, 0.0, 0.0, np.array(tail.point_a), np.array(tail.point_b))
    assert np.linalg.norm(span) == pytest.approx(0.05828, abs=5e-6)


# Published statics


def stance(robot: Robot) -> np.ndarray:
    return np.concatenate([robot.stand, np.zeros(liu2020.coordinate_count(robot) - 3)])


def test_eq_85_to_every_printed_digit() -> None:
    robot = replace(robot2020("pendulum"), gravity=9.81)
    q = stance(robot)
    weight = liu2020.bias(robot, q, np.zeros(8))
    torques = np.linalg.pinv(liu2020.actuation_matrix(robot, q)[:6, :12]) @ weight[:6]
    np.testing.assert_array_equal(np.round(torques, 2) + 0.0, EQ_85)
    assert_agree(torques[[1, 2, 7, 8]], [1.6304, 7.7018, 1.9012, 7.1603], 5e-5)


@pytest.mark.parametrize(
    ("tail", "lift", "pitch"), [("pendulum", 0.160, -0.008), ("r3", 0.155, -0.103), ("usrt", -0.036, 0.154)]
)
def test_eq_85_torques_nearly_balance_the_tabled_gravity(tail: str, lift: float, pitch: float) -> None:
    """The torques of Eq. (85) belong to the pendulum; the R3 tail weighs half a gram more, the USRT twenty."""
    robot = robot2020(tail)
    q = stance(robot)
    push = liu2020.actuation_matrix(robot, q)[:6, :12] @ EQ_85
    rest = push - liu2020.bias(robot, q, np.zeros(len(q)))[:6]
    assert_agree(rest, [0, -0.01, lift, pitch, 0, 0], 5e-4)


def test_2018_torques_carry_the_weight() -> None:
    robot = robot2018()
    q = stance(robot)
    push = liu2018.actuation_force(robot, q, [0, 0, 15, 15, 20.5, 20.5, -7.7, 0])
    assert (push - liu2018.gravity(robot, q))[2] == pytest.approx(-0.77, abs=5e-3)


def test_condition_of_the_2018_actuation() -> None:
    robot = robot2018()
    conditions = []
    for phase in np.linspace(0, 2 * np.pi, 61):
        q = stance(robot)
        q[3], q[7] = np.pi / 36 * np.sin(phase), -np.pi / 18 * np.sin(phase)
        conditions.append(np.linalg.cond(liu2018.actuation_jacobians(robot, q)[0]))
    assert round(min(conditions)) == 102
    assert round(max(conditions)) == 117


def test_2018_actuation_is_singular_in_the_2020_stance() -> None:
    robot = robot2020("pendulum")
    robot = robot.with_part("tail", replace(robot.part("tail"), mass=0.0, tip_mass=1.0))
    actuation, redundant = liu2018.actuation_jacobians(robot, stance(robot))
    np.testing.assert_array_equal(actuation[0], actuation[1])  # ha of legs 1 and 2
    assert_agree(actuation[2] - actuation[3], actuation[5] - actuation[4], 1e-14)  # the knees
    assert np.linalg.matrix_rank(actuation) == 6
    assert np.linalg.matrix_rank(np.vstack([actuation, redundant])) == 8


# The 2018 model


def test_2018_and_2020_say_the_same() -> None:
    robot = robot2018()
    for seed in range(3):
        q, v, a = random_state(robot, seed)
        tau = liu2018.inverse_dynamics(robot, q, v, a)
        assert_agree(tau, liu2020.inverse_dynamics(robot, q, v, a), 1e-14)
        mass = liu2018.mass_matrix(robot, q)
        assert_agree(mass, mass.T, 1e-14)
        assert_agree(mass, liu2020.mass_matrix(robot, q), 1e-14)
        parts = mass @ a + liu2018.coriolis(robot, q, v) + liu2018.gravity(robot, q)
        assert_agree(parts, tau, 1e-14)


def test_2018_actuation_is_that_of_2020_with_the_hip_sign_turned() -> None:
    robot = robot2018()
    q, _, _ = random_state(robot)
    rng = np.random.default_rng(2)
    tau_a, tau_p = rng.normal(size=8), rng.normal(size=6)
    ha, hb, k = [*tau_a[:2], *tau_p[:2]], -tau_p[2:], tau_a[2:6]
    efforts = np.concatenate([np.column_stack([ha, hb, k]).ravel(), tau_a[6:]])
    force = liu2018.actuation_force(robot, q, tau_a, tau_p)
    assert_agree(force, liu2020.actuation_matrix(robot, q) @ efforts, 1e-14)


def test_2018_forward_inverts_inverse() -> None:
    robot = robot2018()
    q, v, a = random_state(robot)
    tau_p = np.array([1.0, -2.0, 0.5, 0.0, 3.0, -1.0])
    for redundant in (None, tau_p):
        tau_a = liu2018.actuator_torques(robot, q, v, a, redundant)
        found = liu2018.forward_dynamics(robot, q, v, tau_a, redundant)
        assert_agree(found, a, 1e-12)


def test_2018_coriolis_is_quadratic_in_velocity() -> None:
    robot = robot2018()
    q, v, _ = random_state(robot)
    assert_agree(liu2018.coriolis(robot, q, -3 * v), 9 * liu2018.coriolis(robot, q, v), 1e-14)


# What the formulations refuse


def test_robots_that_the_papers_do_not_describe() -> None:
    base = robot2020("pendulum")
    leg_set, tail = base.part("legs"), base.part("tail")
    q, v = stance(base), np.zeros(8)
    for path, robot in {
        "legs.hip_length": base.with_part("legs", replace(leg_set, hip_length=0.05)),
        "forward": replace(base, forward="x"),
        "legs": base.with_part("legs", tail),
        "tail": base.with_part("tail", leg_set),
        "second": base.with_part("second", replace(tail, mount=(0.0, 0.25, 0.0))),
    }.items():
        with pytest.raises(RobotError) as caught:
            liu2020.inverse_dynamics(robot, q, v, v)
        assert caught.value.path == path
    with pytest.raises(UnknownNameError):
        liu2020.mass_matrix(base.without("legs"), q)
    with pytest.raises(RobotError):
        liu2020.coordinate_count(blaberus())


def test_robots_that_2018_does_not_describe() -> None:
    base = robot2018()
    leg_set, tail = base.part("legs"), base.part("tail")
    for path, robot in {
        "legs.knee": base.with_part("legs", replace(leg_set, knee="backward")),
        "legs.hips": base.with_part("legs", replace(leg_set, hips=leg_set.hips[:3], feet=leg_set.feet[:3])),
        "tail": base.with_part("tail", R3()),
        "tail.mass": base.with_part("tail", replace(tail, mass=0.1)),
        "tail.armature": base.with_part("tail", replace(tail, armature=0.1)),
        "torso.com": replace(
            base, torso=Torso(mass=26.9, com=(0.0, 0.01, 0.0), inertia=(0.8, 0.4, 1.2, 0.0, 0.0, 0.0))
        ),
        "parts": base.with_part("second", tail),
    }.items():
        with pytest.raises(RobotError) as caught:
            liu2018.mass_matrix(robot, stance(base))
        assert caught.value.path == path


def test_states_that_cannot_be() -> None:
    robot = robot2020("pendulum")
    q, v = stance(robot), np.zeros(8)
    with pytest.raises(StateError, match="leg 1"):
        liu2020.bias(robot, q + 0.2 * np.eye(8)[2], v)
    with pytest.raises(StateError, match="leg 1 has its foot on the axis of ha"):
        legs.hip_to_foot(legs.legs_of(robot)[0], np.eye(3), np.array([0.0, -0.3, 0.0]))
    with pytest.raises(StateError, match=r"a: has shape \(6,\)"):
        liu2020.inverse_dynamics(robot, q, v, np.zeros(6))
    with pytest.raises(StateError, match=r"q: has shape \(9,\)"):
        liu2018.gravity(robot2018(), np.zeros(9))


def test_r3_base_on_the_roll_axis_is_the_printed_one() -> None:
    """Eqs. (39), (43): with C_0 on the roll axis, rolling does not move it."""
    tail = replace(R3(mount=(0.0, -0.25, 0.0)), base_com=(0.0, -0.02, 0.0))
    q, v, a = random_state(robot2020("r3"))
    torso = torso_motion(q, v, a)
    base = r3.all_links(tail, torso, q[6:], v[6:], a[6:])[0]
    arm = torso.rotation @ np.array([0.0, -0.27, 0.0])
    assert_agree(base.com_jacobian, np.hstack([fixed_point_jacobian(arm), np.zeros((3, 3))]), 1e-15)
    assert_agree(base.com_acceleration, fixed_point_acceleration(torso, arm), 1e-14)
