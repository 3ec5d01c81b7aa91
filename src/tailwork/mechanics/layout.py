"""Which limb is driven how, and where its coordinates, rates and efforts stand in the vectors.

How a limb is driven is a property of the question asked, not of the robot: the same leg is pinned in stance and free
in swing, the same tail is free or prescribed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from tailwork.errors import ArgumentError, UnknownNameError, check_known
from tailwork.mechanics.attitude import ATTITUDES, attitude_size
from tailwork.robots.limb import Actuator, ContactPoint, Limb
from tailwork.robots.quantities import Described, Vector, vector
from tailwork.robots.robot import Robot
from tailwork.robots.variable_stiffness import VariableStiffness

ATTITUDE_NAMES = {3: ("phi_x", "phi_y", "phi_z"), 4: ("quat_w", "quat_x", "quat_y", "quat_z")}


@dataclass(frozen=True)
class Push(Described):
    """A point of the robot where an outside force may act.

    `limb` is "torso" or the name of a limb, `joint` the joint whose body holds the point.
    """

    limb: str  # "torso", or a limb by name
    joint: str | None = None  # of that limb, whose body is pushed; None: the torso
    point: Vector = vector("m", (0.0, 0.0, 0.0))  # in the frame of the torso or of that joint


@dataclass(frozen=True)
class Layout:
    """A robot and how each of its limbs is driven."""

    robot: Robot
    stance: tuple[str, ...]  # limbs whose feet are pinned to the ground
    prescribed: tuple[str, ...] = ()  # limbs whose motion is prescribed
    torso: str = "free"  # or "fixed": the torso frame is the inertial frame
    attitude: str = "rpy"
    pushes: tuple[Push, ...] = ()
    riding: tuple[tuple[str, tuple[int, ...]], ...] = ()  # see `dependent`

    def with_robot(self, robot: Robot) -> Layout:
        """The same layout for another robot of the same structure."""
        return replace(self, robot=robot)

    def drive(self) -> tuple[Any, ...]:
        """All of the layout but the robot and what follows from it: how it is driven."""
        return (self.stance, self.prescribed, self.torso, self.attitude, self.pushes)

    @cached_property
    def limbs(self) -> dict[str, Limb]:
        """All limbs by name."""
        return self.robot.limbs()

    @cached_property
    def contact_points(self) -> dict[str, tuple[str, ContactPoint]]:
        """All points that can touch the ground, with their limbs, by name; feet first."""
        return self.robot.contact_points()

    @cached_property
    def dependent(self) -> dict[str, tuple[int, ...]]:
        """By leg in stance whose joint angles stand in q, without a closed form or of more than three hinges: the three
        joints that follow the torso and the others; the others have rates in v."""
        return dict(self.riding)

    @cached_property
    def legs(self) -> tuple[str, ...]:
        """Limbs with a foot."""
        return tuple(name for name, limb in self.limbs.items() if limb.foot is not None)

    @cached_property
    def moving(self) -> tuple[str, ...]:
        """Limbs with coordinates of their own: those without a foot, then the swing legs."""
        others = [name for name in self.limbs if name not in self.legs]
        return tuple(others + [name for name in self.legs if name not in self.stance])

    @cached_property
    def actuated(self) -> tuple[str, ...]:
        """Limbs in the order of their actuators: legs, then the others; those prescribed have none."""
        others = [name for name in self.limbs if name not in self.legs]
        return tuple(name for name in (*self.legs, *others) if name not in self.prescribed)

    @property
    def torso_free(self) -> bool:
        """Whether the torso moves."""
        return self.torso == "free"

    @cached_property
    def coordinates(self) -> dict[str, slice]:
        """By moving limb, and by leg of `dependent`: where its coordinates stand in q."""
        sizes = {name: len(self.limbs[name].coordinates) for name in (*self.moving, *self.dependent)}
        return _slices(sizes, 3 + attitude_size(self.attitude) if self.torso_free else 0)

    @cached_property
    def rates(self) -> dict[str, slice]:
        """By moving limb, and by leg of `dependent`: where its rates stand in v."""
        sizes = {name: len(self.limbs[name].coordinates) for name in self.moving}
        sizes |= {name: len(self.limbs[name].joints) - len(joints) for name, joints in self.dependent.items()}
        return _slices(sizes, 6 if self.torso_free else 0)

    @cached_property
    def prescribed_accelerations(self) -> dict[str, slice]:
        """By prescribed limb: where its accelerations stand among the prescribed ones."""
        return _slices({name: len(self.limbs[name].coordinates) for name in self.moving if name in self.prescribed}, 0)

    @cached_property
    def prescribed_rates(self) -> list[int]:
        """Where the rates of the prescribed coordinates stand in v."""
        rates = [self.rates[name] for name in self.prescribed_accelerations]
        return [k for here in rates for k in range(here.start, here.stop)]

    @cached_property
    def efforts(self) -> dict[str, slice]:
        """By actuated limb: where its efforts stand in tau."""
        return _slices({name: len(self.limbs[name].actuators) for name in self.actuated}, 0)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of q."""
        names = ["x", "y", "z", *ATTITUDE_NAMES[attitude_size(self.attitude)]] if self.torso_free else []
        riding = [f"{name}.{joint.name}" for name in self.dependent for joint in self.limbs[name].joints]
        return tuple(names + self._limb_names() + riding)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of v."""
        names = ["v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z"] if self.torso_free else []
        return tuple(names + [f"{name} rate" for name in (*self._limb_names(), *self._free_joints())])

    def _free_joints(self) -> list[str]:
        """Of the legs of `dependent`: the joints that do not depend on others."""
        return [f"{name}.{joint.name}" for name, joints in self.dependent.items()
                for k, joint in enumerate(self.limbs[name].joints) if k not in joints]  # fmt: skip

    def _limb_names(self) -> list[str]:
        return [f"{name}.{c}" for name in self.moving for c in self.limbs[name].coordinates]

    def _limb_units(self) -> list[str]:
        return [self.limbs[name].coordinate_unit(c) for name in self.moving for c in self.limbs[name].coordinates]

    @cached_property
    def actuators(self) -> list[Actuator]:
        """All actuators, in the order of tau."""
        return [actuator for name in self.actuated for actuator in self.limbs[name].actuators]

    @cached_property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of the entries of tau."""
        return tuple(f"{name}.{actuator.name}" for name in self.actuated for actuator in self.limbs[name].actuators)

    @cached_property
    def stiffnesses(self) -> dict[int, VariableStiffness]:
        """Actuators that are stiffnesses of springs, by their number."""
        return {k: own for k, own in enumerate(self.actuators) if isinstance(own, VariableStiffness)}

    @cached_property
    def actuator_units(self) -> tuple[str, ...]:
        """Units of the entries of tau."""
        return tuple(
            self.limbs[name].effort_unit(actuator) for name in self.actuated for actuator in self.limbs[name].actuators
        )

    @cached_property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the entries of q; those of a quaternion have none."""
        turns = ("1",) * 4 if attitude_size(self.attitude) == 4 else ("rad",) * 3
        riding = sum(len(self.limbs[name].joints) for name in self.dependent)
        return (*(("m",) * 3 + turns if self.torso_free else ()), *self._limb_units(), *("rad",) * riding)

    @cached_property
    def velocity_units(self) -> tuple[str, ...]:
        """Units of the entries of v."""
        of_torso = ("m/s",) * 3 + ("rad/s",) * 3 if self.torso_free else ()
        return (*of_torso, *(f"{unit}/s" for unit in (*self._limb_units(), *("rad" for _ in self._free_joints()))))

    @cached_property
    def prescribed_names(self) -> tuple[str, ...]:
        """Names of the prescribed coordinates."""
        return tuple(f"{name}.{c}" for name in self.prescribed_accelerations for c in self.limbs[name].coordinates)


def _slices(sizes: Mapping[str, int], start: int) -> dict[str, slice]:
    """By limb: where its numbers stand, one limb after the other."""
    ends = list(accumulate(sizes.values(), initial=start))
    return {name: slice(*ends[k : k + 2]) for k, name in enumerate(sizes)}


def make_layout(
    robot: Robot, stance: str | Sequence[str], prescribed: Sequence[str], torso: str, attitude: str,
    pushes: Sequence[Push],
) -> Layout:  # fmt: skip
    """A layout whose names are checked; for the arguments see `tailwork.Model`."""
    limbs = robot.limbs()
    legs = [name for name, limb in limbs.items() if limb.foot is not None]
    pinned = _stance(stance, limbs, legs)
    if not isinstance(torso, str) or torso not in ("free", "fixed"):
        raise ArgumentError("torso", torso, "'free' or 'fixed'")
    if torso == "fixed" and pinned:
        raise ArgumentError("stance", stance, "'none' with a fixed torso: a leg between two fixed ends cannot move")
    check_known("attitude", [attitude], ATTITUDES, "attitude")
    imposed = _names("prescribed", prescribed, "a list of limb names, such as ['tail']")
    for name in imposed:
        if name not in limbs:
            raise UnknownNameError.among("prescribed", name, limbs, "limb")
        if name in pinned:
            raise ArgumentError("prescribed", name, "a limb whose foot is not pinned")
    if not isinstance(pushes, (list, tuple)):
        raise ArgumentError("pushes", pushes, "a list of Push")
    for push in pushes:
        check_push(push, limbs, torso)
    if torso == "fixed" and not limbs:
        raise ArgumentError("torso", torso, "'free', or a robot with limbs: here nothing can move")
    return Layout(robot, pinned, imposed, torso, attitude, tuple(pushes))


def _names(argument: str, names: Any, required: str) -> tuple[str, ...]:
    """A list of names as a tuple."""
    if isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise ArgumentError(argument, names, required)


def check_push(push: Any, limbs: Mapping[str, Limb], torso: str = "free", argument: str = "pushes") -> None:
    """A push names a body of the robot that can feel it."""
    if not isinstance(push, Push):
        raise ArgumentError(argument, push, "a Push, such as Push('torso') or Push('tail', 'tb', (0.0, -0.48, 0.0))")
    if push.limb == "torso":
        if push.joint is not None:
            raise ArgumentError(f"{argument}.joint", push.joint, "no joint: the torso has none")
        if torso == "fixed":
            raise ArgumentError(f"{argument}.limb", push.limb, "a limb: a fixed torso does not feel a push")
        return
    if push.limb not in limbs:
        raise UnknownNameError.among(f"{argument}.limb", push.limb, ["torso", *limbs], "limb")
    joints = [joint.name for joint in limbs[push.limb].joints]
    if push.joint not in joints:
        raise UnknownNameError.among(f"{argument}.joint", str(push.joint), joints, f"joint of {push.limb}")


def _stance(stance: str | Sequence[str], limbs: dict[str, Limb], legs: list[str]) -> tuple[str, ...]:
    if isinstance(stance, str):
        if stance not in ("all", "none"):
            raise ArgumentError("stance", stance, f"'all', 'none' or a list of legs, of {legs}")
        stance = legs if stance == "all" else []
    for name in _names("stance", stance, "'all', 'none' or a list of legs"):
        if name not in legs:
            raise UnknownNameError.among("stance", name, legs, "limb with a foot")
        limb = limbs[name]
        # A pinned foot takes away as many motions as it fixes.
        parents, last = [limb.index(joint.parent) for joint in limb.joints], limb.joints[-1].name
        if len(limb.joints) < 3:
            required = f"at least three hinges for a leg to be pinned; the foot of one with {len(limb.joints)} holds"
            raise ArgumentError(
                "stance", name, f"{required} the torso. Take stance='none' (policy 'airborne' in studies)"
            )
        in_a_row = parents == list(range(-1, len(parents) - 1)) and not any(joint.slides for joint in limb.joints)
        if not in_a_row or limb.gearing is not None or limb.foot is None or limb.foot.joint != last:
            required = "a leg of hinges in a row, not geared, with its foot on the last body, to be pinned"
            raise ArgumentError("stance", name, f"{required}; leave it out of the stance, or take stance='none'")
    return tuple(name for name in legs if name in stance)
