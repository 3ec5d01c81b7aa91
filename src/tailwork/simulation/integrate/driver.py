"""The loop over steps: step sizes, events and what is kept, for both families of methods, in compiled code."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.simulation.integrate.compiled import Kernels, Settings, Tableau, call_kernel
from tailwork.simulation.integrate.steps import derivative, explicit_step, rosenbrock_step
from tailwork.typing import Floats

FINISHED, AT_EVENT, STUCK, TOO_LONG = 0, 1, 2, 3
"""How a run ends: at its end, at an event that stops it, where no step is small enough, after too many steps."""

SAFETY, SLOWEST, FASTEST = 0.9, 0.2, 6.0
SMALLEST = 1e-13  # steps below this share of the duration are given up
HALVINGS = 80


class Steps(NamedTuple):
    """What a run leaves behind. `stages[k]` with the tableau's p is the dense output of step k."""

    status: int
    event: int  # that stopped it; −1: none
    times: Floats  # [s], one more than steps
    states: Floats
    stages: Floats  # (steps, stages, n)
    lengths: Floats  # [s], of the steps that the stages belong to; the last may be cut short by an event
    event_times: Floats
    event_numbers: np.ndarray
    evaluations: int
    rejected: int


@njit(cache=True)
def between(x: Floats, u: Floats, p: Floats, theta: float, out: Floats) -> None:
    """out = the state at a share theta of a step: x + Σ_i u_i Σ_j p_ij theta^(j+1)."""
    for k in range(len(x)):
        out[k] = x[k]
    for i in range(p.shape[0]):
        weight = 0.0
        for j in range(p.shape[1] - 1, -1, -1):
            weight = (weight + p[i, j]) * theta
        if weight != 0.0:
            for k in range(len(x)):
                out[k] += weight * u[i, k]


@njit(cache=True)
def error_norm(error: Floats, x: Floats, new: Floats, rtol: float, atol: float) -> float:
    """Root mean square of the error in units of the tolerance."""
    total = 0.0
    for k in range(len(x)):
        scaled = error[k] / (atol + rtol * max(abs(x[k]), abs(new[k])))
        total += scaled * scaled
    return math.sqrt(total / len(x))


@njit(cache=True)
def event_values(events: int, constants: Floats, inputs: Floats, t: float, x: Floats, out: Floats) -> None:
    """Values of the events, by the address of their kernel; those that are not finite count as having happened."""
    inputs[0] = t
    for k in range(len(x)):
        inputs[1 + k] = x[k]
    call_kernel(events, inputs, constants, out)
    for k in range(len(out)):
        if not math.isfinite(out[k]):
            out[k] = -1.0


@njit(cache=True)
def crossing(
    events: int, constants: Floats, p: Floats, inputs: Floats, t: float, h: float, x: Floats, u: Floats, which: int,
    values: Floats, work: Floats,
) -> float:  # fmt: skip
    """Share of the step at which an event's value falls below zero, by halving on the dense output."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        theta = 0.5 * (low + high)
        if theta <= low or theta >= high:
            break
        between(x, u, p, theta, work)
        event_values(events, constants, inputs, t + theta * h, work, values)
        if values[which] < 0.0:
            high = theta
        else:
            low = theta
    return high


@njit(cache=True)
def enlarged(times: Floats, states: Floats, kept: Floats, lengths: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """What is kept of the steps, with room for twice as many. Loops, here and below: slices take long to compile."""
    done, stages, n = kept.shape
    more_times, more_states = np.empty(2 * done + 1), np.empty((2 * done + 1, n))
    more_kept, more_lengths = np.empty((2 * done, stages, n)), np.empty(2 * done)
    for s in range(done + 1):
        more_times[s] = times[s]
        for k in range(n):
            more_states[s, k] = states[s, k]
    for s in range(done):
        more_lengths[s] = lengths[s]
        for i in range(stages):
            for k in range(n):
                more_kept[s, i, k] = kept[s, i, k]
    return more_times, more_states, more_kept, more_lengths


@njit(cache=True)
def enlarged_events(times: Floats, numbers: np.ndarray, happened: int) -> tuple[Floats, np.ndarray]:
    """What is kept of the events that have happened, with room for more than twice as many."""
    room = 2 * len(times) + 1
    more_times, more_numbers = np.empty(room), np.empty(room, np.int64)
    for k in range(happened):
        more_times[k], more_numbers[k] = times[k], numbers[k]
    return more_times, more_numbers


@njit(cache=True)
def integrate(
    kernels: Kernels, method: Tableau, settings: Settings, stops: np.ndarray, held: Floats, x0: Floats, t0: float,
    t1: float,
) -> tuple[int, int, Floats, Floats, Floats, Floats, Floats, np.ndarray, int, int]:  # fmt: skip
    """Step from (t0, x0) to t1 [s]; `stops` says which events end the run. The fields of `Steps`, as a plain tuple: to
    make a named one runs Python code, in which a keyboard interrupt that came meanwhile would be raised and lost."""
    n, stages, count = len(x0), len(method.b), len(stops)
    room = 128
    times, states = np.empty(room + 1), np.empty((room + 1, n))
    kept, lengths = np.empty((room, stages, n)), np.empty(room)
    event_times, event_numbers = np.empty(count), np.empty(count, np.int64)
    inputs = np.empty(1 + n + len(held))
    for k in range(len(held)):
        inputs[1 + n + k] = held[k]
    x, first, new, error, u = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty((stages, n))
    linear_inputs, solve_inputs = np.empty(len(inputs) + n + 1), np.empty(kernels.linear_size + n + 1)
    values, values_new, probe = np.ones(count), np.ones(count), np.ones(count)
    times[0] = t0
    for k in range(n):
        x[k] = states[0, k] = x0[k]
    done, happened, evaluations, rejected, status, event = 0, 0, 1, 0, FINISHED, -1
    t, h = t0, settings.first
    if not derivative(kernels, inputs, t, x, first):
        status = STUCK
    if count:
        event_values(kernels.events, kernels.events_constants, inputs, t, x, values)
        for k in range(count):
            if values[k] < 0.0:
                event_times[happened], event_numbers[happened] = t, k
                happened += 1
                if stops[k] and status == FINISHED:
                    status, event = AT_EVENT, k
    while t < t1 and status == FINISHED:
        if done >= settings.most:
            status = TOO_LONG
            break
        last = t + h * (1.0 + 1e-10) >= t1
        step = t1 - t if last else h
        if method.stiff:
            fine = rosenbrock_step(
                kernels, method, inputs, t, step, x, first, u, new, error, linear_inputs, solve_inputs
            )
        else:
            fine = explicit_step(kernels, method, inputs, t, step, x, first, u, new, error)
        evaluations += stages - 1
        size = error_norm(error, x, new, settings.rtol, settings.atol) if fine else math.inf
        if settings.fixed > 0.0:
            if not fine:
                status = STUCK
                break
        elif not size <= 1.0:
            rejected += 1
            h = step * (max(SLOWEST, SAFETY * size ** (-1.0 / method.order)) if math.isfinite(size) else SLOWEST)
            if h < SMALLEST * (t1 - t0):
                status = STUCK
                break
            continue
        if done == room:
            room *= 2
            times, states, kept, lengths = enlarged(times, states, kept, lengths)
        lengths[done] = step
        for i in range(stages):
            for k in range(n):
                kept[done, i, k] = u[i, k]
        t_new = t1 if last else t + step
        if count:
            event_values(kernels.events, kernels.events_constants, inputs, t_new, new, values_new)
            if happened + count > len(event_times):
                event_times, event_numbers = enlarged_events(event_times, event_numbers, happened)
            earliest = 2.0
            for k in range(count):
                if values[k] >= 0.0 and values_new[k] < 0.0:
                    theta = crossing(
                        kernels.events, kernels.events_constants, method.p, inputs, t, step, x, u, k, probe, error
                    )
                    event_times[happened], event_numbers[happened] = t + theta * step, k
                    happened += 1
                    if stops[k] and theta < earliest:
                        earliest, event, status = theta, k, AT_EVENT
            if status == AT_EVENT:
                between(x, u, method.p, earliest, new)
                t_new = t + earliest * step
            for k in range(count):
                values[k] = values_new[k]
        done += 1
        times[done] = t = t_new
        for k in range(n):
            x[k] = states[done, k] = new[k]
        if status == AT_EVENT or last:
            break
        if not method.stiff:
            for k in range(n):
                first[k] = u[stages - 1, k] / step
        elif not derivative(kernels, inputs, t, new, first):
            status = STUCK
        if settings.fixed <= 0.0:
            grown = FASTEST if size == 0.0 else SAFETY * size ** (-1.0 / method.order)
            h = step * min(FASTEST, max(SLOWEST, grown))
    return (
        status, event, times[: done + 1], states[: done + 1], kept[:done], lengths[:done], event_times[:happened],
        event_numbers[:happened], evaluations, rejected,
    )  # fmt: skip
