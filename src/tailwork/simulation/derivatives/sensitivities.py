"""Sensitivities: how runs change, over their whole time, with a few numbers of the start, the design or the control.

Directions go side by side in the lanes of the processor, so a few cost little more than one. By many numbers, of one
measure, `tailwork.simulation.gradient` is cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.simulation.batch.inputs import batch_inputs, check_smooth, checked_names, names_of, workers
from tailwork.simulation.contact.ground import RigidGround
from tailwork.simulation.derivatives.compiled import among_all
from tailwork.simulation.derivatives.jvp_runs import runs_jvp
from tailwork.simulation.derivatives.products import expansion_jvp, initial_tangents
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.event_driven.saltation import DIFFERENTIATED, GROUND_NUMBERS
from tailwork.simulation.event_driven.sensitivities import event_changes
from tailwork.simulation.events import DEFAULT_EVENTS, Event
from tailwork.simulation.forces import Force
from tailwork.simulation.integrate.tableaus import EVENT_DRIVEN
from tailwork.simulation.options import OptionArguments, Options, options_of
from tailwork.simulation.problem import Problem, State, problem_of
from tailwork.simulation.simulate import initial_state
from tailwork.simulation.stopping import why_stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats


@dataclass(frozen=True, repr=False, eq=False)
class Sensitivities:
    """How runs change with numbers, at given times; NaN after the end of a run."""

    times: Floats  # [s], (times,)
    q: dict[str, Floats]  # by name of what is varied: of the coordinates [m or rad a unit], (runs, times, coordinates)
    v: dict[str, Floats]  # likewise of the velocities [m/s or rad/s a unit], (runs, times, velocities)
    ends: Floats  # when each run ended [s]
    notes: tuple[str, ...]  # why a run ended before its time, or a design is not possible; one-sided derivatives
    differentiated: str  # what these are the derivatives of, in words

    def __repr__(self) -> str:
        by, noted = ", ".join(self.q), sum(map(bool, self.notes))
        said = f"{len(self.ends)} runs at {len(self.times)} times by {by}, derivatives of {self.differentiated}"
        return f"{said}; {noted} with notes, see `notes`" if noted else said


def sensitivities(
    model: Model,
    states: State,
    duration: float,
    *,
    by: Sequence[str] = (),
    start: Sequence[str] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, PrescribedMotion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = DEFAULT_EVENTS,
    limits: str = "report",
    ground: RigidGround | None = None,
    start_time: float = 0.0,
    **options: Unpack[OptionArguments],
) -> Sensitivities:
    """Derivatives of all coordinates and velocities over time by a few numbers.

    Arguments as for `simulate_batch`, and these; keyword arguments beyond are fields of `Options`.

    Args:
        model: the robot with its stance.
        states: q, (q, v), one for all runs or a row each; or equations such as `Standing()`.
        duration: of the run [s].
        by: names of numbers to differentiate by, as for `simulate_batch`.
        start: names of coordinates and velocities at the start to differentiate by, too.
        parameters: values by name, one for all or one a run.
        control: laws, the same kinds for all runs.
        motions: as for `simulate`.
        forces: as for `simulate`.
        events: derivatives are at fixed times, up to the event that ends a run.
        limits: as for `simulate`.
        ground: rigid ground under feet that are free: one run with method="event-driven", differentiated through its
            impacts (saltation matrix), by "ground.friction" and "ground.restitution", too. Its note says where contacts
            close together, so that derivatives are those in one direction only.
        start_time: time of the initial state [s], on rigid ground.
        options: as for `simulate`.
    """
    problem = problem_of(
        model, states, duration, control=control, motions=motions, forces=forces, events=events, limits=limits,
        ground=ground, start_time=start_time,
    )  # fmt: skip
    how, by, start = options_of(options), names_of("by", by), names_of("start", start)
    if ground is not None:
        return _on_rigid_ground(problem, how, by, start, parameters)
    inputs = batch_inputs(problem, how, parameters, by)
    integrator, system, fine = inputs.pinned, inputs.pinned.system, inputs.possible
    wanted = checked_names(system, by)
    check_smooth(system, wanted, problem.duration, inputs.start.columns)
    places = _start_places(system, start)
    if not wanted and not places:
        raise ArgumentError("by", by, "names of numbers to differentiate by, here or in `start`")
    directions = np.eye(len(wanted), len(wanted) + len(places)).T
    start_rates = np.zeros((len(wanted) + len(places), system.size))
    for k, place in enumerate(places):
        start_rates[len(wanted) + k, place] = 1.0
    if system.initial is not None and wanted:
        if parameters:
            raise ArgumentError("parameters", list(parameters), "none with an initial state that is equations")
        start_rates[: len(wanted)] = initial_tangents(system, {}, 1, wanted)[0]
    times, possible = np.linspace(0.0, problem.duration, how.samples), inputs.start.only(fine)
    with ThreadPoolExecutor(workers(how.threads)) as pool:
        status, event, ends, out = runs_jvp(
            integrator, possible, expansion_jvp(system), wanted, directions, start_rates, times, pool
        )
    coordinates = len(model.coordinate_names)
    both = coordinates + len(model.velocity_names)
    count = len(inputs.start.states)
    notes = [f"not possible: {inputs.refused.get(k, '')}" for k in range(count)]
    for k, run_status, run_event, end in zip(fine, status, event, ends, strict=True):
        said = why_stopped(int(run_status), int(run_event), system.event_names)
        notes[k] = f"ended at {end:.4g} s ({said})" if said else ""
    every, named = among_all(out, fine, count), [*by, *start]
    return Sensitivities(
        times,
        {name: every[:, k, :, :coordinates] for k, name in enumerate(named)},
        {name: every[:, k, :, coordinates:both] for k, name in enumerate(named)},
        np.nan_to_num(among_all(ends, fine, count)),
        tuple(notes),
        f"the steps of {inputs.method} as they were",
    )


def _on_rigid_ground(
    problem: Problem, options: Options, by: list[str], start: list[str],
    parameters: Mapping[str, ArrayLike] | None,
) -> Sensitivities:  # fmt: skip
    """Sensitivities of a run from event to event."""
    if options.method not in ("auto", EVENT_DRIVEN):
        raise ArgumentError(
            "method", options.method, f"'{EVENT_DRIVEN}': other methods are not differentiated on ground"
        )
    if parameters:
        raise ArgumentError("parameters", list(parameters), "none on ground: one run, with the numbers of its model")
    system, wanted = problem.system(by), by
    own = checked_names(system, by, of_ground=GROUND_NUMBERS)
    check_smooth(system, own, problem.start_time + problem.duration)
    places, x = _start_places(system, start), initial_state(problem, system)
    if not wanted and not places:
        raise ArgumentError("by", by, "names of numbers to differentiate by, here or in `start`")
    count = len(wanted) + len(places)
    start_rates = np.zeros((count, system.size))
    start_rates[range(len(wanted), count), places] = 1.0
    if system.initial is not None and own:
        start_rates[[wanted.index(name) for name in own]] = initial_tangents(system, {}, 1, own)[0]
    times = np.linspace(problem.start_time, problem.start_time + problem.duration, options.samples)
    found = event_changes(problem, system, x, wanted, np.eye(count, len(wanted)), start_rates, times, options)
    coordinates, named = len(problem.model.coordinate_names), [*wanted, *start]
    return Sensitivities(
        times,
        {name: found.values[None, k, :, :coordinates] for k, name in enumerate(named)},
        {name: found.values[None, k, :, coordinates:] for k, name in enumerate(named)},
        np.array([found.end]),
        (found.note,),
        DIFFERENTIATED,
    )


def _start_places(system: System, names: list[str]) -> list[int]:
    """Where coordinates and velocities are in the state."""
    layout = system.model.layout
    if len(set(names)) < len(names):
        raise ArgumentError("start", names, "each name once")
    known = [layout.coordinate_names[k] for k in system.free_q] + [layout.velocity_names[k] for k in system.free_v]
    for name in names:
        if name not in known:
            raise UnknownNameError.among("start", str(name), known, "coordinate or velocity of what moves freely")
    return [known.index(name) for name in names]
