"""Derivatives of rollouts along directions of the design, in lanes: jvp through every step and every node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tailwork.simulation.batch_kernels import evaluated, parameter_rows
from tailwork.simulation.derivatives.jvp_runs import named_rates, runs_jvp
from tailwork.simulation.derivatives.products import NamedGraph, derivative_jvp, initial_tangents, jvp
from tailwork.simulation.integrate.integrator import Integrator, Start
from tailwork.simulation.integrate.rollout import RolledKernel, fixed_steps, rolled
from tailwork.simulation.integrate.tableaus import RODAS5P
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
    moving, nodes = derivative_jvp(system), system.once(("node jvp", key), lambda: jvp(node, system.state_inputs))
    start_rates = directions @ initial_tangents(system, columns, 1, names)[0]
    if stiff:
        way = Integrator(system, RODAS5P, fixed_steps(steps), 1.0, False)
        start = Start(state[None], np.zeros((1, system.control_inputs)), columns)
        times = np.minimum(np.arange(steps + 1) / steps, 1.0)
        return runs_jvp(way, start, nodes, names, directions, start_rates, times, None)[3][0, :, :, system.size :]
    # The rollout of (dx, x) in place of x, a direction a lane.
    count, n, known = len(directions), system.size, 1 + system.size + system.control_inputs
    rows, state_rows = np.arange(n), np.tile(state, (count, 1))
    sides = []
    for own in (moving, nodes):
        parameters = parameter_rows(own.names, system.numbers, columns, 1)
        passed = evaluated(own.handing, parameters, np.zeros((1, 1, 0)))[:, 0]
        rates = named_rates(own.names, directions, names).reshape(1, count, -1)[:, :, : len(own.names)]
        base = np.zeros((count, own.main.inputs))
        base[:, known + n :] = evaluated(own.design, parameters, rates)[0]
        place = np.concatenate([known + rows, 1 + rows])
        sides.append(RolledKernel(own.main, np.tile(passed, (count, 1)), place,
                                  np.concatenate([rows, own.outputs + rows]), base))  # fmt: skip
    states = np.concatenate([start_rates, state_rows], axis=1)
    return rolled(sides[0], sides[1], slice(n, nodes.outputs), states, steps, True, None)
