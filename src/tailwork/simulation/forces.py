"""Outside forces in time at points of the robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.algebra.expression import Scalar, step
from tailwork.control.profiles import Profiles, held
from tailwork.errors import RobotError
from tailwork.mechanics.layout import Push
from tailwork.robots.quantities import Described, Kind, Vector, all_numbers, checked, number, positive, vector
from tailwork.typing import Floats

NEWTONS = Kind("N")


@dataclass(frozen=True, kw_only=True)
class Pulse(Described):
    """A value from a start on, for a duration, and zero before and from its end on."""

    size: Scalar = number("SI")  # of the pulse
    start: Scalar = number("s", 0.0)  # when it begins
    duration: Scalar = positive("s")  # how long it lasts

    def value(self, t: Scalar) -> Scalar:
        """The pulse [SI]."""
        return self.size * (step(self.start + self.duration - t) - step(self.start - t))

    def rate(self, t: Scalar) -> Scalar:
        """Zero but at the jumps [SI/s]."""
        return 0.0

    def acceleration(self, t: Scalar) -> Scalar:
        """Zero but at the jumps [SI/s²]."""
        return 0.0

    def jumps(self) -> tuple[float, ...]:
        """Times at which it jumps [s]."""
        ends = (self.start, self.start + self.duration)
        return tuple(float(time) for time in ends) if all_numbers(*ends) else ()


@dataclass(frozen=True, kw_only=True)
class Force(Described):
    """A force on a point of the torso or of a limb, each component constant or a profile in time, inertial frame."""

    limb: str = "torso"  # "torso", or a limb by name
    joint: str | None = None  # of that limb, whose body is pushed; None: the torso
    point: Vector = vector("m", (0.0, 0.0, 0.0))  # in the frame of the torso or of that joint
    x: Profiles | Pulse = held(0.0)  # component along x [N]
    y: Profiles | Pulse = held(0.0)  # component along y [N]
    z: Profiles | Pulse = held(0.0)  # component along z [N]

    def __post_init__(self) -> None:
        for axis in "xyz":
            value = getattr(self, axis)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                object.__setattr__(self, axis, held(checked(axis, value, NEWTONS)))
        super().__post_init__()

    @property
    def push(self) -> Push:
        """Where it acts."""
        return Push(self.limb, self.joint, self.point)

    def value(self, t: Scalar) -> list[Scalar]:
        """The force [N] at a time [s]."""
        return [self.x.value(t), self.y.value(t), self.z.value(t)]

    def values(self, times: Floats) -> Floats:
        """The force [N] at times [s], (times, 3)."""
        return np.array([self.value(float(t)) for t in times], dtype=np.float64).reshape(len(times), 3)

    def jumps(self) -> tuple[float, ...]:
        """Times at which it jumps [s]."""
        return tuple(time for part in (self.x, self.y, self.z) if isinstance(part, Pulse) for time in part.jumps())


def pulse(size: float, duration: float, start: float = 0.0) -> Pulse:
    """A value [SI] for a duration [s] from a start [s] on."""
    return Pulse(size=size, duration=duration, start=start)


def check_forces(forces: object) -> tuple[Force, ...]:
    """Make sure that these are forces."""
    own = (forces,) if isinstance(forces, Force) else forces
    if not isinstance(own, (list, tuple)) or not all(isinstance(force, Force) for force in own):
        raise RobotError("forces", forces, "forces, such as Force(limb='torso', x=pulse(30.0, 0.1))")
    return tuple(own)
