"""Options: how runs, batches, gradients and sensitivities are simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, TypedDict

from tailwork.errors import ArgumentError, UnknownNameError, check_positive

MOST = {"samples": 10**7, "max_steps": 10**15}
"""What anybody may ask for: so many samples of a run fill gigabytes."""


ARGUMENTS = ("state", "duration", "control", "motions", "forces", "events", "limits", "ground", "contact", "start_time")
"""What functions that simulate take besides options."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How it is simulated.

    On compliant ground the method is "implicit-euler"; on rigid ground "time-stepping", which "auto" takes, or
    "event-driven", which is exact to the tolerances and takes one run at a time.
    """

    method: str = "auto"  # or one by name: "rk4" (fixed steps), "dopri5", "rodas5p" (stiff), or that of a ground
    rtol: float = 1e-6  # relative tolerance of methods that choose their steps [1]
    atol: float = 1e-8  # absolute tolerance [SI]
    step: float | None = None  # fixed step [s]; required for rk4; with "auto" on ground only
    samples: int = 201  # how many times results hold, evenly spaced
    max_steps: int = 1_000_000  # a run ends after so many
    control_rate: float = 1000.0  # of a controller in Python [Hz]
    threads: int | None = None  # of batches; None: as many as there are processors
    progress: Callable[[int, int], None] = lambda done, total: None  # called with (runs done, all runs) now and then

    def __post_init__(self) -> None:
        for name in ("rtol", "atol", "control_rate", *(() if self.step is None else ("step",))):
            check_positive(name, getattr(self, name))
        for name, least in (("samples", 2), ("max_steps", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= MOST[name]:
                raise ArgumentError(name, value, f"an integer, at least {least} and at most {MOST[name]:,}")
        if not isinstance(self.method, str):
            raise ArgumentError("method", self.method, "a name, such as 'auto'")
        if not callable(self.progress):
            raise ArgumentError("progress", self.progress, "a function of (runs done, all runs)")


class OptionArguments(TypedDict, total=False):
    """The fields of `Options` as keyword arguments."""

    method: str
    rtol: float
    atol: float
    step: float | None
    samples: int
    max_steps: int
    control_rate: float
    threads: int | None
    progress: Callable[[int, int], None]


def options_of(arguments: Mapping[str, Any], others: Iterable[str] = ARGUMENTS) -> Options:
    """Options from keyword arguments; unknown names are refused, with the nearest of these and of `others`, which the
    caller takes besides."""
    known = [f.name for f in fields(Options)]
    for name in arguments:
        if name not in known:
            raise UnknownNameError.among(name, name, [*others, *known], "argument")
    return Options(**arguments)
