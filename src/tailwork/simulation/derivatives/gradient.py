"""Gradients of an objective of runs with respect to initial state, design and control, by the adjoint of their steps.

The steps are frozen: what is differentiated is the sequence of operations that a run consists of, so the gradient is
exact for it, at the price of a few runs, whatever the number of parameters. Where an event has ended the run, the end
moves with everything: that is counted in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.errors import RobotError, StateError
from tailwork.model import Model
from tailwork.simulation.batch_inputs import BatchInputs, batch_inputs, checked_names, workers
from tailwork.simulation.derivatives.compiled import among_all, product_kernels
from tailwork.simulation.derivatives.products import (
    Objective,
    Products,
    curvature_vjp,
    derivative_vjp,
    event_vjp,
    initial_tangents,
    objective_vjp,
    stage_vjp,
)
from tailwork.simulation.derivatives.vjp_runs import GRAZED, DesignRows, GradientRows, VjpKernels, runs_vjp
from tailwork.simulation.events import DEFAULT_EVENTS, Event
from tailwork.simulation.forces import Force
from tailwork.simulation.integrate.driver import AT_EVENT, FINISHED, STUCK
from tailwork.simulation.integrate.tableaus import Rosenbrock
from tailwork.simulation.options import OptionArguments, options_of
from tailwork.simulation.problem import State, problem_of
from tailwork.simulation.simulate import why_ended
from tailwork.simulation.system import Motion
from tailwork.typing import Floats

LEAST, MOST = 16, 256
"""Runs that a thread takes at a time: few enough that threads end together, and so many that calls do not count."""


@dataclass(frozen=True)
class Gradient:
    """The objective of a run, and its derivatives."""

    value: float  # of the objective, in its own unit
    by_q: Floats  # by the coordinates at the start, each for one of its units; zero for those of prescribed limbs
    by_v: Floats  # by the velocities at the start, each for one of its units
    by_parameter: dict[str, float]  # by the parameters asked for, each for one of its units
    time: float  # when the run ended [s]
    note: str  # what is special about it: that an event ended the run; else empty


@dataclass(frozen=True)
class Gradients:
    """The objectives of many runs, and the derivatives, a row each; NaN where a run has none."""

    values: Floats  # (runs,): of the objective, in its own unit
    by_q: Floats  # (runs, coordinates), by the coordinates at the start, each for one of its units
    by_v: Floats  # (runs, velocities), by the velocities at the start, each for one of its units
    by_parameter: dict[str, Floats]  # by name, (runs,), each for one of its units
    times: Floats  # when each run ended [s]; 0 where its design is not possible
    notes: tuple[str, ...]  # that an event ended the run, and its time moves; or why there are no derivatives; or empty


def gradient(
    model: Model,
    state: State,
    duration: float,
    objective: Objective | None = None,
    *,
    integrand: Objective | None = None,
    by: Sequence[str] = (),
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, Motion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = DEFAULT_EVENTS,
    limits: str = "report",
    **options: Unpack[OptionArguments],
) -> Gradient:
    """The objective of a run and its derivatives by the initial state and by parameters.

    Arguments as for `simulate`, with laws alone, and these; keyword arguments beyond are fields of `Options`.

    Args:
        model: the robot with its stance.
        state: q, (q, v) or equations such as `Standing()`.
        duration: of the run [s].
        objective: of the end: `lambda context: context.coordinate("phi_z")`.
        integrand: of every time; its integral is added, or is all where there is no objective.
        by: names of the numbers to differentiate by, as for `simulate_batch`.
        control: laws.
        motions: as for `simulate`.
        forces: as for `simulate`.
        events: where one ends the run, derivatives count in how its time moves; `Gradient.note` says so.
        limits: as for `simulate`.
        options: as for `simulate`.
    """
    found = gradients(
        model, state, duration, objective, integrand=integrand, by=by, control=control, motions=motions,
        forces=forces, events=events, limits=limits, **{**options, "threads": 1},
    )  # fmt: skip
    if len(found.values) != 1:
        raise StateError("state", f"got {len(found.values)} states; required: one; see `gradients`")
    if not np.isfinite(found.values[0]):
        raise StateError("gradient", f"the run has no derivatives: {found.notes[0]}")
    by_parameter = {name: float(values[0]) for name, values in found.by_parameter.items()}
    return Gradient(
        float(found.values[0]), found.by_q[0], found.by_v[0], by_parameter, float(found.times[0]), found.notes[0]
    )


def gradients(
    model: Model,
    states: State,
    duration: float,
    objective: Objective | None = None,
    *,
    integrand: Objective | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    by: Sequence[str] | None = None,
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, Motion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = DEFAULT_EVENTS,
    limits: str = "report",
    **options: Unpack[OptionArguments],
) -> Gradients:
    """The objectives of many runs and their derivatives; runs differ in states and in numbers of the problem.

    Arguments as for `simulate_batch` and `gradient` [SI]; `by` are the names of `parameters` by default.
    """
    problem = problem_of(
        model, states, duration, control=control, motions=motions, forces=forces, events=events, limits=limits
    )
    how = options_of(options)
    asked = batch_inputs(problem, how, parameters, by or ())
    system = asked.integrator.system
    wanted = checked_names(system, list(parameters or {}) if by is None else by)
    vjps = _vjps(asked, objective, integrand)
    found, by_number = _differentiated(asked, vjps, duration, workers(how.threads), how.progress)
    count, free = len(asked.start.states), len(system.free_q)
    by_q, by_v = np.zeros((count, len(model.coordinate_names))), np.zeros((count, len(model.velocity_names)))
    by_q[:, system.free_q], by_v[:, system.free_v] = found.by_start[:, :free], found.by_start[:, free:]
    nothing = np.where(np.isfinite(found.values), 0.0, np.nan)
    by_parameter = {name: by_number.get(name, nothing) for name in wanted}
    if system.initial is not None and wanted:
        tangents = initial_tangents(system, asked.start.columns, count, wanted)
        for k, name in enumerate(wanted):
            by_parameter[name] = by_parameter[name] + (found.by_start * tangents[:, k]).sum(axis=1)
    times = np.where(np.isnan(found.times), 0.0, found.times)
    return Gradients(found.values, by_q, by_v, by_parameter, times, _notes(asked, found))


def _vjps(asked: BatchInputs, objective: Objective | None, integrand: Objective | None) -> dict[str, Products]:
    """Compile what is differentiated, by name among the fields of DesignRows."""
    system = asked.integrator.system
    if objective is None and integrand is None:
        raise RobotError("objective", None, "an objective or an integrand: a function of a context")
    found = {"derivative": derivative_vjp(system)}
    for name, function in (("objective", objective), ("integrand", integrand)):
        if function is None:
            continue
        if not callable(function):
            raise RobotError(name, function, "a function of a context, such as lambda end: end.coordinate('phi_z')")
        found[name] = objective_vjp(system, function, name)
    if system.watched:
        found["event"] = event_vjp(system)
    if isinstance(asked.method, Rosenbrock):
        found["curvature"] = curvature_vjp(system)
    return found


def _differentiated(
    asked: BatchInputs,
    vjps: Mapping[str, Products],
    duration: float,
    threads: int,
    progress: Callable[[int, int], None],
) -> tuple[GradientRows, dict[str, Floats]]:
    """Simulate and differentiate those runs that are possible, on threads; and derivatives by the system's numbers."""
    way, fine, count = asked.integrator, asked.possible, len(asked.start.states)
    system, runs, possible, integers = way.system, asked.runs(fine), len(fine), np.int64
    kernels = VjpKernels(
        **{name: product_kernels(vjps.get(name)) for name in DesignRows._fields},
        stage=stage_vjp(system).code.address("scalar") if isinstance(asked.method, Rosenbrock) else 0,
        rates=len(system.free_v),
    )
    names = {name: vjps[name].names if name in vjps else () for name in DesignRows._fields}
    numbers = DesignRows(**{name: asked.rows(own, fine) for name, own in names.items()})
    by = DesignRows(*(np.full_like(rows, np.nan) for rows in numbers))
    own = GradientRows(
        np.full(possible, STUCK, integers), np.full(possible, -1, integers), np.zeros(possible),
        np.zeros(possible, integers), np.full(possible, np.nan), np.full((possible, system.size), np.nan),
        np.full(possible, -1, integers),
    )  # fmt: skip
    size = min(MOST, max(LEAST, possible // (4 * threads)))

    def share(first: int) -> None:
        runs_vjp(way.kernels, kernels, way.tableau, way.settings, system.stops, runs, numbers, duration, first,
                 min(first + size, possible), own, by)  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        for done, _ in enumerate(pool.map(share, range(0, possible, size)), start=1):
            progress(min(done * size, possible), possible)
    by_number: dict[str, Floats] = {}
    for name, values in zip(DesignRows._fields, by, strict=True):
        for k, number in enumerate(names[name]):
            more = among_all(values[:, k], fine, count)
            by_number[number] = by_number[number] + more if number in by_number else more
    return GradientRows(*(among_all(values, fine, count) for values in own)), by_number


def _notes(asked: BatchInputs, found: GradientRows) -> tuple[str, ...]:
    names, notes = asked.integrator.system.event_names, []
    for k, (status, event, time) in enumerate(zip(found.status, found.event, found.times, strict=True)):
        if k in asked.refused:
            notes.append(f"not possible: {asked.refused[k]}")
        elif status == FINISHED:
            notes.append("" if np.isfinite(found.values[k]) else "the objective is not a finite number")
        elif status == AT_EVENT and not found.steps[k]:
            notes.append(f"it starts where it ends: {names[event]}")
        elif status == GRAZED:
            notes.append(f"{names[event]} at {time:.4g} s, but only just: how that time moves has no derivative")
        elif status == AT_EVENT:
            notes.append(f"ended at {time:.4g} s ({names[event]}); derivatives count in how that time moves")
            if found.tied[k] >= 0:
                notes[-1] += (
                    f", as if {names[found.tied[k]]}, at the same time, came later: by what tells the two apart they "
                    "are of one side only"
                )
        else:
            notes.append(f"at {time:.4g} s: {why_ended(int(status), int(event), names)}")
    return tuple(notes)
