"""Everything in a robot by path: numbers ("torso.mass", "tail.mount.y", "legs.hips.2.x", "gravity"), whole vectors and
lists ("tail.mount"), and structure ("tail.links", "legs.knee", "name").

Items of a list go by their name, or by their number from 1: "tail.limb.joints.ta.offset.x", "tail.limb.springs.2.rest".
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.quantities import Described, Kind, component_names, label

Visitor = Callable[[str, Any, Kind], Any]


@functools.cache
def _inner(kind: Kind) -> Kind:
    """Of the items of a vector or a list."""
    return dataclasses.replace(kind, shape=kind.shape[1:])


def children(node: Any) -> Iterator[tuple[str, Any]]:
    """The described parts inside a description, by name."""
    if isinstance(node, Mapping):
        yield from node.items()
    elif isinstance(node, tuple):
        for k, item in enumerate(node):
            if dataclasses.is_dataclass(item):
                yield label(item, k), item


def rebuild(node: Any, visit: Visitor, path: str = "") -> Any:
    """A copy of a description in which every number is what `visit(path, number, kind)` returns for it."""

    def numeric(value: Any, kind: Kind, here: str) -> Any:
        if not kind.shape:
            return visit(here, value, kind)
        inner = _inner(kind)
        names = component_names(kind.shape, len(value))
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
            _check_written_out(value, joined(f.name))
        elif dataclasses.is_dataclass(value):
            changes[f.name] = rebuild(value, visit, joined(f.name))
        elif isinstance(value, Mapping):
            changes[f.name] = {name: rebuild(part, visit, name) for name, part in children(value)}
        elif isinstance(value, tuple) and any(dataclasses.is_dataclass(item) for item in value):
            named = list(children(value))
            changes[f.name] = tuple(rebuild(item, visit, joined(f"{f.name}.{name}")) for name, item in named)
    return dataclasses.replace(node, **changes)


def visited(node: Any, path: str = "") -> Iterator[tuple[str, Any, Kind]]:
    """(path, number, kind) of every number of a description, in the order in which `rebuild` visits them."""

    def numeric(value: Any, kind: Kind, here: str) -> Iterator[tuple[str, Any, Kind]]:
        if not kind.shape:
            yield here, value, kind
            return
        inner = _inner(kind)
        for name, item in zip(component_names(kind.shape, len(value)), value, strict=True):
            yield from numeric(item, inner, f"{here}.{name}")

    for f in dataclasses.fields(node):
        value, kind = getattr(node, f.name), f.metadata.get("kind")
        here = f"{path}.{f.name}" if path else f.name
        if kind is not None:
            if not kind.structure:
                yield from numeric(value, kind, here)
        elif f.name == "closed_form":
            _check_written_out(value, here)
        elif dataclasses.is_dataclass(value):
            yield from visited(value, here)
        elif isinstance(value, (Mapping, tuple)):
            for name, part in children(value):
                yield from visited(part, name if isinstance(value, Mapping) else f"{here}.{name}")


def _check_written_out(closed_form: Any, path: str) -> None:
    if closed_form is not None:
        raise RobotError(path, closed_form, "no closed form on a limb that is written out")


def numbers(robot: Any) -> dict[str, float]:
    """All numbers of a robot by path; what is structure (axes, fixed rotations, gearing, counts) is not among them."""
    return {path: value for path, value, _ in visited(robot)}


def with_numbers(robot: Any, values: Mapping[str, Any]) -> Any:
    """A copy in which the numbers at the given paths are exchanged (for other numbers or for symbols)."""
    return rebuild(robot, lambda path, value, kind: values.get(path, value))


def structure(node: Any, zeros: bool = True) -> Any:
    """What shapes the equations of a description: all but captions and numbers, and which numbers are exactly zero.

    Where equations keep their zeros (`zeros` is False), only how many numbers there are.
    """
    if isinstance(node, Described):
        found: list[Any] = [type(node)]
        for f in dataclasses.fields(node):
            value, kind = getattr(node, f.name), f.metadata.get("kind")
            if f.metadata.get("caption"):
                continue
            found.append(structure(value, zeros) if kind is None or kind.structure else _nonzero(value, zeros))
        return tuple(found)
    if isinstance(node, Mapping):
        return tuple((name, structure(part, zeros)) for name, part in node.items())
    return tuple(structure(item, zeros) for item in node) if isinstance(node, tuple) else node


def _nonzero(value: Any, zeros: bool) -> Any:
    return tuple(_nonzero(item, zeros) for item in value) if isinstance(value, tuple) else not zeros or value != 0.0


def replace(robot: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of a robot with the values at the given paths exchanged, all at once, each checked as on creation."""
    valid = paths(robot)
    known = set(valid)
    for path in changes:
        if path not in known:
            raise UnknownNameError.among(str(path), str(path), valid, "path in this robot")
    totals = {path: value for path, value in changes.items() if path in total_paths(robot)}
    own = {path: value for path, value in changes.items() if path not in totals}
    found = _changed(robot, (), _by_first_word(own), "") if own or not totals else robot
    return with_totals(found, totals, own) if totals else found


def total_paths(robot: Any) -> dict[str, str]:
    """Paths of numbers of a whole part, such as "tail.total_mass", with their units."""
    parts = getattr(robot, "parts", {})
    return {
        f"{name}.{total}": unit for name, part in parts.items() if hasattr(part, "totals")
        for total, unit in part.totals().items()
    }  # fmt: skip


def with_totals(robot: Any, totals: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> Any:
    """A copy with numbers of whole parts exchanged; `own` are paths that are given beside them."""
    by_part: dict[str, dict[str, Any]] = {}
    for path, value in totals.items():
        name, _, total = path.partition(".")
        by_part.setdefault(name, {})[total] = value
        for field in robot.parts[name].follow(total):
            for other in own or ():
                if other == f"{name}.{field}" or other.startswith(f"{name}.{field}."):
                    inside = other.removeprefix(f"{name}.")
                    raise RobotError(other, (own or {})[other], f"either {inside} or {total}, from which it follows")
    parts = dict(robot.parts)
    for name, values in by_part.items():
        try:
            parts[name] = parts[name].with_totals(values)
        except RobotError as error:
            raise error.within(name) from None
    return dataclasses.replace(robot, parts=parts)


def paths(robot: Any) -> list[str]:
    """All paths that `replace` understands for this robot."""
    found: list[str] = []

    def walk(value: Any, shape: tuple[int, ...], path: str) -> None:
        for name, item, inner in _inside(value, shape):
            found.append(f"{path}{name}")
            walk(item, inner, f"{path}{name}.")

    walk(robot, (), "")
    return [*found, *total_paths(robot)]


def _inside(value: Any, shape: tuple[int, ...]) -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    """What a path can name inside a value of a numeric shape: (name, item, its numeric shape or ())."""
    if shape:
        for name, item in zip(component_names(shape, len(value)), value, strict=True):
            yield name, item, shape[1:]
    elif isinstance(value, Described):
        for f in dataclasses.fields(value):
            item, kind = getattr(value, f.name), f.metadata.get("kind")
            if isinstance(item, Mapping):  # the parts of a robot go by their own names
                yield from ((name, part, ()) for name, part in item.items())
            else:
                yield f.name, item, kind.shape if kind else ()
    else:
        yield from ((name, item, ()) for name, item in children(value))


class _Changes(dict[str, Any]):
    """Changes inside a description, a list or a vector, by the next word of their paths."""


def _by_first_word(changes: Mapping[str, Any]) -> _Changes:
    tree = _Changes()
    for path, value in changes.items():
        *way, last = path.split(".")
        node: Any = tree
        for word in way:
            node = node.setdefault(word, _Changes()) if isinstance(node, _Changes) else node
        if not isinstance(node, _Changes) or last in node:
            raise RobotError(path, value, "a change of the whole or changes inside it, not both at once")
        node[last] = value
    return tree


def _changed(value: Any, shape: tuple[int, ...], changes: _Changes, path: str) -> Any:
    items = {name: (item, inner) for name, item, inner in _inside(value, shape)}
    new: dict[str, Any] = {}
    for name, change in changes.items():
        here = f"{path}.{name}" if path else name
        new[name] = _changed(*items[name], change, here) if isinstance(change, _Changes) else change
    if not isinstance(value, Described):
        return tuple(new.get(name, item) for name, (item, _) in items.items())
    for f in dataclasses.fields(value):
        old = getattr(value, f.name)
        if isinstance(old, Mapping):
            new[f.name] = {name: new.pop(name, part) for name, part in old.items()}
    try:
        return dataclasses.replace(value, **new)
    except RobotError as error:
        raise (error.within(path) if path else error) from None
