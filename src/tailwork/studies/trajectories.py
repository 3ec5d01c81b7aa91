"""Speed of whole trajectories side by side: ours, SciPy on Pinocchio, SciPy on our kernel, in one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.kernels.kernel import Floats
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation.choose import METHODS
from tailwork.simulation.compiled import Settings
from tailwork.simulation.driver import Steps, integrate
from tailwork.simulation.laws import Constant
from tailwork.simulation.simulate import compiled_system
from tailwork.simulation.system import System
from tailwork.studies.benchmark import best_times

DURATION = 0.3  # s, as in the papers' experiments
RTOL, ATOL = 1e-6, 1e-8  # the papers', and our defaults
GOALS = {"SciPy RK45 on Pinocchio": 25.0, "our Dormand–Prince": 12.0, "SciPy LSODA on our kernel": 4.0}
"""Least ratios to each peer that we hold ourselves to."""


@dataclass(frozen=True)
class Race:
    """Two ways to the same trajectory: milliseconds (best of interleaved repeats) and how far their ends differ."""

    name: str
    ours: float
    peer: str
    theirs: float
    difference: float  # of the final states, largest entry
    steps: int  # of ours

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.theirs / self.ours


def stepped(system: System, x: Floats, method: str) -> Callable[[], Steps]:
    """A trajectory by one of our methods, ready to be timed."""
    kernels, tableau = compiled_system(system, METHODS[method])
    settings, held = Settings(RTOL, ATOL, 0.0, 1e-4, 1_000_000), np.zeros(system.efforts)
    none = np.zeros(0, dtype=np.bool_)
    return lambda: Steps(*integrate(kernels, tableau, settings, none, held, x, 0.0, DURATION))


def races(repeats: int = 9) -> list[Race]:
    """The trajectories that we hold ourselves to; without Pinocchio, those that need none."""
    return [*_pendulum(repeats), *_usrt(repeats)]


def _race(
    name: str, ours: Callable[[], Steps], peer: str, theirs: Callable[[], Floats], size: int, repeats: int
) -> Race:
    steps = ours()
    difference = float(np.abs(steps.states[-1][:size] - theirs()[:size]).max())
    times = best_times({"ours": ours, "theirs": theirs}, {"ours": 10}, repeats)
    best = {key: min(found) * 1e3 for key, found in times.items()}
    return Race(name, best["ours"], peer, best["theirs"], difference, len(steps.times) - 1)


def _pendulum(repeats: int) -> list[Race]:
    """The torso pushed off balance by leg torques a little too large."""
    model = Model(liu2020("pendulum"))
    q, v = model.standing(), np.full(8, 0.1)
    tau = model.static_torques(q) * 1.02 + 0.05
    try:
        from tailwork.studies.pinocchio_peer import PinocchioPeer
    except ImportError:
        return []
    from scipy.integrate import solve_ivp

    system = System(model, [Constant(values=tuple(tau))])
    derivative, start = PinocchioPeer(model).derivative(q, v, tau)

    def theirs() -> Floats:
        return solve_ivp(derivative, (0.0, DURATION), start, method="RK45", rtol=RTOL, atol=ATOL).y[:, -1]

    ours = stepped(system, system.state(q, v), "dopri5")
    # The place of the torso is the same three numbers in both coordinates.
    return [_race("pendulum, Dormand–Prince", ours, "SciPy RK45 on Pinocchio", theirs, 3, repeats)]


def _usrt(repeats: int) -> list[Race]:
    """The cables of the USRT pulled from rest."""
    model = Model(liu2020("usrt"))
    q, zero = model.standing(), np.zeros(18)
    legs = model.allocation(q, zero, zero).efforts[:12]
    system = System(model, [Constant(values=(*legs, 30.0, 30.0, 0.0, 10.0, 10.0, 0.0))])
    x = system.state(q, zero)
    from scipy.integrate import solve_ivp

    kernel, constants = system.kernel("derivative")
    inputs = np.zeros((1, kernel.inputs))

    def derivative(t: float, state: Floats) -> Floats:
        inputs[0, 0], inputs[0, 1 : 1 + len(state)] = t, state
        return kernel(inputs, constants)[0]

    def lsoda() -> Any:
        return solve_ivp(derivative, (0.0, DURATION), x, method="LSODA", rtol=RTOL, atol=ATOL).y[:, -1]

    stiff, explicit = stepped(system, x, "rodas5p"), stepped(system, x, "dopri5")
    return [
        _race("USRT, Rodas5P", stiff, "our Dormand–Prince", lambda: explicit().states[-1], system.size, repeats),
        _race("USRT, Rodas5P", stiff, "SciPy LSODA on our kernel", lsoda, system.size, repeats),
    ]
