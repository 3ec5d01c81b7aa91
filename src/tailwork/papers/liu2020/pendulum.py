"""The pendulum tail: an ideal bar (2020), a point mass at the tip (2018), or both.

Coordinates q = (ta, tb) [rad]: t = Rx(ta) Rz(tb) [0, −L_t, 0]; v are their rates [rad/s], a their accelerations
[rad/s²].
"""

from __future__ import annotations

import numpy as np

from tailwork.papers.liu2020.torso import TorsoMotion, fixed_point_acceleration, fixed_point_jacobian
from tailwork.papers.spatial import X_AXIS, Z_AXIS, Array, rotation_x, rotation_z, skew
from tailwork.robots.tails import Pendulum


def coordinate_count(tail: Pendulum) -> int:
    """Number of coordinates, ta and tb."""
    return 2


def tail_vector(tail: Pendulum, q: Array) -> Array:
    """^P t [m], from the mount to the tip in the torso frame (2020, Eq. 25; 2018, below Eq. 10)."""
    ta, tb = q
    return rotation_x(ta) @ rotation_z(tb) @ np.array([0.0, -tail.length, 0.0])


def tip_position(tail: Pendulum, torso: TorsoMotion, q: Array) -> Array:
    """p_n [m], the tip N in the inertial frame (2018, Eq. 10; 2020, Eq. 24)."""
    return torso.position + _tip_arm(tail, torso, q)


def _tip_arm(tail: Pendulum, torso: TorsoMotion, q: Array) -> Array:
    """r + t [m], from P to the tip, inertial axes."""
    return torso.rotation @ (np.array(tail.mount) + tail_vector(tail, q))


def tail_rate_matrix(tail: Pendulum, q: Array) -> Array:
    """K_n (3 × 2) [m]: rate of ^P t = K_n [ta-dot, tb-dot] (2018, Eq. 25; 2020, Eq. 28)."""
    ta, tb = q
    ca, sa, cb, sb = np.cos(ta), np.sin(ta), np.cos(tb), np.sin(tb)
    return tail.length * np.array([[0.0, cb], [sa * cb, ca * sb], [-ca * cb, sa * sb]])


def tail_rate_matrix_dot(tail: Pendulum, q: Array, v: Array) -> Array:
    """Rate of K_n (3 × 2) [m/s]; the papers leave it to the reader (2018, below Eq. 31)."""
    ta, tb = q
    da, db = v
    ca, sa, cb, sb = np.cos(ta), np.sin(ta), np.cos(tb), np.sin(tb)
    return tail.length * np.array([
        [0.0, -sb * db],
        [ca * cb * da - sa * sb * db, -sa * sb * da + ca * cb * db],
        [sa * cb * da + ca * sb * db, ca * sb * da + sa * cb * db],
    ])  # fmt: skip


def mount_jacobian(tail: Pendulum, torso: TorsoMotion) -> Array:
    """J_t of 2020 (3 × 8), of the mount T: Eq. (19) with r for a_i, as told below Eq. (28)."""
    return np.hstack([fixed_point_jacobian(torso.rotation @ np.array(tail.mount)), np.zeros((3, 2))])


def tip_jacobian(tail: Pendulum, torso: TorsoMotion, q: Array) -> Array:
    """Jacobian of the tip N (3 × 8): J_n of 2020, Eq. (29), which is J_t of 2018, Eq. (26)."""
    arm = _tip_arm(tail, torso, q)
    return np.hstack([fixed_point_jacobian(arm), torso.rotation @ tail_rate_matrix(tail, q)])


def tip_velocity(tail: Pendulum, torso: TorsoMotion, q: Array, v: Array) -> Array:
    """v_n [m/s], of the tip (2018, Eq. 24; 2020, Eq. 26)."""
    arm = _tip_arm(tail, torso, q)
    t_dot = torso.rotation @ tail_rate_matrix(tail, q) @ v
    return torso.velocity - np.cross(arm, torso.omega) + t_dot


def tip_bias_acceleration(tail: Pendulum, torso: TorsoMotion, q: Array, v: Array) -> Array:
    """The part of the tip's acceleration [m/s²] that comes from velocities: the bracket of 2018, Eq. (48).

    The print multiplies K-dot by the angles; it belongs to their rates.
    """
    rotation, w = torso.rotation, skew(torso.omega)
    k_n, k_n_dot = tail_rate_matrix(tail, q), tail_rate_matrix_dot(tail, q, v)
    arm = _tip_arm(tail, torso, q)
    return w @ w @ arm + 2 * w @ rotation @ k_n @ v + rotation @ k_n_dot @ v


def tip_acceleration(tail: Pendulum, torso: TorsoMotion, q: Array, v: Array, a: Array) -> Array:
    """Acceleration of the tip [m/s²] (2018, Eq. 31; 2020, Eq. 27; the dot on the first omega~ is lost in print)."""
    arm = _tip_arm(tail, torso, q)
    k_n = tail_rate_matrix(tail, q)
    driven = torso.acceleration + skew(torso.omega_dot) @ arm + torso.rotation @ k_n @ a
    return driven + tip_bias_acceleration(tail, torso, q, v)


def bar_loading(tail: Pendulum, torso: TorsoMotion, q: Array, v: Array, a: Array, gravity: float) -> Array:
    """Share of the bar in tau_t [N, N m] (2020, Eq. 59)."""
    j_t, j_n = mount_jacobian(tail, torso), tip_jacobian(tail, torso, q)
    v_t = fixed_point_acceleration(torso, torso.rotation @ np.array(tail.mount))
    v_n = tip_acceleration(tail, torso, q, v, a)
    m_t, g_z = tail.mass, gravity * Z_AXIS
    return j_t.T @ (m_t / 6 * (2 * v_t + v_n + 3 * g_z)) + j_n.T @ (m_t / 6 * (2 * v_n + v_t + 3 * g_z))


def tip_loading(tail: Pendulum, torso: TorsoMotion, q: Array, v: Array, a: Array, gravity: float) -> Array:
    """Share of the tip mass in tau_t [N, N m] (2018, Eq. 39)."""
    a_n = tip_acceleration(tail, torso, q, v, a)
    return tip_jacobian(tail, torso, q).T @ (tail.tip_mass * (a_n + gravity * Z_AXIS))


def loading(tail: Pendulum, torso: TorsoMotion, q: Array, v: Array, a: Array, gravity: float) -> Array:
    """tau_t [N, N m], eight entries: bar, tip mass and, not in the papers, the armature of both hinges."""
    tau = bar_loading(tail, torso, q, v, a, gravity)
    tau += tip_loading(tail, torso, q, v, a, gravity)
    tau[6:] += tail.armature * a
    return tau


def angular_jacobian(torso: TorsoMotion, q: Array) -> Array:
    """J_omega (3 × 8) of the tail: ta turns about the torso's x axis, tb about the tail's z axis."""
    ta, _ = q
    return np.hstack([np.zeros((3, 3)), np.eye(3), torso.rotation @ np.column_stack([X_AXIS, rotation_x(ta) @ Z_AXIS])])


def tip_mass_matrix(tail: Pendulum, torso: TorsoMotion, q: Array) -> Array:
    """M_t (8 × 8) of the tip mass (2018, Eq. 55)."""
    j_n = tip_jacobian(tail, torso, q)
    return tail.tip_mass * j_n.T @ j_n


def mass_matrix(tail: Pendulum, torso: TorsoMotion, q: Array) -> Array:
    """M_tail (8 × 8) [kg, kg m, kg m²] of bar, tip mass and armature.

    The bar by 2020, Eq. (83): its centre of mass lies midway between T and N, its inertia is m L²/12 across.
    """
    j_com = (mount_jacobian(tail, torso) + tip_jacobian(tail, torso, q)) / 2
    j_omega = angular_jacobian(torso, q)
    t = torso.rotation @ tail_vector(tail, q)
    inertia = tail.mass / 12 * (t @ t * np.eye(3) - np.outer(t, t))
    mass = tail.mass * j_com.T @ j_com + j_omega.T @ inertia @ j_omega + tip_mass_matrix(tail, torso, q)
    mass[6:, 6:] += tail.armature * np.eye(2)
    return mass


def actuation_jacobian(tail: Pendulum, q: Array) -> Array:
    """J_ta (2 × 8) for the torques on ta and tb (2020, Eq. 70)."""
    return np.hstack([np.zeros((2, 6)), np.eye(2)])
