"""The vector-Jacobian product of a run and its steps: from weights of the last state to those of the first.

Steps are frozen: what is differentiated is the sequence of operations that the run consists of. The stages of a
Rosenbrock method go side by side in lanes where second derivatives are needed.
"""

from __future__ import annotations

from tailwork.kernels.language import Function, Ints, Lanes, Reals, Struct, width
from tailwork.simulation.derivatives.compiled import (
    COUNT,
    EVENT,
    RUN,
    STATUS,
    Linearised,
    Product,
    add,
    begin_run,
    copy,
    dense_state,
    linearise,
    product_constants,
)
from tailwork.simulation.integrate.compiled import Method
from tailwork.simulation.integrate.job import StepLog
from tailwork.simulation.integrate.steps import dense_weight
from tailwork.simulation.stopping import AT_EVENT

NODE = 0.15**0.5
"""Gauss–Legendre over a step: nodes at 0.5 and so much aside, weights 8 and 5 of 18; exact to the fifth degree."""
GRAZED = 4
"""Status of a run that ends where an event is only grazed: its end has no derivative. Others: see the driver."""
GRAZING = 1e-9
"""An event grazes if it falls more slowly than this share of how fast its parts change."""
TIED = 1e-9
"""Below this value an event that could have ended the run is taken to happen at its end as well."""


class GradientJob(Struct):
    """A run with its steps, what is differentiated, and room for the derivatives."""

    now: Ints  # RUN, COUNT, STATUS, EVENT
    method: Method
    steps: StepLog
    at: Linearised  # with the held efforts in place
    derivative: Product
    objective: Product
    integrand: Product
    watch: Product
    curvature: Product
    stage: Function
    watched: int
    stops: Ints
    # Out, a row a run
    tied: Ints  # another event at the end; −1: none
    values: Reals
    by_start: Reals
    by_derivative: Reals  # by the numbers of each product
    by_objective: Reals
    by_integrand: Reals
    by_watch: Reals
    by_curvature: Reals
    # Scratch
    weight: Reals
    moving: Reals
    inputs: Reals  # of products: [t, x, held efforts], weights of the outputs
    outputs: Reals
    ends: Reals
    by_stage: Reals
    turned_inputs: Reals
    turned: Reals
    w: Reals
    z: Reals
    change: Reals
    bent_inputs: Lanes
    bent: Lanes


def differentiate(job: GradientJob) -> int:
    """The gradient of one run; how it ended, or GRAZED."""
    r, count, n, at, steps, weight = job.now[RUN], job.now[COUNT], job.at.n, job.at, job.steps, job.weight
    begin_run(at, r, job.method.stiff)
    product_constants(job.derivative, r)
    product_constants(job.objective, r)
    product_constants(job.integrand, r)
    product_constants(job.watch, r)
    product_constants(job.curvature, r)
    at.inputs[0] = steps.times[count]
    copy(steps.states[count * n :], at.inputs[1:], n)
    value, rate = 0.0, 0.0
    for k in range(n):
        weight[k] = 0.0
    if job.objective.handed >= 0:
        weighted_vjp(job, job.objective, 0, 1.0)
        value = job.outputs[1 + n + job.objective.handed]
        rate = job.outputs[0]
        copy(job.outputs[1:], weight, n)
        copy(job.outputs[1 + n :], job.objective.by_handed, job.objective.handed)
    if job.now[STATUS] == AT_EVENT and not end_moves(job, rate):
        return GRAZED
    value += steps_vjp(job)
    job.values[r] = value
    copy(weight, job.by_start[r * n :], n)
    design_vjp(job.derivative, r, job.by_derivative)
    design_vjp(job.objective, r, job.by_objective)
    design_vjp(job.integrand, r, job.by_integrand)
    design_vjp(job.watch, r, job.by_watch)
    design_vjp(job.curvature, r, job.by_curvature)
    return job.now[STATUS]


def weighted_vjp(job: GradientJob, product: Product, which: int, weight: float) -> None:
    """Derivatives of a weighted output by t and x, then by what is handed over, then all outputs, at at.inputs."""
    copy(job.at.inputs, job.inputs, job.at.known)
    for k in range(product.outputs):
        job.inputs[job.at.known + k] = 0.0
    job.inputs[job.at.known + which] = weight
    product.main.scalar(job.inputs, product.constants, job.outputs)


def end_moves(job: GradientJob, objective_rate: float) -> bool:
    """The end moves so that the event's value g stays zero: dT = −dg/g-dot. With T, the value changes at the rate of
    the objective plus the integrand. False where the event is only grazed."""
    n, rate, found, event = job.at.n, objective_rate, job.outputs, job.now[EVENT]
    job.at.derivative.scalar(job.at.inputs, job.at.constants, job.moving)
    if job.integrand.handed >= 0:
        weighted_vjp(job, job.integrand, 0, 0.0)
        rate += found[1 + n + job.integrand.handed]
    weighted_vjp(job, job.watch, event, 1.0)
    falling, size = found[0], abs(found[0])
    for k in range(n):
        rate += job.weight[k] * job.moving[k]
        falling += found[1 + k] * job.moving[k]
        size += abs(found[1 + k] * job.moving[k])
    if abs(falling) <= GRAZING * size:
        return False
    for k in range(job.watched):
        if k != event and job.stops[k] != 0 and abs(found[1 + n + job.watch.handed + k]) < TIED:
            job.tied[job.now[RUN]] = k
    share = -rate / falling
    add(share, found[1:], job.weight, n)
    add(share, found[1 + n :], job.watch.by_handed, job.watch.handed)
    return True


def design_vjp(product: Product, r: int, out: Reals) -> None:
    """From what was added up by what is handed over: derivatives by the numbers of the design."""
    if product.handed >= 0:
        product.design.prelude(product.own, product.numbers[r * product.numbers_size :], product.own)
        product.design.scalar(product.by_handed, product.own, out[r * product.numbers_size :])


def steps_vjp(job: GradientJob) -> float:
    """From the last step to the first: the weight becomes the derivative by the first state. Returns the integral of
    the integrand."""
    n, stages, steps, ends, method = job.at.n, job.method.stages, job.steps, job.ends, job.method
    integral, known, count = 0.0, job.at.known, job.now[COUNT]
    for s in range(count - 1, -1, -1):
        h, t, x, u = steps.lengths[s], steps.times[s], steps.states[s * n :], steps.stages[s * stages * n :]
        share = (steps.times[s + 1] - t) / h
        if not (s == count - 1 and share < 1.0 - 1e-9):
            share = 1.0
        for i in range(stages):
            ends[i] = dense_weight(method.p, method.powers, i, share) if share < 1.0 else method.b[i]
            for k in range(n):
                job.by_stage[i * n + k] = ends[i] * job.weight[k]
        if job.integrand.handed >= 0:
            for node in range(3):
                theta = (0.5 + (node - 1) * NODE) * share
                for i in range(stages):
                    ends[i] = dense_weight(method.p, method.powers, i, theta)
                dense_state(x, u, ends, stages, n, job.inputs[1:])
                job.inputs[0] = t + theta * h
                copy(job.at.inputs[1 + n :], job.inputs[1 + n :], known - 1 - n)
                part = (8.0 if node == 1 else 5.0) / 18.0 * share * h
                job.inputs[known] = part
                job.integrand.main.scalar(job.inputs, job.integrand.constants, job.outputs)
                integral += part * job.outputs[1 + n + job.integrand.handed]
                add(1.0, job.outputs[1:], job.weight, n)
                for i in range(stages):
                    add(ends[i], job.outputs[1:], job.by_stage[i * n :], n)
                add(1.0, job.outputs[1 + n :], job.integrand.by_handed, job.integrand.handed)
        copy(job.at.inputs[1 + n :], job.inputs[1 + n :], known - 1 - n)
        if method.stiff:
            stiff_step(job, t, h, x, u)
        else:
            explicit_step_vjp(job, t, h, x, u)
    return integral


def add_vjp(job: GradientJob) -> None:
    """The vjp of the derivative at the inputs: onto the weight of x and what goes by design."""
    job.derivative.main.scalar(job.inputs, job.derivative.constants, job.outputs)
    add(1.0, job.outputs[job.at.n :], job.derivative.by_handed, job.derivative.handed)
    add(1.0, job.outputs, job.weight, job.at.n)


def stage_point(job: GradientJob, t: float, h: float, x: Reals, u: Reals, i: int) -> None:
    """Time and state of stage i, into the inputs."""
    n, method = job.at.n, job.method
    job.inputs[0] = t + method.c[i] * h
    dense_state(x, u, method.a[i * method.stages :], i, n, job.inputs[1:])


def explicit_step_vjp(job: GradientJob, t: float, h: float, x: Reals, u: Reals) -> None:
    """A step x + Σ b_i u_i with u_i = h f(t + c_i h, X_i) and X_i = x + Σ_j a_ij u_j.

    `by_stage` holds the weights of u; that of u_i gains a_ji times the weight of every later X_j.
    """
    n, stages, known, by_stage = job.at.n, job.method.stages, job.at.known, job.by_stage
    for i in range(stages - 1, -1, -1):
        largest = 0.0
        for k in range(n):
            job.inputs[known + k] = h * by_stage[i * n + k]
            largest = max(largest, abs(by_stage[i * n + k]))
        if largest == 0.0:
            continue
        stage_point(job, t, h, x, u, i)
        add_vjp(job)
        for j in range(i):
            if job.method.a[i * stages + j] != 0.0:
                add(job.method.a[i * stages + j], job.outputs, by_stage[j * n :], n)


def stiff_step(job: GradientJob, t: float, h: float, x: Reals, u: Reals) -> None:
    """A step of a Rosenbrock method (see `simulation.integrate.steps`): (sigma − J) u_i = F_i + h d_i df/dt.

    With the weight of u_i, w_i = (sigma − J)⁻ᵀ times that is the weight of F_i, of J u_i and of h d_i df/dt. The last
    two, which are the change of f along (h d_i, u_i), depend on x by second derivatives of the equations of motion.
    """
    at, n, n_v, stages, size, known = job.at, job.at.n, job.at.rates, job.method.stages, job.at.size, job.at.known
    w, change, by_stage, turned_inputs = job.w, job.change, job.by_stage, job.turned_inputs
    sigma = 1.0 / (h * job.method.gamma)
    linearise(at, t, x, sigma)
    copy(at.factors, turned_inputs, size)
    for i in range(stages - 1, -1, -1):
        copy(by_stage[i * n :], turned_inputs[size + n + 1 + n_v :], n)
        job.stage(turned_inputs, at.linear_constants, job.turned)
        copy(job.turned, w[i * n :], n)
        copy(job.turned[n:], job.z[i * n_v :], n_v)
        for k in range(n):
            change[i * n + k] = sigma * u[i * n + k]
        for j in range(i):
            other = job.method.across[i * stages + j] / h
            add(other, w[i * n :], by_stage[j * n :], n)
            add(-other, u[j * n :], change[i * n :], n)
        if i > 0:
            stage_point(job, t, h, x, u, i)
            copy(w[i * n :], job.inputs[known:], n)
            add_vjp(job)
            add(-1.0, job.outputs[n + job.derivative.handed :], change[i * n :], n)
            for j in range(i):
                add(job.method.a[i * stages + j], job.outputs, by_stage[j * n :], n)
    add(-1.0, at.first, change, n)
    job.inputs[0] = t
    copy(x, job.inputs[1:], n)
    copy(w, job.inputs[known:], n)
    bend(job, h, u)
    add_vjp(job)


def bend(job: GradientJob, h: float, u: Reals) -> None:
    """Second derivatives for all stages: the state is the same, their directions and weights go side by side."""
    at, n, n_v, stages, known = job.at, job.at.n, job.at.rates, job.method.stages, job.at.known
    given, bent, n_q = job.bent_inputs, job.bent, job.at.n - job.at.rates
    for k in range(known):
        given[k] = job.inputs[k]
    for k in range(n_v):
        given[known + k] = at.first[n_q + k]
    at_t = known + n_v
    at_x, at_a, at_w, at_z = at_t + 1, at_t + 1 + n, at_t + 1 + n + n_v, at_t + 1 + n + n_v + n_q
    for start in range(0, stages, width(given)):
        for lane in range(width(given)):
            i = min(start + lane, stages - 1)
            given[at_t, lane] = h * job.method.d[i]
            for k in range(n):
                given[at_x + k, lane] = u[i * n + k]
            for k in range(n_v):
                given[at_a + k, lane] = job.change[i * n + n_q + k]
                given[at_z + k, lane] = job.z[i * n_v + k]
            for k in range(n_q):
                given[at_w + k, lane] = job.w[i * n + k]
            given[at_z + n_v, lane] = 1.0 if start + lane < stages else 0.0
        job.curvature.main.lanes(given, job.curvature.wide, bent)
        for lane in range(width(given)):
            for k in range(n):
                job.weight[k] += bent[k, lane]
            for k in range(n_v):
                job.inputs[known + n_q + k] += bent[n + k, lane]
            for k in range(job.curvature.handed):
                job.curvature.by_handed[k] += bent[n + n_v + k, lane]
