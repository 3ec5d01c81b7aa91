"""Whole-body dynamics of legged robots with tails."""

from tailwork import robots
from tailwork.model import Model, Push
from tailwork.robots import load

__version__ = "0.1.0"

__all__ = ["Model", "Push", "__version__", "load", "robots"]
