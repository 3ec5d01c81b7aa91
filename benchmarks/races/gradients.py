"""The price of a gradient: a run differentiated by its whole design, beside the run alone and beside differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.races.trajectories import ATOL, DURATION, RTOL, course, stepped
from benchmarks.robots import model_of
from benchmarks.timing import Ratio, interleaved, ratio
from tailwork.control.context import Context
from tailwork.control.laws import Constant
from tailwork.model import Model
from tailwork.simulation.batch.batch import simulate_batch
from tailwork.simulation.derivatives.gradient import gradients
from tailwork.simulation.system import System
from tailwork.typing import Floats

METHODS = {"pendulum": "dopri5", "usrt": "rodas5p"}
RUNS = {"pendulum": (16, 784), "usrt": (16, 144)}
"""Runs of two batches: their difference in time is the compiled part, without what is done once a call."""
LANE_RUNS = 1024
"""Runs of the batch without gradients that they are compared with."""
STEP = 1e-3
"""Share by which a parameter is moved for a difference."""
TIGHT = 1e-12, 1e-14
"""Relative and absolute tolerance of the runs whose differences are taken."""


@dataclass(frozen=True)
class GradientRace:
    """The inclination of the torso at the end of 0.3 s, differentiated by all numbers of the design."""

    robot: str
    method: str
    parameters: int
    trajectory: float  # one run [ms], best of the repeats
    gradient: float  # one run with its gradient [ms]
    ratio: Ratio  # gradient over trajectory
    lanes: float  # one run of a batch [ms], one thread
    lane_ratio: Ratio  # gradient over a run of a batch
    differences: float  # one-sided differences would take so many trajectories
    error: float  # largest, against differences of tight runs; shares of the largest p ∂/∂p


def inclination(end: Context) -> object:
    """What is differentiated: the torso's angle about x [rad]."""
    return end.coordinate("phi_x")


def gradient_race(name: str, repeats: int = 9) -> GradientRace:
    """Compare a gradient with differences, then time it beside its run."""
    model, (q, v, tau) = model_of(name), course(name)
    law, method, names = Constant(values=tuple(tau)), METHODS[name], model.parameter_names
    system = System(model, [law], events=())
    trajectory = stepped(system, system.state(q, v), method)

    def mass(count: int) -> Floats:
        return np.full(count, model._numbers["torso.mass"])

    def batch(count: int) -> dict[str, Floats]:
        return gradients(model, (q, v), DURATION, inclination, parameters={"torso.mass": mass(count)}, by=names,
                         control=law, method=method, rtol=RTOL, atol=ATOL, events=(),
                         threads=1).by_parameter  # fmt: skip

    def runs(count: int) -> object:
        return simulate_batch(model, (q, v), DURATION, parameters={"torso.mass": mass(count)}, control=law,
                              method=method, rtol=RTOL, atol=ATOL, events=(), threads=1)  # fmt: skip

    found = np.array([values[0] for values in batch(1).values()])
    values = np.array([model._numbers[path] for path in names])
    expected = central_differences(model, q, v, law, method)
    error = np.abs((found - expected) * values).max() / np.abs(expected * values).max()
    small, large = RUNS[name]
    contenders = {
        "trajectory": lambda: [trajectory() for _ in range(large - small)],
        "lanes": lambda: runs(LANE_RUNS),
        "large": lambda: batch(large),
        "small": lambda: batch(small),
    }
    contenders["trajectory"]()
    times = interleaved(contenders, {}, repeats)
    times["trajectory"] = [seconds / (large - small) for seconds in times["trajectory"]]
    times["lanes"] = [seconds / LANE_RUNS for seconds in times["lanes"]]
    each = (np.array(times["large"]) - np.array(times["small"])) / (large - small)
    return GradientRace(
        robot=name,
        method=method,
        parameters=len(names),
        trajectory=min(times["trajectory"]) * 1e3,
        gradient=(min(times["large"]) - min(times["small"])) / (large - small) * 1e3,
        ratio=ratio(each.tolist(), times["trajectory"]),
        lanes=min(times["lanes"]) * 1e3,
        lane_ratio=ratio(each.tolist(), times["lanes"]),
        differences=float(len(names) + 1),
        error=float(error),
    )


def central_differences(model: Model, q: Floats, v: Floats, law: Constant, method: str) -> Floats:
    """Derivatives of the inclination by each parameter, from five-point differences of tight runs."""
    names = model.parameter_names
    values = np.array([model._numbers[path] for path in names])
    moves = STEP * np.array([-2.0, -1.0, 1.0, 2.0])
    rows = np.tile(values, (len(names) * len(moves), 1))
    for k in range(len(names)):
        rows[k * len(moves) : (k + 1) * len(moves), k] *= 1.0 + moves
    columns = dict(zip(names, rows.T, strict=True))
    runs = simulate_batch(model, (q, v), DURATION, parameters=columns, control=law, method=method, rtol=TIGHT[0],
                          atol=TIGHT[1])  # fmt: skip
    ends = runs.q[:, model.coordinate_names.index("phi_x")].reshape(len(names), len(moves))
    return ends @ np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * STEP * values)
