"""A described robot that walks on compliant ground in MuJoCo, to be timed beside our own simulation.

The same tree, servo, table of angles and step; the contact is MuJoCo's own (a spring and damper, with a friction cone),
so the two walks are alike, not equal.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tailwork.kernels.kernel import Floats
from tailwork.model import Model
from tailwork.robots.body import Body
from tailwork.robots.limb import Limb
from tailwork.simulation.ground import Ground
from tailwork.simulation.servo import JointServo

mujoco: Any = importlib.import_module("mujoco")  # has few types, and is there only for tests and benchmarks
rollout: Any = importlib.import_module("mujoco.rollout")

FOOT_RADIUS = 1e-5  # m: a foot is a point


def _numbers(*values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def _add_inertia(element: ElementTree.Element, body: Body) -> None:
    ElementTree.SubElement(
        element, "inertial", pos=_numbers(*body.com), mass=_numbers(body.mass), fullinertia=_numbers(*body.inertia)
    )


def _add_limb(torso: ElementTree.Element, name: str, limb: Limb) -> None:
    """Bodies with their hinges; hinges without a body turn the next one, which must sit on the same point."""
    bodies: dict[str | None, ElementTree.Element] = {None: torso}
    waiting: list[Any] = []
    for joint in limb.joints:
        first = waiting[0] if waiting else joint
        waiting.append(joint)
        if joint.body is None:
            continue
        turn = np.array(first.rotation, dtype=float)
        element = ElementTree.SubElement(
            bodies[first.parent], "body", name=f"{name}.{joint.name}", pos=_numbers(*first.offset),
            xyaxes=_numbers(*turn[:, 0], *turn[:, 1]),
        )  # fmt: skip
        for hinge in waiting:
            ElementTree.SubElement(element, "joint", name=f"{name}.{hinge.name}", axis=_numbers(*hinge.axis))
        _add_inertia(element, joint.body)
        if limb.foot is not None and limb.foot.joint == joint.name:
            ElementTree.SubElement(element, "geom", size=_numbers(FOOT_RADIUS), pos=_numbers(*limb.foot.point))
        bodies[joint.name] = element
        waiting = []


def walking_xml(model: Model, ground: Ground, servo: JointServo, step: float, frequency: float) -> str:
    """The robot, its ground and its servo as MJCF.

    MuJoCo states a contact's stiffness by the acceleration it gives, so a spring k on the mass m that a foot moves with
    is its squared frequency k/m [rad²/s²]; the damping is critical.
    """
    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian", balanceinertia="false", boundmass="0")
    ElementTree.SubElement(
        root, "option", gravity=_numbers(0, 0, -model.robot.gravity), timestep=_numbers(step),
        integrator="implicitfast", cone="elliptic",
    )  # fmt: skip
    default = ElementTree.SubElement(root, "default")
    ElementTree.SubElement(
        default, "geom", contype="1", conaffinity="0", condim="3", friction=_numbers(ground.static_friction, 0, 0),
        solref=_numbers(-(frequency**2), -2.0 * frequency), solimp="0.999 0.999 0.001 0.5 2",
    )  # fmt: skip
    world = ElementTree.SubElement(root, "worldbody")
    ElementTree.SubElement(
        world, "geom", type="plane", size="0 0 1", contype="0", conaffinity="1", pos=_numbers(0, 0, -FOOT_RADIUS)
    )
    torso = ElementTree.SubElement(world, "body", name="torso")
    ElementTree.SubElement(torso, "freejoint")
    _add_inertia(torso, model.robot.torso.body())
    for name, limb in model.layout.limbs.items():
        _add_limb(torso, name, limb)
    actuators = ElementTree.SubElement(root, "actuator")
    for name in servo.table.coordinates:
        ElementTree.SubElement(
            actuators, "general", joint=name, gainprm="1", biastype="affine",
            biasprm=_numbers(0, -servo.kp, -servo.kd),
        )  # fmt: skip
    return ElementTree.tostring(root, encoding="unicode")


def walk(
    model: Model, ground: Ground, servo: JointServo, q: Floats, v: Floats, duration: float, step: float,
    frequency: float,
) -> Callable[[], Floats]:  # fmt: skip
    """A walk as MuJoCo simulates it, ready to be timed: places of the torso at all steps, (steps, 3) [m].

    All steps run in MuJoCo's own compiled loop (rollout); the servo's targets are computed beforehand.
    """
    engine = mujoco.MjModel.from_xml_string(walking_xml(model, ground, servo, step, frequency))
    data = mujoco.MjData(engine)
    data.qpos[:3], data.qpos[3:7] = q[:3], (1.0, 0.0, 0.0, 0.0)
    data.qvel[:6] = v[:6]  # the torso starts level
    for name in model.coordinate_names[6:]:
        joint = engine.joint(name)
        data.qpos[joint.qposadr[0]] = q[model.coordinate_names.index(name)]
        data.qvel[joint.dofadr[0]] = v[model.velocity_names.index(f"{name} rate")]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(engine, full))
    mujoco.mj_getState(engine, data, start, full)
    values, rates = servo.table.at(np.arange(1, round(duration / step) + 1) * step)
    control = (servo.kp * values + servo.kd * rates)[None]

    def run() -> Floats:
        states, _ = rollout.rollout(engine, data, start[None], control)
        return states[0, :, 1:4]

    return run
