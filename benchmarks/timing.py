"""Timing side by side: contenders in turn, again and again, so that a busy moment strikes all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

Contenders = Mapping[str, Callable[[], Any]]
Times = dict[str, list[float]]
"""Seconds a call by contender, one for each repeat."""

THREADS = 2
"""Threads of every comparison on several threads."""


@dataclass(frozen=True)
class Ratio:
    """How many times longer one takes than the other: median and quartiles over the interleaved pairs."""

    median: float
    lower: float
    upper: float

    def __str__(self) -> str:
        digits = 0 if self.median >= 20.0 else 1
        return f"{self.median:.{digits}f} ({self.lower:.{digits}f}–{self.upper:.{digits}f})"


def interleaved(contenders: Contenders, calls: Mapping[str, int], repeats: int) -> Times:
    """Time each contender `repeats` times, all of them in turn; `calls` of one are timed together (1 by default)."""
    times: Times = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            count = calls.get(name, 1)
            start = time.perf_counter()
            for _ in range(count):
                run()
            times[name].append((time.perf_counter() - start) / count)
    return times


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> Ratio:
    """Of times that were taken in turn."""
    lower, median, upper = np.percentile(np.array(theirs) / np.array(ours), (25.0, 50.0, 75.0))
    return Ratio(float(median), float(lower), float(upper))


def together(runs: Sequence[Callable[[], Any]], times: int = 1) -> Callable[[], None]:
    """All of some calls at once, each `times` times on a thread of its own; threads are kept between calls."""
    pool = ThreadPoolExecutor(len(runs))

    def repeated(run: Callable[[], Any]) -> None:
        for _ in range(times):
            run()

    return lambda: [None for _ in pool.map(repeated, runs)].clear()


def side_by_side(runs: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Seconds a call of each, the best of its repeats while the others run: what threads reach when nothing else does.

    A moment in which all of them are undisturbed from start to end is rare on a shared machine.
    """

    def best(run: Callable[[], Any]) -> float:
        shortest = float("inf")
        for _ in range(repeats):
            start = time.perf_counter()
            run()
            shortest = min(shortest, time.perf_counter() - start)
        return shortest

    with ThreadPoolExecutor(len(runs)) as pool:
        return list(pool.map(best, runs))
