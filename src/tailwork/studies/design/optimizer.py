"""One design problem as a smooth program: scaled variables, limits at every node, exact derivatives in the lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from tailwork.studies.design.evaluate import SMALL, Evaluator
from tailwork.studies.design.problem import Goal, Limit
from tailwork.studies.measures import EXTREMES, MEASURES
from tailwork.typing import Floats

MOST_ROUNDS = 200
PRECISION = 1e-11
"""Of the objective in its own scale, at which SLSQP stops."""
NEAR = 1.0
"""Limits at nodes that are farther off than this share of their bound are left out until they come near."""
MISSED, AT_EDGE = 1e-9, 1e-9
MOST_TRIES = 8
CONVERGED = 1e-3
"""Largest residual of an optimum: less than this share of the goal's scale is to be gained over the whole bounds."""
BROKEN = 1e3
"""What stands for a number that is none, in the scale of its limit or goal: far worse than anything real."""


@dataclass(frozen=True)
class Side:
    """One side of a limit: sign (bound − row) ≥ 0 for every row, in units of its scale."""

    limit: Limit
    bound: float
    sign: float  # +1: at most, −1: at least
    scale: float

    @property
    def words(self) -> str:
        """In words, with the unit."""
        return (Limit(self.limit.measure, most=self.bound) if self.sign > 0 else
                Limit(self.limit.measure, least=self.bound)).words  # fmt: skip


def sides_of(limits: Sequence[Limit]) -> list[Side]:
    """All sides of some limits."""
    found = []
    for limit in limits:
        for bound, sign in ((limit.least, -1.0), (limit.most, 1.0)):
            if bound is not None:
                found.append(Side(limit, float(bound), sign, max(abs(float(bound)), 1e-3)))
    return found


MODEL_END = sides_of([Limit("most_extension", most=0.98)])[0]
"""Where legs stand, none may come to be all but straight: there the model ends, and what is computed means nothing."""


def model_ends(evaluator: Evaluator, sides: Sequence[Side]) -> list[Side]:
    """That limit, where there are feet on the ground and no limit says as much."""
    said = any(
        side.limit.measure == "most_extension" and 0 < side.sign * side.bound <= MODEL_END.bound for side in sides
    )
    return [MODEL_END] if evaluator.look.has("most_extension") and not said else []


def side_rows(evaluator: Evaluator, side: Side, nodes: Any, times: Any) -> Any:
    """What must stay on one side of a bound, (designs, k), in the unit of its measure."""
    reduction = MEASURES[side.limit.measure].reduction
    # Where the worst is to be beyond, only the run as a whole is looked at.
    beyond = reduction in EXTREMES and (reduction == "min") != (side.sign < 0)
    return evaluator.rows(side.limit.measure, nodes, times, whole=beyond)


@dataclass(frozen=True)
class Solution:
    """Where a search came to rest."""

    design: Floats  # in the variables' own units
    goal: float  # in the measure's own unit
    violation: float  # of the worst limit, as a share of its bound; 0: none
    multipliers: dict[str, float]  # by side of a limit, in words: gain of the goal for each unit of the bound
    bound_multipliers: dict[str, float]  # by variable: gain of the goal for each unit that its bound is moved outwards
    residual: float  # what is left of the conditions of an optimum, in the goal's scale over the variables' ranges
    why: str  # the method's own words on why it stopped

    @property
    def converged(self) -> bool:
        """Whether the design is an optimum: nothing can be gained to first order without breaking a limit."""
        return self.residual <= CONVERGED


class Program:
    """Minimise sign · goal within limits, from designs scaled to [0, 1].

    A goal that is the worst along the path becomes a variable of its own, which all nodes stay below.
    """

    def __init__(self, evaluator: Evaluator, goal: Goal | None, sides: Sequence[Side], scale: float = 1.0) -> None:
        self.evaluator = evaluator
        self.goal = goal
        self.sides = [*sides, *model_ends(evaluator, sides)]
        self.scale = scale if scale > 0.0 else 1.0
        self.low, self.span = evaluator.low, evaluator.high - evaluator.low
        self.size = len(self.low)
        reduction = None if goal is None else MEASURES[goal.measure].reduction
        self.sign = 0.0 if goal is None else goal.sign
        # Slack: of infeasibility (no goal), or the bound below which all nodes of a worst-of goal stay.
        self.slack = goal is None or (reduction in EXTREMES and (reduction == "min") == (goal.sense == "most"))
        self._seen: dict[str, tuple[bytes, Any]] = {}  # nodes, values and slopes at the last z that asked for them
        self._counts: list[int] = []  # by side: how many rows it has

    def design(self, z: Floats) -> Floats:
        """A design in its own units; what is all but at a bound is at it."""
        inside = np.clip(z[: self.size], 0.0, 1.0)
        found = self.low + self.span * inside
        found = np.where(inside < AT_EDGE, self.low, found)
        return np.where(inside > 1.0 - AT_EDGE, self.low + self.span, found)

    def _rows(self, nodes: Any, times: Any) -> tuple[Any, Any]:
        """By design: rows of the goal, and of all sides of limits (≥ 0 is within), in their scales."""
        goal, sides = np.zeros((len(nodes), 0)), [np.zeros((len(nodes), 0))]
        with np.errstate(invalid="ignore"):  # infinite friction with a derivative
            if self.goal is not None:
                rows = self.evaluator.rows(self.goal.measure, nodes, times, whole=not self.slack)
                goal = self.sign * rows / self.scale
            for side in self.sides:
                sides.append(side.sign * (side.bound - side_rows(self.evaluator, side, nodes, times)) / side.scale)
        self._counts = [rows.shape[1] for rows in sides[1:]]
        return goal, np.concatenate(sides, axis=1)

    def _last(self, what: str, z: Floats, make: Callable[[Floats], Any]) -> Any:
        """What is made of a design in its own units, kept until another is asked for."""
        key = z[: self.size].tobytes()
        if what not in self._seen or self._seen[what][0] != key:
            self._seen[what] = (key, make(self.low + self.span * np.clip(z[: self.size], 0.0, 1.0)))
        return self._seen[what][1]

    def _nodes(self, z: Floats) -> Floats:
        return self._last("nodes", z, lambda design: self.evaluator.roll(design[None]))

    def _values(self, z: Floats) -> tuple[Floats, Floats]:
        """Rows of goal and limits at z."""

        def make(design: Floats) -> tuple[Floats, Floats]:
            goal, kept = self._rows(self._nodes(z), self.evaluator.times(design[None]))
            return np.where(np.isfinite(goal[0]), goal[0], BROKEN), np.where(np.isfinite(kept[0]), kept[0], -BROKEN)

        return self._last("values", z, make)

    def _slopes(self, z: Floats) -> tuple[Floats, Floats]:
        """Their derivatives by z, (rows, variables): a search asks for them at fewer designs than for values."""

        def make(design: Floats) -> tuple[Floats, Floats]:
            goal, kept = self._rows(*self.evaluator.linearised(design, self._nodes(z)))
            return self._by_z(goal), self._by_z(kept)

        return self._last("slopes", z, make)

    def _by_z(self, rows: Any) -> Floats:
        """Derivatives of rows that carry them as imaginary parts; 0 where a row is no number."""
        slopes = np.imag(rows).T * self.span / SMALL
        return np.where(np.isfinite(np.real(rows[0]))[:, None] & np.isfinite(slopes), slopes, 0.0)

    def objective(self, z: Floats) -> float:
        """What is minimised."""
        return float(z[-1]) if self.slack else float(self._values(z)[0][0])

    def objective_slope(self, z: Floats) -> Floats:
        """Its derivative."""
        if not self.slack:
            return self._slopes(z)[0][0].copy()
        return np.append(np.zeros(self.size), 1.0)

    def _loosened(self, limits: int, nodes: int) -> Floats:
        """By row: how much slack loosens it. It loosens all limits but the model's end, or the nodes of the goal."""
        if self.goal is not None:
            return np.repeat([0.0, 1.0], [limits, nodes])
        own = zip(self.sides, self._counts, strict=True)
        return np.array([float(side is not MODEL_END) for side, count in own for _ in range(count)])

    def _all_within(self, z: Floats) -> Floats:
        """All limits and, for a worst-of goal, its nodes: ≥ 0 within."""
        goal, kept = self._values(z)
        if not self.slack:
            return kept
        rows = kept if self.goal is None else np.concatenate([kept, -goal])
        return rows + self._loosened(len(kept), len(goal)) * z[-1]

    def _all_slopes(self, z: Floats) -> Floats:
        """Their derivatives."""
        by_goal, slopes = self._slopes(z)
        if not self.slack:
            return slopes
        rows = slopes if self.goal is None else np.concatenate([slopes, -by_goal])
        return np.concatenate([rows, self._loosened(len(slopes), len(by_goal))[:, None]], axis=1)

    def solve(self, start: Floats) -> Solution:
        """From a design in its own units to the nearest optimum.

        Most nodes are far from their limits, and the method's time grows with their number: it is given those that are
        near, and those that it then turns out to violate, until none is.
        """
        z = (start - self.low) / self.span
        bounds = [(0.0, 1.0)] * self.size
        if self.slack:
            goal, kept = self._values(z)
            worst = -kept.min(initial=0.0) if self.goal is None else goal.max()
            z, bounds = np.append(z, worst), [*bounds, (-BROKEN, BROKEN)]
        near = self._all_within(z) < NEAR
        for _ in range(MOST_TRIES):
            chosen = np.flatnonzero(near)
            found: Any = minimize(
                self.objective, z, jac=self.objective_slope, bounds=bounds, method="SLSQP",
                constraints=[{
                    "type": "ineq",
                    "fun": lambda z, chosen=chosen: self._all_within(z)[chosen],
                    "jac": lambda z, chosen=chosen: self._all_slopes(z)[chosen],
                }] if len(chosen) else [],
                options={"maxiter": MOST_ROUNDS, "ftol": PRECISION},
            )  # fmt: skip
            values = self._all_within(found.x)
            missed = (values < -MISSED) & ~near
            if not missed.any():
                break
            near, z = near | (values < NEAR), found.x
        multipliers = np.zeros(len(near))
        if len(chosen):
            multipliers[chosen] = np.asarray(found.multipliers)[: len(chosen)]
        return self._solved(found.x, multipliers, str(found.message))

    def at(self, design: Floats) -> Solution:
        """A design as it is, without a search."""
        z = (design - self.low) / self.span
        goal, _ = self._values(z)
        z = np.append(z, goal.max(initial=0.0)) if self.slack else z
        return self._solved(z, np.zeros(len(self._all_within(z))), "no search")

    def _solved(self, z: Floats, multipliers: Floats, why: str) -> Solution:
        """Where a search came to rest, in the problem's own units."""
        goal, kept = self._values(z)
        scale = self.scale if self.goal is not None else 1.0
        by_side: dict[str, float] = {}
        place = 0
        for side, count in zip(self.sides, self._counts, strict=True):
            by_side[side.words] = float(multipliers[place : place + count].sum()) * scale / side.scale
            place += count
        pull = (self.objective_slope(z) - self._all_slopes(z).T @ multipliers)[: self.size]
        lower, upper = z[: self.size] < AT_EDGE, z[: self.size] > 1.0 - AT_EDGE
        price = np.where(lower, pull, np.where(upper, -pull, 0.0))  # of each bound, where the design is at it
        left = np.where(lower | upper, np.maximum(-price, 0.0), np.abs(pull))
        edges = {
            variable.name: max(float(price[k]), 0.0) * scale / float(self.span[k])
            for k, variable in enumerate(self.evaluator.variables)
            if lower[k] or upper[k]
        }
        value = 0.0
        if self.goal is not None:
            value = self.sign * self.scale * float(goal.max() if self.slack else goal[0])
        return Solution(
            design=self.design(z), goal=value, violation=float(max(0.0, -kept.min(initial=0.0))),
            multipliers=by_side, bound_multipliers=edges, residual=float(left.max(initial=0.0)), why=why,
        )  # fmt: skip
