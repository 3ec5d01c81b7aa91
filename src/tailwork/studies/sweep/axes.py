"""What a sweep varies: numbers of the robot by path, over ranges or lists of values.

tail.length=0.2:0.8:50       fifty values, evenly spaced
tail.mass=0.2:2:50:log       fifty values, each the same multiple of the one before
tail.mass=0.5,1,2            these
tail.mass=0.2:2              anything between, where designs are drawn at random (0.2:2:log: its logarithm)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError, check_known
from tailwork.format import first_few
from tailwork.robots.paths import paths
from tailwork.robots.robot import Robot
from tailwork.studies.structure_groups import number_units
from tailwork.typing import Floats

MOST_DIGITS = 18
"""Of a number of designs."""
LOG = "log"
FORM = "PATH=FROM:TO:COUNT, PATH=FROM:TO:COUNT:log or PATH=A,B,C"
DRAWN_FORM = "PATH=FROM:TO, PATH=FROM:TO:log or PATH=A,B,C, because --sample says how many"


@dataclass(frozen=True)
class SweepAxis:
    """One number of the robot and the values that it takes: listed, or from the first to the last."""

    path: str
    values: tuple[float, ...]  # all of them, or the ends of a range
    count: int = 0  # of values, evenly spaced over the range; 0: any within the range (or those listed)
    spacing: str = "listed"  # or "linear", "log"
    whole: bool = False  # whether only integers will do, such as a count of links
    unit: str = ""

    @property
    def text(self) -> str:
        """Path and values in words."""
        unit = "" if self.unit in ("", "1") else f" {self.unit}"
        if self.spacing == "listed":
            return f"{self.path} of {', '.join(f'{x:g}' for x in self.values)}{unit}"
        first, last = self.values
        count = f" in {self.count} values" if self.count else ""
        return f"{self.path} from {first:g} to {last:g}{unit}{count}" + (", logarithmic" if self.spacing == LOG else "")

    @property
    def size(self) -> int:
        """How many values it takes in a grid."""
        return len(self.values) if self.spacing == "listed" else self.count

    def at(self, places: np.ndarray) -> np.ndarray:
        """Values at places 0, 1, … of a grid."""
        if self.spacing == "listed":
            return self._typed(np.array(self.values)[places])
        found = self._along(places / max(self.count - 1, 1))
        return self._typed(np.where(places == self.count - 1, self.values[-1], found))

    def drawn(self, shares: Floats) -> np.ndarray:
        """Values at shares from 0 to (not quite) 1 of all that are possible."""
        if self.spacing == "listed":
            return self._typed(np.array(self.values)[np.floor(shares * len(self.values)).astype(int)])
        if self.whole:
            first, last = self.values
            return self._typed(first + np.floor(shares * (last - first + 1.0)))
        return self._along(shares)

    def _along(self, share: Floats) -> Floats:
        first, last = self.values
        if self.spacing == LOG:
            return first * (last / first) ** share
        return first + (last - first) * share

    def _typed(self, values: np.ndarray) -> np.ndarray:
        return np.rint(values).astype(np.int64) if self.whole else values


def axis_from_text(text: str, robot: Robot, *, drawn: bool) -> SweepAxis:
    """What is varied, as one writes it; `drawn`: designs are drawn from the range, which then has no count."""
    if not isinstance(text, str):
        raise ArgumentError("--vary", text, FORM)
    path, equals, rest = text.partition("=")
    form = DRAWN_FORM if drawn else FORM
    if not equals or not path or not rest:
        raise ArgumentError("--vary", text, form)
    whole, unit = number_at(robot, path)
    words = rest.split(":")
    if len(words) == 1:
        values = tuple(_number(text, word) for word in rest.split(","))
        if len(set(values)) != len(values):
            raise ArgumentError("--vary", text, "values that differ")
        if whole and any(not x.is_integer() for x in values):
            raise ArgumentError("--vary", text, "integers")
        return SweepAxis(path, values, whole=whole, unit=unit)
    spacing = LOG if words[-1] == LOG else "linear"
    words = words[:-1] if spacing == LOG else words
    if len(words) != (2 if drawn else 3):
        raise ArgumentError("--vary", text, form)
    first, last = (_number(text, word) for word in words[:2])
    count = int(words[2]) if not drawn and words[2].strip().isdecimal() and len(words[2]) <= MOST_DIGITS else 0
    if not drawn and count < 1:
        raise ArgumentError("--vary", text, f"a COUNT that is an integer, at least 1 (not {words[2]!r})")
    if not first < last and not (first == last and count == 1):
        raise ArgumentError("--vary", text, "a range from a lesser to a greater number (FROM < TO)")
    if count == 1 and first < last:
        raise ArgumentError("--vary", text, f"a COUNT of at least 2, or one value: {path}={words[0]}")
    if spacing == LOG and first <= 0:
        raise ArgumentError("--vary", text, "numbers greater than 0 where they are spaced by their logarithm")
    if whole and spacing == LOG:
        raise ArgumentError("--vary", text, f"integers, listed or evenly spaced: {path} is a count")
    step = (last - first) / (count - 1) if count > 1 else 1.0
    if whole and not (first.is_integer() and last.is_integer() and step.is_integer()):
        raise ArgumentError("--vary", text, f"a range that meets integers only: {path} is a count")
    return SweepAxis(path, (first, last), count, spacing, whole, unit)


def number_at(robot: Robot, path: str) -> tuple[bool, str]:
    """Whether the number at a path of a robot must be whole, and its unit; refused if there is none."""
    known = paths(robot)
    check_known("--vary", [path], known, "path in this robot")
    units = number_units(robot)
    if path in units:
        return False, units[path]
    first, *rest = path.split(".")
    node: Any = robot.parts.get(first, getattr(robot, first, None))
    for word in rest:
        node = getattr(node, word, None)
    if isinstance(node, int) and not isinstance(node, bool):
        return True, "1"
    inside = [name for name in known if name.startswith(f"{path}.") and name in units]
    hint = f"; inside it: {first_few(inside, 6)}" if inside else ""
    raise ArgumentError("--vary", path, f"the path of one number{hint}")


def _number(text: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ArgumentError("--vary", text, f"numbers ({word!r} is none)") from None
    if not math.isfinite(value):
        raise ArgumentError("--vary", text, "finite numbers")
    return value
