"""Speed side by side: our kernels and Pinocchio in one run, interleaved, the best of many repeats."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.kernels.kernel import Floats
from tailwork.kernels.native import machine
from tailwork.model import Model
from tailwork.robots import Robot, blaberus, liu2020

BATCH = 4096
ROBOTS: dict[str, Callable[[], Robot]] = {
    "pendulum": lambda: liu2020("pendulum"),
    "r3": lambda: liu2020("r3"),
    "usrt": lambda: liu2020("usrt"),
    "cockroach": blaberus,
}
GOALS = {
    ("pendulum", "loop"): 10.0, ("usrt", "loop"): 7.0, ("cockroach", "loop"): 5.0,
    ("pendulum", "lanes"): 40.0, ("usrt", "lanes"): 25.0, ("cockroach", "lanes"): 18.0,
}  # fmt: skip
"""Least ratios to Pinocchio's time per evaluation that we hold ourselves to."""


@dataclass(frozen=True)
class Speed:
    """Times of one forward-dynamics evaluation [ns], best of many, and how they compare."""

    robot: str
    velocities: int
    operations: int
    loop: float  # scalar kernel in a compiled loop
    lanes: float  # lane kernel on a batch, one core
    python: float  # one state through Model.evaluator
    checked: float  # one state through Model.forward_dynamics
    pinocchio: float | None  # from Python, net of call overhead
    disagreement: float | None  # of the two accelerations, relative
    spread: float  # of the interleaved repeats: median over best, less one

    def ratio(self, ours: str) -> float | None:
        """Pinocchio's time over ours."""
        return None if self.pinocchio is None else self.pinocchio / getattr(self, ours)


def example_state(model: Model) -> tuple[Floats, Floats, Floats]:
    """A state in motion near standing, the same every time."""
    rng = np.random.default_rng(7)
    q = model.standing()
    q[6:] += rng.uniform(-0.1, 0.1, len(q) - 6)
    q[:6] += rng.uniform(-0.02, 0.02, 6) * (1.0 if model.foot_names else 0.1)
    v = rng.uniform(-0.3, 0.3, len(model.velocity_names))
    tau = rng.uniform(0.0, 1.0, len(model.actuator_names))
    return q, v, tau * (1.0 if model.foot_names else 1e-6)


def best_times(contenders: dict[str, Callable[[], Any]], calls: dict[str, int], repeats: int) -> dict[str, list[float]]:
    """Seconds a call of each contender, `repeats` times, all of them in turn."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            count = calls.get(name, 1)
            start = time.perf_counter()
            for _ in range(count):
                run()
            times[name].append((time.perf_counter() - start) / count)
    return times


def measured(name: str, repeats: int) -> Speed:
    """The speeds of one robot's forward dynamics."""
    robot = ROBOTS[name]()
    model = Model(robot, "none" if name == "cockroach" else "all")
    q, v, tau = example_state(model)
    call = model._call("forward_dynamics")
    kernel, constants = call.kernel, call.constants
    rows = np.ascontiguousarray(np.tile(np.concatenate([q, v, tau]), (BATCH, 1)))
    out = np.empty((BATCH, kernel.outputs))
    evaluator = model.evaluator("forward_dynamics")
    for argument, value in (("q", q), ("v", v), ("tau", tau)):
        evaluator.arguments[argument][:] = value
    contenders: dict[str, Callable[[], Any]] = {
        "loop": kernel.loop(rows, constants, out),
        "lanes": kernel.lane_loop(rows, constants, out),
        "python": evaluator,
        "checked": lambda: model.forward_dynamics(q, v, tau),
    }
    calls = {"python": 1000, "checked": 200, "pinocchio": 500, "overhead": 2000}
    disagreement = None
    if name != "r3":  # its gears are not part of Pinocchio's constraint dynamics
        peer = _peer(model)
        if peer is not None:
            theirs, ours = peer.acceleration(q, v, tau), model.forward_dynamics(q, v, tau)
            disagreement = float(np.abs(theirs - ours).max() / np.abs(ours).max())
            contenders["pinocchio"] = peer.forward(q, v, tau)
            contenders["overhead"] = _overhead()
    times = best_times(contenders, calls, repeats)
    best = {key: min(found) for key, found in times.items()}
    return Speed(
        robot=name,
        velocities=len(model.velocity_names),
        operations=kernel.flops,
        loop=best["loop"] / BATCH * 1e9,
        lanes=best["lanes"] / BATCH * 1e9,
        python=best["python"] * 1e9,
        checked=best["checked"] * 1e9,
        pinocchio=(best["pinocchio"] - best["overhead"]) * 1e9 if "pinocchio" in best else None,
        disagreement=disagreement,
        spread=float(np.median([np.median(found) / min(found) - 1.0 for found in times.values()])),
    )


def _peer(model: Model) -> Any:
    try:
        from tailwork.studies.pinocchio_peer import PinocchioPeer
    except ImportError:
        return None
    return PinocchioPeer(model)


def _overhead() -> Callable[[], Any]:
    from tailwork.studies.pinocchio_peer import call_overhead

    return call_overhead()


PREPARATION = """
import sys, time
import tailwork
from tailwork.studies.benchmark import ROBOTS
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


def machine_description() -> dict[str, str]:
    """What the numbers were measured on."""
    versions = {}
    for package in ("numpy", "casadi", "llvmlite", "pin", "mujoco"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    host = machine()
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "code for": f"{host.cpu}, {host.width} lanes",
        "python": platform.python_version(),
    } | versions


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def as_json(speeds: Iterable[Speed], preparations: Iterable[Preparation], more: dict[str, Any]) -> str:
    """Results to keep and compare: times depend on the machine, ratios and counts hold better."""
    content = {
        "machine": machine_description(),
        "forward_dynamics": [
            asdict(s) | {"ratio_loop": s.ratio("loop"), "ratio_lanes": s.ratio("lanes")} for s in speeds
        ],
        "model": [asdict(p) for p in preparations],
    } | more
    return json.dumps(content, indent=2) + "\n"
