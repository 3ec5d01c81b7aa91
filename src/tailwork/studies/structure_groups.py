"""Many designs checked: which are possible, and which share their structure.

A design is what Robot.replace makes of its changes, with all of its checks. Those that concern the changed parts
themselves are made design by design; those of the bodies, joints and springs that follow from them, for all designs at
once. Only a design that fails there is given to Robot.replace, which says why.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.algebra.columns import Column, stacked
from tailwork.errors import ArgumentError, check_known
from tailwork.robots import paths
from tailwork.robots.quantities import Described, Kind
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

FEW = 4
"""Designs of one structure that are rather checked one by one."""
INERTIA = (6,)  # shape of a field that holds one


@dataclass(frozen=True)
class Group:
    """Possible designs of one structure."""

    rows: np.ndarray  # which designs
    robot: Robot  # the first of them
    columns: dict[str, Floats]  # by path: numbers in which they differ, and that are not zero

    def design(self, k: int) -> Robot:
        """One of the robots."""
        return self.robot.replace({path: float(values[k]) for path, values in self.columns.items()})

    def only(self, fine: np.ndarray) -> Group:
        """The designs that are flagged."""
        return Group(self.rows[fine], self.robot, {path: values[fine] for path, values in self.columns.items()})


def design_values(robot: Robot, changes: Mapping[str, ArrayLike]) -> dict[str, list[Any]]:
    """The values of all changes, one a design, checked by name and length; integers where the robot has those."""
    if not isinstance(changes, Mapping) or not changes:
        raise ArgumentError("changes", changes, "values by path, such as {'tail.length': [0.3, 0.4, 0.5]}")
    known = paths.paths(robot)
    found: dict[str, list[Any]] = {}
    for path, given in changes.items():
        check_known(str(path), [path], known, "path in this robot")
        try:
            values = np.asarray(given)
        except ValueError:
            raise ArgumentError(f"changes.{path}", given, "values of one kind, one for all or one a design") from None
        if not values.size:
            raise ArgumentError(f"changes.{path}", given, "at least one value")
        found[path] = [values.item()] if values.ndim == 0 else values.tolist()
    sizes = {len(values) for values in found.values()} - {1}
    if len(sizes) > 1:
        raise ArgumentError("changes", sorted(sizes), "values of one length, or one for all designs")
    count = sizes.pop() if sizes else 1
    numeric = number_units(robot)
    for path, values in found.items():
        shown = (
            values if path in numeric else [int(x) if isinstance(x, float) and x.is_integer() else x for x in values]
        )
        found[path] = shown * count if len(values) == 1 else shown
    return found


def number_units(robot: Robot) -> dict[str, str]:
    """By path of every number of a robot, those of whole tails first: its unit."""
    units = paths.total_paths(robot)

    def visit(path: str, value: float, kind: Kind) -> float:
        units[path] = kind.unit
        return value

    paths.rebuild(robot, visit)
    return units


def design_groups(robot: Robot, values: Mapping[str, Sequence[Any]]) -> tuple[list[Group], dict[int, str]]:
    """Groups of possible designs by structure, and by design that is not possible: why."""
    numeric = number_units(robot)
    count = len(next(iter(values.values())))
    refused: dict[int, str] = {}
    together: dict[Any, list[int]] = {}
    for k in range(count):
        # Which numbers are zero, and all that is no number, make the structure.
        key = tuple(_structural(own[k], path in numeric) for path, own in values.items())
        together.setdefault(key, []).append(k)
    groups = [_checked(robot, values, numeric, rows, refused) for rows in together.values()]
    return [group for group in groups if len(group.rows)], refused


def _structural(value: Any, numeric: bool) -> Any:
    """What of a value belongs to the structure."""
    if not numeric:
        return repr(value)
    return value == 0 if isinstance(value, (int, float)) and not isinstance(value, bool) else repr(value)


def _checked(
    robot: Robot, values: Mapping[str, Sequence[Any]], numeric: Mapping[str, str], rows: list[int],
    refused: dict[int, str],
) -> Group:  # fmt: skip
    """The designs in some rows that are possible; the others are added to those refused."""

    def made(k: int) -> Robot | None:
        try:
            return robot.replace({path: own[k] for path, own in values.items()})
        except ArgumentError as error:
            refused[k] = str(error)
            return None

    base = next((found for found in map(made, rows) if found is not None), None)
    left = np.array([k for k in rows if k not in refused], dtype=np.int64)
    if base is None:
        return Group(left, robot, {})
    varied = [path for path in values if path in numeric and values[path][rows[0]] != 0]
    columns = {path: np.array([values[path][k] for k in left], dtype=np.float64) for path in varied}
    group = Group(left, base, {path: column for path, column in columns.items() if (column != column[0]).any()})
    # Numbers of a whole tail are made into its own one by one.
    alone = len(left) < FEW or not group.columns.keys().isdisjoint(paths.total_paths(robot))
    fine = np.zeros(len(left), dtype=bool) if alone else _fine(group)
    for k in left[~fine]:
        made(int(k))
    kept = np.array([k not in refused for k in left], dtype=bool)
    return Group(left[kept], base, {path: column[kept] for path, column in group.columns.items()})


def _fine(group: Group) -> np.ndarray:
    """Which designs of a structure are certainly possible."""
    fine = np.ones(len(group.rows), dtype=bool)
    for name, node in {"torso": group.robot.torso, **group.robot.parts}.items():
        own = {path.removeprefix(f"{name}."): x for path, x in group.columns.items() if path.startswith(f"{name}.")}
        if own:
            fine &= _nodes_fine(node, own)
    try:
        with np.errstate(all="ignore"):
            varied = group.robot.replace({path: Column(values) for path, values in group.columns.items()})
            made = [varied.torso_body(), *varied.limbs().values()]
            for value, kind in _numbers_in((varied, *made)):
                fine &= _numbers_fine(value, kind, len(fine))
    except TypeError:  # something asks whether a number is so or so: such parts are made one by one
        fine[:] = False
    return fine


def _nodes_fine(node: Any, columns: Mapping[str, Floats]) -> np.ndarray:
    """For which designs the torso or a part by itself is possible; equal ones are looked at once."""
    rows, which = np.unique(np.stack(list(columns.values()), axis=1), axis=0, return_inverse=True)
    own = {f.name for f in dataclasses.fields(node)}
    # Where the node's own fields change, all that `replace` does is this.
    changed = dataclasses.replace if own.issuperset(columns) else lambda node, **changes: paths.replace(node, changes)
    fine = np.ones(len(rows), dtype=bool)
    for k, row in enumerate(rows.tolist()):
        try:
            changed(node, **dict(zip(columns, row, strict=True)))
        except ArgumentError:
            fine[k] = False
    return fine[which.ravel()]


def _numbers_in(node: Any) -> Iterator[tuple[Any, Kind]]:
    """All numeric fields of descriptions, with what is allowed there."""
    if isinstance(node, Mapping):
        node = tuple(node.values())
    if isinstance(node, tuple):
        for item in node:
            yield from _numbers_in(item)
    elif isinstance(node, Described):
        for f in dataclasses.fields(node):
            value, kind = getattr(node, f.name), f.metadata.get("kind")
            if kind is not None:
                yield value, kind
            else:
                yield from _numbers_in(value)


def _numbers_fine(value: Any, kind: Kind, count: int) -> np.ndarray:
    """For which designs the numbers of a field are what it allows."""
    if not _has_columns(value):
        return np.ones(count, dtype=bool)
    every = stacked(value, (count,)).reshape(count, -1)
    fine = np.isfinite(every)
    if kind.allowed is not None:
        fine &= np.reshape([kind.allowed(x) for x in every.ravel().tolist()], every.shape)
    result = np.asarray(fine.all(axis=1))
    return result & _inertias_fine(np.where(result[:, None], every, 0.0)) if kind.shape == INERTIA else result


def _has_columns(value: Any) -> bool:
    return any(map(_has_columns, value)) if isinstance(value, tuple) else isinstance(value, Column)


def _inertias_fine(inertias: Floats) -> np.ndarray:
    """Which of (designs, 6) a body can have: as tailwork.robots.quantities checks one."""
    scale = np.abs(inertias).max(axis=1)
    scaled = inertias / np.where(scale > 0.0, scale, 1.0)[:, None]
    moments = np.linalg.eigvalsh(scaled[:, [[0, 3, 4], [3, 1, 5], [4, 5, 2]]])
    spread = moments.sum(axis=1, keepdims=True) / 2 - moments
    return np.minimum(moments, spread).min(axis=1) >= -1e-12
