"""Rounds of runs on rigid ground, in lanes: gait tables, contacts, events, samples.

Every lane has its own run with its own design, contacts and clock; one whose run has ended takes the next. See
`mechanics.rigid.step` for what a round is.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Lanes, Reals, Struct, width
from tailwork.model.contact_solver import (
    POINT_IMPULSE,
    STOP_IMPULSE,
    Contacts,
    record_at,
    settle,
)
from tailwork.simulation.contact.friction import OFF_THE_FIELD, RUNAWAY
from tailwork.simulation.contact.ground import AIR, SLIP, STICK, Field, surface
from tailwork.simulation.contact.stepping import CHANGED, HAPPENED, LIMIT, GroundRuns, Parameters, Tables, aim
from tailwork.simulation.integrate.compiled import LaneKernel, lane_constants
from tailwork.simulation.integrate.driver import AT_EVENT, DONE, FINISHED, LAST, MORE_ROOM, NEXT, PAUSED, STUCK

TOLERANCE, MOST_SWEEPS = 1e-5, 50
"""Contacts have settled when no sweep changes a velocity by more than this [m/s]; after so many they are left as they
are, as where points of one body share a load in no certain way."""
STEP, LEFT, HIT, LOCATED, TRIES = 0, 1, 2, 3, 4
"""Of the clock that a round leaves for the next."""
FASTEST = 1e5
"""A run ends where velocities come to more than this [rad/s, m/s]: a joint is singular, or a step far too long."""
TOUCHED = 1e-150
"""Impulse of a point that bears load at the start, nobody knows how much [N s]."""
STRUCK = 5
"""Of the queue: how many impacts a single run has written down."""


class Places(Struct):
    """Where things are: of the inputs, of what `touch` gives, and of what `move` gives."""

    known: int  # inputs: the first that is not [t, x, controls]; step, hit, nominal, located, friction, restitution, …
    impulses: int  # inputs: impulses of the round before, …
    slip: int  # … s, …
    ahead: int  # … velocities in the middle of the substep, …
    planes: int  # … and the ground under each point: height, normal
    w: int  # of `touch`
    handed: int
    late: int  # after what it hands over: impulses, w, left, tries
    late_ahead: int  # of `move`
    clock: int
    over: int
    q: int
    pushed: int  # impulses, inertial frame
    work: int
    joint_work: int
    efforts: int


class RigidJob(Struct):
    """Runs on rigid ground, and where each lane stands."""

    contacts: Contacts
    tables: Tables
    runs: GroundRuns
    at: Places
    field: Field
    n: int  # numbers of a state
    n_q: int  # of its coordinates
    rows: int  # of all contacts
    prescribed: int  # coordinates
    friction: float
    restitution: float
    start: float  # [s]
    pause: int  # rounds after which it returns
    see: LaneKernel  # → places of the points
    see_numbers: Parameters
    see_constants: Lanes
    touch: LaneKernel
    numbers: Parameters  # of `touch` and `move`
    touch_constants: Lanes
    move: LaneKernel
    move_constants: Lanes
    watched: int
    watch: LaneKernel  # → values that are to stay positive
    watch_numbers: Parameters
    watch_constants: Lanes
    stops: Ints  # which of them end a run
    below: Ints  # (watched, lanes): which have happened and still hold
    inputs: Lanes
    work: Lanes  # what `touch` gives, then what `move` takes besides
    answers: Lanes  # of `move`
    seen: Lanes  # places of the points
    watch_inputs: Lanes
    values: Lanes
    state: Lanes  # q and v at the end of the last nominal step
    acceleration: Lanes  # of x over it
    forces: Lanes  # (points × 3): mean of the ground over it, impacts left out [N]
    gathered: Lanes  # (points × 3): their impulses so far in this one [N s]
    pushed: Lanes  # (points × 3): impulses since the start [N s]
    ground_work: Lanes  # (points,): since the start [J]
    joint_work: Lanes  # (1,)
    modes: Ints  # (contacts, lanes)
    status: Ints
    unsettled: Ints  # rounds of each lane whose contacts did not settle
    queue: Ints
    run: Ints  # of each lane; −1: none
    step: Ints  # nominal steps done by each lane
    sampled: Ints
    speeds: Reals  # of each lane: square of the greatest so far
    own: Reals  # scratch: constants of one design
    logging: bool  # whether changes, events and impacts of a single run are written down
    room: int  # rounds that there is room for in what follows
    changes: Reals  # rows: time [s], point or joint, its mode from there on
    happened: Reals  # rows: time [s], number of the event
    struck: Reals  # rows: time [s], energy lost [J], impulses of all points (× 3) [N s]


def advance(job: RigidJob) -> int:
    """Rounds of all runs. A call goes on where the last one returned; a single run returns at its limit, too, and when
    there is no room for what happens."""
    run, lanes, rounds = job.run, width(job.inputs), 0
    while True:
        active = False
        for lane in range(lanes):
            if run[lane] < 0 and job.queue[NEXT] < job.queue[LAST]:
                run[lane] = job.queue[NEXT]
                job.queue[NEXT] += 1
                begin(job, lane, run[lane])
            active = active or run[lane] >= 0
        if not active:
            return DONE
        if (run[0] >= 0 and job.step[0] == job.queue[LIMIT]) or (job.logging and rounds == job.room):
            return MORE_ROOM
        if rounds == job.pause:
            return PAUSED
        rounds += 1
        contact_round(job)
        for lane in range(lanes):
            if run[lane] >= 0:
                after_round(job, lane, run[lane])


def begin(job: RigidJob, lane: int, r: int) -> None:
    """Put a run into a lane. Its first round is an impact, so that points which touch and approach are struck."""
    runs, at, inputs, lanes = job.runs, job.at, job.inputs, width(job.inputs)
    count, points = job.contacts.points + job.contacts.stops, job.contacts.points
    job.step[lane] = 0
    job.sampled[lane] = 0
    job.status[lane] = FINISHED
    job.unsettled[lane] = 0
    for k in range(job.n):
        inputs[1 + k, lane] = runs.states[r * job.n + k]
        job.state[k, lane] = runs.states[r * job.n + k]
        job.acceleration[k, lane] = 0.0
    for k in range(job.n - job.n_q):
        inputs[at.ahead + k, lane] = runs.states[r * job.n + job.n_q + k]
    for k in range(runs.efforts):
        inputs[1 + job.n + k, lane] = runs.control_inputs[r * runs.efforts + k]
    inputs[at.known, lane] = 0.0
    inputs[at.known + 1, lane] = 1.0
    inputs[at.known + 2, lane] = runs.lengths[r]
    inputs[at.known + 3, lane] = 0.0
    inputs[at.known + 4, lane] = job.friction
    inputs[at.known + 5, lane] = job.restitution
    left = at.late + job.rows + 6
    job.work[left, lane] = runs.lengths[r]
    job.work[left + 1, lane] = 0.0
    for k in range(job.rows):
        inputs[at.impulses + k, lane] = 0.0
    for i in range(count):
        mode = AIR if i >= points else runs.modes[r * points + i]
        job.modes[i * lanes + lane] = mode
        if mode != AIR:  # it bore load, however much
            inputs[at.impulses + 3 * i + 2, lane] = TOUCHED
    for i in range(points):
        inputs[at.slip + i, lane] = 0.0
        job.ground_work[i, lane] = 0.0
        for k in range(3):
            job.forces[3 * i + k, lane] = 0.0
            job.gathered[3 * i + k, lane] = 0.0
            job.pushed[3 * i + k, lane] = 0.0
    job.joint_work[0, lane] = 0.0
    job.speeds[lane] = -1.0
    for k in range(job.prescribed):
        job.watch_inputs[at.known + k, lane] = 0.0
    lane_constants(job.touch, job.numbers.values[r * job.numbers.size :], job.own, lane, job.touch_constants)
    lane_constants(job.move, job.numbers.values[r * job.numbers.size :], job.own, lane, job.move_constants)
    if job.field.count_x > 0:
        lane_constants(job.see, job.see_numbers.values[r * job.see_numbers.size :], job.own, lane, job.see_constants)
    if job.watched > 0:
        own = job.watch_numbers.values[r * job.watch_numbers.size :]
        lane_constants(job.watch, own, job.own, lane, job.watch_constants)
        for k in range(job.watched):
            job.below[k * lanes + lane] = 0
    runs.status[r] = FINISHED
    runs.event[r] = -1
    runs.recorded[r] = 0
    sample(job, lane, r)


def contact_round(job: RigidJob) -> None:
    """One round of all lanes: from the state at the middle of the substep to that of the next."""
    at, contacts, inputs, work, answers = job.at, job.contacts, job.inputs, job.work, job.answers
    rows, points = job.rows, contacts.points
    left = at.late + rows + 6
    for lane in range(width(inputs)):
        contacts.busy[0, lane] = 0.0
        if job.run[lane] >= 0:
            contacts.busy[0, lane] = 1.0
            nominal = inputs[at.known + 2, lane]
            t = job.start + (job.step[lane] + 1) * nominal - work[left, lane] - 0.5 * inputs[at.known, lane]
            inputs[0, lane] = t
            aim(job.tables, job.run[lane], t, lane, inputs[1 + job.n + job.runs.efforts :])
    if job.field.count_x > 0:
        under(job)
    job.touch.lanes(inputs, job.touch_constants, work)
    settle(contacts, TOLERANCE, MOST_SWEEPS)
    for i in range(points):
        record = record_at(contacts, i) + POINT_IMPULSE
        for k in range(3):
            work[at.late + 3 * i + k] = work[record + k]
            inputs[at.impulses + 3 * i + k] = work[record + k]
        inputs[at.slip + i] = work[record + 3]
    for i in range(contacts.stops):
        record = record_at(contacts, points + i) + STOP_IMPULSE
        work[at.late + 3 * points + i] = work[record]
        inputs[at.impulses + 3 * points + i] = work[record]
    for k in range(6):
        work[at.late + rows + k] = work[at.w + k]
    job.move.lanes(work[at.handed :], job.move_constants, answers)
    for k in range(job.n):
        inputs[1 + k] = answers[k]
    for k in range(job.n - job.n_q):
        inputs[at.ahead + k] = answers[at.late_ahead + k]
    for k in range(3 * points):
        job.pushed[k] = job.pushed[k] + answers[at.pushed + k]
        job.gathered[k] = job.gathered[k] + (1.0 - inputs[at.known + 1]) * answers[at.pushed + k]
    for i in range(points):
        job.ground_work[i] = job.ground_work[i] + answers[at.work + i]
    job.joint_work[0] = job.joint_work[0] + answers[at.joint_work]


def under(job: RigidJob) -> None:
    """The ground under every point."""
    planes = job.inputs[job.at.planes :]
    job.see.lanes(job.inputs, job.see_constants, job.seen)
    for lane in range(width(job.inputs)):
        for i in range(job.contacts.points):
            x, y = job.seen[3 * i, lane], job.seen[3 * i + 1, lane]
            height, by_x, by_y = surface(job.field, x, y)
            if not math.isfinite(height) and job.status[lane] == FINISHED:
                job.status[lane] = OFF_THE_FIELD if math.isfinite(x + y) else STUCK
            up = 1.0 / math.sqrt(1.0 + by_x * by_x + by_y * by_y)
            planes[4 * i, lane] = height
            planes[4 * i + 1, lane] = -by_x * up
            planes[4 * i + 2, lane] = -by_y * up
            planes[4 * i + 3, lane] = up


def after_round(job: RigidJob, lane: int, r: int) -> None:
    """Who touches now, the clock, and where a nominal step is over, what belongs to its end."""
    at, inputs, work, answers = job.at, job.inputs, job.work, job.answers
    left, total, speed = at.late + job.rows + 6, 0.0, 0.0
    if job.contacts.busy[0, lane] > 0.0:
        job.unsettled[lane] += 1
    for k in range(at.over):
        total += answers[k, lane]
    for k in range(job.n_q, job.n):
        speed += answers[k, lane] * answers[k, lane]
    if job.status[lane] == FINISHED and not (math.isfinite(total) and speed < FASTEST * FASTEST):
        job.status[lane] = RUNAWAY
    if job.status[lane] == FINISHED:
        touched(job, lane)
    inputs[at.known, lane] = answers[at.clock + STEP, lane]
    inputs[at.known + 1, lane] = answers[at.clock + HIT, lane]
    inputs[at.known + 3, lane] = answers[at.clock + LOCATED, lane]
    work[left, lane] = answers[at.clock + LEFT, lane]
    work[left + 1, lane] = answers[at.clock + TRIES, lane]
    if job.status[lane] != FINISHED:
        end_run(job, lane, r)
    elif answers[at.over, lane] > 0.5:
        step_over(job, lane, r)


def touched(job: RigidJob, lane: int) -> None:
    """What the contacts of a lane do from now on; written down where they begin to do something else."""
    at, inputs, points, lanes = job.at, job.inputs, job.contacts.points, width(job.inputs)
    hit, loss, any_struck = inputs[at.known + 1, lane] > 0.5, 0.0, False
    now = inputs[0, lane] + 0.5 * inputs[at.known, lane]
    for i in range(points + job.contacts.stops):
        bears = inputs[at.impulses + (3 * i + 2 if i < points else 2 * points + i), lane] > 0.0
        here, mode = i * lanes + lane, AIR
        if bears:
            mode = SLIP if i < points and job.contacts.slips[min(i, points - 1), lane] > 0.5 else STICK
        if i < points:
            loss -= job.answers[at.work + i, lane]
            any_struck = any_struck or (hit and bears)
        if hit and not bears:  # an impact lifts what bears load for an instant
            continue
        if mode != job.modes[here] and job.logging:
            row = 3 * job.queue[CHANGED]
            job.changes[row] = now
            job.changes[row + 1] = float(i)
            job.changes[row + 2] = float(mode)
            job.queue[CHANGED] += 1
        job.modes[here] = mode
    if any_struck and job.logging:
        row = (2 + 3 * points) * job.queue[STRUCK]
        job.struck[row] = now
        job.struck[row + 1] = loss
        for k in range(3 * points):
            job.struck[row + 2 + k] = job.answers[at.pushed + k, lane]
        job.queue[STRUCK] += 1


def step_over(job: RigidJob, lane: int, r: int) -> None:
    """The end of a nominal step: its state, forces, events, samples, and the end of the run."""
    at, answers, runs = job.at, job.answers, job.runs
    per_step = 1.0 / job.inputs[at.known + 2, lane]
    for k in range(job.n):
        now = answers[at.q + k, lane] if k < job.n_q else answers[k, lane]
        job.acceleration[k, lane] = (now - job.state[k, lane]) * per_step
        job.state[k, lane] = now
    for k in range(3 * job.contacts.points):
        job.forces[k, lane] = job.gathered[k, lane] * per_step
        job.gathered[k, lane] = 0.0
    job.step[lane] += 1
    keep_fastest(job, lane, r)
    if job.watched > 0:
        watch(job, lane, r)
    if job.status[lane] == FINISHED:
        if job.step[lane] == 1 and runs.recorded[r] > 0:
            record_contacts(job, lane, r, 0)  # at the start they are those of the first step
        sample(job, lane, r)
    if job.status[lane] != FINISHED or job.step[lane] == runs.counts[r]:
        end_run(job, lane, r)


def watch(job: RigidJob, lane: int, r: int) -> None:
    """Watched quantities where a nominal step ends."""
    at, given, lanes = job.at, job.watch_inputs, width(job.inputs)
    for k in range(at.known):
        given[k, lane] = job.inputs[k, lane]
    for k in range(job.n):
        given[1 + k, lane] = job.state[k, lane]
    given[0, lane] = job.start + job.step[lane] * job.inputs[at.known + 2, lane]
    aim(job.tables, r, given[0, lane], lane, given[1 + job.n + job.runs.efforts :])
    for k in range(job.prescribed):
        given[at.known + k, lane] = job.answers[at.efforts + k, lane]
    job.watch.lanes(given, job.watch_constants, job.values)
    for k in range(job.watched):
        below = not job.values[k, lane] >= 0.0
        if job.status[lane] != FINISHED:
            continue
        if below and job.below[k * lanes + lane] == 0 and job.logging:
            row = 2 * job.queue[HAPPENED]
            job.happened[row] = given[0, lane]
            job.happened[row + 1] = float(k)
            job.queue[HAPPENED] += 1
        job.below[k * lanes + lane] = 1 if below else 0
        if below and job.stops[k] != 0:
            job.status[lane] = AT_EVENT
            job.runs.event[r] = k


def end_run(job: RigidJob, lane: int, r: int) -> None:
    """Take a run out of its lane."""
    runs, status = job.runs, job.status[lane]
    marked = job.sampled[lane] > 0 and runs.marks[r * runs.samples + job.sampled[lane] - 1] == job.step[lane]
    if status != FINISHED and not marked:
        record_sample(job, lane, r)
    runs.status[r] = status
    runs.steps[r] = job.step[lane]
    runs.unsettled[r] = job.unsettled[lane]
    runs.work[r] = work_so_far(job, lane)
    for k in range(job.n):
        runs.final[r * job.n + k] = job.state[k, lane]
    job.run[lane] = -1


def work_so_far(job: RigidJob, lane: int) -> float:
    """Done by joints, outside forces and ground since the start [J]."""
    found = job.joint_work[0, lane]
    for i in range(job.contacts.points):
        found += job.ground_work[i, lane]
    return found


def keep_fastest(job: RigidJob, lane: int, r: int) -> None:
    """Keep the state if it is the fastest so far: there energy is balanced, and at the end."""
    runs, speed = job.runs, 0.0
    for k in range(job.n_q, job.n):
        speed += job.state[k, lane] * job.state[k, lane]
    if speed > job.speeds[lane]:
        row = r * (job.n + 2)
        job.speeds[lane] = speed
        runs.fastest[row] = job.start + job.step[lane] * runs.lengths[r]
        runs.fastest[row + 1] = work_so_far(job, lane)
        for k in range(job.n):
            runs.fastest[row + 2 + k] = job.state[k, lane]


def sample(job: RigidJob, lane: int, r: int) -> None:
    """Samples that are wanted after so many steps; several may be, where samples are closer than steps."""
    runs = job.runs
    while job.sampled[lane] < runs.samples and runs.marks[r * runs.samples + job.sampled[lane]] <= job.step[lane]:
        record_sample(job, lane, r)
        job.sampled[lane] += 1


def record_sample(job: RigidJob, lane: int, r: int) -> None:
    """Write a row: time, state, efforts, impulses, work of the ground, work of the joints; then `record_contacts`."""
    runs, points = job.runs, job.contacts.points
    s = runs.recorded[r]
    row = runs.record[(r * (runs.samples + 1) + s) * runs.record_size :]
    row[0] = job.start + job.step[lane] * runs.lengths[r]
    for k in range(job.n):
        row[1 + k] = job.state[k, lane]
    for k in range(runs.efforts):
        row[1 + job.n + k] = job.inputs[1 + job.n + k, lane]
    at = 1 + job.n + runs.efforts
    for k in range(3 * points):
        row[at + k] = job.pushed[k, lane]
    for i in range(points):
        row[at + 3 * points + i] = job.ground_work[i, lane]
    row[at + 4 * points] = job.joint_work[0, lane]
    record_contacts(job, lane, r, s)
    runs.recorded[r] = s + 1


def record_contacts(job: RigidJob, lane: int, r: int, s: int) -> None:
    """Write the end of a row: forces, no anchors, modes of the points, acceleration of the state."""
    runs, points = job.runs, job.contacts.points
    row = runs.record[(r * (runs.samples + 1) + s) * runs.record_size + 2 + job.n + runs.efforts + 4 * points :]
    for k in range(3 * points):
        row[k] = job.forces[k, lane]
        row[3 * points + k] = math.nan
    for i in range(points):
        row[6 * points + i] = float(job.modes[i * width(job.inputs) + lane])
    for k in range(job.n):
        row[7 * points + k] = job.acceleration[k, lane]
