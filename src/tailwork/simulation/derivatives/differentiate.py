"""Runs with their gradients, in compiled code: each is simulated, then its steps are differentiated backwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.simulation.derivatives.backwards import Path, Pull, Pulls, backwards
from tailwork.simulation.integrate.compiled import Kernels, Settings, Tableau
from tailwork.simulation.integrate.driver import AT_EVENT, integrate
from tailwork.simulation.integrate.lane_driver import WIDTH, LaneKernel, LaneKernels, Runs
from tailwork.simulation.integrate.native_call import call_kernel
from tailwork.typing import Floats

GRAZED = 4
"""Status of a run that ends where an event is only grazed: its end has no derivative. Others: see the driver."""
GRAZING = 1e-9
"""An event grazes if it falls more slowly than this share of how fast its parts change."""
TIED = 1e-9
"""Below this value an event that could have ended the run is taken to happen at its end as well."""


class Reversal(NamedTuple):
    """Kernels of a graph backwards; see tailwork.simulation.derivatives.vjp."""

    handing: LaneKernel
    pull: LaneKernel
    design: LaneKernel
    handed: int  # numbers that the part of the graph that depends on the design alone hands over; −1: there is no graph
    by: int  # inputs that it is differentiated by
    outputs: int


class Reversals(NamedTuple):
    """All graphs that a gradient needs backwards."""

    derivative: Reversal
    objective: Reversal
    integrand: Reversal
    event: Reversal
    curvature: Reversal
    transposed: int
    rates: int


class ByDesign(NamedTuple):
    """Derivatives by the numbers of each graph, a row a run; where they go, or from which the numbers are taken."""

    derivative: Floats
    objective: Floats
    integrand: Floats
    event: Floats
    curvature: Floats


class Found(NamedTuple):
    """What is known of each run, a row each."""

    status: np.ndarray
    event: np.ndarray
    times: Floats  # [s], of the end
    steps: np.ndarray
    values: Floats
    by_start: Floats
    tied: np.ndarray  # another event that happens at the same time as that which ended the run; −1: none


@njit(cache=True, nogil=True)
def constants_of(kernel: LaneKernel, parameters: Floats) -> Floats:
    """Run a kernel's prelude."""
    own = np.empty(max(kernel.constants, 1))
    call_kernel(kernel.prelude, own, parameters, own)
    return own


@njit(cache=True, nogil=True)
def kernels_of(kernels: LaneKernels, method: Tableau, watched: int, runs: Runs, r: int) -> Kernels:
    """Kernels with the constants of run number r."""
    return Kernels(
        kernels.derivative.scalar, constants_of(kernels.derivative, runs.derivative[r]),
        kernels.events.scalar, constants_of(kernels.events, runs.events[r]) if watched else np.zeros(1),
        kernels.linear.scalar, constants_of(kernels.linear, runs.linear[r]) if method.stiff else np.zeros(1),
        kernels.linear_size, kernels.solve.scalar,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _placed(reversal: Reversal, numbers: Floats, lanes: int) -> Pull:
    """A graph backwards for one design, its constants repeated for as many lanes."""
    if reversal.handed < 0:
        return Pull(0, np.zeros(1), np.zeros(0))
    handed = np.zeros(max(reversal.handed, 1))
    call_kernel(reversal.handing.scalar, handed, constants_of(reversal.handing, numbers), handed)
    constants = constants_of(reversal.pull, handed)
    if lanes > 1:
        wide = np.empty(len(constants) * lanes)
        for k in range(len(wide)):
            wide[k] = constants[k // lanes]
        return Pull(reversal.pull.lanes, wide, np.zeros(reversal.handed))
    return Pull(reversal.pull.scalar, constants, np.zeros(reversal.handed))


@njit(cache=True, nogil=True)
def _by_design(reversal: Reversal, numbers: Floats, pull: Pull, out: Floats) -> None:
    """From what was added up by what is handed over: derivatives by the numbers of the design."""
    if reversal.handed < 0:
        return
    weights = np.zeros(max(reversal.handed, 1))
    for k in range(reversal.handed):
        weights[k] = pull.by_handed[k]
    call_kernel(reversal.design.scalar, weights, constants_of(reversal.design, numbers), out)


@njit(cache=True, nogil=True)
def _at(reversal: Reversal, pull: Pull, last: Floats, which: int, weight: float) -> Floats:
    """Derivatives of a weighted output by t and x, then by what is handed over, then all outputs."""
    known = len(last)
    inputs, found = np.zeros(known + reversal.outputs), np.zeros(reversal.by + reversal.handed + reversal.outputs)
    for k in range(known):
        inputs[k] = last[k]
    inputs[known + which] = weight
    call_kernel(pull.address, inputs, pull.constants, found)
    return found


@njit(cache=True, nogil=True)
def differentiate_runs(
    kernels: LaneKernels, reversals: Reversals, method: Tableau, settings: Settings, stops: np.ndarray, runs: Runs,
    numbers: ByDesign, t1: float, first_run: int, last_run: int, found: Found, by: ByDesign,
) -> None:  # fmt: skip
    """Runs number `first_run` to `last_run` from time 0 to t1 [s], with their gradients, left in `found` and `by`."""
    n = runs.states.shape[1]
    for r in range(first_run, last_run):
        held = runs.held[r]
        own = kernels_of(kernels, method, len(stops), runs, r)
        status, event, times, states, stages, lengths, _, _, _, _ = integrate(
            own, method, settings, stops, held, runs.states[r], 0.0, t1
        )
        found.status[r], found.event[r], found.times[r], found.steps[r] = status, event, times[-1], len(lengths)
        if status > AT_EVENT or not len(lengths):
            continue
        derivative = _placed(reversals.derivative, numbers.derivative[r], 1)
        objective = _placed(reversals.objective, numbers.objective[r], 1)
        integrand = _placed(reversals.integrand, numbers.integrand[r], 1)
        curvature = _placed(reversals.curvature, numbers.curvature[r], WIDTH)
        last = np.empty(1 + n + len(held))
        last[0] = times[-1]
        for k in range(n):
            last[1 + k] = states[-1, k]
        for k in range(len(held)):
            last[1 + n + k] = held[k]
        weight, value, rate = np.zeros(n), 0.0, 0.0
        if reversals.objective.handed >= 0:
            answer = _at(reversals.objective, objective, last, 0, 1.0)
            value, rate = answer[-1], answer[0]
            for k in range(n):
                weight[k] = answer[1 + k]
            for k in range(len(objective.by_handed)):
                objective.by_handed[k] = answer[1 + n + k]
        if status == AT_EVENT:
            # The end moves so that the event's value g stays zero: dT = −dg/g-dot. With T, what the run comes to
            # changes at the rate of the objective plus the integrand.
            moving = np.zeros(n)
            call_kernel(own.derivative, last, own.derivative_constants, moving)
            if reversals.integrand.handed >= 0:
                rate += _at(reversals.integrand, integrand, last, 0, 0.0)[-1]
            watched = _placed(reversals.event, numbers.event[r], 1)
            answer = _at(reversals.event, watched, last, event, 1.0)
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
            for k in range(n):
                weight[k] += share * answer[1 + k]
            for k in range(len(watched.by_handed)):
                watched.by_handed[k] = share * answer[1 + n + k]
            _by_design(reversals.event, numbers.event[r], watched, by.event[r])
        else:
            for k in range(by.event.shape[1]):
                by.event[r, k] = 0.0
        pulls = Pulls(derivative, integrand, reversals.transposed, curvature, reversals.rates)
        value += backwards(own, pulls, method, Path(times, states, stages, lengths, held), weight)
        found.values[r] = value
        for k in range(n):
            found.by_start[r, k] = weight[k]
        _by_design(reversals.derivative, numbers.derivative[r], derivative, by.derivative[r])
        _by_design(reversals.objective, numbers.objective[r], objective, by.objective[r])
        _by_design(reversals.integrand, numbers.integrand[r], integrand, by.integrand[r])
        _by_design(reversals.curvature, numbers.curvature[r], curvature, by.curvature[r])
