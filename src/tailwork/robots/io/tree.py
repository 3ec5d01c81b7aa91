"""A tree of moving bodies, as a URDF or an MJCF describes it: what the readers of both fill, in numbers alone.

Bodies that are fixed to each other are one node. Lengths in m, angles in rad, SI units throughout.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.robots.body import Body
from tailwork.robots.limb import IDENTITY, Matrix, Vector
from tailwork.robots.shapes import Shape
from tailwork.typing import Floats

ROUNDING = 1e-15
"""What rounding alone leaves beside an exact 0 or ±1 in a rotation matrix."""
DIGITS = 1e-10
"""Axes nearer than this to one of the base's [rad] lie along it: 1.57079632679 is meant to be a right angle."""


@dataclass(frozen=True)
class Pose:
    """Where a frame is in another: its place [m] and its axes, as columns."""

    place: Floats
    turn: Floats

    def __matmul__(self, inner: Pose) -> Pose:
        """The pose of a frame that is given in this one."""
        return Pose(self.place + self.turn @ inner.place, exact(self.turn @ inner.turn))

    def point(self, x: Floats) -> Floats:
        """A point of this frame [m] in the outer one."""
        return self.place + self.turn @ x


HERE = Pose(np.zeros(3), np.eye(3))


@dataclass(frozen=True)
class Inertial:
    """Mass [kg], centre of mass [m] and the central inertia [kg m²] in the axes of its frame."""

    mass: float = 0.0
    com: Floats = field(default_factory=lambda: np.zeros(3))
    tensor: Floats = field(default_factory=lambda: np.zeros((3, 3)))

    def placed(self, pose: Pose) -> Inertial:
        """The same body, whose frame is at a pose."""
        if pose is HERE:
            return self
        return Inertial(self.mass, pose.point(self.com), pose.turn @ self.tensor @ pose.turn.T)

    def __add__(self, other: Inertial) -> Inertial:
        """Two bodies that are fixed to each other; one that is nothing changes nothing."""
        if other.is_nothing():
            return self
        if self.is_nothing():
            return other
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass else np.zeros(3)
        tensor = self.tensor + other.tensor
        for part in (self, other):
            away = part.com - com
            tensor = tensor + part.mass * (away @ away * np.eye(3) - np.outer(away, away))
        return Inertial(mass, com, tensor)

    def is_nothing(self) -> bool:
        """Whether it has neither mass nor inertia."""
        return self.mass == 0.0 and not self.tensor.any()

    def body(self, shapes: Sequence[Shape] = ()) -> Body | None:
        """As a body of a description; None: nothing. RobotError: no body can have this mass and inertia."""
        if self.is_nothing():
            return None
        t = 0.5 * (self.tensor + self.tensor.T)
        inertia = (t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2])
        return Body(
            mass=self.mass, com=exact_vector(self.com), inertia=tuple(map(float, inertia)), shapes=tuple(shapes)
        )


@dataclass(frozen=True)
class FixedLink:
    """A link of the file that is fixed to a node, under its name."""

    name: str
    pose: Pose


@dataclass(frozen=True)
class FileShape:
    """A shape of the file; `role` is "visual" or "collision". A mesh has the name of its file, which is not opened."""

    role: str
    kind: str
    size: tuple[float, ...]
    pose: Pose
    link: str
    color: tuple[float, ...] | None = None
    file: str = ""
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)  # of a mesh
    triangles: Floats | None = None  # of a mesh that the reader has, (triangles, 3, 3) [m]


@dataclass(frozen=True)
class TreeJoint:
    """A hinge or a slider, by its name in the file, and all that the file says of it."""

    name: str
    motion: str  # "hinge" or "slider"
    axis: Floats  # in the joint's frame
    pose: Pose  # of the joint at zero, in the frame of the parent node
    range: tuple[float, float] | None = None
    effort: float = 0.0  # 0: not known
    speed: float = 0.0  # 0: not known
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    driven: bool = True  # by a motor
    follows: tuple[str, float, float] | None = None  # joint, ratio, offset: value = ratio · its value + offset


@dataclass(frozen=True)
class Tendon:
    """A string through points of bodies, or a weighted sum of joint values; with a spring, an actuator, or both."""

    name: str
    points: tuple[str, ...] = ()  # frames that it runs through, in order
    weights: Mapping[str, float] = field(default_factory=dict)  # by joint, of a sum
    stiffness: float = 0.0  # [N/m]
    rest: float = 0.0  # length at which its spring gives no force [m]
    actuator: str = ""  # the name of what pulls or turns; empty: nothing
    gain: float = 0.0  # force along the tendon, towards longer, per effort of the actuator
    limit: float = 0.0  # of the effort; 0: not known


@dataclass
class Node:
    """A moving body: the joint that carries it, and all that is fixed to it."""

    parent: int  # −1: this is the base
    joint: TreeJoint | None
    inertial: Inertial = field(default_factory=Inertial)
    frames: list[FixedLink] = field(default_factory=list)
    shapes: list[FileShape] = field(default_factory=list)

    def fix(self, name: str, pose: Pose, inertial: Inertial, shapes: Sequence[FileShape]) -> None:
        """Fixes a link of the file to this node."""
        self.inertial = self.inertial + inertial.placed(pose)
        self.frames.append(FixedLink(name, pose))
        self.shapes += [at_pose(shape, pose) for shape in shapes]

    def drawn(self, role: str) -> tuple[Shape, ...]:
        """Its shapes of a role as a description holds them; meshes are not among them."""
        return tuple(
            Shape(kind=s.kind, size=s.size, place=exact_vector(s.pose.place), rotation=exact_matrix(s.pose.turn),
                  color=s.color) for s in self.shapes if s.role == role and s.kind != "mesh"
        )  # fmt: skip

    def body(self, shapes: Sequence[Shape] = ()) -> Body | None:
        """All that is fixed together as a body; RobotError: no body can have its mass and inertia."""
        try:
            return self.inertial.body(shapes)
        except ArgumentError as error:
            names = [frame.name for frame in self.frames]
            raise error.within("links " + " + ".join(names[:4]) + (" + …" if len(names) > 4 else "")) from None


@dataclass
class Tree:
    """A robot of a file. The first node is the base; parents come first."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was merged, dropped or assumed
    postures: dict[str, dict[str, float]] = field(default_factory=dict)  # by name: joint values
    end_effectors: list[str] = field(default_factory=list)  # links
    gravity: float = 9.81
    tendons: list[Tendon] = field(default_factory=list)

    def children(self, k: int) -> list[int]:
        """The nodes on a node."""
        return [i for i, node in enumerate(self.nodes) if node.parent == k]

    def subtree(self, k: int) -> list[int]:
        """A node and all that it carries, parents first."""
        inside = {k}
        for i in range(k + 1, len(self.nodes)):
            if self.nodes[i].parent in inside:
                inside.add(i)
        return sorted(inside)

    def joints(self) -> list[TreeJoint]:
        """All joints, in the order of the nodes."""
        return [node.joint for node in self.nodes if node.joint is not None]

    def poses(self, values: Mapping[str, float]) -> list[Pose]:
        """The poses of all nodes in the frame of the base, for joint values by name; zero where none is given."""
        found = [HERE]
        for node in self.nodes[1:]:
            assert node.joint is not None
            found.append(found[node.parent] @ node.joint.pose @ moved_by(node.joint, values.get(node.joint.name, 0.0)))
        return found


def at_pose(shape: FileShape, pose: Pose) -> FileShape:
    """A shape whose frame is at a pose."""
    return replace(shape, pose=pose @ shape.pose)


def moved_by(joint: TreeJoint, value: float) -> Pose:
    """What a joint does at a value."""
    if joint.motion == "slider":
        return Pose(joint.axis * value, np.eye(3))
    return Pose(np.zeros(3), turned_about(joint.axis, value))


def turned_about(axis: Floats, angle: float) -> Floats:
    """The rotation about a unit vector by an angle [rad]."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return exact(np.eye(3) + math.sin(angle) * skew + (1.0 - math.cos(angle)) * (skew @ skew))


def exact(matrix: Floats) -> Floats:
    """A rotation matrix in which 0 and ±1 are exact where rounding alone stands beside them."""
    near = np.round(matrix)
    return np.where(np.abs(matrix - near) <= ROUNDING, near, matrix)


def straightened(tree: Tree) -> Tree:
    """The same robot with all frames parallel to the base's at zero, so that no fixed rotations are left.

    Axes that differ from one of the base's by rounding of the file's digits alone are put there, which is noted.
    """
    most = 0.0
    new = replace(tree, nodes=[])
    turns: list[Floats] = []
    for node in tree.nodes:
        joint = node.joint
        if joint is None:
            turns.append(np.eye(3))
            new.nodes.append(node)
            continue
        before = turns[node.parent]
        turn = exact(before @ joint.pose.turn)
        turns.append(turn)
        own = Pose(np.zeros(3), turn)
        pose = Pose(before @ joint.pose.place, np.eye(3))
        axis = turn @ joint.axis
        if (away := float(np.abs(axis - np.round(axis)).max())) < DIGITS:
            axis, most = np.round(axis), max(most, away)
        new.nodes.append(
            Node(
                node.parent,
                replace(joint, pose=pose, axis=axis / np.linalg.norm(axis)),
                node.inertial.placed(own),
                [FixedLink(frame.name, own @ frame.pose) for frame in node.frames],
                [at_pose(shape, own) for shape in node.shapes],
            )
        )
    if most > 10 * ROUNDING:
        new.notes.append(f"axes put straight, by {most:.1e} rad at most")
    return new


def turned_base(tree: Tree, turn: Floats) -> Tree:
    """The same robot with a base frame whose axes lie at `turn`, as columns, in the old one."""
    back = Pose(np.zeros(3), turn.T)
    base = tree.nodes[0]
    nodes = [Node(-1, None, base.inertial.placed(back), [FixedLink(f.name, back @ f.pose) for f in base.frames],
                  [at_pose(shape, back) for shape in base.shapes])]  # fmt: skip
    for node in tree.nodes[1:]:
        assert node.joint is not None
        joint = node.joint if node.parent else replace(node.joint, pose=back @ node.joint.pose)
        nodes.append(Node(node.parent, joint, node.inertial, node.frames, node.shapes))
    return replace(tree, nodes=nodes)


def exact_vector(x: Floats) -> Vector:
    """Three numbers as a description holds them, exact zeros where rounding alone is left."""
    scale = ROUNDING * float(np.abs(x).max(initial=0.0))
    a, b, c = (0.0 if abs(v) <= scale else float(v) for v in x)
    return a, b, c


def exact_matrix(x: Floats) -> Matrix:
    """A rotation as a description holds it."""
    if (x == np.eye(3)).all():
        return IDENTITY
    a, b, c = ((float(row[0]), float(row[1]), float(row[2])) for row in x + 0.0)
    return a, b, c
