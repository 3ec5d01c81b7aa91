"""What measures look at: a robot at one time of a scenario."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import compress
from typing import Any

from tailwork.algebra.expression import Scalar, smaller, sqrt
from tailwork.algebra.vectors import Array, array, dot, times
from tailwork.control.context import Context
from tailwork.control.tail_motion import TailMotion
from tailwork.mechanics.attitude import torso_angle_rates, torso_angles
from tailwork.mechanics.kinematics import joint_frames, limb_states
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import Path, part_momenta, part_names
from tailwork.mechanics.torso import torso_state
from tailwork.robots.limb import FORWARD_FRAMES, Cable, Motor
from tailwork.robots.tails.tail import Tail
from tailwork.simulation.equations import Symbols
from tailwork.simulation.events import limited, limited_motions, quick, size

DEGREES = 57.29577951308232


class Sample:
    """A robot at one time of a scenario, as scalars: what the quantity of a measure looks at."""

    def __init__(self, recorded: Symbols, seen: Path, tail: str) -> None:
        self.context: Context = recorded.context  # time, configuration, velocity, efforts
        self.layout: Layout = recorded.layout
        self.path = seen  # accelerations, foot forces, extensions, powers
        self.tail = tail  # name of the tail

    @property
    def part(self) -> Tail:
        """The tail's description."""
        return self.layout.robot.part(self.tail)

    @property
    def motion(self) -> TailMotion:
        """What the tail shall do."""
        motion: Any = self.context.motion(self.tail)
        return motion

    @cached_property
    def angles(self) -> dict[str, Scalar]:
        """Roll, pitch and yaw of the torso [deg]."""
        return self._degrees(torso_angles(self.layout, self.context.q))

    @cached_property
    def angle_rates(self) -> dict[str, Scalar]:
        """Their rates [deg/s]."""
        return self._degrees(torso_angle_rates(self.layout, self.context.q, self.context.v))

    @staticmethod
    def _degrees(found: Iterable[Scalar]) -> dict[str, Scalar]:
        return {name: angle * DEGREES for name, angle in zip(("roll", "pitch", "yaw"), found, strict=True)}

    @cached_property
    def parts(self) -> dict[str, tuple[Scalar, Array, Array, Array]]:
        """By part: mass [kg], centre [m], linear momentum [N s] and angular momentum about the whole centre [N m s]."""
        names = part_names(self.layout)
        values = part_momenta(self.layout, self.context.q, self.context.v)
        masses, rest = values[: len(names)], array(values[len(names) :]).reshape(3, len(names), 3)
        return {name: (masses[k], rest[0, k], rest[1, k], rest[2, k]) for k, name in enumerate(names)}

    @property
    def axes(self) -> Array:
        """Axes of pitch, roll and yaw of the robot as it stands: right, forward and up, a row each."""
        return array(FORWARD_FRAMES[self.layout.robot.forward]).T

    @cached_property
    def direction(self) -> Array:
        """Where the tail's centre of mass is seen from its mount: a unit vector in the tail's frame; empty for one that
        points nowhere, such as a wheel."""
        if not self.part.points:
            return array([])
        torso = torso_state(self.layout, self.context.q, self.context.v)
        away = torso.from_inertial(self.parts[self.tail][1] - torso.position) - array(self.mount)
        local = times(array(self.part.mount_frame(self.layout.robot.forward)).T, away)
        return local * (1.0 / sqrt(dot(local, local)))

    @property
    def mount(self) -> Sequence[Scalar]:
        """Where the tail starts, in the torso frame [m]."""
        return self.layout.limbs[self.tail].joints[0].offset

    @cached_property
    def tail_efforts(self) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """Torques on the tail's coordinates [N m], tensions of its cables and of those on pulleys [N]."""
        layout, limb = self.layout, self.layout.limbs[self.tail]
        motors = [actuator for actuator in limb.actuators if isinstance(actuator, Motor)]
        if self.tail in layout.prescribed:
            torques = list(self.path.prescribed_efforts[layout.prescribed_accelerations[self.tail]])
            by_motor = [torques[limb.coordinates.index(motor.coordinate)] / motor.ratio for motor in motors]
            return torques, [], [pull for motor, pull in zip(motors, by_motor, strict=True) if motor.unit == "N"]
        here = layout.efforts[self.tail]
        pairs = list(zip(limb.actuators, self.context.tau[here.start : here.stop], strict=True))
        torques = [effort * actuator.ratio for actuator, effort in pairs if isinstance(actuator, Motor)]
        cables = [effort for actuator, effort in pairs if isinstance(actuator, Cable)]
        return torques, cables, [pull for one, pull in pairs if isinstance(one, Motor) and one.unit == "N"]

    def turns(self, coordinates: Iterable[str], several: bool | None) -> list[bool]:
        """Of coordinates of the tail, which turn one joint; `several`: joints of a segment alike; None: any."""
        limb = self.layout.limbs[self.tail]
        return [
            limb.coordinate_unit(name) == "rad" and several in (None, len(limb.moved(name)) > 1) for name in coordinates
        ]

    def tail_torques(self, several: bool | None = None) -> list[Scalar]:
        """Torques on the tail's coordinates that turn one joint, or `several` alike [N m]; None: on all that turn."""
        limb = self.layout.limbs[self.tail]
        driven = [motor.coordinate for motor in limb.actuators if isinstance(motor, Motor)]
        names = limb.coordinates if self.tail in self.layout.prescribed else driven
        return list(compress(self.tail_efforts[0], self.turns(names, several)))

    def tail_rates(self, several: bool | None = None) -> list[Scalar]:
        """Rates of the tail's coordinates that turn one joint, or `several` alike [deg/s]; None: of all that turn."""
        rates = [rate * DEGREES for rate in self.context.v[self.layout.rates[self.tail]]]
        return list(compress(rates, self.turns(self.layout.limbs[self.tail].coordinates, several)))

    @cached_property
    def loads(self) -> list[Scalar]:
        """Efforts of actuators that have a limit, and of those that make a prescribed motion, as shares of it [1]."""
        efforts, imposed = self.context.tau, self.path.prescribed_efforts
        own = [size(efforts[k]) / limit for k, limit in limited(self.layout).values()]
        return own + [size(imposed[k]) / limit for k, limit in limited_motions(self.layout).values()]

    @cached_property
    def speed_loads(self) -> list[Scalar]:
        """Rates of all joints whose speed has a limit, as shares of it [1]."""
        states = limb_states(self.layout, self.context.torso, self.context.q, self.context.v)
        named = [(states[name], joint) for name, joint in quick(self.layout)]
        return [size(state.rates[state.limb.index(joint.name)]) / joint.speed_limit for state, joint in named]

    @cached_property
    def tail_powers(self) -> list[Scalar]:
        """Power of each of the tail's actuators, or of what moves its coordinates [W]."""
        given = [
            f"{name}." for name in self.layout.prescribed_accelerations for _ in self.layout.limbs[name].coordinates
        ]
        sources = [*self.layout.actuator_names, *given]
        pairs = zip(sources, self.path.powers, strict=True)
        return [power for name, power in pairs if name.startswith(f"{self.tail}.")]

    @cached_property
    def foot_forces(self) -> list[tuple[Scalar, Scalar, Scalar]]:
        """By pinned foot: force of the ground, inertial frame [N]."""
        forces = self.path.foot_forces
        return [(forces[k], forces[k + 1], forces[k + 2]) for k in range(0, len(forces), 3)]

    @cached_property
    def tail_heights(self) -> list[Scalar]:
        """Of the tail's joints, tip and contact points above the ground that the lowest foot stands on [m], balls by
        their lowest points; none where no foot is pinned. A limb without a tip ends at its last centres of mass."""
        layout = self.layout
        feet = [foot for name in layout.stance if (foot := layout.limbs[name].foot) is not None]
        if not feet:
            return []
        limb = layout.limbs[self.tail]
        points = [(joint.name, array([0.0, 0.0, 0.0]), 0.0) for joint in limb.joints]
        points += [(contact.joint, array(contact.point), contact.radius) for contact in limb.contacts]
        if limb.tip is not None:
            points.append((limb.tip.joint, array(limb.tip.point), 0.0))
        else:
            carrying = {joint.parent for joint in limb.joints}
            points += [(joint.name, array(joint.body.com), 0.0) for joint in limb.joints
                       if joint.body is not None and joint.name not in carrying]  # fmt: skip
        torso = torso_state(layout, self.context.q, self.context.v)
        state = limb_states(layout, torso, self.context.q, self.context.v)[self.tail]
        frames = joint_frames(limb, state.angles, torso.position, torso.rotation)
        ground = functools.reduce(smaller, (foot.place[2] - foot.radius for foot in feet))
        seen = [(frames[limb.index(name)], point, radius) for name, point, radius in points]
        return [frame.place[2] + dot(frame.rotation[2], point) - radius - ground for frame, point, radius in seen]

    @cached_property
    def curvature_errors(self) -> list[Scalar]:
        """By segment of a tail that bends: actual less desired curvature [1/m]."""
        alpha, _ = self.motion.direction(self.context.t)
        wanted = self.motion.coordinates(self.layout, self.tail, self.context.t)
        actual = {name: self.context.coordinate(f"{self.tail}.{name}") for name in wanted}
        pairs = zip(self.part.curvatures(actual, alpha), self.part.curvatures(wanted, alpha), strict=True)
        return [a - b for a, b in pairs]
