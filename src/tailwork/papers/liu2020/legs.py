"""The legs with their feet on the ground: angles, Jacobians, accelerations and loading (2020, Eqs. 7–23, 53–58, 82).

Angles as in 2020: thigh b = Ry(ha) Rx(hb) [0, 0, −L_th], shank c = Ry(ha) Rx(hb + k) [0, 0, −L_sh]. All Jacobians here
are with respect to the twist [v, omega] of the torso; the zero columns of the tail (0_{3×m}, 0_{1×m}) are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.errors import RobotError, StateError
from tailwork.papers.liu2020.torso import TorsoMotion, fixed_point_acceleration, fixed_point_jacobian
from tailwork.papers.spatial import Z_AXIS, Array, skew
from tailwork.robots.legs.three_hinge import KNEE_SIGNS, ThreeHingeLegs
from tailwork.robots.robot import Robot


@dataclass(frozen=True)
class Leg:
    """The parameters of leg i."""

    number: int  # i, from 1
    hip: Array  # ^P a_i, in the torso frame [m]
    foot: Array  # d_i, in the inertial frame [m]
    thigh_length: float  # L_th [m]
    shank_length: float  # L_sh [m]
    thigh_mass: float  # m_th [kg]
    shank_mass: float  # m_sh [kg]
    knee_sign: float  # sign of k: −1 knee forward (the papers), +1 knee backward


def legs_of(robot: Robot) -> tuple[Leg, ...]:
    """The legs of a robot, checked to be of the papers' kind."""
    legs = robot.part("legs")
    if not isinstance(legs, ThreeHingeLegs):
        raise RobotError("legs", legs, "ThreeHingeLegs, the only legs that these formulations describe")
    if legs.hip_length != 0.0:
        raise RobotError("legs.hip_length", legs.hip_length, "0: the papers' hip hinges cross in one point")
    if robot.forward != "y":
        raise RobotError("forward", robot.forward, "'y', the papers' forward axis")
    lengths, masses = (legs.thigh_length, legs.shank_length), (legs.thigh_mass, legs.shank_mass)
    return tuple(
        Leg(i, np.array(hip), np.array(foot), *lengths, *masses, KNEE_SIGNS[legs.knee])
        for i, (hip, foot) in enumerate(zip(legs.hips, legs.feet, strict=True), start=1)
    )


def hip_to_foot(leg: Leg, rotation: Array, position: Array) -> Array:
    """s_i [m], the vector from the hip to the foot in the torso frame.

    2018, Eqs. (4), (5); 2020, Eq. (7). Raises StateError where the angles or their Jacobians do not exist.
    """
    s = rotation.T @ (leg.foot - position) - leg.hip
    length, longest = float(np.linalg.norm(s)), leg.thigh_length + leg.shank_length
    shortest = abs(leg.thigh_length - leg.shank_length)
    if not shortest < length < longest:
        limits = f"between {shortest:.6g} and {longest:.6g} m (a leg that is straight or folded has no Jacobian)"
        raise StateError("q", f"leg {leg.number} has its foot {length:.6g} m from its hip; required: {limits}")
    if s[0] == 0 and s[2] == 0:
        raise StateError("q", f"leg {leg.number} has its foot on the axis of ha, which leaves that angle undefined")
    return s


def leg_angles(leg: Leg, s: Array) -> Array:
    """Joint angles [ha, hb, k] [rad] for a foot at s [m] from the hip, torso frame.

    2020, Eqs. (8)–(10). Printed for a knee forward (k < 0); a knee backward changes the signs of the arccosines. With
    atan2 for the arctangent of Eq. (8) ha keeps its quadrant. 2018, Eqs. (6)–(8): see `liu2018.legs`.
    """
    l_th, l_sh, length = leg.thigh_length, leg.shank_length, np.linalg.norm(s)
    ha = np.arctan2(-s[0], -s[2])
    at_hip = np.arccos((l_th**2 + length**2 - l_sh**2) / (2 * l_th * length))
    at_knee = np.arccos((l_th**2 + l_sh**2 - length**2) / (2 * l_th * l_sh))
    hb = -leg.knee_sign * at_hip + np.arcsin(s[1] / length)
    k = -leg.knee_sign * (at_knee - np.pi)
    return np.array([ha, hb, k])


def thigh_vector(leg: Leg, angles: Array) -> Array:
    """^P b_i [m], from the hip to the knee in the torso frame: Ry(ha) Rx(hb) [0, 0, −L_th], multiplied out."""
    ha, hb, _ = angles
    return leg.thigh_length * np.array([-np.sin(ha) * np.cos(hb), np.sin(hb), -np.cos(ha) * np.cos(hb)])


def shank_vector(leg: Leg, angles: Array) -> Array:
    """^P c_i [m], from the knee to the foot in the torso frame: Ry(ha) Rx(hb + k) [0, 0, −L_sh], multiplied out."""
    ha, hb, k = angles
    return leg.shank_length * np.array([-np.sin(ha) * np.cos(hb + k), np.sin(hb + k), -np.cos(ha) * np.cos(hb + k)])


def hip_to_foot_jacobian(leg: Leg, rotation: Array, position: Array) -> Array:
    """j_s,i (3 × 6): s-dot = j_s [v, omega] (2020, Eqs. 15, 16; 2018, Eqs. 12, 13, where the tilde is missing)."""
    return np.hstack([-rotation.T, rotation.T @ skew(leg.foot - position)])


def joint_jacobians(leg: Leg, s: Array, angles: Array, j_s: Array) -> Array:
    """j_ha,i, j_hb,i and j_k,i as the rows of a 3 × 6 matrix (2020, Eqs. 11, 14, 12).

    The factor cos²(ha)/s_z² of Eq. (11) is written 1/(s_x² + s_z²): the same number, also where s_z = 0.
    """
    _, hb, k = angles
    l_th, l_sh = leg.thigh_length, leg.shank_length
    j_ha = np.array([s[2], 0.0, -s[0]]) @ j_s / (s[0] ** 2 + s[2] ** 2)
    j_k = -s @ j_s / (l_th * l_sh * np.sin(k))
    j_hb = (j_s[1] - l_sh * np.cos(k + hb) * j_k) / (l_th * np.cos(hb) + l_sh * np.cos(k + hb))
    return np.array([j_ha, j_hb, j_k])


def thigh_rate_matrix(leg: Leg, angles: Array) -> Array:
    """Q_k,i (3 × 2) [m]: rate of ^P b_i = Q [ha-dot, hb-dot] (2020, Eq. 23; 2018, Eq. 22 in its own angles)."""
    ha, hb, _ = angles
    ca, sa, cb, sb = np.cos(ha), np.sin(ha), np.cos(hb), np.sin(hb)
    return leg.thigh_length * np.array([[-ca * cb, sa * sb], [0.0, cb], [sa * cb, ca * sb]])


def thigh_rate_matrix_dot(leg: Leg, angles: Array, rates: Array) -> Array:
    """Rate of Q_k,i (3 × 2) [m/s]; the papers leave it to the reader (2018, below Eq. 31)."""
    ha, hb, _ = angles
    da, db, _ = rates
    ca, sa, cb, sb = np.cos(ha), np.sin(ha), np.cos(hb), np.sin(hb)
    return leg.thigh_length * np.array([
        [sa * cb * da + ca * sb * db, ca * sb * da + sa * cb * db],
        [0.0, -sb * db],
        [ca * cb * da - sa * sb * db, -sa * sb * da + ca * cb * db],
    ])  # fmt: skip


@dataclass(frozen=True)
class LegPose:
    """What follows of leg i from the pose of the torso alone."""

    s: Array  # hip to foot in the torso frame [m]
    angles: Array  # ha, hb, k [rad]
    j_s: Array  # 3 × 6
    j_joints: Array  # rows j_ha, j_hb, j_k, 3 × 6
    j_hip: Array  # J_h,i, 3 × 6
    j_knee: Array  # J_k,i, 3 × 6


def leg_pose(leg: Leg, rotation: Array, position: Array) -> LegPose:
    """Angles and Jacobians of leg i; J_h,i by 2020, Eq. (19), J_k,i by Eq. (22) (2018, Eqs. 20, 23)."""
    s = hip_to_foot(leg, rotation, position)
    angles = leg_angles(leg, s)
    j_s = hip_to_foot_jacobian(leg, rotation, position)
    j_joints = joint_jacobians(leg, s, angles, j_s)
    hip, knee = rotation @ leg.hip, rotation @ (leg.hip + thigh_vector(leg, angles))
    j_knee = fixed_point_jacobian(knee) + rotation @ thigh_rate_matrix(leg, angles) @ j_joints[:2]
    return LegPose(s, angles, j_s, j_joints, fixed_point_jacobian(hip), j_knee)


def joint_accelerations(leg: Leg, pose: LegPose, torso: TorsoMotion) -> Array:
    """Second rates of ha, hb, k [rad/s²]; the papers use them (Eq. 21) and do not print them.

    The rates of 2020, Eqs. (15) and, multiplied out, (11), (12) and (14), differentiated once more.
    """
    s, (_, hb, k) = pose.s, pose.angles
    l_th, l_sh = leg.thigh_length, leg.shank_length
    w, v = skew(torso.omega), torso.velocity
    s_dot = pose.j_s @ torso.twist
    da, db, dk = pose.j_joints @ torso.twist
    s_ddot = pose.j_s @ torso.twist_rate + torso.rotation.T @ (2 * w @ v + w @ w @ (leg.foot - torso.position))
    # (s_x² + s_z²) ha-dot = s_z s_x-dot − s_x s_z-dot
    stretch = 2 * (s[0] * s_dot[0] + s[2] * s_dot[2])
    dda = (s[2] * s_ddot[0] - s[0] * s_ddot[2] - stretch * da) / (s[0] ** 2 + s[2] ** 2)
    # −L_th L_sh sin(k) k-dot = s · s-dot
    ddk = -(s @ s_ddot + s_dot @ s_dot + l_th * l_sh * np.cos(k) * dk**2) / (l_th * l_sh * np.sin(k))
    # L_th cos(hb) hb-dot + L_sh cos(k + hb) (k-dot + hb-dot) = s_y-dot
    centripetal = l_th * np.sin(hb) * db**2 + l_sh * np.sin(k + hb) * (dk + db) ** 2
    ddb = (s_ddot[1] + centripetal - l_sh * np.cos(k + hb) * ddk) / (l_th * np.cos(hb) + l_sh * np.cos(k + hb))
    return np.array([dda, ddb, ddk])


def knee_acceleration(leg: Leg, pose: LegPose, torso: TorsoMotion) -> Array:
    """Acceleration of the knee K_i [m/s²] (2020, Eq. 21, where the dot on the first omega~ is lost; 2018, Eq. 30)."""
    rotation, w, w_dot = torso.rotation, skew(torso.omega), skew(torso.omega_dot)
    rates = pose.j_joints @ torso.twist
    q_k, q_k_dot = thigh_rate_matrix(leg, pose.angles), thigh_rate_matrix_dot(leg, pose.angles, rates)
    b_dot = q_k @ rates[:2]
    b_ddot = q_k @ joint_accelerations(leg, pose, torso)[:2] + q_k_dot @ rates[:2]
    arm = rotation @ (leg.hip + thigh_vector(leg, pose.angles))
    return torso.acceleration + (w_dot + w @ w) @ arm + 2 * w @ rotation @ b_dot + rotation @ b_ddot


def leg_loading(leg: Leg, pose: LegPose, v_k: Array, torso: TorsoMotion, gravity: float) -> Array:
    """tau_l,i [N, N m], the share of leg i in the generalised force (six entries); v_k: the knee's acceleration [m/s²].

    2020, Eq. (58), from Eqs. (53)–(57); 2018, Eq. (40) (its Eq. 36 prints m_sh/2 for m_th/2 at the hip).
    """
    m_th, m_sh, g_z = leg.thigh_mass, leg.shank_mass, gravity * Z_AXIS
    v_h = fixed_point_acceleration(torso, torso.rotation @ leg.hip)
    at_knee = (m_th + m_sh) / 3 * v_k + m_th / 6 * v_h + (m_th + m_sh) / 2 * g_z
    at_hip = m_th / 3 * v_h + m_th / 6 * v_k + m_th / 2 * g_z
    return pose.j_knee.T @ at_knee + pose.j_hip.T @ at_hip


def leg_mass_matrix(leg: Leg, pose: LegPose) -> Array:
    """M_l,i (6 × 6) [kg, kg m, kg m²], the share of leg i in the mass matrix.

    2020, Eq. (82); 2018, Eq. (53); both print J_hᵀJ_k where its symmetric part belongs.
    """
    j_h, j_k, m_th, m_sh = pose.j_hip, pose.j_knee, leg.thigh_mass, leg.shank_mass
    mixed = (j_h.T @ j_k + j_k.T @ j_h) / 2
    return m_th / 3 * (j_h.T @ j_h + j_k.T @ j_k + mixed) + m_sh / 3 * j_k.T @ j_k
