"""Choosing runs on the command line: files that `Run.save` has written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tailwork.errors import FileError, RobotError
from tailwork.simulation import Run, load_run


def add_runs(command: argparse.ArgumentParser) -> None:
    """The files of one run or several."""
    command.add_argument("runs", nargs="+", type=Path, metavar="RUN.nc", help="runs, as `Run.save` writes them")


def chosen_runs(files: Sequence[Path]) -> dict[str, Run]:
    """The runs by label: the names of their files, with those of their folders where they would be the same."""
    for file in files:
        if file.is_dir():
            raise FileError(file, "a folder; required: a run in a file, as `Run.save` writes it")
    if len({file.resolve() for file in files}) < len(files):
        raise RobotError("runs", [str(file) for file in files], "files that differ")
    stems = [file.stem for file in files]
    labels = [
        file.stem if stems.count(file.stem) == 1 else f"{file.resolve().parent.name}/{file.stem}" for file in files
    ]
    if len(set(labels)) < len(labels):
        labels = [str(file) for file in files]
    return {label: load_run(file) for label, file in zip(labels, files, strict=True)}


def target(out: Path | None, files: Sequence[Path], suffix: str, several: str) -> Path:
    """Where a picture of runs goes: as told, or beside a single run under its name, else here under another.

    Raises:
        FileError: it would take the place of one of the runs.
    """
    alone = len(files) == 1 and files[0].name
    chosen = out or (files[0].with_suffix(suffix) if alone else Path(several).with_suffix(suffix))
    if chosen.resolve() in {file.resolve() for file in files}:
        raise FileError(chosen, "one of the runs; required: another name, by --out")
    return chosen
