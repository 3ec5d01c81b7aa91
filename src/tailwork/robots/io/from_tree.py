"""A robot from the tree of a file: its limbs, legs with feet, and where it stands."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError, RobotError
from tailwork.robots.io.names import limb_names, path_name
from tailwork.robots.io.stance import (
    ASSUMED_EXTENSION,
    PARALLEL,
    FoundFoot,
    chosen_posture,
    find_feet,
    tail_end,
)
from tailwork.robots.io.tree import (
    FileShape,
    Node,
    Tree,
    TreeJoint,
    exact_matrix,
    exact_vector,
    moved_by,
    straightened,
    turned_base,
)
from tailwork.robots.legs.offset_leg import OffsetLeg
from tailwork.robots.limb import Cable, ContactPoint, Foot, Hole, Joint, Limb, Motor, Tip
from tailwork.robots.robot import FreeLimb, Robot, Torso
from tailwork.robots.shapes import Shape
from tailwork.robots.springs import JointSpring, PointSpring
from tailwork.robots.tails.free import FreeTail
from tailwork.typing import Floats

FORWARDS = {"x": "x", "y": "y", "-x": "x", "-y": "y"}
BEND = 1.4
"""A knee that is bent, one way or the other [rad]."""
LEVEL = 0.01
"""Feet of a posture that differ less than this in height [m] are all put on the ground."""


@dataclass(frozen=True)
class Imported:
    """A robot from a file of another format, and what one needs to know about it."""

    robot: Robot  # of the file
    notes: tuple[str, ...]  # what was merged, dropped or assumed
    joints: Mapping[str, str]  # by the name of a joint in the file: "limb.joint" in the robot
    meshes: Mapping[str, tuple[FileShape, ...]]  # by "limb.joint" or "torso": meshes of its body, not opened
    posture: Mapping[str, float] = field(default_factory=dict)  # by "limb.joint": how it stands in the file [rad, m]


def from_tree(
    tree: Tree, feet: Sequence[str] | None = None, posture: str | Mapping[str, float] | None = None,
    forward: str = "x", foot_radius: float | None = None, tail: str | None = None,
) -> Imported:  # fmt: skip
    """The robot of a tree.

    Args:
        tree: of a file.
        feet: links that stand on the ground.
        posture: in which it stands: joint values [rad, m] by the names of the file, or the name of a posture there.
        forward: axis of the base that points forward: "x", "y", "-x" or "-y"; with the last two the base is turned.
        foot_radius: of the feet [m], where the file has no ball.
        tail: the link or the joint with which a tail begins; by default what is called a tail.

    Raises:
        RobotError: the tree is no possible robot, or does not say what is needed; the message says what to give.
    """
    if not isinstance(forward, str) or forward not in FORWARDS:
        raise RobotError("forward", forward, f"one of {', '.join(map(repr, FORWARDS))}")
    if foot_radius is not None and not (isinstance(foot_radius, (int, float)) and 0.0 <= foot_radius < math.inf):
        raise RobotError("foot_radius", foot_radius, "a finite number [m], not negative")
    if forward.startswith("-"):
        tree = turned_base(tree, np.diag([-1.0, -1.0, 1.0]))
        tree.notes.append("base frame turned by 180° about z, so that it faces forward")
    tree = straightened(_without_offsets(tree))
    base = tree.nodes[0].body(_shapes(tree.nodes[0])) if tree.nodes[0].inertial.mass else None
    if base is None:
        raise RobotError(
            f"link {tree.nodes[0].frames[0].name}", 0.0, "a mass of the base, with all that is fixed to it"
        )
    return _Assembly(tree, FORWARDS[forward], find_feet(tree, feet, foot_radius), posture, tail).imported(base)


def _without_offsets(tree: Tree) -> Tree:
    """The same robot with offsets of following joints in their frames: they follow by a ratio alone."""
    nodes = []
    for node in tree.nodes:
        joint = node.joint
        if joint is not None and joint.follows is not None and joint.follows[2] != 0.0:
            master, ratio, offset = joint.follows
            span = None if joint.range is None else (joint.range[0] - offset, joint.range[1] - offset)
            pose = joint.pose @ moved_by(joint, offset)
            joint = dataclasses.replace(joint, pose=pose, follows=(master, ratio, 0.0), range=span)
            node = dataclasses.replace(node, joint=joint)
        nodes.append(node)
    return dataclasses.replace(tree, nodes=nodes)


class _Assembly:
    """Puts the limbs of a tree together."""

    def __init__(
        self, tree: Tree, forward: str, feet: list[FoundFoot], posture: str | Mapping[str, float] | None,
        tail: str | None,
    ) -> None:  # fmt: skip
        self.tree, self.forward, self.feet = tree, forward, feet
        self.posture, self.said = chosen_posture(tree, feet, posture, forward)
        self.starts = tree.children(0)
        self.tail = self._tail_start(tail)
        self.limb_names, self.joint_names = limb_names(tree, self.starts, self.tail)
        self.masters = _masters(tree)
        self.either_way: list[str] = []  # knees of which neither posture nor range says which way they bend

    def _tail_start(self, given: str | None) -> int | None:
        """The first node of the tail, if there is one."""
        if given is not None and not isinstance(given, str):
            raise RobotError("tail", given, "the name of the link or the joint with which the tail begins")
        tree = self.tree
        called = {k: [tree.nodes[k].joint.name, *(f.name for f in tree.nodes[k].frames)] for k in self.starts}  # type: ignore[union-attr]
        for k, names in called.items():
            if given in names if given is not None else any("tail" in name.lower() for name in names):
                if any(foot.node in tree.subtree(k) for foot in self.feet):
                    continue
                return k
        if given is not None:
            offered = ", ".join(names[0] for names in called.values())
            raise RobotError("tail", given, f"a joint or a link on the base that carries no foot, of {offered}")
        return None

    def imported(self, base: Any) -> Imported:
        """The robot and its notes."""
        tree, poses = self.tree, self.tree.poses(self.posture)
        legs = {k: [foot for foot in self.feet if foot.node in tree.subtree(k)] for k in self.starts}
        parts: dict[str, Any] = {}
        for k in self.starts:
            foot = legs[k][0] if legs[k] else None
            place = np.zeros(3) if foot is None else poses[foot.node].point(foot.point)
            limb = self._limb(k, legs[k], place)
            parts[self.limb_names[k]] = self._part(k, limb, foot)
        parts, height = self._standing(parts)
        torso = Torso(mass=base.mass, com=base.com, inertia=base.inertia, shapes=base.shapes)
        robot = Robot(
            name=tree.name, torso=torso, parts=parts, gravity=tree.gravity, stand=(0.0, 0.0, height),
            forward=self.forward,
        )  # fmt: skip
        joints = {joint.name: self.joint_names[joint.name] for joint in tree.joints()}
        meshes = {}
        for node in tree.nodes:
            found = tuple(shape for shape in node.shapes if shape.kind == "mesh")
            if found:
                meshes["torso" if node.joint is None else joints[node.joint.name]] = found
        posture = {joints[name]: value for name, value in self.posture.items()}
        return Imported(robot, tuple(tree.notes), joints, meshes, posture)

    def _short(self, joint: TreeJoint | None) -> str | None:
        return None if joint is None else self.joint_names[joint.name].partition(".")[2]

    def _limb(self, start: int, feet: Sequence[FoundFoot], place: Floats) -> Limb:
        """A limb written out, in the torso frame; further feet are contact points."""
        tree = self.tree
        inside = [tree.nodes[k] for k in tree.subtree(start)]
        joints, springs, motors = [], [], []
        for k, node in zip(tree.subtree(start), inside, strict=True):
            joint = node.joint
            assert joint is not None
            name = str(self._short(joint))
            link = f"link {node.frames[0].name if node.frames else joint.name}"
            if node.inertial.mass == 0.0 and node.inertial.tensor.any():
                raise RobotError(link, 0.0, "a mass, as it has an inertia")
            body = node.body(_shapes(node))
            if body is None and not tree.children(k):
                raise RobotError(link, 0.0, f"a mass: it moves on {joint.name} and carries nothing that has one")
            joints.append(
                Joint(
                    name=name, axis=exact_vector(joint.axis), parent=self._short(tree.nodes[node.parent].joint),
                    offset=exact_vector(joint.pose.place), rotation=exact_matrix(joint.pose.turn), body=body,
                    armature=joint.armature, motion=joint.motion, range=joint.range, speed_limit=joint.speed,
                    friction=joint.friction,
                )
            )  # fmt: skip
            if joint.damping or joint.stiffness:
                springs.append(
                    JointSpring(joint=name, stiffness=joint.stiffness, rest=joint.rest, damping=joint.damping)
                )
            if joint.driven and joint.follows is None:
                motors.append(Motor(name=name, coordinate=name, limit=joint.effort))
        names = [joint.name for joint in joints]
        foot, contacts = None, []
        for k, found in enumerate(feet):
            holder = str(self._short(tree.nodes[found.node].joint))
            if k == 0:
                foot = Foot(
                    joint=holder, point=exact_vector(found.point), place=exact_vector(place), radius=found.radius
                )
            else:
                name = found.link.replace(".", "_")
                contacts.append(
                    ContactPoint(name=name, joint=holder, point=exact_vector(found.point), radius=found.radius)
                )
        if contacts:
            further = ", ".join(point.name for point in contacts)
            tree.notes.append(f"further contact points of {self.limb_names[start]} (one foot a limb): {further}")
        coordinates, gearing = self._gearing(inside, names)
        driven, between = self._tendons(start, names, coordinates or tuple(names), gearing)
        springs += between
        return Limb(
            joints=tuple(joints), coordinates=coordinates, gearing=gearing, actuators=(*motors, *driven),
            springs=tuple(springs), foot=foot, contacts=tuple(contacts),
        )  # fmt: skip

    def _tendons(
        self, start: int, names: Sequence[str], coordinates: Sequence[str], gearing: Any
    ) -> tuple[list[Motor | Cable], list[PointSpring]]:
        """Cables, motors on several joints, and springs between points, of the tendons that lie on a limb."""
        tree, limb = self.tree, self.limb_names[start]
        frames = {frame.name: (k, frame) for k, node in enumerate(tree.nodes) for frame in node.frames}
        actuators, springs = list[Motor | Cable](), list[PointSpring]()
        for tendon in tree.tendons:
            places = [frames[name] for name in tendon.points]
            weights = {self.joint_names[name]: weight for name, weight in tendon.weights.items()}
            carriers = (tree.nodes[k].joint for k, _ in places)
            on = [*weights, *(self.joint_names[joint.name] for joint in carriers if joint is not None)]
            touched = list(dict.fromkeys(name.partition(".")[0] for name in on))
            if touched[1:] and touched[0] == limb:
                tree.notes.append(f"tendon {tendon.name} lies on {' and '.join(touched)}, not on one limb: left out")
            if touched != [limb]:
                continue
            points = [(self._short(tree.nodes[k].joint), exact_vector(frame.pose.place)) for k, frame in places]
            short = path_name(tendon.actuator.removeprefix(f"{limb}.").removeprefix(f"{limb}_"))
            if tendon.stiffness and len(points) == 2:
                (first, one), (second, two) = points
                springs.append(PointSpring(first=first, first_point=one, second=second, second_point=two,
                                           stiffness=tendon.stiffness, rest_length=tendon.rest))  # fmt: skip
            elif tendon.stiffness:
                tree.notes.append(f"the spring of tendon {tendon.name} runs through several points: left out")
            if tendon.actuator and points and tendon.gain < 0.0:
                route = tuple(Hole(joint=joint, point=point) for joint, point in points)
                actuators.append(Cable(name=short, route=route, limit=tendon.limit * abs(tendon.gain)))
            elif tendon.actuator:
                own = np.array([weights.get(f"{limb}.{name}", 0.0) for name in names])
                felt = own if gearing is None else np.array(gearing).T @ own
                moved = np.flatnonzero(felt)
                if len(moved) != 1:
                    tree.notes.append(f"actuator {tendon.actuator} neither pulls nor moves one coordinate: left out")
                    continue
                column = int(moved[0])
                ratio = float(felt[column] * tendon.gain)
                motor = Motor(name=short, coordinate=coordinates[column], ratio=ratio, unit="N", limit=tendon.limit)
                actuators.append(motor)
        return actuators, springs

    def _gearing(self, nodes: Sequence[Node], names: Sequence[str]) -> tuple[tuple[str, ...], Any]:
        """Coordinates of a limb and the matrix that makes joint values of them; none where no joint follows another."""
        joints = [node.joint for node in nodes if node.joint is not None]
        if all(joint.follows is None for joint in joints):
            return (), None
        own = [joint.name for joint in joints if joint.follows is None]
        rows = []
        for joint in joints:
            master, ratio = self.masters[joint.name]
            if master not in own:
                required = "a joint of the same limb to follow; joints that follow another limb are not known"
                raise RobotError(f"joint {joint.name}", master, required)
            rows.append(tuple(ratio if name == master else 0.0 for name in own))
        coordinates = tuple(name for joint, name in zip(joints, names, strict=True) if joint.follows is None)
        self.tree.notes.append(f"joints that follow others by gears: {', '.join(j.name for j in joints if j.follows)}")
        return coordinates, tuple(rows)

    def _part(self, start: int, limb: Limb, foot: FoundFoot | None) -> Any:
        """The limb as a tail, a leg whose foot can be pinned, or as it is."""
        name = self.limb_names[start]
        if start == self.tail:
            return FreeTail.of_limb(self._with_end(start, limb), self.forward)
        if foot is None:
            return FreeLimb(limb=limb)
        limb = self._parallel(name, limb)
        files = [node.joint.name for node in map(self.tree.nodes.__getitem__, self.tree.subtree(start)) if node.joint]
        angles = tuple(float(self.posture.get(joint, 0.0)) for joint in files)
        try:
            return OffsetLeg.from_posture(limb, angles)
        except ArgumentError as error:
            if error.path == "angles":
                if (leg := self._bent_backward(limb, files[-1], angles)) is not None:
                    return leg
                shown = {joint: round(value, 4) for joint, value in zip(files, angles, strict=True)}
                raise RobotError("posture", shown, f"{error.required}{self._posture_remedy(*files[-2:])}") from None
            hinges = [limb.index(joint.parent) for joint in limb.joints]
            if len(hinges) < 3 or hinges != list(range(-1, len(hinges) - 1)) or limb.gearing is not None:
                reason = "three or more hinges in a row, not geared, can be"
                self.tree.notes.append(
                    f"{name} cannot be pinned by its foot ({reason}): it stands on ground that gives"
                )
            else:
                reason = f"no closed form ({error.required})"
                self.tree.notes.append(f"{name} has {reason}: pinned, its angles are part of the configuration")
            if limb.foot is not None and limb.gearing is None:
                limb = dataclasses.replace(limb, foot=dataclasses.replace(limb.foot, angles=angles))
            return FreeLimb(limb=limb)

    def _one_way(self, knee: str) -> bool:
        """Whether the range of a joint says which way it bends."""
        span = next(joint.range for joint in self.tree.joints() if joint.name == knee)
        return span is not None and abs(sum(span)) > PARALLEL

    def _bent_backward(self, limb: Limb, knee: str, angles: Sequence[float]) -> OffsetLeg | None:
        """The leg with its knee behind, where neither a posture nor a range says which way it bends."""
        if self.said or self._one_way(knee):
            return None
        hip, thigh, _ = limb.joints
        left = np.array((0.0, 1.0, 0.0) if self.forward == "x" else (-1.0, 0.0, 0.0))
        behind = -float(left @ np.array(hip.rotation) @ np.array(thigh.rotation) @ np.array(thigh.axis))
        for bend in (BEND, -BEND):
            try:
                leg = OffsetLeg.from_posture(limb, (*angles[:2], bend))
            except ArgumentError:
                return None
            if leg.knee * behind > PARALLEL:
                self.either_way.append(knee)
                return leg
        return None

    def _posture_remedy(self, thigh: str, knee: str) -> str:
        """How to say how a robot stands, and why the file does not: by the last joints of one of its legs, bent such
        that its foot stays about below its hip."""
        known = f"; the file has {', '.join(map(repr, self.tree.postures))}" if self.tree.postures else ""
        either = "" if self._one_way(knee) else f"; the range of {knee} is the same both ways"
        bent = {thigh: BEND / 2.0, knee: -BEND}
        said = f"{either}. Give posture={{{', '.join(f'{name!r}: {x:g}' for name, x in bent.items())}, …}} [rad], or "
        said += f"--posture {','.join(f'{name}={x:g}' for name, x in bent.items())},… of a command"
        return f"{said}, for thigh and knee of each leg{known}"

    def _with_end(self, start: int, limb: Limb) -> Limb:
        """The limb of the tail with a tip, so that it has a length."""
        end = tail_end(self.tree, start)
        if end is None:
            return limb
        node, point, known = end
        tip = Tip(joint=str(self._short(self.tree.nodes[node].joint)), point=exact_vector(point))
        away = float(np.linalg.norm(point))
        self.tree.notes.append(f"the tail ends {away:.3g} m from its last joint, {known}")
        return dataclasses.replace(limb, tip=tip)

    def _parallel(self, name: str, limb: Limb) -> Limb:
        """A leg of three hinges whose last two axes are parallel where the file's digits leave them nearly so."""
        if [limb.index(joint.parent) for joint in limb.joints] != [-1, 0, 1]:
            return limb
        second, third = np.array(limb.joints[1].axis), np.array(limb.joints[2].axis)
        away = float(np.linalg.norm(np.cross(second, third)))
        if not 1e-15 < away < PARALLEL:
            return limb
        if away > 1e-12:
            self.tree.notes.append(f"{name}: the last axis was turned by {away:.1e} rad, parallel to the one before")
        axis = exact_vector(second * np.sign(second @ third))
        return dataclasses.replace(limb, joints=(*limb.joints[:2], dataclasses.replace(limb.joints[2], axis=axis)))

    def _sideways(self, limb: Limb) -> bool:
        """Whether all hinges of a leg turn about the axis that points forward: then its foot goes aside alone."""
        ahead = "xyz".index(self.forward)
        return all(not joint.slides and abs(abs(joint.axis[ahead]) - 1.0) < PARALLEL for joint in limb.joints)

    def _standing(self, parts: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """The parts with their feet on the ground, and the height of the base above it [m]."""
        if not self.said and any(isinstance(part, OffsetLeg) for part in parts.values()):
            knees, either = "knees bend as in the middle of their ranges", ", ".join(self.either_way)
            if either:
                knees = f"knees point backward where their ranges are the same both ways ({either}; option posture)"
            self.tree.notes.append(
                f"no posture in the file: assumed that each foot stands below its second hinge, {ASSUMED_EXTENSION:g} "
                f"of thigh and shank away; {knees}"
            )
            parts = {name: _under_hip(part) for name, part in parts.items()}
        legs = [part.limb for part in parts.values() if isinstance(part, FreeLimb) and part.limb.foot]
        if not self.said and any(len(limb.joints) != 3 for limb in legs):
            bent = [limb for limb in legs if len(limb.joints) == 2 and limb.foot and any(limb.foot.angles)]
            how = "legs without a closed form stand straight, each joint at zero or in the middle of a range that zero "
            how += "is not in"
            if len(bent) == len(legs):
                how = f"assumed that feet stand below the first hinges, {ASSUMED_EXTENSION:g} of thigh and shank away, "
                how += "and that knees point backward"
            self.tree.notes.append(f"no posture in the file: {how} (option posture)")
        if legs and all(self._sideways(limb) for limb in legs):
            said = f"no hinge of the legs moves a foot along {self.forward}, which is taken to point forward"
            self.tree.notes.append(f"{said} (option forward)")
        feet = {name: limb.foot for name, part in parts.items() if (limb := _limb_of(part)).foot is not None}
        if not feet:
            return parts, 0.0
        lows = {name: foot.place[2] - foot.radius for name, foot in feet.items()}
        height, spread = -min(lows.values()), max(lows.values()) - min(lows.values())
        if spread > LEVEL:
            self.tree.notes.append(f"feet of the posture differ by {spread:.3g} m in height: left so")
        for name, foot in feet.items():
            x, y, z = foot.place
            level = foot.radius if spread <= LEVEL else z + height
            limb = _limb_of(parts[name])
            new = dataclasses.replace(limb, foot=dataclasses.replace(foot, place=(x, y, level)))
            parts[name] = dataclasses.replace(parts[name], limb=new)
        return parts, float(height)


def _limb_of(part: Any) -> Limb:
    return part.shape if isinstance(part, FreeTail) else part.limb


def _under_hip(part: Any) -> Any:
    """A leg with its foot below its second hinge at zero angle of the first."""
    if not isinstance(part, OffsetLeg):
        return part
    hip, thigh, shank = part.limb.joints
    foot = part.limb.foot
    assert foot is not None
    beyond = np.array(shank.offset) + np.array(foot.point)
    axis = np.array(thigh.axis)
    bars = sum(float(np.linalg.norm(v - (v @ axis) * axis)) for v in (np.array(shank.offset), np.array(foot.point)))
    place = np.array(hip.offset) + np.array(thigh.offset) + (beyond @ axis) * axis
    place = place - np.array([0.0, 0.0, ASSUMED_EXTENSION * bars])
    return dataclasses.replace(
        part, limb=dataclasses.replace(part.limb, foot=dataclasses.replace(foot, place=exact_vector(place)))
    )


def _masters(tree: Tree) -> dict[str, tuple[str, float]]:
    """By joint: the joint that it follows in the end, itself if none, and the ratio."""
    joints = {joint.name: joint for joint in tree.joints()}
    found: dict[str, tuple[str, float]] = {}
    for name in joints:
        master, ratio, seen = name, 1.0, [name]
        while (follows := joints[master].follows) is not None:
            if follows[0] not in joints:
                required = "a joint to follow that is there and not fixed"
                raise RobotError(f"joint {name}", follows[0], required)
            if follows[0] in seen:
                raise RobotError(f"joint {name}", follows[0], "joints that do not follow each other in a circle")
            if joints[follows[0]].motion != joints[master].motion:
                raise RobotError(f"joint {name}", follows[0], "a hinge that follows a hinge, or a slider a slider")
            master, ratio = follows[0], ratio * follows[1]
            seen.append(master)
        found[name] = (master, ratio)
    return found


def _shapes(node: Node) -> tuple[Shape, ...]:
    """What a node is drawn with: shapes for collisions, else visual ones."""
    return node.drawn("collision") or node.drawn("visual")
