"""Which method suits a system: how stiff it is at the start."""

from __future__ import annotations

import numpy as np

from tailwork.kernels.kernel import Floats
from tailwork.simulation.system import System

STIFF = 300.0
"""Above this product of spectral radius and duration the stiff method is cheaper: an explicit one needs about two
evaluations for each unit of it."""


def spectral_radius(system: System, x: Floats, held: Floats, t: float) -> float:
    """Largest magnitude of the eigenvalues of d(x-dot)/dx at (t, x) [1/s], by central differences of the kernel."""
    kernel, constants = system.kernel("derivative")
    size = len(x)
    steps = 1e-6 * np.maximum(1.0, np.abs(x))
    rows = np.concatenate([np.full((2 * size, 1), t), np.vstack([x + np.diag(steps), x - np.diag(steps)]),
                           np.tile(held, (2 * size, 1))], axis=1)  # fmt: skip
    answers = kernel(np.ascontiguousarray(rows), constants)
    if not np.isfinite(answers).all():
        return np.inf
    jacobian = (answers[:size] - answers[size:]).T / (2.0 * steps)
    return float(np.abs(np.linalg.eigvals(jacobian)).max())
