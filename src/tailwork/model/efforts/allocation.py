"""Which actuators give a generalised force, where there are more of them than needed, or fewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, StateError, UnreachableError
from tailwork.mechanics.layout import Layout
from tailwork.model.checks import rows_not_finite, show_rows
from tailwork.model.efforts.rules import by_name
from tailwork.robots.limb import Cable
from tailwork.robots.variable_stiffness import VariableStiffness
from tailwork.typing import Floats

if TYPE_CHECKING:
    from tailwork.model.model import Model

SMALL = 1e-12
"""Singular values below this share of the largest count as zero."""
REACHED = 1e-9
"""Largest error of the acceleration, as a share of the accelerations at play, that still counts as reached."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """Efforts that give a generalised force, and how well. Leading dimensions as those of the arguments."""

    efforts: Floats  # (..., actuators) [N m or N]
    residual: Floats  # (..., velocities): generalised force asked for less that given [N, N m]
    reached: np.ndarray  # (...): whether the acceleration that follows differs by rounding only, and no cable pushes
    condition: Floats  # (...): of the matrix inverted [1], that of all actuators not grouped with cables


class States:
    """The states of a batch, one after the other, and what their accelerations need of the actuators."""

    def __init__(
        self, model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, forces: ArrayLike | None, question: str
    ) -> None:
        self.question = question  # "forward_dynamics", or "path" where more than accelerations is wanted
        force, actuation = model.generalised_force(q, v, a, forces=forces), model.actuation_matrix(q)
        self.model, self.lead = model, force.shape[:-1]
        n, m = actuation.shape[-2:]
        pushed = np.zeros(3 * len(model.layout.pushes)) if forces is None else np.asarray(forces, dtype=np.float64)
        if pushed.ndim >= 2 and pushed.shape[-2:] == (len(model.layout.pushes), 3):
            pushed = pushed.reshape(*pushed.shape[:-2], -1)
        self.q, self.v, self.a, self.forces = (self._rows(x) for x in (q, v, a, pushed))
        prescribed = model.layout.prescribed_rates
        self.prescribed_acceleration = self.a[:, prescribed]
        self.own = [k for k in range(n) if k not in prescribed]  # accelerations that actuators give
        rows = prod(self.lead)
        self.force = force.reshape(rows, n)[:, self.own]
        self.actuation = np.broadcast_to(actuation, (*self.lead, n, m)).reshape(rows, n, m)[:, self.own]

    def _rows(self, x: ArrayLike) -> Floats:
        array = np.asarray(x, dtype=np.float64)
        return np.broadcast_to(array, (*self.lead, array.shape[-1])).reshape(prod(self.lead), array.shape[-1])

    def following(self, tau: Floats, row: int | None = None) -> dict[str, Floats]:
        """What follows from efforts: one for each state, or several for one."""
        here = slice(None) if row is None else slice(row, row + 1)
        imposed = self.prescribed_acceleration[here]
        states = {"q": self.q[here], "v": self.v[here], "forces": self.forces[here]}
        return self.model.ask(self.question, tau=tau, prescribed_acceleration=imposed, **states)

    def missing(self, efforts: Floats) -> Floats:
        """What efforts leave over of the force on each velocity that they act on [N, N m]."""
        return self.force - np.einsum("nij,nj->ni", self.actuation, efforts)

    @cached_property
    def scale(self) -> Floats:
        """The size of the accelerations at play: those wanted, and those without efforts."""
        still = self.following(np.zeros((len(self.q), self.actuation.shape[-1])))["acceleration"]
        return np.maximum(largest(self.a), largest(still))


def unreachable(argument: str, bad: tuple[int, ...], lead: tuple[int, ...], how: str, why: str) -> UnreachableError:
    """The error for states, by number, whose accelerations no efforts give."""
    said = f"no efforts of the actuators give this in {show_rows(bad, lead)}{how}: {why}"
    return UnreachableError(argument, f"{said}. `allocation` gives the nearest efforts and what they miss", bad)


def missing_text(layout: Layout, missing: Floats) -> str:
    """The largest part of a generalised force, by velocity [N, N m], that efforts do not give, in words."""
    worst = int(np.abs(missing).argmax())
    unit = "N" if layout.torso_free and worst < 3 else "N m"
    return f"{missing[worst]:.4g} {unit} is missing on {layout.velocity_names[worst]}"


NONE_PINNED = "This model pins no foot; one that stands is Model(robot), with stance='all'"


def check_reached(layout: Layout, allocation: Allocation, cables: Sequence[int], argument: str) -> None:
    """Refuses an allocation that does not give what was asked of it, or in which a cable pushes."""
    bad = tuple(int(k) for k in np.flatnonzero(np.logical_not(allocation.reached)))
    if not bad:
        return
    efforts = allocation.efforts.reshape(-1, allocation.efforts.shape[-1])[bad[0]]
    why = missing_text(layout, allocation.residual.reshape(-1, allocation.residual.shape[-1])[bad[0]])
    for k in (k for k in cables if efforts[k] < 0.0):
        why = f"{layout.actuator_names[k]} would have to push"
    condition = f" (condition number {allocation.condition.ravel()[bad[0]]:.3g})"
    condition += f". {NONE_PINNED}" if layout.legs and not layout.stance and layout.torso_free else ""
    raise unreachable(argument, bad, allocation.condition.shape, "", why + condition)


def largest(x: Floats) -> Floats:
    """The largest size along the last dimension."""
    return np.abs(x).max(axis=-1, initial=0.0)


def allocated(states: States, redundant: Mapping[str, float] | None) -> Allocation:
    """Efforts that come nearest to the accelerations of some states; see `Model.allocation`."""
    model, own, lead = states.model, states.own, states.lead
    if redundant is None:
        efforts, condition = minimum_norm(
            states.force, states.actuation, model.pulling, tuple(model.layout.stiffnesses)
        )
    else:
        names, required = model.actuator_names, "a finite number [N m or N]"
        given = by_name("redundant", redundant, names, required, "{'leg3.ha': 0.0}", isfinite)
        free = [k for k, name in enumerate(names) if name not in given]
        if len(free) != len(own):
            left = f"{len(names) - len(own)} of the {len(names)} actuators, so that {len(own)} are left to solve for"
            raise ArgumentError("redundant", given, left)
        fixed = np.array([given.get(name, 0.0) for name in names])
        efforts, condition = square_allocation(states.force, states.actuation, free, fixed)
    residual = np.zeros_like(states.a)
    residual[:, own] = states.missing(efforts)
    if not (np.isfinite(efforts).all() and np.isfinite(residual).all()):
        raise StateError("a", "efforts so large that they overflow", rows_not_finite(np.hstack([efforts, residual])))
    # Whether they give the acceleration is judged by what they do.
    apart = largest(states.following(efforts)["acceleration"] - states.a)
    pushing = (efforts[:, model.cables] < 0.0).any(axis=-1)
    reached = np.logical_and(apart <= REACHED * states.scale, ~pushing)
    by_actuator, by_velocity = (x.reshape(*lead, x.shape[-1]) for x in (efforts, residual))
    return Allocation(by_actuator, by_velocity, reached.reshape(lead), condition.reshape(lead))


@dataclass(frozen=True)
class PullingGroup:
    """Actuators that act on the same coordinates, and which of them are cables, which can only pull."""

    actuators: tuple[int, ...]
    cables: tuple[int, ...]


def pulling_groups(layout: Layout) -> list[PullingGroup]:
    """Actuators that share coordinates, where some of them are cables: all stance legs together, other limbs alone."""
    groups = []
    for names in (layout.stance, *([name] for name in layout.efforts if name not in layout.stance)):
        numbered = [
            (k, actuator) for name in layout.efforts if name in names
            for k, actuator in enumerate(layout.limbs[name].actuators, start=layout.efforts[name].start)
        ]  # fmt: skip
        numbered = [(k, actuator) for k, actuator in numbered if not isinstance(actuator, VariableStiffness)]
        cables = tuple(k for k, actuator in numbered if isinstance(actuator, Cable))
        if cables:
            groups.append(PullingGroup(tuple(k for k, _ in numbered), cables))
    return groups


def minimum_norm(
    force: Floats, actuation: Floats, pulling: Sequence[PullingGroup], held: Sequence[int] = ()
) -> tuple[Floats, Floats]:
    """The smallest efforts that give the force, by the Moore–Penrose inverse (2020, after Eq. 3), and the condition.

    For forces (n, velocities) and actuation matrices (n, velocities, actuators). Groups with cables act on coordinates
    of their own and are found apart: the smallest efforts in which none pushes. Those `held` give none.
    """
    pulled = {k for group in pulling for k in group.actuators} | set(held)
    others = [k for k in range(actuation.shape[-1]) if k not in pulled]
    efforts, condition = np.zeros((len(force), actuation.shape[-1])), np.ones(len(force))
    if others and len(force):
        left, singular, right = np.linalg.svd(actuation[..., others], full_matrices=False)
        kept = singular > SMALL * singular[:, :1]
        inverse = np.where(kept, 1.0 / np.where(kept, singular, 1.0), 0.0)
        efforts[:, others] = np.einsum("nki,nk,nk->ni", right, inverse, np.einsum("njk,nj->nk", left, force))
        condition = singular[:, 0] * inverse.max(axis=-1)
    for group in pulling:
        columns = list(group.actuators)
        for row in range(len(force)):
            efforts[row, columns] = _pulls(actuation[row][:, columns], force[row], [k in group.cables for k in columns])
    return efforts, condition


def _pulls(arms: Floats, force: Floats, cable: Sequence[bool]) -> Floats:
    """The smallest efforts, cables' not negative, that come nearest to the force on the coordinates they act on."""
    from scipy.optimize import nnls  # slow to import, and needed for cables only

    acts = np.abs(arms).max(axis=1) > 0
    if not acts.any():
        return np.zeros(arms.shape[1])
    motors = [k for k, is_cable in enumerate(cable) if not is_cable]
    # What may have either sign is the difference of two that may not.
    a, b = np.hstack([arms[acts], -arms[acts][:, motors]]), force[acts]
    # A trace of the efforts' own size is added, so that among equally good ones the smallest are taken ...
    stacked = np.vstack([a, 1e-7 * np.linalg.norm(a) * np.eye(a.shape[1])])
    found = nnls(stacked, np.concatenate([b, np.zeros(a.shape[1])]))[0]
    # ... and taken off again: those that pull are solved for once more without it.
    used = found > 0.0
    exact = np.linalg.pinv(a[:, used], rcond=SMALL) @ b
    if (exact >= 0.0).all():
        found[used] = exact
    efforts = found[: arms.shape[1]]
    efforts[motors] -= found[arms.shape[1] :]
    return efforts


def square_allocation(force: Floats, actuation: Floats, free: Sequence[int], given: Floats) -> tuple[Floats, Floats]:
    """As many actuators as velocities, the `free` ones, solved exactly (2018, Eqs. 37 and 41).

    Arrays as for `minimum_norm`; the efforts of all others are those of `given` (actuators,).
    """
    rest = [k for k in range(actuation.shape[-1]) if k not in free]
    square = actuation[..., list(free)]
    left = force - actuation[..., rest] @ given[rest]
    condition = np.linalg.cond(square) if len(force) else np.ones(0)
    efforts = np.tile(given, (len(force), 1))
    regular = condition < 1.0 / SMALL
    # Where the square is singular, the nearest efforts; the residual then says what they miss.
    for rows, inverse in ((regular, np.linalg.inv), (~regular, lambda m: np.linalg.pinv(m, rcond=SMALL))):
        if rows.any():
            found = np.einsum("nij,nj->ni", inverse(square[rows]), left[rows])
            for k, column in enumerate(free):
                efforts[rows, column] = found[:, k]
    return efforts, condition
