"""An MJCF as MuJoCo reads it by itself, in the coordinates of a model of the robot that tailwork read."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from oracles.layout import Array, rotation
from tailwork import Model
from tailwork.robots import Imported


class MujocoFile:
    """Mass matrix, bias and accelerations of a file, by the names of its joints alone; meshes, which only draw, are
    taken out, and so are actuators and dry friction."""

    def __init__(self, path: Path, imported: Imported, model: Model) -> None:
        spec = mujoco.MjSpec.from_file(str(path))
        for geom in [geom for geom in spec.geoms if geom.meshname]:
            spec.delete(geom)
        for mesh in list(spec.meshes):
            spec.delete(mesh)
        self.mj, self.model = spec.compile(), model
        self.mj.dof_frictionloss[:] = 0.0
        self.mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.mj)
        self.columns = {}
        for joint, name in imported.joints.items():
            at = self.mj.joint(joint)
            self.columns[model.coordinate_names.index(name)] = (int(at.qposadr[0]), int(at.dofadr[0]))

    def mass(self) -> float:
        """Of all bodies [kg]."""
        return float(self.mj.body_mass.sum())

    def put(self, q: Array, v: Array, tau: Array) -> None:
        """Puts the robot into a state of the model, with efforts on its joints."""
        turn, data = rotation(q[3:6]), self.data
        self.to_mj = np.zeros((self.mj.nv, len(v)))
        self.to_mj[:3, :3], self.to_mj[3:6, 3:6] = np.eye(3), turn.T  # it turns in its own frame
        data.qpos[:3] = q[:3]
        mujoco.mju_mat2Quat(data.qpos[3:7], turn.ravel())
        for k, (at, index) in self.columns.items():
            data.qpos[at], self.to_mj[index, k] = q[k], 1.0
        data.qvel[:] = self.to_mj @ v
        data.qfrc_applied[:] = 0.0
        for name, effort in zip(self.model.actuator_names, tau, strict=True):
            data.qfrc_applied[self.columns[self.model.coordinate_names.index(name)][1]] = effort
        mujoco.mj_forward(self.mj, data)

    def mass_matrix(self) -> Array:
        """For the velocities of the model."""
        full = np.zeros((self.mj.nv, self.mj.nv))
        mujoco.mj_fullM(self.mj, self.data, full)
        return self.to_mj.T @ full @ self.to_mj

    def bias(self) -> Array:
        """Velocity, gravity and damping terms."""
        return self.to_mj.T @ (self.data.qfrc_bias - self.data.qfrc_passive)

    def accelerations(self) -> Array:
        """Of the model with all legs free; its frame of turning moves with the base, to no effect (ω × ω = 0)."""
        return np.linalg.solve(self.to_mj, self.data.qacc)
