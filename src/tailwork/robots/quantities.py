"""Fields of a description: each knows its unit, its shape and what is allowed, and is checked when it is set."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from typing import Any, TypeAlias

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError

Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]
Symmetric: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

VECTOR_COMPONENTS = ("x", "y", "z")
SYMMETRIC_COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class Kind:
    """What a numeric field holds."""

    unit: str
    shape: tuple[int, ...] = ()  # () a number, (3,) a vector, (-1,) any count of numbers, (-1, 3) of vectors
    requirement: str = ""
    allowed: Callable[[float], bool] | None = None
    structure: bool = False  # part of the shape of the equations; every other number is an input of the kernels

    def phrase(self) -> str:
        """What is required, in words."""
        what = {
            (): "a finite number",
            (3,): "three finite numbers",
            (6,): "six finite numbers (xx, yy, zz, xy, xz, yz)",
            (3, 3): "a 3×3 rotation matrix",
            (-1,): "a list of finite numbers",
            (-1, 3): "a list of vectors of three finite numbers",
        }[self.shape]
        unit = f" [{self.unit}]" if self.unit else ""
        return f"{what}{unit}" + (f", {self.requirement}" if self.requirement else "")


def _field(kind: Kind, default: Any) -> Any:
    return field(default=default, metadata={"kind": kind}) if default is not MISSING else field(metadata={"kind": kind})


def positive(unit: str, default: Any = MISSING) -> Any:
    """A number > 0."""
    return _field(Kind(unit, requirement="greater than 0", allowed=lambda x: x > 0), default)


def nonnegative(unit: str, default: Any = MISSING) -> Any:
    """A number ≥ 0."""
    return _field(Kind(unit, requirement="not negative", allowed=lambda x: x >= 0), default)


def number(unit: str, default: Any = MISSING) -> Any:
    """Any finite number."""
    return _field(Kind(unit), default)


def vector(unit: str, default: Any = MISSING, *, structure: bool = False) -> Any:
    """A three-vector."""
    return _field(Kind(unit, (3,), structure=structure), default)


def symmetric(unit: str, default: Any = MISSING) -> Any:
    """A symmetric 3×3 matrix as (xx, yy, zz, xy, xz, yz)."""
    return _field(Kind(unit, (6,)), default)


def matrix(default: Any = MISSING) -> Any:
    """A 3×3 rotation matrix, part of the structure."""
    return _field(Kind("", (3, 3), structure=True), default)


def numbers(unit: str, default: Any = MISSING, *, requirement: str = "", allowed: Any = None) -> Any:
    """Any count of numbers."""
    return _field(Kind(unit, (-1,), requirement, allowed), default)


def vectors(unit: str, default: Any = MISSING) -> Any:
    """Any count of three-vectors."""
    return _field(Kind(unit, (-1, 3)), default)


def checked(path: str, value: Any, kind: Kind) -> Any:
    """The value as tuples of floats (symbols pass as they are), or a RobotError."""

    def leaf(x: Any) -> Any:
        if isinstance(x, bool) or isinstance(x, (str, bytes, dict)) or x is None:
            raise RobotError(path, value, kind.phrase())
        if isinstance(x, (int, float)):
            x = float(x)
            if not math.isfinite(x) or (kind.allowed is not None and not kind.allowed(x)):
                raise RobotError(path, value, kind.phrase())
            return x
        if hasattr(x, "dtype") and getattr(x, "ndim", None) == 0:
            return leaf(x.item())
        if isinstance(x, (list, tuple)) or (hasattr(x, "ndim") and x.ndim > 0):
            raise RobotError(path, value, kind.phrase())
        return x  # a symbol

    def tower(x: Any, shape: tuple[int, ...]) -> Any:
        if not shape:
            return leaf(x)
        try:
            if isinstance(x, (str, bytes, dict)):
                raise TypeError
            items = list(x)
        except TypeError:
            raise RobotError(path, value, kind.phrase()) from None
        if shape[0] >= 0 and len(items) != shape[0]:
            raise RobotError(path, value, kind.phrase())
        return tuple(tower(item, shape[1:]) for item in items)

    try:
        return tower(value, kind.shape)
    except OverflowError:
        raise RobotError(path, value, kind.phrase()) from None


class Described:
    """Base of all description dataclasses: numeric fields are checked and made tuples of floats on creation."""

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            kind = f.metadata.get("kind")
            if kind is not None:
                object.__setattr__(self, f.name, checked(f.name, getattr(self, f.name), kind))
        self.check()

    def check(self) -> None:
        """Checks that concern several fields at once; raises RobotError."""


def all_numbers(*values: Any) -> bool:
    """Whether no value is a symbol, so that conditions on them can be checked."""
    return all(isinstance(v, float) for v in values)
