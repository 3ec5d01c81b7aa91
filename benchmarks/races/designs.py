"""Trajectories of many different designs at once: ours in lanes on threads, MuJoCo by its threaded rollout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.machine import installed
from benchmarks.races.calls import KD, KP, readme_swing, readme_targets
from benchmarks.races.trajectories import ATOL, DURATION, RTOL, course, tidied
from benchmarks.robots import model_of
from benchmarks.timing import THREADS, Ratio, interleaved, ratio
from tailwork.control.context import Law
from tailwork.control.laws import Constant
from tailwork.model import Model
from tailwork.simulation.batch.batch import Batch, simulate_batch
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
LOOSE = tuple(10.0**-k for k in np.arange(1.0, 9.0, 0.5))
"""Relative tolerances that are tried for an error just below the peer's."""
REFERENCE = 1e-11, 1e-13
"""Relative and absolute tolerance of the runs that errors are taken from."""


@dataclass(frozen=True)
class DesignRace:
    """0.3 s of different designs, through `simulate_batch`."""

    robot: str
    workload: str  # "free swing" or "PD swing" of the README
    varied: str  # what differs
    method: str
    rate: float  # designs a second, best of the repeats
    failed: int  # of all designs
    error: float  # largest of the last states of some designs against tight runs, in m, rad and by the second
    steps: float  # of a run, the mean
    peer: str = ""
    peer_rate: float | None = None
    peer_error: float | None = None
    ratio: Ratio | None = None  # how many times as many designs a second
    equal_rtol: float | None = None  # ours, so loose that the error is just below the peer's
    equal_error: float | None = None
    equal: Ratio | None = None  # how many times as many designs a second at that tolerance
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
    follow: tuple[Law, ...] = ()  # laws besides

    def simulated(
        self, count: int | None = None, method: str = "auto", rtol: float = RTOL, atol: float = ATOL
    ) -> Batch:
        """The first `count` designs, or all, by ours."""
        numbers = {name: values[:count] for name, values in self.changes.items()}
        columns = {f"control.1.values.{k + 1}": values for k, values in enumerate(self.efforts[:count].T)}
        numbers |= {name: values for name, values in columns.items() if values.any()}  # zeros are structure
        laws = [Constant(values=tuple(self.efforts[0])), *self.follow]
        return simulate_batch(self.model, (self.q, self.v), DURATION, parameters=numbers, control=laws, method=method,
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


def swings(count: int) -> Designs:
    """Random designs of the pendulum that swing as in the README: a PD law for each axis of the tail."""
    _, q, (_, *follow) = readme_swing()
    many = designs("pendulum", count)
    efforts = many.efforts.copy()
    efforts[:, 12:] = 0.0
    return Designs(many.model, q, np.zeros_like(many.v), many.changes, efforts, tuple(follow))


def design_race(
    name: str, repeats: int = 5, tenfold: bool = False, count: int = DESIGNS, swing: bool = False
) -> DesignRace:
    """Simulate many designs by ours and some of them by MuJoCo; errors are taken before anything is timed."""
    many = swings(count) if swing else designs(name, count, tenfold)
    few = min(PEER_DESIGNS, count)
    batch = many.simulated()
    method = "rodas5p" if tenfold else "dopri5"
    reference = _ends(many.simulated(few, method, *REFERENCE))

    def error(rtol: float) -> float:
        return float(np.abs(_ends(many.simulated(few, rtol=rtol, atol=rtol * ATOL / RTOL)) - reference).max())

    contenders: dict[str, Callable[[], Any]] = {"ours": many.simulated}
    varied = f"masses, lengths ± {SPREAD:.0%}" + (", springs tenfold" if tenfold else "")
    race = DesignRace(
        name, "PD swing" if swing else "free swing", varied, batch.method, 0.0, int((~batch.finished).sum()),
        error(RTOL), float(batch.steps.mean()),
    )  # fmt: skip
    try:
        from benchmarks.engines.mujoco_peer import Servo, rollout
    except ImportError:
        race = replace(race, note=f"MuJoCo {installed('mujoco')}")
    else:
        value, rate = readme_targets()
        servo = Servo("tail", KP, KD, lambda t: np.array([0.0, value(t)]), lambda t: np.array([0.0, rate(t)]))
        theirs = rollout(many.models(few), many.q, many.v, many.efforts[:few], steps=round(DURATION / STEP), step=STEP,
                         integrator=INTEGRATORS[name], threads=THREADS, servo=servo if swing else None)  # fmt: skip
        peer_error = float(np.abs(theirs.ends() - reference).max())
        loose = next((rtol for rtol in LOOSE if error(rtol) <= peer_error), RTOL)
        race = replace(race, peer=f"MuJoCo {INTEGRATORS[name]}, {STEP * 1e3:g} ms", peer_error=peer_error,
                       equal_rtol=loose, equal_error=error(loose))  # fmt: skip
        contenders["theirs"] = theirs
        contenders["equal"] = lambda: many.simulated(rtol=loose, atol=loose * ATOL / RTOL)
    times = interleaved(contenders, {}, repeats)
    race = replace(race, rate=count / min(times["ours"]))
    if "theirs" not in times:
        return race
    each = {key: [t / (few if key == "theirs" else count) for t in found] for key, found in times.items()}
    return replace(
        race, peer_rate=few / min(times["theirs"]), ratio=ratio(each["theirs"], each["ours"]),
        equal=ratio(each["theirs"], each["equal"]),
    )  # fmt: skip
