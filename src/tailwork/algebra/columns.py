"""Many numbers that equations take for one: the same formulas then compute for all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tailwork.typing import Floats


class Column:
    """An array that counts as one scalar: in descriptions, in the vectors of the algebra, in any equation."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values: Floats = np.asarray(values, dtype=np.float64)

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # a vector of scalars: its items are asked one by one
        return Column(operation(self.values, other.values if isinstance(other, Column) else other))

    def __add__(self, other: Any) -> Any:
        return self._with(other, np.add)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self._with(other, np.multiply)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, np.subtract)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda own, first: first - own)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, np.divide)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda own, first: first / own)

    def __neg__(self) -> Column:
        return Column(-self.values)

    def __abs__(self) -> Column:
        return Column(np.abs(self.values))

    def sqrt(self) -> Column:
        """Square roots."""
        return Column(np.sqrt(self.values))

    def sin(self) -> Column:
        """Sines of angles [rad]."""
        return Column(np.sin(self.values))

    def cos(self) -> Column:
        """Cosines of angles [rad]."""
        return Column(np.cos(self.values))

    def step(self) -> Column:
        """1 where it is above zero, else 0."""
        return Column(self.values > 0.0)

    @staticmethod
    def arctan2(y: Any, x: Any) -> Column:
        """Angles of the directions (x, y) [rad]."""
        return Column(np.arctan2(*(v.values if isinstance(v, Column) else v for v in (y, x))))

    def __bool__(self) -> bool:
        raise TypeError("a Column has no truth value: equations must not branch on numbers that differ")


def columns(values: Floats) -> list[Column]:
    """The last dimension of an array as scalars, one each."""
    return [Column(values[..., k]) for k in range(values.shape[-1])]


def stacked(values: Any, shape: tuple[int, ...]) -> Floats:
    """Scalars, or nested sequences of scalars, as an array: (…, *shape) where `shape` is that of a column's values.

    The dimensions of the sequences come last.
    """
    if isinstance(values, (list, tuple, np.ndarray)):
        items = [stacked(item, shape) for item in values]
        return np.stack(items, axis=len(shape)) if items else np.zeros((*shape, 0))
    return np.broadcast_to(values.values if isinstance(values, Column) else np.float64(values), shape)
