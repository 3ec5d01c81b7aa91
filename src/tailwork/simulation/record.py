"""What a run holds over time: arrays with names and units, and the dataset that is made of them on first access."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tailwork.model import Model
from tailwork.model.results import PathValues
from tailwork.simulation.integrate.dense import Trajectory
from tailwork.simulation.system import System
from tailwork.typing import Floats

if TYPE_CHECKING:
    import xarray

Variables = Mapping[str, tuple[tuple[str, ...], Any, Mapping[str, Any]]]
"""By name: dimensions, values, attributes."""


@dataclass(frozen=True, eq=False)
class Arrays:
    """Named arrays over time."""

    variables: Variables
    coordinates: Variables
    attributes: Mapping[str, Any]

    def __getitem__(self, name: str) -> Floats:
        """The values of a variable or a coordinate, in its own unit."""
        return (self.variables if name in self.variables else self.coordinates)[name][1]

    def states(self) -> tuple[Floats, Floats, Floats]:
        """The times [s], and q and v there."""
        return self["time"], self["q"], self["v"]

    def __reduce__(self) -> tuple[Any, ...]:
        return Arrays, (self.variables, self.coordinates, self.attributes)  # without the dataset

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """The same as a dataset."""
        import xarray  # takes long to import

        named = {name: own for name, own in self.coordinates.items() if name != "time"}
        if len(named) == len(self.coordinates) or any(own for _, _, own in named.values()):
            from tailwork.simulation.names_index import with_names

            return with_names(xarray.Dataset(self.variables, self.coordinates, self.attributes))
        # Indexes of names are the same for all runs of a robot, and to make them takes longer than a short run.
        known = _named_coordinates(tuple((name, dims, tuple(x.tolist())) for name, (dims, x, _) in named.items()))
        dims, times, about = self.coordinates["time"]
        time = xarray.Variable(dims, times, dict(about), fastpath=True)
        index = xarray.indexes.PandasIndex(times, "time")
        coordinates = xarray.Coordinates({"time": time, **known.variables}, {"time": index, **known.xindexes})
        variables = {name: xarray.Variable(dims, np.asarray(values), dict(own), fastpath=True)
                     for name, (dims, values, own) in self.variables.items()}  # fmt: skip
        return xarray.Dataset(variables, coordinates, self.attributes)


@lru_cache(maxsize=64)
def _named_coordinates(named: tuple[tuple[str, tuple[str, ...], tuple[Any, ...]], ...]) -> Any:
    """Coordinates of names, with their indexes."""
    import xarray

    from tailwork.simulation.names_index import with_names

    return with_names(xarray.Dataset(coords={name: (dims, np.array(values)) for name, dims, values in named})).coords


def arrays_of(data: xarray.Dataset) -> Arrays:
    """The arrays of a dataset. Which ones are coordinates follows from names, not from what a file says of them."""

    def plain(values: Any) -> Any:
        return values if values.dtype.kind in "fiub" else np.array(list(map(str, values)))

    found = {str(k): (tuple(map(str, x.dims)), plain(x.to_numpy()), dict(x.attrs)) for k, x in data.variables.items()}
    known = {name for name, (dims, _, _) in found.items() if len(dims) == 1 and name in (dims[0], f"{dims[0]}_unit")}
    variables = {name: own for name, own in found.items() if name not in known}
    return Arrays(variables, {name: own for name, own in found.items() if name in known}, dict(data.attrs))


class SampledStates(NamedTuple):
    """States and efforts at the times of a run's data, and what the equations say there."""

    times: Floats  # [s]
    q: Floats  # [m, rad]
    v: Floats  # [m/s, rad/s]
    tau: Floats  # [N m, N]
    path: PathValues


@dataclass(frozen=True, eq=False)
class SampledTrajectory:
    """A trajectory and how many times of it the data of a run holds; what follows from it is computed when read."""

    model: Model
    trajectory: Trajectory
    samples: int

    @cached_property
    def times(self) -> Floats:
        """Evenly spaced [s].

        Fixed steps that are far too long may lead, between their ends, to where no leg reaches: then their ends are
        taken.
        """
        ends = self.trajectory.times
        times = np.linspace(ends[0], ends[-1], self.samples) if len(ends) > 1 else ends
        if self.trajectory.moves_at(times):
            return times
        return ends[np.unique(np.linspace(0, len(ends) - 1, min(self.samples, len(ends))).astype(int))]

    def states(self) -> tuple[Floats, Floats, Floats]:
        """The times [s], and q and v there, without all else that follows from them."""
        return self.times, *self.trajectory.full(self.times)[:2]

    @cached_property
    def at_samples(self) -> SampledStates:
        """The trajectory at these times."""
        q, v, tau, given = self.trajectory.full(self.times)
        return SampledStates(self.times, q, v, tau, self.trajectory.system.path(self.times, q, v, tau, given))

    @cached_property
    def arrays(self) -> Arrays:
        """Everything at the sampled times."""
        times, q, v, tau, path = self.at_samples
        more = {
            "acceleration": (("time", "velocity"), path.acceleration, "m/s^2, rad/s^2"),
            "prescribed_effort": (("time", "prescribed"), path.prescribed_efforts, "N m"),
            "power": (("time", "source"), path.powers, "W"),
            "dissipation": (("time",), path.dissipation, "W"),
            "foot_force": (("time", "foot", "axis"), path.foot_forces, "N"),
            "extension": (("time", "foot"), path.extensions, "1"),
        }
        more |= force_arrays(self.trajectory.system, times, q)
        names = force_names(self.trajectory.system)
        return named_arrays(self.model, times, q, v, tau, self.model.foot_names, more, forces=names)


def force_names(system: System) -> list[str]:
    """Names of outside forces: their number and the frame on which they act."""
    return [f"{k}: {frame}" for k, frame in enumerate(force_frames(system), start=1)]


def force_frames(system: System) -> list[str]:
    """By outside force: the frame on which it acts."""
    return ["torso" if force.limb == "torso" else f"{force.limb}.{force.joint}" for force in system.forces]


def force_arrays(system: System, times: Floats, q: Floats) -> dict[str, tuple[tuple[str, ...], Any, str]]:
    """Outside forces over time and where they act; nothing where there are none."""
    if not system.forces:
        return {}
    model = system.model
    points, rotations = model.points(q), model.ask("frame_jacobians", q=q)["rotations"]
    frames = ["torso", *(f"{name}.{joint.name}" for name, limb in model.layout.limbs.items() for joint in limb.joints)]
    places = []
    for force, name in zip(system.forces, force_frames(system), strict=True):
        offset = rotations[:, frames.index(name)] @ np.array(force.point, dtype=float)
        places.append(points[:, model.point_names.index(name)] + offset)
    return {
        "outside_force": (("time", "force", "axis"), system.force_values(times), "N"),
        "outside_point": (("time", "force", "axis"), np.stack(places, axis=1), "m"),
        "outside_local_point": (
            ("force", "axis"),
            np.array([force.point for force in system.forces], dtype=float),
            "m",
        ),
    }


def named_arrays(
    model: Model, times: Floats, q: Floats, v: Floats, tau: Floats, feet: Sequence[str],
    more: Mapping[str, tuple[tuple[str, ...], Any, str]], flags: Mapping[str, str] | None = None,
    forces: Sequence[str] = (),
) -> Arrays:  # fmt: skip
    """States and efforts over time, all that follows from the states alone, and more (dimensions, values, unit);
    `flags` says by name what the integers of a variable mean, `forces` are names of outside forces."""
    energy, momentum, parts = model.energy(q, v), model.centroidal_momentum(q, v), model.part_momenta(q, v)
    data = {
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
    layout, efforts, driven = model.layout, model.actuator_names, model.prescribed_names
    names = {
        "coordinate": model.coordinate_names, "velocity": model.velocity_names, "actuator": efforts,
        "prescribed": driven, "source": (*efforts, *driven), "foot": feet, "axis": ("x", "y", "z"),
        "part": model.part_names, "point": model.point_names,
        "force": forces,
    }  # fmt: skip
    units = {
        "coordinate": layout.coordinate_units, "velocity": layout.velocity_units, "actuator": layout.actuator_units
    }  # fmt: skip
    # What a robot does not have (feet, prescribed limbs) is left out: NetCDF cannot keep an axis of length zero.
    present = {name: (dims, values, {"units": unit}) for name, (dims, values, unit) in data.items() if np.size(values)}
    for name, meaning in (flags or {}).items():
        present[name][2]["flags"] = meaning
    used = {dim for dims, _, _ in present.values() for dim in dims}
    named = {name: ((name,), np.array(own), {}) for name, own in names.items() if name in used}
    each = {f"{name}_unit": ((name,), np.array(own), {}) for name, own in units.items() if name in used}
    return Arrays(present, {"time": (("time",), times, {"units": "s"})} | named | each, {"robot": model.robot.name})


def content_digest(content: Arrays, attributes: Mapping[str, Any]) -> str:
    """Of all that a run's file says: names, dimensions, units and values of its variables, whichever way a file keeps
    them, and every attribute but this one."""
    found = hashlib.sha256()
    for name, (dims, values, own) in sorted({**content.variables, **content.coordinates}.items()):
        said = {key: _canonical(value) for key, value in own.items()}
        found.update(json.dumps([name, dims, np.shape(values), said], sort_keys=True).encode())
        numbers = np.asarray(values).dtype.kind in "fiub"
        kept = np.ascontiguousarray(values, dtype="<f8").tobytes() if numbers else json.dumps(list(map(str, values)))
        found.update(kept if isinstance(kept, bytes) else kept.encode())
    said = {key: _canonical(value) for key, value in attributes.items() if key != "content"}
    found.update(json.dumps(said, sort_keys=True).encode())
    return found.hexdigest()


def _canonical(value: Any) -> str:
    """An attribute as text, the same before it is written and after it is read."""
    return value if isinstance(value, str) else repr(np.asarray(value, dtype=np.float64).tolist())
