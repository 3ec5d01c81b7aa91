"""Derivatives of a whole graph at once, backwards: from weights of its outputs to weights of all it depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tailwork.algebra import expression as ops
from tailwork.algebra.expression import CONSTANT, INPUT, Expression, Scalar, Tape, is_zero, step
from tailwork.kernels.graph import Graph, finished

RULES: dict[int, Callable[[Scalar, Any, Any, Any], tuple[Scalar, ...]]] = {
    ops.ADD: lambda w, y, a, b: (w, w),
    ops.SUB: lambda w, y, a, b: (w, -w),
    ops.MUL: lambda w, y, a, b: (w * b, w * a),
    ops.DIV: lambda w, y, a, b: (w / b, -(w / b * y)),
    ops.NEG: lambda w, y, a, b: (-w,),
    ops.COPY: lambda w, y, a, b: (w,),
    ops.SQRT: lambda w, y, a, b: (w * (0.5 / y),),
    ops.SIN: lambda w, y, a, b: (w * a.cos(),),
    ops.COS: lambda w, y, a, b: (-(w * a.sin()),),
    ops.ATAN2: lambda w, y, a, b: (w / (a * a + b * b) * b, -(w / (a * a + b * b) * a)),
    ops.MAX: lambda w, y, a, b: (w * step(a - b), w - w * step(a - b)),
    ops.STEP: lambda w, y, a, b: (),  # which is flat
}
"""By operation y = f(a, b): the weights of a and b from the weight w of y. What is written twice is recorded once."""


def vjp(graph: Graph, by: Sequence[int] | None = None, *, values: bool = False, weighted: int | None = None) -> Graph:
    """wᵀ d(outputs)/d(inputs and parameters) as a graph of its own.

    Its inputs are those of the graph, then a weight w for each output; its outputs are derivatives by inputs, then by
    each parameter. Whatever the number of those, it takes a few times the operations of the graph.

    Args:
        graph: what is differentiated.
        by: numbers of the inputs that derivatives are wanted by; all of them by default.
        values: whether the graph's own outputs shall come last.
        weighted: how many outputs, the first ones, have a weight; all of them by default.
    """
    tape, weights = Tape(), len(graph.outputs) if weighted is None else weighted
    places = replayed(graph, tape, weights)
    by_entry: dict[int, Scalar] = {}
    for k, output in enumerate(graph.outputs[:weights]):
        _add(by_entry, output, tape.record(INPUT, graph.inputs + k))
    for k in range(len(graph.entries) - 1, -1, -1):
        operation, first, second = graph.entries[k]
        if k in by_entry and operation > CONSTANT:
            a, b = Expression(tape, places[int(first)]), Expression(tape, places[second]) if second >= 0 else None
            shares = RULES[operation](by_entry[k], Expression(tape, places[k]), a, b)
            for operand, weight in zip((int(first), second), shares, strict=False):
                _add(by_entry, operand, weight)
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
