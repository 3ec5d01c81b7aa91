"""Speed of a walk on compliant ground side by side: ours, and MuJoCo's own contact simulation of the same model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import interleaved
from tailwork.control.gait.joint_table import joint_table, walking_start
from tailwork.control.servo import JointServo
from tailwork.model import Model
from tailwork.papers.nelson_quinn.experiments import WALK_KD, WALK_KP, insect_ground, walking_gait
from tailwork.robots import blaberus
from tailwork.simulation import simulate
from tailwork.simulation.contact.compliant import contact_frequency, paced
from tailwork.simulation.system import System

DURATION = 1.0  # s
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
        contenders["mujoco"] = mujoco_walk.walk(model, ground, servo, q, v, DURATION, step, frequency)
        way = contenders["mujoco"]()[:, 0]
        theirs = float((way[-1] - way[len(way) // 2]) / (DURATION / 2))
    best = {name: min(found) for name, found in interleaved(contenders, {}, repeats).items()}
    speed = float((places[-1] - places[1]) / (DURATION / 2))
    return WalkingRace(step, best["ours"], speed, best.get("mujoco"), theirs)
