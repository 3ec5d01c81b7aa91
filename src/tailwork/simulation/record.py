"""What a run records over time: a dataset with names and units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import xarray

from tailwork.errors import StateError
from tailwork.model import Model
from tailwork.model.results import PathValues
from tailwork.simulation.integrate.dense import Trajectory
from tailwork.typing import Floats

Recorded: TypeAlias = Mapping[str, tuple[tuple[str, ...], Any, str]]
"""By name: dimensions, values, unit."""


def path_values(model: Model, q: Floats, v: Floats, tau: Floats, given: Floats) -> PathValues:
    """As Model.path; also at the end of a run that stopped because a cable would have to push."""
    return PathValues(**model.ask("path", q=q, v=v, tau=tau, prescribed_acceleration=given, forces=None))


def recorded_data(model: Model, trajectory: Trajectory, samples: int) -> xarray.Dataset:
    """Everything over time, evenly sampled.

    Fixed steps that are far too long may lead, between their ends, to where no leg reaches: then their ends are taken.
    """
    ends = trajectory.times
    times = np.linspace(ends[0], ends[-1], samples) if len(ends) > 1 else ends
    try:
        q, v, tau, given = trajectory.full(times)
        path = path_values(model, q, v, tau, given)
    except StateError:
        times = ends[np.unique(np.linspace(0, len(ends) - 1, min(samples, len(ends))).astype(int))]
        q, v, tau, given = trajectory.full(times)
        path = path_values(model, q, v, tau, given)
    more: Recorded = {
        "acceleration": (("time", "velocity"), path.acceleration, "m/s^2, rad/s^2"),
        "prescribed_effort": (("time", "prescribed"), path.prescribed_efforts, "N m"),
        "power": (("time", "source"), path.powers, "W"),
        "dissipation": (("time",), path.dissipation, "W"),
        "foot_force": (("time", "foot", "axis"), path.foot_forces, "N"),
        "extension": (("time", "foot"), path.extensions, "1"),
    }
    return dataset(model, times, q, v, tau, model.foot_names, more)


def dataset(
    model: Model, times: Floats, q: Floats, v: Floats, tau: Floats, feet: Sequence[str], more: Recorded
) -> xarray.Dataset:
    """States and efforts over time, all that follows from the states alone, and more, with names and units."""
    energy, momentum, parts = model.energy(q, v), model.centroidal_momentum(q, v), model.part_momenta(q, v)
    data: Recorded = {
        "q": (("time", "coordinate"), q, "m, rad"),
        "v": (("time", "velocity"), v, "m/s, rad/s"),
        "tau": (("time", "actuator"), tau, "N m, N"),
        **more,
        "kinetic_energy": (("time",), energy.kinetic, "J"),
        "gravitational_energy": (("time",), energy.gravitational, "J"),
        "elastic_energy": (("time",), energy.elastic, "J"),
        "linear_momentum": (("time", "axis"), momentum.linear, "N s"),
        "angular_momentum": (("time", "axis"), momentum.angular, "N m s"),
        "part_center": (("time", "part", "axis"), parts.centers, "m"),
        "part_linear_momentum": (("time", "part", "axis"), parts.linear, "N s"),
        "part_angular_momentum": (("time", "part", "axis"), parts.angular, "N m s"),
        "points": (("time", "point", "axis"), model.points(q), "m"),
    }
    given_names, layout = model.prescribed_names, model.layout
    coordinates = {
        "time": times, "coordinate": list(model.coordinate_names), "velocity": list(model.velocity_names),
        "actuator": list(model.actuator_names), "prescribed": list(given_names),
        "source": [*model.actuator_names, *given_names], "foot": list(feet), "axis": ["x", "y", "z"],
        "part": list(model.part_names), "point": list(model.point_names),
    }  # fmt: skip
    # What a robot does not have (feet, prescribed limbs) is left out: NetCDF cannot keep an axis of length zero.
    kept = {name: (dims, values, {"units": unit}) for name, (dims, values, unit) in data.items() if np.size(values)}
    used = {dim for dims, _, _ in kept.values() for dim in dims}
    units = {
        "coordinate": layout.coordinate_units, "velocity": layout.velocity_units, "actuator": layout.actuator_units
    }  # fmt: skip
    named = {name: values for name, values in coordinates.items() if name in used}
    each = {f"{name}_unit": (name, list(values)) for name, values in units.items() if name in used}
    found = xarray.Dataset(kept, named | each)
    found["time"].attrs["units"] = "s"
    found.attrs["robot"] = model.robot.name
    return found
