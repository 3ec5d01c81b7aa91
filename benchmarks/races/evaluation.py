"""Speed of the forward dynamics side by side: our kernels and other engines, one state at a time and many at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.engines.numpy_peer import NumpyPeer, numpy_batch
from benchmarks.machine import ENGINES, installed
from benchmarks.races.peak import Peak
from benchmarks.robots import example_state, model_of
from benchmarks.timing import THREADS, Ratio, interleaved, ratio, side_by_side, together
from tailwork.model import Model
from tailwork.typing import Floats

BATCH = 4096
"""States in a batch."""
LIMITS = {"Pinocchio": 1e-11, "Drake": 1e-11, "NumPy": 1e-10, "JAX": 1e-12}
"""Largest relative disagreement of accelerations that rounding explains."""
MUJOCO_LIMITS = {"pendulum": 1e-4, "r3": 1e-2, "usrt": 1e-4, "cockroach": 1e-9}
"""The same for MuJoCo, whose pinned feet and gears give way."""
ROLLOUT_RUNS, ROLLOUT_STEPS = 32, 25
"""Runs and steps of a MuJoCo rollout that stands for a batch."""
INTEGRATORS = {"pendulum": ("RK4", "Euler"), "r3": ("RK4", "Euler"), "usrt": ("implicitfast", "Euler"),
               "cockroach": ("RK4", "Euler")}  # fmt: skip
"""Integrators of those rollouts; the quickest for each evaluation counts."""


@dataclass(frozen=True)
class Speed:
    """Times of one forward-dynamics evaluation [ns], best of many, and how they compare."""

    robot: str
    velocities: int
    operations: int
    loop: float  # scalar kernel in a compiled loop
    lanes: float  # lane kernel on a batch, one core
    threads: float  # the same on two threads: time by evaluations
    python: float  # one state through Model.evaluator
    checked: float  # one state through Model.forward_dynamics
    pinocchio: float | None  # from Python, net of call overhead
    disagreement: float | None  # of the two accelerations, relative
    spread: float  # of the interleaved repeats: median over best, less one
    together: float  # the best of each thread while all run: time by evaluations
    executed: int  # floating-point operations of the lane kernel for one state, a fused multiply-add counted as two

    def ratio(self, ours: str) -> float | None:
        """Pinocchio's time over ours."""
        return None if self.pinocchio is None else self.pinocchio / getattr(self, ours)

    def share(self, peak: Peak) -> tuple[float, float]:
        """Share of the machine's peak that the lane kernels reach on one thread and on several."""
        return self.executed / (self.lanes * 1e-9) / peak.one, self.executed / (self.together * 1e-9) / peak.several


@dataclass(frozen=True)
class EngineTiming:
    """Another engine on the forward dynamics of a robot."""

    robot: str
    engine: str
    many: bool  # a batch, on all its threads; else one state at a time
    time: float | None = None  # of one evaluation [ns], best of many; None: see the note
    disagreement: float | None = None  # of accelerations, relative
    limit: float | None = None  # that its method explains
    ratio: Ratio | None = None  # its time over ours: the scalar loop, or the lanes on two threads
    note: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it computes something else."""
        return self.disagreement is not None and self.limit is not None and not self.disagreement <= self.limit


@dataclass
class _Entry:
    """A contender: what to call, how many calls are timed together, how many evaluations one call makes."""

    run: Callable[[], Any]
    calls: int = 1
    evaluations: int = 1
    disagreement: float | None = None
    limit: float | None = None
    note: str = ""


@dataclass
class _Field:
    """All that race on one robot."""

    ours: dict[str, _Entry]
    one: dict[str, _Entry] = field(default_factory=dict)
    many: dict[str, _Entry] = field(default_factory=dict)
    absent: list[EngineTiming] = field(default_factory=list)


def evaluated(name: str, repeats: int) -> tuple[Speed, list[EngineTiming]]:
    """The speeds of one robot's forward dynamics; accelerations are compared before anything is timed."""
    model = model_of(name)
    q, v, tau = example_state(model)
    contenders = _Field(_ours(model, q, v, tau))
    _add_pinocchio(contenders, name, model, q, v, tau)
    _add_mujoco(contenders, name, model, q, v, tau)
    _add_drake(contenders, name, model, q, v, tau)
    _add_numpy(contenders, name, model, q, v, tau)
    _add_jax(contenders, name, model, q, v, tau)
    entries = contenders.ours | {f"one {k}": e for k, e in contenders.one.items()}
    entries |= {f"many {k}": e for k, e in contenders.many.items()}
    found = interleaved({k: e.run for k, e in entries.items()}, {k: e.calls for k, e in entries.items()}, repeats)
    times = {k: np.array(found[k]) / entries[k].evaluations * 1e9 for k in entries}
    if "overhead" in times:  # of Pinocchio's Python call
        times["one Pinocchio"] = times["one Pinocchio"] - times["overhead"].min()
    best = {k: float(t.min()) for k, t in times.items()}
    pinocchio = contenders.one.get("Pinocchio")
    kernel = model._call("forward_dynamics").kernel
    speed = Speed(
        robot=name,
        velocities=len(model.velocity_names),
        operations=kernel.flops,
        **{key: best[key] for key in ("loop", "lanes", "threads", "python", "checked")},
        pinocchio=best["one Pinocchio"] if pinocchio else None,
        disagreement=pinocchio.disagreement if pinocchio else None,
        spread=float(np.median([np.median(t) / t.min() - 1.0 for t in times.values()])),
        together=1.0
        / sum(BATCH / (seconds * 1e9) for seconds in side_by_side(_halves(model, q, v, tau), 20 * repeats)),
        executed=kernel.executed,
    )
    engines = [_engine_timing(name, k, False, e, times[f"one {k}"], times["loop"]) for k, e in contenders.one.items()]
    engines += [
        _engine_timing(name, k, True, e, times[f"many {k}"], times["threads"]) for k, e in contenders.many.items()
    ]
    return speed, engines + contenders.absent


def _engine_timing(robot: str, engine: str, many: bool, entry: _Entry, theirs: Floats, ours: Floats) -> EngineTiming:
    times = ratio(theirs.tolist(), ours.tolist())
    return EngineTiming(robot, engine, many, float(theirs.min()), entry.disagreement, entry.limit, times, entry.note)


def _rows(q: Floats, v: Floats, tau: Floats) -> Floats:
    return np.ascontiguousarray(np.tile(np.concatenate([q, v, tau]), (BATCH, 1)))


def _halves(model: Model, q: Floats, v: Floats, tau: Floats) -> list[Callable[[], None]]:
    """The lane kernel on a batch for each thread."""
    call = model._call("forward_dynamics")
    outputs = call.kernel.outputs
    return [call.kernel.lane_loop(_rows(q, v, tau), call.constants, np.empty((BATCH, outputs))) for _ in range(THREADS)]


def _ours(model: Model, q: Floats, v: Floats, tau: Floats) -> dict[str, _Entry]:
    call = model._call("forward_dynamics")
    kernel, constants = call.kernel, call.constants
    rows, out = _rows(q, v, tau), np.empty((BATCH, kernel.outputs))
    halves = _halves(model, q, v, tau)
    evaluator = model.evaluator("forward_dynamics")
    for argument, value in (("q", q), ("v", v), ("tau", tau)):
        evaluator.arguments[argument][:] = value
    rounds = 8
    return {
        "loop": _Entry(kernel.loop(rows, constants, out), 1, BATCH),
        "lanes": _Entry(kernel.lane_loop(rows, constants, out), 2, BATCH),
        "threads": _Entry(together(halves, rounds), 1, BATCH * THREADS * rounds),
        "python": _Entry(evaluator, 1000),
        "checked": _Entry(lambda: model.forward_dynamics(q, v, tau), 200),
    }


def disagreement(found: Floats, expected: Floats) -> float:
    """Largest difference of two accelerations by the largest entry."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def _entry(peer: Any, model: Model, q: Floats, v: Floats, tau: Floats, calls: int, limit: float, note: str) -> _Entry:
    """One state at a time, after the accelerations have been compared."""
    apart = disagreement(peer.acceleration(q, v, tau), model.forward_dynamics(q, v, tau))
    return _Entry(peer.forward(q, v, tau), calls, 1, apart, limit, note)


def _absent(contenders: _Field, robot: str, engine: str, note: str = "", many: bool | None = None) -> None:
    for kind in (False, True) if many is None else (many,):
        contenders.absent.append(EngineTiming(robot, engine, kind, note=note or installed(ENGINES[engine])))


def _add_pinocchio(contenders: _Field, robot: str, model: Model, q: Floats, v: Floats, tau: Floats) -> None:
    if robot == "r3":
        return _absent(contenders, robot, "Pinocchio", "its constraint dynamics know no gears", False)
    try:
        from benchmarks.engines.pinocchio_peer import PinocchioPeer, call_overhead
    except ImportError:
        return _absent(contenders, robot, "Pinocchio", many=False)
    how = "aba" if robot == "cockroach" else "constraintDynamics, springs and cables not timed"
    entry = _entry(PinocchioPeer(model), model, q, v, tau, 500, LIMITS["Pinocchio"], how)
    contenders.one["Pinocchio"] = entry
    contenders.ours["overhead"] = _Entry(call_overhead(), 2000)


def _add_mujoco(contenders: _Field, robot: str, model: Model, q: Floats, v: Floats, tau: Floats) -> None:
    try:
        from benchmarks.engines.mujoco_peer import EVALUATIONS, MujocoPeer, rollout
    except ImportError:
        return _absent(contenders, robot, "MuJoCo")
    note = "feet by connect" if model.foot_names else ""
    peer = MujocoPeer(model, "Euler", 1e-5)  # the shorter the step, the stiffer its constraints
    entry = _entry(peer, model, q, v, tau, 300, MUJOCO_LIMITS[robot], f"mj_forward{', ' if note else ''}{note}")
    contenders.one["MuJoCo"] = entry
    for integrator in INTEGRATORS[robot]:
        tiled = np.tile(tau, (ROLLOUT_RUNS, 1))
        run = rollout([model] * ROLLOUT_RUNS, q, v, tiled, steps=ROLLOUT_STEPS, step=1e-4, integrator=integrator,
                      threads=THREADS)  # fmt: skip
        count = ROLLOUT_RUNS * ROLLOUT_STEPS * EVALUATIONS[integrator]
        said = f"rollout, {THREADS} threads, {integrator}"
        contenders.many[f"MuJoCo {integrator}"] = _Entry(run, 1, count, entry.disagreement, MUJOCO_LIMITS[robot], said)


def _add_drake(contenders: _Field, robot: str, model: Model, q: Floats, v: Floats, tau: Floats) -> None:
    if model.foot_names:
        return _absent(contenders, robot, "Drake", "its continuous plants cannot pin feet", False)
    try:
        from benchmarks.engines.drake_peer import DrakePeer

        peer = DrakePeer(model)
    except ImportError:
        return _absent(contenders, robot, "Drake", many=False)
    contenders.one["Drake"] = _entry(peer, model, q, v, tau, 100, LIMITS["Drake"], "CalcTimeDerivatives")


def _add_numpy(contenders: _Field, robot: str, model: Model, q: Floats, v: Floats, tau: Floats) -> None:
    if model.foot_names:
        said = "the papers' equations as written"
        contenders.one["NumPy"] = _entry(NumpyPeer(model), model, q, v, tau, 1, LIMITS["NumPy"], said)
    run = numpy_batch(model, _rows(q, v, tau))
    apart = disagreement(run()[-1], model.forward_dynamics(q, v, tau))
    contenders.many["NumPy"] = _Entry(run, 1, BATCH, apart, LIMITS["NumPy"], "our graph on columns")


def _add_jax(contenders: _Field, robot: str, model: Model, q: Floats, v: Floats, tau: Floats) -> None:
    try:
        from benchmarks.engines.jax_peer import JaxPeer

        peer = JaxPeer(model)
    except ImportError:
        return _absent(contenders, robot, "JAX")
    expected, said = model.forward_dynamics(q, v, tau), "our graph, jit"
    one, many = peer.forward(q, v, tau), peer.batch(_rows(q, v, tau))
    apart = [disagreement(found, expected) for found in (np.asarray(one()), np.asarray(many())[-1])]
    contenders.one["JAX"] = _Entry(one, 10, 1, apart[0], LIMITS["JAX"], said)
    contenders.many["JAX"] = _Entry(many, 1, BATCH, apart[1], LIMITS["JAX"], f"{said}, {BATCH} states")
