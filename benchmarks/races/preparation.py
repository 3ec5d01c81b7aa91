"""How long a model takes to be ready."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

PREPARATION = """
import sys, time
import tailwork
from benchmarks.robots import ROBOTS
name = sys.argv[1]
robot = ROBOTS[name]()
changed = robot.replace({"torso.mass": robot.torso.mass * 1.1})
stance = "none" if name == "cockroach" else "all"
start = time.perf_counter(); tailwork.Model(robot, stance)
middle = time.perf_counter(); tailwork.Model(changed, stance)
print(middle - start, time.perf_counter() - middle)
"""


@dataclass(frozen=True)
class Preparation:
    """Seconds that Model(...) takes."""

    robot: str
    new: float  # a structure not seen before, nothing cached
    cached: float  # in a new process, compiled before
    changed: float  # another number, same structure


def prepared(name: str, repeats: int = 3) -> Preparation:
    """How long a model takes to be ready, in fresh processes; the best of some."""
    found: list[tuple[float, float, float]] = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            first, second = (_in_process(name, cache) for _ in range(2))
        found.append((first[0], second[0], second[1]))
    new, cached, changed = (min(row[k] for row in found) for k in range(3))
    return Preparation(name, new, cached, changed)


def _in_process(name: str, cache: str) -> tuple[float, float]:
    environment = os.environ | {"TAILWORK_CACHE": cache}
    run = [sys.executable, "-c", PREPARATION, name]
    output = subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout.split()
    return float(output[0]), float(output[1])
