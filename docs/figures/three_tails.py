"""The three tails of Liu & Ben-Tzvi 2020, each swung to the side."""

from __future__ import annotations

from matplotlib.figure import Figure

import tailwork
from tailwork.studies import Scenario, perform, yaw
from tailwork.view import picture


def draw() -> Figure:
    """Ghosts of the pendulum, the R3 and the USRT tail, 60° to the side in 0.3 s, legs held by springs and dampers."""
    tails = {"pendulum": "pendulum", "R3": "r3", "USRT": "usrt"}
    runs = {
        label: perform(Scenario(tailwork.robots.liu2020(tail), yaw(60), policy="joint"))
        for label, tail in tails.items()
    }
    return picture(runs, "ghosts", frames=5)
