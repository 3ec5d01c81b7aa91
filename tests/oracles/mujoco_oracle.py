"""Accelerations, foot forces and motions from MuJoCo: pinned feet and gears are its stiffest soft constraints."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from benchmarks.engines.mujoco_tree import MujocoTree
from oracles.layout import Array, Layout, PointForce, joint_matrix
from tailwork.robots.io.written import joint_name
from tailwork.robots.limb import Limb
from tailwork.robots.robot import Robot
from tailwork.robots.springs import BendingSpring

CLOSURE = 1e-9
"""Farthest that a closed form may put a foot from its place [m] before it is called wrong."""


class MujocoOracle:
    """The dynamics of a described robot by MuJoCo, for one stance; of an exported file, if its text is given."""

    def __init__(
        self, robot: Robot, stance: tuple[str, ...] = (), torso: str = "free", text: str | None = None
    ) -> None:
        self.robot = robot
        self.layout = Layout(robot, stance, torso)
        self.tree = MujocoTree(robot, self.layout.pinned, torso_free=torso == "free", text=text)
        self.model = self.tree.model
        self.data = mujoco.MjData(self.model)
        self._sprung = [
            (limb, self.tree.positions(name), self.tree.velocities(name))
            for name, limb in self.layout.limbs.items()
            if text is None and any(isinstance(spring, BendingSpring) for spring in limb.springs)
        ]

    def accelerations(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        forces: Iterable[PointForce] = (),
        refinements: int = 6,
    ) -> tuple[Array, Array]:
        """[vdot, omegadot, coordinate accelerations] and the forces of the ground on the pinned feet [N].

        vdot is the acceleration of P, both are in the inertial frame; feet are rows in the order of the robot.
        With refinements = 0 this is mj_forward as it is, whose constraints give way by 1e-4 (feet) to 1e-2 (long rows
        of gears). Each refinement lets MuJoCo solve again, asked for as much more as the constraints gave way, and
        leaves that share of the error.
        """
        model, data = self.model, self.data
        turn = self._set(q, v)
        data.qfrc_applied[:] = self._applied(tau, forces) + self._bending_springs(data)
        mujoco.mj_forward(model, data)
        asked = data.efc_aref.copy()
        for _ in range(refinements):
            data.efc_aref[:] = asked + data.efc_R * data.efc_force
            mujoco.mj_fwdConstraint(model, data)
        if not np.isfinite(data.qacc).all() or any(warning.number for warning in data.warning):
            raise ArithmeticError("MuJoCo has no finite answer")
        feet = [data.efc_force[data.efc_id == model.equality(f"{name}.foot").id] for name in self.layout.pinned]
        return np.linalg.pinv(self._to_mujoco(turn)) @ data.qacc, np.array(feet).reshape(-1, 3) * self.tree.unit

    def motion(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, duration: float, step: float) -> tuple[Array, Array]:
        """q and v after a duration [s] of constant efforts, by MuJoCo's own fixed steps of RK4 in all its coordinates.

        Nothing is solved in closed form on the way: MuJoCo's constraints keep feet and gears in place.
        """
        model, data = self.model, self.data
        self._set(q, v)
        data.qfrc_applied[:] = self._applied(tau, ())
        usual = (model.opt.timestep, model.opt.integrator, model.opt.tolerance)
        model.opt.timestep, model.opt.integrator, model.opt.tolerance = step, mujoco.mjtIntegrator.mjINT_RK4, 1e-12

        def springs(_: mujoco.MjModel, data: mujoco.MjData) -> None:
            data.qfrc_passive[:] += self._bending_springs(data)

        try:
            mujoco.set_mjcb_passive(springs)
            mujoco.mj_step(model, data, round(duration / step))
        finally:
            mujoco.set_mjcb_passive(None)
            model.opt.timestep, model.opt.integrator, model.opt.tolerance = usual
        if not np.isfinite(data.qpos).all() or any(warning.number for warning in data.warning):
            raise ArithmeticError("MuJoCo has no finite answer")
        return self._coordinates()

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix for v, of a robot without pinned feet."""
        self._refuse_stance()
        basis = self._to_mujoco(self._set(q, np.zeros(self.layout.size)))
        mujoco.mj_forward(self.model, self.data)
        mass = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, mass)
        return basis.T @ mass @ basis * self.tree.unit

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Velocity and gravity terms h of a robot without pinned feet; springs are not in it.

        MuJoCo's velocities of the torso, linear in the inertial frame and angular in the torso's, do not change
        where a = 0, so that no term is due for the change of coordinates.
        """
        self._refuse_stance()
        basis = self._to_mujoco(self._set(q, v))
        mujoco.mj_forward(self.model, self.data)
        return basis.T @ self.data.qfrc_bias * self.tree.unit

    def _refuse_stance(self) -> None:
        if self.layout.pinned:
            raise ValueError("MuJoCo's matrices are those of the tree, without pinned feet")

    def _to_mujoco(self, turn: Array) -> Array:
        """The matrix that makes MuJoCo's velocities from v; nothing for the joints of pinned legs."""
        layout = self.layout
        matrix = np.zeros((self.model.nv, layout.size))
        if layout.base:
            matrix[:3, :3], matrix[3:6, 3:6] = np.eye(3), turn.T
        for name, limb in layout.limbs.items():
            if name not in layout.pinned:
                matrix[self.tree.velocities(name), layout.slices[name]] = joint_matrix(limb)
        return matrix

    def _set(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Puts MuJoCo into a state; returns the rotation of the torso."""
        layout, model, data = self.layout, self.model, self.data
        q, v = np.asarray(q, float), np.asarray(v, float)
        mujoco.mj_resetData(model, data)
        p, turn = layout.torso_pose(q)
        if layout.base:
            data.qpos[:3] = p
            mujoco.mju_mat2Quat(data.qpos[3:7], turn.ravel())
        for name, limb in layout.limbs.items():
            pinned = name in layout.pinned
            angles = layout.closed_form_angles(name, q) if pinned else joint_matrix(limb) @ q[layout.slices[name]]
            data.qpos[self.tree.positions(name)] = angles
        data.qvel[:] = self._to_mujoco(turn) @ v
        mujoco.mj_fwdPosition(model, data)
        for name in layout.pinned:
            self._hold(name)
        return turn

    def _coordinates(self) -> tuple[Array, Array]:
        """q and v of the state that MuJoCo is in, the torso free."""
        layout, data = self.layout, self.data
        q, v = np.zeros(layout.size), np.zeros(layout.size)
        turn = Rotation.from_quat(data.qpos[[4, 5, 6, 3]])
        q[:3], q[3:6] = data.qpos[:3], turn.as_euler("ZYX")[::-1]
        v[:3], v[3:6] = data.qvel[:3], turn.as_matrix() @ data.qvel[3:6]
        for name, limb in layout.limbs.items():
            if name not in layout.pinned:
                back = np.linalg.pinv(joint_matrix(limb))
                q[layout.slices[name]] = back @ data.qpos[self.tree.positions(name)]
                v[layout.slices[name]] = back @ data.qvel[self.tree.velocities(name)]
        return q, v

    def _hold(self, name: str) -> None:
        """Gives the joints of a pinned leg the rates that keep its foot where it is."""
        model, data = self.model, self.data
        site = model.site(f"{name}.foot").id
        miss = np.linalg.norm(data.site_xpos[site] - data.site(f"{name}.place").xpos)
        if miss > CLOSURE:
            raise ValueError(f"the closed form puts the foot of {name} {miss:.3g} m off")
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jacSite(model, data, jacobian, None, site)
        columns = self.tree.velocities(name)
        data.qvel[columns] = -np.linalg.solve(jacobian[:, columns], jacobian @ data.qvel)

    def _applied(self, tau: ArrayLike, forces: Iterable[PointForce]) -> Array:
        """Sets the cables; returns all other forces on MuJoCo's velocities but springs', in the model's unit."""
        layout, model, data = self.layout, self.model, self.data
        applied = np.zeros(model.nv)
        for (name, actuator), effort in zip(layout.efforts, np.asarray(tau, float), strict=True):
            if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, f"{name}.{actuator.name}") < 0:
                limb = layout.limbs[name]
                wanted = np.zeros(len(limb.coordinates))
                wanted[limb.coordinates.index(actuator.coordinate)] = actuator.ratio * effort
                applied[self.tree.velocities(name)] += np.linalg.pinv(joint_matrix(limb)).T @ wanted
            else:
                data.ctrl[model.actuator(f"{name}.{actuator.name}").id] = effort / self.tree.unit
        for name, joint, point, force in forces:
            body = model.body(joint_name(name, joint)).id
            at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ np.asarray(point, float)
            mujoco.mj_applyFT(model, data, np.asarray(force, float), np.zeros(3), at, body, applied)
        return applied / self.tree.unit

    def _bending_springs(self, data: mujoco.MjData) -> Array:
        """Torques of springs on universal joints, which MuJoCo lacks, in the model's unit."""
        torques = np.zeros(self.model.nv)
        for limb, positions, velocities in self._sprung:
            names = [joint.name for joint in limb.joints]
            angles = dict(zip(names, data.qpos[positions].tolist(), strict=True))
            rates = dict(zip(names, data.qvel[velocities].tolist(), strict=True))
            torques[velocities] = _bending_springs(limb, angles, rates)
        return torques / self.tree.unit


def _bending_springs(limb: Limb, angles: dict[str, float], rates: dict[str, float]) -> Array:
    """Torques of bending springs on the joints of a limb [N m], from the angles."""
    torques = {joint.name: 0.0 for joint in limb.joints}
    for spring in limb.springs:
        if isinstance(spring, BendingSpring):
            names = (spring.first, spring.second)
            a, b = (angles[name] for name in names)
            sigma = np.arccos(np.cos(a) * np.cos(b))
            g = np.array([np.sin(a) * np.cos(b), np.cos(a) * np.sin(b)])
            blend2 = spring.blend**2
            damping = spring.damping * (np.outer(g, g) + blend2 * np.eye(2)) / (np.sin(sigma) ** 2 + blend2)
            pull = spring.stiffness / np.sinc(sigma / np.pi) * g + damping @ [rates[name] for name in names]
            for name, torque in zip(names, pull, strict=True):
                torques[name] -= torque
    return np.array(list(torques.values()))
