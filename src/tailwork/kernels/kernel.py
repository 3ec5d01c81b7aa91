"""A kernel: compiled equations, ready for one state or many."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from tailwork.algebra.expression import OPERATION_NAMES
from tailwork.kernels import emit, parts
from tailwork.kernels import graph as graphs
from tailwork.kernels.emit import module
from tailwork.kernels.graph import Graph, split
from tailwork.kernels.native import Code, compiled, machine

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

MANY = 4096  # rows from which a call takes the lane function in parts, which is compiled when first needed


class Constants:
    """What a kernel has computed from a design, once for all states."""

    def __init__(self, values: Floats, width: int) -> None:
        self.values = values
        self.address = _address(values)
        self.lanes = np.repeat(values, width)  # the same in every lane


class Kernel:
    """Machine code of one graph: a prelude for the design, a scalar function and a lane function for states.

    Scalar and lanes carry out the same operations in the same order: a batch gives the same bits as single calls.
    """

    def __init__(self, graph: Graph, *, lanes: bool = True) -> None:
        prelude, main = split(graph)
        self.inputs = graph.inputs
        self.outputs = len(graph.outputs)
        self.parameters = graph.parameters
        self.flops = main.flops
        self.operations = main.operations
        self.width = machine().width if lanes else 1
        self.kept = main.parameters  # numbers that the prelude computes of a design
        self._main = main
        self._identity = _identity(graph, self.width) or module(prelude, main, self.width)
        self.code = compiled(self._identity, lambda: module(prelude, main, self.width))
        self._prelude = self.code.function("prelude", counted=False)
        self._scalar = self.code.function("scalar", counted=False)
        self._rows = self.code.function("rows", counted=True)
        self._blocks = self.code.function("blocks" if lanes else "rows", counted=True)

    @cached_property
    def executed(self) -> int:
        """Floating-point operations a row: a fused product and sum are two, the polynomials of a sine count in full."""
        return emit.executed(self._main)

    @cached_property
    def _in_parts(self) -> tuple[Code, Callable[..., None]]:
        """The lane function for many blocks, part by part; compiled when first asked for."""
        if self.width == 1:
            return self.code, self._rows
        code = compiled(f"{self._identity} in parts", lambda: parts.module(self._main, self.width))
        return code, code.function("groups", counted=True)

    def constants(self, parameters: Floats) -> Constants:
        """Run the prelude for one design."""
        values = np.empty(self.kept)
        given = np.ascontiguousarray(parameters, dtype=np.float64)
        if given.shape != (self.parameters,):
            raise ValueError(f"got parameters of shape {given.shape}; required: ({self.parameters},)")
        self._prelude(None, _address(given), _address(values))
        return Constants(values, self.width)

    def single(self, x: Floats, constants: Constants, y: Floats) -> Callable[[], None]:
        """The scalar function bound to arrays that stay where they are."""
        return _bound(self.code, self._scalar, (), x, constants.values, y)

    def loop(self, x: Floats, constants: Constants, y: Floats) -> Callable[[], None]:
        """The scalar function for all rows of x, bound to arrays that stay where they are."""
        return _bound(self.code, self._rows, (len(x),), x, constants.values, y)

    def lane_loop(self, x: Floats, constants: Constants, y: Floats) -> Callable[[], None]:
        """The lane function for all whole blocks of rows of x, bound to arrays that stay where they are.

        It is the quickest way through many rows; the first such call of a kernel compiles it.
        """
        code, groups = self._in_parts
        return _bound(code, groups, (len(x) // self.width,), x, constants.lanes, y)

    def row(self, x: Floats, constants: Constants) -> Floats:
        """Outputs for one row of inputs, a contiguous (inputs,) array of float64, which is not checked."""
        y = np.empty(self.outputs)
        self._scalar(_address(x), constants.address, _address(y))
        return y

    def __call__(self, x: Floats, constants: Constants) -> Floats:
        """Outputs for rows of inputs, (n, inputs) → (n, outputs)."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        count = len(x)
        if x.shape != (count, self.inputs):
            raise ValueError(f"got rows of shape {x.shape}; required: ({count}, {self.inputs})")
        if count == 1:
            return self.row(x[0], constants)[None]
        y = np.empty((count, self.outputs))
        if count < MANY:
            self._blocks(count // self.width, _address(x), _address(constants.lanes), _address(y))
        else:
            self.lane_loop(x, constants, y)()
        done = count // self.width * self.width
        if done < count:
            self.loop(x[done:], constants, y[done:])()
        return y


def _identity(graph: Graph, width: int) -> str:
    """What a kernel's assembly follows from: the graph, the lanes, and how assembly is written; empty if not known."""
    if not _writing():
        return ""
    told = repr((graph.entries, graph.outputs, graph.inputs, graph.parameters, width, OPERATION_NAMES, _writing()))
    return hashlib.sha256(told.encode()).hexdigest()


@lru_cache(maxsize=1)
def _writing() -> str:
    """The source of what turns graphs into assembly: another version of it writes other code. Empty without source."""
    try:
        return "".join(inspect.getsource(source) for source in (graphs, emit, parts))
    except OSError:
        return ""


def _address(array: Floats) -> int:
    """Where an array's numbers are; quicker than array.ctypes.data."""
    return array.__array_interface__["data"][0]


def _bound(code: Code, function: Callable[..., None], counts: tuple[int, ...], *arrays: Floats) -> Callable[[], None]:
    """A call of compiled code on given arrays; code and arrays live as long as the call can be made."""
    arguments = (*counts, *(_address(array) for array in arrays))

    def run(_held: tuple[object, ...] = (code, *arrays)) -> None:
        function(*arguments)

    return run
