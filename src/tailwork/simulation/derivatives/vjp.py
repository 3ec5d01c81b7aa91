"""What gradients are made of: the equations of a system, backwards, by state and by design.

Of a graph of (t, x, held efforts, …) and the system's numbers, the part that depends on the design alone runs once, the
rest once a state; so it is backwards, too: first by state and by what the design's part hands over, at last by design.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tailwork.algebra.derivatives import along
from tailwork.algebra.expression import Expression, Scalar
from tailwork.algebra.vectors import Array, array, dot, times
from tailwork.control.context import Moment
from tailwork.errors import RobotError
from tailwork.kernels.graph import Graph, finished, split
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.vjp import vjp
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.inverse import torso_frame_actuation, torso_frame_force
from tailwork.mechanics.torso import coordinate_rates, torso_state
from tailwork.simulation.system import Recorded, System

Objective = Callable[[Moment], Scalar]
"""A number from a moment of a run, written with arithmetic only."""


@dataclass(frozen=True)
class Reverse:
    """A graph backwards."""

    handing: Kernel  # design → what its part of the graph hands over
    pull: Kernel  # (inputs, a weight for each output) → derivatives by some inputs, by what is handed over; outputs
    design: Kernel  # weights of what is handed over → derivatives by the design
    names: tuple[str, ...]  # of the numbers of the design
    handed: int
    by: int  # inputs that it is differentiated by
    outputs: int


def reverse(recorded: tuple[Graph, tuple[str, ...]], by: Sequence[int]) -> Reverse:
    """Kernels of a graph backwards, by some of its inputs and by design."""
    graph, names = recorded
    prelude, main = split(graph)
    return Reverse(
        Kernel(prelude), Kernel(vjp(main, by, values=True)),
        Kernel(vjp(prelude)), names, main.parameters, len(by), len(graph.outputs),
    )  # fmt: skip


MOST_OBJECTIVES = 32
_objectives: dict[Any, Reverse] = {}
"""By the graph of an objective and the names of its parameters; the oldest is forgotten first."""


def derivative_reverse(system: System) -> Reverse:
    """x-dot = f(t, x) backwards, by x."""
    return system.once(
        "backward derivative", lambda: reverse(system.graphs("derivative")["derivative"], system.state_inputs)
    )


def transposed_solution(system: System) -> Kernel:
    """A stage of a Rosenbrock method backwards: from weights of u to those of F and of the load of S u_v."""

    def make() -> Kernel:
        graph, _ = system.graphs("pushed")["pushed"]
        first = graph.inputs - 2 * len(system.free_v) - len(system.free_q) - 1
        right = range(first, graph.inputs)
        return Kernel(vjp(graph, [k for k in right if k != first + system.size]))

    return system.once("backward transposed", make)


def curvature_reverse(system: System) -> Reverse:
    """Second derivatives of the equations of motion, backwards, by x and by accelerations, in lanes.

    Its output is wᵀ d(q-dot) − zᵀ dr along a direction (dt, dx, da), with the residual r = M a + h − B tau, its torso
    rows in the torso frame; the inputs after (t, x, held efforts) are a, dt, dx, da, w and z. Where da follows from
    (dt, dx) by r = 0 and z = M⁻¹ w_v, this is wᵀ df, and its derivatives are those of wᵀ df with a = f(t, x).
    """

    def make() -> Reverse:
        n_q, n_v = len(system.free_q), len(system.free_v)
        recorded, parameters, moved, (w, z) = moved_residual(system, [n_q, n_v])
        output = dot(w, moved[:n_q]) - dot(z, moved[n_q:])
        count = 1 + system.size + system.held + len(recorded.more)
        graph = finished(recorded.tape, [output], count, len(parameters))
        first = count - len(recorded.more)
        return reverse((graph, tuple(parameters)), [*system.state_inputs, *range(first, first + n_v)])

    return system.once("backward curvature", make)


def moved_residual(system: System, more: Sequence[int] = ()) -> tuple[Recorded, dict[str, Scalar], Array, list[Array]]:
    """How the residual changes along a direction: (symbols, parameters, changes, further inputs of the given sizes).

    The inputs after (t, x, held efforts) are a, then the direction dt, dx, da, then the further ones.
    """
    n, n_v = system.size, len(system.free_v)
    sizes = [n_v, 1, n, n_v, *more]
    recorded, parameters, _ = system.record(sum(sizes))
    a, (dt,), dx, da, *others = np.split(np.array(recorded.more, dtype=object), np.cumsum(sizes)[:-1])
    direction = [(recorded.t, dt), *zip(recorded.x, dx, strict=True), *zip(a, da, strict=True)]
    moved = along(recorded.tape, residual(system, recorded, list(a)), [direction])
    return recorded, parameters, array([row[0] for row in moved]), others


def residual(system: System, recorded: Recorded, acceleration: Sequence[Scalar]) -> list[Scalar]:
    """q-dot, then M a + h − B tau with its torso rows in the torso frame; of what is free."""
    r = recorded
    torso, inputs = torso_state(r.layout, r.q, r.v), Inputs(r.q, r.v, r.tau, r.given)
    needed = array(torso_frame_force(r.layout, torso, inputs, system.accelerations(r, acceleration)))
    left = needed - times(torso_frame_actuation(r.layout, torso, r.q), array(list(r.tau)))
    rates = coordinate_rates(r.layout, r.q, r.v)
    return [*(rates[k] for k in system.free_q), *(left[k] for k in system.free_v)]


def objective_reverse(system: System, objective: Objective, name: str) -> Reverse:
    """A number of a moment, backwards, by t and x; `name` is what the function is called.

    It is recorded at every call, since a function may have changed what it looks at; the same graph finds its kernels.
    """
    recorded, parameters, count = system.record()
    r = recorded
    moment = Moment(r.layout, r.t, r.q, r.v, r.given, r.tau, r.asked)
    required = "a function that makes one number of a moment, with arithmetic only"
    try:
        found = objective(moment)
    except ZeroDivisionError:
        raise RobotError(name, "a division by zero", required) from None
    except TypeError as error:  # a comparison, a float, an absolute value
        raise RobotError(name, str(error), f"{required}: it is recorded, not run") from None
    if isinstance(found, bool) or not isinstance(found, (Expression, Real)):
        raise RobotError(name, found, required)
    own = found if isinstance(found, Expression) else float(found)
    graph = finished(r.tape, [own], count, len(parameters))
    key = (graph, tuple(parameters))
    if key not in _objectives:
        if len(_objectives) >= MOST_OBJECTIVES:
            _objectives.pop(next(iter(_objectives)))
        _objectives[key] = reverse(key, [0, *system.state_inputs])
    return _objectives[key]


def event_reverse(system: System) -> Reverse:
    """What is watched, backwards, by t and x."""
    return system.once(
        ("backward", system.watched), lambda: reverse(system.graphs("events")["events"], [0, *system.state_inputs])
    )
