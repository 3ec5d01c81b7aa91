"""The state of a tree of bodies in the three kinds of coordinates of Nelson & Quinn, and the maps between them.

True coordinates are angles of joints. Relative quasicoordinates Omega_i are angular velocities of bodies against their
parents, absolute ones omega_i against the inertial frame; both are taken in the frame of their body.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import StateError
from tailwork.papers.nelson_quinn.body_tree import BodyTree
from tailwork.papers.spatial import Array


@dataclass(frozen=True)
class TreeState:
    """A state of the tree; vectors of all M bodies are stacked (subscript G of the paper)."""

    position: Array  # R_1, inertial frame [m]
    velocity: Array  # R_1-dot [m/s]
    rotations: Array  # C_Ni, from the frame of body i to the inertial frame, M × 3 × 3
    rates: Array  # alpha_G-dot, k; the first three are omega_1 where D_1 = 1 [rad/s]
    rate_map: Array  # D, 3M × k
    rate_map_dot: Array  # D-dot [1/s]
    relative: Array  # Omega_G = D alpha_G-dot, relative quasicoordinates, 3M [rad/s]
    absolute: Array  # omega_G = C^R Omega_G, absolute quasicoordinates, 3M [rad/s]

    def omega(self, body: int) -> Array:
        """omega_i, angular velocity of a body in its own frame [rad/s]."""
        return self.absolute[rows_of(body)]


def true_state(tree: BodyTree, q: ArrayLike, q_dot: ArrayLike) -> TreeState:
    """The state with true coordinates q = [R_1, alpha] and their rates, the torso's Euler angles among them."""
    size = 3 + tree.angle_count
    q, q_dot = checked("q", q, size), checked("q_dot", q_dot, size)
    return _state(tree, q[:3], q_dot[:3], q[3:], q_dot[3:], None)


def quasi_state(
    tree: BodyTree,
    *,
    position: ArrayLike,
    rotation: ArrayLike,
    angles: ArrayLike,
    velocity: ArrayLike,
    omega: ArrayLike,
    rates: ArrayLike,
) -> TreeState:
    """The state with the torso in quasicoordinates: any attitude, never singular.

    Args:
        position: R_1, inertial frame [m].
        rotation: C_N1, from the torso frame to the inertial one.
        angles: true coordinates of the joints [rad].
        velocity: R_1-dot, inertial frame [m/s].
        omega: omega_1, in the torso frame [rad/s].
        rates: of the angles [rad/s].
    """
    joints = tree.angle_count - 3
    turned = checked("rotation", np.ravel(rotation), 9).reshape(3, 3)
    if np.abs(turned.T @ turned - np.eye(3)).max() > 1e-9 or np.linalg.det(turned) < 0.0:
        raise StateError("rotation", "is no rotation matrix; required: orthonormal columns, right-handed")
    alpha = np.concatenate([np.zeros(3), checked("angles", angles, joints)])
    alpha_dot = np.concatenate([checked("omega", omega, 3), checked("rates", rates, joints)])
    return _state(tree, checked("position", position, 3), checked("velocity", velocity, 3), alpha, alpha_dot, turned)


def _state(
    tree: BodyTree, position: Array, velocity: Array, alpha: Array, alpha_dot: Array, torso: Array | None
) -> TreeState:
    rotations = attitudes(tree, alpha, torso)
    d, d_dot = rate_map(tree, alpha, alpha_dot)
    if torso is not None:
        d[:3, :3], d_dot[:3, :3] = np.eye(3), 0.0
    relative = d @ alpha_dot
    absolute = relative_map(tree, rotations) @ relative
    return TreeState(position, velocity, rotations, alpha_dot, d, d_dot, relative, absolute)


def checked(argument: str, value: ArrayLike, size: int) -> Array:
    """An argument as an array of so many finite numbers."""
    array = np.asarray(value, dtype=float)
    if array.shape != (size,):
        raise StateError(argument, f"has shape {array.shape}; required: ({size},), see BodyTree.coordinate_names")
    if not np.isfinite(array).all():
        raise StateError(argument, "has entries that are not finite")
    return array


def rows_of(body: int) -> slice:
    """Where a body stands in stacked vectors."""
    return slice(3 * body, 3 * body + 3)


def attitudes(tree: BodyTree, alpha: Array, torso: Array | None = None) -> Array:
    """C_Ni of all bodies, M × 3 × 3, from the true coordinates [rad]; C_N1 = `torso`, if it is given."""
    found: list[Array] = []
    for body in tree.bodies:
        turned = found[body.parent] if found else np.eye(3)
        for rotation in body.rotations:
            turned = turned @ rotation.matrix(alpha[rotation.column])
        found.append(turned if found or torso is None else torso)
    return np.array(found)


def rate_map(tree: BodyTree, alpha: Array, alpha_dot: Array) -> tuple[Array, Array]:
    """D with Omega_G = D alpha_G-dot (Eqs. 43, 44), and D-dot.

    The page with the cockroach's D is lost. A joint of rotations R_1 … R_k about a_1 … a_k has the columns
    D_i = (R_{i+1} … R_k)ᵀ a_i, with D_i-dot = D_i × Σ_{j>i} D_j theta_j-dot.
    """
    d, d_dot = (np.zeros((3 * len(tree.bodies), tree.angle_count)) for _ in range(2))
    for i, body in enumerate(tree.bodies):
        later, later_omega = np.eye(3), np.zeros(3)
        for rotation in reversed(body.rotations):
            column = later.T @ rotation.axis
            d[rows_of(i), rotation.column] = column
            d_dot[rows_of(i), rotation.column] = np.cross(column, later_omega)
            later = rotation.matrix(alpha[rotation.column]) @ later
            later_omega = later_omega + column * alpha_dot[rotation.column]
    return d, d_dot


def relative_map(tree: BodyTree, rotations: Array) -> Array:
    """C^R with omega_G = C^R Omega_G (Eqs. 40, 41): C_ji where i is an ancestor of j, or j itself.

    Eq. (41) is printed for a chain, where every earlier body is an ancestor.
    """
    matrix = np.eye(3 * len(tree.bodies))
    for j in range(len(tree.bodies)):
        for i, _ in tree.path(j):
            matrix[rows_of(j), rows_of(i)] = rotations[j].T @ rotations[i]
    return matrix
