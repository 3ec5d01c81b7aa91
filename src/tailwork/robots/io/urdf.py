"""URDF files, and the SRDF beside them, as a tree of bodies. Meshes are never opened."""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.errors import nearest
from tailwork.format import first_few
from tailwork.robots.io.tree import HERE, FileShape, Inertial, Node, Pose, Tree, TreeJoint, exact
from tailwork.robots.io.xml import Element, read_xml
from tailwork.robots.limb import MOST_JOINTS
from tailwork.robots.robot import MOST_ROBOT_JOINTS
from tailwork.typing import Floats

MOVING = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider"}
USED = ("link", "joint", "material")
MOST_LINKS = 20_000
LEAST_AXIS = 1e-9
NO_INERTIA = 1e-16
"""Moments of inertia up to this share of mass · (1 m)² are rounding errors of zero: the mass is within 10 nm."""


def read_urdf(path: str | os.PathLike[str], srdf: str | os.PathLike[str] | None = None) -> Tree:
    """The tree of a URDF, with postures and end effectors of its SRDF: the given one, or one beside it.

    Raises:
        FileError: the file cannot be read or is no URDF; the message has the line.
    """
    root = read_xml(path, "robot", "a URDF")
    for element in root.inside():
        if element.tag.startswith("xacro:"):
            raise element.error("xacro, not URDF; expand it first: `xacro FILE > robot.urdf`")
    tree = Tree(root.attributes.get("name") or Path(path).stem)
    _Reader(root, tree).read()
    found = srdf if srdf is not None else srdf_beside(path)
    if found is not None:
        read_srdf(found, tree)
    return tree


def is_urdf(path: str | os.PathLike[str]) -> bool:
    """Whether an XML file is a URDF, by its root."""
    return read_xml(path).tag == "robot"


class _Reader:
    """Walks the joints of a URDF from its root link and fills a tree."""

    def __init__(self, root: Element, tree: Tree) -> None:
        self.root, self.tree = root, tree
        self.links: dict[str, Element] = {}
        for link in root.all("link"):
            name = link.text("name")
            if name in self.links:
                raise link.error(f"a second link of that name; the first is in line {self.links[name].line}")
            self.links[name] = link
        self.joints: dict[str, list[tuple[Element, str]]] = {}  # by parent link: joints and their child links
        self.base = self._root_link()
        self.materials = {m.text("name"): m for m in root.all("material") if "name" in m.attributes}
        self.merged: list[str] = []
        self.dropped: Counter[str] = Counter()

    def _root_link(self) -> str:
        carried: dict[str, Element] = {}
        names: set[str] = set()
        for joint in self.root.all("joint"):
            name = joint.text("name")
            if name in names:
                raise joint.error("a second joint of that name")
            names.add(name)
            ends = [joint.required(end).text("link") for end in ("parent", "child")]
            for link in ends:
                if link not in self.links:
                    raise joint.error(f"there is no link {link!r}; {nearest(link, self.links)}")
            parent, child = ends
            if child in carried:
                raise joint.error(f"the link {child!r} has two parents: {carried[child].shown()} carries it as well")
            carried[child] = joint
            self.joints.setdefault(parent, []).append((joint, child))
        roots = [name for name in self.links if name not in carried]
        if len(roots) != 1:
            reason = f"{len(roots)} root links ({', '.join(roots[:6])}); required: one, joined to all the others"
            if not self.links:
                reason = "no links; required: at least one (is it the top of a xacro file?)"
            elif not roots:
                reason = "no root link: joints lead in a circle; required: one link that no joint carries"
            raise self.root.error(reason)
        return roots[0]

    def read(self) -> None:
        """Fills the tree."""
        tree, stack = self.tree, [(self.base, 0, HERE)]  # links to walk on from: node that has them, pose in it
        tree.nodes.append(Node(-1, None))
        self._fix(0, self.base, HERE)
        reached = 1
        while stack:
            link, k, pose = stack.pop(0)
            for joint, child in self.joints.get(link, []):
                reached += 1
                if reached > MOST_LINKS:
                    raise joint.error(f"more than {MOST_LINKS} links")
                at, kind = pose @ origin(joint), joint.text("type")
                if kind == "fixed":
                    self._fix(k, child, at)
                    self.merged.append(child)
                    stack.append((child, k, at))
                elif kind == "floating" and k == 0 and tree.nodes[0].inertial.is_nothing() and not self._others(link):
                    tree.nodes[0] = Node(-1, None)
                    self._fix(0, child, HERE)
                    tree.notes.append(f"floating joint {joint.text('name')}: {child} is the base; {link} was left out")
                    stack.append((child, 0, HERE))
                else:
                    tree.nodes.append(Node(k, self._joint(joint, kind, at)))
                    if len(tree.nodes) > MOST_ROBOT_JOINTS:
                        raise joint.error(f"more than {MOST_ROBOT_JOINTS} joints, or {MOST_JOINTS} in a limb")
                    self._fix(len(tree.nodes) - 1, child, HERE)
                    stack.append((child, len(tree.nodes) - 1, HERE))
        if reached < len(self.links):
            raise self.root.error("joints lead in a circle, apart from the root link")
        _depth_first(tree)
        if self.merged:
            tree.notes.append(f"{len(self.merged)} fixed links merged into what carries them: {first_few(self.merged)}")
        self.dropped.update(f"<{child.tag}>" for child in self.root.children if child.tag not in USED)
        if self.dropped:
            said = (f"{count} {tag}" for tag, count in sorted(self.dropped.items()))
            tree.notes.append(f"left out, as it has no part in the motion: {', '.join(said)}")

    def _others(self, link: str) -> bool:
        return len(self.joints[link]) > 1

    def _fix(self, k: int, link: str, pose: Pose) -> None:
        element = self.links[link]
        self.tree.nodes[k].fix(link, pose, link_inertia(element), self._shapes(element))

    def _joint(self, element: Element, kind: str, pose: Pose) -> TreeJoint:
        name = element.text("name")
        if kind not in MOVING:
            instead = {
                "floating": "only the first joint of the base can float",
                "planar": "write it as two prismatic joints and a continuous one",
                "spherical": "write it as three continuous joints with small or no bodies between them",
            }.get(kind, f"required: one of {', '.join((*MOVING, 'fixed'))}")
            raise element.error(f"a joint of type {kind!r}; {instead}")
        direction, limits, dynamics, mimic = (element.find(t) for t in ("axis", "limit", "dynamics", "mimic"))
        axis = np.array([1.0, 0.0, 0.0]) if direction is None else direction.numbers("xyz", 3)
        length = math.hypot(*axis)
        if not LEAST_AXIS < length < 1.0 / LEAST_AXIS:
            raise element.error(f"an axis of length {length:.3g}; required: a direction, such as 0 1 0")
        fields: dict[str, Any] = {}
        span = None
        if limits is not None:
            fields = {"effort": limits.number("effort", "0"), "speed": limits.number("velocity", "0")}
            lower, upper = limits.number("lower", "0"), limits.number("upper", "0")
            if kind != "continuous" and lower > upper:
                raise limits.error(f"lower {lower:g} is above upper {upper:g}")
            span = (lower, upper) if kind != "continuous" and lower < upper else None
        if kind != "continuous" and span is None:
            self.tree.notes.append(f"joint {name} has no range, or an empty one: taken as not limited")
        if dynamics is not None:
            fields |= {key: dynamics.number(key, "0") for key in ("damping", "friction")}
        for key, value in fields.items():
            if value < 0.0:
                raise element.error(f"{key} is {value:g}; required: not negative")
        follows = None
        if mimic is not None:
            follows = (mimic.text("joint"), mimic.number("multiplier", "1"), mimic.number("offset", "0"))
        return TreeJoint(name, MOVING[kind], axis / length, pose, span, follows=follows, **fields)

    def _shapes(self, link: Element) -> list[FileShape]:
        found: list[FileShape] = []
        for role in ("visual", "collision"):
            for element in link.all(role):
                geometry = element.find("geometry")
                if geometry is None or not geometry.children:
                    continue
                shape = geometry.children[0]
                pose, name, color = origin(element), link.text("name"), self._color(element)
                if shape.tag == "mesh":
                    scale = tuple(shape.numbers("scale", 3, "1 1 1").tolist())
                    found.append(FileShape(role, "mesh", (), pose, name, color, shape.text("filename"), scale))
                elif shape.tag in ("box", "sphere", "cylinder", "capsule"):
                    lengths = {"sphere": ("radius",), "box": ()}.get(shape.tag, ("radius", "length"))
                    size = tuple(shape.number(key) for key in lengths) or tuple(shape.numbers("size", 3).tolist())
                    if min(size) < 0.0:
                        raise shape.error(f"a size of {min(size):g} m; required: not negative")
                    found.append(FileShape(role, shape.tag, size, pose, name, color))
                else:
                    self.dropped[f"shapes <{shape.tag}>"] += 1
        return found

    def _color(self, element: Element) -> tuple[float, ...] | None:
        material = element.find("material")
        if material is None:
            return None
        if not material.children:
            material = self.materials.get(material.attributes.get("name", ""), material)
        color = material.find("color")
        return None if color is None else tuple(np.clip(color.numbers("rgba", 4)[:3], 0.0, 1.0).tolist())


def _depth_first(tree: Tree) -> None:
    """Puts the nodes in the order in which a walk along each branch meets them."""
    order: list[int] = []
    left = [0]
    children: dict[int, list[int]] = {}
    for k, node in enumerate(tree.nodes):
        children.setdefault(node.parent, []).append(k)
    while left:
        order.append(left.pop())
        left += reversed(children.get(order[-1], []))
    place = {k: i for i, k in enumerate(order)}
    tree.nodes = [tree.nodes[k] for k in order]
    for node in tree.nodes[1:]:
        node.parent = place[node.parent]


def origin(element: Element) -> Pose:
    """The pose that an <origin> in an element says; none: that of what it is in."""
    found = element.find("origin")
    if found is None:
        return HERE
    return Pose(found.numbers("xyz", 3, "0 0 0"), rpy(found.numbers("rpy", 3, "0 0 0")))


def rpy(angles: Floats) -> Floats:
    """The rotation of roll, pitch and yaw [rad]: about the fixed x, then y, then z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return exact(np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]))  # fmt: skip


def link_inertia(link: Element) -> Inertial:
    """Mass and inertia of a link; nothing where the file says nothing."""
    element = link.find("inertial")
    if element is None:
        return Inertial()
    mass = element.required("mass").number("value")
    if mass < 0.0:
        raise element.error(f"the mass of {link.text('name')} is {mass:g} kg; required: not negative")
    inertia = element.find("inertia")
    if inertia is None:
        return Inertial(mass).placed(origin(element))
    xx, yy, zz, xy, xz, yz = (inertia.number(f"i{key}", "0") for key in ("xx", "yy", "zz", "xy", "xz", "yz"))
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.abs(tensor).max() <= NO_INERTIA * mass:
        tensor = np.zeros((3, 3))
    return Inertial(mass, np.zeros(3), tensor).placed(origin(element))


def srdf_beside(path: str | os.PathLike[str]) -> Path | None:
    """The SRDF that belongs to a URDF, in its folder or in the folder srdf beside that one: of the same name, or the
    only one."""
    file = Path(path).absolute()  # one that is named without its folder has one above too
    folders = (file.parent, file.parent.parent / "srdf")
    for folder in folders:
        if (found := folder / f"{file.stem}.srdf").is_file():
            return found
    only = [found for folder in folders for found in folder.glob("*.srdf")]
    return only[0] if len(only) == 1 else None


def read_srdf(path: str | os.PathLike[str], tree: Tree) -> None:
    """Adds the postures and end effectors of an SRDF to a tree."""
    root = read_xml(path, "robot", "an SRDF")
    known = {joint.name for joint in tree.joints()}
    for state in root.all("group_state"):
        values = {j.text("name"): j for j in state.all("joint") if len(j.text("value").split()) == 1}
        posture = {name: j.number("value") for name, j in values.items() if name in known}
        if posture:
            tree.postures.setdefault(state.text("name"), {}).update(posture)
    links = {frame.name for node in tree.nodes for frame in node.frames}
    for element in root.all("end_effector"):
        link = element.text("parent_link")
        if link in links:
            tree.end_effectors.append(link)
        else:
            tree.notes.append(f"end effector {link} of the SRDF is no link of the URDF: left out")
    tree.notes.append(f"postures and end effectors from {Path(path).name}")
