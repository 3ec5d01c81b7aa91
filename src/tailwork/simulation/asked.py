"""What many runs are asked for: states, designs and control, checked and laid out in rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.errors import RobotError, StateError, UnknownNameError
from tailwork.model import Model
from tailwork.robots.quantities import Kind
from tailwork.simulation.chunk import Start, Way, kernel_parameters
from tailwork.simulation.designs import lane_kernel
from tailwork.simulation.events import Event
from tailwork.simulation.integrate.choose import chosen_method
from tailwork.simulation.integrate.compiled import Settings, Tableau, as_tableau
from tailwork.simulation.integrate.lane_driver import LaneKernel, LaneKernels, Runs
from tailwork.simulation.integrate.tableaus import Rosenbrock, RungeKutta
from tailwork.simulation.system import Motion, System
from tailwork.typing import Floats

NOTHING = LaneKernel(0, 0, 0, 0)


@dataclass(frozen=True)
class How:
    """How runs are simulated."""

    method: str
    rtol: float
    atol: float
    step: float | None
    most_steps: int


@dataclass(frozen=True)
class Asked:
    """Runs to be simulated, a row each."""

    way: Way
    start: Start
    refused: dict[int, str]  # why a run's design is not possible
    method: RungeKutta | Rosenbrock
    why_method: str

    @property
    def possible(self) -> np.ndarray:
        """Numbers of the runs whose design is possible."""
        return np.array([k for k in range(len(self.start.states)) if k not in self.refused], dtype=np.int64)

    def rows(self, names: Sequence[str], which: np.ndarray) -> Floats:
        """Numbers by name, a row a run, of some runs."""
        return kernel_parameters(self.way.system, names, self.start.only(which).columns, len(which))

    def runs(self, which: np.ndarray) -> Runs:
        """Some of the runs as compiled code takes them."""
        rows = {name: self.rows(self.way.names.get(name, ()), which) for name in ("derivative", "events", "linear")}
        start = self.start.only(which)
        return Runs(np.ascontiguousarray(start.states), np.ascontiguousarray(start.held), **rows)


def asked_runs(
    model: Model, states: ArrayLike | tuple[ArrayLike, ArrayLike], duration: float,
    parameters: Mapping[str, ArrayLike] | None, control: Law | Sequence[Law], tail: Mapping[str, Motion] | None,
    events: Sequence[Event], limits: str, how: How,
) -> Asked:  # fmt: skip
    """Check what runs are asked for; see `tailwork.simulation.simulate_batch`."""
    if not isinstance(model, Model):
        raise RobotError("model", type(model).__name__, "a Model, such as Model(robot)")
    if limits not in ("report", "respect"):
        raise RobotError("limits", limits, "'report' or 'respect'")
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
    own = {name: values[usual : usual + 1] for name, values in columns.items()}
    method, why = chosen_method(system, how.method, how.step, x[usual], held[usual], duration, columns=own)
    settings = Settings(how.rtol, how.atol, how.step or 0.0, how.step or min(1e-4, duration), how.most_steps)
    kernels, tableau, names = lane_kernels(system, method)
    way = Way(system, kernels, tableau, settings, names, duration)
    return Asked(way, Start(x, held, columns), refused, method, why)


def workers(threads: int | None) -> int:
    """How many threads: as told, or as many as there are processors."""
    found = os.cpu_count() or 1 if threads is None else threads
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise RobotError("threads", threads, "a whole number, at least 1")
    return found


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


def checked_names(system: System, parameters: Sequence[str]) -> dict[str, str]:
    """By name of a number that can be varied: what it is called among the system's numbers."""
    if isinstance(parameters, (str, Mapping)):
        raise RobotError("parameters", parameters, "a list of names to differentiate by; values belong to `gradients`")
    names, fixed = parameter_names(system), system.fixed
    for k, shown in enumerate(parameters):
        if shown in parameters[:k]:
            raise RobotError("parameters", shown, "each name once")
        if shown not in names:
            raise UnknownNameError.among(
                "parameters", str(shown), names, "number of robot or control (laws count from 1)"
            )
        if names[shown] in fixed:
            required = (
                "a number that is not zero in the model's robot (zeros are part of the structure of its equations) and "
                "that its equations use"
            )
            raise RobotError(f"parameters.{shown}", system.numbers[names[shown]], required)
    return {shown: names[shown] for shown in parameters}


def varied_numbers(system: System, parameters: Mapping[str, ArrayLike]) -> Varied:
    """The numbers that are varied, checked by name and shape."""
    if not isinstance(parameters, Mapping):
        raise RobotError("parameters", parameters, "values by name, such as {'tail.length': [0.3, 0.4, 0.5]}")
    names = checked_names(system, list(parameters))
    columns: dict[str, Floats] = {}
    for shown, values in parameters.items():
        try:
            column = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise RobotError(f"parameters.{shown}", values, "numbers, one for all runs or one a run") from None
        if column.ndim > 1 or not column.size:
            raise RobotError(f"parameters.{shown}", column.shape, "numbers, one for all runs or one a run")
        columns[names[shown]] = column.reshape(-1)
    kinds = system.kinds() if columns else {}
    return Varied(columns, {name: (shown, kinds[name]) for shown, name in names.items()})


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


def lane_kernels(
    system: System, method: RungeKutta | Rosenbrock
) -> tuple[LaneKernels, Tableau, dict[str, tuple[str, ...]]]:
    """The kernels of a system, the method, and by kernel the names of its parameters."""
    wanted = ["derivative", *(["events"] if system.watched else [])]
    wanted += ["linear", "solve"] if isinstance(method, Rosenbrock) else []
    found = {name: system.compiled(name) for name in wanted}
    lanes = {name: lane_kernel(kernel) for name, (kernel, _) in found.items()}
    size = found["linear"][0].outputs if "linear" in found else 0
    parts = {name: lanes.get(name, NOTHING) for name in ("derivative", "events", "linear", "solve")}
    kernels = LaneKernels(**parts, linear_size=size)
    return kernels, as_tableau(method), {name: names for name, (_, names) in found.items()}
