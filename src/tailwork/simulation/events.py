"""Events: quantities that must not fall below zero, and what to do when one does.

They are looked at where steps end, then located within the step; one that dips and returns within it is not seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailwork.algebra.expression import Scalar, is_zero, larger, smaller, sqrt
from tailwork.control.context import Context
from tailwork.errors import ArgumentError, check_known
from tailwork.mechanics.kinematics import limb_states
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import Path
from tailwork.mechanics.pinned import reach
from tailwork.robots.closed_form import clearance_of
from tailwork.robots.limb import Cable, Joint, Motor, as_vector
from tailwork.robots.quantities import Described, nonnegative

ACTIONS = ("stop", "record")
ROUNDING = 1e-9
"""Share of a range by which a stiffness may be outside of it."""


@dataclass(frozen=True, kw_only=True)
class Event(Described, ABC):
    """Base of all events."""

    action: str = "record"  # when a quantity falls below zero: "record" that, or "stop" the run

    def check(self) -> None:
        """Whether the action is known."""
        if self.action not in ACTIONS:
            raise ArgumentError("action", self.action, "'stop' or 'record'")

    @abstractmethod
    def names(self, layout: Layout) -> list[str]:
        """A name for each quantity."""

    @abstractmethod
    def values(self, context: Context, path: Path) -> list[Scalar]:
        """The quantities, each in its own unit [m, N, 1, …], positive as long as all is well."""


@dataclass(frozen=True, kw_only=True)
class LegStraight(Event):
    """A stance leg is nearly straight: beyond this extension forces and rates grow without bound."""

    extension: float = 0.985  # share of its longest that a leg may reach [1]; 1 is straight
    action: str = "stop"  # as of all events; here the run stops by default

    def names(self, layout: Layout) -> list[str]:
        """One a foot."""
        return [f"{foot} nearly straight (extension {self.extension:g})" for foot in layout.stance]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left of the extension [1]."""
        return [self.extension - extension for extension in path.extensions]


@dataclass(frozen=True, kw_only=True)
class LegFolded(Event):
    """A stance leg is nearly folded onto its hip: there, too, forces and rates grow without bound."""

    extension: float = 0.1  # share of the way from folded (0) to straight (1) that must be left [1]
    action: str = "stop"  # as of all events; here the run stops by default

    def names(self, layout: Layout) -> list[str]:
        """One a foot."""
        return [f"{foot} nearly folded onto its hip (extension {self.extension:g})" for foot in layout.stance]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left until there [1]."""
        left: list[Scalar] = []
        for foot, extension in zip(context.layout.stance, path.extensions, strict=True):
            folded, straight = reach(context.layout.limbs[foot])
            left.append(extension - (folded + (straight - folded) * self.extension))
        return left


@dataclass(frozen=True, kw_only=True)
class FootNearHip(Event):
    """The foot of a stance leg with a sideways offset is nearly level with its hip, at the distance of the offset from
    the first hinge's axis: nearer, the leg cannot reach it."""

    clearance: float = 0.05  # from there, as a share of the leg's bars, that must be left [1]
    action: str = "stop"  # as of all events; here the run stops by default

    def names(self, layout: Layout) -> list[str]:
        """One a foot of such a leg."""
        feet = [foot for foot in layout.stance if clearance_of(layout.limbs[foot].closed_form) is not None]
        return [f"{foot} nearly level with its hip (clearance {self.clearance:g})" for foot in feet]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left until there [1]."""
        forms = {foot: clearance_of(context.layout.limbs[foot].closed_form) for foot in context.layout.stance}
        return [
            form(as_vector(context.torso.feet[foot])) - self.clearance
            for foot, form in forms.items()
            if form is not None
        ]


DEFAULT_EVENTS: tuple[Event, ...] = (LegStraight(), LegFolded(), FootNearHip())
"""What is watched unless a caller says what: where the equations of a stance leg end."""


@dataclass(frozen=True, kw_only=True)
class FootPulls(Event):
    """A foot would have to pull on the ground to stay."""

    def names(self, layout: Layout) -> list[str]:
        """One a foot."""
        return [f"{foot} would pull" for foot in layout.stance]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """Normal force of each foot [N]."""
        return list(path.foot_forces[2::3])


@dataclass(frozen=True, kw_only=True)
class FootSlips(Event):
    """A foot needs more friction than there is."""

    friction: float = nonnegative("1")  # that there is: largest ratio of tangential to normal force

    def names(self, layout: Layout) -> list[str]:
        """One a foot."""
        return [f"{foot} needs friction above {self.friction:g}" for foot in layout.stance]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left of the friction cone [N]."""
        forces = path.foot_forces
        left = []
        for k in range(0, len(forces), 3):
            across = sqrt(forces[k] * forces[k] + forces[k + 1] * forces[k + 1])
            left.append(forces[k + 2] * self.friction - across)
        return left


@dataclass(frozen=True, kw_only=True)
class CablePushes(Event):
    """A cable is asked to push, which it cannot. Every run of a robot with cables watches this."""

    action: str = "stop"

    def names(self, layout: Layout) -> list[str]:
        """One a cable."""
        return [f"{layout.actuator_names[k]} would have to push" for k in cables(layout)]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """The tensions [N]."""
        return [context.tau[k] for k in cables(context.layout)]


@dataclass(frozen=True, kw_only=True)
class BeyondLimit(Event):
    """An actuator is asked for more than it can give. Every run of a robot whose actuators have limits watches this.

    For a prescribed limb it is the effort that its motion needs which is compared.
    """

    def names(self, layout: Layout) -> list[str]:
        """One an actuator that has a limit."""
        return [f"{name} is asked for more than its limit" for name in (*limited(layout), *limited_motions(layout))]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left of each limit [N m or N]."""
        left = [limit - size(context.requested[k]) for k, limit in limited(context.layout).values()]
        return left + [
            limit - size(path.prescribed_efforts[k]) for k, limit in limited_motions(context.layout).values()
        ]


@dataclass(frozen=True, kw_only=True)
class JointRange(Event):
    """A joint leaves its range. Every run of a robot whose joints have ranges watches this.

    On rigid ground joints come to a stop there: only a prescribed motion can lead one out of its range.
    """

    prescribed: bool = False  # only joints of prescribed limbs

    def names(self, layout: Layout) -> list[str]:
        """One a joint that has a range."""
        return [f"{name}.{joint.name} leaves its range" for name, joint in self._joints(layout)]

    def _joints(self, layout: Layout) -> list[tuple[str, Joint]]:
        return [own for own in ranged(layout) if not self.prescribed or own[0] in layout.prescribed]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left of each range, to the nearer end [rad, m]."""
        states = limb_states(context.layout, context.torso, context.q, context.v)
        left: list[Scalar] = []
        for name, joint in self._joints(context.layout):
            assert joint.range is not None
            lower, upper = joint.range
            value = states[name].values[states[name].limb.index(joint.name)]
            left.append(smaller(value - lower, upper - value))
        return left


@dataclass(frozen=True, kw_only=True)
class JointSpeed(Event):
    """A joint moves faster than its limit. Every run of a robot whose joints have such limits watches this."""

    def names(self, layout: Layout) -> list[str]:
        """One a joint that has a limit."""
        return [f"{name}.{joint.name} is faster than its limit" for name, joint in quick(layout)]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left of each limit [rad/s, m/s]."""
        states = limb_states(context.layout, context.torso, context.q, context.v)
        return [
            joint.speed_limit - size(states[name].rates[states[name].limb.index(joint.name)])
            for name, joint in quick(context.layout)
        ]


def ranged(layout: Layout) -> list[tuple[str, Joint]]:
    """Joints that have a range, each with its limb."""
    return [(name, joint) for name, limb in layout.limbs.items() for joint in limb.joints if joint.range is not None]


def quick(layout: Layout) -> list[tuple[str, Joint]]:
    """Joints whose speed has a limit, each with its limb."""
    joints = [(name, joint) for name, limb in layout.limbs.items() for joint in limb.joints]
    return [(name, joint) for name, joint in joints if not is_zero(joint.speed_limit)]


def always_watched(layout: Layout, given: Sequence[Event]) -> list[Event]:
    """What no run leaves unwatched, unless it is among the given events."""
    all_events = (CablePushes(), StiffnessOutside(), BeyondLimit(), JointRange(), JointSpeed())
    return [event for event in all_events if event.names(layout) and not any(isinstance(x, type(event)) for x in given)]


def watched_with_stops(events: Sequence[Event], layout: Layout) -> tuple[Event, ...]:
    """What is watched where free joints come to a stop at the ends of their ranges."""
    own = [replace(event, prescribed=True) if isinstance(event, JointRange) else event for event in events]
    return tuple(event for event in own if event.names(layout))


def size(x: Scalar) -> Scalar:
    """|x|."""
    return larger(x, -x)


def limited(layout: Layout) -> dict[str, tuple[int, Scalar]]:
    """By actuator with a limit: its number and the limit [N m or N]."""
    named = zip(layout.actuator_names, layout.actuators, strict=True)
    return {name: (k, actuator.limit) for k, (name, actuator) in enumerate(named) if not is_zero(actuator.limit)}


def limited_motions(layout: Layout) -> dict[str, tuple[int, Scalar]]:
    """By prescribed coordinate whose motor has a limit: its number and the limit on the coordinate [N m]."""
    found: dict[str, tuple[int, Scalar]] = {}
    for name, here in layout.prescribed_accelerations.items():
        limb = layout.limbs[name]
        for motor in limb.actuators:
            if isinstance(motor, Motor) and not is_zero(motor.limit):
                k = here.start + limb.coordinates.index(motor.coordinate)
                found[f"{name}.{motor.name}"] = (k, size(motor.limit * motor.ratio))
    return found


def cables(layout: Layout) -> list[int]:
    """Which actuators are cables."""
    return [k for k, actuator in enumerate(layout.actuators) if isinstance(actuator, Cable)]


@dataclass(frozen=True, kw_only=True)
class StiffnessOutside(Event):
    """A stiffness is asked to leave its range, or to change faster than it can. Every run of a robot with variable
    stiffness watches this. What laws change with the time counts for the rate; what a controller in Python changes is
    checked where it answers."""

    action: str = "stop"

    def names(self, layout: Layout) -> list[str]:
        """Two for a range, one for a rate limit."""
        found = []
        for k, actuator in layout.stiffnesses.items():
            name, unit = layout.actuator_names[k], actuator.unit
            if actuator.range is not None:
                low, high = (f"{x:g}" if isinstance(x, float) else "its limit" for x in actuator.range)
                found += [f"stiffness of {name} below its range ({low} {unit})",
                          f"stiffness of {name} above its range ({high} {unit})"]  # fmt: skip
            if not is_zero(actuator.rate_limit):
                found.append(f"stiffness of {name} changes faster than it can")
        return found

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """What is left of ranges and rates, each in its own unit [1]."""
        left: list[Scalar] = []
        for k, actuator in context.layout.stiffnesses.items():
            stiffness = context.requested[k] + actuator.nominal
            if actuator.range is not None:
                # A share of the range is allowed for rounding at its ends.
                slack = (actuator.range[1] - actuator.range[0]) * ROUNDING
                left += [stiffness - actuator.range[0] + slack, actuator.range[1] - stiffness + slack]
            if not is_zero(actuator.rate_limit):
                rate = context.time_derivatives([context.requested[k]])[0]
                left.append(actuator.rate_limit * (1.0 + ROUNDING) - size(rate))
        return left


@dataclass(frozen=True, kw_only=True)
class When(Event):
    """A quantity of your own: a function of the moment, written with arithmetic only, falls below zero."""

    name: str  # what happens then, in words
    quantity: Callable[[Context], Scalar]  # of the moment, in any unit

    def check(self) -> None:
        """Whether the quantity is a function."""
        super().check()
        _check_quantity(self.quantity)

    def names(self, layout: Layout) -> list[str]:
        """Its name."""
        return [self.name]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """Its value, in its own unit."""
        return [self.quantity(context)]


def _check_quantity(quantity: Any) -> None:
    if not callable(quantity) or not isinstance(quantity, Hashable):
        raise ArgumentError("quantity", quantity, "a function of a Context that makes one number of it")


@dataclass(frozen=True, kw_only=True)
class Lands(Event):
    """A point comes down onto rigid ground, in runs from event to event; where it stops a run, after the impact."""

    point: str  # a contact point by name; a foot by the name of its leg

    def names(self, layout: Layout) -> list[str]:
        """One."""
        check_known("point", [self.point], layout.robot.contact_points(), "contact point")
        return [f"{self.point} lands"]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """None that falls below zero: the contacts themselves tell [1]."""
        return [1.0]


def check_not_rigid(events: Sequence[Event]) -> None:
    """Refuse events that only runs from event to event know."""
    for event in events:
        if isinstance(event, (Lands, PassesThrough)):
            raise ArgumentError("events", event, "method='event-driven' with it, on rigid ground")


@dataclass(frozen=True, kw_only=True)
class PassesThrough(Event):
    """While a quantity is below zero, a point passes through rigid ground, in runs from event to event.

    So walkers without knees, which scuff in the middle of a swing, are looked at as in the literature.
    """

    point: str  # a contact point by name; a foot by the name of its leg
    quantity: Callable[[Context], Scalar]  # of the moment, in any unit: below zero, the point does not touch

    def check(self) -> None:
        """Whether the quantity is a function."""
        super().check()
        _check_quantity(self.quantity)

    def names(self, layout: Layout) -> list[str]:
        """One."""
        check_known("point", [self.point], layout.robot.contact_points(), "contact point")
        return [f"{self.point} passes through the ground"]

    def values(self, context: Context, path: Path) -> list[Scalar]:
        """The quantity, in its own unit."""
        return [self.quantity(context)]
