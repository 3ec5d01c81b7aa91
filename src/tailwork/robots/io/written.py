"""What the writers of robot files share: names, numbers with every digit, XML with comments, the standing posture."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tailwork.errors import RobotError
from tailwork.robots.paths import robot_numbers
from tailwork.robots.robot import PlateTorso, Robot
from tailwork.robots.shapes import Shape

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0

THICKNESS = 0.05
"""Radius of the bars that show bodies without shapes, as a share of the longest."""


def joint_name(limb: str, joint: str | None) -> str:
    """The name of a joint and of the body that it carries; "torso" for None."""
    return "torso" if joint is None else f"{limb}.{joint}"


def numbers_text(values: Any) -> str:
    """Numbers in any nesting, each with as many digits as it takes to read it back exactly."""
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(values))


def check_writable(robot: Robot) -> None:
    """Refuses a robot with symbols, or with names that XML cannot hold."""
    for path, value in robot_numbers(robot).items():
        if not isinstance(value, float):
            raise RobotError(path, value, "a number; a file cannot hold symbols")
    names = [robot.name, *robot.limbs()]
    for limb in robot.limbs().values():
        names += [x.name for x in (*limb.joints, *limb.actuators, *limb.contacts)]
    for name in names:
        if _ILLEGAL.search(name):
            raise RobotError("name", name, "a name without control characters, which XML cannot hold")


def xml_text(root: ElementTree.Element, headline: str, notes: Iterable[str]) -> str:
    """An XML file with a comment at its head: a headline, and a line for each note."""
    lines = [headline, *(f"- {note}" for note in notes)]
    comment = "\n  ".join(line.replace("--", "- -") for line in lines)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {comment} -->\n{ElementTree.tostring(root, "unicode")}\n'


def known_angles(robot: Robot) -> Mapping[tuple[str, str], float]:
    """Joint angles of legs where the robot stands, its torso level, by (limb, joint) [rad]: by their closed form, or as
    their feet say (`Foot.angles`).

    Legs that do not reach their feet from there are left out.
    """
    found: dict[tuple[str, str], float] = {}
    for name, limb in robot.limbs().items():
        if limb.foot is None or limb.closed_form is None:
            found |= {(name, coordinate): float(angle) for coordinate, angle in limb.foot_angles.items()}
            continue
        x, y, z = (float(a - b) for a, b in zip(limb.foot.place, robot.stand, strict=True))
        with np.errstate(all="ignore"):
            angles = [math.atan2(float(s), float(c)) for c, s in limb.closed_form.angles((x, y, z))]
        if all(map(math.isfinite, angles)):
            found |= {(name, joint.name): angle for joint, angle in zip(limb.joints, angles, strict=True)}
    return found


def drawn_shapes(robot: Robot) -> dict[tuple[str, str | None], tuple[Shape, ...]]:
    """Shapes of the bodies by (limb, joint), of the torso by ("torso", None).

    A body without shapes is shown as bars to what it carries, a torso that is a plate as a box.
    """
    torso, ends = robot.torso_body(), dict[tuple[str, str | None], list[Any]]()
    for name, limb in robot.limbs().items():
        for joint in limb.joints:
            key = ("torso", None) if joint.parent is None else (name, joint.parent)
            ends.setdefault(key, []).append(joint.offset)
        for end in (limb.foot, limb.tip):
            if end is not None:
                ends.setdefault((name, end.joint), []).append(end.point)
    longest = max((float(np.linalg.norm(end)) for group in ends.values() for end in group), default=0.0)
    found = {("torso", None): tuple(torso.shapes)}
    if isinstance(robot.torso, PlateTorso):
        sides = (float(robot.torso.width), float(robot.torso.length))
        size = (*(sides if robot.forward == "y" else sides[::-1]), 2.0 * THICKNESS * longest)
        found["torso", None] = (Shape(kind="box", size=size, place=tuple(map(float, torso.com))),)
    for name, limb in robot.limbs().items():
        found |= {(name, joint.name): tuple(joint.body.shapes) for joint in limb.joints if joint.body is not None}
    return {key: shapes or tuple(_bars(ends.get(key, ()), THICKNESS * longest)) for key, shapes in found.items()}


def _bars(ends: Iterable[Any], radius: float) -> Iterator[Shape]:
    """Capsules from the origin to each end that is not there [m]."""
    for end in ends:
        along = np.array(end, float)
        length = float(np.linalg.norm(along))
        if length > radius > 0.0:
            z = along / length
            x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
            x /= np.linalg.norm(x)
            rotation = tuple(map(tuple, np.array([x, np.cross(z, x), z]).T.tolist()))
            yield Shape(kind="capsule", size=(radius, length), place=tuple((0.5 * along).tolist()), rotation=rotation)
