"""The frames a limb is computed in: each joint's own, or one for the whole limb."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tailwork.algebra.expression import Scalar, is_zero
from tailwork.algebra.vectors import Array, array, congruence, rotation, times, zeros
from tailwork.mechanics.moments import Moments, moments_of
from tailwork.robots.limb import IDENTITY, Joint, Limb

Angle = tuple[Scalar, Scalar]
"""Cosine and sine of a hinge's angle; of a slider its way [m] and 0."""


def principal_axis(axis: Iterable[Scalar]) -> int:
    """Which coordinate axis a unit vector lies along exactly, either way; −1: none."""
    entries = list(axis)
    along = [k for k, a in enumerate(entries) if not is_zero(a)]
    return along[0] if len(along) == 1 and isinstance(entries[along[0]], float) else -1


class Turn:
    """The rotation from a frame to its parent, R = (fixed rotation) · Rot(axis, angle); a slider turns nothing."""

    def __init__(self, joint: Joint, angle: Angle) -> None:
        angle = (1.0, 0.0) if joint.slides else angle
        self.fixed = None if joint.rotation == IDENTITY else array(joint.rotation)
        self.hinge = rotation(joint.axis, *angle)
        self.principal = principal_axis(joint.axis)
        self.cosine, self.sine = angle[0], angle[1] * (joint.axis[self.principal] if self.principal >= 0 else 1.0)

    def matrix(self) -> Array:
        """R: takes vectors of the frame into the parent's."""
        return self.hinge if self.fixed is None else times(self.fixed, self.hinge)

    def inward(self, v: Array) -> Array:
        """A vector of the frame, in the parent's frame."""
        turned = times(self.hinge, v)
        return turned if self.fixed is None else times(self.fixed, turned)

    def outward(self, v: Array) -> Array:
        """A vector of the parent's frame, in the frame."""
        unfixed = v if self.fixed is None else times(self.fixed.T, v)
        return times(self.hinge.T, unfixed)

    def inward_matrix(self, m: Array) -> Array:
        """A matrix of the frame, R m Rᵀ."""
        turned = times(times(self.hinge, m), self.hinge.T)
        return turned if self.fixed is None else times(times(self.fixed, turned), self.fixed.T)

    def inward_symmetric(self, m: Array) -> Array:
        """A symmetric matrix of the frame, R m Rᵀ."""
        turned = self._about_principal(m) if self.principal >= 0 else congruence(self.hinge, m)
        return turned if self.fixed is None else congruence(self.fixed, turned)

    def _about_principal(self, m: Array) -> Array:
        """R m Rᵀ for a turn about a coordinate axis, by the double angle: fewer products than two rotations."""
        i = self.principal
        j, k = (i + 1) % 3, (i + 2) % 3
        c, s = self.cosine, self.sine
        cs = c * s
        difference = m[j, j] - m[k, k]
        moved = s * s * difference + (cs + cs) * m[j, k]
        result = zeros(3, 3)
        result[i, i] = m[i, i]
        result[j, j] = m[j, j] - moved
        result[k, k] = m[k, k] + moved
        result[j, k] = result[k, j] = cs * difference + (c * c - s * s) * m[j, k]
        result[i, j] = result[j, i] = c * m[i, j] - s * m[i, k]
        result[i, k] = result[k, i] = s * m[i, j] + c * m[i, k]
        return result


def joint_place(joint: Joint, angle: Angle) -> Array:
    """Where a joint's frame is in its parent's [m]: at its offset, a slider further along its axis."""
    offset = array(joint.offset)
    return offset + times(array(joint.rotation), array(joint.axis)) * angle[0] if joint.slides else offset


NO_TURN = Turn(Joint(name="none", axis=(0.0, 0.0, 1.0)), (1.0, 0.0))


@dataclass(frozen=True)
class Link:
    """A joint and its body as the sweeps see them, in the frame that the joint is computed in."""

    parent: int  # −1: the torso
    turn: Turn  # from this frame to the parent's
    axis: Array
    offset: Array  # of the joint, in the parent's frame [m]
    moments: Moments  # of the body, about the joint; zero for a joint without one
    orientation: Array  # of the body's own frame in this one
    armature: Scalar
    slides: bool  # along its axis; else it turns about it

    def moved(self, linear: Array, angular: Array, rate: Scalar) -> tuple[Array, Array]:
        """A velocity or acceleration (linear at the joint, angular) with that of the joint itself added."""
        along = self.axis * rate
        return (linear + along, angular) if self.slides else (linear, angular + along)


def own_frames(limb: Limb, angles: Sequence[Angle]) -> list[Link]:
    """Every joint in its own frame: constant axes, offsets and inertias; a turn at every joint."""
    return [
        Link(
            parent=limb.index(joint.parent),
            turn=Turn(joint, angle),
            axis=array(joint.axis),
            offset=joint_place(joint, angle),
            moments=moments_of(joint.body),
            orientation=array(IDENTITY),
            armature=joint.armature,
            slides=joint.slides,
        )
        for joint, angle in zip(limb.joints, angles, strict=True)
    ]


def one_frame(limb: Limb, angles: Sequence[Angle]) -> list[Link]:
    """The whole limb in the frame of its first joint, which turns with it.

    In a leg or a tail whose later hinges are parallel, everything then lies in one plane and two of three
    components vanish. Every other joint on the torso brings a frame of its own.
    """
    links = own_frames(limb, angles)
    for k, (joint, link) in enumerate(zip(limb.joints, links, strict=True)):
        if link.parent >= 0:
            before = links[link.parent].orientation
            orientation = times(before, link.turn.matrix())
            axis = times(array(joint.rotation), link.axis)  # a joint does not turn its own axis
            links[k] = replace(
                link, turn=NO_TURN, axis=times(before, axis), offset=times(before, link.offset),
                moments=link.moments.turned(orientation), orientation=orientation,
            )  # fmt: skip
    return links


def cheaper_frames(limb: Limb, angles: Sequence[Angle]) -> list[Link]:
    """The frames that take fewer operations: one for a geared limb, whose hinges are parallel, else each its own."""
    return own_frames(limb, angles) if limb.gearing is None else one_frame(limb, angles)
