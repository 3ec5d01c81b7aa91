"""Rotation matrices, the skew matrix, the inertia tensor and checked arguments: the few tools that the equations of
all papers share (2018, 2020, Nelson & Quinn, Biswal & Mohanty).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailwork.errors import StateError

Array: TypeAlias = NDArray[np.floating[Any]]

X_AXIS: Array = np.array([1.0, 0.0, 0.0])
Y_AXIS: Array = np.array([0.0, 1.0, 0.0])
Z_AXIS: Array = np.array([0.0, 0.0, 1.0])


def rotation_x(angle: float) -> Array:
    """Rotation by an angle [rad] about x, R_x."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> Array:
    """Rotation by an angle [rad] about y, R_y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> Array:
    """Rotation by an angle [rad] about z, R_z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def skew(vector: Array) -> Array:
    """The matrix that the papers mark with a tilde: skew(a) b = a × b."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def tensor(inertia: Sequence[float]) -> Array:
    """A symmetric 3×3 tensor from (xx, yy, zz, xy, xz, yz), e.g. an inertia [kg m²]."""
    xx, yy, zz, xy, xz, yz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def unit_row(size: int, index: int) -> Array:
    """The trivial Jacobian u_{size, index}ᵀ of one coordinate, 1 × size (2020, Sect. 3.2.2); index from 0."""
    row = np.zeros((1, size))
    row[0, index] = 1.0
    return row


def checked(size: int, meaning: str, **arguments: ArrayLike) -> list[Array]:
    """Arguments as arrays of `size` finite numbers each; `meaning` says in errors what these are."""
    arrays = []
    for name, value in arguments.items():
        array = np.asarray(value, dtype=float)
        if array.shape != (size,):
            raise StateError(name, f"has shape {array.shape}; required: ({size},), {meaning}")
        if not np.isfinite(array).all():
            raise StateError(name, f"has entries that are not finite; required: {meaning}")
        arrays.append(array)
    return arrays
