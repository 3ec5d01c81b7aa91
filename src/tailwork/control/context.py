"""What laws and events look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from tailwork.algebra.expression import Scalar
from tailwork.errors import UnknownNameError
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import PinnedLeg
from tailwork.mechanics.torso import TorsoState, stance_leg, torso_state


@dataclass(frozen=True)
class Moment:
    """The time [s] and the state, as scalars; for events, the efforts too."""

    layout: Layout  # where everything stands in q, v and tau
    t: Scalar  # time [s]
    q: Sequence[Scalar]  # coordinates [m, rad]
    v: Sequence[Scalar]  # velocities [m/s, rad/s]
    given: Sequence[Scalar] = ()  # accelerations of prescribed coordinates [rad/s²]
    tau: Sequence[Scalar] = ()  # efforts that act [N m, N]
    asked: Sequence[Scalar] = ()  # efforts that the laws ask for, before limits [N m, N]
    targets: Mapping[str, tuple[Scalar, Scalar]] = field(default_factory=dict)  # of servos [rad, rad/s], by coordinate

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
        if name not in self.layout.stance:
            raise UnknownNameError.among("control", name, self.layout.stance, "leg in stance")
        return stance_leg(self.layout, self.torso, name)

    def _index(self, name: str, names: tuple[str, ...]) -> int:
        if name not in names:
            raise UnknownNameError.among("control", name, names, "coordinate")
        return names.index(name)


class Law(Protocol):
    """Anything that gives efforts."""

    def efforts(self, moment: Moment) -> Mapping[str, Scalar]:
        """Efforts by actuator name [N m or N]."""
        ...
