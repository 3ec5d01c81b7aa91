"""Strides on rigid ground and their derivatives: monodromy matrix and Floquet multipliers.

A stride leads from a state to where a foot lands, just after the impact, or to the state a period later. Changes of a
state are counted in tangent coordinates: of P [m], of the attitude as a small rotation in the inertial frame [rad], of
the limbs' coordinates, then of all velocities. Contacts that are closed at the start stay closed, and moves along the
ground (level, or a tilted plane) do not count: a gait is periodic if it returns to its start somewhere else on the
ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from tailwork.control.context import Law
from tailwork.errors import ArgumentError, StateError, check_known
from tailwork.kernels.translate import driver
from tailwork.model import Model
from tailwork.simulation.batch.inputs import check_smooth, checked_names, names_of
from tailwork.simulation.contact.ground import RigidGround
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.event_driven.constrained import FREE, STICK
from tailwork.simulation.event_driven.equations import watched_names
from tailwork.simulation.event_driven.job import LONGEST_VARIED, drive_job, event_job
from tailwork.simulation.event_driven.runs import check_event_driven, is_plane, started_job, stopped_at
from tailwork.simulation.event_driven.saltation import DIFFERENTIATED, TILTS, Variation, varied
from tailwork.simulation.event_driven.state import STATUS, STOPPED, RunJob, T
from tailwork.simulation.event_driven.stepping import refresh
from tailwork.simulation.events import Event, Lands
from tailwork.simulation.forces import Force
from tailwork.simulation.initial import Standing
from tailwork.simulation.integrate.tableaus import EVENT_DRIVEN
from tailwork.simulation.options import OptionArguments, Options, check_positive, options_of
from tailwork.simulation.problem import Problem, State, problem_of
from tailwork.simulation.stopping import AT_EVENT, FINISHED
from tailwork.simulation.system import System
from tailwork.typing import Floats

FINE = {"rtol": 1e-10, "atol": 1e-10}
"""Tolerances where none are given."""
MOST_TIME = 10.0
"""So long a stride may take until a foot lands [s]."""


@dataclass(frozen=True, eq=False)
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

    @property
    def differentiated(self) -> str:
        """What its derivatives are those of, in words."""
        return DIFFERENTIATED

    def summary(self) -> str:
        """The stride in a few lines."""
        sizes = ", ".join(f"{abs(m):.6g}" for m in self.multipliers[:6])
        lines = [
            f"stride of {self.period:.8g} s over {np.linalg.norm(self.displacement):.8g} m",
            f"returns to its start within {self.error:.1e}",
            f"sizes of the largest multipliers: {sizes}",
            f"derivatives of {self.differentiated}",
        ]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return self.summary()


class Return(NamedTuple):
    """A stride as a map of the reduced coordinates: without moves along the ground, closed contacts closed."""

    stride: Stride
    reduce: Floats  # from tangent coordinates
    keep: Floats  # to tangent coordinates
    left: Floats  # change over the stride
    left_by: Floats  # the same by number, (reduced, numbers)
    starts: Floats  # by number: change of the start that keeps closed contacts closed, (numbers, tangent)
    delay: Floats  # of the period by tangent coordinates of the start [s]


class Strides:
    """Strides of a problem."""

    def __init__(
        self, problem: Problem, until: str | None, period: float | None, swap: Mapping[str, str], by: Sequence[str],
        options: Options,
    ) -> None:  # fmt: skip
        self.ground = ground = problem.rigid_ground
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
        self.system: System = problem.system(self.by)
        check_event_driven(self.system, self.ground, options)
        own = checked_names(self.system, by, of_ground=[f"ground.{name}" for name in ground.numbers()])
        check_smooth(self.system, own)
        self.order = _exchanged(self.system, swap)
        layout = self.system.model.layout
        self.names = tuple(
            name.removeprefix("v_").replace("omega", "rotation").removesuffix(" rate")
            for name in (layout.velocity_names[k] for k in self.system.free_v)
        ) + tuple(layout.velocity_names[k] for k in self.system.free_v)

    def job(self, x: Floats) -> RunJob:
        """A stride from a state that is ready to go."""
        efforts, problem = np.zeros(self.system.efforts), self.problem
        job = started_job(
            self.system, self.ground, x, problem.one_contact, problem.start_time, np.zeros(0), self.options, efforts,
            keep=True,
        )  # fmt: skip
        job.longest = LONGEST_VARIED
        return job

    def stride(self, x: Floats) -> Return:
        """A stride with its derivatives."""
        job = self.job(x)
        first = job.contacts.modes.copy()
        began = job.x.copy()
        drive_job(job, self.problem.start_time + (MOST_TIME if self.period is None else self.period))
        status = int(job.counts[STATUS])
        landed = status == AT_EVENT and watched_names(self.system)[int(job.counts[STOPPED])] == f"{self.until} lands"
        if (self.until is not None and not landed) or (self.until is None and status != FINISHED):
            stopped = stopped_at(self.system, job)
            said = f"{self.until} does not land within {MOST_TIME:g} s" if stopped is None else stopped.reason
            raise StateError("stride", f"ends at {float(job.clock[T]):.6g} s before it is over: {said}")
        count, out = len(self.by), self.tangent(began)
        rates = np.concatenate([np.zeros((len(out.T), count)), np.eye(count)])
        variation = Variation(self.system, self.ground, job, self.by, rates)
        keep, starts = self.closed(variation, began, first)
        dx = np.concatenate([out.T, starts @ out.T])
        found = varied(variation, dx, np.zeros(0))
        change, delay = found.final, np.zeros(len(dx))
        if self.until is not None:
            assert found.section is not None and found.delay is not None
            change, delay = found.section, found.delay
        end = job.x[self.order]
        back = np.linalg.pinv(self.tangent(end))
        moved = change[:, self.order] @ back.T
        matrix, by = moved[: len(out.T)].T, moved[len(out.T) :]
        along = self.moves()
        if along.size and np.abs(along - keep @ (keep.T @ along)).max() < 1e-9:  # no contact sticks in its place
            keep = keep @ np.linalg.svd(along.T @ keep)[2][along.shape[1] :].T
        reduce: Any = np.linalg.pinv(np.concatenate([keep, along], axis=1))[: keep.shape[1]]
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
        lifted = np.zeros_like(by)  # where the ground is tilted, moves along it rise
        for k, name in enumerate(self.by):
            lifted[k, 2] = stride.displacement[TILTS.index(name)] if name in TILTS else 0.0
        left_by = reduce @ (by - starts - lifted).T
        return Return(stride, reduce, keep, left, left_by, starts, delay[: len(out.T)])

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

    def closed(self, variation: Variation, x: Floats, modes: np.ndarray) -> tuple[Floats, Floats]:
        """A basis of the changes that keep closed contacts closed, in tangent coordinates; and by number the least
        change that does so, (numbers, tangent)."""
        basis, count = self.tangent(x), len(self.by)
        dx = np.concatenate([basis.T, np.zeros((count, len(x)))])
        at = variation.linear(self.problem.start_time, x, 1.0, np.zeros(variation.sizes.rows), dx)
        held = []
        for i, mode in enumerate(modes):
            if mode == FREE:
                continue
            rows = range(variation.firsts[i] if mode == STICK else variation.normals[i], variation.normals[i] + 1)
            held += [at.d_velocity[:, k] for k in rows]
            held.append(at.d_gaps[:, i])
            if i < variation.sizes.points and mode == STICK and variation.radii[i] == 0.0:
                held += list(at.d_places[:, i, :2].T)
        if not held:
            return np.eye(len(basis.T)), np.zeros((count, len(basis.T)))
        matrix, given = np.split(np.array(held), [len(basis.T)], axis=1)
        _, sizes, rows = np.linalg.svd(matrix)
        rank = int((sizes > 1e-10 * sizes[0]).sum())
        return rows[rank:].T, -np.linalg.lstsq(matrix, given, rcond=1e-10)[0].T

    def moves(self) -> Floats:
        """Moves along the ground in tangent coordinates."""
        count = 2 * len(self.system.free_v)
        if not self.system.model.layout.torso_free:
            return np.zeros((count, 0))
        numbers, found = self.ground.numbers(), np.zeros((count, 2))
        found[:3, 0] = 1.0, 0.0, numbers.get("slope_x", 0.0)
        found[:3, 1] = 0.0, 1.0, numbers.get("slope_y", 0.0)
        return found

    def condition_names(self) -> list[str]:
        """What can be a condition of a gait."""
        layout = self.system.model.layout
        places = [layout.coordinate_names[k] for k in self.system.free_q]
        return ["period", "speed", *places, *(layout.velocity_names[k] for k in self.system.free_v)]

    def conditions(self, found: Return, names: Sequence[str]) -> tuple[Floats, Floats]:
        """Values of conditions, and their derivatives by tangent coordinates of the start and by numbers, (conditions,
        tangent + numbers)."""
        own, count = found.stride, found.starts.shape[1]
        by = np.array([own.by[name] for name in self.by]).reshape(-1, count)
        delay = np.concatenate([found.delay, [own.period_by[name] for name in self.by]])
        start = np.concatenate([np.eye(count), found.starts])
        moved = np.concatenate([own.monodromy.T, by])[:, :3] - start[:, :3]
        travelled = float(np.linalg.norm(own.displacement))
        x, known = self.system.state(*own.start), self.condition_names()[2:]
        tangent = self.tangent(x)
        values, slopes = [], []
        for name in names:
            if name == "period":
                values.append(own.period)
                slopes.append(delay)
            elif name == "speed":
                values.append(travelled / own.period)
                slopes.append(moved @ own.displacement / (travelled * own.period) - travelled / own.period**2 * delay)
            else:
                values.append(float(x[known.index(name)]))
                slopes.append(start @ tangent[known.index(name)])
        return np.array(values), np.array(slopes).reshape(-1, len(start))

    def number(self, name: str) -> float:
        """One of the numbers by name."""
        return self.system.numbers[name] if name in self.system.numbers else self.ground.numbers()[name[7:]]

    def beside(self, values: Mapping[str, float]) -> Strides:
        """The same with other numbers."""
        found = copy(self)
        found.problem = self.problem.with_numbers(values)
        found.ground = found.problem.rigid_ground
        found.system = found.problem.system(self.by)
        return found

    def closed_state(self, x: Floats, modes: np.ndarray, anchors: Floats) -> Floats:
        """A state near one whose contacts are closed, closed as well."""
        o = self.options
        job = event_job(
            self.system, self.ground, x, self.problem.start_time, np.zeros(0), o.rtol, o.atol, o.max_steps, keep=True
        )
        for _ in range(6):
            job.contacts.modes[:], job.contacts.anchors[:] = modes, anchors
            driver(refresh, 1)(job)
        return job.x.copy()


def _exchanged(system: System, swap: Mapping[str, str]) -> np.ndarray:
    """Where each number of a state comes from when limbs are exchanged."""
    layout, pairs = system.model.layout, dict(swap)
    order_q, order_v = np.arange(len(layout.coordinate_names)), np.arange(len(layout.velocity_names))
    for limb in (*pairs, *pairs.values()):
        check_known("swap", [limb], layout.moving, "limb")
    pairs |= {other: limb for limb, other in swap.items()}
    for limb, other in pairs.items():
        if layout.limbs[limb].coordinates != layout.limbs[other].coordinates:
            raise ArgumentError("swap", f"{limb}, {other}", "limbs with the same coordinates")
        order_q[layout.coordinates[limb]] = np.arange(*layout.coordinates[other].indices(len(order_q)))
        order_v[layout.rates[limb]] = np.arange(*layout.rates[other].indices(len(order_v)))
    if any(k not in system.free_q for k in order_q[system.free_q]):
        raise ArgumentError("swap", dict(swap), "limbs that move freely")
    q = [system.free_q.index(k) for k in order_q[system.free_q]]
    v = [system.free_v.index(k) for k in order_v[system.free_v]]
    return np.array([*q, *(len(q) + k for k in v)])


def strides_of(
    model: Model, state: State, ground: RigidGround, until: str | None, period: float | None,
    swap: Mapping[str, str] | None, by: Sequence[str], options: OptionArguments, **more: Any,
) -> tuple[Strides, Floats]:  # fmt: skip
    """Strides from the arguments of the public functions, and the state they start from."""
    given = options_of({**FINE, "method": EVENT_DRIVEN, **options})
    if given.method not in ("auto", EVENT_DRIVEN):
        raise ArgumentError("method", given.method, f"'{EVENT_DRIVEN}': strides are from event to event")
    problem = problem_of(model, state, MOST_TIME if period is None else period, ground=ground, **more)
    if isinstance(problem.initial, Standing):
        raise ArgumentError("state", state, "numbers: q, or (q, v)")
    if swap is not None and not isinstance(swap, Mapping):
        raise ArgumentError("swap", swap, "limbs by limb, such as {'left': 'right'}")
    strides = Strides(problem, until, period, swap or {}, names_of("by", by), given)
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
    motions: Mapping[str, PrescribedMotion] | None = None,
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
        by: names of numbers to differentiate by, as for `simulate_batch`; also "ground.friction", "ground.restitution"
            and, of a plane that is given as a surface, "ground.slope_x" and "ground.slope_y". Where a number moves a
            contact that is closed at the start, the start follows by the smallest change of tangent coordinates.
        control: laws.
        motions: as for `simulate`.
        forces: as for `simulate`.
        events: as for `simulate`; those that stop a run end the stride with an error.
        options: as for `simulate`; tolerances are 1e-10 by default.
    """
    strides, x = strides_of(
        model, state, ground, until, period, swap, by, options, control=control, motions=motions, forces=forces,
        events=events,
    )  # fmt: skip
    return strides.stride(x).stride
