"""Why runs stop before their time: the statuses that drivers give, and what they mean in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FINISHED, AT_EVENT, STUCK, TOO_LONG = 0, 1, 2, 3
"""How a run ends: at its end, at an event that stops it, where no step is small enough, after too many steps."""
OFF_THE_FIELD, RUNAWAY = 4, 5
"""On ground also where a foot leaves the height field, and on rigid ground where velocities grow without bound."""
CHATTER = 6
"""By method="event-driven" also where contacts change too often."""
REFUSED = -1
"""Of a run whose design is not possible: it was not started."""
MOST_EVENTS, WINDOW = 100, 1e-3
"""More events than this within so long [s] are chatter."""

STUCK_REASON = (
    "no step is small enough, or the given one is too long: the motion comes to where the model ends, such as a "
    "straight leg"
)
STUCK_ON_GROUND = "numbers are not finite any more: take a shorter step, or look for a joint that is singular"
STUCK_BETWEEN_EVENTS = "no step is small enough: a joint that is singular, or a point that leaves the height field"
"""The same on ground by time stepping, and from event to event."""
DIVERGED = "the motion diverges: a controller that is too stiff for its rate, or a step that is too long"
"""Where the last states of a run on ground cannot be evaluated."""
REASONS = {
    FINISHED: "",
    TOO_LONG: "more steps than allowed",
    OFF_THE_FIELD: "a foot leaves the height field",
    RUNAWAY: "velocities grow without bound: axes of a joint come in line, as those of a universal joint do at 90° "
    "(give them an armature), or the step is too long (take a shorter one)",
    REFUSED: "not possible",
    CHATTER: f"contacts change more than {MOST_EVENTS} times within {WINDOW:g} s",
}


@dataclass(frozen=True)
class Stopped:
    """Why and when a run ended before its time."""

    time: float  # when [s]
    reason: str  # in words


def why_stopped(status: int, event: int, names: Sequence[str], stuck: str = STUCK_REASON) -> str:
    """Why a run ended before its time; empty: it did not.

    Args:
        status: of the driver.
        event: the number of the event that stopped it, where one did.
        names: of all events.
        stuck: what it means that no step was possible.
    """
    return names[event] if status == AT_EVENT else stuck if status == STUCK else REASONS[status]
