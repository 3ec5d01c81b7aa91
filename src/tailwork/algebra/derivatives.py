"""Exact derivatives of what is recorded on a tape, recorded on the same tape."""

from __future__ import annotations

from collections.abc import Sequence

from tailwork.algebra.expression import (
    ADD,
    ATAN2,
    CONSTANT,
    COPY,
    COS,
    DIV,
    MAX,
    MUL,
    NEG,
    SIN,
    SQRT,
    STEP,
    SUB,
    Expression,
    Scalar,
    Tape,
    as_indices,
    is_zero,
    step,
)


def jacobian(tape: Tape, outputs: Sequence[Scalar], variables: Sequence[Scalar]) -> list[list[Scalar]]:
    """d(outputs)/d(variables), rows by output: one forward sweep a variable over the operations that depend on it.

    A variable may be an input or an `opaque` copy: each is varied alone, whatever it depends on. Plain numbers give
    zero.
    """
    wanted = as_indices(tape, outputs)
    varied = {x.index for x in variables if isinstance(x, Expression)}
    needed = [k for k in _needed(tape, wanted) if k not in varied]
    columns = []
    for variable in variables:
        tangents = _tangents(tape, needed, variable.index) if isinstance(variable, Expression) else {}
        columns.append([tangents.get(k, 0.0) for k in wanted])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in wanted]


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


def _tangents(tape: Tape, needed: Sequence[int], seed: int) -> dict[int, Scalar]:
    """Derivatives of the needed entries by the entry `seed`; those that are zero are left out."""
    tangents: dict[int, Scalar] = {seed: 1.0}
    for k in needed:
        operation, first, second = tape.entries[k]
        da, db = tangents.get(first), tangents.get(second)
        if da is None and db is None:
            continue
        value = _rule(tape, k, operation, first, second, 0.0 if da is None else da, 0.0 if db is None else db)
        if not is_zero(value):
            tangents[k] = value
    return tangents


def _rule(tape: Tape, k: int, operation: int, first: int, second: int, da: Scalar, db: Scalar) -> Scalar:
    a, b, y = Expression(tape, first), Expression(tape, second), Expression(tape, k)
    if operation == ADD:
        return da + db
    if operation == SUB:
        return da - db
    if operation == MUL:
        return b * da + a * db
    if operation == DIV:
        return (da - y * db) * (1.0 / b)
    if operation == NEG:
        return -da
    if operation == COPY:
        return da
    if operation == SQRT:
        return da * (0.5 / y)
    if operation == SIN:
        return da * a.cos()
    if operation == COS:
        return -(da * a.sin())
    if operation == ATAN2:
        return (da * b - db * a) * (1.0 / (a * a + b * b))
    if operation == MAX:
        return db + step(a - b) * (da - db)
    if operation == STEP:
        return 0.0
    raise AssertionError(f"no derivative rule for operation {operation}")
