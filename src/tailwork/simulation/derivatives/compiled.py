"""What the drivers of derivatives share: products with Jacobians for one design, and the steps that a run has taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tailwork.kernels.language import Lanes, Reals, Struct, lanes
from tailwork.simulation.derivatives.products import Products
from tailwork.simulation.integrate.compiled import WIDTH, LaneKernel, lane_kernel
from tailwork.simulation.integrate.integrator import SingleRuns
from tailwork.simulation.integrate.job import Runs
from tailwork.typing import Floats


class Product(Struct):
    """Kernels of a graph's vjp or jvp (see `derivatives.products`), and its numbers for one design."""

    handing: LaneKernel
    main: LaneKernel
    design: LaneKernel
    handed: int  # numbers that the part of the graph that depends on the design alone hands over; −1: there is no graph
    by: int  # inputs that it is differentiated by
    outputs: int
    numbers: Reals  # of the design, a row a run
    numbers_size: int
    own: Reals  # scratch
    passed: Reals  # what is handed over
    constants: Reals  # of `main`
    wide: Lanes  # the same in every lane
    by_handed: Reals  # vjp: derivatives by what is handed over, added up


def product(products: Products | None, numbers: Floats, width: int = WIDTH) -> Product:
    """Products as drivers take them, for so many lanes, with the numbers of designs, a row a run; None: there is no
    graph."""
    kernels = (None, None, None) if products is None else (products.handing, products.main, products.design)
    handing, main, design = (lane_kernel(own, lanes) for own, lanes in zip(kernels, (1, width, 1), strict=True))
    handed = -1 if products is None else products.handed
    size = max(handed, 1)
    return Product(
        handing=handing, main=main, design=design, handed=handed, by=products.by if products else 0,
        outputs=products.outputs if products else 0, numbers=numbers.reshape(-1), numbers_size=numbers.shape[1],
        own=np.zeros(max(handing.kept, design.kept, 1)), passed=np.zeros(size), constants=np.zeros(max(main.kept, 1)),
        by_handed=np.zeros(size), **lanes(WIDTH, wide=max(main.kept, 1)),
    )  # fmt: skip


def product_constants(product: Product, r: int) -> None:
    """The constants of a product for the design of run r."""
    if product.handed < 0:
        return
    product.handing.prelude(product.own, product.numbers[r * product.numbers_size :], product.own)
    product.handing.scalar(product.passed, product.own, product.passed)
    product.main.prelude(product.constants, product.passed, product.constants)
    for k in range(product.main.kept):
        product.wide[k] = product.constants[k]
    for k in range(product.handed):
        product.by_handed[k] = 0.0


RUN, COUNT, STATUS, EVENT = 0, 1, 2, 3
"""Of what is differentiated now: the run, how many steps it took, how it ended."""


class Linearised(Struct):
    """A system linearised at a state of a run, for the stages of a Rosenbrock method."""

    runs: Runs  # with the parameters of the kernels
    n: int
    rates: int  # how many of a state's numbers are velocities
    known: int  # inputs: [t, x, held efforts]
    derivative: LaneKernel
    constants: Reals
    linear: LaneKernel
    linear_constants: Reals
    size: int  # of the factors
    inputs: Reals
    first: Reals  # x-dot, and room for the power
    linear_inputs: Reals
    factors: Reals


def linearised_run(single: SingleRuns) -> Linearised:
    """Room for it, for single runs of a system."""
    integrator = single.integrator
    n, known = integrator.system.size, 1 + integrator.system.size + integrator.system.control_inputs
    derivative = lane_kernel(integrator.kernels["derivative"][0], 1)
    kernel = integrator.kernels["linear"][0] if "linear" in integrator.kernels else None
    linear, size = lane_kernel(kernel, 1), kernel.outputs if kernel else 0
    return Linearised(
        runs=single.job.runs, n=n, rates=len(integrator.system.free_v), known=known, derivative=derivative,
        constants=np.zeros(max(derivative.kept, 1)), linear=linear,
        linear_constants=np.zeros(max(linear.kept, 1)), size=size, inputs=np.zeros(known), first=np.zeros(n + 1),
        linear_inputs=np.zeros(known + n + 1), factors=np.zeros(size + n + 1),
    )  # fmt: skip


def begin_run(at: Linearised, r: int, stiff: bool) -> None:
    """The constants of run r; its control inputs are put in place by the caller."""
    at.derivative.prelude(at.constants, at.runs.derivative[r * at.runs.derivative_size :], at.constants)
    if stiff:
        at.linear.prelude(at.linear_constants, at.runs.linear[r * at.runs.linear_size :], at.linear_constants)


def linearise(at: Linearised, t: float, x: Reals, sigma: float) -> None:
    """The derivative at (t, x) and the equations of the stages there, factored; held efforts are among the inputs."""
    n, known = at.n, at.known
    at.inputs[0] = t
    copy(x, at.inputs[1:], n)
    at.derivative.scalar(at.inputs, at.constants, at.first)
    copy(at.inputs, at.linear_inputs, known)
    copy(at.first, at.linear_inputs[known:], n)
    at.linear_inputs[known + n] = sigma
    at.linear.scalar(at.linear_inputs, at.linear_constants, at.factors)


def copy(source: Reals, target: Reals, count: int) -> None:
    """Numbers from one array into another."""
    for k in range(count):
        target[k] = source[k]


def add(factor: float, source: Reals, target: Reals, count: int) -> None:
    """Numbers of an array, times a factor, onto those of another."""
    for k in range(count):
        target[k] += factor * source[k]


def dense_state(x: Reals, u: Reals, weights: Reals, stages: int, n: int, out: Reals) -> None:
    """out = x + Σ_i weights_i u_i."""
    copy(x, out, n)
    for i in range(stages):
        if weights[i] != 0.0:
            add(weights[i], u[i * n :], out, n)


class GradientRows(NamedTuple):
    """What is known of each run that is differentiated, a row each."""

    status: np.ndarray
    event: np.ndarray  # that ended it; −1: none
    times: Floats  # when it ended [s]
    steps: np.ndarray
    values: Floats
    by_start: Floats
    tied: np.ndarray = np.zeros(0)  # another event that happens at the end; −1: none
    unsettled: np.ndarray = np.zeros(0)  # on rigid ground: rounds whose contacts did not settle
    sided: Floats = np.zeros(0)  # (kinds, 2): how many rounds are one-sided in a way, and when the first was [s]


def among_all(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Rows of some runs among those of all; the others are NaN, or −1 where they are integers."""
    if len(rows) == count:
        return values
    every = np.full((count, *values.shape[1:]), np.nan if values.dtype.kind == "f" else -1, dtype=values.dtype)
    every[rows] = values
    return every
