"""The forward dynamics in NumPy: for one state the papers' equations as they are written, for many the recorded graph
on columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engines.replay import forward_graph, replay
from tailwork.model import Model
from tailwork.papers.liu2020 import model as liu2020
from tailwork.typing import Floats

TILE = 1024
"""States computed at a time: the columns of a tile stay in the cache."""


class NumpyPeer:
    """The quadruped's equations of Liu & Ben-Tzvi in NumPy."""

    def __init__(self, model: Model) -> None:
        self.source = model

    def forward(self, q: Floats, v: Floats, tau: Floats) -> Callable[[], Any]:
        """One evaluation of the forward dynamics, ready to be timed; the efforts are mapped beforehand."""
        robot = self.source.robot
        force = liu2020.actuation_matrix(robot, q) @ tau
        return lambda: liu2020.forward_dynamics(robot, q, v, force)

    def acceleration(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """The acceleration in our layout, which is the papers'."""
        return self.forward(q, v, tau)()


def numpy_batch(model: Model, rows: Floats) -> Callable[[], Floats]:
    """Accelerations for rows of [q, v, tau]: every operation of the graph on a column of states."""
    call = model._call("forward_dynamics")
    run = replay(forward_graph(model), call.constants.values.tolist(), np)
    tiles = [np.ascontiguousarray(rows[start : start + TILE].T) for start in range(0, len(rows), TILE)]

    def batch() -> Floats:
        return np.concatenate([np.stack(np.broadcast_arrays(*run(tile)), axis=1) for tile in tiles])

    return batch
