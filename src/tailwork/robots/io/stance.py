"""Which links of a file are feet, and how the robot stands: what files say, what a caller says, and what is assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.errors import NOTHING, RobotError, UnknownNameError
from tailwork.robots.io.tree import Frame, Node, Seen, Tree
from tailwork.typing import Floats

FOOT_WORDS = ("foot", "feet", "toe", "sole")
STANDING = ("standing", "stand", "half_sitting", "home", "default")
"""Postures of files in which a robot may stand, the likeliest first."""
NEAR = 2.0
"""A ball whose centre is within this many radii of a foot's frame is the foot."""


@dataclass(frozen=True)
class FoundFoot:
    """A foot: the link that it is called by, and its point and radius [m] in the frame of a node."""

    link: str
    node: int
    point: Floats
    radius: float


def find_feet(tree: Tree, names: Sequence[str] | None, radius: float | None) -> list[FoundFoot]:
    """The feet of a robot: links by name; by default end effectors of the SRDF and links that are called feet, else
    links at the ends that touch by a ball.

    Raises:
        RobotError: an unknown name, or nothing by which to tell; it offers the links at the ends.
    """
    frames = {frame.name: (k, frame) for k, node in enumerate(tree.nodes) for frame in node.frames}
    ends = _links_at_ends(tree)
    if names is not None:
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise RobotError("feet", names, f"a list of links, of {', '.join(ends) or 'none at the ends'}")
        for name in names:
            if name not in frames:
                raise UnknownNameError.among("feet", name, dict.fromkeys((*ends, *frames)), "link of the file")
            if frames[name][0] == 0:
                raise RobotError("feet", name, f"a link that moves; this one is fixed to the base. At the ends: {ends}")
        chosen = list(dict.fromkeys(names))
    else:
        named = [name for name in frames if _is_foot(name)]
        chosen = [name for name in tree.end_effectors if name in named] or _outermost(tree, frames, named)
        chosen = chosen or _balls_at_ends(tree)
        if not chosen:
            offered = f"links that stand on the ground, feet=[…], of {', '.join(ends) or 'none'}; [] for no feet at all"
            raise RobotError("feet", NOTHING, offered)
    feet = [_with_ball(tree, *frames[name], radius) for name in chosen if frames[name][0]]
    points = [foot.link for foot in feet if foot.radius == 0.0]
    if points and radius is None:
        tree.notes.append(f"feet without a ball in the file, taken as points (option foot_radius): {', '.join(points)}")
    return feet


def _balls_at_ends(tree: Tree) -> list[str]:
    """Links at the ends that touch by a ball."""
    ends = [node for k, node in enumerate(tree.nodes) if k and not tree.children(k)]
    return [_farthest(balls).link for node in ends if (balls := _balls(node))]


def _farthest(balls: Sequence[Seen]) -> Seen:
    return max(balls, key=lambda ball: float(np.linalg.norm(ball.pose.place)))


def _is_foot(name: str) -> bool:
    return any(word in name.lower() for word in FOOT_WORDS)


def _outermost(tree: Tree, frames: Mapping[str, tuple[int, Frame]], names: Sequence[str]) -> list[str]:
    """Of links that are called feet: one a node, the last of the file, on nodes that carry no other of them."""
    by_node: dict[int, str] = {}
    for name in names:
        by_node[frames[name][0]] = name
    return [name for k, name in sorted(by_node.items()) if k and not set(tree.subtree(k)[1:]) & set(by_node)]


def _links_at_ends(tree: Tree) -> list[str]:
    """The last link of each node that carries no other."""
    return [node.frames[-1].name for k, node in enumerate(tree.nodes) if k and not tree.children(k) and node.frames]


def _balls(node: Node) -> list[Seen]:
    return [shape for shape in node.shapes if shape.kind == "sphere" and shape.role == "collision"]


def _with_ball(tree: Tree, k: int, frame: Frame, radius: float | None) -> FoundFoot:
    """A foot at the centre of its ball: one near its frame, or the farthest of its link; else at the frame."""
    balls = _balls(tree.nodes[k])
    away = [float(np.linalg.norm(ball.pose.place - frame.pose.place)) for ball in balls]
    near = [ball for ball, d in zip(balls, away, strict=True) if d <= NEAR * ball.size[0] and d == min(away)]
    ball = next(iter(near or ([_farthest(own)] if (own := [b for b in balls if b.link == frame.name]) else [])), None)
    if ball is None:
        return FoundFoot(frame.name, k, frame.pose.place, radius or 0.0)
    apart = float(np.linalg.norm(ball.pose.place - frame.pose.place))
    if near and apart > 1e-6:
        tree.notes.append(f"foot {frame.name}: taken at the centre of its ball, {apart:.3g} m from its frame")
    return FoundFoot(frame.name, k, ball.pose.place, ball.size[0] if radius is None else radius)


def chosen_posture(
    tree: Tree, feet: Sequence[FoundFoot], given: str | Mapping[str, float] | None
) -> tuple[dict[str, float], bool]:
    """Joint values of the robot when it stands, by the names of the file, and whether anybody said so.

    Raises:
        RobotError: an unknown posture or joint, or feet above their hips.
    """
    known = [joint.name for joint in tree.joints()]
    if isinstance(given, str):
        if given not in tree.postures:
            raise UnknownNameError.among("posture", given, tree.postures, "posture of the file")
        _check_below(tree, feet, tree.postures[given], given)
        return tree.postures[given], True
    if given is not None:
        if not isinstance(given, Mapping):
            raise RobotError("posture", given, "joint values by name, such as {'FL_hip_joint': 0.0}, or a name")
        for name, value in given.items():
            if name not in known:
                raise UnknownNameError.among("posture", str(name), known, "joint of the file")
            if not isinstance(value, (int, float)) or not np.isfinite(value):
                raise RobotError(f"posture.{name}", value, "a finite number [rad, or m of a slider]")
        posture = {name: float(value) for name, value in given.items()}
        _check_below(tree, feet, posture, posture)
        return posture, True
    names = sorted(tree.postures, key=lambda name: STANDING.index(name.lower()) if name.lower() in STANDING else 99)
    for name in names:
        if name.lower() not in STANDING:
            continue
        try:
            _check_below(tree, feet, tree.postures[name], name)
        except RobotError as error:
            tree.notes.append(f"posture {name!r} of the file is none to stand in: {error.required}")
            continue
        tree.notes.append(f"stands in the posture {name!r} of the file")
        return tree.postures[name], True
    return {j.name: sum(j.range) / 2.0 for j in tree.joints() if j.range is not None and j.follows is None}, False


def _check_below(tree: Tree, feet: Sequence[FoundFoot], posture: Mapping[str, float], shown: object) -> None:
    poses = tree.poses(posture)
    for foot in feet:
        hip = foot.node
        while tree.nodes[hip].parent:
            hip = tree.nodes[hip].parent
        above = float(poses[foot.node].point(foot.point)[2] - poses[hip].place[2])
        if above > 0.0:
            reason = f"{foot.link} is {above:.3g} m above its hip"
            raise RobotError("posture", shown, f"a posture with every foot below its hip, z up; here {reason}")
