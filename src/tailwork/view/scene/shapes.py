"""The shapes of a robot, from its own dimensions: boxes, bars and balls on the frames of its joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cbrt, pi, sqrt
from typing import Any

import numpy as np

from tailwork.robots import PlateTorso, Robot
from tailwork.robots.legs.insect import InsectLeg
from tailwork.robots.limb import Cable, Limb, PointSpring
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.typing import Floats
from tailwork.view.scene.colors import CABLE, FOOT, FRONT, JOINT, LEG, SPRING, TORSO, lit
from tailwork.view.scene.scene import Ball, Bar, Box, Point, Shape, Solid, Thread, point_of

LEAST_THICKNESS = 0.09
"""Least height of the drawn torso as a share of its longest side: a plate should be seen from the side, too."""
FRONT_SHARE = 0.1
"""Of the torso's length: its front end has another colour."""
THICKNESS = 0.038
"""Radius of a limb whose description has none, at its start, as a share of the torso's longest side."""
LEG_TAPER, TAIL_TAPER = 0.75, 0.34
"""Radius at the end of such a limb as a share of that at its start."""
STEEL = 7850.0
"""Density of the ball that stands for a point mass [kg/m^3]."""
ORIGIN: Point = (0.0, 0.0, 0.0)


@dataclass
class Drawn:
    """What has been drawn so far, and the frames it needs: "torso", then "limb.joint"."""

    tail_color: str
    thickness: float  # of limbs that have none [m]
    frames: list[str] = field(default_factory=lambda: ["torso"])
    solids: list[Solid] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)

    def on(self, limb: str, joint: str | None) -> int:
        """The number of a joint's frame; of the torso's for None."""
        name = "torso" if joint is None else f"{limb}.{joint}"
        if name not in self.frames:
            self.frames.append(name)
        return self.frames.index(name)

    def add(self, frame: int, shape: Shape, color: str, role: str) -> None:
        """A solid on a frame."""
        self.solids.append(Solid(frame, shape, color, role))


def drawn(robot: Robot, tail_color: str) -> Drawn:
    """All shapes of a robot."""
    lower, upper = torso_box(robot)
    result = Drawn(tail_color, THICKNESS * float((upper - lower).max()))
    _draw_torso(result, robot, lower, upper)
    for part_name, part in robot.parts.items():
        for name, limb in part.limbs(part_name).items():
            if limb.foot is not None:
                _draw_leg(result, name, limb, part)
            elif isinstance(part, R3):
                _draw_r3(result, name, limb, part)
            elif isinstance(part, Usrt):
                _draw_usrt(result, name, limb, part)
            else:
                _draw_bars(result, name, limb, "tail", tail_color, TAIL_TAPER)
            if isinstance(part, Pendulum) and part.tip_mass > 0 and limb.tip is not None:
                radius = max(ball_radius(float(part.tip_mass)), TAIL_TAPER * result.thickness)
                result.add(result.on(name, limb.tip.joint), Ball(point_of(limb.tip.point), _round(radius)),
                           lit(tail_color, -0.25), "tail")  # fmt: skip
            _draw_threads(result, name, limb, part)
    return result


def ball_radius(mass: float) -> float:
    """Radius of a steel ball of that mass [m]."""
    return cbrt(3.0 * mass / (4.0 * pi * STEEL))


def torso_box(robot: Robot) -> tuple[Floats, Floats]:
    """Lower and upper corner of the drawn torso in the torso frame [m].

    A plate has its own width and length. Another torso is the box of the same inertia, widened to reach the hips.
    """
    body = robot.torso_body()
    com = np.array(body.com, dtype=float)
    if isinstance(robot.torso, PlateTorso):
        sides = (float(robot.torso.width), float(robot.torso.length))
        half = np.array([*(sides if robot.forward == "y" else sides[::-1]), 0.0]) / 2.0
        lower, upper = com - half, com + half
    else:
        xx, yy, zz = (float(value) for value in body.inertia[:3])
        squares = (yy + zz - xx, xx + zz - yy, xx + yy - zz)
        half = np.array([sqrt(max(1.5 * square / float(body.mass), 0.0)) for square in squares])
        hips = _hips(robot)
        lower = np.minimum(com - half, hips.min(axis=0)) if len(hips) else com - half
        upper = np.maximum(com + half, hips.max(axis=0)) if len(hips) else com + half
    missing = LEAST_THICKNESS * float((upper - lower).max()) - float(upper[2] - lower[2])
    if missing > 0:
        more = np.array([0.0, 0.0, missing / 2.0])
        lower, upper = lower - more, upper + more
    return lower, upper


def _hips(robot: Robot) -> Floats:
    """Where the legs start, in the torso frame [m]."""
    legs = [limb for limb in robot.limbs().values() if limb.foot is not None]
    places = [joint.offset for limb in legs for joint in limb.joints if joint.parent is None]
    return np.array(places, dtype=float).reshape(-1, 3)


def _draw_torso(result: Drawn, robot: Robot, lower: Floats, upper: Floats) -> None:
    """The box, its front end as a second one."""
    axis = "xy".index(robot.forward)
    split = upper[axis] - FRONT_SHARE * (upper - lower)[axis]
    back, front = upper.copy(), lower.copy()
    back[axis] = front[axis] = split
    result.add(0, _box(lower, back), TORSO, "torso")
    result.add(0, _box(front, upper), FRONT, "front")


def _draw_leg(result: Drawn, name: str, limb: Limb, part: Any) -> None:
    if isinstance(part, InsectLeg):
        _draw_insect_leg(result, name, part)
    else:
        _draw_bars(result, name, limb, "leg", LEG, LEG_TAPER)


def _draw_bars(result: Drawn, name: str, limb: Limb, role: str, color: str, taper: float) -> None:
    """Bars from each joint to those it carries, to the foot and to the tip; balls on the hinges of a leg.

    Where a limb ends without foot and tip, its last bar leads to its centre of mass.
    """
    bars: list[tuple[str, Point]] = []
    for joint in limb.joints:
        if joint.parent is not None and any(joint.offset):
            bars.append((joint.parent, point_of(joint.offset)))
    ends = [end for end in (limb.foot, limb.tip) if end is not None]
    bars += [(end.joint, point_of(end.point)) for end in ends if any(end.point)]
    carrying = {joint.parent for joint in limb.joints} | {end.joint for end in ends}
    for joint in limb.joints:
        if joint.name not in carrying and joint.body is not None and any(joint.body.com):
            bars.append((joint.name, point_of(joint.body.com)))
    radii = result.thickness * np.linspace(1.0, taper, len(bars) + 1)
    for k, (joint, end) in enumerate(bars):
        first, second, frame = float(radii[k]), float(radii[k + 1]), result.on(name, joint)
        shade = color if role == "leg" or k % 2 == 0 else lit(color, 0.12)
        result.add(frame, Bar(ORIGIN, end, first, second), shade, role)
        if role == "leg":
            result.add(frame, Ball(ORIGIN, _round(1.15 * first)), JOINT, "joint")
    if limb.foot is not None:
        radius = 1.2 * taper * result.thickness
        result.add(result.on(name, limb.foot.joint), Ball(point_of(limb.foot.point), _round(radius)), FOOT, "foot")


def _draw_insect_leg(result: Drawn, name: str, part: InsectLeg) -> None:
    """An ellipsoid for the coxa, rods for femur and tibia."""
    coxa, radius = float(part.coxa_length), float(part.rod_radius)
    result.add(
        result.on(name, "alpha"),
        Ball((coxa / 2.0, 0.0, 0.0), (coxa / 2.0, float(part.coxa_height), float(part.coxa_width))),
        LEG,
        "leg",
    )
    for joint, length in (("femur", float(part.femur_length)), ("tibia", float(part.tibia_length))):
        frame, end = result.on(name, joint), (length, 0.0, 0.0)
        result.add(frame, Bar(ORIGIN, end, radius, radius), LEG, "leg")
        result.add(frame, Ball(ORIGIN, _round(1.15 * radius)), JOINT, "joint")
        if joint == "tibia":
            result.add(frame, Ball(end, _round(1.25 * radius)), FOOT, "foot")


def _draw_r3(result: Drawn, name: str, limb: Limb, part: R3) -> None:
    """A drum for each link, as wide as its pulleys; segments and neighbours differ in shade."""
    length, radius = float(part.link_length), float(part.cable_radius)
    result.add(result.on(name, "roll"), Ball(ORIGIN, _round(1.1 * radius)), lit(result.tail_color, -0.35), "tail")
    for k, joint in enumerate(limb.joints[1:]):
        shade = lit(result.tail_color, (0.0 if k % 2 else 0.16) + 0.22 * (k // part.links_per_segment % 2))
        drum = Bar((0.0, -0.06 * length, 0.0), (0.0, -0.94 * length, 0.0), radius, radius, rounded=False)
        result.add(result.on(name, joint.name), drum, shade, "tail")


def _draw_usrt(result: Drawn, name: str, limb: Limb, part: Usrt) -> None:
    """A backbone, and at the far end of each link the disc that the cables run through."""
    length, radius = float(part.link_length), float(part.hole_radius)
    hole = -length + radius * float(part.hole_height)
    half = 0.06 * length
    for k, joint in enumerate(joint for joint in limb.joints if joint.body is not None):
        frame = result.on(name, joint.name)
        shade = lit(result.tail_color, 0.22 * (k * part.segments // part.links % 2))
        result.add(frame, Bar(ORIGIN, (0.0, -length, 0.0), 0.3 * radius, 0.3 * radius), lit(shade, -0.3), "tail")
        disc = Bar((0.0, hole + half, 0.0), (0.0, hole - half, 0.0), 1.12 * radius, 1.12 * radius, rounded=False)
        result.add(frame, disc, shade, "tail")


def _draw_threads(result: Drawn, name: str, limb: Limb, part: Any) -> None:
    """Cables through their holes; springs between their points."""
    size = float(part.hole_radius) if isinstance(part, Usrt) else result.thickness
    for actuator in limb.actuators:
        if isinstance(actuator, Cable):
            holes = tuple((result.on(name, hole.joint), point_of(hole.point)) for hole in actuator.route)
            result.threads.append(Thread("cable", f"{name}.{actuator.name}", holes, CABLE, 0.035 * size))
    for k, spring in enumerate(spring for spring in limb.springs if isinstance(spring, PointSpring)):
        ends = ((spring.first, spring.first_point), (spring.second, spring.second_point))
        points = tuple((result.on(name, joint), point_of(point)) for joint, point in ends)
        result.threads.append(Thread("spring", f"{name}.spring {k + 1}", points, SPRING, 0.12 * size))


def _box(lower: Floats, upper: Floats) -> Box:
    return Box(point_of((lower + upper) / 2.0), point_of(upper - lower))


def _round(radius: float) -> Point:
    """The radii of a ball."""
    return (radius, radius, radius)
