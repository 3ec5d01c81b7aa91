"""What a run from event to event leaves behind: samples, steps, events, and integrals beside the state; a driver."""

from __future__ import annotations

from tailwork.kernels.language import Reals
from tailwork.simulation.event_driven.constrained import ContactState, derivative, inertially, normal_row
from tailwork.simulation.event_driven.state import EVENTS, HAPPENED, HEAD, SAMPLED, STEPS, RunJob, T
from tailwork.simulation.integrate.steps import dense_weight


def gather(c: ContactState, forces: Reals, velocities: Reals, share: float, out: Reals) -> None:
    """Forces in the inertial frame, then a share of their power at each contact."""
    for i in range(c.points):
        k = 3 * i
        out[k], out[k + 1], out[k + 2] = inertially(c, i, forces[k], forces[k + 1], forces[k + 2])
    for k in range(3 * c.points, c.rows):
        out[k] = forces[k]
    for i in range(c.count):
        last, out[c.rows + i] = normal_row(c, i), 0.0
        for row in range(last - 2 if i < c.points else last, last + 1):
            out[c.rows + i] += share * forces[row] * velocities[row]


def dense_point(job: RunJob, theta: float) -> None:
    """The state at a share of the step into `point`."""
    n = job.contacts.n
    for k in range(n):
        job.point[k] = job.x[k]
    for i in range(job.method.stages):
        weight = dense_weight(job.method.p, job.method.powers, i, theta)
        if weight != 0.0:
            for k in range(n):
                job.point[k] += weight * job.u[i * n + k]


def take(job: RunJob, h: float, t_new: float) -> None:
    """The state becomes that at the end of the step; samples and what is kept."""
    c, q = job.contacts, job.quadrature
    while job.counts[SAMPLED] < job.log.samples and job.log.sample_times[job.counts[SAMPLED]] < t_new:
        write_sample(job, h, (job.log.sample_times[job.counts[SAMPLED]] - job.clock[T]) / h)
    if job.log.steps > 0:
        record_step(job, h)
    for i in range(job.method.stages):
        for k in range(q.size):
            q.total[k] += h * job.method.b[i] * q.rates[i * q.size + k]
    for k in range(c.n):
        job.x[k] = job.new[k]
    job.clock[T] = t_new
    job.counts[STEPS] += 1


def record_step(job: RunJob, h: float) -> None:
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


def write_event(job: RunJob, i: int, what: int, before: Reals) -> None:
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


def write_sample(job: RunJob, h: float, theta: float) -> None:
    """Write the next sample, at a share of the step; no step: at the state."""
    c, q, n = job.contacts, job.quadrature, job.contacts.n
    t = job.log.sample_times[job.counts[SAMPLED]]
    row = job.log.sampled[job.counts[SAMPLED] * job.log.sample_size :]
    if h > 0.0:
        dense_point(job, theta)
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


def happen(job: RunJob, t: float, k: int) -> None:
    """Write down that something watched has fallen below zero."""
    row = 2 * job.counts[HAPPENED]
    job.log.happened[row] = t
    job.log.happened[row + 1] = float(k)
    job.counts[HAPPENED] += 1
