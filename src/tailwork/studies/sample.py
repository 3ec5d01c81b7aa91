"""What measures look at: a robot at one time of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from tailwork.algebra.expression import Scalar, sqrt
from tailwork.algebra.vectors import Array, array, dot, times
from tailwork.control.context import Context
from tailwork.control.tail_motion import TailMotion
from tailwork.mechanics.attitude import torso_angle_rates, torso_angles
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import Path, part_momenta, part_names
from tailwork.mechanics.torso import torso_state
from tailwork.robots.limb import FORWARD_FRAMES, Cable, Motor
from tailwork.robots.tails.tail import Tail
from tailwork.simulation.system import Symbols

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
    def curvature_errors(self) -> list[Scalar]:
        """By segment of a tail that bends: actual less desired curvature [1/m]."""
        alpha, _ = self.motion.direction(self.context.t)
        wanted = self.motion.coordinates(self.layout, self.tail, self.context.t)
        actual = {name: self.context.coordinate(f"{self.tail}.{name}") for name in wanted}
        pairs = zip(self.part.curvatures(actual, alpha), self.part.curvatures(wanted, alpha), strict=True)
        return [a - b for a, b in pairs]
