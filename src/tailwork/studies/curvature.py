"""Curvature of bending tails: what was wanted and what came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.robots.tails import R3, Usrt
from tailwork.simulation import Run
from tailwork.studies.manoeuvre import Manoeuvre
from tailwork.studies.samples import Samples, run_samples
from tailwork.studies.tail_coordinates import segment_sizes
from tailwork.typing import Floats


@dataclass(frozen=True)
class Bending:
    """One segment's curvature over time [1/m], in the plane in which the motion bends the tail."""

    segment: str
    desired: Floats
    actual: Floats

    @property
    def error(self) -> Floats:
        """Actual less desired [1/m]."""
        return self.actual - self.desired


def bending(run: Run, manoeuvre: Manoeuvre) -> list[Bending]:
    """Curvature of each segment of an R3 or USRT tail; nothing for a pendulum, which does not bend."""
    return segment_bending(run_samples(run, manoeuvre))


def segment_bending(samples: Samples) -> list[Bending]:
    """The same from samples, of one run or of many."""
    tail, part = samples.manoeuvre.tail, samples.manoeuvre.tail_part
    if not isinstance(part, (R3, Usrt)):
        return []
    wanted, names = samples.wanted_shapes, samples.model.coordinate_names
    q = {name: samples.quantity("q")[..., names.index(f"{tail}.{name}")] for name in wanted}
    link = samples.design.link_length[..., None]
    found = []
    if isinstance(part, R3):
        for s in range(part.segments):
            name = f"beta_{s + 1}"
            found.append(Bending(f"segment {s + 1}", wanted[name] / link, q[name] / link))
        return found
    alpha, _ = samples.manoeuvre.motion.directions(samples.shares)
    first = 1
    for s, size in enumerate(segment_sizes(part)):
        joints = range(first, first + size)
        first += size
        desired, actual = (
            sum(x[f"phi_{i}"] * np.cos(alpha) - x[f"theta_{i}"] * np.sin(alpha) for i in joints) for x in (wanted, q)
        )
        length = size * link
        found.append(Bending(f"segment {s + 1}", np.asarray(desired) / length, np.asarray(actual) / length))
    return found
