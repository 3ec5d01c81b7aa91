"""Runs on ground by fixed steps, whatever the ground: one run, with a controller or not, and batches in lanes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from tailwork.control.gait.joint_table import JointTable
from tailwork.errors import ControllerError, RobotError, StateError
from tailwork.kernels.translate import driver
from tailwork.simulation.batch_kernels import evaluated, in_shares, parameter_rows, run_driver
from tailwork.simulation.contact.friction import OFF_THE_FIELD, RUNAWAY
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, RigidGround, surface_at
from tailwork.simulation.contact.record import UNDER_GROUND, ContactRecord, record_columns
from tailwork.simulation.contact.stepping import CHANGED, HAPPENED, LIMIT, GroundRuns, Parameters, Tables
from tailwork.simulation.events import Event
from tailwork.simulation.integrate.compiled import WIDTH
from tailwork.simulation.integrate.driver import AT_EVENT, DONE, FINISHED, LAST, MORE_ROOM, STUCK
from tailwork.simulation.integrate.integrator import Ends, Start, among, no_ends
from tailwork.simulation.options import Options
from tailwork.simulation.run import TRUSTED, Contact, Run, Stopped
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
    contact: Contact | None = None  # how the points of all runs touch at the start; None: they start at or above it
    tables: Mapping[int, Sequence[JointTable]] = field(default_factory=dict)  # by servo: of each run its own

    advance: ClassVar[Callable[[Any], int]]  # the driver
    record_sample: ClassVar[Callable[[Any, int, int], None]]
    work_so_far: ClassVar[Callable[[Any, int], float]]
    method: ClassVar[str]
    trusted: ClassVar[float] = TRUSTED  # energy balances that are worse are pointed out [1]
    least_depth: ClassVar[float] = UNDER_GROUND  # of joints in the ground that are pointed out [m]
    forces_at: ClassVar[float] = 0.0  # share of a step at which outside forces are taken [1]

    def __post_init__(self) -> None:
        if self.system.model.layout.stance:
            required = "a model with stance='none': on this ground no foot is pinned"
            raise RobotError("ground", "pinned feet", required)
        if not self.names:
            raise RobotError("ground", self.system.model.robot.name, "a robot with feet or other contact points")
        self.check()

    def check(self) -> None:
        """Refuses robots that cannot be on this ground."""
        return

    @property
    def names(self) -> tuple[str, ...]:
        """The points that touch the ground: feet, and other contact points."""
        return tuple(self.system.model.layout.contact_points)

    @abstractmethod
    def paces(
        self, start: Start, duration: float, step: float | None, samples: int, rate: float | None
    ) -> list[Pace | RobotError]:
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

    @abstractmethod
    def inputs(self, job: Any) -> Floats:
        """[t, x, controls, …] of the kernels, rows of lanes."""

    @abstractmethod
    def state(self, job: Any) -> Floats:
        """x of a single run, now."""

    def log(self, job: Any, record: ContactRecord) -> None:
        """Take what a job has written down of a single run."""
        changed, happened = job.changes.reshape(-1, 3)[: job.queue[CHANGED]], job.happened.reshape(-1, 2)
        record.changes += [(float(t), int(foot), int(mode)) for t, foot, mode in changed]
        record.happened += [(float(t), self.event_names[int(k)]) for t, k in happened[: job.queue[HAPPENED]]]
        job.queue[CHANGED] = job.queue[HAPPENED] = 0

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
        """Parameters of the kernels by name."""
        found = {}
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
            anchors=np.concatenate([np.ravel(contact.anchors) for contact in contacts]).astype(np.float64),
            marks=np.ascontiguousarray(marks, whole).reshape(-1), samples=marks.shape[1], status=np.zeros(count, whole),
            event=np.zeros(count, whole), steps=np.zeros(count, whole), final=np.full(count * system.size, np.nan),
            work=np.full(count, np.nan), fastest=np.full(count * (2 + system.size), np.nan),
            recorded=np.zeros(count, whole), record=np.full(count * (marks.shape[1] + 1) * size, np.nan),
            record_size=size, unsettled=np.zeros(count, whole),
        )  # fmt: skip

    def started(self, start: Start, refused: dict[int, str], duration: float, options: Options) -> Start:
        """Runs with their steps; those that are not possible join the refused ones, with the reason."""
        counts, lengths = np.zeros(len(start.states), np.int64), np.zeros(len(start.states))
        fine = np.array([k for k in range(len(start.states)) if k not in refused], dtype=np.int64)
        own = start.only(fine)
        paces = self.paces(own, duration, options.step, options.samples, None)
        for k, pace, place in zip(fine.tolist(), paces, self.places(own), strict=True):
            try:
                if isinstance(pace, RobotError):
                    raise pace
                check_steps(pace, options.max_steps, duration)
                self.checked_contact(self.contact, place)
                counts[k], lengths[k] = pace.count, pace.step
            except RobotError as error:
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
        contact = Contact(("air",) * points, np.full((points, 3), np.nan)) if self.contact is None else self.contact
        marks = np.round(np.linspace(np.zeros(count), start.more["counts"], samples, axis=1))
        paces = [Pace(*own, "") for own in zip(start.more["lengths"], start.more["counts"], strict=True)]
        runs = self.runs(start, paces, [contact] * count, marks)
        call = driver(type(self).advance, WIDTH)
        numbers, tables = self.numbers(start), tables_of(self.tables_by_run(start))
        self.job(WIDTH, runs, numbers, tables, logging=False)  # compiled here, not on the threads of a pool

        def share(here: slice) -> None:
            job = self.job(WIDTH, runs, numbers, tables, logging=False)
            job.queue[:2] = here.start, here.stop
            run_driver(call, job)

        in_shares(pool, count, share, 4 * WIDTH)
        found = no_ends(count, self.system.size, samples)
        rows = runs.record.reshape(count, samples + 1, -1)[:, :samples].copy()
        rows[marks > runs.steps[:, None]] = np.nan  # after the end of a run
        found.status[:], found.event[:], found.steps[:] = runs.status, runs.event, runs.steps
        found.times[:] = self.begin + runs.steps * runs.lengths
        found.states[:], found.work[:] = runs.final.reshape(count, -1), runs.work
        found.fastest[:] = runs.fastest.reshape(count, -1)
        found.samples[:] = rows[:, :, 1 : 1 + self.system.size]
        return found._replace(contacts=rows)


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
    way: OnGround, x: Floats, contact: Contact | None, duration: float, step: float | None, samples: int,
    max_steps: int, controller: CheckedController | None, control_rate: float,
) -> Run:  # fmt: skip
    """Step through the duration [s] from a state x; see tailwork.simulate."""
    system, begin = way.system, way.begin
    held = np.zeros(system.control_inputs)
    start = Start(x[None], held[None], {})
    pace = way.paces(start, duration, step, samples, None if controller is None else control_rate)[0]
    if isinstance(pace, RobotError):
        raise pace
    check_steps(pace, max_steps, duration)
    touching = way.checked_contact(contact, way.places(start)[0])
    ticks: list[int] = []
    if controller is not None:
        ticks = np.unique(np.round(np.arange(0.0, duration, 1.0 / control_rate) / pace.step).astype(int)).tolist()
    marks = np.unique(np.round(np.linspace(0, pace.count, samples)).astype(int))[None]
    runs = way.runs(start, [pace], [touching], marks)
    job = way.job(1, runs, way.numbers(start), tables_of(way.tables_by_run(start)), logging=True)
    record = ContactRecord(way, pace.step)
    efforts, inputs = slice(1 + system.size, 1 + system.size + system.efforts), way.inputs(job)[:, 0]

    def finished_run(stopped: Stopped | None) -> Run:
        record.unsettled = int(runs.unsettled[0])
        rows = runs.record.reshape(-1, runs.record_size)[: runs.recorded[0]]
        last = [begin + int(job.step[0]) * pace.step, type(way).work_so_far(job, 0), *way.state(job)]
        return record.run(rows, np.array([[begin, 0.0, *x], runs.fastest, last]), stopped, pace.why)

    def ask(ask_controller: CheckedController) -> None:
        """Let the controller give the efforts from now on."""
        now = begin + int(job.step[0]) * pace.step
        q, v, _, _ = system.full(np.array([now]), way.state(job)[None], held[None])
        try:
            held[: system.efforts] = inputs[efforts] = ask_controller(now, q[0], v[0])
        except ControllerError as error:
            if runs.record[(runs.recorded[0] - 1) * runs.record_size] != now:
                type(way).record_sample(job, 0, 0)
            error.run = finished_run(Stopped(now, "the controller gave no efforts"))
            raise
        if job.step[0] == 0:
            runs.record[efforts] = inputs[efforts]

    call, waiting = driver(type(way).advance, 1), iter(ticks)
    job.queue[LAST], job.queue[LIMIT] = 1, next(waiting, -1)
    found = MORE_ROOM
    while found != DONE:
        found = run_driver(call, job)
        way.log(job, record)
        if controller is not None and found != DONE and job.step[0] == job.queue[LIMIT]:
            ask(controller)
            job.queue[LIMIT] = next(waiting, -1)
    status = int(runs.status[0])
    if status == FINISHED:
        return finished_run(None)
    now = float(begin + runs.steps[0] * pace.step)
    return finished_run(Stopped(now, why_ended_on_ground(status, int(runs.event[0]), way.event_names)))


def touching_at_start(names: Sequence[str], contact: Contact | None) -> Contact:
    """How points touch at the start: as given, checked, or all in the air."""
    if contact is None:
        return Contact(("air",) * len(names), np.full((len(names), 3), np.nan))
    if not isinstance(contact, Contact):
        raise RobotError("contact", contact, "a Contact, such as final_contact of another run")
    if len(contact.states) != len(names) or not all(state in CONTACT_NAMES for state in contact.states):
        raise RobotError("contact", contact.states, f"one of {CONTACT_NAMES} for each of {', '.join(names)}")
    try:
        shape = np.asarray(contact.anchors, dtype=np.float64).shape
    except (TypeError, ValueError, OverflowError):
        shape = None
    if shape != (len(names), 3):
        raise RobotError("contact", contact.anchors, f"an anchor for each point: numbers, ({len(names)}, 3)")
    return contact


def height_under(ground: CompliantGround | RigidGround, name: str, place: Floats) -> Floats:
    """The ground under a point: height [m] and its derivatives by x and y."""
    found = surface_at(ground.field(), place[:2])
    if not np.isfinite(found[0]):
        raise RobotError("state", name, "a point above the height field; it starts outside of it")
    return found


def under_ground(depths: dict[str, float], allowed: float, hint: str) -> None:
    """Refuses points that start deeper in the ground than this [m]."""
    deepest = max(depths, key=lambda name: depths[name], default="")
    if deepest and depths[deepest] > allowed:
        raise RobotError("state", f"{deepest} {depths[deepest]:.4g} m under the ground", hint)


def check_steps(pace: Pace, max_steps: int, duration: float) -> None:
    """Make sure that there are not too many."""
    if pace.count > max_steps:
        required = f"at least {pace.count}, what {duration:g} s take in steps of {pace.step:.3g} s"
        raise RobotError("max_steps", max_steps, required)


def why_ended_on_ground(status: int, event: int, names: Sequence[str]) -> str:
    """Why a run on ground ended before its time; empty: it did not."""
    if status == AT_EVENT:
        return names[event]
    if status == OFF_THE_FIELD:
        return "a foot leaves the height field"
    if status == RUNAWAY:
        return (
            "velocities grow without bound: a joint is singular, such as a universal joint at 90°, or the step too long"
        )
    stuck = "numbers are not finite any more: take a shorter step, or look for a joint that is singular"
    return stuck if status == STUCK else ""
