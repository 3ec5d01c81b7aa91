"""A described robot as a Pinocchio model: its tree of joints, and places, velocities and spans of its points."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from oracles.layout import Array, Layout, skew
from tailwork.robots.body import Body
from tailwork.robots.limb import Joint, Limb

Point: TypeAlias = tuple[int, Array]
"""Pinocchio's number of a joint and a point in its frame [m]."""


class PinocchioTree:
    """The whole tree: a free-flyer (nothing, for a fixed torso) and every joint; neither gears nor pinned feet.

    Points are asked for after `place`, which leaves frames and Jacobians in `data`.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.model = pin.Model()
        self.model.gravity.linear = np.array([0.0, 0.0, -layout.robot.gravity])
        self.ids: dict[tuple[str, str], int] = {}
        self.bodies: list[tuple[int, pin.Inertia]] = []
        torso = 0
        if layout.base:
            torso = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "torso")
        self._add_body(torso, layout.robot.torso_body())
        for name, limb in layout.limbs.items():
            self._add_children(name, limb, None, torso)
        self.data = self.model.createData()

    def _add_children(self, name: str, limb: Limb, parent: str | None, parent_id: int) -> None:
        """Adds joints depth-first: Pinocchio's crba is silently wrong in any other order."""
        for joint in limb.joints:
            if joint.parent == parent:
                self.ids[name, joint.name] = here = self._add_joint(name, joint, parent_id)
                self._add_children(name, limb, joint.name, here)

    def _add_joint(self, name: str, joint: Joint, parent_id: int) -> int:
        placement = pin.SE3(np.array(joint.rotation), np.array(joint.offset))
        made = pin.JointModelPrismaticUnaligned if joint.slides else pin.JointModelRevoluteUnaligned
        here = self.model.addJoint(parent_id, made(np.array(joint.axis)), placement, f"{name}/{joint.name}")
        armature = self.model.armature.copy()
        armature[self.model.joints[here].idx_v] = joint.armature
        self.model.armature = armature
        if joint.body is not None:
            self._add_body(here, joint.body)
        return here

    def _add_body(self, joint_id: int, body: Body) -> None:
        xx, yy, zz, xy, xz, yz = body.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(body.mass, np.array(body.com), tensor)
        self.model.appendBodyToJoint(joint_id, inertia, pin.SE3.Identity())
        self.bodies.append((joint_id, inertia))

    def id(self, limb: str, joint: str | None) -> int:
        """Pinocchio's number of a joint; of the torso for None."""
        return self.ids[limb, joint] if joint is not None else (1 if self.layout.base else 0)

    def positions(self, name: str) -> list[int]:
        """Indices of the joints of a limb in Pinocchio's q, in the order of limb.joints."""
        return [self.model.joints[self.ids[name, j.name]].idx_q for j in self.layout.limbs[name].joints]

    def velocities(self, name: str) -> list[int]:
        """Indices of the joints of a limb in Pinocchio's v."""
        return [self.model.joints[self.ids[name, j.name]].idx_v for j in self.layout.limbs[name].joints]

    def place(self, pin_q: Array) -> None:
        """Puts the tree into a posture."""
        pin.computeJointJacobians(self.model, self.data, pin_q)

    def move(self, pin_q: Array, pin_v: Array, pin_a: Array) -> None:
        """Gives the joints velocities and accelerations too."""
        pin.forwardKinematics(self.model, self.data, pin_q, pin_v, pin_a)

    def foot(self, name: str) -> Point:
        """The foot of a leg."""
        foot = self.layout.limbs[name].foot
        assert foot is not None
        return self.ids[name, foot.joint], np.array(foot.point)

    def rotation(self, joint_id: int) -> Array:
        """Rotation from a joint's frame to the inertial frame."""
        return np.array(self.data.oMi[joint_id].rotation)

    def point(self, joint_id: int, point: ArrayLike) -> Array:
        """Place of a point in the inertial frame [m]."""
        return self.data.oMi[joint_id].translation + self.rotation(joint_id) @ np.asarray(point, float)

    def jacobian(self, joint_id: int, point: ArrayLike) -> Array:
        """Velocity of a point in the inertial frame per Pinocchio's v."""
        if joint_id == 0:
            return np.zeros((3, self.model.nv))
        of_origin = pin.getJointJacobian(self.model, self.data, joint_id, pin.LOCAL_WORLD_ALIGNED)
        return of_origin[:3] - skew(self.rotation(joint_id) @ np.asarray(point, float)) @ of_origin[3:]

    def acceleration(self, joint_id: int, point: ArrayLike) -> Array:
        """Acceleration of a point in the inertial frame [m/s^2], after `move`."""
        at = np.asarray(point, float)
        v, a = self.data.v[joint_id], self.data.a[joint_id]
        turning = skew(v.angular)
        local = a.linear + skew(a.angular) @ at + turning @ (v.linear + turning @ at)
        return self.rotation(joint_id) @ local

    def span(self, first: Point, second: Point) -> tuple[float, Array]:
        """Distance between two points [m] and its gradient for Pinocchio's v."""
        between = self.point(*second) - self.point(*first)
        length = float(np.linalg.norm(between))
        return length, (self.jacobian(*second) - self.jacobian(*first)).T @ (between / length)
