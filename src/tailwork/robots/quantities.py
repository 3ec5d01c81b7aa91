"""Fields of a description: each knows its unit, its shape and what is allowed, and is checked when it is set.

Numbers are described by a `Kind`, all else by the type hint of the field, which also guides the reader of files.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers as numbers_module
import types
import typing
from collections.abc import Callable, Mapping, Set
from dataclasses import MISSING, dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.errors import ArgumentError, RobotError, is_finite_number

Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]
Symmetric: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]


VECTOR_COMPONENTS = ("x", "y", "z")
RANGE_COMPONENTS = ("lower", "upper")
SYMMETRIC_COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


SMALLEST = 1e-150
"""The smallest number that is positive enough: its square is a number too."""


@dataclass(frozen=True)
class Kind:
    """What a numeric field holds."""

    unit: str
    shape: tuple[int, ...] = ()  # () a number, (3,) a vector, (-1,) any count of numbers, (-1, 3) of vectors
    requirement: str = ""
    allowed: Callable[[float], bool] | None = None
    structure: bool = False  # part of the shape of the equations; every other number is an input of the kernels
    optional: bool = False  # whether it may be None

    def phrase(self, shape: tuple[int, ...] | None = None) -> str:
        """What is required, in words; `shape` for one of the items inside."""
        what = {
            (): "a finite number",
            (2,): "two finite numbers, the lower first",
            (3,): "three finite numbers",
            (6,): "six finite numbers (xx, yy, zz, xy, xz, yz)",
            (3, 3): "a 3×3 rotation matrix",
            (-1,): "a list of finite numbers",
            (-1, 3): "a list of vectors of three finite numbers",
        }[self.shape if shape is None else shape]
        unit = f" [{self.unit}]" if self.unit else ""
        return f"{what}{unit}" + (f", {self.requirement}" if self.requirement else "")


def _field(kind: Kind, default: Any) -> Any:
    return field(default=default, metadata={"kind": kind}) if default is not MISSING else field(metadata={"kind": kind})


def positive(unit: str, default: Any = MISSING) -> Any:
    """A number > 0, of which squares can be divided by."""
    return _field(Kind(unit, requirement="greater than 0", allowed=lambda x: x >= SMALLEST), default)


def nonnegative(unit: str, default: Any = MISSING, *, written: bool = True) -> Any:
    """A number ≥ 0; `written`: whether files name it also where it has its default."""
    found = _field(Kind(unit, requirement="not negative", allowed=lambda x: x >= 0), default)
    return found if written else field(default=default, metadata={**found.metadata, "written": False})


def number(unit: str, default: Any = MISSING) -> Any:
    """Any finite number."""
    return _field(Kind(unit), default)


def caption(default: Any = MISSING) -> Any:
    """What is for people, text or what they see, and shapes no equation."""
    metadata = {"caption": True}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def interval(unit: str) -> Any:
    """A lower and an upper number, or None."""
    return _field(Kind(unit, (2,), optional=True), None)


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


def component_names(shape: tuple[int, ...], count: int) -> list[str]:
    """Names of the parts of a numeric field of this shape with `count` items."""
    if shape == (2,):
        return list(RANGE_COMPONENTS)
    if shape == (3,):
        return list(VECTOR_COMPONENTS)
    if shape == (6,):
        return list(SYMMETRIC_COMPONENTS)
    return [str(k + 1) for k in range(count)]


def checked(path: str, value: Any, kind: Kind) -> Any:
    """The value as tuples of floats (symbols pass as they are); an `ArgumentError` has the path of what is wrong."""

    def tower(here: str, x: Any, shape: tuple[int, ...]) -> Any:
        if not shape:
            return _checked_number(here, x, kind)
        items = x
        if type(x) is not tuple:
            try:
                if isinstance(x, (str, bytes, Mapping, Set)):
                    raise TypeError
                items = tuple(x)
            except TypeError:
                raise ArgumentError(path, value, kind.phrase()) from None
        if shape[0] >= 0 and len(items) != shape[0]:
            raise ArgumentError(here, x, kind.phrase(shape))
        names = component_names(shape, len(items))
        return tuple(tower(f"{here}.{n}", item, shape[1:]) for n, item in zip(names, items, strict=True))

    if value is None and kind.optional:
        return None
    result = tower(path, value, kind.shape)
    if kind.shape == (2,) and all_numbers(*result) and not result[0] < result[1]:
        raise ArgumentError(path, value, f"{kind.phrase()}: the lower one below the upper")
    if kind.shape == (6,):
        _check_inertia(path, result)
    return result


def _checked_number(path: str, x: Any, kind: Kind) -> Scalar:
    if type(x) is float and math.isfinite(x) and (kind.allowed is None or kind.allowed(x)):
        return x  # the usual case, first: a tail has thousands of numbers
    if isinstance(x, str):
        wanted = f"{kind.phrase(())}; write a plain number" + (f" in {kind.unit}" if kind.unit else "")
        raise ArgumentError(path, x, f"{wanted}, without quotes or a unit")
    if isinstance(x, (np.generic, np.ndarray)) and x.ndim == 0:
        x = x.item()
    if isinstance(x, numbers_module.Number) and not isinstance(x, bool):
        try:
            number = float(x)  # type: ignore[arg-type]  # not every Number promises it
        except (TypeError, ValueError, OverflowError):  # complex, a signalling NaN, too large
            number = math.nan
        if math.isfinite(number) and (kind.allowed is None or kind.allowed(number)):
            return number
        if 0.0 < number < SMALLEST:
            raise ArgumentError(path, x, f"{kind.phrase(())} and not below {SMALLEST:g}")
    elif hasattr(x, "sqrt") and not kind.structure:
        return x  # a symbol: what tailwork.algebra can take the square root of
    raise ArgumentError(path, x, kind.phrase(()))


def _check_inertia(path: str, inertia: Symmetric) -> None:
    """No body has a negative moment of inertia, or one larger than the sum of the other two."""
    if not all_numbers(*inertia):
        return
    scale = max(abs(x) for x in inertia)
    if scale == 0:
        return
    xx, yy, zz, xy, xz, yz = (x / scale for x in inertia)
    moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    # Second moments of mass along the principal axes: none can be negative. A thin plate has one that is zero.
    spread = (moments.sum() / 2 - moments).min()
    if min(moments.min(), spread) < -1e-12:
        first, second, third = moments * scale
        raise ArgumentError(
            path,
            inertia,
            "moments of inertia that a body can have: none negative, none larger than the sum of the other two "
            f"(principal moments here: {first:.4g}, {second:.4g}, {third:.4g} kg m^2)",
        )


def check_name(path: str, name: str) -> None:
    """Names are words in paths ("tail.limb.joints.ta.offset"), so they have no dots."""
    if not name or "." in name:
        raise ArgumentError(path, name, "a name: text that is not empty and has no dot")


def check_rotation(path: str, rotation: Any) -> None:
    """Refuses a 3×3 matrix that is not a rotation."""
    r = np.array(rotation)
    if np.abs(r.T @ r - np.eye(3)).max() > 1e-9:
        raise ArgumentError(path, rotation, "a rotation matrix (orthonormal columns)")
    if np.linalg.det(r) < 0:
        raise ArgumentError(path, rotation, "a rotation matrix, not a reflection")


@functools.cache
def field_hints(cls: type) -> dict[str, Any]:
    """The type hints of a class, resolved."""
    return typing.get_type_hints(cls)


@functools.cache
def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types that a hint allows; NoneType is one of them."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


@functools.cache
def item_hint(hint: Any) -> Any:
    """The hint of the items, where a hint allows tuple[item, ...]; otherwise None."""
    for option in alternatives(hint):
        if typing.get_origin(option) is tuple:
            return typing.get_args(option)[0]
    return None


def label(item: Any, position: int) -> str:
    """What an item of a list is called in paths: its name if it has one, otherwise its number, from 1."""
    name = item.get("name") if isinstance(item, dict) else getattr(item, "name", None)
    return name if isinstance(name, str) else str(position + 1)


NUMBERS: tuple[tuple[Any, Any, str], ...] = (
    (float, numbers_module.Real, "a finite number"),
    (int, numbers_module.Integral, "an integer"),
)


def fitted(path: str, value: Any, hint: Any) -> Any:
    """The value if it is what the hint of its field promises (lists become tuples), or an ArgumentError."""
    options = alternatives(hint)
    if Any in options or (value is None and types.NoneType in options):
        return value
    items = item_hint(hint)
    if items is not None:
        if not isinstance(value, (list, tuple)):
            raise ArgumentError(path, value, "a list")
        return tuple(fitted(f"{path}.{label(item, k)}", item, items) for k, item in enumerate(value))
    for cls, numeric, required in NUMBERS:
        if cls in options:
            if not isinstance(value, numeric) or not is_finite_number(value):
                raise ArgumentError(path, value, required)
            return cls(value)
    if all(map(_is_plain_class, options)) and not isinstance(value, options):
        named = " or ".join("text" if c is str else f"a {c.__name__}" for c in options if c is not types.NoneType)
        raise ArgumentError(path, value, named)
    return value


@functools.cache
def _is_plain_class(option: Any) -> bool:
    """False for protocols (a torso, a closed form) and mappings: they are left to the class that has them."""
    return isinstance(option, type) and not getattr(option, "_is_protocol", False)


@dataclass(frozen=True)
class Described:
    """Base of all description dataclasses: fields are checked on creation, numeric ones made tuples of floats."""

    def __post_init__(self) -> None:
        hints = field_hints(type(self))
        for f in dataclasses.fields(self):
            kind, value = f.metadata.get("kind"), getattr(self, f.name)
            result = fitted(f.name, value, hints[f.name]) if kind is None else checked(f.name, value, kind)
            object.__setattr__(self, f.name, result)
        self.check()

    def check(self) -> None:
        """Checks that concern several fields at once; raises ArgumentError."""


class RobotPart(Described):
    """Base of the parts of a robot: what is wrong with one is a `RobotError`."""

    def __post_init__(self) -> None:
        try:
            super().__post_init__()
        except ArgumentError as error:
            if type(error) is not ArgumentError:
                raise
            raise RobotError(error.path, error.value, error.required) from None


def all_numbers(*values: Any) -> bool:
    """Whether no value is a symbol, so that conditions on them can be checked."""
    return all(isinstance(v, float) for v in values)
