"""Errors of tailwork: one base class; every error carries its data as attributes."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from math import isfinite
from numbers import Real
from typing import Any, Self

import numpy as np

from tailwork.typing import Floats


class _Nothing:
    """The value of a field that is missing."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


class TailworkError(Exception):
    """Base class of all errors that tailwork raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel between processes with their data."""
        return _remade, (type(self), self.args, dict(self.__dict__))


def _remade(kind: type[TailworkError], arguments: tuple[Any, ...], data: dict[str, Any]) -> TailworkError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(data)
    return error


def is_finite_number(value: Any) -> bool:
    """Whether something is a real number that a float can hold; True and False are none."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and isfinite(float(value))
    except OverflowError:
        return False


class ArgumentError(TailworkError, ValueError):
    """An argument that a function cannot take, such as a duration that is negative.

    Attributes:
        path: the argument, and where in it ("duration", "limits.leg1.k").
        value: what was given; NOTHING for what is missing.
        required: what is required there.
    """

    def __init__(self, path: str, value: Any, required: str) -> None:
        self.path = path
        self.value = value
        self.required = required
        super().__init__(f"{path or 'robot'}: got {shown(value)}; required: {required}")

    def within(self, parent: str) -> Self:
        """The same error, seen from what holds this one."""
        path = f"{parent}.{self.path}" if self.path else parent
        return type(self)(path, self.value, self.required)


def as_floats(path: str, value: Any, required: str) -> Floats:
    """Numbers as a new array; an `ArgumentError` says what is required where they are none, complex, or too large for
    floats."""
    try:
        if not np.iscomplexobj(value):
            return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ArgumentError(path, value, required)


class RobotError(ArgumentError):
    """A robot that is not possible, or not one that can be taken here.

    `path` is where in the robot, as in `robot.replace` ("tail.mass").
    """


class UnknownNameError(ArgumentError):
    """A name that is not known; the message offers the nearest valid ones."""

    @classmethod
    def among(cls, path: str, name: str, valid: Iterable[str], what: str = "name") -> UnknownNameError:
        """The error for `name`, with the nearest of the valid names."""
        return cls(path, name, f"a known {what}; {nearest(name, valid)}")


def check_known(path: str, names: Iterable[Any], valid: Collection[str], what: str = "name") -> None:
    """Raises an `UnknownNameError` for the first of some names that is not among the valid ones."""
    try:
        listed = list(names)
    except TypeError:
        raise ArgumentError(path, names, f"a list of names, each of a {what}") from None
    for name in listed:
        if not isinstance(name, str) or name not in valid:
            raise UnknownNameError.among(path, str(name), valid, what)


class FileError(TailworkError):
    """A file that cannot be read or written as what it should be.

    Attributes:
        file: the path of the file.
        reason: what is wrong with it.
    """

    def __init__(self, file: Any, reason: str) -> None:
        self.file = str(file)
        self.reason = reason
        super().__init__(f"{self.file}: {reason}")


class StateError(TailworkError, ValueError):
    """States, velocities or efforts that the model cannot evaluate.

    Attributes:
        argument: the argument at fault ("q", "v", "tau", …).
        rows: indices of the offending states in a batch (flattened leading dimensions).
    """

    def __init__(self, argument: str, reason: str, rows: tuple[int, ...] = ()) -> None:
        self.argument = argument
        self.rows = rows
        super().__init__(f"{argument}: {reason}")


class ControllerError(StateError):
    """A controller in Python that answered with something else than efforts.

    Attributes:
        run: the run until then (a `tailwork.simulation.Run`); it does not travel between processes.
    """

    def __init__(self, reason: str) -> None:
        super().__init__("control", reason)
        self.run: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.args, {**self.__dict__, "run": None})


class UnreachableError(StateError):
    """An acceleration or a rest that the actuators of the robot cannot produce."""


class InadmissibleError(UnreachableError):
    """An acceleration that the actuators can produce only beyond their limits, or with feet that pull or slip.

    Attributes:
        blame: constraints that cannot hold together, in words, the foremost first; for the first of `rows`.
        remedies: what alone would make it possible, in words; empty if no single kind of constraint is to blame.
        friction: the least friction that would make it possible, rounded up; None if none would.
    """

    def __init__(
        self,
        argument: str,
        reason: str,
        rows: tuple[int, ...] = (),
        blame: tuple[str, ...] = (),
        remedies: tuple[str, ...] = (),
        friction: float | None = None,
    ) -> None:
        super().__init__(argument, reason, rows)
        self.blame = blame
        self.remedies = remedies
        self.friction = friction


def check_positive(name: str, value: Any) -> None:
    """Make sure that a number is finite and greater than 0."""
    if not is_finite_number(value) or value <= 0:
        raise ArgumentError(name, value, "a finite number greater than 0")


def shown(value: Any) -> str:
    """A value as text, short."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of too many digits, lists nested too deeply
        text = f"a value of type {type(value).__name__} that is too long to print"
    return text if len(text) <= 120 else text[:117] + "..."


WORDS = {
    # Coordinates of the attitude; which is roll and which is pitch, the frame says.
    "roll": ("phi_x", "phi_y"), "pitch": ("phi_x", "phi_y"), "yaw": ("phi_z",),
    # What other libraries call it.
    "velocity": ("speed",), "dt": ("step",), "timestep": ("step",), "time_step": ("step",), "t_end": ("duration",),
    "tspan": ("duration",), "time": ("duration",), "controller": ("control",), "policy": ("control",),
    "u": ("control",), "law": ("control",), "laws": ("control",), "push": ("forces",), "friction": ("ground",),
    "terrain": ("ground",), "floor": ("ground",), "integrator": ("method",), "solver": ("method",), "tol": ("rtol",),
    "tolerance": ("rtol",), "rate": ("control_rate",), "frequency": ("control_rate",), "n_samples": ("samples",),
    "x0": ("state",), "q0": ("state",), "initial": ("state",), "t0": ("start_time",),
    # What a run and a batch have.
    "t": ("time", "times"), "torque": ("tau",), "torques": ("tau",), "effort": ("tau",), "efforts": ("tau",),
    "force": ("forces", "foot_force"), "reason": ("reasons", "stopped"), "results": ("data",),
}  # fmt: skip
"""By words that people use: the names that these may mean, where they are among the valid ones."""


def no_attribute(owner: Any, name: str, items: Iterable[str]) -> AttributeError:
    """The error for an attribute that a dataclass does not have; `items` are what it has by name in brackets."""
    kind = type(owner).__name__
    if name.startswith("_") or name in type(owner).__dataclass_fields__:  # such a field is about to be set
        return AttributeError(f"{kind!r} object has no attribute {name!r}")
    known = list(items)
    if name in known:
        return AttributeError(f"a {kind} has no attribute {name!r}; it is an item: {kind.lower()}[{name!r}]")
    public = [own for own in (*type(owner).__dataclass_fields__, *dir(type(owner))) if not own.startswith("_")]
    return AttributeError(f"a {kind} has no attribute {name!r}; {nearest(name, dict.fromkeys((*public, *known)))}")


def nearest(name: str, valid: Iterable[str]) -> str:
    """A phrase that offers the valid names nearest to a mistaken one."""
    names = [str(v) for v in valid]
    other = [known for known in WORDS.get(name, ()) if known in names]
    close = other or difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"valid: {shown}" if names else "there are none here"
