"""Threads that simulate at once, as the pages of a lab do."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


PROGRAM = """
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from tailwork import Model, simulate, simulate_batch
from tailwork.robots import liu2018

model = Model(liu2018())
q = model.standing()

def run(k):
    alone = simulate(model, q, 0.02, samples=3).final_state[0]
    return np.array([alone, simulate_batch(model, q, 0.02, parameters={"torso.mass": [5.0, 6.0, 7.0]}).q[1]])

with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(run, range(8)))
assert all(np.array_equal(found[0], other) for other in found)
print(found[0].tobytes().hex())
"""


def test_processes_and_threads_that_compile_the_same_at_once(tmp_path: Path) -> None:
    """Two processes with eight threads each start with one empty cache: all give the same bits, and so does a third
    process, which finds what they have kept."""
    environment = os.environ | {"TAILWORK_CACHE": str(tmp_path)}

    def start() -> subprocess.Popen[str]:
        run = [sys.executable, "-c", PROGRAM]
        return subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    answers = [process.communicate() for process in [start(), start()]]
    answers.append(start().communicate())
    assert [error for _, error in answers if "Error" in error] == []
    assert len({answer for answer, _ in answers}) == 1 and answers[0][0]
