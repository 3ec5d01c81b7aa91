"""The R3 tail: a base link that rolls, then links that are geared to bend evenly within each segment (2020).

Coordinates q = (alpha, beta_1, beta_2, …) [rad]; v are their rates [rad/s], a their accelerations [rad/s²]. The papers'
tail has two segments of six links; any numbers work here.
"""

from __future__ import annotations

import numpy as np

from tailwork.papers.liu2020 import chain
from tailwork.papers.liu2020.chain import ChainLink, Turning
from tailwork.papers.liu2020.torso import TorsoMotion, fixed_point_acceleration, fixed_point_jacobian
from tailwork.papers.spatial import X_AXIS, Y_AXIS, Array, rotation_x, rotation_y, skew, tensor, unit_row
from tailwork.robots.tails import R3


def coordinate_count(tail: R3) -> int:
    """Number of coordinates: alpha and one beta a segment."""
    return 1 + tail.segments


def turnings(tail: R3, torso: TorsoMotion, q: Array, v: Array, a: Array) -> list[Turning]:
    """Turning of the base link 0 and of links 1, 2, …

    Orientation by 2020, Eq. (30), angular velocity by Eq. (33), Jacobian by Eq. (36), angular acceleration by
    Eq. (40), whose third row prints beta_1 for beta_2.
    """
    size = 6 + coordinate_count(tail)
    still = chain.still_turning(torso, size)
    alpha, alpha_dot, alpha_ddot = q[0], v[0], a[0]
    base_rotation = torso.rotation @ rotation_y(alpha)
    x_0, y_0 = base_rotation @ X_AXIS, base_rotation @ Y_AXIS
    omega_0 = still.omega + alpha_dot * y_0
    turning = Turning(
        rotation=base_rotation,
        jacobian=still.jacobian + np.outer(y_0, unit_row(size, 6)),
        omega=omega_0,
        omega_dot=still.omega_dot + alpha_ddot * y_0 + alpha_dot * skew(omega_0) @ y_0,
    )
    found = [turning]
    bend = 0.0
    for i in range(tail.links_per_segment * tail.segments):
        segment = 1 + i // tail.links_per_segment  # place of this link's beta among the coordinates
        bend += q[segment]
        beta_dot, beta_ddot = v[segment], a[segment]
        turning = Turning(
            rotation=base_rotation @ rotation_x(bend),
            jacobian=turning.jacobian + np.outer(x_0, unit_row(size, 6 + segment)),
            omega=turning.omega + beta_dot * x_0,
            omega_dot=turning.omega_dot + beta_ddot * x_0 + beta_dot * skew(omega_0) @ x_0,
        )
        found.append(turning)
    return found


def base_link(tail: R3, torso: TorsoMotion, turning: Turning) -> ChainLink:
    """The base link 0, with its centre of mass C_0 at ^P p_0,P2C = mount + Ry(alpha) base_com.

    Jacobian by 2020, Eq. (39), acceleration by Eq. (43), which has its dots doubled in print. Both print C_0 as fixed
    in the torso, which holds on the roll axis only; here the arm from the mount to C_0 turns with the base link.
    """
    r, arm = torso.rotation @ np.array(tail.mount), turning.rotation @ np.array(tail.base_com)
    at_mount = np.hstack([fixed_point_jacobian(r), np.zeros((3, turning.jacobian.shape[1] - 6))])
    return ChainLink(
        turning=turning,
        com=torso.position + r + arm,
        com_jacobian=at_mount - skew(arm) @ turning.jacobian,
        com_acceleration=fixed_point_acceleration(torso, r) + chain.carried_acceleration(turning, arm),
    )


def all_links(tail: R3, torso: TorsoMotion, q: Array, v: Array, a: Array) -> list[ChainLink]:
    """The base link 0 and links 1, 2, … (2020, Eqs. 30–43)."""
    base, *bending = turnings(tail, torso, q, v, a)
    return [base_link(tail, torso, base), *chain.links(torso, tail.mount, bending, tail.link_length, tail.link_com)]


def _inertial(tail: R3) -> list[tuple[float, Array]]:
    """Mass [kg] and central inertia [kg m²] of links 0, 1, 2, …"""
    links = [(tail.link_mass * share, tensor(tail.link_inertia) * share) for share in tail.link_shares()]
    return [(tail.base_mass, tensor(tail.base_inertia)), *links]


def loading(tail: R3, torso: TorsoMotion, q: Array, v: Array, a: Array, gravity: float) -> Array:
    """tau_t [N, N m] (2020, Eq. 60)."""
    pairs = zip(all_links(tail, torso, q, v, a), _inertial(tail), strict=True)
    return np.sum([chain.link_loading(link, *inertial, gravity) for link, inertial in pairs], axis=0)


def mass_matrix(tail: R3, torso: TorsoMotion, q: Array) -> Array:
    """Σ M_i,tail [kg, kg m, kg m²] (2020, Eqs. 80, 83); the base link belongs to the sum, which prints i = 1..n."""
    still = np.zeros_like(q)
    pairs = zip(all_links(tail, torso, q, still, still), _inertial(tail), strict=True)
    return np.sum([chain.link_mass_matrix(link, *inertial) for link, inertial in pairs], axis=0)


def actuation_jacobian(tail: R3, q: Array) -> Array:
    """J_ta ((1 + segments) × (6 + m)) for the roll torque [N m] and the cable tensions [N] (2020, Eqs. 71–73)."""
    size = 6 + coordinate_count(tail)
    arm = tail.links_per_segment * tail.cable_radius
    rows = [unit_row(size, 6)] + [arm * unit_row(size, 7 + segment) for segment in range(tail.segments)]
    return np.vstack(rows)
