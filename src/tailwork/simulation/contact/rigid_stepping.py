"""Rounds of runs on rigid ground, in lanes; see `mechanics.rigid.step` for what a round is."""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Lanes, Reals, Struct, where, width
from tailwork.model.contact.gauss_seidel import (
    POINT_IMPULSE,
    STOP_IMPULSE,
    ContactLanes,
    record_at,
    settle_contacts,
)
from tailwork.model.contact.newton import Cones
from tailwork.simulation.contact.ground import AIR, SLIP, STICK, Field, surface
from tailwork.simulation.contact.stepping import (
    GOING,
    LaneRuns,
    Parameters,
    after_step,
    aim,
    change,
    end_run,
    halted,
    next_run,
    take_samples,
)
from tailwork.simulation.integrate.compiled import LaneKernel, lane_constants
from tailwork.simulation.stopping import FINISHED, OFF_THE_FIELD, RUNAWAY, STUCK

TOLERANCE, MOST_SWEEPS, NEWTON_STARTS = 1e-5, 20, 3
"""Contacts have settled when no sweep changes a velocity by more than this [m/s]. After so many sweeps Newton's method
goes on, which may begin so often; of what it does not settle either, it gives the nearest, and the run counts it."""
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

    lanes: LaneRuns
    contacts: ContactLanes
    cones: Cones  # room for Newton's method
    at: Places
    field: Field
    n: int  # numbers of a state
    n_q: int  # of its coordinates
    rows: int  # of all contacts
    prescribed: int  # coordinates
    laws: Parameters  # of the ground; see RigidGround.parameter_names
    tolerance: float  # of contacts [m/s]
    see: LaneKernel  # → places of the points
    see_numbers: Parameters
    see_constants: Lanes
    touch: LaneKernel
    numbers: Parameters  # of `touch` and `move`
    touch_constants: Lanes
    move: LaneKernel
    move_constants: Lanes
    inputs: Lanes
    work: Lanes  # what `touch` gives, then what `move` takes besides
    answers: Lanes  # of `move`
    seen: Lanes  # places of the points
    watch_inputs: Lanes
    gathered: Lanes  # (points × 3): impulses so far in this nominal step, impacts left out [N s]
    status: Ints
    over: Ints  # scratch: lanes in which a nominal step is over
    struck: Reals  # rows: time [s], energy lost [J], impulses of all points (× 3) [N s]


def advance(job: RigidJob) -> int:
    """Rounds of all runs. A call goes on where the last one returned."""
    lanes, rounds = job.lanes, 0
    while True:
        for lane in range(width(job.inputs)):
            r = next_run(lanes, lane)
            if r >= 0:
                begin(job, lane, r)
        found = halted(lanes, rounds)
        if found != GOING:
            return found
        rounds += 1
        whole_round(job)


def whole_round(job: RigidJob) -> None:
    """A round of all lanes, and what belongs to its end."""
    lanes, any_over = job.lanes, False
    contact_round(job)
    for lane in range(width(job.inputs)):
        job.over[lane] = 0
        if lanes.run[lane] >= 0:
            after_round(job, lane, lanes.run[lane])
            any_over = any_over or job.over[lane] != 0
    if any_over and lanes.watched > 0:
        watch(job)
    for lane in range(width(job.inputs)):
        if job.over[lane] != 0:
            after_step(lanes, lane, lanes.run[lane], FINISHED)


def begin(job: RigidJob, lane: int, r: int) -> None:
    """The start of a run in a lane. Its first round is an impact: points that touch and approach are struck."""
    runs, at, inputs, points = job.lanes.runs, job.at, job.inputs, job.contacts.points
    modes, count, own = job.lanes.modes, width(job.inputs), job.lanes.own
    job.status[lane] = FINISHED
    for k in range(job.n):
        inputs[1 + k, lane] = job.lanes.state[k, lane]
    for k in range(job.n - job.n_q):
        inputs[at.ahead + k, lane] = job.lanes.state[job.n_q + k, lane]
    inputs[at.known, lane] = 0.0
    inputs[at.known + 1, lane] = 1.0
    inputs[at.known + 2, lane] = runs.lengths[r]
    inputs[at.known + 3, lane] = 0.0
    for k in range(job.laws.size):  # friction and restitution
        inputs[at.known + 4 + k, lane] = job.laws.values[r * job.laws.size + k]
    left = at.late + job.rows + 6
    job.work[left, lane] = runs.lengths[r]
    job.work[left + 1, lane] = 0.0
    for k in range(job.rows):
        inputs[at.impulses + k, lane] = 0.0
    for i in range(job.contacts.stops):
        modes[(points + i) * count + lane] = AIR
    for i in range(points):
        inputs[at.slip + i, lane] = 0.0
        if modes[i * count + lane] != AIR:  # it bore load, however much
            inputs[at.impulses + 3 * i + 2, lane] = TOUCHED
        for k in range(3):
            job.gathered[3 * i + k, lane] = 0.0
    for k in range(job.prescribed):
        job.watch_inputs[at.known + k, lane] = 0.0
    lane_constants(job.touch, job.numbers.values[r * job.numbers.size :], own, lane, job.touch_constants)
    lane_constants(job.move, job.numbers.values[r * job.numbers.size :], own, lane, job.move_constants)
    if job.field.count_x > 0:
        lane_constants(job.see, job.see_numbers.values[r * job.see_numbers.size :], own, lane, job.see_constants)
    take_samples(job.lanes, lane, r)


def contact_round(job: RigidJob) -> None:
    """One round of all lanes: from the state at the middle of the substep to that of the next."""
    at, contacts, inputs, work, answers = job.at, job.contacts, job.inputs, job.work, job.answers
    rows, points, lanes, impact = job.rows, contacts.points, job.lanes, False
    left = at.late + rows + 6
    for lane in range(width(inputs)):
        contacts.busy[0, lane] = 0.0
        if lanes.run[lane] >= 0:
            contacts.busy[0, lane] = 1.0
            impact = impact or inputs[at.known + 1, lane] > 0.5
            nominal = inputs[at.known + 2, lane]
            t = lanes.start + (lanes.step[lane] + 1) * nominal - work[left, lane] - 0.5 * inputs[at.known, lane]
            inputs[0, lane] = t
            aim(lanes.tables, lanes.run[lane], t, lane, inputs[1 + job.n + lanes.runs.efforts :])
    if job.field.count_x > 0:
        under(job)
    job.touch.lanes(inputs, job.touch_constants, work)
    settle_contacts(contacts, job.cones, job.tolerance, MOST_SWEEPS, NEWTON_STARTS)
    for i in range(points):
        record = record_at(contacts, i) + POINT_IMPULSE
        for k in range(3):
            work[at.late + 3 * i + k] = work[record + k]
        carry(inputs[at.impulses + 3 * i :], work[record:], 3, impact, inputs[at.known + 1 :])
        inputs[at.slip + i] = work[record + 3]
    for i in range(contacts.stops):
        record = record_at(contacts, points + i) + STOP_IMPULSE
        work[at.late + 3 * points + i] = work[record]
        carry(inputs[at.impulses + 3 * points + i :], work[record:], 1, impact, inputs[at.known + 1 :])
    for k in range(6):
        work[at.late + rows + k] = work[at.w + k]
    job.move.lanes(work[at.handed :], job.move_constants, answers)
    for k in range(job.n):
        inputs[1 + k] = answers[k]
    for k in range(job.n - job.n_q):
        inputs[at.ahead + k] = answers[at.late_ahead + k]
    for k in range(3 * points):
        lanes.impulses[k] = lanes.impulses[k] + answers[at.pushed + k]
        job.gathered[k] = job.gathered[k] + (1.0 - inputs[at.known + 1]) * answers[at.pushed + k]
    for i in range(points):
        lanes.work[i] = lanes.work[i] + answers[at.work + i]
    lanes.joint_work[0] = lanes.joint_work[0] + answers[at.joint_work]


def carry(last: Lanes, impulse: Lanes, size: int, impact: bool, hit: Lanes) -> None:
    """What a round leaves of the impulse of a contact to the next: its own; but after an impact (in some lane; `hit` of
    each) that from before, where there was any: a contact that bears load stays closed through impacts elsewhere."""
    for k in range(size):
        if impact:
            last[k] = where(hit[0] > 0.5, where(last[size - 1] > 0.0, last[k], impulse[k]), impulse[k])
        else:
            last[k] = impulse[k]


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
    """Who touches now, the clock, and where a nominal step is over, the state at its end."""
    at, inputs, work, answers = job.at, job.inputs, job.work, job.answers
    left, total, speed = at.late + job.rows + 6, 0.0, 0.0
    if job.contacts.busy[0, lane] > 0.0:
        job.lanes.runs.unsettled[r] += 1
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
        end_run(job.lanes, lane, r, job.status[lane])
    elif answers[at.over, lane] > 0.5:
        step_over(job, lane)


def touched(job: RigidJob, lane: int) -> None:
    """What the contacts of a lane do from now on; impacts are written down."""
    at, inputs, points, lanes = job.at, job.inputs, job.contacts.points, job.lanes
    hit, loss, any_struck = inputs[at.known + 1, lane] > 0.5, 0.0, False
    now = inputs[0, lane] + 0.5 * inputs[at.known, lane]
    for i in range(points + job.contacts.stops):
        bears = job.work[at.late + (3 * i + 2 if i < points else 2 * points + i), lane] > 0.0
        mode = AIR
        if bears:
            mode = SLIP if i < points and job.contacts.slips[min(i, points - 1), lane] > 0.5 else STICK
        if i < points:
            loss -= job.answers[at.work + i, lane]
            any_struck = any_struck or (hit and bears)
        if bears or not hit:  # an impact lifts what bears load for an instant
            change(lanes, i, lane, now, mode)
    if any_struck and lanes.logging:
        row = (2 + 3 * points) * lanes.queue[STRUCK]
        job.struck[row] = now
        job.struck[row + 1] = loss
        for k in range(3 * points):
            job.struck[row + 2 + k] = job.answers[at.pushed + k, lane]
        lanes.queue[STRUCK] += 1


def step_over(job: RigidJob, lane: int) -> None:
    """The end of a nominal step: its state and forces."""
    at, answers, lanes = job.at, job.answers, job.lanes
    per_step = 1.0 / job.inputs[at.known + 2, lane]
    for k in range(job.n):
        now = answers[at.q + k, lane] if k < job.n_q else answers[k, lane]
        lanes.acceleration[k, lane] = (now - lanes.state[k, lane]) * per_step
        lanes.state[k, lane] = now
    for k in range(3 * job.contacts.points):
        lanes.forces[k, lane] = job.gathered[k, lane] * per_step
        job.gathered[k, lane] = 0.0
    lanes.step[lane] += 1
    job.over[lane] = 1


def watch(job: RigidJob) -> None:
    """Watched quantities of lanes in which a nominal step ends."""
    at, given, lanes = job.at, job.watch_inputs, job.lanes
    for lane in range(width(job.inputs)):
        if job.over[lane] == 0:
            continue
        for k in range(at.known):
            given[k, lane] = job.inputs[k, lane]
        for k in range(job.n):
            given[1 + k, lane] = lanes.state[k, lane]
        given[0, lane] = lanes.start + lanes.step[lane] * job.inputs[at.known + 2, lane]
        aim(lanes.tables, lanes.run[lane], given[0, lane], lane, given[1 + job.n + lanes.runs.efforts :])
        for k in range(job.prescribed):
            given[at.known + k, lane] = job.answers[at.efforts + k, lane]
    lanes.watch.lanes(given, lanes.watch_constants, lanes.values)
