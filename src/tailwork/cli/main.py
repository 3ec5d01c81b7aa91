"""`tailwork`: commands and their options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

import tailwork
from tailwork.cli.bench import add_bench
from tailwork.cli.robots import add_robots
from tailwork.cli.show import add_show
from tailwork.errors import TailworkError


def parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    top = argparse.ArgumentParser(prog="tailwork", description="Whole-body dynamics of legged robots with tails.")
    top.add_argument("--version", action="version", version=f"tailwork {tailwork.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    add_robots(commands)
    add_show(commands)
    add_bench(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it did what was asked, 2 if the request was at fault."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except TailworkError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]error[/]: {_plain(str(error))}", soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
