"""The quadruped of Biswal & Mohanty ("Kinematic and dynamic modeling of a quadruped robot")."""

from __future__ import annotations

from tailwork.robots.legs.three_hinge import ThreeHingeLegs
from tailwork.robots.robot import Robot, Torso

CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # front left, front right, rear left, rear right


def biswal() -> Robot:
    """The D-H quadruped of Biswal & Mohanty: x forward, y left, z up; SI units. Lengths from the paper; masses are
    estimates.
    """
    mass, length, width, height = 2.0, 0.36, 0.20, 0.08  # estimate: a uniform box between the hips; 3.4 kg in all
    return Robot(
        name="biswal",
        forward="x",
        gravity=9.81,
        stand=(0.0, 0.0, 0.267),  # estimate: trot height of a correct model
        torso=Torso(
            mass=mass,
            inertia=(
                mass * (width**2 + height**2) / 12,
                mass * (length**2 + height**2) / 12,
                mass * (length**2 + width**2) / 12,
                0.0, 0.0, 0.0,
            ),
        ),
        parts={
            "legs": ThreeHingeLegs(
                hip_length=0.070,  # r_1
                thigh_length=0.100,  # r_2
                shank_length=0.100,  # r_3
                hip_mass=0.10,  # estimate
                thigh_mass=0.15,  # estimate
                shank_mass=0.10,  # estimate
                hips=tuple((0.180 * x, 0.100 * y, -0.040) for x, y in CORNERS),  # O_0 = (180, 100, −40) mm
                feet=tuple((0.180 * x, 0.100 * y, 0.0) for x, y in CORNERS),  # estimate: under the hips
                knee="backward",  # theta_3 = 45° in the quoted posture
            ),
        },
    )  # fmt: skip
