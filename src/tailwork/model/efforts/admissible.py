"""Efforts that the actuators can give and the feet can bear: of those that do a motion, the smallest.

For each state a convex program. The efforts that give an acceleration are those of least norm and any in the null space
of the actuation matrix; foot forces follow them by an affine map. So the unknowns are steps in the null space alone,
and whatever the solver finds gives the acceleration to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import StateError
from tailwork.model.checks import rows_not_finite, show_rows
from tailwork.model.efforts.allocation import REACHED, SMALL, States, largest, missing_text, unreachable
from tailwork.model.efforts.blame import inadmissible
from tailwork.model.efforts.cones import HELD, ConeRows, ScaledState, heads, polished, rows_of, shortfall, solve_cone
from tailwork.model.efforts.rules import Rules, constraint_names
from tailwork.typing import Floats

if TYPE_CHECKING:
    from tailwork.model.model import Model

ACTIVE = 1e-7
"""Constraints with less than this share left are active."""


class Margins(NamedTuple):
    """How far the constraints of each kind are; zero where one is active."""

    torque: Floats  # (...), smallest share of its limit that an actuator has left; infinite where none is limited
    normal: Floats  # (...), smallest normal force beyond the least required [N]; infinite without feet
    friction: Floats  # (...), friction less the largest ratio of tangential to normal force; of feet that carry a load


@dataclass(frozen=True, eq=False)
class Admissible:
    """The smallest efforts that keep all constraints. Leading dimensions as those of the arguments."""

    efforts: Floats  # (..., actuators) [N m or N]
    foot_forces: Floats  # (..., feet, 3), of the ground on the pinned feet, inertial frame [N]
    margins: Margins  # how far the constraints are
    constraints: tuple[str, ...]  # all of them, in words
    at_bound: np.ndarray  # (..., constraints): which are active; yes or no

    @property
    def active(self) -> tuple[str, ...]:
        """The constraints that are active in some state."""
        return tuple(name for k, name in enumerate(self.constraints) if self.at_bound[..., k].any())


def admissible_efforts(
    model: Model, rules: Rules, q: ArrayLike, v: ArrayLike, a: ArrayLike, forces: ArrayLike | None
) -> Admissible:
    """The smallest efforts that give an acceleration and keep the rules; see `Model.admissible_efforts`."""
    batch = States(model, q, v, a, forces, "path")
    count, feet = len(batch.force), len(model.foot_names)
    root = np.sqrt(rules.weights)
    bases, spans = np.zeros((count, len(root))), []
    for row in range(count):
        bases[row], span = _all_efforts(batch.actuation[row] / root, batch.force[row])
        spans.append(span)
    if not np.isfinite(bases).all():
        raise StateError("a", "efforts so large that they overflow", rows_not_finite(bases))
    start = batch.following(bases / root)
    beyond = np.flatnonzero(largest(start["acceleration"] - batch.a) > REACHED * batch.scale).tolist()
    if beyond:
        missing = np.zeros_like(batch.a)
        missing[:, batch.own] = batch.missing(bases / root)
        why = missing_text(model.layout, missing[beyond[0]])
        raise unreachable("a", tuple(beyond), batch.lead, ", whatever their size", why)
    efforts, ground = np.zeros_like(bases), np.zeros((count, feet, 3))
    left = np.zeros((count, 2 * len(root) + 2 * feet))
    bad: dict[int, ScaledState] = {}
    for row in range(count):
        state = _scaled(batch, row, bases[row], spans[row], root, start["foot_forces"][row], rules)
        found = _smallest_efforts(batch, row, state, rules)
        if found is None:
            bad[row] = state
            continue
        efforts[row], ground[row] = found
        left[row] = _slacks(state, rules, *found)
    if bad:
        raise inadmissible(model.layout, rules, bad, batch.lead)
    names = constraint_names(model.layout, rules)
    kept = [k for k, name in enumerate(names) if name]
    return Admissible(
        efforts.reshape(*batch.lead, len(root)),
        ground.reshape(*batch.lead, feet, 3),
        Margins(*(margin.reshape(batch.lead) for margin in _margins(rules, efforts, ground))),
        tuple(names[k] for k in kept),
        (left[:, kept] <= ACTIVE).reshape(*batch.lead, len(kept)),
    )


def _all_efforts(actuation: Floats, force: Floats) -> tuple[Floats, Floats]:
    """The efforts of least norm for a force, and a basis of all that add nothing to it."""
    n, m = actuation.shape
    if not n or not m:
        return np.zeros(m), np.eye(m)
    # Rows of one size: neither answer depends on it, and small limbs are told from rounding.
    size = np.linalg.norm(actuation, axis=1)
    size[size == 0.0] = 1.0
    actuation, force = actuation / size[:, None], force / size
    left, singular, right = np.linalg.svd(actuation)
    rank = int((singular > SMALL * singular[0]).sum())
    inverse = right[:rank].T @ (left[:, :rank].T / singular[:rank, None])
    least = inverse @ force
    least += inverse @ (force - actuation @ least)
    return least, right[rank:].T


def _scaled(
    batch: States, row: int, base: Floats, span: Floats, root: Floats, forces: Floats, rules: Rules
) -> ScaledState:
    """The program of one state, in numbers of about one."""
    effort = float(np.abs(base).max(initial=0.0))
    # Foot forces are affine in the efforts; a long step tells their slope best.
    step = max(effort, 1.0)
    slope = np.zeros((*forces.shape, span.shape[1]))
    if span.shape[1] and len(forces):
        beyond = batch.following((base + step * span.T) / root, row)["foot_forces"] - forces
        slope = np.moveaxis(beyond, 0, -1) / step
    size = max(float(np.abs(forces).max(initial=0.0)), rules.least) or 1.0
    steep = float(np.abs(slope).max(initial=0.0))
    unit = max(effort, size / steep if steep > 0.0 else 0.0) or 1.0
    return ScaledState(base / unit, span, root / unit, forces / size, slope * (unit / size), size)


def _slacks(state: ScaledState, rules: Rules, efforts: Floats, forces: Floats) -> Floats:
    """What is left of each constraint, scaled, in the order of `constraint_names`; infinite where there is none."""
    tension = np.where(rules.cable & np.isfinite(rules.lower), efforts * state.lift, inf)
    size = np.where(rules.cable, efforts, np.abs(efforts))
    across = np.hypot(forces[:, 0], forces[:, 1])
    slip = np.full(len(forces), inf)
    if isfinite(rules.friction):
        slip = (rules.friction * forces[:, 2] - across) / (max(rules.friction, 1.0) * state.size)
    return np.concatenate([(rules.upper - size) * state.lift, tension, (forces[:, 2] - rules.least) / state.size, slip])


def _margins(rules: Rules, efforts: Floats, forces: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each kind of constraint, what is left of the nearest."""
    size = np.where(rules.cable, efforts, np.abs(efforts))
    torque = np.where(np.isfinite(rules.upper), 1.0 - size / rules.upper, inf).min(axis=-1, initial=inf)
    across, normal = np.hypot(forces[..., 0], forces[..., 1]), forces[..., 2]
    loaded = normal > 1e-6 * np.abs(forces).max(axis=(-2, -1), initial=0.0)[:, None]
    needed = np.where(loaded, across / np.where(loaded, normal, 1.0), 0.0)
    return (
        torque,
        (normal - rules.least).min(axis=-1, initial=inf),
        (rules.friction - needed).min(axis=-1, initial=inf),
    )


def _smallest_efforts(batch: States, row: int, state: ScaledState, rules: Rules) -> tuple[Floats, Floats] | None:
    """Efforts and foot forces of one state; None if no efforts keep the rules."""
    found = _kept(batch, row, state, rules, np.zeros(state.span.shape[1]))
    if found is not None:
        return found  # nothing is smaller than the least norm
    rows = rows_of(state, rules)
    found = _found(batch, row, state, rules, rows)
    if found is not None:
        return found
    missing = shortfall(rows)[0]
    if missing > 0.5 * HELD:
        return None
    # What is just possible leaves the solver no room: it gets a little.
    for share in (0.25, 0.45):
        loose = rows._replace(bound=rows.bound + heads(rows) * (max(missing, 0.0) + share * HELD))
        found = _found(batch, row, state, rules, loose)
        if found is not None:
            return found
    if missing < -1e3 * HELD:  # not at the edge, where what is possible cannot be told from what is not
        raise StateError("a", f"no efforts found in {show_rows((row,), batch.lead)}, though there are some", (row,))
    return None


def _found(batch: States, row: int, state: ScaledState, rules: Rules, rows: ConeRows) -> tuple[Floats, Floats] | None:
    """The solver's efforts, improved to rounding where that succeeds; None if they break the rules."""
    count = state.span.shape[1]
    if not count:
        return None
    y, multipliers = solve_cone(np.ones(count), np.zeros(count), rows)
    better = polished(rows, y, multipliers)
    found = None if better is None else _kept(batch, row, state, rules, better)
    return found or _kept(batch, row, state, rules, y)


def _kept(batch: States, row: int, state: ScaledState, rules: Rules, y: Floats) -> tuple[Floats, Floats] | None:
    """Efforts, of cables exactly not negative, and their foot forces; None if they break the rules."""
    actuation = batch.actuation[row]
    efforts = (state.base + state.span @ y) / state.lift
    for _ in range(3):
        slack = rules.cable & (efforts <= 0.0)
        if (efforts[slack] * state.lift[slack] < -HELD).any():
            return None
        if not efforts[slack].any():
            break
        # The others take over what rounding has made a cable push.
        efforts[slack] = 0.0
        lift, missing = state.lift[~slack], batch.force[row] - actuation @ efforts
        efforts[~slack] += np.linalg.lstsq(actuation[:, ~slack] / lift, missing, rcond=SMALL)[0] / lift
    efforts[rules.cable] = np.maximum(efforts[rules.cable], 0.0)
    following = batch.following(efforts[None], row)
    error = np.abs(following["acceleration"][0] - batch.a[row]).max(initial=0.0)
    forces = following["foot_forces"][0]
    held = _slacks(state, rules, efforts, forces).min(initial=inf) >= -HELD
    return (efforts, forces) if held and error <= REACHED * batch.scale[row] else None
