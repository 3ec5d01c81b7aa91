"""A design problem: a robot, what its tail does, what may change, what is wanted and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.robot import Robot
from tailwork.studies.design.measures import MEASURES, Actuator, checked_number
from tailwork.studies.manoeuvre import CABLE_KD, CABLE_KP, tail_name

POLICIES = ("straight-down", "joint", "foot", "airborne")
"""What the legs do: constant torques under which the feet push straight down at rest; those, and springs and dampers at
the joints or at the feet; or no feet on the ground, the legs rigid."""
AXES = ("yaw", "pitch")
MOTION = {"sweep": "deg", "duration": "s", "early": "1", "skew": "1"}
"""Numbers of the motion that may be varied, and their units."""
CONTROL = {"kp": "N m/rad", "kd": "N m s/rad"}
"""Gains of the law that bends a tail with cables."""
MOST_STEPS = 1000
LARGEST_SWEEP = 89.0
"""Of a pendulum to the side [deg], whose joint is singular at 90°."""


@dataclass(frozen=True)
class Scenario:
    """What the tail does and what the legs do meanwhile.

    The tail sweeps from straight to an angle, to the right for "yaw", down for "pitch", by the profile `Shaped`. For a
    tail of many links the angle is that of its last link; all its joints bend alike. A push is an impulse as the
    motion starts: the feet stay, and the robot has the velocity that it gives.
    """

    axis: str = "yaw"  # "yaw" or "pitch"
    sweep: float = 40.0  # how far the tail goes [deg]
    duration: float = 0.3  # of the motion and of the run [s]
    early: float = 0.0  # how far it runs ahead of the cubic [1]
    skew: float = 0.0  # how far it runs ahead in the first half and falls behind in the second [1]
    policy: str = "straight-down"  # what the legs do: "straight-down", "joint", "foot" or "airborne"
    kp: float = CABLE_KP  # [N m/rad], of the law that bends a tail with cables
    kd: float = CABLE_KD  # [N m s/rad], likewise
    push: tuple[float, float, float] = (0.0, 0.0, 0.0)  # impulse on the torso at the start, inertial frame [N s]
    push_point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # where it acts, torso frame [m]

    def __post_init__(self) -> None:
        for name, value, known in (("axis", self.axis, AXES), ("policy", self.policy, POLICIES)):
            if value not in known:
                raise UnknownNameError.among(f"scenario.{name}", str(value), known, name)
        for name in (*MOTION, *CONTROL):
            checked_number(f"scenario.{name}", getattr(self, name))
        for name in ("push", "push_point"):
            given = getattr(self, name)
            if not isinstance(given, (list, tuple)) or len(given) != 3:
                required = f"three numbers, [x, y, z] [{'N s' if name == 'push' else 'm'}]"
                raise RobotError(f"scenario.{name}", given, required)
            object.__setattr__(self, name, tuple(checked_number(f"scenario.{name}", value) for value in given))
        if self.duration <= 0.0:
            raise RobotError("scenario.duration", self.duration, "a duration greater than 0 [s]")


@dataclass(frozen=True)
class Variable:
    """A number that may change, between bounds, in the unit in which it is given."""

    name: str  # "tail.length", "tail.total_mass", "motion.sweep", …
    low: float  # least value, in that unit
    high: float  # greatest value, in that unit
    unit: str = ""  # filled in; if given, it must be right

    def __post_init__(self) -> None:
        path = f"variables.{self.name}"
        for value in (self.low, self.high):
            checked_number(path, value)
        if not self.low < self.high:
            required = "bounds that are apart, the lower one first"
            hint = f"; did you mean [{self.high:g}, {self.low:g}]?" if self.low > self.high else ""
            raise RobotError(path, [self.low, self.high], required + hint)


@dataclass(frozen=True)
class Goal:
    """A measure to be made as large or as small as possible."""

    measure: str  # its name, of `MEASURES`
    sense: str  # "most" or "least"

    def __post_init__(self) -> None:
        _check_measure("goals", self.measure)
        if self.sense not in ("most", "least"):
            raise RobotError(f"goals.{self.measure}", self.sense, "'most' or 'least'")


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
            raise RobotError(path, None, "`least`, `most` or both")
        for value in (self.least, self.most):
            if value is not None:
                checked_number(path, value)
        if self.least is not None and self.most is not None and not self.least < self.most:
            raise RobotError(path, [self.least, self.most], "`least` below `most`")

    @property
    def words(self) -> str:
        """In words, with the unit."""
        unit = MEASURES[self.measure].unit
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
        robot: with one tail; its other numbers stay as they are. Motion of a pendulum or an R3 is imposed; a USRT is
            bent by its cables.
        scenario: what is done.
        variables: what may change.
        goals: what is wanted; several make a Pareto set.
        limits: what is allowed.
        choices: by path, values of the robot that are no continuous numbers, such as numbers of links: each combination
            is a problem of its own.
        actuator: mass of the actuators from what they give, for `actuator_mass` and `added_mass`. It counts in these
            measures; the robot does not carry it.
        steps: of the method over the motion.
        seed: of all that is random.
    """

    name: str
    robot: Robot
    scenario: Scenario
    variables: tuple[Variable, ...]
    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...] = ()
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    actuator: Actuator = Actuator()
    steps: int = 30
    seed: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise RobotError("robot", self.robot, "a Robot, from tailwork.robots or tailwork.load")
        if not self.goals:
            raise RobotError("goals", [], "at least one measure to be made most or least")
        if not self.variables:
            raise RobotError("variables", [], "at least one number that may change")
        for what, names in (
            ("variables", [v.name for v in self.variables]), ("goals", [g.measure for g in self.goals]),
            ("limits", [x.measure for x in self.limits]),
        ):  # fmt: skip
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise RobotError(what, twice[0], "each name once")
        for name, value, least, most in (("steps", self.steps, 4, MOST_STEPS), ("seed", self.seed, 0, 2**32 - 1)):
            if not isinstance(value, Integral) or isinstance(value, bool) or not least <= value <= most:
                raise RobotError(name, value, f"a whole number from {least} to {most:,}")
        for path, values in self.choices.items():
            if path in [variable.name for variable in self.variables]:
                raise RobotError(f"choices.{path}", list(values), "no choice of what varies: choose it or vary it")
            if not values:
                raise RobotError(f"choices.{path}", [], "at least one value to try")
            if any(value in list(values)[:k] for k, value in enumerate(values)):
                raise RobotError(f"choices.{path}", list(values), "each value once")
        if any(not character.isprintable() for character in self.name):
            raise RobotError("name", self.name, "a name of printable characters")

    @property
    def asked(self) -> list[str]:
        """Measures that are wanted or limited, each once."""
        return list(dict.fromkeys([*(goal.measure for goal in self.goals), *(limit.measure for limit in self.limits)]))

    @property
    def tail_name(self) -> str:
        """Name of the robot's tail."""
        return tail_name(self.robot)

    @property
    def tail(self) -> Any:
        """The tail's description."""
        return self.robot.part(self.tail_name)

    def with_robot(self, robot: Robot) -> Study:
        """The same problem for another robot."""
        return replace(self, robot=robot)


def _check_measure(path: str, name: Any) -> None:
    if not isinstance(name, str) or name not in MEASURES:
        raise UnknownNameError.among(f"{path}.{name}", str(name), MEASURES, "measure")
