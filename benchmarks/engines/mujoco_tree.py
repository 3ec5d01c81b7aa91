"""A described robot as a MuJoCo model: feet by `connect`, gears and cables by tendons."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import null_space

from tailwork.robots.body import Body
from tailwork.robots.limb import IDENTITY, BendingSpring, Cable, Joint, JointSpring, Limb, PointSpring
from tailwork.robots.robot import Robot

mujoco: Any = importlib.import_module("mujoco")  # has few types, and is there only for tests and benchmarks

MODEL_MASS = 1e6
"""Mass of the whole robot in units of the model [1]. MuJoCo takes no mass or moment below 1e-15, in any unit."""

RELAX = 1e-13
"""Share of its largest principal moment that is added to all moments of a body. It keeps a thin plate within the
triangle inequality and gives an ideal bar the moment about itself without which MuJoCo rejects them."""

LEAST = 1e-14
"""Mass and moments added to every body, in units of the model: 1e-20 of the robot. A hinge without a body has these."""

SOLREF = (2e-4, 1.0)
SOLIMP = (0.99999, 0.99999, 1e-3, 0.5, 2.0)
"""The stiffest constraints MuJoCo offers; 0.99999 is cut to 0.9999 inside, and 2e-4 s to no less than two steps."""


class MujocoTree:
    """The compiled model and the unit of mass [kg] in which it counts masses, forces and torques.

    Args:
        robot: the robot.
        pinned: legs whose feet are held where the robot says they stand.
        torso_free: whether the torso moves.
        joined: hinges without a body of their own turn the next body, which is quicker. Nothing may be fixed to them.
        sprung: springs on hinges are MuJoCo's own. It knows no spring on a net bending angle: that becomes one on each
            of the two hinges, which is the same where the tail bends in one plane.
    """

    def __init__(
        self,
        robot: Robot,
        pinned: Sequence[str] = (),
        *,
        torso_free: bool = True,
        joined: bool = False,
        sprung: bool = False,
    ) -> None:
        self.limbs = robot.limbs()
        bodies = [robot.torso_body(), *(j.body for limb in self.limbs.values() for j in limb.joints if j.body)]
        self.unit = float(sum(body.mass for body in bodies)) / MODEL_MASS
        self.joined = joined
        self.spec = mujoco.MjSpec()
        self._set_options(robot)
        torso = self.spec.worldbody.add_body(name="torso")
        if torso_free:
            torso.add_freejoint(name="torso")
        self._set_body(torso, robot.torso_body())
        for name, limb in self.limbs.items():
            self._add_joints(name, limb)
            self._add_gears(name, limb)
            self._add_cables_and_springs(name, limb)
            if sprung:
                self._add_hinge_springs(name, limb)
        for name in pinned:
            self._pin(name)
        self.model: Any = self.spec.compile()

    def _set_options(self, robot: Robot) -> None:
        option = self.spec.option
        option.gravity = [0.0, 0.0, -robot.gravity]
        option.timestep = 1e-5  # constraints may be no faster than two steps
        option.solver = mujoco.mjtSolver.mjSOL_NEWTON
        option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        option.iterations = 200
        option.tolerance = 0.0

    def _set_body(self, to: Any, body: Body | None) -> None:
        moments = np.array(body.inertia if body else 6 * [0.0], dtype=float) / self.unit
        moments[:3] += RELAX * np.abs(moments).max() + LEAST
        to.mass = (body.mass / self.unit if body else 0.0) + LEAST
        to.ipos = body.com if body else (0.0, 0.0, 0.0)
        to.fullinertia = moments
        to.explicitinertial = True

    def _add_joints(self, name: str, limb: Limb) -> None:
        """Bodies with their hinges; where they are to be joined, a hinge without a body turns the next one."""
        here: Any = None
        last: Joint | None = None
        for joint in limb.joints:
            if not (self.joined and last is not None and _turns_the_next(last, joint)):
                parent = self.spec.body(body_name(name, joint.parent))
                quaternion = np.zeros(4)
                mujoco.mju_mat2Quat(quaternion, np.array(joint.rotation, dtype=float).ravel())
                here = parent.add_body(name=body_name(name, joint.name), pos=joint.offset, quat=quaternion)
            here.name = body_name(name, joint.name)
            kind = mujoco.mjtJoint.mjJNT_SLIDE if joint.slides else mujoco.mjtJoint.mjJNT_HINGE
            armature = joint.armature / self.unit
            here.add_joint(name=body_name(name, joint.name), type=kind, axis=joint.axis, armature=armature)
            self._set_body(here, joint.body)
            last = joint

    def _add_gears(self, name: str, limb: Limb) -> None:
        """One fixed tendon, held at zero, per combination of joint angles that the gears forbid."""
        if limb.gearing is None:
            return
        for k, row in enumerate(null_space(np.array(limb.gearing, dtype=float).T).T):
            tendon = self.spec.add_tendon(name=f"{name}:gear{k}")
            for joint, weight in zip(limb.joints, row, strict=True):
                tendon.wrap_joint(body_name(name, joint.name), weight)
            held = self.spec.add_equality(name=tendon.name, name1=tendon.name, solref=SOLREF, solimp=SOLIMP)
            held.type, held.objtype = mujoco.mjtEq.mjEQ_TENDON, mujoco.mjtObj.mjOBJ_TENDON
            held.data[:5] = [0.0, 1.0, 0.0, 0.0, 0.0]

    def _add_cables_and_springs(self, name: str, limb: Limb) -> None:
        for cable in (actuator for actuator in limb.actuators if isinstance(actuator, Cable)):
            tendon = f"{name}:{cable.name}"
            self._add_tendon(name, tendon, [(hole.joint, hole.point) for hole in cable.route])
            pull = self.spec.add_actuator(name=tendon, target=tendon, trntype=mujoco.mjtTrn.mjTRN_TENDON)
            pull.set_to_motor()
            pull.gainprm[0] = -1.0
        for k, spring in enumerate(limb.springs):
            if isinstance(spring, PointSpring):
                ends = [(spring.first, spring.first_point), (spring.second, spring.second_point)]
                tendon = self._add_tendon(name, f"{name}:spring{k}", ends)
                tendon.stiffness[0] = spring.stiffness / self.unit
                tendon.springlength = [spring.rest_length, spring.rest_length]

    def _add_tendon(self, limb: str, name: str, points: list[Any]) -> Any:
        tendon = self.spec.add_tendon(name=name)
        for k, (joint, point) in enumerate(points):
            self.spec.body(body_name(limb, joint)).add_site(name=f"{name}:{k}", pos=point)
            tendon.wrap_site(f"{name}:{k}")
        return tendon

    def _add_hinge_springs(self, name: str, limb: Limb) -> None:
        for spring in limb.springs:
            if isinstance(spring, PointSpring):
                continue
            joints = (spring.first, spring.second) if isinstance(spring, BendingSpring) else (spring.joint,)
            for joint in joints:
                hinge = self.spec.joint(body_name(name, joint))
                hinge.stiffness[0], hinge.damping[0] = spring.stiffness / self.unit, spring.damping / self.unit
                hinge.springref = spring.rest if isinstance(spring, JointSpring) else 0.0

    def _pin(self, name: str) -> None:
        foot = self.limbs[name].foot
        assert foot is not None
        self.spec.body(body_name(name, foot.joint)).add_site(name=f"{name}:foot", pos=foot.point)
        self.spec.worldbody.add_site(name=f"{name}:place", pos=foot.place)
        pin = self.spec.add_equality(
            name=f"{name}:foot", name1=f"{name}:foot", name2=f"{name}:place", solref=SOLREF, solimp=SOLIMP
        )
        pin.type, pin.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_SITE

    def positions(self, name: str) -> list[int]:
        """Indices of the joints of a limb in MuJoCo's qpos, in the order of limb.joints."""
        joints = self.limbs[name].joints
        return [int(self.model.joint(body_name(name, joint.name)).qposadr[0]) for joint in joints]

    def velocities(self, name: str) -> list[int]:
        """Indices of the joints of a limb in MuJoCo's qvel."""
        joints = self.limbs[name].joints
        return [int(self.model.joint(body_name(name, joint.name)).dofadr[0]) for joint in joints]


def _turns_the_next(joint: Joint, following: Joint) -> bool:
    """Whether a hinge without a body sits where the next one does."""
    together = following.offset == (0.0, 0.0, 0.0) and following.rotation == IDENTITY
    return joint.body is None and following.parent == joint.name and together


def body_name(limb: str, joint: str | None) -> str:
    """The name of the body that a joint carries, and of its hinge; the torso for None."""
    return f"{limb}/{joint}" if joint is not None else "torso"
