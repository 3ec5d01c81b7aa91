"""Names along an axis of a dataset: what `.sel` does not know gets an error that offers the nearest."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray

from tailwork.errors import check_known


class NamesIndex(xarray.indexes.PandasIndex):
    """An index of names, such as those of coordinates, actuators or feet."""

    def sel(self, labels: dict[Any, Any], method: str | None = None, tolerance: Any = None) -> Any:
        """As of every index; an unknown name is an `UnknownNameError`."""
        for dimension, label in labels.items():
            if not isinstance(label, slice):
                names = np.asarray(label).reshape(-1)
                if names.dtype.kind == "U":
                    check_known(str(dimension), names.tolist(), self.index.tolist(), str(dimension))
        return super().sel(labels, method, tolerance)


def with_names(data: xarray.Dataset) -> xarray.Dataset:
    """A dataset whose indexes of text are such."""
    for name in [name for name, index in data.indexes.items() if data[name].dtype.kind in "UO" and index.is_unique]:
        data = data.drop_indexes(name).set_xindex(name, NamesIndex)
    return data
