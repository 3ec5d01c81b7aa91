"""Sweeps whose designs cost nothing: what stands in for the simulation, here and in processes of their own.

`python small_sweeps.py SECONDS sweep …` is the command with designs that take so long each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.robots import liu2020
from tailwork.studies.motions import yaw
from tailwork.studies.perform import Outcomes
from tailwork.studies.scenario import Scenario
from tailwork.studies.sweep import plan as sweep_module
from tailwork.studies.sweep.axes import axis_from_text
from tailwork.studies.sweep.folder import Results, SweepFolder, open_folder, read_results
from tailwork.studies.sweep.plan import Sweep
from tailwork.studies.sweep.run import sweep_here

HEAVY = 1.2
"""Designs whose first two numbers have a greater product are not possible."""


def made_up(values: Mapping[str, Any], name: str) -> np.ndarray:
    """A smooth function of what is varied, another for each measure."""
    first, second, *others = (np.asarray(column, dtype=float) for column in (*values.values(), 1.0))
    return len(name) * first * second / (0.3 + first * second) + sum(others)


def quick_many(seconds: float = 0.0) -> Callable[..., Outcomes]:
    """In the place of `perform_many`: some designs are not possible, some end early."""

    def many(
        scenario: Scenario, changes: Mapping[str, Any], *, measures: Sequence[str], threads: int | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Outcomes:  # fmt: skip
        count = len(next(iter(changes.values())))
        first, second, *_ = (np.asarray(column, dtype=float) for column in (*changes.values(), np.ones(count)))
        time.sleep(seconds * count)
        refused = first * second > HEAVY
        early = (first > 0.6) & (second < 0.6) & ~refused
        reasons = tuple(
            f"tail.mass: got {second[k]:.3g}; required: less" if refused[k]
            else f"leg{k % 2 + 3} nearly straight at {0.1 + k / 1e4:.4f} s" if early[k]
            else ""
            for k in range(count)
        )  # fmt: skip
        found = {name: np.where(refused, np.nan, made_up(changes, name)) for name in measures}
        progress(count, count)
        return Outcomes(found, reasons, np.where(refused, 0.0, np.where(early, 0.2, 0.3)))

    return many


def small_sweep(*vary: str, measures: Sequence[str] = ("yaw", "peak_tail_torque"), **more: Any) -> Sweep:
    """A sweep of the pendulum robot."""
    robot = liu2020("pendulum")
    drawn = more.get("sampling", "grid") != "grid"
    varied = tuple(axis_from_text(text, robot, drawn=drawn) for text in vary)
    return Sweep(Scenario(robot, yaw(40)), varied, tuple(measures), **more)


def swept(folder: Path, sweep: Sweep) -> tuple[SweepFolder, Results]:
    """A sweep done, and its results."""
    kept = open_folder(folder, sweep)
    sweep_here(kept, kept.finished()[0], 1, lambda done: None)
    kept.gather()
    return kept, read_results(kept)


if __name__ == "__main__":
    from tailwork.cli import main

    sweep_module.perform_many = quick_many(float(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
