"""Sizes of a robot that follow from its description: how long its torso and legs are, and where a tail is mounted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, sqrt
from tailwork.robots.limb import Limb
from tailwork.robots.quantities import Vector
from tailwork.robots.robot import PlateTorso, Robot
from tailwork.robots.shapes import Shape
from tailwork.robots.tails.tail import Tail

ROUNDING = 9
"""Digits after the point of a mount [m]: hips that are alike on both sides give zeros, which cost no operations."""


@dataclass(frozen=True)
class TorsoSize:
    """How long a torso is, and where it ends."""

    length: float  # along the forward axis [m]
    rear: tuple[float, float, float]  # the middle of its rear end, in the torso frame [m]


def leg_length(limb: Limb) -> Scalar:
    """Length of a limb from its first hinge along its joints to its foot, or else to its tip [m]."""
    end = limb.foot or limb.tip
    if end is None:
        return 0.0
    total, joint = _norm(end.point), limb.joint(end.joint)
    while joint.parent is not None:
        total, joint = total + _norm(joint.offset), limb.joint(joint.parent)
    return total


def mass_without_tails(robot: Robot) -> Scalar:
    """Mass of torso and all limbs but tails [kg]: what the legs carry whichever tail the robot has."""
    masses = robot.masses()
    tails = {name for part, own in robot.parts.items() if isinstance(own, Tail) for name in own.limbs(part)}
    return sum((mass for name, mass in masses.items() if name not in tails), 0.0)


def torso_size(robot: Robot) -> TorsoSize:
    """Length and rear end of a torso.

    The length is that between the foremost and the rearmost hips; where the legs do not say, that of the plate, or of
    a uniform box with the torso's inertia. The rear end is the middle of the rearmost hips, moved back to where the
    torso's plate or its shapes end, if that is farther.
    """
    ahead = "xyz".index(robot.forward)
    hips = [_numbers(place) for place in _hips(robot)]
    along = [place[ahead] for place in hips]
    center, box = _box(robot)
    length = max(along) - min(along) if hips else 0.0
    length = length if length > 0.0 else box
    rear = [min(along)] if hips else []
    if not rear or isinstance(robot.torso, PlateTorso):
        rear.append(center[ahead] - box / 2.0)
    rear += [shape.place[ahead] - _half_width(shape, ahead) for shape in robot.torso_body().shapes]
    last = [place for place in hips if place[ahead] == min(along)] or [center]
    middle = [sum(place[k] for place in last) / len(last) for k in range(3)]
    middle[ahead] = min(rear)
    x, y, z = (round(value, ROUNDING) + 0.0 for value in middle)
    return TorsoSize(length, (x, y, z))


def _hips(robot: Robot) -> Iterator[Vector]:
    """First hinges of all legs, in the torso frame [m]."""
    for limb in robot.limbs().values():
        if limb.foot is not None:
            yield limb.joints[0].offset


def _box(robot: Robot) -> tuple[tuple[float, ...], float]:
    """Centre [m] and length along the forward axis [m] of a torso by itself."""
    body = robot.torso_body()
    if isinstance(robot.torso, PlateTorso):
        return _numbers(body.com), float(robot.torso.length)
    along, *across = (float(body.inertia[k]) for k in ((0, 1, 2) if robot.forward == "x" else (1, 0, 2)))
    return _numbers(body.com), math.sqrt(max(6.0 * (sum(across) - along) / float(body.mass), 0.0))


def _half_width(shape: Shape, axis: int) -> float:
    """How far a shape reaches back from its place along an axis of its body [m]."""
    row, size = shape.rotation[axis], shape.size
    if shape.kind == "mesh":
        return -min(sum(a * x for a, x in zip(row, vertex, strict=True)) for vertex in shape.vertices)
    if shape.kind == "box":
        return sum(abs(a) * x for a, x in zip(row, size, strict=True)) / 2.0
    along = abs(row[2])  # the share of the shape's own axis
    wide = size[0] * (math.sqrt(max(0.0, 1.0 - along * along)) if shape.kind == "cylinder" else 1.0)
    return wide + (along * size[1] / 2.0 if len(size) > 1 else 0.0)


def _norm(vector: Vector) -> Scalar:
    """Length of a vector [m]; of one along an axis without a root of zeros."""
    own = [x for x in vector if not isinstance(x, float) or x != 0.0]
    return sqrt(sum((x * x for x in own), 0.0)) if own else 0.0


def _numbers(vector: Vector) -> tuple[float, ...]:
    return tuple(float(x) for x in vector)
