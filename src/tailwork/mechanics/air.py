"""Drag of the air on bodies: ½ density · C_d · area · |u| u of every element, against its velocity u in the air."""

from __future__ import annotations

from collections.abc import Sequence

from tailwork.algebra.expression import Scalar, sqrt
from tailwork.algebra.vectors import Array, array, cross, dot, times
from tailwork.mechanics.frames import Link
from tailwork.mechanics.sweeps import NO_WRENCH, Wrench, link_velocities
from tailwork.robots.air import Air, Drag
from tailwork.robots.limb import IDENTITY, Limb
from tailwork.robots.robot import Robot

STILL = 1e-9
"""Speed below which drag goes over to one in proportion to it, so that it has derivatives at rest [m/s]."""
STANDARD = Air()


def air_of(robot: Robot) -> Air:
    """The air around a robot: its own, or still air of standard density."""
    return robot.air or STANDARD


def has_drag(limb: Limb) -> bool:
    """Whether the air drags on any body of a limb."""
    return any(joint.body is not None and joint.body.drag for joint in limb.joints)


def drag_on(
    elements: Sequence[Drag], velocity: Array, omega: Array, density: Scalar, orientation: Array | None = None
) -> Wrench:
    """Wrench of the air about the origin of a frame that moves so against it, on elements of a body in that frame or
    in one of an orientation in it."""
    total = NO_WRENCH
    turn = array(IDENTITY) if orientation is None else orientation
    for element in elements:
        point = times(turn, array(element.point))
        u = velocity + cross(omega, point)
        if any(element.axis):
            axis = times(turn, array(element.axis))
            u = u - axis * dot(axis, u)
        speed = sqrt(dot(u, u) + STILL * STILL)
        force = u * (speed * (density * element.coefficient * element.area) * -0.5)
        total = total + Wrench(force, cross(point, force))
    return total


def limb_drag(
    limb: Limb, links: Sequence[Link], rates: Sequence[Scalar], velocity: Array, omega: Array, density: Scalar
) -> list[Wrench]:
    """By body of a limb: wrench of the air about its joint, in its link's frame, from the torso's velocity against the
    air and its angular velocity, torso frame."""
    seen = link_velocities(links, rates, velocity, omega)
    return [
        drag_on(joint.body.drag, *moving, density, link.orientation) if joint.body is not None else NO_WRENCH
        for joint, link, moving in zip(limb.joints, links, seen, strict=True)
    ]
