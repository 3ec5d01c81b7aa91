"""Rollouts: many designs over fixed steps in the lanes of the processor, with quantities at every node.

Runge–Kutta 4, or Rodas5P where the robot is stiff.

Steps that do not adapt make every result a smooth function of the design: what optimisers need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.kernels.kernel import Kernel
from tailwork.simulation.batch_inputs import lane_kernels
from tailwork.simulation.batch_kernels import evaluated, in_shares, lane_kernel, parameter_rows
from tailwork.simulation.chunk import Integrator, Start
from tailwork.simulation.integrate.compiled import Settings, call_kernel
from tailwork.simulation.integrate.lane_driver import WIDTH, LaneKernel, lane_constants
from tailwork.simulation.integrate.tableaus import RODAS5P
from tailwork.simulation.system import System
from tailwork.typing import Floats

SUMMARY = ("first", "last", "least", "greatest", "integral")
"""Of a quantity over the nodes; the integral is over the scaled time, from 0 to 1."""


@dataclass(frozen=True)
class Rollout:
    """A system with scaled time, compiled for fixed steps, with the quantities that are observed at its nodes."""

    system: System
    derivative: Kernel
    derivative_names: tuple[str, ...]  # of its parameters
    node: Kernel  # → dx/ds, then the quantities
    node_names: tuple[str, ...]
    stiff: Integrator | None  # how a stiff system is integrated

    @property
    def quantities(self) -> int:
        """How many are observed."""
        return self.node.outputs - self.system.size

    def nodes(self, columns: Mapping[str, Floats], states: Floats, steps: int, pool: Executor | None = None) -> Floats:
        """The quantities at all nodes of all designs, (designs, steps + 1, quantities).

        Args:
            columns: by name: numbers in which the designs differ, (designs,).
            states: where they start, (designs, size).
            steps: how many, at least one.
            pool: threads.
        """
        if self.stiff is not None:
            return self._stiff_nodes(self.stiff, columns, states, steps, pool)
        found = np.empty((len(states), steps + 1, self.quantities))
        self._in_lanes(_roll, columns, states, steps, found, pool)
        return found

    def summaries(
        self, columns: Mapping[str, Floats], states: Floats, steps: int, pool: Executor | None = None
    ) -> Floats:
        """SUMMARY of every quantity over the nodes, (designs, 5, quantities): the same numbers as `nodes` would give,
        without keeping them all. Arguments as there."""
        if self.stiff is not None:
            return summary(self.nodes(columns, states, steps, pool))
        found = np.empty((len(states), len(SUMMARY), self.quantities))
        self._in_lanes(_summarise, columns, states, steps, found, pool)
        return found

    def _in_lanes(
        self, work: Callable[..., None], columns: Mapping[str, Floats], states: Floats, steps: int, found: Floats,
        pool: Executor | None,
    ) -> None:  # fmt: skip
        """A compiled function over the designs, a share at a time."""
        count = len(states)
        derivative, node = lane_kernel(self.derivative), lane_kernel(self.node)
        own = parameter_rows(self.derivative_names, self.system.numbers, columns, count)
        node_own = parameter_rows(self.node_names, self.system.numbers, columns, count)
        starts, step = np.ascontiguousarray(states), np.full(count, 1.0 / steps)
        held = self.system.control_inputs
        in_shares(
            pool, count,
            lambda here: work(
                derivative, node, own, node_own, starts, step, held, steps, found, here.start, here.stop
            ),
        )  # fmt: skip

    def _stiff_nodes(
        self, way: Integrator, columns: Mapping[str, Floats], states: Floats, steps: int, pool: Executor | None
    ) -> Floats:
        """The same by the stiff method."""
        count = len(states)
        start = Start(np.ascontiguousarray(states), np.zeros((count, self.system.control_inputs)), dict(columns))
        times = np.linspace(0.0, 1.0, steps + 1)
        fixed = replace(way, settings=Settings(1e-6, 1e-8, 1.0 / steps, 1.0 / steps, 2 * steps), duration=1.0)
        samples = fixed.ends(start, times[None], pool).samples
        lead = (count, steps + 1)
        inputs = np.concatenate(
            [np.broadcast_to(times[:, None], (*lead, 1)), samples, np.zeros((*lead, self.system.control_inputs))],
            axis=2,
        )
        parameters = parameter_rows(self.node_names, self.system.numbers, columns, count)
        return evaluated(self.node, parameters, inputs, pool)[..., self.system.size :]


def summary(nodes: Floats) -> Floats:
    """SUMMARY of quantities at evenly spaced nodes, (designs, nodes, quantities)."""
    integral = (nodes.sum(axis=1) - 0.5 * (nodes[:, 0] + nodes[:, -1])) / (nodes.shape[1] - 1)
    return np.stack([nodes[:, 0], nodes[:, -1], nodes.min(axis=1), nodes.max(axis=1), integral], axis=1)


def rollout(system: System, node: Kernel, node_names: tuple[str, ...], stiff: bool = False) -> Rollout:
    """A system with scaled time ready for fixed steps; `node` gives its derivative, then what is observed."""
    derivative, derivative_names = system.compiled("derivative")
    way = None
    if stiff:
        kernels, tableau, names = lane_kernels(system, RODAS5P)
        way = Integrator(system, kernels, tableau, Settings(1e-6, 1e-8, 0.0, 0.0, 1), names, 1.0)
    return Rollout(system, derivative, derivative_names, node, node_names, way)


class Lanes(NamedTuple):
    """What a block of designs needs: constants of both kernels, inputs, state, and room for the stages."""

    constants: Floats
    node_constants: Floats
    inputs: Floats
    seen: Floats
    x: Floats
    total: Floats
    rate: Floats
    h: Floats


@njit(cache=True, nogil=True)
def _room(derivative: LaneKernel, node: LaneKernel, n: int, held: int, quantities: int) -> Lanes:
    return Lanes(
        np.zeros((max(derivative.constants, 1), WIDTH)), np.zeros((max(node.constants, 1), WIDTH)),
        np.zeros((1 + n + held, WIDTH)), np.zeros((n + quantities, WIDTH)), np.zeros((n, WIDTH)),
        np.zeros((n, WIDTH)), np.zeros((n, WIDTH)), np.zeros(WIDTH),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _begin(
    derivative: LaneKernel, node: LaneKernel, derivative_rows: Floats, node_rows: Floats, states: Floats, step: Floats,
    start: int, last: int, lanes: Lanes,
) -> None:  # fmt: skip
    """A block of designs at its start; beyond the last design, that is repeated."""
    for lane in range(WIDTH):
        row = min(start + lane, last - 1)
        lane_constants(derivative, derivative_rows, row, lane, lanes.constants)
        lane_constants(node, node_rows, row, lane, lanes.node_constants)
        lanes.h[lane] = step[row]
        for k in range(states.shape[1]):
            lanes.x[k, lane] = states[row, k]


@njit(cache=True, nogil=True)
def _look(node: LaneKernel, i: int, lanes: Lanes) -> None:
    """The quantities at node i."""
    for lane in range(WIDTH):
        lanes.inputs[0, lane] = lanes.h[lane] * i
    for k in range(len(lanes.x)):
        for lane in range(WIDTH):
            lanes.inputs[1 + k, lane] = lanes.x[k, lane]
    call_kernel(node.lanes, lanes.inputs, lanes.node_constants, lanes.seen)


@njit(cache=True, nogil=True)
def _advance(derivative: LaneKernel, i: int, lanes: Lanes) -> None:
    """From node i to the next by Runge–Kutta 4; the first stage has been seen at the node."""
    n, h = len(lanes.x), lanes.h
    for k in range(n):
        for lane in range(WIDTH):
            lanes.total[k, lane] = lanes.seen[k, lane]
            lanes.inputs[1 + k, lane] = lanes.x[k, lane] + 0.5 * h[lane] * lanes.seen[k, lane]
    for lane in range(WIDTH):
        lanes.inputs[0, lane] = h[lane] * (i + 0.5)
    for share in (0.5, 1.0):
        call_kernel(derivative.lanes, lanes.inputs, lanes.constants, lanes.rate)
        for k in range(n):
            for lane in range(WIDTH):
                lanes.total[k, lane] += 2.0 * lanes.rate[k, lane]
                lanes.inputs[1 + k, lane] = lanes.x[k, lane] + share * h[lane] * lanes.rate[k, lane]
    for lane in range(WIDTH):
        lanes.inputs[0, lane] = h[lane] * (i + 1)
    call_kernel(derivative.lanes, lanes.inputs, lanes.constants, lanes.rate)
    for k in range(n):
        for lane in range(WIDTH):
            lanes.x[k, lane] += h[lane] / 6.0 * (lanes.total[k, lane] + lanes.rate[k, lane])


@njit(cache=True, nogil=True)
def _roll(
    derivative: LaneKernel, node: LaneKernel, derivative_rows: Floats, node_rows: Floats, states: Floats, step: Floats,
    held: int, steps: int, found: Floats, first: int, last: int,
) -> None:  # fmt: skip
    """Designs first … last: all quantities at all nodes."""
    n, quantities = states.shape[1], found.shape[2]
    lanes = _room(derivative, node, n, held, quantities)
    for start in range(first, last, WIDTH):
        _begin(derivative, node, derivative_rows, node_rows, states, step, start, last, lanes)
        for i in range(steps + 1):
            _look(node, i, lanes)
            for lane in range(min(WIDTH, last - start)):
                for k in range(quantities):
                    found[start + lane, i, k] = lanes.seen[n + k, lane]
            if i < steps:
                _advance(derivative, i, lanes)


@njit(cache=True, nogil=True)
def _summarise(
    derivative: LaneKernel, node: LaneKernel, derivative_rows: Floats, node_rows: Floats, states: Floats, step: Floats,
    held: int, steps: int, found: Floats, first: int, last: int,
) -> None:  # fmt: skip
    """The same, but only what SUMMARY says is kept of each quantity; a NaN stays one."""
    n, quantities = states.shape[1], found.shape[2]
    lanes = _room(derivative, node, n, held, quantities)
    kept = np.zeros((5, quantities, WIDTH))
    for start in range(first, last, WIDTH):
        _begin(derivative, node, derivative_rows, node_rows, states, step, start, last, lanes)
        for i in range(steps + 1):
            _look(node, i, lanes)
            for k in range(quantities):
                for lane in range(WIDTH):
                    value = lanes.seen[n + k, lane]
                    if i == 0:
                        kept[0, k, lane] = kept[2, k, lane] = kept[3, k, lane] = value
                        kept[4, k, lane] = 0.5 * value
                    else:
                        low, high = kept[2, k, lane], kept[3, k, lane]
                        kept[2, k, lane] = low if low <= value or low != low else value
                        kept[3, k, lane] = high if high >= value or high != high else value
                        kept[4, k, lane] += value if i < steps else 0.5 * value
                    kept[1, k, lane] = value
            if i < steps:
                _advance(derivative, i, lanes)
        for lane in range(min(WIDTH, last - start)):
            for what in range(5):
                for k in range(quantities):
                    scale = lanes.h[lane] if what == 4 else 1.0
                    found[start + lane, what, k] = kept[what, k, lane] * scale
