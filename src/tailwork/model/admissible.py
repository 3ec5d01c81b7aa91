"""Efforts that the actuators can give and the feet can bear: of those that do a motion, the smallest.

For each state a convex program. The efforts that give an acceleration are those of least norm and any in the null space
of the actuation matrix; foot forces follow them by an affine map. So the unknowns are steps in the null space alone,
and whatever the solver finds gives the acceleration to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, log10, prod
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import InadmissibleError, RobotError, StateError, UnknownNameError, UnreachableError
from tailwork.kernels.kernel import Floats
from tailwork.mechanics.layout import Layout
from tailwork.model.allocation import REACHED, SMALL
from tailwork.model.checks import SHOWN, rows_not_finite, show_rows
from tailwork.robots.limb import Cable

if TYPE_CHECKING:
    from tailwork.model.model import Model

HELD = 1e-9
"""Largest violation of a constraint, as a share of the efforts or foot forces at play, that still counts as none."""
ACTIVE = 1e-7
"""Constraints with less than this share left are active."""
FIXED = 1e-8
"""Efforts and normal forces that a step of one in the null space changes by less than this share are fixed."""
DOMINANT = 0.05
"""Constraints with at least this share of the largest part in a certificate are blamed."""


class Margins(NamedTuple):
    """How far the constraints of each kind are; zero where one is active."""

    torque: Floats  # (...), smallest share of its limit that an actuator has left; infinite where none is limited
    normal: Floats  # (...), smallest normal force beyond the least required [N]; infinite without feet
    friction: Floats  # (...), friction less the largest ratio of tangential to normal force; of feet that carry a load


@dataclass(frozen=True)
class Admissible:
    """The smallest efforts that keep all constraints. Leading dimensions as asked."""

    efforts: Floats  # (..., actuators) [N m or N]
    foot_forces: Floats  # (..., feet, 3), of the ground on the pinned feet, inertial frame [N]
    margins: Margins
    constraints: tuple[str, ...]  # all of them, in words
    at_bound: np.ndarray  # (..., constraints): which are active

    @property
    def active(self) -> tuple[str, ...]:
        """The constraints that are active in some state."""
        return tuple(name for k, name in enumerate(self.constraints) if self.at_bound[..., k].any())


@dataclass(frozen=True)
class Rules:
    """What efforts and foot forces must keep to. Infinite: no such constraint."""

    lower: Floats  # (actuators,) [N m or N]
    upper: Floats
    cable: np.ndarray  # (actuators,): which can only pull
    least: float  # normal force [N]
    friction: float
    weights: Floats  # (actuators,)


@dataclass(frozen=True)
class _State:
    """One state of a batch, scaled: efforts = (base + span · y)/lift, foot forces = size · (ground + reach · y)."""

    base: Floats  # (actuators,), the efforts of least norm
    span: Floats  # (actuators, unknowns), orthonormal columns orthogonal to the base
    lift: Floats  # (actuators,)
    ground: Floats  # (feet, 3)
    reach: Floats  # (feet, 3, unknowns)
    size: float  # [N]


def rules_for(
    layout: Layout,
    friction: float,
    limits: Mapping[str, float] | None,
    least_normal: float,
    weights: Mapping[str, float] | None,
) -> Rules:
    """The constraints, checked; see `Model.admissible_efforts`."""
    if not _real(friction) or not friction > 0.0:
        raise RobotError("friction", friction, "a positive number; infinite for feet that never slip")
    if not _real(least_normal) or not 0.0 <= least_normal < inf:
        raise RobotError("least_normal", least_normal, "a finite number that is not negative [N]")
    actuators = [actuator for limb in layout.efforts for actuator in layout.limbs[limb].actuators]
    names = layout.actuator_names
    upper = np.array([float(actuator.limit) or inf for actuator in actuators])  # zero: no limit is known
    limited = _by_name("limits", limits, names, "a finite positive number [N m or N]", "{'leg1.k': 40.0}")
    for name, value in limited.items():
        upper[names.index(name)] = value
    shares = _by_name("weights", weights, names, "a finite positive number", "{'leg1.k': 2.0}")
    cable = np.array([isinstance(actuator, Cable) for actuator in actuators], dtype=bool)
    return Rules(
        lower=np.where(cable, 0.0, -upper),
        upper=upper,
        cable=cable,
        least=float(least_normal),
        friction=float(friction),
        weights=np.array([shares.get(name, 1.0) for name in names]),
    )


def _real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _by_name(
    argument: str, given: Mapping[str, float] | None, names: tuple[str, ...], required: str, example: str
) -> dict[str, float]:
    """Positive numbers by actuator name, checked."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise RobotError(argument, given, f"numbers by actuator name, such as {example}")
    for name, value in given.items():
        if name not in names:
            raise UnknownNameError.among(argument, str(name), names, "actuator")
        if not _real(value) or not 0.0 < value < inf:
            raise RobotError(f"{argument}.{name}", value, required)
    return {name: float(value) for name, value in given.items()}


def admissible_efforts(
    model: Model, rules: Rules, q: ArrayLike, v: ArrayLike, a: ArrayLike, forces: ArrayLike | None
) -> Admissible:
    """The smallest efforts that give an acceleration and keep the rules; see `Model.admissible_efforts`."""
    asked = _Asked(model, q, v, a, forces)
    count, feet = len(asked.force), len(model.foot_names)
    root = np.sqrt(rules.weights)
    bases, spans = np.zeros((count, len(root))), []
    for row in range(count):
        bases[row], span = _all_efforts(asked.actuation[row] / root, asked.force[row])
        spans.append(span)
    if not np.isfinite(bases).all():
        raise StateError("a", "efforts so large that they overflow", rows_not_finite(bases))
    start = asked.path(bases / root)
    _check_reached(asked, bases / root, start["acceleration"])
    efforts, ground = np.zeros_like(bases), np.zeros((count, feet, 3))
    left = np.zeros((count, 2 * len(root) + 2 * feet))
    bad: dict[int, _State] = {}
    for row in range(count):
        state = _scaled(asked, row, bases[row], spans[row], root, start["foot_forces"][row], rules)
        found = _smallest_efforts(asked, row, state, rules)
        if found is None:
            bad[row] = state
            continue
        efforts[row], ground[row] = found
        left[row] = _slacks(state, rules, *found)
    if bad:
        raise _inadmissible(model.layout, rules, bad, asked.lead)
    names = constraint_names(model.layout, rules)
    kept = [k for k, name in enumerate(names) if name]
    return Admissible(
        efforts.reshape(*asked.lead, len(root)),
        ground.reshape(*asked.lead, feet, 3),
        Margins(*(margin.reshape(asked.lead) for margin in _margins(rules, efforts, ground))),
        tuple(names[k] for k in kept),
        (left[:, kept] <= ACTIVE).reshape(*asked.lead, len(kept)),
    )


def _largest(x: Floats) -> Floats:
    return np.abs(x).max(axis=-1, initial=0.0)


class _Asked:
    """The states of a batch, one after the other, and what their accelerations need."""

    def __init__(self, model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, forces: ArrayLike | None) -> None:
        force, actuation = model.generalised_force(q, v, a, forces=forces), model.actuation_matrix(q)
        self.model, self.lead = model, force.shape[:-1]
        n, m = actuation.shape[-2:]
        pushed = np.zeros(3 * len(model.layout.pushes)) if forces is None else np.asarray(forces, dtype=np.float64)
        if pushed.ndim >= 2 and pushed.shape[-2:] == (len(model.layout.pushes), 3):
            pushed = pushed.reshape(*pushed.shape[:-2], -1)
        self.q, self.v, self.a, self.forces = (self._rows(x) for x in (q, v, a, pushed))
        rates = model.layout.rates
        given = [k for name in model.layout.given for k in range(*rates[name].indices(n))]
        own = [k for k in range(n) if k not in given]
        self.given = self.a[:, given]
        self.own = own
        self.force = force.reshape(-1, n)[:, own]
        self.actuation = np.broadcast_to(actuation, (*self.lead, n, m)).reshape(-1, n, m)[:, own]
        still = self.path(np.zeros((len(self.q), m)))["acceleration"]
        self.scale = np.maximum(_largest(self.a), _largest(still))  # accelerations at play

    def _rows(self, x: ArrayLike) -> Floats:
        array = np.asarray(x, dtype=np.float64)
        return np.broadcast_to(array, (*self.lead, array.shape[-1])).reshape(prod(self.lead), array.shape[-1])

    def path(self, tau: Floats, row: int | None = None) -> dict[str, Floats]:
        """What follows from efforts: one for each state, or several for one."""
        here = slice(None) if row is None else slice(row, row + 1)
        states = {"q": self.q[here], "v": self.v[here], "given": self.given[here], "forces": self.forces[here]}
        return self.model.ask("path", tau=tau, **states)


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


def _check_reached(asked: _Asked, efforts: Floats, following: Floats) -> None:
    """Raises where the acceleration that follows is not the one asked for: then no efforts give it."""
    bad = tuple(int(k) for k in np.flatnonzero(_largest(following - asked.a) > REACHED * asked.scale))
    if not bad:
        return
    missing = asked.force[bad[0]] - asked.actuation[bad[0]] @ efforts[bad[0]]
    worst = int(np.abs(missing).argmax())
    layout = asked.model.layout
    unit = "N" if layout.torso_free and asked.own[worst] < 3 else "N m"
    raise UnreachableError(
        "a",
        f"no efforts of the actuators give this in {show_rows(bad, asked.lead)}, whatever their size: "
        f"{missing[worst]:.4g} {unit} is missing on {layout.velocity_names[asked.own[worst]]}. `allocation` gives the "
        "nearest efforts and what they miss",
        bad,
    )


def _scaled(asked: _Asked, row: int, base: Floats, span: Floats, root: Floats, forces: Floats, rules: Rules) -> _State:
    """The program of one state, in numbers of about one."""
    effort = float(np.abs(base).max(initial=0.0))
    # Foot forces are affine in the efforts; a long step tells their slope best.
    step = max(effort, 1.0)
    slope = np.zeros((*forces.shape, span.shape[1]))
    if span.shape[1] and len(forces):
        beyond = asked.path((base + step * span.T) / root, row)["foot_forces"] - forces
        slope = np.moveaxis(beyond, 0, -1) / step
    size = max(float(np.abs(forces).max(initial=0.0)), rules.least) or 1.0
    steep = float(np.abs(slope).max(initial=0.0))
    unit = max(effort, size / steep if steep > 0.0 else 0.0) or 1.0
    return _State(base / unit, span, root / unit, forces / size, slope * (unit / size), size)


def constraint_names(layout: Layout, rules: Rules) -> list[str]:
    """All constraints in words: limits, tensions, normal forces, friction; empty for those that do not exist."""
    said = []
    for k, (name, unit) in enumerate(zip(layout.actuator_names, layout.actuator_units, strict=True)):
        sign = "≤ " if rules.cable[k] else "±"
        said.append(f"limit of {name} {sign}{rules.upper[k]:g} {unit}" if isfinite(rules.upper[k]) else "")
    said += [f"tension of {name} ≥ 0" if rules.cable[k] else "" for k, name in enumerate(layout.actuator_names)]
    least = f"{rules.least:g} N" if rules.least else "0"
    said += [f"normal force of {foot} ≥ {least}" for foot in layout.stance]
    said += [f"friction of {foot} ≤ {rules.friction:g}" if isfinite(rules.friction) else "" for foot in layout.stance]
    return said


def _slacks(state: _State, rules: Rules, efforts: Floats, forces: Floats) -> Floats:
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


# The program


class _Rows(NamedTuple):
    """bound − matrix · y is not negative in the first `linear` rows and lies in a cone in each three that follow."""

    matrix: Floats
    bound: Floats
    linear: int
    owner: np.ndarray  # which constraint each linear row belongs to, in the order of `constraint_names`


def _rows(state: _State, rules: Rules) -> _Rows:
    """The rules as rows: limits and tensions, normal forces, then a cone for each foot."""
    m, feet = len(state.base), np.arange(len(state.ground))
    up, low = np.flatnonzero(np.isfinite(rules.upper)), np.flatnonzero(np.isfinite(rules.lower))
    pushing = feet if isfinite(rules.least) else feet[:0]
    matrix = [state.span[up], -state.span[low], -state.reach[pushing, 2]]
    bound = [
        rules.upper[up] * state.lift[up] - state.base[up],
        state.base[low] - rules.lower[low] * state.lift[low],
        state.ground[pushing, 2] - rules.least / state.size if len(pushing) else np.zeros(0),
    ]
    owner = np.concatenate([up, np.where(rules.cable[low], m + low, low), 2 * m + pushing])
    flat, level = np.vstack(matrix), np.concatenate(bound)
    # What the unknowns have no part in and is kept is left out, so that an effort at its bound takes no room.
    matters = (np.abs(flat).max(axis=1, initial=0.0) > FIXED) | (level < -HELD)
    matrix, bound, owner = [flat[matters]], [level[matters]], owner[matters]
    if isfinite(rules.friction):
        axes = np.array([rules.friction, 1.0, 1.0]) / max(rules.friction, 1.0)
        for foot in feet:
            matrix.append(-axes[:, None] * state.reach[foot][[2, 0, 1]])
            bound.append(axes * state.ground[foot][[2, 0, 1]])
    return _Rows(np.vstack(matrix), np.concatenate(bound), len(owner), owner)


def _solved(square: Floats, slope: Floats, rows: _Rows) -> tuple[Floats, Floats]:
    """Minimise ½ Σ square y² + slope · y within the rows: y, and the multipliers of the rows."""
    import clarabel  # slow to import, and needed here only
    from scipy.sparse import csc_matrix

    solver: Any = clarabel  # compiled, without types
    settings = solver.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    # Tolerances at which the solver does not stall yet; regularised less than usual, for the scaling is good.
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.static_regularization_constant = 1e-13
    cones = [solver.NonnegativeConeT(rows.linear)] if rows.linear else []
    cones += [solver.SecondOrderConeT(3)] * ((len(rows.bound) - rows.linear) // 3)
    objective, matrix = csc_matrix(np.diag(square)), csc_matrix(rows.matrix)
    found = solver.DefaultSolver(objective, slope, matrix, rows.bound, cones, settings).solve()
    return np.array(found.x), np.array(found.z)


def _heads(rows: _Rows) -> Floats:
    """One for linear rows and the first row of each cone, zero for the others: loosening a constraint adds to these."""
    heads = np.ones(len(rows.bound))
    heads[rows.linear + 1 :: 3] = heads[rows.linear + 2 :: 3] = 0.0
    return heads


def _shortfall(rows: _Rows) -> tuple[float, Floats]:
    """How much all constraints must be loosened to hold together (negative: tightened, by one at most).

    With it the multipliers. Where it is positive they are a certificate: the constraints added up with these factors
    contradict themselves. They sum to one.
    """
    count = rows.matrix.shape[1]
    matrix = np.vstack([np.append(np.zeros(count), -1.0), np.column_stack([rows.matrix, -_heads(rows)])])
    slope = np.append(np.zeros(count), 1.0)
    loose = _Rows(matrix, np.append(1.0, rows.bound), rows.linear + 1, rows.owner)
    y, multipliers = _solved(np.zeros(count + 1), slope, loose)
    return float(y[-1]), multipliers[1:]


def _smallest_efforts(asked: _Asked, row: int, state: _State, rules: Rules) -> tuple[Floats, Floats] | None:
    """Efforts and foot forces of one state; None if no efforts keep the rules."""
    found = _kept(asked, row, state, rules, np.zeros(state.span.shape[1]))
    if found is not None:
        return found  # nothing is smaller than the least norm
    rows = _rows(state, rules)
    found = _found(asked, row, state, rules, rows)
    if found is not None:
        return found
    missing = _shortfall(rows)[0]
    if missing > 0.5 * HELD:
        return None
    # What is just possible leaves the solver no room: it gets a little.
    for share in (0.25, 0.45):
        loose = rows._replace(bound=rows.bound + _heads(rows) * (max(missing, 0.0) + share * HELD))
        found = _found(asked, row, state, rules, loose)
        if found is not None:
            return found
    if missing < -1e3 * HELD:  # not at the edge, where what is possible cannot be told from what is not
        raise StateError("a", f"no efforts found in {show_rows((row,), asked.lead)}, though there are some", (row,))
    return None


def _found(asked: _Asked, row: int, state: _State, rules: Rules, rows: _Rows) -> tuple[Floats, Floats] | None:
    """The solver's efforts, improved to rounding where that succeeds; None if they break the rules."""
    count = state.span.shape[1]
    if not count:
        return None
    y, multipliers = _solved(np.ones(count), np.zeros(count), rows)
    better = _polished(rows, y, multipliers)
    found = None if better is None else _kept(asked, row, state, rules, better)
    return found or _kept(asked, row, state, rules, y)


def _polished(rows: _Rows, y: Floats, multipliers: Floats) -> Floats | None:
    """Newton's method on the constraints that are active: the solver's answer to rounding, or None if that fails."""
    left = rows.bound - rows.matrix @ y
    fixed = [k for k in range(rows.linear) if multipliers[k] > left[k]]
    bent: list[int] = []
    weights: list[float] = []
    for k in range(rows.linear, len(left), 3):
        if multipliers[k] - np.hypot(*multipliers[k + 1 : k + 3]) > left[k]:
            fixed += [k, k + 1, k + 2]  # at the tip of the cone
        elif multipliers[k] > left[k] - np.hypot(*left[k + 1 : k + 3]):
            bent.append(k)
            weights.append(float(multipliers[k]))
    new = y.copy()
    for _ in range(10):
        left = rows.bound - rows.matrix @ new
        hessian, slopes, values = np.eye(len(y)), [-rows.matrix[fixed]], [left[fixed]]
        for k, weight in zip(bent, weights, strict=True):
            across, turning = left[k + 1 : k + 3], rows.matrix[k + 1 : k + 3]
            length = np.hypot(*across)
            if not length > 0.0:
                return None
            along = across / length
            slopes.append((-rows.matrix[k] + along @ turning)[None])
            values.append(np.array([left[k] - length]))
            hessian += weight / length * turning.T @ (np.eye(2) - np.outer(along, along)) @ turning
        slope, value = np.vstack(slopes), np.concatenate(values)
        whole = np.block([[hessian, -slope.T], [slope, np.zeros((len(value), len(value)))]])
        step = np.linalg.lstsq(whole, np.concatenate([-new, -value]), rcond=1e-13)[0]
        new = new + step[: len(y)]
        weights = list(step[len(step) - len(bent) :])
        if not np.abs(step[: len(y)]).max() > 1e-15:
            break
    same = np.abs(new - y).max() < 1e-3 and new @ new <= y @ y + 1e-9
    return new if same else None


def _kept(asked: _Asked, row: int, state: _State, rules: Rules, y: Floats) -> tuple[Floats, Floats] | None:
    """Efforts, of cables exactly not negative, and their foot forces; None if they break the rules."""
    actuation = asked.actuation[row]
    efforts = (state.base + state.span @ y) / state.lift
    for _ in range(3):
        slack = rules.cable & (efforts <= 0.0)
        if (efforts[slack] * state.lift[slack] < -HELD).any():
            return None
        if not efforts[slack].any():
            break
        # The others take over what rounding has made a cable push.
        efforts[slack] = 0.0
        lift, missing = state.lift[~slack], asked.force[row] - actuation @ efforts
        efforts[~slack] += np.linalg.lstsq(actuation[:, ~slack] / lift, missing, rcond=SMALL)[0] / lift
    efforts[rules.cable] = np.maximum(efforts[rules.cable], 0.0)
    following = asked.path(efforts[None], row)
    error = np.abs(following["acceleration"][0] - asked.a[row]).max(initial=0.0)
    forces = following["foot_forces"][0]
    held = _slacks(state, rules, efforts, forces).min(initial=inf) >= -HELD
    return (efforts, forces) if held and error <= REACHED * asked.scale[row] else None


# Why there are no efforts


def _inadmissible(layout: Layout, rules: Rules, bad: dict[int, _State], lead: tuple[int, ...]) -> InadmissibleError:
    """The error for states without admissible efforts; reasons for the first of them."""
    row, state = next(iter(bad.items()))
    blame = _blame(constraint_names(layout, rules), state, rules)
    remedies, friction = _remedies(state, rules)
    shown = ", ".join(blame[:SHOWN]) + (f" and {len(blame) - SHOWN} more" if len(blame) > SHOWN else "")
    which = "" if len(bad) == 1 else f" (reasons for {show_rows((row,), lead)})"
    said = f"Possible {'; or '.join(remedies)}" if remedies else "No single kind of constraint is to blame"
    return InadmissibleError(
        "a",
        f"no admissible efforts give this in {show_rows(tuple(bad), lead)}{which}: not all of these can hold: {shown}. "
        f"{said}",
        tuple(bad),
        blame,
        remedies,
        friction,
    )


def _never_slipping(rules: Rules) -> Rules:
    return replace(rules, friction=inf)


def _unlimited(rules: Rules, factor: float = inf) -> Rules:
    """With limits so many times as large."""
    return replace(rules, upper=factor * rules.upper, lower=np.where(rules.cable, rules.lower, -factor * rules.upper))


def _pulling(rules: Rules) -> Rules:
    """With feet that may pull, as far as friction lets them."""
    return replace(rules, least=-inf)


def _pushing(rules: Rules) -> Rules:
    """With cables that may push."""
    return replace(rules, lower=np.where(rules.cable, -inf, rules.lower))


def _blame(names: list[str], state: _State, rules: Rules) -> tuple[str, ...]:
    """The constraints that a certificate rests on, the foremost first."""
    # Kinds of constraints without which it is no more possible are not to blame.
    for without in (_never_slipping, _unlimited, _pulling, _pushing):
        fewer = without(rules)
        if _shortfall(_rows(state, fewer))[0] > 0.5 * HELD:
            rules = fewer
    rows = _rows(state, rules)
    multipliers = _shortfall(rows)[1]
    parts = np.zeros(len(names))
    np.add.at(parts, rows.owner, multipliers[: rows.linear])
    feet = len(state.ground)
    for foot, k in enumerate(range(rows.linear, len(multipliers), 3)):
        # A friction cone also says that the foot pushes: what does not act across is that.
        across = np.hypot(*multipliers[k + 1 : k + 3])
        parts[len(parts) - feet + foot] += across
        parts[len(parts) - 2 * feet + foot] += max(multipliers[k] - across, 0.0) * min(rules.friction, 1.0)
    order = [int(k) for k in np.argsort(-parts, kind="stable") if parts[k] >= DOMINANT * parts.max()]
    return tuple(names[k] for k in order)


def _remedies(state: _State, rules: Rules) -> tuple[tuple[str, ...], float | None]:
    """What alone would make it possible, and the least friction that would."""

    def possible(changed: Rules) -> bool:
        return _shortfall(_rows(state, changed))[0] <= 0.5 * HELD

    found: list[str] = []
    friction: float | None = None
    if np.isfinite(rules.upper).any() and possible(_unlimited(rules)):
        factor = _least(lambda factor: possible(_unlimited(rules, factor)), 1.0)
        found.append("without limits of the actuators" if factor is None else f"with limits {factor:g} times as large")
    if rules.cable.any() and possible(_pushing(rules)):
        found.append("if cables could push")
    unloaded = rules.least > 0.0 and possible(replace(rules, least=0.0))
    if unloaded:
        found.append("if any normal force of 0 or more were enough")
    slippery = isfinite(rules.friction) and len(state.ground) > 0
    if slippery and possible(_never_slipping(rules)):
        friction = _least(lambda value: possible(replace(rules, friction=value)), rules.friction)
        found.append("if feet never slipped" if friction is None else f"with friction of at least {friction:g}")
    elif len(state.ground) and not unloaded and possible(_pulling(_never_slipping(rules))):
        found.append("if feet could pull" + (" and never slipped" if slippery else ""))
    return tuple(found), friction


def _least(possible: Callable[[float], bool], start: float) -> float | None:
    """The least number above `start` that makes something possible, rounded up to three digits; None beyond 1e4 ×."""
    low, high = start, 2.0 * start
    while not possible(high):
        low, high = high, 2.0 * high
        if high > 1e4 * max(start, 1.0):
            return None
    while high > (1.0 + 1e-5) * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if possible(middle) else (middle, high)
    digit = 10.0 ** (floor(log10(high)) - 2)
    return float(f"{ceil(high / digit) * digit:.3g}")
