"""Derivatives of a whole graph along one direction, forwards."""

from __future__ import annotations

from collections.abc import Sequence

from tailwork.algebra.derivatives import along
from tailwork.algebra.expression import INPUT, Expression, Tape
from tailwork.kernels.graph import Graph, finished
from tailwork.kernels.vjp import replayed


def jvp(graph: Graph, varied: Sequence[int], *, values: bool = False) -> Graph:
    """How the outputs change along a direction, as a graph of its own.

    Its inputs are those of the graph, then the rates of the `varied` ones, then the rates of all parameters.

    Args:
        graph: what is differentiated.
        varied: numbers of the inputs that change.
        values: whether the graph's own outputs shall come last.
    """
    tape, more = Tape(), len(varied) + graph.parameters
    places = replayed(graph, tape, more)
    rates = tape.inputs(more, graph.inputs)
    numbers = [*varied, *range(graph.inputs, graph.inputs + graph.parameters)]
    known = {int(first): places[k] for k, (operation, first, _) in enumerate(graph.entries) if operation == INPUT}
    direction = [
        (Expression(tape, known[number]), rate) for number, rate in zip(numbers, rates, strict=True) if number in known
    ]
    outputs = [Expression(tape, places[output]) for output in graph.outputs]
    moved = [row[0] for row in along(tape, outputs, [direction])]
    return finished(tape, [*moved, *(outputs if values else [])], graph.inputs + more, graph.parameters)
