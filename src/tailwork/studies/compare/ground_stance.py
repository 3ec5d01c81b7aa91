"""A robot that stands on compliant ground with springs for joints: where it comes to rest, and what its joints bear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.errors import ArgumentError, RobotError, StateError
from tailwork.mechanics.layout import Push
from tailwork.model import Model
from tailwork.robots.robot import Robot
from tailwork.simulation.contact.ground import CompliantGround
from tailwork.simulation.run import Contact
from tailwork.typing import Floats

MOST_ITERATIONS = 50
SMALLEST_MOVE = 1e-13  # rad, m: what is left when a posture counts as found
DIFFERENCE = 1e-6  # rad, m
LARGEST_TURN = 1.0  # rad: joints that give way by more do not bear the robot


@dataclass(frozen=True)
class GroundStance:
    """A robot at rest on flat compliant ground, its feet sticking where they would stand on hard ground."""

    q: Floats  # coordinates of the model with stance "none"
    torques: Floats  # by driven joint, legs in order [N m]
    errors: Floats  # by driven joint: how far it gives way [rad]
    forces: Floats  # (feet, 3) [N]
    contact: Contact


def standing_model(robot: Robot) -> Model:
    """The robot with all feet free, and a push on each of them."""
    return Model(robot, "none", pushes=[Push(name, foot.joint, foot.point) for name, foot in robot.feet().items()])


def standing_contact(model: Model, q: Floats) -> Contact:
    """All feet sticking where they are in a state."""
    places = model.points(q)[model.foot_points]
    return Contact.of_feet(model.layout, [True] * len(places), places)


def ground_stance(model: Model, posture: Floats, kp: float, ground: CompliantGround) -> GroundStance:
    """The rest of a robot whose joints are springs about a posture in which its feet just touch the flat ground.

    Gravity, the joints' springs and the ground's (the anchors are where the feet are in the posture) balance: solved by
    Newton's method. Feet are taken to stick.

    Args:
        model: of `standing_model`.
        posture: q of the undeformed joints.
        kp: stiffness of every joint [N m/rad].
        ground: flat; its springs alone matter.
    """
    if ground.surface is not None:
        raise ArgumentError("ground.surface", ground.surface, "none: flat ground")
    for name, foot in model.robot.feet().items():
        if foot.radius != 0.0:
            raise RobotError(f"{name}.foot.radius", foot.radius, "0: a posture is found for feet that are points")
    feet, contact = model.foot_points, standing_contact(model, posture)
    anchors = contact.anchors[: len(feet)]
    zero = np.zeros(len(model.velocity_names))
    stiffness = np.array([ground.tangential_stiffness, ground.tangential_stiffness, ground.stiffness], dtype=float)

    def missing(q: Floats) -> tuple[Floats, Floats]:
        """(force missing on each velocity, forces on the feet) for states q."""
        forces = -stiffness * (model.points(q)[..., feet, :] - anchors)
        needed = model.generalised_force(q, zero, zero, forces=forces).copy()
        needed[..., 6:] -= kp * (posture - q)[..., 6:]
        return needed, forces

    q = posture.copy()
    for _ in range(MOST_ITERATIONS):
        steps = DIFFERENCE * np.eye(len(q))
        around, _ = missing(np.concatenate([q + steps, q - steps]))
        slopes = (around[: len(q)] - around[len(q) :]).T / (2.0 * DIFFERENCE)
        move = np.linalg.solve(slopes, -missing(q)[0])
        q = q + move
        if np.abs(move).max() < SMALLEST_MOVE:
            break
    else:
        q = np.full(len(q), np.inf)
    if np.abs(q - posture)[3:].max() > LARGEST_TURN:
        raise StateError("posture", "no rest was found nearby: the joints are too soft to bear the robot")
    forces = missing(q)[1]
    if forces[:, 2].min() <= 0.0:
        raise StateError("posture", "a foot would have to pull on the ground")
    needed = float((np.hypot(forces[:, 0], forces[:, 1]) / forces[:, 2]).max())
    if needed > ground.static_friction:
        raise StateError("ground", f"a foot would slip: it needs friction {needed:.3g}")
    return GroundStance(q, kp * (posture - q)[6:], (q - posture)[6:], forces, contact)


@dataclass(frozen=True)
class LeastTorques:
    """The smallest torques that hold a posture, over all ways to share the weight among the feet."""

    torques: Floats  # by driven joint [N m]
    forces: Floats  # (feet, 3) [N]


def least_torques(model: Model, posture: Floats) -> LeastTorques:
    """min |tau|² with tau = h − Jᵀf on the joints and nothing left over on the torso: a quadratic programme with six
    equations, solved within their null space. An answer in which a foot pulls is refused."""
    zero, count = np.zeros(len(posture)), 3 * len(model.layout.pushes)
    none = model.generalised_force(posture, zero, zero, forces=np.zeros(count))
    unit = model.generalised_force(np.tile(posture, (count, 1)), zero, zero, forces=np.eye(count))
    transposed = (none - unit).T  # Jᵀ
    torso, joints = transposed[:6], transposed[6:]
    some = np.linalg.lstsq(torso, none[:6], rcond=None)[0]
    _, _, directions = np.linalg.svd(torso)
    free = directions[6:].T
    forces = some + free @ np.linalg.lstsq(joints @ free, none[6:] - joints @ some, rcond=None)[0]
    found = LeastTorques(none[6:] - joints @ forces, forces.reshape(-1, 3))
    if found.forces[:, 2].min() <= 0.0:
        raise StateError("posture", "the smallest torques would need a foot that pulls")
    return found
