"""The USRT: links on universal joints with springs, a damper and cables (2020, Eqs. 44–50, 61–67, 74–78).

Coordinates q = (theta_1, phi_1, theta_2, phi_2, …) [rad]; v are their rates [rad/s], a their accelerations [rad/s²].
Points A, B and the cable holes D of a link are given from its far joint, those of link 0 from the mount in the torso
frame. The papers' tail has two segments of three links; any numbers work here.
"""

from __future__ import annotations

import numpy as np

from tailwork.papers.liu2020.chain import ChainLink, Turning, link_loading, link_mass_matrix, links, still_turning
from tailwork.papers.liu2020.torso import TorsoMotion
from tailwork.papers.spatial import X_AXIS, Y_AXIS, Z_AXIS, Array, rotation_x, rotation_z, skew, tensor, unit_row
from tailwork.robots.tails import Usrt
from tailwork.robots.tails.usrt import along_links


def coordinate_count(tail: Usrt) -> int:
    """Number of coordinates: theta and phi of every link."""
    return 2 * tail.links


def turnings(tail: Usrt, torso: TorsoMotion, q: Array, v: Array, a: Array) -> list[Turning]:
    """Turning of links 1, 2, …: 2020, Eq. (44), and Eqs. (45), (46), (47) for omega, J_omega and omega-dot."""
    size = 6 + coordinate_count(tail)
    turning = still_turning(torso, size)
    found: list[Turning] = []
    for i in range(tail.links):
        theta, phi = q[2 * i : 2 * i + 2]
        theta_dot, phi_dot = v[2 * i : 2 * i + 2]
        theta_ddot, phi_ddot = a[2 * i : 2 * i + 2]
        rotation = turning.rotation @ rotation_x(phi) @ rotation_z(theta)
        x_before, z_own = turning.rotation @ X_AXIS, rotation @ Z_AXIS
        omega = turning.omega + phi_dot * x_before + theta_dot * z_own
        turning = Turning(
            rotation=rotation,
            jacobian=turning.jacobian
            + np.outer(x_before, unit_row(size, 2 * i + 7))
            + np.outer(z_own, unit_row(size, 2 * i + 6)),
            omega=omega,
            omega_dot=turning.omega_dot
            + phi_ddot * x_before
            + phi_dot * skew(turning.omega) @ x_before
            + theta_ddot * z_own
            + theta_dot * skew(omega) @ z_own,
        )
        found.append(turning)
    return found


def all_links(tail: Usrt, torso: TorsoMotion, q: Array, v: Array, a: Array) -> list[ChainLink]:
    """Links 1, 2, … by the recursion of the R3 tail (2020, below Eq. 44)."""
    turning = turnings(tail, torso, q, v, a)
    return links(torso, tail.mount, turning, tail.link_length, tail.link_com)


def bending_angle(theta: float, phi: float) -> float:
    """sigma [rad], the net bending of a universal joint: cos sigma = cos theta cos phi (2020, Eq. 48).

    By atan2, since an arccosine loses half of the digits of a small angle.
    """
    return float(np.arctan2(_bending_sine(theta, phi), np.cos(theta) * np.cos(phi)))


def _bending_sine(theta: float, phi: float) -> float:
    """sin sigma, from sin² sigma = sin² theta + cos² theta sin² phi."""
    return float(np.hypot(np.sin(theta), np.cos(theta) * np.sin(phi)))


def bending_gradient(theta: float, phi: float) -> Array:
    """g = sin sigma · j_sigma, with j_sigma the derivatives of sigma by theta and phi (from 2020, Eq. 48).

    g is smooth everywhere; j_sigma itself, which 2020 uses in Eqs. (63), (64), is 0/0 at sigma = 0.
    """
    return np.array([np.sin(theta) * np.cos(phi), np.cos(theta) * np.sin(phi)])


def compression_loading(tail: Usrt, theta: float, phi: float) -> Array:
    """Generalised forces [N m] of the compression spring on (theta_i, phi_i): k (sigma/sin sigma) g.

    2020, Eq. (63), with the quotient's series at small sigma, where the print is 0/0.
    """
    sine = _bending_sine(theta, phi)
    small = sine < 1e-4 and np.cos(theta) * np.cos(phi) > 0
    ratio = 1 + sine**2 / 6 + 3 * sine**4 / 40 if small else bending_angle(theta, phi) / sine
    return tail.bending_stiffness * ratio * bending_gradient(theta, phi)


def damping_loading(tail: Usrt, theta: float, phi: float, v: Array) -> Array:
    """Generalised forces [N m] of the damper on (theta_i, phi_i).

    2020, Eq. (64) is c g gᵀ/sin² sigma times the rates, which has no limit at sigma = 0. Here the two rates are damped
    alike there and the paper's law is approached within the angle `bending_blend`, as BendingSpring describes:
    c (g gᵀ + blend² 1)/(sin² sigma + blend²).
    """
    g, blend2 = bending_gradient(theta, phi), tail.bending_blend**2
    matrix = (np.outer(g, g) + blend2 * np.eye(2)) / (_bending_sine(theta, phi) ** 2 + blend2)
    return tail.bending_damping * matrix @ v


def point_before(theta: float, phi: float, point: Array) -> Array:
    """A point of link i−1, given from joint i in frame i−1, in frame i [m]: ^i p_{i−1} of 2020, Eq. (49)."""
    return (rotation_x(phi) @ rotation_z(theta)).T @ point


def span(tail: Usrt, theta: float, phi: float, before: Array, own: Array) -> Array:
    """From a point of link i−1 to a point of link i, in frame i [m].

    2020, Eqs. (49), (50): ^i p_i,AB for before = p_JA, own = p_JB; ^i p_i,j,DD for both p_JD.
    """
    return -tail.link_length * Y_AXIS + own - point_before(theta, phi, before)


def span_jacobian(theta: float, phi: float, before: Array) -> Array:
    """Derivative of `span` by (theta_i, phi_i), 3 × 2 [m] (2020, Eqs. 66, 76).

    Both print e_x; the axis of phi_i is x_{i−1}, which in frame i is [cos theta, −sin theta, 0].
    """
    p = point_before(theta, phi, before)
    x_before = np.array([np.cos(theta), -np.sin(theta), 0.0])
    return np.column_stack([np.cross(Z_AXIS, p), np.cross(x_before, p)])


def span_length_gradient(tail: Usrt, theta: float, phi: float, before: Array, own: Array) -> Array:
    """Derivative of the length of `span` by (theta_i, phi_i) [m]: p-hatᵀ ∂p."""
    p = span(tail, theta, phi, before, own)
    return p / np.linalg.norm(p) @ span_jacobian(theta, phi, before)


def extension_loading(tail: Usrt, i: int, theta: float, phi: float) -> Array:
    """Generalised forces [N m] of the extension spring of link i = 1, 2, … on (theta_i, phi_i).

    2020, Eqs. (65), (67); the row of theta is missing in Eq. (67).
    """
    stiffness = along_links(tail.extension_stiffness, tail.links)[i - 1]
    rest = along_links(tail.extension_rest, tail.links)[i - 1]
    a, b = np.array(tail.point_a), np.array(tail.point_b)
    length = np.linalg.norm(span(tail, theta, phi, a, b))
    return stiffness * (length - rest) * span_length_gradient(tail, theta, phi, a, b)


def loading(tail: Usrt, torso: TorsoMotion, q: Array, v: Array, a: Array, gravity: float) -> Array:
    """tau_t [N, N m]: inertia, gravity, both springs and the damper of every link (2020, Eqs. 61, 62)."""
    inertia = tensor(tail.link_inertia)
    chain = all_links(tail, torso, q, v, a)
    tau = np.sum([link_loading(link, tail.link_mass, inertia, gravity) for link in chain], axis=0)
    for i in range(1, tail.links + 1):
        own = slice(2 * i - 2, 2 * i)
        theta, phi = q[own]
        elastic = compression_loading(tail, theta, phi) + extension_loading(tail, i, theta, phi)
        tau[2 * i + 4 : 2 * i + 6] += elastic + damping_loading(tail, theta, phi, v[own])
    return tau


def mass_matrix(tail: Usrt, torso: TorsoMotion, q: Array) -> Array:
    """Σ M_i,tail [kg, kg m, kg m²] (2020, Eqs. 80, 83)."""
    still, inertia = np.zeros_like(q), tensor(tail.link_inertia)
    chain = all_links(tail, torso, q, still, still)
    return np.sum([link_mass_matrix(link, tail.link_mass, inertia) for link in chain], axis=0)


def hole(tail: Usrt, j: int) -> Array:
    """p_JD [m], the hole of cable j = 1, 2, … from the far joint of any link (2020, Table 1)."""
    gamma = np.radians((120 * j - 90) % 360)
    return tail.hole_radius * np.array([np.cos(gamma), tail.hole_height, np.sin(gamma)])


def last_link(tail: Usrt, j: int) -> int:
    """The link at which cable j = 1, 2, … is held: the last of its segment (the limits of the sums in 2020, Eq. 75).

    Segments are as even as the links allow; those of the paper are.
    """
    return ((j - 1) // 3 + 1) * tail.links // tail.segments


def cable_length(tail: Usrt, j: int, q: Array) -> float:
    """Length [m] of cable j = 1, 2, … from the hole in the torso to the link that holds it (2020, Eq. 50)."""
    d = hole(tail, j)
    pairs = q.reshape(-1, 2)[: last_link(tail, j)]
    return float(sum(np.linalg.norm(span(tail, theta, phi, d, d)) for theta, phi in pairs))


def actuation_jacobian(tail: Usrt, q: Array) -> Array:
    """J_ta (3 rows a segment × (6 + m)) for the cable tensions T_j [N]: the rows J_tj of 2020, Eqs. (74), (77), (78).

    The print has +T ∂length; a cable pulls, so here it is −T ∂length. For the axis of phi see `span_jacobian`.
    """
    rows = np.zeros((3 * tail.segments, 6 + coordinate_count(tail)))
    for j in range(1, 3 * tail.segments + 1):
        d = hole(tail, j)
        for i in range(1, last_link(tail, j) + 1):
            theta, phi = q[2 * i - 2 : 2 * i]
            rows[j - 1, 2 * i + 4 : 2 * i + 6] -= span_length_gradient(tail, theta, phi, d, d)
    return rows
