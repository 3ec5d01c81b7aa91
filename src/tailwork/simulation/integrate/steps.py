"""One step in every lane: of an explicit Runge–Kutta method, for any tableau, and of a Rosenbrock method.

The latter has the exact Jacobian and is in transformed form (Hairer & Wanner, Solving Ordinary Differential Equations
II, Sect. IV.7): with sigma = 1/(h gamma),

    (sigma 1 − J) u_i = f(t + c_i h, x + Σ_j a_ij u_j) + (1/h) Σ_j C_ij u_j + h d_i df/dt,   x_new = x + Σ b_i u_i.

The 2n equations reduce to n; see tailwork.simulation.integrate.stage.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Lanes, Reals, Struct, spread
from tailwork.simulation.integrate.compiled import LaneKernel, Method

T, H, STEP, SIZE = 0, 1, 2, 3
"""Rows of the clock: time, step to try next, step now, size of its error in units of the tolerance."""
NODE = 0.5 - 0.1 * math.sqrt(5.0)
"""Share of a step of the first inner node of Lobatto's quadrature by four, of order 6; the second is as far from its
end. Weights are 1, 5, 5 and 1 twelfths (Abramowitz & Stegun 1964, Sect. 25.4.32)."""


class Stepping(Struct):
    """What a step needs: kernels, and rows of lanes to work in. Inputs of kernels start with [t, x, held efforts]."""

    n: int  # numbers of a state
    rows: int  # of a stage: those, and for an explicit method that is balanced one more, the work [J]
    balanced: bool  # whether work is integrated, after the state
    known: int  # inputs of the derivative
    method: Method
    derivative: LaneKernel
    linear: LaneKernel  # (…, x-dot, sigma) → z: linearised and factored
    linear_size: int  # numbers in z
    solve: LaneKernel  # (z, right-hand side, h d_i) → a stage
    power: LaneKernel  # where a stiff method is balanced: → the power alone
    power_constants: Lanes
    powers: Lanes  # within a step of such a method, at NODE and its counterpart, and at the end [W]
    inputs: Lanes
    constants: Lanes
    linear_inputs: Lanes
    linear_constants: Lanes
    solve_inputs: Lanes
    across: Lanes  # scratch: C_ij / h of a stage
    clock: Lanes
    x: Lanes  # state, and the work
    first: Lanes  # their derivatives: of the work, the power
    u: Lanes  # out: (stages, rows): h times the stages' derivatives; of an explicit method the last is at the new point
    new: Lanes  # out: the new state
    error: Lanes  # out: estimate of its error; zero where the method has none


def explicit_step(job: Stepping) -> None:
    """A step of an explicit method from (t, x) in each lane."""
    n, rows, stages, a, u, x, new = job.n, job.rows, job.method.stages, job.method.a, job.u, job.x, job.new
    h, t, inputs, error = job.clock[STEP], job.clock[T], job.inputs, job.error
    for k in range(rows):
        u[k] = h * job.first[k]
    for i in range(1, stages):
        for k in range(n):
            total = x[k]
            for j in range(i):
                weight = a[i * stages + j]
                if weight != 0.0:
                    total = total + weight * u[j * rows + k]
            inputs[1 + k] = total
            new[k] = total  # the last stage is taken at the new point
        inputs[0] = t + job.method.c[i] * h
        job.derivative.lanes(inputs, job.constants, u[i * rows :])
        for k in range(i * rows, (i + 1) * rows):
            u[k] = u[k] * h
    for k in range(n):
        total = spread(0.0, x)
        for i in range(stages):
            total = total + job.method.e[i] * u[i * rows + k]
        error[k] = total
    if job.balanced:
        total = x[n]
        for i in range(stages - 1):
            total = total + a[(stages - 1) * stages + i] * u[i * rows + n]
        new[n] = total


def rosenbrock_step(job: Stepping) -> None:
    """A step of a Rosenbrock method from (t, x) in each lane; what is not finite in a stage stays so to the end."""
    n, stages, known, size, a, u, x = job.n, job.method.stages, job.known, job.linear_size, job.method.a, job.u, job.x
    h, t, inputs, sums, right = job.clock[STEP], job.clock[T], job.inputs, job.error, job.solve_inputs[size:]
    inputs[0] = t
    for k in range(n):
        inputs[1 + k] = x[k]
        right[k] = job.first[k]
        job.linear_inputs[known + k] = job.first[k]
    for k in range(known):
        job.linear_inputs[k] = inputs[k]
    job.linear_inputs[known + n] = 1.0 / (h * job.method.gamma)
    job.linear.lanes(job.linear_inputs, job.linear_constants, job.solve_inputs)
    for i in range(stages):
        if i > 0:
            for j in range(i):
                job.across[j] = job.method.across[i * stages + j] / h
            for k in range(n):
                total, other = x[k], spread(0.0, x)
                for j in range(i):
                    total = total + a[i * stages + j] * u[j * n + k]
                    other = other + job.across[j] * u[j * n + k]
                inputs[1 + k] = total
                sums[k] = other
            inputs[0] = t + job.method.c[i] * h
            job.derivative.lanes(inputs, job.constants, right)
            for k in range(n):
                right[k] += sums[k]
        job.solve_inputs[size + n] = h * job.method.d[i]
        job.solve.lanes(job.solve_inputs, job.linear_constants, u[i * n :])
    for k in range(n):
        total, wrong = x[k], spread(0.0, x)
        for i in range(stages):
            total = total + job.method.b[i] * u[i * n + k]
            wrong = wrong + job.method.e[i] * u[i * n + k]
        job.new[k] = total
        sums[k] = wrong


def dense_weight(p: Reals, powers: int, i: int, theta: float) -> float:
    """How much of stage i is in the state at a share theta of a step: Σ_j p_ij theta^(j+1)."""
    weight = 0.0
    for j in range(powers - 1, -1, -1):
        weight = (weight + p[i * powers + j]) * theta
    return weight


def dense_output(job: Stepping, theta: float, lane: int, out: Reals) -> None:
    """out = the state of a lane at a share theta of its step: x + Σ_i u_i Σ_j p_ij theta^(j+1)."""
    n = job.n
    for k in range(n):
        out[k] = job.x[k, lane]
    for i in range(job.method.stages):
        weight = dense_weight(job.method.p, job.method.powers, i, theta)
        if weight != 0.0:
            for k in range(n):
                out[k] += weight * job.u[i * job.rows + k, lane]


def stiff_work(job: Stepping, last: Lanes) -> None:
    """The work at the end of a stiff step in every lane, by quadrature on its dense output; `last` is the power at the
    end of the step in every lane."""
    h, method, n = job.clock[STEP], job.method, job.n
    job.powers[2] = last[0]
    for node in range(2):
        theta = NODE if node == 0 else 1.0 - NODE
        job.inputs[0] = job.clock[T] + theta * h
        for k in range(n):
            job.inputs[1 + k] = job.x[k]
        for i in range(method.stages):
            weight = dense_weight(method.p, method.powers, i, theta)
            for k in range(n):
                job.inputs[1 + k] += weight * job.u[i * n + k]
        job.power.lanes(job.inputs, job.power_constants, job.powers[node:])
    job.new[n] = job.x[n] + h / 12.0 * (job.first[n] + 5.0 * (job.powers[0] + job.powers[1]) + last[0])


def stiff_work_until(job: Stepping, lane: int, theta: float) -> float:
    """The work in a share theta of a lane's stiff step [J]: the cubic through the powers at the nodes, integrated."""
    a, b, first, powers = NODE, 1.0 - NODE, job.first[job.n, lane], job.powers
    slope, inner = (powers[0, lane] - first) / a, (powers[1, lane] - powers[0, lane]) / (b - a)
    bend = (inner - slope) / b
    twist = ((powers[2, lane] - powers[1, lane]) / a - inner) / b - bend
    total = first + theta * (slope / 2.0 + bend * (theta / 3.0 - a / 2.0))
    total += twist * theta * (theta * (theta / 4.0 - 1.0 / 3.0) + a * b / 2.0)
    return theta * job.clock[STEP, lane] * total
