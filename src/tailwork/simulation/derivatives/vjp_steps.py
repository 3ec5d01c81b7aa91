"""The vector-Jacobian product of steps, in compiled code: from weights of the last state to those of the first.

Steps are frozen: what is differentiated is the sequence of operations that the run consists of.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.simulation.derivatives.compiled import TakenSteps, add, copy, dense_weights, linearise
from tailwork.simulation.integrate.compiled import Kernels, Tableau, call_kernel
from tailwork.simulation.integrate.driver import between
from tailwork.simulation.integrate.lane_driver import WIDTH
from tailwork.typing import Floats

NODES = np.array([0.5 - 0.15**0.5, 0.5, 0.5 + 0.15**0.5])
SHARES = np.array([5.0, 8.0, 5.0]) / 18.0
"""Gauss–Legendre: integrals over a step, exact for polynomials up to the fifth degree."""


class Vjp(NamedTuple):
    """A graph's vjp for one design (see tailwork.simulation.derivatives.products)."""

    address: int
    constants: Floats
    by_handed: Floats  # derivatives by what the design hands over, added up


class Vjps(NamedTuple):
    """All that steps need; addresses that a method does not need are 0."""

    derivative: Vjp
    integrand: Vjp
    stage: int
    curvature: Vjp
    rates: int  # how many of a state's numbers are velocities


@njit(cache=True, nogil=True)
def steps_vjp(kernels: Kernels, vjps: Vjps, method: Tableau, steps: TakenSteps, weight: Floats) -> float:
    """From the last step to the first: `weight` becomes the derivative by the first state.

    What concerns the design is added to the `by_handed` of each of `vjps`. Returns the integral of the integrand.
    """
    n, stages, count, held = len(weight), len(method.b), len(steps.lengths), len(steps.control_inputs)
    known, integral = 1 + n + held, 0.0
    inputs, found = np.zeros(known + n), np.zeros(2 * n + len(vjps.derivative.by_handed))
    value_inputs, value_found = np.zeros(known + 1), np.zeros(1 + n + len(vjps.integrand.by_handed) + 1)
    copy(steps.control_inputs, 0, inputs, 1 + n, held)
    copy(steps.control_inputs, 0, value_inputs, 1 + n, held)
    by_stage, point, ends = np.zeros((stages, n)), np.zeros(n), np.zeros(stages)
    size, n_v = kernels.linear_size, vjps.rates
    linear_inputs, factors = np.zeros(known + n + 1), np.zeros(size + n + 1)
    turned_inputs, turned = np.zeros(size + 2 * n + 1 + n_v), np.zeros(n + n_v)
    bent_inputs = np.zeros((known + 2 * n_v + 2 * n + 2, WIDTH))
    bent = np.zeros((n + n_v + len(vjps.curvature.by_handed) + 1, WIDTH))
    w, z, change = np.zeros((stages, n)), np.zeros((stages, n_v)), np.zeros((stages, n))
    first = np.zeros(n)
    address, constants, by_handed = vjps.derivative.address, vjps.derivative.constants, vjps.derivative.by_handed
    a, c = method.a, method.c
    for s in range(count - 1, -1, -1):
        h, t, x, u = steps.lengths[s], steps.times[s], steps.states[s], steps.stages[s]
        share = (steps.times[s + 1] - t) / h
        if s == count - 1 and share < 1.0 - 1e-9:
            dense_weights(method.p, share, ends)
        else:
            share = 1.0
            copy(method.b, 0, ends, 0, stages)
        for i in range(stages):
            for k in range(n):
                by_stage[i, k] = ends[i] * weight[k]
        if vjps.integrand.address:
            for node in range(len(NODES)):
                theta = NODES[node] * share
                between(x, u, method.p, theta, point)
                dense_weights(method.p, theta, ends)
                value_inputs[0] = t + theta * h
                copy(point, 0, value_inputs, 1, n)
                value_inputs[known] = SHARES[node] * share * h
                call_kernel(vjps.integrand.address, value_inputs, vjps.integrand.constants, value_found)
                integral += value_inputs[known] * value_found[-1]
                for k in range(n):
                    weight[k] += value_found[1 + k]
                    for i in range(stages):
                        by_stage[i, k] += ends[i] * value_found[1 + k]
                add(1.0, value_found, 1 + n, vjps.integrand.by_handed)
        if method.stiff:
            _stiff_step(kernels, vjps, method, t, h, x, u, inputs, found, by_stage, first, linear_inputs, factors,
                        turned_inputs, turned, bent_inputs, bent, w, z, change, weight)  # fmt: skip
        else:
            _explicit_step(address, constants, by_handed, a, c, t, h, x, u, inputs, found, by_stage, weight)
    return integral


@njit(cache=True, nogil=True)
def _add_vjp(vjp: Vjp, inputs: Floats, found: Floats, n: int) -> None:
    """Call a vjp and add up what goes by design; derivatives by x come first in `found`."""
    call_kernel(vjp.address, inputs, vjp.constants, found)
    add(1.0, found, n, vjp.by_handed)


@njit(cache=True, nogil=True)
def stage_point(a: Floats, c: Floats, t: float, h: float, x: Floats, u: Floats, i: int, inputs: Floats) -> None:
    """Time and state of stage i, into the inputs of a kernel."""
    inputs[0] = t + c[i] * h
    copy(x, 0, inputs, 1, len(x))
    for j in range(i):
        weight = a[i, j]
        if weight != 0.0:
            for k in range(len(x)):
                inputs[1 + k] += weight * u[j, k]


@njit(cache=True, nogil=True)
def _explicit_step(
    vjp: int, constants: Floats, by_handed: Floats, a: Floats, c: Floats, t: float, h: float, x: Floats, u: Floats,
    inputs: Floats, found: Floats, by_stage: Floats, weight: Floats,
) -> None:  # fmt: skip
    """A step x + Σ b_i u_i with u_i = h f(t + c_i h, X_i) and X_i = x + Σ_j a_ij u_j.

    `by_stage` holds the weights of u; that of u_i gains a_ji times the weight of every later X_j. What is needed of
    named tuples is given one by one: to take them apart at every step costs as much as some stages.
    """
    n, stages = len(x), len(c)
    known = len(inputs) - n
    for i in range(stages - 1, -1, -1):
        largest = 0.0
        for k in range(n):
            inputs[known + k] = h * by_stage[i, k]
            largest = max(largest, abs(by_stage[i, k]))
        if largest == 0.0:
            continue
        stage_point(a, c, t, h, x, u, i, inputs)
        call_kernel(vjp, inputs, constants, found)
        add(1.0, found, n, by_handed)
        add(1.0, found, 0, weight)
        for j in range(i):
            if a[i, j] != 0.0:
                add(a[i, j], found, 0, by_stage[j])


@njit(cache=True, nogil=True)
def _stiff_step(
    kernels: Kernels, vjps: Vjps, method: Tableau, t: float, h: float, x: Floats, u: Floats, inputs: Floats,
    found: Floats, by_stage: Floats, first: Floats, linear_inputs: Floats, factors: Floats, turned_inputs: Floats,
    turned: Floats, bent_inputs: Floats, bent: Floats, w: Floats, z: Floats, change: Floats, weight: Floats,
) -> None:  # fmt: skip
    """A step of a Rosenbrock method (see `simulation.integrate.steps`): (sigma − J) u_i = F_i + h d_i df/dt.

    With the weight of u_i, w_i = (sigma − J)⁻ᵀ times that is the weight of F_i, of J u_i and of h d_i df/dt. The last
    two, which are the change of f along (h d_i, u_i), depend on x by second derivatives of the equations of motion.
    """
    n, n_v, stages, size = len(x), z.shape[1], len(method.b), kernels.linear_size
    known = len(inputs) - n
    n_q, sigma = n - n_v, 1.0 / (h * method.extra[stages, 0])
    linearise(kernels, t, x, sigma, known, inputs, first, linear_inputs, factors)
    copy(factors, 0, turned_inputs, 0, size)
    for i in range(stages - 1, -1, -1):
        copy(by_stage[i], 0, turned_inputs, size + n + 1 + n_v, n)
        call_kernel(vjps.stage, turned_inputs, kernels.linear_constants, turned)
        copy(turned, 0, w[i], 0, n)
        copy(turned, n, z[i], 0, n_v)
        for k in range(n):
            change[i, k] = sigma * u[i, k]
        for j in range(i):
            other = method.extra[i, j] / h
            add(other, w[i], 0, by_stage[j])
            add(-other, u[j], 0, change[i])
        if i:
            stage_point(method.a, method.c, t, h, x, u, i, inputs)
            copy(w[i], 0, inputs, known, n)
            _add_vjp(vjps.derivative, inputs, found, n)
            add(1.0, found, 0, weight)
            add(-1.0, found, len(found) - n, change[i])
            for j in range(i):
                add(method.a[i, j], found, 0, by_stage[j])
    add(-1.0, first, 0, change[0])
    # The state is the same for all stages; their directions and weights go side by side.
    inputs[0] = t
    copy(x, 0, inputs, 1, n)
    copy(w[0], 0, inputs, known, n)
    for k in range(known):
        for lane in range(WIDTH):
            bent_inputs[k, lane] = inputs[k]
    for k in range(n_v):
        for lane in range(WIDTH):
            bent_inputs[known + k, lane] = first[n_q + k]
    at_t = known + n_v
    at_x, at_a, at_w, at_z = at_t + 1, at_t + 1 + n, at_t + 1 + n + n_v, at_t + 1 + n + n_v + n_q
    for start in range(0, stages, WIDTH):
        for lane in range(WIDTH):
            i = start + lane
            here = i < stages
            i = min(i, stages - 1)
            bent_inputs[at_t, lane] = h * method.extra[stages + 1, i]
            for k in range(n):
                bent_inputs[at_x + k, lane] = u[i, k]
            for k in range(n_v):
                bent_inputs[at_a + k, lane] = change[i, n_q + k]
                bent_inputs[at_z + k, lane] = z[i, k]
            for k in range(n_q):
                bent_inputs[at_w + k, lane] = w[i, k]
            bent_inputs[at_z + n_v, lane] = 1.0 if here else 0.0
        call_kernel(vjps.curvature.address, bent_inputs, vjps.curvature.constants, bent)
        for lane in range(WIDTH):
            for k in range(n):
                weight[k] += bent[k, lane]
            for k in range(n_v):
                inputs[known + n_q + k] += bent[n + k, lane]
            for k in range(len(vjps.curvature.by_handed)):
                vjps.curvature.by_handed[k] += bent[n + n_v + k, lane]
    _add_vjp(vjps.derivative, inputs, found, n)
    add(1.0, found, 0, weight)
