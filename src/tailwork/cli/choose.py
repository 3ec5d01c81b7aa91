"""Choosing a robot on the command line: a preset or a file, a tail, and changed values."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from tailwork.errors import RobotError, nearest
from tailwork.robots import Robot, load, presets


def add_choice(command: argparse.ArgumentParser) -> None:
    """Options that choose a robot."""
    command.add_argument("robot", help="a preset (see `tailwork robots`) or a robot file, robot.toml")
    command.add_argument("--tail", help="tail of the preset liu2020: pendulum, r3, usrt or none")
    command.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", dest="changes",
        help="change a value, such as torso.mass=13 or tail.mount=0,-0.3,0; may be repeated",
    )  # fmt: skip


def chosen_robot(options: argparse.Namespace) -> Robot:
    """The robot that the options describe."""
    robot = named_robot(options.robot, options.tail)
    return robot.replace(dict(_change(text) for text in options.changes)) if options.changes else robot


def named_robot(name: str, tail: str | None = None) -> Robot:
    """A preset, with one of its tails, or the robot in a file."""
    known = presets()
    if name in known:
        return _preset(name, tail)
    if name.endswith(".toml") or "/" in name or "\\" in name:
        if tail is not None:
            raise RobotError("--tail", tail, "no tail with a robot file: the file describes it")
        return load(name)
    raise RobotError("robot", name, f"a preset or a file that ends in .toml; {nearest(name, known)}")


def _preset(name: str, tail: str | None) -> Robot:
    make = presets()[name]
    if tail is None:
        return make()
    if "tail" not in inspect.signature(make).parameters:
        raise RobotError("--tail", tail, f"no tail to choose: {name} has the one it has; liu2020 takes --tail")
    return make(tail=None if tail == "none" else tail)


def _change(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not equals or not path or not value:
        raise RobotError("--set", text, "PATH=VALUE, such as torso.mass=13")
    items = [_value(item) for item in value.split(",")]
    return path, items[0] if len(items) == 1 else tuple(items)


def _value(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text.strip()
