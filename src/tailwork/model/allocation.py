"""Which actuators give a generalised force, where there are more of them than needed, or fewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from tailwork.kernels.kernel import Floats

SMALL = 1e-12
"""Singular values below this share of the largest count as zero."""
REACHED = 1e-9
"""Largest residual, as a share of the force asked for, that still counts as reached."""


@dataclass(frozen=True)
class Allocation:
    """Efforts that give a generalised force, and how well. Leading dimensions as asked."""

    efforts: Floats  # (..., actuators)
    residual: Floats  # (..., velocities): generalised force asked for less that given
    condition: Floats  # (...): condition number of the matrix that was inverted

    def reached(self, force: Floats) -> Floats:
        """Whether the residual is rounding only, by state, against the size of the force."""
        scale = np.maximum(np.abs(force).max(axis=-1, initial=0.0), 1e-300)
        return np.abs(self.residual).max(axis=-1, initial=0.0) <= REACHED * scale


def minimum_norm(force: Floats, actuation: Floats, pulling: Sequence[Sequence[int]]) -> Allocation:
    """The smallest efforts that give the force, by the Moore–Penrose inverse (2020, after Eq. 3).

    Efforts that no force on other coordinates shares are found apart: `pulling` lists groups of columns in which some
    actuators can only pull. Their efforts are the smallest of those that are not negative.

    Args:
        force: (n, velocities).
        actuation: (n, velocities, actuators).
        pulling: groups of actuators, each the cables of one limb.
    """
    pulled = sorted({k for group in pulling for k in group})
    others = [k for k in range(actuation.shape[-1]) if k not in pulled]
    efforts = np.zeros((len(force), actuation.shape[-1]))
    matrix = actuation[..., others]
    efforts[:, others] = np.einsum("nij,nj->ni", np.linalg.pinv(matrix, rcond=SMALL), force)
    for row in range(len(force)):
        for group in pulling:
            efforts[row, list(group)] = _pulls(actuation[row][:, list(group)], force[row])
    singular = np.linalg.svd(matrix, compute_uv=False) if others else np.ones((len(force), 1))
    with np.errstate(divide="ignore"):
        kept = np.where(singular > SMALL * singular[:, :1], singular, np.inf)
        condition = singular[:, 0] / kept.min(axis=-1)
    return Allocation(efforts, force - np.einsum("nij,nj->ni", actuation, efforts), condition)


def _pulls(arms: Floats, force: Floats) -> Floats:
    """The smallest non-negative tensions that come nearest to the force on the coordinates they act on."""
    acts = np.abs(arms).max(axis=1) > 0
    a, b = arms[acts], force[acts]
    if not len(b):
        return np.zeros(arms.shape[1])
    # A trace of the tensions' own size is added, so that among equally good ones the smallest are taken.
    weight = 1e-7 * np.linalg.norm(a)
    stacked = np.vstack([a, weight * np.eye(a.shape[1])])
    return nnls(stacked, np.concatenate([b, np.zeros(a.shape[1])]))[0]


def chosen(force: Floats, actuation: Floats, free: Sequence[int], given: Floats) -> Allocation:
    """As many actuators as velocities, solved exactly; the efforts of the others are given (2018, Eqs. 37 and 41).

    Args:
        force: (n, velocities).
        actuation: (n, velocities, actuators).
        free: the actuators to solve for, as many as velocities.
        given: (n, actuators), the efforts of the others; those of `free` are not read.
    """
    rest = [k for k in range(actuation.shape[-1]) if k not in free]
    square = actuation[..., list(free)]
    left = force - np.einsum("nij,nj->ni", actuation[..., rest], given[:, rest])
    condition = np.linalg.cond(square)
    efforts = given.copy()
    regular = condition < 1.0 / SMALL
    efforts[np.ix_(regular, list(free))] = np.linalg.solve(square[regular], left[regular][..., None])[..., 0]
    efforts[np.ix_(~regular, list(free))] = np.einsum(
        "nij,nj->ni", np.linalg.pinv(square[~regular], rcond=SMALL), left[~regular]
    )
    return Allocation(efforts, force - np.einsum("nij,nj->ni", actuation, efforts), condition)
