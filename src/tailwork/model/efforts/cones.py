"""The convex program of one state: the rules as rows and cones, and the solver."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from tailwork.model.efforts.rules import Rules
from tailwork.typing import Floats

HELD = 1e-9
"""Largest violation of a constraint, as a share of the efforts or foot forces at play, that still counts as none."""
FIXED = 1e-8
"""Efforts and normal forces that a step of one in the null space changes by less than this share are fixed."""


@dataclass(frozen=True)
class ScaledState:
    """One state of a batch, scaled: efforts = (base + span · y)/lift, foot forces = size · (ground + reach · y)."""

    base: Floats  # (actuators,), the efforts of least norm
    span: Floats  # (actuators, unknowns), orthonormal columns orthogonal to the base
    lift: Floats  # (actuators,)
    ground: Floats  # (feet, 3)
    reach: Floats  # (feet, 3, unknowns)
    size: float  # [N]


class ConeRows(NamedTuple):
    """bound − matrix · y is not negative in the first `linear` rows and lies in a cone in each three that follow."""

    matrix: Floats
    bound: Floats
    linear: int
    owner: np.ndarray  # which constraint each linear row belongs to, in the order of `constraint_names`


def rows_of(state: ScaledState, rules: Rules) -> ConeRows:
    """The rules as rows: limits and tensions, normal forces, then a cone for each foot."""
    m, feet = len(state.base), np.arange(len(state.ground))
    up, low = np.flatnonzero(np.isfinite(rules.upper)), np.flatnonzero(np.isfinite(rules.lower))
    pushing = feet if isfinite(rules.least) else feet[:0]
    matrix = [state.span[up], -state.span[low], -state.reach[pushing, 2]]
    bound = [
        rules.upper[up] * state.lift[up] - state.base[up],
        state.base[low] - rules.lower[low] * state.lift[low],
        state.ground[pushing, 2] - rules.least / state.size if len(pushing) else np.zeros(0),
    ]
    owner = np.concatenate([up, np.where(rules.cable[low], m + low, low), 2 * m + pushing])
    flat, level = np.vstack(matrix), np.concatenate(bound)
    # What the unknowns have no part in and is kept is left out, so that an effort at its bound takes no room.
    matters = (np.abs(flat).max(axis=1, initial=0.0) > FIXED) | (level < -HELD)
    matrix, bound, owner = [flat[matters]], [level[matters]], owner[matters]
    if isfinite(rules.friction):
        axes = np.array([rules.friction, 1.0, 1.0]) / max(rules.friction, 1.0)
        for foot in feet:
            matrix.append(-axes[:, None] * state.reach[foot][[2, 0, 1]])
            bound.append(axes * state.ground[foot][[2, 0, 1]])
    return ConeRows(np.vstack(matrix), np.concatenate(bound), len(owner), owner)


def solve_cone(square: Floats, slope: Floats, rows: ConeRows) -> tuple[Floats, Floats]:
    """Minimise ½ Σ square y² + slope · y within the rows: y, and the multipliers of the rows."""
    import clarabel  # slow to import, and needed here only
    from scipy.sparse import csc_matrix

    solver: Any = clarabel  # compiled, without types
    settings = solver.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    # Tolerances at which the solver does not stall yet; regularised less than usual, for the scaling is good.
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.static_regularization_constant = 1e-13
    cones = [solver.NonnegativeConeT(rows.linear)] if rows.linear else []
    cones += [solver.SecondOrderConeT(3)] * ((len(rows.bound) - rows.linear) // 3)
    objective, matrix = csc_matrix(np.diag(square)), csc_matrix(rows.matrix)
    found = solver.DefaultSolver(objective, slope, matrix, rows.bound, cones, settings).solve()
    return np.array(found.x), np.array(found.z)


def heads(rows: ConeRows) -> Floats:
    """One for linear rows and the first row of each cone, zero for the others: loosening a constraint adds to these."""
    heads = np.ones(len(rows.bound))
    heads[rows.linear + 1 :: 3] = heads[rows.linear + 2 :: 3] = 0.0
    return heads


def shortfall(rows: ConeRows) -> tuple[float, Floats]:
    """How much all constraints must be loosened to hold together (negative: tightened, by one at most).

    With it the multipliers. Where it is positive they are a certificate: the constraints added up with these factors
    contradict themselves. They sum to one.
    """
    count = rows.matrix.shape[1]
    matrix = np.vstack([np.append(np.zeros(count), -1.0), np.column_stack([rows.matrix, -heads(rows)])])
    slope = np.append(np.zeros(count), 1.0)
    loose = ConeRows(matrix, np.append(1.0, rows.bound), rows.linear + 1, rows.owner)
    y, multipliers = solve_cone(np.zeros(count + 1), slope, loose)
    return float(y[-1]), multipliers[1:]


def polished(rows: ConeRows, y: Floats, multipliers: Floats) -> Floats | None:
    """Newton's method on the constraints that are active: the solver's answer to rounding, or None if that fails."""
    left = rows.bound - rows.matrix @ y
    fixed = [k for k in range(rows.linear) if multipliers[k] > left[k]]
    bent: list[int] = []
    weights: list[float] = []
    for k in range(rows.linear, len(left), 3):
        if multipliers[k] - np.hypot(*multipliers[k + 1 : k + 3]) > left[k]:
            fixed += [k, k + 1, k + 2]  # at the tip of the cone
        elif multipliers[k] > left[k] - np.hypot(*left[k + 1 : k + 3]):
            bent.append(k)
            weights.append(float(multipliers[k]))
    new = y.copy()
    for _ in range(10):
        left = rows.bound - rows.matrix @ new
        hessian, slopes, values = np.eye(len(y)), [-rows.matrix[fixed]], [left[fixed]]
        for k, weight in zip(bent, weights, strict=True):
            across, turning = left[k + 1 : k + 3], rows.matrix[k + 1 : k + 3]
            length = np.hypot(*across)
            if not length > 0.0:
                return None
            along = across / length
            slopes.append((-rows.matrix[k] + along @ turning)[None])
            values.append(np.array([left[k] - length]))
            hessian += weight / length * turning.T @ (np.eye(2) - np.outer(along, along)) @ turning
        slope, value = np.vstack(slopes), np.concatenate(values)
        whole = np.block([[hessian, -slope.T], [slope, np.zeros((len(value), len(value)))]])
        step = np.linalg.lstsq(whole, np.concatenate([-new, -value]), rcond=1e-13)[0]
        new = new + step[: len(y)]
        weights = list(step[len(step) - len(bent) :])
        if not np.abs(step[: len(y)]).max() > 1e-15:
            break
    same = np.abs(new - y).max() < 1e-3 and new @ new <= y @ y + 1e-9
    return new if same else None
