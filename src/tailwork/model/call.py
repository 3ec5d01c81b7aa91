"""One question of a model, ready to be asked: arguments checked and joined, the kernel run, answers taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, prod

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import StateError, is_finite_number
from tailwork.kernels.kernel import Constants, Kernel
from tailwork.mechanics.layout import Layout
from tailwork.model.checks import explain, rows_not_finite, show_rows
from tailwork.model.questions import QUESTIONS, argument_names
from tailwork.typing import Floats

FLOAT = np.dtype(np.float64)


class _Slot:
    """Arrays of one call, and the kernel bound to them."""

    def __init__(self, call: Call) -> None:
        self.x, self.y = np.zeros(call.kernel.inputs), np.zeros(call.kernel.outputs)
        self.run = call.kernel.single(self.x, call.constants, self.y)
        self.views: list[tuple[str, Floats, tuple[int]]] = []
        start = 0
        for name, size in call.sizes.items():
            if size:
                self.views.append((name, self.x[start : start + size], (size,)))
            start += size


class Call:
    """A compiled question for one design."""

    def __init__(self, layout: Layout, question: str, kernel: Kernel, constants: Constants) -> None:
        self.layout = layout
        self.kernel = kernel
        self.constants = constants
        self.sizes = {name: len(argument_names(layout, name)) for name in QUESTIONS[question].arguments}
        self.answers: dict[str, tuple[slice, tuple[int, ...]]] = {}
        start = 0
        for name, shape in QUESTIONS[question].answers(layout).items():
            self.answers[name] = (slice(start, start + prod(shape)), shape)
            start += prod(shape)
        self._parts = tuple((name, here, shape if len(shape) != 1 else None)
                            for name, (here, shape) in self.answers.items())  # fmt: skip
        self._absent = [name for name, size in self.sizes.items() if not size]
        self._slots: list[_Slot] = []  # that no call uses now: as many as threads have asked at a time

    def __call__(self, arguments: Mapping[str, ArrayLike | None]) -> dict[str, Floats]:
        """Answers by name, with the leading dimensions of the arguments broadcast together."""
        slots = self._slots
        try:
            slot = slots.pop()
        except IndexError:
            slot = _Slot(self)
        found = self._quick(slot, arguments)
        slots.append(slot)
        return self._checked(arguments) if found is None else found

    def _quick(self, slot: _Slot, arguments: Mapping[str, ArrayLike | None]) -> dict[str, Floats] | None:
        """The usual call, one state of finite numbers, in a third of the time; None where anything is unusual."""
        for name in self._absent:
            value = arguments[name]
            if value is not None and not (type(value) is tuple and not value):
                return None
        if not slot.views:
            return None
        for name, view, shape in slot.views:
            value = arguments[name]
            if type(value) is not np.ndarray:
                if value is None and name == "forces":
                    view[:] = 0.0
                    continue
                try:
                    value = np.asarray(value)
                except ValueError:
                    return None
            if value.shape != shape or (value.dtype is not FLOAT and value.dtype.kind not in "fiub"):
                return None
            view[:] = value
        slot.run()
        x, y = slot.x, slot.y
        # A sum of squares is finite if every number is; if it is not, the careful way says what is wrong.
        if not (isfinite(x.dot(x)) and isfinite(y.dot(y))):
            return None
        y = y.copy()
        return {name: y[here] if shape is None else y[here].reshape(shape) for name, here, shape in self._parts}

    def _checked(self, arguments: Mapping[str, ArrayLike | None]) -> dict[str, Floats]:
        arrays = [self.argument(name, arguments[name]) for name in self.sizes]
        try:
            lead = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            shapes = [f"{name} {a.shape[:-1]}" for name, a in zip(self.sizes, arrays, strict=True) if a.ndim > 1]
            raise StateError("q", f"leading dimensions that do not go together: {', '.join(shapes)}") from None
        x = np.concatenate([np.broadcast_to(array, (*lead, array.shape[-1])) for array in arrays], axis=-1)
        if not np.isfinite(x).all():
            raise self._not_finite(arrays)
        y = self.kernel(x.reshape(prod(lead), self.kernel.inputs), self.constants)
        if not np.isfinite(y).all():
            raise explain(self.layout, x[..., : self.sizes["q"]], rows_not_finite(y))
        return {name: y[:, here].reshape((*lead, *shape)) for name, (here, shape) in self.answers.items()}

    def argument(self, name: str, value: ArrayLike | None) -> Floats:
        """An argument as an array of the right length, or a StateError."""
        size = self.sizes[name]
        if value is None and name == "forces":
            return np.zeros(size)
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.empty(1, dtype=object)
        if array.dtype.kind == "O" and all(map(is_finite_number, array.flat)):
            array = array.astype(np.float64)
        if array.size and array.dtype.kind not in "fiub":
            raise StateError(name, f"got {type(value).__name__}; required: an array of real numbers, (..., {size})")
        array = array.astype(np.float64, copy=False)
        if name == "forces" and array.ndim >= 2 and array.shape[-2:] == (size // 3, 3):
            array = array.reshape(*array.shape[:-2], size)
        if array.ndim == 0 or array.shape[-1] != size:
            listed = ", ".join(argument_names(self.layout, name)) or "nothing"
            raise StateError(name, f"got an array of shape {array.shape}; required: (..., {size}), for {listed}")
        return array

    def _not_finite(self, arrays: list[Floats]) -> StateError:
        """The error for the first argument that holds something else than finite numbers."""
        for name, array in zip(self.sizes, arrays, strict=True):
            bad = rows_not_finite(array.reshape(-1, array.shape[-1])) if array.size else ()
            if bad:
                return StateError(name, f"not a finite number in {show_rows(bad, array.shape[:-1])}", bad)
        raise AssertionError("one of the arguments is not finite")


class CompiledCall:
    """A question without checks, on arrays that stay in place: write the arguments, call, read the answers.

    For inner loops: one call costs about the kernel and a microsecond. Nothing is checked; a state that cannot be
    evaluated gives NaN. Not to be shared between threads.
    """

    def __init__(self, call: Call) -> None:
        self._x, self._y = np.zeros(call.kernel.inputs), np.zeros((1, call.kernel.outputs))
        self._run = call.kernel.single(self._x, call.constants, self._y)
        self.arguments: dict[str, Floats] = {}
        start = 0
        for name, size in call.sizes.items():
            self.arguments[name] = self._x[start : start + size]
            start += size
        self.answers = {name: self._y[0, here].reshape(shape) for name, (here, shape) in call.answers.items()}

    def __call__(self) -> None:
        """Compute the answers for the arguments as they stand."""
        self._run()
