"""Runs on ground by fixed steps, whatever the ground: one run, with a controller or not, and batches in lanes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from tailwork.control.gait.joint_table import JointTable
from tailwork.errors import ArgumentError, ControllerError, RobotError, StateError
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.language import lanes
from tailwork.kernels.translate import driver
from tailwork.simulation.batch.kernels import evaluated, in_shares, parameter_rows, run_driver
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, RigidGround, surface_at
from tailwork.simulation.contact.record import UNDER_GROUND, ContactRecord, record_columns
from tailwork.simulation.contact.stepping import (
    CHANGED,
    HAPPENED,
    LIMIT,
    GroundRuns,
    LaneRuns,
    Parameters,
    Tables,
    record_sample,
    work_so_far,
)
from tailwork.simulation.events import Event, FootPulls, FootSlips
from tailwork.simulation.forces import pulse_times
from tailwork.simulation.integrate.balance import TRUSTED
from tailwork.simulation.integrate.compiled import WIDTH, lane_kernel
from tailwork.simulation.integrate.driver import DONE, LAST, MORE_ROOM
from tailwork.simulation.integrate.integrator import Ends, Start, among, no_ends
from tailwork.simulation.options import Options
from tailwork.simulation.run import Contact, Run
from tailwork.simulation.stopping import FINISHED, STUCK_ON_GROUND, Stopped, why_stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

STEPS_A_CALL = 1_000
"""Steps between two checks for Ctrl-C: compiled code cannot be interrupted."""

CheckedController = Callable[[float, Floats, Floats], Floats]
"""A controller in Python, (t, q, v) → efforts, whose answers are checked."""


@dataclass(frozen=True)
class Pace:
    """The steps of a run."""

    step: float  # [s]
    count: int
    why: str


@dataclass(frozen=True)
class OnGround(ABC):
    """Runs of a system on ground."""

    system: System
    ground: CompliantGround | RigidGround
    begin: float = 0.0  # time of the start [s]
    contact: Contact | Sequence[Contact] | None = None  # how points touch at the start, in all or each; None: not
    tables: Mapping[int, Sequence[JointTable]] = field(default_factory=dict)  # by servo: of each run its own

    advance: ClassVar[Callable[[Any], int]]  # the driver
    method: ClassVar[str]
    trusted: ClassVar[float] = TRUSTED  # energy balances that are worse are pointed out [1]
    least_depth: ClassVar[float] = UNDER_GROUND  # of joints in the ground that are pointed out [m]
    forces_at: ClassVar[float] = 0.0  # share of a step at which outside forces are taken [1]

    def __post_init__(self) -> None:
        check_free_feet(self.system)
        self.check()

    def check(self) -> None:
        """Refuses robots that cannot be on this ground."""
        return

    def said_at_start(self, x: Floats) -> list[str]:
        """What is wrong with the state that a run starts from, though it can go on."""
        return []

    @property
    def names(self) -> tuple[str, ...]:
        """The points that touch the ground: feet, and other contact points."""
        return tuple(self.system.model.layout.contact_points)

    @abstractmethod
    def paces(
        self, start: Start, duration: float, step: float | None, samples: int, rate: float | None
    ) -> list[Pace | ArgumentError]:
        """The steps of each run, or why there are none; `rate` of a controller [Hz]."""

    @abstractmethod
    def checked_contact(self, contact: Contact | None, places: Floats) -> Contact:
        """How the points of a run touch at the start, at their places and with their radii, (points, 4) [m]."""

    @abstractmethod
    def kernels(self) -> dict[str, tuple[str, ...]]:
        """Kernels of the driver by name: the names of their parameters."""

    @abstractmethod
    def job(self, width: int, runs: GroundRuns, numbers: dict[str, Parameters], tables: Tables, logging: bool) -> Any:
        """A driver's job, with room to work in; which runs it does is for its queue to say."""

    def lanes(
        self, width: int, runs: GroundRuns, tables: Tables, watch: Kernel | None, numbers: Parameters, logging: bool,
        contacts: int, state: Floats, efforts: Floats, kept: int, **more: Any,
    ) -> LaneRuns:  # fmt: skip
        """Where lanes stand, with room for what so many contacts do and constants of so many numbers; `more` is what a
        driver has already."""
        whole, points, watched = np.int64, len(self.names), len(self.stops)
        logged, own = STEPS_A_CALL if logging else 0, lane_kernel(watch, width)
        room = {"forces": 3 * points, "anchors": 3 * points, "impulses": 3 * points, "work": points, "joint_work": 1}
        return LaneRuns(
            runs=runs, tables=tables, n=self.system.size, still=len(self.system.free_q), points=points,
            start=self.begin, pause=STEPS_A_CALL, queue=np.array([0, 0, -1, 0, 0, 0]), run=np.full(width, -1, whole),
            step=np.zeros(width, whole), sampled=np.zeros(width, whole), speeds=np.zeros(width), state=state,
            efforts=efforts, watched=watched, watch=own, watch_numbers=numbers, stops=self.stops,
            below=np.zeros(max(watched * width, 1), whole), own=np.zeros(max(kept, own.kept, 1)), logging=logging,
            room=logged, changes=np.empty(3 * logged * contacts), happened=np.empty(2 * logged * watched),
            **{"modes": np.zeros(contacts * width, whole)} | lanes(
                width, acceleration=self.system.size, watch_constants=max(own.kept, 1), values=max(watched, 1), **room
            ) | more,
        )  # fmt: skip

    def log(self, job: Any, record: ContactRecord) -> None:
        """Take what a job has written down of a single run."""
        own = job.lanes
        changed, happened = own.changes.reshape(-1, 3)[: own.queue[CHANGED]], own.happened.reshape(-1, 2)
        record.changes += [(float(t), int(foot), int(mode)) for t, foot, mode in changed]
        record.happened += [(float(t), self.event_names[int(k)]) for t, k in happened[: own.queue[HAPPENED]]]
        own.queue[CHANGED] = own.queue[HAPPENED] = 0

    @property
    def watched(self) -> tuple[Event, ...]:
        """Events that are looked for."""
        return self.system.watched

    @property
    def event_names(self) -> list[str]:
        """A name for each watched quantity."""
        return [name for event in self.watched for name in event.names(self.system.model.layout)]

    @property
    def stops(self) -> np.ndarray:
        """Which of them end a run."""
        layout = self.system.model.layout
        flags = [event.action == "stop" for event in self.watched for _ in event.names(layout)]
        return np.array(flags, dtype=np.int64)

    def numbers(self, start: Start) -> dict[str, Parameters]:
        """Parameters of the kernels by name, and those of the ground."""
        laws = ground_parameters(self.ground, start)
        found = {"ground": Parameters(values=laws.reshape(-1), size=laws.shape[1])}
        for name, own in self.kernels().items():
            rows = parameter_rows(own, self.system.numbers, start.columns, len(start.states))
            found[name] = Parameters(values=rows.reshape(-1), size=rows.shape[1])
        return found

    def tables_by_run(self, start: Start) -> list[list[JointTable]]:
        """What the servos follow: one row for all runs, or a row each."""
        own, runs = self.tables, start.more["runs"] if self.tables else [0]
        servos = list(enumerate(self.system.servos))
        return [[own[k][r] if k in own else servo.table for k, servo in servos] for r in runs]

    def places(self, start: Start, times: Floats | None = None) -> Floats:
        """Where feet and other contact points are, and their radii, (runs, points, 4) [m]; at the start, or at times of
        the runs [s]."""
        kernel, names = self.system.compiled("feet")
        runs, count = len(start.states), len(self.names)
        held = np.zeros((runs, self.system.control_inputs))
        now = np.full(runs, self.begin) if times is None else times
        inputs = np.concatenate([now[:, None], start.states, held], axis=1)[:, None]
        found = evaluated(kernel, parameter_rows(names, self.system.numbers, start.columns, runs), inputs)
        radii = found[:, 0, 9 * count : 10 * count, None]
        return np.concatenate([found[:, 0, : 3 * count].reshape(runs, count, 3), radii], axis=-1)

    def contact_of(self, run: int) -> Contact | None:
        """How the points of a run touch at the start, as it is given."""
        given = self.contact
        return given if given is None or isinstance(given, Contact) else given[run if len(given) > 1 else 0]

    def contacts(self, start: Start) -> list[Contact]:
        """How the points of runs that `started` touch at the start."""
        if self.contact is None or isinstance(self.contact, Contact):
            return [touching_at_start(self.names, self.contact)] * len(start.states)
        return [touching_at_start(self.names, self.contact_of(run)) for run in start.more["runs"].tolist()]

    def runs(self, start: Start, paces: Sequence[Pace], contacts: Sequence[Contact], marks: np.ndarray) -> GroundRuns:
        """Runs as the driver takes them; `marks` are the steps after which samples are taken, a row each."""
        system, whole, count = self.system, np.int64, len(start.states)
        size = record_columns(system)[-1] + system.size
        modes = [CONTACT_NAMES.index(state) for contact in contacts for state in contact.states]
        return GroundRuns(
            states=np.ascontiguousarray(start.states).reshape(-1),
            control_inputs=np.ascontiguousarray(start.control_inputs[:, : system.efforts]).reshape(-1),
            efforts=system.efforts, lengths=np.array([pace.step for pace in paces]),
            counts=np.array([pace.count for pace in paces], whole), modes=np.array(modes, whole),
            anchors=np.concatenate([np.zeros(0), *(np.ravel(contact.anchors) for contact in contacts)]),
            marks=np.ascontiguousarray(marks, whole).reshape(-1), samples=marks.shape[1], status=np.zeros(count, whole),
            event=np.zeros(count, whole), steps=np.zeros(count, whole), final=np.full(count * system.size, np.nan),
            work=np.full(count, np.nan), fastest=np.full(count * (2 + system.size), np.nan),
            recorded=np.zeros(count, whole), record=np.full(count * (marks.shape[1] + 1) * size, np.nan),
            record_size=size, unsettled=np.zeros(count, whole),
        )  # fmt: skip

    def check_steps(self, pace: Pace, max_steps: int, duration: float, start: Start, k: int = 0) -> None:
        """Make sure that steps of run k are not too many, and no longer than a pulse, which acts for whole steps."""
        if pace.count > max_steps:
            required = f"at least {pace.count}, what {duration:g} s take in steps of {pace.step:.3g} s"
            raise ArgumentError("max_steps", max_steps, required)
        for name, usual in pulse_times(self.system.forces).items():
            lasting = float(start.columns[name][k]) if name in start.columns else usual
            if name.endswith("duration") and lasting < pace.step:
                required = f"at least the step, {pace.step:.3g} s: by steps on ground a pulse acts for whole ones"
                raise ArgumentError(name, lasting, required)

    def started(self, start: Start, refused: dict[int, str], duration: float, options: Options) -> Start:
        """Runs with their steps; those that are not possible join the refused ones, with the reason."""
        counts, lengths = np.zeros(len(start.states), np.int64), np.zeros(len(start.states))
        fine = np.array([k for k in range(len(start.states)) if k not in refused], dtype=np.int64)
        own = start.only(fine)
        paces = self.paces(own, duration, options.step, options.samples, None)
        for k, pace, place in zip(fine.tolist(), paces, self.places(own), strict=True):
            try:
                if isinstance(pace, ArgumentError):
                    raise pace
                self.check_steps(pace, options.max_steps, duration, start, k)
                self.checked_contact(self.contact_of(k), place)
                counts[k], lengths[k] = pace.count, pace.step
            except ArgumentError as error:
                refused[k] = str(error)
        return replace(start, more={"counts": counts, "lengths": lengths, "runs": np.arange(len(counts))})

    def ends(self, start: Start, times: Floats, pool: Executor | None, whole: np.ndarray | None = None) -> Ends:
        """What becomes of some runs that `started`; see Integrator.ends. Samples are as near to the given times as
        steps allow."""
        if len(times) > 1:
            raise StateError("ground", "samples are at the same times for all runs on ground")
        return among(start, whole, lambda own: self._ends(own, times.shape[1], pool))

    def _ends(self, start: Start, samples: int, pool: Executor | None) -> Ends:
        count, points = len(start.states), len(self.names)
        if not count:
            return no_ends(0, self.system.size, samples, points)
        marks = np.round(np.linspace(np.zeros(count), start.more["counts"], samples, axis=1))
        paces = [Pace(*own, "") for own in zip(start.more["lengths"], start.more["counts"], strict=True)]
        runs = self.runs(start, paces, self.contacts(start), marks)
        call = driver(type(self).advance, WIDTH)
        numbers, tables = self.numbers(start), tables_of(self.tables_by_run(start))
        self.job(WIDTH, runs, numbers, tables, logging=False)  # compiled here, not on the threads of a pool

        def share(here: slice) -> None:
            job = self.job(WIDTH, runs, numbers, tables, logging=False)
            job.lanes.queue[:2] = here.start, here.stop
            run_driver(call, job)

        in_shares(pool, count, share, 4 * WIDTH)
        found = no_ends(count, self.system.size, samples, points)
        rows = runs.record.reshape(count, samples + 1, -1)[:, :samples].copy()
        rows[marks > runs.steps[:, None]] = np.nan  # after the end of a run
        found.status[:], found.event[:], found.steps[:] = runs.status, runs.event, runs.steps
        found.times[:] = self.begin + runs.steps * runs.lengths
        found.states[:], found.work[:] = runs.final.reshape(count, -1), runs.work
        found.fastest[:] = runs.fastest.reshape(count, -1)
        found.touching[:] = np.hstack([runs.modes.reshape(count, -1), runs.anchors.reshape(count, -1)])
        found.samples[:] = rows[:, :, 1 : 1 + self.system.size]
        return found._replace(contacts=rows)


def ground_parameters(ground: CompliantGround | RigidGround, start: Start) -> Floats:
    """The numbers of each run's ground, (runs, numbers) [SI], in the order of its `parameter_names`."""
    usual = {f"ground.{name}": number for name, number in ground.numbers().items()}
    return parameter_rows(
        [f"ground.{name}" for name in ground.parameter_names], usual, start.columns, len(start.states)
    )


def tables_of(rows: Sequence[Sequence[JointTable]]) -> Tables:
    """Tables of joint angles as drivers take them: one row for all runs, or a row each."""
    first, tables = rows[0], [table for row in rows for table in row]
    return Tables(
        count=len(first), targets=sum(len(table.coordinates) for table in first),
        shapes=np.array([table.values.shape for table in first], dtype=np.int64).reshape(-1), own=int(len(rows) > 1),
        size=sum(table.values.size for table in first),
        periods=np.array([table.period for table in tables], dtype=np.float64),
        values=np.concatenate([np.zeros(0), *(np.ravel(table.values) for table in tables)]),
        rates=np.concatenate([np.zeros(0), *(np.ravel(table.slopes) for table in tables)]),
    )  # fmt: skip


def simulate_on_ground(
    integrator: OnGround, x: Floats, contact: Contact | None, duration: float, step: float | None, samples: int,
    max_steps: int, controller: CheckedController | None, control_rate: float,
) -> Run:  # fmt: skip
    """Step through the duration [s] from a state x; see tailwork.simulate."""
    system, begin = integrator.system, integrator.begin
    held = np.zeros(system.control_inputs)
    start = Start(x[None], held[None], {})
    pace = integrator.paces(start, duration, step, samples, None if controller is None else control_rate)[0]
    if isinstance(pace, ArgumentError):
        raise pace
    integrator.check_steps(pace, max_steps, duration, start)
    touching = integrator.checked_contact(contact, integrator.places(start)[0])
    marks = np.unique(np.round(np.linspace(0, pace.count, samples)).astype(int))[None]
    runs = integrator.runs(start, [pace], [touching], marks)
    job = integrator.job(1, runs, integrator.numbers(start), tables_of(integrator.tables_by_run(start)), logging=True)
    record = ContactRecord(integrator, pace.step)
    record.happened += [(begin, what) for what in integrator.said_at_start(x)]
    lane, efforts = job.lanes, slice(1 + system.size, 1 + system.size + system.efforts)

    def finished_run(stopped: Stopped | None) -> Run:
        record.unsettled = int(runs.unsettled[0])
        rows = runs.record.reshape(-1, runs.record_size)[: runs.recorded[0]]
        last = [begin + int(lane.step[0]) * pace.step, work_so_far(lane, 0), *lane.state[:, 0]]
        return record.run(rows, np.array([[begin, 0.0, *x], runs.fastest, last]), stopped, pace.why)

    def ask(ask_controller: CheckedController) -> None:
        """Let the controller give the efforts from now on."""
        now = begin + int(lane.step[0]) * pace.step
        q, v, _, _ = system.full(np.array([now]), lane.state.T, held[None])
        try:
            held[: system.efforts] = lane.efforts[:, 0] = ask_controller(now, q[0], v[0])
        except ControllerError as error:
            if runs.record[(runs.recorded[0] - 1) * runs.record_size] != now:
                record_sample(lane, 0, 0)
            error.run = finished_run(Stopped(now, "the controller gave no efforts"))
            raise
        if lane.step[0] == 0:
            runs.record[efforts] = lane.efforts[:, 0]

    call, waiting = driver(type(integrator).advance, 1), iter(())
    if controller is not None:
        waiting = _ticks(duration, 1.0 / control_rate, pace.step)
    lane.queue[LAST], lane.queue[LIMIT] = 1, next(waiting, -1)
    found = MORE_ROOM
    while found != DONE:
        found = run_driver(call, job)
        integrator.log(job, record)
        if controller is not None and found != DONE and lane.step[0] == lane.queue[LIMIT]:
            ask(controller)
            lane.queue[LIMIT] = next(waiting, -1)
    status = int(runs.status[0])
    if status == FINISHED:
        return finished_run(None)
    now = float(begin + runs.steps[0] * pace.step)
    return finished_run(Stopped(now, why_stopped(status, int(runs.event[0]), integrator.event_names, STUCK_ON_GROUND)))


def _ticks(duration: float, period: float, step: float) -> Iterator[int]:
    """After how many steps a controller is asked, from 0 on."""
    last = -1
    for k in range(math.ceil(duration / period)):
        tick = round(k * period / step)
        if tick > last:
            yield (last := tick)


def check_free_feet(system: System) -> None:
    """Refuses robots whose feet are pinned, events of such feet, and robots of which nothing can touch the ground."""
    if system.model.layout.stance:
        required = "a model with stance='none': on this ground no foot is pinned"
        raise ArgumentError("ground", "pinned feet", required)
    for event in system.watched:
        if isinstance(event, (FootPulls, FootSlips)):
            required = "events of other things than pinned feet: what feet do is in the run's `changes`"
            raise ArgumentError("events", event, required)
    if not system.model.layout.contact_points:
        raise RobotError("ground", system.model.robot.name, "a robot with feet or other contact points")


def touching_at_start(names: Sequence[str], contact: Contact | None) -> Contact:
    """How points touch at the start: as given, checked, or all in the air."""
    if contact is None:
        return Contact(("air",) * len(names), np.full((len(names), 3), np.nan))
    if not isinstance(contact, Contact):
        raise ArgumentError("contact", contact, "a Contact, such as final_contact of another run")
    if len(contact.states) != len(names) or not all(state in CONTACT_NAMES for state in contact.states):
        raise ArgumentError("contact", contact.states, f"one of {CONTACT_NAMES} for each of {', '.join(names)}")
    try:
        shape = np.asarray(contact.anchors, dtype=np.float64).shape
    except (TypeError, ValueError, OverflowError):
        shape = None
    if shape != (len(names), 3):
        raise ArgumentError("contact", contact.anchors, f"an anchor for each point: numbers, ({len(names)}, 3)")
    return contact


def height_under(ground: CompliantGround | RigidGround, name: str, place: Floats) -> Floats:
    """The ground under a point: height [m] and its derivatives by x and y."""
    found = surface_at(ground.field(), place[:2])
    above_field(name, found[0])
    return found


def above_field(name: str, height: float) -> None:
    """Refuses a point whose height over the ground, or the ground's there [m], is not known."""
    if not np.isfinite(height):
        raise ArgumentError("state", name, "a point above the height field; it starts outside of it")


def under_ground(depths: dict[str, float], allowed: float, hint: str) -> None:
    """Refuses points that start deeper in the ground than this [m]."""
    deepest = max(depths, key=lambda name: depths[name], default="")
    if deepest and depths[deepest] > allowed:
        raise ArgumentError("state", f"{deepest} {depths[deepest]:.4g} m under the ground", hint)


def within_period(good: float, step: float | None, rate: float | None) -> float:
    """A step [s] that divides the period of a controller which is asked at a rate [Hz]; refuses one that is longer."""
    if rate is None:
        return good
    if step is not None and step * rate > 1.0 + 1e-9:
        raise ArgumentError("step", step, f"at most {1.0 / rate:.3g} s, the period of the controller")
    return 1.0 / (rate * np.ceil(1.0 / (rate * good)))


def step_count(duration: float, step: float) -> int:
    """How many steps of at most this length [s] a duration takes."""
    return max(1, int(np.ceil(duration / step - 1e-9)))


def pace_or_error(make: Callable[..., Pace], *arguments: Any) -> Pace | ArgumentError:
    """The steps of a run, or why there are none."""
    try:
        return make(*arguments)
    except ArgumentError as error:
        return error
