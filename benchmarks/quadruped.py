"""A quadruped of the size of today's, with a tail of two hinges, that stands, drops and trots on rigid ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tailwork.control import JointServo
from tailwork.control.gait.foot_kinematics import posed
from tailwork.control.gait.gait import trot
from tailwork.control.gait.joint_table import JointTable, held_posture, joint_table, walking_start
from tailwork.model import Model
from tailwork.robots import ContactPoint, PlateTorso, Robot, ThreeHingeLegs, pendulum
from tailwork.robots.robot import FreeLimb
from tailwork.typing import Floats

KP, KD, FRICTION = 300.0, 6.0, 0.6
"""Gains of the joints [N m/rad, N m s/rad], and friction of the ground."""
CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


def quadruped(armature: float = 0.0) -> Robot:
    """12.6 kg: a torso of 7 kg, legs of 0.426 m, a tail of 0.5 m."""
    places = tuple((0.05 * x, 0.19 * y, 0.0) for x, y in CORNERS)
    legs = ThreeHingeLegs(
        thigh_length=0.213, shank_length=0.213, thigh_mass=1.15, shank_mass=0.24, hips=places, feet=places,
        knee="backward",
    )  # fmt: skip
    tail = pendulum(length=0.5, mass=0.6, mount=(0.0, -0.19, 0.0), armature=armature)
    return Robot(
        name="quadruped", torso=PlateTorso(mass=7.0, width=0.1, length=0.38), stand=(0.0, 0.0, 0.32), gravity=9.81,
        parts={"legs": legs, "tail": tail},
    )  # fmt: skip


def everywhere(robot: Robot) -> Robot:
    """The robot with 13 points that can touch: feet, knees, corners of the torso, the tip of the tail."""
    parts = {}
    for name, limb in robot.limbs().items():
        if limb.foot is not None:
            knee = limb.joints[-1]
            point = ContactPoint(name="knee", joint=knee.parent, point=knee.offset)
        else:
            assert limb.tip is not None
            point = ContactPoint(name="tip", joint=limb.tip.joint, point=limb.tip.point)
        parts[name] = FreeLimb(limb=replace(limb, contacts=(point,), closed_form=None))
    torso = robot.torso
    assert isinstance(torso, PlateTorso)
    corners = tuple(ContactPoint(name=f"corner{k + 1}", point=(0.5 * torso.width * x, 0.5 * torso.length * y, 0.0))
                    for k, (x, y) in enumerate(CORNERS))  # fmt: skip
    return replace(robot, parts=parts, contacts=corners)


def model_of(robot: Robot) -> Model:
    """With free feet, and an attitude that robots may have that fall."""
    return Model(robot, "none", attitude="quaternion")


def dropped(height: float = 0.1) -> tuple[Model, JointServo, Floats]:
    """It stands in the air at a height over the ground [m]: model, servo and coordinates."""
    model = model_of(quadruped())
    q = posed(model)
    servo = JointServo(table=held_posture(model, q), kp=KP, kd=KD)
    q[2] += height
    return model, servo, q


def trotting(samples: int = 120) -> tuple[Model, JointServo, Floats, Floats]:
    """It trots at 0.5 m/s, 2.5 strides a second, its tail held straight: model, servo, coordinates and velocities."""
    model = model_of(quadruped())
    gait = trot(model.robot, speed=0.5, frequency=2.5, lift=0.08, duty=0.6)
    table = joint_table(model, gait, samples=samples)
    still = np.zeros((len(table.values), 2))
    whole = JointTable(
        coordinates=("tail.ta", "tail.tb", *table.coordinates), period=table.period,
        values=np.hstack([still, table.values]), slopes=np.hstack([still, table.slopes]),
    )  # fmt: skip
    q, v = walking_start(model, gait, whole)
    return model, JointServo(table=whole, kp=KP, kd=KD), q, v
