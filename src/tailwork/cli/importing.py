"""`tailwork import`: a robot from a URDF or an MJCF as a TOML file, with comments on what became of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from tailwork.cli.inputs import add_import_options, add_tail, import_options
from tailwork.cli.terminal import wide_console
from tailwork.errors import ArgumentError, FileError
from tailwork.files import is_there
from tailwork.robots import Tail, import_robot
from tailwork.robots.io import toml
from tailwork.robots.io.load import OTHERS, is_import
from tailwork.robots.tails.fit import configured, tail_text


def add_import(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Reads a robot from a URDF (with the SRDF beside it) or an MJCF, and writes it as TOML, with "
        "comments that say what was merged, dropped or assumed, and how joints are called. Meshes are read only with "
        "--meshes."
    )
    command.add_argument("file", type=Path, metavar="ROBOT.urdf", help="the file")
    command.add_argument(
        "--out", type=Path, metavar="ROBOT.toml", help="where to write it (default: here, under its name)"
    )
    command.add_argument("--force", action="store_true", help="write over a file that is there")
    text = "the joint or link with which a tail of the file begins (default: what is called a tail)"
    command.add_argument("--tail-joint", metavar="JOINT", help=text)
    add_tail(command)
    add_import_options(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, write, and say what was noted."""
    if not is_import(options.file):
        raise FileError(options.file, f"not a name of a URDF or an MJCF: let it end in {', '.join(OTHERS)}")
    out: Path = options.out or Path(options.file.name).with_suffix(".toml")
    if out.suffix.lower() != ".toml":
        raise FileError(out, "not a name for a robot file: let it end in .toml")
    if is_there(out) and not options.force:
        raise ArgumentError("--out", str(out), "a file that is not there yet, or --force to write over it")
    given = import_options(options) | ({} if options.tail_joint is None else {"tail": options.tail_joint})
    found = import_robot(options.file, **given)
    robot = configured(
        found.robot, options.tail, mass=options.tail_mass, length=options.tail_length, published=options.as_published
    )
    new = [part for name, part in robot.parts.items() if isinstance(part, Tail) and part != found.robot.parts.get(name)]
    put_on = [f"tail put on: {tail_text(part)}" for part in new]
    by_limb: dict[str, list[str]] = {}
    for joint, name in found.joints.items():
        limb, _, short = name.partition(".")
        by_limb.setdefault(limb, []).append(joint if joint == short else f"{joint} → {short}")
    notes = [*found.notes, *put_on]
    comments = [
        f"{found.robot.name}, from {options.file.name}.",
        *notes,
        *(f"{limb}: {', '.join(joints)}" for limb, joints in by_limb.items()),
    ]
    toml.save_toml(robot, out, comments)
    console = wide_console()
    console.print(f"{robot}", highlight=False)
    for note in notes:
        console.print(f"- {note}", highlight=False, markup=False)
    console.print(f"written: {out}", highlight=False)
    return 0
