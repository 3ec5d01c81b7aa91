"""Threads that simulate at once, as the pages of a lab do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pucks import puck
from tailwork.control.laws import Constant
from tailwork.model import Model
from tailwork.simulation import simulate, system


def test_threads_that_need_the_same_kernels_at_once_share_them(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """A kernel that replaced another while that one runs would leave its caller without code."""
    monkeypatch.setattr(system, "_kernels", {})
    made: list[object] = []
    kernel = system.Kernel

    def counted(*arguments: object, **more: object) -> object:
        made.append(arguments)
        return kernel(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(system, "Kernel", counted)
    model = Model(puck(), "none")

    def run(push: float) -> float:
        control = Constant(values=(push,))
        return float(simulate(model, np.zeros(7), 0.02, control=control, events=(), samples=3).data["q"][-1, -1])

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(run, [0.001 * k for k in range(8)]))
    assert len(made) == len(system._kernels), "each was made once"
    np.testing.assert_allclose(np.diff(ends), np.diff(ends)[0], rtol=1e-9)  # a constant torque: proportional
