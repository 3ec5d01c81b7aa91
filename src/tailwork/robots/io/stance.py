"""Which links of a file are feet, how the robot stands, and where its tail ends: what files say, what a caller says,
and what is assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.errors import NOTHING, ArgumentError, RobotError, UnknownNameError
from tailwork.robots.io.names import name_words
from tailwork.robots.io.tree import FileShape, FixedLink, Node, Tree
from tailwork.typing import Floats

FOOT_WORDS = ("foot", "feet", "toe", "sole")
STANDING = ("standing", "stand", "half_sitting", "home", "default")
"""Postures of files in which a robot may stand, the likeliest first."""
NEAR = 2.0
"""A ball whose centre is within this many radii of a foot's frame is the foot."""
ASSUMED_EXTENSION = 0.75
"""Of legs whose posture nobody said: how far the foot is from the hinge of the thigh, as a share of the two bars."""
PARALLEL = 1e-4
"""Axes that differ less than this [rad] are parallel, and bars shorter than this [m] none."""

END_WORDS = {"tip", "end"}
"""In names of frames that are the end of a tail."""
LEAST = 1e-6
"""A centre of mass that is nearer to its joint than this [m] points nowhere."""


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
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
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
    feet = [foot for name in chosen if frames[name][0] for foot in _with_balls(tree, *frames[name], radius)]
    points = [foot.link for foot in feet if foot.radius == 0.0]
    if points and radius is None:
        tree.notes.append(f"feet without a ball in the file, taken as points (option foot_radius): {', '.join(points)}")
    return feet


def _balls_at_ends(tree: Tree) -> list[str]:
    """Links at the ends that touch by a ball."""
    ends = [node for k, node in enumerate(tree.nodes) if k and not tree.children(k)]
    return [_farthest(balls).link for node in ends if (balls := _balls(node))]


def _farthest(balls: Sequence[FileShape]) -> FileShape:
    return max(balls, key=lambda ball: float(np.linalg.norm(ball.pose.place)))


def _is_foot(name: str) -> bool:
    return any(word in name.lower() for word in FOOT_WORDS)


def _outermost(tree: Tree, frames: Mapping[str, tuple[int, FixedLink]], names: Sequence[str]) -> list[str]:
    """Of links that are called feet: one a node, the last of the file, on nodes that carry no other of them."""
    by_node: dict[int, str] = {}
    for name in names:
        by_node[frames[name][0]] = name
    return [name for k, name in sorted(by_node.items()) if k and not set(tree.subtree(k)[1:]) & set(by_node)]


def _links_at_ends(tree: Tree) -> list[str]:
    """The last link of each node that carries no other."""
    return [node.frames[-1].name for k, node in enumerate(tree.nodes) if k and not tree.children(k) and node.frames]


def _balls(node: Node) -> list[FileShape]:
    return [shape for shape in node.shapes if shape.kind == "sphere" and shape.role == "collision"]


def _with_balls(tree: Tree, k: int, frame: FixedLink, radius: float | None) -> list[FoundFoot]:
    """A foot at the centre of its ball: one near its frame, or the farthest of its link; else at the frame. Further
    balls of its link, such as the corners of a sole, are further feet."""
    balls = _balls(tree.nodes[k])
    own = [ball for ball in balls if ball.link == frame.name]
    away = [float(np.linalg.norm(ball.pose.place - frame.pose.place)) for ball in balls]
    near = [ball for ball, d in zip(balls, away, strict=True) if d <= NEAR * ball.size[0] and d == min(away)]
    ball = next(iter(near or ([_farthest(own)] if own else [])), None)
    if ball is None:
        return [FoundFoot(frame.name, k, frame.pose.place, radius or 0.0)]
    apart = float(np.linalg.norm(ball.pose.place - frame.pose.place))
    if near and apart > 1e-6:
        tree.notes.append(f"foot {frame.name}: taken at the centre of its ball, {apart:.3g} m from its frame")
    found = [ball, *(other for other in own if other is not ball)]
    names = [frame.name, *(f"{frame.name}_{number}" for number in range(2, len(found) + 1))]
    radii = [one.size[0] if radius is None else radius for one in found]
    return [FoundFoot(name, k, one.pose.place, r) for name, one, r in zip(names, found, radii, strict=True)]


def chosen_posture(
    tree: Tree, feet: Sequence[FoundFoot], given: str | Mapping[str, float] | None, forward: str
) -> tuple[dict[str, float], bool]:
    """Joint values of the robot when it stands, by the names of the file, and whether anybody said so.

    Where nobody did, legs of hip, thigh and shank have their knees in the middle of their ranges, legs of two hinges
    are bent (see `bent_angles`), and all other joints are at zero or in the middle of a range that zero is not in.

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
        except ArgumentError as error:
            tree.notes.append(f"posture {name!r} of the file is none to stand in: {error.required}")
            continue
        tree.notes.append(f"stands in the posture {name!r} of the file")
        return tree.postures[name], True
    posture = {}
    for start in tree.children(0):
        inside = tree.subtree(start)
        bent = len(inside) == 3 and any(foot.node in inside for foot in feet)  # hip, thigh and shank: knees bend so
        for joint in (tree.nodes[k].joint for k in inside):
            if joint is not None and joint.range is not None and joint.follows is None:
                low, high = joint.range
                posture[joint.name] = 0.0 if low <= 0.0 <= high and not bent else (low + high) / 2.0
        if len(inside) == 2:
            own = (foot.point for foot in feet if foot.node == inside[1])
            posture |= next((bent_angles(tree, inside, point, forward) for point in own), {})
    return posture, False


def bent_angles(tree: Tree, nodes: Sequence[int], foot: Floats, forward: str) -> dict[str, float]:
    """Angles [rad] of two parallel hinges, a thigh and a shank, whose foot is `ASSUMED_EXTENSION` of the two below the
    first; the knee points backward where its range allows that. None where such a leg cannot stand so."""
    first, second = (joint for k in nodes if (joint := tree.nodes[k].joint) is not None)
    axis = first.axis
    flat = np.eye(3) - np.outer(axis, axis)
    bars, down = (flat @ second.pose.place, flat @ foot), flat @ np.array([0.0, 0.0, -1.0])
    one, two = (float(np.linalg.norm(bar)) for bar in bars)
    parallel = abs(abs(float(second.axis @ axis)) - 1.0) < PARALLEL and first.motion == second.motion == "hinge"
    if not parallel or second.follows or min(one, two) < PARALLEL or np.linalg.norm(down) < 0.5:
        return {}
    away = ASSUMED_EXTENSION * (one + two)
    cosines = ((one**2 + away**2 - two**2) / (2.0 * one * away), (two**2 + away**2 - one**2) / (2.0 * two * away))
    if max(map(abs, cosines)) > 1.0:
        return {}
    down = down / np.linalg.norm(down)
    side = np.cross(axis, down)  # where a positive angle turns what hangs down
    still = [float(np.arctan2(bar @ side, bar @ down)) for bar in bars]
    thigh, shank = np.arccos(cosines)
    backward = -1.0 if side["xy".index(forward)] > 0.0 else 1.0
    for sign in (backward, -backward):
        one_angle = sign * thigh - still[0]
        values = (one_angle, (-sign * shank - still[1] - one_angle) * float(np.sign(second.axis @ axis)))
        wound = [(x + np.pi) % (2.0 * np.pi) - np.pi for x in values]
        spans = (joint.range or (-np.inf, np.inf) for joint in (first, second))
        if all(low <= x <= high for x, (low, high) in zip(wound, spans, strict=True)):
            return {first.name: float(wound[0]), second.name: float(wound[1])}
    return {}


def _check_below(tree: Tree, feet: Sequence[FoundFoot], posture: Mapping[str, float], shown: object) -> None:
    poses = tree.poses(posture)
    for foot in feet:
        hip = foot.node
        while tree.nodes[hip].parent:
            hip = tree.nodes[hip].parent
        above = float(poses[foot.node].point(foot.point)[2] - poses[hip].place[2])
        if above > 0.0:
            reason = f"{foot.link} is {above:.3g} m above its hip"
            turned = [name for name, value in posture.items() if abs(value) > 2.0 * np.pi]
            hint = f". Hinges are in rad: are values such as {posture[turned[0]]:g} in degrees?" if turned else ""
            raise RobotError("posture", shown, f"a posture with every foot below its hip, z up; here {reason}{hint}")


def tail_end(tree: Tree, start: int) -> tuple[int, Floats, str] | None:
    """The end of the tail that begins with a node: a node, the point in its frame [m], and by what it is known.

    That is a frame of the last body which is called a tip or an end. Else it lies in the direction of that body's
    centre of mass: where the frames and the shapes on the body end, or, if none goes beyond the centre of mass, where a
    uniform bar of its mass and inertia would. None: the body is balanced about its joint.
    """
    poses = tree.poses({})
    ends = [k for k in tree.subtree(start) if not tree.children(k)]
    last = max(ends, key=lambda k: float(np.linalg.norm(poses[k].place - poses[start].place)))
    node = tree.nodes[last]
    for frame in node.frames:
        if not END_WORDS.isdisjoint(word.lower() for word in name_words(frame.name)):
            return last, frame.pose.place, f"at {frame.name}"
    center = float(np.linalg.norm(node.inertial.com))
    if center < LEAST:
        return None
    along = node.inertial.com / center
    reach, known = _shown(node, along), "as far as its frames and shapes reach"
    if reach <= center:
        across = float(np.linalg.eigvalsh(node.inertial.tensor)[-1])
        reach = center + float(np.sqrt(3.0 * across / node.inertial.mass))
        known = "where a uniform bar of the last body's mass and inertia does"
    return last, reach * along, known


def _shown(node: Node, along: Floats) -> float:
    """How far the frames and the shapes of a body reach along a unit vector [m]."""
    frames = [float(along @ frame.pose.place) for frame in node.frames]
    shapes = [shape for role in ("collision", "visual") for shape in node.drawn(role)]
    return max([*frames, *(float(along @ shape.place) + shape.reach(along.tolist()) for shape in shapes)], default=0.0)
