"""Every number of a robot by name: "torso.mass", "tail.mount.y", "legs.hips.2.x", "gravity"."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.quantities import SYMMETRIC_COMPONENTS, VECTOR_COMPONENTS, Kind

Visitor = Callable[[str, Any, Kind], Any]


def component_names(kind: Kind, value: Any) -> list[str]:
    """Names of the parts of a numeric field that is not a single number."""
    if kind.shape == (3,):
        return list(VECTOR_COMPONENTS)
    if kind.shape == (6,):
        return list(SYMMETRIC_COMPONENTS)
    return [str(k + 1) for k in range(len(value))]


def children(node: Any) -> Iterator[tuple[str, Any]]:
    """The described parts inside a description, by name."""
    if isinstance(node, Mapping):
        yield from node.items()
    elif isinstance(node, tuple):
        for k, item in enumerate(node):
            if dataclasses.is_dataclass(item):
                yield getattr(item, "name", str(k + 1)), item


def rebuild(node: Any, visit: Visitor, path: str = "") -> Any:
    """A copy of a description in which every number is what `visit(path, number, kind)` returns for it."""

    def numeric(value: Any, kind: Kind, here: str) -> Any:
        if not kind.shape:
            return visit(here, value, kind)
        inner = dataclasses.replace(kind, shape=kind.shape[1:])
        names = component_names(kind, value)
        return tuple(numeric(v, inner, f"{here}.{n}") for n, v in zip(names, value, strict=True))

    def joined(name: str) -> str:
        return f"{path}.{name}" if path else name

    changes: dict[str, Any] = {}
    for f in dataclasses.fields(node):
        value = getattr(node, f.name)
        kind: Kind | None = f.metadata.get("kind")
        if kind is not None:
            if not kind.structure:
                changes[f.name] = numeric(value, kind, joined(f.name))
        elif f.name == "closed_form":
            if value is not None:
                raise RobotError(joined(f.name), value, "no closed form on a limb that is written out")
        elif dataclasses.is_dataclass(value):
            changes[f.name] = rebuild(value, visit, joined(f.name))
        elif isinstance(value, Mapping):
            changes[f.name] = {name: rebuild(part, visit, name) for name, part in children(value)}
        elif isinstance(value, tuple) and any(dataclasses.is_dataclass(item) for item in value):
            named = list(children(value))
            changes[f.name] = tuple(rebuild(item, visit, joined(f"{f.name}.{name}")) for name, item in named)
    return dataclasses.replace(node, **changes)


def numbers(robot: Any) -> dict[str, float]:
    """All numbers of a robot by path; what is structure (axes, fixed rotations, gearing, counts) is not among them."""
    found: dict[str, float] = {}

    def visit(path: str, value: float, kind: Kind) -> float:
        found[path] = value
        return value

    rebuild(robot, visit)
    return found


def with_numbers(robot: Any, values: Mapping[str, Any]) -> Any:
    """A copy in which the numbers at the given paths are exchanged (for other numbers or for symbols)."""
    return rebuild(robot, lambda path, value, kind: values.get(path, value))
