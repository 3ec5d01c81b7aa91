"""Liu & Ben-Tzvi 2018, Sect. 4.1, by a second formulation, as the paper sets Adams beside its model (Fig. 6).

All joints of the legs are coordinates of their own here, and the feet are held by Lagrange multipliers: 20 degrees of
freedom with 12 constraints, M a + h = B tau + Jᵀ f, J a = −J-dot v − 2 s J v − s² c. The closed form of the legs, on
which the engine's pinned feet rest, is used for the initial state only. Where MuJoCo is installed, its own motion of
the exported robot stands beside both.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from tailwork.control.gait.foot_kinematics import posed
from tailwork.model import Model
from tailwork.robots.io.mjcf_writer import mjcf_text
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

MUJOCO_STEP = 1e-4
"""Of MuJoCo's RK4, as of both programs in the paper [s]."""
STABILISATION = 100.0
"""s, by which feet that drift go back to their places (Baumgarte) [1/s]."""


def with_multipliers(robot: Robot, efforts: dict[str, float], swing: tuple[str, float, float], times: Floats) -> Floats:
    """Coordinates of torso and tail at times [m, rad], from rest in the robot's stance.

    Args:
        robot: whose feet are held.
        efforts: constant ones by actuator [N m].
        swing: an actuator, the amplitude [N m] and the angular frequency [rad/s] of its sine.
        times: increasing, from 0 on [s].
    """
    model = Model(robot, "none")
    q0 = posed(model)
    size, names = len(q0), list(model.actuator_names)
    tau = np.array([efforts.get(name, 0.0) for name in names])
    feet = [(name, foot.joint, tuple(map(float, foot.point))) for name, foot in robot.feet().items()]
    places = model.points(q0)[model.foot_points].ravel()
    # Legs and actuators stand in another order here; actuation is constant, because every joint has its own coordinate.
    actuation = model.actuation_matrix(q0)

    def rates(t: float, x: Floats) -> Floats:
        q, v = x[:size], x[size:]
        now = tau.copy()
        now[names.index(swing[0])] += swing[1] * np.sin(swing[2] * t)
        jacobian = np.concatenate([model.point_jacobian(foot, q) for foot in feet])
        drift = np.concatenate([model.point_drift(foot, q, v) for foot in feet])
        gap = model.points(q)[model.foot_points].ravel() - places
        wanted = -drift - 2.0 * STABILISATION * (jacobian @ v) - STABILISATION**2 * gap
        count = len(wanted)
        matrix = np.block([[model.mass_matrix(q), -jacobian.T], [jacobian, np.zeros((count, count))]])
        free = actuation @ now - model.bias(q, v)
        accelerations = np.linalg.solve(matrix, np.concatenate([free, wanted]))[:size]
        return np.asarray([*model.coordinate_rates(q, v), *accelerations], dtype=np.float64)

    start = np.concatenate([q0, np.zeros(size)])
    found = solve_ivp(rates, (0.0, float(times[-1])), start, "DOP853", t_eval=times, rtol=1e-10, atol=1e-12)
    tail = model.layout.coordinates["tail"]
    return np.asarray(np.concatenate([found.y[:6], found.y[tail]]).T, dtype=np.float64)


def by_mujoco(robot: Robot, efforts: dict[str, float], swing: tuple[str, float, float], times: Floats) -> Floats | None:
    """The same by MuJoCo, whose pinned feet give way a little; None: it is not installed."""
    if importlib.util.find_spec("mujoco") is None:
        return None
    mujoco: Any = importlib.import_module("mujoco")  # optional, and without complete types
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot, list(robot.feet()))[0])
    data = mujoco.MjData(model)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, MUJOCO_STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT  # what pins the feet is a constraint of its own
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for name, effort in efforts.items():
        data.ctrl[model.actuator(name).id] = effort
    driven, held = model.actuator(swing[0]).id, efforts.get(swing[0], 0.0)
    tail = [model.joint(f"tail.{name}").qposadr[0] for name in robot.limbs()["tail"].coordinates]
    states = [np.copy(data.qpos)]
    while data.time < times[-1] - 0.5 * MUJOCO_STEP:
        # The torque in the middle of a step, which MuJoCo holds over all of it.
        data.ctrl[driven] = held + swing[1] * np.sin(swing[2] * (data.time + 0.5 * MUJOCO_STEP))
        mujoco.mj_step(model, data)
        states.append(np.copy(data.qpos))
    found = np.array(states)
    angles = Rotation.from_quat(found[:, 3:7], scalar_first=True).as_euler("ZYX")[:, ::-1]
    rows = np.concatenate([found[:, :3], angles, found[:, tail]], axis=1)
    at = MUJOCO_STEP * np.arange(len(rows))
    return np.stack([np.interp(times, at, column) for column in rows.T], axis=1)
