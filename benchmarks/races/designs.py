"""Trajectories of many different designs at once: ours in lanes on threads, MuJoCo by its threaded rollout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.machine import installed
from benchmarks.races.trajectories import ATOL, DURATION, RTOL, course, tidied
from benchmarks.robots import model_of
from benchmarks.timing import THREADS, Ratio, interleaved, ratio
from tailwork.control.laws import Constant
from tailwork.model import Model
from tailwork.simulation.batch import Batch, simulate_batch
from tailwork.typing import Floats

DESIGNS = 4096
"""Different designs that ours simulates at a time."""
PEER_DESIGNS = 32
"""The first of them: those that MuJoCo simulates at a time, and whose errors are taken."""
STEP = 1e-3
"""MuJoCo's step [s]."""
SPREAD = 0.2
"""Share by which masses and lengths are varied, either way."""
TENFOLD = ("tail.bending_stiffness", "tail.bending_damping")
"""What is varied up to tenfold both ways besides, in a run of its own: the springs and dampers of the USRT."""
TAILS = {"pendulum": ("tail.mass", "tail.length"), "r3": ("tail.link_mass", "tail.link_length"),
         "usrt": ("tail.link_mass", "tail.link_length")}  # fmt: skip
INTEGRATORS = {"pendulum": "RK4", "r3": "RK4", "usrt": "implicitfast"}
"""MuJoCo's: the order-4 one, or the one that stands the USRT's stiff damping."""
REFERENCE = 1e-11, 1e-13
"""Relative and absolute tolerance of the runs that errors are taken from."""


@dataclass(frozen=True)
class DesignRace:
    """0.3 s of different designs."""

    robot: str
    varied: str  # what differs
    method: str
    rate: float  # designs a second, best of the repeats
    failed: int  # of all designs
    error: float  # largest of the last states of some designs against tight runs, in m, rad and by the second
    peer: str = ""
    peer_rate: float | None = None
    peer_error: float | None = None
    ratio: Ratio | None = None  # how many times as many designs a second
    note: str = ""

    @property
    def accuracy(self) -> float | None:
        """How many times smaller our error is."""
        return None if self.peer_error is None else self.peer_error / self.error


@dataclass(frozen=True)
class Designs:
    """Designs with their own balancing efforts, from one state."""

    model: Model
    q: Floats
    v: Floats
    changes: dict[str, Floats]  # by path
    efforts: Floats  # (designs, actuators)

    def simulated(
        self, count: int | None = None, method: str = "auto", rtol: float = RTOL, atol: float = ATOL
    ) -> Batch:
        """The first `count` designs, or all, by ours."""
        numbers = {name: values[:count] for name, values in self.changes.items()}
        columns = {f"control.1.values.{k + 1}": values for k, values in enumerate(self.efforts[:count].T)}
        numbers |= {name: values for name, values in columns.items() if values.any()}  # zeros are structure
        law = Constant(values=tuple(self.efforts[0]))
        return simulate_batch(self.model, (self.q, self.v), DURATION, parameters=numbers, control=law, method=method,
                              rtol=rtol, atol=atol, threads=THREADS)  # fmt: skip

    def models(self, count: int) -> list[Model]:
        """The first `count` designs, each as a model of its own."""
        robot = self.model.robot
        chosen = [{name: float(values[k]) for name, values in self.changes.items()} for k in range(count)]
        return [Model(robot.replace(changes), self.model.foot_names) for changes in chosen]


def designs(name: str, count: int, tenfold: bool = False) -> Designs:
    """Random designs of a robot near its own, the same every time.

    Every design starts with the efforts that balance its own weight, and its tail is pushed as in `course`. Balancing
    efforts are linear in the masses and the first moment of the tail, so a few designs give them for all.
    """
    model, (q, v, tau) = model_of(name), course(name)
    rng = np.random.default_rng(5)
    paths = ("torso.mass", *TAILS[name])
    changes = {path: model._numbers[path] * rng.uniform(1.0 - SPREAD, 1.0 + SPREAD, count) for path in paths}
    torso, mass, length = (changes[path] for path in paths)
    features = np.stack([np.ones(count), torso, mass, mass * length], axis=1)
    zero, known = np.zeros(len(model.velocity_names)), min(8, count)
    found = Designs(model, q, v, changes, np.zeros((count, len(tau))))
    balance = np.array([own.allocation(q, zero, zero).efforts for own in found.models(known)])
    efforts = tidied(features @ np.linalg.lstsq(features[:known], balance, rcond=None)[0])
    if name == "usrt":
        efforts = np.hstack([efforts[:, :12], np.tile(tau[12:], (count, 1))])
    else:
        efforts = efforts + (tau - tidied(model.allocation(q, zero, zero).efforts))
    if tenfold:
        for path in TENFOLD:
            changes[path] = model._numbers[path] * 10.0 ** rng.uniform(-1.0, 1.0, count)
    return Designs(model, q, v, changes, efforts)


def _ends(batch: Batch) -> Floats:
    return np.concatenate([batch.q, batch.v], axis=1)


def design_race(name: str, repeats: int = 5, tenfold: bool = False, count: int = DESIGNS) -> DesignRace:
    """Simulate many designs by ours and some of them by MuJoCo; errors are taken before anything is timed."""
    many = designs(name, count, tenfold)
    few = min(PEER_DESIGNS, count)
    batch = many.simulated()
    reference = _ends(many.simulated(few, "rodas5p" if tenfold else "dopri5", *REFERENCE))
    error = float(np.abs(_ends(batch)[:few] - reference).max())
    contenders: dict[str, Callable[[], Any]] = {"ours": many.simulated}
    note, peer, peer_error = "", f"MuJoCo {INTEGRATORS[name]}, {STEP * 1e3:g} ms", None
    try:
        from benchmarks.engines.mujoco_peer import rollout
    except ImportError:
        note = f"MuJoCo {installed('mujoco')}"
    else:
        theirs = rollout(many.models(few), many.q, many.v, many.efforts[:few], steps=round(DURATION / STEP), step=STEP,
                         integrator=INTEGRATORS[name], threads=THREADS)  # fmt: skip
        peer_error = float(np.abs(theirs.ends() - reference).max())
        contenders["theirs"] = theirs
    times = interleaved(contenders, {}, repeats)
    varied = f"masses, lengths ± {SPREAD:.0%}" + (", springs tenfold" if tenfold else "")
    failed = int((~batch.finished).sum())
    race = DesignRace(name, varied, batch.method, count / min(times["ours"]), failed, error, note=note)
    if peer_error is None:
        return race
    each = ratio([t / few for t in times["theirs"]], [t / count for t in times["ours"]])
    return DesignRace(name, varied, batch.method, race.rate, failed, error, peer, few / min(times["theirs"]),
                      peer_error, each)  # fmt: skip
