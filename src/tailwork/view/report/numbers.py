"""Numbers of a report as files that other programs read."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence

from tailwork.files import write_whole


def write_numbers(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write a table as CSV, whole or not at all; numbers to nine digits, headings with their units."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([cell if isinstance(cell, str) else f"{cell:.9g}" for cell in row])
    write_whole(path, text.getvalue())
