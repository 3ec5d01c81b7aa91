"""A batch by names: single quantities of all runs, and everything as a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.typing import Floats

if TYPE_CHECKING:
    import xarray

    from tailwork.simulation.batch.batch import Batch


def batch_values(batch: Batch, name: str) -> Floats:
    """A quantity of all runs by its name, (runs, …), at the end of each run and in its own unit.

    Args:
        batch: the runs.
        name: a measure, a coordinate or a velocity.
    """
    model = batch.model
    if isinstance(name, str) and name in batch.measures:
        return batch.measures[name]
    if name in model.coordinate_names:
        return batch.q[:, model.coordinate_names.index(name)]
    if name in model.velocity_names:
        return batch.v[:, model.velocity_names.index(name)]
    known = [*batch.measures, *model.coordinate_names, *model.velocity_names]
    raise UnknownNameError.among("batch", str(name), known, "measure, coordinate or velocity")


def batch_dataset(batch: Batch, parameters: Mapping[str, ArrayLike] | None = None) -> xarray.Dataset:
    """All of a batch over `run`: q, v, end_time, stopped, steps, rejected, warning and the measures, with units.

    Args:
        batch: the runs.
        parameters: those in which the runs differ, by name: they become coordinates over `run`.
    """
    import xarray  # takes long to import

    from tailwork.simulation.names_index import with_names

    count, layout = len(batch.times), batch.model.layout
    data: dict[str, Any] = {
        "q": (("run", "coordinate"), batch.q, {"units": "m, rad"}),
        "v": (("run", "velocity"), batch.v, {"units": "m/s, rad/s"}),
        "end_time": (("run",), batch.times, {"units": "s"}),
        "stopped": (("run",), np.array(batch.reasons, dtype=str)),
        "steps": (("run",), batch.steps),
        "rejected": (("run",), batch.rejected),
        "warning": (("run",), np.array(batch.warnings, dtype=str)),
    }
    coordinates: dict[str, Any] = {
        "run": np.arange(count),
        "coordinate": list(batch.model.coordinate_names),
        "velocity": list(batch.model.velocity_names),
        "coordinate_unit": ("coordinate", list(layout.coordinate_units)),
        "velocity_unit": ("velocity", list(layout.velocity_units)),
    }
    for name, values in batch.measures.items():
        if name in data or name in coordinates:
            raise ArgumentError("measures", name, f"other names than {', '.join([*data, *coordinates])}")
        data[name] = (("run", *(f"{name}_{k}" for k in range(1, values.ndim))), values)
    for name, values in (parameters or {}).items():
        coordinates[name] = ("run", np.broadcast_to(np.asarray(values, dtype=np.float64).reshape(-1), (count,)))
    attributes = {"robot": batch.model.robot.name, "method": batch.method, "why_method": batch.why_method}
    return with_names(xarray.Dataset(data, coordinates, attributes))
