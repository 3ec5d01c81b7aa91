"""The forward dynamics of a model replayed operation by operation on arrays of another library: NumPy's or JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    STEP,
    SUB,
)
from tailwork.kernels.graph import Graph, split
from tailwork.model import Model
from tailwork.model.questions import recorded


def forward_graph(model: Model) -> Graph:
    """The graph that our own kernel is compiled from: what changes with the state."""
    return split(recorded(model._layout_with, "forward_dynamics")[0])[1]


def replay(graph: Graph, constants: Any, library: Any) -> Callable[[Any], list[Any]]:
    """The graph as a function of its inputs, a list of numbers or arrays, with the functions of a library."""
    operations: dict[int, Callable[..., Any]] = {
        ADD: lambda a, b: a + b, SUB: lambda a, b: a - b, MUL: lambda a, b: a * b, DIV: lambda a, b: a / b,
        NEG: lambda a: -a, COPY: lambda a: a, SQRT: library.sqrt, SIN: library.sin, COS: library.cos,
        ATAN2: library.arctan2, MAX: library.maximum, STEP: lambda a: library.where(a > 0.0, 1.0, 0.0),
    }  # fmt: skip
    last = {int(x): k for k, (op, *operands) in enumerate(graph.entries) if op > CONSTANT for x in operands}
    kept = set(graph.outputs)

    def run(inputs: Any) -> list[Any]:
        values: list[Any] = []
        for k, (op, first, second) in enumerate(graph.entries):
            if op == CONSTANT:
                values.append(first)
            elif op == INPUT:
                number = int(first)
                values.append(inputs[number] if number < graph.inputs else constants[number - graph.inputs])
            else:
                operands = [int(first), *([second] if second >= 0 else [])]
                values.append(operations[op](*(values[x] for x in operands)))
                for x in operands:  # arrays that nobody needs any more make room in the cache
                    if last[x] == k and x not in kept:
                        values[x] = None
        return [values[k] for k in graph.outputs]

    return run
