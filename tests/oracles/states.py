"""Random states that a robot can be in, and random changes of its design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oracles.layout import Array, Layout, joint_matrix
from oracles.trees import random_tree
from tailwork.errors import RobotError
from tailwork.robots import biswal, blaberus, liu2018, liu2020
from tailwork.robots.limb import Cable, ContactPoint, Limb
from tailwork.robots.paths import robot_numbers
from tailwork.robots.quantities import SYMMETRIC_COMPONENTS
from tailwork.robots.robot import FreeLimb, Robot

__all__ = ["ROBOTS", "random_design", "random_state", "random_tree", "well_placed", "with_contacts"]

ROBOTS = {
    "liu2018": liu2018(),
    "pendulum": liu2020("pendulum"),
    "r3": liu2020("r3"),
    "usrt": liu2020("usrt"),
    "no tail": liu2020(None),
    "biswal": biswal(),
    "blaberus": blaberus(),
}
"""The robots of the papers, by a short name."""

LONGEST, SHORTEST = 0.97, 0.35
"""Extensions between which a pinned leg counts as well placed."""

STANDARD_HEIGHT = 0.4
"""Height of P [m] of a robot whose random poses are ±3 cm from its stand; others have theirs in proportion."""


def random_state(
    robot: Robot, stance: tuple[str, ...], rng: np.random.Generator, torso: str = "free"
) -> tuple[Array, Array, Array]:
    """A state q, v and efforts tau: the torso near its stand, pinned feet within reach, cables pulling.

    P within ±3 cm and ±0.2 rad of the stand, swing legs within ±0.3 rad of standing, other coordinates ±0.5 rad, or
    ±0.15 rad where one coordinate moves several joints. Velocities of about 1 m/s and 1 rad/s. Torques up to half of
    the limb's weight × the height of the torso, tensions up to twice the limb's weight. Small robots have smaller
    lengths and faster rates in proportion (equal Froude number).
    """
    layout = Layout(robot, stance, torso)
    scale = robot.stand[2] / STANDARD_HEIGHT or 1.0
    q, v = np.zeros(layout.size), rng.normal(size=layout.size) / np.sqrt(scale)
    if layout.base:
        q[:6] = _random_pose(layout, rng, scale)
        v[:3] *= scale
    for name, limb in layout.limbs.items():
        if name in layout.pinned:
            continue
        here = layout.slices[name]
        reach = np.where(np.count_nonzero(joint_matrix(limb), axis=0) > 1, 0.15, 0.3 if limb.closed_form else 0.5)
        q[here] = _standing(robot, limb) + rng.uniform(-reach, reach)
        v[here] *= np.where(reach == 0.15, 0.3, 1.0)
    return q, v, _random_efforts(layout, rng, scale)


def _random_pose(layout: Layout, rng: np.random.Generator, scale: float) -> Array:
    reach = np.array([0.03 * scale] * 3 + [0.2] * 3)
    for attempt in range(200):
        pose = np.concatenate([layout.robot.stand, np.zeros(3)]) + 0.99**attempt * rng.uniform(-reach, reach)
        if well_placed(layout, pose):
            return pose
    raise ValueError(f"{layout.robot.name} cannot stand on {layout.stance} at {layout.robot.stand}")


def well_placed(layout: Layout, pose: Array) -> bool:
    """Whether all pinned legs reach their feet, neither straight nor folded up."""
    for name in layout.pinned:
        x, y, z = layout.foot_from_torso(name, pose)
        try:
            cosines_and_sines = layout.limbs[name].closed_form.angles((x, y, z))
        except ValueError:  # beyond reach: the square root of a negative number
            return False
        extension = layout.limbs[name].closed_form.extension((x, y, z))
        if not np.isfinite(cosines_and_sines).all() or not SHORTEST < extension < LONGEST:
            return False
    return True


def _standing(robot: Robot, limb: Limb) -> Array:
    """Coordinates of a limb when the robot stands; zero for a limb that does not stand on a known place."""
    if limb.foot is None or limb.closed_form is None:
        return np.zeros(len(limb.coordinates))
    x, y, z = np.array(limb.foot.place) - np.array(robot.stand)
    try:
        angles = [np.arctan2(s, c) for c, s in limb.closed_form.angles((x, y, z))]
    except ValueError:
        return np.zeros(len(limb.coordinates))
    return np.linalg.pinv(joint_matrix(limb)) @ angles


def _random_efforts(layout: Layout, rng: np.random.Generator, scale: float) -> Array:
    efforts = []
    for name, actuator in layout.efforts:
        weight = 9.81 * sum(joint.body.mass for joint in layout.limbs[name].joints if joint.body)
        if isinstance(actuator, Cable) or actuator.unit == "N":
            efforts.append(rng.uniform(0.0, 2.0 * weight))
        else:
            torque = 0.5 * weight * STANDARD_HEIGHT * scale
            efforts.append(rng.uniform(-torque, torque))
    return np.array(efforts)


def random_design(robot: Robot, rng: np.random.Generator, change: float = 0.2) -> Robot:
    """A copy of a robot with every number changed by up to ±change of itself, that can still stand on its legs.

    All entries of one inertia tensor are changed alike, so that it remains one that a body can have. What is zero
    stays zero.
    """
    values = robot_numbers(robot)
    legs = tuple(name for name, limb in robot.limbs().items() if limb.foot and limb.closed_form)
    for _ in range(1000):
        factors: dict[str, float] = {}
        for path in values:
            stem, _, component = path.rpartition(".")
            group = stem if component in SYMMETRIC_COMPONENTS else path
            factors.setdefault(group, rng.uniform(1 - change, 1 + change))
            factors[path] = factors[group]
        try:
            changed = robot.replace({path: value * factors[path] for path, value in values.items()})
        except RobotError:
            continue
        if well_placed(Layout(changed, legs), np.concatenate([changed.stand, np.zeros(3)])):
            return changed
    raise ValueError(f"no change of {robot.name} by {change} can stand")


def with_contacts(robot: Robot) -> Robot:
    """The robot with points that can touch: a ball and a point of its torso, balls for feet, knees, the tail's tip; and
    with ranges of its knees. Its limbs are written out."""

    def touching(name: str, limb: Limb) -> Limb:
        if limb.foot is None:
            tip = () if limb.tip is None else (ContactPoint(name="tip", joint=limb.tip.joint, point=limb.tip.point),)
            return replace(limb, contacts=tip)
        joints = tuple(
            replace(joint, range=(-1.0, 1.2)) if joint is limb.joints[-1] else joint for joint in limb.joints
        )
        knee = ContactPoint(name="knee", joint=limb.joints[-1].parent, point=limb.joints[-1].offset, radius=0.03)
        return replace(limb, joints=joints, foot=replace(limb.foot, radius=0.02), contacts=(knee,), closed_form=None)

    parts = {name: FreeLimb(limb=touching(name, limb)) for name, limb in robot.limbs().items()}
    contacts = (
        ContactPoint(name="ball", point=(0.1, 0.3, 0.0), radius=0.05),
        ContactPoint(name="corner", point=(0.1, -0.2, 0.1)),
    )
    return replace(robot, parts=parts, contacts=contacts)
