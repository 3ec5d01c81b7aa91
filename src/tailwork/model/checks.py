"""Why a state cannot be evaluated, in words."""

from __future__ import annotations

import numpy as np

from tailwork.errors import StateError
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import extension as extension_of
from tailwork.mechanics.pinned import reach
from tailwork.mechanics.torso import stance_leg, torso_state
from tailwork.robots.closed_form import clearance_of
from tailwork.robots.limb import as_vector
from tailwork.robots.sizes import stand_remedy
from tailwork.typing import Floats

SHOWN = 5
NO_ANSWER = (
    "no finite answer: a leg that is exactly straight or has its foot on the hip axis, a hinge that moves no inertia "
    "(such as a universal joint at ±90° without armature), a spring or cable of zero length, the attitude at "
    "phi_y = ±90° (use attitude='quaternion'), angles beyond 1e12 rad, or numbers so large that they overflow"
)

ORIGIN = "the torso is at the origin: start from model.standing()"


def rows_not_finite(y: Floats) -> tuple[int, ...]:
    """Rows of a result that are not finite."""
    return tuple(int(k) for k in np.nonzero(~np.isfinite(y).all(axis=1))[0])


def show_rows(rows: tuple[int, ...], lead: tuple[int, ...]) -> str:
    """Which states of a batch, in words."""
    if not lead:
        return "the state"
    places = [np.unravel_index(k, lead) for k in rows[:SHOWN]]
    listed = ", ".join(str(int(p[0])) if len(p) == 1 else str(tuple(int(i) for i in p)) for p in places)
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"state{'s' if len(rows) > 1 else ''} {listed}{more} of {int(np.prod(lead))}"


def explain(layout: Layout, q: Floats, rows: tuple[int, ...]) -> StateError:
    """The error for states whose answer is not finite: a foot out of reach, or a singular posture."""
    states = q.reshape(-1, q.shape[-1])
    where = show_rows(rows, q.shape[:-1])
    quaternion = layout.torso_free and layout.attitude == "quaternion"
    if quaternion and any(np.square(states[row, 3:7]).sum() < 1e-300 for row in rows):
        reason = "a quaternion of length zero"
    else:
        reason = next((said for row in rows if (said := _out_of_reach(layout, states[row]))), NO_ANSWER)
    return StateError("q", f"{reason} ({where} cannot be evaluated)", rows)


def _out_of_reach(layout: Layout, q: Floats) -> str:
    torso = torso_state(layout, [float(x) for x in q], [0.0] * len(layout.velocity_names))
    for name in layout.stance:
        limb = layout.limbs[name]
        assert limb.foot is not None
        place = np.array(limb.foot.place, dtype=float)
        foot = torso.from_inertial(place - torso.position)
        extension, (least, most) = float(extension_of(limb, foot)), reach(limb)
        if not least < extension < most:
            remedy = "" if np.any(q[:3]) else "; " + (stand_remedy(layout.robot) or ORIGIN)
            return (
                f"{name} cannot reach its foot at ({place[0]:.4g}, {place[1]:.4g}, {place[2]:.4g}) m: extension "
                f"{extension:.4f} of thigh and shank, required: above {least:.4g} and below {most:.4g}{remedy}"
            )
        if name in layout.dependent and not _closes(layout, q, name):
            return f"the angles of {name} do not bring its foot to its place within 1 mrad: Model.closed(q) finds such"
        clearance = clearance_of(limb.closed_form)
        if clearance is not None and not clearance(as_vector(foot)) > 0.0:
            return (
                f"{name} cannot reach its foot at ({place[0]:.4g}, {place[1]:.4g}, {place[2]:.4g}) m: it is nearer to "
                "the axis of the first hinge than the leg's sideways offset"
            )
    return ""


def _closes(layout: Layout, q: Floats, name: str) -> bool:
    """Whether the angles of a leg without a closed form are near enough to where they close."""
    torso = torso_state(layout, [float(x) for x in q], [0.0] * len(layout.velocity_names))
    try:
        return np.isfinite(np.array(stance_leg(layout, torso, name).values, dtype=float)).all().item()
    except (ValueError, ZeroDivisionError):
        return False
