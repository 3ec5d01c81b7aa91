"""Runs of a system by a method: single ones that keep their steps, and many in lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.language import lanes
from tailwork.kernels.translate import driver
from tailwork.simulation.batch.kernels import in_shares, parameter_rows, run_driver
from tailwork.simulation.integrate.compiled import WIDTH, Method, Settings, lane_kernel, method_arrays
from tailwork.simulation.integrate.driver import HAPPENED, LAST, MORE_ROOM, MOST, NEXT, drive
from tailwork.simulation.integrate.job import Job, Runs, StepLog
from tailwork.simulation.integrate.steps import Stepping
from tailwork.simulation.integrate.tableaus import Rosenbrock, RungeKutta
from tailwork.simulation.stopping import REFUSED
from tailwork.simulation.system import System
from tailwork.typing import Floats

PAUSE = 1000
"""Steps between two checks for Ctrl-C: compiled code cannot be interrupted."""
KERNELS = ("derivative", "events", "linear", "power")
"""Those that have parameters."""
ALONE = 2
"""So many runs are quicker one after the other than side by side."""
LARGE = 4096
"""Room for more steps than this is not kept."""
ROOM = 128
"""Steps of a single run that there is room for at first."""


class Ends(NamedTuple):
    """What is known of each run at its end, a row each."""

    status: np.ndarray
    event: np.ndarray  # that stopped it; −1: none
    times: Floats  # [s]
    states: Floats
    steps: np.ndarray
    rejected: np.ndarray
    samples: Floats  # (runs, times, n); NaN after the end
    work: Floats  # done in each run, less dissipation [J]
    fastest: Floats  # (runs, 2 + n): time [s], work so far [J] and state at the end of the fastest step
    contacts: Floats  # (runs, times, …): of feet on ground, what it records of them
    touching: Floats  # (runs, 4 × points on ground): states of contact at the end, then anchors [m]

    def only(self, rows: Any) -> Ends:
        """Those of some runs, by a slice or by their numbers."""
        return Ends(*(part[rows] for part in self))

    def moments(self, starts: Floats, begin: float) -> Floats:
        """Where energy is balanced: time [s], work so far [J] and state at the start, which is given, at the end of the
        fastest step and at the end, (runs, 3, 2 + n)."""
        first = np.insert(starts, 0, 0.0, axis=1)
        first = np.insert(first, 0, begin, axis=1)
        last = np.concatenate([self.times[:, None], self.work[:, None], self.states], axis=1)
        return np.stack([first, self.fastest, last], axis=1)


def no_ends(count: int, size: int, samples: int, points: int = 0) -> Ends:
    """Ends of runs that have not been started: all refused, their numbers NaN."""
    whole = np.int64
    return Ends(
        np.full(count, REFUSED, whole), np.full(count, -1, whole), np.zeros(count), np.full((count, size), np.nan),
        np.zeros(count, whole), np.zeros(count, whole), np.full((count, samples, size), np.nan),
        np.full(count, np.nan), np.full((count, 2 + size), np.nan), np.zeros((count, samples, 0)),
        np.full((count, 4 * points), np.nan),
    )  # fmt: skip


class Steps(NamedTuple):
    """What a single run leaves behind. `stages[k]` with the method's p is the dense output of step k."""

    status: int
    event: int  # that stopped it; −1: none
    times: Floats  # [s], one more than steps
    states: Floats
    stages: Floats  # (steps, stages, n)
    lengths: Floats  # [s], of the steps that the stages belong to; the last may be cut short by an event
    event_times: Floats
    event_numbers: np.ndarray
    rejected: int
    work: float  # done in it, less dissipation [J]
    fastest: Floats  # time [s], work so far [J] and state at the end of the fastest step

    @property
    def evaluations(self) -> int:
        """How often the derivative was computed."""
        return 1 + (self.stages.shape[1] - 1) * (len(self.lengths) + self.rejected)


@dataclass(frozen=True)
class Start:
    """What differs between some runs, a row each."""

    states: Floats  # x at the start
    control_inputs: Floats
    columns: Mapping[str, Floats]  # varied numbers
    more: Mapping[str, np.ndarray] = field(default_factory=dict)  # what else an integrator knows of each run

    def only(self, rows: Any) -> Start:
        """Some of them, by a slice or by their numbers."""
        columns, more = ({name: own[rows] for name, own in part.items()} for part in (self.columns, self.more))
        return Start(self.states[rows], self.control_inputs[rows], columns, more)


def among(start: Start, whole: np.ndarray | None, ends: Callable[[Start], Ends]) -> Ends:
    """The ends of those runs that are possible, among all: the others are refused. None: all are possible."""
    if whole is None or whole.all():
        return ends(start)
    own = ends(start.only(whole))
    every = Ends(*(np.full((len(whole), *part.shape[1:]), np.nan if part.dtype.kind == "f" else 0, part.dtype)
                   for part in own))  # fmt: skip
    every.status[:], every.event[:], every.times[:] = REFUSED, -1, 0.0
    for target, part in zip(every, own, strict=True):
        target[whole] = part
    return every


@dataclass(frozen=True)
class Integrator:
    """How runs are integrated."""

    system: System
    method: RungeKutta | Rosenbrock
    settings: Settings
    duration: float  # [s]
    balanced: bool = True  # whether work is integrated, too, so that the energy of runs can be balanced
    begin: ClassVar[float] = 0.0  # of the runs of a batch [s]

    def __post_init__(self) -> None:
        if not self.system.size:
            required = "something that moves freely: here the torso is fixed and all limbs are prescribed"
            raise ArgumentError("model", self.system.model.robot.name, required)

    @cached_property
    def kernels(self) -> dict[str, tuple[Kernel, tuple[str, ...]]]:
        """By name: the kernels, and the names of their parameters."""
        stiff = isinstance(self.method, Rosenbrock)
        names = [*(["events"] if self.system.watched else []), *(["linear", "solve"] if stiff else [])]
        names += ["power"] if stiff and self.balanced else []
        first = {"derivative": self.system.compiled("balanced" if self.balanced else "derivative")}
        return first | {name: self.system.compiled(name) for name in names}

    @property
    def _kind(self) -> tuple[str, bool]:
        """What memory is made for."""
        return self.method.name, self.balanced

    @cached_property
    def arrays(self) -> Method:
        """The method as drivers take it."""
        return self.system.once(("method", self.method.name), lambda: method_arrays(self.method), "")

    def parameters(self, name: str, columns: Mapping[str, Floats], count: int) -> Floats:
        """Parameters of a kernel, a row a run."""
        names: Sequence[str] = self.kernels[name][1] if name in self.kernels else ()
        if columns or count > 1:
            return parameter_rows(names, self.system.numbers, columns, count)
        return self.system.kept(("parameters", name, names), lambda: parameter_rows(names, self.system.numbers, {}, 1))

    def ends(self, start: Start, times: Floats, pool: Executor | None, whole: np.ndarray | None = None) -> Ends:
        """What becomes of some runs.

        Args:
            start: the runs.
            times: of samples [s], (1 or runs, times).
            pool: threads.
            whole: which runs to integrate; None: all. The others are marked as refused.
        """
        if len(times) > 1:
            start = replace(start, more={**start.more, "times": times})
        return among(start, whole, lambda own: self._ends(own, own.more.get("times", times), pool))

    def _ends(self, start: Start, times: Floats, pool: Executor | None) -> Ends:
        found = no_ends(len(start.states), self.system.size, times.shape[1])
        runs = self.runs(start, found, times)
        width = WIDTH if len(start.states) > ALONE else 1
        call, idle = driver(drive, width), self.system.kept(("jobs", self._kind, width), list)
        if not idle:
            idle.append(self.job(width, runs, no_steps()))  # compiled here, not on the threads of a pool

        def share(here: slice) -> None:
            job = taken(idle) or self.job(width, runs, no_steps())
            job.runs = runs
            self.set_up(job)
            job.queue[NEXT], job.queue[LAST] = here.start, here.stop
            run_driver(call, job)
            vars(job)["runs"] = None  # which may be large
            idle.append(job)  # for later batches; not where it was interrupted

        in_shares(pool, len(start.states), share)
        return found

    def runs(self, start: Start, ends: Ends, times: Floats) -> Runs:
        """Runs as the driver takes them."""
        rows = {name: self.parameters(name, start.columns, len(start.states)) for name in KERNELS}
        flat = {name: np.ascontiguousarray(own).reshape(-1) for name, own in rows.items()}
        breaks = start.more.get("breaks", np.zeros((len(start.states), 0, 2)))
        return Runs(
            states=_flat(start.states), control_inputs=_flat(start.control_inputs),
            held=start.control_inputs.shape[1], **flat,
            **{f"{name}_size": own.shape[1] for name, own in rows.items()},
            sample_times=_flat(times), samples=times.shape[1], own_samples=int(len(times) > 1),
            breaks=_flat(breaks), jumps=breaks.shape[1],
            status=ends.status, event=ends.event, ended=ends.times, final=_flat(ends.states), steps=ends.steps,
            rejected=ends.rejected, sampled=_flat(ends.samples), work=ends.work, fastest=_flat(ends.fastest),
        )  # fmt: skip

    def set_up(self, job: Job) -> None:
        """Let a job that was used before have these settings."""
        own = self.settings
        if (job.rtol, job.atol, job.fixed) != (own.rtol, own.atol, own.fixed > 0.0):
            job.rtol, job.atol, job.fixed = own.rtol, own.atol, own.fixed > 0.0
        job.span[:] = 0.0, self.duration, own.first
        job.queue[MOST] = own.most

    def job(self, width: int, runs: Runs, kept: StepLog) -> Job:
        """A driver's job, with room to work in; which runs it does is for its queue to say."""
        system, settings, whole = self.system, self.settings, np.int64
        n, held, stages, count = system.size, system.control_inputs, self.arrays.stages, len(system.stops)
        known = 1 + n + held
        kernels = {name: self.kernels.get(name, (None, ()))[0] for name in (*KERNELS, "solve")}
        derivative, watch, linear, power, solve = (lane_kernel(kernel, width) for kernel in kernels.values())
        size = 0 if kernels["linear"] is None else kernels["linear"].outputs
        rows = n + 1 if self.balanced and not self.arrays.stiff else n
        room = lanes(
            width, inputs=known, constants=max(derivative.kept, 1), linear_inputs=known + n + 1,
            linear_constants=max(linear.kept, 1), solve_inputs=size + n + 1, clock=4, x=n + 1, first=n + 1,
            u=stages * rows, new=n + 1, error=n, power_constants=max(power.kept, 1), powers=3, across=stages,
        )  # fmt: skip
        more = lanes(width, event_constants=max(watch.kept, 1), values=max(count, 1), values_new=max(count, 1),
                     first_new=n + 1, errors=2)  # fmt: skip
        step = Stepping(
            n=n, rows=rows, balanced=self.balanced, known=known, method=self.arrays, derivative=derivative,
            linear=linear, linear_size=size, solve=solve, power=power, **room,
        )  # fmt: skip
        return Job(
            step=step, runs=runs, kept=kept, rtol=settings.rtol, atol=settings.atol, fixed=settings.fixed > 0.0,
            span=np.array([0.0, self.duration, settings.first]), pause=PAUSE, watched=count, watch=watch,
            stops=system.stops.astype(whole), queue=np.array([0, 0, 0, settings.most]), run=np.full(width, -1, whole),
            sampled=np.zeros(width, whole), fresh=np.zeros(width, whole), last=np.zeros(width, whole), **more,
            until=np.zeros(width), jumped=np.zeros(width, whole),
            own=np.zeros(max(derivative.kept, watch.kept, linear.kept, power.kept, 1)), one=np.zeros(known),
            probe=np.zeros(max(count, 1)), point=np.zeros(n + 1), speeds=np.zeros(width), still=len(system.free_q),
        )  # fmt: skip


def no_steps() -> StepLog:
    """No steps are kept."""
    none = np.zeros(1)
    return StepLog(steps=0, events=0, times=none, states=none, stages=none, lengths=none, event_times=none,
                   event_numbers=np.zeros(1, np.int64))  # fmt: skip


class SingleRuns:
    """Runs one after the other, each with its steps kept."""

    def __init__(self, integrator: Integrator, start: Start) -> None:
        self.integrator, self.count = integrator, len(integrator.system.stops)
        self.ends = no_ends(len(start.states), integrator.system.size, 0)
        self.start = replace(
            start, states=np.ascontiguousarray(start.states), control_inputs=np.ascontiguousarray(start.control_inputs)
        )
        self.job = integrator.job(
            1, integrator.runs(self.start, self.ends, np.zeros((1, 0))), self._room(ROOM, 4 * self.count)
        )
        self.call = driver(drive, 1)

    @staticmethod
    def kept(integrator: Integrator, start: Start) -> SingleRuns:
        """For `piece`: one that an earlier run of the same system has given back, or a new one."""
        idle: list[SingleRuns] = integrator.system.kept(("single runs", integrator._kind), list)
        found = taken(idle)
        if found is None:
            return SingleRuns(integrator, start)
        integrator.set_up(found.job)
        return found

    def give_back(self) -> None:
        """Let a later run use the memory."""
        if self.job.kept.steps <= LARGE:
            self.integrator.system.kept(("single runs", self.integrator._kind), list).append(self)

    def _room(self, steps: int, events: int) -> StepLog:
        n, stages = self.integrator.system.size, self.integrator.arrays.stages
        return StepLog(
            steps=steps, events=events, times=np.empty(steps + 1), states=np.empty((steps + 1) * n),
            stages=np.empty(steps * stages * n), lengths=np.empty(steps), event_times=np.empty(max(events, 1)),
            event_numbers=np.empty(max(events, 1), np.int64),
        )  # fmt: skip

    def drive(self, r: int) -> int:
        """Run number r over the span of the job [s], whose steps are in job.kept then; how many there are."""
        job = self.job
        job.queue[NEXT], job.queue[LAST], job.queue[HAPPENED] = r, r + 1, 0
        job.run[0] = -1
        while run_driver(self.call, job) == MORE_ROOM:
            old = job.kept
            job.kept = self._room(2 * old.steps, 2 * old.events + 1)
            for name in ("times", "states", "stages", "lengths", "event_times", "event_numbers"):
                part = getattr(old, name)
                getattr(job.kept, name)[: len(part)] = part
        return int(self.ends.steps[r])

    def run(self, r: int = 0) -> Steps:
        """Run number r. Its arrays are valid until the next one."""
        done, n, kept = self.drive(r), self.integrator.system.size, self.job.kept
        happened = int(self.job.queue[HAPPENED])
        return Steps(
            int(self.ends.status[r]), int(self.ends.event[r]), kept.times[: done + 1],
            kept.states[: (done + 1) * n].reshape(-1, n),
            kept.stages[: done * self.integrator.arrays.stages * n].reshape(done, self.integrator.arrays.stages, n),
            kept.lengths[:done], kept.event_times[:happened], kept.event_numbers[:happened],
            int(self.ends.rejected[r]), float(self.ends.work[r]), self.ends.fastest[r],
        )  # fmt: skip

    def piece(self, x: Floats, held: Floats, start: float, end: float, first: float, most: int) -> Steps:
        """The next piece of a run, with other control inputs, from `start` to `end` [s]; its arrays are its own."""
        self.start.states[0], self.start.control_inputs[0] = x, held
        self.job.span[:] = start, end, first
        self.job.queue[MOST] = most
        fixed = self.integrator.settings.fixed
        if fixed > 0.0 and (count := min(most, math.ceil((end - start) / fixed) + 2)) > self.job.kept.steps:
            self.job.kept = self._room(count, self.job.kept.events)  # known beforehand: nothing is copied
        found = self.run()
        if self.job.kept.steps > LARGE:  # too much to copy: they keep the memory, the next piece gets another
            self.job.kept = self._room(ROOM, 4 * self.count)
            return found._replace(fastest=found.fastest.copy())
        return found._replace(
            times=found.times.copy(), states=found.states.copy(), stages=found.stages.copy(),
            lengths=found.lengths.copy(), event_times=found.event_times.copy(),
            event_numbers=found.event_numbers.copy(), fastest=found.fastest.copy(),
        )  # fmt: skip


def taken(idle: list[Any]) -> Any:
    """One of those that wait; None: there is none. Other threads take from the same list."""
    with suppress(IndexError):
        return idle.pop()
    return None


def _flat(array: Floats) -> Floats:
    return np.ascontiguousarray(array).reshape(-1)
