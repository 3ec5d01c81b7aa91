"""Functions in parts: of large graphs, and for many blocks of rows.

A lane function runs once through thousands of instructions. The processor waits twice: for results that the next
instructions need, and for the instructions themselves, which are more than its cache of decoded ones holds. Here the
graph is cut into parts of a few dozen values, and each part runs for several blocks of rows before the next part
does. Blocks do not depend on each other: while one waits, another computes, and a part is decoded once for all of
them. What later parts need is kept in memory. Every value comes from the same operations as in the lane function, so
that the bits are the same.

The scalar and the lane function of a large graph are cut, too, into larger parts: LLVM then takes less time, and finds
better places for fewer values.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import CONSTANT, COPY, COS, INPUT, NEG, SIN
from tailwork.kernels.emit import (
    ATTRIBUTES,
    Emitter,
    block_loop,
    fused_products,
    intrinsics,
    row_loop,
    transposed,
    whole_function,
)
from tailwork.kernels.graph import Graph

PART = 45  # steps a part: with fewer, more is stored between parts; with more, fewer blocks overlap
LARGE, LARGE_PART = 2_400, 200  # operations from which on a function itself is in parts, and steps of those
GROUP = 6  # blocks that go through the parts together
MEMORY = 1 << 17  # [bytes] at most for what a group keeps between parts; a group is smaller where that is not enough


@dataclass(frozen=True)
class PartSteps:
    """What a graph computes, step by step: one entry each, or the sine and the cosine of one angle."""

    computes: dict[int, list[int]]  # by step (named by its first entry): entries
    reads: dict[int, frozenset[int]]  # by step: entries of other steps, seen through signs and fused products
    outputs: frozenset[int]  # entries that the outputs are, seen through signs
    step: dict[int, int]  # by entry: its step

    def needs(self) -> dict[int, frozenset[int]]:
        """By step: the steps it reads from."""
        return {k: frozenset(self.step[entry] for entry in read) for k, read in self.reads.items()}


def graph_steps(graph: Graph) -> PartSteps:
    """The steps of a graph, in its own order."""
    held = fused_products(graph)
    angles: dict[int, int] = {}
    computes: dict[int, list[int]] = {}
    reads: dict[int, frozenset[int]] = {}
    step: dict[int, int] = {}
    seen: list[frozenset[int]] = []  # by entry: what reading it reads
    for k, (op, first, second) in enumerate(graph.entries):
        operands = [int(first)] * (op > CONSTANT) + [second] * (second >= 0)
        read = frozenset[int]().union(*(seen[operand] for operand in operands))
        if op in (INPUT, CONSTANT, NEG, COPY) or k in held:
            seen.append(read)
            continue
        step[k] = angles.setdefault(int(first), k) if op in (SIN, COS) else k
        computes.setdefault(step[k], []).append(k)
        reads.setdefault(step[k], read)
        seen.append(frozenset((k,)))
    return PartSteps(computes, reads, frozenset[int]().union(*(seen[k] for k in graph.outputs)), step)


def _alive(order: Sequence[int], needs: Mapping[int, frozenset[int]], last: Collection[int]) -> list[int]:
    """How many results are still needed before each step and after the last one; `last` are needed to the end."""
    end = dict.fromkeys(last, len(order))
    for place in range(len(order) - 1, -1, -1):
        for needed in needs[order[place]]:
            end.setdefault(needed, place)
    ending = Counter(end.values())
    alive = [0]
    for place in range(len(order)):
        alive.append(alive[-1] + 1 - ending[place])
    return alive


def _backwards(needs: Mapping[int, frozenset[int]], last: Collection[int]) -> list[int]:
    """An order found from the end: before each step the one that needs the fewest results not yet needed after it."""
    users: dict[int, list[int]] = defaultdict(list)
    for k, needed in needs.items():
        for other in needed:
            users[other].append(k)
    waiting = {k: len(users[k]) for k in needs}
    fresh = {k: len(needed) for k, needed in needs.items()}  # results that the step would be the first to need
    known: set[int] = set()
    ready: list[tuple[int, int]] = []

    def need(k: int) -> None:
        if k in known:
            return
        known.add(k)
        for user in users[k]:
            fresh[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (fresh[user], -user))

    for k in last:
        need(k)
    for k in needs:
        if not waiting[k]:
            heapq.heappush(ready, (fresh[k], -k))
    order: list[int] = []
    placed: set[int] = set()
    while ready:
        k = -heapq.heappop(ready)[1]
        if k in placed:
            continue
        placed.add(k)
        order.append(k)
        for other in needs[k]:
            waiting[other] -= 1
            need(other)
            if not waiting[other]:
                heapq.heappush(ready, (fresh[other], -other))
    return order[::-1]


def parts_of(steps: PartSteps, size: int = PART) -> list[list[int]]:
    """PartSteps in the better of two orders, that with fewer results alive, cut where few are alive."""
    needs = steps.needs()
    last = {steps.step[k] for k in steps.outputs}
    orders = [list(needs), _backwards(needs, last)]
    counts = [_alive(order, needs, last) for order in orders]
    order, alive = min(zip(orders, counts, strict=True), key=lambda both: sum(both[1]))
    count = max(1, round(len(order) / size))
    cuts = [0]
    for part in range(1, count):
        middle = len(order) * part // count
        near = range(middle - size // 4, middle + size // 4 + 1)
        cuts.append(min(near, key=lambda place: (alive[place], abs(place - middle))))
    return [order[a:b] for a, b in zip(cuts, [*cuts[1:], len(order)], strict=True)]


@dataclass(frozen=True)
class ValuePlaces:
    """Where numbers of a block are kept between parts: inputs first, outputs last."""

    place: dict[int, int]  # by entry
    outputs: int  # place of the first output
    count: int


def places_of(graph: Graph, steps: PartSteps, parts: Sequence[Sequence[int]]) -> ValuePlaces:
    """A place for every entry that another part reads; used again once no step needs what it holds."""
    part = {k: number for number, members in enumerate(parts) for k in members}
    left: Counter[int] = Counter(steps.outputs)
    kept = {k for k in steps.outputs if part[steps.step[k]] < len(parts) - 1}
    for k, read in steps.reads.items():
        left.update(read)
        kept.update(entry for entry in read if part[steps.step[entry]] < part[k])
    place: dict[int, int] = {}
    free: list[int] = []
    count = graph.inputs
    for members in parts:
        for k in members:
            left.subtract(steps.reads[k])
            free += [place[entry] for entry in steps.reads[k] if not left[entry] and entry in place]
            for entry in steps.computes[k]:
                if entry in kept:
                    if not free:
                        free.append(count)
                        count += 1
                    place[entry] = free.pop()
    return ValuePlaces(place, count, count + len(graph.outputs))


class PartEmitter(Emitter):
    """Writes the body of one part after another. Inputs and outputs are with all else, or `apart`, at %x and %y."""

    def __init__(self, graph: Graph, lanes: int, size: int = PART, apart: bool = False) -> None:
        super().__init__(graph, lanes)
        self.steps = graph_steps(graph)
        self.parts = parts_of(self.steps, size)
        self.places = places_of(graph, self.steps, self.parts)
        self.given, self.shift = ("%x", graph.inputs) if apart else ("%w", 0)
        self.out = ("%y", 0) if apart else ("%w", self.places.outputs)
        self.done: set[int] = set()  # entries of parts already written

    def part(self, number: int) -> list[str]:
        """Instructions of one part; parts are written in their order."""
        self.lines, self.names, self.sincos = [], {}, {}
        computed = [entry for k in self.parts[number] for entry in self.steps.computes[k]]
        for entry in computed:
            name = self._name(entry)
            if entry in self.places.place:
                self.store(name, "%w", self.places.place[entry] - self.shift)
        if number == len(self.parts) - 1:
            for k, output in enumerate(self.graph.outputs):
                self.store(self._name(output), self.out[0], self.out[1] + k)
        self.done.update(computed)
        return self.lines

    def _value(self, k: int) -> str:
        op, first, _ = self.graph.entries[k]
        if k in self.done:
            return self.load("%w", self.places.place[k] - self.shift)
        if op == INPUT and first < self.graph.inputs:
            return self.load(self.given, int(first))
        return super()._value(k)


def function(graph: Graph, name: str, lanes: int, library: Callable[[str], None]) -> str:
    """One function `void name(const double* x, const double* c, double* y)`; entry k of all lanes stands together."""
    if graph.flops <= LARGE:
        return whole_function(graph, name, lanes, library)
    emitter = PartEmitter(graph, lanes, LARGE_PART, apart=True)
    arguments = "ptr noalias readonly %x, ptr noalias readonly %c, ptr noalias %y, ptr noalias %w"
    numbers = range(len(emitter.parts))
    functions = [_function(f"{name}{number}", arguments, emitter.part(number)) for number in numbers]
    size = max((emitter.places.outputs - graph.inputs) * lanes, 1)
    body = [f"  %w = alloca [{size} x double], align 64"]
    body += [f"  call void @{name}{number}(ptr %x, ptr %c, ptr %y, ptr %w)" for number in numbers]
    for declaration in emitter.library:
        library(declaration)
    return "\n".join([*functions, f"define void @{name}(ptr %x, ptr %c, ptr %y) #0 {{", *body, "  ret void", "}"])


def scalar_module(prelude: Graph, main: Graph) -> str:
    """Assembly of a kernel: prelude and scalar function, and the loop over rows."""
    declarations = set(intrinsics(1))
    functions = [function(prelude, "prelude", 1, declarations.add), function(main, "scalar", 1, declarations.add)]
    return "\n".join([*functions, row_loop(main), *sorted(declarations), ATTRIBUTES])


def lane_module(main: Graph, width: int) -> str:
    """Assembly of a kernel's lane function, and the loop over blocks of rows."""
    declarations = set(intrinsics(width))
    lanes = function(main, "lanes", width, declarations.add)
    return "\n".join([lanes, block_loop(main, width), *sorted(declarations), ATTRIBUTES])


def module(graph: Graph, width: int) -> str:
    """Assembly of groups(n, x, c, y): outputs for n blocks of `width` rows; c holds every lane's constants."""
    emitter = PartEmitter(graph, width)
    inputs, outputs, places = graph.inputs, len(graph.outputs), emitter.places
    size = max(places.count * width, 1)  # numbers a block keeps
    group = max(1, min(GROUP, MEMORY // (8 * size)))
    work = "ptr noalias %w, ptr noalias readonly %c"
    functions = [
        _function("rows_in", "ptr %x, ptr noalias %w", transposed("x", "%x", inputs, 1, "%w", 1, width, inputs, width)),
        *(_function(f"part{number}", work, emitter.part(number)) for number in range(len(emitter.parts))),
        _function(
            "rows_out", "ptr %w, ptr noalias %y", transposed("y", "%w", 1, width, "%y", outputs, 1, outputs, width)
        ),
    ]

    def through(blocks: int) -> list[str]:
        """That many blocks from the rows at %x to the rows at %y."""
        lines = [
            f"  %{name}{b} = getelementptr double, ptr %{base}, i64 {b * step}"
            for b in range(blocks)
            for name, base, step in (("x", "x", inputs * width), ("y", "y", outputs * width), ("w", "w", size))
        ]
        for number in range(len(emitter.parts)):
            for b in range(blocks):
                if number == 0:  # block by block, so that moving numbers and computing overlap
                    lines.append(f"  call void @rows_in(ptr %x{b}, ptr %w{b})")
                lines.append(f"  call void @part{number}(ptr %w{b}, ptr %c)")
        for b in range(blocks):
            lines.append(f"  %r{b} = getelementptr double, ptr %w{b}, i64 {places.outputs * width}")
            lines.append(f"  call void @rows_out(ptr %r{b}, ptr %y{b})")
        return lines

    arguments = "ptr %x, ptr %c, ptr %y, ptr %w"
    functions += [_function("together", arguments, through(group)), _function("alone", arguments, through(1))]
    loop = f"""
define void @groups(i64 %n, ptr %x, ptr %c, ptr %y) #0 {{
entry:
  %w = alloca [{group * size} x double], align 64
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %ig, %several ], [ %i1, %one ]
  %xo = mul i64 %i, {inputs * width}
  %xi = getelementptr double, ptr %x, i64 %xo
  %yo = mul i64 %i, {outputs * width}
  %yi = getelementptr double, ptr %y, i64 %yo
  %ig = add i64 %i, {group}
  %i1 = add i64 %i, 1
  %enough = icmp sle i64 %ig, %n
  br i1 %enough, label %several, label %few
several:
  call void @together(ptr %xi, ptr %c, ptr %yi, ptr %w)
  br label %next
few:
  %some = icmp slt i64 %i, %n
  br i1 %some, label %one, label %end
one:
  call void @alone(ptr %xi, ptr %c, ptr %yi, ptr %w)
  br label %next
end:
  ret void
}}"""
    return "\n".join([*functions, loop, *sorted(emitter.library), *intrinsics(width), ATTRIBUTES])


def _function(name: str, arguments: str, body: Sequence[str]) -> str:
    return "\n".join([f"define internal void @{name}({arguments}) #0 {{", *body, "  ret void", "}"])
