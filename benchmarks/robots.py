"""The robots that are raced, and the state that they are evaluated in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tailwork.model import Model
from tailwork.robots import Robot, blaberus, liu2020
from tailwork.typing import Floats

ROBOTS: dict[str, Callable[[], Robot]] = {
    "pendulum": lambda: liu2020("pendulum"),
    "r3": lambda: liu2020("r3"),
    "usrt": lambda: liu2020("usrt"),
    "cockroach": blaberus,
}


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
