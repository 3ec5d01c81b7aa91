"""The leg of Biswal & Mohanty on a fixed base, Sect. 4: foot and joint torques over five seconds.

The paper prints no masses; here its links are ideal bars of stated masses. The leg is described twice: by Table 1, and
as a leg of the preset. Both have the same hinges that turn the same way (theta_1 about the forward axis, theta_2 and
theta_3 about the axis to the right) and hang straight down at zero angles. So theta_1, theta_2, theta_3 are ha, hb, k
of the preset, signs included, and their torques are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tailwork.model import Model
from tailwork.papers.biswal import leg as paper
from tailwork.papers.claims import Claim
from tailwork.papers.spatial import Array
from tailwork.robots import DhChain, DhRow, Robot, biswal
from tailwork.typing import Floats

MASSES = (0.10, 0.15, 0.10)  # of hip, thigh and shank [kg]: estimates
SAMPLES = 501
MM = 1e3
"""From m to mm, and from N m to N mm."""


@dataclass(frozen=True)
class DhLeg:
    """Foot and torques by reading of the motion, each over `times`."""

    times: Floats  # [s]
    feet: dict[str, Array]  # place in the base frame [m], Figs. 7–9
    torques: dict[str, Floats]  # of theta_1, theta_2, theta_3 [N m], Figs. 4–6
    claims: tuple[Claim, ...]


def table_robot() -> Robot:
    """The preset with one leg, given by Table 1 (modified parameters), on the frame O_0 of Eq. (6)."""
    leg, (hip, thigh, shank) = paper.Leg(), MASSES
    x, y, _ = leg.hip
    chain = DhChain(
        convention="modified",
        mount=leg.hip,
        rotation=((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),  # Rot(y, 90°)
        rows=(
            DhRow(bar_mass=hip),
            DhRow(alpha=math.pi / 2, a=leg.hip_length, bar_mass=thigh),
            DhRow(a=leg.thigh_length, bar_mass=shank),
            DhRow(a=leg.shank_length, moving="none"),
        ),
        end="foot",
        foot=(x, y, 0.0),
    )
    return replace(biswal(), name="biswal leg", parts={"leg": chain})


def joint_torques(times: ArrayLike, reading: str = "C", robot: Robot | None = None) -> Floats:
    """Torques on theta_1, theta_2, theta_3 [N m], (..., 3), at times [s] of the motion (Eqs. 14, 15).

    `reading` is one of `tailwork.papers.biswal.leg.READINGS`; `robot` has one leg of three hinges, by default
    `table_robot()`, and its torso is held.
    """
    model = Model(robot or table_robot(), "none", torso="fixed")
    q = paper.joint_motion(times, reading)
    return model.generalised_force(q, paper.joint_rates(reading), np.zeros(3))


def reproduce_dh_leg() -> DhLeg:
    """Foot and torques in all readings, with what the paper says beside ours."""
    leg, times = paper.Leg(), np.linspace(0.0, paper.DURATION, SAMPLES)
    feet = {name: paper.foot_path(leg, times, name) for name in paper.READINGS}
    torques = {name: joint_torques(times, name) for name in paper.READINGS}
    return DhLeg(times, feet, torques, tuple(_leg_claims(leg)))


def _leg_claims(leg: paper.Leg) -> list[Claim]:
    space, below = paper.workspace(leg), MM * paper.foot_place(leg, np.zeros(3))[2]
    x, z = MM * np.array(space.center)
    ranges = "full turns; the paper prints no ranges"
    return [
        Claim("Eq. 10, height of the foot at zero angles [mm]", "—", f"{below:.0f}",
              f"as printed, with +r_1 c_1 for −r_1 c_1, it gives {below + 2 * MM * leg.hip_length:.0f}"),
        Claim("Fig. 2, radius of the workspace at theta_1 = 0 [mm]", "a picture", f"{MM * space.outer:.0f}", ranges),
        Claim("Fig. 2, x of its centre [mm]", "a picture", f"{x:.0f}", ranges),
        Claim("Fig. 2, z of its centre [mm]", "a picture", f"{z:.0f}", ranges),
    ]  # fmt: skip
