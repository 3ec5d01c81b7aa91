"""Progress of long work on the terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PROCESSES = min(4, os.cpu_count() or 1)
"""How many draw pictures."""
COMPILED = "(a new kind is compiled first, once)"
STEPS = re.compile(r"\b(\d+) of \d+$")
"""At the end of what comes next: a step of several that are alike."""


@contextmanager
def bar(console: Console, kept: str, *, every: int = 20) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that is told (done, all, what comes next); without a terminal, a line now and then, beside the output.

    Args:
        console: where it is shown.
        kept: what is said when the work is interrupted.
        every: without a terminal, a line for every so many that are done; what comes next within one of them has a line
            of its own, or for every tenth of several steps that are alike.
    """
    columns = (
        SpinnerColumn(), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    first: str | None = None
    last = (-1, 0, "")
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("", total=None)

            def tell(done: int, total: int, what: str) -> None:
                nonlocal first, last
                first, before, last = what if first is None else first, last, (done, total, what)
                said = f"{what} {COMPILED}" if what and what == first else what
                progress.update(task, completed=done, total=total, description=said)
                if not console.is_terminal and done < total and last != before and done % every == 0 and _told(what):
                    beside = f"{done} of {total}" + (f": {what}" if what else "")
                    Console(stderr=True, highlight=False, markup=False).print(beside, soft_wrap=True)

            yield tell
    except KeyboardInterrupt:
        done = f"{last[0]} of {last[1]} finished; " if last[1] else ""
        console.print(f"{done}{kept}", soft_wrap=True)  # that it was interrupted, the command says
        raise


def _told(what: str) -> bool:
    """Whether a step has a line: the first, and every tenth of several that are alike."""
    step = STEPS.search(what)
    return step is None or step[1] == "1" or int(step[1]) % 10 == 0
