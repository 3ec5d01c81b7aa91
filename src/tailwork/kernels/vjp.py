"""Derivatives of a whole graph at once, backwards: from weights of its outputs to weights of all it depends on."""

from __future__ import annotations

from collections.abc import Sequence

from tailwork.algebra.expression import (
    ADD,
    ATAN2,
    CONSTANT,
    COPY,
    COS,
    DIV,
    INPUT,
    MAX,
    MUL,
    NEG,
    SIN,
    SQRT,
    SUB,
    Expression,
    Scalar,
    Tape,
    is_zero,
    step,
)
from tailwork.kernels.graph import Graph, finished


def vjp(graph: Graph, by: Sequence[int] | None = None, *, values: bool = False) -> Graph:
    """wᵀ d(outputs)/d(inputs and parameters) as a graph of its own.

    Its inputs are those of the graph, then a weight w for each output; its outputs are derivatives by inputs, then by
    each parameter. Whatever the number of those, it takes a few times the operations of the graph.

    Args:
        graph: what is differentiated.
        by: numbers of the inputs that derivatives are wanted by; all of them by default.
        values: whether the graph's own outputs shall come last.
    """
    tape, weights = Tape(), len(graph.outputs)
    places = replayed(graph, tape, weights)
    by_entry: dict[int, Scalar] = {}
    for k, output in enumerate(graph.outputs):
        _add(by_entry, output, tape.record(INPUT, graph.inputs + k))
    for k in range(len(graph.entries) - 1, -1, -1):
        operation, first, second = graph.entries[k]
        if k in by_entry and operation > CONSTANT:
            a, b = Expression(tape, places[int(first)]), Expression(tape, places[second]) if second >= 0 else None
            for operand, weight in _operands(operation, by_entry[k], Expression(tape, places[k]), a, b):
                _add(by_entry, int(first) if operand == 0 else second, weight)
    found: list[Scalar] = [0.0] * (graph.inputs + graph.parameters)
    for k, (operation, first, _) in enumerate(graph.entries):
        if operation == INPUT and k in by_entry:
            found[int(first)] = by_entry[k]
    wanted = [*(range(graph.inputs) if by is None else by), *range(graph.inputs, len(found))]
    own = [Expression(tape, places[output]) for output in graph.outputs] if values else []
    return finished(tape, [*(found[k] for k in wanted), *own], graph.inputs + weights, graph.parameters)


def replayed(graph: Graph, tape: Tape, more: int) -> list[int]:
    """Record a graph on a tape, with room for `more` inputs before its parameters; where each of its entries is."""
    places: list[int] = []
    for operation, first, second in graph.entries:
        if operation == INPUT:
            number = int(first)
            places.append(tape.record(INPUT, number if number < graph.inputs else number + more).index)
        elif operation == CONSTANT:
            places.append(tape.record(CONSTANT, first).index)
        else:
            places.append(tape.record(operation, places[int(first)], places[second] if second >= 0 else -1).index)
    return places


def _add(by_entry: dict[int, Scalar], k: int, weight: Scalar) -> None:
    if not is_zero(weight):
        by_entry[k] = by_entry[k] + weight if k in by_entry else weight


def _operands(
    operation: int, w: Scalar, y: Expression, a: Expression, b: Expression | None
) -> list[tuple[int, Scalar]]:
    """(which operand, its share of the weight w) of one operation with the result y."""
    if operation == NEG:
        return [(0, -w)]
    if operation == COPY:
        return [(0, w)]
    if operation == SQRT:
        return [(0, w * (0.5 / y))]
    if operation == SIN:
        return [(0, w * a.cos())]
    if operation == COS:
        return [(0, -(w * a.sin()))]
    if b is None:
        return []  # a step, which is flat
    if operation == ADD:
        return [(0, w), (1, w)]
    if operation == SUB:
        return [(0, w), (1, -w)]
    if operation == MUL:
        return [(0, w * b), (1, w * a)]
    if operation == DIV:
        share = w / b
        return [(0, share), (1, -(share * y))]
    if operation == ATAN2:
        share = w / (a * a + b * b)
        return [(0, share * b), (1, -(share * a))]
    assert operation == MAX, f"no rule for operation {operation}"
    first = step(a - b)
    return [(0, w * first), (1, w - w * first)]
