"""Whether a robot can stand as it says: what is impossible about its posture, and what would mend it.

Everything is computed with plain numbers, so nothing is compiled for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import array
from tailwork.control.laws import least_norm
from tailwork.control.standing import standing_torques
from tailwork.errors import ArgumentError
from tailwork.mechanics.foot_solve import REACHED, solved_angles, way_length
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.inverse import actuation_matrix, generalised_force
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import center_of_mass
from tailwork.mechanics.torso import TorsoState, pinned_values, stance_leg, torso_state
from tailwork.model.summary import pinnable
from tailwork.robots.limb import Limb, Motor
from tailwork.robots.robot import Robot
from tailwork.robots.sizes import size_warnings, stand_remedy
from tailwork.robots.tails.tail import tails_of
from tailwork.typing import Floats

ROUNDING = 1e-9
"""Below this, lengths [m], angles [rad] and shares [1] are rounding errors."""


@dataclass(frozen=True)
class _Note:
    """Something impossible about one leg, foot or motor; notes with the same remedy are told as one."""

    subject: str
    text: str
    remedy: str


def posture_warnings(robot: Robot) -> list[str]:
    """What is impossible about the posture in which a robot says that it stands, each with what would mend it.

    Feet out of reach or below the ground z = 0, joints beyond their ranges, a centre of mass beyond the feet, feet that
    would have to pull under the smallest torques that balance the robot, and motors that these torques are too much
    for; of motors of other limbs, what they need to hold them. Legs whose feet cannot be pinned are left out. Before
    these, a torso and tails of a size that looks like a typing error.
    """
    if not isinstance(robot, Robot):
        raise ArgumentError("robot", robot, "a Robot, from tailwork.robots or tailwork.load")
    return [*size_warnings(robot), *_told(_notes(robot))]


def _told(notes: Sequence[_Note]) -> list[str]:
    """A line for each remedy: the first that it is for, and who else."""
    lines = []
    for remedy in dict.fromkeys(note.remedy for note in notes):
        first, *others = (note for note in notes if note.remedy == remedy)
        also = f" (and {', '.join(note.subject for note in others)})" if others else ""
        lines.append(f"{first.text}{also}; {remedy}")
    return lines


def _notes(robot: Robot) -> list[_Note]:
    legs = {name: robot.limbs()[name] for name in pinnable(robot)}
    found = [note for name, limb in legs.items() for note in _foot_notes(robot, name, limb)]
    if not legs:
        return _free_notes(robot)
    if found:
        return found
    layout = Layout(robot, tuple(legs), tuple(name for name in robot.limbs() if name not in legs))
    q = [*robot.stand, *[0.0] * (len(layout.coordinate_names) - 3)]
    torso = torso_state(layout, q, [0.0] * len(layout.velocity_names))
    for name in legs:
        leg = stance_leg(layout, torso, name)
        found += _range_notes(name, leg.limb, [float(angle) for angle in pinned_values(leg)])
    if float(robot.gravity) == 0.0:
        return found
    falls = _fall_notes(layout, q, list(legs))
    return found + (falls or _statics_notes(layout, q, torso))


def _free_notes(robot: Robot) -> list[_Note]:
    """Of a robot whose legs say how they stand (`Foot.angles`), on one point each: whether it falls."""
    limbs, feet = robot.limbs(), list(robot.feet())
    if not all(limbs[name].foot_angles and not limbs[name].contacts for name in feet) or float(robot.gravity) == 0.0:
        return []
    layout, stand, angles = Layout(robot, (), tuple(limbs)), np.array(robot.stand, dtype=float), dict[str, float]()
    for name in feet:
        limb, place = limbs[name], np.array(robot.feet()[name].place, dtype=float)
        start = np.array([limb.foot_angles[key] for key in limb.coordinates], dtype=float)
        own, missing = solved_angles(limb, place - stand, start)
        if missing > REACHED * way_length(limb):
            return [_far(robot, name, place)]
        angles |= {f"{name}.{key}": float(x) for key, x in zip(limb.coordinates, own, strict=True)}
    return _fall_notes(layout, [*robot.stand, *(angles.get(name, 0.0) for name in layout.coordinate_names[3:])], feet)


def _fall_notes(layout: Layout, q: Sequence[Scalar], legs: Sequence[str]) -> list[_Note]:
    """A centre of mass beyond the feet."""
    feet = np.array([layout.robot.feet()[name].place for name in legs], dtype=float)
    outside = _beyond(np.array(center_of_mass(layout, q), dtype=float)[:2], feet[:, :2])
    if not outside > ROUNDING:
        return []
    text = f"the centre of mass is {outside * 1e3:.3g} mm outside the feet: the robot falls"
    return [_Note("", text, "shift `stand` (where the torso is), move the feet, or put weight elsewhere")]


def _foot_notes(robot: Robot, name: str, limb: Limb) -> list[_Note]:
    """A foot out of reach, or below the ground."""
    assert limb.foot is not None and limb.closed_form is not None
    place = [float(x) for x in limb.foot.place]
    below = float(limb.foot.radius) - place[2]
    if below > ROUNDING:
        text = f"the foot of {name} is {below * 1e3:.3g} mm below the ground, z = 0"
        return [_Note(name, text, "raise `stand` (where the torso is) and the feet")]
    seen = (place[0] - float(robot.stand[0]), place[1] - float(robot.stand[1]), place[2] - float(robot.stand[2]))
    least, most = (float(x) for x in limb.closed_form.reach())
    extension = math.inf
    try:
        extension = float(limb.closed_form.extension(seen))
        limb.closed_form.angles(seen)
        if least <= extension <= most:
            return []
    except (ValueError, ZeroDivisionError):  # the root of a negative number: no angles reach the foot
        pass
    if extension <= least:
        text = f"the foot of {name}, at ({_place_text(place)}) m, is nearer to its hip than the leg can be"
        remedy = stand_remedy(robot) or "raise `stand` (where the torso is), or move the foot away"
        return [_Note(name, text, remedy)]
    return [_far(robot, name, place)]


def _far(robot: Robot, name: str, place: Sequence[float] | Floats) -> _Note:
    remedy = stand_remedy(robot) or "lower `stand` (where the torso is), or move the foot nearer to its hip"
    return _Note(name, f"the foot of {name}, at ({_place_text(place)}) m, is out of reach", remedy)


def _place_text(place: Sequence[float] | Floats) -> str:
    return ", ".join(f"{x:.3g}" for x in place)


def _range_notes(name: str, limb: Limb, angles: Sequence[float]) -> list[_Note]:
    found = []
    for joint, angle in zip(limb.joints, angles, strict=True):
        if joint.range is None:
            continue
        low, high = (float(x) for x in joint.range)
        turn = 2.0 * math.pi * round(((low + high) / 2.0 - angle) / (2.0 * math.pi))  # an angle is known up to turns
        if not low - ROUNDING <= angle + turn <= high + ROUNDING:
            least, most, own = (math.degrees(x) for x in (low, high, angle + turn))
            said = f"{name}.{joint.name} stands at {own:.1f}°, beyond its range of {least:.1f}° to {most:.1f}°"
            remedy = "raise or lower `stand` (where the torso is), move the foot, or bend the knee the other way"
            found.append(_Note(f"{name}.{joint.name}", said, remedy))
    return found


def _beyond(point: Floats, feet: Floats) -> float:
    """How far a point is outside the convex hull of others, level [m]; negative inside. Of two feet: their line."""
    best = -math.inf
    for k, a in enumerate(feet):
        for b in feet[k + 1 :]:
            along = b - a
            if np.linalg.norm(along) == 0.0:
                continue
            normal = np.array([along[1], -along[0]]) / np.linalg.norm(along)
            for outward in (normal, -normal):
                if ((feet - a) @ outward <= ROUNDING).all():  # an edge of the hull
                    best = max(best, float((point - a) @ outward))
    return best


def _statics_notes(layout: Layout, q: Sequence[float], torso: TorsoState) -> list[_Note]:
    """Feet that pull and motors that are too weak, under the smallest torques that balance the robot."""
    still = [0.0] * len(layout.velocity_names)
    force = [float(x) for x in generalised_force(layout, Inputs(q, still, ()), still)[:6]]
    actuation = np.array(actuation_matrix(layout, q)[:6], dtype=float)
    if np.linalg.matrix_rank(actuation) < 6:
        return [_Note("", "the motors of the legs cannot hold the torso", "give every hinge of a leg a motor")]
    torques = dict(zip(layout.actuator_names, map(float, least_norm(array(actuation.tolist()), force)), strict=True))
    found = []
    for name in layout.stance:
        joints = [joint.name for joint in layout.limbs[name].joints]
        motors = {motor.coordinate: motor for motor in layout.limbs[name].actuators if isinstance(motor, Motor)}
        given = [torques[f"{name}.{motors[joint].name}"] * float(motors[joint].ratio) if joint in motors else 0.0
                 for joint in joints]  # fmt: skip
        columns = [standing_torques(layout, torso, name, array(unit)) for unit in (*np.eye(3).tolist(), [0.0] * 3)]
        *by_force, none = (np.array([float(column[joint]) for joint in joints]) for column in columns)
        pushed = np.linalg.solve(np.stack(by_force, axis=1) - none[:, None], np.array(given) - none)
        if pushed[2] < -ROUNDING * max(1.0, float(np.abs(pushed).max())):
            text = f"the foot of {name} would have to pull by {-pushed[2]:.3g} N under the smallest torques"
            found.append(_Note(name, text, "shift `stand` (where the torso is) away from it, or move the feet"))
    named = {
        f"{name}.{motor.name}": motor
        for name in layout.stance for motor in layout.limbs[name].actuators if isinstance(motor, Motor)
    }  # fmt: skip
    remedy = "stand with straighter legs (raise `stand`), make the robot lighter, or take a stronger motor"
    found += _weak(torques, named, remedy)
    return found + _tail_notes(layout.robot)


def _tail_notes(robot: Robot) -> list[_Note]:
    """Motors of tails that cannot hold them straight."""
    found: list[_Note] = []
    for name, part in tails_of(robot).items():
        alone = Layout(replace(robot, parts={name: part}), (), (), torso="fixed")
        limb, q = alone.limbs[name], [0.0] * len(alone.coordinate_names)
        needed = dict(zip(limb.coordinates, generalised_force(alone, Inputs(q, q, ()), q), strict=True))
        motors = {f"{name}.{x.name}": x for x in limb.actuators if isinstance(x, Motor)}
        torques = {full: float(needed[x.coordinate]) / float(x.ratio) for full, x in motors.items()}
        found += _weak(torques, motors, "make the tail lighter or shorter, or take a stronger motor")
    return found


def _weak(torques: dict[str, float], motors: dict[str, Motor], remedy: str) -> list[_Note]:
    found = []
    for name, motor in motors.items():
        limit, needed = float(motor.limit), abs(torques[name])
        if 0.0 < limit < needed * (1.0 - ROUNDING):
            text = f"{name} needs {needed:.3g} {motor.unit or 'N m'} at rest and can give {limit:.3g}"
            found.append(_Note(name, text, remedy))
    return found
