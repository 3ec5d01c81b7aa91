"""Scenarios performed: one, or thousands of designs of one robot side by side in the lanes of the processor.

Each design gives what it gives alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, TailworkError
from tailwork.simulation.batch.batch import Batch, batch_of
from tailwork.simulation.batch.chunk import MOST_ROWS, Chunk
from tailwork.simulation.batch.inputs import initial_states, varied_numbers, workers
from tailwork.simulation.batch.kernels import evaluated, in_shares, parameter_rows
from tailwork.simulation.events import DEFAULT_EVENTS
from tailwork.simulation.integrate.balance import poor_balance, trusted_balance
from tailwork.simulation.integrate.choose import stiffness
from tailwork.simulation.options import OptionArguments, Options, options_of
from tailwork.simulation.problem import Problem
from tailwork.simulation.run import Run
from tailwork.simulation.simulate import run_of
from tailwork.simulation.stopping import STUCK_REASON
from tailwork.studies.leg_policies import EQUATION_85, NEARLY
from tailwork.studies.measures import ENERGY_BALANCE, checked_measures
from tailwork.studies.observer import from_samples, observer
from tailwork.studies.scenario import NO_TORQUE, Scenario
from tailwork.studies.structure_groups import Group, design_groups, design_values
from tailwork.typing import Floats

RTOL, ATOL = 1e-8, 1e-10
"""Open-loop errors grow about ninefold in 0.3 s, so tolerances are tight."""
SAMPLES = 301
AT_ENDS = frozenset(("duration", "pitch", "roll", "yaw", "turn", "tail_mass", "tail_length"))
"""Measures that need no samples but the first and the last."""


def perform(scenario: Scenario, **options: Unpack[OptionArguments]) -> Run:
    """Simulate a scenario: its initial state, its laws and its duration [s] follow from it.

    Keyword arguments are fields of `tailwork.simulation.Options`; tolerances are tighter and samples more by default.
    """
    return run_of(_checked(scenario).check(), scenario_options(options)).titled(scenario.text)


def _checked(scenario: Any) -> Scenario:
    if not isinstance(scenario, Scenario):
        raise ArgumentError("scenario", scenario, "a Scenario, such as Scenario(robot, yaw(40))")
    return scenario


def scenario_options(options: Mapping[str, Any]) -> Options:
    """Options with the defaults of scenarios."""
    return options_of({"rtol": RTOL, "atol": ATOL, "samples": SAMPLES, **options}, ())


def measured(run: Run, scenario: Scenario, names: Iterable[str] | None = None) -> dict[str, float]:
    """Measures of a run by name; angles in degrees, all else in SI units; NaN where a robot has no such thing."""
    wanted = checked_measures(names)
    along = [name for name in wanted if name != ENERGY_BALANCE]
    system = _checked(scenario).problem().system()
    if not isinstance(run, Run) or run.model.coordinate_names != system.model.coordinate_names:
        raise ArgumentError("run", run, "a Run of this scenario's robot, such as perform(scenario)")
    look = observer(system, scenario.tail, along)
    times, q, v = run.record.states()
    full = system.full(times, system.state(q, v), np.zeros((len(times), system.control_inputs)))
    constants = look.kernel.constants(np.array([system.numbers[name] for name in look.parameters]))
    seen = look.kernel(np.concatenate([times[:, None], *full], axis=1), constants)
    found = from_samples(along, seen, times, look.columns, scenario.actuator)
    if ENERGY_BALANCE in wanted:
        found[ENERGY_BALANCE] = np.array(run.energy_balance_error())
    return {name: float(found[name]) for name in wanted}


@dataclass(frozen=True)
class Outcomes:
    """What becomes of many designs, one entry each."""

    measures: dict[str, Floats]  # by name, (designs,), in the units of the measures; NaN where refused
    reasons: tuple[str, ...]  # "" where the run went to its end, else why it ended early or the design is not possible
    times: Floats  # [s] how long each ran; 0 where refused
    warnings: tuple[str, ...] = ()  # what speaks against trusting a run, "": nothing


def perform_many(
    scenario: Scenario,
    changes: Mapping[str, ArrayLike],
    *,
    measures: Sequence[str] | None = None,
    **options: Unpack[OptionArguments],
) -> Outcomes:
    """Perform a scenario with many designs of its robot.

    Args:
        scenario: with the robot that is changed.
        changes: values by path in SI units, as Robot.replace takes them, one for all or one a design.
        measures: names of measures; None: all.
        options: fields of `tailwork.simulation.Options`, as for `perform`.
    """
    names, how = checked_measures(measures), scenario_options(options)
    values = design_values(_checked(scenario).robot, changes)
    count = len(next(iter(values.values())))
    along = [name for name in names if name != ENERGY_BALANCE]
    found = {name: np.full(count, np.nan) for name in names}
    balances = found.get(ENERGY_BALANCE, np.full(count, np.nan))
    reasons, times = [""] * count, np.zeros(count)
    groups, refused = design_groups(scenario.robot, values)
    done = len(refused)
    how.progress(done, count)
    for group in groups:
        with ThreadPoolExecutor(workers(how.threads)) as pool:
            ready = _ready(scenario, group, refused, pool)
            methods = [] if ready is None else _methods(ready, how, pool)
        done += len(group.rows) - (0 if ready is None else len(ready.rows))
        for method, rows in methods:
            assert ready is not None
            own_how = replace(
                how, method=method, samples=2 if AT_ENDS.issuperset(along) else how.samples,
                progress=lambda some, _, done=done: how.progress(done + some, count),
            )  # fmt: skip
            batch = _simulated(ready, rows, along, own_how)
            done += len(rows)
            own = ready.rows[rows]
            times[own] = batch.times
            for k, name in enumerate(along):
                found[name][own] = batch.measures["all"][:, k]
            balances[own] = batch.energy_balance_error()
            for row, reason, end in zip(own.tolist(), batch.reasons, batch.times, strict=True):
                reasons[row] = reason
                if end == 0.0 and (reason == STUCK_REASON or reason.startswith("not possible")):
                    alone = scenario.with_robot(scenario.robot.replace({path: x[row] for path, x in values.items()}))
                    _refuse_if(refused, [row], perform, alone, samples=2)
    for row, reason in refused.items():
        reasons[row], times[row] = reason, 0.0
        for values_of in (*found.values(), balances):
            values_of[row] = np.nan
    trusted = trusted_balance(how.rtol, how.step)
    return Outcomes(found, tuple(reasons), times, tuple(poor_balance(float(error), trusted) for error in balances))


@dataclass(frozen=True)
class _Ready:
    """Designs of one structure, ready to be simulated."""

    rows: np.ndarray  # which designs of all
    scenario: Scenario  # with one of their robots
    problem: Problem
    columns: dict[str, Floats]  # by path: numbers in which they differ

    def system(self) -> Any:
        """With the columns as parameters."""
        return self.problem.system(varied=list(self.columns))


def _ready(scenario: Scenario, group: Group, refused: dict[int, str], pool: Executor) -> _Ready | None:
    """The designs of a group that can be simulated, or None; the others are added to those refused, with why."""
    first = scenario.with_robot(group.robot)
    try:
        problem = replace(first.problem(), events=DEFAULT_EVENTS)
    except TailworkError as error:
        if len(group.rows) == 1 or first.motion.angle != "chain":  # of the structure: it is the same for all
            refused |= {int(k): str(error) for k in group.rows}
            return None
        problem = None
    fine = np.ones(len(group.rows), dtype=bool)
    if first.motion.angle == "chain" and any(path.startswith(f"{first.tail}.") for path in group.columns):
        for k, row in enumerate(group.rows):  # whether each tail can make the motion
            tail = group.design(k).part(first.tail)
            fine[k] = not _refuse_if(refused, [row], scenario.motion.check_tail, tail, scenario.imposed)
    if not fine.any():
        return None
    group = group.only(fine)
    first = scenario.with_robot(group.design(0))
    problem = problem or replace(first.problem(), events=DEFAULT_EVENTS)
    ready = _Ready(group.rows, first, problem, group.columns)
    if not group.columns:
        return None if _refuse_if(refused, group.rows, first.check) else ready
    stands = _stands(ready, pool)
    for k in np.flatnonzero(~stands).tolist():
        if not _refuse_if(refused, [group.rows[k]], scenario.with_robot(group.design(k)).check):
            refused[int(group.rows[k])] = "the robot cannot stand as it shall at the start"
    if not stands.any():
        return None
    return _Ready(group.rows[stands], first, problem, {path: own[stands] for path, own in group.columns.items()})


def _refuse_if(
    refused: dict[int, str], rows: Iterable[int], check: Callable[..., object], *given: Any, **options: Any
) -> bool:
    """Whether a check raises an error, for which designs are then refused."""
    try:
        check(*given, **options)
    except TailworkError as error:
        refused |= {int(row): str(error) for row in rows}
        return True
    return False


def _stands(ready: _Ready, pool: Executor) -> np.ndarray:
    """Which designs can be evaluated at the start, with torques that balance them."""
    system, count = ready.system(), len(ready.rows)
    x = initial_states(system, ready.columns, count, pool)
    tau = _efforts(system, ready.columns, x, pool)
    fine = np.isfinite(x).all(axis=1) & (np.abs(np.nan_to_num(tau, nan=np.inf)).max(axis=1, initial=0.0) < NO_TORQUE)
    if ready.scenario.policy == "paper":
        balanced = replace(ready.scenario, policy="constant").problem().system(varied=list(ready.columns))
        torques = _efforts(balanced, ready.columns, initial_states(balanced, ready.columns, count, pool), pool)
        fine &= np.abs(torques[:, : len(EQUATION_85)] - np.array(EQUATION_85)).max(axis=1) <= NEARLY
    return fine


def _efforts(system: Any, columns: Mapping[str, Floats], x: Floats, pool: Executor) -> Floats:
    """Efforts at the start of every design."""
    kernel, names = system.compiled("expand")
    inputs = np.concatenate([np.zeros((len(x), 1)), x, np.zeros((len(x), system.control_inputs))], axis=1)[:, None]
    seen = evaluated(kernel, parameter_rows(names, system.numbers, columns, len(x)), inputs, pool)[:, 0]
    first = len(system.model.coordinate_names) + len(system.model.velocity_names)
    return seen[:, first : first + system.efforts]


def _methods(ready: _Ready, how: Options, pool: Executor) -> list[tuple[str, np.ndarray]]:
    """The methods that suit the designs, and which designs: as a single run chooses for each."""
    rows = np.arange(len(ready.rows))
    if how.method != "auto":
        return [(how.method, rows)]
    system = ready.system()
    columns = {name: np.broadcast_to(x, rows.shape) for name, x in varied_numbers(system, ready.columns).items()}
    x = initial_states(system, columns, len(rows), pool)
    held, duration = np.zeros(system.control_inputs), ready.scenario.duration
    stiff = stiffness(system, columns, x, held, duration, pool=pool).matters
    chosen = (("rodas5p", rows[stiff]), ("dopri5", rows[~stiff]))
    return [(method, some) for method, some in chosen if len(some)]


def _simulated(ready: _Ready, rows: np.ndarray, names: Sequence[str], how: Options) -> Batch:
    """Some of the designs, simulated and measured."""

    def values(chunk: Chunk) -> Floats:
        look = observer(chunk.system, ready.scenario.tail, names)
        found = np.full((len(chunk.states), len(names)), np.nan)

        def share(here: slice) -> None:
            own = chunk.part(here)
            runs, times, _ = own.states.shape
            clock = np.broadcast_to(own.times, (runs, times))
            inputs = np.concatenate([clock[..., None], own.q, own.v, own.tau, own.prescribed_acceleration], axis=2)
            numbers = parameter_rows(look.parameters, chunk.system.numbers, own.start.columns, runs)
            seen = evaluated(look.kernel, numbers, inputs)
            some = from_samples(names, seen, clock, look.columns, ready.scenario.actuator)
            for k, name in enumerate(names):
                found[here, k] = some[name]

        chunk.system.compiled("expand")  # here, before several threads want it at once
        look.kernel.lane_address()
        in_shares(chunk.pool, len(chunk.states), share, max(1, MOST_ROWS // chunk.times.shape[-1]))
        return found

    parameters = {name: values[rows] for name, values in ready.columns.items()}
    if not parameters:  # one design, or several that are alike
        parameters = {"torso.mass": np.full(len(rows), float(ready.scenario.robot.torso_body().mass))}
    return batch_of(ready.problem, how, parameters, {"all": values}, to_end=True)
