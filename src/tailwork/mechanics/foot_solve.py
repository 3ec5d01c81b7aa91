"""Angles of legs without a closed form, by numbers: damped Gauss–Newton steps, each the smallest change that does.

From the error e of the foot, dq = Jᵀ (J Jᵀ + damping)⁻¹ e.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from tailwork.algebra.columns import columns, stacked
from tailwork.algebra.vectors import array, times, zeros
from tailwork.errors import RobotError
from tailwork.mechanics.kinematics import joint_frames
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.torso import limb_state, torso_state
from tailwork.robots.limb import IDENTITY, Foot, Limb
from tailwork.typing import Floats

REACHED = 1e-11
"""A foot this near to its place, as a share of the leg's length, is there."""
MOST_STEPS, MOST_STARTS = 200, 8
NO_SQUARE = 1e-30  # [m²]
LEAST_STEP, LARGEST_STEP = 1e-14, 0.5  # [rad]
DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-14, 1e6  # as shares of the mean square of the Jacobian


def solved_angles(limb: Limb, foot: Floats, start: Floats) -> tuple[Floats, float]:
    """Coordinates [rad] that bring the foot to a place in the torso frame [m], near a start; what is missing [m]."""
    best, missing = iterated_angles(limb, foot, start)
    chance = np.random.default_rng(0)  # a straight leg is a dead point; from elsewhere there may be a way
    for _ in range(MOST_STARTS):
        if missing <= REACHED * way_length(limb):
            break
        found = iterated_angles(limb, foot, start + chance.uniform(-1.0, 1.0, len(start)))
        best, missing = found if found[1] < missing else (best, missing)
    return best, missing


def iterated_angles(limb: Limb, foot: Floats, start: Floats, moves: Floats | None = None) -> tuple[Floats, float]:
    """Coordinates [rad] that bring the foot as near to a place [m] as steps from the start do, and what is missing [m].

    Only the combinations of coordinates `moves`, (coordinates, n), change; all by default.
    """
    moves = np.eye(len(start)) if moves is None else moves
    q, damping = start, DAMPING
    place, jacobian = foot_and_jacobian(limb, q)
    error = foot - place
    for _ in range(MOST_STEPS):
        ways = jacobian @ moves
        square = ways @ ways.T
        loaded = square + np.eye(3) * max(damping * np.trace(square) / 3.0, NO_SQUARE)
        step = moves @ (ways.T @ np.linalg.solve(loaded, error))
        step *= min(1.0, LARGEST_STEP / max(np.abs(step).max(), LARGEST_STEP))
        place, ahead = foot_and_jacobian(limb, q + step)
        if np.linalg.norm(foot - place) < np.linalg.norm(error):
            q, jacobian, error, damping = q + step, ahead, foot - place, max(damping * 0.1, LEAST_DAMPING)
        elif damping > MOST_DAMPING or np.abs(step).max() < LEAST_STEP:
            break
        else:
            damping *= 100.0
    return q, float(np.linalg.norm(error))


def way_to_foot(limb: Limb) -> list[int]:
    """Hinges from the torso to the foot."""
    way = [limb.index(foot_of(limb).joint)]
    while (parent := limb.joints[way[0]].parent) is not None:
        way.insert(0, limb.index(parent))
    return way


def way_length(limb: Limb) -> float:
    """From the torso's point P along the limb to the foot [m]."""
    pieces = [limb.joints[k].offset for k in way_to_foot(limb)]
    return sum(math.dist((0.0, 0.0, 0.0), piece) for piece in (*pieces, foot_of(limb).point))


def foot_and_jacobian(limb: Limb, coordinates: Floats) -> tuple[Floats, Floats]:
    """Place of the foot, and its derivatives by the coordinates."""
    lead, end = coordinates.shape[:-1], foot_of(limb)
    values = columns(coordinates) if lead else coordinates.tolist()
    state = limb_state(limb, values, [0.0] * len(values))
    frames = joint_frames(limb, state.angles, zeros(3), array(IDENTITY))
    last = frames[limb.index(end.joint)]
    foot = last.place + times(last.rotation, array(end.point))
    way = way_to_foot(limb)
    arms = array([frames[k].arm(foot) for k in way])  # joints × 3
    return stacked(foot, lead), stacked(times(arms.T, state.gearing[way]), lead)


def foot_of(limb: Limb) -> Foot:
    """The limb's foot."""
    if limb.foot is None:
        raise RobotError("limb", [joint.name for joint in limb.joints], "a limb with a foot")
    return limb.foot


def _order(limb: Limb) -> list[int]:
    """By joint of a limb that is not geared: the number of its coordinate."""
    return [limb.coordinates.index(joint.name) for joint in limb.joints]


def with_dependent(layout: Layout) -> Layout:
    """A layout in which each stance leg without a closed form, or of more than three hinges, says which three of its
    joints depend on the others.

    They are those that move the foot in the most different directions, where the robot stands.
    """
    riding = []
    for name in layout.stance:
        limb = layout.limbs[name]
        best = (0, 1, 2)
        if len(limb.joints) == 3 and limb.closed_form is not None:
            continue
        if len(limb.joints) > 3:
            place = np.array(foot_of(limb).place, dtype=float) - np.array(layout.robot.stand, dtype=float)
            start = [float(limb.foot_angles.get(coordinate, 0.0)) for coordinate in limb.coordinates]
            angles, _ = solved_angles(limb, place, np.array(start))
            jacobian = foot_and_jacobian(limb, angles)[1][:, _order(limb)]
            best = max(combinations(range(len(limb.joints)), 3), key=lambda k: abs(np.linalg.det(jacobian[:, k])))
        riding.append((name, tuple(best)))
    return replace(layout, riding=tuple(riding))


def closed(layout: Layout, q: Floats) -> Floats:
    """A configuration whose stance legs without a closed form are solved, from the angles that are there.

    Joints that do not depend on others stay, where the foot can be reached so.

    Raises:
        RobotError: a foot is out of reach.
    """
    result = q.copy()
    torso = torso_state(layout, q.tolist(), [0.0] * len(layout.velocity_names))
    for name, joints in layout.dependent.items():
        limb, here, order = layout.limbs[name], layout.coordinates[name], _order(layout.limbs[name])
        start, foot = np.zeros(len(order)), np.array(torso.feet[name], dtype=float)
        start[order] = q[here]
        moves = np.eye(len(order))[:, [order[k] for k in joints]]
        angles, missing = iterated_angles(limb, foot, start, moves)
        if missing > REACHED * way_length(limb):
            angles, missing = solved_angles(limb, foot, start)
        if missing > REACHED * way_length(limb):
            shown = ", ".join(f"{x:.4g}" for x in foot_of(limb).place)
            raise RobotError(f"{name}.foot", f"({shown}) m", f"a place in reach; this one is {missing:.3g} m out of it")
        result[here] = angles[order]
    return result
