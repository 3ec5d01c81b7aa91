"""Tables of `tailwork design`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tailwork.cli.tables import plain_table
from tailwork.studies.design import rows, words
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.cautions import cautions, feet_pull, feet_words
from tailwork.studies.design.search import ImpossibleError

LEFT = ("unit", "note", "limit", "agrees", rows.VERIFIED_HEADER[-1])
"""Columns of text."""
WARNED = "yellow"


def print_answer(console: Console, answer: Answer) -> None:
    """The best design, its measures, prices, verification and how sure it is."""
    study = answer.study
    chosen = f" with {words.choice_words(answer.choice)}" if answer.choice else ""
    console.print(f"\n{words.headline(answer)}")
    for text in cautions(answer):
        console.print(f"\nwarning: {text}", style=WARNED)
    _print(console, f"\n{words.best_name(study)}{chosen}", rows.DESIGN_HEADER, rows.design_rows(answer))
    marks = rows.measure_caption(answer)
    title = "\nits measures (at finer steps" + (f"; {marks})" if marks else ")")
    _print(console, title, rows.MEASURE_HEADER, rows.measure_rows(answer))
    prices = words.price_words(answer)
    if prices:
        console.print("\nwhat the limits cost", style="bold")
        for text in prices:
            console.print(f"  {text}")
    said = [words.robust_words(answer), "" if feet_pull(answer) else feet_words(answer)]
    said += [words.airborne_words(answer), "" if answer.verified.disagreements() else words.verified_words(answer)]
    for text in filter(None, said):
        console.print(f"\n{text}")
    _print(console, "\nverification", rows.VERIFIED_HEADER, rows.verified_rows(answer))
    console.print(f"\n{words.optima_words(answer)}")
    if len(answer.found.optima) > 1:
        _print(console, "", rows.optima_header(study), rows.optima_rows(answer))
    _print(console, f"\n{words.swing_words(answer)}", rows.swing_header(study), rows.swing_rows(answer))
    _print(console, "\ntolerance", rows.TOLERANCE_HEADER, rows.tolerance_rows(answer))
    console.print(words.tolerance_words(answer), style="dim")


def print_choices(
    console: Console, answers: Sequence[Answer], none: Sequence[tuple[dict[str, Any], ImpossibleError]]
) -> None:
    """All choices, the best first, and those for which there is no design."""
    _print(console, "\nall choices, the best first", *rows.choice_table(answers))
    for choice, error in none:
        console.print(f"{words.choice_words(choice)}: {error}", style=WARNED)


def print_front(console: Console, answer: Answer) -> None:
    """The Pareto set; its variables are in the file."""
    assert answer.front is not None
    study = answer.study
    _print(console, "\ntrade-off between the goals", rows.front_header(study), rows.front_rows(study, answer.front))
    console.print(words.front_words(study, answer.front), style="dim")


def _whole_unit(name: str) -> str:
    """A head whose unit is not broken where it has a space: it has a line of its own."""
    before, bracket, unit = name.partition(" [")
    return f"{before}\n[{unit}" if bracket and " " in unit else name


def _print(console: Console, title: str, header: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """A table. Heads are wrapped between words; where there is no room for the numbers, lines are longer than the
    terminal is wide: nothing is cut."""
    table: Table = plain_table(title, *(_whole_unit(name) for name in header))
    for k, (column, name) in enumerate(zip(table.columns, header, strict=True)):
        text = name in LEFT
        if text:
            column.justify = "left"
        column.min_width = max(map(len, [*name.split(), *("" if text else row[k] for row in cells)]))
    for row in cells:
        table.add_row(*(Text(cell, style=WARNED if cell.endswith(rows.BROKEN) else "") for cell in row))
    needed = Measurement.get(console, replace(console.options, max_width=10**4), table).minimum
    console.print(table, width=max(needed, console.width), crop=False, overflow="ignore")
