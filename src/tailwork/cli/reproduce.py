"""`tailwork reproduce`: the experiments of a paper, its numbers beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from tailwork.cli.terminal import PROCESSES, bar, plain_table, wide_console
from tailwork.files import ready_folder
from tailwork.papers import PAPERS
from tailwork.papers.claims import Claim


def add_reproduce(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "reproduce",
        help=what,
        description="Runs a paper's own experiments and leaves a folder with a report: its numbers beside ours, with "
        "the reading chosen, also where they differ.",
    )
    command.add_argument("paper", choices=PAPERS, help="which paper")
    command.add_argument("--out", type=Path, help="the folder (default: reproduction-PAPER)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Reproduce, print tables, write the report."""
    console = wide_console(100)
    paper, folder = PAPERS[options.paper], options.out or Path(f"reproduction-{options.paper}")
    for needed in (folder, folder / "runs", folder / "figures"):
        ready_folder(needed)
    kept = f"runs are kept in {folder}: the same command goes on" if paper.resumes else "the same command starts again"
    with bar(console, kept) as progress:
        result = paper.reproduce(folder, progress)
    console.print(_claims(paper.title, result.claims))
    for title, shown in paper.tables(result).items():
        table = plain_table(f"\n{title}", *shown.header)
        for row in shown.rows:
            table.add_row(*(Text(str(cell)) for cell in row))
        console.print(table)
    with console.status("drawing") as status:
        report = paper.write_report(result, folder, lambda done, total, what: status.update(what), PROCESSES)
    console.print(f"\nreport: {report}", soft_wrap=True)
    return 0


def _claims(title: str, claims: Sequence[Claim]) -> Table:
    table = plain_table(f"\n{title}", "quantity")
    for name in ("paper", "ours", "note"):
        table.add_column(name)
    for claim in claims:
        table.add_row(*map(Text, (claim.quantity, claim.paper, claim.ours)), Text(claim.reading, style="dim"))
    return table
