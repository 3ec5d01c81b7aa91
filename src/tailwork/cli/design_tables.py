"""Tables of `tailwork design`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tailwork.cli.tables import plain_table
from tailwork.design import words
from tailwork.design.answer import Answer
from tailwork.design.search import ImpossibleError

LEFT = ("unit", "note", "limit", "agree", "agrees")
"""Columns of text."""


def print_answer(console: Console, answer: Answer) -> None:
    """The best design, its measures, prices, verification and how sure it is."""
    chosen = f" with {words.choice_words(answer.choice)}" if answer.choice else ""
    _print(console, f"\nbest design{chosen}", words.DESIGN_HEADER, words.design_rows(answer))
    _print(console, "\nits measures (at finer steps)", words.MEASURE_HEADER, words.measure_rows(answer))
    prices = words.price_words(answer)
    if prices:
        console.print("\nwhat the limits cost", style="bold")
        for text in prices:
            console.print(f"  {text}")
    for text in (words.robust_words(answer), words.airborne_words(answer), words.verified_words(answer)):
        if text:
            bad = text.startswith("NOT")
            console.print(f"\n{text}", soft_wrap=True, style="yellow" if bad else None)
    _print(console, "\nverification", words.VERIFIED_HEADER, words.verified_rows(answer))
    console.print(f"\n{words.optima_words(answer)}", soft_wrap=True)
    if len(answer.found.optima) > 1:
        _print(console, "", words.OPTIMA_HEADER, words.optima_rows(answer))
    goal = words.plain_name(answer.study.goals[0].measure)
    title = f"\nwhat each variable alone does to {goal} near the best design"
    _print(console, title, words.SWING_HEADER, words.swing_rows(answer))
    _print(console, "\ntolerance", words.TOLERANCE_HEADER, words.tolerance_rows(answer))
    console.print(words.tolerance_words(answer), soft_wrap=True, style="dim")


def print_choices(
    console: Console, answers: Sequence[Answer], none: Sequence[tuple[dict[str, Any], ImpossibleError]]
) -> None:
    """All choices, the best first, and those for which there is no design."""
    _print(console, "\nall choices, the best first", *words.choice_table(answers))
    for choice, error in none:
        console.print(f"{words.choice_words(choice)}: {error}", soft_wrap=True, style="yellow")


def print_front(console: Console, answer: Answer) -> None:
    """The Pareto set."""
    assert answer.front is not None
    goals, study = len(answer.study.goals), answer.study
    header, rows = words.front_header(study), words.front_rows(study, answer.front)
    shown = 2 * goals  # point, goals and rates; the variables are in the file
    _print(console, "\ntrade-off between the goals", [*header[:shown], header[-1]],
           [[*row[:shown], row[-1]] for row in rows])  # fmt: skip
    console.print(words.front_words(study, answer.front), soft_wrap=True, style="dim")


def _print(console: Console, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table: Table = plain_table(title, header[0], *header[1:])
    for column, name in zip(table.columns, header, strict=True):
        if name in LEFT:
            column.justify = "left"
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*row)
    console.print(table)
