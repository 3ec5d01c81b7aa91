"""Rollouts: many designs over fixed steps in the lanes of the processor, with quantities at every node.

Runge–Kutta 4, or Rodas5P where the robot is stiff.

Steps that do not adapt make every result a smooth function of the design: what optimisers need.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from tailwork.kernels.kernel import Kernel
from tailwork.kernels.language import Ints, Lanes, Reals, Struct, lanes, where, width
from tailwork.kernels.translate import driver
from tailwork.simulation.batch.kernels import evaluated, in_shares, parameter_rows
from tailwork.simulation.integrate.compiled import WIDTH, LaneKernel, Settings, lane_constants, lane_kernel
from tailwork.simulation.integrate.integrator import Integrator, Start
from tailwork.simulation.integrate.tableaus import RODAS5P
from tailwork.simulation.system import System
from tailwork.typing import Floats

SUMMARY = ("first", "last", "least", "greatest", "integral")
"""Of a quantity over the nodes; the integral is over the scaled time, from 0 to 1."""


class RolloutKernel(Struct):
    """A kernel of a rollout: where the state is among its inputs and its rates are among its outputs."""

    kernel: LaneKernel
    parameters: Reals  # a row a design
    parameters_size: int
    inputs: Lanes
    size: int  # of the inputs
    outputs: Lanes
    constants: Lanes
    own: Reals
    base: Reals  # a row a design: inputs that stay; empty: they are zero
    based: bool
    place: Ints  # by number of a state: its input
    rate: Ints  # likewise: the output that is its rate


class RolloutJob(Struct):
    """Designs number `first` to `last` over fixed steps."""

    n: int
    first: int
    last: int
    steps: int
    states: Reals
    derivative: RolloutKernel
    node: RolloutKernel  # gives rates, too, and the quantities
    shown: int  # output of `node` that is the first quantity
    quantities: int
    x: Lanes
    total: Lanes
    kept: Lanes  # (5, quantities): SUMMARY so far
    results: Reals  # (designs, nodes or 5, quantities)
    every: bool  # whether all nodes are asked for, or their summary


def roll_out(job: RolloutJob) -> int:
    """Quantities at all nodes, or their summaries."""
    lane_count, quantities, steps = width(job.x), job.quantities, job.steps
    h = 1.0 / steps
    for start in range(job.first, job.last, lane_count):
        for lane in range(lane_count):
            design = min(start + lane, job.last - 1)  # beyond the last design, that is repeated
            begin_design(job.derivative, design, lane)
            begin_design(job.node, design, lane)
            for k in range(job.n):
                job.x[k, lane] = job.states[design * job.n + k]
        for i in range(steps + 1):
            node, place = job.node, job.node.place
            node.inputs[0] = h * i
            for k in range(job.n):
                node.inputs[place[k]] = job.x[k]
            node.kernel.lanes(node.inputs, node.constants, node.outputs)
            if job.every:
                for lane in range(min(lane_count, job.last - start)):
                    row = ((start + lane) * (steps + 1) + i) * quantities
                    for k in range(quantities):
                        job.results[row + k] = node.outputs[job.shown + k, lane]
            else:
                summarise(job, i)
            if i < steps:
                rk4_step(job, h, i)
        if not job.every:
            for lane in range(min(lane_count, job.last - start)):
                for k in range(5 * quantities):
                    scale = h if k >= 4 * quantities else 1.0
                    job.results[(start + lane) * 5 * quantities + k] = job.kept[k, lane] * scale
    return 0


def begin_design(side: RolloutKernel, design: int, lane: int) -> None:
    """Constants and inputs of a design in a lane."""
    lane_constants(side.kernel, side.parameters[design * side.parameters_size :], side.own, lane, side.constants)
    if side.based:
        for k in range(side.size):
            side.inputs[k, lane] = side.base[design * side.size + k]


def rk4_step(job: RolloutJob, h: float, i: int) -> None:
    """From node i to the next by Runge–Kutta 4; the first stage has been seen at the node."""
    side, seen, x, total = job.derivative, job.node.outputs, job.x, job.total
    inputs, rates, place, rate, node_rate = side.inputs, side.outputs, side.place, side.rate, job.node.rate
    for k in range(job.n):
        total[k] = seen[node_rate[k]]
        inputs[place[k]] = x[k] + 0.5 * h * seen[node_rate[k]]
    inputs[0] = h * (i + 0.5)
    for stage in range(2):
        share = 0.5 if stage == 0 else 1.0
        side.kernel.lanes(inputs, side.constants, rates)
        for k in range(job.n):
            total[k] += 2.0 * rates[rate[k]]
            inputs[place[k]] = x[k] + share * h * rates[rate[k]]
    inputs[0] = h * (i + 1)
    side.kernel.lanes(inputs, side.constants, rates)
    for k in range(job.n):
        x[k] += h / 6.0 * (total[k] + rates[rate[k]])


def summarise(job: RolloutJob, i: int) -> None:
    """Take in the quantities at node i; a NaN stays one."""
    kept, quantities = job.kept, job.quantities
    for k in range(quantities):
        value = job.node.outputs[job.shown + k]
        if i == 0:
            kept[k] = value
            kept[2 * quantities + k] = value
            kept[3 * quantities + k] = value
            kept[4 * quantities + k] = 0.5 * value
        else:
            low, high = kept[2 * quantities + k], kept[3 * quantities + k]
            kept[2 * quantities + k] = where((low <= value) | (low != low), low, value)
            kept[3 * quantities + k] = where((high >= value) | (high != high), high, value)
            kept[4 * quantities + k] += value if i < job.steps else 0.5 * value
        kept[quantities + k] = value


@dataclass(frozen=True)
class RolledKernel:
    """A kernel of a rollout for many designs; see `RolloutKernel`."""

    kernel: Kernel
    parameters: Floats  # (designs, parameters)
    place: np.ndarray
    rate: np.ndarray
    base: Floats | None = None  # (designs, inputs); None: all zero

    def side(self) -> RolloutKernel:
        """As the driver takes it."""
        kernel, based = self.kernel, self.base is not None
        return RolloutKernel(
            kernel=lane_kernel(kernel), parameters=self.parameters.reshape(-1),
            parameters_size=self.parameters.shape[1], size=kernel.inputs, own=np.zeros(max(kernel.kept, 1)),
            base=np.ascontiguousarray(self.base).reshape(-1) if based else np.zeros(1), based=based,
            place=self.place, rate=self.rate,
            **lanes(WIDTH, inputs=kernel.inputs, outputs=kernel.outputs, constants=max(kernel.kept, 1)),
        )  # fmt: skip


def rolled(
    derivative: RolledKernel, node: RolledKernel, shown: slice, states: Floats, steps: int, every: bool,
    pool: Executor | None,
) -> Floats:  # fmt: skip
    """As `Rollout`, by two kernels: one gives the rates of the state, the other these too, and the quantities; `shown`
    are those among its outputs."""
    (count, n), quantities, states = states.shape, shown.stop - shown.start, np.ascontiguousarray(states).reshape(-1)
    found = np.empty((count, steps + 1 if every else len(SUMMARY), quantities))
    call = driver(roll_out, WIDTH)
    for side in (derivative, node):
        lane_kernel(side.kernel)  # compiled here, not on the threads of a pool

    def share(here: slice) -> None:
        call(RolloutJob(
            n=n, first=here.start, last=here.stop, steps=steps, states=states, derivative=derivative.side(),
            node=node.side(), shown=shown.start, quantities=quantities, results=found.reshape(-1), every=every,
            **lanes(WIDTH, x=n, total=n, kept=5 * quantities),
        ))  # fmt: skip

    in_shares(pool, count, share)
    return found


@dataclass(frozen=True)
class Rollout:
    """A system with scaled time, compiled for fixed steps, with the quantities that are observed at its nodes."""

    system: System
    node: Kernel  # → dx/ds, then the quantities
    node_names: tuple[str, ...]  # of its parameters
    stiff: bool  # whether it is integrated by Rodas5P

    def __call__(
        self, columns: Mapping[str, Floats], states: Floats, steps: int, every: bool = True,
        pool: Executor | None = None,
    ) -> Floats:  # fmt: skip
        """The quantities at all nodes of all designs, (designs, steps + 1, quantities), or SUMMARY of each over the
        nodes, (designs, 5, quantities): the same numbers, without keeping them all.

        Args:
            columns: by name: numbers in which the designs differ, (designs,).
            states: where they start, (designs, size).
            steps: how many, at least one.
            every: whether all nodes are wanted.
            pool: threads.
        """
        if self.stiff:
            nodes = self._stiff_nodes(columns, states, steps, pool)
            return nodes if every else summary(nodes)
        system, count, rows = self.system, len(states), np.arange(self.system.size)
        derivative, names = system.compiled("derivative")
        first, second = (
            RolledKernel(kernel, parameter_rows(own, system.numbers, columns, count), 1 + rows, rows)
            for kernel, own in ((derivative, names), (self.node, self.node_names))
        )
        return rolled(first, second, slice(system.size, self.node.outputs), states, steps, every, pool)

    def _stiff_nodes(self, columns: Mapping[str, Floats], states: Floats, steps: int, pool: Executor | None) -> Floats:
        """The quantities at all nodes, by the stiff method."""
        count, held = len(states), self.system.control_inputs
        start = Start(np.ascontiguousarray(states), np.zeros((count, held)), columns)
        times = np.linspace(0.0, 1.0, steps + 1)
        samples = (
            Integrator(self.system, RODAS5P, fixed_steps(steps), 1.0, False).ends(start, times[None], pool).samples
        )
        lead = (count, steps + 1)
        inputs = np.concatenate([np.broadcast_to(times[:, None], (*lead, 1)), samples, np.zeros((*lead, held))], axis=2)
        parameters = parameter_rows(self.node_names, self.system.numbers, columns, count)
        return evaluated(self.node, parameters, inputs, pool)[..., self.system.size :]


def fixed_steps(steps: int) -> Settings:
    """So many steps of a duration of 1."""
    return Settings(1e-6, 1e-8, 1.0 / steps, 1.0 / steps, 2 * steps)


def summary(nodes: Floats) -> Floats:
    """SUMMARY of quantities at evenly spaced nodes, (designs, nodes, quantities)."""
    integral = (nodes.sum(axis=1) - 0.5 * (nodes[:, 0] + nodes[:, -1])) / (nodes.shape[1] - 1)
    return np.stack([nodes[:, 0], nodes[:, -1], nodes.min(axis=1), nodes.max(axis=1), integral], axis=1)
