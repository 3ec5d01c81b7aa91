"""`tailwork export`: a robot for MuJoCo, for programs that read URDF, or its equations as C."""

from __future__ import annotations

import argparse
from pathlib import Path

from tailwork.cli.inputs import add_robot, robot_of
from tailwork.cli.terminal import wide_console
from tailwork.model import Model
from tailwork.model.summary import pinnable


def add_export(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    add_robot(command)
    command.add_argument(
        "--out", type=Path, required=True, metavar="PATH",
        help="robot.xml (MJCF), robot.urdf (with robot.yaml beside it), or the folder of --c",
    )  # fmt: skip
    command.add_argument(
        "--c", metavar="FUNCTIONS",
        help="functions of the model as C, separated by commas: forward_dynamics, foot_forces, mass_matrix, …",
    )  # fmt: skip
    command.add_argument(
        "--stance", metavar="LEGS",
        help="feet that are pinned: all, none, or legs separated by commas (default: none in files, all with --c)",
    )  # fmt: skip
    command.set_defaults(run=run_export)


def run_export(options: argparse.Namespace) -> int:
    """Write the files; print what the format cannot say."""
    robot, out, console = robot_of(options), options.out, wide_console()
    stance = options.stance if options.stance in (None, "all", "none") else options.stance.split(",")
    if options.c is not None:
        model = Model(robot, (pinnable(robot) or "none") if stance is None else stance)
        files = model.export_c(out, options.c.split(","))
        console.print(f"{robot.name} is in {out}: {', '.join(files)}", soft_wrap=True)
        return 0
    for note in robot.export(out, stance or "none"):
        console.print(f"- {note}", style="yellow", soft_wrap=True)
    beside = f" and {out.with_suffix('.yaml')}" if out.suffix.lower() == ".urdf" else ""
    console.print(f"{robot.name} is in {out}{beside}", soft_wrap=True)
    return 0
