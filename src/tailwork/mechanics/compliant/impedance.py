"""Contact of a point: the ratio of its forces, and a point on compliant ground over one linearly implicit step.

The ground's force is linearised about the state at the start of the step: force − resistance · (J a), with J a the
point's acceleration but for its bias, and resistance = step · damping + step² · stiffness, one number along the normal
and one across it. To the limb this is a mass at the point that the accelerations feel and the bias does not, so a step
costs no more than the forward dynamics. A ball touches with its lowest point, a radius below its centre along the
normal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.expression import Scalar, is_zero
from tailwork.algebra.vectors import Array, array, cross, times, zeros
from tailwork.mechanics.frames import Link
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.sweeps import NO_WRENCH, Inertia6, Wrench, collected
from tailwork.mechanics.torso import TorsoState, into_link, out_of_link
from tailwork.typing import Floats


@dataclass(frozen=True)
class ContactImpedance:
    """What the ground does to a point."""

    force: Array  # inertial frame [N]
    normal: Array  # of the ground, a unit vector in the inertial frame
    along: Scalar  # resistance along the normal [kg]
    across: Scalar  # resistance across it [kg]


@dataclass(frozen=True)
class TouchingBody:
    """A contact where it acts on a body: in the frame of a link, or of the torso."""

    name: str  # as `Robot.contact_points` has it
    at: int  # the link; −1: the torso
    point: Array  # from the joint of the link, or from P [m]
    force: Array  # [N]
    resistance: Array  # 3 × 3 [kg]

    def wrench(self) -> Wrench:
        """The force about the joint of the link."""
        return Wrench(self.force, cross(self.point, self.force))

    def inertia(self) -> Inertia6:
        """The inertia that stands for the resistance, about the joint of the link."""
        return Inertia6(self.resistance, zeros(3, 3), zeros(3, 3)).shifted(self.point)

    def acceleration(self, linear: Array, angular: Array) -> Array:
        """J a from what the accelerations add to the motion of the link, (linear at its joint, angular)."""
        return linear + cross(angular, self.point)


def touching(
    layout: Layout, torso: TorsoState, limb: str, links: Sequence[Link], contacts: Mapping[str, ContactImpedance]
) -> list[TouchingBody]:
    """The contacts with a limb, or with the "torso"."""
    found: list[TouchingBody] = []
    for name, (own, point) in layout.contact_points.items():
        if own != limb or name not in contacts:
            continue
        contact, at, place = contacts[name], -1, array(point.point)
        force, normal = torso.from_inertial(contact.force), torso.from_inertial(contact.normal)
        if limb != "torso":
            at = layout.limbs[limb].index(point.joint)
            force, normal, place = (
                into_link(links, at, force), into_link(links, at, normal), times(links[at].orientation, place)
            )  # fmt: skip
        if not is_zero(point.radius):
            place = place - normal * point.radius
        resistance = zeros(3, 3)
        more = contact.along - contact.across
        for i in range(3):
            scaled = normal[i] * more
            for k in range(i + 1):
                resistance[i, k] = resistance[k, i] = scaled * normal[k] + (contact.across if i == k else 0.0)
        found.append(TouchingBody(name, at, place, force, resistance))
    return found


@dataclass(frozen=True)
class OnCoordinates:
    """Contacts with a limb whose coordinates move many joints, as its mass matrices feel them."""

    names: list[str]
    own: list[Array]  # by contact: J by the limb's coordinates, 3 × n
    torso: list[Array]  # by contact: J by the torso's linear and angular motion, torso frame, 3 × 6
    force: list[Array]  # by contact [N], in the frame of its link
    resistance: list[Array]  # by contact [kg], 3 × 3

    @classmethod
    def of(cls, contacts: Sequence[TouchingBody], links: Sequence[Link], gearing: Array) -> OnCoordinates:
        """By virtual work of a unit force along each axis of the link."""
        unit = zeros(3, 3)
        unit[0, 0] = unit[1, 1] = unit[2, 2] = 1.0
        own, torso = [], []
        for contact in contacts:
            pushes = [Wrench(axis, cross(contact.point, axis)) for axis in unit]
            seen = [collected(links, [push if k == contact.at else NO_WRENCH for k in range(len(links))])
                    for push in pushes]  # fmt: skip
            own.append(array([list(times(gearing.T, array(by_joint))) for by_joint, _ in seen]))
            torso.append(array([[*wrench.force, *wrench.moment] for _, wrench in seen]))
        forces, resistances = [x.force for x in contacts], [x.resistance for x in contacts]
        return cls([x.name for x in contacts], own, torso, forces, resistances)

    def product(self, left: list[Array], right: list[Array]) -> Array:
        """Σ leftᵀ · resistance · right."""
        rows = zip(left, self.resistance, right, strict=True)
        return sum((times(a.T, times(r, b)) for a, r, b in rows), zeros(left[0].shape[1], right[0].shape[1]))

    def push(self, columns: list[Array]) -> Array:
        """Σ columnsᵀ · force."""
        pairs = zip(columns, self.force, strict=True)
        return sum((times(a.T, f) for a, f in pairs), zeros(columns[0].shape[1]))

    def accelerations(self, links: Sequence[Link], at: Sequence[int], torso: Array, own: Array) -> dict[str, Array]:
        """J a of every contact in the torso frame, from the torso's acceleration (6) and the coordinates'."""
        rows = zip(self.names, at, self.torso, self.own, strict=True)
        return {name: out_of_link(links, k, times(a, torso) + times(b, own)) for name, k, a, b in rows}


def friction_ratio(forces: Floats) -> Floats:
    """Tangential over normal force of each foot [1], (…), for forces (…, 3) of the ground, the normal one last [N].

    It is the friction that it takes to stay; infinite where a foot does not push on the ground.
    """
    tangential, normal = np.hypot(forces[..., 0], forces[..., 1]), forces[..., 2]
    pushes = normal > 0
    return np.where(pushes, tangential / np.where(pushes, normal, 1.0), np.inf)
