"""Many runs at once: different states, designs and control, side by side in the lanes of the processor and on threads.

A batch gives the same bits as single runs by `tailwork.simulate` with the same method, whatever its size, order and
number of threads.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.errors import ArgumentError, StateError, no_attribute
from tailwork.model import Model
from tailwork.simulation.batch.chunk import Chunk, to_ends
from tailwork.simulation.batch.data import batch_dataset, batch_values
from tailwork.simulation.batch.inputs import batch_inputs, workers
from tailwork.simulation.batch.kernels import evaluated, parameter_rows
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, RigidGround
from tailwork.simulation.contact.on_ground import OnGround
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.events import DEFAULT_EVENTS, Event
from tailwork.simulation.forces import Force
from tailwork.simulation.integrate.balance import TRUSTED, trusted_balance
from tailwork.simulation.integrate.integrator import Ends, Start, no_ends
from tailwork.simulation.options import OptionArguments, Options, options_of
from tailwork.simulation.problem import Problem, State, problem_of
from tailwork.simulation.run import Contact
from tailwork.simulation.stopping import STUCK, STUCK_ON_GROUND, STUCK_REASON, why_stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

if TYPE_CHECKING:
    import xarray

TILE = 4096
"""Runs whose samples are held in memory at a time."""
ENERGY_BALANCE = "energy_balance"
"""Name of the measure that says how well the energy of each run balances; see `Run.energy_balance_error`."""
ROOM = 2**25
"""Numbers of samples that are held in memory at a time."""
FEW = 8
"""So many runs are done without threads: to hand them to one takes as long as they do."""

MOST_REASONS = 5
"""Reasons that a summary names."""


@dataclass(frozen=True, repr=False, eq=False)
class Batch:
    """What becomes of many runs, a row each."""

    model: Model  # that all runs share
    method: str  # by which they were integrated
    why_method: str  # why that one, in words
    q: Floats  # (runs, coordinates) at the end of each run [m, rad]; NaN where it was refused
    v: Floats  # (runs, velocities), likewise [m/s, rad/s]
    times: Floats  # when each run ended [s]
    reasons: tuple[str, ...]  # why a run ended before its time; "" where it went to its end
    steps: np.ndarray  # (runs,): how many each took
    rejected: np.ndarray  # (runs,): how many were tried and done again, shorter
    measures: dict[str, Floats]  # by name, (runs, …), in the units of what was asked for
    parameters: dict[str, Floats] = field(default_factory=dict)  # those in which the runs differ, by name, (runs,) [SI]
    trusted: float = TRUSTED  # energy balances that are worse than this are pointed out [1]
    touching: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # on ground: states of contact, anchors [m]
    judge: Callable[[], tuple[Floats, tuple[str, ...]]] | None = None  # → energy balances [1] and warnings by run

    def __getitem__(self, name: str) -> Floats:
        """A measure, a coordinate or a velocity of all runs by name, (runs, …), at the end of each run [its unit]."""
        return batch_values(self, name)

    def __getattr__(self, name: str) -> Any:
        """Only of names that a batch does not have: what it has instead."""
        if name.startswith("_") or name in type(self).__dataclass_fields__:
            raise no_attribute(self, name, ())
        if name in ("save", "to_netcdf", "to_xarray"):
            raise AttributeError(f"a Batch has no attribute {name!r}: write batch.data.to_netcdf(…), an xarray.Dataset")
        raise no_attribute(self, name, (*self.measures, *self.model.coordinate_names, *self.model.velocity_names))

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        ended = len(self) - int(self.finished.sum())
        said = f"{len(self)} runs of {self.model.robot.name} by {self.method}, {ended} ended early"
        poor = sum(map(bool, self.warnings))
        return f"{said}; warning: {poor} are not to be trusted, see `warnings`" if poor else said

    def summary(self) -> str:
        """The batch in a few lines: why runs ended early, warnings, and where the measures lie in runs that did not."""
        lines = [f"{self!r} ({self.why_method})"]
        for what, said in (("ended early", self.reasons), ("warning", self.warnings)):
            counts = Counter(filter(None, said)).most_common()
            lines += [f"{what}: {count:,} of {len(self):,}: {text}" for text, count in counts[:MOST_REASONS]]
            if len(counts) > MOST_REASONS:
                lines.append(f"{what}: {len(counts) - MOST_REASONS} other reasons")
        for name, values in self.measures.items():
            own = values[self.finished]
            if values.ndim == 1 and np.isfinite(own).any():
                lines.append(f"{name}: from {np.nanmin(own):.4g} to {np.nanmax(own):.4g}")
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        """Batches travel between processes, with their energy balances and warnings."""
        return {**vars(self), "judge": None, "_judged": self._judged}

    @property
    def final_contacts(self) -> tuple[Contact, ...]:
        """On ground: how the points of each run touch it at the end; from here another batch can go on."""
        points = self.touching.shape[1] // 4
        if not points:
            raise StateError("contact", "required: a batch on ground")
        modes, anchors = np.nan_to_num(self.touching[:, :points]).astype(int), self.touching[:, points:]
        return tuple(Contact(tuple(CONTACT_NAMES[k] for k in own), places.reshape(-1, 3))
                     for own, places in zip(modes, anchors, strict=True))  # fmt: skip

    def energy_balance_error(self) -> Floats:
        """As `Run.energy_balance_error`, by run, (runs,) [1]; NaN where a run was refused."""
        return self._judged[0]

    @cached_property
    def _judged(self) -> tuple[Floats, tuple[str, ...]]:
        assert self.judge is not None
        return self.judge()

    @property
    def warnings(self) -> tuple[str, ...]:
        """By run: what speaks against trusting it, in words; empty: nothing. An energy balance worse than `trusted`;
        on compliant ground a robot that has fallen, too."""
        return self._judged[1]

    @property
    def data(self) -> xarray.Dataset:
        """All of the batch over `run`, by name and with units; made when it is read."""
        return batch_dataset(self, self.parameters)

    @property
    def finished(self) -> np.ndarray:
        """Which runs went to their end."""
        return np.array([not reason for reason in self.reasons])


BatchMeasure = Callable[[Chunk], ArrayLike]
"""From some runs with their samples: a number, or an array, for each of them."""


def simulate_batch(
    model: Model,
    states: State,
    duration: float,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    control: Law | Sequence[Law] = (),
    motions: Mapping[str, PrescribedMotion] | None = None,
    forces: Force | Sequence[Force] = (),
    ground: CompliantGround | RigidGround | None = None,
    contact: Contact | Sequence[Contact] | None = None,
    measures: Mapping[str, BatchMeasure] | None = None,
    events: Sequence[Event] = DEFAULT_EVENTS,
    limits: str = "report",
    to_end: bool = False,
    start_time: float = 0.0,
    **options: Unpack[OptionArguments],
) -> Batch:
    """Simulate many runs that differ in their states and in numbers of the problem, for a duration [s].

    Arguments as for `simulate`, with these differences; keyword arguments beyond them are fields of `Options`.

    Args:
        model: the robot with its stance.
        states: q or (q, v), one for all runs or a row each; or equations such as `Standing()`, of each design its own.
        duration: of the run [s].
        parameters: values by name, one for all or one a run: numbers of the robot by path ("tail.length"), of a law by
            its place, counted from 1 ("control.1.kp"), of a motion ("motion.tail.tb.…"), of a force ("force.1.x.size")
            or of the initial state ("initial.impulse.x"). On ground, its numbers may differ, too ("ground.friction"),
            and what a servo follows: a list of joint tables of one shape as "control.1.table".
        control: laws, the same kinds for all runs.
        motions: by limb, as for `simulate`.
        forces: from outside.
        ground: as for `simulate`; each run has steps of its own.
        contact: how the feet touch it at the start, in all runs or each, such as `final_contacts` of another batch.
        measures: what to compute of each run from its samples, by name; see `Chunk`.
        events: what to watch; only those that stop a run matter.
        limits: as for `simulate`.
        to_end: whether samples are spread over the time of each run to its own end, as those of a `Run` are.
        start_time: time of the initial states [s], on ground.
        options: as for `simulate`; "auto" chooses a method for all by the first run that is possible.
    """
    how = options_of(options)
    problem = problem_of(
        model, states, duration, control=control, motions=motions, forces=forces, events=events, limits=limits,
        ground=ground, contact=contact, start_time=start_time,
    )  # fmt: skip
    return batch_of(problem, how, parameters, measures, to_end)


def batch_of(
    problem: Problem, options: Options, parameters: Mapping[str, ArrayLike] | None = None,
    measures: Mapping[str, BatchMeasure] | None = None, to_end: bool = False,
) -> Batch:  # fmt: skip
    """The runs of a problem whose parameters or initial states differ."""
    if measures is not None and not (isinstance(measures, Mapping) and all(map(callable, measures.values()))):
        raise ArgumentError("measures", measures, "functions of a Chunk, by name")
    if to_end and problem.ground is not None:
        raise ArgumentError("to_end", to_end, "False on ground: samples are at the same times for all runs")
    pool_size = workers(options.threads)
    inputs = batch_inputs(problem, options, parameters)
    integrator, everything, refused, count = inputs.integrator, inputs.start, inputs.refused, len(inputs.start.states)
    system = integrator.system
    possible = np.array([k not in refused for k in range(count)])
    points = len(integrator.names) if isinstance(integrator, OnGround) else 0
    ends = no_ends(count, system.size, 0, points)
    times = problem.start_time + np.linspace(0.0, problem.duration, options.samples if measures else 0)[None]
    kept: dict[str, list[Any]] = {name: [] for name in measures or {}}
    size = max(1, min(TILE, ROOM // max(1, times.shape[1] * system.size)))
    pool = _threads(pool_size)
    for first in range(0, count, size):
        here = slice(first, min(first + size, count))
        start = everything.only(here)
        own = integrator.ends(start, times, pool if count > FEW else None, whole=possible[here])
        for whole, piece in zip(ends, own, strict=True):
            if whole is not ends.samples and whole is not ends.contacts:
                whole[here] = piece
        if measures:
            chunk = Chunk(first, times[0], own, possible[here], integrator, start, pool)
            chunk = to_ends(chunk, own.status) if to_end else chunk
            for name, measure in measures.items():
                kept[name].append(_measured(name, measure, chunk))
        options.progress(here.stop, count)

    def judge() -> tuple[Floats, tuple[str, ...]]:
        errors, said = [], []
        for first in range(0, count, size):
            here = slice(first, min(first + size, count))
            chunk = Chunk(first, np.zeros(0), ends.only(here), possible[here], integrator, everything.only(here), pool)
            errors.append(chunk.energy_balance())
            said += chunk.warnings(errors[-1], trusted)
        return np.concatenate(errors), tuple(said)

    trusted = integrator.trusted if isinstance(integrator, OnGround) else trusted_balance(options.rtol, options.step)
    stuck = STUCK_ON_GROUND if isinstance(integrator, OnGround) else STUCK_REASON
    reasons = _reasons(ends, refused, system.event_names, stuck, integrator.begin)
    ends.states[(ends.status == STUCK) & (ends.times == integrator.begin)] = np.nan  # these have not begun
    final_q, final_v = _final(system, ends, everything)
    return Batch(
        model=problem.model, method=inputs.method, why_method=inputs.why_method, q=final_q, v=final_v,
        times=ends.times, reasons=reasons, steps=ends.steps, rejected=ends.rejected,
        measures={name: np.concatenate(pieces) for name, pieces in kept.items()},
        parameters={name: np.array(values) for name, values in everything.columns.items()},
        trusted=trusted, touching=ends.touching, judge=judge,
    )  # fmt: skip


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Threads that stay for later batches: to start them takes as long as a short run."""
    return ThreadPoolExecutor(count, "tailwork")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _measured(name: str, measure: BatchMeasure, chunk: Chunk) -> Floats:
    found = np.asarray(measure(chunk), dtype=np.float64)
    if found.ndim < 1 or len(found) != len(chunk.states):
        raise ArgumentError(f"measures.{name}", found.shape, f"one value a run: ({len(chunk.states)}, …)")
    return found


def _reasons(ends: Ends, refused: Mapping[int, str], names: Sequence[str], stuck: str, begin: float) -> tuple[str, ...]:
    said = [
        why_stopped(int(status), int(event), names, stuck)
        for status, event in zip(ends.status, ends.event, strict=True)
    ]
    for k in np.flatnonzero((ends.status == STUCK) & (ends.times == begin)):
        said[k] = "not possible: the start cannot be evaluated (does each leg reach its foot?)"
    for k, reason in refused.items():
        said[k] = f"not possible: {reason}"
    return tuple(said)


def _final(system: System, ends: Ends, start: Start) -> tuple[Floats, Floats]:
    """q and v at the end of every run."""
    if not start.columns and len(ends.times) <= FEW:
        return system.full(ends.times, ends.states, start.control_inputs)[:2]
    kernel, names = system.compiled("expand")
    inputs = np.concatenate([ends.times[:, None], ends.states, start.control_inputs], axis=1)[:, None]
    outputs = evaluated(kernel, parameter_rows(names, system.numbers, start.columns, len(inputs)), inputs)
    sizes = np.cumsum([len(system.model.coordinate_names), len(system.model.velocity_names)])
    q, v, _ = np.split(outputs[:, 0], sizes, axis=1)
    return q, v
