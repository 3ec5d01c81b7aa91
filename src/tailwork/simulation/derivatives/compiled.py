"""What the compiled derivatives of runs share: kernels by address, the constants of a design, steps that were taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.simulation.batch_inputs import NOTHING
from tailwork.simulation.batch_kernels import lane_kernel
from tailwork.simulation.derivatives.products import Products
from tailwork.simulation.integrate.compiled import Kernels, Tableau, call_kernel
from tailwork.simulation.integrate.lane_driver import LaneKernel, LaneKernels, Runs
from tailwork.typing import Floats


class ProductKernels(NamedTuple):
    """Kernels of a graph's vjp or jvp; see tailwork.simulation.derivatives.products."""

    handing: LaneKernel
    main: LaneKernel
    design: LaneKernel
    handed: int  # numbers that the part of the graph that depends on the design alone hands over; −1: there is no graph
    by: int  # inputs that it is differentiated by
    outputs: int


class TakenSteps(NamedTuple):
    """Steps of a run; see tailwork.simulation.integrate.driver.Steps."""

    times: Floats
    states: Floats
    stages: Floats
    lengths: Floats
    control_inputs: Floats


def product_kernels(products: Products | None) -> ProductKernels:
    """Kernels as compiled code takes them; None: there is no graph."""
    if products is None:
        return ProductKernels(NOTHING, NOTHING, NOTHING, -1, 0, 0)
    handing, main, design = (lane_kernel(kernel) for kernel in (products.handing, products.main, products.design))
    return ProductKernels(handing, main, design, products.handed, products.by, products.outputs)


def among_all(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Rows of some runs among those of all; the others are NaN, or −1 where they are integers."""
    if len(rows) == count:
        return values
    every = np.full((count, *values.shape[1:]), np.nan if values.dtype.kind == "f" else -1, dtype=values.dtype)
    every[rows] = values
    return every


@njit(cache=True, nogil=True)
def copy(source: Floats, first: int, target: Floats, at: int, count: int) -> None:
    """Entries of one array into another. Loops, here and elsewhere: slices take long to compile."""
    for k in range(count):
        target[at + k] = source[first + k]


@njit(cache=True, nogil=True)
def add(factor: float, source: Floats, first: int, target: Floats) -> None:
    """Entries of an array, times a factor, onto all of another."""
    for k in range(len(target)):
        target[k] += factor * source[first + k]


@njit(cache=True, nogil=True)
def linearise(
    kernels: Kernels, t: float, x: Floats, sigma: float, known: int, inputs: Floats, first: Floats,
    linear_inputs: Floats, factors: Floats,
) -> None:  # fmt: skip
    """The derivative at (t, x) and the equations of the stages of a Rosenbrock method there, factored."""
    inputs[0] = t
    copy(x, 0, inputs, 1, len(x))
    call_kernel(kernels.derivative, inputs, kernels.derivative_constants, first)
    copy(inputs, 0, linear_inputs, 0, known)
    copy(first, 0, linear_inputs, known, len(x))
    linear_inputs[known + len(x)] = sigma
    call_kernel(kernels.linear, linear_inputs, kernels.linear_constants, factors)


@njit(cache=True, nogil=True)
def constants_of(kernel: LaneKernel, parameters: Floats) -> Floats:
    """Run a kernel's prelude."""
    own = np.empty(max(kernel.constants, 1))
    call_kernel(kernel.prelude, own, parameters, own)
    return own


@njit(cache=True, nogil=True)
def main_constants(kernels: ProductKernels, numbers: Floats, lanes: int) -> Floats:
    """Constants of a product for the numbers of one design, each repeated for as many lanes."""
    handed = np.zeros(max(kernels.handed, 1))
    call_kernel(kernels.handing.scalar, handed, constants_of(kernels.handing, numbers), handed)
    constants = constants_of(kernels.main, handed)
    wide = np.empty(len(constants) * lanes)
    for k in range(len(wide)):
        wide[k] = constants[k // lanes]
    return wide


@njit(cache=True, nogil=True)
def kernels_of(kernels: LaneKernels, method: Tableau, watched: int, runs: Runs, r: int) -> Kernels:
    """Kernels with the constants of run number r."""
    return Kernels(
        kernels.derivative.scalar, constants_of(kernels.derivative, runs.derivative[r]),
        kernels.events.scalar, constants_of(kernels.events, runs.events[r]) if watched else np.zeros(1),
        kernels.linear.scalar, constants_of(kernels.linear, runs.linear[r]) if method.stiff else np.zeros(1),
        kernels.linear_size, kernels.solve.scalar,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def dense_weights(p: Floats, theta: float, out: Floats) -> None:
    """out[i] = how much of stage i is in the state at a share theta of a step."""
    for i in range(p.shape[0]):
        weight = 0.0
        for j in range(p.shape[1] - 1, -1, -1):
            weight = (weight + p[i, j]) * theta
        out[i] = weight
