"""Finished graphs: only what the outputs need, split into what depends on the state and what does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tailwork.algebra.expression import (
    CONSTANT,
    COPY,
    INPUT,
    NEG,
    OPERATION_NAMES,
    Expression,
    Scalar,
    Tape,
    as_indices,
)

FREE = frozenset((INPUT, CONSTANT, NEG, COPY))
"""Entries that cost nothing: signs ride along with other operations."""

Entry = tuple[int, float | int, int]
"""(operation, first operand or input number or constant value, second operand or −1)."""


@dataclass(frozen=True)
class Graph:
    """Operations in an order in which they can be carried out, and which of them are the outputs."""

    entries: tuple[Entry, ...]
    outputs: tuple[int, ...]
    inputs: int  # numbers that change with every call: states, efforts
    parameters: int  # numbers that change with the design: they are inputs numbered after the others

    @cached_property
    def operations(self) -> Counter[str]:
        """How many operations of each name, without those that are free."""
        return Counter(OPERATION_NAMES[op] for op, _, _ in self.entries if op not in FREE)

    @cached_property
    def flops(self) -> int:
        """All operations, a sine counted as one."""
        return sum(self.operations.values())


def finished(tape: Tape, outputs: Sequence[Scalar], inputs: int, parameters: int) -> Graph:
    """The graph of some outputs: everything they do not need is left out."""
    wanted = as_indices(tape, outputs)
    return _kept(tape.entries, wanted, inputs, parameters)


def _kept(entries: Sequence[Entry], wanted: Sequence[int], inputs: int, parameters: int) -> Graph:
    needed = bytearray(len(entries))
    for k in wanted:
        needed[k] = 1
    for k in range(len(entries) - 1, -1, -1):
        if needed[k]:
            operation, first, second = entries[k]
            if operation > CONSTANT:
                needed[int(first)] = 1
                if second >= 0:
                    needed[second] = 1
    place: dict[int, int] = {}
    kept: list[Entry] = []
    for k, (operation, first, second) in enumerate(entries):
        if needed[k]:
            place[k] = len(kept)
            if operation > CONSTANT:
                first, second = place[int(first)], place[second] if second >= 0 else -1
            kept.append((operation, first, second))
    return Graph(tuple(kept), tuple(place[k] for k in wanted), inputs, parameters)


def split(graph: Graph) -> tuple[Graph, Graph]:
    """(prelude, main): the prelude computes from the parameters alone all that the main graph needs of them.

    The prelude runs once a design, the main graph once a state. The main graph's parameters are the prelude's outputs.
    """
    depends = [False] * len(graph.entries)  # on the state
    for k, (operation, first, second) in enumerate(graph.entries):
        if operation == INPUT:
            depends[k] = first < graph.inputs
        elif operation != CONSTANT:
            depends[k] = depends[int(first)] or (second >= 0 and depends[second])
    handed: dict[int, int] = {}  # entries computed by the prelude and used by the main graph

    def hand_over(k: int) -> None:
        if not depends[k] and graph.entries[k][0] != CONSTANT:
            handed.setdefault(k, len(handed))

    for k, (operation, first, second) in enumerate(graph.entries):
        if depends[k] and operation > CONSTANT:
            hand_over(int(first))
            if second >= 0:
                hand_over(second)
    for k in graph.outputs:
        hand_over(k)
    before = [(op, first - graph.inputs if op == INPUT else first, second) for op, first, second in graph.entries]
    prelude = _kept(before, list(handed), 0, graph.parameters)
    main = [(INPUT, graph.inputs + handed[k], -1) if k in handed else entry for k, entry in enumerate(graph.entries)]
    return prelude, _kept(main, graph.outputs, graph.inputs, len(handed))


def cut(tape: Tape, first: Sequence[Scalar], second: Sequence[Scalar], early: int, inputs: int, parameters: int) -> Cut:
    """Two graphs of one tape. The first takes the first `early` inputs alone and gives `first`; the second gives
    `second` from all that the first hands over and the inputs that are left. Both have all parameters."""
    entries, count = tape.entries, len(tape.entries)
    known, late = bytearray(count), bytearray(count)  # needs an input at all, needs one that comes late
    for k, (operation, a, b) in enumerate(entries):
        if operation == INPUT:
            known[k], late[k] = a < inputs, early <= a < inputs
        elif operation != CONSTANT:
            known[k] = known[int(a)] or (b >= 0 and known[b])
            late[k] = late[int(a)] or (b >= 0 and late[b])
    wanted = as_indices(tape, second)
    needed = bytearray(len(tape.entries))
    handed: dict[int, int] = {}
    for k in wanted:
        needed[k] = 1
    for k in range(count - 1, -1, -1):
        if needed[k] and k < len(known) and known[k] and not late[k]:
            handed[k] = len(handed)
        elif needed[k] and entries[k][0] > CONSTANT:
            needed[int(entries[k][1])] = 1
            if entries[k][2] >= 0:
                needed[entries[k][2]] = 1
    more = inputs - early

    def moved(k: int, entry: Entry) -> Entry:
        operation, number, _ = entry
        if k in handed:
            return INPUT, handed[k], -1
        return (INPUT, len(handed) + int(number) - early, -1) if operation == INPUT and number >= early else entry

    before = finished(tape, [*first, *(Expression(tape, k) for k in handed)], early, parameters)
    earlier = [(op, a - more if op == INPUT and a >= inputs else a, b) for op, a, b in before.entries]
    after = _kept([moved(k, entry) for k, entry in enumerate(tape.entries)], wanted, len(handed) + more, parameters)
    return Cut(replace(before, entries=tuple(earlier)), after, len(handed))


@dataclass(frozen=True)
class Cut:
    """A graph in two parts."""

    first: Graph  # whose last outputs are what it hands over
    second: Graph  # whose first inputs are that
    handed: int
