"""Forces of cables and springs on a Pinocchio tree, from frames and point Jacobians."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from oracles.layout import Array, skew
from oracles.pinocchio_tree import PinocchioTree, Point
from tailwork.robots.air import Air
from tailwork.robots.limb import Cable
from tailwork.robots.springs import BendingSpring, JointSpring, PointSpring


def cable_force(tree: PinocchioTree, name: str, cable: Cable, tension: float) -> Array:
    """−tension · d(length)/d(angles) [N m] for a tension [N]."""
    holes = [(tree.id(name, hole.joint), np.array(hole.point)) for hole in cable.route]
    gradients = [tree.span(a, b)[1] for a, b in pairwise(holes)]
    return -tension * np.sum(gradients, axis=0)


def spring_force(
    tree: PinocchioTree, name: str, spring: JointSpring | BendingSpring | PointSpring, pin_q: Array, pin_v: Array
) -> Array:
    """Force of a spring and its damper on Pinocchio's v."""
    if isinstance(spring, PointSpring):
        length, gradient = tree.span(*_ends(tree, name, spring))
        return -spring.stiffness * (length - spring.rest_length) * gradient
    force = np.zeros(tree.model.nv)
    if isinstance(spring, JointSpring):
        joint = tree.model.joints[tree.ids[name, spring.joint]]
        stretch = pin_q[joint.idx_q] - spring.rest
        force[joint.idx_v] = spring.preload - spring.stiffness * stretch - spring.damping * pin_v[joint.idx_v]
        return force
    sigma, sine, gradient = _bending(tree, name, spring)
    rows = [tree.model.joints[tree.ids[name, joint]].idx_v for joint in (spring.first, spring.second)]
    blend2 = spring.blend**2
    damping = spring.damping * (np.outer(gradient, gradient) + blend2 * np.eye(2)) / (sine**2 + blend2)
    force[rows] = -spring.stiffness * (sigma / sine if sine > 1e-9 else 1.0) * gradient - damping @ pin_v[rows]
    return force


def spring_energy(
    tree: PinocchioTree, name: str, spring: JointSpring | BendingSpring | PointSpring, pin_q: Array
) -> float:
    """Energy of a spring [J]."""
    if isinstance(spring, PointSpring):
        stretch = tree.span(*_ends(tree, name, spring))[0] - spring.rest_length
    elif isinstance(spring, JointSpring):
        angle = pin_q[tree.model.joints[tree.ids[name, spring.joint]].idx_q]
        return 0.5 * spring.stiffness * (angle - spring.rest) ** 2 - spring.preload * angle
    else:
        stretch = _bending(tree, name, spring)[0]
    return 0.5 * spring.stiffness * stretch**2


def _ends(tree: PinocchioTree, name: str, spring: PointSpring) -> tuple[Point, Point]:
    return (
        (tree.id(name, spring.first), np.array(spring.first_point)),
        (tree.id(name, spring.second), np.array(spring.second_point)),
    )


def _bending(tree: PinocchioTree, name: str, spring: BendingSpring) -> tuple[float, float, Array]:
    """Net bending angle sigma [rad], its sine, and −d(cos sigma)/d(both angles), from the frames themselves.

    The long axis of a link is the one across both hinges; sigma is the angle between the long axes before and after
    the joint.
    """
    limb = tree.layout.limbs[name]
    first, second = limb.joint(spring.first), limb.joint(spring.second)
    across = skew(second.axis) @ first.axis
    before = tree.rotation(tree.id(name, first.parent)) @ np.array(first.rotation)
    middle, after = tree.rotation(tree.ids[name, first.name]), tree.rotation(tree.ids[name, second.name])
    one, two = before @ across, after @ across
    gradient = np.array([-one @ skew(before @ first.axis) @ two, -one @ skew(middle @ second.axis) @ two])
    sine = float(np.linalg.norm(skew(one) @ two))
    return float(np.arctan2(sine, one @ two)), sine, gradient


def drag_forces(tree: PinocchioTree, pin_v: Array) -> Array:
    """Forces of the air on all bodies, for Pinocchio's v, from the velocities of their elements in it."""
    robot, total = tree.layout.robot, np.zeros(tree.model.nv)
    air = robot.air or Air()
    carriers = [(tree.id("torso", None), robot.torso_body())]
    carriers += [
        (tree.ids[name, joint.name], joint.body) for name, limb in tree.layout.limbs.items() for joint in limb.joints
    ]
    for here, body in carriers:
        for element in () if body is None else body.drag:
            jacobian = tree.jacobian(here, element.point)
            u = jacobian @ pin_v - np.array(air.wind)
            if any(element.axis):
                along = tree.rotation(here) @ np.array(element.axis)
                u = u - along * (along @ u)
            total -= jacobian.T @ u * (0.5 * air.density * element.coefficient * element.area * np.linalg.norm(u))
    return total
