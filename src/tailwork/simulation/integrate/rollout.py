"""Rollouts: many designs over fixed steps in the lanes of the processor, with quantities at every node.

Runge–Kutta 4, or Rodas5P where the robot is stiff.

Steps that do not adapt make every result a smooth function of the design: what optimisers need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tailwork.algebra.expression import Scalar
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.observe import Path, path
from tailwork.mechanics.torso import coordinate_rates
from tailwork.simulation.asked import lane_kernels
from tailwork.simulation.chunk import Start, Way
from tailwork.simulation.designs import evaluated, in_shares, lane_kernel, parameter_rows
from tailwork.simulation.integrate.compiled import Settings, call_kernel
from tailwork.simulation.integrate.lane_driver import WIDTH, LaneKernel, lane_constants
from tailwork.simulation.integrate.tableaus import RODAS5P
from tailwork.simulation.system import Recorded, System
from tailwork.typing import Floats

Quantities = Callable[[Recorded, Path], Sequence[Scalar]]
"""Quantities at a node, from the symbols there and what the equations say of the path."""

SUMMARY = ("first", "last", "least", "greatest", "work")
"""Of a quantity over the nodes; work is the integral of its size over time."""


@dataclass(frozen=True)
class Rollout:
    """A system compiled for fixed steps, with quantities at its nodes."""

    system: System
    derivative: Kernel
    derivative_names: tuple[str, ...]  # of its parameters
    node: Kernel  # → x-dot, then the quantities
    node_names: tuple[str, ...]
    quantities: int
    stiff: Way | None  # how a stiff robot is integrated

    def nodes(
        self, columns: Mapping[str, Floats], states: Floats, duration: Floats, steps: int, pool: Executor | None = None
    ) -> Floats:
        """The quantities at all nodes of all designs, (designs, steps + 1, quantities).

        Args:
            columns: by name among the system's numbers: those in which the designs differ, (designs,).
            states: where they start, (designs, size).
            duration: of each [s], (designs,).
            steps: how many, at least one.
            pool: threads.
        """
        if self.stiff is not None:
            return self._stiff_nodes(self.stiff, columns, states, duration, steps, pool)
        found = np.empty((len(states), steps + 1, self.quantities))
        return self._rolled(_roll, columns, states, duration, steps, pool, found)

    def summaries(
        self, columns: Mapping[str, Floats], states: Floats, duration: Floats, steps: int, pool: Executor | None = None
    ) -> Floats:
        """SUMMARY of every quantity over the nodes, (designs, 5, quantities): the same numbers as `nodes` would give,
        without keeping them all. Arguments as there."""
        if self.stiff is not None:
            return summary(self.nodes(columns, states, duration, steps, pool), duration / steps)
        found = np.empty((len(states), len(SUMMARY), self.quantities))
        return self._rolled(_summarise, columns, states, duration, steps, pool, found)

    def _rolled(
        self, roll: Callable[..., None], columns: Mapping[str, Floats], states: Floats, duration: Floats, steps: int,
        pool: Executor | None, found: Floats,
    ) -> Floats:  # fmt: skip
        """Let compiled code fill `found`, a share of the designs at a time."""
        kernels = lane_kernel(self.derivative), lane_kernel(self.node)
        names, numbers, count = (self.derivative_names, self.node_names), self.system.numbers, len(states)
        rows = [parameter_rows(own, numbers, columns, count) for own in names]
        starts, step = np.ascontiguousarray(states), np.ascontiguousarray(duration) / steps

        def share(here: slice) -> None:
            roll(*kernels, *rows, starts, step, self.system.held, steps, found, here.start, here.stop)

        in_shares(pool, count, share)
        return found

    def _stiff_nodes(
        self, way: Way, columns: Mapping[str, Floats], states: Floats, duration: Floats, steps: int,
        pool: Executor | None,
    ) -> Floats:  # fmt: skip
        """The same by the stiff method, one duration after the other."""
        found = np.empty((len(states), steps + 1, self.quantities))
        for lasting in np.unique(duration):
            rows = np.flatnonzero(duration == lasting)
            own = {name: values[rows] for name, values in columns.items()}
            start = Start(np.ascontiguousarray(states[rows]), np.zeros((len(rows), self.system.held)), own)
            times, step = np.linspace(0.0, lasting, steps + 1), float(lasting) / steps
            fixed = replace(way, settings=Settings(1e-6, 1e-8, step, step, 2 * steps), duration=float(lasting))
            samples = fixed.ends(start, times[None], pool).samples
            lead = (len(rows), steps + 1)
            inputs = np.concatenate(
                [np.broadcast_to(times[:, None], (*lead, 1)), samples, np.zeros((*lead, self.system.held))], axis=2
            )
            parameters = parameter_rows(self.node_names, self.system.numbers, own, len(rows))
            found[rows] = evaluated(self.node, parameters, inputs, pool)[..., self.system.size :]
        return found


def summary(nodes: Floats, step: Floats) -> Floats:
    """SUMMARY of quantities at nodes (designs, nodes, quantities), for steps (designs,) [s]."""
    size = np.abs(nodes)
    work = (size.sum(axis=1) - 0.5 * (size[:, 0] + size[:, -1])) * step[:, None]
    return np.stack([nodes[:, 0], nodes[:, -1], nodes.min(axis=1), nodes.max(axis=1), work], axis=1)


def rollout(system: System, quantities: Quantities, name: Any, stiff: bool = False) -> Rollout:
    """A system ready for fixed steps; `name` stands for the quantities: the same name finds their kernel again."""
    derivative, derivative_names = system.compiled("derivative")
    way = None
    if stiff:
        kernels, tableau, names = lane_kernels(system, RODAS5P)
        way = Way(system, kernels, tableau, Settings(1e-6, 1e-8, 0.0, 0.0, 1), names, 1.0)
    node, node_names = system.once(("node", name), lambda: _node_kernel(system, quantities))
    return Rollout(system, derivative, derivative_names, node, node_names, node.outputs - system.size, way)


def _node_kernel(system: System, quantities: Quantities) -> tuple[Kernel, tuple[str, ...]]:
    recorded, parameters, count = system.record()
    found = path(recorded.layout, Inputs(recorded.q, recorded.v, recorded.tau, recorded.given))
    rates = coordinate_rates(recorded.layout, recorded.q, recorded.v)
    change = [rates[k] for k in system.free_q] + [found.acceleration[k] for k in system.free_v]
    outputs = [*change, *quantities(recorded, found)]
    return Kernel(finished(recorded.tape, outputs, count, len(parameters))), tuple(parameters)


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
                        kept[4, k, lane] = 0.5 * abs(value)
                    else:
                        low, high = kept[2, k, lane], kept[3, k, lane]
                        kept[2, k, lane] = low if low <= value or low != low else value
                        kept[3, k, lane] = high if high >= value or high != high else value
                        kept[4, k, lane] += abs(value) if i < steps else 0.5 * abs(value)
                    kept[1, k, lane] = value
            if i < steps:
                _advance(derivative, i, lanes)
        for lane in range(min(WIDTH, last - start)):
            for what in range(5):
                for k in range(quantities):
                    scale = lanes.h[lane] if what == 4 else 1.0
                    found[start + lane, what, k] = kept[what, k, lane] * scale
