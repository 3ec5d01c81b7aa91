"""Ghost Robotics Spirit 40 with the tail of Yang, Norby, Yim & Johnson (IROS 2023, arXiv:2303.04781).

Numbers from the public model of the Quad-SDK of Carnegie Mellon University (spirit_description, spirit_tail.urdf); the
length of the tail as published.
"""

from __future__ import annotations

import math

import numpy as np

from tailwork.robots.body import Body
from tailwork.robots.io.tree import HERE, Inertial, Pose
from tailwork.robots.legs.offset_leg import OffsetLeg
from tailwork.robots.limb import Foot, Joint, Limb, Motor
from tailwork.robots.presets.tails import spirit_tail
from tailwork.robots.robot import Robot, Torso
from tailwork.robots.shapes import Shape

LEGS = {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}
POSTURE = (0.0, 0.76, 1.52)  # estimate: hip, upper and lower leg [rad], feet below the hips
LINK, TOE = 0.206, 0.02  # length of both links of a leg, radius of the toe [m]


def spirit40() -> Robot:
    """Ghost Robotics Spirit 40 with the tail of Yang, Norby, Yim & Johnson (2023): roll, then pitch, 0.28 kg at
    0.88 m."""
    height = 2 * LINK * math.sin(POSTURE[1]) + TOE
    trunk = Shape(kind="box", size=(0.335, 0.24, 0.104))
    return Robot(
        name="spirit40",
        forward="x",
        torso=Torso(mass=7.388, inertia=(0.0642434782, 0.1284869565, 0.1284869565, 0.0, 0.0, 0.0), shapes=(trunk,)),
        parts={**{name: _leg(*signs) for name, signs in LEGS.items()}, "tail": spirit_tail((0.0, 0.0, 0.052))},
        stand=(0.0, 0.0, height),
    )


def _leg(front: int, left: int) -> OffsetLeg:
    hip = Body(mass=0.575, inertia=(0.00066963541, 0.00066963541, 0.0008696875, 0.0, 0.0, 0.0))
    upper = Body(mass=0.792, com=(-0.040, -0.041 * left, 0.0), inertia=(0.005, 0.007, 0.007, 0.0, 0.0, 0.0))
    lower = Inertial(0.096, np.array([0.092, 0.0, 0.0]), np.diag([1.3e-5, 4.7e-4, 4.7e-4]))
    toe = Inertial(0.015, np.zeros(3), np.diag([2.5e-5] * 3)).placed(Pose(np.array([LINK, 0.0, 0.0]), HERE.turn))
    whole = 2 * math.pi
    joints = (
        Joint(name="hip", axis=(1.0, 0.0, 0.0), offset=(0.2263 * front, 0.07 * left, 0.0), body=hip,
              range=(-0.707, 0.707), speed_limit=30.0),
        Joint(name="upper", axis=(0.0, -1.0, 0.0), parent="hip", offset=(0.0, 0.10098 * left, 0.0), body=upper,
              range=(-whole, whole), speed_limit=30.0),
        Joint(name="lower", axis=(0.0, 1.0, 0.0), parent="upper", offset=(-LINK, 0.0, 0.0), body=(lower + toe).body(),
              range=(0.0, math.pi), speed_limit=30.0),
    )  # fmt: skip
    place = (0.2263 * front, (0.07 + 0.10098) * left, TOE)
    limb = Limb(
        joints=joints,
        actuators=tuple(Motor(name=joint.name, coordinate=joint.name, limit=40.0) for joint in joints),
        foot=Foot(joint="lower", point=(LINK, 0.0, 0.0), place=place, radius=TOE),
    )
    return OffsetLeg.from_posture(limb, POSTURE)
