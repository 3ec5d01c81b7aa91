"""What all drivers are given: kernels by address, methods as arrays, settings."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tailwork.kernels.kernel import Kernel, keeps_kernels
from tailwork.kernels.language import NO_FUNCTION, Function, Lanes, Reals, Struct
from tailwork.kernels.native import machine
from tailwork.simulation.integrate.tableaus import Rosenbrock, RungeKutta

WIDTH = machine().width
"""Lanes of a batch; single runs have one."""


class LaneKernel(Struct):
    """A kernel: what it computes of a design once, and of states in the lanes of a driver."""

    prelude: Function
    lanes: Function  # for as many lanes as the driver has
    scalar: Function
    kept: int  # numbers that the prelude computes


@lru_cache(maxsize=512)
def lane_kernel(kernel: Kernel | None, lanes: int = WIDTH) -> LaneKernel:
    """A kernel as drivers take it; None: there is none."""
    if kernel is None:
        return LaneKernel(prelude=NO_FUNCTION, lanes=NO_FUNCTION, scalar=NO_FUNCTION, kept=0)
    prelude, scalar = (Function(kernel.code.address(name)) for name in ("prelude", "scalar"))
    wide = Function(kernel.lane_address()) if lanes > 1 else scalar
    return LaneKernel(prelude=prelude, lanes=wide, scalar=scalar, kept=kernel.kept)


keeps_kernels(lane_kernel.cache_clear)


class Method(Struct):
    """A method as arrays, flat; see tailwork.simulation.integrate.tableaus."""

    stiff: bool
    order: float
    stages: int
    powers: int  # of the polynomials between steps
    a: Reals
    b: Reals
    c: Reals
    e: Reals
    p: Reals
    across: Reals  # of a Rosenbrock method: C, …
    d: Reals
    gamma: float


def method_arrays(method: RungeKutta | Rosenbrock) -> Method:
    """A method as drivers take it."""
    stages = len(method.b)
    a, b, c, e, p, *extra = method.arrays
    across, d, gamma = np.zeros(1), np.zeros(1), 0.0
    if extra:
        across, gamma, d = extra[0][:stages], float(extra[0][stages, 0]), extra[0][stages + 1]
    e = e if len(e) else np.zeros(stages)
    flat = [np.ascontiguousarray(part).ravel() for part in (a, b, c, e, p, across, d)]
    names = ("a", "b", "c", "e", "p", "across", "d")
    return Method(
        stiff=isinstance(method, Rosenbrock), order=float(method.order), stages=stages, powers=p.shape[1], gamma=gamma,
        **dict(zip(names, flat, strict=True)),
    )  # fmt: skip


class Settings(NamedTuple):
    """Tolerances and limits."""

    rtol: float
    atol: float
    fixed: float  # fixed step [s]; 0: adaptive
    first: float  # first step [s]
    most: int  # steps


def lane_constants(kernel: LaneKernel, parameters: Reals, own: Reals, lane: int, constants: Lanes) -> None:
    """Run a kernel's prelude for a design and put its numbers into a lane."""
    kernel.prelude(own, parameters, own)
    for k in range(kernel.kept):
        constants[k, lane] = own[k]
