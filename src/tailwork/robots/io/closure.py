"""The YAML that stands beside an exported URDF: gears, cables, springs, rotors, feet. Read with the URDF, it gives back
the robot.

It is YAML of one shape: a line a key, entries in the notation of JSON, lists with an entry a line. Files of another
shape are refused, with the line; nothing in them is evaluated.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from tailwork.errors import FileError, RobotError
from tailwork.robots.body import Body
from tailwork.robots.io.from_tree import Imported
from tailwork.robots.io.toml import described_value, read_text
from tailwork.robots.io.tree import Node, Tree, as_matrix, as_vector
from tailwork.robots.io.urdf_writer import FORMAT, UNLIMITED
from tailwork.robots.io.written import joint_name
from tailwork.robots.legs.offset_leg import OffsetLeg
from tailwork.robots.limb import FORWARD_FRAMES, Joint, Limb, placed
from tailwork.robots.quantities import field_hints
from tailwork.robots.robot import FreeLimb, Robot, Torso
from tailwork.robots.shapes import Shape
from tailwork.robots.tails.free import FreeTail

_LINE = re.compile(r"( *)(?:- |(\"(?:[^\"\\]|\\.)*+\"|\w++):(?: |$))?(.*)")
KEYS = ("format", "gravity", "stand", "forward", "pinned", "contacts", "air", "drag", "shapes", "limbs")
LIMB_KEYS = ("joints", "coordinates", "gearing", "armature", "drag", "foot", "tip", "standing", "tail", "actuators",
             "springs", "contacts")  # fmt: skip


def closure_beside(path: str | os.PathLike[str]) -> Path | None:
    """The YAML beside a URDF, if tailwork wrote it."""
    file = Path(path).with_suffix(".yaml")
    if not file.is_file():
        return None
    return file if f"format: {json.dumps(FORMAT)}" in read_text(file).splitlines() else None


def read_closure(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What such a file says, by key; "limbs" by limb and key."""
    found: dict[str, Any] = {}
    limb: dict[str, Any] | None = None
    items: list[Any] | None = None
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        assert match is not None  # all lines are of this form
        depth, key, text = len(match[1]), match[2], match[3]
        known = {0: KEYS, 4: LIMB_KEYS}.get(depth)
        name = json.loads(key) if key and key.startswith('"') else key
        if key and known is not None and name not in known:
            raise _error(path, number, line, f"one of the keys {', '.join(known)}")
        into = found if depth == 0 else limb
        if key and depth == 2 and found.get("limbs") is not None and not text.strip():
            limb = found["limbs"].setdefault(name, {})
        elif key and depth in (0, 4) and into is not None and name not in into:
            items = None
            if text.strip():
                into[name] = _json(path, number, line, text)
            elif depth == 0:
                into[name] = {}
            else:
                into[name] = items = []
        elif not key and depth == 6 and items is not None and line.lstrip().startswith("- "):
            items.append(_json(path, number, line, text))
        else:
            raise _error(path, number, line, "an entry as tailwork writes them: two spaces a level, each key once")
    return found


def _json(path: Any, number: int, line: str, text: str) -> Any:
    try:
        value, end = json.JSONDecoder().raw_decode(text.strip())
    except (json.JSONDecodeError, RecursionError):
        raise _error(path, number, line, "a value in the notation of JSON") from None
    rest = text.strip()[end:].strip()
    if rest and not rest.startswith("#"):
        raise _error(path, number, line, "nothing but a comment after the value")
    return value


def _error(path: Any, number: int, line: str, required: str) -> FileError:
    return FileError(path, f"line {number}: {line.strip()[:60]!r}; required: {required}")


def from_closure(tree: Tree, path: Path) -> Imported:
    """The robot of a URDF and the YAML beside it.

    Raises:
        FileError: the YAML is not as tailwork writes it.
        RobotError: the two do not belong together, or describe no possible robot.
    """
    data = read_closure(path)
    try:
        return _robot(tree, data, path)
    except RobotError as error:
        error.add_note(f"in the file {path}, which stands beside the URDF; remove it to read the URDF alone")
        raise


def _robot(tree: Tree, data: dict[str, Any], path: Path) -> Imported:
    nodes = {node.joint.name: node for node in tree.nodes if node.joint is not None}
    limbs = data.get("limbs") or {}
    listed = [joint_name(name, joint) for name, values in limbs.items() for joint in values.get("joints", ())]
    if sorted(listed) != sorted(nodes):
        differ = sorted(set(listed) ^ set(nodes))
        raise RobotError("limbs", differ[:6], "the joints of the URDF, each in one limb")
    drawn, forward = data.get("shapes", ()), data.get("forward", "x")
    base = _dragged(tree.nodes[0].body(_visuals(tree.nodes[0]) if "torso" in drawn else ()), data.get("drag"))
    if base is None or forward not in FORWARD_FRAMES:
        raise RobotError("torso", data.get("forward"), "a root link with a mass, and x or y as its forward axis")
    parts: dict[str, Any] = {}
    for name, values in limbs.items():
        try:
            limb = _limb(tree, nodes, name, values, drawn)
            parts[name] = _part(limb, values, forward)
        except RobotError as error:
            raise error.within(name) from None
    robot = Robot(
        name=tree.name,
        torso=Torso(mass=base.mass, com=base.com, inertia=base.inertia, shapes=base.shapes, drag=base.drag),
        parts=parts, gravity=data.get("gravity", 9.81), stand=tuple(data.get("stand", (0.0, 0.0, 0.0))),
        forward=forward,
        air=described_value(data["air"], field_hints(Robot)["air"], "air") if data.get("air") else None,
        contacts=described_value(data.get("contacts", []), field_hints(Robot)["contacts"], "contacts"),
    )  # fmt: skip
    notes = [*tree.notes, f"{path.name} beside the file says gears, actuators, springs, feet and limbs"]
    seen = {("torso" if n.joint is None else n.joint.name): tuple(x for x in n.shapes if x.kind == "mesh")
            for n in tree.nodes}  # fmt: skip
    meshes = {name: found for name, found in seen.items() if found}
    return Imported(robot, tuple(notes), {joint: joint for joint in listed}, meshes)


def _limb(tree: Tree, nodes: dict[str, Node], name: str, values: dict[str, Any], drawn: Any) -> Limb:
    joints: list[Joint] = []
    armature, drag = values.get("armature", {}), values.get("drag", {})
    for short in values["joints"]:
        node = nodes[joint_name(name, short)]
        joint, parent = node.joint, tree.nodes[node.parent].joint
        assert joint is not None
        before = None if parent is None else parent.name.removeprefix(f"{name}.")
        span = None if joint.range == (-UNLIMITED, UNLIMITED) else joint.range
        joints.append(
            Joint(
                name=short, axis=as_vector(joint.axis), parent=before, offset=as_vector(joint.pose.place),
                rotation=as_matrix(joint.pose.turn),
                body=_dragged(node.body(_visuals(node) if joint.name in drawn else ()), drag.get(short)),
                motion=joint.motion,
                armature=armature.get(short, 0.0), range=span, friction=joint.friction,
                speed_limit=0.0 if joint.speed == UNLIMITED else joint.speed,
            )
        )  # fmt: skip
    hints, fields = field_hints(Limb), {}
    for key in ("actuators", "springs", "foot", "tip", "contacts"):
        if key in values:
            fields[key] = described_value(values[key], hints[key], key)
    gearing = values.get("gearing")
    return Limb(
        joints=tuple(joints), coordinates=tuple(values.get("coordinates", ())),
        gearing=None if gearing is None else tuple(map(tuple, gearing)), **fields,
    )  # fmt: skip


def _dragged(body: Body | None, drag: Any) -> Body | None:
    """A body with what the air drags on."""
    if body is None or not drag:
        return body
    return replace(body, drag=described_value(drag, field_hints(Body)["drag"], "drag"))


def _part(limb: Limb, values: dict[str, Any], forward: str) -> Any:
    """A tail, a leg whose foot can be pinned, or the limb as it is."""
    if values.get("tail"):
        turn = tuple(zip(*FORWARD_FRAMES[forward], strict=True))
        return FreeTail(shape=placed(limb, (0.0, 0.0, 0.0), turn))  # type: ignore[arg-type]
    standing = values.get("standing", {})
    if limb.foot is not None and all(joint.name in standing for joint in limb.joints):
        try:
            return OffsetLeg.from_posture(limb, [float(standing[joint.name]) for joint in limb.joints])
        except RobotError:  # a leg of another shape: it swings, and stands on ground that gives way
            return FreeLimb(limb=limb)
    return FreeLimb(limb=limb)


def _visuals(node: Node) -> tuple[Shape, ...]:
    seen = [shape for shape in node.shapes if shape.role == "visual" and shape.kind != "mesh"]
    return tuple(
        Shape(kind=s.kind, size=s.size, place=as_vector(s.pose.place), rotation=as_matrix(s.pose.turn), color=s.color)
        for s in seen
    )
