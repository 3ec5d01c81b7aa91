"""The machine that numbers are measured on, and the engines that are installed there."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

from tailwork.kernels.native import machine

ENGINES = {"Pinocchio": "pin", "MuJoCo": "mujoco", "Drake": "drake", "JAX": "jax"}
"""Engines that we compare with, and the packages that bring them."""


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
