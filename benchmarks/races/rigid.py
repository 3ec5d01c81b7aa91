"""Speed and accuracy of a trot on rigid ground: one run, runs in lanes, gradients, and MuJoCo's rollout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.quadruped import FRICTION, everywhere, model_of, trotting
from benchmarks.timing import Ratio, interleaved, ratio
from tailwork.control.context import Context
from tailwork.control.servo import JointServo
from tailwork.model import Model
from tailwork.simulation import RigidGround, gradient, gradients, simulate, simulate_batch
from tailwork.simulation.batch.inputs import batch_inputs
from tailwork.simulation.options import Options
from tailwork.simulation.problem import problem_of
from tailwork.typing import Floats

STEP, DURATION = 1e-3, 1.0  # s
FEET, POINTS = 4, 13
"""Contact points of the robot, and of the one that can touch with knees, tail and torso, too."""
ALONE = 20.0
"""Duration of the single run [s]: long enough that what it leaves to read does not count."""
RUNS = 4096
DIFFERENTIATED = 5.0
"""Duration of the single run that is differentiated, beside the run alone [s]."""
PLACE = np.array([-0.02841379, 0.43167873, 0.31603068])
"""Where the torso is after 1 s, by an event-driven method [m]."""
ERROR, STEPS = 1e-2, (2e-3, 1e-3, 5e-4, 4e-4, 2.5e-4, 2e-4)
"""Error at which the costs of both are compared [m], and the steps that are tried [s]."""
FROM_EVENT_TO_EVENT, MOST_SECONDS = 2.0, 1.0
"""Duration of the event-driven run, and the most that it may take [s]."""
LEAST = {"one run": 350e3, "lanes": 1000e3, "13 points": 500e3, "public": 0.8, "MuJoCo": 25.0, "equal error": 150.0}
"""Least steps a second on a core; least share of that through `simulate_batch`; least ratios to MuJoCo's rollout."""


@dataclass(frozen=True)
class RigidRace:
    """Steps of a robot a second on one core, best of interleaved repeats."""

    one: float  # a single run by `simulate`
    lanes: float  # runs side by side, by the driver alone
    public: float  # by `simulate_batch`, all of it
    points: float  # as `lanes`, with 13 contact points
    mujoco: float | None  # its rollout; None: not installed
    ratio: Ratio | None  # MuJoCo's time over that of lanes, a step
    error: float  # of the torso's place after 1 s [m]
    mujoco_error: float | None
    equal_error: float | None  # how many times more time MuJoCo takes for an error of `ERROR` [1]
    parameters: int  # by which the place at the end is differentiated, besides the state at the start
    gradient: Ratio  # a run with its gradient over the run alone, by `gradient` and `simulate`
    lane_gradient: Ratio  # the same in a batch, by `gradients` over the driver alone
    events: float  # time of the event-driven run [s]

    @property
    def further_point(self) -> float:
        """What each contact point beyond the four feet adds to a step in lanes [ns]."""
        return 1e9 * (1.0 / self.points - 1.0 / self.lanes) / (POINTS - FEET)


def lanes_of(model: Model, servo: JointServo, q: Floats, v: Floats, runs: int, step: float = STEP) -> Any:
    """A call that does so many runs that differ, by the driver alone, on one thread."""
    options = Options(step=step, samples=2)
    problem = problem_of(model, (q, _states(v, runs)), DURATION, control=servo, ground=RigidGround(friction=FRICTION))
    asked = batch_inputs(problem, options, None)
    return lambda: asked.integrator.ends(asked.start, np.zeros((1, 0)), None)


def _states(v: Floats, runs: int) -> Floats:
    found = np.tile(v, (runs, 1))
    found[:, :3] += 0.02 * np.random.default_rng(0).normal(size=(runs, 3))
    return found


def rigid_race(repeats: int, runs: int = RUNS) -> RigidRace:
    """Time all of them in turn."""
    model, servo, q, v = trotting()
    ground = RigidGround(friction=FRICTION)
    few = max(64, runs // 8)
    names, how = model.parameter_names, {"control": servo, "ground": ground, "step": STEP}
    contenders: dict[str, Any] = {
        "short": lambda: simulate(model, (q, v), DIFFERENTIATED, samples=2, **how),
        "gradient": lambda: gradient(model, (q, v), DIFFERENTIATED, _ahead, by=names, **how),
        "gradients": lambda: gradients(model, (q, _states(v, few)), DURATION, _ahead, by=names, threads=1, **how),
        "one": lambda: simulate(model, (q, v), ALONE, control=servo, ground=ground, step=STEP, samples=2),
        "lanes": lanes_of(model, servo, q, v, few),
        "public": lambda: simulate_batch(
            model, (q, _states(v, runs)), DURATION, control=servo, ground=ground, step=STEP, samples=2, threads=1
        ),
        "events": lambda: simulate(
            model, (q, v), FROM_EVENT_TO_EVENT, control=servo, ground=ground, method="event-driven", samples=2
        ),
        "points": lanes_of(model_of(everywhere(model.robot)), servo, q, v, few),
    }  # fmt: skip
    walks = {}
    try:
        from benchmarks.engines import mujoco_walk
    except ImportError:
        pass
    else:
        walks = {step: mujoco_walk.walk(model, FRICTION, mujoco_walk.rigid(step), servo, q, v, DURATION, step, 100.0)
                 for step in STEPS}  # fmt: skip
        contenders["mujoco"] = walks[STEP]
    for name in ("one", "lanes", "points", "gradient", "gradients", "events"):
        contenders[name]()
    times = interleaved(contenders, {"mujoco": 5}, repeats)
    count = DURATION / STEP
    rates = {"one": ALONE / STEP, "lanes": few * count, "public": runs * count, "points": few * count, "mujoco": count}
    best = {name: rate / min(times[name]) for name, rate in rates.items() if name in times}
    found = simulate(model, (q, v), DURATION, control=servo, ground=ground, step=STEP, samples=2).final_state[0][:3]
    error = float(np.linalg.norm(found - PLACE))
    price = (len(names), ratio(times["gradient"], times["short"]), ratio(times["gradients"], times["lanes"]),
             min(times["events"]))  # fmt: skip
    rates_of = best["one"], best["lanes"], best["public"], best["points"]
    if not walks:
        return RigidRace(*rates_of, None, None, error, None, None, *price)
    each = [seconds / count for seconds in times["mujoco"]]
    own = [seconds / (few * count) for seconds in times["lanes"]]
    missed = {step: float(np.linalg.norm(walk()[-1] - PLACE)) for step, walk in walks.items()}
    return RigidRace(
        *rates_of, best["mujoco"], ratio(each, own), error, missed[STEP],
        _equal_error(model, servo, q, v, few, walks, missed, repeats), *price,
    )  # fmt: skip


def _ahead(end: Context) -> object:
    """What is differentiated: how far the torso has come forward [m]."""
    return end.q[1]


def _equal_error(
    model: Model, servo: JointServo, q: Floats, v: Floats, runs: int, walks: dict[float, Any],
    missed: dict[float, float], repeats: int,
) -> float | None:  # fmt: skip
    """Time of MuJoCo's longest step that is good enough over that of ours, a robot."""
    theirs = [step for step in STEPS if missed[step] <= ERROR]
    ours = [step for step in STEPS[:3] if _missed(model, servo, q, v, step) <= ERROR]
    if not theirs or not ours:
        return None
    times = interleaved({"ours": lanes_of(model, servo, q, v, runs, ours[0]), "theirs": walks[theirs[0]]}, {}, repeats)
    return ratio(times["theirs"], [seconds / runs for seconds in times["ours"]]).median


def _missed(model: Model, servo: JointServo, q: Floats, v: Floats, step: float) -> float:
    run = simulate(model, (q, v), DURATION, control=servo, ground=RigidGround(friction=FRICTION), step=step, samples=2)
    return float(np.linalg.norm(run.final_state[0][:3] - PLACE))
