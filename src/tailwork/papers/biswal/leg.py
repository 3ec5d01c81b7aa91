"""The leg of Biswal & Mohanty ("Kinematic and dynamic modeling of a quadruped robot"), equation by equation.

    foot = O_0 + (r_2 s_2 + r_3 s_23, A s_1, −A c_1),  A = r_1 + r_2 c_2 + r_3 c_23                      Eqs. (8)–(10)

Three hinges: theta_1 about the forward axis at O_0, then theta_2 and theta_3 about the axis across. At zero angles the
leg hangs straight down. The base frame O_b has x forward, y left, z up. Lengths in m, angles in rad.

Misprints put right throughout: the text defines classic Denavit–Hartenberg parameters, but Table 1 and Eq. (1) are
modified ones (Craig); Eq. (1) has −cos(alpha) d for +cos(alpha) d; Eqs. (6) and (9) have −Q for the y of O_0, which is
+100 mm in Sect. 4, so that O_0 itself stands for P, Q and H here; Eq. (10) has +r_1 c_1 for −r_1 c_1; Eq. (11) has p_z
for p_y; Eqs. (12) and (13) have their names exchanged, and the sign in Eq. (13) is not free but that of −theta_3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, StateError
from tailwork.papers.spatial import Array, checked, rotation_y
from tailwork.robots.quantities import Described, nonnegative, positive, vector

ROUNDING = 1e-12
"""Feet farther out of reach than this share of r_2 + r_3 are refused; nearer ones are on the edge of the workspace."""


@dataclass(frozen=True, kw_only=True)
class Leg(Described):
    """The leg of Sect. 4; another one has other lengths."""

    hip_length: float = nonnegative("m", 0.070)  # r_1
    thigh_length: float = positive("m", 0.100)  # r_2
    shank_length: float = positive("m", 0.100)  # r_3
    hip: tuple[float, float, float] = vector("m", (0.180, 0.100, -0.040))  # O_0 in the base frame

    @property
    def longest(self) -> float:
        """Distance [m] from the hinge of theta_2 to the foot with the knee straight."""
        return self.thigh_length + self.shank_length

    @property
    def shortest(self) -> float:
        """Distance [m] from the hinge of theta_2 to the foot with the knee folded."""
        return abs(self.thigh_length - self.shank_length)


# Forward kinematics


def link_transform(alpha: float, r: float, d: float, theta: float) -> Array:
    """^(i−1)T_i (4 × 4) from one row of Table 1 (Eq. 1, with +cos(alpha) d in the last column)."""
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    return np.array([
        [ct, -st, 0.0, r],
        [st * ca, ct * ca, -sa, -sa * d],
        [st * sa, ct * sa, ca, ca * d],
        [0.0, 0.0, 0.0, 1.0],
    ])  # fmt: skip


def link_transforms(leg: Leg, theta: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """^0T_1, ^1T_2, ^2T_3 and ^3T_4 (Eqs. 2–5): the rows of Table 1 in Eq. (1)."""
    theta_1, theta_2, theta_3 = _angles(theta)
    return (
        link_transform(0.0, 0.0, 0.0, theta_1),
        link_transform(np.pi / 2, leg.hip_length, 0.0, theta_2),
        link_transform(0.0, leg.thigh_length, 0.0, theta_3),
        link_transform(0.0, leg.shank_length, 0.0, 0.0),
    )


def foot_transform(leg: Leg, theta: ArrayLike) -> Array:
    """^0T_4 (4 × 4), the foot in the frame at the hip, multiplied out (Eq. 7)."""
    t1, t2, t3 = _angles(theta)
    r1, r2, r3 = leg.hip_length, leg.thigh_length, leg.shank_length
    c1, s1, c2, s2, c23, s23 = np.cos(t1), np.sin(t1), np.cos(t2), np.sin(t2), np.cos(t2 + t3), np.sin(t2 + t3)
    return np.array([
        [c1 * c23, -c1 * s23, s1, r1 * c1 + r2 * c1 * c2 + r3 * c1 * c23],
        [s1 * c23, -s1 * s23, -c1, r1 * s1 + r2 * s1 * c2 + r3 * s1 * c23],
        [s23, c23, 0.0, r2 * s2 + r3 * s23],
        [0.0, 0.0, 0.0, 1.0],
    ])  # fmt: skip


def base_transform(leg: Leg) -> Array:
    """^bT_0 (4 × 4) = Trans(O_0) Rot(y, 90°) (Eq. 6, with the O_0 of Sect. 4 for lambda P, −delta Q, −H)."""
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = np.round(rotation_y(np.pi / 2)), leg.hip
    return transform


def foot_place(leg: Leg, theta: ArrayLike) -> Array:
    """Place of the foot in the base frame [m], (..., 3), for angles (..., 3) (Eqs. 8–10, with −r_1 c_1 in Eq. 10)."""
    t1 = _angles(theta)[..., 0]
    a, forward, _, _ = _in_leg_plane(leg, theta)
    return np.stack([forward, a * np.sin(t1), -a * np.cos(t1)], axis=-1) + np.array(leg.hip)


def _in_leg_plane(leg: Leg, theta: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """A, how far the foot is below the hip axis; r_2 s_2 + r_3 s_23, ahead of it; r_3 c_23 and r_3 s_23 [m]."""
    t = _angles(theta)
    t2, t23 = t[..., 1], t[..., 1] + t[..., 2]
    r2, r3 = leg.thigh_length, leg.shank_length
    shank_down, shank_ahead = r3 * np.cos(t23), r3 * np.sin(t23)
    return leg.hip_length + r2 * np.cos(t2) + shank_down, r2 * np.sin(t2) + shank_ahead, shank_down, shank_ahead


def _angles(theta: ArrayLike) -> Array:
    array = np.asarray(theta)
    if array.shape[-1:] != (3,):
        raise StateError("theta", f"has shape {array.shape}; required: (..., 3), theta_1, theta_2, theta_3 [rad]")
    return array


# Inverse kinematics


def joint_angles(leg: Leg, foot: ArrayLike) -> Array:
    """All joint angles [rad] that bring the foot to a place in the base frame [m]: (branches, 3), up to four.

    Eqs. (11)–(13) as corrected. With (x, y, z) = foot − O_0 and sigma, epsilon = ±1:

        theta_1 = atan2(sigma y, −sigma z),  M = sigma sqrt(y² + z²) − r_1,  N = x
        theta_3 = epsilon arccos((M² + N² − r_2² − r_3²)/(2 r_2 r_3))
        theta_2 = atan2(N, M) − atan2(r_3 s_3, r_2 + r_3 c_3)

    First the leg on the side of the hip axis where the foot is (sigma = 1), then the leg that reaches across that axis
    (−1); in each, first theta_3 > 0. The arccosine is taken by its half angle, which keeps its digits where the knee is
    folded. A straight or folded knee has one branch instead of two; a foot on the hip axis leaves theta_1 free, given
    as 0.

    Raises StateError for a place out of reach; see `shortfall`.
    """
    (place,) = checked(3, "three finite numbers, a place in the base frame [m]", foot=foot)
    x, y, z = place - np.array(leg.hip)
    rho, r1, r2, r3 = float(np.hypot(y, z)), leg.hip_length, leg.thigh_length, leg.shank_length
    branches = []
    for sigma in (1.0, -1.0) if rho > 0 else (1.0,):
        m, n = sigma * rho - r1, float(x)
        reach = math.hypot(m, n)
        from_straight, from_folded = leg.longest - reach, reach - leg.shortest
        if min(from_straight, from_folded) < -ROUNDING * leg.longest:
            continue
        opposite = math.sqrt(max(from_straight, 0.0) * (leg.longest + reach))
        bend = 2.0 * math.atan2(opposite, math.sqrt(max(from_folded, 0.0) * (reach + leg.shortest)))
        theta_1 = math.atan2(sigma * y, -sigma * z) if rho > 0 else 0.0
        for epsilon in (1.0,) if bend in (0.0, math.pi) else (1.0, -1.0):
            theta_3 = epsilon * bend
            theta_2 = math.atan2(n, m) - math.atan2(r3 * math.sin(theta_3), r2 + r3 * math.cos(theta_3))
            branches.append([theta_1, math.remainder(theta_2, math.tau), theta_3])
    if not branches:
        raise StateError("foot", _out_of_reach(leg, place))
    return np.array(branches)


def shortfall(leg: Leg, foot: ArrayLike) -> Array:
    """Distance [m] from places (..., 3) in the base frame [m] to the nearest one that the foot can reach; 0 within."""
    return _reaches(leg, np.asarray(foot, dtype=float))[1].min(axis=-1)


def _reaches(leg: Leg, foot: Array) -> tuple[Array, Array]:
    """Distances (..., 2) of the foot from the hinge of theta_2, on the near side of the hip axis and across it, and how
    much they are too long or too short for the leg [m]."""
    x, y, z = np.moveaxis(foot - np.array(leg.hip), -1, 0)
    rho = np.hypot(y, z)
    reach = np.stack([np.hypot(rho - leg.hip_length, x), np.hypot(rho + leg.hip_length, x)], axis=-1)
    return reach, np.maximum(np.maximum(reach - leg.longest, leg.shortest - reach), 0.0)


def _out_of_reach(leg: Leg, place: Array) -> str:
    reaches, missing = _reaches(leg, place)
    side = int(missing.argmin())
    reach, across = float(reaches[side]), " on the other side of the hip axis" if side else ""
    compared = "farther than the straight leg" if reach > leg.longest else "nearer than the folded leg"
    return (
        f"({', '.join(f'{x:.6g}' for x in place)}) m is out of reach by {missing[side]:.6g} m: it is "
        f"{reach:.6g} m from the hinge of theta_2{across}, {compared}; required: {leg.shortest:.6g} to "
        f"{leg.longest:.6g} m"
    )


# Rates


def jacobian(leg: Leg, theta: ArrayLike) -> Array:
    """Velocity of the foot [m/s] by the rates of the joints [rad/s], (..., 3, 3): Eqs. (8)–(10) differentiated."""
    t1 = _angles(theta)[..., 0]
    a, forward, shank_down, shank_ahead = _in_leg_plane(leg, theta)
    c1, s1 = np.cos(t1), np.sin(t1)
    rows = [
        [np.zeros_like(a), a - leg.hip_length, shank_down],
        [a * c1, -forward * s1, -shank_ahead * s1],
        [a * s1, forward * c1, shank_ahead * c1],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def jacobian_determinant(leg: Leg, theta: ArrayLike) -> Array:
    """Determinant of the Jacobian [m³], −A r_2 r_3 sin(theta_3)."""
    a = _in_leg_plane(leg, theta)[0]
    return -a * leg.thigh_length * leg.shank_length * np.sin(_angles(theta)[..., 2])


def singularities(leg: Leg, theta: ArrayLike, tolerance: float = 1e-9) -> tuple[str, ...]:
    """What makes the Jacobian singular in one posture [rad]: a knee straight or folded, a foot on the hip axis.

    `tolerance` is that of the sine of theta_3, and of A as a share of the leg's length.
    """
    a, sine, cosine = _in_leg_plane(leg, theta)[0], np.sin(_angles(theta)[2]), np.cos(_angles(theta)[2])
    found = []
    if abs(sine) <= tolerance:
        found.append("knee straight" if cosine > 0 else "knee folded")
    if abs(a) <= tolerance * (leg.hip_length + leg.longest):
        found.append("foot on the hip axis")
    return tuple(found)


# Workspace


@dataclass(frozen=True)
class Workspace:
    """Where the foot can be in the x–z plane of the base at theta_1 = 0: a ring, or a disc where `inner` is 0."""

    center: tuple[float, float]  # x, z of the hinge of theta_2 [m]
    inner: float  # [m]
    outer: float  # [m]

    def contains(self, points: ArrayLike) -> Array:
        """Whether points (..., 2) in x and z [m] belong to it, its edge included to rounding."""
        x, z = np.moveaxis(np.asarray(points, dtype=float), -1, 0)
        distance = np.hypot(x - self.center[0], z - self.center[1])
        slack = ROUNDING * self.outer
        return np.logical_and(distance <= self.outer + slack, distance >= self.inner - slack)

    def boundary(self, count: int = 181) -> tuple[Array, ...]:
        """Its edges as closed curves of `count` points (count, 2) in x and z [m]: the outer, and the inner if any."""
        angle = np.linspace(0.0, 2 * np.pi, count)
        around = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return tuple(np.array(self.center) + radius * around for radius in (self.outer, self.inner) if radius > 0)


def workspace(leg: Leg) -> Workspace:
    """The edge of Fig. 2: for the leg of the paper a disc of 200 mm about (180, −110) mm."""
    x, _, z = leg.hip
    return Workspace((x, z - leg.hip_length), leg.shortest, leg.longest)


def workspace_samples(leg: Leg, ranges: Sequence[tuple[float, float]], count: int) -> Array:
    """Places of the foot [m], (places, 3), for all combinations of `count` angles a joint (Fig. 2).

    `ranges` are least and greatest angle of each joint [rad], which the paper does not print; equal ones hold it.
    """
    if len(ranges) != 3:
        raise StateError("ranges", f"has {len(ranges)} entries; required: 3, least and greatest angle of each joint")
    angles = [np.array([low]) if low == high else np.linspace(low, high, count) for low, high in ranges]
    grid = np.stack(np.meshgrid(*angles, indexing="ij"), axis=-1)
    return foot_place(leg, grid.reshape(-1, 3))


# The motion of Sect. 4


@dataclass(frozen=True)
class Reading:
    """One way to read the motion of Sect. 4: theta(t) = start + rates · t."""

    start: tuple[float, float, float]  # [deg]
    rates: tuple[float, float, float]  # [deg/s]
    said: str


POSTURE = (-10.0, -35.0, 45.0)  # [deg], Sect. 4
DURATION = 5.0  # [s]
READINGS = {
    "A": Reading((0.0, 0.0, 0.0), (-2.0, -7.0, -9.0), "as printed, theta = (−2, −7, −9) t"),
    "B": Reading(POSTURE, (-2.0, -7.0, -9.0), "the printed motion added to the posture of Sect. 4"),
    "C": Reading((0.0, 0.0, 0.0), (-2.0, -7.0, 9.0),
                 "theta_3 = +9 t, which ends in the posture of Sect. 4: −9 t may be a misprint"),
}  # fmt: skip
"""The readings that the text allows. C is the default everywhere: it alone agrees with the posture."""


def joint_motion(times: ArrayLike, reading: str = "C") -> Array:
    """Joint angles [rad], (..., 3), at times [s] of the motion of Sect. 4."""
    found = _reading(reading)
    return np.radians(np.array(found.start) + np.asarray(times, dtype=float)[..., None] * np.array(found.rates))


def joint_rates(reading: str = "C") -> Array:
    """The constant rates of the joints [rad/s] in the motion of Sect. 4."""
    return np.radians(_reading(reading).rates)


def foot_path(leg: Leg, times: ArrayLike, reading: str = "C") -> Array:
    """Place of the foot in the base frame [m], (..., 3), at times [s] of the motion of Sect. 4 (Figs. 7–9)."""
    return foot_place(leg, joint_motion(times, reading))


def _reading(name: str) -> Reading:
    if name not in READINGS:
        raise ArgumentError("reading", name, f"one of {', '.join(map(repr, READINGS))}")
    return READINGS[name]
