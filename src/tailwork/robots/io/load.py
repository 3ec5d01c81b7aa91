"""Robots from files of any format: TOML, URDF, MJCF."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tailwork.errors import ArgumentError, FileError
from tailwork.robots.io import toml
from tailwork.robots.robot import Robot

if TYPE_CHECKING:
    from tailwork.robots.io.from_tree import Imported

OTHERS = (".urdf", ".xml", ".mjcf")
"""Ends of the names of files that other programs read as well."""


def load(
    path: str | os.PathLike[str], *, feet: Sequence[str] | None = None,
    posture: str | Mapping[str, float] | None = None, forward: str | None = None, foot_radius: float | None = None,
    tail: str | None = None, srdf: str | os.PathLike[str] | None = None, base: str | None = None,
    meshes: bool = False,
) -> Robot:  # fmt: skip
    """The robot in a file: TOML, URDF (.urdf) or MJCF (.xml, .mjcf; needs `mujoco`, tailwork[mjcf]).

    Options say what a URDF or an MJCF cannot; a TOML file says all of it and takes none.

    Args:
        path: of the file.
        feet: links that stand on the ground. By default the end effectors of an SRDF that are called feet, links that
            are called feet, or links at the ends that touch by a ball.
        posture: in which the robot stands: joint values [rad, or m of a slider] by the names of the file, or the name
            of a posture of the SRDF or of a keyframe. By default one that is called standing, stand, half_sitting or
            home; else each foot is put below its hip.
        forward: axis of the base frame that points forward: "x" (by default), "y", "-x" or "-y"; with the last two the
            base frame is turned.
        foot_radius: of the feet [m]; by default that of their balls.
        tail: the joint or link on the base with which a tail begins; by default what is called a tail.
        srdf: of a URDF; by default one of the same name beside it, or in the folder srdf beside its own.
        base: of an MJCF: the body that is the torso; by default the heaviest with a free joint.
        meshes: whether files of meshes (STL, OBJ, COLLADA) are read, to draw the robot with; else simple shapes are.

    Raises:
        FileError: the file cannot be read as what it should be; the message has the line.
        RobotError: it describes no possible robot, or does not say what is needed; the message offers what to give.
    """
    if not isinstance(meshes, bool):
        raise ArgumentError("meshes", meshes, "True or False")
    options = dict(
        feet=feet, posture=posture, forward=forward, foot_radius=foot_radius, tail=tail, srdf=srdf, base=base,
        meshes=meshes or None,
    )  # fmt: skip
    if is_import(path):
        return import_robot(path, **options | {"meshes": meshes}).robot  # type: ignore[arg-type]
    if is_run(path):
        raise FileError(path, "a run, not a robot: tailwork.load_run reads it, `tailwork view` plays it")
    for name, value in options.items():
        if value is not None:
            raise ArgumentError(name, value, "nothing: a TOML file says it all; this is for URDF and MJCF")
    return toml.load_toml(path)


def is_import(path: Any) -> bool:
    """Whether the name of a file says that it is a URDF or an MJCF."""
    try:
        return Path(path).suffix.lower() in OTHERS
    except TypeError:
        return False


def is_run(path: Any) -> bool:
    """Whether the name of a file says that it is a run, as `Run.save` writes it."""
    return str(path).lower().endswith(".nc")


@np.errstate(over="ignore", invalid="ignore")  # what is too large is refused where it ends
def import_robot(
    path: str | os.PathLike[str], *, feet: Sequence[str] | None = None,
    posture: str | Mapping[str, float] | None = None, forward: str | None = None, foot_radius: float | None = None,
    tail: str | None = None, srdf: str | os.PathLike[str] | None = None, base: str | None = None,
    meshes: bool = False,
) -> Imported:  # fmt: skip
    """The robot in a URDF or MJCF file, with notes of what was merged, dropped or assumed.

    Arguments are those of `load`: values of `posture` in rad, or m of a slider, `foot_radius` in m [m].
    """
    file = Path(path)
    if not is_import(path):
        raise FileError(path, f"not a name of a URDF or an MJCF: let it end in {', '.join(OTHERS)}")
    from tailwork.robots.io import mjcf, urdf  # what only these files need
    from tailwork.robots.io.closure import closure_beside, from_closure
    from tailwork.robots.io.from_tree import from_tree
    from tailwork.robots.io.meshes import with_meshes

    if file.suffix.lower() == ".urdf" or urdf.is_urdf(path):
        if base is not None:
            raise ArgumentError("base", base, "nothing: the base of a URDF is its root link; this is for MJCF")
        tree = urdf.read_urdf(path, srdf)
        beside = closure_beside(path)
        given = [x for x in (feet, posture, forward, foot_radius, tail, srdf) if x is not None]
        if beside is not None and not given:
            found = from_closure(tree, beside)
            return with_meshes(found, path) if meshes else found
        if beside is not None:
            tree.notes.append(f"{beside.name} beside the file was left out, as options say how to read it")
    else:
        if srdf is not None:
            raise ArgumentError("srdf", srdf, "nothing: this is for URDF; keyframes of an MJCF are its postures")
        tree = mjcf.read_mjcf(path, base)
    found = from_tree(tree, feet, posture, "x" if forward is None else forward, foot_radius, tail)
    return with_meshes(found, path) if meshes else found
