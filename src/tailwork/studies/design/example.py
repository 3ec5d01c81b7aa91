"""Problem files for other robots: the example with bounds that suit one, and a problem with another robot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from tailwork.errors import ArgumentError
from tailwork.robots.io.toml import parsed
from tailwork.robots.robot import Robot
from tailwork.robots.sizes import torso_size
from tailwork.robots.tails.tail import Tail, tail_name

EXAMPLE = Path(__file__).with_name("example.toml").read_text(encoding="utf-8")
"""A problem to start from, with comments."""
TABLE = re.compile(r"^\[robot(?:\.[^\]\n]*)?\][^\n]*\n.*?(?=^\[|\Z)", re.DOTALL | re.MULTILINE)
"""The table [robot] of a problem file and tables in it, up to the next table."""


def example_for(robot: Robot, table: Mapping[str, Any]) -> str:
    """The example with a table [robot], and with bounds and limits that suit the robot that the table describes: those
    of the robot of Liu & Ben-Tzvi 2020 in proportion to its size and weight."""
    tail: Tail = robot.part(tail_name(robot))
    mass, length = float(tail.total_mass()), float(tail.total_length())
    longer, weight = torso_size(robot).length / 0.5, float(robot.mass()) * float(robot.gravity)
    place = dict(zip("xyz", (float(x) for x in tail.mount_place(robot.forward)), strict=True))
    back, up = place[robot.forward], place["z"]
    torque = 6.0 * mass * length / (1.0 * 0.48)  # the weight's torque, and more, of a tail of 1 kg and 0.48 m
    lines = {
        "tail.length": ("tail.total_length", (0.4 * length, 1.7 * length)),
        "tail.total_mass": ("tail.total_mass", (0.2 * mass, 1.2 * mass)),
        "tail.mount.y": (f"tail.mount.{robot.forward}", (back - 0.05 * longer, back + 0.1 * longer)),
        "tail.mount.z": ("tail.mount.z", (up - 0.08 * longer, up + 0.08 * longer)),
    }
    found = EXAMPLE
    for old, (new, bounds) in lines.items():
        low, high = (f"{round(x, 3):g}" for x in bounds)
        line = f'"{new}" = [{low}, {high}]'.ljust(40)
        found = re.sub(rf'^"{re.escape(old)}" = \[[^\]]*\] *', line, found, flags=re.MULTILINE)
    lacking = [rf'"tail\.{name}"' for name in ("total_length", "tip_share") if name not in tail.totals()]
    lacking += [] if hasattr(tail, "mount") else [r'"tail\.mount']
    lacking += [] if torque else ["peak_tail_torque"]
    for name in lacking:  # they stay as comments
        found = re.sub(rf"^({name})", r"# \1", found, flags=re.MULTILINE)
    found = found.replace("peak_tail_torque = { most = 6.0 }", f"peak_tail_torque = {{ most = {torque or 6.0:.2g} }}")
    found = found.replace(
        "least_normal_force = { least = 5.0 }", f"least_normal_force = {{ least = {5.0 * weight / 221.5:.2g} }}"
    )
    return with_robot_table(found, table, "the example")


def with_robot_table(text: str, table: Mapping[str, Any], file: str | Path) -> str:
    """The text of a problem file with another table [robot], all else as it was.

    Raises:
        ArgumentError: the file states its robot in another way than by a table of its own.
    """
    wanted = {**parsed(file, text), "robot": dict(table)}
    tables = list(TABLE.finditer(text))
    found = text
    for match in reversed(tables):
        own = tomli_w.dumps({"robot": dict(table)}) + "\n" if match is tables[0] else ""
        found = found[: match.start()] + own + found[match.end() :]
    if not tables or parsed(file, found) != wanted:
        raise ArgumentError("robot", str(file), "a table [robot] in the file, in the place of which another can be put")
    return found
