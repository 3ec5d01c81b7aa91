"""What a tail motion does to a robot in the air: the closed form for planar motion."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tailwork.control.tail_motion import TailMotion
from tailwork.model import Model
from tailwork.robots.limb import FORWARD_FRAMES
from tailwork.robots.robot import Robot, Torso
from tailwork.robots.tails.tail import Tail
from tailwork.simulation.simulate import initial_state
from tailwork.studies.scenario import Scenario
from tailwork.typing import Floats


@dataclass(frozen=True)
class PlanarBody:
    """A body and a rigid tail that turn in one plane about a common hinge.

    The angular momentum about the common centre of mass stays zero, so a tail that turns by theta against the body
    turns it back by the integral of (It + mr (lc² + d lc cos theta)) / (Ib + It + mr (lc² + d² + 2 d lc cos theta)),
    with mr = m mb/(m + mb) and d the distance from the body's centre of mass to the hinge, on the straight tail's
    line. For d = 0 this is theta (It + mr lc²)/(Ib + It + mr lc²).
    """

    body_mass: float  # mb [kg]
    body_inertia: float  # Ib, about its centre of mass [kg m²]
    tail_mass: float  # m [kg]
    tail_inertia: float  # It, about its centre of mass [kg m²]
    tail_center: float  # lc, from the hinge [m]
    hinge: float = 0.0  # d, from the body's centre of mass to the hinge, positive towards the tail [m]

    def rotation(self, start: float, end: float) -> float:
        """Turn of the body [rad] as the tail turns against it from one angle to another, within ±180° [rad]."""
        m, lc, d = self.tail_mass * self.body_mass / (self.tail_mass + self.body_mass), self.tail_center, self.hinge
        own = self.tail_inertia + m * lc * lc
        cross = m * d * lc
        whole = self.body_inertia + self.tail_inertia + m * (lc * lc + d * d)
        # (own + cross cos)/(whole + 2 cross cos) = 1/2 + (own − whole/2)/(whole + 2 cross cos)
        root = math.sqrt(whole * whole - 4.0 * cross * cross)

        def turned(angle: float) -> float:
            half = math.atan2((whole - 2.0 * cross) * math.sin(angle / 2), root * math.cos(angle / 2))
            return angle / 2 + (own - whole / 2) * 2.0 / root * half

        return -(turned(end) - turned(start))


def planar_rotation(robot: Robot, tail: str, motion: TailMotion) -> float | None:
    """The closed form for a robot whose pendulum tail yaws or pitches, its legs rigid [rad]; None for other motions.

    Exact for pitch of a robot that is the same on both sides, wherever its hinge lies; for yaw, what the hinge lies
    above the body's centre of mass is left out.
    """
    part: Tail = robot.part(tail)
    if part.universal_coordinates(0.0, 0.0) is None or any(part.mount_rotation) or motion.axis not in ("yaw", "pitch"):
        return None
    straight = replace(motion, start=(motion.start[0], 0.0))
    problem = Scenario(robot, straight, "airborne", drive="prescribed" if motion.from_rest else "auto").problem()
    system = problem.system()
    q = system.full(np.zeros(1), initial_state(problem, system)[None], np.zeros((1, system.control_inputs)))[0][0]
    frame = np.array(FORWARD_FRAMES[robot.forward])  # columns: right, forward and up
    axis = frame[:, 2 if motion.axis == "yaw" else 0]
    mass, center, inertia = _body(robot, tail, problem.model, q, axis)
    hinge = frame.T @ (np.array(problem.model.layout.limbs[tail].joints[0].offset, dtype=float) + q[:3] - center)
    height = float(hinge[2]) if motion.axis == "pitch" else 0.0
    body = PlanarBody(mass, inertia, *_bar(part), math.hypot(hinge[1], height))
    off = math.atan2(height, -float(hinge[1]))  # of the straight tail from the line through centre and hinge
    # A tail that turns to the right turns about +z, one that goes down about +x: the body turns the other way.
    done = float(motion.share.value(float(motion.duration)))
    turned = done * (motion.end[1] - motion.start[1])
    # alpha = 180° bends up, +90° to the left.
    sign = math.copysign(1.0, math.cos(motion.start[0]) if motion.axis == "pitch" else -math.sin(motion.start[0]))
    return body.rotation(off + sign * motion.start[1], off + sign * (motion.start[1] + turned))


def _bar(tail: Tail) -> tuple[float, float, float]:
    """Mass [kg], inertia about the centre of mass [kg m²] and distance of the centre of mass from the hinge [m]."""
    bodies = [joint.body for joint in tail.limb.joints if joint.body is not None]
    mass = float(tail.total_mass())
    center = sum(float(body.mass) * -float(body.com[1]) for body in bodies) / mass
    return mass, float(tail.inertia_about_mount()) - mass * center**2, center


def _body(robot: Robot, tail: str, model: Model, q: Floats, axis: Floats) -> tuple[float, Floats, float]:
    """Mass, centre and inertia about an axis through it of the torso with its rigid legs."""
    bare, torso = robot.without(tail), robot.torso_with_actuators()
    if torso != robot.torso_body():
        bare = replace(bare, torso=Torso(mass=torso.mass, com=torso.com, inertia=torso.inertia))
    legs = [name for name in bare.limbs() if name in model.layout.limbs]
    alone = Model(bare, "none", prescribed=legs)
    kept = [model.coordinate_names.index(name) for name in alone.coordinate_names]
    place = q[kept]
    still = np.zeros(len(alone.velocity_names))
    mass = float(alone.part_momenta(place, still).masses.sum())
    center = alone.center_of_mass(place)
    turning = still.copy()
    turning[3:6] = axis
    # Turning about its centre of mass: P moves, too.
    turning[:3] = np.cross(turning[3:6], place[:3] - center)
    return mass, center, float(alone.centroidal_momentum(place, turning).angular @ axis)
