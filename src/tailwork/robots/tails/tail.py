"""The tail protocol: what makes a part of a robot a tail, in every study, sweep, design and picture.

An own tail is a frozen dataclass that derives from `Tail` and builds its limb. Everything else has a default that works
from the limb itself; the tails of the papers replace some of them by closed forms.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, Field, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tailwork.algebra.expression import Scalar, arctan2, cos, is_zero, sin, sqrt
from tailwork.algebra.vectors import (
    Array,
    array,
    cross,
    dot,
    rotation,
    symmetric_matrix,
    times,
    vector_length,
    zeros,
)
from tailwork.errors import ArgumentError, RobotError
from tailwork.robots.air import TailDrag
from tailwork.robots.limb import FORWARD_FRAMES, Cable, Limb, Motor, as_matrix, placed
from tailwork.robots.paths import PUTS_ON
from tailwork.robots.quantities import Kind, Matrix, RobotPart, Vector, all_numbers, nonnegative, vector
from tailwork.typing import Floats

if TYPE_CHECKING:
    from tailwork.robots.robot import Robot

ANGLES = ("arc", "chain", "tip")
"""What the bend of a tail of many links is: the angle under which the centre of mass of an arc is seen (Liu & Ben-Tzvi
2020, Eq. 86), the same for the links as they are, or the angle of the last link. All are one for a rigid tail."""

NEWTON_STEPS = 6
"""By which the coordinates of a tail without a closed form are found."""
AXIS_DIGITS = 9
"""To which the axis of a joint is one of the tail's frame."""
REACHED = 1e-9
"""How far a direction may be missed [1]."""
IDENTITY = array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Adjustable:
    """A number of a tail that people like to change."""

    path: str  # within the tail, such as "total_length" or "mount.z"
    unit: str
    low: float  # of a usual range, in that unit
    high: float
    meaning: str
    integer: bool = False  # whether it counts something


@dataclass(frozen=True)
class Tail(RobotPart):
    """Base of all tails. It hangs on the torso at `mount` and points backwards when all its coordinates are zero.

    Its frame is x right, y forward, z up. A direction of its centre of mass is given by a roll alpha about the
    backward axis and a bend theta away from it [rad]: alpha = 0 bends down (+) and up, alpha = −90° to the right (+)
    and left.

    `mount_rotation` turns that frame against the torso: roll, pitch and yaw about forward, left and up, as URDF has
    them (yaw · pitch · roll). A pitch of 90° makes it point up.
    """

    kind: ClassVar[str]
    points: ClassVar[bool] = True
    """Whether the centre of mass lies off the mount, in a direction that motions and measures are about."""
    kept: ClassVar[tuple[str, ...]] = ("mount",)
    """Fields that `with_totals` leaves as they are, beside `actuator_mass`."""
    _: KW_ONLY
    mount_rotation: Vector = vector("rad", (0.0, 0.0, 0.0), structure=True)  # roll, pitch, yaw of the tail's frame
    drag: TailDrag | None = None  # of the air on its links and tip; None: none
    actuator_mass: Scalar = nonnegative("kg", 0.0, written=False)  # of what drives it, fixed to the torso at the mount

    def _unturned(self) -> Self:
        return replace(self, mount_rotation=(0.0, 0.0, 0.0)) if any(self.mount_rotation) else self

    def on_torso(self, limb: Limb, forward: str) -> Limb:
        """A limb that is built about the mount in the tail's frame, on a torso that faces along `forward`."""
        return placed(self._in_air(limb), getattr(self, "mount", (0.0, 0.0, 0.0)), self.mount_frame(forward))

    def _in_air(self, limb: Limb) -> Limb:
        """The limb with drag on its links, each a bar from its joint to the next one or the tip, and on its tip."""
        if self.drag is None:
            return limb
        ends = {joint.parent: joint.offset for joint in limb.joints if any(not is_zero(x) for x in joint.offset)}
        if limb.tip is not None:
            ends[limb.tip.joint] = limb.tip.point
        joints = []
        for joint in limb.joints:
            end = ends.get(joint.name)
            if joint.body is not None and end is not None:
                at_tip = limb.tip is not None and joint.name == limb.tip.joint
                body = replace(joint.body, drag=(*joint.body.drag, *self.drag.elements(end, at_tip)))
                joint = replace(joint, body=body)
            joints.append(joint)
        return replace(limb, joints=tuple(joints))

    def mount_place(self, forward: str) -> Vector:
        """Where the tail hangs, in a torso frame that faces along `forward` [m]: its first joint."""
        return next(iter(self.limbs("tail", forward).values())).joints[0].offset

    def mounted(self, place: Vector, forward: str) -> Self:
        """A copy that hangs at a place in a torso frame that faces along `forward` [m]."""
        if "mount" not in [f.name for f in fields(self)]:
            raise RobotError("mount", place, f"a tail with a field `mount`: {type(self).__name__} has none")
        return replace(self, mount=place)  # type: ignore[call-arg]

    def mount_frame(self, forward: str) -> Matrix:
        """The axes of the tail's frame, as columns, in a torso frame that faces along `forward`."""
        (cr, sr), (cp, sp), (cy, sy) = (_exact(angle) for angle in self.mount_rotation)
        # In the tail's axes: forward is y, left −x, up z.
        roll = np.array([[cr, 0.0, sr], [0.0, 1.0, 0.0], [-sr, 0.0, cr]])
        pitch = np.array([[1.0, 0.0, 0.0], [0.0, cp, sp], [0.0, -sp, cp]])
        yaw = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
        return as_matrix((np.array(FORWARD_FRAMES[forward]) @ yaw @ pitch @ roll).tolist())

    @abstractmethod
    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The tail as one limb of a torso that faces along `forward`, by the name of the part."""

    @cached_property
    def limb(self) -> Limb:
        """The limb of the tail, in its own frame at its mount."""
        return next(iter(self._unturned().limbs("tail").values()))

    def total_mass(self) -> Scalar:
        """Mass of all bodies of the tail [kg]: of what moves, without `actuator_mass`."""
        return sum((joint.body.mass for joint in self.limb.joints if joint.body is not None), 0.0)

    def carried_mass(self) -> Scalar:
        """Mass of the tail and of its actuators, all that the robot carries of it [kg]."""
        return self.total_mass() + self.actuator_mass

    def total_length(self) -> Scalar:
        """Length of the straight tail from its mount to its tip [m]."""
        limb = self.limb
        ends = [joint.offset for joint in limb.joints[1:]] + ([] if limb.tip is None else [limb.tip.point])
        return sum(map(vector_length, ends), 0.0)

    def inertia_about_mount(self) -> Scalar:
        """Moment of inertia of the straight tail about an axis across it through its mount [kg m²]."""
        total: Scalar = 0.0
        straight = _Joints.at(self.limb, [0.0] * len(self.limb.joints))
        for joint, place, turn in zip(self.limb.joints, straight.places, straight.turns, strict=True):
            if joint.body is not None:
                _, y, z = place + times(turn, array(joint.body.com))
                about = dot(turn[0], times(symmetric_matrix(joint.body.inertia), turn[0]))
                total = total + about + joint.body.mass * (y * y + z * z)
        return total

    def totals(self) -> dict[str, str]:
        """Numbers of the tail as a whole that can be given instead of its own, with their units."""
        return {"total_mass": "kg", "total_length": "m"}

    def follow(self, total: str) -> tuple[str, ...]:
        """Fields that follow from one of `totals`, and so cannot be given beside it."""
        units = {"total_mass": ("kg", "kg m^2"), "total_length": ("m", "kg m^2")}[total]
        return tuple(f.name for f in self._scaled() if _unit(f.metadata) in units)

    def _scaled(self) -> list[Field[Any]]:
        """Fields that may follow from totals."""
        return [f for f in fields(self) if f.name not in (*self.kept, "actuator_mass")]

    def total(self, name: str) -> Scalar:
        """The value of one of `totals`, in its unit."""
        return {"total_mass": self.total_mass, "total_length": self.total_length}[name]()

    def with_totals(self, values: Mapping[str, Scalar]) -> Self:
        """A copy with other `totals` [kg], [m]: lengths, masses and inertias but those `kept` go in proportion."""
        factors = self._factors(values)
        changes: dict[str, Any] = {}
        for f in self._scaled():
            if _unit(f.metadata) in factors:
                changes[f.name] = scaled(getattr(self, f.name), factors[_unit(f.metadata)])
        return replace(self, **changes)

    def _factors(self, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """By unit: how lengths, masses and inertias grow with other `totals` [kg], [m], which are checked."""
        self.check_totals(values)
        longer = values["total_length"] / self.total_length() if "total_length" in values else 1.0
        heavier = values["total_mass"] / self.total_mass() if "total_mass" in values else 1.0
        return {"m": longer, "kg": heavier, "kg m^2": heavier * longer * longer}

    def check_totals(self, values: Mapping[str, Scalar], least_mass: float = 0.0) -> None:
        """Refuses totals [kg], [m] that no tail can have."""
        for name, value in values.items():
            if name not in self.totals():
                raise RobotError(name, value, f"one of {', '.join(self.totals())}")
            if name == "total_mass" and all_numbers(value) and not value > least_mass:
                what = f"more than the mass of its base, {least_mass:g} kg" if least_mass else "greater than 0 [kg]"
                raise RobotError(name, value, f"a mass {what}")
            if name == "total_length" and all_numbers(value) and not value > 0.0:
                raise RobotError(name, value, "a length greater than 0 [m]")

    def adjustable(self, forward: str = "y") -> tuple[Adjustable, ...]:
        """Numbers that people like to change of a tail on a torso that faces along `forward`, with usual ranges."""
        length, mass = float(self.total_length()), float(self.total_mass())
        of_length = "from the mount to the tip of the straight tail"
        ranges = {
            "total_length": Adjustable("total_length", "m", 0.4 * length, 2.0 * length, of_length),
            "total_mass": Adjustable("total_mass", "kg", 0.25 * mass, 3.0 * mass, "of the whole tail"),
        }
        found = [one for name, one in ranges.items() if name in self.totals() and one.high > 0.0]
        mount = dict(zip("xyz", getattr(self, "mount", ()), strict=False))
        for axis, way in ((forward, "forward"), ("z", "up")):
            if axis in mount:
                here, meaning = float(mount[axis]), f"{way}: where the tail starts, in the torso frame"
                found.append(Adjustable(f"mount.{axis}", "m", here - 0.15, here + 0.15, meaning))
        return tuple(found)

    def tracking_gains(self) -> dict[str, tuple[Scalar, Scalar]]:
        """By driven coordinate, gains with which motors follow a motion [N m/rad], [N m s/rad].

        By default a bandwidth of 100 rad/s, critically damped, on the inertia of the whole tail. A tail with cables
        has one entry, "bend", for the bend of its segments.
        """
        inertia = self.inertia_about_mount()
        gains = (1e4 * inertia, 200.0 * inertia)
        return {"bend": gains} if self.by_cables else {name: gains for name in self.driven}

    @property
    def driven(self) -> tuple[str, ...]:
        """Coordinates that motors drive."""
        return tuple(actuator.coordinate for actuator in self.limb.actuators if isinstance(actuator, Motor))

    @property
    def by_cables(self) -> bool:
        """Whether cables through holes bend the tail: then its shape cannot be imposed."""
        return any(isinstance(actuator, Cable) for actuator in self.limb.actuators)

    @property
    def passive(self) -> tuple[str, ...]:
        """Coordinates that neither motors nor cables drive; none of a tail that cables bend."""
        return () if self.by_cables else tuple(name for name in self.limb.coordinates if name not in self.driven)

    @property
    def bends(self) -> bool:
        """Whether the tail has segments of links with a curvature."""
        return bool(self.curvatures(dict.fromkeys(self.limb.coordinates, 0.0), 0.0))

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """All coordinates [rad] at which the centre of mass lies in the direction (alpha, theta) [rad].

        By default from the limb's own kinematics: coordinates whose joints turn about the same axis bend alike, and
        two such bends are found by Newton's method.
        """
        return even_bends(self.limb, alpha, theta)

    def universal_coordinates(self, ta: Scalar, tb: Scalar) -> dict[str, Scalar] | None:
        """Coordinates of a tail on one universal joint at its angles [rad]; None for all others."""
        return None

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Refuses directions along a motion that the tail cannot reach [rad]."""
        for a, b in zip(alpha.tolist(), theta.tolist(), strict=True):
            own = self.coordinates(a, b, angle)
            seen = center_direction(self.limb, [own[name] for name in self.limb.coordinates])
            if not np.abs(np.array(seen - direction_vector(a, b), dtype=float)).max() < REACHED:
                raise RobotError("motion", f"{math.degrees(b):.4g}°", "a bend that this tail can make")

    def curvatures(self, coordinates: Mapping[str, Scalar], alpha: Scalar) -> list[Scalar]:
        """By segment of a tail that bends: its curvature in the plane alpha [1/m]."""
        return []

    def with_links(self, count: int) -> Self:
        """A copy with another number of links (of each segment, where it counts so), of the same mass and length."""
        if "links_per_segment" not in [f.name for f in fields(self)]:
            raise RobotError("links", count, "a tail of links")
        totals = {"total_mass": self.total_mass(), "total_length": self.total_length()}
        return replace(self, links_per_segment=count).with_totals(totals)  # type: ignore[call-arg]


def _exact(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle [rad], exactly 0 where rounding alone leaves more, as at 90°."""
    return tuple(0.0 if abs(x) < 1e-15 else x for x in (math.cos(angle), math.sin(angle)))  # type: ignore[return-value]


def _unit(metadata: Mapping[str, Any]) -> str:
    """The unit of a field that is a number of the design; empty for others."""
    kind: Kind | None = metadata.get("kind")
    return "" if kind is None or kind.structure else kind.unit


def tails_of(robot: Robot) -> dict[str, Tail]:
    """The parts of a robot that are tails, by name."""
    if not isinstance(getattr(robot, "parts", None), Mapping):
        raise ArgumentError("robot", robot, "a Robot, from tailwork.robots or tailwork.load")
    return {name: part for name, part in robot.parts.items() if isinstance(part, Tail)}


def tail_name(robot: Robot) -> str:
    """The name of the one part of a robot that is a tail."""
    tails = list(tails_of(robot))
    if len(tails) != 1:
        remedy = "" if tails else f"; {PUTS_ON}"
        raise RobotError("robot", robot.name, f"a robot with one tail (this one has {len(tails)}){remedy}")
    return tails[0]


def scaled(value: Any, factor: Scalar) -> Any:
    """A number, a vector or a list of numbers times a factor."""
    return tuple(scaled(item, factor) for item in value) if isinstance(value, tuple) else value * factor


def direction_vector(alpha: Scalar, theta: Scalar) -> Array:
    """The direction (alpha, theta) as a unit vector in the tail's frame (x right, y forward, z up)."""
    return array([-(sin(theta) * sin(alpha)), -cos(theta), -(sin(theta) * cos(alpha))])


@dataclass(frozen=True)
class _Joints:
    """The joints of a limb at a shape, in the limb's frame about its mount."""

    places: list[Array]  # [m]
    turns: list[Array]  # rotations: columns are the axes of the joint's frame
    axes: list[Array]
    slides: list[bool]
    firsts: list[Array]  # mass times centre of mass of all bodies that the joint carries [kg m]
    masses: list[Scalar]  # of these bodies [kg]

    @classmethod
    def at(cls, limb: Limb, angles: Sequence[Scalar]) -> _Joints:
        """From the joint angles [rad], of sliders their ways [m]."""
        places, axes, rotations, firsts, masses = [], [], [], [], []
        mount = array(limb.joints[0].offset)
        for k, (joint, angle) in enumerate(zip(limb.joints, angles, strict=True)):
            parent = limb.index(joint.parent)
            before = IDENTITY if parent < 0 else rotations[parent]
            origin = zeros(3) if k == 0 else array(joint.offset) - mount if parent < 0 else array(joint.offset)
            place = origin if parent < 0 else places[parent] + times(before, origin)
            unturned = times(before, array([list(row) for row in joint.rotation]))
            axis = times(unturned, array(joint.axis))
            place = place + axis * angle if joint.slides else place
            turned = unturned if joint.slides else times(unturned, rotation(joint.axis, cos(angle), sin(angle)))
            body = joint.body
            mass = 0.0 if body is None else body.mass
            first = zeros(3) if body is None else (place + times(turned, array(body.com))) * body.mass
            places.append(place)
            axes.append(axis)
            rotations.append(turned)
            firsts.append(first)
            masses.append(mass)
        for k in range(len(places) - 1, -1, -1):
            parent = limb.index(limb.joints[k].parent)
            if parent >= 0:
                firsts[parent], masses[parent] = firsts[parent] + firsts[k], masses[parent] + masses[k]
        return cls(places, rotations, axes, [joint.slides for joint in limb.joints], firsts, masses)

    def moved(self, k: int) -> Array:
        """How the first moment of mass changes with the angle of a joint [kg m/rad], or the way of a slider [kg]."""
        if self.slides[k]:
            return self.axes[k] * self.masses[k]
        return cross(self.axes[k], self.firsts[k] - self.places[k] * self.masses[k])


def joint_gearing(limb: Limb) -> list[tuple[float, ...]]:
    """By joint: how its angle follows from the coordinates."""
    if limb.gearing is not None:
        return list(limb.gearing)
    return [tuple(float(joint.name == name) for name in limb.coordinates) for joint in limb.joints]


def center_direction(limb: Limb, coordinates: Sequence[Scalar]) -> Array:
    """Where the centre of mass of a limb is seen from its mount: a unit vector in the limb's frame."""
    angles = [sum((g * x for g, x in zip(row, coordinates, strict=True)), 0.0) for row in joint_gearing(limb)]
    seen = _Joints.at(limb, angles)
    first = sum((f for f, joint in zip(seen.firsts, limb.joints, strict=True) if joint.parent is None), zeros(3))
    return first * (1.0 / sqrt(dot(first, first)))


def even_bends(limb: Limb, alpha: Scalar, theta: Scalar) -> dict[str, Scalar]:
    """Coordinates of a limb, alike about each of two axes, whose centre of mass lies in a direction."""
    gearing = joint_gearing(limb)
    groups = _axes(limb, gearing)
    # By group: how far each joint turns for each radian of the group's bend.
    shares = [
        [sum(row[limb.coordinates.index(name)] * sign for name, sign in group.items()) / len(group) for row in gearing]
        for group in groups
    ]
    aside = sin(alpha) * sin(theta)
    # From the angles of a pendulum; joints that share a bend must bend more in all.
    bends = [
        arctan2(cos(alpha) * sin(theta), cos(theta)) * (2.0 * len(groups[0]) / (len(groups[0]) + 1)),
        -arctan2(aside, sqrt(1.0 - aside * aside)) * (2.0 * len(groups[1]) / (len(groups[1]) + 1)),
    ]
    # Two axes across the wanted direction: the first moment of mass has no part along them.
    upright = array([sin(alpha), 0.0, cos(alpha)])
    across = [array([cos(alpha), 0.0, -sin(alpha)]), upright * cos(theta) + array([0.0, -1.0, 0.0]) * sin(theta)]
    roots = [k for k, joint in enumerate(limb.joints) if joint.parent is None]
    for _ in range(NEWTON_STEPS):
        angles = [a * bends[0] + b * bends[1] for a, b in zip(*shares, strict=True)]
        seen = _Joints.at(limb, angles)
        missing = [dot(axis, sum((seen.firsts[k] for k in roots), zeros(3))) for axis in across]
        by_bend = [sum((seen.moved(k) * share for k, share in enumerate(own) if share), zeros(3)) for own in shares]
        a, b, c, d = (dot(axis, moved) for axis in across for moved in by_bend)
        determinant = a * d - b * c
        if is_zero(determinant):
            required = "a tail whose joints move its centre of mass up and down and to the sides"
            raise RobotError("motion", ", ".join(limb.coordinates), required)
        scale = 1.0 / determinant
        bends = [
            bends[0] - (d * missing[0] - b * missing[1]) * scale,
            bends[1] - (a * missing[1] - c * missing[0]) * scale,
        ]
    found: dict[str, Scalar] = {name: 0.0 for name in limb.coordinates}
    for group, bend in zip(groups, bends, strict=True):
        found |= {name: bend * (sign / len(group)) for name, sign in group.items()}
    return found


def _axes(limb: Limb, gearing: Sequence[tuple[float, ...]]) -> tuple[dict[str, float], dict[str, float]]:
    """Driven coordinates whose joints turn about x of the straight tail, and others about z, with their sense, ±1."""
    driven = {actuator.coordinate for actuator in limb.actuators if isinstance(actuator, Motor)}
    found: tuple[dict[str, float], dict[str, float]] = ({}, {})
    straight = _Joints.at(limb, [0.0] * len(limb.joints))
    turned = [tuple(round(float(x), AXIS_DIGITS) for x in axis) for axis in straight.axes]
    for k, name in enumerate(limb.coordinates):
        axes = {
            None if slides else axis
            for axis, slides, row in zip(turned, straight.slides, gearing, strict=True)
            if row[k] != 0.0
        }
        for group, (x, y, z) in zip(found, ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)), strict=True):
            for sign in (1.0, -1.0):
                if name in (driven or limb.coordinates) and axes == {(x * sign, y * sign, z * sign)}:
                    group[name] = sign
    if not found[0] or not found[1]:
        required = "a tail with driven joints that pitch it, about the axis across the robot, and others that yaw it, "
        required += "about the vertical one; or one with own `coordinates` for a direction"
        raise RobotError("motion", ", ".join(limb.coordinates), required)
    return found
