"""What a manoeuvre is judged by: one row of numbers with names and units."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from tailwork.kernels.kernel import Floats
from tailwork.robots.limb import Cable
from tailwork.simulation import Run, pose
from tailwork.simulation.pose import TURNS as AXES
from tailwork.simulation.pose import torso_rates
from tailwork.studies.curvature import bending
from tailwork.studies.manoeuvre import Manoeuvre

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
    """The measures of a run."""
    tail, time = manoeuvre.tail, run.data["time"].to_numpy()
    angles = torso_angles(run)
    rates = np.abs(np.degrees(np.stack(list(torso_rates(run).values()), axis=-1))).max(axis=0)
    net = angles[-1] - angles[0]
    along = abs(float(net[AXES.index(manoeuvre.motion.axis)]))
    moved = tail_rotation(run, manoeuvre)
    powers = tail_powers(run, tail)
    energy = float(np.trapezoid(np.abs(powers).sum(axis=-1), time)) if len(time) > 1 else 0.0
    impulse = tail_impulse(run, tail)
    bends = bending(run, manoeuvre)
    errors = [bend.error for bend in bends]
    means = [mean_over(error, time) for error in errors]
    tensions = cable_tensions(run, tail)
    return Measures(
        duration=run.duration,
        **{f"{axis}": float(x) for axis, x in zip(AXES, net, strict=True)},
        **{f"peak_{axis}_rate": float(x) for axis, x in zip(AXES, rates, strict=True)},
        effectiveness=along / moved if moved > STILL else math.nan,
        tail_rotation=moved,
        tail_deviation=float(
            np.degrees(_angles(tail_directions(run, manoeuvre), wanted_directions(run, manoeuvre)).max())
        ),
        **{f"impulse_{axis}": float(x) for axis, x in zip("xyz", impulse, strict=True)},
        **{f"{group}_momentum": value for group, value in momentum_budget(run, tail).items()},
        peak_tail_torque=_peak(tail_torques(run, tail)),
        peak_leg_torque=_peak(leg_torques(run)),
        peak_tail_power=_peak(powers.sum(axis=-1)),
        tail_energy=energy,
        cost=energy / along if along else math.nan,
        least_normal_force=run.min_normal_force() if run.model.foot_names else math.nan,
        friction_needed=run.friction_needed() if run.model.foot_names else math.nan,
        curvature_error_mean=max(means, key=abs, default=math.nan),
        curvature_error_peak=max((_peak(error) for error in errors), default=math.nan),
        peak_tension=_peak(tensions),
        slack=float((tensions < SLACK).mean()) if tensions.size else math.nan,
        energy_balance=run.energy_balance_error(),
    )


def torso_angles(run: Run) -> Floats:
    """Pitch, roll and yaw of the torso over time [deg]."""
    return np.degrees(np.stack(list(pose.torso_angles(run).values()), axis=-1))


def tail_directions(run: Run, manoeuvre: Manoeuvre) -> Floats:
    """Where the tail's centre of mass is seen from its mount over time: unit vectors in the torso frame."""
    q = run.data["q"].to_numpy()
    rotations = pose.torso_rotations(run.model.layout, q)
    center = run.data["part_center"].sel(part=manoeuvre.tail).to_numpy()
    local = np.einsum("tji,tj->ti", rotations, center - q[:, :3]) - np.array(manoeuvre.tail_part.mount, dtype=float)
    return local / np.linalg.norm(local, axis=-1, keepdims=True)


def wanted_directions(run: Run, manoeuvre: Manoeuvre) -> Floats:
    """Where the motion would have it: unit vectors in the torso frame."""
    share = np.array([manoeuvre.motion.share.value(float(t)) for t in run.data["time"].to_numpy()])
    alpha, theta = manoeuvre.motion.directions(share)
    return np.stack([-np.sin(theta) * np.sin(alpha), -np.cos(theta), -np.sin(theta) * np.cos(alpha)], axis=-1)


def tail_rotation(run: Run, manoeuvre: Manoeuvre) -> float:
    """How far the tail's centre of mass has been carried about its mount [deg]: the length of the way it points."""
    return float(np.degrees(_angles(*(tail_directions(run, manoeuvre)[k] for k in (slice(1, None), slice(-1)))).sum()))


def _angles(first: Floats, second: Floats) -> Floats:
    """Angles between unit vectors [rad]."""
    return 2.0 * np.arcsin(np.minimum(np.linalg.norm(first - second, axis=-1) / 2.0, 1.0))


def tail_impulse(run: Run, tail: str) -> Floats:
    """Angular impulse of the tail on the torso, about where P was at the start, inertial frame [N m s].

    By momentum: what the tail's own angular momentum has lost, and what gravity has given it.
    """
    data = run.data
    time, q, v = (data[name].to_numpy() for name in ("time", "q", "v"))
    center, linear, spin = (
        data[name].sel(part=tail).to_numpy()
        for name in ("part_center", "part_linear_momentum", "part_angular_momentum")
    )
    start, whole = q[0, :3], run.model.center_of_mass(q)
    masses = run.model.part_momenta(q[0], v[0]).masses
    mass = float(masses[run.model.part_names.index(tail)])
    drift = data["linear_momentum"].to_numpy() / masses.sum()
    about = spin + mass * np.cross(center - whole, drift) + np.cross(whole - start, linear)
    gravity = np.cross(center - start, np.array([0.0, 0.0, -mass * float(run.model.robot.gravity)]))
    given = np.trapezoid(gravity, time, axis=0) if len(time) > 1 else np.zeros(3)
    return given - (about[-1] - about[0])


def momentum_budget(run: Run, tail: str) -> dict[str, float]:
    """Largest angular momentum about the centre of mass of torso, legs and tail [N m s]."""
    names = list(run.model.part_names)
    spin = run.data["part_angular_momentum"].to_numpy()
    groups = {"torso": ["torso"], "tail": [tail], "legs": [name for name in names if name not in ("torso", tail)]}
    return {
        group: float(np.linalg.norm(spin[:, [names.index(name) for name in members]].sum(axis=1), axis=-1).max())
        for group, members in groups.items()
    }


def tail_torques(run: Run, tail: str) -> Floats:
    """Torques on the tail's coordinates over time, by motors or imposed [N m]; empty for cables."""
    if tail in run.model.layout.prescribed:
        return _of(run, "prescribed_effort", "prescribed", tail)
    actuators = run.model.layout.limbs[tail].actuators
    if any(isinstance(actuator, Cable) for actuator in actuators):
        return np.zeros((len(run.data["time"]), 0))
    return _of(run, "tau", "actuator", tail) * np.array([float(getattr(a, "ratio", 1.0)) for a in actuators])


def leg_torques(run: Run) -> Floats:
    """Torques of the legs' motors over time [N m]; empty in the air."""
    if not run.model.foot_names or "tau" not in run.data:
        return np.zeros((len(run.data["time"]), 0))
    return np.hstack([_of(run, "tau", "actuator", leg) for leg in run.model.foot_names])


def tail_powers(run: Run, tail: str) -> Floats:
    """Power of each of the tail's actuators over time [W]."""
    return _of(run, "power", "source", tail)


def cable_tensions(run: Run, tail: str) -> Floats:
    """Tensions of the tail's cables over time [N]; empty where it has none."""
    if tail in run.model.layout.prescribed or not any(
        isinstance(actuator, Cable) for actuator in run.model.layout.limbs[tail].actuators
    ):
        return np.zeros((len(run.data["time"]), 0))
    return _of(run, "tau", "actuator", tail)


def _of(run: Run, quantity: str, dim: str, limb: str) -> Floats:
    """The columns of a quantity that belong to a limb."""
    if quantity not in run.data:
        return np.zeros((len(run.data["time"]), 0))
    names = [str(name) for name in run.data[dim].to_numpy() if str(name).split(".")[0] == limb]
    return run.data[quantity].sel({dim: names}).to_numpy()


def _peak(values: Floats) -> float:
    return float(np.abs(values).max()) if values.size else math.nan


def mean_over(values: Floats, time: Floats) -> float:
    """Mean of a quantity over time."""
    return float(np.trapezoid(values, time) / (time[-1] - time[0])) if len(time) > 1 else float(values[0])
