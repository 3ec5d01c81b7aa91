"""What the compiled steppers are given: kernels by address, tableaus as arrays, settings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tailwork.simulation.integrate.tableaus import Rosenbrock, RungeKutta
from tailwork.typing import Floats


class Kernels(NamedTuple):
    """Addresses of compiled kernels and their constants. Inputs of all start with [t, x, held efforts]."""

    derivative: int  # → x-dot
    derivative_constants: Floats
    events: int  # → values that are to stay positive
    events_constants: Floats
    linear: int  # (…, x-dot, sigma) → z: linearised and factored
    linear_constants: Floats
    linear_size: int
    solve: int  # (z, right-hand side, h d_i) → a stage


class Tableau(NamedTuple):
    """A method as arrays; see tailwork.simulation.integrate.tableaus."""

    stiff: bool
    order: int
    a: Floats
    b: Floats
    c: Floats
    e: Floats
    p: Floats
    extra: Floats


class Settings(NamedTuple):
    """Tolerances and limits."""

    rtol: float
    atol: float
    fixed: float  # fixed step [s]; 0: adaptive
    first: float  # first step [s]
    most: int  # steps


def as_tableau(method: RungeKutta | Rosenbrock) -> Tableau:
    """A method as the compiled steppers take it."""
    if isinstance(method, Rosenbrock):
        return Tableau(True, method.order, *method.arrays)
    return Tableau(False, method.order, *method.arrays, np.zeros((1, 1)))
