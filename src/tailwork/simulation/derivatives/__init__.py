"""Derivatives of runs: gradients (adjoint) and sensitivities (forward)."""
