"""A limb: a tree of rigid bodies on hinges and sliders, with what drives, holds and pulls it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import array, times
from tailwork.errors import ArgumentError, RobotError, UnknownNameError
from tailwork.robots.body import Body
from tailwork.robots.closed_form import ClosedForm, PlacedForm
from tailwork.robots.quantities import (
    Kind,
    Matrix,
    RobotPart,
    Vector,
    check_name,
    check_rotation,
    checked,
    interval,
    matrix,
    nonnegative,
    number,
    numbers,
    vector,
)
from tailwork.robots.springs import BendingSpring, JointSpring, PointSpring, Spring, StopSpring
from tailwork.robots.variable_stiffness import VariableStiffness

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FORWARD_FRAMES: dict[str, Matrix] = {"y": IDENTITY, "x": ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0))}
"""By the torso's forward axis: the axes right, forward and up in the torso frame, as columns."""
MOTIONS = ("hinge", "slider")
"""How a joint can move: turn about its axis, or slide along it."""
MOST_JOINTS = 256
"""Limbs with more joints than this are refused: a typing error, or equations too large to compile."""


@dataclass(frozen=True, kw_only=True)
class Joint(RobotPart):
    """A hinge or a slider, and the body it carries.

    The joint frame of a hinge sits on it and turns with the body: it lies at `offset` in the frame of the parent joint
    (of the torso, if parent is None), turned by the fixed `rotation`, then by the joint angle about `axis`. That of a
    slider is shifted by its coordinate [m] along `axis` instead. Of a slider the units are m, m/s, N and kg.
    """

    name: str  # of the joint, and of its coordinate where nothing is geared
    axis: Vector = vector("", structure=True)  # unit vector in the joint frame
    parent: str | None = None  # the joint whose body carries this one; None: the torso
    offset: Vector = vector("m", (0.0, 0.0, 0.0))  # of the joint (of a slider at zero), in the parent's frame
    rotation: Matrix = matrix(IDENTITY)  # columns: the axes of the unturned joint frame in the parent's
    body: Body | None = None  # None: a joint without a body, such as the first axis of a universal joint
    armature: Scalar = nonnegative("kg m^2", 0.0)  # inertia of the rotor, felt about the axis only; kg of a slider
    motion: str = "hinge"  # or "slider"
    range: tuple[Scalar, Scalar] | None = interval("rad")  # of its angle, or way [m]; None: not limited
    speed_limit: Scalar = nonnegative("rad/s", 0.0)  # largest rate, either way; m/s of a slider; 0: not known
    friction: Scalar = nonnegative("N m", 0.0)  # dry friction, see `mechanics.springs_and_cables`; N of a slider

    @property
    def slides(self) -> bool:
        """Whether it is a slider."""
        return self.motion == "slider"

    def check(self) -> None:
        """The axis is a unit vector, the rotation a rotation."""
        check_name("name", self.name)
        if self.motion not in MOTIONS:
            raise RobotError("motion", self.motion, f"one of {', '.join(map(repr, MOTIONS))}")
        length = math.sqrt(sum(a * a for a in self.axis))
        if abs(length - 1.0) > 1e-9:
            raise RobotError("axis", self.axis, f"a unit vector (this one has length {length:.6g})")
        object.__setattr__(self, "axis", tuple(a / length for a in self.axis))
        check_rotation("rotation", self.rotation)


@dataclass(frozen=True, kw_only=True)
class Hole(RobotPart):
    """A point of a body that a cable runs through."""

    joint: str | None  # whose body has the hole; None: the torso
    point: Vector = vector("m")  # in the frame of that joint


@dataclass(frozen=True, kw_only=True)
class Cable(RobotPart):
    """An actuator: a cable through holes, held at the last one, pulled at the first. It can only pull.

    Effort: its tension [N]. Generalised force = −tension · d(length)/d(angles).
    """

    kind: ClassVar[str] = "cable"

    name: str  # of the actuator
    route: tuple[Hole, ...]  # the holes, from where it is pulled to where it is held
    limit: Scalar = nonnegative("N", 0.0)  # largest tension; 0: no limit is known

    def check(self) -> None:
        """At least two holes."""
        check_name("name", self.name)
        if len(self.route) < 2:
            raise RobotError("route", self.route, "at least two holes")


@dataclass(frozen=True, kw_only=True)
class Motor(RobotPart):
    """An actuator on one coordinate: generalised force = ratio · effort.

    A torque has ratio 1. A cable on a pulley has the arm [m] as its ratio and its tension [N] as its effort. Where the
    coordinate is geared to several joints, the motor drives them all.
    """

    kind: ClassVar[str] = "motor"

    name: str  # of the actuator
    coordinate: str  # that it drives
    ratio: Scalar = number("", 1.0)  # [1], or the arm [m] where the effort is a tension
    unit: str | None = None  # of the effort, such as "N" of a tension; None: N m, or N on a slider
    limit: Scalar = nonnegative("", 0.0)  # largest effort, either way, in that unit; 0: no limit is known

    def check(self) -> None:
        """A name without dots."""
        check_name("name", self.name)


Actuator: TypeAlias = Motor | Cable | VariableStiffness
"""What drives a limb."""


@dataclass(frozen=True, kw_only=True)
class Foot(RobotPart):
    """The point of a limb that can stand on the ground, and where it stands.

    With a radius the foot is a ball about the point, which touches the ground at its lowest point (along the ground's
    normal). A pinned foot is pinned at the point, the centre of the ball.
    """

    joint: str  # whose body holds the foot
    point: Vector = vector("m")  # in the frame of that joint
    place: Vector = vector("m")  # of the point, in the inertial frame
    radius: Scalar = nonnegative("m", 0.0)  # of the ball; 0: a point
    angles: tuple[Scalar, ...] = numbers("rad, m", ())  # of the limb's coordinates where it stands; where a closed form
    # has them they are not needed, elsewhere the limb is solved from there (none: from zero)


@dataclass(frozen=True, kw_only=True)
class ContactPoint(RobotPart):
    """A further point of a body, or a ball about it, that can touch the ground.

    It stands among the contacts of a limb, or of a robot: there `joint` is None for a point of the torso, or names limb
    and joint, "FL.calf" (`Robot.with_contact` writes it). Among `Robot.contact_points` a point is called by its limb,
    "torso.nose" or "FL.knee"; in a robot's contacts its name may begin with the limb's, "FL_knee", so that names
    differ.
    """

    name: str  # of the point
    joint: str | None = None  # whose body holds it; None: the torso
    point: Vector = vector("m")  # in the frame of that joint, or of the torso
    radius: Scalar = nonnegative("m", 0.0)  # of the ball; 0: a point
    friction: Scalar = nonnegative("", 1.0)  # times the ground's, static and kinetic
    restitution: Scalar = nonnegative("", 1.0)  # times that of rigid ground; compliant ground has its damping instead

    def check(self) -> None:
        """A name without dots."""
        check_name("name", self.name)


@dataclass(frozen=True, kw_only=True)
class Tip(RobotPart):
    """The far end of a limb, to draw it and to ask where it is."""

    joint: str  # whose body ends there
    point: Vector = vector("m")  # in the frame of that joint


@dataclass(frozen=True, kw_only=True)
class Limb(RobotPart):
    """A tree of bodies on hinges and sliders. Joints are listed parents first.

    Coordinates: by default one per joint, in the order of the joints. `coordinates` may list the joints' names in
    another order; with a `gearing`, it names the coordinates, and joint angle = gearing · coordinates. So a motor can
    drive several joints, and one joint can follow another.
    """

    joints: tuple[Joint, ...]  # parents first
    coordinates: tuple[str, ...] = ()  # their names, in order; none given: those of the joints
    gearing: tuple[tuple[float, ...], ...] | None = None  # joints × coordinates [1], structure; None: one each
    actuators: tuple[Actuator, ...] = ()  # what drives it, in the order of its efforts
    springs: tuple[Spring, ...] = ()  # what holds it
    foot: Foot | None = None  # where it can stand on the ground; None: a limb without a foot, such as a tail
    tip: Tip | None = None  # its far end, to be drawn and asked for; None: none is marked
    closed_form: ClosedForm | None = None  # joint angles from the place of the foot; None: the foot cannot be pinned
    contacts: tuple[ContactPoint, ...] = ()  # further points that can touch the ground

    def check(self) -> None:
        """Parents come first, and all names that are used exist."""
        if not self.joints:
            raise RobotError("joints", (), "at least one joint")
        if len(self.joints) > MOST_JOINTS:
            raise RobotError("joints", len(self.joints), f"at most {MOST_JOINTS} joints in a limb")
        seen: list[str] = []
        names = [joint.name for joint in self.joints]
        for joint in self.joints:
            if joint.name in seen:
                raise RobotError(f"joints.{joint.name}.name", joint.name, "a name that no other joint of the limb has")
            path = f"joints.{joint.name}.parent"
            if joint.parent is not None and joint.parent not in seen:
                if joint.parent in names:
                    raise RobotError(path, joint.parent, "a joint that is listed earlier (parents come first)")
                raise UnknownNameError.among(path, joint.parent, seen, "joint")
            seen.append(joint.name)
        if not self.coordinates:
            object.__setattr__(self, "coordinates", tuple(names))
        self._check_gearing(names)
        self._check_references(names)
        parents = {joint.parent for joint in self.joints}
        for joint in self.joints:
            if joint.body is None and joint.name not in parents:
                raise RobotError(f"joints.{joint.name}.body", None, "a body on a joint that carries no other joint")

    @property
    def foot_angles(self) -> dict[str, Scalar]:
        """By coordinate: the value with which the limb stands, as its foot says [rad, m]; none where it does not."""
        return dict(zip(self.coordinates, () if self.foot is None else self.foot.angles, strict=False))

    def _check_gearing(self, names: list[str]) -> None:
        for k, name in enumerate(self.coordinates):
            check_name(f"coordinates.{k + 1}", name)
        if len(set(self.coordinates)) != len(self.coordinates):
            raise RobotError("coordinates", self.coordinates, "names that differ")
        if self.gearing is None:
            if sorted(self.coordinates) != sorted(names):
                raise RobotError("coordinates", self.coordinates, f"the names of the joints, {names}, in any order")
            return
        rows = self.gearing
        if len(rows) != len(names) or any(len(row) != len(self.coordinates) for row in rows):
            required = f"a matrix of {len(names)} joints × {len(self.coordinates)} coordinates"
            raise RobotError("gearing", rows, required)
        for k, name in enumerate(self.coordinates):
            if all(row[k] == 0 for row in rows):
                raise RobotError("gearing", name, "every coordinate to move some joint")
        if np.linalg.matrix_rank(np.array(rows)) < len(self.coordinates):
            required = "independent columns: else joint angles do not tell the coordinates, nor efforts move them"
            raise RobotError("gearing", rows, required)

    def _check_references(self, names: list[str]) -> None:
        def known(path: str, name: str | None, valid: list[str], what: str) -> None:
            if name is not None and name not in valid:
                raise UnknownNameError.among(path, name, valid, what)

        taken: set[str] = set()
        for actuator in self.actuators:
            path = f"actuators.{actuator.name}"
            if actuator.name in taken:
                raise RobotError(f"{path}.name", actuator.name, "a name that no other actuator of the limb has")
            taken.add(actuator.name)
            if isinstance(actuator, Motor):
                known(f"{path}.coordinate", actuator.coordinate, list(self.coordinates), "coordinate")
                continue
            if isinstance(actuator, VariableStiffness):
                held = [k + 1 for k, spring in enumerate(self.springs) if not isinstance(spring, StopSpring)]
                if not set(actuator.springs) <= set(held):
                    raise RobotError(f"{path}.springs", actuator.springs, f"springs of this limb, of {held}; no stops")
                continue
            for k, hole in enumerate(actuator.route):
                known(f"{path}.route.{k + 1}.joint", hole.joint, names, "joint")
        for k, spring in enumerate(self.springs):
            path = f"springs.{k + 1}"
            if isinstance(spring, (JointSpring, StopSpring)):
                known(f"{path}.joint", spring.joint, names, "joint")
                continue
            known(f"{path}.first", spring.first, names, "joint")
            known(f"{path}.second", spring.second, names, "joint")
            if isinstance(spring, BendingSpring):
                self._check_universal(path, spring)
        if self.foot is not None:
            known("foot.joint", self.foot.joint, names, "joint")
            if self.foot.angles and len(self.foot.angles) != len(self.coordinates):
                raise RobotError("foot.angles", len(self.foot.angles), f"one of each of {', '.join(self.coordinates)}")
        if self.tip is not None:
            known("tip.joint", self.tip.joint, names, "joint")
        check_contact_names(self.contacts)
        for contact in self.contacts:
            if contact.joint is None:
                raise RobotError(f"contacts.{contact.name}.joint", None, "a joint of the limb; see Robot.contacts")
            known(f"contacts.{contact.name}.joint", contact.joint, names, "joint")

    def _check_universal(self, path: str, spring: BendingSpring) -> None:
        first, second = self.joint(spring.first), self.joint(spring.second)
        crossing = abs(sum(a * b for a, b in zip(first.axis, second.axis, strict=True))) < 1e-9
        together = second.offset == (0.0, 0.0, 0.0) and second.rotation == IDENTITY
        hinges = first.motion == second.motion == "hinge"
        if second.parent != first.name or not crossing or not together or not hinges:
            raise RobotError(
                path,
                (spring.first, spring.second),
                "the two crossing axes of a universal joint, the second on the first",
            )

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise UnknownNameError.among(name, name, (j.name for j in self.joints), "joint")

    def coordinate_unit(self, name: str) -> str:
        """Unit of a coordinate: "m" where it moves sliders alone, else "rad"."""
        return "m" if all(joint.slides for joint in self.moved(name)) else "rad"

    def moved(self, coordinate: str) -> list[Joint]:
        """Joints that a coordinate moves: one, or several alike, as of a segment of links."""
        if self.gearing is None:
            return [self.joint(coordinate)]
        k = self.coordinates.index(coordinate)
        return [joint for joint, row in zip(self.joints, self.gearing, strict=True) if row[k] != 0.0]

    def effort_unit(self, actuator: Actuator) -> str:
        """Unit of an actuator's effort."""
        if isinstance(actuator, VariableStiffness):
            return actuator.unit
        if isinstance(actuator, Cable):
            return "N"
        return actuator.unit or ("N" if self.coordinate_unit(actuator.coordinate) == "m" else "N m")

    def index(self, name: str | None) -> int:
        """Position of a joint in the list; −1 for the torso (None)."""
        return -1 if name is None else self.joints.index(self.joint(name))


def check_contact_names(contacts: tuple[ContactPoint, ...]) -> None:
    """Refuses contact points of the same name."""
    names = [contact.name for contact in contacts]
    for name in names:
        if names.count(name) > 1:
            raise RobotError(f"contacts.{name}.name", name, "a name that no other contact point beside it has")


def placed(limb: Limb, offset: Vector, rotation: Matrix) -> Limb:
    """A limb put elsewhere on the torso: what is fixed there at x [m] comes to offset + rotation · x [m].

    First joints, springs and cable holes on the torso and the closed form move; the foot's place on the ground stays.
    """
    if not isinstance(limb, Limb):
        raise ArgumentError("limb", limb, "a Limb")
    offset, rotation = checked("offset", offset, Kind("m", (3,))), checked("rotation", rotation, Kind("", (3, 3)))
    turn, start = array(rotation), array(offset)

    def moved(x: Vector) -> Vector:
        return as_vector(start + times(turn, array(x)))

    def joint(x: Joint) -> Joint:
        if x.parent is not None:
            return x
        return replace(x, offset=moved(x.offset), rotation=as_matrix(times(turn, array(x.rotation))))

    def spring(x: Spring) -> Spring:
        if not isinstance(x, PointSpring) or (x.first is not None and x.second is not None):
            return x
        first_point = moved(x.first_point) if x.first is None else x.first_point
        second_point = moved(x.second_point) if x.second is None else x.second_point
        return replace(x, first_point=first_point, second_point=second_point)

    def actuator(x: Actuator) -> Actuator:
        if not isinstance(x, Cable) or all(hole.joint is not None for hole in x.route):
            return x
        route = (replace(hole, point=moved(hole.point)) if hole.joint is None else hole for hole in x.route)
        return replace(x, route=tuple(route))

    form = limb.closed_form
    return replace(
        limb,
        joints=tuple(map(joint, limb.joints)),
        springs=tuple(map(spring, limb.springs)),
        actuators=tuple(map(actuator, limb.actuators)),
        closed_form=None if form is None else PlacedForm(form=form, offset=offset, rotation=rotation),
    )


def as_vector(x: Any) -> Vector:
    """Three scalars [m] as the fields of a description hold them."""
    return (x[0], x[1], x[2])


def as_matrix(x: Any) -> Matrix:
    """A 3×3 matrix as the fields of a description hold it."""
    return (as_vector(x[0]), as_vector(x[1]), as_vector(x[2]))
