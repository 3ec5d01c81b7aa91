"""`tailwork export`: a robot for MuJoCo, for programs that read URDF, or as C."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tailwork.cli.inputs import add_robot, robot_of
from tailwork.cli.terminal import wide_console


def add_export(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser("export", help=what)
    add_robot(command)
    command.add_argument(
        "--out", type=Path, required=True, metavar="FILE",
        help="robot.xml (MJCF) or robot.urdf (with robot.yaml beside it)",
    )  # fmt: skip
    command.add_argument(
        "--stance", default="none", metavar="LEGS",
        help="feet that are pinned: all, none (default), or legs separated by commas",
    )  # fmt: skip
    command.set_defaults(run=run_export)


def run_export(options: argparse.Namespace) -> int:
    """Write the files; print what the format cannot say."""
    robot = robot_of(options)
    stance = options.stance if options.stance in ("all", "none") else options.stance.split(",")
    notes = robot.export(options.out, stance)
    console = wide_console()
    for note in notes:
        console.print(f"- {note}", style="yellow", soft_wrap=True)
    beside = f" and {options.out.with_suffix('.yaml')}" if options.out.suffix.lower() == ".urdf" else ""
    console.print(f"{robot.name} is in {options.out}{beside}", soft_wrap=True)
    return 0
