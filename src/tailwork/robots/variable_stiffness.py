"""Springs whose stiffness is an actuator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError
from tailwork.robots.quantities import RobotPart, all_numbers, check_name, interval, nonnegative, numbers


@dataclass(frozen=True, kw_only=True)
class VariableStiffness(RobotPart):
    """An actuator: the stiffness of some springs of a limb, changed together.

    Effort: what is added to the `nominal` stiffness, which the springs have as they are described; spring i is stiffer
    by factor i · effort. Its power is that of the force it adds, −effort · x x-dot summed over its springs of stretch
    x: the work of changing the stiffness, ½ x² d(effort), less the energy ½ effort x² that it then stores.
    """

    kind: ClassVar[str] = "stiffness"

    name: str  # of the actuator
    springs: tuple[int, ...]  # their numbers among the springs of the limb, from 1; each with a stiffness
    nominal: Scalar = nonnegative("")  # stiffness at effort 0, in the unit of the effort
    factors: tuple[Scalar, ...] = numbers("", ())  # by spring: its stiffness for one of the effort; none given: 1 each
    unit: str = "N m/rad"  # of the effort
    range: tuple[Scalar, Scalar] | None = interval("")  # of the stiffness, nominal + effort; None: any
    rate_limit: Scalar = nonnegative("", 0.0)  # how fast it can change, a second; 0: not known

    def check(self) -> None:
        """Springs that differ, a factor for each, a nominal stiffness within the range."""
        check_name("name", self.name)
        if not self.springs or len(set(self.springs)) != len(self.springs) or min(self.springs) < 1:
            raise RobotError("springs", self.springs, "numbers of springs, from 1, each once")
        if self.factors and len(self.factors) != len(self.springs):
            raise RobotError("factors", self.factors, f"a factor for each of the {len(self.springs)} springs, or none")
        low, high = self.range or (0.0, math.inf)
        if all_numbers(self.nominal, low, high) and not 0.0 <= low <= self.nominal <= high:
            raise RobotError("nominal", self.nominal, f"a stiffness within its range, {low:g} to {high:g} {self.unit}")

    @property
    def limit(self) -> float:
        """None that is alike both ways, in the unit of the effort: see `range` [1]."""
        return 0.0

    def shares(self) -> list[tuple[int, Scalar]]:
        """(number of a spring from 0, its stiffness for one of the effort [1 or 1/m])."""
        factors = self.factors or [1.0] * len(self.springs)
        return [(k - 1, factor) for k, factor in zip(self.springs, factors, strict=True)]
