"""`tailwork`: commands and their options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

import tailwork
from tailwork.cli.bench import add_bench
from tailwork.cli.compare import add_compare
from tailwork.cli.design import add_design
from tailwork.cli.ground import add_ground
from tailwork.cli.lab import add_lab
from tailwork.cli.picture import add_picture
from tailwork.cli.reproduce import add_reproduce
from tailwork.cli.robots import add_robots
from tailwork.cli.show import add_show
from tailwork.cli.sweep import add_sweep
from tailwork.cli.video import add_video
from tailwork.cli.view import add_view
from tailwork.errors import TailworkError


def parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    top = argparse.ArgumentParser(prog="tailwork", description="Whole-body dynamics of legged robots with tails.")
    top.add_argument("--version", action="version", version=f"tailwork {tailwork.__version__}")
    commands = top.add_subparsers(dest="command", metavar="command")
    top.set_defaults(run=lambda options: print(top.format_help(), end="") or 0)
    add_robots(commands)
    add_show(commands)
    add_compare(commands)
    add_ground(commands)
    add_reproduce(commands)
    add_sweep(commands)
    add_design(commands)
    add_lab(commands)
    add_view(commands)
    add_picture(commands)
    add_video(commands)
    add_bench(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it did what was asked, 2 if the request was at fault."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except TailworkError as error:
        Console(stderr=True).print(Text.assemble(("error", "bold red"), f": {error}"), soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted")
        return 130
