"""A robot as URDF, with every digit, and as YAML beside it what URDF has no words for.

Links and joints are named "limb.joint", the root link "torso". URDF has masses, joints, ranges, limits, damping and dry
friction of joints; gears, cables, springs, rotors, places of feet and which of them are pinned stand in the YAML.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from tailwork.robots.body import Body
from tailwork.robots.io.toml import as_plain
from tailwork.robots.io.written import (
    check_writable,
    drawn_shapes,
    joint_name,
    known_angles,
    numbers_text,
    xml_text,
)
from tailwork.robots.limb import IDENTITY, Joint, Limb, Motor
from tailwork.robots.robot import Robot
from tailwork.robots.shapes import Shape
from tailwork.robots.springs import JointSpring
from tailwork.robots.tails.tail import Tail

FORMAT = "tailwork-urdf/1"
"""What the YAML says it is."""
UNLIMITED = 1e9
"""Stands for a limit that URDF demands and the robot does not have [m, N, m/s]."""


def urdf_texts(robot: Robot, stance: Collection[str] = (), folder: str = "") -> tuple[dict[str, str], tuple[str, ...]]:
    """Texts by the end of their file's name: ".urdf", ".yaml" and one for each mesh; and what URDF alone does not say.

    Args:
        robot: of numbers.
        stance: legs whose feet are pinned where the robot says they stand.
        folder: of the meshes, beside the file.
    """
    check_writable(robot)
    notes = _lacking(robot, stance)
    root = Element("robot", name=robot.name)
    meshes: dict[str, str] = {}
    limbs = robot.limbs()
    shapes = drawn_shapes(robot)

    def link(name: str, body: Body | None, key: tuple[str, str | None]) -> Element:
        element = _add(root, "link", name=name)
        if body is not None:
            _set_inertia(element, body)
        for k, shape in enumerate(shapes.get(key, ())):
            _draw(element, shape, f"{folder}/{name}.{k + 1}.obj", meshes)
        return element

    torso = link("torso", robot.torso_with_actuators(), ("torso", None))
    _touch(torso, robot.torso_contacts())
    for name, limb in limbs.items():
        for joint in limb.joints:
            element = link(joint_name(name, joint.name), joint.body, (name, joint.name))
            _touch(element, tuple(x for x in limb.contacts if x.joint == joint.name))
            _add_joint(root, name, limb, joint)
        if limb.foot is not None:
            foot = foot_link(name, limb)
            element = link(foot, None, (name, foot))
            if limb.foot.radius:
                _ball(element, (0.0, 0.0, 0.0), limb.foot.radius)
            fixed = _add(root, "joint", name=foot, type="fixed")
            _place(fixed, limb.foot.point, IDENTITY)
            _add(fixed, "parent", link=joint_name(name, limb.foot.joint))
            _add(fixed, "child", link=foot)
    text = xml_text(root, f"{robot.name}, written by tailwork. Units: SI.", notes)
    return {".urdf": text, ".yaml": _yaml(robot, stance), **meshes}, notes


def foot_link(name: str, limb: Limb) -> str:
    """The name of the link of a foot."""
    own = f"{name}.foot"
    return own if all(joint.name != "foot" for joint in limb.joints) else f"{own}.point"


def _lacking(robot: Robot, stance: Collection[str]) -> tuple[str, ...]:
    """What the robot has and only the YAML says."""
    limbs = robot.limbs().values()
    has = {
        "gears": any(limb.gearing is not None for limb in limbs),
        "motors and cables": any(limb.actuators for limb in limbs),
        "springs": any(
            not isinstance(x, JointSpring) or x.stiffness or x.preload for limb in limbs for x in limb.springs
        ),
        "inertias of rotors": any(joint.armature for limb in limbs for joint in limb.joints),
        "where feet stand": bool(robot.feet()),
        "pinned feet": bool(stance),
        "drag of the air": robot.has_drag(),
        "contact points": bool(robot.contacts) or any(limb.contacts for limb in limbs),
    }
    said = ", ".join(what for what, there in has.items() if there)
    return (f"URDF has no words for these; they stand in the YAML file beside it: {said}",) if said else ()


def _set_inertia(link: Element, body: Body) -> None:
    inertial = _add(link, "inertial")
    _add(inertial, "origin", xyz=_text(body.com), rpy="0 0 0")
    _add(inertial, "mass", value=_text(body.mass))
    xx, yy, zz, xy, xz, yz = map(_text, body.inertia)
    _add(inertial, "inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)


def _add_joint(root: Element, name: str, limb: Limb, joint: Joint) -> None:
    own = joint_name(name, joint.name)
    kind = "prismatic" if joint.slides else "revolute" if joint.range is not None else "continuous"
    element = _add(root, "joint", name=own, type=kind)
    _place(element, joint.offset, joint.rotation)
    _add(element, "parent", link=joint_name(name, joint.parent))
    _add(element, "child", link=own)
    _add(element, "axis", xyz=_text(joint.axis))
    motors = [x for x in limb.actuators if isinstance(x, Motor) and x.coordinate == joint.name and x.limit]
    effort = sum(float(x.limit) * abs(float(x.ratio)) for x in motors) if limb.gearing is None else 0.0
    if joint.slides or joint.range is not None or effort or joint.speed_limit:
        limit = _add(
            element, "limit", effort=_text(effort or UNLIMITED), velocity=_text(joint.speed_limit or UNLIMITED)
        )
        if kind != "continuous":
            lower, upper = joint.range if joint.range is not None else (-UNLIMITED, UNLIMITED)
            limit.attrib |= {"lower": _text(lower), "upper": _text(upper)}
    damping = sum(float(x.damping) for x in limb.springs if isinstance(x, JointSpring) and x.joint == joint.name)
    if damping or joint.friction:
        _add(element, "dynamics", damping=_text(damping), friction=_text(joint.friction))
    lead = _lead(limb, joint)
    if lead is not None:
        other, ratio = lead
        _add(element, "mimic", joint=joint_name(name, other), multiplier=_text(ratio), offset="0")


def _lead(limb: Limb, joint: Joint) -> tuple[str, float] | None:
    """The joint that a joint follows, and how many times as far it moves; None if it follows not just one."""
    if limb.gearing is None:
        return None
    gearing, k = np.array(limb.gearing, float), limb.index(joint.name)
    column = int(np.abs(gearing[k]).argmax())
    alone = [i for i, row in enumerate(gearing) if row[column] and np.count_nonzero(row) == 1]
    if np.count_nonzero(gearing[k]) != 1 or not alone or alone[0] == k:
        return None
    return limb.joints[alone[0]].name, float(gearing[k, column] / gearing[alone[0], column])


def _place(element: Element, offset: Any, rotation: Any) -> None:
    _add(element, "origin", xyz=_text(offset), rpy=_text(roll_pitch_yaw(rotation)))


def roll_pitch_yaw(rotation: Any) -> tuple[float, float, float]:
    """Angles about fixed x, y, z of a rotation R = Rz(yaw) Ry(pitch) Rx(roll) [rad], to the last digits in any posture.

    Roll is taken after turning back by whatever yaw came out, so that it makes up for the yaw where the two fall
    together (pitch ±90°).
    """
    r = np.array(rotation, float)
    yaw = math.atan2(r[1, 0], r[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    return math.atan2(s * r[0, 2] - c * r[1, 2], c * r[1, 1] - s * r[0, 1]), pitch, yaw


def _touch(link: Element, contacts: Any) -> None:
    for contact in contacts:
        if contact.radius:
            _ball(link, contact.point, contact.radius)


def _ball(link: Element, place: Any, radius: Any) -> None:
    collision = _add(link, "collision")
    _place(collision, place, IDENTITY)
    _add(_add(collision, "geometry"), "sphere", radius=_text(radius))


def _draw(link: Element, shape: Shape, file: str, meshes: dict[str, str]) -> None:
    def visual(place: Any) -> Element:
        element = _add(link, "visual")
        _place(element, place, shape.rotation)
        geometry = _add(element, "geometry")
        if shape.color is not None:
            material = _add(element, "material", name=f"{link.get('name')} {len(link)}")
            _add(material, "color", rgba=_text((*shape.color, 1.0)))
        return geometry

    if shape.kind == "mesh":
        lines = [f"v {numbers_text(vertex)}" for vertex in shape.vertices]
        lines += ["f " + " ".join(str(k + 1) for k in face) for face in shape.faces]
        meshes[file] = "\n".join(lines) + "\n"
        _add(visual(shape.place), "mesh", filename=file)
    elif shape.kind == "box":
        _add(visual(shape.place), "box", size=_text(shape.size))
    elif shape.kind == "sphere":
        _add(visual(shape.place), "sphere", radius=_text(shape.size[0]))
    else:
        _add(visual(shape.place), "cylinder", radius=_text(shape.size[0]), length=_text(shape.size[1]))
        if shape.kind == "capsule":  # which URDF lacks
            along = 0.5 * shape.size[1] * np.array(shape.rotation, float)[:, 2]
            for end in (along, -along):
                _add(visual(np.array(shape.place) + end), "sphere", radius=_text(shape.size[0]))


def _yaml(robot: Robot, stance: Collection[str]) -> str:
    """JSON, which is YAML, below comments; an entry of a limb on a line of its own."""
    angles, limbs = known_angles(robot), dict[str, Any]()
    for name, limb in robot.limbs().items():
        values: dict[str, Any] = {
            "joints": [x.name for x in limb.joints],
            "coordinates": limb.coordinates,
            "gearing": limb.gearing,  # joints × coordinates
            "armature": {x.name: x.armature for x in limb.joints if x.armature},
            "drag": {x.name: x.body.drag for x in limb.joints if x.body and x.body.drag},
            "foot": limb.foot,
            "tip": limb.tip,
            "standing": {joint: angle for (limb_name, joint), angle in angles.items() if limb_name == name},
            "tail": isinstance(robot.parts.get(name), Tail),
            "actuators": limb.actuators,
            "springs": limb.springs,
            "contacts": limb.contacts,
        }
        lines = (f"{json.dumps(key)}: {_json(value)}" for key, value in values.items() if value)
        limbs[name] = "{\n      " + ",\n      ".join(lines) + "\n    }"
    whole = {
        "format": FORMAT, "gravity": robot.gravity, "stand": robot.stand, "forward": robot.forward,
        "pinned": list(stance), "contacts": robot.torso_contacts(), "air": robot.air, "drag": robot.torso_body().drag,
        "shapes": _shaped(robot),
    }  # fmt: skip
    entries = [f"  {json.dumps(key)}: {_json(value)}" for key, value in whole.items()]
    inside = ",\n".join(f"    {json.dumps(name)}: {text}" for name, text in limbs.items())
    return (
        f"# What {robot.name!r} has besides what its URDF file says; tailwork reads both. Units: SI.\n"
        "# Joints of a limb go by the names that they have in the URDF file, less the limb's. `stand`: where the\n"
        "# torso is when the robot stands; `forward`: its axis ahead; `pinned`: limbs whose feet are held.\n"
        "{\n" + ",\n".join([*entries, '  "limbs": {\n' + inside + "\n  }"]) + "\n}\n"
    )


def _json(value: Any) -> str:
    return json.dumps(value, default=as_plain)


def _shaped(robot: Robot) -> list[str]:
    bodies = [("torso", robot.torso_body())]
    bodies += [(joint_name(n, x.name), x.body) for n, limb in robot.limbs().items() for x in limb.joints if x.body]
    return [name for name, body in bodies if body.shapes]


def _add(to: Element, tag: str, **attributes: str) -> Element:
    return ElementTree.SubElement(to, tag, attributes)


_text = numbers_text
