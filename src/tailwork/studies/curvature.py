"""Curvature of bending tails: what was wanted and what came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.kernels.kernel import Floats
from tailwork.robots.tails import R3, Usrt
from tailwork.simulation import Run
from tailwork.studies.manoeuvre import Manoeuvre
from tailwork.studies.tail_coordinates import segment_sizes, shapes


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
    tail, part = manoeuvre.tail, manoeuvre.tail_part
    if not isinstance(part, (R3, Usrt)):
        return []
    times = run.data["time"].to_numpy()
    share = np.array([manoeuvre.motion.share.value(float(t)) for t in times])
    wanted = shapes(part, manoeuvre.motion, manoeuvre.com_map, share)
    q = {name: run.data["q"].sel(coordinate=f"{tail}.{name}").to_numpy() for name in wanted}
    found = []
    if isinstance(part, R3):
        for s in range(part.segments):
            name = f"beta_{s + 1}"
            found.append(Bending(f"segment {s + 1}", wanted[name] / part.link_length, q[name] / part.link_length))
        return found
    alpha, _ = manoeuvre.motion.directions(share)
    first = 1
    for s, size in enumerate(segment_sizes(part)):
        joints = range(first, first + size)
        first += size
        desired, actual = (
            sum(x[f"phi_{i}"] * np.cos(alpha) - x[f"theta_{i}"] * np.sin(alpha) for i in joints) for x in (wanted, q)
        )
        length = size * part.link_length
        found.append(Bending(f"segment {s + 1}", np.asarray(desired) / length, np.asarray(actual) / length))
    return found
