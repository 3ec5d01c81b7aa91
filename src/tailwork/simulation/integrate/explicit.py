"""One step of an explicit Runge–Kutta method, for any tableau."""

from __future__ import annotations

import math

from numba import njit

from tailwork.simulation.integrate.compiled import Kernels, Tableau
from tailwork.simulation.integrate.native_call import call_kernel
from tailwork.typing import Floats


@njit(cache=True)
def derivative(kernels: Kernels, inputs: Floats, t: float, x: Floats, out: Floats) -> bool:
    """out = f(t, x); False if something in it is not finite. `inputs` is [t, x, held efforts], filled here."""
    inputs[0] = t
    for k in range(len(x)):
        inputs[1 + k] = x[k]
    call_kernel(kernels.derivative, inputs, kernels.derivative_constants, out)
    return all_finite(out)


@njit(cache=True)
def all_finite(values: Floats) -> bool:
    """Whether no entry is NaN or infinite."""
    for value in values:  # noqa: SIM110 - compiled; a generator would not be
        if not math.isfinite(value):
            return False
    return True


@njit(cache=True)
def explicit_step(
    kernels: Kernels, method: Tableau, inputs: Floats, t: float, h: float, x: Floats, first: Floats, u: Floats,
    new: Floats, error: Floats,
) -> bool:  # fmt: skip
    """One step of h [s] from (t, x); False if a stage is not finite.

    Args:
        kernels: the system.
        method: the tableau.
        inputs: of the kernel, with the held efforts in place.
        t: time [s].
        h: step [s].
        x: state.
        first: derivative at (t, x).
        u: out: (stages, n), h times the stages' derivatives; the last is that at the new point.
        new: out: the new state.
        error: out: estimate of the step's error; zero where the method has none.
    """
    n, stages = len(x), len(method.b)
    for k in range(n):
        u[0, k] = h * first[k]
        error[k] = 0.0
    for i in range(1, stages):
        for k in range(n):
            new[k] = x[k]
        for j in range(i):
            weight = method.a[i, j]
            if weight != 0.0:
                for k in range(n):
                    new[k] += weight * u[j, k]
        # The last stage is taken at the new point, so `new` ends as the new state.
        if not derivative(kernels, inputs, t + method.c[i] * h, new, u[i]):
            return False
        for k in range(n):
            u[i, k] *= h
    for i in range(len(method.e)):
        for k in range(n):
            error[k] += method.e[i] * u[i, k]
    return True
