"""A described robot as a compiled MuJoCo model, from the elements that `robot.export` writes."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from tailwork.robots.io.mjcf_writer import mjcf_tree
from tailwork.robots.io.written import joint_name
from tailwork.robots.limb import Cable
from tailwork.robots.paths import rebuild
from tailwork.robots.robot import Robot

mujoco: Any = importlib.import_module("mujoco")  # has few types, and is there only for tests and benchmarks

MODEL_MASS = 1e6
"""Mass of the whole robot in units of the model [1]: the least mass and moment that MuJoCo takes, 1e-15 in any unit, is
then small beside every body."""

HELD = {"solref": "0.0002 1", "solimp": "0.99999 0.99999 0.001 0.5 2"}
"""The stiffest constraints MuJoCo offers; 0.99999 is cut to 0.9999 inside, and 2e-4 s to no less than two steps."""


class MujocoTree:
    """The compiled model and the unit of mass [kg] in which it counts masses, forces and torques.

    Joints have neither ranges nor dry friction, and nothing touches: the caller adds what it needs.

    Args:
        robot: the robot.
        pinned: legs whose feet are held where the robot says they stand.
        torso_free: whether the torso moves.
        joined: hinges without a body of their own turn the next body, which is quicker. Nothing may be fixed to them.
        bending: springs on net bending angles are springs on "hinges", or "none".
        text: of an exported file, to be taken as it is, in SI units.
    """

    def __init__(
        self, robot: Robot, pinned: Sequence[str] = (), *, torso_free: bool = True, joined: bool = False,
        bending: str = "none", text: str | None = None,
    ) -> None:  # fmt: skip
        self.limbs = robot.limbs()
        if text is not None:
            self.unit, self.model = 1.0, mujoco.MjModel.from_xml_string(text)
            return
        self.unit = float(robot.mass()) / MODEL_MASS
        root, _ = mjcf_tree(_in_unit(robot, self.unit), pinned, torso_free=torso_free, joined=joined, bending=bending)
        for tag in ("keyframe", "asset", "default", "visual"):
            if (section := root.find(tag)) is not None:
                root.remove(section)
        for parent in root.iter():
            for geom in [*parent.findall("geom"), *parent.findall("light")]:
                parent.remove(geom)
        for joint in root.iter("joint"):
            for attribute in ("range", "frictionloss"):
                joint.attrib.pop(attribute, None)
        for held in root.iterfind("equality/*"):
            held.attrib |= HELD
        cables = [
            f"{name}.{x.name}" for name, limb in self.limbs.items() for x in limb.actuators if isinstance(x, Cable)
        ]
        for motor in root.findall("actuator/motor"):  # the torques of motors are applied to the joints
            if motor.get("name") not in cables:
                root.find("actuator").remove(motor)  # type: ignore[union-attr]
            else:
                motor.attrib.pop("ctrlrange", None)
        for tendon in root.findall("tendon/fixed"):
            if root.find(f"equality/tendon[@tendon1='{tendon.get('name')}']") is None:
                root.find("tendon").remove(tendon)  # type: ignore[union-attr]
        self.spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, "unicode"))
        option = self.spec.option
        option.timestep = 1e-5  # constraints may be no faster than two steps
        option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        option.iterations, option.tolerance = 200, 0.0
        self.model = self.spec.compile()

    model: Any

    def positions(self, name: str) -> list[int]:
        """Indices of the joints of a limb in MuJoCo's qpos, in the order of limb.joints."""
        joints = self.limbs[name].joints
        return [int(self.model.joint(joint_name(name, joint.name)).qposadr[0]) for joint in joints]

    def velocities(self, name: str) -> list[int]:
        """Indices of the joints of a limb in MuJoCo's qvel."""
        joints = self.limbs[name].joints
        return [int(self.model.joint(joint_name(name, joint.name)).dofadr[0]) for joint in joints]


def _in_unit(robot: Robot, unit: float) -> Robot:
    """The robot with its masses, moments, stiffnesses, forces and torques counted in a unit of mass [kg]."""
    return rebuild(robot, lambda path, x, kind: x / unit if {"kg", "N"} & set(re.split(r"\W", kind.unit)) else x)
