"""Drivers to LLVM assembly, for any number of lanes; see `tailwork.kernels.language` for what a driver may contain.

Operations are carried out as they are written, without reordering or fusing, so that code for one lane, code for many
and plain Python give the same bits. Whatever is not known here is refused, with its line.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any, get_type_hints

from tailwork.kernels.language import Struct
from tailwork.kernels.native import Code, compiled
from tailwork.kernels.translate_expressions import Value, Writer, name_of, returned
from tailwork.locks import lock

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
            call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address(name_of(entry)))
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
            writer = _FunctionWriter(function, lanes, "" if function in entries else "internal ")
            written[function] = writer.text()
            declared |= writer.declared
            wanted += writer.called
    return "\n".join([*written.values(), *sorted(declared), "!0 = !{}"])


@lru_cache
def _definitions(module: ModuleType) -> dict[str, ast.FunctionDef]:
    """The functions of a module by name, as they are written."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


class _FunctionWriter(Writer):
    """Writes one function: its statements."""

    def __init__(self, function: Any, lanes: int, linkage: str) -> None:
        super().__init__(function, lanes)
        self.linkage = linkage
        self.node = _definitions(inspect.getmodule(function))[function.__name__]  # pyright: ignore[reportArgumentType]
        hints = get_type_hints(function)
        self.result = returned(hints.pop("return", None))
        self.arguments = hints
        self.loops: list[tuple[str, str]] = []  # labels of the next turn and of the end
        self.left: list[list[set[str]]] = []  # by loop: what is assigned at each of its breaks

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
        head = f'define {self.linkage}{self.type(self.result)} @"{name_of(self.function)}"({given}) nounwind {{'
        return "\n".join([head, "entry:", *self.head, *self.lines, "}"])

    # Statements

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.open:
                raise self.refused(statement, "is never reached")
            getattr(self, f"do_{type(statement).__name__}", self.unknown)(statement)

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
            self.begin(label)
            self.assigned = set(before)
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
        self.begin(label)
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
