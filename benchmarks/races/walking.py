"""Speed of a walk on compliant ground side by side: ours, and MuJoCo's own contact simulation of the same model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.timing import Ratio, interleaved, ratio
from tailwork.control.gait.gait import trot
from tailwork.control.gait.joint_table import joint_table, walking_start
from tailwork.control.servo import JointServo
from tailwork.model import Model
from tailwork.papers.nelson_quinn.experiments import WALK_KD, WALK_KP, insect_ground, walking_gait
from tailwork.robots import biswal, blaberus
from tailwork.simulation import CompliantGround, simulate, simulate_batch
from tailwork.simulation.contact.compliant import contact_frequency, paced
from tailwork.simulation.system import System

DURATION = 1.0  # s
TROTS, LEAST_RATIO = 4096, 3.0
"""Trots of a batch, and how many times the rate of single runs it must have on a core."""
MOST_SECONDS = 5.0
"""Most wall time that we allow ourselves for a simulated second of walking, on one core."""


@dataclass(frozen=True)
class WalkingRace:
    """A simulated second of the cockroach's walk: seconds of wall time, best of interleaved repeats."""

    step: float  # of both [s]
    ours: float  # tailwork.simulate, all of it
    speed: float  # that the torso walks at [m/s]
    mujoco: float | None  # its compiled loop alone; None: not installed
    mujoco_speed: float | None

    @property
    def ratio(self) -> float | None:
        """How many times faster ours is."""
        return None if self.mujoco is None else self.mujoco / self.ours


@dataclass(frozen=True)
class TrotRace:
    """2 s of the D-H quadruped's trot on compliant ground, the mass of the torso varied, on one thread."""

    runs: int
    steps: int  # of a run
    alone: float  # one run by tailwork.simulate, without its data [s]
    together: float  # one run of a batch [s]
    ratio: Ratio  # alone over together


def trot_race(repeats: int, runs: int = TROTS) -> TrotRace:
    """Time single runs beside a batch."""
    robot = biswal()
    model = Model(robot, stance="none")
    gait = trot(robot, speed=0.15, frequency=2.0, lift=0.03)
    table = joint_table(model, gait)
    start = walking_start(model, gait, table)
    ground = CompliantGround(stiffness=2e4, damping=1.0, tangential_stiffness=2e4, tangential_damping=20.0,
                             static_friction=0.8, kinetic_friction=0.6)  # fmt: skip
    servo = JointServo(table=table, kp=30.0, kd=0.5)
    masses = model._numbers["torso.mass"] * np.linspace(0.9, 1.1, runs)

    def together() -> Any:
        return simulate_batch(model, start, 2.0, ground=ground, control=servo, parameters={"torso.mass": masses},
                              threads=1)  # fmt: skip

    def alone() -> Any:
        return simulate(model, start, 2.0, ground=ground, control=servo)

    alone()
    steps = int(together().steps.mean())
    times = interleaved({"alone": alone, "together": together}, {"alone": 5}, repeats)
    each = [seconds / runs for seconds in times["together"]]
    return TrotRace(runs, steps, min(times["alone"]), min(each), ratio(times["alone"], each))


def walking_race(repeats: int = 3) -> WalkingRace:
    """Time both with the step that we choose."""
    model, gait, ground = Model(blaberus(), "none"), walking_gait(), insect_ground()
    table = joint_table(model, gait)
    servo = JointServo(table=table, kp=WALK_KP, kd=WALK_KD)
    q, v = walking_start(model, gait, table)
    system = System(model, [servo])
    x = system.state(q, v)
    frequency = contact_frequency(system, ground, x)
    step = paced(frequency, DURATION, None, 3).step

    def ours() -> Any:
        return simulate(model, (q, v), DURATION, ground=ground, control=servo, samples=3)

    contenders: dict[str, Callable[[], Any]] = {"ours": ours}
    places = ours().data["q"].to_numpy()[:, 0]
    theirs = None
    try:
        from benchmarks.engines import mujoco_walk
    except ImportError:
        pass
    else:
        contenders["mujoco"] = mujoco_walk.walk(
            model, float(ground.static_friction), mujoco_walk.compliant(frequency), servo, q, v, DURATION, step
        )
        way = contenders["mujoco"]()[:, 0]
        theirs = float((way[-1] - way[len(way) // 2]) / (DURATION / 2))
    best = {name: min(found) for name, found in interleaved(contenders, {}, repeats).items()}
    speed = float((places[-1] - places[1]) / (DURATION / 2))
    return WalkingRace(step, best["ours"], speed, best.get("mujoco"), theirs)
