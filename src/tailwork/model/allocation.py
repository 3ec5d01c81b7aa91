"""Which actuators give a generalised force, where there are more of them than needed, or fewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.typing import Floats

SMALL = 1e-12
"""Singular values below this share of the largest count as zero."""
REACHED = 1e-9
"""Largest error of the acceleration, as a share of the accelerations at play, that still counts as reached."""


@dataclass(frozen=True)
class Allocation:
    """Efforts that give a generalised force, and how well. Leading dimensions as those of the arguments."""

    efforts: Floats  # (..., actuators) [N m or N]
    residual: Floats  # (..., velocities): generalised force asked for less that given [N, N m]
    reached: np.ndarray  # (...): whether the acceleration that follows differs by rounding only, and no cable pushes
    condition: Floats  # (...): of the matrix inverted [1], that of all actuators not grouped with cables


@dataclass(frozen=True)
class PullingGroup:
    """Actuators that act on the same coordinates, and which of them are cables, which can only pull."""

    actuators: tuple[int, ...]
    cables: tuple[int, ...]


def minimum_norm(force: Floats, actuation: Floats, pulling: Sequence[PullingGroup]) -> tuple[Floats, Floats]:
    """The smallest efforts that give the force, by the Moore–Penrose inverse (2020, after Eq. 3), and the condition.

    Groups with cables act on coordinates of their own and are found apart: the smallest efforts in which none pushes.

    Args:
        force: (n, velocities).
        actuation: (n, velocities, actuators).
        pulling: groups with cables.
    """
    pulled = {k for group in pulling for k in group.actuators}
    others = [k for k in range(actuation.shape[-1]) if k not in pulled]
    efforts, condition = np.zeros((len(force), actuation.shape[-1])), np.ones(len(force))
    if others and len(force):
        left, singular, right = np.linalg.svd(actuation[..., others], full_matrices=False)
        kept = singular > SMALL * singular[:, :1]
        inverse = np.where(kept, 1.0 / np.where(kept, singular, 1.0), 0.0)
        efforts[:, others] = np.einsum("nki,nk,nk->ni", right, inverse, np.einsum("njk,nj->nk", left, force))
        condition = singular[:, 0] * inverse.max(axis=-1)
    for group in pulling:
        columns = list(group.actuators)
        for row in range(len(force)):
            efforts[row, columns] = _pulls(actuation[row][:, columns], force[row], [k in group.cables for k in columns])
    return efforts, condition


def _pulls(arms: Floats, force: Floats, cable: Sequence[bool]) -> Floats:
    """The smallest efforts, cables' not negative, that come nearest to the force on the coordinates they act on."""
    from scipy.optimize import nnls  # slow to import, and needed for cables only

    acts = np.abs(arms).max(axis=1) > 0
    if not acts.any():
        return np.zeros(arms.shape[1])
    motors = [k for k, is_cable in enumerate(cable) if not is_cable]
    # What may have either sign is the difference of two that may not.
    a, b = np.hstack([arms[acts], -arms[acts][:, motors]]), force[acts]
    # A trace of the efforts' own size is added, so that among equally good ones the smallest are taken ...
    stacked = np.vstack([a, 1e-7 * np.linalg.norm(a) * np.eye(a.shape[1])])
    found = nnls(stacked, np.concatenate([b, np.zeros(a.shape[1])]))[0]
    # ... and taken off again: those that pull are solved for once more without it.
    used = found > 0.0
    exact = np.linalg.pinv(a[:, used], rcond=SMALL) @ b
    if (exact >= 0.0).all():
        found[used] = exact
    efforts = found[: arms.shape[1]]
    efforts[motors] -= found[arms.shape[1] :]
    return efforts


def chosen(force: Floats, actuation: Floats, free: Sequence[int], given: Floats) -> tuple[Floats, Floats]:
    """As many actuators as velocities, solved exactly; the efforts of the others are given (2018, Eqs. 37 and 41).

    Args:
        force: (n, velocities).
        actuation: (n, velocities, actuators).
        free: the actuators to solve for, as many as rows of the force.
        given: (actuators,), the efforts of the others; those of `free` are not read.
    """
    rest = [k for k in range(actuation.shape[-1]) if k not in free]
    square = actuation[..., list(free)]
    left = force - actuation[..., rest] @ given[rest]
    condition = np.linalg.cond(square) if len(force) else np.ones(0)
    efforts = np.tile(given, (len(force), 1))
    regular = condition < 1.0 / SMALL
    # Where the square is singular, the nearest efforts; the residual then says what they miss.
    for rows, inverse in ((regular, np.linalg.inv), (~regular, lambda m: np.linalg.pinv(m, rcond=SMALL))):
        if rows.any():
            found = np.einsum("nij,nj->ni", inverse(square[rows]), left[rows])
            for k, column in enumerate(free):
                efforts[rows, column] = found[:, k]
    return efforts, condition
