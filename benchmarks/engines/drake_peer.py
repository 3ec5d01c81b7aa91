"""A described robot in Drake, set up for speed, to be timed beside our own kernels."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engines.joints import joint_state
from tailwork.model import Model
from tailwork.robots.body import Body
from tailwork.typing import Floats


class DrakePeer:
    """The same tree as a continuous MultibodyPlant: a free body and hinges, without pinned feet and gears.

    Drake holds points only in its plants of discrete time, whose steps are no evaluations of the forward dynamics. As
    with Pinocchio, torques of springs and cables come from our own equations and are not timed. Raises ImportError
    where Drake is not installed.
    """

    def __init__(self, model: Model) -> None:
        if model.foot_names or any(limb.gearing is not None for limb in model.layout.limbs.values()):
            raise ValueError("Drake's continuous plants have neither pinned feet nor gears")
        self.source = model
        self.math: Any = importlib.import_module("pydrake.math")
        self.tree: Any = importlib.import_module("pydrake.multibody.tree")
        self.plant: Any = importlib.import_module("pydrake.multibody.plant").MultibodyPlant(0.0)
        self.plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -float(model.robot.gravity)])
        self.torso = self.plant.AddRigidBody("torso", self._inertia(model.robot.torso_body()))
        self.joints: dict[tuple[str, str], Any] = {}
        for name, limb in model.layout.limbs.items():
            bodies: dict[str | None, Any] = {None: self.torso}
            for joint in limb.joints:
                body = self.plant.AddRigidBody(f"{name}/{joint.name}", self._inertia(joint.body))
                turn = self.math.RotationMatrix(np.array(joint.rotation, dtype=float))
                frame = self.plant.AddFrame(
                    self.tree.FixedOffsetFrame(
                        f"{name}/{joint.name} hinge", bodies[joint.parent].body_frame(),
                        self.math.RigidTransform(turn, np.array(joint.offset, dtype=float)),
                    )
                )  # fmt: skip
                hinge = self.tree.RevoluteJoint(
                    f"{name}/{joint.name}", frame, body.body_frame(), np.array(joint.axis, dtype=float)
                )
                self.joints[name, joint.name] = self.plant.AddJoint(hinge)
                bodies[joint.name] = body
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()

    def _inertia(self, body: Body | None) -> Any:
        if body is None:
            return self.tree.SpatialInertia.Zero()
        xx, yy, zz, xy, xz, yz = (float(x) for x in body.inertia)
        about_com = self.tree.RotationalInertia(xx, yy, zz, xy, xz, yz)
        com, mass = np.array(body.com, dtype=float), float(body.mass)
        about_origin = about_com.ShiftFromCenterOfMass(mass, com)
        unit = self.tree.UnitInertia(*(about_origin.get_moments() / mass), *(about_origin.get_products() / mass))
        return self.tree.SpatialInertia(mass, com, unit, skip_validity_check=True)

    def forward(self, q: Floats, v: Floats, tau: Floats) -> Callable[[], Any]:
        """One evaluation of the forward dynamics, ready to be timed.

        Drake keeps what it has computed until the state changes; so the state is written anew before each.
        """
        plant, context = self.plant, self.context
        joints = joint_state(self.source, q, v, tau)
        rotation = self.math.RotationMatrix(joints.rotation)
        plant.SetFreeBodyPose(context, self.torso, self.math.RigidTransform(rotation, q[:3]))
        spatial = importlib.import_module("pydrake.multibody.math").SpatialVelocity(v[3:6], v[:3])
        plant.SetFreeBodySpatialVelocity(context, self.torso, spatial)
        torques = np.zeros(plant.num_velocities())
        for key, joint in self.joints.items():
            joint.set_angle(context, joints.angles[key])
            joint.set_angular_rate(context, joints.rates[key])
            torques[joint.velocity_start()] = joints.torques[key]
        plant.get_applied_generalized_force_input_port().FixValue(context, torques)
        state, derivatives = plant.GetPositionsAndVelocities(context).copy(), plant.AllocateTimeDerivatives()
        write = context.SetContinuousState

        def run() -> Any:
            write(state)
            plant.CalcTimeDerivatives(context, derivatives)
            return derivatives

        return run

    def acceleration(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """Drake's acceleration in our layout: it, too, has the torso's velocities in the inertial frame."""
        rates = self.forward(q, v, tau)().get_generalized_velocity().CopyToVector()
        start = self.torso.floating_velocities_start_in_v()
        found = [*rates[start + 3 : start + 6], *rates[start : start + 3]]
        for name in self.source.layout.moving:
            for coordinate in self.source.layout.limbs[name].coordinates:
                found.append(rates[self.joints[name, coordinate].velocity_start()])
        return np.array(found)
