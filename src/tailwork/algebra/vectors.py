"""Three-vectors, rotations and small matrices as NumPy object arrays of scalars (floats or expressions).

Only what is written here is used for vectors in the equations, so that exact zeros disappear in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from tailwork.algebra.expression import Scalar, is_zero, sqrt

Array: TypeAlias = np.ndarray[Any, Any]


def array(values: Any) -> Array:
    """An object array of scalars."""
    return np.array(values, dtype=object)


def zeros(*shape: int) -> Array:
    """An object array of exact zeros."""
    return np.full(shape, 0.0, dtype=object)


def dot(a: Array, b: Array) -> Scalar:
    """Sum of products, zeros left out."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = total + x * y
    return total


def cross(a: Array, b: Array) -> Array:
    """Vector product a × b."""
    return array([
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ])  # fmt: skip


def skew(a: Array) -> Array:
    """The matrix a~ with a~ b = a × b."""
    return array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def times(matrix: Array, other: Array) -> Array:
    """Matrix · vector or matrix · matrix, zeros left out."""
    if other.ndim == 1:
        return array([dot(row, other) for row in matrix])
    return array([[dot(row, column) for column in other.T] for row in matrix])


def rotation(axis: Sequence[float], cosine: Scalar, sine: Scalar) -> Array:
    """Rotation matrix about a unit axis, from the cosine and sine of the angle."""
    x, y, z = (float(a) for a in axis)
    versine = 1.0 - cosine
    outer = [[x * x, x * y, x * z], [x * y, y * y, y * z], [x * z, y * z, z * z]]
    matrix = zeros(3, 3)
    signed = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
    for i in range(3):
        for k in range(3):
            if i == k:
                # Written so that it is exactly the cosine across the axis and exactly one along it.
                matrix[i, k] = 1.0 if outer[i][i] == 1.0 else cosine + versine * outer[i][i]
            else:
                matrix[i, k] = versine * outer[i][k] + sine * signed[i][k]
    return matrix


def vector_length(vector: Sequence[Scalar]) -> Scalar:
    """Length of a vector; of one along an axis without a root of zeros."""
    own = [x for x in vector if not isinstance(x, float) or x != 0.0]
    return sqrt(sum((x * x for x in own), 0.0)) if own else 0.0


def symmetric_matrix(a: Sequence[Scalar]) -> Array:
    """Symmetric matrix from (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz, xy, xz, yz = a
    return array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def congruence(matrix: Array, inner: Array) -> Array:
    """matrix · inner · matrixᵀ for a symmetric inner matrix; only one triangle is computed."""
    half = times(matrix, inner)
    size = len(matrix)
    result = zeros(size, size)
    for i in range(size):
        for k in range(i + 1):
            result[i, k] = result[k, i] = dot(half[i], matrix[k])
    return result


def inverse3(m: Array) -> Array:
    """Inverse of a 3×3 matrix by cofactors."""
    cofactors = array([cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])]).T
    determinant = dot(m[0], cofactors[:, 0])
    return cofactors * (1.0 / determinant)
