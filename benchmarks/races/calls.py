"""What a user's call takes: public functions on the README's swing, the compiled part beside, and Pinocchio's way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.races.trajectories import ATOL, DURATION, RTOL, course, scipy_on_pinocchio, stepped
from benchmarks.robots import model_of
from benchmarks.timing import Ratio, interleaved, ratio
from tailwork.control import Constant, Polynomial, Tracking, point_to_point
from tailwork.model import Model
from tailwork.simulation import simulate, simulate_batch
from tailwork.simulation.events import DEFAULT_EVENTS
from tailwork.simulation.system import System
from tailwork.typing import Floats

KP, KD = 1000.0, 20.0
"""Gains of the README's swing [N m/rad, N m s/rad]."""
PEER = "SciPy RK45 on Pinocchio"
LEAST = {("PD swing", "simulate"): 12.0, ("PD swing", "simulate, with its data"): 3.0}
"""Least ratios to the peer that we hold ourselves to."""
MOST_MILLISECONDS = {("free swing", "simulate_batch of one"): 0.4}


@dataclass(frozen=True)
class CallRace:
    """One public call: milliseconds, best of interleaved repeats."""

    workload: str  # "PD swing" of the README, or "free swing"
    call: str
    ours: float
    compiled: float  # of which in the integrator
    steps: int
    error: float  # of the last state against a tight run, largest entry
    peer: str = ""
    theirs: float | None = None
    peer_error: float | None = None  # of the torso's place, which is the same in both coordinates
    pairs: Ratio | None = None


def readme_swing() -> tuple[Model, Floats, list[Any]]:
    """The swing of the README: model, state at rest, laws."""
    model = model_of("pendulum")
    q = model.standing()
    straight, swing = Polynomial(coefficients=(0.0,)), point_to_point(0.0, np.radians(40.0), DURATION)
    laws = [
        Constant(values=(*model.static_torques(q)[:12], 0.0, 0.0)),
        Tracking(limb="tail", coordinate="ta", profile=straight, kp=KP, kd=KD),
        Tracking(limb="tail", coordinate="tb", profile=swing, kp=KP, kd=KD),
    ]
    return model, q, laws


def call_races(repeats: int) -> list[CallRace]:
    """Time public calls beside each other, on the README's swing and on a free one, which takes few steps."""
    model, q, laws = readme_swing()
    still, (free_q, free_v, tau) = np.zeros(len(model.velocity_names)), course("pendulum")
    free, theirs = [Constant(values=tuple(tau))], None
    with suppress(ImportError):
        from benchmarks.engines.pinocchio_peer import PinocchioPeer

        theirs = scipy_on_pinocchio(PinocchioPeer(model), free_q, free_v, tau, RTOL, ATOL)
    return [
        *_races("PD swing", model, (q, still), laws, _on_pinocchio(model, q), repeats),
        *_races("free swing", model, (free_q, free_v), free, theirs, repeats),
    ]


def _races(
    workload: str, model: Model, start: tuple[Floats, Floats], laws: list[Any], theirs: Callable[[], Floats] | None,
    repeats: int,
) -> list[CallRace]:  # fmt: skip
    how: dict[str, Any] = {"control": laws, "rtol": RTOL, "atol": ATOL}
    system = System(model, laws, events=DEFAULT_EVENTS)
    inside = stepped(system, system.state(*start), "dopri5")
    contenders: dict[str, Callable[[], Any]] = {
        "simulate": lambda: simulate(model, start, DURATION, **how),
        "simulate, with its data": lambda: simulate(model, start, DURATION, **how).data,
        "simulate_batch of one": lambda: simulate_batch(model, start, DURATION, threads=1, **how),
    }
    tight = np.concatenate(simulate(model, start, DURATION, control=laws, rtol=1e-12, atol=1e-14).final_state)
    ended = np.concatenate(contenders["simulate"]().final_state)
    steps, error = len(inside().lengths), float(np.abs(ended - tight).max())
    peer_error = None if theirs is None else float(np.abs(theirs()[:3] - tight[:3]).max())
    calls = contenders | {"compiled": inside} | ({} if theirs is None else {PEER: theirs})
    times = interleaved(calls, {name: 5 for name in [*contenders, "compiled"]}, repeats)
    found = []
    for name in contenders:
        ours = (workload, name, min(times[name]) * 1e3, min(times["compiled"]) * 1e3, steps, error)
        if theirs is None or "batch" in name:
            found.append(CallRace(*ours))
        else:
            pairs = ratio(times[PEER], times[name])
            found.append(CallRace(*ours, PEER, min(times[PEER]) * 1e3, peer_error, pairs))
    return found


def _on_pinocchio(model: Model, q: Floats) -> Callable[[], Floats] | None:
    """The same swing by SciPy's RK45 with Pinocchio's accelerations; None: it is not installed."""
    try:
        from benchmarks.engines.pinocchio_peer import PinocchioPeer
    except ImportError:
        return None
    from scipy.integrate import solve_ivp

    peer = PinocchioPeer(model)
    places = [peer.model.joints[peer.ids["tail", name]] for name in ("ta", "tb")]
    at, rates = [place.idx_q for place in places], [place.idx_v for place in places]
    value, rate = readme_targets()

    def feedback(t: float, where: Floats, speed: Floats, torque: Floats) -> Floats:
        found = torque.copy()
        found[rates[0]] = -KP * where[at[0]] - KD * speed[rates[0]]
        found[rates[1]] = KP * (value(t) - where[at[1]]) + KD * (rate(t) - speed[rates[1]])
        return found

    zero = np.zeros(len(model.velocity_names))
    efforts = np.array([*model.static_torques(q)[:12], 0.0, 0.0])
    derivative, start = peer.derivative(q, zero, efforts, feedback)
    return lambda: solve_ivp(derivative, (0.0, DURATION), start, method="RK45", rtol=RTOL, atol=ATOL).y[:, -1]


def readme_targets() -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The README's swing of the tail over the time [s]: angle [rad] and rate [rad/s], as polynomials."""
    swing, times = point_to_point(0.0, np.radians(40.0), DURATION), np.linspace(0.0, DURATION, 12)
    values = [float(swing.value(float(t))) for t in times]  # pyright: ignore[reportArgumentType]
    found = np.polynomial.Polynomial.fit(times, values, 7).convert()
    return found, found.deriv()
