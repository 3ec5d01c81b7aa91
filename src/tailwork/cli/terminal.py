"""What commands show at the terminal: tables, progress, and pages in the browser."""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from tailwork.studies.possible import MARK

PROCESSES = min(4, os.cpu_count() or 1)
"""How many draw pictures."""
WARNED = "yellow"
LEFT = ("unit", "note", "limit", "agrees", "last two agree", "paper", "ours", "numbers", "feet")
"""Columns of text."""
MARKS = (" ×", f" {MARK}")
"""At the end of cells that stand out."""
COMPILED = "(a new kind is compiled first, once)"
STEPS = re.compile(r"\b(\d+) of \d+$")
"""At the end of what comes next: a step of several that are alike."""


def plain_table(title: str, first: str, *numbers: str, rows: Iterable[Sequence[str | Text]] = ()) -> Table:
    """A table without lines: a first column of names, then columns of numbers."""
    table = Table(
        title=Text(title, style="bold"), title_justify="left", title_style="bold", box=None, pad_edge=False,
        padding=(0, 2, 0, 0),
    )  # fmt: skip
    table.add_column(Text(first))
    for name in numbers:
        table.add_column(Text(name), justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def print_table(
    console: Console, title: str, header: Sequence[str], cells: Iterable[Sequence[object]], note: str = ""
) -> None:
    """A table. Heads are wrapped between words; where there is no room for the numbers, lines are longer than the
    terminal is wide: nothing is cut. What its marks mean stands below it."""
    rows = [[str(cell) for cell in row] for row in cells]
    table = plain_table(title, *(_whole_unit(name) for name in header))
    for k, (column, name) in enumerate(zip(table.columns, header, strict=True)):
        wordy = k == 0 or name in LEFT
        if wordy:
            column.justify = "left"
        cells = [word for row in rows for word in (_words(row[k]) if wordy else [row[k]])]
        column.min_width = max(map(len, [*name.split(), *cells]))
    for row in rows:
        table.add_row(*(Text(cell, style=WARNED if cell.endswith(MARKS) else "") for cell in row))
    print_whole(console, table)
    if note:
        console.print(note, style=WARNED)


def print_whole(console: Console, table: Table) -> None:
    """Print a table: where there is no room for its numbers, lines are longer than the terminal is wide."""
    for column in table.columns:
        if column.justify == "right":
            column.min_width = max([column.min_width or 0, *(len(str(cell)) for cell in column.cells)])
    needed = Measurement.get(console, replace(console.options, max_width=10**4), table).minimum
    console.print(table, width=max(needed, console.width), crop=False, overflow="ignore")


def _words(cell: str) -> list[str]:
    """Words of a cell, a mark with the one that it stands behind."""
    *before, last = cell.split() or [""]
    return [*before[:-1], f"{before[-1]} {last}"] if before and cell.endswith(MARKS) else [*before, last]


def _whole_unit(name: str) -> str:
    """A head whose unit is not broken where it has a space: it has a line of its own."""
    before, bracket, unit = name.partition(" [")
    return f"{before}\n[{unit}" if bracket and " " in unit else name


def wide_console(least: int = 80) -> Console:
    """A console at least so wide: in a narrow terminal lines are wrapped, but no number is cut. Text is plain."""
    return Console(highlight=False, markup=False, width=max(least, Console().width))


@contextmanager
def progress_bar(console: Console, interrupted: str, *, every: int = 20) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar: a function of (done, all, what comes next); without a terminal, lines on stderr now and then.

    Args:
        console: where it is shown.
        interrupted: what is printed when the work is interrupted.
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
                text = f"{what} {COMPILED}" if what and what == first else what
                progress.update(task, completed=done, total=total, description=text)
                if not console.is_terminal and done < total and last != before and done % every == 0 and _printed(what):
                    beside = f"{done} of {total}" + (f": {what}" if what else "")
                    Console(stderr=True, highlight=False, markup=False).print(beside, soft_wrap=True)

            yield tell
    except KeyboardInterrupt:
        done = f"{last[0]} of {last[1]} finished; " if last[1] else ""
        console.print(f"{done}{interrupted}", soft_wrap=True)  # that it was interrupted, the command says
        raise


def _printed(what: str) -> bool:
    """Whether a step has a line: the first, and every tenth of several that are alike."""
    step = STEPS.search(what)
    return step is None or step[1] == "1" or int(step[1]) % 10 == 0


def show_page(console: Console, address: str, wanted: bool = True) -> None:
    """Open a page in the browser, if wanted; print its address."""
    # A browser for the terminal would take the terminal from us: there must be a screen.
    screen = sys.platform in ("win32", "darwin") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))
    if wanted and not (screen and _opened(address)):
        console.print("no browser could be opened here; the page is at", style="yellow")
    console.print(address, soft_wrap=True, highlight=False)


def _opened(address: str) -> bool:
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
