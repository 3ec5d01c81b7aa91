"""The quadruped of Liu & Ben-Tzvi 2018 ("Dynamic modeling of a quadruped with a robotic tail …"), Table 1."""

from __future__ import annotations

from tailwork.robots.legs.three_hinge import ThreeHingeLegs
from tailwork.robots.robot import Robot, Torso
from tailwork.robots.tails import Pendulum


def liu2018() -> Robot:
    """The quadruped of Liu & Ben-Tzvi 2018 with its pendulum tail (Table 1; SI units)."""
    return Robot(
        name="liu2018",
        gravity=9.8067,
        stand=(0.2, 0.3, 0.4),  # initial p, Sect. 4
        torso=Torso(mass=26.9078, inertia=(0.8404, 0.3793, 1.2125, 0.0, 0.0, 0.0)),  # m_b, I_b
        parts={
            "legs": ThreeHingeLegs(
                thigh_length=0.3,  # l_th
                shank_length=0.3,  # l_sh
                thigh_mass=0.9453,  # m_th
                shank_mass=1.2289,  # m_sh
                # |a_1 − a_2| = 0.48, |a_2 − a_3| = 0.54; placed symmetrically (inferred: the torques of Sect. 4.1
                # then balance the weight)
                hips=((0.24, 0.27, 0.0), (-0.24, 0.27, 0.0), (-0.24, -0.27, 0.0), (0.24, -0.27, 0.0)),
                feet=((0.41, 0.63, 0.0), (-0.01, 0.57, 0.0), (-0.01, 0.03, 0.0), (0.41, -0.03, 0.0)),  # Sect. 4
                knee="forward",  # Eq. 8
            ),
            # l_t, m_t, |r|. A point mass: Eq. 39 and the holding torque of 7.7 N m say so.
            "tail": Pendulum(length=0.6, mass=0.0, tip_mass=1.4347, mount=(0.0, -0.34, 0.0)),
        },
    )
