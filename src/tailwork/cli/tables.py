"""One look for all tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text


def plain_table(title: str, first: str, *numbers: str) -> Table:
    """A table without lines: a first column of names, then columns of numbers."""
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column(Text(first))
    for name in numbers:
        table.add_column(Text(name), justify="right")
    return table


def wide_console(least: int, *, markup: bool = True) -> Console:
    """A console at least so wide: in a narrow terminal lines are wrapped, but no number is cut."""
    return Console(highlight=False, markup=markup, width=max(least, Console().width))
