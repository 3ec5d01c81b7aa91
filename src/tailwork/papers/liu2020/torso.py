"""The torso, or traveling plate: attitude, motion, and its loading by virtual work (2018 and 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.papers.spatial import Z_AXIS, Array, skew, tensor
from tailwork.robots.body import Body


def torso_rotation(phi: Array) -> Array:
    """Rotation matrix ^S R_P from the torso frame to the inertial one for the angles phi [rad].

    2018, Eq. (1); 2020, Eq. (4).
    """
    cx, cy, cz = np.cos(phi)
    sx, sy, sz = np.sin(phi)
    return np.array([
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ])  # fmt: skip


def rate_matrix(phi: Array) -> Array:
    """E(phi), which turns the rates of phi [rad/s] into the angular velocity [rad/s]: omega = E phi-dot.

    2018, Eq. (2) and 2020, Eq. (5) print omega = phi-dot, which drops E.
    """
    _, cy, cz = np.cos(phi)
    _, sy, sz = np.sin(phi)
    return np.array([[cz * cy, -sz, 0.0], [sz * cy, cz, 0.0], [-sy, 0.0, 1.0]])


def angle_rates(phi: Array, omega: Array) -> Array:
    """Rates of phi [rad/s] at an angular velocity omega [rad/s]; singular at phi_y = ±90°."""
    return np.linalg.solve(rate_matrix(phi), omega)


def angular_acceleration(phi: Array, phi_dot: Array, phi_ddot: Array) -> Array:
    """Angular acceleration omega-dot [rad/s²] = E phi-ddot + E-dot phi-dot.

    2018, Eq. (3) and 2020, Eq. (6) print omega-dot = phi-ddot.
    """
    _, cy, cz = np.cos(phi)
    _, sy, sz = np.sin(phi)
    _, y_dot, z_dot = phi_dot
    rate_matrix_dot = np.array([
        [-sz * z_dot * cy - cz * sy * y_dot, -cz * z_dot, 0.0],
        [cz * z_dot * cy - sz * sy * y_dot, -sz * z_dot, 0.0],
        [-cy * y_dot, 0.0, 0.0],
    ])  # fmt: skip
    return rate_matrix(phi) @ phi_ddot + rate_matrix_dot @ phi_dot


@dataclass(frozen=True)
class TorsoMotion:
    """Where the torso is and how it moves, all in the inertial frame."""

    rotation: Array  # ^S R_P
    position: Array  # p [m]
    velocity: Array  # v, of the point P [m/s]
    omega: Array  # [rad/s]
    acceleration: Array  # v-dot [m/s²]
    omega_dot: Array  # [rad/s²]

    @property
    def twist(self) -> Array:
        """t_p = [v, omega] (2018, Eq. 13)."""
        return np.concatenate([self.velocity, self.omega])

    @property
    def twist_rate(self) -> Array:
        """[v-dot, omega-dot]."""
        return np.concatenate([self.acceleration, self.omega_dot])


def torso_motion(q: Array, v: Array, a: Array) -> TorsoMotion:
    """The motion of the torso from the first six entries of q, v and of the rate of v."""
    return TorsoMotion(torso_rotation(q[3:6]), q[:3], v[:3], v[3:6], a[:3], a[3:6])


def torso_at_rest(q: Array) -> TorsoMotion:
    """The torso at q with neither velocity nor acceleration; for quantities that depend on the position alone."""
    return torso_motion(q, np.zeros(6), np.zeros(6))


def fixed_point_jacobian(arm: Array) -> Array:
    """Jacobian [1, −arm~] (3 × 6) of a point that is fixed in the torso, at `arm` [m] from P, inertial axes.

    2018, Eq. (20); 2020, Eq. (19), without the zero columns of the tail. H_i: arm = a_i; T: arm = r.
    """
    return np.hstack([np.eye(3), -skew(arm)])


def fixed_point_acceleration(torso: TorsoMotion, arm: Array) -> Array:
    """Acceleration [m/s²] of a point that is fixed in the torso, at `arm` [m] from P, inertial axes.

    2018, Eq. (29); 2020, Eq. (18), where the dot on the first omega~ is lost in print. H_i: arm = a_i; T: arm = r.
    """
    w, w_dot = skew(torso.omega), skew(torso.omega_dot)
    return torso.acceleration + w_dot @ arm + w @ w @ arm


def torso_jacobians(body: Body, rotation: Array) -> tuple[Array, Array]:
    """J_b,x and J_b,omega (3 × 6 each) of the torso's centre of mass.

    2020, Eq. (52); 2018, below Eq. (40), without the zero columns of the tail. The papers have the centre of mass in
    P; here it may be elsewhere.
    """
    j_omega = np.hstack([np.zeros((3, 3)), np.eye(3)])
    return fixed_point_jacobian(rotation @ np.array(body.com)), j_omega


def torso_inertia(body: Body, rotation: Array) -> Array:
    """I_b [kg m²], the central inertia of the torso in inertial axes (2018, below Eq. 40; 2020, above Eq. 51)."""
    return rotation @ tensor(body.inertia) @ rotation.T


def torso_loading(body: Body, torso: TorsoMotion, gravity: float) -> Array:
    """tau_b [N, N m], the torso's share of the generalised force (six entries).

    2018, Eq. (38); 2020, Eq. (51). With the centre of mass off P, its own acceleration stands for v-dot.
    """
    j_x, j_omega = torso_jacobians(body, torso.rotation)
    i_b, omega = torso_inertia(body, torso.rotation), torso.omega
    v_dot = fixed_point_acceleration(torso, torso.rotation @ np.array(body.com))
    return j_x.T @ (body.mass * (v_dot + gravity * Z_AXIS)) + j_omega.T @ (
        i_b @ torso.omega_dot + skew(omega) @ i_b @ omega
    )


def torso_mass_matrix(body: Body, rotation: Array) -> Array:
    """M_b (6 × 6) [kg, kg m, kg m²], the torso's share of the mass matrix (2018, Eq. 54; 2020, Eq. 81)."""
    j_x, j_omega = torso_jacobians(body, rotation)
    return body.mass * j_x.T @ j_x + j_omega.T @ torso_inertia(body, rotation) @ j_omega
