"""Kernels asked for many designs of one structure at once: in the lanes of the processor, on threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from threading import local

import numpy as np

from tailwork.kernels.kernel import Kernel
from tailwork.kernels.language import Struct
from tailwork.kernels.translate import driver
from tailwork.model import Model
from tailwork.simulation.integrate.compiled import WIDTH, lane_kernel
from tailwork.simulation.integrate.driver import PAUSED
from tailwork.simulation.integrate.evaluate import evaluate_rows, rows_job
from tailwork.typing import Floats

SHARE = 64 * WIDTH
"""Designs that a thread takes at a time."""
FEW = 256
"""Rows that are not worth the time to compile a kernel in lanes."""


def parameter_rows(
    names: Sequence[str], numbers: Mapping[str, float], columns: Mapping[str, Floats], count: int
) -> Floats:
    """A kernel's parameters, a row a design: those that have a column differ."""
    rows = np.zeros((count, max(len(names), 1)))
    if names:
        rows[:] = [numbers[name] for name in names]
    for k, name in enumerate(names):
        if name in columns:
            rows[:, k] = columns[name]
    return rows


_interrupts: list[None] = []
"""One for each keyboard interrupt while threads were at work, which end then."""
_thread = local()
"""How many there were when a thread's share of work was handed out."""


def in_shares(pool: Executor | None, count: int, work: Callable[[slice], None], most: int | None = None) -> None:
    """Do some work for `count` designs, a share of at most so many at a time, on the threads of a pool or here."""
    size, before = SHARE if most is None else most, len(_interrupts)
    shares = [slice(first, min(first + size, count)) for first in range(0, count, size)]

    def share(here: slice) -> None:
        _thread.before = before
        _check_interrupts()
        work(here)

    try:
        list(map(work, shares) if pool is None or len(shares) == 1 else pool.map(share, shares))
    except KeyboardInterrupt:
        _interrupts.append(None)
        raise


def run_driver(call: Callable[[Struct], int], job: Struct) -> int:
    """Let a driver go on until it has ended or needs something; between its pauses Python answers to Ctrl-C."""
    _check_interrupts()
    while (found := call(job)) == PAUSED:
        _check_interrupts()
    return found


def _check_interrupts() -> None:
    """End this thread's share of work where the keyboard has interrupted since that was handed out."""
    if len(_interrupts) > getattr(_thread, "before", len(_interrupts)):
        raise KeyboardInterrupt


def finite(values: Floats) -> np.ndarray:
    """Which designs have finite numbers only, (designs, …) → (designs,)."""
    return np.asarray(np.isfinite(values).all(axis=tuple(range(1, values.ndim))))


def evaluated(kernel: Kernel, parameters: Floats, inputs: Floats, pool: Executor | None = None) -> Floats:
    """(designs, rows, inputs) → (designs, rows, outputs); NaN where a state cannot be evaluated."""
    inputs = np.ascontiguousarray(inputs)
    outputs = np.empty((*inputs.shape[:2], kernel.outputs))
    lanes = WIDTH if inputs.shape[0] * inputs.shape[1] > FEW else 1
    call = driver(evaluate_rows, lanes)
    lane_kernel(kernel, lanes)  # compiled here, where Ctrl-C is answered, not on the threads of a pool

    def share(here: slice) -> None:
        call(rows_job(kernel, lanes, parameters, inputs, outputs, here))

    in_shares(pool, len(inputs), share)
    return outputs


def ask_designs(
    model: Model,
    question: str,
    columns: Mapping[str, Floats],
    arguments: Mapping[str, Floats],
    pool: Executor | None = None,
) -> dict[str, Floats]:
    """One of a model's functions, each design with its own numbers: as Model.ask, without its checks.

    Args:
        model: of one of the designs.
        question: name of the function.
        columns: by path, numbers in which the designs differ.
        arguments: by name, (designs, rows, …).
        pool: threads.
    """
    kernel, names = model._recipe(question)
    call = model._call(question)
    lead = np.broadcast_shapes(*(array.shape[:2] for array in arguments.values()))
    given = [np.broadcast_to(arguments[name], (*lead, size)) for name, size in call.sizes.items() if size]
    parameters = parameter_rows(names, model._numbers, columns, lead[0])
    found = evaluated(kernel, parameters, np.concatenate(given, axis=2), pool)
    return {name: found[..., here].reshape((*lead, *shape)) for name, (here, shape) in call.answers.items()}
