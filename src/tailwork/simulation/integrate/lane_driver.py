"""The loop over steps for many runs at once: as many side by side as a register has lanes, each with its own step.

Every lane does what `simulation.integrate.driver.integrate` does for one run, in the same order, so that a batch gives
the same bits as single runs. A lane whose run has ended takes the next one from the queue.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.kernels.native import machine
from tailwork.simulation.integrate.compiled import Settings, Tableau, call_kernel
from tailwork.simulation.integrate.driver import (
    AT_EVENT,
    FASTEST,
    FINISHED,
    SAFETY,
    SLOWEST,
    SMALLEST,
    STUCK,
    TOO_LONG,
    between,
    crossing,
    error_norm,
)
from tailwork.typing import Floats

WIDTH = machine().width


class LaneKernel(NamedTuple):
    """Addresses of a kernel's functions, and how many numbers it keeps of a design."""

    prelude: int
    scalar: int
    lanes: int
    constants: int


class LaneKernels(NamedTuple):
    """The kernels of a system; inputs start with [t, x, held efforts]."""

    derivative: LaneKernel
    events: LaneKernel
    linear: LaneKernel
    solve: LaneKernel
    linear_size: int


class Runs(NamedTuple):
    """What differs between runs, a row each."""

    states: Floats
    control_inputs: Floats
    derivative: Floats  # parameters of the kernels
    events: Floats
    linear: Floats


class Ends(NamedTuple):
    """What is known of each run at its end, a row each."""

    status: np.ndarray
    event: np.ndarray
    times: Floats
    states: Floats
    steps: np.ndarray
    rejected: np.ndarray
    samples: Floats  # (runs, times, n); NaN after the end
    step_ends: Floats  # (runs, steps) [s]; as many of the first steps as there is room for


@njit(cache=True, nogil=True)
def lane_constants(kernel: LaneKernel, parameters: Floats, row: int, lane: int, constants: Floats) -> None:
    """Run a kernel's prelude for the design in a row and put its numbers into a lane."""
    own = np.empty(max(kernel.constants, 1))
    call_kernel(kernel.prelude, own, parameters[row], own)
    for k in range(kernel.constants):
        constants[k, lane] = own[k]


@njit(cache=True, nogil=True)
def _explicit_lanes(
    kernels: LaneKernels, method: Tableau, inputs: Floats, constants: Floats, t: Floats, h: Floats, x: Floats,
    first: Floats, u: Floats, new: Floats, error: Floats,
) -> None:  # fmt: skip
    """A step of each lane; see tailwork.simulation.integrate.steps."""
    n, stages = len(x), len(method.b)
    for k in range(n):
        for lane in range(WIDTH):
            u[0, k, lane] = h[lane] * first[k, lane]
            error[k, lane] = 0.0
    for i in range(1, stages):
        for k in range(n):
            for lane in range(WIDTH):
                new[k, lane] = x[k, lane]
        for j in range(i):
            weight = method.a[i, j]
            if weight != 0.0:
                for k in range(n):
                    for lane in range(WIDTH):
                        new[k, lane] += weight * u[j, k, lane]
        for lane in range(WIDTH):
            inputs[0, lane] = t[lane] + method.c[i] * h[lane]
        for k in range(n):
            for lane in range(WIDTH):
                inputs[1 + k, lane] = new[k, lane]
        call_kernel(kernels.derivative.lanes, inputs, constants, u[i])
        for k in range(n):
            for lane in range(WIDTH):
                u[i, k, lane] *= h[lane]
    for i in range(len(method.e)):
        weight = method.e[i]
        for k in range(n):
            for lane in range(WIDTH):
                error[k, lane] += weight * u[i, k, lane]


@njit(cache=True, nogil=True)
def _rosenbrock_lanes(
    kernels: LaneKernels, method: Tableau, inputs: Floats, constants: Floats, linear_constants: Floats, t: Floats,
    h: Floats, x: Floats, first: Floats, u: Floats, new: Floats, error: Floats, linear_inputs: Floats,
    solve_inputs: Floats,
) -> None:  # fmt: skip
    """A step of each lane; see tailwork.simulation.integrate.steps."""
    n, stages, known, size = len(x), len(method.b), len(inputs), kernels.linear_size
    for lane in range(WIDTH):
        inputs[0, lane] = t[lane]
        linear_inputs[known + n, lane] = 1.0 / (h[lane] * method.extra[stages, 0])
    for k in range(n):
        for lane in range(WIDTH):
            inputs[1 + k, lane] = x[k, lane]
            solve_inputs[size + k, lane] = first[k, lane]
            linear_inputs[known + k, lane] = first[k, lane]
    for k in range(known):
        for lane in range(WIDTH):
            linear_inputs[k, lane] = inputs[k, lane]
    call_kernel(kernels.linear.lanes, linear_inputs, linear_constants, solve_inputs)
    for i in range(stages):
        if i:
            for k in range(n):
                for lane in range(WIDTH):
                    inputs[1 + k, lane] = x[k, lane]
                    error[k, lane] = 0.0
            for j in range(i):
                weight = method.a[i, j]
                for lane in range(WIDTH):
                    other = method.extra[i, j] / h[lane]
                    for k in range(n):
                        inputs[1 + k, lane] += weight * u[j, k, lane]
                        error[k, lane] += other * u[j, k, lane]
            for lane in range(WIDTH):
                inputs[0, lane] = t[lane] + method.c[i] * h[lane]
            call_kernel(kernels.derivative.lanes, inputs, constants, solve_inputs[size:])
            for k in range(n):
                for lane in range(WIDTH):
                    solve_inputs[size + k, lane] += error[k, lane]
        for lane in range(WIDTH):
            solve_inputs[size + n, lane] = h[lane] * method.extra[stages + 1, i]
        call_kernel(kernels.solve.lanes, solve_inputs, linear_constants, u[i])
    for k in range(n):
        for lane in range(WIDTH):
            new[k, lane] = x[k, lane]
            error[k, lane] = 0.0
    for i in range(stages):
        weight, other = method.b[i], method.e[i]
        for k in range(n):
            for lane in range(WIDTH):
                new[k, lane] += weight * u[i, k, lane]
                error[k, lane] += other * u[i, k, lane]


@njit(cache=True, nogil=True)
def _fine(method: Tableau, u: Floats, new: Floats, lane: int) -> bool:
    """Whether a lane's step is finite: all stages of an explicit method, the new state of a stiff one."""
    total = 0.0
    for k in range(len(new)):
        total += 0.0 * new[k, lane]
    if not method.stiff:
        for i in range(1, len(u)):
            for k in range(len(new)):
                total += 0.0 * u[i, k, lane]
    return total == 0.0


@njit(cache=True, nogil=True)
def integrate_lanes(
    kernels: LaneKernels, method: Tableau, settings: Settings, stops: np.ndarray, runs: Runs, sample_times: Floats,
    t1: float, first_run: int, last_run: int, ends: Ends,
) -> int:  # fmt: skip
    """Runs number `first_run` to `last_run` from time 0 to t1 [s]; what becomes of them is left in `ends`.

    Samples are taken at the times of a run's own row, or of the one row that there is. Returns how many steps all lanes
    did side by side.
    """
    n, held, count, stages = runs.states.shape[1], runs.control_inputs.shape[1], len(stops), len(method.b)
    known = 1 + n + held
    inputs, constants = np.zeros((known, WIDTH)), np.zeros((max(kernels.derivative.constants, 1), WIDTH))
    linear_constants = np.zeros((max(kernels.linear.constants, 1), WIDTH))
    event_constants = np.zeros((max(kernels.events.constants, 1), WIDTH))
    own_constants = np.zeros(max(kernels.events.constants, 1))
    linear_inputs, solve_inputs = np.zeros((known + n + 1, WIDTH)), np.zeros((kernels.linear_size + n + 1, WIDTH))
    x, first, new, error = np.zeros((n, WIDTH)), np.zeros((n, WIDTH)), np.zeros((n, WIDTH)), np.zeros((n, WIDTH))
    u, fresh_first = np.zeros((stages, n, WIDTH)), np.zeros((n, WIDTH))
    values, values_new = np.ones((max(count, 1), WIDTH)), np.ones((max(count, 1), WIDTH))
    probe, point, one = np.ones(max(count, 1)), np.zeros(n), np.zeros(known)
    t, h, step, size = np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH)
    run, sampled = np.full(WIDTH, -1, np.int64), np.zeros(WIDTH, np.int64)
    fresh, last = np.zeros(WIDTH, np.bool_), np.zeros(WIDTH, np.bool_)
    waiting, rounds, most = first_run, 0, sample_times.shape[1]
    while True:
        # Lanes without a run take the next one.
        active, any_fresh = False, False
        for lane in range(WIDTH):
            if run[lane] < 0 and waiting < last_run:
                r = waiting
                waiting += 1
                run[lane], fresh[lane], t[lane], h[lane], sampled[lane] = r, True, 0.0, settings.first, 0
                for k in range(n):
                    x[k, lane] = runs.states[r, k]
                for k in range(held):
                    inputs[1 + n + k, lane] = runs.control_inputs[r, k]
                lane_constants(kernels.derivative, runs.derivative, r, lane, constants)
                if count:
                    lane_constants(kernels.events, runs.events, r, lane, event_constants)
                if method.stiff:
                    lane_constants(kernels.linear, runs.linear, r, lane, linear_constants)
                ends.steps[r], ends.rejected[r], ends.status[r], ends.event[r] = 0, 0, FINISHED, -1
            active = active or run[lane] >= 0
            any_fresh = any_fresh or fresh[lane]
        if not active:
            return rounds
        if any_fresh:
            for lane in range(WIDTH):
                inputs[0, lane] = t[lane]
            for k in range(n):
                for lane in range(WIDTH):
                    inputs[1 + k, lane] = x[k, lane]
            call_kernel(kernels.derivative.lanes, inputs, constants, fresh_first)
            if count:
                call_kernel(kernels.events.lanes, inputs, event_constants, values_new)
            for lane in range(WIDTH):
                if not fresh[lane]:
                    continue
                r, fresh[lane] = run[lane], False
                ended = False
                for k in range(n):
                    first[k, lane] = fresh_first[k, lane]
                    if not math.isfinite(first[k, lane]):
                        ends.status[r], ended = STUCK, True
                for k in range(count):
                    if not math.isfinite(values_new[k, lane]):
                        values_new[k, lane] = -1.0
                    values[k, lane] = values_new[k, lane]
                    if values[k, lane] < 0.0 and stops[k] and ends.status[r] == FINISHED:
                        ends.status[r], ends.event[r], ended = AT_EVENT, k, True
                for k in range(n):
                    point[k] = x[k, lane]
                own = r if len(sample_times) > 1 else 0
                while sampled[lane] < most and sample_times[own, sampled[lane]] <= 0.0:
                    for k in range(n):
                        ends.samples[r, sampled[lane], k] = point[k]
                    sampled[lane] += 1
                if ended:
                    _finish(ends, r, 0.0, point, sampled[lane])
                    run[lane] = -1
        rounds += 1
        for lane in range(WIDTH):
            last[lane] = t[lane] + h[lane] * (1.0 + 1e-10) >= t1
            step[lane] = t1 - t[lane] if last[lane] else h[lane]
            if run[lane] < 0:
                step[lane] = settings.first  # a lane without a run goes along; nothing comes of it
        if method.stiff:
            _rosenbrock_lanes(
                kernels, method, inputs, constants, linear_constants, t, step, x, first, u, new, error, linear_inputs,
                solve_inputs,
            )  # fmt: skip
        else:
            _explicit_lanes(kernels, method, inputs, constants, t, step, x, first, u, new, error)
        any_new = False
        for lane in range(WIDTH):
            size[lane] = math.inf
            if run[lane] < 0:
                continue
            r = run[lane]
            fine = _fine(method, u, new, lane)
            if fine:
                size[lane] = error_norm(error[:, lane], x[:, lane], new[:, lane], settings.rtol, settings.atol)
            if settings.fixed > 0.0:
                if not fine:
                    ends.status[r] = STUCK
                else:
                    size[lane] = 0.0
            elif not size[lane] <= 1.0:
                ends.rejected[r] += 1
                s = size[lane]
                shrunk = max(SLOWEST, SAFETY * s ** (-1.0 / method.order)) if math.isfinite(s) else SLOWEST
                h[lane] = step[lane] * shrunk
                size[lane] = math.inf
                if h[lane] < SMALLEST * t1:
                    ends.status[r] = STUCK
            if ends.status[r] != FINISHED:
                for k in range(n):
                    point[k] = x[k, lane]
                _finish(ends, r, t[lane], point, sampled[lane])
                run[lane] = -1
                size[lane] = math.inf
            any_new = any_new or size[lane] <= 1.0
        if any_new and (count or method.stiff):
            for lane in range(WIDTH):
                inputs[0, lane] = t1 if last[lane] else t[lane] + step[lane]
            for k in range(n):
                for lane in range(WIDTH):
                    inputs[1 + k, lane] = new[k, lane]
            if count:
                call_kernel(kernels.events.lanes, inputs, event_constants, values_new)
            if method.stiff:
                call_kernel(kernels.derivative.lanes, inputs, constants, fresh_first)
        for lane in range(WIDTH):
            if not size[lane] <= 1.0:
                continue
            r = run[lane]
            t_new = t1 if last[lane] else t[lane] + step[lane]
            end = 1.0
            for k in range(count):
                if not math.isfinite(values_new[k, lane]):
                    values_new[k, lane] = -1.0
                if values[k, lane] >= 0.0 and values_new[k, lane] < 0.0 and stops[k]:
                    for c in range(kernels.events.constants):
                        own_constants[c] = event_constants[c, lane]
                    for c in range(held):
                        one[1 + n + c] = inputs[1 + n + c, lane]
                    theta = crossing(
                        kernels.events.scalar, own_constants, method.p, one, t[lane], step[lane], x[:, lane],
                        u[:, :, lane], k, probe, point,
                    )  # fmt: skip
                    if ends.status[r] == FINISHED or theta < end:
                        end, ends.status[r], ends.event[r] = theta, AT_EVENT, k
                values[k, lane] = values_new[k, lane]
            if ends.status[r] == AT_EVENT:
                t_new = t[lane] + end * step[lane]
            own = r if len(sample_times) > 1 else 0
            while sampled[lane] < most and sample_times[own, sampled[lane]] <= t_new:
                theta = (sample_times[own, sampled[lane]] - t[lane]) / step[lane]
                between(x[:, lane], u[:, :, lane], method.p, theta, point)
                for k in range(n):
                    ends.samples[r, sampled[lane], k] = point[k]
                sampled[lane] += 1
            if ends.status[r] == AT_EVENT:
                between(x[:, lane], u[:, :, lane], method.p, end, point)
            else:
                for k in range(n):
                    point[k] = new[k, lane]
            if ends.steps[r] < ends.step_ends.shape[1]:
                ends.step_ends[r, ends.steps[r]] = t_new
            ends.steps[r] += 1
            t[lane] = t_new
            for k in range(n):
                x[k, lane] = point[k]
                first[k, lane] = fresh_first[k, lane] if method.stiff else u[stages - 1, k, lane] / step[lane]
                if not math.isfinite(first[k, lane]) and ends.status[r] == FINISHED and not last[lane]:
                    ends.status[r] = STUCK
            if settings.fixed <= 0.0:
                s = size[lane]
                grown = FASTEST if s == 0.0 else SAFETY * s ** (-1.0 / method.order)
                h[lane] = step[lane] * min(FASTEST, max(SLOWEST, grown))
            if not last[lane] and ends.status[r] == FINISHED and ends.steps[r] >= settings.most:
                ends.status[r] = TOO_LONG
            if last[lane] or ends.status[r] != FINISHED:
                _finish(ends, r, t_new, point, sampled[lane])
                run[lane] = -1


@njit(cache=True, nogil=True)
def _finish(ends: Ends, r: int, t: float, x: Floats, sampled: int) -> None:
    """Write down how a run ended."""
    ends.times[r] = t
    for k in range(len(x)):
        ends.states[r, k] = x[k]
    for s in range(sampled, ends.samples.shape[1]):
        for k in range(len(x)):
            ends.samples[r, s, k] = math.nan


@njit(cache=True, nogil=True)
def evaluate_lanes(
    kernel: LaneKernel, parameters: Floats, inputs: Floats, outputs: Floats, first_run: int, last_run: int
) -> None:
    """A kernel for several rows of inputs of every run, (runs, rows, inputs) → (runs, rows, outputs)."""
    rows, size, count = inputs.shape[1], inputs.shape[2], outputs.shape[2]
    constants = np.zeros((max(kernel.constants, 1), WIDTH))
    x, y = np.zeros((size, WIDTH)), np.zeros((count, WIDTH))
    for r in range(first_run, last_run):
        lane_constants(kernel, parameters, r, 0, constants)
        for k in range(kernel.constants):
            for lane in range(1, WIDTH):
                constants[k, lane] = constants[k, 0]
        for start in range(0, rows, WIDTH):
            for lane in range(WIDTH):
                row = min(start + lane, rows - 1)
                for k in range(size):
                    x[k, lane] = inputs[r, row, k]
            call_kernel(kernel.lanes, x, constants, y)
            for lane in range(min(WIDTH, rows - start)):
                for k in range(count):
                    outputs[r, start + lane, k] = y[k, lane]
