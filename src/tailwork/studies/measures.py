"""What a manoeuvre is judged by: one row of numbers with names and units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from tailwork.robots.limb import Cable
from tailwork.simulation import Run, pose
from tailwork.simulation.pose import TURNS as AXES
from tailwork.studies.curvature import segment_bending
from tailwork.studies.manoeuvre import Manoeuvre
from tailwork.studies.samples import Samples, run_samples
from tailwork.typing import Floats

STILL = 1e-6  # [deg]; a tail that has been carried less than this has not moved
SLACK = 1e-6  # [N]; a cable below this tension is slack


def measure(unit: str, meaning: str) -> Any:
    """A field that is a measure."""
    return field(metadata={"unit": unit, "meaning": meaning})


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Measures of one run. Angles in degrees, all else in SI units; not a number where a tail has no such thing."""

    duration: float = measure("s", "time simulated")
    pitch: float = measure("deg", "net pitch of the torso")
    roll: float = measure("deg", "net roll of the torso")
    yaw: float = measure("deg", "net yaw of the torso")
    peak_pitch_rate: float = measure("deg/s", "largest pitch rate")
    peak_roll_rate: float = measure("deg/s", "largest roll rate")
    peak_yaw_rate: float = measure("deg/s", "largest yaw rate")
    effectiveness: float = measure("1", "torso rotation about the motion's axis for each degree that the tail moves")
    tail_rotation: float = measure("deg", "how far the tail's centre of mass has been carried about its mount")
    tail_deviation: float = measure("deg", "largest angle between the tail's centre of mass and where it should be")
    impulse_x: float = measure("N m s", "angular impulse of the tail on the torso about P at the start, x")
    impulse_y: float = measure("N m s", "the same, y")
    impulse_z: float = measure("N m s", "the same, z")
    torso_momentum: float = measure("N m s", "largest angular momentum of the torso about the centre of mass")
    legs_momentum: float = measure("N m s", "largest angular momentum of all else about the centre of mass")
    tail_momentum: float = measure("N m s", "largest angular momentum of the tail about the centre of mass")
    peak_tail_torque: float = measure("N m", "largest torque on a coordinate of the tail (an R3's: on a segment)")
    peak_leg_torque: float = measure("N m", "largest torque of a leg motor")
    peak_tail_power: float = measure("W", "largest power of the tail's actuators together")
    tail_energy: float = measure("J", "work of the tail's actuators, positive and negative counted alike")
    cost: float = measure("J/deg", "that work for each degree of torso rotation about the motion's axis")
    least_normal_force: float = measure("N", "smallest normal force of a foot; negative: it would pull")
    friction_needed: float = measure("1", "largest ratio of tangential to normal force of a foot")
    curvature_error_mean: float = measure("1/m", "mean curvature error, worst segment")
    curvature_error_peak: float = measure("1/m", "largest curvature error of any segment")
    peak_tension: float = measure("N", "largest cable tension")
    slack: float = measure("1", "share of the time that a cable is slack, mean over the cables")
    energy_balance: float = measure("1", "energy that does not balance, as a share of what moved")


UNITS: dict[str, str] = {f.name: f.metadata["unit"] for f in fields(Measures)}
MEANINGS: dict[str, str] = {f.name: f.metadata["meaning"] for f in fields(Measures)}


def measured(run: Run, manoeuvre: Manoeuvre) -> Measures:
    """The measures of a run; their units are those of `Measures`."""
    samples = run_samples(run, manoeuvre)
    return Measures(**{name: float(measure(samples)) for name, measure in FORMULAS.items()})


def torso_angles(run: Run) -> Floats:
    """Pitch, roll and yaw of the torso over time [deg]."""
    return np.degrees(np.stack(list(pose.torso_angles(run).values()), axis=-1))


# Each of the following is of samples, of one run or of many: (…, times, …) → (…).


def net_rotation(samples: Samples) -> Floats:
    """Net pitch, roll and yaw of the torso [deg], (…, 3)."""
    start, end = (np.degrees(samples.attitude[..., k, :]) for k in (0, -1))
    return end - start


def along(samples: Samples) -> Floats:
    """Size of the torso's rotation about the motion's axis [deg]."""
    return np.abs(net_rotation(samples)[..., AXES.index(samples.manoeuvre.motion.axis)])


def peak_rates(samples: Samples) -> Floats:
    """Largest pitch, roll and yaw rates [deg/s], (…, 3)."""
    return np.abs(np.degrees(samples.rates)).max(axis=-2)


def effectiveness(samples: Samples) -> Floats:
    """Torso rotation for each degree that the tail moves."""
    return _ratio(along(samples), samples.once(tail_rotation), STILL)


def tail_rotation(samples: Samples) -> Floats:
    """How far the tail's centre of mass has been carried about its mount [deg]: the length of the way it points."""
    seen = samples.directions
    return np.degrees(_angles(seen[..., 1:, :], seen[..., :-1, :]).sum(axis=-1))


def tail_deviation(samples: Samples) -> Floats:
    """Largest angle between the tail's centre of mass and where it should be [deg]."""
    return np.degrees(_angles(samples.directions, samples.wanted_directions).max(axis=-1))


def tail_impulse(samples: Samples) -> Floats:
    """Angular impulse of the tail on the torso, about where P was at the start, inertial frame [N m s], (…, 3).

    By momentum: what the tail's own angular momentum has lost, and what gravity has given it.
    """
    parts = list(samples.model.part_names)
    tail = parts.index(samples.manoeuvre.tail)
    masses, centers, linear, spin = (
        samples.quantity(name) for name in ("part_mass", "part_center", "part_linear_momentum", "part_angular_momentum")
    )
    mass, total = masses[..., tail, None], masses.sum(axis=-1)[..., None]
    center, start = centers[..., tail, :], samples.quantity("q")[..., :1, :3]
    whole = (masses[..., None] * centers).sum(axis=-2) / total
    drift = linear.sum(axis=-2) / total
    about = spin[..., tail, :] + mass * np.cross(center - whole, drift) + np.cross(whole - start, linear[..., tail, :])
    weight = -mass * np.asarray(samples.design.gravity)[..., None, None] * np.array([0.0, 0.0, 1.0])
    given = np.trapezoid(np.cross(center - start, weight), samples.times[..., None], axis=-2)
    return given - (about[..., -1, :] - about[..., 0, :])


def momentum_of(samples: Samples, group: str) -> Floats:
    """Largest angular momentum about the centre of mass of the torso, the tail or all else ("legs") [N m s]."""
    tail = samples.manoeuvre.tail
    found = [
        k for k, name in enumerate(samples.model.part_names)
        if {"torso": name == "torso", "tail": name == tail, "legs": name not in ("torso", tail)}[group]
    ]  # fmt: skip
    spin = samples.quantity("part_angular_momentum")[..., found, :].sum(axis=-2)
    return np.linalg.norm(spin, axis=-1).max(axis=-1)


def tail_torques(samples: Samples) -> Floats:
    """Torques on the tail's coordinates, by motors or imposed [N m]; empty for cables."""
    tail, model = samples.manoeuvre.tail, samples.model
    if tail in model.layout.prescribed:
        return samples.of_limb("prescribed_effort", model.prescribed_names, tail)
    if _by_cables(samples):
        return np.zeros((*samples.times.shape, 0))
    return samples.of_limb("tau", model.actuator_names, tail) * samples.design.ratios[..., None, :]


def leg_torques(samples: Samples) -> Floats:
    """Torques of the legs' motors [N m]; empty in the air."""
    model = samples.model
    found = [samples.of_limb("tau", model.actuator_names, leg) for leg in model.foot_names]
    return np.concatenate([np.zeros((*samples.times.shape, 0)), *found], axis=-1)


def tail_powers(samples: Samples) -> Floats:
    """Power of each of the tail's actuators [W]."""
    model = samples.model
    return samples.of_limb("power", (*model.actuator_names, *model.prescribed_names), samples.manoeuvre.tail)


def tail_energy(samples: Samples) -> Floats:
    """Work of the tail's actuators, positive and negative counted alike [J]."""
    return np.trapezoid(np.abs(samples.once(tail_powers)).sum(axis=-1), samples.times, axis=-1)


def cable_tensions(samples: Samples) -> Floats:
    """Tensions of the tail's cables [N]; empty where it has none."""
    if not _by_cables(samples):
        return np.zeros((*samples.times.shape, 0))
    return samples.of_limb("tau", samples.model.actuator_names, samples.manoeuvre.tail)


def slack(samples: Samples) -> Floats:
    """Share of the time that a cable is slack, mean over the cables."""
    tensions = samples.once(cable_tensions)
    return (tensions < SLACK).mean(axis=(-2, -1)) if tensions.size else _nothing(samples)


def least_normal_force(samples: Samples) -> Floats:
    """Smallest normal force of a foot [N]; negative: it would pull."""
    if not samples.model.foot_names:
        return _nothing(samples)
    return samples.quantity("foot_force")[..., 2].min(axis=(-2, -1))


def friction_needed(samples: Samples) -> Floats:
    """Largest ratio of tangential to normal force of a foot; infinite where one would pull."""
    if not samples.model.foot_names:
        return _nothing(samples)
    force = samples.quantity("foot_force")
    across, normal = np.hypot(force[..., 0], force[..., 1]), force[..., 2]
    ratio = np.where(normal > 0, across / np.where(normal > 0, normal, 1.0), np.inf)
    return np.where(np.isnan(normal), np.nan, ratio).max(axis=(-2, -1))


def curvature_error_mean(samples: Samples) -> Floats:
    """Mean curvature error of the segment where that is largest [1/m]."""
    means = [_mean_over(error, samples.times) for error in samples.once(_curvature_errors)]
    if not means:
        return _nothing(samples)
    every = np.stack(means)
    return np.take_along_axis(every, np.abs(every).argmax(axis=0)[None], axis=0)[0]


def curvature_error_peak(samples: Samples) -> Floats:
    """Largest curvature error of any segment [1/m]."""
    errors = samples.once(_curvature_errors)
    return np.abs(errors).max(axis=(0, -1)) if len(errors) else _nothing(samples)


def _curvature_errors(samples: Samples) -> Floats:
    """Actual less desired curvature [1/m], (segments, …, times)."""
    return np.array([bend.error for bend in segment_bending(samples)])


def mean_over(values: Floats, time: Floats) -> float:
    """Mean of a quantity over time."""
    return float(_mean_over(values, time))


def _mean_over(values: Floats, time: Floats) -> Floats:
    """The same for many, (…, times); of one moment it is the value then."""
    lasting = time[..., -1] - time[..., 0]
    spread = np.trapezoid(values, time, axis=-1) / np.where(lasting > 0.0, lasting, 1.0)
    return np.where(lasting > 0.0, spread, values[..., 0])


def _by_cables(samples: Samples) -> bool:
    layout, tail = samples.model.layout, samples.manoeuvre.tail
    return tail not in layout.prescribed and any(isinstance(a, Cable) for a in layout.limbs[tail].actuators)


def _angles(first: Floats, second: Floats) -> Floats:
    """Angles between unit vectors [rad]."""
    return 2.0 * np.arcsin(np.minimum(np.linalg.norm(first - second, axis=-1) / 2.0, 1.0))


def _peak(values: Floats, samples: Samples) -> Floats:
    return np.abs(values).max(axis=(-2, -1)) if values.size else _nothing(samples)


def _nothing(samples: Samples) -> Floats:
    return np.full(samples.times.shape[:-1], np.nan)


def _ratio(over: Floats, under: Floats, least: float = 0.0) -> Floats:
    """A ratio; not a number where what is below is not above `least`."""
    return np.where(under > least, over / np.where(under > least, under, 1.0), np.nan)


FORMULAS: Mapping[str, Callable[[Samples], Floats]] = {
    "duration": lambda s: s.times[..., -1] - s.times[..., 0],
    "pitch": lambda s: net_rotation(s)[..., 0],
    "roll": lambda s: net_rotation(s)[..., 1],
    "yaw": lambda s: net_rotation(s)[..., 2],
    "peak_pitch_rate": lambda s: s.once(peak_rates)[..., 0],
    "peak_roll_rate": lambda s: s.once(peak_rates)[..., 1],
    "peak_yaw_rate": lambda s: s.once(peak_rates)[..., 2],
    "effectiveness": effectiveness,
    "tail_rotation": lambda s: s.once(tail_rotation),
    "tail_deviation": tail_deviation,
    "impulse_x": lambda s: s.once(tail_impulse)[..., 0],
    "impulse_y": lambda s: s.once(tail_impulse)[..., 1],
    "impulse_z": lambda s: s.once(tail_impulse)[..., 2],
    "torso_momentum": lambda s: momentum_of(s, "torso"),
    "legs_momentum": lambda s: momentum_of(s, "legs"),
    "tail_momentum": lambda s: momentum_of(s, "tail"),
    "peak_tail_torque": lambda s: _peak(tail_torques(s), s),
    "peak_leg_torque": lambda s: _peak(leg_torques(s), s),
    "peak_tail_power": lambda s: _peak(s.once(tail_powers).sum(axis=-1, keepdims=True), s),
    "tail_energy": lambda s: s.once(tail_energy),
    "cost": lambda s: _ratio(s.once(tail_energy), along(s)),
    "least_normal_force": least_normal_force,
    "friction_needed": friction_needed,
    "curvature_error_mean": curvature_error_mean,
    "curvature_error_peak": curvature_error_peak,
    "peak_tension": lambda s: _peak(s.once(cable_tensions), s),
    "slack": slack,
    "energy_balance": lambda s: s.energy_balance(),
}
"""By measure: how it is computed from samples."""
