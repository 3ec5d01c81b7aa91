"""Drivers to LLVM assembly, for any number of lanes; see `tailwork.kernels.language` for what a driver may contain.

Operations are carried out as they are written, without reordering or fusing, so that code for one lane, code for many
and plain Python give the same bits. Whatever is not known here is refused, with its line.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from tailwork.kernels.language import Function, Ints, Lanes, Reals, Struct, fields_of, spread, where, width
from tailwork.kernels.native import Code, compiled
from tailwork.locks import lock

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


_drivers: dict[tuple[Any, int], tuple[Code, Callable[[int], int]]] = {}
_compiling = lock()
_in_python: list[None] = []


@contextmanager
def drivers_in_python() -> Iterator[None]:
    """While this holds, drivers run as plain Python, for a debugger: the same bits, thousands of times slower."""
    _in_python.append(None)
    try:
        yield
    finally:
        _in_python.pop()


def driver(entry: Callable[[Any], int], lanes: int) -> Callable[[Struct], int]:
    """A driver as machine code for so many lanes: a function of one struct with an integer as its result.

    While it runs other threads do, and a keyboard interrupt waits.
    """
    if _in_python:
        return entry
    with _compiling:
        if (entry, lanes) not in _drivers:
            text = translated([entry], lanes)
            code = compiled(text, lambda: text, optimised=True)
            call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address(_name(entry)))
            _drivers[entry, lanes] = code, call
    _, call = _drivers[entry, lanes]
    return lambda job: call(job.packed())


def translated(entries: Sequence[Callable[..., Any]], lanes: int) -> str:
    """Assembly of some functions, which can be called from outside, and of all that they call."""
    wanted: list[Any] = list(entries)
    written: dict[Any, str] = {}
    declared: set[str] = set()
    while wanted:
        function = wanted.pop()
        if function not in written:
            writer = _Writer(function, lanes, "" if function in entries else "internal ")
            written[function] = writer.text()
            declared |= writer.declared
            wanted += writer.called
    return "\n".join([*written.values(), *sorted(declared), "!0 = !{}"])


@lru_cache
def _definitions(module: ModuleType) -> dict[str, ast.FunctionDef]:
    """The functions of a module by name, as they are written."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


class _Writer:
    """Writes one function. Locals are on the stack; LLVM puts them into registers."""

    def __init__(self, function: Any, lanes: int, linkage: str) -> None:
        self.function, self.lanes, self.linkage = function, lanes, linkage
        self.node = _definitions(inspect.getmodule(function))[function.__name__]  # pyright: ignore[reportArgumentType]
        hints = get_type_hints(function)
        self.result = _returned(hints.pop("return", None))
        self.arguments = hints
        self.head: list[str] = []
        self.lines: list[str] = []
        self.locals: dict[str, Any] = {}
        self.assigned: set[str] = set()  # locals that have a value here, whichever way was taken
        self.loops: list[tuple[str, str]] = []  # labels of the next turn and of the end
        self.left: list[list[set[str]]] = []  # by loop: what is assigned at each of its breaks
        self.declared: set[str] = set()
        self.called: list[Any] = []
        self.count, self.open = 0, True

    def text(self) -> str:
        """The function as assembly."""
        given = ", ".join(f"{self.type(kind)} %{name}" for name, kind in self.arguments.items())
        for name, kind in self.arguments.items():
            self.store_local(name, Value(kind, f"%{name}"), self.node)
        self.body(self.node.body)
        if self.open:
            if self.result is not None:
                raise self.refused(self.node, "may end without a result")
            self.do("ret void")
        head = f'define {self.linkage}{self.type(self.result)} @"{_name(self.function)}"({given}) nounwind {{'
        return "\n".join([head, "entry:", *self.head, *self.lines, "}"])

    # Writing

    def refused(self, node: Any, why: str) -> TranslationError:
        place = f"{_name(self.function)}, line {node.lineno}"
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
        self.lines.append(f"  {text}")

    def new(self, kind: Any, text: str) -> Value:
        self.count += 1
        self.do(f"%.{self.count} = {text}")
        return Value(kind, f"%.{self.count}")

    def label(self) -> str:
        self.count += 1
        return f".b{self.count}"

    def go(self, text: str) -> None:
        """End a block by a jump."""
        if self.open:
            self.do(text)
        self.open = False

    def block(self, label: str) -> None:
        self.go(f"br label %{label}")
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

    # Statements

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.open:
                raise self.refused(statement, "is never reached")
            getattr(self, f"do_{type(statement).__name__}", self.unknown)(statement)

    def unknown(self, node: Any) -> Any:
        raise self.refused(node, f"{type(node).__name__} cannot be translated")

    def do_Pass(self, node: ast.Pass) -> None: ...

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def do_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.go("ret void")
        else:
            found = self.cast(self.value(node.value), self.result, node)
            self.go(f"ret {self.type(found.kind)} {found.name}")

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if any(isinstance(part, ast.Call) for part in ast.walk(node.target)):
            raise self.refused(node, "a place that is computed by a call would be computed twice")
        target = ast.parse(ast.unparse(node.target), mode="eval").body
        self.assign(node.target, self.value(ast.copy_location(ast.BinOp(target, node.op, node.value), node)))

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            for k, (part, kind) in enumerate(zip(target.elts, value.kind, strict=True)):
                self.assign(part, self.new(kind, f"extractvalue {self.type(value.kind)} {value.name}, {k}"))
        elif isinstance(target, ast.Name):
            self.store_local(target.id, value, target)
        elif isinstance(target, ast.Subscript):
            kind, address = self.place(target)
            self.do(f"store {self.type(kind)} {self.cast(value, kind, target).name}, ptr {address}, align 8")
        else:
            self.unknown(target)

    def store_local(self, name: str, value: Value, node: ast.AST) -> None:
        if name not in self.locals:
            self.locals[name] = value.kind, self.slot(value.kind)
        self.assigned.add(name)
        kind, place = self.locals[name]
        self.do(f"store {self.type(kind)} {self.cast(value, kind, node).name}, ptr {place}")

    def do_If(self, node: ast.If) -> None:
        then, other, end = self.label(), self.label(), self.label()
        self.go(f"br i1 {self.truth(node.test)}, label %{then}, label %{other}")
        before, ends = self.assigned, list[set[str]]()
        for label, statements in ((then, node.body), (other, node.orelse)):
            self.lines.append(f"{label}:")
            self.open, self.assigned = True, set(before)
            self.body(statements)
            ends += [self.assigned] if self.open else []
            self.go(f"br label %{end}")
        if ends:
            self.assigned = set.intersection(*ends)
            self.block(end)

    def do_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.refused(node, "a loop has no else")
        again, inside, end = self.label(), self.label(), self.label()
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.block(again)
        self.go(f"br label %{inside}" if forever else f"br i1 {self.truth(node.test)}, label %{inside}, label %{end}")
        before = set(self.assigned)
        left = self.loop_body(inside, node.body, again, end)
        self.go(f"br label %{again}")
        if left or not forever:
            self.assigned = set.intersection(*left) if forever else before
            self.block(end)

    def do_For(self, node: ast.For) -> None:
        """for name in range(…): bounds are evaluated once, the step is a constant."""
        if not (isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call) and not node.orelse):
            raise self.refused(node, "only `for name in range(…)` can be translated")
        if self.resolved(node.iter.func) is not range:
            raise self.refused(node, "only `for name in range(…)` can be translated")
        bounds = [self.cast(self.value(bound), int, bound).name for bound in node.iter.args]
        start, stop, step = {1: ("0", *bounds, "1"), 2: (*bounds, "1"), 3: tuple(bounds)}[len(bounds)]
        counter = self.slot(int)
        again, inside, following, end = (self.label() for _ in range(4))
        self.do(f"store i64 {start}, ptr {counter}")
        self.block(again)
        now = self.new(int, f"load i64, ptr {counter}")
        if step.startswith("%"):  # counted up or down, as it turns out
            down = self.new(bool, f"icmp slt i64 {step}, 0")
            above, below = (self.new(bool, f"icmp {way} i64 {now.name}, {stop}") for way in ("sgt", "slt"))
            more = self.new(bool, f"select i1 {down.name}, i1 {above.name}, i1 {below.name}")
        else:
            more = self.new(bool, f"icmp {'sgt' if step.startswith('-') else 'slt'} i64 {now.name}, {stop}")
        self.go(f"br i1 {more.name}, label %{inside}, label %{end}")
        before = set(self.assigned)
        self.loop_body(inside, node.body, following, end, (node.target.id, now))
        self.assigned = before  # there may be no turn
        self.block(following)
        self.do(f"store i64 {self.new(int, f'add i64 {now.name}, {step}').name}, ptr {counter}")
        self.go(f"br label %{again}")
        self.block(end)

    def loop_body(
        self, label: str, statements: Sequence[ast.stmt], again: str, end: str, counter: tuple[str, Value] | None = None
    ) -> list[set[str]]:
        """The body of a loop; what is assigned at each break."""
        self.lines.append(f"{label}:")
        self.open = True
        if counter is not None:
            self.store_local(*counter, statements[0])
        self.loops.append((again, end))
        self.left.append([])
        self.body(statements)
        self.loops.pop()
        return self.left.pop()

    def do_Break(self, node: ast.Break) -> None:
        self.left[-1].append(set(self.assigned))
        self.go(f"br label %{self.loops[-1][1]}")

    def do_Continue(self, node: ast.Continue) -> None:
        self.go(f"br label %{self.loops[-1][0]}")

    # Expressions

    def value(self, node: ast.expr) -> Value:
        return getattr(self, f"of_{type(node).__name__}", self.unknown)(node)

    def truth(self, node: ast.expr) -> str:
        return self.cast(self.value(node), bool, node).name

    def cast(self, value: Value, kind: Any, node: Any) -> Value:
        """A value as another type, where nothing is lost by that."""
        if value.kind == kind:
            return value
        if isinstance(kind, tuple) and isinstance(value.kind, tuple) and len(kind) == len(value.kind):
            found = Value(kind, "poison")
            for k, (own, wanted) in enumerate(zip(value.kind, kind, strict=True)):
                part = self.new(own, f"extractvalue {self.type(value.kind)} {value.name}, {k}")
                found = self.joined(found, self.cast(part, wanted, node), k)
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

    def joined(self, whole: Value, part: Value, k: int) -> Value:
        return self.new(
            whole.kind, f"insertvalue {self.type(whole.kind)} {whole.name}, {self.type(part.kind)} {part.name}, {k}"
        )

    def common(self, values: Sequence[Value], node: Any, least: Any = int) -> tuple[Any, list[Value]]:
        """The wider of the types of some values, and all of them as that type."""
        kinds = [least, *(value.kind for value in values)]
        kind = next((k for k in (VECTOR, float, int) if k in kinds), bool)
        return kind, [self.cast(value, kind, node) for value in values]

    def of_Constant(self, node: ast.Constant) -> Value:
        return self.constant(node.value, node)

    def constant(self, value: Any, node: ast.AST) -> Value:
        if isinstance(value, bool):
            return Value(bool, "true" if value else "false")
        if isinstance(value, int):
            return Value(int, str(value))
        if isinstance(value, float):
            return Value(float, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")
        raise self.refused(node, "is no number")

    def of_Tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(part) for part in node.elts]
        found = Value(tuple(part.kind for part in parts), "poison")
        for k, part in enumerate(parts):
            found = self.joined(found, part, k)
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

    def of_Name(self, node: ast.Name) -> Value:
        if node.id in self.locals:
            if node.id not in self.assigned:
                raise self.refused(node, "is first assigned in a branch or a loop, which may not be taken")
            kind, place = self.locals[node.id]
            return self.new(kind, f"load {self.type(kind)}, ptr {place}")
        return self.constant(self.resolved(node), node)

    def of_Attribute(self, node: ast.Attribute) -> Value:
        outside = self.resolved(node)
        if outside is not None:
            return self.constant(outside, node)
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

    def of_Subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            if node.slice.lower is None or node.slice.upper is not None or node.slice.step is not None:
                raise self.refused(node, "a slice has a beginning only")
            start = ast.copy_location(ast.Subscript(node.value, node.slice.lower, node.ctx), node)
            return Value(self.value(node.value).kind, self.place(start)[1])
        kind, address = self.place(node)
        return self.new(kind, f"load {self.type(kind)}, ptr {address}, align 8")

    def of_BinOp(self, node: ast.BinOp) -> Value:
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

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.new(bool, f"xor i1 {self.truth(node.operand)}, true")
        if not isinstance(node.op, ast.USub):
            return self.unknown(node)
        if isinstance(node.operand, ast.Constant):
            return self.constant(-node.operand.value, node)  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]
        a = self.value(node.operand)
        if a.kind not in (int, float, VECTOR):
            return self.unknown(node)
        return self.new(a.kind, f"sub i64 0, {a.name}" if a.kind is int else f"fneg {self.type(a.kind)} {a.name}")

    def of_Compare(self, node: ast.Compare) -> Value:
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

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
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
            self.lines.append(f"{after}:")
            self.open = True
        self.block(end)
        return self.new(bool, f"load i1, ptr {held}")

    def of_IfExp(self, node: ast.IfExp) -> Value:
        """One side is evaluated only; both have the type of the first, or the second can be made of it."""
        then, other, end = self.label(), self.label(), self.label()
        self.go(f"br i1 {self.truth(node.test)}, label %{then}, label %{other}")
        self.lines.append(f"{then}:")
        self.open = True
        a = self.value(node.body)
        held = self.slot(a.kind)
        self.do(f"store {self.type(a.kind)} {a.name}, ptr {held}")
        self.go(f"br label %{end}")
        self.lines.append(f"{other}:")
        self.open = True
        b = self.cast(self.value(node.orelse), a.kind, node)
        self.do(f"store {self.type(a.kind)} {b.name}, ptr {held}")
        self.block(end)
        return self.new(a.kind, f"load {self.type(a.kind)}, ptr {held}")

    def of_Call(self, node: ast.Call) -> Value:
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
        return self.builtin(function, values, node)

    def call(self, function: Any, values: Sequence[Value], node: ast.Call) -> Value:
        """Another driver function."""
        hints = get_type_hints(function)
        result = _returned(hints.pop("return", None))
        if len(hints) != len(values):
            raise self.refused(node, f"{len(hints)} arguments are required")
        self.called.append(function)
        cast = [self.cast(value, kind, node) for value, kind in zip(values, hints.values(), strict=True)]
        given = ", ".join(f"{self.type(value.kind)} {value.name}" for value in cast)
        text = f'call {self.type(result)} @"{_name(function)}"({given})'
        if result is not None:
            return self.new(result, text)
        self.do(text)
        return Value(None, "")

    def builtin(self, function: Any, values: list[Value], node: ast.Call) -> Value:
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
            return self.new(bool, f"fcmp olt double {size.name}, {self.constant(math.inf, node).name}")
        if function is int and values[0].kind is float:
            return self.new(int, f"fptosi double {values[0].name} to i64")
        if function is float:
            return self.cast(values[0], float, node)
        return self.unknown(node)


def _returned(hint: Any) -> Any:
    if hint is type(None) or hint is None:
        return None
    return tuple(get_args(hint)) if get_origin(hint) is tuple else hint


def _said(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
