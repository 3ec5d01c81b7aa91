"""Strides on rigid ground and their derivatives: monodromy matrix, Floquet multipliers, and periodic gaits.

A stride leads from a state to where a foot lands, just after the impact, or to the state a period later. Changes of a
state are counted in tangent coordinates: of P [m], of the attitude as a small rotation in the inertial frame [rad], of
the limbs' coordinates, then of all velocities. Contacts that are closed at the start stay closed, and moves along the
ground (level, or a tilted plane) do not count: a gait is periodic if it returns to its start somewhere else on the
ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from tailwork.control.context import Law
from tailwork.errors import ArgumentError, RobotError, StateError, check_known
from tailwork.kernels.translate import driver
from tailwork.model import Model
from tailwork.simulation.contact.ground import RigidGround
from tailwork.simulation.event_driven.constrained import FREE, STICK
from tailwork.simulation.event_driven.equations import watched_names
from tailwork.simulation.event_driven.job import LONGEST_VARIED, drive_job
from tailwork.simulation.event_driven.runs import check_event_driven, is_plane, started_job, why_stopped
from tailwork.simulation.event_driven.state import STATUS, STOPPED, Job, T
from tailwork.simulation.event_driven.stepping import refresh
from tailwork.simulation.event_driven.variations import GROUND_NUMBERS, Variation, varied
from tailwork.simulation.events import Event, Lands
from tailwork.simulation.forces import Force
from tailwork.simulation.initial import Standing
from tailwork.simulation.integrate.driver import AT_EVENT, FINISHED
from tailwork.simulation.options import OptionArguments, Options, check_positive, options_of
from tailwork.simulation.problem import Problem, State, problem_of
from tailwork.simulation.system import Motion, System
from tailwork.typing import Floats

FINE = {"rtol": 1e-10, "atol": 1e-10}
"""Tolerances where none are given."""
MOST_TIME = 10.0
"""So long a stride may take until a foot lands [s]."""


@dataclass(frozen=True)
class Stride:
    """Where a stride leads, and its derivatives."""

    names: tuple[str, ...]  # of the tangent coordinates
    start: tuple[Floats, Floats]  # (q, v) [m, rad], [m/s, rad/s]
    end: tuple[Floats, Floats]  # (q, v), limbs exchanged [m, rad], [m/s, rad/s]
    period: float  # [s]
    displacement: Floats  # of P over it, inertial frame [m]
    monodromy: Floats  # d(end)/d(start) in tangent coordinates, from columns to rows [SI]
    multipliers: np.ndarray  # its eigenvalues where closed contacts stay closed, up to moves along the ground [1]
    by: dict[str, Floats]  # by number of design, control or ground: d(end) in tangent coordinates [SI a unit]
    period_by: dict[str, float]  # likewise: of the period [s a unit]
    error: float  # largest change over the stride that is not a move along the ground [SI]
    notes: tuple[str, ...]  # where derivatives are those in one direction only

    def summary(self) -> str:
        """The stride in a few lines."""
        sizes = ", ".join(f"{abs(m):.6g}" for m in self.multipliers[:6])
        lines = [
            f"stride of {self.period:.8g} s over {np.linalg.norm(self.displacement):.8g} m",
            f"returns to its start within {self.error:.1e}",
            f"sizes of the largest multipliers: {sizes}",
        ]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return self.summary()


@dataclass(frozen=True, repr=False)
class PeriodicGait(Stride):
    """A stride that returns to its start."""

    iterations: int = 0  # of Newton's method
    state_by: Mapping[str, Floats] | None = None  # by number: change of the periodic state, tangent [SI a unit]


class _Strides:
    """Strides of a problem."""

    def __init__(
        self, problem: Problem, until: str | None, period: float | None, swap: Mapping[str, str], by: Sequence[str],
        options: Options,
    ) -> None:  # fmt: skip
        ground = problem.ground
        if not isinstance(ground, RigidGround):
            raise ArgumentError("ground", ground, "a RigidGround")
        self.ground: RigidGround = ground
        if problem.controller is not None:
            raise ArgumentError("control", problem.controller, "laws: a controller in Python has no derivatives")
        if (until is None) == (period is None):
            raise ArgumentError("until", until, "the foot that lands at the end of a stride, or a `period` [s] instead")
        if period is not None:
            check_positive("period", period)
        if not is_plane(ground):
            raise ArgumentError("ground", ground.surface, "level ground or a tilted plane")
        if until is not None:
            problem = replace(problem, events=(*problem.events, Lands(point=until, action="stop")))
        self.problem, self.until, self.period, self.by = problem, until, period, tuple(by)
        self.options = options
        self.system: System = problem.system([name for name in by if name not in GROUND_NUMBERS])
        check_event_driven(self.system, self.ground, options)
        known = [*self.system.numbers, *GROUND_NUMBERS]
        check_known("by", by, known, "number")
        self.order = _exchanged(self.system, swap)
        layout = self.system.model.layout
        self.names = tuple(
            name.removeprefix("v_").replace("omega", "rotation").removesuffix(" rate")
            for name in (layout.velocity_names[k] for k in self.system.free_v)
        ) + tuple(layout.velocity_names[k] for k in self.system.free_v)

    def job(self, x: Floats) -> Job:
        """A stride from a state that is ready to go."""
        efforts = np.zeros(self.system.efforts)
        start = self.problem.start_time
        job = started_job(self.system, self.ground, x, start, np.zeros(0), self.options, efforts, keep=True)
        job.longest = LONGEST_VARIED
        return job

    def stride(self, x: Floats) -> tuple[Stride, Any, Floats, Any]:
        """A stride with its derivatives; matrices from tangent coordinates to the reduced ones and back, and the change
        over the stride in reduced ones."""
        job = self.job(x)
        first = job.contacts.modes.copy()
        began = job.x.copy()
        drive_job(job, self.problem.start_time + (MOST_TIME if self.period is None else self.period))
        status = int(job.counts[STATUS])
        landed = status == AT_EVENT and watched_names(self.system)[int(job.counts[STOPPED])] == f"{self.until} lands"
        if (self.until is not None and not landed) or (self.until is None and status != FINISHED):
            stopped = why_stopped(self.system, job)
            said = f"{self.until} does not land within {MOST_TIME:g} s" if stopped is None else stopped.reason
            raise StateError("stride", f"ends at {float(job.clock[T]):.6g} s before it is over: {said}")
        n, count = self.system.size, len(self.by)
        out = self.tangent(began)
        dx = np.concatenate([out.T, np.zeros((count, n))])
        rates = np.zeros((len(dx), count))
        rates[len(out.T) :] = np.eye(count)
        variation = Variation(self.system, self.ground, job, self.by, rates)
        found = varied(variation, dx, np.zeros(0))
        change, delay = found.final, np.zeros(len(dx))
        self.period_slope = np.zeros(len(out.T))
        if self.until is not None:
            assert found.section is not None and found.delay is not None
            change, delay = found.section, found.delay
            self.period_slope = delay[: len(out.T)]
        end = job.x[self.order]
        back = np.linalg.pinv(self.tangent(end))
        moved = change[:, self.order] @ back.T
        matrix, by = moved[: len(out.T)].T, moved[len(out.T) :]
        keep, along = self.closed(variation, began, first), self.moves()
        reduce = np.linalg.pinv(np.concatenate([keep, along], axis=1))[: keep.shape[1]]
        wanted = np.linalg.pinv(self.tangent(began)) @ (end - began)
        left = reduce @ wanted
        multipliers = np.linalg.eigvals(reduce @ matrix @ keep)
        order = np.argsort(-np.abs(multipliers), kind="stable")
        held = np.zeros((1, self.system.control_inputs))
        pair = []
        for t, state in ((self.problem.start_time, began), (float(job.clock[T]), end)):
            q, v, _, _ = self.system.full(np.array([t]), state[None], held)
            pair.append((q[0], v[0]))
        stride = Stride(
            self.names, pair[0], pair[1], float(job.clock[T]) - self.problem.start_time,
            pair[1][0][:3] - pair[0][0][:3], matrix, multipliers[order],
            dict(zip(self.by, by, strict=True)),
            dict(zip(self.by, map(float, delay[len(out.T) :]), strict=True)),
            float(np.abs(left).max(initial=0.0)), found.notes,
        )  # fmt: skip
        return stride, reduce, keep, left

    def tangent(self, x: Floats) -> Floats:
        """d(state)/d(tangent coordinates), (n, 2 velocities)."""
        system, n_q, n_v = self.system, len(self.system.free_q), len(self.system.free_v)
        kernel, constants = system.kernel("derivative")
        rows = np.zeros((n_v + 1, kernel.inputs))
        rows[:, 0], rows[:, 1 : 1 + n_q] = self.problem.start_time, x[:n_q]
        rows[1:, 1 + n_q : 1 + system.size] = np.eye(n_v)
        rates = kernel(rows, constants)[:, :n_q]
        found = np.zeros((system.size, 2 * n_v))
        found[:n_q, :n_v] = (rates[1:] - rates[0]).T
        found[n_q:, n_v:] = np.eye(n_v)
        return found

    def closed(self, variation: Variation, x: Floats, modes: np.ndarray) -> Floats:
        """A basis of the changes that keep closed contacts closed, in tangent coordinates."""
        basis = self.tangent(x)
        at = variation.linear(self.problem.start_time, x, 1.0, np.zeros(variation.sizes.rows), basis.T, still=True)
        normals, held = variation.normal_axes(self.problem.start_time, x), []
        for i, mode in enumerate(modes):
            if mode == FREE:
                continue
            rows = range(variation.firsts[i] if mode == STICK else variation.normals[i], variation.normals[i] + 1)
            held += [at.d_velocity[:, k] for k in rows]
            if i >= variation.sizes.points:
                held.append(at.d_gaps[:, i])
            elif mode == STICK and variation.radii[i] == 0.0:
                held += list(at.d_places[:, i].T)
            else:
                held.append(at.d_places[:, i] @ normals[i])
        if not held:
            return np.eye(len(basis.T))
        _, sizes, rows = np.linalg.svd(np.array(held))
        rank = int((sizes > 1e-10 * sizes[0]).sum())
        return rows[rank:].T

    def moves(self) -> Floats:
        """Moves along the ground in tangent coordinates."""
        count = 2 * len(self.system.free_v)
        if not self.system.model.layout.torso_free:
            return np.zeros((count, 0))
        by_x = by_y = 0.0
        if (surface := self.ground.surface) is not None:
            heights, (dx, dy) = surface.heights, surface.field().grid[2:]
            by_x, by_y = (heights[1, 0] - heights[0, 0]) / dx, (heights[0, 1] - heights[0, 0]) / dy
        found = np.zeros((count, 2))
        found[:3, 0], found[:3, 1] = (1.0, 0.0, by_x), (0.0, 1.0, by_y)
        return found


def closed_state(job: Job, x: Floats, modes: np.ndarray, anchors: Floats) -> Floats:
    """A state near one whose contacts are closed, closed as well."""
    for _ in range(6):
        job.x[:] = x
        job.contacts.modes[:], job.contacts.anchors[:] = modes, anchors
        driver(refresh, 1)(job)
        x = job.x.copy()
    return x


def _exchanged(system: System, swap: Mapping[str, str]) -> np.ndarray:
    """Where each number of a state comes from when limbs are exchanged."""
    layout, pairs = system.model.layout, dict(swap)
    order_q, order_v = np.arange(len(layout.coordinate_names)), np.arange(len(layout.velocity_names))
    for limb in (*pairs, *pairs.values()):
        check_known("swap", [limb], layout.moving, "limb")
    pairs |= {other: limb for limb, other in swap.items()}
    for limb, other in pairs.items():
        if layout.limbs[limb].coordinates != layout.limbs[other].coordinates:
            raise RobotError("swap", f"{limb}, {other}", "limbs with the same coordinates")
        order_q[layout.coordinates[limb]] = np.arange(*layout.coordinates[other].indices(len(order_q)))
        order_v[layout.rates[limb]] = np.arange(*layout.rates[other].indices(len(order_v)))
    if any(k not in system.free_q for k in order_q[system.free_q]):
        raise RobotError("swap", dict(swap), "limbs that move freely")
    q = [system.free_q.index(k) for k in order_q[system.free_q]]
    v = [system.free_v.index(k) for k in order_v[system.free_v]]
    return np.array([*q, *(len(q) + k for k in v)])


def _strides(
    model: Model, state: State, ground: RigidGround, until: str | None, period: float | None,
    swap: Mapping[str, str] | None, by: Sequence[str], options: OptionArguments, **more: Any,
) -> tuple[_Strides, Floats]:  # fmt: skip
    given = options_of({**FINE, "method": "event-driven", **options})
    problem = problem_of(model, state, MOST_TIME if period is None else period, ground=ground, **more)
    if isinstance(problem.initial, Standing):
        raise ArgumentError("state", state, "numbers: q, or (q, v)")
    strides = _Strides(problem, until, period, swap or {}, by, given)
    q, v = problem.initial
    if q.ndim != 1 or v.ndim != 1:
        raise StateError("state", f"got shapes {q.shape} and {v.shape}; required: one state")
    return strides, strides.system.state(q, v)


def stride(
    model: Model,
    state: State,
    *,
    ground: RigidGround,
    until: str | None = None,
    period: float | None = None,
    swap: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, Motion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = (),
    **options: Unpack[OptionArguments],
) -> Stride:
    """A stride from a state, with its monodromy matrix and multipliers, from event to event.

    Args:
        model: the robot, with no foot pinned.
        state: q, or (q, v), where the stride starts: after an impact, if it ends with one.
        ground: level, or a tilted plane.
        until: the contact point whose landing ends the stride; or else the `period`.
        period: of the stride [s].
        swap: limbs that are exchanged at the end, such as {"left": "right"}, so that one step is a stride.
        by: names of numbers to differentiate by, as for `simulate_batch`; also "ground.friction" and
            "ground.restitution".
        control: laws.
        motions: as for `simulate`.
        forces: as for `simulate`.
        events: as for `simulate`; those that stop a run end the stride with an error.
        options: as for `simulate`; tolerances are 1e-10 by default.
    """
    strides, x = _strides(
        model, state, ground, until, period, swap, by, options, control=control, motions=motions, forces=forces,
        events=events,
    )  # fmt: skip
    return strides.stride(x)[0]


def periodic_gait(
    model: Model,
    state: State,
    *,
    ground: RigidGround,
    until: str | None = None,
    period: float | None = None,
    swap: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, Motion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = (),
    tolerance: float = 1e-10,
    iterations: int = 20,
    **options: Unpack[OptionArguments],
) -> PeriodicGait:
    """A state near a given one that a stride leads back to, by Newton's method on the return map.

    Args:
        model: as for `stride`, like the arguments that are not listed here.
        state: a guess. Contacts that are closed there stay closed.
        ground: as for `stride`.
        until: as for `stride`.
        period: as for `stride`.
        swap: as for `stride`.
        by: as for `stride`; the periodic state and its period are differentiated by these numbers, too.
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
    strides, x = _strides(
        model, state, ground, until, period, swap, by, options, control=control, motions=motions, forces=forces,
        events=events,
    )  # fmt: skip
    for k in range(iterations):
        found, reduce, keep, left = strides.stride(x)
        back = reduce @ found.monodromy @ keep - np.eye(keep.shape[1])
        if found.error <= tolerance:
            own = {
                name: -keep @ np.linalg.lstsq(back, reduce @ change, rcond=1e-9)[0] for name, change in found.by.items()
            }
            fields = {name: getattr(found, name) for name in Stride.__dataclass_fields__}
            fields["period_by"] = {
                name: found.period_by[name] + float(strides.period_slope @ own[name]) for name in found.by
            }
            return PeriodicGait(**fields, iterations=k, state_by=own)
        move = keep @ np.linalg.lstsq(back, -left, rcond=1e-9)[0]
        largest = float(np.abs(move).max())
        start = strides.job(x)
        modes, anchors = start.contacts.modes.copy(), start.contacts.anchors.copy()
        moved = start.x + strides.tangent(start.x) @ (move * min(1.0, 0.3 / largest))
        x = closed_state(start, moved, modes, anchors)
    raise StateError("periodic_gait", f"not found within {iterations} iterations; the last {found.summary()}")
