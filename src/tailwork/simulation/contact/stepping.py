"""Steps of runs on compliant ground, in lanes: gait tables, contact, events, samples.

Every lane has its own run with its own design, step, feet and clock; one whose run has ended takes the next.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Lanes, Reals, Struct, width
from tailwork.simulation.contact.friction import Feet, contact_step, impedance, let_go
from tailwork.simulation.integrate.compiled import LaneKernel, lane_constants
from tailwork.simulation.integrate.driver import AT_EVENT, DONE, FINISHED, LAST, MORE_ROOM, NEXT, PAUSED

T, H = 0, 1
"""Rows of the clock: time and step [s]."""
LIMIT, CHANGED, HAPPENED = 2, 3, 4
"""Of the queue: the step before which a single run returns, and how many changes and events it has written down."""


class Tables(Struct):
    """Tables of joint angles and rates, one after the other, a row for all runs or one for each."""

    count: int  # in a row
    targets: int  # coordinates of all tables of a row
    shapes: Ints  # by table of a row: samples, coordinates
    own: int  # 1: each run has its row; 0: one for all
    size: int  # numbers of a row
    periods: Reals  # [s]
    values: Reals  # of all tables, flat
    rates: Reals


class Parameters(Struct):
    """Parameters of a kernel, flat, a row a run."""

    values: Reals
    size: int


class GroundRuns(Struct):
    """What differs between runs, flat, a row each, and what becomes of them."""

    states: Reals
    control_inputs: Reals
    efforts: int  # how many control inputs
    lengths: Reals  # of steps [s]
    counts: Ints  # of steps
    modes: Ints  # (feet,) at the start
    anchors: Reals  # (feet, 3) at the start [m]
    marks: Ints  # steps after which samples are taken
    samples: int  # how many marks
    status: Ints
    event: Ints
    steps: Ints  # done
    final: Reals  # states
    work: Reals  # done by joints, ground and outside forces [J]
    fastest: Reals  # (2 + n): time [s], work so far [J] and state at the end of the fastest step
    recorded: Ints  # rows of `record`
    record: Reals  # (samples + 1, size); see `record_sample`
    record_size: int
    unsettled: Ints  # on rigid ground: rounds whose contacts did not settle


class GroundJob(Struct):
    """Runs on compliant ground, and where each lane stands."""

    feet: Feet
    tables: Tables
    runs: GroundRuns
    see_numbers: Parameters
    solve_numbers: Parameters
    watch_numbers: Parameters
    start: float  # [s]
    pause: int  # steps after which it returns
    watched: int
    watch: LaneKernel  # (…, step, contact impedances) → values that are to stay positive
    watch_constants: Lanes
    values: Lanes
    stops: Ints  # which of them end a run
    below: Ints  # (watched, lanes): which have happened and still hold
    clock: Lanes
    acceleration: Lanes  # of x over the last step
    queue: Ints
    run: Ints  # of each lane; −1: none
    step: Ints  # number of steps done by each lane
    sampled: Ints  # samples taken by each lane
    speeds: Reals  # of each lane: square of the greatest so far
    still: int  # numbers of a state that are no velocities
    own: Reals  # scratch: constants of one design
    logging: bool  # whether changes and events of a single run are written down
    room: int  # steps that there is room for in what follows
    changes: Reals  # rows: time [s], foot, its mode from there on
    happened: Reals  # rows: time [s], number of the event


def advance(job: GroundJob) -> int:
    """Steps of all runs. A call goes on where the last one returned; a single run returns at its limit, too, and when
    there is no room for what happens."""
    feet, run, lanes, rounds = job.feet, job.run, width(job.clock), 0
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
        for lane in range(lanes):
            if run[lane] >= 0:
                job.clock[T, lane] = job.start + job.step[lane] * job.clock[H, lane]
                now = job.clock[T, lane] + job.clock[H, lane]
                aim(job.tables, run[lane], now, lane, feet.inputs[target_row(job) :])
        contact_step(feet, job.clock, run)
        for lane in range(lanes):
            if run[lane] >= 0 and feet.status[lane] == FINISHED:
                take_step(job, lane)
        if job.watched > 0:
            watch(job)
        for lane in range(lanes):
            if run[lane] >= 0:
                after_step(job, lane, run[lane])


def target_row(job: GroundJob) -> int:
    """The first input that is a target of a servo."""
    return 1 + job.feet.n + job.runs.efforts


def begin(job: GroundJob, lane: int, r: int) -> None:
    """Put a run into a lane."""
    runs, feet, lanes = job.runs, job.feet, width(job.clock)
    job.step[lane] = 0
    job.sampled[lane] = 0
    job.clock[H, lane] = runs.lengths[r]
    job.clock[T, lane] = job.start
    for k in range(feet.n):
        feet.inputs[1 + k, lane] = runs.states[r * feet.n + k]
        job.acceleration[k, lane] = 0.0
    for k in range(runs.efforts):
        feet.inputs[1 + feet.n + k, lane] = runs.control_inputs[r * runs.efforts + k]
    see, solve, own = job.see_numbers, job.solve_numbers, job.watch_numbers
    lane_constants(feet.see, see.values[r * see.size :], job.own, lane, feet.see_constants)
    lane_constants(feet.solve, solve.values[r * solve.size :], job.own, lane, feet.solve_constants)
    if job.watched > 0:
        lane_constants(job.watch, own.values[r * own.size :], job.own, lane, job.watch_constants)
        for k in range(job.watched):
            job.below[k * lanes + lane] = 0
    for i in range(feet.count):
        feet.modes[i * lanes + lane] = runs.modes[r * feet.count + i]
        feet.together[i * lanes + lane] = -1
        feet.work[i, lane] = 0.0
        for k in range(3):
            feet.anchors[3 * i + k, lane] = runs.anchors[(r * feet.count + i) * 3 + k]
            feet.ends[3 * i + k, lane] = math.nan
            feet.forces[3 * i + k, lane] = 0.0
            feet.impulses[3 * i + k, lane] = 0.0
    feet.joint_work[0, lane] = 0.0
    job.speeds[lane] = -1.0
    runs.status[r] = FINISHED
    runs.event[r] = -1
    runs.recorded[r] = 0
    sample(job, lane, r)


def aim(tables: Tables, r: int, t: float, lane: int, targets: Lanes) -> None:
    """Angles, then rates, of all tables of run r at a time, by cubic Hermite interpolation."""
    row = r * tables.own
    start, place = row * tables.size, 0
    for k in range(tables.count):
        samples, size, period = tables.shapes[2 * k], tables.shapes[2 * k + 1], tables.periods[row * tables.count + k]
        spacing = period / samples
        phase = (t / period) % 1.0 * samples
        i = min(int(phase), samples - 1)
        s, after = phase - i, (i + 1) % samples
        for c in range(size):
            here, there = start + i * size + c, start + after * size + c
            u, v = tables.rates[here] * spacing, tables.rates[there] * spacing
            rise = tables.values[there] - tables.values[here]
            third, fourth = 3.0 * rise - 2.0 * u - v, u + v - 2.0 * rise
            targets[place + c, lane] = tables.values[here] + s * (u + s * (third + s * fourth))
            targets[tables.targets + place + c, lane] = (u + s * (2.0 * third + 3.0 * s * fourth)) / spacing
        start += samples * size
        place += size


def take_step(job: GroundJob, lane: int) -> None:
    """The state and the modes of the feet become those at the end of the step."""
    feet, lanes, per_step = job.feet, width(job.clock), 1.0 / job.clock[H, lane]
    for i in range(feet.count):
        mode = feet.modes_new[i * lanes + lane]
        if mode != feet.modes[i * lanes + lane] and job.logging:
            row = 3 * job.queue[CHANGED]
            job.changes[row] = job.clock[T, lane]
            job.changes[row + 1] = float(i)
            job.changes[row + 2] = float(mode)
            job.queue[CHANGED] += 1
        feet.modes[i * lanes + lane] = mode
    for k in range(feet.n):
        job.acceleration[k, lane] = (feet.answers[k, lane] - feet.inputs[1 + k, lane]) * per_step
        feet.inputs[1 + k, lane] = feet.answers[k, lane]
    job.step[lane] += 1


def watch(job: GroundJob) -> None:
    """Watched quantities where steps end, with the forces that the feet got."""
    feet = job.feet
    feet.inputs[0] = job.clock[T] + job.clock[H]
    for lane in range(width(job.clock)):
        for i in range(feet.count):
            let_go(feet, i, lane)
            for k in range(3):
                feet.inputs[impedance(feet, i) + k, lane] = feet.forces[3 * i + k, lane]
    job.watch.lanes(feet.inputs, job.watch_constants, job.values)


def after_step(job: GroundJob, lane: int, r: int) -> None:
    """Events, samples and the end of a run."""
    runs, feet, lanes, status = job.runs, job.feet, width(job.clock), job.feet.status[lane]
    for k in range(job.watched):
        under = not job.values[k, lane] >= 0.0
        if status != FINISHED:
            continue
        if under and job.below[k * lanes + lane] == 0 and job.logging:
            row = 2 * job.queue[HAPPENED]
            job.happened[row] = job.start + job.step[lane] * job.clock[H, lane]
            job.happened[row + 1] = float(k)
            job.queue[HAPPENED] += 1
        job.below[k * lanes + lane] = 1 if under else 0
        if under and job.stops[k] != 0:
            status = AT_EVENT
            runs.event[r] = k
    keep_fastest(job, lane, r)
    if status == FINISHED:
        if job.step[lane] == 1 and runs.recorded[r] > 0:
            record_contacts(job, lane, r, 0)  # at the start they are those of the first step
        sample(job, lane, r)
    elif job.sampled[lane] == 0 or runs.marks[r * runs.samples + job.sampled[lane] - 1] != job.step[lane]:
        record_sample(job, lane, r)
    if status != FINISHED or job.step[lane] == runs.counts[r]:
        runs.status[r] = status
        runs.steps[r] = job.step[lane]
        runs.work[r] = work_so_far(job, lane)
        for k in range(feet.n):
            runs.final[r * feet.n + k] = feet.inputs[1 + k, lane]
        job.run[lane] = -1


def work_so_far(job: GroundJob, lane: int) -> float:
    """Done by joints, outside forces and ground since the start [J]."""
    found = job.feet.joint_work[0, lane]
    for i in range(job.feet.count):
        found += job.feet.work[i, lane]
    return found


def keep_fastest(job: GroundJob, lane: int, r: int) -> None:
    """Keep the state if it is the fastest so far: there energy is balanced, and at the end."""
    runs, n, speed = job.runs, job.feet.n, 0.0
    for k in range(job.still, n):
        speed += job.feet.inputs[1 + k, lane] * job.feet.inputs[1 + k, lane]
    if speed > job.speeds[lane]:
        row = r * (n + 2)
        job.speeds[lane] = speed
        runs.fastest[row] = job.start + job.step[lane] * job.clock[H, lane]
        runs.fastest[row + 1] = work_so_far(job, lane)
        for k in range(n):
            runs.fastest[row + 2 + k] = job.feet.inputs[1 + k, lane]


def sample(job: GroundJob, lane: int, r: int) -> None:
    """Samples that are wanted after so many steps; several may be, where samples are closer than steps."""
    runs = job.runs
    while job.sampled[lane] < runs.samples and runs.marks[r * runs.samples + job.sampled[lane]] <= job.step[lane]:
        record_sample(job, lane, r)
        job.sampled[lane] += 1


def record_sample(job: GroundJob, lane: int, r: int) -> None:
    """Write a row: time, state, efforts, impulses, work of the feet, work of the joints; then `record_contacts`."""
    runs, feet = job.runs, job.feet
    s = runs.recorded[r]
    row = runs.record[(r * (runs.samples + 1) + s) * runs.record_size :]
    row[0] = job.start + job.step[lane] * job.clock[H, lane]
    at = 1 + feet.n + runs.efforts
    for k in range(1, at):
        row[k] = feet.inputs[k, lane]
    for k in range(3 * feet.count):
        row[at + k] = feet.impulses[k, lane]
    for i in range(feet.count):
        row[at + 3 * feet.count + i] = feet.work[i, lane]
    row[at + 4 * feet.count] = feet.joint_work[0, lane]
    record_contacts(job, lane, r, s)
    runs.recorded[r] = s + 1


def record_contacts(job: GroundJob, lane: int, r: int, s: int) -> None:
    """Write the end of a row: forces, anchors and modes of the feet, acceleration of the state."""
    runs, feet, count = job.runs, job.feet, job.feet.count
    row = runs.record[(r * (runs.samples + 1) + s) * runs.record_size + 2 + feet.n + runs.efforts + 4 * count :]
    for k in range(3 * count):
        row[k] = feet.forces[k, lane]
        row[3 * count + k] = feet.anchors[k, lane]
    for i in range(count):
        row[6 * count + i] = float(feet.modes[i * width(job.clock) + lane])
    for k in range(feet.n):
        row[7 * count + k] = job.acceleration[k, lane]
