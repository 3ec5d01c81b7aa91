"""Gradients of what runs come to by their start, their design and their control: steps, differentiated backwards.

The steps are frozen: what is differentiated is the sequence of operations that a run consists of, so the gradient is
exact for it, at the price of a few runs, whatever the number of parameters. Where an event has ended the run, the end
moves with everything: that is counted in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.errors import RobotError, StateError
from tailwork.model import Model
from tailwork.simulation.asked import NOTHING, Asked, asked_runs, checked_names, workers
from tailwork.simulation.derivatives.differentiate import (
    GRAZED,
    ByDesign,
    Found,
    Reversal,
    Reversals,
    differentiate_runs,
)
from tailwork.simulation.derivatives.vjp import (
    Objective,
    Reverse,
    curvature_reverse,
    derivative_reverse,
    event_reverse,
    objective_reverse,
    transposed_solution,
)
from tailwork.simulation.designs import lane_kernel
from tailwork.simulation.events import Event, LegStraight
from tailwork.simulation.forces import Force
from tailwork.simulation.integrate.driver import AT_EVENT, FINISHED, STUCK
from tailwork.simulation.integrate.tableaus import Rosenbrock
from tailwork.simulation.problem import options_of, problem_of
from tailwork.simulation.simulate import why_ended
from tailwork.simulation.system import Motion
from tailwork.typing import Floats

LEAST, MOST = 16, 256
"""Runs that a thread takes at a time: few enough that threads end together, and so many that calls do not count."""
NO_REVERSAL = Reversal(NOTHING, NOTHING, NOTHING, -1, 0, 0)


@dataclass(frozen=True)
class Gradient:
    """What a run comes to, and its derivatives."""

    value: float  # what was asked for, in its own unit
    by_q: Floats  # by the coordinates at the start, each for one of its units; zero for those of prescribed limbs
    by_v: Floats  # by the velocities at the start, each for one of its units
    by_parameter: dict[str, float]  # by the parameters asked for, each for one of its units
    time: float  # when the run ended [s]
    note: str  # what is special about it: that an event ended the run; else empty


@dataclass(frozen=True)
class Gradients:
    """What many runs come to, and the derivatives, a row each; not a number where a run has none."""

    values: Floats  # (runs,): what was asked for, in its own unit
    by_q: Floats  # (runs, coordinates), by the coordinates at the start, each for one of its units
    by_v: Floats  # (runs, velocities), by the velocities at the start, each for one of its units
    by_parameter: dict[str, Floats]  # by name, (runs,), each for one of its units
    times: Floats  # when each run ended [s]; 0 where its design is not possible
    notes: tuple[str, ...]  # that an event ended the run, and its time moves; or why there are no derivatives; or empty


def gradient(
    model: Model,
    state: ArrayLike | tuple[ArrayLike, ArrayLike],
    duration: float,
    objective: Objective | None = None,
    *,
    integrand: Objective | None = None,
    parameters: Sequence[str] = (),
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, Motion] | None = None,
    forces: Force | Sequence[Force] = (),
    method: str = "auto",
    rtol: float = 1e-6,
    atol: float = 1e-8,
    step: float | None = None,
    events: Sequence[Event] = (LegStraight(),),
    limits: str = "report",
    max_steps: int = 1_000_000,
) -> Gradient:
    """What a run comes to and its derivatives by the start and by parameters of robot and control.

    Args:
        model: the robot with its stance.
        state: q or (q, v).
        duration: of the run [s].
        objective: of the last moment: `lambda moment: moment.coordinate("phi_z")`.
        integrand: of every moment; its integral over time is added, or is all where there is no objective.
        parameters: names as for `tailwork.simulation.simulate_batch`.
        control: laws.
        motions: by limb, as for `simulate`.
        forces: from outside.
        method: "auto", "rk4", "dopri5" or "rodas5p".
        rtol: relative tolerance.
        atol: absolute tolerance.
        step: fixed step [s]; required for rk4.
        events: what to watch. Where one ends the run, derivatives count in how its time moves; `Gradient.note` says so.
        limits: as for `tailwork.simulate`.
        max_steps: a run of more has no derivatives.
    """
    found = gradients(model, state, duration, objective, integrand=integrand, by=parameters, control=control, motions=motions,
                      forces=forces,
                      method=method, rtol=rtol, atol=atol, step=step, events=events, limits=limits,
                      max_steps=max_steps, threads=1)  # fmt: skip
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
    states: ArrayLike | tuple[ArrayLike, ArrayLike],
    duration: float,
    objective: Objective | None = None,
    *,
    integrand: Objective | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    by: Sequence[str] | None = None,
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, Motion] | None = None,
    forces: Force | Sequence[Force] = (),
    method: str = "auto",
    rtol: float = 1e-6,
    atol: float = 1e-8,
    step: float | None = None,
    events: Sequence[Event] = (LegStraight(),),
    limits: str = "report",
    max_steps: int = 1_000_000,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, all_runs: None,
) -> Gradients:
    """What many runs come to and their derivatives; runs differ in states, designs and control.

    Args:
        model: the robot with its stance.
        states: q or (q, v), one for all runs or a row each.
        duration: of the run [s].
        objective: as for `gradient`.
        integrand: as for `gradient`.
        parameters: values by name, one for all or one a run, as for `tailwork.simulation.simulate_batch`.
        by: names of the numbers to differentiate by; those of `parameters`, unless told.
        control: laws, the same kinds for all runs.
        motions: by limb, as for `simulate`.
        forces: from outside.
        method: as for `gradient`; "auto" is chosen for the first run.
        rtol: relative tolerance.
        atol: absolute tolerance.
        step: fixed step [s]; required for rk4.
        events: as for `gradient`.
        limits: as for `tailwork.simulate`.
        max_steps: a run of more has no derivatives.
        threads: how many; as many as there are processors, unless told.
        progress: told (runs done, all runs) now and then.
    """
    pool_size = workers(threads)
    problem = problem_of(
        model, states, duration, control=control, motions=motions, forces=forces, events=events, limits=limits
    )
    options = options_of(
        {"method": method, "rtol": rtol, "atol": atol, "step": step, "max_steps": max_steps, "threads": threads}
    )
    asked = asked_runs(problem, options, parameters, by or ())
    system = asked.way.system
    wanted = checked_names(system, list(parameters or {}) if by is None else by)
    reverses = _reverses(asked, objective, integrand)
    found, by_number = _differentiated(asked, reverses, duration, pool_size, progress)
    count, free = len(asked.start.states), len(system.free_q)
    by_q, by_v = np.zeros((count, len(model.coordinate_names))), np.zeros((count, len(model.velocity_names)))
    by_q[:, system.free_q], by_v[:, system.free_v] = found.by_start[:, :free], found.by_start[:, free:]
    nothing = np.where(np.isfinite(found.values), 0.0, np.nan)
    by_parameter = {name: by_number.get(name, nothing) for name in wanted}
    times = np.where(np.isnan(found.times), 0.0, found.times)
    return Gradients(found.values, by_q, by_v, by_parameter, times, _notes(asked, found))


def _reverses(asked: Asked, objective: Objective | None, integrand: Objective | None) -> dict[str, Reverse]:
    """Compile what runs backwards."""
    system = asked.way.system
    for name, function in (("objective", objective), ("integrand", integrand)):
        if function is not None and not callable(function):
            raise RobotError(name, function, "a function of a moment, such as lambda end: end.coordinate('phi_z')")
    if objective is None and integrand is None:
        raise RobotError("objective", None, "an objective or an integrand: a function of a moment")
    found = {"derivative": derivative_reverse(system)}
    if objective is not None:
        found["objective"] = objective_reverse(system, objective, "objective")
    if integrand is not None:
        found["integrand"] = objective_reverse(system, integrand, "integrand")
    if system.watched:
        found["event"] = event_reverse(system)
    if isinstance(asked.method, Rosenbrock):
        found["curvature"] = curvature_reverse(system)
    return found


def _differentiated(
    asked: Asked, reverses: Mapping[str, Reverse], duration: float, threads: int,
    progress: Callable[[int, int], None],
) -> tuple[Found, dict[str, Floats]]:  # fmt: skip
    """Simulate and differentiate those runs that are possible, on threads; and derivatives by the system's numbers."""
    way, fine, count = asked.way, asked.possible, len(asked.start.states)
    system = way.system
    stiff = isinstance(asked.method, Rosenbrock)
    reversals = Reversals(
        **{name: _reversal(reverses.get(name)) for name in ByDesign._fields},
        transposed=transposed_solution(system).code.address("scalar") if stiff else 0,
        rates=len(system.free_v),
    )
    runs = asked.runs(fine)
    names = {name: reverses[name].names if name in reverses else () for name in ByDesign._fields}
    numbers = ByDesign(**{name: asked.rows(own, fine) for name, own in names.items()})
    by = ByDesign(*(np.full_like(rows, np.nan) for rows in numbers))
    whole, nothing = np.int64, np.full(len(fine), np.nan)
    own = Found(np.full(len(fine), STUCK, whole), np.full(len(fine), -1, whole), np.zeros(len(fine)),
                np.zeros(len(fine), whole), nothing, np.full((len(fine), system.size), np.nan),
                np.full(len(fine), -1, whole))  # fmt: skip

    size = min(MOST, max(LEAST, len(fine) // (4 * threads)))

    def share(first: int) -> None:
        last = min(first + size, len(fine))
        differentiate_runs(way.kernels, reversals, way.tableau, way.settings, system.stops, runs, numbers,
                           duration, first, last, own, by)  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        for done, _ in enumerate(pool.map(share, range(0, len(fine), size)), start=1):
            progress(min(done * size, len(fine)), len(fine))
    found = Found(*(_spread(values, fine, count) for values in own))
    by_number: dict[str, Floats] = {}
    for name, values in zip(ByDesign._fields, by, strict=True):
        for k, number in enumerate(names[name]):
            more = _spread(values[:, k], fine, count)
            by_number[number] = by_number[number] + more if number in by_number else more
    return found, by_number


def _reversal(reverse: Reverse | None) -> Reversal:
    if reverse is None:
        return NO_REVERSAL
    handing, pull, design = (lane_kernel(kernel) for kernel in (reverse.handing, reverse.pull, reverse.design))
    return Reversal(handing, pull, design, reverse.handed, reverse.by, reverse.outputs)


def _spread(values: np.ndarray, fine: np.ndarray, count: int) -> np.ndarray:
    """Rows of the runs that are possible among those of all runs; others are not a number, or −1."""
    whole = np.full((count, *values.shape[1:]), np.nan if values.dtype.kind == "f" else -1, dtype=values.dtype)
    whole[fine] = values
    return whole


def _notes(asked: Asked, found: Found) -> tuple[str, ...]:
    names, notes = asked.way.system.event_names, []
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
