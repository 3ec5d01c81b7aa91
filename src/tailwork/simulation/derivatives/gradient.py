"""Gradients of an objective of runs with respect to initial state, design and control, by the adjoint of their steps.

The steps are frozen: what is differentiated is the sequence of operations that a run consists of, so the gradient is
exact for it, at the price of a few runs, whatever the number of parameters. Where an event has ended the run, the end
moves with everything: that is counted in. On rigid ground see `derivatives.rigid_vjp_stepping`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.errors import ArgumentError, StateError
from tailwork.kernels.language import NO_FUNCTION, Function, lanes
from tailwork.kernels.translate import driver
from tailwork.model import Model
from tailwork.simulation.batch.inputs import (
    BatchInputs,
    batch_inputs,
    check_smooth,
    checked_names,
    names_of,
    own_tables,
    workers,
)
from tailwork.simulation.batch.kernels import in_shares
from tailwork.simulation.contact.ground import RigidGround
from tailwork.simulation.contact.on_ground import OnGround
from tailwork.simulation.derivatives.compiled import GradientRows, Product, among_all, linearised_run, product
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
from tailwork.simulation.derivatives.rigid_gradient import (
    STEPPED,
    TIME_STEPPED,
    check_differentiated,
    round_notes,
    rounds_differentiated,
)
from tailwork.simulation.derivatives.vjp_steps import GRAZED, GradientJob, differentiate
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.events import DEFAULT_EVENTS, Event
from tailwork.simulation.forces import Force
from tailwork.simulation.integrate.compiled import WIDTH
from tailwork.simulation.integrate.integrator import Integrator, SingleRuns
from tailwork.simulation.integrate.tableaus import Rosenbrock
from tailwork.simulation.options import OptionArguments, options_of
from tailwork.simulation.problem import State, problem_of
from tailwork.simulation.stopping import AT_EVENT, FINISHED, STUCK, why_stopped
from tailwork.typing import Floats

PRODUCTS = ("derivative", "objective", "integrand", "watch", "curvature")
"""What is differentiated; see GradientJob."""
LEAST, MOST = 16, 256
"""Runs that a thread takes at a time: few enough that threads end together, and so many that calls do not count."""


@dataclass(frozen=True, repr=False, eq=False)
class Gradient:
    """The objective of a run, and its derivatives."""

    value: float  # of the objective, in its own unit
    by_q: Floats  # by the coordinates at the start, each for one of its units; zero for those of prescribed limbs
    by_v: Floats  # by the velocities at the start, each for one of its units
    by_parameter: dict[str, float]  # by the parameters asked for, each for one of its units
    time: float  # when the run ended [s]
    note: str  # what is special: that an event ended the run, where derivatives are of one side only; else empty
    differentiated: str  # what these are the derivatives of, in words

    def __repr__(self) -> str:
        many = len(self.by_q) + len(self.by_v) + len(self.by_parameter)
        said = f"value {self.value:.6g} at {self.time:.4g} s and {many} derivatives of {self.differentiated}"
        return f"{said}; {self.note}" if self.note else said


@dataclass(frozen=True, repr=False, eq=False)
class Gradients:
    """The objectives of many runs, and the derivatives, a row each; NaN where a run has none."""

    values: Floats  # (runs,): of the objective, in its own unit
    by_q: Floats  # (runs, coordinates), by the coordinates at the start, each for one of its units
    by_v: Floats  # (runs, velocities), by the velocities at the start, each for one of its units
    by_parameter: dict[str, Floats]  # by name, (runs,), each for one of its units
    times: Floats  # when each run ended [s]; 0 where its design is not possible
    notes: tuple[str, ...]  # by run, as `Gradient.note`; or why there are no derivatives
    differentiated: str  # what these are the derivatives of, in words

    def __repr__(self) -> str:
        said = f"{len(self.values)} runs, derivatives of {self.differentiated}"
        noted = sum(map(bool, self.notes))
        return f"{said}; {noted} with notes, see `notes`" if noted else said


def gradient(
    model: Model,
    state: State,
    duration: float,
    objective: Objective | None = None,
    *,
    integrand: Objective | None = None,
    by: Sequence[str] = (),
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, PrescribedMotion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = DEFAULT_EVENTS,
    limits: str = "report",
    ground: RigidGround | None = None,
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
        by: names of the numbers to differentiate by, as for `simulate_batch`; by the duration of an imposed motion
            that ends with the run, derivatives are those of longer ones.
        control: laws.
        motions: as for `simulate`.
        forces: as for `simulate`.
        events: where one ends the run, derivatives count in how its time moves; on ground runs end with the step,
            whose time does not move. `Gradient.note` says so.
        limits: as for `simulate`.
        ground: rigid ground under feet that are free. What is differentiated are the rounds of time stepping,
            located touchdowns among them, with the contacts that bear load, stick and slip as they are; by
            "ground.friction" and "ground.restitution", too. `Gradient.note` says where that holds to one side only.
            Contacts settle to 1e-12 m/s here, so that values differ from those of `simulate` by what its 1e-5 m/s do.
            An integrand is added up by the trapezoidal rule over the steps.
        options: as for `simulate`.
    """
    found = gradients(
        model, state, duration, objective, integrand=integrand, by=by, control=control, motions=motions,
        forces=forces, events=events, limits=limits, ground=ground, **{**options, "threads": 1},
    )  # fmt: skip
    if len(found.values) != 1:
        raise StateError("state", f"got {len(found.values)} states; required: one; see `gradients`")
    if not np.isfinite(found.values[0]):
        raise StateError("gradient", f"the run has no derivatives: {found.notes[0]}")
    by_parameter = {name: float(values[0]) for name, values in found.by_parameter.items()}
    return Gradient(
        float(found.values[0]), found.by_q[0], found.by_v[0], by_parameter, float(found.times[0]), found.notes[0],
        found.differentiated,
    )  # fmt: skip


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
    motions: Mapping[str, PrescribedMotion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = DEFAULT_EVENTS,
    limits: str = "report",
    ground: RigidGround | None = None,
    **options: Unpack[OptionArguments],
) -> Gradients:
    """The objectives of many runs and their derivatives; runs differ in states and in numbers of the problem.

    Arguments as for `simulate_batch` and `gradient` [SI]; `by` are the names of `parameters` by default.
    """
    problem = problem_of(
        model, states, duration, control=control, motions=motions, forces=forces, events=events, limits=limits,
        ground=ground,
    )  # fmt: skip
    how = options_of(options)
    names = list(own_tables(problem, {} if parameters is None else parameters)[1]) if by is None else names_of("by", by)
    inputs = batch_inputs(problem, how, parameters, names)
    system, count = inputs.integrator.system, len(inputs.start.states)
    wanted, threads = checked_names(system, names, of_ground=() if ground is None else STEPPED), workers(how.threads)
    check_smooth(system, wanted, problem.duration, inputs.start.columns)
    if isinstance(inputs.integrator, OnGround):
        check_differentiated(inputs.integrator)
    vjps = _vjps(inputs, objective, integrand)
    if isinstance(inputs.integrator, Integrator):
        found, by_number = _differentiated(inputs, vjps, threads, how.progress)
        said, differentiated = _notes(system.event_names, found), f"the steps of {inputs.method} as they were"
    else:
        found, by_number = rounds_differentiated(inputs, vjps, threads, how.progress)
        said, differentiated = round_notes(inputs.integrator.event_names, found), TIME_STEPPED
    by_start, values = (among_all(rows, inputs.possible, count) for rows in (found.by_start, found.values))
    free = len(system.free_q)
    by_q, by_v = np.zeros((count, len(model.coordinate_names))), np.zeros((count, len(model.velocity_names)))
    by_q[:, system.free_q], by_v[:, system.free_v] = by_start[:, :free], by_start[:, free:]
    by_parameter = {name: np.where(np.isfinite(values), 0.0, np.nan) for name in names}
    for numbers, rows in by_number:
        for k, name in enumerate(numbers):
            if name in by_parameter:
                by_parameter[name] = by_parameter[name] + among_all(rows[:, k], inputs.possible, count)
    if system.initial is not None and wanted:
        tangents = initial_tangents(system, inputs.start.columns, count, wanted)
        for k, name in enumerate(wanted):
            by_parameter[name] = by_parameter[name] + (by_start * tangents[:, k]).sum(axis=1)
    notes = {k: f"not possible: {why}" for k, why in inputs.refused.items()}
    notes |= dict(zip(inputs.possible.tolist(), said, strict=True))
    times = np.nan_to_num(among_all(found.times, inputs.possible, count))
    return Gradients(
        values, by_q, by_v, by_parameter, times, tuple(notes[k] for k in range(count)), differentiated
    )  # fmt: skip


def _vjps(inputs: BatchInputs, objective: Objective | None, integrand: Objective | None) -> dict[str, Products]:
    """Compile what is differentiated, by name in PRODUCTS."""
    system = inputs.integrator.system
    if objective is None and integrand is None:
        raise ArgumentError("objective", None, "an objective or an integrand: a function of a context")
    found = {"derivative": derivative_vjp(system)} if isinstance(inputs.integrator, Integrator) else {}
    for name, function in (("objective", objective), ("integrand", integrand)):
        if function is None:
            continue
        if not callable(function):
            raise ArgumentError(name, function, "a function of a context, such as lambda end: end.coordinate('phi_z')")
        found[name] = objective_vjp(system, function, name)
    if found.keys() >= {"derivative"} and system.watched:
        found["watch"] = event_vjp(system)
    if isinstance(inputs.integrator, Integrator) and isinstance(inputs.pinned.method, Rosenbrock):
        found["curvature"] = curvature_vjp(system)
    return found


def _differentiated(
    inputs: BatchInputs, vjps: Mapping[str, Products], threads: int, progress: Callable[[int, int], None]
) -> tuple[GradientRows, list[tuple[tuple[str, ...], Floats]]]:
    """Simulate and differentiate those runs that are possible; names of numbers, and derivatives by them."""
    integrator, fine = inputs.pinned, inputs.possible
    system, start, possible, whole = integrator.system, inputs.start.only(fine), len(fine), np.int64
    names = {name: vjps[name].names if name in vjps else () for name in PRODUCTS}
    numbers = {name: inputs.rows(own) for name, own in names.items()}
    by = {name: np.full_like(rows, np.nan) for name, rows in numbers.items()}
    own = GradientRows(
        np.full(possible, STUCK, whole), np.full(possible, -1, whole), np.zeros(possible),
        np.zeros(possible, whole), np.full(possible, np.nan), np.full((possible, system.size), np.nan),
        np.full(possible, -1, whole),
    )  # fmt: skip
    call = driver(differentiate, WIDTH)
    for name in PRODUCTS:  # compiled here, not on the threads of a pool
        product(vjps.get(name), numbers[name][:1], WIDTH if name == "curvature" else 1)
    size = min(MOST, max(LEAST, possible // (4 * threads)))

    def share(here: slice) -> None:
        single = SingleRuns(integrator, start.only(here))
        products = {
            name: product(vjps.get(name), numbers[name][here], WIDTH if name == "curvature" else 1) for name in PRODUCTS
        }
        job: GradientJob | None = None
        for k, r in enumerate(range(here.start, here.stop)):
            steps, kept, ends = single.drive(k), single.job.kept, single.ends
            own.status[r], own.event[r], own.steps[r], own.times[r] = (
                ends.status[k],
                ends.event[k],
                steps,
                ends.times[k],
            )
            if own.status[r] > AT_EVENT or not steps:
                continue
            if job is None:
                job = _job(single, products, own, {name: rows[here] for name, rows in by.items()}, here)
            if job.steps is not kept:
                job.steps = kept
            job.at.inputs[1 + system.size :] = single.start.control_inputs[k]
            job.now[:] = k, steps, own.status[r], own.event[r]
            own.status[r] = call(job)

    done = 0

    def told(here: slice) -> None:
        nonlocal done
        share(here)
        done += here.stop - here.start
        progress(done, possible)

    with ThreadPoolExecutor(threads) as pool:
        in_shares(pool if threads > 1 else None, possible, told, size)
    return own, [(names[name], by[name]) for name in PRODUCTS]


def _job(
    single: SingleRuns, products: Mapping[str, Product], rows: GradientRows, by: Mapping[str, Floats], here: slice
) -> GradientJob:
    """Room for the gradients of some runs."""
    integrator = single.integrator
    system, method = integrator.system, integrator.arrays
    n, n_v, stages, at = system.size, len(system.free_v), method.stages, linearised_run(single)
    most = max(max(own.handed, 0) + own.by + own.outputs for own in products.values())
    inputs = at.known + max(own.outputs for own in products.values())
    curvature = products["curvature"]
    return GradientJob(
        now=np.zeros(4, np.int64), method=method, steps=single.job.kept, at=at,
        **products,
        stage=Function(stage_vjp(system).code.address("scalar")) if method.stiff else NO_FUNCTION,
        watched=len(system.stops), stops=system.stops.astype(np.int64), tied=rows.tied[here], values=rows.values[here],
        by_start=rows.by_start[here].reshape(-1), **{f"by_{name}": own.reshape(-1) for name, own in by.items()},
        weight=np.zeros(n), moving=np.zeros(n + 1), inputs=np.zeros(inputs), outputs=np.zeros(most),
        ends=np.zeros(stages), by_stage=np.zeros(stages * n), turned_inputs=np.zeros(at.size + 2 * n + 1 + n_v),
        turned=np.zeros(n + n_v), w=np.zeros(stages * n), z=np.zeros(stages * n_v), change=np.zeros(stages * n),
        **lanes(WIDTH, bent_inputs=at.known + 2 * n_v + 2 * n + 2, bent=n + n_v + max(curvature.handed, 0) + 1),
    )  # fmt: skip


def _notes(names: Sequence[str], found: GradientRows) -> list[str]:
    """What is special about each run, in words."""
    notes = []
    for k, (status, event, time) in enumerate(zip(found.status, found.event, found.times, strict=True)):
        if status == FINISHED:
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
            notes.append(f"at {time:.4g} s: {why_stopped(int(status), int(event), names)}")
    return notes
