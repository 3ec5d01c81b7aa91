"""A described robot in its stance in MuJoCo, set up for speed, to be timed beside our own kernels."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.engines.joints import joint_state
from benchmarks.engines.mujoco_tree import MujocoTree, mujoco
from tailwork.mechanics.torso import gearing_of
from tailwork.model import Model
from tailwork.typing import Floats

mujoco_rollout: Any = importlib.import_module("mujoco.rollout")

EVALUATIONS = {"Euler": 1, "implicitfast": 1, "RK4": 4}
"""Forward dynamics that a step takes, by integrator."""


class MujocoPeer:
    """The same mechanism in full coordinates: free joint, hinges, feet by `connect`, cables by tendons.

    Set up for speed: hinges of a universal joint on one body, springs on hinges, Newton's method (which needs one
    iteration where all constraints are equalities), dense matrices, nothing computed that is not needed. Constraints
    are as stiff as MuJoCo offers for its step.

    Args:
        model: the robot, with the stance.
        integrator: "RK4", "implicitfast" or "Euler".
        step: [s].
    """

    def __init__(self, model: Model, integrator: str = "RK4", step: float = 1e-3) -> None:
        self.source = model
        self.tree = MujocoTree(model.robot, model.foot_names, joined=True, bending="hinges")
        self.model = self.tree.model
        option = self.model.opt
        option.timestep, option.iterations, option.tolerance = step, 20, 1e-10
        option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        off = mujoco.mjtDisableBit
        option.disableflags = off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS | off.mjDSBL_SENSOR
        option.disableflags |= off.mjDSBL_AUTORESET  # a run that diverges shall not come back as if it had not
        self.data = mujoco.MjData(self.model)

    def set(self, q: Floats, v: Floats, tau: Floats) -> None:
        """Put MuJoCo into a state with its efforts."""
        model, data, unit = self.source, self.data, self.tree.unit
        joints = joint_state(model, q, v, tau)
        mujoco.mj_resetData(self.model, data)
        data.qpos[:3] = q[:3]
        mujoco.mju_mat2Quat(data.qpos[3:7], joints.rotation.ravel())
        data.qvel[:3], data.qvel[3:6] = v[:3], joints.rotation.T @ v[3:6]
        for name, limb in self.tree.limbs.items():
            places = zip(limb.joints, self.tree.positions(name), self.tree.velocities(name), strict=True)
            for joint, position, velocity in places:
                key = (name, joint.name)
                data.qpos[position], data.qvel[velocity] = joints.angles[key], joints.rates[key]
                data.qfrc_applied[velocity] = (joints.motors[key] + joints.bending[key]) / unit
            for actuator, effort in zip(limb.actuators, tau[model.layout.efforts[name]], strict=True):
                number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_ACTUATOR, f"{name}.{actuator.name}")
                if number >= 0:
                    data.ctrl[number] = effort / unit

    def forward(self, q: Floats, v: Floats, tau: Floats) -> Callable[[], Any]:
        """One evaluation of the forward dynamics, ready to be timed."""
        self.set(q, v, tau)
        model, data = self.model, self.data
        return lambda: mujoco.mj_forward(model, data)

    def acceleration(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """MuJoCo's acceleration in our layout."""
        self.forward(q, v, tau)()
        return self._ours(self.data.qacc, joint_state(self.source, q, v, tau).rotation)

    def coordinates(self, states: Floats) -> tuple[Floats, Floats]:
        """q (in roll, pitch and yaw) and v from rows of MuJoCo's [qpos, qvel]."""
        positions, velocities = np.split(states[:, : self.model.nq + self.model.nv], [self.model.nq], axis=1)
        turns = Rotation.from_quat(positions[:, [4, 5, 6, 3]])
        parts = [positions[:, :3], turns.as_euler("ZYX")[:, ::-1]]
        for name in self.source.layout.moving:
            back = np.linalg.pinv(gearing_of(self.tree.limbs[name]).astype(float))
            parts.append(positions[:, self.tree.positions(name)] @ back.T)
        v = [self._ours(row, turn) for row, turn in zip(velocities, turns.as_matrix(), strict=True)]
        return np.concatenate(parts, axis=1), np.array(v)

    def _ours(self, values: Floats, rotation: Floats) -> Floats:
        """Rates in our layout from MuJoCo's: velocities, or accelerations."""
        parts = [values[:3], rotation @ values[3:6]]
        for name in self.source.layout.moving:
            back = np.linalg.pinv(gearing_of(self.tree.limbs[name]).astype(float))
            parts.append(back @ values[self.tree.velocities(name)])
        return np.concatenate(parts)


@dataclass(frozen=True)
class Servo:
    """Springs and dampers on the joints of a limb, whose ends move: kp (target − q) + kd (rate − v)."""

    limb: str
    kp: float
    kd: float
    value: Callable[[float], Floats]  # of the time [s]: targets of the joints [rad]
    rate: Callable[[float], Floats]  # their rates [rad/s]

    def put_on(self, peer: MujocoPeer, times: Floats) -> Floats:
        """Make a peer have it; the torques besides springs and dampers, (times, velocities)."""
        tree, model = peer.tree, peer.model
        places = list(zip(tree.positions(self.limb), tree.velocities(self.limb), strict=True))
        for position, velocity in places:
            joint = model.dof_jntid[velocity]
            model.jnt_stiffness[joint], model.dof_damping[velocity] = self.kp / tree.unit, self.kd / tree.unit
            model.qpos_spring[position] = 0.0
        found = np.zeros((len(times), model.nv))
        for row, t in zip(found, times, strict=True):
            row[[velocity for _, velocity in places]] = (self.kp * self.value(t) + self.kd * self.rate(t)) / tree.unit
        return found


@dataclass(frozen=True)
class Rollout:
    """Many runs of constant efforts by MuJoCo's own compiled loop on its own threads, one model a run."""

    peers: Sequence[MujocoPeer]
    pool: Any  # MuJoCo's own threads
    states: Floats  # at the start, as MuJoCo wants them
    efforts: Floats
    scratch: list[Any]
    steps: int

    def __call__(self) -> Floats:
        """[qpos, qvel] at the end of each run."""
        spec = mujoco.mjtState
        states, _ = self.pool.rollout(
            [peer.model for peer in self.peers], self.scratch, self.states, self.efforts, nstep=self.steps,
            control_spec=spec.mjSTATE_CTRL | spec.mjSTATE_QFRC_APPLIED,
        )  # fmt: skip
        return states[:, -1, 1:]

    def ends(self) -> Floats:
        """[q, v] of ours at the end of each run."""
        found = [
            np.concatenate(peer.coordinates(row[None]), axis=1) for peer, row in zip(self.peers, self(), strict=True)
        ]
        return np.concatenate(found)


def rollout(
    models: Sequence[Model], q: Floats, v: Floats, tau: Floats, *, steps: int, step: float = 1e-3,
    integrator: str = "RK4", threads: int = 1, servo: Servo | None = None,
) -> Rollout:  # fmt: skip
    """Runs of several designs from one state, each with its own constant efforts (a row), ready to be timed; what a
    servo follows is held over a step, as it is in its middle."""
    made = {id(model): MujocoPeer(model, integrator, step) for model in models}  # equal ones share what they read
    peers = [made[id(model)] for model in models]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((len(peers), mujoco.mj_stateSize(peers[0].model, full)))
    efforts = []
    for peer, row, own in zip(peers, states, tau, strict=True):
        peer.set(q, v, own)
        mujoco.mj_getState(peer.model, peer.data, row, full)
        own = np.concatenate([peer.data.ctrl, peer.data.qfrc_applied])[None]
        if servo is not None:
            moving = servo.put_on(peer, np.asarray(step * (np.arange(steps) + 0.5), dtype=np.float64))
            own = own + np.concatenate([np.zeros((steps, len(peer.data.ctrl))), moving], axis=1)
        efforts.append(own)
    scratch = [mujoco.MjData(peers[0].model) for _ in range(threads)]
    pool = mujoco_rollout.Rollout(nthread=threads)
    return Rollout(peers, pool, states, np.array(efforts), scratch, steps)
