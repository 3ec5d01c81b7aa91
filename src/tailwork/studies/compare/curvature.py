"""Curvature of the segments of tails that bend: desired and actual."""

from __future__ import annotations

import numpy as np

from tailwork.simulation.run import Run
from tailwork.studies.scenario import Scenario
from tailwork.typing import Floats


def segment_curvatures(run: Run, scenario: Scenario) -> list[tuple[str, Floats, Floats]]:
    """By segment: its name, desired and actual curvature over time [1/m], in the plane in which the motion bends it.

    Nothing for a tail that does not bend, such as a pendulum.
    """
    tail, motion = scenario.tail_part, scenario.motion
    if not tail.bends:
        return []
    names, (times, q, _) = run.model.coordinate_names, run.record.states()
    columns = {name: names.index(f"{scenario.tail}.{name}") for name in tail.limb.coordinates}
    desired, actual = [], []
    for t, row in zip(times.tolist(), q.tolist(), strict=True):
        alpha, _ = motion.direction(t)
        desired.append(tail.curvatures(motion.of(tail, t), alpha))
        actual.append(tail.curvatures({name: row[k] for name, k in columns.items()}, alpha))
    pairs = zip(np.array(desired, dtype=float).T, np.array(actual, dtype=float).T, strict=True)
    return [(f"segment {k}", wanted, found) for k, (wanted, found) in enumerate(pairs, start=1)]
