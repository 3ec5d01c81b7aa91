"""A described robot that walks on the ground in MuJoCo, to be timed beside our own simulation.

The same tree, servo, table of angles and step; the contact is MuJoCo's own (a spring and damper, with a friction cone),
so the two walks are alike, not equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engines.mujoco_peer import mujoco_rollout
from benchmarks.engines.mujoco_tree import MujocoTree, mujoco
from tailwork.control.servo import JointServo
from tailwork.model import Model
from tailwork.robots.io.written import joint_name
from tailwork.typing import Floats

FOOT_RADIUS = 1e-5  # m: a foot is a point


def compliant(frequency: float) -> tuple[float, float]:
    """MuJoCo's `solref` of a contact: it states the stiffness by the acceleration it gives, so a spring k on the mass m
    that a foot moves with is its squared frequency k/m [rad²/s²]; the damping is critical."""
    return -(frequency**2), -2.0 * frequency


def rigid(step: float) -> tuple[float, float]:
    """The stiffest `solref` that it offers at a step [s]."""
    return 2.0 * step, 1.0


def walking_model(
    model: Model, friction: float, solref: tuple[float, float], servo: JointServo, step: float, impratio: float = 1.0
) -> Any:
    """The robot, its ground and its servo."""
    tree = MujocoTree(model.robot, joined=True, bending="hinges")
    spec, unit = tree.spec, tree.unit
    option = spec.option
    option.timestep, option.iterations, option.tolerance = step, 100, 1e-8
    option.integrator, option.cone = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = impratio
    option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # its sparse solver is faulty in 4.0.0
    contact = {
        "condim": 3, "friction": (friction, 0.0, 0.0), "solref": solref, "solimp": (0.999, 0.999, 0.001, 0.5, 2.0),
    }  # fmt: skip
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(type=plane, size=(0, 0, 1), contype=0, conaffinity=1, pos=(0, 0, -FOOT_RADIUS), **contact)
    for name, limb in tree.limbs.items():
        if limb.foot is not None:
            spec.body(joint_name(name, limb.foot.joint)).add_geom(
                size=(FOOT_RADIUS, 0, 0), pos=limb.foot.point, contype=1, conaffinity=0, mass=0.0, **contact
            )
    for name in servo.table.coordinates:
        motor = spec.add_actuator(
            name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        )  # fmt: skip
        motor.gainprm[0], motor.biasprm[1], motor.biasprm[2] = 1.0 / unit, -servo.kp / unit, -servo.kd / unit
    return spec.compile()


def walk(
    model: Model, friction: float, solref: tuple[float, float], servo: JointServo, q: Floats, v: Floats,
    duration: float, step: float, impratio: float = 1.0,
) -> Callable[[], Floats]:  # fmt: skip
    """A walk as MuJoCo simulates it, ready to be timed: places of the torso at all steps, (steps, 3) [m].

    All steps run in MuJoCo's own compiled loop (rollout); the servo's targets are computed beforehand.
    """
    engine = walking_model(model, friction, solref, servo, step, impratio)
    data = mujoco.MjData(engine)
    data.qpos[:3], data.qpos[3:7] = q[:3], (1.0, 0.0, 0.0, 0.0)
    data.qvel[:6] = v[:6]  # the torso starts level
    for name in (name for name in model.coordinate_names if "." in name):
        joint = engine.joint(name)
        data.qpos[joint.qposadr[0]] = q[model.coordinate_names.index(name)]
        data.qvel[joint.dofadr[0]] = v[model.velocity_names.index(f"{name} rate")]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(engine, full))
    mujoco.mj_getState(engine, data, start, full)
    values, rates = servo.table.at(np.arange(1, round(duration / step) + 1) * step)
    control = (servo.kp * values + servo.kd * rates)[None]

    def run() -> Floats:
        states, _ = mujoco_rollout.rollout(engine, data, start[None], control)
        return states[0, :, 1:4]

    return run
