"""Sizes of a robot that follow from its description: how long its torso and legs are, and where a tail is mounted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import vector_length
from tailwork.robots.limb import Limb
from tailwork.robots.quantities import Vector, all_numbers
from tailwork.robots.robot import PlateTorso, Robot
from tailwork.robots.tails.tail import tails_of

ROUNDING = 9
"""Digits after the point of a mount [m]: hips that are alike on both sides give zeros, which cost no operations."""

HEAVIEST, LONGEST, DENSEST = 3.0, 20.0, 2e4
"""Tails that are so many times as heavy as the rest of the robot, or as long as its torso, look like typing errors; so
does a torso of a greater mass than that of a cube of its length of this density, that of gold [kg/m³]."""

BENT = 0.75
"""How far below their hips the feet of a robot stand that does not say how high it stands, as a share of the legs."""


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
    total, joint = vector_length(end.point), limb.joint(end.joint)
    while joint.parent is not None:
        total, joint = total + vector_length(joint.offset), limb.joint(joint.parent)
    return total


def mass_without_tails(robot: Robot) -> Scalar:
    """Mass of torso and all limbs but tails [kg]: what the legs carry whichever tail the robot has."""
    masses = robot.masses()
    tails = {name for part, own in tails_of(robot).items() for name in own.limbs(part)}
    return sum((mass for name, mass in masses.items() if name not in tails), 0.0)


def stand_remedy(robot: Robot) -> str:
    """What to write where a robot does not say how high its torso stands; empty where it does."""
    if any(float(x) != 0.0 for x in robot.stand):
        return ""
    legs = [limb for limb in robot.limbs().values() if limb.foot is not None]
    heights = [limb.foot.place[2] - limb.joints[0].offset[2] + BENT * leg_length(limb) for limb in legs if limb.foot]
    height = f"{max(float(x) for x in heights):.2g}" if heights else "…"
    return f"say where the torso stands: `stand` is at the origin, and could be [0, 0, {height}] (m)"


def size_warnings(robot: Robot) -> list[str]:
    """Tails and torsos of a size that looks like a typing error, such as grams for kilograms, each with what it may
    be."""
    found = []
    body = robot.torso_body()
    if all_numbers(body.mass, *body.com, *body.inertia[:3], *(x for hip in _hips(robot) for x in hip)):
        mass = float(body.mass)
        length = torso_size(robot).length if mass > 0.0 else 0.0
        if mass > DENSEST * length**3 > 0.0:
            said = f"the torso weighs {mass:,.6g} kg and is {length:.3g} m long; masses are in kg"
            found.append(f"{said}: {mass:,.6g} g are {mass / 1e3:.4g}")
    for name, part in tails_of(robot).items():
        sizes = (part.carried_mass(), mass_without_tails(robot), part.total_length(), *part.mount_place(robot.forward))
        if not all_numbers(*sizes) or not (rest := float(sizes[1])) > 0.0:
            continue
        mass, length, torso = float(sizes[0]), float(sizes[2]), torso_size(robot).length
        away = math.hypot(*(float(x) for x in sizes[3:]))
        if mass > HEAVIEST * rest:
            said = f"the {name} weighs {mass:.4g} kg on a robot of {rest:.4g} kg; masses are in kg"
            found.append(f"{said}: {mass:.4g} g are {mass / 1e3:.4g}")
        for said, far in (("long", length), ("from the middle of the torso to its mount", away)):
            if torso > 0.0 and far > LONGEST * torso:
                said = f"the {name} is {far:.4g} m {said}, and the torso is {torso:.3g} m long; lengths are in m"
                found.append(f"{said}: {far:.4g} mm are {far / 1e3:.4g}")
    return found


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
    back = [-float(k == ahead) for k in range(3)]
    rear += [shape.place[ahead] - shape.reach(back) for shape in robot.torso_body().shapes]
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


def _numbers(vector: Vector) -> tuple[float, ...]:
    return tuple(float(x) for x in vector)
