"""Measures of runs: the quantities that they need, compiled for a system, and their reductions over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.kernels.graph import Graph, finished
from tailwork.kernels.kernel import Kernel
from tailwork.mechanics.observe import path
from tailwork.simulation.batch.batch import ENERGY_BALANCE
from tailwork.simulation.system import System
from tailwork.studies.measures import MEASURES, Combined, Measure, Quantity, needed, size_of
from tailwork.studies.sample import Sample
from tailwork.studies.scenario import ActuatorMass
from tailwork.typing import Floats

SUMMARISED = ("final", "change", "max", "min", "peak", "integral")
"""Reductions that a rollout makes on its way."""


@dataclass(frozen=True)
class Observer:
    """Quantities along the path of a system, compiled."""

    graph: Graph  # (t, q, v, efforts, prescribed accelerations) → quantities; along a rollout (t, x, …) → x-dot, these
    kernel: Kernel  # of it
    parameters: tuple[str, ...]  # names of its parameters
    columns: dict[str, slice]  # by measure of the path: where its components stand among the quantities

    def has(self, name: str) -> bool:
        """Whether a measure exists for this robot: in the air there are no feet, a pendulum has no curvature."""
        vital = [self.columns[own.name] for own in needed([name])]
        if name in ("actuator_mass", "added_mass"):  # a tail that cables bend has no torques, and its actuators weigh
            vital = [self.columns[own.name] for own in needed([name]) if own.name == "_tail_alone"]
        return all(here.stop > here.start for here in vital)


def observer(system: System, tail: str, names: Iterable[str], along: bool = False) -> Observer:
    """What the measures of some names need, compiled for a system; `along` a rollout its derivative comes first."""
    measures = tuple(needed(name for name in names if name != ENERGY_BALANCE))

    def make() -> Observer:
        recorded, parameters, count = system.record() if along else system.record_observed()
        seen = path(recorded.layout, recorded.inputs)
        sample = Sample(recorded, seen, tail)
        outputs = system.change(recorded, seen.acceleration) if along else []
        first = len(outputs)
        columns: dict[str, slice] = {}
        known: dict[Quantity, slice] = {}  # several measures of one quantity
        for measure in measures:
            if measure.quantity not in known:
                values = list(measure.quantity(sample))
                known[measure.quantity] = slice(len(outputs) - first, len(outputs) - first + len(values))
                outputs += values
            columns[measure.name] = known[measure.quantity]
        graph = finished(recorded.tape, outputs, count, len(parameters))
        return Observer(graph, Kernel(graph), tuple(parameters), columns)

    key = ("measures", along, tail, tuple((m.name, m.quantity) for m in measures))
    return system.once(key, make, None if along else system.observed)


def reduced(measure: Measure, values: Any, times: Any) -> Any:
    """A measure of the path from samples, (…, times, components) at (…, times) [s] → (…).

    Values and times may carry their derivatives along a direction as small imaginary parts.
    """
    lead = values.shape[:-2]
    if not values.shape[-1]:
        return np.full(lead, np.nan)
    flat = values.reshape(*lead, -1)
    match measure.reduction:
        case "final":
            return values[..., -1, 0]
        case "change":
            return values[..., -1, 0] - values[..., 0, 0]
        case "max":
            return _picked(flat, np.real(flat).argmax(axis=-1))
        case "min":
            return _picked(flat, np.real(flat).argmin(axis=-1))
        case "peak":
            return size_of(_picked(flat, np.abs(np.real(flat)).argmax(axis=-1)))
        case "length":
            steps = np.diff(values, axis=-2)
            apart = np.sqrt((steps * steps).sum(axis=-1)) / 2.0
            return np.degrees(1.0) * 2.0 * np.arcsin(np.where(np.real(apart) < 1.0, apart, 1.0)).sum(axis=-1)
    whole = np.trapezoid(values if measure.reduction != "rms" else values * values, times[..., None], axis=-2)
    if measure.reduction == "integral":
        return whole.sum(axis=-1)
    lasting = (times[..., -1] - times[..., 0])[..., None]
    first = values[..., 0, :] if measure.reduction == "mean" else values[..., 0, :] ** 2
    mean = np.where(np.real(lasting) > 0.0, whole / np.where(np.real(lasting) > 0.0, lasting, 1.0), first)
    if measure.reduction == "rms":
        return np.sqrt(mean.mean(axis=-1))
    return _picked(mean, np.abs(np.real(mean)).argmax(axis=-1))


def _picked(values: Any, which: np.ndarray) -> Any:
    """The entry of a number along the last axis; NaN where any entry is."""
    found = np.take_along_axis(values, which[..., None], axis=-1)[..., 0]
    return np.where(np.isnan(np.real(values)).any(axis=-1), np.nan, found)


def from_summary(measure: Measure, summary: Floats, duration: Floats) -> Floats:
    """A measure of the path from first, last, least, greatest and scaled integral, (designs, 5, components)."""
    if summary.shape[-1] and measure.reduction == "integral":
        return summary[:, 4].sum(axis=1) * duration
    return reduced(measure, summary[:, [0, 2, 3, 1]], duration)  # as if these were all samples


def combined(names: Iterable[str], known: Mapping[str, Any], actuator: ActuatorMass) -> dict[str, Any]:
    """Measures of some names from those of the path that they need."""
    values = dict(known)

    def value(name: str) -> Any:
        if name not in values:
            measure = MEASURES[name]
            assert isinstance(measure, Combined)
            for own in measure.of:
                value(own)
            values[name] = np.asarray(measure.combine(values, actuator))
        return values[name]

    return {name: value(name) for name in names}


def from_samples(
    names: Sequence[str], seen: Any, times: Any, columns: Mapping[str, slice], actuator: ActuatorMass
) -> dict[str, Any]:
    """Measures from the quantities of an `Observer` at samples, (…, times, quantities) at (…, times) [s]."""
    with np.errstate(invalid="ignore"):
        known = {own.name: reduced(own, seen[..., columns[own.name]], times) for own in needed(names)}
        return combined(names, known, actuator)
