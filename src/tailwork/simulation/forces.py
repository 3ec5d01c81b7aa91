"""Outside forces in time at points of the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.control.profiles import Profiles, Pulse, held
from tailwork.errors import ArgumentError
from tailwork.mechanics.layout import Push
from tailwork.robots.quantities import Described, Kind, Vector, checked, vector
from tailwork.typing import Floats

NEWTONS = Kind("N")


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


def pulse_times(forces: Sequence[Force]) -> dict[str, Scalar]:
    """Start and duration [s] of each pulse, by name: the numbers that say when forces jump."""
    return {
        f"force.{k + 1}.{axis}.{name}": getattr(part, name)
        for k, force in enumerate(forces)
        for axis in "xyz"
        if isinstance(part := getattr(force, axis), Pulse)
        for name in ("start", "duration")
    }


def breaks_of(
    forces: Sequence[Force], begin: float, end: float, columns: Mapping[str, Floats] | None = None, count: int = 1
) -> Floats:
    """Where forces jump within a time, in order: a time just before, at which steps end, and that from which they go on
    [s], (runs, jumps, 2); infinite behind the last. `columns` are numbers that differ by run, (runs,)."""
    given: Mapping[str, Any] = columns or {}
    numbers = [np.broadcast_to(given.get(name, own), (count,)) for name, own in pulse_times(forces).items()]
    at = np.zeros((count, len(numbers)))
    for k, (start, length) in enumerate(zip(numbers[::2], numbers[1::2], strict=True)):
        at[:, 2 * k], at[:, 2 * k + 1] = start, start + length
    slack = 4.0 * np.spacing(max(abs(begin), abs(end)))  # a sum of two times does not come to the jump by rounding
    at = np.sort(np.where((at > begin + slack) & (at < end), at, np.inf), axis=1)
    at[:, 1:][at[:, 1:] <= at[:, :-1] + 2.0 * slack] = np.inf  # forces that begin or end together jump once
    at = np.sort(at, axis=1)[:, : int(np.isfinite(at).sum(axis=1).max(initial=0))]
    return np.stack([at - slack, at], axis=2)


def check_forces(forces: object) -> tuple[Force, ...]:
    """Make sure that these are forces."""
    own = (forces,) if isinstance(forces, Force) else forces
    if not isinstance(own, (list, tuple)) or not all(isinstance(force, Force) for force in own):
        raise ArgumentError("forces", forces, "forces, such as Force(limb='torso', x=pulse(30.0, 0.1))")
    return tuple(own)
