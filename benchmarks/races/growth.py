"""How the cost of the forward dynamics grows: with links of a tail, legs, states in a batch, and threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.timing import interleaved, together
from tailwork.model import Model
from tailwork.robots import R3, Robot, Usrt, liu2020
from tailwork.robots.legs.three_hinge import ThreeHingeLegs
from tailwork.typing import Floats

LINKS = (2, 4, 6, 8, 12, 16, 24, 32, 48)
LEGS = (2, 3, 4, 6, 8, 12)
BATCHES = tuple(4**k for k in range(9))
ROWS = 1024
"""States that links and legs are timed with."""
CALL_ROWS = 4096
"""States of each thread's calls."""


@dataclass(frozen=True)
class Growth:
    """Cost of one evaluation against a number."""

    name: str
    against: str
    sizes: tuple[int, ...]
    times: tuple[float, ...]  # [ns] an evaluation, best of some
    operations: tuple[int, ...]  # of the graph; the same for batches and threads

    @property
    def exponent(self) -> float:
        """p of time ~ size^p, fitted to the larger half of the sizes."""
        return fitted_exponent(self.sizes, self.times)

    @property
    def operations_exponent(self) -> float:
        """Likewise of the operations."""
        return fitted_exponent(self.sizes, self.operations)


def fitted_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Slope of log cost over log size by least squares, over the larger half of the sizes; NaN for one."""
    if len(sizes) < 2:
        return math.nan
    first = min(len(sizes) // 2, len(sizes) - 2)
    x, y = (np.log(np.array(values[first:], dtype=float)) for values in (sizes, costs))
    return float(np.polyfit(x, y, 1)[0])


def usrt_of(links: int) -> Robot:
    """The 2020 quadruped with a USRT of so many of its links."""
    robot = liu2020("usrt")
    tail = robot.part("tail")
    assert isinstance(tail, Usrt)
    return robot.with_part("tail", replace(tail, links=links))


def r3_of(links: int) -> Robot:
    """The 2020 quadruped with an R3 of so many of its links, in two segments."""
    robot = liu2020("r3")
    tail = robot.part("tail")
    assert isinstance(tail, R3)
    return robot.with_part("tail", replace(tail, links_per_segment=links // tail.segments))


def legs_of(count: int) -> Robot:
    """The 2020 quadruped's torso and tail on so many of its legs, spread evenly around it."""
    robot = liu2020("pendulum")
    legs = robot.part("legs")
    assert isinstance(legs, ThreeHingeLegs)
    turns = 2.0 * math.pi * (np.arange(count) + 0.5) / count
    places = tuple((0.15 * math.sqrt(2.0) * math.cos(a), 0.25 * math.sqrt(2.0) * math.sin(a), 0.0) for a in turns)
    return robot.with_part("legs", replace(legs, hips=places, feet=places))


def _inputs(model: Model) -> Floats:
    """A state in motion, with efforts, the same every time."""
    rng = np.random.default_rng(7)
    v = rng.uniform(-0.1, 0.1, len(model.velocity_names))
    return np.concatenate([model.standing(), v, rng.uniform(0.0, 1.0, len(model.actuator_names))])


def _evaluation(model: Model, rows: int) -> Callable[[], None]:
    """The forward dynamics of so many states in lanes, ready to be timed."""
    call = model._call("forward_dynamics")
    inputs = np.ascontiguousarray(np.tile(_inputs(model), (rows, 1)))
    if rows < call.kernel.width:
        return call.kernel.loop(inputs, call.constants, np.empty((rows, call.kernel.outputs)))
    return call.kernel.lane_loop(inputs, call.constants, np.empty((rows, call.kernel.outputs)))


def with_structure(
    name: str, against: str, sizes: Sequence[int], robot_of: Callable[[int], Robot], repeats: int,
    tell: Callable[[str], None],
) -> Growth:  # fmt: skip
    """Time against a number that changes the robot's structure."""
    evaluations: dict[str, Callable[[], None]] = {}
    operations = []
    for size in sizes:
        tell(f"compiling {name}, {size} {against}")
        model = Model(robot_of(size))
        evaluations[str(size)] = _evaluation(model, ROWS)
        operations.append(model._call("forward_dynamics").kernel.flops)
    tell(f"timing {name}")
    found = interleaved(evaluations, {}, repeats)
    times = tuple(min(found[str(size)]) / ROWS * 1e9 for size in sizes)
    return Growth(name, against, tuple(sizes), times, tuple(operations))


def with_batch(model: Model, sizes: Sequence[int], repeats: int) -> Growth:
    """Time of a call against the number of states in it."""
    evaluations = {str(size): _evaluation(model, size) for size in sizes}
    calls = {str(size): max(1, ROWS // size) for size in sizes}
    found = interleaved(evaluations, calls, repeats)
    times = tuple(min(found[str(size)]) * 1e9 for size in sizes)
    operations = (model._call("forward_dynamics").kernel.flops,) * len(sizes)
    return Growth("pendulum, one call", "states", tuple(sizes), times, operations)


def with_threads(model: Model, most: int, repeats: int) -> Growth:
    """Time an evaluation against the number of threads."""
    sizes = tuple(range(1, most + 1))
    evaluations = {str(n): together([_evaluation(model, CALL_ROWS) for _ in range(n)], 4) for n in sizes}
    found = interleaved(evaluations, {}, repeats)
    times = tuple(min(found[str(n)]) / (4 * CALL_ROWS * n) * 1e9 for n in sizes)
    operations = (model._call("forward_dynamics").kernel.flops,) * len(sizes)
    return Growth("pendulum, an evaluation", "threads", sizes, times, operations)


def growths(repeats: int = 40, tell: Callable[[str], None] = lambda text: None) -> list[Growth]:
    """All of them."""
    pendulum = Model(liu2020("pendulum"))
    tell("timing batches and threads")
    sizes = [with_batch(pendulum, BATCHES, repeats), with_threads(pendulum, min(8, os.cpu_count() or 1), repeats)]
    return [
        with_structure("USRT", "links", LINKS, usrt_of, repeats, tell),
        with_structure("R3", "links", LINKS, r3_of, repeats, tell),
        with_structure("pendulum", "legs", LEGS, legs_of, repeats, tell),
        *sizes,
    ]
