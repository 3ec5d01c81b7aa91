"""Events: quantities that must not fall below zero, and what to do when one does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, sqrt
from tailwork.errors import RobotError
from tailwork.mechanics.observe import Path
from tailwork.simulation.control import Moment

ACTIONS = ("stop", "record")


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events."""

    action: str = "record"

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise RobotError("action", self.action, "'stop' or 'record'")

    def names(self, feet: Sequence[str]) -> list[str]:
        """A name for each quantity."""
        raise NotImplementedError

    def values(self, moment: Moment, path: Path) -> list[Scalar]:
        """The quantities, positive as long as all is well."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LegStraight(Event):
    """A stance leg is nearly straight: beyond this extension numbers stay finite but are wrong."""

    extension: float = 0.985
    action: str = "stop"

    def names(self, feet: Sequence[str]) -> list[str]:
        """One a foot."""
        return [f"{foot} nearly straight (extension {self.extension:g})" for foot in feet]

    def values(self, moment: Moment, path: Path) -> list[Scalar]:
        """What is left of the extension."""
        return [self.extension - extension for extension in path.extensions]


@dataclass(frozen=True, kw_only=True)
class FootPulls(Event):
    """A foot would have to pull on the ground to stay."""

    def names(self, feet: Sequence[str]) -> list[str]:
        """One a foot."""
        return [f"{foot} would pull" for foot in feet]

    def values(self, moment: Moment, path: Path) -> list[Scalar]:
        """Normal force of each foot [N]."""
        return list(path.foot_forces[2::3])


@dataclass(frozen=True, kw_only=True)
class FootSlips(Event):
    """A foot needs more friction than there is."""

    friction: float

    def names(self, feet: Sequence[str]) -> list[str]:
        """One a foot."""
        return [f"{foot} needs friction above {self.friction:g}" for foot in feet]

    def values(self, moment: Moment, path: Path) -> list[Scalar]:
        """What is left of the friction cone [N]."""
        forces = path.foot_forces
        left = []
        for k in range(0, len(forces), 3):
            across = sqrt(forces[k] * forces[k] + forces[k + 1] * forces[k + 1])
            left.append(forces[k + 2] * self.friction - across)
        return left


@dataclass(frozen=True, kw_only=True)
class When(Event):
    """A quantity of your own: a function of the moment, written with arithmetic only, falls below zero."""

    name: str
    quantity: Callable[[Moment], Scalar]

    def names(self, feet: Sequence[str]) -> list[str]:
        """Its name."""
        return [self.name]

    def values(self, moment: Moment, path: Path) -> list[Scalar]:
        """Its value."""
        return [self.quantity(moment)]
