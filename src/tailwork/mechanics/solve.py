"""Small linear systems, factored once and solved as often as needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tailwork.algebra.expression import Scalar, is_zero
from tailwork.algebra.vectors import Array, array, zeros


class Factored:
    """L D Lᵀ of a symmetric positive definite matrix, without pivoting."""

    def __init__(self, matrix: Array) -> None:
        size = len(matrix)
        self.lower = zeros(size, size)
        self.per_pivot: list[Scalar] = []
        work = zeros(size, size)  # L D
        for i in range(size):
            for k in range(i + 1):
                entry = matrix[i, k]
                for j in range(k):
                    entry = entry - work[i, j] * self.lower[k, j]
                work[i, k] = entry
                if k < i:
                    self.lower[i, k] = entry * self.per_pivot[k]
            self.per_pivot.append(1.0 / work[i, i])

    def forward(self, right: Sequence[Scalar]) -> list[Scalar]:
        """L⁻¹ right."""
        result: list[Scalar] = []
        for i, value in enumerate(right):
            for k in range(i):
                value = value - self.lower[i, k] * result[k]
            result.append(value)
        return result

    def backward(self, right: Sequence[Scalar]) -> list[Scalar]:
        """L⁻ᵀ right."""
        size = len(right)
        result: list[Scalar] = [0.0] * size
        for i in range(size - 1, -1, -1):
            value = right[i]
            for k in range(i + 1, size):
                value = value - self.lower[k, i] * result[k]
            result[i] = value
        return result

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """matrix⁻¹ right."""
        return self.backward([x * p for x, p in zip(self.forward(right), self.per_pivot, strict=True)])


class FactoredLU:
    """L U of a square matrix without pivoting; a pivot that vanishes shows as a result that is not finite."""

    def __init__(self, rows: Iterable[Array]) -> None:
        packed: list[Array] = []  # U above, L below the diagonal, reciprocals of the pivots on it
        for i, given in enumerate(rows):  # row by row, each finished before the next is begun
            row = given.copy()
            for k in range(i):
                if not is_zero(row[k]):
                    row[k] = row[k] * packed[k][k]
                    for j in range(k + 1, len(row)):
                        if not is_zero(packed[k][j]):
                            row[j] = row[j] - row[k] * packed[k][j]
            row[i] = 1.0 / row[i]
            packed.append(row)
        self.packed = array(packed)

    @classmethod
    def from_packed(cls, packed: Array) -> FactoredLU:
        """From the factors of another one."""
        made = cls.__new__(cls)
        made.packed = packed
        return made

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """matrix⁻¹ right."""
        size, packed = len(right), self.packed
        result = list(right)
        # By columns: what a number found changes, at once, so that no sum waits for its last term.
        for k in range(size):
            for i in range(k + 1, size):
                result[i] = result[i] - packed[i, k] * result[k]
        for k in range(size - 1, -1, -1):
            result[k] = result[k] * packed[k, k]
            for i in range(k):
                result[i] = result[i] - packed[i, k] * result[k]
        return result

    def inverse(self) -> Array:
        """The inverse matrix."""
        size = len(self.packed)
        columns = [self.solve([float(i == k) for i in range(size)]) for k in range(size)]
        return array(columns).T
