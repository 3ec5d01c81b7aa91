"""The model of Liu & Ben-Tzvi 2018: a quadruped on its feet with a point mass on a massless tail.

    M a + C(q, v) + G(q) = F = J_tau,aᵀ tau_a + J_tau,pᵀ tau_p                         Eqs. (37), (42), (46)

q = [p, phi_x, phi_y, phi_z, ta, tb], v = [velocity of P, angular velocity, ta-dot, tb-dot], a the rate of v. Legs in
the paper's own angles: hb counts the other way round than in 2020, the knee torque acts on the interior angle kappa.

    tau_a: ha of legs 1, 2; kappa of legs 1–4; ta; tb [N m]
    tau_p: ha of legs 3, 4; hb of legs 1–4 [N m]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import RobotError
from tailwork.papers.liu2018.legs import knee_acceleration, leg_pose
from tailwork.papers.liu2020 import pendulum
from tailwork.papers.liu2020 import torso as plate
from tailwork.papers.liu2020.legs import Leg, LegPose, leg_loading, leg_mass_matrix, legs_of
from tailwork.papers.liu2020.torso import TorsoMotion, torso_at_rest, torso_motion
from tailwork.papers.spatial import Z_AXIS, Array, checked, skew
from tailwork.robots.robot import Robot
from tailwork.robots.tails import Pendulum


def parts_of(robot: Robot) -> tuple[tuple[Leg, ...], Pendulum]:
    """Legs and tail of a robot, checked to be those of the 2018 paper."""
    legs, tail, com = legs_of(robot), robot.part("tail"), robot.torso_body().com
    if set(robot.parts) != {"legs", "tail"}:
        raise RobotError("parts", sorted(robot.parts), "legs and a tail, nothing else")
    if not hasattr(tail, "tip_mass"):
        raise RobotError("tail", tail, "a pendulum")
    for path, value, is_theirs, required in (
        ("legs.hips", len(legs), len(legs) == 4, "four legs (2018, Eq. 27)"),
        ("legs.knee", robot.part("legs").knee, legs[0].knee_sign < 0, "'forward' (2018, Eq. 8)"),
        ("tail.mass", tail.mass, tail.mass == 0.0, "0: the 2018 tail is a point mass on a massless bar (Eq. 39)"),
        ("tail.armature", tail.armature, tail.armature == 0.0, "0: the 2018 model has no armature"),
        ("torso.com", com, not any(com), "(0, 0, 0): the 2018 torso has its centre of mass in P"),
    ):
        if not is_theirs:
            raise RobotError(path, value, required)
    return legs, tail


def _checked(**arguments: ArrayLike) -> list[Array]:
    return checked(8, "6 of the torso, then ta and tb", **arguments)


def _poses(legs: tuple[Leg, ...], torso: TorsoMotion) -> list[LegPose]:
    return [leg_pose(leg, torso.rotation, torso.position) for leg in legs]


def _with_tail(six: Array) -> Array:
    """A generalised force of the torso and legs, with zeros for ta and tb."""
    return np.concatenate([six, np.zeros(2)])


def actuation_jacobians(robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """J_tau,a (8 × 8) and J_tau,p (6 × 8) (Eqs. 27, 28)."""
    legs, tail = parts_of(robot)
    (q,) = _checked(q=q)
    rows = np.array([pose.j_joints for pose in _poses(legs, torso_at_rest(q))])
    ha, hb, kappa = np.pad(rows, ((0, 0), (0, 0), (0, 2))).transpose(1, 0, 2)
    j_a = np.vstack([ha[:2], kappa, pendulum.actuation_jacobian(tail, q[6:])])
    j_p = np.vstack([ha[2:], hb])
    return j_a, j_p


def _legs_loading(legs: tuple[Leg, ...], torso: TorsoMotion, gravity: float) -> Array:
    """Σ tau_l,i [N, N m], six entries (Eq. 40; Eq. 36 prints m_sh/2 for m_th/2 at the hip)."""
    pairs = zip(legs, _poses(legs, torso), strict=True)
    return np.sum(
        [leg_loading(leg, pose, knee_acceleration(leg, pose, torso), torso, gravity) for leg, pose in pairs], 0
    )


def inverse_dynamics(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Generalised force [N, N m] for a motion: tau_b + tau_t + Σ tau_l,i (Eqs. 37–40)."""
    legs, tail = parts_of(robot)
    q, v, a = _checked(q=q, v=v, a=a)
    torso = torso_motion(q, v, a)
    six = plate.torso_loading(robot.torso_body(), torso, robot.gravity) + _legs_loading(legs, torso, robot.gravity)
    return _with_tail(six) + pendulum.tip_loading(tail, torso, q[6:], v[6:], a[6:], robot.gravity)


def actuator_torques(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau_p: ArrayLike | None = None) -> Array:
    """tau_a [N m] for a motion and given redundant torques tau_p, by default zero (Eqs. 37, 41).

    The matrix that is inverted is badly conditioned, and singular where ha of legs 1 and 2 move alike: look at
    `numpy.linalg.cond(actuation_jacobians(robot, q)[0])`.
    """
    force = inverse_dynamics(robot, q, v, a) - actuation_force(robot, q, np.zeros(8), tau_p)
    return np.linalg.solve(actuation_jacobians(robot, q)[0].T, force)


def mass_matrix(robot: Robot, q: ArrayLike) -> Array:
    """M (8 × 8) [kg, kg m, kg m²] (Eqs. 52–55; Eqs. 51, 53 print J_1ᵀJ_2 where its symmetric part belongs)."""
    legs, tail = parts_of(robot)
    (q,) = _checked(q=q)
    torso = torso_at_rest(q)
    mass = pendulum.tip_mass_matrix(tail, torso, q[6:])
    mass[:6, :6] += plate.torso_mass_matrix(robot.torso_body(), torso.rotation)
    for leg, pose in zip(legs, _poses(legs, torso), strict=True):
        mass[:6, :6] += leg_mass_matrix(leg, pose)
    return mass


def coriolis(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """C(q, v) [N, N m], what velocities alone ask for (Eqs. 44, 45, 48).

    The legs' share, left out of the paper, is Eq. (40) with the accelerations that velocities alone cause.
    """
    legs, tail = parts_of(robot)
    q, v = _checked(q=q, v=v)
    torso = torso_motion(q, v, np.zeros(8))
    _, j_omega = plate.torso_jacobians(robot.torso_body(), torso.rotation)
    i_b, omega = plate.torso_inertia(robot.torso_body(), torso.rotation), torso.omega
    six = j_omega.T @ (skew(omega) @ i_b @ omega) + _legs_loading(legs, torso, gravity=0.0)
    j_t = pendulum.tip_jacobian(tail, torso, q[6:])
    return _with_tail(six) + j_t.T @ (tail.tip_mass * pendulum.tip_bias_acceleration(tail, torso, q[6:], v[6:]))


def gravity(robot: Robot, q: ArrayLike) -> Array:
    """G(q) [N, N m] (Eq. 47)."""
    legs, tail = parts_of(robot)
    (q,) = _checked(q=q)
    torso = torso_at_rest(q)
    j_bx, _ = plate.torso_jacobians(robot.torso_body(), torso.rotation)
    weights = robot.torso_body().mass * j_bx.T
    for leg, pose in zip(legs, _poses(legs, torso), strict=True):
        weights = weights + (leg.thigh_mass + leg.shank_mass) / 2 * pose.j_knee.T + leg.thigh_mass / 2 * pose.j_hip.T
    g = robot.gravity * Z_AXIS
    return _with_tail(weights @ g) + tail.tip_mass * pendulum.tip_jacobian(tail, torso, q[6:]).T @ g


def actuation_force(robot: Robot, q: ArrayLike, tau_a: ArrayLike, tau_p: ArrayLike | None = None) -> Array:
    """F [N, N m], the generalised force of the torques tau_a and tau_p (by default zero) [N m] (Eq. 46)."""
    j_a, j_p = actuation_jacobians(robot, q)
    redundant = np.zeros(6) if tau_p is None else np.asarray(tau_p, dtype=float)
    return j_a.T @ np.asarray(tau_a, dtype=float) + j_p.T @ redundant


def forward_dynamics(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau_a: ArrayLike, tau_p: ArrayLike | None = None
) -> Array:
    """Rate of v, [v-dot, omega-dot, ta-ddot, tb-ddot] [m/s², rad/s²], for torques tau_a and tau_p [N m] (Eq. 43)."""
    force = actuation_force(robot, q, tau_a, tau_p)
    return np.linalg.solve(mass_matrix(robot, q), force - coriolis(robot, q, v) - gravity(robot, q))
