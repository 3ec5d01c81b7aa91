"""A serial chain of links: positions, Jacobians and accelerations passed from link to link (2020, Eqs. 31–42).

The R3 tail and the USRT differ only in how their links turn. Each hands over that turning; the rest is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.papers.liu2020.torso import TorsoMotion, fixed_point_acceleration, fixed_point_jacobian
from tailwork.papers.spatial import Y_AXIS, Z_AXIS, Array, skew


@dataclass(frozen=True)
class Turning:
    """How link i is turned and turns, in the inertial frame."""

    rotation: Array  # ^S R_i
    jacobian: Array  # J_i,omega, 3 × (6 + m)
    omega: Array  # [rad/s]
    omega_dot: Array  # [rad/s²]


@dataclass(frozen=True)
class ChainLink:
    """How link i is turned, and where its centre of mass C_i is and how it moves, in the inertial frame."""

    turning: Turning
    com: Array  # p_i,com [m]
    com_jacobian: Array  # J_i,com, 3 × (6 + m)
    com_acceleration: Array  # [m/s²]


def still_turning(torso: TorsoMotion, size: int) -> Turning:
    """The turning of the torso itself, from which a tail's recursion starts; `size` = 6 + m."""
    jacobian = np.hstack([np.zeros((3, 3)), np.eye(3), np.zeros((3, size - 6))])
    return Turning(torso.rotation, jacobian, torso.omega, torso.omega_dot)


def carried_acceleration(turning: Turning, arm: Array) -> Array:
    """What a link's turning adds to the acceleration [m/s²] along `arm` [m]: (omega-dot~ + omega~²) arm.

    The right half of 2020, Eq. (42), where the dot on the first omega~ is lost in print.
    """
    w, w_dot = skew(turning.omega), skew(turning.omega_dot)
    return w_dot @ arm + w @ w @ arm


def links(
    torso: TorsoMotion, mount: Sequence[float], turnings: Sequence[Turning], length: float, com: float
) -> list[ChainLink]:
    """Links 1, 2, … of a tail whose joint 1 is at `mount` in the torso frame.

    Positions by 2020, Eqs. (31), (32), Jacobians by Eqs. (37), (38), accelerations by Eqs. (41), (42). The velocities
    of Eqs. (34), (35) are these Jacobians times v. `length` is L_J2J [m], from joint to joint, `com` is L_J2C [m], from
    a joint to the centre of mass of its link.
    """
    chain: list[ChainLink] = []
    r = torso.rotation @ np.array(mount)
    tail_columns = turnings[0].jacobian.shape[1] - 6
    p_jnt = torso.position + r
    j_jnt = np.hstack([fixed_point_jacobian(r), np.zeros((3, tail_columns))])
    a_jnt = fixed_point_acceleration(torso, r)
    for turning in turnings:
        y_i = turning.rotation @ Y_AXIS
        j2c, j2j = -com * y_i, -length * y_i
        chain.append(
            ChainLink(
                turning=turning,
                com=p_jnt + j2c,
                com_jacobian=j_jnt - skew(j2c) @ turning.jacobian,
                com_acceleration=a_jnt + carried_acceleration(turning, j2c),
            )
        )
        p_jnt = p_jnt + j2j
        j_jnt = j_jnt - skew(j2j) @ turning.jacobian
        a_jnt = a_jnt + carried_acceleration(turning, j2j)
    return chain


def link_loading(link: ChainLink, mass: float, inertia: Array, gravity: float) -> Array:
    """Share of one link in tau_t [N, N m]: the summand of 2020, Eq. (60), and Eq. (62).

    The inertia [kg m²] is the central one, in the frame of the link.
    """
    turning = link.turning
    i_i = turning.rotation @ inertia @ turning.rotation.T
    force = mass * (link.com_acceleration + gravity * Z_AXIS)
    moment = i_i @ turning.omega_dot + skew(turning.omega) @ i_i @ turning.omega
    return link.com_jacobian.T @ force + turning.jacobian.T @ moment


def link_mass_matrix(link: ChainLink, mass: float, inertia: Array) -> Array:
    """M_i,tail, the share of one link in the mass matrix (2020, Eq. 83); arguments as in `link_loading`."""
    turning = link.turning
    i_i = turning.rotation @ inertia @ turning.rotation.T
    return mass * link.com_jacobian.T @ link.com_jacobian + turning.jacobian.T @ i_i @ turning.jacobian
