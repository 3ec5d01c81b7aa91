"""`tailwork`: commands and their options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from rich.console import Console
from rich.text import Text

import tailwork
from tailwork.errors import TailworkError

COMMANDS = {
    "robots": "list the robots of the papers",
    "show": "print a summary of a robot",
    "compare": "compare tails on a robot, with a report",
    "ground": "a manoeuvre on compliant ground beside pinned feet: when do feet slip or lift?",
    "reproduce": "run the experiments of a paper, its numbers beside ours",
    "sweep": "many designs of a robot: maps of what they do",
    "design": "the best tails for a design problem, and why",
    "lab": "try tails on a robot in the browser",
    "view": "play runs in the browser: one page that needs no network",
    "picture": "draw runs: moments one by one, ghosts, or one pose",
    "video": "film runs: MP4 or GIF, in slow motion, with curves beside the robot",
}
"""By name: what each command does. Its module is imported when it is asked for: most take long to import."""


def parser(asked: Sequence[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The options of the commands that are asked for; of the others, what they do."""
    top = argparse.ArgumentParser(prog="tailwork", description="Whole-body dynamics of legged robots with tails.")
    top.add_argument("--version", action="version", version=f"tailwork {tailwork.__version__}")
    commands = top.add_subparsers(dest="command", metavar="command")
    top.set_defaults(run=lambda options: print(top.format_help(), end="") or 0)
    for name, what in COMMANDS.items():
        if name in asked:
            getattr(import_module(f"tailwork.cli.{name}"), f"add_{name}")(commands, what)
        else:
            commands.add_parser(name, help=what)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it did what was asked, 2 if the request was at fault."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser(given[:1]).parse_args(given)
    try:
        return options.run(options)
    except TailworkError as error:
        Console(stderr=True).print(Text.assemble(("error", "bold red"), f": {error}"), soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted")
        return 130
