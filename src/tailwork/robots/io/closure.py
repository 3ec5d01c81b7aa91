"""The YAML that stands beside an exported URDF: gears, cables, springs, rotors, feet. Read with the URDF, it gives back
the robot.

It is YAML that is JSON below comments. Files of another shape are refused, with the line; nothing in them is evaluated.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tailwork.errors import ArgumentError, FileError, RobotError
from tailwork.robots.body import Body
from tailwork.robots.io.from_tree import Imported
from tailwork.robots.io.toml import described_value, read_text
from tailwork.robots.io.tree import Node, Tree, exact_matrix, exact_vector
from tailwork.robots.io.urdf_writer import FORMAT, UNLIMITED
from tailwork.robots.io.written import joint_name
from tailwork.robots.legs.offset_leg import OffsetLeg
from tailwork.robots.limb import FORWARD_FRAMES, Joint, Limb
from tailwork.robots.quantities import field_hints
from tailwork.robots.robot import FreeLimb, Robot, Torso
from tailwork.robots.tails.free import FreeTail

KEYS = ("format", "gravity", "stand", "forward", "pinned", "contacts", "air", "drag", "shapes", "limbs")
LIMB_KEYS = ("joints", "coordinates", "gearing", "armature", "drag", "foot", "tip", "standing", "tail", "actuators",
             "springs", "contacts")  # fmt: skip


def closure_beside(path: str | os.PathLike[str]) -> Path | None:
    """The YAML beside a URDF, if tailwork wrote it."""
    file = Path(path).with_suffix(".yaml")
    return file if file.is_file() and f'"format": {json.dumps(FORMAT)}' in read_text(file) else None


def read_closure(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What such a file says, by key; "limbs" by limb and key."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise FileError(path, f"keys {', '.join(key for key, _ in pairs)}; required: each key once")
        return found

    lines = ("" if line.startswith("#") else line for line in read_text(path).split("\n"))
    try:
        found = json.loads("\n".join(lines), object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise FileError(path, f"line {error.lineno}: {error.msg}; required: JSON, as tailwork writes it") from None
    except (RecursionError, ValueError):  # an integer of thousands of digits
        raise FileError(path, "nested too deeply, or a number of too many digits") from None
    limbs = found.get("limbs", {}) if isinstance(found, dict) else None
    if not isinstance(limbs, dict) or not all(isinstance(values, dict) for values in limbs.values()):
        raise FileError(path, "required: keys and values, as tailwork writes them, also in each of the limbs")
    for known, keys in ((KEYS, found), *((LIMB_KEYS, values) for values in limbs.values())):
        for key in keys:
            if key not in known:
                raise FileError(path, f"the key {key!r}; required: one of the keys {', '.join(known)}")
    return found


def from_closure(tree: Tree, path: Path) -> Imported:
    """The robot of a URDF and the YAML beside it.

    Raises:
        FileError: the YAML is not as tailwork writes it.
        RobotError: the two do not belong together, or describe no possible robot.
    """
    data = read_closure(path)
    try:
        return _robot(tree, data, path)
    except ArgumentError as error:
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
    base = _dragged(tree.nodes[0].body(tree.nodes[0].drawn("visual") if "torso" in drawn else ()), data.get("drag"))
    if base is None or forward not in FORWARD_FRAMES:
        raise RobotError("torso", data.get("forward"), "a root link with a mass, and x or y as its forward axis")
    parts: dict[str, Any] = {}
    for name, values in limbs.items():
        try:
            limb = _limb(tree, nodes, name, values, drawn)
            parts[name] = _part(limb, values, forward)
        except ArgumentError as error:
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
                name=short, axis=exact_vector(joint.axis), parent=before, offset=exact_vector(joint.pose.place),
                rotation=exact_matrix(joint.pose.turn),
                body=_dragged(node.body(node.drawn("visual") if joint.name in drawn else ()), drag.get(short)),
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
        return FreeTail.of_limb(limb, forward)
    standing = values.get("standing", {})
    if limb.foot is not None and all(joint.name in standing for joint in limb.joints):
        try:
            return OffsetLeg.from_posture(limb, [float(standing[joint.name]) for joint in limb.joints])
        except ArgumentError:  # a leg of another shape: it swings, and stands on ground that gives way
            return FreeLimb(limb=limb)
    return FreeLimb(limb=limb)
