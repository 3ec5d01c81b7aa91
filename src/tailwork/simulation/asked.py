"""What many runs are asked for: states, designs and control, checked and laid out in rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import RobotError
from tailwork.kernels.kernel import Floats
from tailwork.model import Model
from tailwork.simulation.batch import _lane_kernels, _laws, _parameters, _refusals, _rows, varied_numbers
from tailwork.simulation.choose import chosen_method
from tailwork.simulation.compiled import Settings, Tableau
from tailwork.simulation.events import Event
from tailwork.simulation.lane_driver import LaneKernels
from tailwork.simulation.moment import Law
from tailwork.simulation.system import Motion, System
from tailwork.simulation.tableaus import Rosenbrock, RungeKutta


@dataclass(frozen=True)
class How:
    """How runs are simulated."""

    method: str
    rtol: float
    atol: float
    step: float | None
    most_steps: int


@dataclass(frozen=True)
class Asked:
    """Runs to be simulated, a row each."""

    system: System
    x: Floats  # where each starts
    held: Floats
    columns: dict[str, Floats]  # varied numbers, by name among the system's numbers
    refused: dict[int, str]  # why a run's design is not possible
    method: RungeKutta | Rosenbrock
    why_method: str
    settings: Settings
    kernels: LaneKernels
    tableau: Tableau
    names: dict[str, tuple[str, ...]]  # of the parameters of each kernel

    def rows(self, names: Sequence[str], which: Any = slice(None)) -> Floats:
        """Numbers by name, a row a run."""
        columns = {name: values[which] for name, values in self.columns.items()}
        return _parameters(self.system, names, columns, len(self.x[which]))


def asked_runs(
    model: Model, states: ArrayLike | tuple[ArrayLike, ArrayLike], duration: float,
    parameters: Mapping[str, ArrayLike] | None, control: Law | Sequence[Law], tail: Mapping[str, Motion] | None,
    events: Sequence[Event], limits: str, how: How,
) -> Asked:  # fmt: skip
    """Check what runs are asked for; see `tailwork.simulation.simulate_batch`."""
    if limits not in ("report", "respect"):
        raise RobotError("limits", limits, "'report' or 'respect'")
    system = System(model, _laws(control), tail, events, limits == "respect")
    if system.servos:
        raise RobotError("control", "JointServo", "laws that need no ground")
    varied = varied_numbers(system, parameters or {})
    q, v = _rows(model, states)
    sizes = {len(rows) for rows in (q, v, *varied.columns.values())} - {1}
    if len(sizes) > 1:
        raise RobotError("parameters", sorted(sizes), "states and parameters of one length, or one for all runs")
    count = sizes.pop() if sizes else 1
    x = system.state(np.broadcast_to(q, (count, q.shape[1])), np.broadcast_to(v, (count, v.shape[1])))
    columns = {name: np.broadcast_to(values, (count,)) for name, values in varied.columns.items()}
    refused = _refusals(varied.kinds, columns, count)
    held = np.zeros((count, system.held))
    first = next((k for k in range(count) if k not in refused), 0)
    method, why = chosen_method(system, how.method, how.step, x[first], held[first], duration)
    settings = Settings(how.rtol, how.atol, how.step or 0.0, how.step or min(1e-4, duration), how.most_steps)
    kernels, tableau, names = _lane_kernels(system, method)
    return Asked(system, x, held, columns, refused, method, why, settings, kernels, tableau, names)


def workers(threads: int | None) -> int:
    """How many threads: as told, or as many as there are processors."""
    found = os.cpu_count() or 1 if threads is None else threads
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise RobotError("threads", threads, "a whole number, at least 1")
    return found
