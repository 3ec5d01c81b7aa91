"""Long waits are said once on stderr: `tailwork: compiling the equations of liu2020-usrt (once; kept for later)`.

They are not where the environment has TAILWORK_PROGRESS=0, after `show_progress(False)`, and within `quiet()`.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Timer

from tailwork.locks import lock

PATIENCE = 1.0
"""Nothing is said of what takes less time than this [s]."""

MANY, PER_OPERATION = 40_000, 3e-4
"""Operations that are announced before they are compiled, and how long one takes at most, in lanes [s]."""

_shown = os.environ.get("TAILWORK_PROGRESS", "1") != "0"
_spent: dict[str, float] = {}
_said: set[str] = set()
_telling = lock()


def show_progress(shown: bool) -> None:
    """Whether long waits, for compilation, are said on stderr."""
    global _shown
    _shown = bool(shown)


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is said meanwhile: whoever has a progress bar of their own."""
    before = _shown
    show_progress(False)
    try:
        yield
    finally:
        show_progress(before)


@contextmanager
def announced(what: str, at_once: bool = False) -> Iterator[None]:
    """Do something that may take long: if it takes longer than PATIENCE, all parts of it together, that is said once.

    Args:
        what: is done, in words ("compiling the equations of liu2020-usrt").
        at_once: whether it is known to take long, so that it is said beforehand.
    """
    if not _shown or what in _said:
        yield
        return
    if at_once:
        _tell(what)
    start = time.perf_counter()
    timer = Timer(max(0.0, PATIENCE - _spent.get(what, 0.0)), _tell, (what,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _spent[what] = _spent.get(what, 0.0) + time.perf_counter() - start


def compiling(robot: str, operations: int = 0) -> AbstractContextManager[None]:
    """Compile equations of a robot, given by its name; empty: it is not known. If there are many operations, that is
    said beforehand, with how long it may take."""
    whose = f"the equations of {robot}" if robot else "equations"
    if operations < MANY:
        return announced(f"compiling {whose} (once; kept for later)")
    seconds = math.ceil(operations * PER_OPERATION / 10.0) * 10
    return announced(f"compiling {whose}, {operations:,} operations: up to {seconds} s (once; kept for later)", True)


def _tell(what: str) -> None:
    with _telling:
        if what in _said or not _shown:
            return
        _said.add(what)
    print(f"tailwork: {what}", file=sys.stderr, flush=True)
