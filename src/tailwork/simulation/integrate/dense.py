"""A trajectory that can be asked at any time: the dense output of its steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.errors import StateError
from tailwork.simulation.integrate.integrator import Steps
from tailwork.simulation.system import System
from tailwork.typing import Floats


@dataclass(frozen=True)
class Piece:
    """Steps with the same held efforts."""

    steps: Steps
    control_inputs: Floats


@dataclass(frozen=True)
class Trajectory:
    """Steps one after the other, and the polynomials between them."""

    system: System
    pieces: tuple[Piece, ...]
    p: Floats

    @property
    def times(self) -> Floats:
        """Ends of all steps [s]."""
        ends = [piece.steps.times[1:] for piece in self.pieces]
        return np.concatenate([self.pieces[0].steps.times[:1], *ends])

    def states(self, times: Floats) -> tuple[Floats, Floats]:
        """(x, held efforts) at any times within the run."""
        times = np.asarray(times, dtype=np.float64)
        ends = np.array([piece.steps.times[-1] for piece in self.pieces])
        start = self.pieces[0].steps.times[0]
        if times.size and (times.min() < start or times.max() > ends[-1]):
            raise StateError("times", f"required: between {start:g} and {ends[-1]:g} s, the times of the run")
        x = np.empty((len(times), self.system.size))
        held = np.empty((len(times), self.system.control_inputs))
        which = np.minimum(np.searchsorted(ends, times, side="left"), len(ends) - 1)
        for k, piece in enumerate(self.pieces):
            here = np.flatnonzero(which == k)
            if len(here):
                x[here], held[here] = _within(piece.steps, self.p, times[here]), piece.control_inputs
        return x, held

    def moves_at(self, times: Floats) -> bool:
        """Whether the equations of motion can be evaluated at all of these times."""
        kernel, constants = self.system.kernel("balanced")
        with np.errstate(over="ignore"):
            return bool(np.isfinite(kernel(np.column_stack([times, *self.states(times)]), constants)).all())

    def final_state(self) -> tuple[Floats, Floats]:
        """(q [m, rad], v [m/s, rad/s]) where the last step ended."""
        steps, held = self.pieces[-1].steps, self.pieces[-1].control_inputs
        q, v, _, _ = self.system.full(steps.times[-1:], steps.states[-1:], held[None])
        return q[0], v[0]

    def moments(self) -> Floats:
        """Where energy is balanced: time [s], work so far [J] and state at the start, at the end of the fastest step
        and at the end, (3, 2 + n)."""
        steps = [piece.steps for piece in self.pieces]
        done = np.cumsum([0.0, *(one.work for one in steps)])
        fastest = np.array([one.fastest for one in steps])
        fastest[:, 1] += done[:-1]
        speeds = np.square(fastest[:, 2 + len(self.system.free_q) :]).sum(axis=1)
        first, last = steps[0], steps[-1]
        return np.array([[first.times[0], 0.0, *first.states[0]], fastest[speeds.argmax()],
                         [last.times[-1], done[-1], *last.states[-1]]])  # fmt: skip

    def full(self, times: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """(q, v, tau, prescribed accelerations) at any times within the run."""
        return self.system.full(np.asarray(times, dtype=np.float64), *self.states(times))


def _within(steps: Steps, p: Floats, times: Floats) -> Floats:
    """States at times within one piece."""
    if not len(steps.lengths):
        return np.repeat(steps.states[:1], len(times), axis=0)
    step = np.clip(np.searchsorted(steps.times, times, side="right") - 1, 0, len(steps.lengths) - 1)
    theta = (times - steps.times[step]) / steps.lengths[step]
    powers = theta[:, None] ** np.arange(1, p.shape[1] + 1)
    return steps.states[step] + np.einsum("tj,ij,tin->tn", powers, p, steps.stages[step])
