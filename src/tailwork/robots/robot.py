"""A robot: a torso and the parts on it, described once, in SI units."""

from __future__ import annotations

import dataclasses
import functools
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from tailwork.algebra.expression import Scalar, is_zero
from tailwork.errors import ArgumentError, RobotError, UnknownNameError, check_known
from tailwork.format import first_few
from tailwork.robots.air import Air, Drag
from tailwork.robots.body import Body, plate_inertia, with_point_mass
from tailwork.robots.limb import FORWARD_FRAMES, ContactPoint, Foot, Limb, check_contact_names
from tailwork.robots.paths import replace
from tailwork.robots.quantities import (
    Described,
    RobotPart,
    Symmetric,
    Vector,
    caption,
    nonnegative,
    positive,
    symmetric,
    vector,
)
from tailwork.robots.shapes import Shape
from tailwork.robots.springs import StopSpring

MOST_ROBOT_JOINTS = 1024
"""Robots with more hinges than this are refused, as are limbs with more than `limb.MOST_JOINTS`."""


class TorsoPart(Protocol):
    """A description of a torso."""

    kind: ClassVar[str]

    def body(self, forward: str = "y") -> Body:
        """The torso as a rigid body in the torso frame, whose origin is the point P and whose axis `forward` faces
        forward."""
        ...


@dataclass(frozen=True, kw_only=True)
class Torso(RobotPart):
    """A torso given by its mass, centre of mass and central inertia."""

    kind: ClassVar[str] = "torso"

    mass: Scalar = positive("kg")  # of the torso alone
    com: Vector = vector("m", (0.0, 0.0, 0.0))  # its centre of mass, from P
    inertia: Symmetric = symmetric("kg m^2")  # about the centre of mass
    shapes: tuple[Shape, ...] = caption(())  # to draw it, in the torso frame
    drag: tuple[Drag, ...] = ()  # elements that the air drags on, in the torso frame

    def check(self) -> None:
        """A body can have this inertia."""
        self.body()

    def body(self, forward: str = "y") -> Body:
        """The torso as a rigid body, given in the torso frame whichever way it faces."""
        return Body(mass=self.mass, com=self.com, inertia=self.inertia, shapes=self.shapes, drag=self.drag)


@dataclass(frozen=True, kw_only=True)
class PlateTorso(RobotPart):
    """A torso that is a uniform thin plate (Liu & Ben-Tzvi 2020, Table 1)."""

    kind: ClassVar[str] = "plate"

    mass: Scalar = positive("kg")  # spread evenly over the plate
    width: Scalar = positive("m")  # across
    length: Scalar = positive("m")  # along the forward axis
    shapes: tuple[Shape, ...] = caption(())  # to draw it, in the torso frame
    drag: tuple[Drag, ...] = ()  # elements that the air drags on, in the torso frame

    def body(self, forward: str = "y") -> Body:
        """The torso as a rigid body; its inertia follows from mass and size."""
        sides = (self.width, self.length) if forward == "y" else (self.length, self.width)
        inertia = plate_inertia(self.mass, *sides)
        return Body(mass=self.mass, inertia=inertia, shapes=self.shapes, drag=self.drag)


@dataclass(frozen=True, kw_only=True)
class FreeLimb(RobotPart):
    """A limb written out joint by joint, as a part of a robot."""

    kind: ClassVar[str] = "limb"

    limb: Limb  # all of it

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The limb, under the name of the part; it is given in the torso frame, whichever way that faces."""
        return {name: self.limb}


@dataclass(frozen=True, kw_only=True)
class Stops(RobotPart):
    """Stops of all joints that have a range: what `StopSpring` says, with these numbers."""

    stiffness: Scalar = positive("N m/rad")  # of hinges
    damping: Scalar = nonnegative("s/rad", 0.0)  # of hinges
    slider_stiffness: Scalar = nonnegative("N/m", 0.0)  # of sliders; greater than 0 where sliders have a range
    slider_damping: Scalar = nonnegative("s/m", 0.0)  # of sliders

    def on(self, limb: Limb) -> Limb:
        """A limb with stops where its joints have ranges."""
        springs = list(limb.springs)
        for joint in limb.joints:
            if joint.range is not None:
                lower, upper = joint.range
                size = (self.stiffness, self.damping)
                if joint.slides:
                    size = (self.slider_stiffness, self.slider_damping)
                    if is_zero(size[0]):
                        required = f"a stiffness greater than 0 [N/m]: the slider {joint.name} has a range"
                        raise RobotError("slider_stiffness", size[0], required)
                stiffness, damping = size
                springs.append(
                    StopSpring(joint=joint.name, lower=lower, upper=upper, stiffness=stiffness, damping=damping)
                )
        return dataclasses.replace(limb, springs=tuple(springs))


@dataclass(frozen=True, kw_only=True)
class Robot(RobotPart):
    """A torso with parts on it, and the gravity it lives in.

    The torso frame has z up and `forward` forward: legs and tails face along it, tails leave backwards. Places (hips,
    mounts, feet) are given in the frame as it is. Parts are named ("legs", "tail", …); the names are the first words of
    the paths in `replace`.
    """

    name: str  # of the robot
    torso: TorsoPart  # a `Torso` or a `PlateTorso`
    parts: Mapping[str, Any]  # legs and tails by name: whatever builds limbs
    gravity: Scalar = nonnegative("m/s^2", 9.81)  # along −z of the inertial frame
    stand: Vector = vector("m", (0.0, 0.0, 0.0))  # where P is when the robot stands, in the inertial frame
    forward: str = "y"  # axis of the torso frame that points forward: "y" (x right) or "x" (y left, as in URDF)
    contacts: tuple[ContactPoint, ...] = ()  # points that can touch the ground, beside those that parts have
    stops: Stops | None = None  # of all joints that have a range; None: ranges are watched and stop nothing
    air: Air | None = None  # what bodies with drag move in; None: still air of standard density

    def check(self) -> None:
        """Names that can stand in paths, parts that build limbs, a torso that is a body."""
        if not self.name:
            raise RobotError("name", self.name, "a name")
        if self.forward not in FORWARD_FRAMES:
            raise RobotError("forward", self.forward, "'x' or 'y', the axis of the torso frame that points forward")
        if not _describes(self.torso, "body"):
            raise RobotError("torso", self.torso, "a torso (Torso or PlateTorso)")
        if not isinstance(self.parts, Mapping):
            raise RobotError("parts", self.parts, "a mapping of names to parts")
        taken = {f.name for f in dataclasses.fields(self)}
        for name, part in self.parts.items():
            if not isinstance(name, str) or not name or "." in name or name in taken:
                raise RobotError(f"parts.{name}", name, "another name for the part: text without a dot, not taken")
            if not _describes(part, "limbs"):
                raise RobotError(name, part, "a part that builds limbs (legs, a tail, a FreeLimb)")
        check_contact_names(self.contacts)
        object.__setattr__(self, "parts", MappingProxyType(dict(self.parts)))
        try:
            self.torso_body()
        except ArgumentError as error:
            raise error.within("torso") from None
        object.__setattr__(self, "_limbs", self._built())

    def __reduce__(self) -> tuple[Any, ...]:
        """Robots travel between processes and can be copied."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return functools.partial(Robot, **fields | {"parts": dict(self.parts)}), ()

    def __hash__(self) -> int:
        parts = frozenset(self.parts.items())
        fields = (self.gravity, self.stand, self.forward, self.contacts, self.stops, self.air)
        return hash((self.name, self.torso, parts, *fields))

    def __repr__(self) -> str:
        def weighed(names: Iterable[str]) -> str:
            total = sum((masses[name] for name in names), 0.0)
            return f"{total:.4g} kg" if isinstance(total, float) else "symbols"

        masses = self.masses()
        lines = [f"Robot {self.name}: {weighed(masses)}, facing {self.forward}", f"  torso: {weighed(['torso'])}"]
        for name, part in self.parts.items():
            limbs = _limbs(part, name, self.forward)
            joints = sum(len(limb.joints) for limb in limbs.values())
            said = f"  {name}: {type(part).__name__}, {weighed(limbs)}, {joints} joints"
            lines.append(said + (f" in {first_few(list(limbs))}" if list(limbs) != [name] else ""))
        return "\n".join(lines)

    def masses(self) -> dict[str, Scalar]:
        """Masses of the torso, under "torso", and of each limb, of tails with their actuators [kg]."""
        found: dict[str, Scalar] = {"torso": self.torso_body().mass}
        for name, limb in self.limbs().items():
            found[name] = sum((joint.body.mass for joint in limb.joints if joint.body is not None), 0.0)
        for name, mass, _ in self._actuators():
            found[name] = found[name] + mass
        return found

    def mass(self) -> Scalar:
        """Mass of the whole robot [kg]."""
        return sum(self.masses().values(), 0.0)

    def torso_body(self) -> Body:
        """The torso as a rigid body in the torso frame, without the actuators of tails."""
        return self.torso.body(self.forward)

    def torso_with_actuators(self) -> Body:
        """The torso as a rigid body in the torso frame, with what is fixed to it: the actuators of tails, each a point
        mass at the tail's mount (`actuator_mass`)."""
        body = self.torso_body()
        for _, mass, place in self._actuators():
            body = with_point_mass(body, mass, place)
        return body

    def _actuators(self) -> list[tuple[str, Scalar, Vector]]:
        """By tail that says so: the limb, and mass [kg] and place of its actuators in the torso frame [m]."""
        carried = {name: getattr(part, "actuator_mass", 0.0) for name, part in self.parts.items()}
        return [(name, mass, self.limbs()[name].joints[0].offset)
                for name, mass in carried.items() if not is_zero(mass)]  # fmt: skip

    def limbs(self) -> dict[str, Limb]:
        """All limbs by name: those of every part, in order."""
        return dict(self._limbs)  # type: ignore[attr-defined]  # built once, in check

    def feet(self) -> dict[str, Foot]:
        """The feet, by the names of their limbs."""
        return {name: limb.foot for name, limb in self.limbs().items() if limb.foot is not None}

    def torso_contacts(self) -> tuple[ContactPoint, ...]:
        """The contact points of the torso."""
        return tuple(contact for contact in self.contacts if contact.joint is None)

    def has_drag(self) -> bool:
        """Whether the air drags on any body."""
        carried = [joint.body for limb in self.limbs().values() for joint in limb.joints]
        return any(body is not None and body.drag for body in (self.torso_body(), *carried))

    def contact_points(self) -> dict[str, tuple[str, ContactPoint]]:
        """All points that can touch the ground, each with its limb ("torso" for those of the torso).

        In this order: feet, by the names of their limbs; contact points of limbs, "limb.name"; of the torso,
        "torso.name".
        """
        points = {
            name: (name, ContactPoint(name="foot", joint=foot.joint, point=foot.point, radius=foot.radius))
            for name, foot in self.feet().items()
        }
        on_limbs = ((name, contact) for name, limb in self.limbs().items() for contact in limb.contacts)
        for name, contact in (*on_limbs, *(("torso", contact) for contact in self.torso_contacts())):
            points[f"{name}.{contact.name}"] = (name, contact)
        return points

    def _built(self) -> dict[str, Limb]:
        limbs: dict[str, Limb] = {}
        joints = 0
        for name, part in self.parts.items():
            try:
                built = _limbs(part, name, self.forward)
                turn = getattr(part, "mount_rotation", ())
                if any(turn) and built == dataclasses.replace(part, mount_rotation=(0.0,) * 3).limbs(
                    name, self.forward
                ):
                    required = "no rotation: this kind of tail ignores it; its `limbs` should end with `self.on_torso`"
                    raise RobotError("mount_rotation", turn, required)
                carried = [joint.body for limb in built.values() for joint in limb.joints if joint.body]
                if getattr(part, "drag", None) and not any(body.drag for body in carried):
                    required = "none: this kind of tail has no links to drag on, or its `limbs` no `self.on_torso`"
                    raise RobotError("drag", getattr(part, "drag", None), required)
            except ArgumentError as error:
                raise error.within(name) from None
            for limb_name, limb in built.items():
                if limb_name in limbs:
                    raise RobotError(name, limb_name, "limb names that differ")
                try:
                    limbs[limb_name] = limb if self.stops is None else self.stops.on(limb)
                except ArgumentError as error:
                    raise error.within("stops") from None
                joints += len(limb.joints)
            if joints > MOST_ROBOT_JOINTS:
                raise RobotError(name, part, f"at most {MOST_ROBOT_JOINTS} joints in the whole robot")
        for contact in self.contacts:
            if contact.joint is not None:
                name, _, joint = contact.joint.partition(".")
                said = "limb, before a dot and its joint; None: the torso"
                check_known(f"contacts.{contact.name}.joint", [name], limbs, said)
                own = dataclasses.replace(contact, name=contact.name.removeprefix(f"{name}_"), joint=joint)
                limbs[name] = dataclasses.replace(limbs[name], contacts=(*limbs[name].contacts, own))
        return limbs

    def part(self, name: str) -> Any:
        """The part of that name."""
        if not isinstance(name, str) or name not in self.parts:
            raise UnknownNameError.among(str(name), str(name), self.parts, "part")
        return self.parts[name]

    def without(self, name: str) -> Robot:
        """A copy that lacks a part, and the contact points on it."""
        gone = [f"{limb}." for limb in _limbs(self.part(name), name, self.forward)]
        kept = tuple(x for x in self.contacts if x.joint is None or not x.joint.startswith(tuple(gone)))
        parts = {n: p for n, p in self.parts.items() if n != name}
        return dataclasses.replace(self, parts=parts, contacts=kept)

    def with_part(self, name: str, part: Any) -> Robot:
        """A copy with a part added or exchanged."""
        if not isinstance(name, str):
            raise ArgumentError("name", name, "a name, such as 'tail'")
        return dataclasses.replace(self, parts={**self.parts, name: part})

    def with_tail(
        self, tail: Any, mount: Sequence[Scalar] | None = None, rotation: Sequence[float] | None = None, *,
        mass: float | None = None, length: float | None = None,
    ) -> Robot:  # fmt: skip
        """A copy with a tail, as the part "tail", in the place of one that is there.

        Args:
            tail: a tail of any kind, such as `tailwork.robots.pendulum(length=0.5, mass=1.0)`, as it is. Or the name
                of a kind ("pendulum", "r3", "usrt", or an own one): then as heavy and as long as the tail that it
                replaces, or a twelfth of the torso's mass and 0.96 of its length.
            mount: where it is fixed, in the torso frame [m]. By default the tail's own mount, if it has one other than
                the origin; else where and as the tail is that it replaces; else the middle of the rear of the torso.
            rotation: how it is turned there, its `mount_rotation`: roll, pitch, yaw [rad]; by default the tail's own.
            mass: in total [kg], all else in proportion; by default as above.
            length: from mount to tip [m], likewise.

        A warning says where its size looks like a typing error, such as grams for kilograms.
        """
        from tailwork.robots.sizes import size_warnings  # here, because both know the kinds of tails
        from tailwork.robots.tails.fit import with_tail

        found = with_tail(self, tail, mount, rotation, mass=mass, length=length)
        for said in size_warnings(found):
            warnings.warn(said, stacklevel=2)
        return found

    def with_contact(
        self, limb: str = "torso", joint: str | None = None, point: Vector | None = None, *, radius: Scalar = 0.0,
        name: str | None = None, friction: Scalar = 1.0, restitution: Scalar = 1.0,
    ) -> Robot:  # fmt: skip
        """A copy with a further point that can touch the ground, on the torso or on any limb.

        Args:
            limb: "torso", or a limb by name, as `limbs` has them ("FL", "tail").
            joint: of that limb, whose body has the point; by default that of its tip. None for the torso.
            point: in the frame of the torso, or of that joint, whose origin is the joint itself (the calf's: the
                knee) [m]. By default the tip, or the origin.
            radius: of a ball about the point [m]; 0: a point.
            name: of the point; by default of its joint, "tip", or a number. Among `contact_points` it stands behind the
                limb: "FL.calf", "tail.tip", "torso.1".
            friction: times the ground's [1].
            restitution: times that of rigid ground [1].
        """
        check_known("limb", [limb], ["torso", *self._limbs], "limb")  # type: ignore[attr-defined]
        if name is not None and not isinstance(name, str):
            raise ArgumentError("name", name, "a name of the point")
        if limb == "torso":
            where, called = None, str(len(self.torso_contacts()) + 1)
        else:
            own: Limb = self._limbs[limb]  # type: ignore[attr-defined]
            if joint is None and own.tip is None:
                raise ArgumentError("joint", joint, f"a joint of {limb}, which has no tip: one of {_names(own.joints)}")
            called, where = (joint, joint) if joint is not None else ("tip", own.tip and own.tip.joint)
            point = own.tip.point if point is None and joint is None and own.tip is not None else point
        if joint is not None and where is None:
            raise ArgumentError("joint", joint, "none on the torso, or a limb that has the joint")
        contact = ContactPoint(
            name=("" if where is None else f"{limb}_") + (called if name is None else name),
            joint=None if where is None else f"{limb}.{where}", point=(0.0, 0.0, 0.0) if point is None else point,
            radius=radius, friction=friction, restitution=restitution,
        )  # fmt: skip
        return dataclasses.replace(self, contacts=(*self.contacts, contact))

    def replace(self, changes: Mapping[str, Any]) -> Robot:
        """A changed copy, all changes at once or none: {"torso.mass": 13.0, "tail.mount.y": −0.3, "tail.mass": 0.9}.

        A path names a number, a whole vector or list, or any other field; see `tailwork.robots.paths`.
        """
        return replace(self, changes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the robot to a TOML file, which `tailwork.load` reads back exactly."""
        from tailwork.robots.io import toml  # here, because it knows every kind of part and so imports this module

        toml.save_toml(self, path)

    def export(self, path: str | os.PathLike[str], stance: str | Sequence[str] = "none") -> tuple[str, ...]:
        """Writes the robot for other programs, with every digit; returns what the format cannot say, in words.

        A name that ends in .xml or .mjcf gives MJCF for MuJoCo: gears and cables as tendons and constraints, springs,
        motors in the order of a model's efforts, feet and contact points as balls on a floor, the standing posture as a
        key frame. One that ends in .urdf gives URDF, with a .yaml of the same name beside it for what URDF lacks
        (gears, cables, springs, rotors, where feet stand), and a folder of meshes if the robot has any.

        Args:
            path: of the file.
            stance: "none", "all", or the legs whose feet are pinned where the robot says they stand.

        Raises:
            FileError: the file cannot be written.
            RobotError: the robot has something that such a file cannot hold: a symbol, a control character in a name.
        """
        from tailwork.robots.io.export import export  # here, because it imports this module

        return export(self, path, stance)


def _names(items: Iterable[Any]) -> str:
    return ", ".join(item.name for item in items)


def _describes(value: Any, method: str) -> bool:
    """Whether a value is a description (not the class of one) that has the method."""
    return isinstance(value, Described) and hasattr(value, method)


def _limbs(part: Any, name: str, forward: str) -> dict[str, Limb]:
    """The limbs of a part, kept with it: parts do not change, and most changes of a robot leave most of them alone."""
    kept = vars(part).setdefault("_limbs", {})
    if (name, forward) not in kept:
        kept[name, forward] = part.limbs(name, forward)
    return kept[name, forward]
