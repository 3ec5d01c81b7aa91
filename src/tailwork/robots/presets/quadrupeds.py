"""Real quadrupeds, each a file beside this one that says its source."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tailwork.robots.io.toml import load_toml
from tailwork.robots.robot import Robot


@cache
def _beside(name: str) -> Robot:
    return load_toml(Path(__file__).with_name(f"{name}.toml"))


def go2() -> Robot:
    """Unitree Go2, from its public URDF."""
    return _beside("go2")


def a1() -> Robot:
    """Unitree A1, from its public URDF."""
    return _beside("a1")


def anymal_c() -> Robot:
    """ANYbotics ANYmal C, from its public URDF."""
    return _beside("anymal_c")


def solo12() -> Robot:
    """Solo 12 of the Open Dynamic Robot Initiative, from its public URDF."""
    return _beside("solo12")


def spot() -> Robot:
    """Boston Dynamics Spot, from the public MJCF of MuJoCo Menagerie."""
    return _beside("spot")
