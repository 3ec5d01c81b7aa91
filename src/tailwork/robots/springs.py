"""Springs, dampers and stops of a limb. Their torques and energies are in `mechanics.springs_and_cables`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError
from tailwork.robots.quantities import RobotPart, Vector, all_numbers, nonnegative, number, positive, vector


@dataclass(frozen=True, kw_only=True)
class JointSpring(RobotPart):
    """A spring and damper on one joint: torque = preload − stiffness (angle − rest) − damping · rate.

    On a slider the units are N/m, m and N s/m.
    """

    kind: ClassVar[str] = "joint"

    joint: str  # the joint
    stiffness: Scalar = nonnegative("N m/rad", 0.0)  # of the spring
    rest: Scalar = number("rad", 0.0)  # the angle at which the spring gives no torque
    damping: Scalar = nonnegative("N m s/rad", 0.0)  # of the damper
    preload: Scalar = number("N m", 0.0)  # a torque that is always there; its energy is −preload · angle


@dataclass(frozen=True, kw_only=True)
class StopSpring(RobotPart):
    """Stops at both ends of a joint's way: torque = −stiffness · depth · (1 + damping · rate of depth) beyond them.

    It never pulls (Hunt & Crossley's law). On a slider the units are m, N/m and s/m.
    """

    kind: ClassVar[str] = "stop"

    joint: str  # the joint
    lower: Scalar = number("rad")  # where one stop begins
    upper: Scalar = number("rad")  # where the other does
    stiffness: Scalar = positive("N m/rad")  # of each stop
    damping: Scalar = nonnegative("s/rad", 0.0)  # share by which a rate of 1 rad/s into the stop adds to its torque

    def check(self) -> None:
        """A way between the stops."""
        if all_numbers(self.lower, self.upper) and not self.lower < self.upper:
            raise RobotError("upper", self.upper, f"more than the lower one, {self.lower:g}")


@dataclass(frozen=True, kw_only=True)
class BendingSpring(RobotPart):
    """A spring and damper on the net bending angle sigma of a universal joint: cos sigma = cos a · cos b.

    Energy ½ stiffness sigma²; dissipation ½ damping sigma-dot² (Liu & Ben-Tzvi 2020, Eqs. 48, 63, 64). At
    sigma = 0 the direction of bending, and with it the paper's damping, is undefined. There we damp both rates
    alike, which is the limit of every motion that leaves the straight joint, and blend over to the paper's law
    within the angle `blend`: damping matrix c (g gᵀ + blend² 1)/(sin² sigma + blend²), g = sin sigma · grad sigma.
    """

    kind: ClassVar[str] = "bending"

    first: str  # the first hinge of the universal joint
    second: str  # the second, whose axis crosses that of the first at right angles
    stiffness: Scalar = nonnegative("N m/rad")  # of the spring
    damping: Scalar = nonnegative("N m s/rad", 0.0)  # of the damper
    blend: Scalar = positive("rad", 0.01)  # within which damping goes over to that of both rates alike


@dataclass(frozen=True, kw_only=True)
class PointSpring(RobotPart):
    """A straight spring between points of two bodies: tension = stiffness (length − rest_length)."""

    kind: ClassVar[str] = "point"

    first: str | None  # joint whose body holds the point; None: the torso
    first_point: Vector = vector("m")  # in that joint's frame
    second: str | None  # likewise, of the other end
    second_point: Vector = vector("m")  # in that joint's frame
    stiffness: Scalar = nonnegative("N/m")  # of the spring
    rest_length: Scalar = nonnegative("m")  # at which it neither pulls nor pushes


Spring: TypeAlias = JointSpring | StopSpring | BendingSpring | PointSpring
