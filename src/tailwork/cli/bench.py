"""`tailwork bench`: speed side by side with Pinocchio, and how long a model takes to be ready."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tailwork.errors import FileError
from tailwork.studies.benchmark import GOALS, ROBOTS, Speed, as_json, machine_description, measured, prepared


def add_bench(commands: Any) -> None:
    """The command and its options."""
    command = commands.add_parser("bench", help="measure speed side by side with Pinocchio")
    command.add_argument("--repeats", type=int, default=60, help="interleaved repeats of each timing (default 60)")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file as well")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure, print tables, and write them if asked to."""
    console = Console(highlight=False)
    if options.repeats < 1:
        raise FileError("--repeats", "required: at least 1")
    if options.json is not None and not options.json.parent.is_dir():
        raise FileError(options.json, "its folder does not exist")
    for key, value in machine_description().items():
        console.print(f"[dim]{key:>10}[/]  {value}")
    speeds: list[Speed] = []
    with console.status("") as status:
        for name in ROBOTS:
            status.update(f"timing {name}")
            speeds.append(measured(name, options.repeats))
        preparations = []
        for name in ROBOTS:
            status.update(f"compiling {name} in fresh processes")
            preparations.append(prepared(name))
    console.print(_speed_table(speeds))
    console.print(_ratio_table(speeds))
    table = _table("Model(...) is ready after, ms")
    for column in ("robot", "new structure", "from the cache", "changed number"):
        table.add_column(column, justify="left" if column == "robot" else "right")
    for p in preparations:
        table.add_row(p.robot, *(f"{seconds * 1e3:.0f}" for seconds in (p.new, p.cached, p.changed)))
    console.print(table)
    if options.json is not None:
        try:
            options.json.write_text(as_json(speeds, preparations))
        except OSError as error:
            raise FileError(options.json, error.strerror or str(error)) from None
    return 0


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 3, 0, 0))


def _speed_table(speeds: list[Speed]) -> Table:
    table = _table("\nOne evaluation of the forward dynamics, ns (best; repeats interleaved)")
    table.add_column("robot", style="bold")
    for column in ("n", "operations", "loop", "lanes", "evaluator", "checked call", "Pinocchio, net", "they differ by", "spread"):
        table.add_column(column, justify="right")
    for s in speeds:
        table.add_row(
            s.robot, str(s.velocities), str(s.operations), f"{s.loop:.0f}", f"{s.lanes:.0f}", f"{s.python:.0f}",
            f"{s.checked:.0f}", "—" if s.pinocchio is None else f"{s.pinocchio:.0f}",
            "—" if s.disagreement is None else f"{s.disagreement:.0e}", f"{s.spread:.0%}",
        )  # fmt: skip
    return table


def _ratio_table(speeds: list[Speed]) -> Table:
    table = _table("\nTimes faster than Pinocchio (net of its Python call)")
    table.add_column("robot", style="bold")
    for column in ("compiled loop", "lanes, one core"):
        table.add_column(column, justify="right")
    for s in speeds:
        cells = []
        for ours in ("loop", "lanes"):
            ratio, goal = s.ratio(ours), GOALS.get((s.robot, ours))
            if ratio is None:
                cells.append("—")
                continue
            said = "" if goal is None else f"  [{'green' if ratio >= goal else 'red'}]goal {goal:.0f}[/]"
            cells.append(f"{ratio:.1f}{said}")
        table.add_row(s.robot, *cells)
    return table
