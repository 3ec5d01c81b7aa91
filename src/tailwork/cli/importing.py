"""`tailwork import`: a robot from a URDF or an MJCF as a TOML file, with comments on what became of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tailwork.cli.inputs import add_import_options, import_options
from tailwork.cli.terminal import wide_console
from tailwork.errors import FileError, RobotError
from tailwork.robots import import_robot
from tailwork.robots.io import toml


def add_import(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "import", help=what,
        description="Reads a robot from a URDF (with the SRDF beside it) or an MJCF, and writes it as TOML, with "
        "comments that say what was merged, dropped or assumed, and how joints are called. Meshes are read only with "
        "--meshes.",
    )  # fmt: skip
    command.add_argument("file", type=Path, metavar="ROBOT.urdf", help="the file")
    command.add_argument(
        "--out", type=Path, metavar="ROBOT.toml", help="where to write it (default: here, under its name)"
    )
    command.add_argument("--force", action="store_true", help="write over a file that is there")
    command.add_argument("--tail", metavar="JOINT", help="the joint or link with which a tail begins")
    add_import_options(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, write, and say what was noted."""
    out: Path = options.out or Path(options.file.name).with_suffix(".toml")
    if out.suffix.lower() != ".toml":
        raise FileError(out, "not a name for a robot file: let it end in .toml")
    if out.exists() and not options.force:
        raise RobotError("--out", str(out), "a file that is not there yet, or --force to write over it")
    given = import_options(options) | ({} if options.tail is None else {"tail": options.tail})
    found = import_robot(options.file, **given)
    by_limb: dict[str, list[str]] = {}
    for joint, name in found.joints.items():
        limb, _, short = name.partition(".")
        by_limb.setdefault(limb, []).append(joint if joint == short else f"{joint} → {short}")
    comments = [
        f"{found.robot.name}, from {options.file.name}.",
        *found.notes,
        *(f"{limb}: {', '.join(joints)}" for limb, joints in by_limb.items()),
    ]
    toml.save(found.robot, out, comments)
    console = wide_console()
    console.print(f"{found.robot}", highlight=False)
    for note in found.notes:
        console.print(f"- {note}", highlight=False, markup=False)
    console.print(f"written: {out}", highlight=False)
    return 0
