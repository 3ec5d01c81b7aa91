"""What the compiled steppers are given: kernels by address and how to call them, tableaus as arrays, settings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

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


def _call_kernel(typing_context: Any, address: Any, x: Any, c: Any, y: Any) -> Any:
    """kernel(x, c, y) for contiguous arrays of float64; the kernel is the `scalar` function of a `Kernel`."""
    signature = types.void(types.int64, x, c, y)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * 3)
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        data = []
        for array_type, array in zip(signature.args[1:], arguments[1:], strict=True):
            held = arrayobj.make_array(array_type)(context, builder, array)
            data.append(builder.bitcast(held.data, pointer))
        builder.call(function, data)
        return context.get_dummy_value()

    return signature, codegen


call_kernel: Any = intrinsic(_call_kernel)
"""call_kernel(address, x, c, y): a kernel by its address, from compiled code; so one integrator serves every kernel."""
