"""Calling a compiled kernel from Numba by its address, so that one compiled integrator serves every kernel."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj


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
"""kernel(x, c, y) by address, in compiled code: call_kernel(address, x, c, y)."""
