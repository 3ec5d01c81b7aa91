"""A graph as a CasADi function, for those who optimise with CasADi."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi

from tailwork.algebra import expression as ops
from tailwork.algebra.expression import CONSTANT, INPUT
from tailwork.kernels.graph import Graph

OPERATIONS: dict[int, Any] = {
    ops.ADD: lambda a, b: a + b,
    ops.SUB: lambda a, b: a - b,
    ops.MUL: lambda a, b: a * b,
    ops.DIV: lambda a, b: a / b,
    ops.NEG: lambda a: -a,
    ops.COPY: lambda a: a,
    ops.SQRT: casadi.sqrt,
    ops.SIN: casadi.sin,
    ops.COS: casadi.cos,
    ops.ATAN2: casadi.atan2,
    ops.MAX: casadi.fmax,  # which, unlike ours, gives the other where one is NaN
    ops.STEP: lambda a: casadi.gt(a, 0.0),
}


def casadi_function(
    name: str, graph: Graph, inputs: Mapping[str, int], outputs: Mapping[str, tuple[int, ...]]
) -> casadi.Function:
    """The graph as a casadi.Function of SX symbols, with named arguments and results.

    Args:
        name: of the function.
        graph: inputs and parameters in the order of `inputs`.
        inputs: argument names and lengths; together all inputs and parameters of the graph.
        outputs: result names and shapes; together all outputs of the graph, row by row.
    """
    symbols = {key: casadi.SX.sym(key, size) for key, size in inputs.items()}
    flat: Sequence[Any] = casadi.vertsplit(casadi.vertcat(*symbols.values())) if sum(inputs.values()) else []
    values: list[Any] = []
    for operation, first, second in graph.entries:
        if operation == INPUT:
            values.append(flat[int(first)])
        elif operation == CONSTANT:
            values.append(casadi.SX(float(first)))
        elif second >= 0:
            values.append(OPERATIONS[operation](values[int(first)], values[second]))
        else:
            values.append(OPERATIONS[operation](values[int(first)]))
    results: dict[str, Any] = {}
    start = 0
    for key, shape in outputs.items():
        size = 1
        for n in shape:
            size *= n
        column = casadi.vertcat(*(values[k] for k in graph.outputs[start : start + size]))
        # CasADi counts down the columns; ours run along the rows.
        results[key] = casadi.reshape(column, shape[1], shape[0]).T if len(shape) == 2 else column
        start += size
    return casadi.Function(name, list(symbols.values()), list(results.values()), list(symbols), list(results))
