"""Robots for other programs: MJCF for MuJoCo, URDF for Pinocchio, Drake, ROS and others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.files import file_kind, ready_folder, write_whole
from tailwork.robots.io.mjcf_writer import mjcf_text
from tailwork.robots.io.urdf_writer import urdf_texts
from tailwork.robots.robot import Robot


def export(robot: Robot, path: str | os.PathLike[str], stance: str | Sequence[str] = "none") -> tuple[str, ...]:
    """See `Robot.export`."""
    kind = file_kind(path, ("xml", "mjcf", "urdf"), "a robot")
    feet = list(robot.feet())
    if not isinstance(stance, (str, list, tuple)):
        raise ArgumentError("stance", stance, "'all', 'none' or a list of legs")
    pinned = feet if stance == "all" else [] if stance == "none" else [stance] if isinstance(stance, str) else stance
    for name in pinned:
        if name not in feet:
            raise UnknownNameError.among("stance", str(name), ["all", "none", *feet], "leg")
    if kind != "urdf":
        text, notes = mjcf_text(robot, pinned)
        write_whole(path, text)
        return notes
    file = Path(path)
    texts, notes = urdf_texts(robot, pinned, folder=f"{file.stem}_meshes")
    for name, text in texts.items():
        if name.endswith(".obj"):
            ready_folder((file.parent / name).parent)
        write_whole(
            path if name == ".urdf" else file.with_suffix(name) if name == ".yaml" else file.parent / name, text
        )
    return notes
