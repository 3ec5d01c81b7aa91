"""Derivatives of rollouts along directions of the design, in lanes: jvp through every step and every node."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tailwork.kernels.graph import Graph
from tailwork.kernels.jvp import pushed_forward
from tailwork.kernels.kernel import Kernel
from tailwork.simulation.asked import lane_kernels
from tailwork.simulation.derivatives.forwards import Directions, Extensions, Numbers, extend_runs
from tailwork.simulation.derivatives.jvp import curvature_forward, derivative_forward, forward, pushed_solution
from tailwork.simulation.derivatives.sensitivities import extension
from tailwork.simulation.designs import parameter_rows
from tailwork.simulation.integrate.compiled import Settings
from tailwork.simulation.integrate.lane_driver import Runs
from tailwork.simulation.integrate.tableaus import RK4, RODAS5P
from tailwork.simulation.system import System
from tailwork.typing import Floats


def rollout_tangents(
    system: System, node: tuple[Graph, tuple[str, ...]], key: object, stiff: bool, columns: Mapping[str, Floats],
    state: Floats, directions: Floats, names: list[str], steps: int,
) -> Floats:  # fmt: skip
    """How what is observed at the nodes of one rollout changes along directions of some of its numbers.

    Args:
        system: with scaled time.
        node: graph of (t, x, …) → dx/ds, quantities; and the names of its parameters.
        key: of the node's graph, for what is compiled from it.
        stiff: whether it is integrated by Rodas5P, else by Runge–Kutta 4.
        columns: by name: the numbers of the design, (1,).
        state: where it starts, (size,).
        directions: rates of the numbers, (directions, names).
        names: of these numbers.
        steps: of the rollout.

    Returns:
        (directions, steps + 1, quantities), in the units of the quantities for each unit of a direction.
    """
    forwards = {"derivative": derivative_forward(system)}
    forwards["expansion"] = system.once(("forward node", key), lambda: forward(node, system.state_inputs))
    if stiff:
        forwards["curvature"] = curvature_forward(system)
    rates: dict[str, Floats] = {}
    for graph in Numbers._fields:
        own = forwards[graph].names if graph in forwards else ()
        rates[graph] = np.zeros((len(directions), max(len(own), 1)))
        for k, name in enumerate(own):
            if name in names:
                rates[graph][:, k] = directions[:, names.index(name)]
    moved = Directions(**rates, start=_initial_tangents(system, columns, directions, names))
    method = RODAS5P if stiff else RK4
    kernels, tableau, kernel_names = lane_kernels(system, method)
    extensions = Extensions(
        **{name: extension(forwards.get(name)) for name in Numbers._fields},
        solve=pushed_solution(system).lane_address() if stiff else 0, rates=len(system.free_v),
        shown=forwards["expansion"].outputs,
    )  # fmt: skip
    rows = {name: parameter_rows(kernel_names.get(name, ()), system.numbers, columns, 1)
            for name in ("derivative", "events", "linear")}  # fmt: skip
    runs = Runs(np.ascontiguousarray(state[None]), np.zeros((1, system.held)), **rows)
    numbers = Numbers(**{
        name: parameter_rows(forwards[name].names if name in forwards else (), system.numbers, columns, 1)
        for name in Numbers._fields
    })  # fmt: skip
    out = np.full((1, len(directions), steps + 1, node[0].outputs.__len__()), np.nan)
    status, event, ends = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1)
    settings = Settings(1e-6, 1e-8, 1.0 / steps, 1.0 / steps, 2 * steps)
    none = np.zeros(0, dtype=np.bool_)
    times = np.minimum(np.arange(steps + 1) / steps, 1.0)
    extend_runs(kernels, extensions, tableau, settings, none, runs, numbers, moved, times, 1.0, 0, 1, status, event,
                ends, out)  # fmt: skip
    return out[0, :, :, system.size :]


def _initial_tangents(system: System, columns: Mapping[str, Floats], directions: Floats, names: list[str]) -> Floats:
    """How the initial state changes along directions, (directions, size)."""

    def make() -> tuple[Kernel, tuple[str, ...]]:
        graph, own = system.graphs("initial")["initial"]
        return Kernel(pushed_forward(graph, ())), own

    kernel, own = system.once("forward initial", make)
    numbers = parameter_rows(own, system.numbers, columns, 1)[0]
    rows = np.zeros((len(directions), kernel.inputs))
    first = kernel.inputs - len(own)
    for k, name in enumerate(own):
        if name in names:
            rows[:, first + k] = directions[:, names.index(name)]
    return kernel(rows, kernel.constants(numbers))
