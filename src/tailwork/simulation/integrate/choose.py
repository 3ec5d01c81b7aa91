"""Which method suits a system: how stiff it is at the start."""

from __future__ import annotations

from collections.abc import Mapping

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.simulation.batch_kernels import spectral_radii
from tailwork.simulation.integrate.tableaus import DORMAND_PRINCE, IMPLICIT_EULER, RK4, RODAS5P, Rosenbrock, RungeKutta
from tailwork.simulation.system import System
from tailwork.typing import Floats

METHODS: dict[str, RungeKutta | Rosenbrock] = {m.name: m for m in (RK4, DORMAND_PRINCE, RODAS5P)}

STIFF = 300.0
"""Above this product of spectral radius and duration the stiff method is cheaper: an explicit one needs about two
evaluations for each unit of it."""


def chosen_method(
    system: System, method: str, step: float | None, x: Floats, held: Floats, duration: float, start: float = 0.0,
    columns: Mapping[str, Floats] | None = None,
) -> tuple[RungeKutta | Rosenbrock, str]:  # fmt: skip
    """The method that is asked for, or that suits the system at the time `start` [s], and why.

    `columns` are numbers, (1,), in which the run differs from the system.
    """
    if method == "auto":
        if step is not None:
            raise ArgumentError("step", step, "no fixed step with method 'auto'; name a method")
        stiffness = float(spectral_radii(system, columns or {}, x[None], held, start)[0]) * duration
        said = f"spectral radius times duration {stiffness:.3g}, stiff above {STIFF:g}"
        return (RODAS5P if stiffness > STIFF else DORMAND_PRINCE), said
    if method not in METHODS:
        raise UnknownNameError.among("method", str(method), ["auto", *METHODS, IMPLICIT_EULER], "method")
    if method == "rk4" and step is None:
        raise ArgumentError("step", step, "a fixed step [s] with method 'rk4'")
    return METHODS[method], "as asked"
