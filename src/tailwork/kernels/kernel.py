"""A kernel: compiled equations, ready for one state or many."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from tailwork.algebra.expression import OPERATION_NAMES
from tailwork.errors import RobotError
from tailwork.kernels import emit, parts
from tailwork.kernels import graph as graphs
from tailwork.kernels.graph import Graph, split
from tailwork.kernels.language import address_of
from tailwork.kernels.native import Code, compiled, machine
from tailwork.locks import lock
from tailwork.typing import Floats

MANY = 4096  # rows from which a call takes the lane function in parts
OFTEN = 100_000  # rows that smaller calls together leave to the scalar function, before lanes are compiled for them
MOST_OPERATIONS = 200_000
"""Operations for one state; a kernel that has more is refused before it is compiled."""
_compiling = lock()
_owners: list[Callable[[], None]] = []


def keeps_kernels(forget: Callable[[], None]) -> None:
    """Whoever keeps kernels for later says how they are forgotten."""
    _owners.append(forget)


def free_kernels() -> None:
    """Give back the memory of compiled equations that no model, run or batch at hand needs; others come from the cache
    on disk when they are next wanted. For programs that go through very many structures of robots."""
    for forget in _owners:
        forget()


class Constants:
    """What a kernel has computed from a design, once for all states."""

    def __init__(self, values: Floats, width: int) -> None:
        self.values = values
        self.address = address_of(values)
        self.lanes = np.repeat(values, width)  # the same in every lane


class Kernel:
    """Machine code of one graph: a prelude for the design, a scalar function and a lane function for states.

    Scalar and lanes carry out the same operations in the same order: a batch gives the same bits as single calls. Lanes
    take longer to compile than they save in a few rows, so that they are compiled when they are first worth it.
    """

    def __init__(self, graph: Graph, robot: str = "") -> None:
        self._robot = robot  # whose equations these are, for progress lines
        prelude, main = split(graph)
        if main.flops > MOST_OPERATIONS:
            required = (
                f"at most {MOST_OPERATIONS:,} operations for one state, which take minutes and gigabytes to compile: "
                "describe the robot with fewer links, or, where a stiff method needs them, choose method='dopri5'"
            )
            raise RobotError("robot", f"{robot or 'equations'} with {main.flops:,} operations", required)
        self.inputs = graph.inputs
        self.outputs = len(graph.outputs)
        self.parameters = graph.parameters
        self.flops = main.flops
        self.operations = main.operations
        self.width = machine().width
        self.kept = main.parameters  # numbers that the prelude computes of a design
        self._main = main
        self._identity = _identity(graph, self.width) or parts.scalar_module(prelude, main)
        self.code = compiled(
            self._identity, lambda: parts.scalar_module(prelude, main), robot=robot, operations=main.flops
        )
        self._prelude = self.code.function("prelude", counted=False)
        self._scalar = self.code.function("scalar", counted=False)
        self._rows = self.code.function("rows", counted=True)
        self._blocks: Callable[..., None] | None = None
        self._lanes: dict[str, Code] = {}
        self._in_small_calls = 0

    @cached_property
    def executed(self) -> int:
        """Floating-point operations a row: a fused product and sum are two, the polynomials of a sine count in full."""
        return emit.executed(self._main)

    def lane_address(self) -> int:
        """Address of the lane function, for as long as the kernel lives; the first call compiles it."""
        return self._lane_code("in lanes", parts.lane_module).address("lanes")

    def _lane_code(self, name: str, assembly: Callable[[Graph, int], str]) -> Code:
        """Code in lanes, compiled when first asked for: once, because it is used by its address."""
        with _compiling:
            if name not in self._lanes:
                text = f"{self._identity} {name}"
                self._lanes[name] = compiled(
                    text, lambda: assembly(self._main, self.width), robot=self._robot, operations=self.flops
                )
            return self._lanes[name]

    def constants(self, parameters: Floats) -> Constants:
        """Run the prelude for one design."""
        values = np.empty(self.kept)
        given = np.ascontiguousarray(parameters, dtype=np.float64)
        if given.shape != (self.parameters,):
            raise ValueError(f"got parameters of shape {given.shape}; required: ({self.parameters},)")
        self._prelude(None, address_of(given), address_of(values))
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
        code = self._lane_code("in parts", parts.module)
        return _bound(code, code.function("groups", counted=True), (len(x) // self.width,), x, constants.lanes, y)

    def row(self, x: Floats, constants: Constants) -> Floats:
        """Outputs for one row of inputs, a contiguous (inputs,) array of float64, which is not checked."""
        y = np.empty(self.outputs)
        self._scalar(address_of(x), constants.address, address_of(y))
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
        done = count // self.width * self.width
        if count >= MANY:
            self.lane_loop(x, constants, y)()
        elif blocks := self._worth_lanes(count):
            blocks(count // self.width, address_of(x), address_of(constants.lanes), address_of(y))
        else:
            done = 0
        if done < count:
            self.loop(x[done:], constants, y[done:])()
        return y

    def _worth_lanes(self, count: int) -> Callable[..., None] | None:
        """The lane function for blocks of rows, once so many rows have come that it pays to compile it."""
        if self._blocks is None:
            self._in_small_calls += count
            if self._in_small_calls >= OFTEN:
                self._blocks = self._lane_code("in lanes", parts.lane_module).function("blocks", counted=True)
        return self._blocks


def _identity(graph: Graph, width: int) -> str:
    """What a kernel's assembly follows from: the graph, the lanes, and how assembly is written; empty if not known."""
    if not _writing():
        return ""
    text = repr((graph.entries, graph.outputs, graph.inputs, graph.parameters, width, OPERATION_NAMES, _writing()))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def _writing() -> str:
    """The source of what turns graphs into assembly: another version of it writes other code. Empty without source."""
    try:
        return "".join(inspect.getsource(source) for source in (graphs, emit, parts))
    except OSError:
        return ""


def _bound(code: Code, function: Callable[..., None], counts: tuple[int, ...], *arrays: Floats) -> Callable[[], None]:
    """A call of compiled code on given arrays; code and arrays live as long as the call can be made."""
    arguments = (*counts, *(address_of(array) for array in arrays))

    def run(_held: tuple[object, ...] = (code, *arrays)) -> None:
        function(*arguments)

    return run
