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
from tailwork.progress import quiet

COMMANDS = {
    "robots": ("show", "list the robots that are there to start from"),
    "show": ("show", "print a summary of a robot"),
    "import": ("importing", "a robot from a URDF or an MJCF, as a file to read and change"),
    "export": ("export", "write a robot for MuJoCo (MJCF), as URDF, or its equations as C"),
    "demo": ("demo", "three tails on a Go2 and a paper's motions: one page that shows what tailwork does"),
    "compare": ("compare", "compare tails on a robot, with a report"),
    "ground": ("ground", "a motion of the tail on compliant ground beside pinned feet: when do feet slip or lift?"),
    "reproduce": ("reproduce", "run the experiments of a paper, its numbers beside ours"),
    "sweep": ("sweep", "many designs of a robot: maps of what they do"),
    "design": ("design", "the best tails for a design problem, and why"),
    "cache": ("cache", "show or clear what is kept of compiled equations"),
    "lab": ("lab", "try tails on a robot in the browser"),
    "view": ("pictures", "play runs in the browser: one page that needs no network"),
    "picture": ("pictures", "draw runs: times one by one, ghosts, or one pose"),
    "video": ("pictures", "film runs: MP4 or GIF, in slow motion, with curves beside the robot"),
}
"""By name: the module of each command, imported only for that command (most take long to import), and what it does."""


def parser(commands: Sequence[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The options of these commands; of the others, what they do."""
    top = argparse.ArgumentParser(prog="tailwork", description="Whole-body dynamics of legged robots with tails.")
    top.add_argument("--version", action="version", version=f"tailwork {tailwork.__version__}")
    subparsers = top.add_subparsers(dest="command", metavar="command")
    top.set_defaults(run=lambda options: print(top.format_help(), end="") or 0)
    for name, (module, what) in COMMANDS.items():
        command = subparsers.add_parser(name, help=what)
        if name in commands:
            getattr(import_module(f"tailwork.cli.{module}"), f"add_{name}")(command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it succeeded, 2 if its input was at fault."""
    texts = _joined(sys.argv[1:] if arguments is None else arguments)
    top = parser(texts[:1])
    if bare := next((text for text in texts if text.startswith("--") and text.endswith("=--")), ""):
        top.error(f"argument {bare.removesuffix('=--')}: expected one argument")  # argparse makes an empty list of it
    options, rest = top.parse_known_args(texts)
    if rest:
        top.error(f"unrecognized arguments: {' '.join(rest)}{_separated(texts, rest)}")
    try:
        with quiet():  # commands have progress of their own
            return options.run(options)
    except TailworkError as error:
        Console(stderr=True).print(Text.assemble(("error", "bold red"), f": {error}"), soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted")
        return 130


def _separated(texts: Sequence[str], rest: Sequence[str]) -> str:
    """A hint where words that belong to nothing stand behind the value of an option, as in `--tail pendulum r3`."""
    begin = texts.index(rest[0])
    option, value = texts[max(0, begin - 2) : begin] if begin > 1 else ("", "")
    if rest[0].startswith("-") or not option.startswith("--") or value.startswith("-"):
        return ""
    words = (word.strip(",") for word in (value, *rest) if not word.startswith("-"))
    together = ",".join(filter(None, words))
    return f"; several values of {option} are separated by commas, without spaces: {option} {together}"


def _joined(texts: Sequence[str]) -> list[str]:
    """Words of a command, `--forward -x` as one: an axis that argparse would take for an option."""
    found: list[str] = []
    for text in texts:
        if found and found[-1] == "--forward" and text in ("-x", "-y"):
            found[-1] = f"--forward={text}"
        else:
            found.append(text)
    return found
