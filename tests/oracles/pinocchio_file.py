"""A URDF as Pinocchio reads it by itself, in the coordinates of a model of the robot that tailwork read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from oracles.layout import Array, rotation, skew
from tailwork import Model
from tailwork.robots import Imported


class PinocchioFile:
    """Mass matrix, bias, accelerations and foot forces of a file, by the names of its joints alone.

    Velocities are those of the model (velocity of the base and its turning in the inertial frame, then joints). Dampers
    of the file are not in Pinocchio's equations; they are added here.
    """

    def __init__(self, path: Path, imported: Imported, model: Model) -> None:
        self.pin = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        self.data, self.model = self.pin.createData(), model
        self.robot = imported.robot
        self.columns = {}
        for joint, name in imported.joints.items():
            at = self.pin.joints[self.pin.getJointId(joint)]
            self.columns[model.coordinate_names.index(name)] = (at.idx_q, at.idx_v, at.nq)
        self.dampers = np.zeros(self.pin.nv)
        for limb, built in self.robot.limbs().items():
            for spring in built.springs:
                _, index, _ = self.columns[model.coordinate_names.index(f"{limb}.{spring.joint}")]
                self.dampers[index] = spring.damping

    def mass(self) -> float:
        """Of all links [kg]."""
        return sum(inertia.mass for inertia in self.pin.inertias)

    def put(self, q: Array, v: Array) -> None:
        """Puts the robot into a state of the model."""
        turn = rotation(q[3:6])
        self.q, self.to_pin = pin.neutral(self.pin), np.zeros((self.pin.nv, len(v)))
        self.q[:7] = np.concatenate([q[:3], pin.Quaternion(turn).normalized().coeffs()])
        self.to_pin[:3, :3] = self.to_pin[3:6, 3:6] = turn.T
        for k, (at, index, size) in self.columns.items():
            self.q[at : at + size] = q[k] if size == 1 else (np.cos(q[k]), np.sin(q[k]))
            self.to_pin[index, k] = 1.0
        self.v = self.to_pin @ v
        self.extra = np.zeros(self.pin.nv)
        self.extra[:3] = -skew(self.v[3:6]) @ self.v[:3]  # its frame turns
        upper = np.triu(pin.crba(self.pin, self.data, self.q))
        self.inertia = upper + np.triu(upper, 1).T

    def mass_matrix(self) -> Array:
        """For the velocities of the model."""
        return self.to_pin.T @ self.inertia @ self.to_pin

    def bias(self) -> Array:
        """Velocity, gravity and damping terms."""
        whole = pin.nonLinearEffects(self.pin, self.data, self.q, self.v) + self.inertia @ self.extra
        whole = whole + self.dampers * self.v
        return self.to_pin.T @ whole

    def accelerations(self, tau: Array, feet: tuple[str, ...] = ()) -> tuple[Array, Array]:
        """Of the model with all legs free, and forces of the ground on the pinned feet, by one dense solve."""
        acting = np.zeros(len(self.model.velocity_names))
        for name, effort in zip(self.model.actuator_names, tau, strict=True):
            acting[self.model.coordinate_names.index(name)] += effort
        pin.forwardKinematics(self.pin, self.data, self.q, self.v, self.extra)
        pin.computeJointJacobians(self.pin, self.data, self.q)
        rows, drift = np.zeros((0, len(acting))), np.zeros(0)
        limbs = self.robot.limbs()
        for name in feet:
            foot = limbs[name].foot
            assert foot is not None
            _, index, _ = self.columns[self.model.coordinate_names.index(f"{name}.{foot.joint}")]
            joint = next(k for k in range(1, self.pin.njoints) if self.pin.joints[k].idx_v == index)
            turn = self.data.oMi[joint].rotation
            at = self.zero_turn(joint).T @ np.array(foot.point)  # the model's frames are parallel to the base's at zero
            jacobian = pin.getJointJacobian(self.pin, self.data, joint, pin.LOCAL_WORLD_ALIGNED)
            rows = np.vstack([rows, (jacobian[:3] - skew(turn @ at) @ jacobian[3:]) @ self.to_pin])
            v, a = self.data.v[joint], self.data.a[joint]
            spin = skew(v.angular)
            local = a.linear + skew(a.angular) @ at + spin @ (v.linear + spin @ at)
            drift = np.concatenate([drift, turn @ local])
        size, count = len(acting), len(drift)
        matrix = np.block([[self.mass_matrix(), -rows.T], [rows, np.zeros((count, count))]])
        answer = np.linalg.solve(matrix, np.concatenate([acting - self.bias(), -drift]))
        return answer[:size], answer[size:]

    def zero_turn(self, joint: int) -> Array:
        """The axes of a joint's frame in the file, in the base's, at zero angles."""
        data = self.pin.createData()
        pin.forwardKinematics(self.pin, data, pin.neutral(self.pin))
        return np.array(data.oMi[joint].rotation)
