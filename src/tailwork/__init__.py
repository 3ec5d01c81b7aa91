"""Whole-body dynamics of legged robots with tails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tailwork import robots
from tailwork.model import Model, Push
from tailwork.robots import load

if TYPE_CHECKING:
    from tailwork.simulation import load_run, simulate

__version__ = "0.1.0"

__all__ = ["Model", "Push", "__version__", "load", "load_run", "robots", "simulate"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """`simulate` and `load_run` when they are first asked for: what they need is slow to import."""
    if name in ("load_run", "simulate"):
        from tailwork import simulation

        return getattr(simulation, name)
    raise AttributeError(f"module 'tailwork' has no attribute {name!r}")
