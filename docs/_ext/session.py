"""Runs the blocks of one page, in a folder of its own: `python session.py PAGE FOLDER` prints what came out, as JSON.

Python blocks share one namespace, as if typed one after the other; commands are run by the shell. What a block prints,
the figures it leaves and the errors it announces are its output. A block that fails ends the page.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from blocks import Block, PageError, blocks_of, made_of
from figures import left_figures

import tailwork

WIDTH = "92"
FIGURES = Path(__file__).resolve().parent.parent / "figures"


def main() -> None:
    """Runs the page that is named on the command line."""
    try:
        sys.stdout.write(json.dumps(run_page(Path(sys.argv[1]), Path(sys.argv[2]))))
    except PageError as error:
        sys.exit(str(error))


def run_page(page: Path, folder: Path) -> list[dict[str, Any]]:
    """What each block of a page prints, and the figures it leaves. The process is used up: its folder, path and
    environment are those of the page.

    Raises:
        PageError: a block failed.
    """
    page = page.resolve()
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    sys.path.insert(0, "")
    os.environ.update(COLUMNS=WIDTH, NO_COLOR="1", TERM="dumb", MPLBACKEND="Agg", BROWSER="true")
    os.environ["TAILWORK_PROGRESS"] = "0"  # what is compiled differs from run to run: here and in commands
    tailwork.show_progress(False)
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    done = []
    for number, block in enumerate(blocks):
        try:
            done.append(_run(block, namespace, number))
        except PageError as error:
            raise PageError(f"{page}, block {number + 1} ({block.language}):\n{block.body}\n{error}") from None
    for made in made_of(text):
        if made.kind == "draw":
            _drawn(made.path)
    return done


def _run(block: Block, namespace: dict[str, Any], number: int) -> dict[str, Any]:
    """What a block prints and the figures it leaves, as file names."""
    if block.language == "toml" and "file" not in block.notes:
        raise PageError("a file without a name: say <!-- file: NAME --> before it")
    if "file" in block.notes:
        Path(block.notes["file"]).parent.mkdir(parents=True, exist_ok=True)
        Path(block.notes["file"]).write_text(block.body, encoding="utf-8")
        return {"text": "", "figures": []}
    if "run by" in block.notes or block.language == "text":
        return {"text": "", "figures": []}
    text = _commands(block) if block.language == "console" else _python(block, namespace)
    figures = _figures(namespace, number) if block.language == "python" else []
    if bool(figures) != ("figure" in block.notes):
        raise PageError("the block leaves a figure without a caption, or has a caption and leaves none")
    return {"text": _shortened(text, block), "figures": figures}


def _python(block: Block, namespace: dict[str, Any]) -> str:
    """What Python code prints."""
    said = io.StringIO()
    expected = block.notes.get("raises")
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            exec(compile(block.body, "<page>", "exec", dont_inherit=True), namespace)
    except Exception as error:
        if type(error).__name__ == expected:
            return f"{said.getvalue()}{expected}: {error}"
        raise PageError(f"{said.getvalue()}{traceback.format_exc()}") from error
    if expected:
        raise PageError(f"expected a {expected}, and nothing was raised")
    return said.getvalue()


def _commands(block: Block) -> str:
    """What the commands of a console block print: its lines that begin with `$ `, and their continuations."""
    said = []
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)$", block.body, re.MULTILINE)
    if not commands or not block.body.startswith("$ "):
        raise PageError("a console block has lines that begin with '$ ' and nothing else")
    fails = "raises" in block.notes
    for command in commands:
        ran = subprocess.run(command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        said.append(ran.stdout + (ran.stderr if fails else ""))
        if bool(ran.returncode) != fails:
            raise PageError(f"exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return "".join(said)


def _figures(namespace: dict[str, Any], number: int) -> list[str]:
    """Saves the figures that a block has left; their file names."""
    names = []
    for count, figure in enumerate(left_figures(namespace)):
        names.append(f"figure-{number + 1}-{count + 1}.svg")
        figure.savefig(names[-1], bbox_inches="tight", facecolor=figure.get_facecolor())
    return names


def _drawn(name: str) -> None:
    """Saves the picture that a script of figures draws, as SVG."""
    script = FIGURES / f"{name}.py"
    if not script.is_file():
        raise PageError(f"{name} is to be drawn, but there is no {script.name} in figures")
    sys.path.insert(0, str(FIGURES))
    figure = runpy.run_path(str(script))["draw"]()
    figure.savefig(f"{name}.svg", bbox_inches="tight", facecolor=figure.get_facecolor())


def _shortened(text: str, block: Block) -> str:
    """The output without trailing blanks, and the first lines of a long one."""
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    most = int(block.notes.get("lines", len(lines)))
    return "\n".join(lines[:most] + (["…"] if len(lines) > most else []))


if __name__ == "__main__":
    main()
