"""The part of Python that drivers are written in: integrators, rollouts, contact steps and their derivatives.

A driver is an ordinary function with annotations. It runs as plain Python on NumPy arrays, for a debugger, and is
translated to machine code for any number of lanes by `tailwork.kernels.translate`. Its types are int, float and bool,
those below, and tuples of numbers as results. All state is in arrays that the caller gives: a driver that returns early
goes on where it was when it is called again.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from tailwork.locks import lock
from tailwork.typing import Floats

if TYPE_CHECKING:
    Reals = Ints = Lanes = Any
else:

    class Reals:
        """Floating-point numbers one after the other: values[k]; values[k:] begins further on."""

    class Ints:
        """Integers, likewise."""

    class Lanes:
        """Rows of numbers, one for each lane: rows[k] are all of them, rows[k, lane] is one; rows[k:] as above."""


class Function:
    """Compiled code by its address: a kernel, called with inputs, constants and outputs."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __call__(self, x: Any, constants: Any, y: Any) -> None:
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        kind(self.address)(*(address_of(array) for array in (x, constants, y)))


NO_FUNCTION = Function(0)


def width(rows: Lanes) -> int:
    """How many lanes there are."""
    return np.shape(rows)[1]


def spread(value: float, rows: Lanes) -> Any:
    """A number in every lane."""
    return np.full(width(rows), float(value))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Lane by lane, a where the condition holds, else b."""
    return np.where(condition, a, b)


def address_of(array: Any) -> int:
    """Where an array's numbers are; several times quicker than array.ctypes.data where they can be written."""
    try:
        return ctypes.addressof(_first_byte(array))
    except (TypeError, ValueError, BufferError):  # read-only, empty or not contiguous
        return array.__array_interface__["data"][0]


_first_byte = ctypes.c_char.from_buffer


_changes = [0]
"""How often a field of any struct was changed."""
_packing = lock()


class Struct:
    """Named arguments of a driver. The fields of a subclass are its annotations; a driver reads them only."""

    _memory: bytearray | None = None

    def __init__(self, **fields: Any) -> None:
        known = fields_of(type(self))
        if fields.keys() != known.keys():
            raise TypeError(f"{type(self).__name__}: wrong or missing: {', '.join(fields.keys() ^ known.keys())}")
        self.__dict__.update(fields, _changed=set())

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
        with _packing:
            self.__dict__["_changed"].add(name)
            _changes[0] += 1

    def packed(self) -> int:
        """Address of the fields in memory, eight bytes each: the same as long as the struct lives."""
        if self.__dict__.get("_seen") != _changes[0]:  # else no struct has changed since
            with _packing:  # threads share structs, and a driver may be reading
                self._pack()
        return self.__dict__["_address"]

    def _pack(self) -> None:
        own, packers, changes = self.__dict__, _packers(type(self)), _changes[0]
        if self._memory is None:
            values = [pack(own[name]) for name, pack in packers.items()]
            own["_memory"] = bytearray(struct.pack(_format(type(self)), *values))
            own["_address"] = address_of(np.frombuffer(own["_memory"], dtype=np.uint8))
        else:
            for name in _nested(type(self)):
                own[name].packed()
            for k, name in enumerate(packers) if own["_changed"] else ():
                if name in own["_changed"]:
                    struct.pack_into(_format(type(self))[k], own["_memory"], 8 * k, packers[name](own[name]))
        own["_changed"].clear()
        own["_seen"] = changes


def _array_packer(wanted: np.dtype) -> Callable[[Any], int]:
    def address(array: Any) -> int:
        if (array.dtype is not wanted and array.dtype != wanted) or not array.flags.c_contiguous:
            raise TypeError(f"got an array of {array.dtype}; required: contiguous {wanted}")
        return address_of(array)

    return address


_PACKERS: dict[Any, Callable[[Any], int | float]] = {
    float: float, int: int, bool: int,  # NumPy's own kinds, too
    Function: attrgetter("address"), Ints: _array_packer(np.dtype(np.int64)),
    Reals: _array_packer(np.dtype(np.float64)), Lanes: _array_packer(np.dtype(np.float64)),
}  # fmt: skip


@lru_cache
def _packers(kind: type[Struct]) -> dict[str, Callable[[Any], int | float]]:
    """By field: from its value to what stands in memory."""
    return {name: _PACKERS.get(field, Struct.packed) for name, field in fields_of(kind).items()}


@lru_cache
def fields_of(kind: type[Struct]) -> dict[str, Any]:
    """Types of the fields of a struct by name."""
    return {name: field for name, field in get_type_hints(kind).items() if not name.startswith("_")}


@lru_cache
def _nested(kind: type[Struct]) -> tuple[str, ...]:
    return tuple(name for name, field in fields_of(kind).items() if issubclass(field, Struct))


@lru_cache
def _format(kind: type[Struct]) -> str:
    return "".join("d" if field is float else "q" for field in fields_of(kind).values())


CACHE_LINE = 64
"""Bytes: a row that crosses lines takes as long as two."""


def lanes(lanes: int, **rows: int) -> dict[str, Floats]:
    """Rows of lanes, zero, by name; all in one piece of memory, a row within as few cache lines as possible."""
    memory = np.zeros(sum(rows.values()) * lanes + CACHE_LINE // 8)
    found, start = {}, -address_of(memory) % CACHE_LINE // 8
    for name, count in rows.items():
        found[name] = memory[start : start + count * lanes].reshape(count, lanes)
        start += count * lanes
    return found
