"""What differs between the runs of a batch: states and parameters, checked and laid out in rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.computed_torque import InverseDynamics
from tailwork.control.gait.joint_table import JointTable
from tailwork.control.servo import JointServo
from tailwork.errors import ArgumentError, UnknownNameError, as_floats
from tailwork.model.questions import POSE
from tailwork.robots.quantities import Kind
from tailwork.simulation.batch.kernels import evaluated, finite, parameter_rows
from tailwork.simulation.contact.choose import integrator_on_ground
from tailwork.simulation.contact.on_ground import OnGround
from tailwork.simulation.events import check_not_rigid
from tailwork.simulation.forces import breaks_of, pulse_times
from tailwork.simulation.initial import Standing
from tailwork.simulation.integrate.choose import chosen_method
from tailwork.simulation.integrate.compiled import Settings
from tailwork.simulation.integrate.integrator import Integrator, Start
from tailwork.simulation.options import Options
from tailwork.simulation.problem import Problem
from tailwork.simulation.system import System
from tailwork.typing import Floats

PROCESSORS = os.cpu_count() or 1


@dataclass(frozen=True)
class BatchInputs:
    """Runs to be simulated, a row each."""

    integrator: Integrator | OnGround
    start: Start
    refused: dict[int, str]  # why a run's design is not possible
    method: str
    why_method: str

    @property
    def pinned(self) -> Integrator:
        """How runs without ground are integrated."""
        assert isinstance(self.integrator, Integrator)
        return self.integrator

    @property
    def possible(self) -> np.ndarray:
        """Numbers of the runs whose design is possible."""
        return np.array([k for k in range(len(self.start.states)) if k not in self.refused], dtype=np.int64)

    def rows(self, names: Sequence[str]) -> Floats:
        """Numbers by name, a row a run that is possible."""
        own = self.start.only(self.possible)
        return parameter_rows(names, self.integrator.system.numbers, own.columns, len(own.states))


PYTHON = "laws, which are compiled: a controller in Python is for `simulate`, not for batches and derivatives"
"""What stands in the place of a controller."""


def batch_inputs(
    problem: Problem, options: Options, parameters: Mapping[str, ArrayLike] | None, by: Sequence[str] = ()
) -> BatchInputs:
    """Check what differs between runs; `by` are further names of numbers that are not structure."""
    if problem.controller is not None:
        raise ArgumentError("control", problem.controller, PYTHON)
    check_not_rigid(problem.events)
    if problem.start_time and problem.ground is None:
        raise ArgumentError("start_time", problem.start_time, "0 in a batch that is not on ground")
    tables, parameters = own_tables(problem, {} if parameters is None else parameters)
    system = problem.system(varied=[*parameters, *by])
    if system.servos and problem.ground is None:
        raise ArgumentError("control", "JointServo", "laws that need no ground")
    columns = varied_numbers(system, parameters, ground_names(problem))
    initial = problem.initial
    given = isinstance(initial, Standing)
    for name in POSE & columns.keys():
        if not given:
            raise ArgumentError(f"parameters.{name}", name, "an initial state that follows from the robot, Standing()")
    pair = (np.zeros(0), np.zeros(0)) if isinstance(initial, Standing) else initial
    q, v = (np.atleast_2d(rows) for rows in pair)
    contacts = [problem.contact] if isinstance(problem.contact, (list, tuple)) else []
    sizes = {len(rows) for rows in (q, v, *columns.values(), *tables.values(), *contacts)} - {1}
    if len(sizes) > 1:
        raise ArgumentError("parameters", sorted(sizes), "states and parameters of one length, or one for all runs")
    count = sizes.pop() if sizes else 1
    columns = {name: np.broadcast_to(values, (count,)) for name, values in columns.items()}
    refused = _refusals(system.kinds() if columns else {}, columns, count)
    _refuse_grounds(problem, columns, count, refused)
    if given:
        x = initial_states(system, columns, count)
    else:
        x = system.state(np.broadcast_to(q, (count, q.shape[1])), np.broadcast_to(v, (count, v.shape[1])))
    held = np.zeros((count, system.control_inputs))
    if problem.ground is not None:
        integrator = integrator_on_ground(system, problem.ground, problem.start_time, problem.contact, tables)
        if options.method not in ("auto", integrator.method):
            required = f"'auto' or '{integrator.method}' in a batch on this ground; `simulate` takes one run at a time"
            raise ArgumentError("method", options.method, required)
        start = integrator.started(Start(x, held, columns), refused, problem.duration, options)
        return BatchInputs(integrator, start, refused, integrator.method, "on ground")
    usual = _usual(system, x, columns, refused)
    own = {name: values[usual : usual + 1] for name, values in columns.items()}
    method, why = chosen_method(
        system, options.method, options.step, x[usual], held[usual], problem.duration, columns=own
    )
    step = options.step
    settings = Settings(options.rtol, options.atol, step or 0.0, step or min(1e-4, problem.duration), options.max_steps)
    integrator = Integrator(system, method, settings, problem.duration)
    start = Start(x, held, columns)
    if problem.forces:
        start = Start(x, held, columns, {"breaks": breaks_of(problem.forces, 0.0, problem.duration, columns, count)})
    return BatchInputs(integrator, start, refused, method.name, why)


def own_tables(
    problem: Problem, parameters: Mapping[str, Any]
) -> tuple[dict[int, Sequence[JointTable]], Mapping[str, Any]]:
    """By servo, counted from 0: tables that differ by run, as "control.1.table"; and all other parameters."""
    found: dict[int, Sequence[JointTable]] = {}
    servos = [(f"control.{k + 1}.table", law) for k, law in enumerate(problem.control) if isinstance(law, JointServo)]
    if not isinstance(parameters, Mapping):
        raise ArgumentError("parameters", parameters, "values by name, such as {'tail.length': [0.3, 0.4, 0.5]}")
    for k, (name, law) in enumerate(servos):
        given, wanted = parameters.get(name, ()), (law.table.coordinates, law.table.values.shape)
        if name not in parameters:
            continue
        if not isinstance(given, (list, tuple)) or not all(isinstance(table, JointTable) for table in given):
            raise ArgumentError(f"parameters.{name}", given, "a list of joint tables, one a run")
        for table in given:
            if (table.coordinates, table.values.shape) != wanted:
                required = f"tables of {wanted[1][0]} rows for {', '.join(wanted[0])}, as that of the law"
                raise ArgumentError(f"parameters.{name}", table.values.shape, required)
        found[k] = given
    return found, {name: own for name, own in parameters.items() if name not in dict(servos)}


def _usual(system: System, x: Floats, columns: Mapping[str, Floats], refused: Mapping[int, str]) -> int:
    """The first run that is possible: its equations can be evaluated where it starts."""
    if len(x) == 1:
        return 0
    kernel, names = system.compiled("balanced")
    for k in range(len(x)):
        own = {name: values[k : k + 1] for name, values in columns.items()}
        inputs = np.zeros((1, 1, kernel.inputs))
        inputs[0, 0, 1 : 1 + system.size] = x[k]
        if k not in refused and finite(evaluated(kernel, parameter_rows(names, system.numbers, own, 1), inputs))[0]:
            return k
    return 0


def initial_states(system: System, columns: Mapping[str, Floats], count: int, pool: Any = None) -> Floats:
    """x at the start of every run, from the equations of the initial state; NaN where they cannot be evaluated."""
    kernel, names = system.compiled("initial")
    rows = parameter_rows(names, system.numbers, columns, count)
    return evaluated(kernel, rows, np.zeros((count, 1, kernel.inputs)), pool)[:, 0]


def workers(threads: int | None) -> int:
    """How many threads: as many as there are processors by default."""
    found = PROCESSORS if threads is None else threads
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise ArgumentError("threads", threads, "an integer, at least 1")
    return found


def names_of(argument: str, names: Any) -> list[str]:
    """Names as a list, which they have to be."""
    names = names.tolist() if isinstance(names, np.ndarray) else names
    listed = isinstance(names, Sequence) and not isinstance(names, (str, bytes))
    if not listed or not all(isinstance(name, str) for name in names):
        raise ArgumentError(argument, names, "a list of names to differentiate by; values belong to `parameters`")
    return [str(name) for name in names]


def checked_names(
    system: System, names: Sequence[str], argument: str = "by", of_ground: Sequence[str] = ()
) -> list[str]:
    """Names of numbers, each known and once; without those of the ground, which may be among them."""
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ArgumentError(argument, name, "each name once")
        if name not in system.numbers and name not in of_ground:
            known = "number of robot, control, motion, force or initial state (laws and forces count from 1)"
            if str(name).startswith("ground."):
                known = f"number of the ground ({', '.join(of_ground) or 'none here'})"
            raise UnknownNameError.among(argument, str(name), [*of_ground, *system.numbers], known)
    return [name for name in names if name not in of_ground]


def check_smooth(
    system: System, names: Sequence[str], duration: float = np.inf, columns: Mapping[str, Floats] | None = None
) -> None:
    """Refuses names of numbers that say when, within the duration [s], a force or an acceleration jumps: steps as they
    were do not know that the jump moves. Of accelerations these are the ends of motions that are imposed."""
    imposed = [f"motion.{limb}." for limb in system.model.layout.prescribed]
    imposed += [f"control.{k + 1}." for k, law in enumerate(system.laws) if isinstance(law, InverseDynamics)]
    for name in names:
        stem, _, last = name.rpartition(".")
        ending = last == "duration" or (
            stem.endswith(".times") and (last == "1" or f"{stem}.{int(last) + 1}" not in system.numbers)
        )
        when = np.asarray((columns or {}).get(name, system.numbers.get(name, np.inf)))
        jumps = name.startswith(tuple(imposed)) and ending and ((when > 0.0) & (when < duration)).any()
        if jumps or name in pulse_times(system.forces):
            required = "numbers that do not say when a force or an imposed acceleration jumps within the run: by those"
            raise ArgumentError("by", name, f"{required} compare runs of `simulate_batch`")


def ground_names(problem: Problem) -> list[str]:
    """Names of the ground's numbers that may differ between runs."""
    return [] if problem.ground is None else [f"ground.{name}" for name in problem.ground.parameter_names]


def varied_numbers(
    system: System, parameters: Mapping[str, ArrayLike], of_ground: Sequence[str] = ()
) -> dict[str, Floats]:
    """The numbers that are varied, (1,) or (runs,), checked by name and shape; of the ground, too."""
    columns: dict[str, Floats] = {}
    checked_names(system, list(parameters), "parameters", of_ground)
    for name, values in parameters.items():
        column = as_floats(f"parameters.{name}", values, "numbers, one for all runs or one a run")
        if column.ndim > 1 or not column.size:
            raise ArgumentError(f"parameters.{name}", column.shape, "numbers, one for all runs or one a run")
        columns[name] = column.reshape(-1)
    return columns


def _refusals(kinds: Mapping[str, Kind], columns: Mapping[str, Floats], count: int) -> dict[int, str]:
    """By run whose design is not possible: why."""
    refused: dict[int, str] = {}
    for name, values in columns.items():
        if name not in kinds:  # of the ground, which checks its numbers itself
            continue
        kind = kinds[name]
        fine = np.isfinite(values)
        if kind.allowed is not None:
            fine &= np.array([kind.allowed(value) for value in values])
        for k in np.flatnonzero(~fine):
            refused.setdefault(int(k), f"{name}: got {values[k]:g}; required: {kind.phrase(())}")
    return refused


def _refuse_grounds(problem: Problem, columns: Mapping[str, Floats], count: int, refused: dict[int, str]) -> None:
    """Adds the runs whose ground is not possible, and why."""
    of_ground = {name.removeprefix("ground."): columns[name] for name in ground_names(problem) if name in columns}
    for k in range(count) if of_ground else ():
        assert problem.ground is not None
        try:
            problem.ground.with_numbers({name: float(values[k]) for name, values in of_ground.items()})
        except ArgumentError as error:
            refused.setdefault(k, str(error))
