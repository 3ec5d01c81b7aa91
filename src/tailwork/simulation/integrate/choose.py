"""Which method suits a system: how stiff it is at the start.

An explicit method takes steps of a few times 1/|lambda| of its fastest mode for as long as it runs, however little of
that mode is left. The motion itself has to be followed through each mode only until that has decayed. A system is stiff
where the first takes many more steps than the second. That does not depend on how long a run lasts, and an undamped
oscillation is not stiff; a run may only be too short for it to matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.simulation.batch.kernels import evaluated, finite, in_shares, parameter_rows
from tailwork.simulation.integrate.tableaus import DORMAND_PRINCE, IMPLICIT_EULER, RK4, RODAS5P, Rosenbrock, RungeKutta
from tailwork.simulation.system import System
from tailwork.typing import Floats

METHODS: dict[str, RungeKutta | Rosenbrock] = {m.name: m for m in (RK4, DORMAND_PRINCE, RODAS5P)}

STIFF = 80.0
"""Above this stiffness the stiff method is cheaper. The robots of the papers, at tolerances of 1e-6: as quick at 35 (a
pendulum on motors), three to ten times as quick from 250 on."""
HORIZON = 0.2
"""Time over which modes are compared: motions of robots last tenths of a second [s]."""
SHORT = 300.0
"""Below this product of spectral radius and duration explicit steps are as few as others would be."""


def chosen_method(
    system: System, method: str, step: float | None, x: Floats, held: Floats, duration: float, start: float = 0.0,
    columns: Mapping[str, Floats] | None = None,
) -> tuple[RungeKutta | Rosenbrock, str]:  # fmt: skip
    """The method that is asked for, or that suits the system at the time `start` [s], and why.

    `columns` are numbers, (1,), in which the run differs from the system.
    """
    riding = system.model.layout.dependent  # equations of stages do not have such angles
    if method == "auto":
        if step is not None:
            raise ArgumentError("step", step, "no fixed step with method 'auto'; name a method")
        if riding:
            return DORMAND_PRINCE, "explicit: angles of pinned legs without a closed form are part of q"
        with np.errstate(over="ignore"):
            within = float(np.linalg.norm(jacobians(system, columns or {}, x[None], held, start)[0])) * duration
        if within <= SHORT:  # the norm bounds the spectral radius
            return DORMAND_PRINCE, f"spectral radius times duration at most {within:.3g}, below {SHORT:g}"
        found = stiffness(system, columns or {}, x[None], held, duration, start)
        said = f"stiffness {float(found.ratio[0]):.3g}, stiff above {STIFF:g}"
        short = found.ratio[0] > STIFF and not found.matters[0]
        return (RODAS5P if found.matters[0] else DORMAND_PRINCE), said + (", but a short run" if short else "")
    if method not in METHODS:
        raise UnknownNameError.among("method", str(method), ["auto", *METHODS, IMPLICIT_EULER], "method")
    if riding and isinstance(METHODS[method], Rosenbrock):
        required = "an explicit method ('dopri5', 'rk4') for pinned legs without a closed form"
        raise ArgumentError("method", method, f"{required}: {', '.join(riding)}")
    if method == "rk4" and step is None:
        raise ArgumentError("step", step, "a fixed step [s] with method 'rk4'")
    return METHODS[method], "as requested"


class StiffnessTest(NamedTuple):
    """Of each design."""

    ratio: Floats  # how stiff it is [1]; infinite where the equations cannot be evaluated
    matters: np.ndarray  # whether the stiff method is cheaper


def stiffness(
    system: System, columns: Mapping[str, Floats], states: Floats, held: Floats, duration: float, t: float = 0.0,
    pool: Executor | None = None,
) -> StiffnessTest:  # fmt: skip
    """How stiff each design is: radians of its fastest mode within the horizon, over those that have to be followed
    because they have not decayed before (of the mode with the most of them; at least one).

    Arguments as for `eigenvalues`, and the duration of the run [s].
    """
    found = eigenvalues(system, columns, states, held, t, pool)
    rates = np.abs(found)
    fastest, lasting = rates.max(axis=1), 1.0 / np.maximum(-found.real, 1.0 / HORIZON)
    ratio = fastest * HORIZON / np.maximum((rates * lasting).max(axis=1), 1.0)
    ratio = np.where(np.isnan(ratio), np.inf, ratio)
    with np.errstate(over="ignore"):
        return StiffnessTest(ratio, (ratio > STIFF) & ~(fastest * duration <= SHORT))


def spectral_radii(
    system: System, columns: Mapping[str, Floats], states: Floats, held: Floats, t: float, pool: Executor | None = None
) -> Floats:
    """Of each design, the largest magnitude of its eigenvalues [1/s]; infinite where they cannot be computed."""
    found = np.abs(eigenvalues(system, columns, states, held, t, pool)).max(axis=1)
    return np.where(np.isnan(found), np.inf, found)


def eigenvalues(
    system: System, columns: Mapping[str, Floats], states: Floats, held: Floats, t: float, pool: Executor | None = None
) -> NDArray[np.complex128]:
    """Of each design, the eigenvalues of `jacobians` [1/s], (designs, numbers); NaN where there are none."""
    slopes = jacobians(system, columns, states, held, t, pool)
    fine, found = finite(slopes), np.full(states.shape, np.nan, dtype=np.complex128)

    def share(here: slice) -> None:
        rows = np.flatnonzero(fine[here]) + here.start
        if len(rows):
            found[rows] = np.linalg.eigvals(slopes[rows])

    in_shares(pool, len(states), share)
    return found


def jacobians(
    system: System, columns: Mapping[str, Floats], states: Floats, held: Floats, t: float, pool: Executor | None = None
) -> Floats:
    """Of each design, d(x-dot)/dx at (t, x) [1/s], by central differences, (designs, numbers, numbers).

    NaN where the equations cannot be evaluated.

    Args:
        system: the equations.
        columns: numbers in which the designs differ, (designs,), by name.
        states: x of each design.
        held: what is held: efforts of a controller.
        t: time [s].
        pool: threads.
    """
    kernel, names = system.compiled("balanced")
    count, size = states.shape
    steps = 1e-6 * np.maximum(1.0, np.abs(states))
    inputs = np.empty((count, 2 * size, kernel.inputs))
    inputs[..., 0], inputs[..., 1 + size :] = t, held
    inputs[..., 1 : 1 + size] = states[:, None]
    each = np.arange(size)
    inputs[:, each, 1 + each] += steps
    inputs[:, size + each, 1 + each] -= steps
    if columns or count > 1:
        values = evaluated(kernel, parameter_rows(names, system.numbers, columns, count), inputs, pool)
    else:
        values = kernel(inputs[0], system.kernel("balanced")[1])[None]
    values = values[..., :size]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.swapaxes(values[:, :size] - values[:, size:], 1, 2) / (2.0 * steps)[:, None]
