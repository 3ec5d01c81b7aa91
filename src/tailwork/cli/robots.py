"""`tailwork robots`: the presets."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from rich.console import Console
from rich.table import Table

from tailwork.model.summary import total_mass
from tailwork.robots import presets


def add_robots(commands: Any) -> None:
    """The command and its options."""
    command = commands.add_parser("robots", help="list the robots of the papers")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table of the presets."""
    table = Table(title="Presets", title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("name", style="bold")
    table.add_column("what it is")
    for column in ("mass [kg]", "limbs", "joints"):
        table.add_column(column, justify="right")
    for name, make in presets().items():
        robot = make()
        limbs = robot.limbs()
        summary = (inspect.getdoc(make) or "").splitlines()[0]
        joints = sum(len(limb.joints) for limb in limbs.values())
        table.add_row(name, summary, f"{total_mass(robot):.4g}", str(len(limbs)), str(joints))
    Console().print(table)
    return 0
