"""Inputs of commands: robots (a preset or a file, a tail, changed values), files of runs, lists of numbers."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tailwork.errors import FileError, RobotError, nearest
from tailwork.robots import Robot, load, presets
from tailwork.simulation import Run, load_run
from tailwork.studies.measures import meaning_of, shown_measures, unit_of

ROBOT_HELP = "a preset or a robot file (default liu2020)"
POLICY_HELP = "what the legs do (default: paper for liu2020, else constant)"
ANGLE_HELP = (
    "what the bend of a tail of many links is: that of the centre of mass of an arc (default), or of the chain of links"
)
MAPS = ("arc", "chain")
"""What `--map` takes, of the angles of a motion."""
THREADS_HELP = "on this machine (default: one for each processor)"
CLUSTER_HELP = "on a Dask cluster: tcp://host:8786, or the scheduler's file (needs tailwork[cluster])"


class Once(argparse.Action):
    """An option that may be given once: of two, neither is silently dropped."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Store the value."""
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string}: one a study; run the command again, with another --out, for the other")
        setattr(namespace, self.dest, values)


def numbers(option: str, text: str | None, required: str) -> list[float] | None:
    """Numbers separated by commas; None: the option is not used."""
    try:
        return None if text is None else [float(item) for item in text.split(",")]
    except ValueError:
        raise RobotError(option, text, required) from None


def check_threads(threads: int | None, cluster: str | None) -> None:
    """At least one thread, and none with a cluster."""
    if threads is not None and threads < 1:
        raise RobotError("--threads", threads, "at least 1")
    if threads is not None and cluster is not None:
        raise RobotError("--threads", threads, "none with --cluster: workers use the threads that they have")


def measures_help(but: str = "") -> str:
    """All measures, but one, with their units and meanings."""
    shown = (name for name in shown_measures() if name != but)
    return "; ".join(f"{name} [{unit_of(name)}], {meaning_of(name)}" for name in shown)


def default_policy(options: argparse.Namespace) -> str:
    """The leg policy of the options; by default that of the paper for its robot."""
    return options.policy or ("paper" if options.robot == "liu2020" else "constant")


def add_robot(command: argparse.ArgumentParser) -> None:
    """Options that choose a robot."""
    command.add_argument("robot", help="a preset (see `tailwork robots`) or a robot file, robot.toml")
    command.add_argument("--tail", help="tail of the preset liu2020: pendulum, r3, usrt or none")
    command.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", dest="changes",
        help="change a value, such as torso.mass=13 or tail.mount=0,-0.3,0; may be repeated",
    )  # fmt: skip


def robot_of(options: argparse.Namespace) -> Robot:
    """The robot that the options describe."""
    robot = named_robot(options.robot, options.tail)
    return robot.replace(dict(_change(text) for text in options.changes)) if options.changes else robot


def named_robot(name: str, tail: str | None = None) -> Robot:
    """A preset, with one of its tails, or the robot in a file."""
    known = presets()
    if name in known:
        if tail is None:
            return known[name]()
        if "tail" not in inspect.signature(known[name]).parameters:
            raise RobotError("--tail", tail, f"no tail to choose: {name} has the one it has; liu2020 takes --tail")
        return known[name](tail=None if tail == "none" else tail)
    if name.endswith(".toml") or "/" in name or "\\" in name:
        if tail is not None:
            raise RobotError("--tail", tail, "no tail with a robot file: the file describes it")
        return load(name)
    raise RobotError("robot", name, f"a preset or a file that ends in .toml; {nearest(name, known)}")


def _change(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not equals or not path or not value:
        raise RobotError("--set", text, "PATH=VALUE, such as torso.mass=13")
    items = [_value(item) for item in value.split(",")]
    return path, items[0] if len(items) == 1 else tuple(items)


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


def add_runs(command: argparse.ArgumentParser) -> None:
    """The files of one run or several."""
    command.add_argument("runs", nargs="+", type=Path, metavar="RUN.nc", help="runs, as `Run.save` writes them")


def load_runs(files: Sequence[Path]) -> dict[str, Run]:
    """The runs by label: the names of their files, with those of their folders where they would be the same."""
    for file in files:
        if file.is_dir():
            raise FileError(file, "a folder; required: a run in a file, as `Run.save` writes it")
    if len({file.resolve() for file in files}) < len(files):
        raise RobotError("runs", [str(file) for file in files], "files that differ")
    stems = [file.stem for file in files]
    labels = [stem if stems.count(stem) == 1 else f"{file.resolve().parent.name}/{stem}"
              for file, stem in zip(files, stems, strict=True)]  # fmt: skip
    if len(set(labels)) < len(labels):
        labels = [str(file) for file in files]
    return {label: load_run(file) for label, file in zip(labels, files, strict=True)}


def output_file(out: Path | None, files: Sequence[Path], suffix: str, several: str) -> Path:
    """Where a picture of runs goes: to `out`, or beside a single run under its name, else here under another; never in
    the place of one of the runs."""
    alone = len(files) == 1 and files[0].name
    path = out or (files[0].with_suffix(suffix) if alone else Path(several).with_suffix(suffix))
    if path.resolve() in {file.resolve() for file in files}:
        raise FileError(path, "one of the runs; required: another name, by --out")
    return path
