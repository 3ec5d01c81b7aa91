"""What designs are judged by: numbers that follow from the quantities at the nodes of their paths."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tailwork.control.profiles import shape
from tailwork.errors import RobotError
from tailwork.studies.design.quantities import UNITS as NODE_UNITS
from tailwork.studies.design.quantities import Nodes
from tailwork.typing import Floats

UNITS = NODE_UNITS | {"turn": "deg", "actuator_mass": "kg", "added_mass": "kg", "curvature_error": "1/m"}
ENDS = ("largest", "greatest", "smallest")
"""Ways that look for the worst node: a limit on such a measure is a limit at every node."""


def checked_number(path: str, value: Any) -> float:
    """Make sure that a number is one, and finite."""
    try:
        fine = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        fine = False
    if not fine:
        raise RobotError(path, value, "a finite number")
    return float(value)


@dataclass(frozen=True)
class Actuator:
    """The mass of a tail's actuators as a function of what they give: base + a torque + a power [kg]."""

    base: float = 0.0  # [kg]
    per_torque: float = 0.0  # [kg/(N m)], of the largest torque on a coordinate of the tail
    per_power: float = 0.0  # [kg/W], of the largest power

    def __post_init__(self) -> None:
        for name, unit in (("base", "kg"), ("per_torque", "kg/(N m)"), ("per_power", "kg/W")):
            value = checked_number(f"actuator.{name}", getattr(self, name))
            if value < 0.0:
                raise RobotError(f"actuator.{name}", value, f"a number that is not negative [{unit}]")


@dataclass(frozen=True)
class Measure:
    """A number of a design, from a quantity along its path.

    Ways: "change" (last less first), "largest" (of the sizes), "greatest", "smallest", "work" (integral of the sizes),
    "value" (of what does not change along the path), "rms" (root of the mean square over time and components).
    """

    name: str
    unit: str
    meaning: str
    quantity: str
    way: str


def _measure(name: str, quantity: str, way: str, meaning: str) -> Measure:
    unit = "J" if way == "work" else UNITS[quantity]
    return Measure(name, unit, meaning, quantity, way)


MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        _measure("pitch", "pitch", "change", "net pitch of the torso"),
        _measure("roll", "roll", "change", "net roll of the torso"),
        _measure("yaw", "yaw", "change", "net yaw of the torso"),
        _measure(
            "turn", "turn", "change", "net turn of the torso at the end, about the motion's axis, against the tail"
        ),
        _measure("peak_pitch", "pitch", "largest", "largest pitch of the torso"),
        _measure("peak_roll", "roll", "largest", "largest roll of the torso"),
        _measure("peak_yaw", "yaw", "largest", "largest yaw of the torso"),
        _measure("peak_pitch_rate", "pitch_rate", "largest", "largest pitch rate"),
        _measure("peak_roll_rate", "roll_rate", "largest", "largest roll rate"),
        _measure("peak_yaw_rate", "yaw_rate", "largest", "largest yaw rate"),
        _measure("peak_tail_torque", "tail_torque", "largest", "largest torque on a coordinate of the tail"),
        _measure("peak_tail_speed", "tail_speed", "largest", "largest rate of a coordinate of the tail"),
        _measure("peak_tail_power", "tail_power", "largest", "largest power of the tail's actuators together"),
        _measure("peak_tension", "tension", "largest", "largest cable tension"),
        _measure("tail_energy", "tail_power", "work", "work of the tail's actuators, both signs counted alike"),
        _measure("peak_leg_torque", "leg_torque", "largest", "largest torque of a leg motor"),
        _measure("least_normal_force", "normal_force", "smallest", "smallest normal force of a foot"),
        _measure(
            "friction_needed", "friction", "greatest", "largest ratio of tangential to normal force; ∞: a foot pulls"
        ),
        _measure("most_extension", "extension", "greatest", "extension of the straightest leg; 1 is straight"),
        _measure("curvature_error", "curvature_error", "rms", "curvature error of the segments of a tail with cables"),
        _measure("peak_curvature_error", "curvature_error", "largest", "largest curvature error of a segment"),
        _measure("tail_mass", "tail_mass", "value", "mass of the tail"),
        _measure("tail_length", "tail_length", "value", "length of the straight tail from mount to tip"),
        _measure("actuator_mass", "actuator_mass", "greatest", "mass of the tail's actuators, from what they give"),
        _measure("added_mass", "added_mass", "greatest", "mass of the tail and its actuators"),
    )
}
"""By name."""


@dataclass(frozen=True)
class Moved:
    """The motions of designs, (designs,)."""

    sweep: Floats  # [deg]
    duration: Floats  # [s]
    early: Floats
    skew: Floats


@dataclass(frozen=True)
class Judge:
    """How measures are read from node numbers (designs, nodes, numbers)."""

    nodes: Nodes
    actuator: Actuator
    shares: tuple[float, ...]  # of the tail's links that are in each segment, where cables bend it

    def rows(self, measure: Measure, found: Floats, moved: Moved) -> Floats:
        """(designs, k): numbers whose greatest (for "smallest": least) is the measure.

        Args:
            measure: what is asked.
            found: node numbers, (designs, nodes, numbers).
            moved: what the tails were to do.
        """
        values = self._values(measure.quantity, found, moved)
        if measure.way in ("change", "value"):
            last = values[:, -1]
            return last - values[:, 0] if measure.way == "change" else last
        if measure.way == "work":
            step = moved.duration / (found.shape[1] - 1)
            size = np.abs(values).sum(axis=-1)
            return (step * (size.sum(axis=1) - 0.5 * (size[:, 0] + size[:, -1])))[:, None]
        if measure.way == "rms" and values.size:
            squares = (values * values).mean(axis=-1)
            mean = (squares.sum(axis=1) - 0.5 * (squares[:, 0] + squares[:, -1])) / (found.shape[1] - 1)
            return np.sqrt(mean)[:, None]
        flat = values.reshape(len(values), -1)
        return np.concatenate([flat, -flat], axis=1) if measure.way == "largest" else flat

    def value(self, measure: Measure, found: Floats, moved: Moved) -> Floats:
        """The measure of each design, (designs,)."""
        rows = self.rows(measure, found, moved)
        reduce: Callable[..., Floats] = np.min if measure.way == "smallest" else np.max
        if not rows.shape[1]:
            return np.full(len(rows), np.nan)
        least = found[..., self.nodes.columns["normal_force"]].min(axis=(1, 2), initial=np.inf)
        return _without_grip(measure, reduce(rows, axis=1), least)

    def from_summary(self, measure: Measure, found: Floats, moved: Moved) -> Floats:
        """The measure of each design from what is known of each quantity over all nodes, (designs, 5, numbers).

        Errors of curvature need the nodes themselves.
        """
        if measure.quantity in ("actuator_mass", "added_mass"):
            torque, power = (self._largest(found, name) for name in ("tail_torque", "tail_power"))
            needs = self.actuator.base + self.actuator.per_torque * torque + self.actuator.per_power * power
            mass = found[:, 1, self.nodes.columns["tail_mass"]][:, 0]
            return needs + (mass if measure.quantity == "added_mass" else 0.0)
        turned = measure.quantity == "turn"
        here = self.nodes.columns[self.nodes.axis if turned else measure.quantity]
        first, last, least, greatest, work = (found[:, k, here] for k in range(5))
        if not last.shape[1]:
            return np.full(len(found), np.nan)
        match measure.way:
            case "change":
                return (last - first)[:, 0] * (-np.sign(moved.sweep) if turned else 1.0)
            case "value":
                return last[:, 0]
            case "work":
                return work.sum(axis=1)
            case "largest":
                return np.maximum(greatest, -least).max(axis=1)
            case "smallest":
                return least.min(axis=1)
        least = found[:, 2, self.nodes.columns["normal_force"]].min(axis=1, initial=np.inf)
        return _without_grip(measure, greatest.max(axis=1), least)

    def has(self, quantity: str) -> bool:
        """Whether a quantity has components: a robot in the air has no feet, a tail without cables no curvature."""
        here = self.nodes.columns.get("bend" if quantity == "curvature_error" else quantity)
        return here is None or here.stop > here.start

    def _largest(self, found: Floats, quantity: str) -> Floats:
        """Largest size of any component of a quantity over all nodes, (designs,); 0 where it has none."""
        here = self.nodes.columns[quantity]
        return np.maximum(found[:, 3, here], -found[:, 2, here]).max(axis=1, initial=0.0)

    def _values(self, quantity: str, found: Floats, moved: Moved) -> Floats:
        """(designs, nodes, components)."""
        if quantity == "turn":
            return found[..., self.nodes.columns[self.nodes.axis]] * -np.sign(moved.sweep)[:, None, None]
        if quantity == "curvature_error":
            return self._curvature_errors(found, moved)
        if quantity in ("actuator_mass", "added_mass"):
            torque = np.abs(found[..., self.nodes.columns["tail_torque"]])
            torque = torque if torque.shape[-1] else np.zeros((*torque.shape[:-1], 1))  # bent by cables alone
            power = np.abs(found[..., self.nodes.columns["tail_power"]])
            needs = [self.actuator.base + self.actuator.per_torque * torque]
            if self.actuator.per_power:
                # The largest of both at their own worst nodes: an upper bound that is met where they fall together.
                needs = [needs[0] + self.actuator.per_power * power.max(axis=1, keepdims=True)]
            return needs[0] + (found[..., self.nodes.columns["tail_mass"]] if quantity == "added_mass" else 0.0)
        return found[..., self.nodes.columns[quantity]]

    def _curvature_errors(self, found: Floats, moved: Moved) -> Floats:
        """Actual less desired curvature of every segment [1/m]."""
        share = np.linspace(0.0, 1.0, found.shape[1])
        done = moved.sweep[:, None] * shape(share, moved.early[:, None], moved.skew[:, None])  # [deg]
        parts = np.array(self.shares)
        over = found[..., self.nodes.columns["bend"]] - done[..., None] * parts
        return np.radians(over) / (found[..., self.nodes.columns["tail_length"]] * parts)


def _without_grip(measure: Measure, values: Floats, least_push: Floats) -> Floats:
    """Measures of designs; the friction that is needed is infinite where a foot pulls, (designs,)."""
    return np.where(least_push <= 0.0, np.inf, values) if measure.quantity == "friction" else values
