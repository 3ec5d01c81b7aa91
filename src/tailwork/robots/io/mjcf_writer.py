"""A robot as MJCF, the file format of MuJoCo, with every digit.

Names are those of a `Model`: bodies and joints "limb.joint", actuators "limb.actuator", in the order of the efforts, so
that MuJoCo's `ctrl` is our `tau`. Gears are equality constraints, cables spatial tendons, a motor on several joints a
fixed tendon, pinned feet `connect` constraints. What MuJoCo lacks is said in comments at the head of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

from tailwork.format import first_few
from tailwork.robots.body import Body
from tailwork.robots.io.written import (
    check_writable,
    drawn_shapes,
    joint_name,
    known_angles,
    numbers_text,
    xml_text,
)
from tailwork.robots.limb import IDENTITY, Cable, Joint, Limb
from tailwork.robots.robot import Robot
from tailwork.robots.shapes import Shape
from tailwork.robots.springs import BendingSpring, JointSpring, PointSpring, StopSpring
from tailwork.robots.variable_stiffness import VariableStiffness
from tailwork.typing import Floats

LEAST = 2e-15
"""Least mass [kg] and moment of inertia [kg m²] that is written: MuJoCo takes none below 1e-15."""
RELAX = 1e-13
"""Share of its largest moment that is added to all moments of a body that has one of zero or is a thin plate. Without
it rounding breaks the triangle inequality, which MuJoCo checks exactly."""
TIMESTEP = 1e-3
"""Of the file [s]. Constraints are held within two steps."""
HELD = {"solref": "0.002 1", "solimp": "0.9999 0.9999 0.001 0.5 2"}
"""Gears and pinned feet: MuJoCo's constraints are soft; these are about as stiff as its steps allow."""
BEND_ARM = 0.05
"""Distance from a universal joint at which a tendon stands for its bending spring [m]."""
POINT_RADIUS = 1e-5
"""Of the ball that stands for a contact point without a radius [m]."""


def mjcf_text(robot: Robot, stance: Collection[str] = ()) -> tuple[str, tuple[str, ...]]:
    """The robot as the text of an MJCF file, and what in it is not exact, in words.

    Args:
        robot: of numbers.
        stance: legs whose feet are pinned where the robot says they stand.
    """
    root, notes = mjcf_tree(robot, stance)
    return xml_text(root, f"{robot.name}, written by tailwork. Units: SI.", notes), notes


def mjcf_tree(
    robot: Robot, stance: Collection[str] = (), *, torso_free: bool = True, joined: bool = True,
    bending: str = "tendons",
) -> tuple[Element, tuple[str, ...]]:  # fmt: skip
    """The elements of an MJCF file, and what in it is not exact.

    Args:
        robot: of numbers.
        stance: legs whose feet are pinned.
        torso_free: whether the torso moves.
        joined: joints without a body move the next body, wherever nothing else is fixed to them.
        bending: springs on the net angle of a universal joint become "tendons", springs on "hinges", or "none".
    """
    check_writable(robot)
    return _Writer(robot, stance, torso_free, joined, bending).finish()


class _Writer:
    """The sections of a file while it is written."""

    def __init__(self, robot: Robot, stance: Collection[str], torso_free: bool, joined: bool, bending: str) -> None:
        self.robot, self.stance, self.joined, self.bending = robot, stance, joined, bending
        self.notes: list[str] = []
        self.fast: list[str] = []  # joints with a limit of speed, and that
        self.relaxed: dict[str, float] = {}  # by body: what is added to its moments of inertia [kg m²]
        self.root = Element("mujoco", model=robot.name)
        _add(self.root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        _add(self.root, "option", gravity=_text((0.0, 0.0, -robot.gravity)), timestep=_text(TIMESTEP),
             integrator="implicitfast", cone="elliptic", tolerance="1e-10")  # fmt: skip
        default = _add(self.root, "default")
        drawn = _add(default, "default", {"class": "drawn"})
        _add(drawn, "geom", contype="0", conaffinity="0", group="2", rgba="0.55 0.6 0.68 1")
        touching = _add(default, "default", {"class": "touching"})
        _add(touching, "geom", type="sphere", contype="1", conaffinity="0", condim="3", priority="1", group="3")
        _add(_add(self.root, "visual"), "headlight", ambient="0.4 0.4 0.4", diffuse="0.5 0.5 0.5")
        self.asset, self.world = _add(self.root, "asset"), _add(self.root, "worldbody")
        _add(self.world, "light", pos="0 0 3", dir="0 0 -1", type="directional")
        self.tendon, self.equality, self.actuator, self.keys = (
            Element(tag) for tag in ("tendon", "equality", "actuator", "keyframe")
        )
        self.bodies: dict[tuple[str, str | None], Element] = {}
        torso = self.torso = _add(
            self.world, "body", name="torso", pos=_text(robot.stand if torso_free else (0.0, 0.0, 0.0))
        )
        if torso_free:
            _add(torso, "freejoint", name="torso")
        self._set_inertia(torso, robot.torso_with_actuators(), "torso")
        limbs = robot.limbs()
        for name, limb in limbs.items():
            self.bodies[name, None] = torso
            self._add_joints(name, limb)
            self._add_springs(name, limb)
            self._add_gears(name, limb)
        for name in sorted(limbs, key=lambda name: limbs[name].foot is None):  # legs first, as in a model's efforts
            self._add_actuators(name, limbs[name])
        self._add_contacts()
        self._add_drawing()
        self._add_standing(torso_free)
        if robot.has_drag():
            self.notes.append("drag of the air is left out: MuJoCo's follows from boxes of its own")

    def finish(self) -> tuple[Element, tuple[str, ...]]:
        """All sections that hold something."""
        for section in (self.tendon, self.equality, self.actuator, self.keys):
            if len(section):
                self.root.append(section)
        if not len(self.asset):
            self.root.remove(self.asset)
        if self.fast:
            self.notes.append(f"MuJoCo has no limits of speed [rad/s, m/s]: {first_few(self.fast)}")
        if self.relaxed:
            most, names = max(self.relaxed.values()), first_few(list(self.relaxed))
            self.notes.append(f"at most {most:.1g} kg m² is added to moments of inertia that MuJoCo refuses: {names}")
        return self.root, tuple(dict.fromkeys(self.notes))

    def _set_inertia(self, to: Element, body: Body | None, name: str) -> None:
        """Mass, centre of mass and principal moments; what MuJoCo refuses as too small or too flat is relaxed."""
        if (old := to.find("inertial")) is not None:
            to.remove(old)
        if body is None:
            self.relaxed[name] = LEAST
            _add(to, "inertial", pos="0 0 0", mass=_text(LEAST), diaginertia=_text(3 * [LEAST]))
            return
        xx, yy, zz, xy, xz, yz = (float(x) for x in body.inertia)
        if xy == xz == yz == 0.0:
            moments, axes = np.array([xx, yy, zz]), np.eye(3)
        else:
            moments, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            axes[:, 2] *= np.linalg.det(axes)
        largest = np.sort(moments)[-1]
        more = max(RELAX * largest, LEAST)
        if moments.min() < LEAST or 2.0 * largest > moments.sum() - more:
            moments = moments + more
            self.relaxed[name] = more
        inertial = _add(to, "inertial", pos=_text(body.com), mass=_text(body.mass), diaginertia=_text(moments))
        _turn(inertial, axes)

    def _add_joints(self, name: str, limb: Limb) -> None:
        """Bodies with their joints. A joint without a body moves the next one, if nothing is fixed to the joint."""
        used = _attached(limb)
        last: Joint | None = None
        for joint in limb.joints:
            own = joint_name(name, joint.name)
            shared = last is not None and self.joined and _moves_the_next(limb, last, joint, used)
            here = self.bodies[name, joint.parent]
            if not shared:
                here = _add(here, "body", name=own, pos=_text(joint.offset))
                _turn(here, joint.rotation)
            here.set("name", own)
            self.bodies[name, joint.name] = here
            hinge = _add(here, "joint", name=own, type="slide" if joint.slides else "hinge",
                         axis=_text(joint.axis))  # fmt: skip
            if joint.range is not None:
                hinge.set("range", _text(joint.range))
            for attribute, value in (("armature", joint.armature), ("frictionloss", joint.friction)):
                if value:
                    hinge.set(attribute, _text(value))
            if joint.friction:
                self.notes.append("dry friction of joints is MuJoCo's frictionloss: it sticks, ours is smooth")
            if joint.speed_limit:
                self.fast.append(f"{own} {float(joint.speed_limit):g}")
            following = limb.joints[limb.index(joint.name) + 1 :]
            if not (self.joined and any(_moves_the_next(limb, joint, other, used) for other in following[:1])):
                self._set_inertia(here, joint.body, own)
            last = joint

    def _joint(self, limb: str, joint: str) -> Element:
        name = joint_name(limb, joint)
        return next(e for e in self.bodies[limb, joint].iterfind("joint") if e.get("name") == name)

    def _site(self, limb: str, joint: str | None, point: Any, name: str) -> str:
        _add(self.bodies[limb, joint], "site", name=name, pos=_text(point), size="0.002")
        return name

    def _span(self, limb: str, name: str, points: Sequence[tuple[str | None, Any]], **attributes: str) -> Element:
        """A spatial tendon through points of bodies."""
        sites = [self._site(limb, joint, point, f"{name}.{k + 1}") for k, (joint, point) in enumerate(points)]
        tendon = _add(self.tendon, "spatial", attributes, name=name, width="0.0015")
        for site in sites:
            _add(tendon, "site", site=site)
        return tendon

    def _add_springs(self, name: str, limb: Limb) -> None:
        """Springs and dampers of joints, between points, and, as nearly as MuJoCo can, of universal joints."""
        hinges: dict[str, list[tuple[float, float, float]]] = {}  # stiffness, torque at zero angle, damping
        for k, spring in enumerate(limb.springs):
            own = f"{name}.spring.{k + 1}"
            if isinstance(spring, JointSpring):
                torque = float(spring.stiffness * spring.rest + spring.preload)
                hinges.setdefault(spring.joint, []).append((float(spring.stiffness), torque, float(spring.damping)))
            elif isinstance(spring, StopSpring):
                self._joint(name, spring.joint).set("range", _text((spring.lower, spring.upper)))
                self.notes.append(
                    "stops of joints are MuJoCo's own: as stiff as its steps allow, not as the robot says"
                )
            elif isinstance(spring, PointSpring):
                ends = [(spring.first, spring.first_point), (spring.second, spring.second_point)]
                rest = _text(spring.rest_length)
                self._span(name, own, ends, stiffness=_text(spring.stiffness), springlength=rest)
            elif not spring.stiffness and not spring.damping:
                continue
            elif self.bending == "hinges":
                for joint in (spring.first, spring.second):
                    hinges.setdefault(joint, []).append((float(spring.stiffness), 0.0, float(spring.damping)))
                self.notes.append("springs on the bend of a universal joint are springs on its hinges: 2nd order")
            elif self.bending == "tendons":
                self._add_bending(name, limb, spring, own)
        for joint, springs in hinges.items():
            stiffness, torque, damping = (sum(values) for values in zip(*springs, strict=True))
            if torque and not stiffness:  # a constant torque, which MuJoCo's joints lack
                stiffness = 1e-12 * abs(torque)
                self.notes.append(f"{joint_name(name, joint)}: a soft spring far out stands for a constant torque")
            if stiffness:
                self._joint(name, joint).attrib |= {
                    "stiffness": _text(stiffness),
                    "springref": _text(torque / stiffness),
                }
            if damping:
                self._joint(name, joint).set("damping", _text(damping))

    def _add_bending(self, name: str, limb: Limb, spring: BendingSpring, own: str) -> None:
        """A tendon of rest length 0 between points that coincide where the universal joint is straight.

        Its length is 2 r sin(sigma/2), so that stiffness k/r² and k/(6 r⁴) of the cube have the energy ½ k sigma² up to
        k sigma⁶/180; damping c/r² is that of sigma but for the factor cos²(sigma/2).
        """
        first, second = limb.joint(spring.first), limb.joint(spring.second)
        arm = BEND_ARM * np.cross(first.axis, second.axis)
        before = np.array(first.offset, float) + np.array(first.rotation, float) @ arm
        stiffness = (spring.stiffness / BEND_ARM**2, 0.0, spring.stiffness / (6.0 * BEND_ARM**4))
        self._span(name, own, [(first.parent, before), (spring.second, arm)], stiffness=_text(stiffness),
                   damping=_text(spring.damping / BEND_ARM**2), springlength="0")  # fmt: skip
        self.notes.append(
            "MuJoCo has no spring on the bend sigma of a universal joint: a tendon stands for it, whose torque is off "
            "by sigma^5/30 of the stiffness, and whose damping by sin^2(sigma/2), and more where the joint is straight"
        )

    def _add_gears(self, name: str, limb: Limb) -> None:
        """Joints that follow others: each one another joint, or combinations of joints held at zero by tendons."""
        if limb.gearing is None:
            return
        gearing = np.array(limb.gearing, float)
        self.notes.append(
            "gears are soft constraints in MuJoCo: accelerations of rows of six joints are off by up to 1e-2"
        )
        if all(np.count_nonzero(row) <= 1 for row in gearing):
            for k, (joint, row) in enumerate(zip(limb.joints, gearing, strict=True)):
                column = int(np.abs(row).argmax())
                lead = int(np.flatnonzero(gearing[:, column])[0])
                if row[column] and lead == k:
                    continue
                held = _add(self.equality, "joint", HELD, name=f"{name}.{joint.name}.gear",
                            joint1=joint_name(name, joint.name))  # fmt: skip
                if row[column]:
                    held.set("joint2", joint_name(name, limb.joints[lead].name))
                    held.set("polycoef", _text((0.0, row[column] / gearing[lead, column], 0.0, 0.0, 0.0)))
            return
        for k, row in enumerate(null_space(gearing.T).T):
            self._weighted(name, limb, row, f"{name}.gear.{k + 1}")
            _add(self.equality, "tendon", HELD, name=f"{name}.gear.{k + 1}", tendon1=f"{name}.gear.{k + 1}")

    def _weighted(self, name: str, limb: Limb, weights: Floats, own: str) -> None:
        """A fixed tendon: its length is a weighted sum of joint angles."""
        tendon = _add(self.tendon, "fixed", name=own)
        for joint, weight in zip(limb.joints, weights, strict=True):
            if weight:
                _add(tendon, "joint", joint=joint_name(name, joint.name), coef=_text(weight))

    def _add_actuators(self, name: str, limb: Limb) -> None:
        """One `motor` each, whose control is our effort."""
        for actuator in limb.actuators:
            own, limit = f"{name}.{actuator.name}", float(actuator.limit)
            if isinstance(actuator, VariableStiffness):
                self.notes.append(f"{own}: MuJoCo has no actuator for a stiffness; it stays as described")
                continue
            if isinstance(actuator, Cable):
                self._span(name, own, [(hole.joint, hole.point) for hole in actuator.route])
                _add(self.actuator, "motor", name=own, tendon=own, gear="-1", ctrlrange=_text((0.0, limit or 1e6)))
                continue
            weights = float(actuator.ratio) * _share(limb, actuator.coordinate)
            if np.count_nonzero(weights) == 1:
                k = int(np.flatnonzero(weights)[0])
                target = {"joint": joint_name(name, limb.joints[k].name), "gear": _text(weights[k])}
            else:
                self._weighted(name, limb, weights, own)
                target = {"tendon": own}
            motor = _add(self.actuator, "motor", {"name": own, **target})
            if limit:
                motor.set("ctrlrange", _text((-limit, limit)))

    def _add_contacts(self) -> None:
        """Balls at feet and contact points, and the floor; pinned feet are held by constraints instead."""
        robot, feet = self.robot, self.robot.feet()
        for name in self.stance:
            foot = feet[name]
            self._site(name, foot.joint, foot.point, f"{name}.foot")
            _add(self.world, "site", name=f"{name}.place", pos=_text(foot.place), size="0.002")
            _add(self.equality, "connect", HELD, name=f"{name}.foot", site1=f"{name}.foot", site2=f"{name}.place")
            self.notes.append("pinned feet are soft constraints in MuJoCo: accelerations are off by up to 2e-4")
        for name, limb in robot.limbs().items():
            if limb.tip is not None:
                self._site(name, limb.tip.joint, limb.tip.point, f"{name}.tip")
        points = [(name, self.bodies[name, foot.joint], foot.point, foot.radius, 1.0, 1.0)
                  for name, foot in feet.items() if name not in self.stance]  # fmt: skip
        for limb_name, limb in robot.limbs().items():
            points += [(f"{limb_name}.{x.name}", self.bodies[limb_name, x.joint], x.point, x.radius, x.friction,
                        x.restitution) for x in limb.contacts]  # fmt: skip
        points += [
            (f"torso.{x.name}", self.torso, x.point, x.radius, x.friction, x.restitution)
            for x in robot.torso_contacts()
        ]
        for name, body, point, radius, friction, restitution in points:
            size = float(radius) or POINT_RADIUS
            _add(body, "geom", {"class": "touching"}, name=name, pos=_text(point), size=_text(size),
                 friction=_text((friction, 0.005, 0.0001)))  # fmt: skip
            if not radius:
                self.notes.append(f"contact points without a radius are balls of {POINT_RADIUS:g} m")
            if restitution != 1.0:
                self.notes.append(f"{name}: MuJoCo's contacts have no factor of restitution")
        if points or self.stance:
            heights = [foot.place[2] - foot.radius for foot in feet.values()]
            name = "floor" if "floor" not in feet else "floor.ground"  # a leg has its own name
            _add(self.world, "geom", name=name, type="plane", size="0 0 0.05", conaffinity="1", contype="0",
                 pos=_text((0.0, 0.0, min(heights, default=0.0))), rgba="0.78 0.8 0.82 1")  # fmt: skip

    def _add_drawing(self) -> None:
        for (limb, joint), shapes in drawn_shapes(self.robot).items():
            body = self.torso if limb == "torso" else self.bodies[limb, joint]
            for k, shape in enumerate(shapes):
                self._draw(body, shape, f"{joint_name(limb, joint)}.{k + 1}")

    def _draw(self, to: Element, shape: Shape, name: str) -> None:
        geom = _add(to, "geom", {"class": "drawn"}, type=shape.kind, pos=_text(shape.place))
        _turn(geom, shape.rotation)
        if shape.kind == "mesh":
            _add(self.asset, "mesh", name=name, vertex=_text(shape.vertices), inertia="shell",
                 face=" ".join(str(k) for face in shape.faces for k in face))  # fmt: skip
            geom.set("mesh", name)
        else:
            halves = [0.5 * x for x in shape.size]  # MuJoCo has half lengths, and radii
            geom.set("size", _text(halves if shape.kind == "box" else [shape.size[0], *halves[1:]]))
        if shape.color is not None:
            geom.set("rgba", _text((*shape.color, 1.0)))

    def _add_standing(self, torso_free: bool) -> None:
        """The posture in which the robot stands, as a key frame; legs whose angles nothing tells are at zero."""
        angles = known_angles(self.robot)
        if unknown := [name for name in self.robot.feet() if name not in {limb for limb, _ in angles}]:
            self.notes.append(f"the key frame has legs without a closed form at zero: {first_few(unknown)}")
        values: list[float] = [*map(float, self.robot.stand), 1.0, 0.0, 0.0, 0.0] if torso_free else []
        for joint in self.world.iter("joint"):
            limb, _, name = str(joint.get("name")).partition(".")
            values.append(angles.get((limb, name), 0.0))
        _add(self.keys, "key", name="standing", qpos=_text(values))


def _add(to: Element, tag: str, attributes: dict[str, str] | None = None, **more: str) -> Element:
    return ElementTree.SubElement(to, tag, {**(attributes or {}), **more})


_text = numbers_text


def _turn(element: Element, rotation: Any) -> None:
    """Sets the quaternion of a rotation, unless there is none."""
    turn = np.array(rotation, float)
    if not np.array_equal(turn, np.array(IDENTITY)):
        x, y, z, w = Rotation.from_matrix(turn).as_quat()
        element.set("quat", _text((w, x, y, z)))


def _share(limb: Limb, coordinate: str) -> Floats:
    """Torques on the joints that do the work of a unit force on a coordinate; of geared joints the smallest ones."""
    column = limb.coordinates.index(coordinate)
    if limb.gearing is None:
        return np.array([float(joint.name == coordinate) for joint in limb.joints])
    found = np.linalg.pinv(np.array(limb.gearing, float))[column]
    return np.where(np.abs(found) > 1e-14 * np.abs(found).max(), found, 0.0)


def _attached(limb: Limb) -> set[str | None]:
    """Joints whose frames hold something: ends of springs, holes, feet, contact points."""
    found: set[str | None] = {contact.joint for contact in limb.contacts}
    found |= {end.joint for end in (limb.foot, limb.tip) if end is not None}
    for spring in limb.springs:
        if isinstance(spring, PointSpring):
            found |= {spring.first, spring.second}
    return found | {hole.joint for cable in limb.actuators if isinstance(cable, Cable) for hole in cable.route}


def _moves_the_next(limb: Limb, joint: Joint, following: Joint, used: set[str | None]) -> bool:
    """Whether a joint without a body carries nothing but the following joint, at the same place."""
    alone = [other.name for other in limb.joints if other.parent == joint.name] == [following.name]
    together = following.offset == (0.0, 0.0, 0.0) and following.rotation == IDENTITY
    return joint.body is None and alone and together and joint.name not in used
