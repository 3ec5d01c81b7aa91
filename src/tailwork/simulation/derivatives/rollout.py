"""Derivatives of rollouts along directions of the design, in lanes: jvp through every step and every node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tailwork.simulation.batch_inputs import lane_kernels
from tailwork.simulation.batch_kernels import parameter_rows
from tailwork.simulation.derivatives.compiled import product_kernels
from tailwork.simulation.derivatives.jvp_runs import GraphRows, JvpKernels, runs_jvp
from tailwork.simulation.derivatives.products import (
    NamedGraph,
    curvature_jvp,
    derivative_jvp,
    initial_tangents,
    jvp,
    stage_jvp,
)
from tailwork.simulation.integrate.compiled import Settings
from tailwork.simulation.integrate.lane_driver import Runs
from tailwork.simulation.integrate.tableaus import RK4, RODAS5P
from tailwork.simulation.system import System
from tailwork.typing import Floats


def rollout_tangents(
    system: System, node: NamedGraph, key: object, stiff: bool, columns: Mapping[str, Floats], state: Floats,
    directions: Floats, names: Sequence[str], steps: int,
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
    jvps = {"derivative": derivative_jvp(system)}
    jvps["expansion"] = system.once(("node jvp", key), lambda: jvp(node, system.state_inputs))
    jvps |= {"curvature": curvature_jvp(system)} if stiff else {}
    own = {name: jvps[name].names if name in jvps else () for name in GraphRows._fields}
    rates = GraphRows(**{name: _rates(graph, directions, names) for name, graph in own.items()})
    numbers = GraphRows(**{name: parameter_rows(graph, system.numbers, columns, 1) for name, graph in own.items()})
    kernels, tableau, kernel_names = lane_kernels(system, RODAS5P if stiff else RK4)
    products = JvpKernels(
        **{name: product_kernels(jvps.get(name)) for name in GraphRows._fields},
        stage=stage_jvp(system).lane_address() if stiff else 0, rates=len(system.free_v),
    )  # fmt: skip
    rows = {name: parameter_rows(kernel_names.get(name, ()), system.numbers, columns, 1)
            for name in ("derivative", "events", "linear")}  # fmt: skip
    runs = Runs(np.ascontiguousarray(state[None]), np.zeros((1, system.control_inputs)), **rows)
    start_rates = directions @ initial_tangents(system, columns, 1, names)[0]
    out = np.full((1, len(directions), steps + 1, len(node[0].outputs)), np.nan)
    status, event, ends = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1)
    settings = Settings(1e-6, 1e-8, 1.0 / steps, 1.0 / steps, 2 * steps)
    times = np.minimum(np.arange(steps + 1) / steps, 1.0)
    runs_jvp(kernels, products, tableau, settings, np.zeros(0, dtype=np.bool_), runs, numbers, rates, start_rates,
             times, 1.0, 0, 1, status, event, ends, out)  # fmt: skip
    return out[0, :, :, system.size :]


def _rates(graph: Sequence[str], directions: Floats, names: Sequence[str]) -> Floats:
    """Rates of the numbers of a graph along directions."""
    rates = np.zeros((len(directions), max(len(graph), 1)))
    for k, name in enumerate(graph):
        if name in names:
            rates[:, k] = directions[:, list(names).index(name)]
    return rates
