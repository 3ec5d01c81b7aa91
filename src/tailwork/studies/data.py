"""Descriptions and results as plain data, as JSON holds it, and back; and digests, by which kept results are known."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import numpy as np

import tailwork.errors as tailwork_errors
from tailwork.robots.quantities import alternatives, field_hints

DRAWING = ("view", "papers", "lab", "cli")
"""Stages that only show what the others have found."""
INFINITE = {"inf": math.inf, "-inf": -math.inf}
"""What stands in JSON for numbers that it does not have, besides null for what is none."""


@cache
def source_digest() -> str:
    """Of all that a run follows from besides its case: equations, methods, gains. Another version makes runs again."""
    package = Path(tailwork_errors.__file__).parent
    sources = sorted(file for file in package.rglob("*.py") if file.relative_to(package).parts[0] not in DRAWING)
    return hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()


def digest(data: Mapping[str, Any]) -> str:
    """Says whether what is kept is of these very data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()


def json_value(value: Any, but: tuple[type, ...] = ()) -> Any:
    """A value as JSON holds it: arrays and tuples as lists, numbers that are none as null, infinite ones as text.

    Fields that hold one of some types are left out.
    """
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: json_value(one, but) for name, one in own.items() if not isinstance(one, but)}
    if isinstance(value, np.ndarray):
        return json_value(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): json_value(one, but) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(one, but) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def made(hint: Any, data: Any) -> Any:
    """What plain data were made from, by its type hint; one of several classes is known by the names of its fields. A
    field that is missing raises a KeyError."""
    options = alternatives(hint)
    if data is None:
        return None if NoneType in options else math.nan
    kinds = [kind for kind in options if is_dataclass(kind)]
    if kinds and isinstance(data, Mapping):
        kind: Any = next((one for one in kinds if {f.name for f in fields(one)} == data.keys()), kinds[0])
        hints = field_hints(kind)
        return kind(**{field.name: made(hints[field.name], data[field.name]) for field in fields(kind)})
    first = next(option for option in options if option is not NoneType)
    origin, inside = get_origin(first), get_args(first)
    if origin is np.ndarray:
        return np.array(data, dtype=np.float64)  # null becomes NaN
    if origin is tuple:
        items = inside[:1] * len(data) if inside[1] is ... else inside
        return tuple(made(item, one) for item, one in zip(items, data, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {inside[0](name): made(inside[1], one) for name, one in data.items()}
    return INFINITE.get(data, data) if float in options and isinstance(data, str) else data
