"""The loop over steps: step sizes, events, samples and what is kept, for all methods and any number of lanes.

Every lane has its own run with its own design, time and step; one whose run has ended takes the next from the queue.
A single run is the case of one lane, which keeps its steps. All lanes do the same operations in the same order, so that
a batch gives the same bits as single runs.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import spread, where, width
from tailwork.simulation.integrate.compiled import lane_constants
from tailwork.simulation.integrate.job import JUMPED, NEW, Job
from tailwork.simulation.integrate.steps import (
    SIZE,
    STEP,
    H,
    T,
    dense_output,
    dense_weight,
    explicit_step,
    rosenbrock_step,
    stiff_work,
    stiff_work_until,
)
from tailwork.simulation.stopping import AT_EVENT, FINISHED, STUCK, TOO_LONG

DONE, MORE_ROOM, PAUSED = 0, 1, 2
"""Why a driver returns: all runs have ended, no room is left for steps or events, or it has gone on for long enough."""
NEXT, LAST, HAPPENED, MOST = 0, 1, 2, 3
"""Of the queue: the run that is next, the one behind the last, how many events a single run has seen, and the most
steps of a run."""
START, END, FIRST = 0, 1, 2
"""Of the span: time of the start and of the end, length of the first step [s]."""

SAFETY, SLOWEST, FASTEST = 0.9, 0.2, 6.0
SMALLEST = 1e-13  # steps below this share of the duration are given up
HALVINGS = 80
SELDOM = 4  # steps, of which one is looked at for the fastest


def drive(job: Job) -> int:
    """All runs from the start to the end of the span. A call goes on where the last one returned."""
    rounds = 0
    while True:
        if not take_runs(job):
            return DONE
        if job.kept.steps > 0 and job.run[0] >= 0:
            full = job.runs.steps[job.run[0]] == job.kept.steps
            if full or job.queue[HAPPENED] + job.watched > job.kept.events:
                return MORE_ROOM
        if rounds == job.pause:
            return PAUSED
        rounds += 1
        choose_lengths(job)
        if job.step.method.stiff:
            rosenbrock_step(job.step)
        else:
            explicit_step(job.step)
        if judge(job):
            look_at_new_points(job)
            accept(job)


def take_runs(job: Job) -> bool:
    """Lanes without a run take the next one; whether any lane has one."""
    run, queue, active, fresh = job.run, job.queue, False, False
    for lane in range(width(job.step.x)):
        if run[lane] < 0 and queue[NEXT] < queue[LAST]:
            run[lane] = queue[NEXT]
            queue[NEXT] += 1
            start_run(job, lane, run[lane])
        active = active or run[lane] >= 0
        fresh = fresh or job.fresh[lane] != 0
    if fresh:
        start_fresh(job)
    return active


def start_run(job: Job, lane: int, r: int) -> None:
    """Put a run into a lane."""
    runs, step = job.runs, job.step
    n, held = step.n, runs.held
    job.fresh[lane] = NEW
    job.sampled[lane] = 0
    job.jumped[lane] = 0
    job.until[lane] = until_jump(job, lane, r)
    step.clock[T, lane] = job.span[START]
    step.clock[H, lane] = job.span[FIRST]
    for k in range(n):
        step.x[k, lane] = runs.states[r * n + k]
    for k in range(held):
        step.inputs[1 + n + k, lane] = runs.control_inputs[r * held + k]
    lane_constants(step.derivative, runs.derivative[r * runs.derivative_size :], job.own, lane, step.constants)
    if job.watched > 0:
        lane_constants(job.watch, runs.events[r * runs.events_size :], job.own, lane, job.event_constants)
    if step.method.stiff:
        lane_constants(step.linear, runs.linear[r * runs.linear_size :], job.own, lane, step.linear_constants)
    if step.balanced:
        step.x[n, lane] = 0.0
        job.speeds[lane] = -1.0
        if step.method.stiff:
            lane_constants(step.power, runs.power[r * runs.power_size :], job.own, lane, step.power_constants)
    runs.steps[r] = 0
    runs.rejected[r] = 0
    runs.status[r] = FINISHED
    runs.event[r] = -1


def until_jump(job: Job, lane: int, r: int) -> float:
    """Just before the next jump, or the end of the run [s]."""
    if job.jumped[lane] == job.runs.jumps:
        return job.span[END]
    return min(job.span[END], job.runs.breaks[2 * (r * job.runs.jumps + job.jumped[lane])])


def jump(job: Job, lane: int, r: int) -> None:
    """Go on behind a jump of the equations, by a step as long as the last."""
    clock = job.step.clock
    clock[T, lane] = job.runs.breaks[2 * (r * job.runs.jumps + job.jumped[lane]) + 1]
    if not job.fixed:
        clock[H, lane] = clock[STEP, lane]
    job.jumped[lane] += 1
    job.until[lane] = until_jump(job, lane, r)
    job.fresh[lane] = JUMPED
    if job.kept.steps > 0:
        job.kept.times[job.runs.steps[r]] = clock[T, lane]


def start_fresh(job: Job) -> None:
    """Derivatives and watched quantities where runs start and behind jumps; runs that end there do so."""
    step, runs, n = job.step, job.runs, job.step.n
    step.inputs[0] = step.clock[T]
    for k in range(n):
        step.inputs[1 + k] = step.x[k]
    step.derivative.lanes(step.inputs, step.constants, job.first_new)
    if job.watched > 0:
        job.watch.lanes(step.inputs, job.event_constants, job.values_new)
    for lane in range(width(step.x)):
        if job.fresh[lane] == 0:
            continue
        r, t, new = job.run[lane], step.clock[T, lane], job.fresh[lane] == NEW
        job.fresh[lane] = 0
        if step.balanced:
            step.first[n, lane] = job.first_new[n, lane]
            job.point[n] = step.x[n, lane]
        for k in range(n):
            step.first[k, lane] = job.first_new[k, lane]
            job.point[k] = step.x[k, lane]
            if not math.isfinite(step.first[k, lane]):
                runs.status[r] = STUCK
        if job.kept.steps > 0 and new:
            job.kept.times[0] = t
            for k in range(n):
                job.kept.states[k] = job.point[k]
        for k in range(job.watched):
            value = watched_value(job.values_new[k, lane])
            if value < 0.0 and (new or job.values[k, lane] >= 0.0):
                if job.kept.steps > 0:
                    keep_event(job, t, k)
                if job.stops[k] != 0 and runs.status[r] == FINISHED:
                    runs.status[r] = AT_EVENT
                    runs.event[r] = k
            job.values[k, lane] = value
        own = r * runs.own_samples * runs.samples
        while job.sampled[lane] < runs.samples and runs.sample_times[own + job.sampled[lane]] <= t:
            keep_sample(job, r, lane)
        if runs.status[r] != FINISHED or t >= job.span[END]:
            finish_run(job, r, lane, t)


def watched_value(value: float) -> float:
    """A quantity that is not finite counts as having fallen below zero."""
    return value if math.isfinite(value) else -1.0


def keep_event(job: Job, t: float, k: int) -> None:
    """Write down an event of a single run."""
    happened = job.queue[HAPPENED]
    job.kept.event_times[happened] = t
    job.kept.event_numbers[happened] = k
    job.queue[HAPPENED] = happened + 1


def keep_sample(job: Job, r: int, lane: int) -> None:
    """The next sample of a run is the point."""
    n = job.step.n
    for k in range(n):
        job.runs.sampled[(r * job.runs.samples + job.sampled[lane]) * n + k] = job.point[k]
    job.sampled[lane] += 1


def finish_run(job: Job, r: int, lane: int, t: float) -> None:
    """Write down how a run ended, at the point, and free its lane."""
    n, runs = job.step.n, job.runs
    runs.ended[r] = t
    if job.step.balanced:
        runs.work[r] = job.point[n]
        if job.speeds[lane] < 0.0:
            keep_fastest(job, r, lane, t)
    for k in range(n):
        runs.final[r * n + k] = job.point[k]
    for k in range(job.sampled[lane] * n, runs.samples * n):
        runs.sampled[r * runs.samples * n + k] = math.nan
    job.run[lane] = -1


def keep_fastest(job: Job, r: int, lane: int, t: float) -> None:
    """Keep the point if it is the fastest so far: there a wrong balance shows, and how much energy is in motion."""
    n, fastest, speed = job.step.n, job.runs.fastest, 0.0
    for k in range(job.still, n):
        speed += job.point[k] * job.point[k]
    if speed > job.speeds[lane]:
        row = r * (n + 2)
        job.speeds[lane] = speed
        fastest[row] = t
        fastest[row + 1] = job.point[n]
        for k in range(n):
            fastest[row + 2 + k] = job.point[k]


def choose_lengths(job: Job) -> None:
    """Lengths of the next steps; the last of a run ends at its end, the last before a jump just before it."""
    clock = job.step.clock
    for lane in range(width(clock)):
        job.last[lane] = 1 if clock[T, lane] + clock[H, lane] * (1.0 + 1e-10) >= job.until[lane] else 0
        if job.run[lane] < 0:
            clock[STEP, lane] = job.span[FIRST]  # a lane without a run goes along; nothing comes of it
        else:
            clock[STEP, lane] = job.until[lane] - clock[T, lane] if job.last[lane] != 0 else clock[H, lane]


def look_at_errors(job: Job) -> None:
    """In every lane: zero where its step is finite (all stages of an explicit method, the new state of a stiff one),
    and the sum of squares of its errors in units of the tolerance."""
    step, finite, total = job.step, spread(0.0, job.step.x), spread(0.0, job.step.x)
    for k in range(step.n):
        before, after = abs(step.x[k]), abs(step.new[k])
        scaled = step.error[k] / (job.atol + job.rtol * where(after > before, after, before))
        total = total + scaled * scaled
        finite = finite + 0.0 * step.new[k]
    if not step.method.stiff:
        for k in range(step.rows, step.method.stages * step.rows):
            finite = finite + 0.0 * step.u[k]
    job.errors[0] = finite
    job.errors[1] = total


def judge(job: Job) -> bool:
    """Which steps are good enough, and how long those that are not are to be; whether any is."""
    step, runs, clock, good = job.step, job.runs, job.step.clock, False
    look_at_errors(job)
    for lane in range(width(clock)):
        clock[SIZE, lane] = math.inf
        r = job.run[lane]
        if r < 0:
            continue
        fine = job.errors[0, lane] == 0.0
        size = math.sqrt(job.errors[1, lane] / step.n) if fine else math.inf
        if job.fixed:
            size = 0.0 if fine else math.inf
            if not fine:
                runs.status[r] = STUCK
        elif not size <= 1.0:
            runs.rejected[r] += 1
            shrunk = max(SLOWEST, SAFETY * size ** (-1.0 / step.method.order)) if math.isfinite(size) else SLOWEST
            clock[H, lane] = clock[STEP, lane] * shrunk
            size = math.inf
            if clock[H, lane] < SMALLEST * (job.span[END] - job.span[START]):
                runs.status[r] = STUCK
        if runs.status[r] != FINISHED:
            for k in range(step.n + 1):
                job.point[k] = step.x[k, lane]
            finish_run(job, r, lane, clock[T, lane])
        clock[SIZE, lane] = size
        good = good or size <= 1.0
    return good


def new_time(job: Job, lane: int) -> float:
    """Where a lane's step ends [s]."""
    return job.until[lane] if job.last[lane] != 0 else job.step.clock[T, lane] + job.step.clock[STEP, lane]


def look_at_new_points(job: Job) -> None:
    """Watched quantities, and for a stiff method derivatives, where steps end."""
    step = job.step
    if job.watched == 0 and not step.method.stiff:
        return
    for lane in range(width(step.x)):
        step.inputs[0, lane] = new_time(job, lane)
    for k in range(step.n):
        step.inputs[1 + k] = step.new[k]
    if job.watched > 0:
        job.watch.lanes(step.inputs, job.event_constants, job.values_new)
    if step.method.stiff:
        step.derivative.lanes(step.inputs, step.constants, job.first_new)
        if step.balanced:
            stiff_work(step, job.first_new[step.n :])


def work_until(job: Job, lane: int, theta: float) -> float:
    """The work until a share theta of a lane's step [J], for one that an event cuts short."""
    step, n = job.step, job.step.n
    found = step.x[n, lane]
    if step.method.stiff:
        return found + stiff_work_until(step, lane, theta)
    for i in range(step.method.stages):
        found += dense_weight(step.method.p, step.method.powers, i, theta) * step.u[i * step.rows + n, lane]
    return found


def event_crossing(job: Job, lane: int, which: int) -> float:
    """Share of a lane's step at which an event's value falls below zero, by halving on the dense output."""
    step, n = job.step, job.step.n
    for k in range(job.watch.kept):
        job.own[k] = job.event_constants[k, lane]
    for k in range(job.runs.held):
        job.one[1 + n + k] = step.inputs[1 + n + k, lane]
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        theta = 0.5 * (low + high)
        if theta <= low or theta >= high:
            break
        dense_output(step, theta, lane, job.one[1:])
        job.one[0] = step.clock[T, lane] + theta * step.clock[STEP, lane]
        job.watch.scalar(job.one, job.own, job.probe)
        if watched_value(job.probe[which]) < 0.0:
            high = theta
        else:
            low = theta
    return high


def accept(job: Job) -> None:
    """Take the steps that are good enough: events, samples, what is kept, and the next step's length."""
    step, runs, clock, n = job.step, job.runs, job.step.clock, job.step.n
    for lane in range(width(clock)):
        size, length, r, share = clock[SIZE, lane], clock[STEP, lane], job.run[lane], 1.0
        if not size <= 1.0:
            continue
        t_new, keeping = new_time(job, lane), job.kept.steps > 0
        for k in range(job.watched):
            value = watched_value(job.values_new[k, lane])
            if job.values[k, lane] >= 0.0 and value < 0.0 and (job.stops[k] != 0 or keeping):
                theta = event_crossing(job, lane, k)
                if keeping:
                    keep_event(job, clock[T, lane] + theta * length, k)
                if job.stops[k] != 0 and (runs.status[r] == FINISHED or theta < share):
                    share = theta
                    runs.status[r] = AT_EVENT
                    runs.event[r] = k
            job.values[k, lane] = value
        if runs.status[r] == AT_EVENT:
            t_new = clock[T, lane] + share * length
        own = r * runs.own_samples * runs.samples
        while job.sampled[lane] < runs.samples and runs.sample_times[own + job.sampled[lane]] <= t_new:
            dense_output(step, (runs.sample_times[own + job.sampled[lane]] - clock[T, lane]) / length, lane, job.point)
            keep_sample(job, r, lane)
        if runs.status[r] == AT_EVENT:
            dense_output(step, share, lane, job.point)
            job.point[n] = work_until(job, lane, share) if step.balanced else 0.0
        else:
            for k in range(n + 1):
                job.point[k] = step.new[k, lane]
        if step.balanced:
            if runs.steps[r] % SELDOM == 0:
                keep_fastest(job, r, lane, t_new)
            step.x[n, lane] = job.point[n]
            if step.method.stiff:
                step.first[n, lane] = job.first_new[n, lane]
            else:
                step.first[n, lane] = step.u[step.method.stages * step.rows - 1, lane] / length
        if keeping:
            keep_step(job, runs.steps[r], length, t_new)
        runs.steps[r] += 1
        clock[T, lane] = t_new
        for k in range(n):
            step.x[k, lane] = job.point[k]
            if step.method.stiff:
                step.first[k, lane] = job.first_new[k, lane]
            else:
                step.first[k, lane] = step.u[(step.method.stages - 1) * step.rows + k, lane] / length
            if not math.isfinite(step.first[k, lane]) and runs.status[r] == FINISHED and job.last[lane] == 0:
                runs.status[r] = STUCK
        if not job.fixed:
            grown = FASTEST if size == 0.0 else SAFETY * size ** (-1.0 / step.method.order)
            clock[H, lane] = length * min(FASTEST, max(SLOWEST, grown))
        ending = t_new >= job.span[END]
        if not ending and runs.status[r] == FINISHED and runs.steps[r] >= job.queue[MOST]:
            runs.status[r] = TOO_LONG
        if ending or runs.status[r] != FINISHED:
            finish_run(job, r, lane, t_new)
        elif job.last[lane] != 0:
            jump(job, lane, r)


def keep_step(job: Job, done: int, length: float, t_new: float) -> None:
    """Keep a step of a single run, which ends at the point."""
    n, kept = job.step.n, job.kept
    kept.lengths[done] = length
    kept.times[done + 1] = t_new
    for k in range(n):
        kept.states[(done + 1) * n + k] = job.point[k]
    for i in range(job.step.method.stages):
        for k in range(n):
            kept.stages[(done * job.step.method.stages + i) * n + k] = job.step.u[i * job.step.rows + k, 0]
