"""Derivatives of rollouts along directions of the design, in lanes: jvp through every step and every node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tailwork.simulation.batch.kernels import evaluated, parameter_rows
from tailwork.simulation.derivatives.jvp_runs import named_rates, runs_jvp
from tailwork.simulation.derivatives.products import NamedGraph, derivative_jvp, initial_tangents, jvp_of
from tailwork.simulation.integrate.integrator import Integrator, Start
from tailwork.simulation.integrate.rollout import RolledKernel, fixed_steps, rolled
from tailwork.simulation.integrate.tableaus import RODAS5P
from tailwork.simulation.system import System
from tailwork.typing import Floats


class RolloutTangents:
    """How what is observed at the nodes of a rollout changes along directions of some of its numbers.

    Args:
        system: with scaled time.
        node: graph of (t, x, …) → dx/ds, quantities; and the names of its parameters.
        key: of the node's graph, for what is compiled from it.
        stiff: whether it is integrated by Rodas5P, else by Runge–Kutta 4.
        directions: rates of the numbers, (directions, names).
        names: of these numbers.
    """

    def __init__(
        self, system: System, node: NamedGraph, key: object, stiff: bool, directions: Floats, names: Sequence[str]
    ) -> None:
        self.system, self.stiff, self.directions, self.names = system, stiff, directions, names
        self.moving = derivative_jvp(system)
        self.nodes = system.once(("node jvp", key), lambda: jvp_of(node, system.state_inputs))
        count = len(directions)
        self.rates = [
            named_rates(own.names, directions, names).reshape(1, count, -1)[:, :, : len(own.names)]
            for own in (self.moving, self.nodes)
        ]

    def __call__(self, columns: Mapping[str, Floats], state: Floats, steps: int) -> Floats:
        """Of one design, (directions, steps + 1, quantities), in the units of the quantities for each of a direction.

        Args:
            columns: by name: the numbers of the design, (1,).
            state: where it starts, (size,).
            steps: of the rollout.
        """
        system, moving, nodes, directions = self.system, self.moving, self.nodes, self.directions
        start_rates = directions @ initial_tangents(system, columns, 1, self.names)[0]
        if self.stiff:
            integrator = Integrator(system, RODAS5P, fixed_steps(steps), 1.0, False)
            start = Start(state[None], np.zeros((1, system.control_inputs)), columns)
            times = np.minimum(np.arange(steps + 1) / steps, 1.0)
            found = runs_jvp(integrator, start, nodes, self.names, directions, start_rates, times, None)[3]
            return found[0, :, :, system.size :]
        # The rollout of (dx, x) in place of x, a direction a lane.
        count, n, known = len(directions), system.size, 1 + system.size + system.control_inputs
        rows, sides = np.arange(n), []
        place = np.concatenate([known + rows, 1 + rows])
        for own, rates in zip((moving, nodes), self.rates, strict=True):
            parameters = parameter_rows(own.names, system.numbers, columns, 1)
            passed = evaluated(own.handing, parameters, np.zeros((1, 1, 0)))[0].repeat(count, axis=0)
            base = np.zeros((count, own.main.inputs))
            base[:, known + n :] = evaluated(own.design, parameters, rates)[0]
            sides.append(RolledKernel(own.main, passed, place, np.concatenate([rows, own.outputs + rows]), base))
        states = np.concatenate([start_rates, state[None].repeat(count, axis=0)], axis=1)
        return rolled(sides[0], sides[1], slice(n, nodes.outputs), states, steps, True, None)
