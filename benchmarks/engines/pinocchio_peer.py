"""A described robot in Pinocchio, set up for speed, to be timed beside our own kernels."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engines.joints import joint_state
from tailwork.mechanics.torso import torso_state
from tailwork.model import Model
from tailwork.robots.body import Body
from tailwork.robots.limb import Limb
from tailwork.typing import Floats

pin: Any = importlib.import_module("pinocchio")  # has no types, and is there only for tests and benchmarks

ALIGNED = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)


class PinocchioPeer:
    """The same mechanism in full coordinates: free-flyer, hinges, feet as rigid point contacts.

    Joints turn about coordinate axes and are added depth-first. Springs and cables are not part of Pinocchio: their
    torques come from our own equations and are not timed.
    """

    def __init__(self, model: Model) -> None:
        self.source = model
        self.model = pin.Model()
        self.model.gravity.linear = np.array([0.0, 0.0, -float(model.robot.gravity)])
        torso = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "torso")
        self._add_body(torso, model.robot.torso_body())
        self.ids: dict[tuple[str, str], int] = {}
        for name, limb in model.layout.limbs.items():
            self._add_children(name, limb, None, torso)
        self.data = self.model.createData()
        self.contacts = pin.StdVec_RigidConstraintModel()
        self.contact_data = pin.StdVec_RigidConstraintData()
        for name in model.foot_names:
            foot = model.layout.limbs[name].foot
            assert foot is not None
            contact = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, self.ids[name, foot.joint],
                pin.SE3(np.eye(3), np.array(foot.point, dtype=float)), pin.ReferenceFrame.LOCAL,
            )  # fmt: skip
            self.contacts.append(contact)
            self.contact_data.append(contact.createData())
        if model.foot_names:
            pin.initConstraintDynamics(self.model, self.data, self.contacts, self.contact_data)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def _add_children(self, name: str, limb: Limb, parent: str | None, parent_id: int) -> None:
        for joint in limb.joints:
            if joint.parent == parent:
                axis = np.array(joint.axis)
                hinge = ALIGNED[int(np.abs(axis).argmax())]()
                placement = pin.SE3(np.array(joint.rotation), np.array(joint.offset, dtype=float))
                here = self.model.addJoint(parent_id, hinge, placement, f"{name}/{joint.name}")
                self.ids[name, joint.name] = here
                if joint.body is not None:
                    self._add_body(here, joint.body)
                self._add_children(name, limb, joint.name, here)

    def _add_body(self, joint: int, body: Body) -> None:
        xx, yy, zz, xy, xz, yz = body.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)
        inertia = pin.Inertia(float(body.mass), np.array(body.com, dtype=float), tensor)
        self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())

    def state(self, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats, Floats]:
        """Pinocchio's q, v and joint torques for a state and efforts of ours."""
        joints = joint_state(self.source, q, v, tau)
        pin_q, pin_v, torque = pin.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        pin_q[:3] = q[:3]
        pin_q[3:7] = pin.Quaternion(joints.rotation).coeffs()
        pin_v[:3], pin_v[3:6] = joints.rotation.T @ v[:3], joints.rotation.T @ v[3:6]
        for key, number in self.ids.items():
            here = self.model.joints[number]
            pin_q[here.idx_q], pin_v[here.idx_v] = joints.angles[key], joints.rates[key]
            torque[here.idx_v] = joints.torques[key]
        return pin_q, pin_v, torque

    def forward(self, q: Floats, v: Floats, tau: Floats) -> Callable[[], Any]:
        """One evaluation of the forward dynamics, ready to be timed."""
        pin_q, pin_v, torque = self.state(q, v, tau)
        model, data = self.model, self.data
        if not self.source.foot_names:
            return lambda: pin.aba(model, data, pin_q, pin_v, torque)
        contacts, contact_data, settings = self.contacts, self.contact_data, self.settings
        return lambda: pin.constraintDynamics(model, data, pin_q, pin_v, torque, contacts, contact_data, settings)

    def acceleration(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """Pinocchio's acceleration in our layout, for limbs whose coordinates are their joints."""
        a = np.array(self.forward(q, v, tau)())
        layout = self.source.layout
        rotation = torso_state(layout, [float(x) for x in q], [float(x) for x in v]).rotation.astype(float)
        omega, velocity = v[3:6], v[:3]
        # Pinocchio's spatial acceleration lacks omega × v of the torso's origin.
        found = [*(rotation @ a[:3] + np.cross(omega, velocity)), *(rotation @ a[3:6])]
        for name in layout.moving:
            for coordinate in layout.limbs[name].coordinates:
                found.append(a[self.model.joints[self.ids[name, coordinate]].idx_v])
        return np.array(found)

    def derivative(
        self,
        q: Floats,
        v: Floats,
        tau: Floats,
        feedback: Callable[[float, Floats, Floats, Floats], Floats] | None = None,
    ) -> tuple[Callable[[float, Floats], Floats], Floats]:
        """Its state-space form for constant torques, or for those that a feedback of (t, q, v, torques) gives, and the
        state to start from, in Pinocchio's coordinates."""
        pin_q, pin_v, torque = self.state(q, v, tau)
        size = len(pin_q)
        model, data, settings = self.model, self.data, self.settings
        contacts, contact_data = self.contacts, self.contact_data

        def derivative(t: float, z: Floats) -> Floats:
            where, rate = z[:size], z[size:]
            x, y, zz, w = where[3:7]
            ox, oy, oz = rate[3:6]
            out = np.empty(len(z))
            out[:3] = pin.Quaternion(where[3:7]).toRotationMatrix() @ rate[:3]
            out[3:6] = 0.5 * (w * rate[3:6] + np.array([y * oz - zz * oy, zz * ox - x * oz, x * oy - y * ox]))
            out[6] = -0.5 * (x * ox + y * oy + zz * oz)
            out[7:size] = rate[6:]
            own = torque if feedback is None else feedback(t, where, rate, torque)
            out[size:] = pin.constraintDynamics(model, data, where, rate, own, contacts, contact_data, settings)
            return out

        return derivative, np.concatenate([pin_q, pin_v])


def call_overhead() -> Callable[[], Any]:
    """The same kind of call on a model of one hinge: what Python adds, and a little more."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    data, zero = model.createData(), np.zeros(1)
    contacts, contact_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    pin.initConstraintDynamics(model, data, contacts, contact_data)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)
    return lambda: pin.constraintDynamics(model, data, zero, zero, zero, contacts, contact_data, settings)
