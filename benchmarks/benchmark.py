"""What the benchmark measures: the robots and their states, and the machine it runs on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from tailwork.kernels.native import machine
from tailwork.model import Model
from tailwork.robots import Robot, blaberus, liu2020
from tailwork.typing import Floats

ROBOTS: dict[str, Callable[[], Robot]] = {
    "pendulum": lambda: liu2020("pendulum"),
    "r3": lambda: liu2020("r3"),
    "usrt": lambda: liu2020("usrt"),
    "cockroach": blaberus,
}
ENGINES = {"Pinocchio": "pin", "MuJoCo": "mujoco", "Drake": "drake", "JAX": "jax"}
"""Engines that we compare with, and the packages that bring them."""


@cache
def model_of(name: str) -> Model:
    """A robot of the benchmark: quadrupeds stand on pinned feet, the cockroach is free."""
    return Model(ROBOTS[name](), "none" if name == "cockroach" else "all")


def example_state(model: Model) -> tuple[Floats, Floats, Floats]:
    """A state in motion near standing, the same every time."""
    rng = np.random.default_rng(7)
    q = model.standing()
    q[6:] += rng.uniform(-0.1, 0.1, len(q) - 6)
    q[:6] += rng.uniform(-0.02, 0.02, 6) * (1.0 if model.foot_names else 0.1)
    v = rng.uniform(-0.3, 0.3, len(model.velocity_names))
    tau = rng.uniform(0.0, 1.0, len(model.actuator_names))
    return q, v, tau * (1.0 if model.foot_names else 1e-6)


def installed(package: str) -> str:
    """The version of a package; "not installed" without it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def machine_description() -> dict[str, str]:
    """What the numbers were measured on."""
    host = machine()
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "code for": f"{host.cpu}, {host.width} lanes",
        "python": platform.python_version(),
    } | {package: installed(package) for package in ("numpy", "casadi", "llvmlite", *ENGINES.values())}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
