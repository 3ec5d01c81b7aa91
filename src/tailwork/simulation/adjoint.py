"""Gradients of what a run comes to by its start, its design and its control: its steps, differentiated backwards.

The steps are frozen: what is differentiated is the sequence of operations that the run consists of, so the gradient is
exact for it, at the price of a few runs, whatever the number of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError, StateError
from tailwork.kernels.graph import Graph, finished, split
from tailwork.kernels.kernel import Floats, Kernel
from tailwork.kernels.pullback import pulled_back
from tailwork.model import Model
from tailwork.simulation.batch import parameter_names, varied_numbers
from tailwork.simulation.choose import METHODS
from tailwork.simulation.compiled import Tableau, as_tableau
from tailwork.simulation.events import Event, LegStraight
from tailwork.simulation.moment import Law, Moment
from tailwork.simulation.native_call import call_kernel
from tailwork.simulation.run import Run
from tailwork.simulation.simulate import simulate
from tailwork.simulation.system import Motion, System

Objective = Callable[[Moment], Scalar]
"""What a run comes to: a number from its last moment, written with arithmetic only."""


@dataclass(frozen=True)
class Gradient:
    """A number at the end of a run, and its derivatives."""

    value: float
    by_q: Floats  # by the coordinates at the start; zero for those of prescribed limbs
    by_v: Floats  # by the velocities at the start
    by_parameter: dict[str, float]  # by the parameters asked for
    run: Run


def gradient(
    model: Model,
    state: ArrayLike | tuple[ArrayLike, ArrayLike],
    duration: float,
    objective: Objective,
    *,
    parameters: Sequence[str] = (),
    control: Law | Sequence[Law] = (),
    tail: Mapping[str, Motion] | None = None,
    method: str = "auto",
    rtol: float = 1e-6,
    atol: float = 1e-8,
    step: float | None = None,
    events: Sequence[Event] = (LegStraight(),),
) -> Gradient:
    """A number at the end of a run and its derivatives by the start and by parameters of robot and control.

    Args:
        model: the robot with its stance.
        state: q or (q, v).
        duration: [s].
        objective: of the last moment: `lambda moment: moment.coordinate("phi_z")`.
        parameters: names as for `tailwork.simulation.simulate_batch`.
        control: laws.
        tail: by prescribed limb: profiles of its coordinates.
        method: an explicit one, or "auto" where that chooses one.
        rtol: relative tolerance.
        atol: absolute tolerance.
        step: fixed step [s]; required for rk4.
        events: what to watch. A run that an event ends has no gradient here: its end moves with everything.
    """
    run = simulate(model, state, duration, control=control, tail=tail, method=method, rtol=rtol, atol=atol, step=step,
                   events=events)  # fmt: skip
    tableau = as_tableau(METHODS[run.method])
    if tableau.stiff:
        raise RobotError("method", run.method, "an explicit method: steps of stiff ones are not differentiated yet")
    if run.stopped is not None:
        raise StateError(
            "gradient", f"the run ended at {run.stopped.time:.4g} s ({run.stopped.reason}), before its time"
        )
    assert run.trajectory is not None
    system = run.trajectory.system
    wanted = {name: parameter_names(system).get(name, name) for name in parameters}
    varied_numbers(system, {name: 1.0 for name in parameters})  # names are checked
    ends = _with_numbers(system, _compiled(_objective(system, objective)))
    if system.structure not in _kernels:
        _kernels[system.structure] = _compiled(system.graphs("derivative")["derivative"])
    moving = _with_numbers(system, _kernels[system.structure])
    (piece,) = run.trajectory.pieces
    steps = piece.steps
    last = np.concatenate([steps.times[-1:], steps.states[-1], piece.held])
    value, by_last, by_kept = ends.at(last, np.ones(1))
    by_number = ends.by_number(by_kept)
    weight = np.ascontiguousarray(by_last[1 : 1 + system.size])
    by_kept = np.zeros(moving.kernel.outputs - 1 - system.size - system.held)
    _backwards(moving.kernel.code.address("scalar"), moving.constants, tableau, steps.times, steps.states, steps.stages,
               steps.lengths, piece.held, weight, by_kept)  # fmt: skip
    for name, more in moving.by_number(by_kept).items():
        by_number[name] = by_number.get(name, 0.0) + more
    by_q, by_v = np.zeros(len(model.coordinate_names)), np.zeros(len(model.velocity_names))
    by_q[system.free_q], by_v[system.free_v] = weight[: len(system.free_q)], weight[len(system.free_q) :]
    return Gradient(value, by_q, by_v, {shown: by_number.get(name, 0.0) for shown, name in wanted.items()}, run)


@dataclass(frozen=True)
class _Pullbacks:
    """A graph of (t, x, held) and the system's numbers with its derivatives, backwards, by state and by design."""

    forward: Kernel
    kernel: Kernel  # (…, weights) → derivatives by inputs, then by what the prelude has handed over
    constants: Floats
    design: Kernel  # weights of what was handed over → derivatives by numbers
    names: tuple[str, ...]
    numbers: Floats

    def at(self, inputs: Floats, weights: Floats) -> tuple[float, Floats, Floats]:
        """(first output, derivatives by inputs, derivatives by what the prelude hands over)."""
        value = self.forward.row(inputs, self.forward.constants(self.numbers))
        found = self.kernel.row(np.concatenate([inputs, weights]), self.kernel.constants(self._handed()))
        return float(value[0]), found[: len(inputs)], found[len(inputs) :]

    def _handed(self) -> Floats:
        return self.forward.constants(self.numbers).values[: self.forward.kept]

    def by_number(self, weights: Floats) -> dict[str, float]:
        """Derivatives by the system's numbers."""
        found = self.design.row(np.ascontiguousarray(weights), self.design.constants(self.numbers))
        return dict(zip(self.names, map(float, found), strict=True))


_Compiled = tuple[Kernel, Kernel, Kernel, tuple[str, ...]]
_kernels: dict[Any, _Compiled] = {}
"""Kernels of the derivative of a system, forwards and backwards, by its structure: a changed number finds them here."""


def _compiled(recorded: tuple[Graph, tuple[str, ...]]) -> _Compiled:
    """Kernels of a graph: itself, backwards by state and by design, and the names of its parameters."""
    graph, names = recorded
    prelude, main = split(graph)
    forward, kernel, design = (Kernel(g, lanes=False) for g in (graph, pulled_back(main), pulled_back(prelude)))
    return forward, kernel, design, names


def _with_numbers(system: System, compiled: _Compiled) -> _Pullbacks:
    forward, kernel, design, names = compiled
    numbers = np.array([system.numbers[name] for name in names])
    handed = forward.constants(numbers).values[: forward.kept]
    return _Pullbacks(forward, kernel, kernel.constants(handed).values, design, names, numbers)


def _objective(system: System, objective: Objective) -> tuple[Graph, tuple[str, ...]]:
    recorded, parameters, count = system.record()
    moment = Moment(recorded.layout, recorded.t, recorded.q, recorded.v, recorded.given, recorded.tau, recorded.asked)
    return finished(recorded.tape, [objective(moment)], count, len(parameters)), tuple(parameters)


@njit(cache=True)
def _backwards(
    pull: int, constants: Floats, method: Tableau, times: Floats, states: Floats, stages: Floats, lengths: Floats,
    held: Floats, weight: Floats, by_kept: Floats,
) -> None:  # fmt: skip
    """From the last step to the first: `weight` becomes the derivative by the first state; what concerns the design is
    added to `by_kept`.

    A step is x + Σ b_i u_i with u_i = h f(t + c_i h, X_i) and X_i = x + Σ_j a_ij u_j. Backwards, u_i has the weight
    b_i · weight + Σ_(j>i) a_ji · (weight of X_j).
    """
    n, count, known = len(weight), len(method.b), 1 + len(weight) + len(held)
    inputs, found = np.zeros(known + n), np.zeros(known + len(by_kept))
    by_stage = np.zeros((count, n))
    for k in range(len(held)):
        inputs[1 + n + k] = held[k]
    for s in range(len(lengths) - 1, -1, -1):
        h = lengths[s]
        for i in range(count - 1, -1, -1):
            largest = 0.0
            for k in range(n):
                total = method.b[i] * weight[k]
                for j in range(i + 1, count):
                    total += method.a[j, i] * by_stage[j, k]
                inputs[known + k] = h * total
                largest = max(largest, abs(total))
                by_stage[i, k] = 0.0
            if largest == 0.0:
                continue
            inputs[0] = times[s] + method.c[i] * h
            for k in range(n):
                point = states[s, k]
                for j in range(i):
                    point += method.a[i, j] * stages[s, j, k]
                inputs[1 + k] = point
            call_kernel(pull, inputs, constants, found)
            for k in range(n):
                by_stage[i, k] = found[1 + k]
            for k in range(len(by_kept)):
                by_kept[k] += found[known + k]
        for i in range(count):
            for k in range(n):
                weight[k] += by_stage[i, k]
