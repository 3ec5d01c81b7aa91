"""Whole-body dynamics of legged robots with tails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tailwork import robots
from tailwork.model import Model, Push
from tailwork.robots import load

if TYPE_CHECKING:
    from tailwork.simulation import simulate

__version__ = "0.1.0"

__all__ = ["Model", "Push", "__version__", "load", "robots", "simulate"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """`simulate` when it is first asked for: what it needs is slow to import."""
    if name == "simulate":
        from tailwork.simulation import simulate

        return simulate
    raise AttributeError(f"module 'tailwork' has no attribute {name!r}")
