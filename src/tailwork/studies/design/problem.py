"""A design problem: a scenario, what may change, what is wanted and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.robots.quantities import Kind, checked
from tailwork.robots.robot import Robot
from tailwork.robots.tails.tail import Tail
from tailwork.studies.measures import ENERGY_BALANCE, MEASURES, unit_of
from tailwork.studies.scenario import Scenario

MOTION = {"sweep": "deg", "duration": "s", "early": "1", "skew": "1"}
"""Numbers of the motion that may be varied, and their units."""
CONTROL = {"kp": "N m/rad", "kd": "N m s/rad"}
"""Gains by which a tail's own actuators follow the motion."""
MOST_STEPS = 1000
FINITE = Kind("")
"""Any number, in its own unit."""


@dataclass(frozen=True)
class Variable:
    """A number that may change, between bounds, in the unit in which it is given."""

    name: str  # "tail.length", "tail.total_mass", "motion.sweep", …
    low: float  # least value, in that unit
    high: float  # greatest value, in that unit
    unit: str = ""  # filled in; if given, it must be right

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ArgumentError("variables", self.name, "a name, such as 'tail.length'")
        path = f"variables.{self.name}"
        for value in (self.low, self.high):
            checked(path, value, FINITE)
        if not self.low < self.high:
            required = "bounds that are apart, the lower one first"
            hint = f"; did you mean [{self.high:g}, {self.low:g}]?" if self.low > self.high else ""
            raise ArgumentError(path, [self.low, self.high], required + hint)


@dataclass(frozen=True)
class Goal:
    """A measure to be made as large or as small as possible."""

    measure: str  # its name, of `MEASURES`
    sense: str  # "most" or "least"

    def __post_init__(self) -> None:
        _check_measure("goals", self.measure)
        if not isinstance(self.sense, str) or self.sense not in ("most", "least"):
            raise ArgumentError(f"goals.{self.measure}", self.sense, "'most' or 'least'")

    @property
    def sign(self) -> float:
        """By which the measure is multiplied for a cost, the less the better [1]."""
        return -1.0 if self.sense == "most" else 1.0


@dataclass(frozen=True)
class Limit:
    """Bounds on a measure; where it is the worst along the path, they hold at every node."""

    measure: str  # its name, of `MEASURES`
    least: float | None = None  # in the measure's unit; None: no lower bound
    most: float | None = None  # in the measure's unit; None: no upper bound

    def __post_init__(self) -> None:
        path = f"limits.{self.measure}"
        _check_measure("limits", self.measure)
        if self.least is None and self.most is None:
            raise ArgumentError(path, None, "`least`, `most` or both")
        for value in (self.least, self.most):
            if value is not None:
                checked(path, value, FINITE)
        if self.least is not None and self.most is not None and not self.least < self.most:
            raise ArgumentError(path, [self.least, self.most], "`least` below `most`")

    @property
    def words(self) -> str:
        """In words, with the unit."""
        unit = unit_of(self.measure)
        shown = "" if unit == "1" else f" {unit}"
        if self.least is None:
            return f"{self.measure} ≤ {self.most:g}{shown}"
        if self.most is None:
            return f"{self.measure} ≥ {self.least:g}{shown}"
        return f"{self.least:g} ≤ {self.measure} ≤ {self.most:g}{shown}"


@dataclass(frozen=True)
class Study:
    """A design problem.

    Attributes:
        name: of the problem.
        scenario: what is done, with one robot; its numbers that are no variables stay as they are.
        variables: what may change.
        goals: what is wanted; several make a Pareto set.
        limits: what is allowed.
        choices: by path, values of the robot that are no continuous numbers, such as numbers of links: each combination
            is a problem of its own.
        steps: of the method over the motion, at least; a search takes more where these are too few.
        seed: of all that is random.
    """

    name: str
    scenario: Scenario
    variables: tuple[Variable, ...]
    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...] = ()
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    steps: int = 30
    seed: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.scenario, Scenario):
            raise ArgumentError("scenario", self.scenario, "a Scenario, such as Scenario(robot, sweep('yaw', 40.0))")
        for what, kind in (("variables", Variable), ("goals", Goal), ("limits", Limit)):
            given = getattr(self, what)
            if not isinstance(given, (list, tuple)) or not all(isinstance(one, kind) for one in given):
                raise ArgumentError(what, given, f"a list of {kind.__name__}")
        if not isinstance(self.choices, Mapping) or not all(
            isinstance(values, (list, tuple)) for values in self.choices.values()
        ):
            raise ArgumentError("choices", self.choices, "lists of values by path")
        if not self.goals:
            raise ArgumentError("goals", [], "at least one measure to be made most or least")
        if not self.variables:
            raise ArgumentError("variables", [], "at least one number that may change")
        for what, names in (
            ("variables", [v.name for v in self.variables]), ("goals", [g.measure for g in self.goals]),
            ("limits", [x.measure for x in self.limits]),
        ):  # fmt: skip
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise ArgumentError(what, twice[0], "each name once")
        for name, value, least, most in (("steps", self.steps, 4, MOST_STEPS), ("seed", self.seed, 0, 2**32 - 1)):
            if not isinstance(value, Integral) or isinstance(value, bool) or not least <= value <= most:
                raise ArgumentError(name, value, f"an integer from {least} to {most:,}")
        for path, values in self.choices.items():
            if path in [variable.name for variable in self.variables]:
                raise ArgumentError(f"choices.{path}", list(values), "no choice of what varies: choose it or vary it")
            if not values:
                raise ArgumentError(f"choices.{path}", [], "at least one value to try")
            if any(value in list(values)[:k] for k, value in enumerate(values)):
                raise ArgumentError(f"choices.{path}", list(values), "each value once")
        if not isinstance(self.name, str) or not self.name.isprintable():
            raise ArgumentError("name", self.name, "a name of printable characters")

    @property
    def measures(self) -> list[str]:
        """Measures that are wanted or limited, each once."""
        return list(dict.fromkeys([*(goal.measure for goal in self.goals), *(limit.measure for limit in self.limits)]))

    @property
    def robot(self) -> Robot:
        """The robot as the problem has it."""
        return self.scenario.robot

    @property
    def tail_name(self) -> str:
        """Name of the robot's tail."""
        return self.scenario.tail

    @property
    def tail(self) -> Tail:
        """The tail's description."""
        return self.scenario.tail_part

    def named(self, design: Iterable[float]) -> dict[str, float]:
        """A design by variable, each in its unit."""
        return dict(zip((variable.name for variable in self.variables), map(float, design), strict=True))

    def with_robot(self, robot: Robot) -> Study:
        """The same problem for another robot."""
        return replace(self, scenario=self.scenario.with_robot(robot))


def _check_measure(path: str, name: Any) -> None:
    shown = [known for known, measure in MEASURES.items() if not measure.hidden]
    if isinstance(name, str) and name == ENERGY_BALANCE:
        raise ArgumentError(f"{path}.{name}", name, "a measure of the path; this one is of its integration")
    if not isinstance(name, str) or name not in shown:
        raise UnknownNameError.among(f"{path}.{name}", str(name), shown, "measure")
