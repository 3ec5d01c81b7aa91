"""The whole-body model of Liu & Ben-Tzvi 2020: a quadruped on its feet with a pendulum, an R3 tail, a USRT or none.

    inverse_dynamics     Eq. (3), right-hand side
    forward_dynamics     Eqs. (79), (84)
    mass_matrix          Eqs. (80)–(83)
    actuation_matrix     Eqs. (68)–(78)

q = [p, phi_x, phi_y, phi_z, tail], v = [velocity of P, angular velocity, tail rates], both in the inertial frame. Tail
coordinates: ta, tb | alpha, beta_1, beta_2, … | theta_1, phi_1, theta_2, phi_2, …
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import RobotError
from tailwork.papers.liu2020 import pendulum, r3, usrt
from tailwork.papers.liu2020.legs import knee_acceleration, leg_loading, leg_mass_matrix, leg_pose, legs_of
from tailwork.papers.liu2020.torso import torso_at_rest, torso_loading, torso_mass_matrix, torso_motion
from tailwork.papers.spatial import Array, checked
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3, Pendulum, Usrt

_TAILS: dict[type, ModuleType] = {Pendulum: pendulum, R3: r3, Usrt: usrt}
"""The module that formulates each kind of tail; all three have the same functions."""


def tail_of(robot: Robot) -> tuple[Any, ModuleType | None]:
    """The tail of a robot and the module that formulates it; (None, None) without a tail."""
    for name in robot.parts:
        if name not in ("legs", "tail"):
            raise RobotError(name, robot.part(name), "no parts but 'legs' and 'tail' (the papers' robot)")
    if "tail" not in robot.parts:
        return None, None
    tail = robot.part("tail")
    if type(tail) not in _TAILS:
        raise RobotError("tail", tail, "a pendulum, an R3 tail or a USRT, or no tail")
    return tail, _TAILS[type(tail)]


def coordinate_count(robot: Robot) -> int:
    """6 + m, the number of coordinates and of velocities."""
    tail, module = tail_of(robot)
    return 6 + (module.coordinate_count(tail) if module else 0)


def _checked(robot: Robot, **arguments: ArrayLike) -> list[Array]:
    return checked(coordinate_count(robot), "6 of the torso, then the tail's", **arguments)


def inverse_dynamics(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Generalised force [N, N m] of the actuators for a motion: tau_b + Σ tau_l,i + tau_t (Eq. 3); a is v-dot."""
    q, v, a = _checked(robot, q=q, v=v, a=a)
    torso = torso_motion(q, v, a)
    tau = np.zeros(len(q))
    tau[:6] = torso_loading(robot.torso_body(), torso, robot.gravity)
    for leg in legs_of(robot):
        pose = leg_pose(leg, torso.rotation, torso.position)
        tau[:6] += leg_loading(leg, pose, knee_acceleration(leg, pose, torso), torso, robot.gravity)
    tail, module = tail_of(robot)
    if module:
        tau += module.loading(tail, torso, q[6:], v[6:], a[6:], robot.gravity)
    return tau


def bias(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """ID(q, v, 0) [N, N m]: velocity terms, gravity, springs and damping (in Eq. 79)."""
    return inverse_dynamics(robot, q, v, np.zeros(np.shape(v)))


def mass_matrix(robot: Robot, q: ArrayLike) -> Array:
    """M [kg, kg m, kg m²], written directly from the Jacobians (Eqs. 80–83)."""
    (q,) = _checked(robot, q=q)
    torso = torso_at_rest(q)
    mass = np.zeros((len(q), len(q)))
    mass[:6, :6] = torso_mass_matrix(robot.torso_body(), torso.rotation)
    for leg in legs_of(robot):
        mass[:6, :6] += leg_mass_matrix(leg, leg_pose(leg, torso.rotation, torso.position))
    tail, module = tail_of(robot)
    if module:
        mass += module.mass_matrix(tail, torso, q[6:])
    return mass


def mass_matrix_by_columns(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """M [kg, kg m, kg m²], column by column from inverse dynamics (Eq. 84). In exact arithmetic v does not matter."""
    h = bias(robot, q, v)
    columns = [inverse_dynamics(robot, q, v, delta) - h for delta in np.eye(len(h))]
    return np.column_stack(columns)


def forward_dynamics(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
    """Rate of v, [v-dot, omega-dot, tail accelerations] [m/s², rad/s²] (Eqs. 79, 84).

    Args:
        tau: generalised actuator force [N, N m], `actuation_matrix(robot, q) @ efforts`.
    """
    q, v, tau = _checked(robot, q=q, v=v, tau=tau)
    return np.linalg.solve(mass_matrix_by_columns(robot, q, v), tau - bias(robot, q, v))


def actuation_matrix(robot: Robot, q: ArrayLike) -> Array:
    """[J_qaᵀ, J_taᵀ] of Eq. (3): generalised force = matrix @ efforts (Eqs. 68–78).

    Columns: ha, hb, k of legs 1, 2, … [N m], then the tail's actuators: ta, tb [N m] | roll [N m], tension of each
    segment [N] | tensions of cables 1, 2, … [N].
    """
    (q,) = _checked(robot, q=q)
    torso = torso_at_rest(q)
    j_qa = np.vstack([leg_pose(leg, torso.rotation, torso.position).j_joints for leg in legs_of(robot)])
    matrix = np.vstack([j_qa.T, np.zeros((len(q) - 6, len(j_qa)))])
    tail, module = tail_of(robot)
    if module:
        matrix = np.hstack([matrix, module.actuation_jacobian(tail, q[6:]).T])
    return matrix
