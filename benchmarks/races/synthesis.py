"""How many designs a second are judged, and how long problem A takes: what `make bench` prints of synthesis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks.timing import THREADS
from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.example import EXAMPLE
from tailwork.studies.design.files import study_from_text
from tailwork.studies.design.multistart import best_design
from tailwork.studies.measures import MEASURES

MANY = 16384
MEASURED = (
    "turn", "pitch", "roll", "peak_tail_torque", "peak_tail_power", "peak_tail_speed", "tail_energy", "peak_roll",
    "peak_leg_torque", "least_normal_force", "friction_needed", "most_extension", "tail_mass", "tail_length",
    "added_mass",
)  # fmt: skip
LEAST_RATE = 60_000.0
"""Designs a second that we hold ourselves to, on two threads."""


@dataclass(frozen=True)
class SynthesisRace:
    """Of the pendulum with its motion imposed, 30 steps."""

    rate: float  # designs a second with their measures, best of several
    measures: int
    threads: int
    seconds: float  # from the problem to its best design, kernels ready, best of several
    goal: float  # what that design reaches [deg]


def synthesis_race(repeats: int) -> SynthesisRace:
    """Judge many designs of the example problem, then solve it."""
    assert set(MEASURED) <= MEASURES.keys()
    study = study_from_text(EXAMPLE, "problem.toml")
    evaluator = Evaluator(study, THREADS, also=MEASURED)
    designs = evaluator.low + (evaluator.high - evaluator.low) * np.random.default_rng(1).uniform(
        size=(MANY, len(evaluator.variables))
    )
    rate = MANY / _best(repeats, lambda: evaluator.measures(designs, MEASURED))
    ends: list[float] = []
    seconds = _best(min(repeats, 3), lambda: ends.append(best_design(Evaluator(study, THREADS)).best.goal))
    return SynthesisRace(rate, len(MEASURED), THREADS, seconds, ends[-1])


def _best(repeats: int, work: Callable[[], object]) -> float:
    """The shortest of several times [s]."""
    times: list[float] = []
    for _ in range(max(2, repeats)):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)
