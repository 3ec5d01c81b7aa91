"""Everything in a robot by path: numbers ("torso.mass", "tail.mount.y", "legs.hips.2.x", "gravity"), whole vectors and
lists ("tail.mount"), and structure ("tail.links", "legs.knee", "name").

Items of a list go by their name, or by their number from 1: "tail.limb.joints.ta.offset.x", "tail.limb.springs.2.rest".
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tailwork.errors import ArgumentError, RobotError, UnknownNameError
from tailwork.robots.quantities import Described, Kind, component_names, label

PUTS_ON = "`Robot.with_tail`, or --tail of a command, puts one on"
KEEP = object()
"""What a change says of an item that stays: what is inside it may still change."""


def changed(node: Any, change: Callable[[str, Any, Kind | None], Any]) -> Any:
    """A copy of a description in which everything is what `change(path, item, kind)` returns for it, or `KEEP`.

    The kind is that of a number, a vector or a list of them; None for all else. What does not change is not copied.
    """

    def walk(value: Any, kind: Kind | None, path: str) -> Any:
        new: dict[str, Any] = {}
        same = True
        for name, item, inner in inside(value, kind):
            here = f"{path}.{name}" if path else name
            new[name] = change(here, item, inner)
            if new[name] is KEEP:
                new[name] = walk(item, inner, here)
            same = same and new[name] is item
        if same:
            return value
        if not isinstance(value, Described):
            return tuple(new.values())
        for f in dataclasses.fields(value):
            parts = getattr(value, f.name)
            if isinstance(parts, Mapping):
                new[f.name] = {name: new.pop(name) for name in parts}
        try:
            return dataclasses.replace(value, **new)
        except ArgumentError as error:
            raise (error.within(path) if path else error) from None

    return walk(node, None, "")


def inside(value: Any, kind: Kind | None) -> Iterator[tuple[str, Any, Kind | None]]:
    """What a path can name inside a value: (name, item, its kind where it is a number or holds numbers)."""
    if kind is not None:
        if kind.shape and value is not None:
            inner = _of_items(kind)
            yield from (
                (n, item, inner) for n, item in zip(component_names(kind.shape, len(value)), value, strict=True)
            )
    elif isinstance(value, Described):
        for f in dataclasses.fields(value):
            item = getattr(value, f.name)
            if isinstance(item, Mapping):  # the parts of a robot go by their own names
                yield from ((name, part, None) for name, part in item.items())
            else:
                yield f.name, item, f.metadata.get("kind")
    elif isinstance(value, tuple):
        yield from ((label(item, k), item, None) for k, item in enumerate(value) if isinstance(item, Described))


@functools.cache
def _of_items(kind: Kind) -> Kind:
    return dataclasses.replace(kind, shape=kind.shape[1:])


def rebuild(node: Any, visit: Callable[[str, Any, Kind], Any]) -> Any:
    """A copy of a description in which every number is what `visit(path, number, kind)` returns for it."""

    def change(path: str, item: Any, kind: Kind | None) -> Any:
        if kind is not None:
            return item if kind.structure else KEEP if kind.shape else visit(path, item, kind)
        if path.rpartition(".")[2] == "closed_form" and item is not None:
            raise RobotError(path, item, "no closed form on a limb that is written out")
        return KEEP

    return changed(node, change)


def robot_numbers(robot: Any) -> dict[str, float]:
    """All numbers of a robot by path; what is structure (axes, fixed rotations, gearing, counts) is not among them."""
    return {path: value for path, value, _ in visited(robot)}


def visited(node: Any) -> list[tuple[str, Any, Kind]]:
    """(path, number, kind) of every number of a description, in the order in which `rebuild` visits them."""
    found: list[tuple[str, Any, Kind]] = []

    def visit(path: str, value: Any, kind: Kind) -> Any:
        found.append((path, value, kind))
        return value

    rebuild(node, visit)
    return found


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
    if not isinstance(changes, Mapping):
        raise ArgumentError("changes", changes, "values by path, such as {'torso.mass': 13.0}")
    offered, earlier = total_paths(robot), list[str]()
    for path, value in changes.items():
        if path not in offered and not (isinstance(path, str) and _has(robot, path)):
            if str(path).startswith("tail.") and "tail" not in getattr(robot, "parts", {"tail": None}):
                raise RobotError(str(path), value, f"a robot with a tail: this one has none; {PUTS_ON}")
            raise UnknownNameError.among(str(path), str(path), paths(robot), "path in this robot")
        if any(path.startswith(f"{other}.") or other.startswith(f"{path}.") for other in earlier):
            raise RobotError(path, value, "a change of the whole or changes inside it, not both at once")
        earlier.append(path)
    totals = {path: value for path, value in changes.items() if path in offered}
    own = {path: value for path, value in changes.items() if path not in totals}
    around = {path[:k] for path in own for k, letter in enumerate(path) if letter == "."}
    found = changed(robot, lambda path, item, kind: own.get(path, KEEP if path in around else item))
    return with_totals(found, totals, own) if totals else found


def _has(robot: Any, path: str) -> bool:
    """Whether there is something at a path."""
    value, kind = robot, None
    for word in path.split("."):
        found = next(((item, inner) for name, item, inner in inside(value, kind) if name == word), None)
        if found is None:
            return False
        value, kind = found
    return True


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
    check_totals(robot, totals, own or {})
    parts = dict(robot.parts)
    for name, values in by_part.items():
        try:
            parts[name] = parts[name].with_totals(values)
        except ArgumentError as error:
            raise error.within(name) from None
    return dataclasses.replace(robot, parts=parts)


def check_totals(robot: Any, totals: Iterable[str], own: Mapping[str, Any]) -> None:
    """Refuses paths beside those of whole parts that they follow from."""
    for name, _, total in (path.partition(".") for path in totals):
        for field in robot.parts[name].follow(total):
            for other in own:
                if other == f"{name}.{field}" or other.startswith(f"{name}.{field}."):
                    inside = other.removeprefix(f"{name}.")
                    raise RobotError(other, own[other], f"either {inside} or {total}, from which it follows")


def paths(robot: Any) -> list[str]:
    """All paths that `replace` understands for this robot."""
    found: list[str] = []

    def visit(path: str, item: Any, kind: Kind | None) -> Any:
        found.append(path)
        return KEEP

    changed(robot, visit)
    return [*found, *total_paths(robot)]
