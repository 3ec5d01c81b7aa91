"""What sensitivities are made of: the equations of a system along directions of state and design, in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tailwork.kernels.graph import Graph, finished, split
from tailwork.kernels.jvp import jvp
from tailwork.kernels.kernel import Kernel
from tailwork.simulation.derivatives.vjp import moved_residual
from tailwork.simulation.system import System


@dataclass(frozen=True)
class Forward:
    """A graph along a direction."""

    handing: Kernel  # design → what its part of the graph hands over
    design: Kernel  # rates of the numbers of the design → rates of what is handed over
    push: Kernel  # (inputs, rates of some of them, rates of what is handed over) → rates of the outputs; outputs
    names: tuple[str, ...]  # of the numbers of the design
    handed: int
    outputs: int


def derivative_forward(system: System) -> Forward:
    """x-dot = f(t, x) along dx."""
    return system.once(
        "forward derivative", lambda: _forward(system.graphs("derivative")["derivative"], system.state_inputs)
    )


def expansion_forward(system: System) -> Forward:
    """All coordinates and velocities along dx."""
    return system.once("forward expand", lambda: _forward(system.graphs("expand")["expand"], system.state_inputs))


def curvature_forward(system: System) -> Forward:
    """The change of q-dot and of the residual along (dt, dx, da), and how that changes along a second (dx, da)."""

    def make() -> Forward:
        recorded, parameters, moved, _ = moved_residual(system)
        first = 1 + system.size + system.held
        graph = finished(recorded.tape, list(moved), first + len(recorded.more), len(parameters))
        return _forward((graph, tuple(parameters)), [*system.state_inputs, *range(first, first + len(system.free_v))])

    return system.once("forward curvature", make)


def pushed_solution(system: System) -> Kernel:
    """A stage of a Rosenbrock method with a load besides, in lanes."""
    return system.once("forward pushed", lambda: Kernel(system.graphs("pushed")["pushed"][0]))


def _forward(recorded: tuple[Graph, tuple[str, ...]], varied: Sequence[int]) -> Forward:
    graph, names = recorded
    prelude, main = split(graph)
    return Forward(
        Kernel(prelude), Kernel(jvp(prelude, ())),
        Kernel(jvp(main, list(varied), values=True)), names, main.parameters, len(main.outputs),
    )  # fmt: skip
