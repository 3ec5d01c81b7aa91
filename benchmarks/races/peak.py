"""The most floating-point operations a second that this machine does: independent fused multiply-adds in registers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import THREADS, side_by_side
from tailwork.kernels.native import compiled, machine

CHAINS = (8, 10, 12, 14)
"""How many independent chains are tried: enough to hide the latency, few enough for the registers."""
ROUNDS = 200_000
"""Multiply-adds of each chain in one call, about half a millisecond."""
WINDOWS = 5
"""Calls for each repeat that is asked for."""


@dataclass(frozen=True)
class Peak:
    """Operations a second, a fused multiply-add counted as two [1/s]."""

    one: float  # on one thread
    several: float  # on all threads of the comparison together


def measured_peak(repeats: int = 40) -> Peak:
    """The best of all numbers of chains and all repeats."""
    found = {}
    for threads in (1, THREADS):
        rates = []
        for chains in CHAINS:
            times = side_by_side([_loop(chains) for _ in range(threads)], WINDOWS * repeats)
            rates.append(sum(chains * ROUNDS * machine().width * 2.0 / seconds for seconds in times))
        found[threads] = max(rates)
    return Peak(found[1], found[THREADS])


def _loop(chains: int) -> Callable[[], None]:
    """A call of the compiled loop on numbers of its own."""
    text = _assembly(chains, machine().width)
    code = compiled(text, lambda: text)
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(code.address("chains"))
    numbers = np.full(machine().width, 0.5)  # x ← x/2 + 1/2 stays where it is: no infinities, no denormal numbers

    def run(_held: tuple[object, ...] = (code, numbers)) -> None:
        function(ROUNDS, numbers.ctypes.data)

    return run


def _assembly(chains: int, width: int) -> str:
    """chains(n, p): x_k ← x_k a + a, n times for every chain k, with a = *p; a sum is stored, so none is dropped."""
    t, suffix = f"<{width} x double>", f"v{width}f64"
    lines = [
        f"declare {t} @llvm.fma.{suffix}({t}, {t}, {t})",
        "define void @chains(i64 %n, ptr %p) {",
        "entry:",
        f"  %a = load {t}, ptr %p, align 8",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [0, %entry], [%next, %loop]",
        *(f"  %x{k} = phi {t} [%a, %entry], [%y{k}, %loop]" for k in range(chains)),
        *(f"  %y{k} = call {t} @llvm.fma.{suffix}({t} %x{k}, {t} %a, {t} %a)" for k in range(chains)),
        "  %next = add i64 %i, 1",
        "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %out",
        "out:",
        f"  %s0 = fsub {t} %y0, %y0",
        *(f"  %s{k} = fadd {t} %s{k - 1}, %y{k}" for k in range(1, chains)),
        f"  %kept = fsub {t} %s{chains - 1}, %s{chains - 1}",
        f"  %sum = fadd {t} %kept, %a",
        f"  store {t} %sum, ptr %p, align 8",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)
