"""How forces of contacts change with a state: linear equations of what their modes hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tailwork.typing import Floats


class ForceChanges:
    """Linear equations for changes of forces: of each row that is held, base + A · change + what is given = 0."""

    def __init__(self, base: Floats, delassus: Floats) -> None:
        self.base, self.delassus = base, delassus
        self.known = np.zeros_like(base)
        self.unit = np.eye(base.shape[1])
        self.columns: list[Floats] = []  # what an unknown adds to the forces
        self.equations: list[Floats] = []
        self.turning: list[float] = []  # what it adds to its own equation besides
        self.given: list[Floats] = []

    def _add(self, column: Floats, equation: Floats, turning: float = 0.0, given: Floats | None = None) -> None:
        self.columns.append(column)
        self.equations.append(equation)
        self.turning.append(turning)
        self.given.append(np.zeros(len(self.base)) if given is None else given)

    def hold(self, rows: Sequence[int] | range, given: Floats | None = None) -> None:
        """Rows whose forces are unknown."""
        for k in rows:
            self._add(self.unit[k], self.unit[k], given=given)

    def slip(
        self, here: slice, last: int, along: Floats, mu: float, load: Any, d_mu: Floats, *, held: bool = False
    ) -> None:
        """Friction is mu times the normal force, the direction as it is; `held`: the normal is held already."""
        if not held:
            self.hold([last])
        self.columns[-1] = self.unit[last].copy()
        self.columns[-1][here] = -mu * along
        self.known[:, here] -= (d_mu * load)[:, None] * along

    def turn(self, here: slice, along: Floats, friction: float, change: Floats) -> None:
        """The direction of friction turns with a vector whose relative change is known."""
        aside = np.array([-along[1], along[0]])
        self.known[:, here] -= friction * (change @ aside)[:, None] * aside

    def follow(self, here: slice, along: Floats, friction: float, size: float) -> None:
        """The direction of friction turns with the rows themselves, which have this size along it."""
        aside = np.array([-along[1], along[0]])
        column, equation = np.zeros(len(self.unit)), np.zeros(len(self.unit))
        column[here], equation[here] = -friction * aside, aside
        self._add(column, equation, -size)

    def solved(self) -> Floats:
        """Changes of the forces, (directions, rows); of redundant ones the smallest."""
        if not self.columns:
            return self.known
        columns, equations = np.array(self.columns), np.array(self.equations)
        matrix = equations @ self.delassus @ columns.T + np.diag(self.turning)
        right = -((self.base + self.known @ self.delassus) @ equations.T + np.array(self.given).T)
        return self.known + np.linalg.lstsq(matrix, right.T, rcond=1e-12)[0].T @ columns
