"""`tailwork reproduce`: the experiments of a paper, its numbers beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tailwork.cli.terminal import PROCESSES, bar, plain_table, wide_console
from tailwork.files import ready_folder
from tailwork.papers.claims import Claim
from tailwork.simulation import Run
from tailwork.studies.compare.comparison import compare, paper_plan

if TYPE_CHECKING:
    from tailwork.view.report.page import Table as Shown  # needs matplotlib, which takes its time


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
    folder = options.out or Path(f"reproduction-{options.paper}")
    for needed in (folder, folder / "runs", folder / "figures"):
        ready_folder(needed)
    report = PAPERS[options.paper](console, folder)
    console.print(f"\nreport: {report}", soft_wrap=True)
    return 0


def _liu2018(console: Console, folder: Path) -> Path:
    from tailwork.papers.liu2018.experiments import reproduce_liu2018

    with console.status("compiling") as status:
        result = reproduce_liu2018(status.update)
        names = ("forward", "matched", "open_loop", "controlled", "computed")
        _save({name: getattr(result, name) for name in names}, folder)
    console.print(_claims("Liu & Ben-Tzvi 2018", result.claims))
    with console.status("drawing") as status:
        from tailwork.papers.reports import write_liu2018

        return write_liu2018(result, folder, status.update)


def _liu2020(console: Console, folder: Path) -> Path:
    from tailwork.papers.liu2020.experiments import VARIANT_NAMES, ratio_row, reproduce_liu2020, wave_claims

    kept = f"runs are kept in {folder}: the same command goes on"
    with bar(console, kept) as tell:
        comparison = compare(paper_plan(), folder, tell)
    with bar(console, kept) as tell:
        result = reproduce_liu2020(folder / "runs", tell)
    console.print(_claims("Liu & Ben-Tzvi 2020", (*result.claims, *wave_claims(result.waves))))
    header, title = ("torso", "paper", *VARIANT_NAMES), "\nTorso rotation with R3 against pendulum"
    console.print(plain_table(title, "motion", *header, rows=map(ratio_row, result.ratios)))
    with console.status("drawing") as status:
        from tailwork.papers.reports import write_liu2020

        return write_liu2020(result, comparison, folder, status.update, PROCESSES)


def _nelson_quinn(console: Console, folder: Path) -> Path:
    from tailwork.papers.nelson_quinn.experiments import reproduce_nelson_quinn

    with console.status("compiling") as status:
        result = reproduce_nelson_quinn(status.update)
        _save({"settled": result.settled, "walk": result.walk}, folder)
    console.print(_claims("Nelson & Quinn", result.claims))
    with console.status("drawing") as status:
        from tailwork.papers.nelson_quinn.report import table_1_shown, write_nelson_quinn

        console.print(_numbers("Table 1: standing with joints of various stiffness", table_1_shown(result)))
        return write_nelson_quinn(result, folder, status.update)


def _biswal(console: Console, folder: Path) -> Path:
    from tailwork.papers.biswal.experiments import reproduce_biswal

    with console.status("compiling") as status:
        result = reproduce_biswal(status.update)
        _save({"trot": result.trot.run}, folder)
    console.print(_claims("Biswal & Mohanty", result.claims))
    with console.status("drawing") as status:
        from tailwork.papers.biswal.report import foot_table, write_biswal

        console.print(_numbers("The foot in the motion of Sect. 4, by reading", foot_table(result.leg)))
        return write_biswal(result, folder, status.update)


PAPERS: dict[str, Callable[[Console, Path], Path]] = {
    "liu2018": _liu2018,
    "liu2020": _liu2020,
    "nelson-quinn": _nelson_quinn,
    "biswal": _biswal,
}
"""By name on the command line: what runs a paper's experiments, prints its tables and returns the report's path."""


def _save(runs: Mapping[str, Run], folder: Path) -> None:
    for name, one in runs.items():
        one.save(folder / "runs" / f"{name}.nc")


def _claims(title: str, claims: Sequence[Claim]) -> Table:
    table = plain_table(f"\n{title}", "quantity")
    for name in ("paper", "ours", "note"):
        table.add_column(name)
    for claim in claims:
        table.add_row(*map(Text, (claim.quantity, claim.paper, claim.ours)), Text(claim.reading, style="dim"))
    return table


def _numbers(title: str, shown: Shown) -> Table:
    """A table of the report on the terminal."""
    return plain_table(f"\n{title}", *shown.header, rows=[[Text(str(cell)) for cell in row] for row in shown.rows])
