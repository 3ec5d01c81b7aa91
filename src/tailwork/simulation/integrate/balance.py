"""How well the energy of a run balances: what it gained, beside the work that was integrated with the motion."""

from __future__ import annotations

import math

import numpy as np

from tailwork.errors import StateError
from tailwork.simulation.system import System
from tailwork.typing import Floats

TRUSTED = 0.02
"""Balances by fixed steps that are worse than this are pointed out."""
POOR_ON_GROUND = "these balances are poor; take a shorter step, or a slower or softer controller"
PER_TOLERANCE, BEST = 1000.0, 1e-6
"""Energy balances by steps that are chosen are pointed out where they are worse than so many times the relative
tolerance, and than this. The robots of the papers keep below ten times within 10 s, and below a hundred within 100 s.
"""


def balance_error(system: System, moments: Floats) -> float:
    """How well the energy of a run balances [1]; infinite where that cannot be evaluated.

    Args:
        system: what was simulated.
        moments: time [s], work so far [J] and state, a row each.
    """
    if not np.isfinite(moments).all():
        return math.inf
    q, v, _, _ = system.full(moments[:, 0], moments[:, 2:], np.zeros((len(moments), system.control_inputs)))
    try:
        energy = system.model.energy(q, v)
    except StateError:
        return math.inf
    return float(unbalanced(np.stack([energy.kinetic, energy.gravitational], axis=-1), moments[:, 1]))


def unbalanced(energies: Floats, work: Floats) -> Floats:
    """Largest difference between energy gained and work done, as a share of the energy that moved or was in motion.

    Args:
        energies: kinetic and gravitational energy over time, (…, times, 2) [J].
        work: done until then by all other forces, those of springs and dampers among them, (…, times) [J].
    """
    parts = np.concatenate([energies, work[..., None]], axis=-1)
    moved = np.maximum(np.ptp(parts, axis=-2).max(axis=-1), energies[..., 0].max(axis=-1))
    # Where next to nothing moves, rounding is judged against a millionth of the energy that is there.
    moved = np.maximum(moved, 1e-6 * np.abs(parts).max(axis=(-2, -1)))
    total = energies.sum(axis=-1)
    return np.abs(total - total[..., :1] - work).max(axis=-1) / np.maximum(moved, 1e-300)


def trusted_balance(rtol: float, step: float | None) -> float:
    """The energy balance that can be expected of steps chosen by a relative tolerance [1], or of fixed ones."""
    return TRUSTED if step is not None else min(max(PER_TOLERANCE * rtol, BEST), TRUSTED)


def poor_balance(error: float, trusted: float) -> str:
    """What there is to say of an energy balance [1]; empty: nothing, or it is not known."""
    if math.isnan(error) or error <= trusted:
        return ""
    return (
        f"energy balances to {error:.1e} only, {trusted:.0e} was expected: do not trust these numbers; ask for a "
        "smaller rtol or step, or look where the motion comes near to what the model cannot do"
    )
