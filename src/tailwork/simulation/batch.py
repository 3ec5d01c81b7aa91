"""Many runs at once: different states, designs and control, side by side in the lanes of the processor and on threads.

A batch gives the same bits as single runs by `tailwork.simulate`, whatever its size, order and number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import RobotError, StateError, UnknownNameError
from tailwork.kernels.kernel import Floats
from tailwork.model import Model
from tailwork.robots.quantities import Kind
from tailwork.simulation.choose import chosen_method
from tailwork.simulation.compiled import Settings, Tableau, as_tableau
from tailwork.simulation.designs import evaluated, lane_kernel
from tailwork.simulation.driver import AT_EVENT, FINISHED, STUCK
from tailwork.simulation.events import Event, LegStraight
from tailwork.simulation.lane_driver import Ends, LaneKernel, LaneKernels
from tailwork.simulation.moment import Law
from tailwork.simulation.simulate import STUCK_REASON, check_numbers
from tailwork.simulation.system import Motion, System
from tailwork.simulation.tableaus import Rosenbrock, RungeKutta
from tailwork.simulation.tile import Start, Tile, Way, no_ends, to_ends
from tailwork.simulation.tile import kernel_parameters as _parameters

TILE = 4096
"""Runs whose samples are held in memory at a time."""
ROOM = 2**25
"""Numbers of samples that are held in memory at a time."""
NOTHING = LaneKernel(0, 0, 0, 0)


@dataclass(frozen=True)
class Batch:
    """What becomes of many runs, a row each."""

    model: Model
    method: str
    why_method: str
    q: Floats  # at the end of each run; not a number where it was refused
    v: Floats
    times: Floats  # when each run ended [s]
    reasons: tuple[str, ...]  # why a run ended before its time; "" where it went to its end
    steps: np.ndarray  # by run
    rejected: np.ndarray
    measures: dict[str, Floats]  # by name, (runs, …)

    @property
    def finished(self) -> np.ndarray:
        """Which runs went to their end."""
        return np.array([not reason for reason in self.reasons])


Measure = Callable[[Tile], ArrayLike]
"""From some runs with their samples: a number, or an array, for each of them."""


def simulate_batch(
    model: Model,
    states: ArrayLike | tuple[ArrayLike, ArrayLike],
    duration: float,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    control: Law | Sequence[Law] = (),
    tail: Mapping[str, Motion] | None = None,
    measures: Mapping[str, Measure] | None = None,
    method: str = "auto",
    rtol: float = 1e-6,
    atol: float = 1e-8,
    step: float | None = None,
    events: Sequence[Event] = (LegStraight(),),
    samples: int = 201,
    to_end: bool = False,
    most_steps: int = 1_000_000,
    limits: str = "report",
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, all_runs: None,
) -> Batch:
    """Simulate many runs that differ in their states, in numbers of the robot and of the control, for a duration [s].

    Args:
        model: the robot with its stance.
        states: q or (q, v), one for all runs or a row each.
        duration: [s].
        parameters: values by name, one for all or one a run: numbers of the robot by path ("tail.length"), of a law by
            its place ("control.1.kp"), of a prescribed motion by limb and coordinate ("motion.tail.tb.…").
        control: laws, the same kinds for all runs.
        tail: by prescribed limb: profiles of its coordinates.
        measures: what to compute of each run from its samples, by name; see `Tile`.
        method: "auto" (chosen for the first run), "rk4", "dopri5" or "rodas5p".
        rtol: relative tolerance.
        atol: absolute tolerance.
        step: fixed step [s]; required for rk4.
        events: what to watch; only those that stop a run matter.
        samples: how many times measures see, evenly spaced over the duration.
        to_end: whether they are spread over the time of each run instead, to its own end, as those of a `Run` are.
        most_steps: a run ends after this many.
        limits: as for `tailwork.simulate`.
        threads: how many; as many as there are processors, unless told.
        progress: told (runs done, all runs) now and then.
    """
    check_numbers(duration, rtol, atol, step, 1.0, samples, most_steps)
    if limits not in ("report", "respect"):
        raise RobotError("limits", limits, "'report' or 'respect'")
    workers = os.cpu_count() or 1 if threads is None else threads
    if not isinstance(workers, int) or workers < 1:
        raise RobotError("threads", threads, "a whole number, at least 1")
    system = System(model, _laws(control), tail, events, limits == "respect")
    if system.servos:
        raise RobotError("control", "JointServo", "laws that need no ground")
    varied = varied_numbers(system, parameters or {})
    q, v = _rows(model, states)
    sizes = {len(rows) for rows in (q, v, *varied.columns.values())} - {1}
    if len(sizes) > 1:
        raise RobotError("parameters", sorted(sizes), "states and parameters of one length, or one for all runs")
    count = sizes.pop() if sizes else 1
    x = system.state(np.broadcast_to(q, (count, q.shape[1])), np.broadcast_to(v, (count, v.shape[1])))
    columns = {name: np.broadcast_to(values, (count,)) for name, values in varied.columns.items()}
    refused = _refusals(varied.kinds, columns, count)
    held = np.zeros((count, system.held))
    usual = next((k for k in range(count) if k not in refused), 0)
    found, why = chosen_method(system, method, step, x[usual], held[usual], duration)
    settings = Settings(rtol, atol, step or 0.0, step or min(1e-4, duration), most_steps)
    kernels, tableau, names = _lane_kernels(system, found)
    way = Way(system, kernels, tableau, settings, names, duration)
    everything = Start(x, held, columns)
    possible = np.array([k not in refused for k in range(count)])
    ends = no_ends(count, system.size, 0)
    times = np.linspace(0.0, duration, samples)[None] if measures else np.zeros((1, 0))
    kept: dict[str, list[Any]] = {name: [] for name in measures or {}}
    size = max(1, min(TILE, ROOM // max(1, times.shape[1] * system.size)))
    with ThreadPoolExecutor(workers) as pool:
        for first in range(0, count, size):
            here = slice(first, min(first + size, count))
            start = everything.only(here)
            own = way.ends(start, times, pool, whole=possible[here])
            for whole, piece in zip(ends[:-2], own[:-2], strict=True):
                whole[here] = piece
            tile = Tile(first, times[0], own.samples, own.times, own.steps, possible[here], way, start, pool)
            tile = to_ends(tile, own.status) if to_end and measures else tile
            for name, measure in (measures or {}).items():
                kept[name].append(_measured(name, measure, tile))
            progress(here.stop, count)
    reasons = _reasons(ends, refused, system.event_names)
    final_q, final_v = _final(system, ends, columns, held)
    return Batch(
        model=model, method=found.name, why_method=why, q=final_q, v=final_v, times=ends.times, reasons=reasons,
        steps=ends.steps, rejected=ends.rejected,
        measures={name: np.concatenate(pieces) for name, pieces in kept.items()},
    )  # fmt: skip


@dataclass(frozen=True)
class Varied:
    """Numbers that differ between runs."""

    columns: dict[str, Floats]  # by name among the system's numbers: (1,) or (runs,)
    kinds: dict[str, tuple[str, Kind]]  # likewise: the name that the user knows, and what is allowed


def parameter_names(system: System) -> dict[str, str]:
    """Names of all numbers that can be varied, and what they are called among the system's numbers."""
    shown = {}
    for name in system.numbers:
        part, _, path = name.partition(": ")
        if part == "robot":
            shown[path] = name
        elif part.startswith("law "):
            shown[f"control.{part.removeprefix('law ')}.{path}"] = name
        else:
            shown[f"motion.{part}.{path}"] = name
    return shown


def varied_numbers(system: System, parameters: Mapping[str, ArrayLike]) -> Varied:
    """The numbers that are varied, checked by name and shape."""
    if not isinstance(parameters, Mapping):
        raise RobotError("parameters", parameters, "values by name, such as {'tail.length': [0.3, 0.4, 0.5]}")
    names, kinds = parameter_names(system), system.kinds()
    columns: dict[str, Floats] = {}
    for shown, values in parameters.items():
        if shown not in names:
            raise UnknownNameError.among("parameters", str(shown), names, "number of the robot or the control")
        name = names[shown]
        if name in system.fixed:
            required = (
                "a number that is not zero in the model's robot (zeros are part of the structure of its equations) and "
                "that its equations use"
            )
            raise RobotError(f"parameters.{shown}", system.numbers[name], required)
        try:
            column = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise RobotError(f"parameters.{shown}", values, "numbers, one for all runs or one a run") from None
        if column.ndim > 1 or not column.size:
            raise RobotError(f"parameters.{shown}", column.shape, "numbers, one for all runs or one a run")
        columns[name] = column.reshape(-1)
    return Varied(columns, {name: (shown, kinds[name]) for shown, name in names.items() if name in columns})


def _refusals(kinds: Mapping[str, tuple[str, Kind]], columns: Mapping[str, Floats], count: int) -> dict[int, str]:
    """By run whose design is not possible: why."""
    refused: dict[int, str] = {}
    for name, (shown, kind) in kinds.items():
        fine = np.isfinite(columns[name])
        if kind.allowed is not None:
            fine &= np.array([kind.allowed(value) for value in columns[name]])
        for k in np.flatnonzero(~fine):
            refused.setdefault(int(k), f"{shown}: got {columns[name][k]:g}; required: {kind.phrase(())}")
    return refused


def _laws(control: Any) -> Sequence[Law]:
    if hasattr(control, "efforts"):
        return (control,)
    if isinstance(control, (list, tuple)):
        return tuple(control)
    raise RobotError("control", control, "a law or a list of laws (a controller in Python cannot run in a batch)")


def _rows(model: Model, states: Any) -> tuple[Floats, Floats]:
    """q and v, (1 or runs, …)."""
    q, v = states if isinstance(states, tuple) and len(states) == 2 else (states, np.zeros(len(model.velocity_names)))
    rows = []
    for name, given, wanted in (("q", q, model.coordinate_names), ("v", v, model.velocity_names)):
        try:
            array = np.atleast_2d(np.asarray(given, dtype=np.float64))
        except (TypeError, ValueError):
            raise StateError(name, f"required: numbers, {len(wanted)} a run") from None
        if array.ndim != 2 or array.shape[1] != len(wanted) or not len(array):
            raise StateError(name, f"got shape {np.shape(given)}; required: (runs, {len(wanted)}), or one for all")
        if not np.isfinite(array).all():
            raise StateError(
                name, "required: finite numbers", tuple(map(int, np.flatnonzero(~np.isfinite(array).all(axis=1))))
            )
        rows.append(array)
    return rows[0], rows[1]


def _lane_kernels(
    system: System, method: RungeKutta | Rosenbrock
) -> tuple[LaneKernels, Tableau, dict[str, tuple[str, ...]]]:
    """The kernels of a system, the method, and by kernel the names of its parameters."""
    wanted = ["derivative", *(["events"] if system.watched else [])]
    wanted += ["linear", "solve"] if isinstance(method, Rosenbrock) else []
    found = {name: system.compiled(name, lanes=True) for name in wanted}
    lanes = {name: lane_kernel(kernel) for name, (kernel, _) in found.items()}
    size = found["linear"][0].outputs if "linear" in found else 0
    parts = {name: lanes.get(name, NOTHING) for name in ("derivative", "events", "linear", "solve")}
    kernels = LaneKernels(**parts, linear_size=size)
    return kernels, as_tableau(method), {name: names for name, (_, names) in found.items()}


def _measured(name: str, measure: Measure, tile: Tile) -> Floats:
    found = np.asarray(measure(tile), dtype=np.float64)
    if found.ndim < 1 or len(found) != len(tile.states):
        raise RobotError(f"measures.{name}", found.shape, f"one value a run: ({len(tile.states)}, …)")
    return found


def _reasons(ends: Ends, refused: Mapping[int, str], names: Sequence[str]) -> tuple[str, ...]:
    said = []
    for k, (status, event) in enumerate(zip(ends.status, ends.event, strict=True)):
        if k in refused:
            said.append(f"not possible: {refused[k]}")
        elif status == FINISHED:
            said.append("")
        elif status == AT_EVENT:
            said.append(names[event])
        else:
            said.append(STUCK_REASON if status == STUCK else "more steps than allowed")
    return tuple(said)


def _final(system: System, ends: Ends, columns: Mapping[str, Floats], held: Floats) -> tuple[Floats, Floats]:
    """q and v at the end of every run."""
    kernel, names = system.compiled("expand", lanes=True)
    inputs = np.concatenate([ends.times[:, None], ends.states, held], axis=1)[:, None]
    outputs = evaluated(kernel, _parameters(system, names, columns, len(inputs)), inputs)
    sizes = np.cumsum([len(system.model.coordinate_names), len(system.model.velocity_names)])
    q, v, _ = np.split(outputs[:, 0], sizes, axis=1)
    return q, v
