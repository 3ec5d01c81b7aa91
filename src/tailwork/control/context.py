"""What laws, events and measures look at: the robot at one time, as scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import Expression, Scalar
from tailwork.errors import ArgumentError, check_known
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import PinnedLeg
from tailwork.mechanics.torso import TorsoState, stance_leg, torso_state


def no_initial_configuration() -> list[Scalar]:
    """The initial configuration [m, rad] where it is given as numbers: laws cannot know it."""
    got = "a law that holds the initial configuration, which is given as numbers"
    required = "the initial state Standing(), or the law's own posture, such as RestTorques(posture=q)"
    raise ArgumentError("control", got, required)


@dataclass(frozen=True)
class Context:
    """The time [s] and the state, as scalars; for events, the efforts too."""

    layout: Layout  # where everything stands in q, v and tau
    t: Scalar  # time [s]
    q: Sequence[Scalar]  # configuration [m, rad]
    v: Sequence[Scalar]  # generalized velocity [m/s, rad/s]
    prescribed_acceleration: Sequence[Scalar] = ()  # of prescribed coordinates [rad/s²]
    tau: Sequence[Scalar] = ()  # efforts that act [N m, N]
    requested: Sequence[Scalar] = ()  # efforts that the laws request, before limits [N m, N]
    targets: Mapping[str, tuple[Scalar, Scalar]] = field(default_factory=dict)  # of servos [rad, rad/s], by coordinate
    motions: Mapping[str, LimbMotion] = field(default_factory=dict)  # by limb: what it shall do, for laws to follow
    initial: Callable[[], Sequence[Scalar]] = no_initial_configuration  # gives the initial configuration [m, rad]

    def coordinate(self, name: str) -> Scalar:
        """A coordinate by name [m or rad]."""
        return self.q[self._index(name, self.layout.coordinate_names)]

    def rate(self, name: str) -> Scalar:
        """The rate of a limb's coordinate by name [rad/s]."""
        return self.v[self._index(f"{name} rate", self.layout.velocity_names)]

    @cached_property
    def torso(self) -> TorsoState:
        """The torso's pose and motion."""
        return torso_state(self.layout, self.q, self.v)

    def leg(self, name: str) -> PinnedLeg:
        """A stance leg's angles, rates and geometry."""
        check_known("control", [name], self.layout.stance, "leg in stance")
        return stance_leg(self.layout, self.torso, name)

    def motion(self, limb: str) -> LimbMotion:
        """The motion that a limb shall follow."""
        check_known("motions", [limb], self.motions, "limb with a motion to follow")
        return self.motions[limb]

    def time_derivatives(self, values: Sequence[Scalar]) -> list[Scalar]:
        """d/dt of scalars that depend on the time and on parameters, the state held [1/s]."""
        if not isinstance(self.t, Expression):
            raise ArgumentError("t", self.t, "a recorded time: laws are recorded, not run")
        return [row[0] for row in jacobian(self.t.tape, values, [self.t])]

    def _index(self, name: str, names: tuple[str, ...]) -> int:
        check_known("coordinate", [name], names, "coordinate")
        return names.index(name)


class Law(Protocol):
    """Anything that gives efforts."""

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Efforts by actuator name [N m or N]."""
        ...


@runtime_checkable
class LimbMotion(Protocol):
    """A motion of a whole limb as equations of the robot's numbers and the time."""

    def coordinates(self, layout: Layout, limb: str, t: Scalar) -> Mapping[str, Scalar]:
        """All coordinates of the limb [rad] at a time [s]."""
        ...
