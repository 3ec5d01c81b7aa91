"""Progress of long work on the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PROCESSES = min(4, os.cpu_count() or 1)
"""How many draw pictures."""


@contextmanager
def bar(console: Console) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that is told (done, all, what comes next). Without a terminal, a line now and then."""
    columns = (
        SpinnerColumn(),
        BarColumn(30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("compiling what is new", total=None)

        def tell(done: int, total: int, what: str) -> None:
            progress.update(task, completed=done, total=total, description=what)
            if not console.is_terminal and done % 20 == 0 and done < total:
                console.print(f"{done} of {total}: {what}")

        yield tell
