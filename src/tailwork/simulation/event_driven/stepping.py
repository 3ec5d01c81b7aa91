"""The loop over steps from event to event, for one run; a driver.

Steps are those of an explicit Runge–Kutta method with the modes as they are. Where a guard of a mode falls below zero
within a step, the instant is found on the dense output, the step is made again up to it, and modes are decided anew.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Reals
from tailwork.simulation.event_driven.constrained import (
    CREEP,
    FREE,
    SLIP,
    STICK,
    derivative,
    evaluate_contacts,
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
    TOUCHING,
    anchor,
    close,
    settle_modes,
)
from tailwork.simulation.event_driven.state import (
    END,
    EVENTS,
    GUARDS,
    HAPPENED,
    MOST,
    OFF,
    REJECTED,
    SAMPLED,
    SHORTEST,
    STATUS,
    STEPS,
    STOPPED,
    TOGETHER,
    H,
    RunJob,
    T,
)
from tailwork.simulation.event_driven.writing import dense_point, gather, happen, take, write_event, write_sample
from tailwork.simulation.integrate.driver import DONE, FASTEST, MORE_ROOM, PAUSED, SAFETY, SLOWEST
from tailwork.simulation.stopping import AT_EVENT, CHATTER, FINISHED, STUCK, TOO_LONG

UNKNOWN = 1e-2
"""Share of the tolerance to which gaps and their rates are known [1]."""


def begin_events(job: RunJob) -> int:
    """Modes of the contacts at the start, and an impact if one approaches."""
    derivative(job.contacts, job.clock[T], job.x)
    for i in range(job.contacts.points):
        anchor(job.contacts, i)
    guard(job, job.values, job.falling)  # which tells what passes through the ground
    settle_modes(job.touching, job.clock[T], job.x, -1, TOUCH)
    if job.touching.result[0] > 0.0:
        write_event(job, -1, TOUCH, job.x)
    return refresh(job)


def refresh(job: RunJob) -> int:
    """Derivatives and guards where the next step begins: after an event, or where inputs have changed."""
    c = job.contacts
    job.clock[OFF] = max(job.clock[OFF], close(job.touching, job.clock[T], job.x))
    for i in range(c.count):
        job.least[i] = 0.0
    start(job)
    for i in range(c.count):
        job.least[i] = least_gap(job, i)
        if c.modes[i] == FREE and job.touching.passing[i] == 0:
            job.values[GUARDS * i] = c.gaps[i] - job.least[i]
    for k in range(GUARDS * c.count):
        if job.values[k] < 0.0:  # by rounding: what falls from there is seen
            job.values[k] = 0.0
    for k in range(job.watched):  # an impact, or other inputs, may have put it below zero
        below = job.values[GUARDS * c.count + k] < 0.0
        if below and job.below[k] == 0:
            happen(job, job.clock[T], k)
            if job.stops[k] != 0 and job.counts[STATUS] == FINISHED:
                job.counts[STATUS] = AT_EVENT
                job.counts[STOPPED] = k
        job.below[k] = 1 if below else 0
    while job.counts[SAMPLED] < job.log.samples and job.log.sample_times[job.counts[SAMPLED]] <= job.clock[T]:
        write_sample(job, 0.0, 1.0)
    return DONE


def least_gap(job: RunJob, i: int) -> float:
    """Gap at which a free contact touches in the next step: zero, unless it is below that already. One that has just
    let go is left alone until it falls by more than what is not known of it."""
    gap, unknown = job.contacts.gaps[i], max(TOUCHING, UNKNOWN * job.atol)
    least = min(gap, 0.0)
    return least - unknown if abs(gap) < unknown and abs(job.falling[i]) < unknown else least


def start(job: RunJob) -> None:
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


def rates(job: RunJob, stage: int) -> None:
    """Rates of the quadrature after `derivative`."""
    c, q = job.contacts, job.quadrature
    at = stage * q.size
    for k in range(c.rows):
        job.pushed[stage * c.rows + k] = c.forces[k]
    gather(c, c.forces, c.velocities, 1.0, q.rates[at:])
    q.rates[at + c.rows + c.count] = c.moved[c.n]
    q.rates[at + c.rows + c.count + 1] = c.moved[c.n + 1]


def guard(job: RunJob, values: Reals, falling: Reals) -> None:
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
            gap, through = c.gaps[i] - job.least[i], job.through[i]
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


def runge_kutta(job: RunJob, h: float) -> None:
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


def value_at(job: RunJob, h: float, theta: float, which: int) -> float:
    """A guard at a share of the step."""
    dense_point(job, theta)
    derivative(job.contacts, job.clock[T] + theta * h, job.point)
    guard(job, job.probe, job.scratch)
    return job.probe[which]


def guard_crossing(job: RunJob, h: float, which: int, high: float, value: float) -> float:
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


def lowest(job: RunJob, h: float, i: int) -> float:
    """Share of the step at which a free point is lowest, by halving."""
    low, high = 0.0, 1.0
    for _ in range(40):
        theta = 0.5 * (low + high)
        dense_point(job, theta)
        evaluate_contacts(job.contacts, job.clock[T] + theta * h, job.point)
        if job.contacts.velocities[normal_row(job.contacts, i)] < 0.0:
            low = theta
        else:
            high = theta
    return low


def next_limit(job: RunJob) -> float:
    """Where the next step has to end at the latest: at the end, or where a servo's table has a knot [s]."""
    tables, limit, t = job.contacts.tables, job.clock[END], job.clock[T]
    for k in range(tables.count):
        spacing = tables.periods[k] / tables.shapes[2 * k]
        past = t / spacing
        knot = (float(int(past + 1e-9)) + 1.0) * spacing
        limit = min(limit, knot)
    return limit


def advance_events(job: RunJob) -> int:
    """Steps to the end of the span. A call goes on where the last one returned."""
    clock, counts, rounds = job.clock, job.counts, 0
    while counts[STATUS] == FINISHED and clock[T] < clock[END]:
        if is_full(job):
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


def is_full(job: RunJob) -> bool:
    """Whether there may be no room for what another round, or a start, writes down."""
    log, counts = job.log, job.counts
    steps = log.steps > 0 and counts[STEPS] >= log.steps
    return steps or counts[EVENTS] >= log.events or counts[HAPPENED] + 3 * job.watched > log.happenings


def error_norm(job: RunJob) -> float:
    """Root mean square of the error in units of the tolerance."""
    total = 0.0
    for k in range(job.contacts.n):
        scaled = job.error[k] / (job.atol + job.rtol * max(abs(job.x[k]), abs(job.new[k])))
        total += scaled * scaled
    return math.sqrt(total / job.contacts.n)


def first_event(job: RunJob, h: float) -> tuple[int, float]:
    """The guard that falls below zero first within the step (−1: none), and the share of it. What is watched and does
    not stop the run is written down on the way."""
    c, which, share = job.contacts, -1, 2.0
    guards = GUARDS * c.count
    for k in range(guards + job.watched):
        i, value, high = k // GUARDS, job.values_new[k], 1.0
        if k < guards and k == GUARDS * i and c.modes[i] == FREE and value >= 0.0:
            near = min(job.values[k], value) < h * max(abs(job.falling[i]), abs(job.falling_new[i]))
            if near and job.falling[i] < 0.0 and job.falling_new[i] > 0.0:  # down and up again
                high = lowest(job, h, i)
                value = c.gaps[i] - job.least[i]
        if value < 0.0 and job.values[k] >= 0.0 and (k < guards or job.stops[k - guards] != 0):
            theta = guard_crossing(job, h, k, high, value)
            if theta < share - TOGETHER:
                which, share = k, theta
    for k in range(guards, guards + job.watched):
        if job.values_new[k] < 0.0 and job.values[k] >= 0.0 and job.stops[k - guards] == 0:
            theta = guard_crossing(job, h, k, 1.0, job.values_new[k])
            if theta <= share:
                happen(job, job.clock[T] + theta * h, k - guards)
                job.below[k - guards] = 1
    return which, share


def to_event(job: RunJob, h: float, theta: float, which: int) -> None:
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
    if not math.isfinite(part + error_norm(job)):
        job.counts[STATUS] = STUCK
        return
    take(job, part, job.clock[T] + part)
    for k in range(c.n):
        job.point[k] = job.x[k]
    if which >= GUARDS * c.count:
        job.counts[STATUS] = AT_EVENT
        job.counts[STOPPED] = which - GUARDS * c.count
        happen(job, job.clock[T], which - GUARDS * c.count)
        job.below[which - GUARDS * c.count] = 1
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
        settle_modes(job.touching, job.clock[T], job.x, i, what)
    close(job.touching, job.clock[T], job.x)
    write_event(job, i, what, job.point)
    if what == TOUCH:
        landed(job)
    refresh(job)


def landed(job: RunJob) -> None:
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


def too_many(job: RunJob) -> bool:
    """Whether there were too many events of late."""
    count, size = job.counts[EVENTS], job.log.event_size
    if count < job.most_events:
        return False
    return job.log.rows[(count - 1) * size] - job.log.rows[(count - job.most_events) * size] < job.window
