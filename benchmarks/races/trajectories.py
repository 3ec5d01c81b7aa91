"""Speed of whole trajectories side by side: ours, SciPy on Pinocchio, SciPy on our kernel, in one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.robots import model_of
from benchmarks.timing import Ratio, interleaved, ratio
from tailwork.control.laws import Constant
from tailwork.simulation.integrate.choose import METHODS
from tailwork.simulation.integrate.compiled import Settings
from tailwork.simulation.integrate.integrator import Integrator, SingleRuns, Start, Steps
from tailwork.simulation.system import System
from tailwork.typing import Floats

DURATION = 0.3  # s, as in the papers' experiments
RTOL, ATOL = 1e-6, 1e-8  # the papers', and our defaults
GOALS = {"SciPy RK45 on Pinocchio": 25.0, "our Dormand–Prince": 12.0, "SciPy LSODA on our kernel": 4.0}
"""Least ratios to each peer that we hold ourselves to."""
SWING = {"pendulum": 2.0, "r3": 0.5}
"""Rates at which a tail's coordinates start [rad/s]."""
PUSH = {"pendulum": 0.3, "r3": 0.05}
"""What is added to the efforts that hold a tail [N m or N]."""


@dataclass(frozen=True)
class Race:
    """Two ways to the same trajectory: milliseconds (best of interleaved repeats) and how far their ends differ."""

    name: str
    ours: float
    peer: str
    theirs: float
    difference: float  # of the final states, largest entry
    steps: int  # of ours
    pairs: Ratio  # of the interleaved repeats

    @property
    def ratio(self) -> float:
        """How many times faster ours is, best against best."""
        return self.theirs / self.ours


def stepped(system: System, x: Floats, method: str, rtol: float = RTOL, atol: float = ATOL) -> Callable[[], Steps]:
    """A trajectory by one of our methods, ready to be timed."""
    way = Integrator(system, METHODS[method], Settings(rtol, atol, 0.0, 1e-4, 1_000_000), DURATION)
    single = SingleRuns(way, Start(x[None].copy(), np.zeros((1, system.control_inputs)), {}))
    return single.run


def races(repeats: int = 9) -> list[Race]:
    """The trajectories that we hold ourselves to; without Pinocchio, those that need none."""
    return [*_pendulum(repeats), *_usrt(repeats)]


def _race(
    name: str, ours: Callable[[], Steps], peer: str, theirs: Callable[[], Floats], size: int, repeats: int
) -> Race:
    steps = ours()
    difference = float(np.abs(steps.states[-1][:size] - theirs()[:size]).max())
    times = interleaved({"ours": ours, "theirs": theirs}, {"ours": 10}, repeats)
    best = {key: min(found) * 1e3 for key, found in times.items()}
    pairs = ratio(times["theirs"], times["ours"])
    return Race(name, best["ours"], peer, best["theirs"], difference, len(steps.times) - 1, pairs)


def tidied(efforts: Floats) -> Floats:
    """Efforts that rounding keeps from being zero are zero: so all courses of a robot have one structure."""
    return np.where(np.abs(efforts) < 1e-9, 0.0, efforts)


def course(name: str) -> tuple[Floats, Floats, Floats]:
    """q, v and constant efforts of a robot's trajectory, in which no leg becomes straight.

    The torso drifts on legs in balance while the tail swings and is pushed on; the USRT starts at rest, two of three
    cables pulled alike, so that it bends in one plane.
    """
    model = model_of(name)
    q, v = model.standing(), np.zeros(len(model.velocity_names))
    efforts = tidied(model.allocation(q, v, v).efforts)
    if name == "usrt":
        return q, v, np.array([*efforts[:12], 30.0, 30.0, 0.0, 10.0, 10.0, 0.0])
    v[:6] = 0.02, -0.03, -0.03, 0.08, -0.05, 0.06
    v[6:] = SWING[name]
    return q, v, efforts + np.array([0.0] * 12 + [PUSH[name]] * (len(efforts) - 12))


def _pendulum(repeats: int) -> list[Race]:
    try:
        from benchmarks.engines.pinocchio_peer import PinocchioPeer
    except ImportError:
        return []
    model, (q, v, tau) = model_of("pendulum"), course("pendulum")
    theirs = scipy_on_pinocchio(PinocchioPeer(model), q, v, tau, RTOL, ATOL)
    system = System(model, [Constant(values=tuple(tau))])
    ours = stepped(system, system.state(q, v), "dopri5")
    # The place of the torso is the same three numbers in both coordinates.
    return [_race("pendulum, Dormand–Prince", ours, "SciPy RK45 on Pinocchio", theirs, 3, repeats)]


def scipy_on_pinocchio(peer: Any, q: Floats, v: Floats, tau: Floats, rtol: float, atol: float) -> Callable[[], Floats]:
    """The last state, in Pinocchio's coordinates, by SciPy's RK45 with Pinocchio's accelerations."""
    from scipy.integrate import solve_ivp

    derivative, start = peer.derivative(q, v, tau)
    return lambda: solve_ivp(derivative, (0.0, DURATION), start, method="RK45", rtol=rtol, atol=atol).y[:, -1]


def _usrt(repeats: int) -> list[Race]:
    model, (q, v, tau) = model_of("usrt"), course("usrt")
    system = System(model, [Constant(values=tuple(tau))])
    x = system.state(q, v)
    stiff, explicit = stepped(system, x, "rodas5p"), stepped(system, x, "dopri5")
    lsoda = scipy_on_our_kernel(system, x, RTOL, ATOL)
    return [
        _race("USRT, Rodas5P", stiff, "our Dormand–Prince", lambda: explicit().states[-1], system.size, repeats),
        _race("USRT, Rodas5P", stiff, "SciPy LSODA on our kernel", lsoda, system.size, repeats),
    ]


def scipy_on_our_kernel(system: System, x: Floats, rtol: float, atol: float) -> Callable[[], Floats]:
    """The last state by SciPy's LSODA with our own derivatives."""
    from scipy.integrate import solve_ivp

    kernel, constants = system.kernel("derivative")
    inputs = np.zeros((1, kernel.inputs))

    def derivative(t: float, state: Floats) -> Floats:
        inputs[0, 0], inputs[0, 1 : 1 + len(state)] = t, state
        return kernel(inputs, constants)[0]

    return lambda: solve_ivp(derivative, (0.0, DURATION), x, method="LSODA", rtol=rtol, atol=atol).y[:, -1]
