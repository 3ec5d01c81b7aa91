"""One step: of an explicit Runge–Kutta method, for any tableau, and of a Rosenbrock method, for stiff tails.

The latter has the exact Jacobian and is in transformed form (Hairer & Wanner, Solving Ordinary Differential Equations
II, Sect. IV.7): with sigma = 1/(h gamma),

    (sigma 1 − J) u_i = f(t + c_i h, x + Σ_j a_ij u_j) + (1/h) Σ_j C_ij u_j + h d_i df/dt,   x_new = x + Σ b_i u_i.

The 2n equations reduce to n; see tailwork.simulation.integrate.stage.
"""

from __future__ import annotations

import math

from numba import njit

from tailwork.simulation.integrate.compiled import Kernels, Tableau, call_kernel
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


@njit(cache=True)
def rosenbrock_step(
    kernels: Kernels, method: Tableau, inputs: Floats, t: float, h: float, x: Floats, first: Floats, u: Floats,
    new: Floats, error: Floats, linear_inputs: Floats, solve_inputs: Floats,
) -> bool:  # fmt: skip
    """One step of h [s] from (t, x); False if something is not finite. Arguments as for `explicit_step`; scratch.

    What is not finite in a stage stays so to the end, where it is looked for.
    """
    n, stages, known = len(x), len(method.b), len(inputs)
    size = len(solve_inputs) - n - 1
    state, right, sums = inputs[1 : 1 + n], solve_inputs[size : size + n], error
    inputs[0] = t
    for k in range(n):
        state[k] = x[k]
        right[k] = first[k]
        linear_inputs[known + k] = first[k]
    for k in range(known):
        linear_inputs[k] = inputs[k]
    linear_inputs[known + n] = 1.0 / (h * method.extra[stages, 0])
    call_kernel(kernels.linear, linear_inputs, kernels.linear_constants, solve_inputs)
    for i in range(stages):
        if i:
            for k in range(n):
                state[k] = x[k]
                sums[k] = 0.0
            for j in range(i):
                weight, other = method.a[i, j], method.extra[i, j] / h
                for k in range(n):
                    state[k] += weight * u[j, k]
                    sums[k] += other * u[j, k]
            inputs[0] = t + method.c[i] * h
            call_kernel(kernels.derivative, inputs, kernels.derivative_constants, right)
            for k in range(n):
                right[k] += sums[k]
        solve_inputs[size + n] = h * method.extra[stages + 1, i]
        call_kernel(kernels.solve, solve_inputs, kernels.linear_constants, u[i])
    for k in range(n):
        new[k] = x[k]
        error[k] = 0.0
    finite = 0.0
    for i in range(stages):
        weight, other = method.b[i], method.e[i]
        for k in range(n):
            new[k] += weight * u[i, k]
            error[k] += other * u[i, k]
    for k in range(n):
        finite += 0.0 * new[k]
    return finite == 0.0
