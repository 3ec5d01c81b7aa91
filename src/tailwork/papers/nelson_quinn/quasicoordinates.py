"""The quasicoordinate formulation of Nelson & Quinn for trees of rigid bodies, such as a cockroach.

    true_state, quasi_state   Eqs. (40)–(44)        a state in all three kinds of coordinates
    phi, phi_dot              Eqs. (9), (22), (33)  velocities of points by absolute quasicoordinates
    quasi_mass_matrix         Eqs. (29), (34)       equations of motion in absolute quasicoordinates
    quasi_bias                Eqs. (29), (35), (39)
    mass_matrix, bias         Eqs. (46)–(50)        equations of motion in true coordinates
    point_force               not printed           forces on feet
    forward_dynamics          Eq. (48)

Of the torso, omega_1 may stand for the rates of its Euler angles (`quasi_state`): then D_1 = 1, and no attitude of the
torso is singular. True coordinates are angles of joints. Relative quasicoordinates Omega_i are angular velocities of
bodies against their parents, absolute ones omega_i against the inertial frame; both are taken in the frame of their
body. Robots become trees by `body_tree.tree_of`. Misprints are put right where a docstring says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import StateError
from tailwork.papers.nelson_quinn.body_tree import BodyPoint, BodyTree
from tailwork.papers.spatial import Array, checked, skew

NAMES = "see BodyTree.coordinate_names"
SINGULAR = 1e-6
"""A joint is refused where its axes span less than this; those of Euler angles span |cos beta|. Of 16 digits of an
acceleration, 12 would be lost there."""


# The state in the three kinds of coordinates


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
    q, q_dot = checked(size, NAMES, q=q, q_dot=q_dot)
    return _state(tree, q[:3], q_dot[:3], q[3:], q_dot[3:], None)


def quasi_state(
    tree: BodyTree, *, position: ArrayLike, rotation: ArrayLike, angles: ArrayLike, velocity: ArrayLike,
    omega: ArrayLike, rates: ArrayLike,
) -> TreeState:  # fmt: skip
    """The state with the torso in quasicoordinates: any attitude, never singular.

    R_1 [m] and R_1-dot [m/s] in the inertial frame, C_N1 from the torso frame to that one, omega_1 in the torso frame
    [rad/s], then true coordinates of the joints [rad] and their rates [rad/s].
    """
    joints = tree.angle_count - 3
    turned = checked(9, "a 3 × 3 matrix", rotation=np.ravel(rotation))[0].reshape(3, 3)
    if np.abs(turned.T @ turned - np.eye(3)).max() > 1e-9 or np.linalg.det(turned) < 0.0:
        raise StateError("rotation", "is no rotation matrix; required: orthonormal columns, right-handed")
    angles, rates = checked(joints, NAMES, angles=angles, rates=rates)
    position, velocity, omega = checked(3, "along x, y, z", position=position, velocity=velocity, omega=omega)
    alpha, alpha_dot = np.concatenate([np.zeros(3), angles]), np.concatenate([omega, rates])
    return _state(tree, position, velocity, alpha, alpha_dot, turned)


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


# Absolute quasicoordinates


def _arms(tree: BodyTree, points: Array) -> Iterator[tuple[int, int, Array]]:
    """(j, i, arm): body i carries the point of body j along this arm, in the frame of i [m] (Eq. 5).

    The arm of j itself is rho_j, its row of `points`; that of an ancestor is L, toward the child on the way to j.
    """
    for j, point in enumerate(points):
        yield j, j, point
        for i, child in tree.path(j):
            yield j, i, tree.bodies[child].offset


def phi(tree: BodyTree, state: TreeState, points: Array) -> Array:
    """Phi (Eq. 9), 3M × 3M [m]: velocities of one point rho_i of every body are I_V R_1-dot + Phi omega_G (Eq. 10).

    Eq. (9) is printed for a chain. In a tree, Phi_ji = C_Ni L~ᵀ for strict ancestors i of j only.
    """
    matrix = np.zeros((3 * len(tree.bodies),) * 2)
    for j, i, arm in _arms(tree, points):
        matrix[rows_of(j), rows_of(i)] = state.rotations[i] @ skew(arm).T
    return matrix


def phi_dot(tree: BodyTree, state: TreeState, points: Array) -> Array:
    """Phi-dot (Eq. 22, where the dot is lost in print), 3M × 3M [m/s]."""
    matrix = np.zeros((3 * len(tree.bodies),) * 2)
    for j, i, arm in _arms(tree, points):
        matrix[rows_of(j), rows_of(i)] = state.rotations[i] @ skew(state.omega(i)) @ skew(arm).T
    return matrix


def phi_bar(tree: BodyTree, state: TreeState) -> Array:
    """Phi-bar = C-bar L_G~ᵀ + C^D S_G~ᵀ (Eq. 33): Phi for the centres of mass, rho_i = S_i."""
    return phi(tree, state, tree.coms)


def phi_bar_dot(tree: BodyTree, state: TreeState) -> Array:
    """Phi-bar-dot (in Eq. 35), for the centres of mass."""
    return phi_dot(tree, state, tree.coms)


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    """A matrix of 3 × 3 blocks on its diagonal, as omega_G~ (Eq. 23) and I_G (Eq. 36)."""
    matrix = np.zeros((3 * len(blocks),) * 2)
    for i, block in enumerate(blocks):
        matrix[rows_of(i), rows_of(i)] = block
    return matrix


def spin(tree: BodyTree, state: TreeState) -> Array:
    """omega_G~ (Eq. 23), 3M × 3M [rad/s]."""
    return _block_diagonal([skew(state.omega(i)) for i in range(len(tree.bodies))])


def central_inertia(tree: BodyTree) -> Array:
    """I*_G (Eq. 36), 3M × 3M [kg m²].

    The paper subtracts the masses' share (+ S~S~m) from moments about the frames' origins (Eq. 32). The description
    of a body has the moments about its centre of mass, which are the difference.
    """
    return _block_diagonal([body.inertia for body in tree.bodies])


def stacked_unit(tree: BodyTree) -> Array:
    """I_V (Eq. 28, where the transpose is misplaced in print), 3M × 3: M unit matrices above each other."""
    return np.tile(np.eye(3), (len(tree.bodies), 1))


def quasi_mass_matrix(tree: BodyTree, state: TreeState) -> Array:
    """Inertia matrix for [R_1-ddot, omega_G-dot] (Eqs. 29, 33, 34), (3 + 3M)² [kg, kg m, kg m²].

    Eq. (29) prints its first column alone; right are 2 × 2 blocks, as in Eq. (48).
    """
    i_v, m, bar = stacked_unit(tree), tree.masses[:, None], phi_bar(tree, state)
    coupling = i_v.T @ (m * bar)
    return np.block([[i_v.T @ (m * i_v), coupling], [coupling.T, bar.T @ (m * bar) + central_inertia(tree)]])


def gravity(tree: BodyTree, state: TreeState) -> Array:
    """Generalised force of gravity on [R_1-dot, omega_G] [N, N m], the potential's derivatives of Eqs. (38), (39)
    with the other sign."""
    weights = tree.masses * (stacked_unit(tree) @ _gravity_vector(tree))
    return np.concatenate([stacked_unit(tree).T @ weights, phi_bar(tree, state).T @ weights])


def _gravity_vector(tree: BodyTree) -> Array:
    """g in the inertial frame [m/s²]."""
    return np.array([0.0, 0.0, -tree.gravity])


def quasi_bias(tree: BodyTree, state: TreeState) -> Array:
    """Velocity and gravity terms for [R_1-ddot, omega_G-dot] (Eqs. 29, 35, 39), 3 + 3M [N, N m].

    Eq. (35) equates matrices; it holds only after multiplication by omega_G, as here.
    """
    omega, bar = state.absolute, phi_bar(tree, state)
    centrifugal = tree.masses * (phi_bar_dot(tree, state) @ omega)
    turning = bar.T @ centrifugal + spin(tree, state) @ central_inertia(tree) @ omega
    return np.concatenate([stacked_unit(tree).T @ centrifugal, turning]) - gravity(tree, state)


def kinetic_energy(tree: BodyTree, state: TreeState) -> float:
    """T [J] (Eqs. 14, 33, 34)."""
    speeds = np.concatenate([state.velocity, state.absolute])
    return 0.5 * float(speeds @ quasi_mass_matrix(tree, state) @ speeds)


def potential_energy(tree: BodyTree, state: TreeState) -> float:
    """V of gravity [J], zero at z = 0 (Eq. 37)."""
    places = stacked_unit(tree) @ state.position
    for j, i, arm in _arms(tree, tree.coms):
        places[rows_of(j)] += state.rotations[i] @ arm
    return -float((tree.masses * (stacked_unit(tree) @ _gravity_vector(tree))) @ places)


# True coordinates


def true_map(tree: BodyTree, state: TreeState) -> Array:
    """C^R-bar D-bar (Eq. 47), (3 + 3M) × (3 + k): [R_1-dot, omega_G] from the rates of true coordinates.

    Its transpose takes equations and forces the other way (Eqs. 42, 45, 46).

    Raises:
        StateError: the rotations of a joint, or of the torso, are singular.
    """
    _refuse_singular(tree, state)
    angular = relative_map(tree, state.rotations) @ state.rate_map
    return np.block([[np.eye(3), np.zeros((3, tree.angle_count))], [np.zeros((len(angular), 3)), angular]])


def _refuse_singular(tree: BodyTree, state: TreeState) -> None:
    """Where D is singular, its transpose drops an equation: true coordinates cannot tell how the body turns."""
    for i, body in enumerate(tree.bodies):
        d = state.rate_map[rows_of(i), body.columns]
        if np.linalg.det(d.T @ d) < SINGULAR**2:
            names = ", ".join(tree.coordinate_names[3 + column] for column in body.columns)
            remedy = "choose another sequence of rotations for this joint, or stay away from here"
            if i == 0:
                remedy = "take quasi_state, which needs no Euler angles, or Model(..., attitude='quaternion')"
            raise StateError(
                "q",
                f"the rotations of {body.name} ({names}) are singular here: two of their axes have become parallel or "
                f"all lie in one plane, as those of Euler angles do where the middle one is ±90°; {remedy}",
            )


def quasi_drift(tree: BodyTree, state: TreeState) -> Array:
    """C^R xi, 3M [rad/s²]: omega_G-dot where the true coordinates do not accelerate.

    xi = omega_G~ Omega_G + D-dot alpha_G-dot (Eq. 50, where the tilde reads as a bar).
    """
    xi = spin(tree, state) @ state.relative + state.rate_map_dot @ state.rates
    return relative_map(tree, state.rotations) @ xi


def mass_matrix(tree: BodyTree, state: TreeState) -> Array:
    """Inertia matrix for the accelerations of true coordinates (left of Eq. 48), (3 + k)²."""
    to_quasi = true_map(tree, state)
    return to_quasi.T @ quasi_mass_matrix(tree, state) @ to_quasi


def bias(tree: BodyTree, state: TreeState) -> Array:
    """Velocity and gravity terms in true coordinates, 3 + k [N, N m] (Eqs. 49, 50; bars over Phi are lost in print).

    mass_matrix · accelerations + bias = [F, tau_G].
    """
    omega, bar, i_star = state.absolute, phi_bar(tree, state), central_inertia(tree)
    drift = quasi_drift(tree, state)
    gamma = phi_bar_dot(tree, state) @ omega + bar @ drift - stacked_unit(tree) @ _gravity_vector(tree)
    pushed = tree.masses * gamma
    turning = bar.T @ pushed + spin(tree, state) @ i_star @ omega + i_star @ drift
    return true_map(tree, state).T @ np.concatenate([stacked_unit(tree).T @ pushed, turning])


def _point_rows(tree: BodyTree, state: TreeState, at: BodyPoint) -> tuple[Array, Array]:
    """Rows of Phi and of Phi-dot for one point, 3 × 3M."""
    points = tree.coms
    points[at.body] = at.point
    return phi(tree, state, points)[rows_of(at.body)], phi_dot(tree, state, points)[rows_of(at.body)]


def point_jacobian(tree: BodyTree, state: TreeState, at: BodyPoint) -> Array:
    """[1, Phi_foot] C^R-bar D-bar, 3 × (3 + k): velocity of a point from the rates of true coordinates."""
    return np.hstack([np.eye(3), _point_rows(tree, state, at)[0]]) @ true_map(tree, state)


def point_drift(tree: BodyTree, state: TreeState, at: BodyPoint) -> Array:
    """Acceleration of a point [m/s²] where the true coordinates do not accelerate: its row of Gamma, without g."""
    row, row_dot = _point_rows(tree, state, at)
    return row_dot @ state.absolute + row @ quasi_drift(tree, state)


def point_force(tree: BodyTree, state: TreeState, at: BodyPoint, force: ArrayLike) -> Array:
    """[F, tau_G] of a force f [N] on a point, inertial frame: F = f, tau_G = Dᵀ C^Rᵀ Phi_footᵀ f. Not printed."""
    return point_jacobian(tree, state, at).T @ checked(3, "along x, y, z", force=force)[0]


def forward_dynamics(
    tree: BodyTree, state: TreeState, torques: ArrayLike, forces: Sequence[tuple[BodyPoint, ArrayLike]] = ()
) -> Array:
    """Accelerations [R_1-ddot, alpha_G-ddot] [m/s², rad/s²] (Eq. 48).

    After `quasi_state`, omega_1-dot, in the torso frame, stands for the Euler angles' accelerations. Torques are those
    of the joints [N m], in the order of their coordinates; forces, as on feet, are in the inertial frame [N].
    """
    acting = np.concatenate([np.zeros(6), *checked(tree.angle_count - 3, NAMES, torques=torques)])
    for at, force in forces:
        acting += point_force(tree, state, at, force)
    matrix = mass_matrix(tree, state)
    # In units of like size: masses and moments of inertia of an insect are many orders of magnitude apart.
    unit = 1.0 / np.sqrt(np.diag(matrix))
    return unit * np.linalg.solve(matrix * np.outer(unit, unit), unit * (acting - bias(tree, state)))
