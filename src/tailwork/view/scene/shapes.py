"""The shapes of a robot: those that its bodies have, else boxes, bars and balls from its own dimensions, on the frames
of its joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cbrt, pi, sqrt

import numpy as np

from tailwork.mechanics.torso import gearing_of
from tailwork.robots import PlateTorso, Robot
from tailwork.robots.legs.insect import InsectLeg
from tailwork.robots.limb import Cable, Limb, Motor
from tailwork.robots.shapes import Shape
from tailwork.robots.springs import PointSpring
from tailwork.typing import Floats
from tailwork.view.scene.colors import CABLE, FOOT, FRONT, JOINT, LEG, SPRING, TORSO, lit
from tailwork.view.scene.scene import Ball, Bar, Box, SceneShape, Solid, Surface, Thread, Triple, extent_of, point_of

LEAST_THICKNESS = 0.09
"""Least height of the drawn torso as a share of its longest side: a plate should be seen from the side, too."""
FRONT_SHARE = 0.1  # of the torso's length: its front end has another colour
THICKNESS = 0.038  # radius of a limb whose description has none, at its start, as a share of the torso's longest side
LEG_TAPER, TAIL_TAPER = 0.75, 0.34  # radius at the end of such a limb as a share of that at its start
BRIGHTEST = 0.86  # of a colour that a robot file gives
STEEL = 7850.0  # density of the ball that stands for a point mass [kg/m^3]
ORIGIN: Triple = (0.0, 0.0, 0.0)


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

    def add(self, frame: int, shape: SceneShape, color: str, role: str) -> None:
        """A solid on a frame."""
        self.solids.append(Solid(frame, shape, color, role))


def drawn(robot: Robot, tail_color: str) -> Drawn:
    """All shapes of a robot. Limbs without a foot are drawn as tails, by what they are made of: discs that cables run
    through, drums with pulleys, or tapering bars."""
    own = [as_seen(shape) for shape in robot.torso_body().shapes]
    lower, upper = extent_of(own) if own else torso_box(robot)
    result = Drawn(tail_color, THICKNESS * float((upper - lower).max()))
    for shape, given in zip(own, robot.torso_body().shapes, strict=True):
        result.add(0, shape, _color(given, TORSO), "torso")
    if not own:
        _draw_torso(result, robot, lower, upper)
    for part_name, part in robot.parts.items():
        for name, limb in part.limbs(part_name).items():
            size = result.thickness
            if any(joint.body is not None and joint.body.shapes for joint in limb.joints):
                _draw_shapes(result, name, limb)
            elif isinstance(part, InsectLeg):
                _draw_insect_leg(result, name, part)
            elif limb.foot is not None:
                _draw_bars(result, name, limb, "leg", LEG, LEG_TAPER)
            elif any(isinstance(actuator, Cable) for actuator in limb.actuators):
                size = _draw_discs(result, name, limb)
            elif _pulley_radius(limb) > 0.0:
                _draw_drums(result, name, limb)
            else:
                _draw_bars(result, name, limb, "tail", tail_color, TAIL_TAPER)
            tip_mass = float(getattr(part, "tip_mass", 0.0))
            if tip_mass > 0.0 and limb.tip is not None:
                radius = max(ball_radius(tip_mass), TAIL_TAPER * result.thickness)
                frame = result.on(name, limb.tip.joint)
                result.add(frame, _ball(point_of(limb.tip.point), radius), lit(tail_color, -0.25), "tail")
            _draw_threads(result, name, limb, size)
    return result


def as_seen(shape: Shape) -> SceneShape:
    """A shape of a description on the frame of its body."""
    place, turn = np.array(shape.place), np.array(shape.rotation)
    if shape.kind == "mesh":
        vertices = tuple(point_of(x) for x in place + np.array(shape.vertices) @ turn.T)
        return Surface(vertices, tuple((a, b, c) for a, b, c in shape.faces))
    if shape.kind == "box":
        x, y, z = map(point_of, turn.T)
        return Box(point_of(place), point_of(shape.size), (x, y, z))
    if shape.kind == "sphere":
        return _ball(point_of(place), shape.size[0])
    radius, length = shape.size
    half = 0.5 * length * turn[:, 2]
    return Bar(point_of(place - half), point_of(place + half), radius, radius, rounded=shape.kind == "capsule")


def _color(shape: Shape, otherwise: str) -> str:
    """Its own, not so bright that it is lost on white paper."""
    if shape.color is None:
        return otherwise
    return "#" + "".join(f"{round(255.0 * min(x, BRIGHTEST)):02x}" for x in shape.color)


def _draw_shapes(result: Drawn, name: str, limb: Limb) -> None:
    """The shapes of the bodies; a ball about the foot is the foot."""
    role, color = ("leg", LEG) if limb.foot is not None else ("tail", result.tail_color)
    for joint in limb.joints:
        for shape in joint.body.shapes if joint.body is not None else ():
            seen, at_foot = as_seen(shape), False
            if isinstance(seen, Ball) and limb.foot is not None and limb.foot.joint == joint.name:
                at_foot = bool(np.linalg.norm(np.subtract(seen.center, limb.foot.point)) < seen.radii[0])
            own = (FOOT, "foot") if at_foot else (_color(shape, color), role)
            result.add(result.on(name, joint.name), seen, *own)


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
        legs = [limb for limb in robot.limbs().values() if limb.foot is not None]
        hips = [joint.offset for limb in legs for joint in limb.joints if joint.parent is None]
        corners = np.array([*hips, com - half, com + half], dtype=float)
        lower, upper = corners.min(axis=0), corners.max(axis=0)
    missing = LEAST_THICKNESS * float((upper - lower).max()) - float(upper[2] - lower[2])
    more = np.array([0.0, 0.0, max(missing, 0.0) / 2.0])
    return lower - more, upper + more


def _draw_torso(result: Drawn, robot: Robot, lower: Floats, upper: Floats) -> None:
    """The box, its front end as a second one."""
    axis = "xy".index(robot.forward)
    split = upper[axis] - FRONT_SHARE * (upper - lower)[axis]
    back, front = upper.copy(), lower.copy()
    back[axis] = front[axis] = split
    for low, high, color, role in ((lower, back, TORSO, "torso"), (front, upper, FRONT, "front")):
        result.add(0, Box(point_of((low + high) / 2.0), point_of(high - low)), color, role)


def _draw_bars(result: Drawn, name: str, limb: Limb, role: str, color: str, taper: float) -> None:
    """Bars from each joint to those it carries, to the foot and to the tip; balls on the hinges of a leg.

    Where a limb ends without foot and tip, its last bar leads to its centre of mass.
    """
    bars = [(joint.parent, point_of(joint.offset)) for joint in limb.joints
            if joint.parent is not None and any(joint.offset)]  # fmt: skip
    ends = [end for end in (limb.foot, limb.tip) if end is not None]
    bars += [(end.joint, point_of(end.point)) for end in ends if any(end.point)]
    carrying = {joint.parent for joint in limb.joints} | {end.joint for end in ends}
    bars += [(joint.name, point_of(joint.body.com)) for joint in limb.joints
             if joint.name not in carrying and joint.body is not None and any(joint.body.com)]  # fmt: skip
    radii = result.thickness * np.linspace(1.0, taper, len(bars) + 1)
    for k, (joint, end) in enumerate(bars):
        first, second, frame = float(radii[k]), float(radii[k + 1]), result.on(name, joint)
        shade = color if role == "leg" or k % 2 == 0 else lit(color, 0.12)
        result.add(frame, Bar(ORIGIN, end, first, second), shade, role)
        if role == "leg":
            result.add(frame, _ball(ORIGIN, 1.15 * first), JOINT, "joint")
    if limb.foot is not None:
        foot = _ball(point_of(limb.foot.point), 1.2 * taper * result.thickness)
        result.add(result.on(name, limb.foot.joint), foot, FOOT, "foot")


def _draw_insect_leg(result: Drawn, name: str, part: InsectLeg) -> None:
    """An ellipsoid for the coxa, rods for femur and tibia."""
    coxa, radius = float(part.coxa_length), float(part.rod_radius)
    radii = (coxa / 2.0, float(part.coxa_height), float(part.coxa_width))
    result.add(result.on(name, "alpha"), Ball((coxa / 2.0, 0.0, 0.0), radii), LEG, "leg")
    for joint, length in (("femur", float(part.femur_length)), ("tibia", float(part.tibia_length))):
        frame, end = result.on(name, joint), (length, 0.0, 0.0)
        result.add(frame, Bar(ORIGIN, end, radius, radius), LEG, "leg")
        result.add(frame, _ball(ORIGIN, 1.15 * radius), JOINT, "joint")
        if joint == "tibia":
            result.add(frame, _ball(end, 1.25 * radius), FOOT, "foot")


def _links(limb: Limb) -> list[tuple[str, Floats]]:
    """Joints with a body, and where each link ends in the frame of its joint [m]: at the next joint, or at the tip."""
    ends = {joint.parent: joint.offset for joint in reversed(limb.joints)}
    if limb.tip is not None:
        ends.setdefault(limb.tip.joint, limb.tip.point)
    return [(joint.name, np.array(ends.get(joint.name, ORIGIN), dtype=float))
            for joint in limb.joints if joint.body is not None]  # fmt: skip


def _pulley_radius(limb: Limb) -> float:
    """Radius of the pulleys on which cables drive coordinates of a limb [m]: their arm, spread over the joints."""
    turned = np.abs(np.array(gearing_of(limb), dtype=float)).sum(axis=0)
    radii = [float(motor.ratio) / turned[limb.coordinates.index(motor.coordinate)] for motor in limb.actuators
             if isinstance(motor, Motor) and motor.unit == "N"]  # fmt: skip
    return float(max(map(abs, radii), default=0.0))


def _draw_drums(result: Drawn, name: str, limb: Limb) -> None:
    """A drum for each link, as wide as its pulleys; segments and neighbours differ in shade."""
    radius, gearing = _pulley_radius(limb), np.array(gearing_of(limb), dtype=float)
    joints = [joint.name for joint in limb.joints]
    segments: list[int] = []  # coordinates that bend the links, in order
    for k, (joint, end) in enumerate(_links(limb)):
        frame, coordinate = result.on(name, joint), int(np.abs(gearing[joints.index(joint)]).argmax())
        if not end.any():
            result.add(frame, _ball(ORIGIN, 1.1 * radius), lit(result.tail_color, -0.35), "tail")
            continue
        if coordinate not in segments:
            segments.append(coordinate)
        shade = lit(result.tail_color, (0.16 if k % 2 else 0.0) + 0.22 * (segments.index(coordinate) % 2))
        drum = Bar(point_of(0.06 * end), point_of(0.94 * end), radius, radius, rounded=False)
        result.add(frame, drum, shade, "tail")


def _draw_discs(result: Drawn, name: str, limb: Limb) -> float:
    """A backbone, and at the holes of each link the disc that the cables run through; the radius of the holes [m]."""
    links = _links(limb)
    routes = [actuator.route for actuator in limb.actuators if isinstance(actuator, Cable)]
    held = {k for k, (joint, _) in enumerate(links) if any(route[-1].joint == joint for route in routes)}
    radius = result.thickness
    for k, (joint, end) in enumerate(links):
        frame, shade = result.on(name, joint), lit(result.tail_color, 0.22 * (sum(last < k for last in held) % 2))
        holes = np.array([hole.point for route in routes for hole in route if hole.joint == joint], dtype=float)
        shares = holes.reshape(-1, 3) @ end / (float(end @ end) or 1.0)  # of the link's length
        if len(holes):
            radius = float(np.linalg.norm(holes - shares[:, None] * end, axis=1).max())
        result.add(frame, Bar(ORIGIN, point_of(end), 0.3 * radius, 0.3 * radius), lit(shade, -0.3), "tail")
        if len(holes):
            start, stop = (point_of(end * (shares.mean() + side)) for side in (-0.06, 0.06))
            result.add(frame, Bar(start, stop, 1.12 * radius, 1.12 * radius, rounded=False), shade, "tail")
    return radius


def _draw_threads(result: Drawn, name: str, limb: Limb, size: float) -> None:
    """Cables through their holes; springs between their points; as thick as suits a limb of that size [m]."""
    for actuator in limb.actuators:
        if isinstance(actuator, Cable):
            holes = tuple((result.on(name, hole.joint), point_of(hole.point)) for hole in actuator.route)
            result.threads.append(Thread("cable", f"{name}.{actuator.name}", holes, CABLE, 0.035 * size))
    for k, spring in enumerate(spring for spring in limb.springs if isinstance(spring, PointSpring)):
        ends = ((spring.first, spring.first_point), (spring.second, spring.second_point))
        points = tuple((result.on(name, joint), point_of(point)) for joint, point in ends)
        result.threads.append(Thread("spring", f"{name}.spring {k + 1}", points, SPRING, 0.12 * size))


def _ball(center: Triple, radius: float) -> Ball:
    return Ball(center, (radius, radius, radius))
