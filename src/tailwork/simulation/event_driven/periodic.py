"""Periodic gaits on rigid ground: strides that return to their start, found by state, control and design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Unpack

import numpy as np

from tailwork.control.context import Law
from tailwork.errors import ArgumentError, StateError, check_known, is_finite_number
from tailwork.model import Model
from tailwork.simulation.batch.inputs import names_of
from tailwork.simulation.contact.ground import RigidGround
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.event_driven.saltation import DIFFERENTIATED
from tailwork.simulation.event_driven.strides import Return, Stride, Strides, strides_of
from tailwork.simulation.events import Event
from tailwork.simulation.forces import Force
from tailwork.simulation.options import OptionArguments, check_positive
from tailwork.simulation.problem import Problem, State
from tailwork.typing import Floats

LONGEST_STEP = 0.3
"""Of Newton's method: of a tangent coordinate [SI], or of a number as a share of its value."""


@dataclass(frozen=True, repr=False, eq=False)
class PeriodicGait(Stride):
    """A stride that returns to its start, and how it changes with numbers while it stays periodic and keeps its
    conditions: what was varied follows. Where there are many such gaits, that is the change of least norm."""

    problem: Problem | None = None  # its model, control and ground, with the numbers that were found
    iterations: int = 0  # of Newton's method
    numbers: Mapping[str, float] | None = None  # that were varied, as they were found [SI]
    state_by: Mapping[str, Floats] | None = None  # by number: change of the periodic state, tangent [SI a unit]
    numbers_by: Mapping[str, Mapping[str, float]] | None = None  # by number: change of those varied [SI a unit]

    @property
    def differentiated(self) -> str:
        """What its derivatives are those of, in words."""
        return f"{DIFFERENTIATED}; by numbers, of the gait that stays periodic and keeps its conditions"

    def summary(self) -> str:
        """The gait in a few lines."""
        found = [f"{name} = {value:.8g}" for name, value in (self.numbers or {}).items()]
        return "\n".join([super().summary(), *found])


class _Equations:
    """What is zero at a periodic gait, linearised about a stride: the change over it, then conditions; by the reduced
    coordinates of the start, then by all numbers, of which the first are varied."""

    def __init__(self, strides: Strides, found: Return, vary: Sequence[str], wanted: Mapping[str, float]) -> None:
        self.strides, self.found, self.vary, self.wanted = strides, found, vary, wanted
        own, keep = found.stride, found.keep
        self.states, self.numbers = keep.shape[1], np.array([strides.number(name) for name in vary])
        self.values, slopes = strides.conditions(found, list(wanted))
        back = found.reduce @ own.monodromy @ keep - np.eye(self.states)
        self.rows = np.block([[back, found.left_by], [slopes[:, : len(keep)] @ keep, slopes[:, len(keep) :]]])
        self.left = np.concatenate([found.left, self.values - np.array(list(wanted.values()))])
        self.scale = np.concatenate([np.ones(self.states), np.where(self.numbers == 0.0, 1.0, np.abs(self.numbers))])
        self.matrix = self.rows[:, : len(self.scale)] * self.scale

    def solved(self, right: Floats) -> Floats:
        """The smallest change of the unknowns."""
        return self.scale * np.linalg.lstsq(self.matrix, right, rcond=1e-9)[0]

    def start_change(self, unknowns: Floats) -> Floats:
        """Of the start, in tangent coordinates."""
        numbers = unknowns[self.states :]
        return self.found.keep @ unknowns[: self.states] + numbers @ self.found.starts[: len(numbers)]

    def stepped(self, x: Floats) -> tuple[Strides, Floats]:
        """A step of Newton's method from a state: strides with other numbers, and the next state."""
        step = self.solved(-self.left)
        step = step * min(1.0, LONGEST_STEP / max(float(np.abs(step / self.scale).max()), LONGEST_STEP))
        start, strides = self.strides.job(x), self.strides
        moved = start.x + strides.tangent(start.x) @ self.start_change(step)
        if self.vary:
            numbers = (self.numbers + step[self.states :]).tolist()
            strides = strides.beside(dict(zip(self.vary, numbers, strict=True)))
        return strides, strides.closed_state(moved, start.contacts.modes.copy(), start.contacts.anchors.copy())

    def gait(self, by: Sequence[str], iterations: int) -> PeriodicGait:
        """The gait, and how it changes with numbers and with what is wanted of conditions."""
        own, names, wanted = self.found.stride, self.strides.by, list(self.wanted)
        state_by, numbers_by, period_by = {}, {}, {}
        for name in by:
            right = np.zeros(len(self.rows))
            if name in wanted:
                right[len(self.rows) - len(wanted) + wanted.index(name)] = 1.0
            else:
                right = -self.rows[:, self.states + names.index(name)]
            change = self.solved(right)
            follow = dict(zip(self.vary, change[self.states :].tolist(), strict=True))
            start = self.found.keep @ change[: self.states]
            late = self.found.delay @ start + sum(own.period_by[other] * d for other, d in follow.items())
            direct = name not in wanted
            state_by[name] = self.start_change(change) + (self.found.starts[names.index(name)] if direct else 0.0)
            period_by[name] = float(late) + (own.period_by[name] if direct else 0.0)
            numbers_by[name] = follow
        notes, fields = own.notes, {name: getattr(own, name) for name in Stride.__dataclass_fields__}
        free = len(self.scale) - np.linalg.matrix_rank(self.matrix, tol=1e-9 * np.linalg.norm(self.matrix, 2))
        if free:
            notes = (*notes, f"one of a family of gaits of dimension {free}: its derivatives are those of least norm")
        return PeriodicGait(
            **(fields | {"period_by": period_by, "notes": notes}), problem=self.strides.problem, iterations=iterations,
            numbers=dict(zip(self.vary, self.numbers.tolist(), strict=True)), state_by=state_by, numbers_by=numbers_by,
        )  # fmt: skip


def periodic_gait(
    model: Model,
    state: State,
    *,
    ground: RigidGround,
    until: str | None = None,
    period: float | None = None,
    swap: Mapping[str, str] | None = None,
    vary: Sequence[str] = (),
    conditions: Mapping[str, float] | None = None,
    by: Sequence[str] = (),
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, PrescribedMotion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = (),
    tolerance: float = 1e-10,
    iterations: int = 20,
    **options: Unpack[OptionArguments],
) -> PeriodicGait:
    """A state near a given one that a stride leads back to, by Newton's method on the return map; numbers of design,
    control and ground may be unknowns as well, and conditions are met besides.

    Where there are more unknowns than equations, each step is the smallest (numbers as shares of their values), so that
    the gait is one near the guess.

    Args:
        model: as for `stride`, like the arguments that are not listed here.
        state: a guess. Contacts that are closed there stay closed.
        ground: as for `stride`.
        until: as for `stride`.
        period: as for `stride`.
        swap: as for `stride`.
        vary: names of numbers, as for `by`, that are found together with the state.
        conditions: what shall hold at the gait: its "period" [s], its mean "speed" [m/s], or a coordinate or a velocity
            at its start, by name.
        by: as for `stride`; the periodic state, its period and the numbers that are varied are differentiated by these
            numbers, too; names of conditions are by what is wanted of them.
        control: as for `stride`.
        motions: as for `stride`.
        forces: as for `stride`.
        events: as for `stride`.
        tolerance: largest change over the stride that is left [SI].
        iterations: of Newton's method, at most.
        options: as for `stride`.

    Raises:
        StateError: no such state was found; the stride that came nearest is in the message.
    """
    check_positive("tolerance", tolerance)
    if not isinstance(iterations, Integral) or iterations < 1:
        raise ArgumentError("iterations", iterations, "an integer, at least 1")
    vary, by = names_of("vary", vary), names_of("by", by)
    if not isinstance(conditions, Mapping | None):
        raise ArgumentError("conditions", conditions, "values by name, such as {'speed': 0.7}")
    wanted = dict(conditions or {})
    numbers = [*vary, *(name for name in by if name not in wanted)]
    if len(set(numbers)) < len(numbers):
        raise ArgumentError("vary", list(vary), f"names that are not in `by` ({', '.join(by)}), each once")
    strides, x = strides_of(
        model, state, ground, until, period, swap, numbers, options, control=control, motions=motions, forces=forces,
        events=events,
    )  # fmt: skip
    check_known("conditions", wanted, strides.condition_names(), "condition")
    for name, value in wanted.items():
        if not is_finite_number(value) or (name == "period" and period is not None):
            raise ArgumentError(f"conditions.{name}", value, "a number, and no period where that is given")
    for k in range(iterations):
        at = _Equations(strides, strides.stride(x), vary, wanted)
        if np.abs(at.left).max(initial=0.0) <= tolerance:
            return at.gait(by, k)
        strides, x = at.stepped(x)
    said = [f"not found within {iterations} iterations; the last {at.found.stride.summary()}"]
    said += [f"{name} = {value:.8g}" for name, value in zip(vary, at.numbers, strict=True)]
    said += [f"{name}: {value:.8g}, wanted {wanted[name]:g}" for name, value in zip(wanted, at.values, strict=True)]
    raise StateError("periodic_gait", "\n".join(said))
