"""One look for all tables on the terminal."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table


def plain_table(title: str, first: str, *numbers: str) -> Table:
    """A table without lines: a first column of names, then columns of numbers. Brackets in titles are units."""
    table = Table(
        title=escape(title), title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 3, 0, 0)
    )
    table.add_column(escape(first))
    for name in numbers:
        table.add_column(escape(name), justify="right")
    return table
