"""Tails of one mass and length on one torso, each swung down and to the side."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.figure import Figure

import tailwork
from tailwork.studies import Scenario, perform, roll
from tailwork.view import picture

SHOWN = {"pendulum": "pendulum", "two links": "two_link", "R3": "r3", "USRT": "usrt", "articulated": "articulated",
         "continuum": "continuum"}  # fmt: skip


def draw() -> Figure:
    """Six tails of 1 kg and 0.48 m in the air, bent by 45° and rolled by 60°."""
    torso = tailwork.robots.liu2020().without("legs")
    motion = replace(roll(45, angle=60), angle="chain")
    runs = {label: perform(Scenario(torso.with_tail(name), motion, "airborne")) for label, name in SHOWN.items()}
    return picture(runs, "ghosts", frames=4)
