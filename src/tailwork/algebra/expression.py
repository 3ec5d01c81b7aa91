"""Expressions recorded on a tape: every arithmetic operation once, simplified as it is written.

Equations are plain Python on scalars. Given floats they compute; given `Expression`s they record what they
would compute. The tape keeps one entry per distinct operation (common subexpressions are shared at once) and
drops what is exactly zero or one, so the structure of a robot prunes its own equations.

Recording here instead of in CasADi's Python front end is a matter of time: one operation on two casadi.SX scalars
costs tens of microseconds, one on this tape about one. A finished graph converts to a CasADi function exactly
(`tailwork.kernels.casadi_export`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, TypeAlias

from tailwork.errors import ArgumentError

Scalar: TypeAlias = Any
"""A float, an `Expression` or any other number type with arithmetic (a casadi.SX, for instance)."""

INPUT, CONSTANT, ADD, SUB, MUL, DIV, NEG, SQRT, SIN, COS, ATAN2, COPY, MAX, STEP = range(14)
OPERATION_NAMES = (
    "input", "constant", "add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos", "atan2", "copy", "max", "step",
)  # fmt: skip


class Tape:
    """The list of operations recorded so far: (operation, first operand, second operand or −1)."""

    __slots__ = ("_found", "entries")

    def __init__(self) -> None:
        self.entries: list[tuple[int, Any, int]] = []
        self._found: dict[tuple[int, Any, int], Expression] = {}

    def record(self, operation: int, first: Any, second: int = -1) -> Expression:
        """The expression of one operation, recorded unless it already is."""
        key = (operation, first, second)
        found = self._found.get(key)
        if found is None:
            found = Expression(self, len(self.entries))
            self.entries.append(key)
            self._found[key] = found
        return found

    def inputs(self, count: int, start: int) -> list[Expression]:
        """The next `count` numbered inputs, beginning at number `start`."""
        return [self.record(INPUT, start + k) for k in range(count)]


NO_NUMBER = "recorded, not run: sin …, larger, smaller, step of tailwork.algebra stand for those of math, max, min, if"
"""What is said where equations treat an expression as a number that is there."""


class Expression:
    """One entry of a tape, usable as a number."""

    __slots__ = ("index", "tape")

    def __init__(self, tape: Tape, index: int) -> None:
        self.tape = tape
        self.index = index

    def _index_of(self, other: Scalar) -> int:
        if type(other) is Expression:
            return other.index
        return self.tape.record(CONSTANT, float(other)).index

    def __neg__(self) -> Expression:
        operation, first, second = self.tape.entries[self.index]
        if operation == NEG:
            return Expression(self.tape, first)
        if operation == SUB:
            return self.tape.record(SUB, second, first)
        return self.tape.record(NEG, self.index)

    def __pos__(self) -> Expression:
        return self

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is not Expression:
            if other == 0:
                return self
        else:
            operation, first, _ = self.tape.entries[other.index]
            if operation == NEG:
                return self - Expression(self.tape, first)
            operation, first, _ = self.tape.entries[self.index]
            if operation == NEG:
                return other - Expression(self.tape, first)
        a, b = self.index, self._index_of(other)
        return self.tape.record(ADD, a, b) if a <= b else self.tape.record(ADD, b, a)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is not Expression:
            if other == 0:
                return self
        else:
            if other.index == self.index:
                return 0.0
            operation, first, _ = self.tape.entries[other.index]
            if operation == NEG:
                return self + Expression(self.tape, first)
            operation, first, _ = self.tape.entries[self.index]
            if operation == NEG:
                return -(Expression(self.tape, first) + other)
        return self.tape.record(SUB, self.index, self._index_of(other))

    def __rsub__(self, other: Scalar) -> Scalar:
        if other == 0:
            return -self
        return self.tape.record(SUB, self._index_of(other), self.index)

    def __mul__(self, other: Scalar) -> Scalar:
        entries = self.tape.entries
        if type(other) is not Expression:
            if other == 0:
                return 0.0
            if other == 1:
                return self
            if other == -1:
                return -self
            if other < 0:
                return -(self * -other)
        else:
            operation, first, _ = entries[other.index]
            if operation == NEG:
                return -(self * Expression(self.tape, first))
        operation, first, _ = entries[self.index]
        if operation == NEG:
            return -(Expression(self.tape, first) * other)
        a, b = self.index, self._index_of(other)
        return self.tape.record(MUL, a, b) if a <= b else self.tape.record(MUL, b, a)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if type(other) is not Expression:
            return self * (1.0 / other)
        if other.index == self.index:
            return 1.0
        operation, first, _ = self.tape.entries[self.index]
        if operation == NEG:
            return -(Expression(self.tape, first) / other)
        return self.tape.record(DIV, self.index, other.index)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        if other == 0:
            return 0.0
        return self.tape.record(DIV, self._index_of(other), self.index)

    def __pow__(self, exponent: int) -> Scalar:
        if exponent == 2:
            return self * self
        raise TypeError(f"an Expression can only be squared, not raised to {exponent!r}; write the product out")

    def sqrt(self) -> Expression:
        """The square root, recorded."""
        return self.tape.record(SQRT, self.index)

    def sin(self) -> Expression:
        """The sine of an angle [rad], recorded."""
        return self.tape.record(SIN, self.index)

    def cos(self) -> Expression:
        """The cosine of an angle [rad], recorded."""
        return self.tape.record(COS, self.index)

    def step(self) -> Expression:
        """1 where it is above zero, else 0, recorded."""
        return self.tape.record(STEP, self.index)

    def degrees(self) -> Scalar:
        """Of an angle [rad], as `np.degrees` asks for it [deg]."""
        return self * (180.0 / math.pi)

    def radians(self) -> Scalar:
        """Of an angle [deg], as `np.radians` asks for it [rad]."""
        return self * (math.pi / 180.0)

    rad2deg, deg2rad = degrees, radians

    def __abs__(self) -> Scalar:
        return larger(self, -self)

    def hypot(self, other: Scalar) -> Scalar:
        """The length of two numbers, as `np.hypot` asks for it."""
        return sqrt(self * self + other * other)

    def arctan2(self, other: Scalar) -> Scalar:
        """The angle of a direction [rad], as `np.arctan2` asks for it."""
        return arctan2(self, other)

    def _compared(self, other: object) -> bool:
        raise TypeError(NO_NUMBER)

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __bool__(self) -> bool:
        raise TypeError(NO_NUMBER)

    def __float__(self) -> float:
        raise TypeError(NO_NUMBER)


def sqrt(x: Scalar) -> Scalar:
    """Square root of a float or of an expression."""
    return math.sqrt(x) if isinstance(x, (int, float)) else x.sqrt()


def sin(x: Scalar) -> Scalar:
    """Sine of an angle [rad]."""
    return math.sin(x) if isinstance(x, (int, float)) else x.sin()


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle [rad]."""
    return math.cos(x) if isinstance(x, (int, float)) else x.cos()


def arctan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the direction (x, y) [rad]."""
    for known in (y, x):
        if isinstance(known, Expression):
            tape = known.tape
            first, second = (v.index if isinstance(v, Expression) else tape.record(CONSTANT, float(v)).index
                             for v in (y, x))  # fmt: skip
            return tape.record(ATAN2, first, second)
        if not isinstance(known, (int, float)):
            return type(known).arctan2(y, x)
    return math.atan2(y, x)


def larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers; NaN if either is."""
    for known in (a, b):
        if isinstance(known, Expression):
            return known.tape.record(MAX, *sorted(as_indices(known.tape, (a, b))))
        if not isinstance(known, (int, float)):
            return type(known).fmax(a, b)
    return max(a, b) if a == a and b == b else math.nan


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers."""
    return -larger(-a, -b)


def step(x: Scalar) -> Scalar:
    """1 where x > 0, else 0. Its derivative is zero everywhere, the jump left out."""
    return float(x > 0) if isinstance(x, (int, float)) else x.step()


def opaque(x: Scalar) -> Scalar:
    """The same number as an entry of its own, which no simplification looks through: a variable to derive by."""
    return x.tape.record(COPY, x.index) if isinstance(x, Expression) else x


def is_zero(x: Scalar) -> bool:
    """Whether a scalar is exactly zero as a matter of structure (never true of an expression)."""
    return isinstance(x, (int, float)) and x == 0


def as_indices(tape: Tape, values: Sequence[Scalar]) -> list[int]:
    """Tape entries of a list of outputs; plain numbers become constants."""
    return [v.index if type(v) is Expression else tape.record(CONSTANT, _number(v)).index for v in values]


def _number(value: Any) -> float:
    """What is no expression, as a number."""
    try:
        if isinstance(value, Real):
            return float(value)
    except OverflowError:
        pass
    raise ArgumentError("equations", value, "an expression, or a number that a float can hold")
