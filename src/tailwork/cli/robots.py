"""`tailwork robots`: the presets."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from rich.console import Console

from tailwork.cli.tables import plain_table
from tailwork.robots import presets


def add_robots(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser("robots", help=what)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table of the presets."""
    table = plain_table("Presets", "name", "mass [kg]", "limbs", "joints")
    table.add_column("what it is")
    for name, make in presets().items():
        robot = make()
        limbs = robot.limbs()
        summary = " ".join((inspect.getdoc(make) or "").split("\n\n")[0].split())
        joints = sum(len(limb.joints) for limb in limbs.values())
        table.add_row(name, f"{robot.mass():.4g}", str(len(limbs)), str(joints), summary)
    Console().print(table)
    return 0
