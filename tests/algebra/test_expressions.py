"""The tape: what it simplifies keeps its value, and finished and split graphs compute what was recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailwork.algebra import expression as ex
from tailwork.algebra.expression import CONSTANT, INPUT, Expression, Scalar, Tape
from tailwork.kernels.casadi_export import casadi_function
from tailwork.kernels.graph import Entry, Graph, finished, split

INPUTS, PARAMETERS = 3, 3
UNIT = 2.0**-53
"""Largest relative error of one rounding."""

# Trees of operations, evaluated with any kind of scalar.

Tree = tuple[Any, ...]
"""("leaf", number of an input), ("number", float) or (operation, tree, …)."""

UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "square": lambda a: a**2,
    "sin": ex.sin,
    "cos": ex.cos,
    "root": lambda a: ex.sqrt(a * a + 0.5),  # of something positive
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (b * b + 0.25),  # by something positive
    "angle": lambda a, b: _arctan2(a, b * b + 0.1),  # away from the origin
}


def _arctan2(y: Scalar, x: Scalar) -> Scalar:
    return arctan2_bounded(y, x) if isinstance(y, Bounded) or isinstance(x, Bounded) else ex.arctan2(y, x)


def trees() -> st.SearchStrategy[Tree]:
    """Random trees; numbers that the tape treats apart (0, ±1, negative ones) come often."""
    leaves = st.one_of(
        st.tuples(st.just("leaf"), st.integers(0, INPUTS + PARAMETERS - 1)),
        st.tuples(st.just("number"), st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, -0.5, 3.0, 1e-3, -7.25])),
    )

    def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        return st.one_of(
            st.tuples(st.sampled_from(sorted(UNARY)), inner),
            st.tuples(st.sampled_from(sorted(BINARY)), inner, inner),
            st.tuples(st.sampled_from(["add", "sub", "mul"]), inner, inner),  # these more often
        )

    return st.recursive(leaves, grown, max_leaves=12)


def points() -> st.SearchStrategy[list[float]]:
    """Values of all inputs and parameters."""
    return st.lists(st.floats(-2.0, 2.0), min_size=INPUTS + PARAMETERS, max_size=INPUTS + PARAMETERS)


def value(tree: Tree, inputs: Sequence[Scalar]) -> Scalar:
    """A tree computed with whatever scalars the inputs are; numbers in it are floats."""
    kind, *rest = tree
    if kind == "leaf":
        return inputs[rest[0]]
    if kind == "number":
        return rest[0]
    operands = [value(inner, inputs) for inner in rest]
    return UNARY[kind](*operands) if len(operands) == 1 else BINARY[kind](*operands)


@dataclass(frozen=True)
class Bounded:
    """A float with a bound of what roundings have done to it so far, however they fell."""

    x: float
    error: float = 0.0

    def _rounded(self, x: float, error: float, roundings: int = 2) -> Bounded:
        return Bounded(x, error + roundings * UNIT * (abs(x) + error) + 5e-324)

    def __neg__(self) -> Bounded:
        return Bounded(-self.x, self.error)

    def __add__(self, other: Any) -> Bounded:
        b = bounded(other)
        return self._rounded(self.x + b.x, self.error + b.error)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Bounded:
        return self + -bounded(other)

    def __rsub__(self, other: Any) -> Bounded:
        return bounded(other) + -self

    def __mul__(self, other: Any) -> Bounded:
        b = bounded(other)
        return self._rounded(self.x * b.x, abs(self.x) * b.error + abs(b.x) * self.error + self.error * b.error)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Bounded:
        b = bounded(other)
        quotient, least = self.x / b.x, abs(b.x) - b.error
        return self._rounded(quotient, (self.error + abs(quotient) * b.error) / least if least > 0 else math.inf)

    def __rtruediv__(self, other: Any) -> Bounded:
        return bounded(other) / self

    def __pow__(self, exponent: int) -> Bounded:
        assert exponent == 2
        return self * self

    def sqrt(self) -> Bounded:
        least = self.x - self.error
        return self._rounded(math.sqrt(self.x), 0.5 * self.error / math.sqrt(least) if least > 0 else math.inf)

    def sin(self) -> Bounded:
        return self._rounded(math.sin(self.x), self.error, 4)

    def cos(self) -> Bounded:
        return self._rounded(math.cos(self.x), self.error, 4)


def bounded(x: Any) -> Bounded:
    """A number as one with a bound."""
    return x if isinstance(x, Bounded) else Bounded(float(x))


def arctan2_bounded(y: Any, x: Any) -> Bounded:
    """The angle of (x, y); it turns by at most error/radius."""
    a, b = bounded(y), bounded(x)
    least = math.hypot(a.x, b.x) - a.error - b.error
    return a._rounded(math.atan2(a.x, b.x), (a.error + b.error) / least if least > 0 else math.inf, 4)


# Graphs.

OPERATIONS: dict[int, Callable[..., float]] = {
    ex.ADD: lambda a, b: a + b,
    ex.SUB: lambda a, b: a - b,
    ex.MUL: lambda a, b: a * b,
    ex.DIV: lambda a, b: a / b,
    ex.NEG: lambda a: -a,
    ex.SQRT: math.sqrt,
    ex.SIN: math.sin,
    ex.COS: math.cos,
    ex.ATAN2: math.atan2,
    ex.COPY: lambda a: a,
}


def interpreted(graph: Graph, inputs: Sequence[float]) -> list[float]:
    """Outputs of a graph for all its inputs and parameters, operation by operation."""
    values: list[float] = []
    for operation, first, second in graph.entries:
        if operation == INPUT:
            values.append(inputs[int(first)])
        elif operation == CONSTANT:
            values.append(float(first))
        else:
            operands = [values[k] for k in operands_of((operation, first, second))]
            values.append(OPERATIONS[operation](*operands))
    return [values[k] for k in graph.outputs]


def operands_of(entry: Entry) -> list[int]:
    """Entries that an entry works on."""
    operation, first, second = entry
    if operation in (INPUT, CONSTANT):
        return []
    return [int(first)] if second < 0 else [int(first), second]


def recorded(forest: Sequence[Tree], junk: Sequence[Tree] = ()) -> Graph:
    """The graph of some trees; junk is recorded too, but is no output."""
    tape = Tape()
    inputs = tape.inputs(INPUTS + PARAMETERS, 0)
    for tree in junk:
        value(tree, inputs)
    return finished(tape, [value(tree, inputs) for tree in forest], INPUTS, PARAMETERS)


def assert_bounded(found: Sequence[float], forest: Sequence[Tree], point: Sequence[float]) -> None:
    """The found values differ from the exact ones, and so from those of floats, by no more than rounding can do."""
    for tree, x in zip(forest, found, strict=True):
        expected = bounded(value(tree, [Bounded(p) for p in point]))
        if math.isfinite(expected.error) and abs(expected.x) < 1e100:
            assert abs(x - expected.x) <= 2 * expected.error


FORESTS = st.lists(trees(), min_size=1, max_size=3)


@given(FORESTS, points())
@settings(max_examples=200, deadline=None)
def test_floats_and_the_recorded_graph_agree(forest: list[Tree], point: list[float]) -> None:
    assert_bounded([float(value(tree, point)) for tree in forest], forest, point)
    assert_bounded(interpreted(recorded(forest), point), forest, point)


@given(FORESTS, points())
@settings(max_examples=120, deadline=None)
def test_casadi_and_the_recorded_graph_agree(forest: list[Tree], point: list[float]) -> None:
    sizes = {"x": INPUTS, "parameters": PARAMETERS}
    function = casadi_function("f", recorded(forest), sizes, {"y": (len(forest),)})
    found = np.array(function(point[:INPUTS], point[INPUTS:])).ravel()
    assert_bounded([float(x) for x in found], forest, point)


def test_casadi_function_has_names_and_rows() -> None:
    """Arguments and results go by name, and a result of two dimensions is laid out along its rows."""
    tape = Tape()
    a, b, c = tape.inputs(3, 0)
    outputs = [a, b, c, a + b, 5.0, b * c, a - c]
    graph = finished(tape, outputs, 2, 1)
    function = casadi_function("f", graph, {"x": 2, "parameters": 1}, {"table": (2, 3), "rest": (1,)})
    assert function.name_in() == ["x", "parameters"]
    assert function.name_out() == ["table", "rest"]
    table, rest = function([2.0, 3.0], [4.0])
    assert np.array(table).tolist() == [[2.0, 3.0, 4.0], [5.0, 5.0, 12.0]]
    assert float(rest) == -2.0


def test_casadi_function_without_arguments() -> None:
    """A graph of constants alone has no arguments."""
    graph = finished(Tape(), [1.5, -2.0], 0, 0)
    function = casadi_function("f", graph, {}, {"y": (2,)})
    assert np.array(function()["y"]).ravel().tolist() == [1.5, -2.0]


def test_casadi_differentiates_the_graph() -> None:
    """Derivatives by inputs and by parameters are those of the equations."""
    tape = Tape()
    x, p = tape.inputs(2, 0)
    graph = finished(tape, [x.sin() * p, ex.sqrt(p) / x, ex.arctan2(x, p)], 1, 1)
    function = casadi_function("f", graph, {"x": 1, "p": 1}, {"y": (3,)})
    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    jacobian = casadi.Function("J", [a, b], [casadi.jacobian(function(a, b), casadi.vertcat(a, b))])
    found = np.array(jacobian(0.7, 2.0))
    root, square = math.sqrt(2.0), 0.7**2 + 4.0
    expected = [
        [2.0 * math.cos(0.7), math.sin(0.7)],
        [-root / 0.49, 0.5 / root / 0.7],
        [2.0 / square, -0.7 / square],
    ]
    np.testing.assert_allclose(found, expected, rtol=4e-16 * 4)


# What is simplified as it is written.


def names() -> tuple[Tape, Expression, Expression, Expression]:
    """A tape with three inputs."""
    tape = Tape()
    a, b, c = tape.inputs(3, 0)
    return tape, a, b, c


def same(one: Scalar, other: Scalar) -> bool:
    """Whether two expressions are one entry."""
    return one.index == other.index


def test_zero_disappears() -> None:
    tape, a, _, _ = names()
    before = len(tape.entries)
    for zero in (0, 0.0, -0.0, np.float64(0.0)):
        assert a + zero is a and zero + a is a and a - zero is a
        for found in (a * zero, zero * a, zero / a):
            assert isinstance(found, float) and found == 0.0
    assert len(tape.entries) == before, "nothing is recorded for it"


def test_one_disappears() -> None:
    tape, a, _, _ = names()
    before = len(tape.entries)
    for one in (1, 1.0, np.float64(1.0)):
        assert a * one is a and one * a is a and a / one is a
    assert len(tape.entries) == before
    assert same(a * -1, -a) and same(-1.0 * a, -a) and same(a / -1.0, -a)


def test_what_is_equal_to_itself() -> None:
    _, a, b, _ = names()
    assert (a - a, a / a) == (0.0, 1.0)
    assert ((a * b) - (b * a), (a + b) / (b + a)) == (0.0, 1.0)


def test_numbers_are_folded_by_python() -> None:
    """Functions of numbers are numbers: nothing is recorded."""
    assert ex.sqrt(4) == 2.0 and ex.sin(0.0) == 0.0 and ex.cos(0) == 1.0
    assert ex.arctan2(1.0, 0.0) == math.pi / 2
    assert ex.is_zero(0) and ex.is_zero(-0.0) and not ex.is_zero(1e-300)
    assert not ex.is_zero(Tape().inputs(1, 0)[0])


def test_common_subexpressions_are_one_entry() -> None:
    tape, a, b, c = names()
    assert same(a + b, b + a) and same(a * b, b * a) and same(2.0 * a, a * 2)
    assert same((a * b + c).sin(), (c + b * a).sin())
    assert same(ex.arctan2(a, 1.0), ex.arctan2(a, 1.0)) and not same(ex.arctan2(a, b), ex.arctan2(b, a))
    assert not same(a - b, a + b) and not same(a / b, b / a) and not same(a.sin(), a.cos())
    assert len(set(tape.entries)) == len(tape.entries)


def test_signs_are_moved_outward() -> None:
    tape, a, b, _ = names()
    assert same(-1.0 * -a, a) and same((-a).__neg__(), a) and same(+a, a)
    assert same(-(a - b), b - a)
    assert same(a + -b, a - b) and same(-a + b, b - a)
    assert same(a - -b, a + b) and same(-a - b, -(a + b)) and same(-a - -b, b - a) and same(-a + -b, -(a + b))
    assert same(-a * b, -(a * b)) and same(a * -b, -(a * b)) and same(-a * -b, a * b)
    assert same(a * -3.0, -(a * 3.0)) and same(-a * -3.0, a * 3.0)
    assert same(-a / b, -(a / b))
    assert same(0.0 - a, -a)
    negated = {first for operation, first, _ in tape.entries if operation == ex.NEG}
    assert not any(tape.entries[k][0] in (ex.NEG, ex.SUB) for k in negated), "no −(−x) and no −(x − y)"


def test_division_by_a_number_is_a_product() -> None:
    tape, a, _, _ = names()
    assert same(a / 4.0, a * 0.25)
    assert all(operation != ex.DIV for operation, _, _ in tape.entries)


def test_an_expression_has_no_truth_value() -> None:
    """Equations cannot branch on a symbol by mistake: not by truth, order, value or whole part."""
    _, a, b, _ = names()
    for asked in (bool, float, int, math.floor, lambda x: x < b, lambda x: x >= 0, lambda x: x and b):
        with pytest.raises(TypeError):
            asked(a)
    with pytest.raises(TypeError, match="recorded, not run"):
        _ = 1.0 if a else 2.0


def test_only_squares() -> None:
    _, a, _, _ = names()
    assert same(a**2, a * a) and same(a**2.0, a * a)
    for exponent in (3, 0.5, -1, 0, 1):
        with pytest.raises(TypeError, match="only be squared"):
            a**exponent
    for refused in (lambda: 2**a, lambda: a % 2, lambda: a // 2):
        with pytest.raises(TypeError):
            refused()


@given(FORESTS)
@settings(max_examples=120, deadline=None)
def test_a_recorded_graph_is_simplified(forest: list[Tree]) -> None:
    """In any graph: each entry once; no sum with zero, product with zero, ±1 or a negative number, no double sign."""
    graph = recorded(forest)
    assert len(set(graph.entries)) == len(graph.entries)
    constants = {k: float(first) for k, (op, first, _) in enumerate(graph.entries) if op == CONSTANT}
    for entry in graph.entries:
        operation, operands = entry[0], operands_of(entry)
        numbers = [constants[k] for k in operands if k in constants]
        assert len(numbers) < max(len(operands), 1), "an operation on numbers alone is left to Python"
        if operation in (ex.ADD, ex.SUB):
            assert 0.0 not in numbers
        if operation == ex.MUL:
            assert all(number > 0.0 and number != 1.0 for number in numbers)
        if operation == ex.DIV:
            assert operands[1] not in constants and 0.0 not in numbers
        if operation == ex.NEG:
            assert graph.entries[operands[0]][0] not in (ex.NEG, ex.SUB)
        if operation in (ex.SUB, ex.DIV):
            assert operands[0] != operands[1]


# Finished and split graphs.


@given(FORESTS, st.lists(trees(), max_size=3), points())
@settings(max_examples=120, deadline=None)
def test_finished_keeps_what_is_needed_and_nothing_else(
    forest: list[Tree], junk: list[Tree], point: list[float]
) -> None:
    graph = recorded(forest, junk)
    needed = set(graph.outputs)
    for k in range(len(graph.entries) - 1, -1, -1):
        assert k in needed, "an entry that no output needs"
        assert all(operand < k for operand in operands_of(graph.entries[k])), "an entry before its operands"
        needed.update(operands_of(graph.entries[k]))
    assert interpreted(graph, point) == interpreted(recorded(forest), point)


def test_finished_takes_numbers_and_repeated_outputs() -> None:
    tape, a, b, c = names()
    _ = b * c + 1.0
    graph = finished(tape, [a, 2.0, a, a + 2.0, 2], 3, 0)
    assert interpreted(graph, [5.0, 0.0, 0.0]) == [5.0, 2.0, 5.0, 7.0, 2.0]
    assert len(graph.entries) == 3
    assert (graph.inputs, graph.parameters) == (3, 0), "inputs keep their numbers, used or not"


def test_operations_are_counted() -> None:
    tape, a, b, _ = names()
    graph = finished(tape, [-(a * b) + a.sin(), a / b - 2.0, -a], 3, 0)
    assert graph.operations == {"mul": 1, "sin": 1, "sub": 2, "div": 1}
    assert graph.flops == 5, "signs are free"


@given(FORESTS, points())
@settings(max_examples=200, deadline=None)
def test_prelude_and_main_are_the_whole_graph(forest: list[Tree], point: list[float]) -> None:
    """The same operations in the same order: equal to the last bit."""
    graph = recorded(forest)
    prelude, main = split(graph)
    constants = interpreted(prelude, point[INPUTS:])
    assert interpreted(main, [*point[:INPUTS], *constants]) == interpreted(graph, point)
    assert (prelude.inputs, prelude.parameters) == (0, PARAMETERS)
    assert (main.inputs, main.parameters) == (INPUTS, len(prelude.outputs))


@given(FORESTS)
@settings(max_examples=200, deadline=None)
def test_main_has_nothing_that_depends_on_parameters_alone(forest: list[Tree]) -> None:
    """Every operation of the main graph depends on the state; every constant handed over is used."""
    prelude, main = split(recorded(forest))
    depends: list[bool] = []
    for entry in main.entries:
        operation, first, _ = entry
        operands = operands_of(entry)
        if operation == INPUT:
            depends.append(first < main.inputs)
        else:
            depends.append(any(depends[k] for k in operands))
            assert depends[-1] or operation == CONSTANT, "an operation for the prelude"
    used = {int(first) - main.inputs for op, first, _ in main.entries if op == INPUT and first >= main.inputs}
    assert used == set(range(main.parameters)), "a constant that the main graph does not use"
    assert len(set(prelude.outputs)) == len(prelude.outputs)
    assert all(first < PARAMETERS for op, first, _ in prelude.entries if op == INPUT)
