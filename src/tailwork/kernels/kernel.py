"""A kernel: compiled equations, ready for one state or many."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from tailwork.kernels.emit import module
from tailwork.kernels.graph import Graph, split
from tailwork.kernels.native import compiled, machine

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class Constants:
    """What a kernel has computed from a design, once for all states."""

    def __init__(self, values: Floats, width: int) -> None:
        self.values = values
        self.lanes = np.repeat(values, width)  # the same in every lane


class Kernel:
    """Machine code of one graph: a prelude for the design, a scalar function and a lane function for states.

    Scalar and lanes carry out the same operations in the same order: a batch gives the same bits as single calls.
    """

    def __init__(self, graph: Graph) -> None:
        prelude, main = split(graph)
        self.inputs = graph.inputs
        self.outputs = len(graph.outputs)
        self.parameters = graph.parameters
        self.flops = main.flops
        self.operations = main.operations
        self.width = machine().width
        self._constants = main.parameters
        self.code = compiled(module(prelude, main, self.width))
        self._prelude = self.code.function("prelude", counted=False)
        self._scalar = self.code.function("scalar", counted=False)
        self._rows = self.code.function("rows", counted=True)
        self._blocks = self.code.function("blocks", counted=True)

    def constants(self, parameters: Floats) -> Constants:
        """Run the prelude for one design."""
        values = np.empty(self._constants)
        given = np.ascontiguousarray(parameters, dtype=np.float64)
        assert given.shape == (self.parameters,)
        self._prelude(None, given.ctypes.data, values.ctypes.data)
        return Constants(values, self.width)

    def __call__(self, x: Floats, constants: Constants) -> Floats:
        """Outputs for rows of inputs, (n, inputs) → (n, outputs)."""
        count = len(x)
        assert x.flags.c_contiguous and x.dtype == np.float64 and x.shape == (count, self.inputs)
        y = np.empty((count, self.outputs))
        if count == 1:
            self._scalar(x.ctypes.data, constants.values.ctypes.data, y.ctypes.data)
            return y
        blocks = count // self.width
        done = blocks * self.width
        if blocks:
            self._blocks(blocks, x.ctypes.data, constants.lanes.ctypes.data, y.ctypes.data)
        if done < count:
            rest = count - done
            self._rows(rest, x[done:].ctypes.data, constants.values.ctypes.data, y[done:].ctypes.data)
        return y
