"""Sensitivities: how runs change, over their whole time, with a few numbers of the start, the design or the control.

Directions go side by side in the lanes of the processor, so a few cost little more than one. By many numbers, of one
measure, `tailwork.simulation.gradient` is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.errors import RobotError, UnknownNameError
from tailwork.model import Model
from tailwork.simulation.asked import NOTHING, Asked, asked_runs, checked_names, workers
from tailwork.simulation.derivatives.forwards import Directions, Extension, Extensions, Numbers, extend_runs
from tailwork.simulation.derivatives.jvp import (
    Forward,
    curvature_forward,
    derivative_forward,
    expansion_forward,
    pushed_solution,
)
from tailwork.simulation.designs import in_shares, lane_kernel
from tailwork.simulation.events import Event, LegStraight
from tailwork.simulation.forces import Force
from tailwork.simulation.integrate.driver import STUCK
from tailwork.simulation.integrate.tableaus import Rosenbrock
from tailwork.simulation.problem import options_of, problem_of
from tailwork.simulation.simulate import why_ended
from tailwork.simulation.system import Motion, System
from tailwork.typing import Floats

SHARE = 4
"""Runs that a thread takes at a time."""


@dataclass(frozen=True)
class Sensitivities:
    """How runs change with numbers, at given times; not a number after the end of a run."""

    times: Floats  # [s], (times,)
    q: dict[str, Floats]  # by name of what is varied: of the coordinates [m or rad a unit], (runs, times, coordinates)
    v: dict[str, Floats]  # likewise of the velocities [m/s or rad/s a unit], (runs, times, velocities)
    ends: Floats  # when each run ended [s]
    notes: tuple[str, ...]  # why a run ended before its time, or why a design is not possible; else empty


def sensitivities(
    model: Model,
    states: ArrayLike | tuple[ArrayLike, ArrayLike],
    duration: float,
    *,
    by: Sequence[str] = (),
    start: Sequence[str] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, Motion] | None = None,
    forces: Force | Sequence[Force] = (),
    method: str = "auto",
    rtol: float = 1e-6,
    atol: float = 1e-8,
    step: float | None = None,
    events: Sequence[Event] = (LegStraight(),),
    samples: int = 201,
    limits: str = "report",
    max_steps: int = 1_000_000,
    threads: int | None = None,
) -> Sensitivities:
    """Derivatives of all coordinates and velocities over time by a few numbers.

    Args:
        model: the robot with its stance.
        states: q or (q, v), one for all runs or a row each.
        duration: of the run [s].
        by: names of numbers of the robot, the control or the motions, as for `tailwork.simulation.simulate_batch`.
        start: names of coordinates and velocities at the start to differentiate by, too.
        parameters: values by name, one for all or one a run.
        control: laws, the same kinds for all runs.
        motions: by limb, as for `simulate`.
        forces: from outside.
        method: "auto" (chosen for the first run), "rk4", "dopri5" or "rodas5p".
        rtol: relative tolerance.
        atol: absolute tolerance.
        step: fixed step [s]; required for rk4.
        events: what to watch. Derivatives are at fixed times, up to the event that ends a run.
        samples: how many times, evenly spaced.
        limits: as for `tailwork.simulate`.
        max_steps: a run ends after this many.
        threads: how many; as many as there are processors, unless told.
    """
    pool_size = workers(threads)
    problem = problem_of(
        model, states, duration, control=control, motions=motions, forces=forces, events=events, limits=limits
    )
    options = options_of(
        {"method": method, "rtol": rtol, "atol": atol, "step": step, "max_steps": max_steps, "samples": samples}
    )
    asked = asked_runs(problem, options, parameters, by)
    system = asked.way.system
    wanted = checked_names(system, by)
    places = _start_places(system, start)
    if not wanted and not places:
        raise RobotError("by", by, "names of numbers to differentiate by, here or in `start`")
    forwards = {"derivative": derivative_forward(system), "expansion": expansion_forward(system)}
    if isinstance(asked.method, Rosenbrock):
        forwards["curvature"] = curvature_forward(system)
    times = np.linspace(0.0, duration, samples)
    fine, count = asked.possible, len(asked.start.states)
    first_states = np.zeros((len(wanted) + len(places), system.size))
    for k, place in enumerate(places):
        first_states[len(wanted) + k, place] = 1.0
    directions = Directions(
        **{name: _rates(forwards.get(name), wanted, len(places)) for name in Numbers._fields}, start=first_states
    )
    run = _ready(asked, forwards, directions, fine, times, duration)
    with ThreadPoolExecutor(pool_size) as pool:
        in_shares(pool, len(fine), run.share, SHARE)
    whole = run.out
    if len(fine) < count:
        whole = np.full((count, *run.out.shape[1:]), np.nan)
        whole[fine] = run.out
    coordinates = len(model.coordinate_names)
    named = [*by, *start]
    ends = np.zeros(count)
    ends[fine] = run.ends
    return Sensitivities(
        times,
        {name: whole[:, k, :, :coordinates] for k, name in enumerate(named)},
        {name: whole[:, k, :, coordinates:] for k, name in enumerate(named)},
        ends,
        _notes(asked, fine, run),
    )


def _start_places(system: System, names: Sequence[str]) -> list[int]:
    """Where coordinates and velocities are in the state."""
    layout = system.model.layout
    if isinstance(names, str) or len(set(names)) < len(names):
        raise RobotError("start", names, "a list of names, each once")
    known = [layout.coordinate_names[k] for k in system.free_q] + [layout.velocity_names[k] for k in system.free_v]
    for name in names:
        if name not in known:
            raise UnknownNameError.among("start", str(name), known, "coordinate or velocity of what moves freely")
    return [known.index(name) for name in names]


def _rates(forward: Forward | None, wanted: Sequence[str], more: int) -> Floats:
    """Rates of the numbers of a graph along each direction: 1 for the number that it is about."""
    if forward is None:
        return np.zeros((len(wanted) + more, 1))
    rates = np.zeros((len(wanted) + more, max(len(forward.names), 1)))
    for k, name in enumerate(wanted):
        if name in forward.names:
            rates[k, forward.names.index(name)] = 1.0
    return rates


@dataclass(frozen=True)
class _Ready:
    share: Callable[[slice], None]
    status: np.ndarray
    event: np.ndarray
    ends: Floats
    out: Floats


def _ready(
    asked: Asked, forwards: Mapping[str, Forward], directions: Directions, fine: np.ndarray, times: Floats,
    duration: float,
) -> _Ready:  # fmt: skip
    way, system, count = asked.way, asked.way.system, len(fine)
    layout = system.model.layout
    stiff = isinstance(asked.method, Rosenbrock)
    extensions = Extensions(
        **{name: extension(forwards.get(name)) for name in Numbers._fields},
        solve=pushed_solution(system).lane_address() if stiff else 0,
        rates=len(system.free_v),
        shown=forwards["expansion"].outputs,
    )
    runs = asked.runs(fine)
    names = {name: forwards[name].names if name in forwards else () for name in Numbers._fields}
    numbers = Numbers(**{name: asked.rows(own, fine) for name, own in names.items()})
    shown = len(layout.coordinate_names) + len(layout.velocity_names)
    status, event, ends = np.full(count, STUCK, np.int64), np.full(count, -1, np.int64), np.zeros(count)
    out = np.full((count, len(directions.start), len(times), shown), np.nan)

    def share(here: slice) -> None:
        extend_runs(way.kernels, extensions, way.tableau, way.settings, system.stops, runs, numbers, directions,
                    times, duration, here.start, here.stop, status, event, ends, out)  # fmt: skip

    return _Ready(share, status, event, ends, out)


def extension(forward: Forward | None) -> Extension:
    """Kernels of a graph along directions, by their addresses."""
    if forward is None:
        return Extension(NOTHING, NOTHING, NOTHING, -1)
    handing, design, push = (lane_kernel(kernel) for kernel in (forward.handing, forward.design, forward.push))
    return Extension(handing, design, push, forward.handed)


def _notes(asked: Asked, fine: np.ndarray, run: _Ready) -> tuple[str, ...]:
    notes = [f"not possible: {asked.refused.get(k, '')}" for k in range(len(asked.start.states))]
    names = asked.way.system.event_names
    for k, status, event, end in zip(fine, run.status, run.event, run.ends, strict=True):
        said = why_ended(int(status), int(event), names)
        notes[k] = f"ended at {end:.4g} s ({said})" if said else ""
    return tuple(notes)
