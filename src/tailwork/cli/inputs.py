"""Inputs of commands: robots (a preset or a file, a tail, changed values), files of runs, lists of numbers."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tailwork.control import TailMotion
from tailwork.control.posture import posture_warnings
from tailwork.errors import ArgumentError, FileError, nearest
from tailwork.files import is_there
from tailwork.robots import Robot, load, presets
from tailwork.robots.io.load import OTHERS, import_robot, is_import, is_run
from tailwork.robots.tails.fit import NAMED, PAPER_ROBOT, configured
from tailwork.simulation import Run, load_run
from tailwork.studies.measures import meaning_of, shown_measures, unit_of

FILES = (".toml", *OTHERS)
"""How the names of robot files end."""
ROBOT_HELP = "a preset (see `tailwork robots`) or a robot file"
POLICY_HELP = "what the legs do (default: paper for liu2020, else constant)"
ANGLE_HELP = (
    "what the bend of a tail of many links is: that of the centre of mass of an arc (default), or of the chain of links"
)
SMALL = 1.6
"""Motions of fewer degrees than this look like radians."""
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


def numbers_in(option: str, text: str | None, required: str) -> list[float] | None:
    """Numbers separated by commas; None: the option is not used."""
    try:
        return None if text is None else [float(item) for item in text.split(",")]
    except ValueError:
        raise ArgumentError(option, text, required) from None


def check_threads(threads: int | None, cluster: str | None) -> None:
    """At least one thread, and none with a cluster."""
    if threads is not None and threads < 1:
        raise ArgumentError("--threads", threads, "at least 1")
    if threads is not None and cluster is not None:
        raise ArgumentError("--threads", threads, "none with --cluster: workers use the threads that they have")


def measures_help(but: str = "") -> str:
    """All measures, but one, with their units and meanings."""
    shown = (name for name in shown_measures() if name != but)
    return "; ".join(f"{name} [{unit_of(name)}], {meaning_of(name)}" for name in shown)


def default_policy(options: argparse.Namespace) -> str:
    """The leg policy of the options; by default that of the paper for its robot."""
    return options.policy or ("paper" if options.robot == PAPER_ROBOT else "constant")


def add_robot(command: argparse.ArgumentParser, *, optional: bool = False, several: bool = False) -> None:
    """Options that choose a robot and its tail, or several tails."""
    text = f"{ROBOT_HELP} (default {PAPER_ROBOT})" if optional else ROBOT_HELP
    command.add_argument("robot", nargs="?" if optional else None, default=PAPER_ROBOT, help=text)
    add_tail(command, several=several)
    command.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", dest="changes",
        help="change a value, such as torso.mass=13 or tail.mount=0,-0.3,0; may be repeated",
    )  # fmt: skip
    add_import_options(command)


def add_import_options(command: argparse.ArgumentParser) -> None:
    """Options that say what a URDF or an MJCF cannot."""
    group = command.add_argument_group("robots from URDF (.urdf) and MJCF (.xml)")
    group.add_argument(
        "--feet", metavar="LINK,LINK", help="links that stand on the ground (default: those called feet)"
    )
    text = "in which it stands: a name of the file, or joint values, JOINT=VALUE,JOINT=VALUE [rad, m]"
    group.add_argument("--posture", metavar="POSTURE", help=text)
    group.add_argument("--forward", metavar="AXIS", help="of the base that points forward: x (default), y, -x or -y")
    text = "of the feet, where the file has no balls (default 0)"
    group.add_argument("--foot-radius", type=float, metavar="m", help=text)
    text = "draw it with the meshes of the file (STL, OBJ, COLLADA), made coarser (default: with simple shapes)"
    group.add_argument("--meshes", action="store_true", help=text)


def import_options(options: argparse.Namespace) -> dict[str, Any]:
    """What `tailwork.load` takes of them."""
    posture: Any = options.posture
    if posture is not None and "=" in posture:
        pairs = (item.partition("=") for item in posture.split(","))
        try:
            posture = {joint.strip(): float(value) for joint, _, value in pairs}
        except ValueError:
            required = "joint values, such as FL_hip_joint=0,FL_thigh_joint=0.8, or a name"
            raise ArgumentError("--posture", options.posture, required) from None
    feet = None if options.feet is None else [link.strip() for link in options.feet.split(",") if link.strip()]
    given = {"feet": feet, "posture": posture, "forward": options.forward, "foot_radius": options.foot_radius,
             "meshes": options.meshes or None}  # fmt: skip
    return {name: value for name, value in given.items() if value is not None}


def add_tail(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Options that put a tail, or several, on a robot."""
    what = "tails, separated by commas: own (that of the robot)" if several else "a tail for it: own, none"
    kinds = f"{', '.join(NAMED)}, a kind of your own, or a robot file, whose tail is taken"
    command.add_argument("--tail", *(["--tails"] if several else []), metavar="KIND", help=f"{what}, {kinds}")
    same = "the same for all: that" if several else "that"
    for name, unit, share in (("mass", "kg", "1/12"), ("length", "m", "0.96")):
        text = f"(default: {same} of the robot's own tail, or {share} of the torso's)"
        text = f"total {name} of a tail that is put on [{unit}] {text}"
        command.add_argument(f"--tail-{name}", type=float, metavar=unit, help=text)
    text = f"tails keep the numbers of their papers, files or defaults (always so for the tails of {PAPER_ROBOT})"
    command.add_argument("--as-published", action="store_true", help=text)


def robot_of(options: argparse.Namespace) -> Robot:
    """The one robot that the options describe."""
    if options.tail is not None and "," in options.tail:
        raise ArgumentError("--tail", options.tail, "one tail; `tailwork compare` takes several")
    (robot,) = robots_of(options).values()
    return robot


def robots_of(options: argparse.Namespace) -> dict[str, Robot]:
    """By label of its tail: the robot that the options describe, with each of its tails."""
    robot = named_robot(options.robot, import_options(options))
    changes = dict(_change(text) for text in options.changes)
    tails = [None] if options.tail is None else [text.strip() for text in options.tail.split(",")]
    found: dict[str, Robot] = {}
    for tail in tails:
        label = "own" if tail is None else Path(tail).stem
        if label in found:
            raise ArgumentError("--tail", tail, "tails that differ")
        found[label] = configured(
            robot, tail, changes, mass=options.tail_mass, length=options.tail_length, published=options.as_published,
            preset=options.robot,
        )  # fmt: skip
    return found


def warn_postures(robots: Iterable[Robot]) -> None:
    """Tell, on stderr, what is impossible about the postures of robots; what several share, once."""
    warnings = dict.fromkeys(text for robot in robots for text in posture_warnings(robot))
    for text in warnings:
        _on_stderr(f"warning: {text}", "yellow")


def warn_angles(degrees: Mapping[str, float]) -> None:
    """Tell, on stderr, which angles [deg], by what they are of, are so small that they look like radians."""
    for name, value in degrees.items():
        if 0.0 < abs(value) < SMALL:
            said = f"{name} is {value:.4g}°; angles are in degrees here: {value:.4g} rad are {math.degrees(value):.3g}°"
            _on_stderr(f"warning: {said}", "yellow")


def warn_motions(motions: Iterable[TailMotion]) -> None:
    """The same of how far motions move the tail."""
    for motion in motions:
        far = max((abs(float(b) - float(a)) for a, b in zip(motion.start, motion.end, strict=True)), default=0.0)
        warn_angles({f"the motion {motion.name}": math.degrees(far)})


def _on_stderr(text: str, style: str = "dim") -> None:
    Console(stderr=True, highlight=False, markup=False).print(text, style=style, soft_wrap=True)


def named_robot(name: str, imports: dict[str, Any] | None = None) -> Robot:
    """A preset, or the robot in a file, with options for one that is imported."""
    known, imports = presets(), imports or {}
    if imports and not is_import(name):
        option = "--" + next(iter(imports)).replace("_", "-")
        raise ArgumentError(option, name, "a URDF or an MJCF; presets and TOML files say it themselves")
    if name in known:
        return known[name]()
    if name.endswith(FILES) or is_run(name) or "/" in name or "\\" in name:
        if not is_import(name):
            return load(name)
        found = import_robot(name, **imports)
        for note in found.notes:
            _on_stderr(f"{Path(name).name}: {note}")
        return found.robot
    raise ArgumentError("robot", name, f"a preset or a file that ends in {' or '.join(FILES)}; {nearest(name, known)}")


def _change(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not equals or not path or not value:
        raise ArgumentError("--set", text, "PATH=VALUE, such as torso.mass=13")
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
        if is_there(file) and file.is_dir():
            raise FileError(file, "a folder; required: a run in a file, as `Run.save` writes it")
    if len({file.resolve() for file in files}) < len(files):
        raise ArgumentError("runs", [str(file) for file in files], "files that differ")
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
