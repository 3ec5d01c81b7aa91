"""Exact derivatives of what is recorded on a tape, recorded on the same tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tailwork.algebra import expression as ops
from tailwork.algebra.expression import CONSTANT, Expression, Scalar, Tape, as_indices, is_zero, step

RULES: dict[int, Callable[[Any, Any, Any, Scalar, Scalar], Scalar]] = {
    ops.ADD: lambda a, b, y, da, db: da + db,
    ops.SUB: lambda a, b, y, da, db: da - db,
    ops.MUL: lambda a, b, y, da, db: b * da + a * db,
    ops.DIV: lambda a, b, y, da, db: (da - y * db) * (1.0 / b),
    ops.NEG: lambda a, b, y, da, db: -da,
    ops.COPY: lambda a, b, y, da, db: da,
    ops.SQRT: lambda a, b, y, da, db: da * (0.5 / y),
    ops.SIN: lambda a, b, y, da, db: da * a.cos(),
    ops.COS: lambda a, b, y, da, db: -(da * a.sin()),
    ops.ATAN2: lambda a, b, y, da, db: (da * b - db * a) * (1.0 / (a * a + b * b)),
    ops.MAX: lambda a, b, y, da, db: db + step(a - b) * (da - db),
    ops.STEP: lambda a, b, y, da, db: 0.0,
}
"""By operation y = f(a, b): the derivative of y from those of a and b."""


def jacobian(tape: Tape, outputs: Sequence[Scalar], variables: Sequence[Scalar]) -> list[list[Scalar]]:
    """d(outputs)/d(variables), rows by output: a forward sweep a variable over what depends on several of them.

    A variable may be an input or an `opaque` copy: each is varied alone, whatever it depends on. Plain numbers give
    zero.
    """
    return along(tape, outputs, [[(variable, 1.0)] for variable in variables])


def along(
    tape: Tape, outputs: Sequence[Scalar], directions: Sequence[Sequence[tuple[Scalar, Scalar]]]
) -> list[list[Scalar]]:
    """Derivatives of the outputs along directions, rows by output; a direction is (variable, its rate) pairs.

    Variables as for `jacobian`: what any direction varies is held in all others.
    """
    wanted = as_indices(tape, outputs)
    seeds = [{x.index: rate for x, rate in pairs if isinstance(x, Expression)} for pairs in directions]
    varied = {k for seed in seeds for k in seed}
    needed = [k for k in _needed(tape, wanted) if k not in varied]
    heads = _heads(tape, needed, varied)
    joins = [k for k in needed if k in heads and heads[k][0] == k]
    columns: list[list[Scalar]] = []
    for seed in seeds:
        tangents = dict(seed)  # of varied entries and of joins

        def tangent(k: int, tangents: dict[int, Scalar] = tangents) -> Scalar:
            head, rate = heads.get(k, (k, 0.0))
            return tangents[head] * rate if head in tangents else 0.0

        for k in joins:
            operation, first, second = tape.entries[k]
            value = _rule(tape, k, operation, first, second, tangent(first), tangent(second))
            if not is_zero(value):
                tangents[k] = value
        columns.append([tangent(k) for k in wanted])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in wanted]


def _heads(tape: Tape, needed: Sequence[int], varied: set[int]) -> dict[int, tuple[int, Scalar]]:
    """By entry that varies: the entry through which alone it does so, and its derivative by that.

    Such chains (a polynomial of one number) are derived once, whatever the number of directions. An entry where two of
    them join is its own head.
    """
    heads: dict[int, tuple[int, Scalar]] = {k: (k, 1.0) for k in varied}
    for k in needed:
        operation, first, second = tape.entries[k]
        a, b = heads.get(first), heads.get(second)
        if a is not None and b is not None and a[0] != b[0]:
            heads[k] = (k, 1.0)
        elif a is not None or b is not None:
            da, db = 0.0 if a is None else a[1], 0.0 if b is None else b[1]
            rate = _rule(tape, k, operation, first, second, da, db)
            if not is_zero(rate):
                heads[k] = ((a or b or (k,))[0], rate)
    return heads


def _needed(tape: Tape, wanted: Sequence[int]) -> list[int]:
    """Entries that the wanted ones depend on, in order."""
    marked = bytearray(len(tape.entries))
    for k in wanted:
        marked[k] = 1
    for k in range(len(marked) - 1, -1, -1):
        operation, first, second = tape.entries[k]
        if marked[k] and operation > CONSTANT:
            marked[first] = 1
            if second >= 0:
                marked[second] = 1
    return [k for k, mark in enumerate(marked) if mark and tape.entries[k][0] > CONSTANT]


def _rule(tape: Tape, k: int, operation: int, first: int, second: int, da: Scalar, db: Scalar) -> Scalar:
    return RULES[operation](Expression(tape, first), Expression(tape, second), Expression(tape, k), da, db)
