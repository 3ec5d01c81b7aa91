"""Simulate trees on compliant ground by the linearly implicit Euler method, with fixed steps: runs and batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tailwork.control.gait.joint_table import JointTable
from tailwork.errors import ControllerError, RobotError, StateError
from tailwork.kernels.language import lanes
from tailwork.kernels.translate import driver
from tailwork.model import Model
from tailwork.simulation.batch_kernels import answers, evaluated, in_shares, parameter_rows, run_driver
from tailwork.simulation.contact.friction import FRICTION, NUMBERS, OFF_THE_FIELD, SEEN, Feet
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, surface_at
from tailwork.simulation.contact.record import UNDER_GROUND, ContactRecord, record_columns
from tailwork.simulation.contact.stepping import (
    CHANGED,
    HAPPENED,
    LIMIT,
    GroundJob,
    GroundRuns,
    Tables,
    advance,
    record_sample,
    work_so_far,
)
from tailwork.simulation.integrate.compiled import WIDTH, lane_kernel
from tailwork.simulation.integrate.driver import AT_EVENT, DONE, FINISHED, LAST, MORE_ROOM, STUCK
from tailwork.simulation.integrate.integrator import Ends, Start, among, no_ends
from tailwork.simulation.options import Options
from tailwork.simulation.run import Contact, Run, Stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

STEPS_A_CALL = 1_000
"""Steps between two checks for Ctrl-C: compiled code cannot be interrupted."""
CHOSEN, ALLOWED = 0.1, 2.0
"""Step times the fastest frequency of robot and ground: what is chosen, and the most that is allowed. Beyond it a touch
is over within a step or two, and what the method gives is not the motion any more."""

MOST_CHOSEN = 1000
"""Steps of a run whose feet nothing moves."""
KERNELS = {"see": "feet", "solve": "step", "events": "ground_events"}
"""By name in the driver: kernels of a system."""

CheckedController = Callable[[float, Floats, Floats], Floats]
"""A controller in Python, (t, q, v) → efforts, whose answers are checked."""


@dataclass(frozen=True)
class Pace:
    """The steps of a run."""

    step: float  # [s]
    count: int
    why: str


def contact_frequencies(system: System, ground: CompliantGround, start: Start, pool: Executor | None = None) -> Floats:
    """Fastest frequency of each robot on its ground with all points touching, at its state [rad/s], (runs,).

    The root of the largest eigenvalue of K_c J M⁻¹ Jᵀ, K_c the ground's stiffness and J of all contact points.
    """
    model = system.model
    kernel, names = system.compiled("feet")
    runs, count, n_q, n_v = len(start.states), len(model.layout.contact_points), len(system.free_q), len(system.free_v)
    parameters = parameter_rows(names, system.numbers, start.columns, runs)
    rows = np.zeros((runs, 1 + n_v, 1 + system.size + system.control_inputs))
    rows[:, :, 1 : 1 + n_q] = start.states[:, None, :n_q]
    rows[:, 1:, 1 + n_q : 1 + system.size] = np.eye(n_v)  # the first row is still: prescribed limbs may move
    seen = evaluated(kernel, parameters, rows, pool)
    velocities, rolling = (seen[:, :, k * count : (k + 3) * count].reshape(runs, -1, count, 3) for k in (3, 6))
    slopes = surface_at(ground.field(), seen[:, :1, : 3 * count].reshape(runs, 1, count, 3)[..., :2])[..., 1:]
    normals = np.concatenate([-slopes, np.ones((runs, 1, count, 1))], axis=-1)
    normals = np.nan_to_num(normals / np.linalg.norm(normals, axis=-1, keepdims=True))
    of_points = (velocities - np.cross(rolling, normals)).reshape(runs, -1, 3 * count)
    jacobian = of_points[:, 1:] - of_points[:, :1]
    expand, own = system.compiled("expand")
    still = evaluated(expand, parameter_rows(own, system.numbers, start.columns, runs), rows[:, :1], pool)
    q, size = still[..., : len(model.coordinate_names)], len(model.velocity_names)
    unit = np.concatenate([np.zeros((1, size)), np.eye(size)])[None]
    given = {"q": q, "v": np.zeros((1, 1, size)), "a": unit}
    force = answers(model, "generalised_force", start.columns, given, pool)["force"]
    mass = (force[:, 1:] - force[:, :1])[:, system.free_v][:, :, system.free_v]
    mobility = np.swapaxes(jacobian, 1, 2) @ np.linalg.solve(mass, jacobian)
    stiffness = np.array([ground.tangential_stiffness, ground.tangential_stiffness, ground.stiffness] * count)
    root = np.sqrt(stiffness.astype(float))
    return np.sqrt(np.linalg.eigvalsh(root[:, None] * mobility * root).max(axis=1))


def contact_frequency(system: System, ground: CompliantGround, x: Floats) -> float:
    """That of one robot at a state x [rad/s]."""
    return float(contact_frequencies(system, ground, Start(x[None], np.zeros((1, system.control_inputs)), {}))[0])


def paced(frequency: float, duration: float, step: float | None, samples: int = 2, rate: float | None = None) -> Pace:
    """Steps that divide the duration: as asked if they are short enough, or chosen for the frequency of robot and
    ground [rad/s]; then so that they divide the period of a controller that is asked at a rate [Hz], or else the spaces
    between samples."""
    good = CHOSEN / frequency if frequency > 0.0 else duration / MOST_CHOSEN
    if rate is not None:
        good = 1.0 / (rate * np.ceil(1.0 / (rate * good)))
    if step is not None and rate is not None and step * rate > 1.0 + 1e-9:
        raise RobotError("step", step, f"at most {1.0 / rate:.3g} s, the period of the controller")
    if step is not None and step * frequency > ALLOWED:
        required = (
            f"at most {ALLOWED / frequency:.3g} s: feet and ground swing at {frequency:.4g} rad/s. Leave the step out "
            f"({good:.3g} s would be taken) or make the ground softer"
        )
        raise RobotError("step", step, required)
    count = max(1, int(np.ceil(duration / (good if step is None else step) - 1e-9)))
    if step is None and rate is None:
        count = int(np.ceil(count / (samples - 1))) * (samples - 1)
    why = f"steps of {duration / count:.3g} s; step times the ground's frequency {duration / count * frequency:.2g}"
    if step is not None and step > good:
        why += f", coarser than the {CHOSEN:g} that is taken of itself"
    return Pace(duration / count, count, why)


def checked_contact(model: Model, ground: CompliantGround, contact: Contact | None, places: Floats) -> Contact:
    """How feet and other contact points touch at the start; `places` as `OnGround.places` gives them."""
    names, given = list(model.layout.contact_points), contact is not None
    if contact is None:
        contact = Contact(("air",) * len(names), np.full((len(names), 3), np.nan))
    if not isinstance(contact, Contact):
        raise RobotError("contact", contact, "a Contact, such as final_contact of another run")
    if len(contact.states) != len(names) or not all(state in CONTACT_NAMES for state in contact.states):
        raise RobotError("contact", contact.states, f"one of {CONTACT_NAMES} for each of {', '.join(names)}")
    try:
        shape = np.asarray(contact.anchors, dtype=np.float64).shape
    except (TypeError, ValueError):
        shape = None
    if shape != (len(names), 3):
        raise RobotError("contact", contact.anchors, f"an anchor for each foot: numbers, ({len(names)}, 3)")
    depths: dict[str, float] = {}
    for name, place, state, anchor in zip(names, places, contact.states, contact.anchors, strict=True):
        height = surface_at(ground.field(), place[:2])[0]
        if not np.isfinite(height):
            raise RobotError("state", name, "a foot above the height field; it starts outside of it")
        if state == "air":
            depths[name] = float(height - place[2] + place[3])
        elif not np.isfinite(anchor).all():
            raise RobotError("contact", name, "an anchor for a foot that touches")
    deepest = max(depths, key=lambda name: depths[name], default="")
    if deepest and depths[deepest] > UNDER_GROUND and not given:
        required = (
            "feet at or above the ground: start from posed(model) or walking_start(…), which stand on z = 0, higher up "
            "where the ground is (`torso_place`); or give `contact`, such as run.final_contact, for feet that stand in "
            "the ground already"
        )
        raise RobotError("state", f"{deepest} {depths[deepest]:.4g} m under the ground", required)
    return contact


@dataclass(frozen=True)
class OnGround:
    """Runs of a system on compliant ground."""

    system: System
    ground: CompliantGround
    begin: float = 0.0  # time of the start [s]
    contact: Contact | None = None  # how the feet of all runs touch at the start; None: they start at or above it
    tables: Mapping[int, Sequence[JointTable]] = field(default_factory=dict)  # by servo: of each run its own

    def __post_init__(self) -> None:
        model = self.system.model
        if model.layout.stance:
            required = "a model with stance='none': on compliant ground no foot is pinned"
            raise RobotError("ground", "pinned feet", required)
        if not model.layout.contact_points:
            raise RobotError("ground", model.robot.name, "a robot with feet or other contact points")

    def tables_by_run(self, start: Start) -> list[list[JointTable]]:
        """What the servos follow: one row for all runs, or a row each."""
        own, runs = self.tables, start.more["runs"] if self.tables else [0]
        servos = list(enumerate(self.system.servos))
        return [[own[k][r] if k in own else servo.table for k, servo in servos] for r in runs]

    def places(self, start: Start, times: Floats | None = None) -> Floats:
        """Where feet and other contact points are, and their radii, (runs, points, 4) [m]; at the start, or at times of
        the runs [s]."""
        kernel, names = self.system.compiled("feet")
        runs, count = len(start.states), len(self.system.model.layout.contact_points)
        held = np.zeros((runs, self.system.control_inputs))
        now = np.full(runs, self.begin) if times is None else times
        inputs = np.concatenate([now[:, None], start.states, held], axis=1)[:, None]
        found = evaluated(kernel, parameter_rows(names, self.system.numbers, start.columns, runs), inputs)
        radii = found[:, 0, 9 * count : 10 * count, None]
        return np.concatenate([found[:, 0, : 3 * count].reshape(runs, count, 3), radii], axis=-1)

    def runs(self, start: Start, paces: Sequence[Pace], contacts: Sequence[Contact], marks: np.ndarray) -> GroundRuns:
        """Runs as the driver takes them; `marks` are the steps after which samples are taken, a row each."""
        system, whole, count = self.system, np.int64, len(start.states)
        rows: dict[str, Any] = {}
        for name, kernel in KERNELS.items():
            wanted = name != "events" or len(system.stops) > 0
            own = system.compiled(kernel)[1] if wanted else ()
            parameters = parameter_rows(own, system.numbers, start.columns, count)
            rows |= {name: parameters.reshape(-1), f"{name}_size": parameters.shape[1]}
        size = record_columns(system)[-1] + system.size
        modes = [CONTACT_NAMES.index(state) for contact in contacts for state in contact.states]
        return GroundRuns(
            states=np.ascontiguousarray(start.states).reshape(-1),
            control_inputs=np.ascontiguousarray(start.control_inputs[:, : system.efforts]).reshape(-1),
            efforts=system.efforts, lengths=np.array([pace.step for pace in paces]),
            counts=np.array([pace.count for pace in paces], whole), **rows, modes=np.array(modes, whole),
            anchors=np.concatenate([np.ravel(contact.anchors) for contact in contacts]).astype(np.float64),
            marks=np.ascontiguousarray(marks, whole).reshape(-1), samples=marks.shape[1], status=np.zeros(count, whole),
            event=np.zeros(count, whole), steps=np.zeros(count, whole), final=np.full(count * system.size, np.nan),
            work=np.full(count, np.nan), fastest=np.full(count * (2 + system.size), np.nan),
            recorded=np.zeros(count, whole), record=np.full(count * (marks.shape[1] + 1) * size, np.nan),
            record_size=size,
        )  # fmt: skip

    def job(self, width: int, runs: GroundRuns, tables: Tables, logging: bool) -> GroundJob:
        """A driver's job, with room to work in; which runs it does is for its queue to say."""
        system, whole, n = self.system, np.int64, self.system.size
        count, watched = len(system.model.layout.contact_points), len(system.stops)
        see, solve = (lane_kernel(system.compiled(name)[0], width) for name in ("feet", "step"))
        watch = lane_kernel(system.compiled("ground_events")[0] if watched else None, width)
        known = 1 + n + system.control_inputs
        room = lanes(
            width, see_constants=max(see.kept, 1), solve_constants=max(solve.kept, 1),
            inputs=known + 1 + NUMBERS * count, seen=SEEN * count, answers=n + 3 * count + 1, anchors=3 * count,
            ends=3 * count, forces=3 * count, impulses=3 * count, work=count, joint_work=1, inverse=count * count,
            friction=FRICTION * count, normals=count,
        )  # fmt: skip
        per_foot = {name: np.zeros(count * width, whole) for name in ("modes", "modes_new", "together")}
        feet = Feet(
            count=count, n=n, law=self.ground.laws(), field=self.ground.field(), see=see, solve=solve, known=known,
            **room, **per_foot, status=np.zeros(width, whole), moded=np.zeros(width, whole),
        )  # fmt: skip
        logged = STEPS_A_CALL if logging else 0
        return GroundJob(
            feet=feet, tables=tables, runs=runs, start=self.begin,
            pause=STEPS_A_CALL, watched=watched, watch=watch, stops=system.stops.astype(whole),
            below=np.zeros(max(watched * width, 1), whole),
            **lanes(width, watch_constants=max(watch.kept, 1), values=max(watched, 1), clock=2, acceleration=n),
            queue=np.array([0, 0, -1, 0, 0]), run=np.full(width, -1, whole), step=np.zeros(width, whole),
            sampled=np.zeros(width, whole), speeds=np.zeros(width), still=len(system.free_q),
            own=np.zeros(max(see.kept, solve.kept, watch.kept, 1)), logging=logging,
            room=logged, changes=np.empty(3 * logged * count), happened=np.empty(2 * logged * watched),
        )  # fmt: skip

    def started(self, start: Start, refused: dict[int, str], duration: float, options: Options) -> Start:
        """Runs with their steps; those that are not possible join the refused ones, with the reason."""
        counts, lengths = np.zeros(len(start.states), np.int64), np.zeros(len(start.states))
        fine = np.array([k for k in range(len(start.states)) if k not in refused], dtype=np.int64)
        frequencies = contact_frequencies(self.system, self.ground, start.only(fine))
        for k, frequency, place in zip(fine.tolist(), frequencies, self.places(start.only(fine)), strict=True):
            try:
                pace = paced(float(frequency), duration, options.step, options.samples)
                check_steps(pace, options.max_steps, duration)
                checked_contact(self.system.model, self.ground, self.contact, place)
                counts[k], lengths[k] = pace.count, pace.step
            except RobotError as error:
                refused[k] = str(error)
        return replace(start, more={"counts": counts, "lengths": lengths, "runs": np.arange(len(counts))})

    def ends(self, start: Start, times: Floats, pool: Executor | None, whole: np.ndarray | None = None) -> Ends:
        """What becomes of some runs that `started`; see Integrator.ends. Samples are as near to the given times as
        steps allow."""
        if len(times) > 1:
            raise StateError("ground", "samples are at the same times for all runs on compliant ground")
        return among(start, whole, lambda own: self._ends(own, times.shape[1], pool))

    def _ends(self, start: Start, samples: int, pool: Executor | None) -> Ends:
        count, feet = len(start.states), len(self.system.model.layout.contact_points)
        contact = Contact(("air",) * feet, np.full((feet, 3), np.nan)) if self.contact is None else self.contact
        marks = np.round(np.linspace(np.zeros(count), start.more["counts"], samples, axis=1))
        paces = [Pace(*own, "") for own in zip(start.more["lengths"], start.more["counts"], strict=True)]
        runs = self.runs(start, paces, [contact] * count, marks)
        call = driver(advance, WIDTH)
        tables = tables_of(self.tables_by_run(start))
        self.job(WIDTH, runs, tables, logging=False)  # compiled here, not on the threads of a pool

        def share(here: slice) -> None:
            job = self.job(WIDTH, runs, tables, logging=False)
            job.queue[:2] = here.start, here.stop
            run_driver(call, job)

        in_shares(pool, count, share, 4 * WIDTH)
        found = no_ends(count, self.system.size, samples)
        rows = runs.record.reshape(count, samples + 1, -1)[:, :samples].copy()
        rows[marks > runs.steps[:, None]] = np.nan  # after the end of a run
        at = record_columns(self.system)
        found.status[:], found.event[:], found.steps[:] = runs.status, runs.event, runs.steps
        found.times[:] = self.begin + runs.steps * runs.lengths
        found.states[:], found.work[:] = runs.final.reshape(count, -1), runs.work
        found.fastest[:] = runs.fastest.reshape(count, -1)
        found.samples[:] = rows[:, :, at[0] : at[1]]
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
    system: System, ground: CompliantGround, x: Floats, contact: Contact | None, duration: float, step: float | None,
    samples: int, max_steps: int, controller: CheckedController | None, control_rate: float, begin: float,
) -> Run:  # fmt: skip
    """Step through the duration [s] from the time `begin` [s]; see tailwork.simulate."""
    way = OnGround(system, ground, begin)
    held = np.zeros(system.control_inputs)
    start = Start(x[None], held[None], {})
    pace = paced(
        contact_frequency(system, ground, x), duration, step, samples, None if controller is None else control_rate
    )
    check_steps(pace, max_steps, duration)
    touching = checked_contact(system.model, ground, contact, way.places(start)[0])
    ticks: list[int] = []
    if controller is not None:
        ticks = np.unique(np.round(np.arange(0.0, duration, 1.0 / control_rate) / pace.step).astype(int)).tolist()
    marks = np.unique(np.round(np.linspace(0, pace.count, samples)).astype(int))[None]
    runs = way.runs(start, [pace], [touching], marks)
    job = way.job(1, runs, tables_of(way.tables_by_run(start)), logging=True)
    record = ContactRecord(system, ground, pace.step)
    efforts, inputs = slice(1 + system.size, 1 + system.size + system.efforts), job.feet.inputs[:, 0]

    def finished_run(stopped: Stopped | None) -> Run:
        rows = runs.record.reshape(-1, runs.record_size)[: runs.recorded[0]]
        last = [begin + int(job.step[0]) * pace.step, work_so_far(job, 0), *inputs[1 : 1 + system.size]]
        return record.run(rows, np.array([[begin, 0.0, *x], runs.fastest, last]), stopped, pace.why)

    def ask(ask_controller: CheckedController) -> None:
        """Let the controller give the efforts from now on."""
        now = begin + int(job.step[0]) * pace.step
        q, v, _, _ = system.full(np.array([now]), inputs[None, 1 : 1 + system.size], held[None])
        try:
            held[: system.efforts] = inputs[efforts] = ask_controller(now, q[0], v[0])
        except ControllerError as error:
            if runs.record[(runs.recorded[0] - 1) * runs.record_size] != now:
                record_sample(job, 0, 0)
            error.run = finished_run(Stopped(now, "the controller gave no efforts"))
            raise
        if job.step[0] == 0:
            runs.record[efforts] = inputs[efforts]

    call, waiting = driver(advance, 1), iter(ticks)
    job.queue[LAST], job.queue[LIMIT] = 1, next(waiting, -1)
    found = MORE_ROOM
    while found != DONE:
        found = run_driver(call, job)
        changed, happened = job.changes.reshape(-1, 3)[: job.queue[CHANGED]], job.happened.reshape(-1, 2)
        record.changes += [(float(t), int(foot), int(mode)) for t, foot, mode in changed]
        record.happened += [(float(t), system.event_names[int(k)]) for t, k in happened[: job.queue[HAPPENED]]]
        job.queue[CHANGED] = job.queue[HAPPENED] = 0
        if controller is not None and found != DONE and job.step[0] == job.queue[LIMIT]:
            ask(controller)
            job.queue[LIMIT] = next(waiting, -1)
    status = int(runs.status[0])
    if status == FINISHED:
        return finished_run(None)
    now = float(begin + runs.steps[0] * pace.step)
    return finished_run(Stopped(now, why_ended_on_ground(status, int(runs.event[0]), system.event_names)))


def check_steps(pace: Pace, max_steps: int, duration: float) -> None:
    """Make sure that there are not too many."""
    if pace.count > max_steps:
        required = f"at least {pace.count}, what {duration:g} s take in steps of {pace.step:.3g} s"
        raise RobotError("max_steps", max_steps, required)


def why_ended_on_ground(status: int, event: int, names: Sequence[str]) -> str:
    """Why a run on compliant ground ended before its time; empty: it did not."""
    if status == AT_EVENT:
        return names[event]
    if status == OFF_THE_FIELD:
        return "a foot leaves the height field"
    stuck = "numbers are not finite any more: take a shorter step, or look for a joint that is singular"
    return stuck if status == STUCK else ""
