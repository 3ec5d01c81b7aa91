"""Whole-body dynamics of legged robots with tails."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tailwork import robots
from tailwork.kernels.kernel import free_kernels
from tailwork.model import Model, Push
from tailwork.progress import show_progress
from tailwork.robots import Robot, load

if TYPE_CHECKING:
    from tailwork import control, mechanics, papers, simulation, studies, view
    from tailwork.simulation import gradient, load_run, sensitivities, simulate, simulate_batch

__version__ = "0.2.0"

_SIMULATION = ("gradient", "load_run", "sensitivities", "simulate", "simulate_batch")
_PACKAGES = ("control", "mechanics", "papers", "simulation", "studies", "view")
"""What is imported when it is first used: it takes long to import."""

__all__ = [
    "Model", "Push", "Robot", "__version__", "control", "free_kernels", "gradient", "load", "load_run", "mechanics",
    "papers", "robots", "sensitivities", "show_progress", "simulate", "simulate_batch", "simulation", "studies", "view",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _SIMULATION:
        return getattr(import_module("tailwork.simulation"), name)
    if name in _PACKAGES:
        return import_module(f"tailwork.{name}")
    raise AttributeError(f"module 'tailwork' has no attribute {name!r}")
