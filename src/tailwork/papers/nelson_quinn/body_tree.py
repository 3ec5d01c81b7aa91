"""A robot as the tree of bodies of Nelson & Quinn: body 1 is the torso, every joint is one to three rotations.

The paper numbers a chain. In a tree each body has one parent, and L, the offset of a frame's origin in the frame of the
parent, is counted by the child: L of body c is the paper's L_i with i the parent of c.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, RobotError, UnknownNameError
from tailwork.papers.spatial import X_AXIS, Y_AXIS, Z_AXIS, Array, skew, tensor
from tailwork.robots.body import Body
from tailwork.robots.limb import Limb
from tailwork.robots.paths import robot_numbers
from tailwork.robots.robot import Robot

MOST_ROTATIONS = 3
"""More rotations than these in one joint cannot be told apart: a body has three ways to turn."""


@dataclass(frozen=True)
class Rotation:
    """One rotation of a joint: a fixed turn of the frame, then an angle about an axis."""

    before: Array  # the fixed turn; columns: axes of the unturned frame in the one before
    axis: Array  # a, unit vector in the frame that it turns
    column: int  # where its angle stands among the true coordinates alpha

    def matrix(self, angle: float) -> Array:
        """R, from the turned frame to the one before, for an angle [rad]: the fixed turn, then Rodrigues' formula."""
        a = skew(self.axis)
        return self.before @ (np.eye(3) + np.sin(angle) * a + (1.0 - np.cos(angle)) * a @ a)


@dataclass(frozen=True)
class TreeBody:
    """A rigid body, where it sits on its parent and how it turns there."""

    name: str  # "torso", or "limb.joint" of the hinge that carries it
    parent: int  # index of the parent in the tree; −1 for the torso
    offset: Array  # L: origin of this frame in the parent's frame [m]
    rotations: tuple[Rotation, ...]  # of its joint, from the parent on
    mass: float  # m [kg]
    com: Array  # S, centre of mass in the frame of the body [m]
    inertia: Array  # about the centre of mass, in the frame of the body [kg m²]

    @property
    def columns(self) -> list[int]:
        """Where the angles of its joint stand among the true coordinates alpha, in the order of the rotations."""
        return [rotation.column for rotation in self.rotations]


@dataclass(frozen=True)
class BodyPoint:
    """A point of a body, such as a foot."""

    body: int  # index in the tree
    point: Array  # in the frame of the body [m]


@dataclass(frozen=True)
class BodyTree:
    """Bodies, parents first; body 1 of the paper has index 0 here.

    True coordinates q = [R_1, alpha]: the place of the torso's origin [m], then the angles [rad], in the order of
    `coordinate_names`, which is that of `Model(robot, stance="none")`. The torso's angles are the paper's alpha, beta
    and gamma about x, y and z, its sequence is 3-2-1.
    """

    bodies: tuple[TreeBody, ...]
    coordinate_names: tuple[str, ...]  # x, y, z, phi_x, phi_y, phi_z, then "limb.coordinate"
    feet: dict[str, BodyPoint]  # by limb
    gravity: float  # along −z of the inertial frame [m/s²]

    @property
    def angle_count(self) -> int:
        """k, the number of rotational degrees of freedom, the torso's three included."""
        return len(self.coordinate_names) - 3

    @property
    def coms(self) -> Array:
        """S_G, the centres of mass in the frames of their bodies [m], one row a body."""
        return np.array([body.com for body in self.bodies])

    @property
    def masses(self) -> Array:
        """The diagonal of m_G [kg]: each mass three times."""
        return np.repeat([body.mass for body in self.bodies], 3)

    def path(self, body: int) -> Iterator[tuple[int, int]]:
        """(i, c) for every strict ancestor i of a body, the nearest first; c is the child of i on the way to it."""
        while (parent := self.bodies[body].parent) >= 0:
            yield parent, body
            body = parent

    def point(self, limb: str, joint: str | None, point: ArrayLike) -> BodyPoint:
        """The point [m] in the frame of a limb's joint, or of the torso for limb = "torso" and joint = None."""
        name = limb if joint is None else f"{limb}.{joint}"
        names = [body.name for body in self.bodies]
        if name not in names:
            raise UnknownNameError.among("point", name, names, "body")
        return BodyPoint(names.index(name), np.array(point, dtype=float))


def tree_of(robot: Robot) -> BodyTree:
    """The tree of a robot whose joints are hinges without gears, rotors and springs.

    A hinge without a body and the ones after it, up to the next body, are one joint of several rotations.

    Raises:
        ArgumentError: the formulation does not cover the robot.
    """
    if not isinstance(robot, Robot):
        raise ArgumentError("robot", robot, "a Robot, from tailwork.robots or tailwork.load")
    if not all(isinstance(value, float) for value in robot_numbers(robot).values()):
        raise RobotError("robot", robot.name, "numbers only, no symbols")
    limbs = robot.limbs()
    ordered = sorted(limbs, key=lambda name: limbs[name].foot is not None)  # legs last, as in Model
    angle_names = ["phi_x", "phi_y", "phi_z", *(f"{name}.{c}" for name in ordered for c in limbs[name].coordinates)]
    # First gamma about z, then beta about y, then alpha about x.
    euler = tuple(Rotation(np.eye(3), axis, k) for axis, k in ((Z_AXIS, 2), (Y_AXIS, 1), (X_AXIS, 0)))
    bodies = [_tree_body("torso", -1, np.zeros(3), euler, robot.torso_with_actuators())]
    for name, limb in limbs.items():
        try:
            _check_limb(limb)
            _add_limb(bodies, name, limb, angle_names)
        except ArgumentError as error:
            raise error.within(name) from None
    tree = BodyTree(tuple(bodies), ("x", "y", "z", *angle_names), {}, float(robot.gravity))
    for name, limb in limbs.items():
        if limb.foot is not None:
            tree.feet[name] = tree.point(name, limb.foot.joint, limb.foot.point)
    return tree


def _tree_body(name: str, parent: int, offset: ArrayLike, rotations: tuple[Rotation, ...], body: Body) -> TreeBody:
    inertial = float(body.mass), np.array(body.com), tensor(body.inertia)
    return TreeBody(name, parent, np.array(offset), rotations, *inertial)


def _check_limb(limb: Limb) -> None:
    """Refuses what is not in the equations; left out silently, it would be missing from the answers."""
    if limb.gearing is not None:
        raise RobotError("gearing", limb.gearing, "no gears: every joint angle is a true coordinate of its own")
    if limb.springs:
        raise RobotError("springs", limb.springs, "no springs and dampers; add their torques to those of the joints")
    for joint in limb.joints:
        if joint.slides:
            raise RobotError(f"joints.{joint.name}.motion", joint.motion, "'hinge': the formulation has no sliders")
        for what, name in (("armature", "rotors"), ("friction", "dry friction")):
            if getattr(joint, what) != 0.0:
                required = f"0: the formulation has no {name}"
                raise RobotError(f"joints.{joint.name}.{what}", getattr(joint, what), required)
        if joint.body is None and sum(other.parent == joint.name for other in limb.joints) > 1:
            required = "a body, because several joints sit on it: a joint of several rotations ends in one body"
            raise RobotError(f"joints.{joint.name}.body", None, required)
    if limb.foot is not None and limb.joint(limb.foot.joint).body is None:
        raise RobotError("foot.joint", limb.foot.joint, "a joint that carries a body")


def _add_limb(bodies: list[TreeBody], name: str, limb: Limb, angle_names: list[str]) -> None:
    """Adds the bodies of a limb, each with the hinges between it and the body before."""
    index: dict[str | None, int] = {None: 0}
    for joint in limb.joints:
        if joint.body is None:
            continue
        hinges = [joint]
        while (parent := hinges[0].parent) is not None and limb.joint(parent).body is None:
            if any(hinges[0].offset):
                required = "0, 0, 0 between hinges without a body between: the rotations of a joint share one point"
                raise RobotError(f"joints.{hinges[0].name}.offset", hinges[0].offset, required)
            hinges.insert(0, limb.joint(parent))
        if len(hinges) > MOST_ROTATIONS:
            required = f"at most {MOST_ROTATIONS} hinges without a body between them"
            raise RobotError(f"joints.{joint.name}", [hinge.name for hinge in hinges], required)
        rotations = tuple(
            Rotation(np.array(hinge.rotation), np.array(hinge.axis), angle_names.index(f"{name}.{hinge.name}"))
            for hinge in hinges
        )
        index[joint.name], first = len(bodies), hinges[0]
        bodies.append(_tree_body(f"{name}.{joint.name}", index[first.parent], first.offset, rotations, joint.body))
