"""One step of a Rosenbrock method with the exact Jacobian, for stiff tails.

Transformed form (Hairer & Wanner, Solving Ordinary Differential Equations II, Sect. IV.7): with sigma = 1/(h gamma),

    (sigma 1 − J) u_i = f(t + c_i h, x + Σ_j a_ij u_j) + (1/h) Σ_j C_ij u_j + h d_i df/dt,   x_new = x + Σ b_i u_i.

The 2n equations reduce to n; see `System._linear` in tailwork.simulation.system.
"""

from __future__ import annotations

from numba import njit

from tailwork.kernels.kernel import Floats
from tailwork.simulation.compiled import Kernels, Tableau
from tailwork.simulation.explicit import all_finite, derivative
from tailwork.simulation.native_call import call_kernel


@njit(cache=True)
def rosenbrock_step(
    kernels: Kernels, method: Tableau, inputs: Floats, t: float, h: float, x: Floats, first: Floats, u: Floats,
    new: Floats, error: Floats, linear_inputs: Floats, linear: Floats, solve_inputs: Floats,
) -> bool:  # fmt: skip
    """One step of h [s] from (t, x); False if something is not finite. Arguments as for `explicit_step`; scratch."""
    n, stages, known, size = len(x), len(method.b), len(inputs), len(linear)
    inputs[0] = t
    inputs[1 : 1 + n] = x
    linear_inputs[:known] = inputs
    linear_inputs[known : known + n] = first
    linear_inputs[known + n] = 1.0 / (h * method.extra[stages, 0])
    call_kernel(kernels.linear, linear_inputs, kernels.linear_constants, linear)
    solve_inputs[:size] = linear
    right = solve_inputs[size : size + n]
    for i in range(stages):
        for k in range(n):
            new[k] = x[k]
            right[k] = first[k]
        if i:
            for j in range(i):
                weight = method.a[i, j]
                if weight != 0.0:
                    for k in range(n):
                        new[k] += weight * u[j, k]
            if not derivative(kernels, inputs, t + method.c[i] * h, new, right):
                return False
            for j in range(i):
                weight = method.extra[i, j] / h
                if weight != 0.0:
                    for k in range(n):
                        right[k] += weight * u[j, k]
        solve_inputs[size + n] = h * method.extra[stages + 1, i]
        call_kernel(kernels.solve, solve_inputs, kernels.linear_constants, u[i])
        if not all_finite(u[i]):
            return False
    for k in range(n):
        new[k] = x[k]
        error[k] = 0.0
        for i in range(stages):
            new[k] += method.b[i] * u[i, k]
            error[k] += method.e[i] * u[i, k]
    return True
