"""`tailwork reproduce`: the experiments of a paper, its numbers beside ours."""

from __future__ import annotations

import argparse
from pathlib import Path

from tailwork.cli.terminal import PROCESSES, print_table, progress_bar, wide_console
from tailwork.files import ready_folder
from tailwork.papers import PAPERS


def add_reproduce(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Runs a paper's own experiments and leaves a folder with a report: its numbers beside ours, with "
        "the reading chosen, also where they differ."
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
    with progress_bar(console, kept) as progress:
        result = paper.reproduce(folder, progress)
    for title, shown in paper.tables(result).items():
        print_table(console, f"\n{title}", shown.header, shown.rows, shown.note)
    with console.status("drawing") as status:
        report = paper.write_report(result, folder, lambda done, total, what: status.update(what), PROCESSES)
    console.print(f"\nreport: {report}", soft_wrap=True)
    return 0
