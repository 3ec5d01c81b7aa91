"""What we hold ourselves to, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.races.calls import LEAST as LEAST_CALLS
from benchmarks.races.calls import MOST_MILLISECONDS, CallRace
from benchmarks.races.designs import DesignRace
from benchmarks.races.evaluation import EngineTiming, Speed
from benchmarks.races.gradients import GradientRace
from benchmarks.races.peak import Peak
from benchmarks.races.rigid import ERROR as EQUAL_ERROR
from benchmarks.races.rigid import LEAST as LEAST_RIGID
from benchmarks.races.rigid import MOST_SECONDS as MOST_SECONDS_OF_EVENTS
from benchmarks.races.rigid import RigidRace
from benchmarks.races.starts import MOST as MOST_SECONDS_TO_FIRST
from benchmarks.races.starts import FirstResult
from benchmarks.races.trajectories import GOALS as TRAJECTORY_GOALS
from benchmarks.races.trajectories import Race
from benchmarks.races.walking import LEAST_RATIO, MOST_SECONDS, TrotRace, WalkingRace

PINOCCHIO = {
    ("pendulum", "loop"): 10.0, ("usrt", "loop"): 7.0, ("cockroach", "loop"): 5.0,
    ("pendulum", "lanes"): 40.0, ("usrt", "lanes"): 25.0, ("cockroach", "lanes"): 18.0,
}  # fmt: skip
"""Least ratios to Pinocchio's time per evaluation."""
ROLLOUT = {"pendulum": 50.0, "usrt": 30.0}
"""Least ratios of MuJoCo's threaded rollout to lanes on two threads, per evaluation."""
SHARE = {"pendulum": 0.55, "usrt": 0.45}
"""Least share of the machine's peak on two threads."""
DESIGNS = {"pendulum": 100.0, "usrt": 10.0}
"""Least ratios of designs simulated a second to MuJoCo's."""
ACCURACY = {"usrt": 100.0}
"""How many times smaller our error must be in the same race."""
GRADIENT, GRADIENT_ERROR = 4.5, 1e-6
"""Most trajectories that a gradient may take, and how far it may be from differences."""


@dataclass(frozen=True)
class Goal:
    """A number that was measured and its bound."""

    what: str
    value: float
    bound: float
    least: bool = True  # the bound is the least; else the most

    @property
    def met(self) -> bool:
        """Whether the number is within its bound; NaN is not."""
        return self.value >= self.bound if self.least else self.value <= self.bound


def evaluation_goals(speeds: Iterable[Speed], engines: Iterable[EngineTiming], peak: Peak | None) -> list[Goal]:
    """Of single evaluations and of batches."""
    goals = []
    for s in speeds:
        for ours in ("loop", "lanes"):
            ratio = s.ratio(ours)
            if (s.robot, ours) in PINOCCHIO and ratio is not None:
                goals.append(Goal(f"{s.robot}: Pinocchio / {ours}", ratio, PINOCCHIO[s.robot, ours]))
        if s.robot in SHARE and peak is not None:
            goals.append(Goal(f"{s.robot}: share of the peak, two threads", s.share(peak)[1], SHARE[s.robot]))
    for robot, bound in ROLLOUT.items():
        found = [r.ratio.median for r in engines if r.robot == robot and "rollout" in r.note and r.many and r.ratio]
        if found:  # its quickest integrator counts
            goals.append(Goal(f"{robot}: MuJoCo rollout / lanes, two threads", min(found), bound))
    return goals


def trajectory_goals(races: Iterable[Race]) -> list[Goal]:
    """Of single trajectories."""
    return [Goal(f"{r.name}: {r.peer} / ours", r.ratio, TRAJECTORY_GOALS[r.peer]) for r in races]


def design_goals(races: Iterable[DesignRace]) -> list[Goal]:
    """Of batches of trajectories."""
    goals = []
    for r in races:
        said = f"{r.robot}, {r.workload}, {r.varied}"
        goals.append(Goal(f"{said}: designs that fail", r.failed, 0, least=False))
        if r.workload == "free swing" and r.robot in DESIGNS and r.ratio is not None:
            goals.append(Goal(f"{said}: designs a second / MuJoCo's", r.ratio.median, DESIGNS[r.robot]))
        if r.robot in ACCURACY and r.accuracy is not None:
            goals.append(Goal(f"{said}: MuJoCo's error / ours", r.accuracy, ACCURACY[r.robot]))
    return goals


def gradient_goals(races: Iterable[GradientRace]) -> list[Goal]:
    """Of gradients."""
    goals = []
    for r in races:
        goals.append(Goal(f"{r.robot}: gradient / trajectory", r.ratio.median, GRADIENT, least=False))
        goals.append(Goal(f"{r.robot}: gradient's error", r.error, GRADIENT_ERROR, least=False))
    return goals


def walking_goals(race: WalkingRace, trots: TrotRace) -> list[Goal]:
    """Of a walk, and of many trots."""
    return [
        Goal("a second of walking [s]", race.ours, MOST_SECONDS, least=False),
        Goal(f"{trots.runs} trots: rate of a batch / of single runs, a core", trots.ratio.median, LEAST_RATIO),
    ]


def rigid_goals(race: RigidRace) -> list[Goal]:
    """Of a trot on rigid ground."""
    goals = [
        Goal("rigid ground, one run: steps a second", race.one, LEAST_RIGID["one run"]),
        Goal("rigid ground, lanes: steps a second, a core", race.lanes, LEAST_RIGID["lanes"]),
        Goal("rigid ground, 13 points in lanes: steps a second, a core", race.points, LEAST_RIGID["13 points"]),
        Goal("rigid ground, simulate_batch / lanes", race.public / race.lanes, LEAST_RIGID["public"]),
        Goal("rigid ground, from event to event: 2 s of trot [s]", race.events, MOST_SECONDS_OF_EVENTS, least=False),
        Goal("rigid ground: gradient / run", race.gradient.median, GRADIENT, least=False),
        Goal("rigid ground, lanes: gradient / run", race.lane_gradient.median, GRADIENT, least=False),
    ]
    if race.ratio is not None:
        goals.append(Goal("rigid ground: MuJoCo rollout / lanes, a step", race.ratio.median, LEAST_RIGID["MuJoCo"]))
    if race.equal_error is not None:
        said = f"rigid ground: MuJoCo rollout / lanes, for an error of {EQUAL_ERROR:g} m"
        goals.append(Goal(said, race.equal_error, LEAST_RIGID["equal error"]))
    return goals


def call_goals(races: Iterable[CallRace]) -> list[Goal]:
    """Of public calls."""
    goals = []
    for r in races:
        key, said = (r.workload, r.call), f"{r.workload}, {r.call}"
        if key in LEAST_CALLS and r.pairs is not None:
            goals.append(Goal(f"{said}: {r.peer} / ours", r.pairs.median, LEAST_CALLS[key]))
        if key in MOST_MILLISECONDS:
            goals.append(Goal(f"{said} [ms]", r.ours, MOST_MILLISECONDS[key], least=False))
    return goals


def start_goals(found: Iterable[FirstResult]) -> list[Goal]:
    """Of first results."""
    return [
        Goal(f"{r.asked}, {caches} caches [s]", getattr(r, caches), MOST_SECONDS_TO_FIRST[r.asked, caches], least=False)
        for r in found
        for caches in ("cold", "warm")
        if (r.asked, caches) in MOST_SECONDS_TO_FIRST
    ]
