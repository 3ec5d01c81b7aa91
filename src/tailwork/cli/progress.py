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
def bar(console: Console, kept: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that is told (done, all, what comes next); without a terminal, a line now and then.

    Args:
        console: where it is shown.
        kept: what is said when the work is interrupted.
    """
    columns = (
        SpinnerColumn(), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    done_last = 0
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("", total=None)

            def tell(done: int, total: int, what: str) -> None:
                nonlocal done_last
                done_last = done
                said = f"{what} (a new kind is compiled first, once)" if what else ""
                progress.update(task, completed=done, total=total, description=said)
                if not console.is_terminal and done % 20 == 0 and done < total:
                    console.print(f"{done} of {total}" + (f": {what}" if what else ""))

            yield tell
    except KeyboardInterrupt:
        console.print(f"interrupted after {done_last}; {kept}")
        raise
