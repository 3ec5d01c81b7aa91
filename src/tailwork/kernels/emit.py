"""A graph as LLVM assembly, for one number at a time or for several lanes side by side.

Both come from the same instructions in the same order, with multiplications and additions fused by the same rule, so
that a batch gives the same bits as single calls.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable

from tailwork.algebra.expression import ADD, ATAN2, CONSTANT, COPY, COS, INPUT, MAX, MUL, NEG, SIN, SQRT, STEP, SUB
from tailwork.kernels.graph import Graph

# sin x = x + x³ P(x²), cos x = 1 − x²/2 + x⁴ Q(x²) for |x| ≤ π/4; minimax coefficients of FreeBSD's msun (k_sin.c,
# k_cos.c), relative error below 2e-17.
SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)  # π/2 in three parts, each rounded
FARTHEST = 1e12  # angles beyond this [rad] have lost too many digits: their sine is NaN
ROUNDING = 6755399441055744.0  # 1.5 · 2^52: adding and subtracting it rounds to an integer

LIBRARY = {ATAN2: ("atan2", 2)}


def fused_products(graph: Graph) -> frozenset[int]:
    """Products never computed by themselves: only sums use them, and each of these fuses the product into itself.

    Of two such products in one sum, the one used more is computed.
    """
    entries = graph.entries
    uses = Counter(int(first) for op, first, _ in entries if op > CONSTANT)
    uses.update(second for _, _, second in entries if second >= 0)
    uses.update(graph.outputs)
    summed = Counter(int(x) for op, first, second in entries if op in (ADD, SUB) for x in (first, second))
    held = {k for k, (op, _, _) in enumerate(entries) if op == MUL and summed[k] == uses[k] > 0}
    for op, first, second in entries:
        if op in (ADD, SUB) and int(first) in held and second in held:
            held.discard(max(int(first), second, key=lambda k: (uses[k], k)))
    return frozenset(held)


class Emitter:
    """Writes the body of one function."""

    def __init__(self, graph: Graph, lanes: int) -> None:
        self.graph = graph
        self.held = fused_products(graph)
        self.lanes = lanes
        self.type = f"<{lanes} x double>" if lanes > 1 else "double"
        self.integer = f"<{lanes} x i64>" if lanes > 1 else "i64"
        self.bit = f"<{lanes} x i1>" if lanes > 1 else "i1"
        self.suffix = f"v{lanes}f64" if lanes > 1 else "f64"
        self.lines: list[str] = []
        self.count = 0
        self.names: dict[int, str] = {}
        self.sincos: dict[int, tuple[str, str]] = {}  # angle → (sine, cosine)
        self.library: set[str] = set()

    def new(self, text: str) -> str:
        """One instruction; its name."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def constant(self, value: float) -> str:
        """A constant in every lane."""
        bits = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return f"splat (double {bits})" if self.lanes > 1 else bits

    def whole(self, value: int) -> str:
        """An integer constant in every lane."""
        return f"splat (i64 {value})" if self.lanes > 1 else str(value)

    def binary(self, operation: str, a: str, b: str) -> str:
        """fadd, fsub, fmul or fdiv."""
        return self.new(f"{operation} {self.type} {a}, {b}")

    def negative(self, a: str) -> str:
        """−a."""
        return self.new(f"fneg {self.type} {a}")

    def fused(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        t = self.type
        return self.new(f"call {t} @llvm.fma.{self.suffix}({t} {a}, {t} {b}, {t} {c})")

    def load(self, pointer: str, k: int) -> str:
        """Entry k of an argument."""
        address = self.new(f"getelementptr double, ptr {pointer}, i64 {k * self.lanes}")
        return self.new(f"load {self.type}, ptr {address}, align 8")

    def store(self, value: str, pointer: str, k: int) -> None:
        """Entry k of a result."""
        address = self.new(f"getelementptr double, ptr {pointer}, i64 {k * self.lanes}")
        self.lines.append(f"  store {self.type} {value}, ptr {address}, align 8")

    def body(self) -> list[str]:
        """All instructions of the graph."""
        for k, (op, _, _) in enumerate(self.graph.entries):
            if k not in self.held and op != INPUT:
                self._name(k)
        for k, output in enumerate(self.graph.outputs):
            self.store(self._name(output), "%y", k)
        return self.lines

    def _name(self, k: int) -> str:
        """The value of entry k, computed now unless it already is."""
        if not self.names.get(k):
            self.names[k] = self._value(k)
        return self.names[k]

    def _value(self, k: int) -> str:
        op, first, second = self.graph.entries[k]
        if op == CONSTANT:
            return self.constant(float(first))
        if op == INPUT:
            number = int(first)
            inputs = self.graph.inputs
            return self.load("%x", number) if number < inputs else self.load("%c", number - inputs)
        a = int(first)
        if op in (ADD, SUB):
            return self._sum(op, a, second)
        if op in (SIN, COS):
            if a not in self.sincos:
                self.sincos[a] = self._sincos(self._name(a))
            return self.sincos[a][0 if op == SIN else 1]
        if op == COPY:
            return self._name(a)
        if op == NEG:
            return self.negative(self._name(a))
        if op == SQRT:
            return self.new(f"call {self.type} @llvm.sqrt.{self.suffix}({self.type} {self._name(a)})")
        if op == MAX:
            t, largest = self.type, f"@llvm.maximum.{self.suffix}"
            return self.new(f"call {t} {largest}({t} {self._name(a)}, {t} {self._name(second)})")
        if op == STEP:
            above = self.new(f"fcmp ogt {self.type} {self._name(a)}, {self.constant(0.0)}")
            one, none = self.constant(1.0), self.constant(0.0)
            return self.new(f"select {self.bit} {above}, {self.type} {one}, {self.type} {none}")
        if op in LIBRARY:
            return self._library(*LIBRARY[op], [self._name(a), *([self._name(second)] if second >= 0 else [])])
        return self.binary("fmul" if op == MUL else "fdiv", self._name(a), self._name(second))

    def _product(self, k: int) -> tuple[str, str] | None:
        """Factors of an entry that is fused into the sums that use it."""
        _, first, second = self.graph.entries[k]
        return (self._name(int(first)), self._name(second)) if k in self.held else None

    def _sum(self, op: int, a: int, b: int) -> str:
        left, right = self._product(a), self._product(b) if b != a else None
        if left is not None:
            other = self._name(b)
            return self.fused(*left, other if op == ADD else self.negative(other))
        if right is not None:
            x, y = right
            return self.fused(x if op == ADD else self.negative(x), y, self._name(a))
        return self.binary("fadd" if op == ADD else "fsub", self._name(a), self._name(b))

    def _polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        result = self.constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.fused(result, x, self.constant(c))
        return result

    def _sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine: x = n π/2 + r with |r| ≤ π/4, both polynomials of r, exchanged and signed by n."""
        t, i = self.type, self.integer
        shifted = self.fused(x, self.constant(2.0 / 3.141592653589793), self.constant(ROUNDING))
        quarter = self.new(f"bitcast {t} {shifted} to {i}")
        n = self.binary("fsub", shifted, self.constant(ROUNDING))
        back = self.negative(n)
        size = self.new(f"call {t} @llvm.fabs.{self.suffix}({t} {x})")
        near = self.new(f"fcmp olt {t} {size}, {self.constant(FARTHEST)}")
        r = self.new(f"select {self.bit} {near}, {t} {x}, {t} {self.constant(math.nan)}")
        for part in HALF_PI:
            r = self.fused(back, self.constant(part), r)
        r2 = self.binary("fmul", r, r)
        r3 = self.binary("fmul", r2, r)
        sine = self.fused(r3, self._polynomial(r2, SINE), r)
        r4 = self.binary("fmul", r2, r2)
        # 1 − r²/2 rounded, and what the rounding lost given back.
        half = self.binary("fmul", r2, self.constant(0.5))
        main = self.binary("fsub", self.constant(1.0), half)
        lost = self.binary("fsub", self.binary("fsub", self.constant(1.0), main), half)
        cosine = self.binary("fadd", main, self.fused(r4, self._polynomial(r2, COSINE), lost))
        odd = self.new(f"and {i} {quarter}, {self.whole(1)}")
        swap = self.new(f"icmp ne {i} {odd}, {self.whole(0)}")
        s = self.new(f"select {self.bit} {swap}, {t} {cosine}, {t} {sine}")
        c = self.new(f"select {self.bit} {swap}, {t} {sine}, {t} {cosine}")
        # Bit 1 of n is the sign of the sine, of n + 1 that of the cosine.
        signs = []
        for value, q in ((s, quarter), (c, self.new(f"add {i} {quarter}, {self.whole(1)}"))):
            two = self.new(f"and {i} {q}, {self.whole(2)}")
            sign = self.new(f"shl {i} {two}, {self.whole(62)}")
            bits = self.new(f"bitcast {t} {value} to {i}")
            signs.append(self.new(f"bitcast {i} {self.new(f'xor {i} {bits}, {sign}')} to {t}"))
        return signs[0], signs[1]

    def _library(self, function: str, count: int, arguments: list[str]) -> str:
        """A call of the mathematical library, lane by lane."""
        self.library.add(f"declare double @{function}({', '.join(['double'] * count)})")
        if self.lanes == 1:
            return self.new(f"call double @{function}({', '.join(f'double {a}' for a in arguments)})")
        result = "poison"
        for lane in range(self.lanes):
            parts = [self.new(f"extractelement {self.type} {a}, i64 {lane}") for a in arguments]
            value = self.new(f"call double @{function}({', '.join(f'double {p}' for p in parts)})")
            result = self.new(f"insertelement {self.type} {result}, double {value}, i64 {lane}")
        return result


def whole_function(graph: Graph, name: str, lanes: int, library: Callable[[str], None]) -> str:
    """One function `void name(const double* x, const double* c, double* y)`; entry k of all lanes stands together."""
    emitter = Emitter(graph, lanes)
    body = emitter.body()
    for declaration in emitter.library:
        library(declaration)
    arguments = "ptr noalias readonly %x, ptr noalias readonly %c, ptr noalias %y"
    head = f"define void @{name}({arguments}) #0 {{"
    return "\n".join([head, "entry:", *body, "  ret void", "}"])


ATTRIBUTES = 'attributes #0 = { nounwind "no-trapping-math"="true" }'


def intrinsics(lanes: int) -> list[str]:
    """Declarations of what LLVM itself brings."""
    t, suffix = (f"<{lanes} x double>", f"v{lanes}f64") if lanes > 1 else ("double", "f64")
    arguments = {"fma": 3, "sqrt": 1, "fabs": 1, "maximum": 2}
    return [f"declare {t} @llvm.{name}.{suffix}({', '.join([t] * n)})" for name, n in arguments.items()]


def executed(graph: Graph) -> int:
    """Floating-point operations that a call carries out on each lane: a fused product and sum are two.

    More than the graph's own where a product is fused into several sums, and because the polynomials of sines and
    cosines count in full.
    """
    counted = Counter(word for line in Emitter(graph, 1).body() for word in FLOATING if word in line)
    return counted["@llvm.fma."] + sum(counted.values())


FLOATING = (" fadd ", " fsub ", " fmul ", " fdiv ", "@llvm.sqrt.", "@llvm.fma.")


def row_loop(graph: Graph) -> str:
    """rows(n, x, c, y): the scalar function for each of n rows."""
    return f"""
define void @rows(i64 %n, ptr %x, ptr %c, ptr %y) #0 {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %row, label %end
row:
  %i = phi i64 [ 0, %entry ], [ %next, %row ]
  %xo = mul i64 %i, {graph.inputs}
  %xi = getelementptr double, ptr %x, i64 %xo
  %yo = mul i64 %i, {len(graph.outputs)}
  %yi = getelementptr double, ptr %y, i64 %yo
  call void @scalar(ptr %xi, ptr %c, ptr %yi)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %row, label %end
end:
  ret void
}}"""


def block_loop(graph: Graph, width: int) -> str:
    """blocks(n, x, c, y): the lane function for each of n blocks of `width` rows; c holds every lane's constants."""
    nx, ny = graph.inputs, len(graph.outputs)
    lines = [
        "",
        "define void @blocks(i64 %n, ptr %x, ptr %c, ptr %y) #0 {",
        "entry:",
        f"  %xs = alloca [{max(nx * width, 1)} x double], align 64",
        f"  %ys = alloca [{max(ny * width, 1)} x double], align 64",
        "  %some = icmp sgt i64 %n, 0",
        "  br i1 %some, label %block, label %end",
        "block:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %block ]",
        f"  %xo = mul i64 %i, {nx * width}",
        "  %xi = getelementptr double, ptr %x, i64 %xo",
        f"  %yo = mul i64 %i, {ny * width}",
        "  %yi = getelementptr double, ptr %y, i64 %yo",
        *transposed("x", "%xi", nx, 1, "%xs", 1, width, nx, width),
        "  call void @lanes(ptr %xs, ptr %c, ptr %ys)",
        *transposed("y", "%ys", 1, width, "%yi", ny, 1, ny, width),
        "  %next = add i64 %i, 1",
        "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %block, label %end",
        "end:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def transposed(
    tag: str,
    source: str,
    from_lane: int,
    from_entry: int,
    target: str,
    to_lane: int,
    to_entry: int,
    entries: int,
    width: int,
) -> list[str]:
    """Copy `entries` numbers of `width` lanes between row order and lane order.

    Entry k of a lane stands at lane · from_lane + k · from_entry in the source, likewise in the target. Squares of
    width × width go through registers, the last one moved back to end with the last entry; fewer entries than a square
    has go one by one.
    """
    lines: list[str] = []
    count = 0

    def new(text: str) -> str:
        nonlocal count
        count += 1
        lines.append(f"  %{tag}{count} = {text}")
        return f"%{tag}{count}"

    def at(base: str, offset: int) -> str:
        return new(f"getelementptr double, ptr {base}, i64 {offset}")

    vector = f"<{width} x double>"
    firsts = list(range(0, entries - width + 1, width))
    if firsts and entries % width:
        firsts.append(entries - width)
    for first in firsts:
        # One stride of each side is 1: read along it, turn the square, write along the other's.
        by_lane = from_entry == 1
        reads = [lane * from_lane + first if by_lane else (first + lane) * from_entry for lane in range(width)]
        held = [new(f"load {vector}, ptr {at(source, offset)}, align 8") for offset in reads]
        step = 1
        while step < width:
            turned = list(held)
            for i in range(width):
                if not i & step:
                    a, b = held[i], held[i + step]
                    low = [k if not k & step else width + k - step for k in range(width)]
                    high = [k + step if not k & step else width + k for k in range(width)]
                    for place, mask in ((i, low), (i + step, high)):
                        chosen = ", ".join(f"i32 {m}" for m in mask)
                        turned[place] = new(f"shufflevector {vector} {a}, {vector} {b}, <{width} x i32> <{chosen}>")
            held = turned
            step *= 2
        writes = [(first + lane) * to_entry if by_lane else lane * to_lane + first for lane in range(width)]
        for value, offset in zip(held, writes, strict=True):
            lines.append(f"  store {vector} {value}, ptr {at(target, offset)}, align 8")
    for k in range(0 if not firsts else entries, entries):
        for lane in range(width):
            value = new(f"load double, ptr {at(source, lane * from_lane + k * from_entry)}, align 8")
            lines.append(f"  store double {value}, ptr {at(target, lane * to_lane + k * to_entry)}, align 8")
    return lines
