"""The Jacobian-vector products of a run and its steps: how it changes along directions, side by side in lanes.

Steps are frozen: what is differentiated is the sequence of operations that the run consists of.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Function, Ints, Lanes, Reals, Struct, width
from tailwork.simulation.derivatives.compiled import (
    COUNT,
    RUN,
    Linearised,
    Product,
    begin_run,
    dense_state,
    linearise,
    product_constants,
)
from tailwork.simulation.integrate.compiled import Method
from tailwork.simulation.integrate.job import StepLog
from tailwork.simulation.integrate.steps import dense_weight


class TangentJob(Struct):
    """A run with its steps and the directions, as many at a time as there are lanes."""

    now: Ints  # RUN, COUNT
    method: Method
    steps: StepLog
    at: Linearised  # with the held efforts in place
    derivative: Product
    expansion: Product  # what is shown
    curvature: Product
    stage: Function  # in lanes
    directions: int
    derivative_rates: Reals  # of the numbers of each product, a row a direction
    expansion_rates: Reals
    curvature_rates: Reals
    start_rates: Reals  # of the state at the start, a row a direction
    times: Reals  # [s]
    samples: int
    shown: int  # outputs of `expansion`
    out: Reals  # (runs, directions, times, shown)
    # Scratch
    inputs: Lanes
    moved: Lanes
    seen_inputs: Lanes
    seen: Lanes
    bent_inputs: Lanes
    bent: Lanes
    solve_inputs: Lanes
    x: Lanes
    sample: Lanes
    du: Lanes
    weights: Reals
    point: Reals
    one: Reals


def tangents(job: TangentJob) -> int:
    """All directions of one run."""
    at, r = job.at, job.now[RUN]
    begin_run(at, r, job.method.stiff)
    product_constants(job.derivative, r)
    product_constants(job.expansion, r)
    product_constants(job.curvature, r)
    for first in range(0, job.directions, width(job.x)):
        steps_jvp(job, first)
    return 0


def direct(job: TangentJob, product: Product, rates: Reals, first: int, target: Lanes) -> None:
    """Rates of what the design hands over, along directions from number `first` on, into inputs of a product."""
    if product.handed < 0:
        return
    product.design.prelude(product.own, product.numbers[job.now[RUN] * product.numbers_size :], product.own)
    for lane in range(width(target)):
        if first + lane < job.directions:
            product.design.scalar(rates[(first + lane) * product.numbers_size :], product.own, job.one)
        for k in range(product.handed):
            target[k, lane] = job.one[k] if first + lane < job.directions else 0.0


def steps_jvp(job: TangentJob, first: int) -> None:
    """From the changes of the first state to those of what is shown, at all times within the run."""
    n, stages, n_v, steps, method, at = job.at.n, job.method.stages, job.at.rates, job.steps, job.method, job.at
    known, x, du, inputs, moved = at.known, job.x, job.du, job.inputs, job.moved
    bent_x = known + 2 * n_v + 1 + n  # where the second direction begins
    direct(job, job.derivative, job.derivative_rates, first, inputs[known + n :])
    direct(job, job.expansion, job.expansion_rates, first, job.seen_inputs[known + n :])
    direct(job, job.curvature, job.curvature_rates, first, job.bent_inputs[bent_x + n + n_v :])
    for k in range(1 + n, known):
        inputs[k] = at.inputs[k]
        job.bent_inputs[k] = at.inputs[k]
        job.seen_inputs[k] = at.inputs[k]
    for lane in range(width(x)):
        for k in range(n):
            x[k, lane] = job.start_rates[(first + lane) * n + k] if first + lane < job.directions else 0.0
    sampled, reached = 0, -math.inf
    while sampled < job.samples and job.times[sampled] <= steps.times[0]:
        for k in range(n):
            job.sample[k] = x[k]
            job.point[k] = steps.states[k]
        show(job, sampled, first)
        sampled += 1
    for s in range(job.now[COUNT]):
        h, t, u, here = steps.lengths[s], steps.times[s], steps.stages[s * stages * n :], steps.states[s * n :]
        if method.stiff:
            begin_stiff(job, t, h, here)
        for i in range(stages):
            if i == 0 and t == reached and not method.stiff:  # the last stage of the step before was at this point
                for k in range(n):
                    du[k] = h * moved[k]
                continue
            inputs[0] = t + method.c[i] * h
            dense_state(here, u, method.a[i * stages :], i, n, job.point)
            for k in range(n):
                inputs[1 + k] = job.point[k]
                total = x[k]
                for j in range(i):
                    total = total + method.a[i * stages + j] * du[j * n + k]
                inputs[known + k] = total
            job.derivative.main.lanes(inputs, job.derivative.wide, moved)
            if method.stiff:
                stiff_stage(job, h, u, i)
            else:
                for k in range(n):
                    du[i * n + k] = h * moved[k]
        while sampled < job.samples and job.times[sampled] <= steps.times[s + 1]:
            for i in range(stages):
                job.weights[i] = dense_weight(method.p, method.powers, i, (job.times[sampled] - t) / h)
            dense_state(here, u, job.weights, stages, n, job.point)
            for k in range(n):
                total = x[k]
                for i in range(stages):
                    total = total + job.weights[i] * du[i * n + k]
                job.sample[k] = total
            show(job, sampled, first)
            sampled += 1
        for k in range(n):
            total = x[k]
            for i in range(stages):
                total = total + method.b[i] * du[i * n + k]
            x[k] = total
        reached = t + h  # not where a force has jumped: the next step starts a little later


def begin_stiff(job: TangentJob, t: float, h: float, here: Reals) -> None:
    """Linearise at the start of a step."""
    at, n_v, known, bent_inputs = job.at, job.at.rates, job.at.known, job.bent_inputs
    linearise(at, t, here, 1.0 / (h * job.method.gamma))
    for k in range(known):
        bent_inputs[k] = at.inputs[k]
    for k in range(at.size):
        job.solve_inputs[k] = at.factors[k]
    for k in range(n_v):
        bent_inputs[known + k] = at.first[at.n - n_v + k]
    for k in range(at.n):
        bent_inputs[known + 2 * n_v + 1 + at.n + k] = job.x[k]


def stiff_stage(job: TangentJob, h: float, u: Reals, i: int) -> None:
    """Stage i of a Rosenbrock method, along the direction (h d_i, u_i, …), from the change of the derivative."""
    at, n, n_v, stages, known, size = job.at, job.at.n, job.at.rates, job.method.stages, job.at.known, job.at.size
    moved, bent_inputs, solve_inputs, across = job.moved, job.bent_inputs, job.solve_inputs, job.method.across
    n_q, at_x = n - n_v, known + n_v + 1
    if i == 0:
        for k in range(n_v):
            bent_inputs[known + 2 * n_v + 1 + 2 * n + k] = moved[n_q + k]
    bent_inputs[known + n_v] = h * job.method.d[i]
    for k in range(n):
        bent_inputs[at_x + k] = u[i * n + k]
        change = at.linear_inputs[known + n] * u[i * n + k] - moved[n + k, 0]
        for j in range(i):
            change -= across[i * stages + j] / h * u[j * n + k]
        if k >= n_q:
            bent_inputs[at_x + n + k - n_q] = change
    job.curvature.main.lanes(bent_inputs, job.curvature.wide, job.bent)
    for k in range(n):
        right = moved[k]
        if k < n_q:
            right = right + job.bent[k]
        else:
            solve_inputs[size + n + 1 + k - n_q] = -job.bent[k]
        for j in range(i):
            right = right + across[i * stages + j] / h * job.du[j * n + k]
        solve_inputs[size + k] = right
    job.stage(solve_inputs, job.derivative.wide, job.du[i * n :])


def show(job: TangentJob, sampled: int, first: int) -> None:
    """What is shown at a sample, along all directions."""
    n, known = job.at.n, job.at.known
    job.seen_inputs[0] = job.times[sampled]
    for k in range(n):
        job.seen_inputs[1 + k] = job.point[k]
        job.seen_inputs[known + k] = job.sample[k]
    job.expansion.main.lanes(job.seen_inputs, job.expansion.wide, job.seen)
    for lane in range(min(width(job.x), job.directions - first)):
        row = ((job.now[RUN] * job.directions + first + lane) * job.samples + sampled) * job.shown
        for k in range(job.shown):
            job.out[row + k] = job.seen[k, lane]
