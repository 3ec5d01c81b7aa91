"""The legs in the angles of Liu & Ben-Tzvi 2018 (Eqs. 4–9, 11–23, 29, 30).

ha as in 2020; hb with the opposite sign; the knee by its interior angle kappa, pi for a straight leg. The knee points
forward. Written apart from `legs`, so that each can be checked against the other.
"""

from __future__ import annotations

import numpy as np

from tailwork.papers.liu2020 import legs as legs2020
from tailwork.papers.liu2020.legs import Leg, LegPose, hip_to_foot, hip_to_foot_jacobian
from tailwork.papers.liu2020.torso import TorsoMotion, fixed_point_jacobian
from tailwork.papers.spatial import Array, rotation_y, skew


def leg_angles(leg: Leg, s: Array) -> Array:
    """Joint angles [ha, hb, kappa] [rad] for a foot at s [m] from the hip, torso frame (Eqs. 6–9).

    Eq. (6) is right for the interior angle kappa only. Eq. (7) prints atan2(s_x, s_z), half a turn off. The arcsine of
    Eq. (8) cannot tell an obtuse angle at the hip (L_sh² > L_th² + s²) from an acute one, so its cosine is used too.
    """
    l_th, l_sh, length = leg.thigh_length, leg.shank_length, np.linalg.norm(s)
    kappa = np.pi - np.arccos((s @ s - l_th**2 - l_sh**2) / (2 * l_th * l_sh))
    ha = np.arctan2(-s[0], -s[2])
    turned = rotation_y(ha).T @ s
    half = (l_th + l_sh + length) / 2
    area = np.sqrt(half * (half - l_th) * (half - l_sh) * (half - length))
    at_hip = np.arctan2(2 * area, (l_th**2 + length**2 - l_sh**2) / 2)
    hb = np.arctan(turned[1] / turned[2]) - at_hip
    return np.array([ha, hb, kappa])


def thigh_vector(leg: Leg, angles: Array) -> Array:
    """b_i [m], from the hip to the knee in the torso frame; hb counts the other way round than in 2020."""
    ha, hb, _ = angles
    return leg.thigh_length * np.array([-np.sin(ha) * np.cos(hb), -np.sin(hb), -np.cos(ha) * np.cos(hb)])


def joint_jacobians(leg: Leg, s: Array, angles: Array, j_s: Array) -> Array:
    """j_ha,i, j_hb,i and j_k,i as the rows of a 3 × 6 matrix (Eqs. 16, 18, 15).

    Eq. (15) stands (Eq. 11, from which it follows, prints a cosine for the sine). Eqs. (17) and (18) print
    hb + theta_k, which needs the exterior angle; with kappa, cos(hb + theta_k) becomes cos(hb − kappa) and changes its
    sign in the denominator.
    """
    _, hb, kappa = angles
    l_th, l_sh = leg.thigh_length, leg.shank_length
    j_ha = np.array([s[2], 0.0, -s[0]]) @ j_s / (s[0] ** 2 + s[2] ** 2)
    j_k = s @ j_s / (l_th * l_sh * np.sin(kappa))
    above = -l_th * np.sin(kappa) * j_s[1] - np.cos(hb - kappa) * (s @ j_s)
    below = l_th**2 * np.sin(kappa) * np.cos(hb) - l_sh * l_th * np.sin(kappa) * np.cos(hb - kappa)
    return np.array([j_ha, above / below, j_k])


def thigh_rate_matrix(leg: Leg, angles: Array) -> Array:
    """Q_k,i (3 × 2) [m]: rate of b_i in the torso frame = Q [ha-dot, hb-dot] (Eq. 22)."""
    ha, hb, _ = angles
    ca, sa, cb, sb = np.cos(ha), np.sin(ha), np.cos(hb), np.sin(hb)
    return leg.thigh_length * np.array([[-ca * cb, sa * sb], [0.0, -cb], [sa * cb, ca * sb]])


def thigh_rate_matrix_dot(leg: Leg, angles: Array, rates: Array) -> Array:
    """Rate of Q_k,i (3 × 2) [m/s], not printed (below Eq. 31): that of 2020, where hb counts the other way round."""
    flip = np.array([1.0, -1.0, 1.0])
    return legs2020.thigh_rate_matrix_dot(leg, angles * flip, rates * flip) * flip[:2]


def leg_pose(leg: Leg, rotation: Array, position: Array) -> LegPose:
    """Angles [ha, hb, kappa] and Jacobians of leg i (Eqs. 13, 15–23; Eq. 13 lacks the tilde on d − p)."""
    s = hip_to_foot(leg, rotation, position)
    angles = leg_angles(leg, s)
    j_s = hip_to_foot_jacobian(leg, rotation, position)
    j_joints = joint_jacobians(leg, s, angles, j_s)
    hip, knee = rotation @ leg.hip, rotation @ (leg.hip + thigh_vector(leg, angles))
    j_knee = fixed_point_jacobian(knee) + rotation @ thigh_rate_matrix(leg, angles) @ j_joints[:2]
    return LegPose(s, angles, j_s, j_joints, fixed_point_jacobian(hip), j_knee)


def joint_accelerations(leg: Leg, pose: LegPose, torso: TorsoMotion) -> Array:
    """Second rates of ha, hb, kappa [rad/s²]: Eqs. (16), (11) and (17), as corrected, differentiated once more."""
    s, (_, hb, kappa) = pose.s, pose.angles
    l_th, l_sh = leg.thigh_length, leg.shank_length
    w, v = skew(torso.omega), torso.velocity
    s_dot = pose.j_s @ torso.twist
    da, db, dk = pose.j_joints @ torso.twist
    s_ddot = pose.j_s @ torso.twist_rate + torso.rotation.T @ (2 * w @ v + w @ w @ (leg.foot - torso.position))
    # (s_x² + s_z²) ha-dot = s_z s_x-dot − s_x s_z-dot
    stretch = 2 * (s[0] * s_dot[0] + s[2] * s_dot[2])
    dda = (s[2] * s_ddot[0] - s[0] * s_ddot[2] - stretch * da) / (s[0] ** 2 + s[2] ** 2)
    # L_th L_sh sin(kappa) kappa-dot = s · s-dot
    ddk = (s @ s_ddot + s_dot @ s_dot - l_th * l_sh * np.cos(kappa) * dk**2) / (l_th * l_sh * np.sin(kappa))
    # −L_th cos(hb) hb-dot + L_sh cos(hb − kappa) (hb-dot − kappa-dot) = s_y-dot
    centripetal = l_th * np.sin(hb) * db**2 - l_sh * np.sin(hb - kappa) * (db - dk) ** 2
    across = l_th * np.cos(hb) - l_sh * np.cos(hb - kappa)
    ddb = -(s_ddot[1] + l_sh * np.cos(hb - kappa) * ddk - centripetal) / across
    return np.array([dda, ddb, ddk])


def knee_acceleration(leg: Leg, pose: LegPose, torso: TorsoMotion) -> Array:
    """a_k,i [m/s²], acceleration of the knee (Eq. 30, where the dot on the first omega~ is lost)."""
    rotation, w, w_dot = torso.rotation, skew(torso.omega), skew(torso.omega_dot)
    rates = pose.j_joints @ torso.twist
    q_k, q_k_dot = thigh_rate_matrix(leg, pose.angles), thigh_rate_matrix_dot(leg, pose.angles, rates)
    arm = rotation @ (leg.hip + thigh_vector(leg, pose.angles))
    turned = q_k @ joint_accelerations(leg, pose, torso)[:2] + q_k_dot @ rates[:2]
    return torso.acceleration + (w_dot + w @ w) @ arm + 2 * w @ rotation @ q_k @ rates[:2] + rotation @ turned
