"""Whole-body dynamics of legged robots with tails."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tailwork.lazy import lazily

if TYPE_CHECKING:
    from tailwork import control, mechanics, papers, robots, simulation, studies, view
    from tailwork.errors import TailworkError
    from tailwork.kernels.kernel import free_kernels
    from tailwork.model import Model, Push
    from tailwork.progress import show_progress
    from tailwork.robots import Robot, load
    from tailwork.simulation import gradient, load_run, sensitivities, simulate, simulate_batch

__version__ = "0.2.0"

_named = lazily(
    __name__,
    {
        "errors": ("TailworkError",),
        "kernels.kernel": ("free_kernels",),
        "model": ("Model", "Push"),
        "progress": ("show_progress",),
        "robots": ("Robot", "load"),
        "simulation": ("gradient", "load_run", "sensitivities", "simulate", "simulate_batch"),
    },
)
"""Imported when it is first used: it takes long, and Ctrl-C shall be quiet."""
_MODULES = (
    "algebra", "control", "errors", "kernels", "mechanics", "model", "papers", "robots", "simulation", "studies", "view"
)  # fmt: skip

__all__ = [
    "Model", "Push", "Robot", "TailworkError", "__version__", "control", "free_kernels", "gradient", "load", "load_run",
    "mechanics", "papers", "robots", "sensitivities", "show_progress", "simulate", "simulate_batch", "simulation",
    "studies", "view",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    return import_module(f"tailwork.{name}") if name in _MODULES else _named(name)
