"""The forward dynamics in JAX: the recorded graph, compiled by XLA for one state and for many."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engines.replay import forward_graph, replay
from tailwork.model import Model
from tailwork.typing import Floats

OPTIONS = {"xla_disable_hlo_passes": "fusion,cpu-instruction-fusion"}
"""Fused, a graph of thousands of scalars takes XLA minutes to compile and runs hundreds of times slower: what several
others need is computed again for each of them."""


class JaxPeer:
    """The graph of our own kernel in jax.numpy, in double precision.

    Raises ImportError where JAX is not installed.
    """

    def __init__(self, model: Model) -> None:
        self.jax: Any = importlib.import_module("jax")
        self.numpy: Any = importlib.import_module("jax.numpy")
        call = model._call("forward_dynamics")
        self._run = replay(forward_graph(model), call.constants.values.tolist(), self.numpy)

    def forward(self, q: Floats, v: Floats, tau: Floats) -> Callable[[], Any]:
        """One evaluation of the forward dynamics, compiled and ready to be timed."""
        return self._compiled(lambda x: self.numpy.stack(self._filled(self._run(x), ())), np.concatenate([q, v, tau]))

    def acceleration(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """JAX's acceleration in our layout."""
        return np.asarray(self.forward(q, v, tau)())

    def batch(self, rows: Floats) -> Callable[[], Any]:
        """Accelerations for rows of [q, v, tau], as vmap would have it, compiled and ready to be timed."""

        def columns(x: Any) -> Any:
            return self.numpy.stack(self._filled(self._run(x.T), (len(rows),)), axis=1)

        return self._compiled(columns, rows)

    def _filled(self, values: list[Any], shape: tuple[int, ...]) -> list[Any]:
        return [self.numpy.broadcast_to(self.numpy.asarray(value, dtype=float), shape) for value in values]

    def _compiled(self, function: Callable[[Any], Any], example: Floats) -> Callable[[], Any]:
        with self.jax.enable_x64(True):
            given = self.numpy.asarray(example)
            compiled = self.jax.jit(function).lower(given).compile(compiler_options=OPTIONS)
        return lambda: compiled(given).block_until_ready()
