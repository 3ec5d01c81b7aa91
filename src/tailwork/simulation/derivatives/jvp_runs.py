"""Runs with their Jacobian-vector products, in compiled code: how a run changes along directions, as many side by side
as a register has lanes.

Steps are frozen: what is differentiated is the sequence of operations that the run consists of.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.simulation.derivatives.compiled import (
    ProductKernels,
    TakenSteps,
    constants_of,
    copy,
    dense_weights,
    kernels_of,
    linearise,
    main_constants,
)
from tailwork.simulation.integrate.compiled import Kernels, Settings, Tableau, call_kernel
from tailwork.simulation.integrate.driver import between, integrate
from tailwork.simulation.integrate.lane_driver import WIDTH, LaneKernels, Runs
from tailwork.typing import Floats


class Jvp(NamedTuple):
    """A graph's jvp for one design, in lanes (see tailwork.simulation.derivatives.products)."""

    address: int
    constants: Floats
    handed: Floats  # rates of what the design hands over, (handed over, lanes)


class Jvps(NamedTuple):
    """All that steps need; what a method does not need has the address 0."""

    derivative: Jvp
    curvature: Jvp
    stage: int
    rates: int  # how many of a state's numbers are velocities


@njit(cache=True, nogil=True)
def fill_lanes(rows: Floats, k: int, value: float) -> None:
    """A number in every lane of a row."""
    for lane in range(WIDTH):
        rows[k, lane] = value


@njit(cache=True, nogil=True)
def copy_lanes(source: Floats, first: int, target: Floats, at: int, count: int) -> None:
    """Rows of one array into another."""
    for k in range(count):
        for lane in range(WIDTH):
            target[at + k, lane] = source[first + k, lane]


@njit(cache=True, nogil=True)
def add_lanes(factor: float, source: Floats, target: Floats, at: int) -> None:
    """All rows of an array, times a factor, onto rows of another."""
    for k in range(len(source)):
        for lane in range(WIDTH):
            target[at + k, lane] += factor * source[k, lane]


@njit(cache=True, nogil=True)
def steps_jvp(
    kernels: Kernels, jvps: Jvps, method: Tableau, steps: TakenSteps, start: Floats, times: Floats, states: Floats,
    out: Floats,
) -> int:  # fmt: skip
    """From the change of the first state, (n, lanes): states at given times, (times, n), and their changes, (times, n,
    lanes). Returns how many of the times are within the run."""
    n, stages, n_v = len(start), len(method.b), jvps.rates
    known, size = 1 + n + len(steps.control_inputs), kernels.linear_size
    inputs = np.zeros((known + n + len(jvps.derivative.handed), WIDTH))
    moved = np.zeros((2 * n, WIDTH))
    bent_inputs = np.zeros((known + n_v + 1 + n + n_v + n + n_v + len(jvps.curvature.handed), WIDTH))
    bent, solve_inputs = np.zeros((2 * n, WIDTH)), np.zeros((size + n + 1 + n_v, WIDTH))
    x, first, factors = np.zeros((n, WIDTH)), np.zeros(n), np.zeros(size + n + 1)
    here, linear_inputs = np.zeros(known), np.zeros(known + n + 1)
    du, weights, change = np.zeros((stages, n, WIDTH)), np.zeros(stages), np.zeros(n)
    copy_lanes(start, 0, x, 0, n)
    copy(steps.control_inputs, 0, here, 1 + n, len(steps.control_inputs))
    for k in range(len(steps.control_inputs)):
        fill_lanes(inputs, 1 + n + k, steps.control_inputs[k])
        fill_lanes(bent_inputs, 1 + n + k, steps.control_inputs[k])
    copy_lanes(jvps.derivative.handed, 0, inputs, known + n, len(jvps.derivative.handed))
    bent_x = known + 2 * n_v + 1 + n  # where the second direction begins
    copy_lanes(jvps.curvature.handed, 0, bent_inputs, bent_x + n + n_v, len(jvps.curvature.handed))
    sample = 0
    while sample < len(times) and times[sample] <= steps.times[0]:
        copy(steps.states[0], 0, states[sample], 0, n)
        copy_lanes(x, 0, out[sample], 0, n)
        sample += 1
    for s in range(len(steps.lengths)):
        h, t, u, at = steps.lengths[s], steps.times[s], steps.stages[s], steps.states[s]
        if method.stiff:
            # Linearised at the start of the step, and the direction (h d_i, u_i, …) of each stage.
            sigma = 1.0 / (h * method.extra[stages, 0])
            linearise(kernels, t, at, sigma, known, here, first, linear_inputs, factors)
            for k in range(known):
                fill_lanes(bent_inputs, k, here[k])
            for k in range(size):
                fill_lanes(solve_inputs, k, factors[k])
            for k in range(n_v):
                fill_lanes(bent_inputs, known + k, first[n - n_v + k])
            copy_lanes(x, 0, bent_inputs, bent_x, n)
        for i in range(stages):
            fill_lanes(inputs, 0, t + method.c[i] * h)
            for k in range(n):
                point = at[k]
                for j in range(i):
                    point += method.a[i, j] * u[j, k]
                fill_lanes(inputs, 1 + k, point)
            copy_lanes(x, 0, inputs, known, n)
            for j in range(i):
                add_lanes(method.a[i, j], du[j], inputs, known)
            call_kernel(jvps.derivative.address, inputs, jvps.derivative.constants, moved)
            if not method.stiff:
                for k in range(n):
                    for lane in range(WIDTH):
                        du[i, k, lane] = h * moved[k, lane]
                continue
            if i == 0:
                copy_lanes(moved, n - n_v, bent_inputs, bent_x + n, n_v)
            for k in range(n):
                change[k] = linear_inputs[known + n] * u[i, k] - moved[n + k, 0]
                for j in range(i):
                    change[k] -= method.extra[i, j] / h * u[j, k]
            fill_lanes(bent_inputs, known + n_v, h * method.extra[stages + 1, i])
            for k in range(n):
                fill_lanes(bent_inputs, known + n_v + 1 + k, u[i, k])
            for k in range(n_v):
                fill_lanes(bent_inputs, known + n_v + 1 + n + k, change[n - n_v + k])
            call_kernel(jvps.curvature.address, bent_inputs, jvps.curvature.constants, bent)
            copy_lanes(moved, 0, solve_inputs, size, n)
            for k in range(n - n_v):
                for lane in range(WIDTH):
                    solve_inputs[size + k, lane] += bent[k, lane]
            for k in range(n_v):
                for lane in range(WIDTH):
                    solve_inputs[size + n + 1 + k, lane] = -bent[n - n_v + k, lane]
            for j in range(i):
                add_lanes(method.extra[i, j] / h, du[j], solve_inputs, size)
            call_kernel(jvps.stage, solve_inputs, jvps.derivative.constants, du[i])
        while sample < len(times) and times[sample] <= steps.times[s + 1]:
            theta = (times[sample] - t) / h
            between(at, u, method.p, theta, states[sample])
            dense_weights(method.p, theta, weights)
            copy_lanes(x, 0, out[sample], 0, n)
            for i in range(stages):
                add_lanes(weights[i], du[i], out[sample], 0)
            sample += 1
        for i in range(stages):
            add_lanes(method.b[i], du[i], x, 0)
    return sample


class JvpKernels(NamedTuple):
    """The jvps that sensitivities need."""

    derivative: ProductKernels
    expansion: ProductKernels
    curvature: ProductKernels
    stage: int
    rates: int  # how many of a state's numbers are velocities


class GraphRows(NamedTuple):
    """By graph: the numbers of its design, a row a run, or their rates, a row a direction."""

    derivative: Floats
    expansion: Floats
    curvature: Floats


@njit(cache=True, nogil=True)
def _jvp(kernels: ProductKernels, numbers: Floats, rates: Floats, first: int) -> Jvp:
    """A graph's jvp for one design, along directions from number `first` on."""
    if kernels.handed < 0:
        return Jvp(0, np.zeros(1), np.zeros((0, WIDTH)))
    own, one, handed = constants_of(kernels.design, numbers), np.zeros(max(kernels.handed, 1)), kernels.handed
    moved = np.zeros((handed, WIDTH))
    for lane in range(min(WIDTH, len(rates) - first)):
        call_kernel(kernels.design.scalar, rates[first + lane], own, one)
        for k in range(handed):
            moved[k, lane] = one[k]
    return Jvp(kernels.main.lanes, main_constants(kernels, numbers, WIDTH), moved)


@njit(cache=True, nogil=True)
def runs_jvp(
    kernels: LaneKernels, jvps: JvpKernels, method: Tableau, settings: Settings, stops: np.ndarray, runs: Runs,
    numbers: GraphRows, rates: GraphRows, start_rates: Floats, times: Floats, t1: float, first_run: int, last_run: int,
    status: np.ndarray, event: np.ndarray, ends: Floats, out: Floats,
) -> None:  # fmt: skip
    """Runs number `first_run` to `last_run` from time 0 to t1 [s], and how all coordinates and velocities change along
    each direction, left in `out`, (runs, directions, times, coordinates and velocities); see `Ends` for the rest."""
    n, shown = runs.states.shape[1], out.shape[3]
    count = len(start_rates)
    for r in range(first_run, last_run):
        own = kernels_of(kernels, method, len(stops), runs, r)
        held = runs.control_inputs[r]
        status[r], event[r], found_times, states, stages, lengths, _, _, _, _ = integrate(
            own, method, settings, stops, held, runs.states[r], 0.0, t1
        )
        ends[r] = found_times[-1]
        taken = TakenSteps(found_times, states, stages, lengths, held)
        for first in range(0, count, WIDTH):
            own_jvps = Jvps(
                _jvp(jvps.derivative, numbers.derivative[r], rates.derivative, first),
                _jvp(jvps.curvature, numbers.curvature[r], rates.curvature, first),
                jvps.stage, jvps.rates,
            )  # fmt: skip
            start = np.zeros((n, WIDTH))
            for lane in range(min(WIDTH, count - first)):
                for k in range(n):
                    start[k, lane] = start_rates[first + lane, k]
            at, moved = np.zeros((len(times), n)), np.zeros((len(times), n, WIDTH))
            known = steps_jvp(own, own_jvps, method, taken, start, times, at, moved)
            expansion = _jvp(jvps.expansion, numbers.expansion[r], rates.expansion, first)
            inputs = np.zeros((1 + n + len(held) + n + len(expansion.handed), WIDTH))
            found = np.zeros((2 * jvps.expansion.outputs, WIDTH))
            copy_lanes(expansion.handed, 0, inputs, 1 + 2 * n + len(held), len(expansion.handed))
            for k in range(len(held)):
                fill_lanes(inputs, 1 + n + k, held[k])
            for sample in range(known):
                fill_lanes(inputs, 0, times[sample])
                for k in range(n):
                    fill_lanes(inputs, 1 + k, at[sample, k])
                copy_lanes(moved[sample], 0, inputs, 1 + n + len(held), n)
                call_kernel(expansion.address, inputs, expansion.constants, found)
                for lane in range(min(WIDTH, count - first)):
                    for k in range(shown):
                        out[r, first + lane, sample, k] = found[k, lane]
