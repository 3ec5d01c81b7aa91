"""The loop over steps from event to event, for one run; a driver.

Steps are those of an explicit Runge–Kutta method with the modes as they are. Where a guard of a mode falls below zero
within a step, the instant is found on the dense output, the step is made again up to it, and modes are decided anew.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Reals, Struct
from tailwork.simulation.event_driven.constrained import (
    CREEP,
    FREE,
    SLIP,
    STICK,
    Contacts,
    contact_of,
    derivative,
    first_row,
    inertial,
    look,
    normal_row,
    slip_speed,
)
from tailwork.simulation.event_driven.impacts import (
    FASTER,
    HALT,
    LIFT,
    SLIDE,
    SLOWER,
    TOUCH,
    Touching,
    anchor,
    close,
    settle,
)
from tailwork.simulation.integrate.compiled import LaneKernel, Method
from tailwork.simulation.integrate.driver import (
    AT_EVENT,
    DONE,
    FASTEST,
    FINISHED,
    MORE_ROOM,
    PAUSED,
    SAFETY,
    SLOWEST,
    STUCK,
    TOO_LONG,
)
from tailwork.simulation.integrate.steps import dense_weight

CHATTER = 4
"""Why a run ends, too: contacts change too often."""
GUARDS = 3
"""Of each contact."""
HEAD = 8
"""Numbers of an event before those of its contacts."""
SHORTEST = 1e-13
"""A shorter way to an event is none; steps that would have to be shorter are given up [s]."""
T, H, END, OFF = 0, 1, 2, 3
"""Of the clock: time, step to try next, end of the span [s]; farthest that closed contacts were off before they were
closed again [m]."""
STEPS, REJECTED, EVENTS, SAMPLED, HAPPENED, MOST, STATUS, STOPPED = 0, 1, 2, 3, 4, 5, 6, 7
"""Of the counts: steps and events so far, samples taken, watched quantities that fell below zero, most steps, and how
the run ended."""


class Quadrature(Struct):
    """What is integrated beside the state, by the same weights: impulses of all rows, of points in the inertial frame
    [N s], work on each contact [J], of the joints and of outside forces [J]."""

    size: int
    total: Reals  # until now
    rates: Reals  # (stages, size)
    first: Reals  # rates where the step begins


class Log(Struct):
    """Room for what is written down."""

    events: int  # there is room for
    event_size: int
    rows: (
        Reals  # of events: time [s], contact, what, impact, loss [J], contacts that closed, sweeps, steps so far; modes
    )
    # after it; impulses; state before; state after
    happened: Reals  # of watched quantities: time [s], number
    happenings: int
    sample_times: Reals  # [s]
    samples: int
    sample_size: int
    sampled: Reals  # time, state, held, planes, quadrature, forces, modes, x-dot
    steps: int  # there is room for; 0: they are not kept
    step_size: int
    kept: Reals  # of steps: time, length [s], state, stages, modes, directions, forces of the stages


class Job(Struct):
    """A run, and where it stands."""

    touching: Touching
    contacts: Contacts
    method: Method
    rtol: float
    atol: float
    longest: float  # step [s]
    most_events: int  # within `window`
    window: float  # [s]
    pause: int  # steps after which it returns
    watched: int
    watch: LaneKernel
    watch_constants: Reals
    stops: Ints
    through: Ints  # by contact: watched quantity below zero while it passes through the ground; −1: none
    lands: Ints  # by contact: what is watched is that it lands; −1: it is not
    clock: Reals
    counts: Ints
    x: Reals
    first: Reals
    new: Reals
    error: Reals
    u: Reals  # (stages, n)
    point: Reals
    quadrature: Quadrature
    log: Log
    values: Reals  # of guards and watched quantities, where a step begins
    values_new: Reals
    probe: Reals
    falling: Reals  # normal velocities where a step begins [m/s]
    falling_new: Reals
    scratch: Reals
    was_free: Ints
    pushed: Reals  # (stages, rows): forces of the stages, in the contacts' frames
    pushed_first: Reals  # (rows,): where the step begins
    impulse: Reals  # of an impact, as the quadrature counts it


def begin(job: Job) -> int:
    """Modes of the contacts at the start, and an impact if one approaches."""
    derivative(job.contacts, job.clock[T], job.x)
    guard(job, job.values, job.falling)  # which tells what passes through the ground
    settle(job.touching, job.clock[T], job.x, -1, TOUCH)
    if job.touching.result[0] > 0.0:
        write_event(job, -1, TOUCH, job.x)
    return refresh(job)


def refresh(job: Job) -> int:
    """Derivatives and guards where the next step begins: after an event, or where inputs have changed."""
    c = job.contacts
    job.clock[OFF] = max(job.clock[OFF], close(job.touching, job.clock[T], job.x))
    start(job)
    for k in range(GUARDS * c.count):
        if c.modes[k // GUARDS] != FREE and job.values[k] < 0.0:
            job.values[k] = 0.0
    while job.counts[SAMPLED] < job.log.samples and job.log.sample_times[job.counts[SAMPLED]] <= job.clock[T]:
        write_sample(job, 0.0, 1.0)
    return DONE


def start(job: Job) -> None:
    """Derivatives and guards at the state; what slips is seen to do so along its velocity."""
    c = job.contacts
    derivative(c, job.clock[T], job.x)
    for k in range(c.n):
        job.first[k] = c.moved[k]
        if not math.isfinite(c.moved[k]):
            job.counts[STATUS] = STUCK
    rates(job, 0)
    for k in range(job.quadrature.size):
        job.quadrature.first[k] = job.quadrature.rates[k]
    for k in range(c.rows):
        job.pushed_first[k] = c.forces[k]
    for i in range(c.points):
        if c.modes[i] == SLIP:
            for k in range(2):
                c.directions[2 * i + k] = c.along[2 * i + k]
    guard(job, job.values, job.falling)


def rates(job: Job, stage: int) -> None:
    """Rates of the quadrature after `derivative`."""
    c, q = job.contacts, job.quadrature
    at = stage * q.size
    for k in range(c.rows):
        job.pushed[stage * c.rows + k] = c.forces[k]
    gather(c, c.forces, c.velocities, 1.0, q.rates[at:])
    q.rates[at + c.rows + c.count] = c.moved[c.n]
    q.rates[at + c.rows + c.count + 1] = c.moved[c.n + 1]


def gather(c: Contacts, forces: Reals, velocities: Reals, share: float, out: Reals) -> None:
    """Forces in the inertial frame, then a share of their power at each contact."""
    for i in range(c.points):
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = inertial(c, i, forces[3 * i], forces[3 * i + 1], forces[3 * i + 2])
    for k in range(c.rows):
        if k >= 3 * c.points:
            out[k] = forces[k]
        if k == first_row(c, contact_of(c, k)):
            work = c.rows + contact_of(c, k)
            out[work] = 0.0
            for row in range(k, normal_row(c, contact_of(c, k)) + 1):
                out[work] += share * forces[row] * velocities[row]


def guard(job: Job, values: Reals, falling: Reals) -> None:
    """After `derivative`: three values a contact that are positive while its mode holds, then what is watched; and
    normal velocities."""
    c, creep = job.contacts, job.touching.creep
    if job.watched > 0:
        job.watch.scalar(c.inputs, job.watch_constants, values[GUARDS * c.count :])
        for k in range(GUARDS * c.count, GUARDS * c.count + job.watched):
            if not math.isfinite(values[k]):
                values[k] = -1.0
    for i in range(c.count):
        normal = c.forces[normal_row(c, i)]
        falling[i] = c.velocities[normal_row(c, i)]
        values[GUARDS * i + 1] = 1.0
        values[GUARDS * i + 2] = 1.0
        if c.modes[i] == FREE:  # one that is on the ground and rises has not fallen
            gap, through = c.gaps[i], job.through[i]
            values[GUARDS * i] = gap if gap > 0.0 or falling[i] < 0.0 else 0.0
            job.touching.passing[i] = 0
            if through >= 0 and values[GUARDS * c.count + max(through, 0)] < 0.0:
                job.touching.passing[i] = 1
                values[GUARDS * i] = 1.0
            continue
        values[GUARDS * i] = normal
        if i >= c.points:
            continue
        if c.modes[i] == STICK:
            fx, fy = c.forces[3 * i], c.forces[3 * i + 1]
            values[GUARDS * i + 1] = c.friction[i] * normal - math.sqrt(fx * fx + fy * fy)
        else:
            vx, vy, speed = c.velocities[3 * i], c.velocities[3 * i + 1], slip_speed(c, i)
            values[GUARDS * i + 1] = vx * c.directions[2 * i] + vy * c.directions[2 * i + 1]
            values[GUARDS * i + 2] = speed - creep if c.modes[i] == SLIP else 2.0 * creep - speed


def runge_kutta(job: Job, h: float) -> None:
    """A step from the state, with its stages; the last is at the new point."""
    c, n, stages, a, u, new = job.contacts, job.contacts.n, job.method.stages, job.method.a, job.u, job.new
    for k in range(n):
        u[k] = h * job.first[k]
    for k in range(job.quadrature.size):
        job.quadrature.rates[k] = job.quadrature.first[k]
    for k in range(c.rows):
        job.pushed[k] = job.pushed_first[k]
    for i in range(1, stages):
        for k in range(n):
            total = job.x[k]
            for j in range(i):
                total += a[i * stages + j] * u[j * n + k]
            new[k] = total
        derivative(c, job.clock[T] + job.method.c[i] * h, new)
        for k in range(n):
            u[i * n + k] = h * c.moved[k]
        rates(job, i)
    for k in range(n):
        total = 0.0
        for i in range(stages):
            total += job.method.e[i] * u[i * n + k]
        job.error[k] = total


def between(job: Job, theta: float) -> None:
    """The state at a share of the step into `point`."""
    n = job.contacts.n
    for k in range(n):
        job.point[k] = job.x[k]
    for i in range(job.method.stages):
        weight = dense_weight(job.method.p, job.method.powers, i, theta)
        if weight != 0.0:
            for k in range(n):
                job.point[k] += weight * job.u[i * n + k]


def value_at(job: Job, h: float, theta: float, which: int) -> float:
    """A guard at a share of the step."""
    between(job, theta)
    derivative(job.contacts, job.clock[T] + theta * h, job.point)
    guard(job, job.probe, job.scratch)
    return job.probe[which]


def crossing(job: Job, h: float, which: int, high: float, value: float) -> float:
    """Share of the step at which a guard falls below zero, between 0 and `high`, where it has a value below zero: by
    the secant of the bracket (Illinois), on the dense output."""
    low, at_low, at_high, side = 0.0, max(job.values[which], 0.0), value, 0
    for _ in range(100):
        theta = 0.5 * (low + high)
        if at_low > 0.0:
            theta = (low * at_high - high * at_low) / (at_high - at_low)
        if not (theta > low and theta < high):
            theta = 0.5 * (low + high)
        if high - low < 1e-15 or theta <= low or theta >= high:
            break
        found = value_at(job, h, theta, which)
        if found < 0.0:
            high, at_high = theta, found
            if side == -1:
                at_low = 0.5 * at_low
            side = -1
            if high - low > 1e-15 and found > -1e-16:
                break
        else:
            low, at_low = theta, found
            if side == 1:
                at_high = 0.5 * at_high
            side = 1
    return high


def lowest(job: Job, h: float, i: int) -> float:
    """Share of the step at which a free point is lowest, by halving."""
    low, high = 0.0, 1.0
    for _ in range(40):
        theta = 0.5 * (low + high)
        between(job, theta)
        look(job.contacts, job.clock[T] + theta * h, job.point)
        if job.contacts.velocities[normal_row(job.contacts, i)] < 0.0:
            low = theta
        else:
            high = theta
    return low


def next_limit(job: Job) -> float:
    """Where the next step has to end at the latest: at the end, or where a servo's table has a knot [s]."""
    tables, limit, t = job.contacts.tables, job.clock[END], job.clock[T]
    for k in range(tables.count):
        spacing = tables.periods[k] / tables.shapes[2 * k]
        past = t / spacing
        knot = (float(int(past + 1e-9)) + 1.0) * spacing
        limit = min(limit, knot)
    return limit


def advance(job: Job) -> int:
    """Steps to the end of the span. A call goes on where the last one returned."""
    clock, counts, rounds = job.clock, job.counts, 0
    while counts[STATUS] == FINISHED and clock[T] < clock[END]:
        full = job.log.steps > 0 and counts[STEPS] == job.log.steps
        if full or counts[EVENTS] == job.log.events or counts[HAPPENED] + job.watched > job.log.happenings:
            return MORE_ROOM
        if rounds == job.pause:
            return PAUSED
        if counts[STEPS] >= counts[MOST]:
            counts[STATUS] = TOO_LONG
            break
        rounds += 1
        limit = next_limit(job)
        last = clock[T] + clock[H] * (1.0 + 1e-10) >= limit
        h = limit - clock[T] if last else clock[H]
        runge_kutta(job, h)
        size = error_norm(job)
        if not size <= 1.0:
            counts[REJECTED] += 1
            shrunk = max(SLOWEST, SAFETY * size ** (-1.0 / job.method.order)) if math.isfinite(size) else SLOWEST
            clock[H] = h * shrunk
            if clock[H] < SHORTEST:
                counts[STATUS] = STUCK
            continue
        guard(job, job.values_new, job.falling_new)
        which, theta = first_event(job, h)
        if which >= 0:
            to_event(job, h, theta, which)
            if job.counts[STATUS] == FINISHED and too_many(job):
                counts[STATUS] = CHATTER
            continue
        take(job, h, limit if last else clock[T] + h)
        grown = FASTEST if size == 0.0 else SAFETY * size ** (-1.0 / job.method.order)
        clock[H] = min(job.longest, max(h if last else 0.0, h * min(FASTEST, max(SLOWEST, grown))))
        refresh(job)
    return DONE


def error_norm(job: Job) -> float:
    """Root mean square of the error in units of the tolerance."""
    total = 0.0
    for k in range(job.contacts.n):
        scaled = job.error[k] / (job.atol + job.rtol * max(abs(job.x[k]), abs(job.new[k])))
        total += scaled * scaled
    return math.sqrt(total / job.contacts.n)


def first_event(job: Job, h: float) -> tuple[int, float]:
    """The guard that falls below zero first within the step (−1: none), and the share of it. What is watched and does
    not stop the run is written down on the way."""
    c, which, share = job.contacts, -1, 2.0
    guards = GUARDS * c.count
    for k in range(guards + job.watched):
        i, value, high = k // GUARDS, job.values_new[k], 1.0
        if k < guards and k == GUARDS * i and c.modes[i] == FREE and value > 0.0:
            near = min(job.values[k], value) < h * max(abs(job.falling[i]), abs(job.falling_new[i]))
            if near and job.falling[i] < 0.0 and job.falling_new[i] > 0.0:  # down and up again
                high = lowest(job, h, i)
                value = c.gaps[i]
        if value < 0.0 and job.values[k] >= 0.0 and (k < guards or job.stops[k - guards] != 0):
            theta = crossing(job, h, k, high, value)
            if theta < share:
                which, share = k, theta
    for k in range(guards, guards + job.watched):
        if job.values_new[k] < 0.0 and job.values[k] >= 0.0 and job.stops[k - guards] == 0:
            theta = crossing(job, h, k, 1.0, job.values_new[k])
            if theta <= share:
                happen(job, job.clock[T] + theta * h, k - guards)
    return which, share


def happen(job: Job, t: float, k: int) -> None:
    """Write down that something watched has fallen below zero."""
    row = 2 * job.counts[HAPPENED]
    job.log.happened[row] = t
    job.log.happened[row + 1] = float(k)
    job.counts[HAPPENED] += 1


def to_event(job: Job, h: float, theta: float, which: int) -> None:
    """The step again, up to the event, and what happens there."""
    c, part = job.contacts, theta * h
    if part > SHORTEST:
        a, b = value_at(job, h, 0.98 * theta, which), value_at(job, h, theta, which)
        slope = (b - a) / (0.02 * part)
        for _ in range(4):
            runge_kutta(job, part)
            guard(job, job.probe, job.scratch)
            if not slope < 0.0 or abs(job.probe[which]) < 1e-15 * abs(slope):
                break
            part = max(part - job.probe[which] / slope, SHORTEST)
        runge_kutta(job, part)
    else:
        part = 0.0
        runge_kutta(job, 0.0)
    take(job, part, job.clock[T] + part)
    for k in range(c.n):
        job.point[k] = job.x[k]
    if which >= GUARDS * c.count:
        job.counts[STATUS] = AT_EVENT
        job.counts[STOPPED] = which - GUARDS * c.count
        happen(job, job.clock[T], which - GUARDS * c.count)
        return
    i = which // GUARDS
    what = event_of(c.modes[i], which % GUARDS)
    derivative(c, job.clock[T], job.x)
    guard(job, job.probe, job.scratch)
    for k in range(2):
        job.touching.slide[k] = c.forces[3 * i + k] if i < c.points else 0.0
    for k in range(4):
        job.touching.result[k] = 0.0
    for k in range(c.rows):
        job.touching.impulses[k] = 0.0
    if what == SLOWER:
        c.modes[i] = CREEP
        for k in range(2):
            c.directions[2 * i + k] = c.along[2 * i + k]
    elif what == FASTER:
        c.modes[i] = SLIP
    else:
        if what == HALT:  # what is left of the slip is caught
            c.modes[i] = STICK
            anchor(c, i)
            close(job.touching, job.clock[T], job.x)
        for k in range(c.count):
            job.was_free[k] = 1 if c.modes[k] == FREE else 0
        settle(job.touching, job.clock[T], job.x, i, what)
    close(job.touching, job.clock[T], job.x)
    write_event(job, i, what, job.point)
    if what == TOUCH:
        landed(job)
    refresh(job)


def landed(job: Job) -> None:
    """After a touchdown has been written down: contacts whose landing is watched."""
    c = job.contacts
    for i in range(c.count):
        k = job.lands[i]
        if k >= 0 and job.was_free[i] != 0 and job.touching.closed[i] != 0:
            happen(job, job.clock[T], k)
            if job.stops[k] != 0:
                job.counts[STATUS] = AT_EVENT
                job.counts[STOPPED] = k


def event_of(mode: int, slot: int) -> int:
    """What it means that a guard of a contact falls below zero."""
    if mode == FREE:
        return TOUCH
    if slot == 0:
        return LIFT
    if slot == 1:
        return SLIDE if mode == STICK else HALT
    return SLOWER if mode == SLIP else FASTER


def too_many(job: Job) -> bool:
    """Whether there were too many events of late."""
    count, size = job.counts[EVENTS], job.log.event_size
    if count < job.most_events:
        return False
    return job.log.rows[(count - 1) * size] - job.log.rows[(count - job.most_events) * size] < job.window


def take(job: Job, h: float, t_new: float) -> None:
    """The state becomes that at the end of the step; samples and what is kept."""
    c, q = job.contacts, job.quadrature
    while job.counts[SAMPLED] < job.log.samples and job.log.sample_times[job.counts[SAMPLED]] < t_new:
        write_sample(job, h, (job.log.sample_times[job.counts[SAMPLED]] - job.clock[T]) / h)
    if job.log.steps > 0:
        keep_step(job, h)
    for i in range(job.method.stages):
        for k in range(q.size):
            q.total[k] += h * job.method.b[i] * q.rates[i * q.size + k]
    for k in range(c.n):
        job.x[k] = job.new[k]
    job.clock[T] = t_new
    job.counts[STEPS] += 1


def keep_step(job: Job, h: float) -> None:
    """Keep a step."""
    c, n, stages = job.contacts, job.contacts.n, job.method.stages
    row = job.log.kept[job.counts[STEPS] * job.log.step_size :]
    row[0] = job.clock[T]
    row[1] = h
    for k in range(n):
        row[2 + k] = job.x[k]
    row = row[2 + n :]
    for k in range(stages * n):
        row[k] = job.u[k]
    row = row[stages * n :]
    for i in range(c.count):
        row[i] = float(c.modes[i])
    row = row[c.count :]
    for k in range(2 * c.points):
        row[k] = c.directions[k]
    row = row[2 * c.points :]
    for i in range(stages):
        for k in range(c.rows):
            row[i * c.rows + k] = job.pushed[i * c.rows + k]


def write_event(job: Job, i: int, what: int, before: Reals) -> None:
    """Write an event down; its impact's work on the contacts is counted."""
    c, t, q = job.contacts, job.touching, job.quadrature
    row = job.log.rows[job.counts[EVENTS] * job.log.event_size :]
    row[0] = job.clock[T]
    row[1] = float(i)
    row[2] = float(what)
    for k in range(4):
        row[3 + k] = t.result[k]
    row[7] = float(job.counts[STEPS])
    row = row[HEAD:]
    for k in range(c.count):
        row[k] = float(c.modes[k])
    row = row[c.count :]
    for k in range(c.rows):
        row[k] = t.impulses[k]
        t.before[k] += t.after[k]
    if t.result[0] > 0.0:
        gather(c, t.impulses, t.before, 0.5, job.impulse)
        for k in range(c.rows + c.count):
            q.total[k] += job.impulse[k]
    row = row[c.rows :]
    for k in range(c.n):
        row[k] = before[k]
        row[c.n + k] = job.x[k]
    job.counts[EVENTS] += 1


def write_sample(job: Job, h: float, theta: float) -> None:
    """Write the next sample, at a share of the step; no step: at the state."""
    c, q, n = job.contacts, job.quadrature, job.contacts.n
    t = job.log.sample_times[job.counts[SAMPLED]]
    row = job.log.sampled[job.counts[SAMPLED] * job.log.sample_size :]
    if h > 0.0:
        between(job, theta)
    else:
        for k in range(n):
            job.point[k] = job.x[k]
    row[0] = t
    derivative(c, t, job.point)
    for k in range(1, c.share):
        row[k] = c.inputs[k, 0]
    row = row[c.share :]
    for k in range(q.size):
        row[k] = q.total[k]
    if h > 0.0:
        for i in range(job.method.stages):
            weight = h * dense_weight(job.method.p, job.method.powers, i, theta)
            for k in range(q.size):
                row[k] += weight * q.rates[i * q.size + k]
    row = row[q.size :]
    gather(c, c.forces, c.velocities, 1.0, row)
    row = row[c.rows :]
    for i in range(c.count):
        row[i] = float(c.modes[i])
    row = row[c.count :]
    for k in range(c.n):
        row[k] = c.moved[k]
    job.counts[SAMPLED] += 1
