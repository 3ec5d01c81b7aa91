"""Reaction wheels in the place of a tail: what a tail is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from tailwork.algebra.expression import Scalar, cos, sin
from tailwork.errors import RobotError
from tailwork.robots.body import Body
from tailwork.robots.limb import Joint, Limb, Motor
from tailwork.robots.quantities import Vector, nonnegative, positive, vector
from tailwork.robots.shapes import Shape
from tailwork.robots.tails.tail import Adjustable, Tail
from tailwork.typing import Floats

AXES: dict[str, int] = {"pitch": 0, "roll": 1, "yaw": 2}
"""Axes of the wheels: x right, y forward, z up of the torso."""


@dataclass(frozen=True, kw_only=True)
class ReactionWheel(Tail):
    """Flat wheels about axes of the torso, each balanced and turned by a motor, all at the mount.

    Coordinates and motors: the angles of the `wheels`. A motion of a tail turns them by the angles through which it
    turns the tail: pitch by its part downwards, yaw by that to the right, roll by its roll about the tail's axis. The
    centre of mass stays at the mount: measures of the tail's direction do not exist. Sizes by default are estimates.
    """

    kind: ClassVar[str] = "reaction_wheel"
    points: ClassVar[bool] = False

    mass: Scalar = positive("kg", 0.3)  # of each wheel
    radius: Scalar = positive("m", 0.1)  # of each wheel
    gyration: Scalar = positive("", 0.7071067811865476)  # radius of gyration / radius: a disc has √½, a ring 1
    wheels: tuple[str, ...] = tuple(AXES)  # about which axes there is one
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame
    armature: Scalar = nonnegative("kg m^2", 0.0)  # of each motor
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known

    def check(self) -> None:
        """Known axes, each once; no mass beyond the rim."""
        if not self.wheels or len(set(self.wheels)) != len(self.wheels) or not set(self.wheels) <= AXES.keys():
            raise RobotError("wheels", self.wheels, f"one or more of {', '.join(AXES)}, each once")
        if isinstance(self.gyration, float) and self.gyration > 1.0:
            raise RobotError("gyration", self.gyration, "at most 1: a ring has all its mass at the rim")

    def inertia_about_mount(self) -> Scalar:
        """Moment of inertia of a wheel about its axis [kg m²]."""
        return self.mass * (self.radius * self.gyration) * (self.radius * self.gyration)

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The wheels as a limb of a torso that faces along `forward`."""
        joints = []
        for axis in self.wheels:
            spin = [self.inertia_about_mount() * (1.0 if k == AXES[axis] else 0.5) for k in range(3)]
            body = Body(mass=self.mass, inertia=(spin[0], spin[1], spin[2], 0.0, 0.0, 0.0), shapes=self._drawn(axis))
            x, y, z = (float(k == AXES[axis]) for k in range(3))
            joints.append(Joint(name=axis, axis=(x, y, z), body=body, armature=self.armature))
        motors = tuple(Motor(name=axis, coordinate=axis, limit=self.torque_limit) for axis in self.wheels)
        limb = Limb(joints=tuple(joints), actuators=motors)
        return {name: self.on_torso(limb, forward)}

    def _drawn(self, axis: str) -> tuple[Shape, ...]:
        """A flat cylinder about the axis, as thick as a tenth of its radius, and a bar that shows how it turns."""
        if not isinstance(self.radius, float):
            return ()
        columns = {0: ((0, 0, 1), (1, 0, 0), (0, 1, 0)), 1: ((1, 0, 0), (0, 0, 1), (0, -1, 0))}
        turn = tuple(tuple(map(float, row)) for row in columns.get(AXES[axis], ((1, 0, 0), (0, 1, 0), (0, 0, 1))))
        wide = self.radius
        return (
            Shape(kind="cylinder", size=(wide, 0.1 * wide), rotation=turn),
            Shape(kind="box", size=(1.9 * wide, 0.1 * wide, 0.14 * wide), rotation=turn),
        )

    def totals(self) -> dict[str, str]:
        """The mass; wheels have no length."""
        return {"total_mass": "kg"}

    def follow(self, total: str) -> tuple[str, ...]:
        """The mass of each."""
        return ("mass",)

    def total_length(self) -> Scalar:
        """None [m]."""
        return 0.0

    def with_totals(self, values: Mapping[str, Scalar]) -> Self:
        """Of a total mass [kg]: the radius stays, and with it the shape."""
        self.check_totals(values)
        return replace(self, mass=values["total_mass"] / float(len(self.wheels))) if values else self

    def adjustable(self, forward: str = "y") -> tuple[Adjustable, ...]:
        """The radius, too."""
        radius = float(self.radius)
        return (*super().adjustable(forward), Adjustable("radius", "m", 0.4 * radius, 2.0 * radius, "of each wheel"))

    def coordinates(self, alpha: Scalar, theta: Scalar, angle: str = "arc") -> dict[str, Scalar]:
        """Angles of the wheels [rad]."""
        turns = {"pitch": theta * cos(alpha), "roll": alpha, "yaw": -(theta * sin(alpha))}
        return {axis: turns[axis] for axis in self.wheels}

    def check_directions(self, alpha: Floats, theta: Floats, angle: str = "arc") -> None:
        """Wheels turn by any angle [rad]."""
