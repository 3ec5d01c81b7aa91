"""The quadruped of Liu & Ben-Tzvi 2020 ("Dynamic modeling, analysis, and comparative study …"), Table 1."""

from __future__ import annotations

from dataclasses import replace

from tailwork.errors import check_known
from tailwork.robots.legs.three_hinge import ThreeHingeLegs
from tailwork.robots.robot import PlateTorso, Robot
from tailwork.robots.tails.fit import PUBLISHED

CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))  # legs 1..4; 1, 2 front, 3, 4 rear
MOUNT = (0.0, -0.25, 0.0)  # r, not stated; inferred: only this mount gives Eq. 85 to its digits

TAILS = {name: replace(tail, mount=MOUNT) for name, tail in PUBLISHED.items()}  # type: ignore[call-arg]


def liu2020(tail: str | None = "pendulum") -> Robot:
    """The quadruped of Liu & Ben-Tzvi 2020 (Table 1; SI units) with a pendulum, an R3 tail, a USRT or none.

    Args:
        tail: "pendulum", "r3", "usrt", or None or "none" for no tail.
    """
    check_known("tail", ["none" if tail is None else tail], (*TAILS, "none"), "tail")
    tail = None if tail == "none" else tail
    legs = ThreeHingeLegs(
        thigh_length=0.25,  # L_th
        shank_length=0.25,  # L_sh
        thigh_mass=1.2,  # m_th
        shank_mass=1.2,  # m_sh
        hips=tuple((0.15 * x, 0.25 * y, 0.0) for x, y in CORNERS),  # a_i, not stated; inferred from Eq. 85
        feet=tuple((0.15 * x, 0.25 * y, 0.0) for x, y in CORNERS),  # d_i
        knee="forward",  # theta_k in (−90°, 0)
    )
    return Robot(
        name=f"liu2020-{tail}" if tail else "liu2020",
        torso=PlateTorso(mass=12.0, width=0.3, length=0.5),  # m_b, D_w, D_l
        stand=(0.0, 0.0, 0.4),  # p at the start of every experiment
        gravity=9.8,  # Table 1; Eq. 85 was computed with 9.81
        parts={"legs": legs} | ({"tail": TAILS[tail]} if tail else {}),
    )
