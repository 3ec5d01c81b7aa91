"""Torso and legs together: what the quadruped without its tail adds to the equations of motion (2020, Sect. 4)."""

from __future__ import annotations

import numpy as np

from tailwork.papers.liu2020.legs import leg_loading, leg_mass_matrix, leg_pose, legs_of
from tailwork.papers.liu2020.torso import TorsoMotion, torso_loading, torso_mass_matrix
from tailwork.papers.spatial import Array
from tailwork.robots.robot import Robot


def loading(robot: Robot, torso: TorsoMotion) -> Array:
    """tau_b + Σ tau_l,i [N, N m], six entries (2018, Eq. 37; 2020, Eq. 3)."""
    loads = [leg_loading(leg, torso, robot.gravity) for leg in legs_of(robot)]
    return torso_loading(robot.torso_body(), torso, robot.gravity) + np.sum(loads, axis=0)


def mass_matrix(robot: Robot, torso: TorsoMotion) -> Array:
    """M_b + Σ M_l,i (6 × 6) [kg, kg m, kg m²] (2018, Eq. 52; 2020, Eq. 80)."""
    masses = [leg_mass_matrix(leg, torso.rotation, torso.position) for leg in legs_of(robot)]
    return torso_mass_matrix(robot.torso_body(), torso.rotation) + np.sum(masses, axis=0)


def actuation_jacobian(robot: Robot, torso: TorsoMotion) -> Array:
    """J_qa (3 rows a leg × 6): rows j_ha, j_hb, j_k of leg 1, then of leg 2, … (2020, Eqs. 68, 69)."""
    return np.vstack([leg_pose(leg, torso.rotation, torso.position).j_joints for leg in legs_of(robot)])
