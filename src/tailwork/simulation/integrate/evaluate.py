"""A kernel for several rows of inputs of many designs, in lanes."""

from __future__ import annotations

import numpy as np

from tailwork.kernels.kernel import Kernel
from tailwork.kernels.language import Lanes, Reals, Struct, lanes, width
from tailwork.simulation.integrate.compiled import LaneKernel, lane_kernel
from tailwork.typing import Floats


class RowJob(Struct):
    """Designs number `first` to `last`: (designs, rows, size) inputs to (designs, rows, count) outputs."""

    kernel: LaneKernel
    parameters: Reals
    parameters_size: int
    first: int
    last: int
    rows: int
    size: int
    count: int
    inputs: Reals
    outputs: Reals
    x: Lanes
    y: Lanes
    constants: Lanes
    own: Reals


def rows_job(
    kernel: Kernel, lane_count: int, parameters: Floats, inputs: Floats, outputs: Floats, here: slice
) -> RowJob:
    """The rows of some designs; all arrays contiguous."""
    (_, rows, size), count = inputs.shape, outputs.shape[2]
    return RowJob(
        kernel=lane_kernel(kernel, lane_count), parameters=parameters.reshape(-1), parameters_size=parameters.shape[1],
        first=here.start, last=here.stop, rows=rows, size=size, count=count, inputs=inputs.reshape(-1),
        outputs=outputs.reshape(-1), own=np.zeros(max(kernel.kept, 1)),
        **lanes(lane_count, x=max(size, 1), y=max(count, 1), constants=max(kernel.kept, 1)),
    )  # fmt: skip


def evaluate_rows(job: RowJob) -> int:
    """All rows, as many side by side as there are lanes; lanes beyond the last repeat it."""
    x, y, rows, size, count = job.x, job.y, job.rows, job.size, job.count
    for r in range(job.first, job.last):
        job.kernel.prelude(job.own, job.parameters[r * job.parameters_size :], job.own)
        for k in range(job.kernel.kept):
            job.constants[k] = job.own[k]
        for start in range(0, rows, width(x)):
            for lane in range(width(x)):
                row = r * rows + min(start + lane, rows - 1)
                for k in range(size):
                    x[k, lane] = job.inputs[row * size + k]
            job.kernel.lanes(x, job.constants, y)
            for lane in range(min(width(x), rows - start)):
                for k in range(count):
                    job.outputs[(r * rows + start + lane) * count + k] = y[k, lane]
    return 0
