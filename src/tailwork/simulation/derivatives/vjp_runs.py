"""Runs with their gradients, in compiled code: each is simulated, then its steps are differentiated backwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.simulation.derivatives.compiled import (
    ProductKernels,
    TakenSteps,
    add,
    constants_of,
    copy,
    kernels_of,
    main_constants,
)
from tailwork.simulation.derivatives.vjp_steps import Vjp, Vjps, steps_vjp
from tailwork.simulation.integrate.compiled import Settings, Tableau, call_kernel
from tailwork.simulation.integrate.driver import AT_EVENT, integrate
from tailwork.simulation.integrate.lane_driver import WIDTH, LaneKernels, Runs
from tailwork.typing import Floats

GRAZED = 4
"""Status of a run that ends where an event is only grazed: its end has no derivative. Others: see the driver."""
GRAZING = 1e-9
"""An event grazes if it falls more slowly than this share of how fast its parts change."""
TIED = 1e-9
"""Below this value an event that could have ended the run is taken to happen at its end as well."""


class VjpKernels(NamedTuple):
    """The vjps that a gradient needs."""

    derivative: ProductKernels
    objective: ProductKernels
    integrand: ProductKernels
    event: ProductKernels
    curvature: ProductKernels
    stage: int
    rates: int  # how many of a state's numbers are velocities


class DesignRows(NamedTuple):
    """By graph, a row a run: the numbers of its design, or derivatives by them."""

    derivative: Floats
    objective: Floats
    integrand: Floats
    event: Floats
    curvature: Floats


class GradientRows(NamedTuple):
    """Ends, values and gradients of runs, a row each."""

    status: np.ndarray
    event: np.ndarray
    times: Floats  # [s], of the end
    steps: np.ndarray
    values: Floats
    by_start: Floats
    tied: np.ndarray  # another event that happens at the same time as that which ended the run; −1: none


@njit(cache=True, nogil=True)
def _vjp(kernels: ProductKernels, numbers: Floats, lanes: int) -> Vjp:
    """A graph's vjp for one design."""
    if kernels.handed < 0:
        return Vjp(0, np.zeros(1), np.zeros(0))
    address = kernels.main.lanes if lanes > 1 else kernels.main.scalar
    return Vjp(address, main_constants(kernels, numbers, lanes), np.zeros(kernels.handed))


@njit(cache=True, nogil=True)
def _by_design(kernels: ProductKernels, numbers: Floats, vjp: Vjp, out: Floats) -> None:
    """From what was added up by what is handed over: derivatives by the numbers of the design."""
    if kernels.handed < 0:
        return
    weights = np.zeros(max(kernels.handed, 1))
    copy(vjp.by_handed, 0, weights, 0, kernels.handed)
    call_kernel(kernels.design.scalar, weights, constants_of(kernels.design, numbers), out)


@njit(cache=True, nogil=True)
def _at(kernels: ProductKernels, vjp: Vjp, last: Floats, which: int, weight: float) -> Floats:
    """Derivatives of a weighted output by t and x, then by what is handed over, then all outputs."""
    known = len(last)
    inputs, found = np.zeros(known + kernels.outputs), np.zeros(kernels.by + kernels.handed + kernels.outputs)
    copy(last, 0, inputs, 0, known)
    inputs[known + which] = weight
    call_kernel(vjp.address, inputs, vjp.constants, found)
    return found


@njit(cache=True, nogil=True)
def runs_vjp(
    kernels: LaneKernels, vjps: VjpKernels, method: Tableau, settings: Settings, stops: np.ndarray, runs: Runs,
    numbers: DesignRows, t1: float, first_run: int, last_run: int, found: GradientRows, by: DesignRows,
) -> None:  # fmt: skip
    """Runs number `first_run` to `last_run` from time 0 to t1 [s], with their gradients, left in `found` and `by`."""
    n = runs.states.shape[1]
    for r in range(first_run, last_run):
        held = runs.control_inputs[r]
        own = kernels_of(kernels, method, len(stops), runs, r)
        status, event, times, states, stages, lengths, _, _, _, _ = integrate(
            own, method, settings, stops, held, runs.states[r], 0.0, t1
        )
        found.status[r], found.event[r], found.times[r], found.steps[r] = status, event, times[-1], len(lengths)
        if status > AT_EVENT or not len(lengths):
            continue
        derivative = _vjp(vjps.derivative, numbers.derivative[r], 1)
        objective = _vjp(vjps.objective, numbers.objective[r], 1)
        integrand = _vjp(vjps.integrand, numbers.integrand[r], 1)
        curvature = _vjp(vjps.curvature, numbers.curvature[r], WIDTH)
        last = np.empty(1 + n + len(held))
        last[0] = times[-1]
        copy(states[-1], 0, last, 1, n)
        copy(held, 0, last, 1 + n, len(held))
        weight, value, rate = np.zeros(n), 0.0, 0.0
        if vjps.objective.handed >= 0:
            answer = _at(vjps.objective, objective, last, 0, 1.0)
            value, rate = answer[-1], answer[0]
            copy(answer, 1, weight, 0, n)
            copy(answer, 1 + n, objective.by_handed, 0, len(objective.by_handed))
        if status == AT_EVENT:
            # The end moves so that the event's value g stays zero: dT = −dg/g-dot. With T, the value
            # changes at the rate of the objective plus the integrand.
            moving = np.zeros(n)
            call_kernel(own.derivative, last, own.derivative_constants, moving)
            if vjps.integrand.handed >= 0:
                rate += _at(vjps.integrand, integrand, last, 0, 0.0)[-1]
            watched = _vjp(vjps.event, numbers.event[r], 1)
            answer = _at(vjps.event, watched, last, event, 1.0)
            falling, size = answer[0], abs(answer[0])
            for k in range(n):
                rate += weight[k] * moving[k]
                falling += answer[1 + k] * moving[k]
                size += abs(answer[1 + k] * moving[k])
            if abs(falling) <= GRAZING * size:
                found.status[r] = GRAZED
                continue
            for k in range(len(stops)):
                if k != event and stops[k] and abs(answer[len(answer) - len(stops) + k]) < TIED:
                    found.tied[r] = k
            share = -rate / falling
            add(share, answer, 1, weight)
            add(share, answer, 1 + n, watched.by_handed)
            _by_design(vjps.event, numbers.event[r], watched, by.event[r])
        else:
            for k in range(by.event.shape[1]):
                by.event[r, k] = 0.0
        own_vjps = Vjps(derivative, integrand, vjps.stage, curvature, vjps.rates)
        value += steps_vjp(own, own_vjps, method, TakenSteps(times, states, stages, lengths, held), weight)
        found.values[r] = value
        copy(weight, 0, found.by_start[r], 0, n)
        _by_design(vjps.derivative, numbers.derivative[r], derivative, by.derivative[r])
        _by_design(vjps.objective, numbers.objective[r], objective, by.objective[r])
        _by_design(vjps.integrand, numbers.integrand[r], integrand, by.integrand[r])
        _by_design(vjps.curvature, numbers.curvature[r], curvature, by.curvature[r])
