"""Values and expressions of drivers as LLVM assembly; `tailwork.kernels.translate` writes whole functions with it."""

from __future__ import annotations

import ast
import math
import struct
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from tailwork.kernels.language import Function, Ints, Lanes, Reals, Struct, fields_of, spread, where, width

VECTOR, MASK = "vector", "mask"
"""Types of local values besides those of annotations: a row of lanes, and conditions of all lanes."""
ELEMENTS = {Reals: float, Ints: int, Lanes: float}
COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
WHOLE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
FLOATING = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}


class TranslationError(SyntaxError):
    """A driver contains something that cannot be translated."""


class Value(NamedTuple):
    """A value of a type, by its name in the assembly."""

    kind: Any
    name: str


class Writer:
    """Writes expressions of one function. Locals are on the stack; LLVM puts them into registers."""

    def __init__(self, function: Any, lanes: int) -> None:
        self.function, self.lanes = function, lanes
        self.head: list[str] = []
        self.lines: list[str] = []
        self.locals: dict[str, Any] = {}
        self.assigned: set[str] = set()  # locals that have a value here, whichever way was taken
        self.declared: set[str] = set()
        self.called: list[Any] = []
        self.count, self.open = 0, True

    # Writing

    def refused(self, node: Any, why: str) -> TranslationError:
        """An error that says where and why."""
        place = f"{name_of(self.function)}, line {node.lineno}"
        return TranslationError(f"{place}: {why}: {ast.unparse(node).splitlines()[0][:80]}")

    def type(self, kind: Any) -> str:
        """A type in the assembly."""
        if isinstance(kind, tuple):
            return "{" + ", ".join(self.type(part) for part in kind) + "}"
        element = {VECTOR: "double", MASK: "i1"}.get(kind) if isinstance(kind, str) else None
        if element:
            return f"<{self.lanes} x {element}>" if self.lanes > 1 else element
        return {int: "i64", float: "double", bool: "i1", None: "void"}.get(kind, "ptr")

    def do(self, text: str) -> None:
        """Write an instruction."""
        self.lines.append(f"  {text}")

    def new(self, kind: Any, text: str) -> Value:
        """Write an instruction that has a value."""
        self.count += 1
        self.do(f"%.{self.count} = {text}")
        return Value(kind, f"%.{self.count}")

    def label(self) -> str:
        """A name for a block that no other has."""
        self.count += 1
        return f".b{self.count}"

    def go(self, text: str) -> None:
        """End a block by a jump."""
        if self.open:
            self.do(text)
        self.open = False

    def block(self, label: str) -> None:
        """Begin a block."""
        self.go(f"br label %{label}")
        self.begin(label)

    def begin(self, label: str) -> None:
        """What follows is reached by jumps to a label."""
        self.lines.append(f"{label}:")
        self.open = True

    def intrinsic(self, name: str, kind: Any, values: Sequence[Value]) -> Value:
        """A function of LLVM's for numbers or lanes."""
        suffix = f"v{self.lanes}f64" if kind == VECTOR and self.lanes > 1 else "f64"
        t = self.type(kind)
        self.declared.add(f"declare {t} @llvm.{name}.{suffix}({', '.join([t] * len(values))})")
        return self.new(kind, f"call {t} @llvm.{name}.{suffix}({', '.join(f'{t} {v.name}' for v in values)})")

    def slot(self, kind: Any) -> str:
        """Room on the stack."""
        self.count += 1
        self.head.append(f"  %.s{self.count} = alloca {self.type(kind)}")
        return f"%.s{self.count}"

    def unknown(self, node: Any) -> Any:
        """Refuse what is not known."""
        raise self.refused(node, f"{type(node).__name__} cannot be translated")

    # Expressions

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        return getattr(self, f"_of_{type(node).__name__}", self.unknown)(node)

    def truth(self, node: ast.expr) -> str:
        """The value of a condition, by its name."""
        return self.cast(self.value(node), bool, node).name

    def cast(self, value: Value, kind: Any, node: Any) -> Value:
        """A value as another type, where nothing is lost by that."""
        if value.kind == kind:
            return value
        if isinstance(kind, tuple) and isinstance(value.kind, tuple) and len(kind) == len(value.kind):
            found = Value(kind, "poison")
            for k, (own, wanted) in enumerate(zip(value.kind, kind, strict=True)):
                part = self.new(own, f"extractvalue {self.type(value.kind)} {value.name}, {k}")
                found = self._joined(found, self.cast(part, wanted, node), k)
            return found
        if kind is float and value.kind is int:
            return self.new(float, f"sitofp i64 {value.name} to double")
        if kind is int and value.kind is bool:
            return self.new(int, f"zext i1 {value.name} to i64")
        if kind is bool and value.kind is int:
            return self.new(bool, f"icmp ne i64 {value.name}, 0")
        if kind == VECTOR and value.kind in (int, float):
            number, t = self.cast(value, float, node), self.type(VECTOR)
            if self.lanes == 1:
                return Value(VECTOR, number.name)
            first = self.new(VECTOR, f"insertelement {t} poison, double {number.name}, i64 0")
            zeros = f"<{self.lanes} x i32> zeroinitializer"
            return self.new(VECTOR, f"shufflevector {t} {first.name}, {t} poison, {zeros}")
        if kind is Reals and value.kind is Lanes:
            return Value(Reals, value.name)
        raise self.refused(node, f"{_said(value.kind)} where {_said(kind)} is required")

    def _joined(self, whole: Value, part: Value, k: int) -> Value:
        return self.new(
            whole.kind, f"insertvalue {self.type(whole.kind)} {whole.name}, {self.type(part.kind)} {part.name}, {k}"
        )

    def common(self, values: Sequence[Value], node: Any, least: Any = int) -> tuple[Any, list[Value]]:
        """The wider of the types of some values, and all of them as that type."""
        kinds = [least, *(value.kind for value in values)]
        kind = next((k for k in (VECTOR, float, int) if k in kinds), bool)
        return kind, [self.cast(value, kind, node) for value in values]

    def _of_Constant(self, node: ast.Constant) -> Value:
        return self._constant(node.value, node)

    def _constant(self, value: Any, node: ast.AST) -> Value:
        if isinstance(value, bool):
            return Value(bool, "true" if value else "false")
        if isinstance(value, int):
            return Value(int, str(value))
        if isinstance(value, float):
            return Value(float, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")
        raise self.refused(node, "is no number")

    def _of_Tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(part) for part in node.elts]
        found = Value(tuple(part.kind for part in parts), "poison")
        for k, part in enumerate(parts):
            found = self._joined(found, part, k)
        return found

    def resolved(self, node: ast.expr) -> Any:
        """What a name outside of the function stands for."""
        if isinstance(node, ast.Name) and node.id not in self.locals:
            scope = self.function.__globals__
            found = scope.get(node.id, scope["__builtins__"])
            if found is scope["__builtins__"]:
                builtins = found if isinstance(found, dict) else vars(found)
                found = builtins.get(node.id)
            return found
        if isinstance(node, ast.Attribute):
            base = self.resolved(node.value)
            return getattr(base, node.attr, None) if isinstance(base, ModuleType) else None
        return None

    def _of_Name(self, node: ast.Name) -> Value:
        if node.id in self.locals:
            if node.id not in self.assigned:
                raise self.refused(node, "is first assigned in a branch or a loop, which may not be taken")
            kind, place = self.locals[node.id]
            return self.new(kind, f"load {self.type(kind)}, ptr {place}")
        return self._constant(self.resolved(node), node)

    def _of_Attribute(self, node: ast.Attribute) -> Value:
        outside = self.resolved(node)
        if outside is not None:
            return self._constant(outside, node)
        base = self.value(node.value)
        if not (isinstance(base.kind, type) and issubclass(base.kind, Struct)):
            raise self.refused(node, "only structs have fields")
        fields = fields_of(base.kind)
        kind, place = fields[node.attr], 8 * list(fields).index(node.attr)
        address = self.new(None, f"getelementptr i8, ptr {base.name}, i64 {place}")
        if kind is bool:
            whole = self.new(int, f"load i64, ptr {address.name}, align 8, !invariant.load !0")
            return self.cast(whole, bool, node)
        return self.new(kind, f"load {self.type(kind)}, ptr {address.name}, align 8, !invariant.load !0")

    def place(self, node: ast.Subscript) -> tuple[Any, str]:
        """Type and address of an element."""
        base = self.value(node.value)
        if base.kind not in ELEMENTS:
            raise self.refused(node, "only arrays have elements")
        if isinstance(node.slice, ast.Tuple):
            if base.kind is not Lanes:
                raise self.refused(node, "only rows of lanes have two indices")
            row, lane = (self.cast(self.value(k), int, node).name for k in node.slice.elts)
            start = self.new(int, f"mul i64 {row}, {self.lanes}")
            index = self.new(int, f"add i64 {start.name}, {lane}").name
            return float, self.new(None, f"getelementptr double, ptr {base.name}, i64 {index}").name
        if isinstance(node.slice, ast.UnaryOp):
            raise self.refused(node, "an index counts from the beginning")
        kind = VECTOR if base.kind is Lanes else ELEMENTS[base.kind]
        index = self.cast(self.value(node.slice), int, node).name
        return kind, self.new(None, f"getelementptr {self.type(kind)}, ptr {base.name}, i64 {index}").name

    def _of_Subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            if node.slice.lower is None or node.slice.upper is not None or node.slice.step is not None:
                raise self.refused(node, "a slice has a beginning only")
            start = ast.copy_location(ast.Subscript(node.value, node.slice.lower, node.ctx), node)
            return Value(self.value(node.value).kind, self.place(start)[1])
        kind, address = self.place(node)
        return self.new(kind, f"load {self.type(kind)}, ptr {address}, align 8")

    def _of_BinOp(self, node: ast.BinOp) -> Value:
        a, b = self.value(node.left), self.value(node.right)
        if isinstance(node.op, (ast.BitOr, ast.BitAnd)) and a.kind == b.kind == MASK:
            word = "or" if isinstance(node.op, ast.BitOr) else "and"
            return self.new(MASK, f"{word} {self.type(MASK)} {a.name}, {b.name}")
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and node.right.value == 2 and a.kind in (float, VECTOR):
                return self.new(a.kind, f"fmul {self.type(a.kind)} {a.name}, {a.name}")
            return self.intrinsic("pow", float, [self.cast(a, float, node), self.cast(b, float, node)])
        kind, (a, b) = self.common([a, b], node, float if isinstance(node.op, ast.Div) else int)
        if isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            return self.divided(node, kind, a, b)
        word = (WHOLE if kind is int else FLOATING).get(type(node.op))
        return self.new(kind, f"{word} {self.type(kind)} {a.name}, {b.name}") if word else self.unknown(node)

    def divided(self, node: ast.BinOp, kind: Any, a: Value, b: Value) -> Value:
        """a // b and a % b, rounded down as in Python."""
        t, is_mod = self.type(kind), isinstance(node.op, ast.Mod)
        if kind is float and not is_mod:
            return self.unknown(node)
        rest = self.new(kind, f"{'srem' if kind is int else 'frem'} {t} {a.name}, {b.name}")
        less, unequal, zero = ("icmp slt", "icmp ne", "0") if kind is int else ("fcmp olt", "fcmp une", "0.0")
        below = [self.new(bool, f"{less} {t} {value.name}, {zero}").name for value in (rest, b)]
        signs = self.new(bool, f"xor i1 {below[0]}, {below[1]}")
        some = self.new(bool, f"{unequal} {t} {rest.name}, {zero}")
        off = self.new(bool, f"and i1 {signs.name}, {some.name}")
        if is_mod:
            moved = self.new(kind, f"{'add' if kind is int else 'fadd'} {t} {rest.name}, {b.name}")
            return self.new(kind, f"select i1 {off.name}, {t} {moved.name}, {t} {rest.name}")
        whole = self.new(int, f"sdiv i64 {a.name}, {b.name}")
        lower = self.new(int, f"sub i64 {whole.name}, 1")
        return self.new(int, f"select i1 {off.name}, i64 {lower.name}, i64 {whole.name}")

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.new(bool, f"xor i1 {self.truth(node.operand)}, true")
        if not isinstance(node.op, ast.USub):
            return self.unknown(node)
        if isinstance(node.operand, ast.Constant):
            return self._constant(-node.operand.value, node)  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]
        a = self.value(node.operand)
        if a.kind not in (int, float, VECTOR):
            return self.unknown(node)
        return self.new(a.kind, f"sub i64 0, {a.name}" if a.kind is int else f"fneg {self.type(a.kind)} {a.name}")

    def _of_Compare(self, node: ast.Compare) -> Value:
        if len(node.ops) > 1:  # a < b < c
            if any(isinstance(part, ast.Call) for part in ast.walk(node)):
                raise self.refused(node, "calls in a chained comparison would be made twice")
            middle = [node.left, *node.comparators]
            parts = [ast.Compare(a, [op], [b]) for a, op, b in zip(middle, node.ops, middle[1:], strict=False)]
            return self.value(ast.fix_missing_locations(ast.copy_location(ast.BoolOp(ast.And(), list(parts)), node)))
        word = COMPARISONS.get(type(node.ops[0]))
        if word is None:
            return self.unknown(node)
        kind, (a, b) = self.common([self.value(node.left), self.value(node.comparators[0])], node)
        if kind is int:
            signed = word if word in ("eq", "ne") else f"s{word}"
            return self.new(bool, f"icmp {signed} i64 {a.name}, {b.name}")
        ordered = "une" if word == "ne" else f"o{word}"
        return self.new(MASK if kind == VECTOR else bool, f"fcmp {ordered} {self.type(kind)} {a.name}, {b.name}")

    def _of_BoolOp(self, node: ast.BoolOp) -> Value:
        """What comes later is evaluated only where it matters."""
        held, end = self.slot(bool), self.label()
        for operand in node.values:
            value = self.value(operand)
            if value.kind is not bool:
                raise self.refused(operand, "`and` and `or` take conditions")
            found = value.name
            self.do(f"store i1 {found}, ptr {held}")
            after = self.label()
            both = (after, end) if isinstance(node.op, ast.And) else (end, after)
            self.go(f"br i1 {found}, label %{both[0]}, label %{both[1]}")
            self.begin(after)
        self.block(end)
        return self.new(bool, f"load i1, ptr {held}")

    def _of_IfExp(self, node: ast.IfExp) -> Value:
        """One side is evaluated only; both have the type of the first, or the second can be made of it."""
        then, other, end = self.label(), self.label(), self.label()
        self.go(f"br i1 {self.truth(node.test)}, label %{then}, label %{other}")
        self.begin(then)
        a = self.value(node.body)
        held = self.slot(a.kind)
        self.do(f"store {self.type(a.kind)} {a.name}, ptr {held}")
        self.go(f"br label %{end}")
        self.begin(other)
        b = self.cast(self.value(node.orelse), a.kind, node)
        self.do(f"store {self.type(a.kind)} {b.name}, ptr {held}")
        self.block(end)
        return self.new(a.kind, f"load {self.type(a.kind)}, ptr {held}")

    def _of_Call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise self.refused(node, "arguments by name cannot be translated")
        function = self.resolved(node.func)
        if function is width:
            return Value(int, str(self.lanes))
        if function is spread:
            return self.cast(self.value(node.args[0]), VECTOR, node)
        values = [self.value(argument) for argument in node.args]
        if function is None:
            called = self.value(node.func)
            if called.kind is not Function:
                raise self.refused(node, "is not known")
            given = ", ".join(f"ptr {value.name}" for value in values)
            self.do(f"call void {called.name}({given})")
            return Value(None, "")
        if isinstance(function, FunctionType) and function is not where:
            return self.call(function, values, node)
        return self._builtin(function, values, node)

    def call(self, function: Any, values: Sequence[Value], node: ast.Call) -> Value:
        """Another driver function."""
        hints = get_type_hints(function)
        result = returned(hints.pop("return", None))
        if len(hints) != len(values):
            raise self.refused(node, f"{len(hints)} arguments are required")
        self.called.append(function)
        cast = [self.cast(value, kind, node) for value, kind in zip(values, hints.values(), strict=True)]
        given = ", ".join(f"{self.type(value.kind)} {value.name}" for value in cast)
        text = f'call {self.type(result)} @"{name_of(function)}"({given})'
        if result is not None:
            return self.new(result, text)
        self.do(text)
        return Value(None, "")

    def _builtin(self, function: Any, values: list[Value], node: ast.Call) -> Value:
        if function is where:
            condition, *sides = values
            _, (a, b) = self.common(sides, node, VECTOR)
            t = self.type(VECTOR)
            return self.new(VECTOR, f"select {self.type(MASK)} {condition.name}, {t} {a.name}, {t} {b.name}")
        if function in (max, min) and len(values) == 2:  # the second where it is larger (smaller), as in Python
            kind, (a, b) = self.common(values, node)
            signed = {max: "gt", min: "lt"}[function]
            t = self.type(kind)
            better = self.new(bool, f"{'icmp s' if kind is int else 'fcmp o'}{signed} {t} {b.name}, {a.name}")
            return self.new(kind, f"select i1 {better.name}, {t} {b.name}, {t} {a.name}")
        if function is abs and values[0].kind is int:
            return self.unknown(node)
        if function in (abs, math.sqrt):
            kind = VECTOR if values[0].kind == VECTOR else float
            return self.intrinsic("fabs" if function is abs else "sqrt", kind, [self.cast(values[0], kind, node)])
        if function is math.isfinite:
            size = self.intrinsic("fabs", float, [self.cast(values[0], float, node)])
            return self.new(bool, f"fcmp olt double {size.name}, {self._constant(math.inf, node).name}")
        if function is int and values[0].kind is float:
            return self.new(int, f"fptosi double {values[0].name} to i64")
        if function is float:
            return self.cast(values[0], float, node)
        return self.unknown(node)


def name_of(function: Any) -> str:
    """A function's name in the assembly."""
    return f"{function.__module__}.{function.__qualname__}"


def returned(hint: Any) -> Any:
    """The type of a result, from its annotation."""
    if hint is type(None) or hint is None:
        return None
    return tuple(get_args(hint)) if get_origin(hint) is tuple else hint


def _said(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
