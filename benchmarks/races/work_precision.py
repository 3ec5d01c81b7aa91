"""Accuracy against time: one trajectory by every method at several tolerances or steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.races.designs import STEP as PEER_STEP
from benchmarks.races.trajectories import DURATION, RTOL, course, scipy_on_our_kernel, scipy_on_pinocchio, stepped
from benchmarks.robots import model_of
from benchmarks.timing import THREADS, interleaved
from tailwork.control.laws import Constant
from tailwork.simulation.batch.batch import simulate_batch
from tailwork.simulation.simulate import simulate
from tailwork.simulation.system import System
from tailwork.typing import Floats

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
SCIPY_TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9)
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
"""Of MuJoCo [s]."""
STIFF_STEPS = (2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
"""The same for the USRT, by the integrators that stand its damping."""
MANY, PEER_MANY = 512, 8
"""Runs that are simulated at once, ours and MuJoCo's."""


TIMED = 3e-3
"""Shorter calls are timed several together [s]."""


@dataclass(frozen=True)
class Point:
    """One method at one setting."""

    robot: str
    method: str
    engine: str  # "tailwork", "MuJoCo" or "SciPy"
    many: bool  # one of many runs at once on two threads
    setting: float  # relative tolerance, or step [s]
    time: float  # of one run [ms], best of the repeats
    error: float  # largest of the place and rotation of the torso [m, rad]

    @property
    def usual(self) -> bool:
        """Whether this is our default tolerance, or MuJoCo's step of the other races."""
        return self.setting == (PEER_STEP if self.engine == "MuJoCo" else RTOL)


@dataclass(frozen=True)
class _Setup:
    """A way to the end of the trajectory."""

    method: str
    engine: str
    many: bool
    setting: float
    run: Callable[[], Any]
    runs: int  # in one call
    pose: Callable[[Any], Floats]  # place and roll, pitch and yaw of the torso, from what it returns


def work_precision(name: str, repeats: int = 3) -> list[Point]:
    """All methods on one robot's trajectory; errors are those of the torso, which all coordinates share."""
    model, (q, v, tau) = model_of(name), course(name)
    law = Constant(values=tuple(tau))
    reference = simulate(model, (q, v), DURATION, control=law, method="dopri5", rtol=1e-12, atol=1e-14, samples=2)
    expected = reference.data["q"].to_numpy()[-1, :6]
    ways = [*_ours(name, law), *_scipy(name, law), *_mujoco(name)]
    errors = [float(np.abs(way.pose(way.run()) - expected).max()) for way in ways]
    runs = {str(k): way.run for k, way in enumerate(ways)}
    once = interleaved(runs, {}, 1)
    times = interleaved(runs, {k: min(20, 1 + int(TIMED / first)) for k, (first,) in once.items()}, repeats)
    return [
        Point(name, way.method, way.engine, way.many, way.setting, min(times[str(k)]) / way.runs * 1e3, errors[k])
        for k, way in enumerate(ways)
        if np.isfinite(errors[k])
    ]


def _ours(name: str, law: Constant) -> list[_Setup]:
    model, (q, v, _) = model_of(name), course(name)
    system = System(model, [law])
    x = system.state(q, v)
    states = np.tile(q, (MANY, 1)), np.tile(v, (MANY, 1))
    ways: list[_Setup] = []
    methods = {"dopri5": "Dormand–Prince", "rodas5p": "Rodas5P"}
    for method, shown in methods.items():
        if name == "usrt" and method == "dopri5":  # steps at the limit of stability: the same price at any tolerance
            tolerances: tuple[float, ...] = (1e-6,)
        else:
            tolerances = TOLERANCES
        for rtol in tolerances:
            run = stepped(system, x, method, rtol, 1e-2 * rtol)
            ways.append(_Setup(shown, "tailwork", False, rtol, run, 1, lambda steps: steps.states[-1][:6]))
    method = "rodas5p" if name == "usrt" else "dopri5"
    for rtol in TOLERANCES:

        def batch(rtol: float = rtol) -> Any:
            return simulate_batch(
                model, states, DURATION, control=law, method=method, rtol=rtol, atol=1e-2 * rtol, threads=THREADS
            )

        shown = f"{methods[method]}, lanes"
        ways.append(_Setup(shown, "tailwork", True, rtol, batch, MANY, lambda found: found.q[0, :6]))
    return ways


def _scipy(name: str, law: Constant) -> list[_Setup]:
    model, (q, v, tau) = model_of(name), course(name)
    system = System(model, [law])
    if name == "usrt":
        return [
            _Setup("SciPy LSODA on our kernel", "SciPy", False, rtol,
                 scipy_on_our_kernel(system, system.state(q, v), rtol, 1e-2 * rtol), 1, lambda x: x[:6])
            for rtol in SCIPY_TOLERANCES
        ]  # fmt: skip
    try:
        from benchmarks.engines.pinocchio_peer import PinocchioPeer
    except ImportError:
        return []
    peer = PinocchioPeer(model)
    return [
        _Setup("SciPy RK45 on Pinocchio", "SciPy", False, rtol,
             scipy_on_pinocchio(peer, q, v, tau, rtol, 1e-2 * rtol), 1, _pose)
        for rtol in SCIPY_TOLERANCES
    ]  # fmt: skip


def _pose(x: Floats) -> Floats:
    """Place and roll, pitch and yaw from a place and a quaternion x, y, z, w."""
    return np.concatenate([x[:3], Rotation.from_quat(x[3:7]).as_euler("ZYX")[::-1]])


def _mujoco(name: str) -> list[_Setup]:
    try:
        from benchmarks.engines.mujoco_peer import rollout
    except ImportError:
        return []
    model, (q, v, tau) = model_of(name), course(name)
    ways: list[_Setup] = []
    for integrator in ("implicitfast",) if name == "usrt" else ("RK4", "implicitfast"):
        for step in STIFF_STEPS if name == "usrt" else STEPS:
            run = rollout([model] * PEER_MANY, q, v, np.tile(tau, (PEER_MANY, 1)), steps=round(DURATION / step),
                          step=step, integrator=integrator, threads=THREADS)  # fmt: skip
            ways.append(_Setup(f"MuJoCo {integrator}, rollout", "MuJoCo", True, step, run, PEER_MANY,
                             lambda states: _pose(states[0, [0, 1, 2, 4, 5, 6, 3]])))  # fmt: skip
    return ways
