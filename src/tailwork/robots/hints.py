"""What the type hints of a description promise: checked on creation, and the guide of the file reader."""

from __future__ import annotations

import functools
import math
import numbers
import types
import typing
from typing import Any

from tailwork.errors import RobotError


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


def fitted(path: str, value: Any, hint: Any) -> Any:
    """The value if it is what the hint of its field promises (lists become tuples), or a RobotError."""
    options = alternatives(hint)
    if Any in options or (value is None and types.NoneType in options):
        return value
    items = item_hint(hint)
    if items is not None:
        if not isinstance(value, (list, tuple)):
            raise RobotError(path, value, "a list")
        return tuple(fitted(f"{path}.{label(item, k)}", item, items) for k, item in enumerate(value))
    if float in options:
        return _finite(path, value)
    if int in options:
        return _whole(path, value)
    if all(map(_is_plain_class, options)) and not isinstance(value, options):
        named = " or ".join("text" if c is str else f"a {c.__name__}" for c in options if c is not types.NoneType)
        raise RobotError(path, value, named)
    return value


@functools.cache
def _is_plain_class(option: Any) -> bool:
    """False for protocols (a torso, a closed form) and mappings: they are left to the class that has them."""
    return isinstance(option, type) and not getattr(option, "_is_protocol", False)


def _finite(path: str, value: Any) -> float:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not math.isfinite(value):
        raise RobotError(path, value, "a finite number")
    return float(value)


def _whole(path: str, value: Any) -> int:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise RobotError(path, value, "an integer")
    return int(value)
