"""Products with the Jacobians of a system's equations: what gradients (vjp) and sensitivities (jvp) are made of.

Of a graph of (t, x, held efforts, …) and the system's numbers, the part that depends on the design alone runs once, the
rest once a state. So do its derivatives: a vjp goes by state and by what the design's part hands over, at last by
design; a jvp the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.algebra.derivatives import along
from tailwork.algebra.expression import Expression, Scalar
from tailwork.algebra.vectors import Array, array, dot, times
from tailwork.control.context import Context
from tailwork.errors import ArgumentError, is_finite_number
from tailwork.kernels.graph import Graph, finished, split
from tailwork.kernels.jvp import jvp as jvp_graph
from tailwork.kernels.kernel import Kernel, keeps_kernels
from tailwork.kernels.vjp import vjp as vjp_graph
from tailwork.mechanics.inverse import torso_frame_actuation, torso_frame_force
from tailwork.mechanics.torso import torso_state
from tailwork.simulation.batch.kernels import evaluated, parameter_rows
from tailwork.simulation.equations import Symbols
from tailwork.simulation.system import System
from tailwork.typing import Floats

Objective = Callable[[Context], Scalar]
"""A number from a moment of a run, written with arithmetic only."""
NamedGraph = tuple[Graph, tuple[str, ...]]
"""A graph and the names of its parameters."""
MOST_OBJECTIVES = 32
_objectives: dict[Any, Products] = {}
keeps_kernels(_objectives.clear)
"""By the graph of an objective and the names of its parameters; the oldest is forgotten first."""


@dataclass(frozen=True)
class Products:
    """Kernels of the vector-Jacobian or Jacobian-vector products of a graph."""

    handing: Kernel  # design → what its part of the graph hands over
    main: Kernel  # vjp: (inputs, a weight for each output) → derivatives by some inputs, by what is handed over
    # jvp: (inputs, rates of some of them, rates of what is handed over) → rates of the outputs; both: then the outputs
    design: Kernel  # vjp: weights of what is handed over → derivatives by the design; jvp: rates, the other way
    names: tuple[str, ...]  # of the numbers of the design
    handed: int
    by: int  # inputs that it is differentiated by
    outputs: int


def vjp_of(recorded: NamedGraph, by: Sequence[int]) -> Products:
    """A graph's vector-Jacobian products, by some of its inputs and by design."""
    graph, names = recorded
    prelude, main = split(graph)
    kernels = (Kernel(prelude), Kernel(vjp_graph(main, by, values=True)), Kernel(vjp_graph(prelude)))
    return Products(*kernels, names, main.parameters, len(by), len(graph.outputs))


def jvp_of(recorded: NamedGraph, by: Sequence[int]) -> Products:
    """A graph's Jacobian-vector products, along some of its inputs and the design."""
    graph, names = recorded
    prelude, main = split(graph)
    kernels = (Kernel(prelude), Kernel(jvp_graph(main, by, values=True)), Kernel(jvp_graph(prelude, ())))
    return Products(*kernels, names, main.parameters, len(by), len(main.outputs))


def derivative_vjp(system: System) -> Products:
    """x-dot = f(t, x), by x."""
    return system.once("derivative vjp", lambda: vjp_of(system.graphs("derivative")["derivative"], system.state_inputs))


def derivative_jvp(system: System) -> Products:
    """x-dot = f(t, x), along dx."""
    return system.once("derivative jvp", lambda: jvp_of(system.graphs("derivative")["derivative"], system.state_inputs))


def expansion_jvp(system: System) -> Products:
    """All coordinates and velocities, along dx."""
    return system.once("expansion jvp", lambda: jvp_of(system.graphs("expand")["expand"], system.state_inputs))


def initial_tangents(system: System, columns: Mapping[str, Floats], count: int, names: Sequence[str]) -> Floats:
    """Derivatives of an initial state that is equations by numbers of some names, (runs, names, size)."""

    def make() -> tuple[Kernel, tuple[str, ...]]:
        graph, own = system.graphs("initial")["initial"]
        return Kernel(jvp_graph(graph, ())), own

    kernel, own = system.once("initial jvp", make)
    rows = np.zeros((count, len(names), kernel.inputs))
    first = kernel.inputs - len(own)
    for k, name in enumerate(names):
        if name in own:
            rows[:, k, first + own.index(name)] = 1.0
    return evaluated(kernel, parameter_rows(own, system.numbers, columns, count), rows)


def event_vjp(system: System) -> Products:
    """What is watched, by t and x."""
    return system.once(
        ("event vjp", system.watched), lambda: vjp_of(system.graphs("events")["events"], [0, *system.state_inputs])
    )


def stage_vjp(system: System) -> Kernel:
    """A stage of a Rosenbrock method, transposed: from weights of u to those of F and of the load of S u_v."""

    def make() -> Kernel:
        graph, _ = system.graphs("pushed")["pushed"]
        first = graph.inputs - 2 * len(system.free_v) - len(system.free_q) - 1
        right = range(first, graph.inputs)
        return Kernel(vjp_graph(graph, [k for k in right if k != first + system.size]))

    return system.once("stage vjp", make)


def stage_jvp(system: System) -> Kernel:
    """A stage of a Rosenbrock method with a load besides."""
    return system.once("stage jvp", lambda: Kernel(system.graphs("pushed")["pushed"][0]))


def curvature_vjp(system: System) -> Products:
    """Second derivatives of the equations of motion, by x and by accelerations, in lanes.

    Its output is wᵀ d(q-dot) − zᵀ dr along a direction (dt, dx, da), with the residual r = M a + h − B tau, its torso
    rows in the torso frame; the inputs after (t, x, held efforts) are a, dt, dx, da, w and z. Where da follows from
    (dt, dx) by r = 0 and z = M⁻¹ w_v, this is wᵀ df, and its derivatives are those of wᵀ df with a = f(t, x).
    """

    def make() -> Products:
        n_q, n_v = len(system.free_q), len(system.free_v)
        recorded, parameters, moved, (w, z) = moved_residual(system, [n_q, n_v])
        output = dot(w, moved[:n_q]) - dot(z, moved[n_q:])
        return vjp_of(*_curvature(system, recorded, parameters, [output]))

    return system.once("curvature vjp", make)


def curvature_jvp(system: System) -> Products:
    """The change of q-dot and of the residual along (dt, dx, da), and how that changes along a second (dx, da)."""

    def make() -> Products:
        recorded, parameters, moved, _ = moved_residual(system)
        return jvp_of(*_curvature(system, recorded, parameters, list(moved)))

    return system.once("curvature jvp", make)


def _curvature(
    system: System, recorded: Symbols, parameters: Mapping[str, Scalar], outputs: list[Scalar]
) -> tuple[NamedGraph, list[int]]:
    """A graph of a moved residual, and its inputs x and a."""
    first = 1 + system.size + system.control_inputs
    graph = finished(recorded.tape, outputs, first + len(recorded.more), len(parameters))
    return (graph, tuple(parameters)), [*system.state_inputs, *range(first, first + len(system.free_v))]


def moved_residual(system: System, more: Sequence[int] = ()) -> tuple[Symbols, dict[str, Scalar], Array, list[Array]]:
    """How the residual changes along a direction: (symbols, parameters, changes, further inputs of the given sizes).

    The inputs after (t, x, held efforts) are a, then the direction dt, dx, da, then the further ones.
    """
    n, n_v = system.size, len(system.free_v)
    sizes = [n_v, 1, n, n_v, *more]
    recorded, parameters, _ = system.record(sum(sizes))
    a, (dt,), dx, da, *others = np.split(np.array(recorded.more, dtype=object), np.cumsum(sizes)[:-1])
    direction = [(recorded.t, dt), *zip(recorded.x, dx, strict=True), *zip(a, da, strict=True)]
    moved = along(recorded.tape, dynamics_residual(system, recorded, list(a)), [direction])
    return recorded, parameters, array([row[0] for row in moved]), others


def dynamics_residual(system: System, recorded: Symbols, acceleration: Sequence[Scalar]) -> list[Scalar]:
    """q-dot, then M a + h − B tau with its torso rows in the torso frame; of what is free."""
    r = recorded
    torso = torso_state(r.layout, r.q, r.v)
    needed = array(torso_frame_force(r.layout, torso, r.inputs, system.accelerations(r, acceleration)))
    left = needed - times(torso_frame_actuation(r.layout, torso, r.q), array(list(r.tau)))
    rates = system.change(r, [0.0] * len(r.v))
    return [*rates[: len(system.free_q)], *(left[k] for k in system.free_v)]


def objective_vjp(system: System, objective: Objective, name: str) -> Products:
    """A number of a context, by t and x; `name` is what the function is called.

    It is recorded at every call, since a function may have changed what it looks at; the same graph finds its kernels.
    """
    recorded, parameters, count = system.record()
    r = recorded
    required = "a function that makes one number of a context, with arithmetic only"
    try:
        found = objective(r.context)
    except ZeroDivisionError:
        raise ArgumentError(name, "a division by zero", required) from None
    except TypeError as error:  # a comparison, a float, an absolute value
        raise ArgumentError(name, str(error), f"{required}: it is recorded, not run") from None
    if not isinstance(found, Expression) and not is_finite_number(found):
        raise ArgumentError(name, found, required)
    own = found if isinstance(found, Expression) else float(found)
    graph = finished(r.tape, [own], count, len(parameters))
    key = (graph, tuple(parameters))
    if key not in _objectives:
        if len(_objectives) >= MOST_OBJECTIVES:
            _objectives.pop(next(iter(_objectives)))
        _objectives[key] = vjp_of(key, [0, *system.state_inputs])
    return _objectives[key]
