"""Compliant ground: how it pushes back, and how high it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numba import njit

from tailwork.algebra.expression import Scalar
from tailwork.errors import RobotError
from tailwork.robots.quantities import Described, all_numbers, nonnegative, positive
from tailwork.typing import Floats

AIR, STICK, SLIP = 0, 1, 2
CONTACT_NAMES = ("air", "stick", "slip")
"""States of a foot by number."""


MOST_POINTS = 10_000
"""Of a height field along an axis: more are a typing error."""


def _ends(name: str, ends: Any) -> tuple[float, float]:
    """(first, last) of an axis, checked [m]."""
    try:
        first, last = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise RobotError(name, ends, "(first, last) [m]") from None
    if not (np.isfinite(first) and np.isfinite(last) and first < last):
        raise RobotError(name, ends, "(first, last) [m], the first smaller than the last")
    return first, last


@dataclass(frozen=True, kw_only=True, eq=False)  # arrays compare entry by entry: see __eq__
class HeightField:
    """The height of the ground on a regular grid, with a smooth surface (bicubic, once differentiable) between.

    Planes and quadratic surfaces come out exactly, but for the outermost cells.
    """

    x: tuple[float, float]  # first and last [m]
    y: tuple[float, float]  # likewise [m]
    heights: Floats  # (points along x, points along y) [m]

    def __post_init__(self) -> None:
        try:
            heights = np.array(self.heights, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise RobotError("heights", self.heights, "a matrix of finite numbers [m]") from None
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise RobotError("heights", f"shape {heights.shape}", "at least 2 × 2 numbers [m]")
        if not np.isfinite(heights).all():
            raise RobotError("heights", f"{np.sum(~np.isfinite(heights))} that are not finite", "finite numbers [m]")
        heights.setflags(write=False)
        object.__setattr__(self, "heights", heights)
        for name in ("x", "y"):
            object.__setattr__(self, name, _ends(name, getattr(self, name)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeightField):
            return NotImplemented
        return (self.x, self.y) == (other.x, other.y) and np.array_equal(self.heights, other.heights)

    def __hash__(self) -> int:
        return hash((self.x, self.y, self.heights.tobytes()))

    @staticmethod
    def sampled(
        function: Callable[[Floats, Floats], Any], x: tuple[float, float], y: tuple[float, float], spacing: float
    ) -> HeightField:
        """The field of a function of (x, y) arrays [m] → heights [m], sampled at most `spacing` [m] apart.

        See `error_of` for how far the surface is from the function between the samples.
        """
        if not isinstance(spacing, Real) or not np.isfinite(spacing) or spacing <= 0:
            raise RobotError("spacing", spacing, "a finite number greater than 0 [m]")
        axes = []
        for name, ends in (("x", x), ("y", y)):
            first, last = _ends(name, ends)
            count = max(2, int(np.ceil((last - first) / spacing)) + 1)
            if count > MOST_POINTS:
                raise RobotError("spacing", spacing, f"at most {MOST_POINTS} points along {name}, here {count}")
            axes.append(np.linspace(first, last, count))
        try:
            heights = function(*np.meshgrid(*axes, indexing="ij"))
        except (TypeError, ValueError) as error:
            raise RobotError("function", error, "a function of arrays x and y, such as one of NumPy's") from None
        shape = (len(axes[0]), len(axes[1]))
        try:
            heights = np.broadcast_to(np.asarray(heights, dtype=np.float64), shape)
        except (TypeError, ValueError):
            raise RobotError("heights", heights, f"a function of arrays x and y that gives {shape} heights") from None
        return HeightField(x=x, y=y, heights=heights)

    def arrays(self) -> tuple[Floats, Floats]:
        """(first x, first y, spacing along x, spacing along y), and the heights [m]: as compiled code takes them."""
        nx, ny = self.heights.shape
        dx, dy = (self.x[1] - self.x[0]) / (nx - 1), (self.y[1] - self.y[0]) / (ny - 1)
        return np.array([self.x[0], self.y[0], dx, dy]), self.heights

    def height(self, x: float, y: float) -> float:
        """The height at a point [m]; NaN outside the grid."""
        return float(surface(*self.arrays(), x, y)[0])

    def normal(self, x: float, y: float) -> Floats:
        """The unit normal at a point."""
        _, by_x, by_y = surface(*self.arrays(), x, y)
        return np.array([-by_x, -by_y, 1.0]) / np.sqrt(1.0 + by_x * by_x + by_y * by_y)

    def error_of(self, function: Callable[[Floats, Floats], Any]) -> float:
        """Farthest that the surface is from a function in the middles of the cells [m]."""
        (x0, y0, dx, dy), heights = self.arrays()
        xs, ys = (start + d * (np.arange(n - 1) + 0.5)
                  for start, d, n in ((x0, dx, heights.shape[0]), (y0, dy, heights.shape[1])))  # fmt: skip
        wanted = np.broadcast_to(function(*np.meshgrid(xs, ys, indexing="ij")), (len(xs), len(ys)))
        return float(np.abs(_heights(*self.arrays(), xs, ys) - wanted).max())


@dataclass(frozen=True, kw_only=True)
class CompliantGround(Described):
    """Ground that gives way: a Hunt–Crossley normal force, a spring and damper across, and friction.

    Normal: stiffness · depth (1 − damping · rising speed), never pulling. Across: a spring from the anchor, the point
    of first contact, and a damper; where they ask for more than static friction allows, the foot slips against kinetic
    friction and takes its anchor along, until the spring asks for less than that again.
    """

    stiffness: Scalar = positive("N/m")  # of the normal force
    damping: Scalar = nonnegative("s/m", 0.0)  # of the normal force: the share that a sinking speed adds
    tangential_stiffness: Scalar = positive("N/m")  # of the spring across
    tangential_damping: Scalar = nonnegative("N s/m", 0.0)  # of the damper across
    static_friction: Scalar = nonnegative("")  # coefficient of a foot that sticks
    kinetic_friction: Scalar = nonnegative("")  # coefficient of a foot that slips; at most the static one
    surface: HeightField | None = None  # None: the plane z = 0

    def check(self) -> None:
        """Numbers, and no more kinetic than static friction."""
        if not all_numbers(*(getattr(self, name) for name in _NUMBERS)):
            raise RobotError("ground", "a symbol", "numbers only")
        if self.kinetic_friction > self.static_friction:
            required = (
                f"at most the static friction, {self.static_friction:g}: a foot that slips is held less than one that "
                "sticks"
            )
            raise RobotError("kinetic_friction", self.kinetic_friction, required)

    def laws(self) -> Floats:
        """All numbers in SI units, as compiled code takes them."""
        return np.array([self.stiffness, self.damping, self.tangential_stiffness, self.tangential_damping,
                         self.static_friction, self.kinetic_friction], dtype=np.float64)  # fmt: skip

    def field(self) -> tuple[Floats, Floats]:
        """The surface [m], as compiled code takes it; no heights at all for the plane z = 0."""
        if self.surface is not None:
            return self.surface.arrays()
        none = np.zeros((0, 0))
        none.setflags(write=False)  # as those of a height field: compiled code tells the two apart
        return np.zeros(4), none

    def as_text(self) -> str:
        """All of it as JSON, for a file; `ground_from_text` reads it."""
        content: dict[str, Any] = {name: getattr(self, name) for name in _NUMBERS}
        if (own := self.surface) is not None:
            content["surface"] = {"x": own.x, "y": own.y, "heights": own.heights.tolist()}
        return json.dumps(content)


_NUMBERS = (
    "stiffness", "damping", "tangential_stiffness", "tangential_damping", "static_friction", "kinetic_friction"
)  # fmt: skip


def ground_from_text(text: str) -> CompliantGround:
    """The ground that `CompliantGround.as_text` has written."""
    content = json.loads(text)
    field = content.pop("surface", None)
    if field is not None:
        field = HeightField(x=tuple(field["x"]), y=tuple(field["y"]), heights=np.array(field["heights"]))
    return CompliantGround(**content, surface=field)


@njit(cache=True)
def surface(grid: Floats, heights: Floats, x: float, y: float) -> tuple[float, float, float]:
    """Height of the ground and its derivatives by x and y; NaN outside the grid."""
    if heights.size == 0:
        return 0.0, 0.0, 0.0
    nx, ny = heights.shape
    u, v = (x - grid[0]) / grid[2], (y - grid[1]) / grid[3]
    if not (0.0 <= u <= nx - 1 and 0.0 <= v <= ny - 1):
        return np.nan, np.nan, np.nan
    i, j = min(int(u), nx - 2), min(int(v), ny - 2)
    height, by_x, by_y = 0.0, 0.0, 0.0
    for k in range(-1, 3):
        weight, slope = _cubic(u - i, k)
        column, column_slope = 0.0, 0.0
        for m in range(-1, 3):
            other, other_slope = _cubic(v - j, m)
            value = _at(heights, i + k, j + m)
            column += other * value
            column_slope += other_slope * value
        height += weight * column
        by_x += slope * column
        by_y += weight * column_slope
    return height, by_x / grid[2], by_y / grid[3]


@njit(cache=True)
def _heights(grid: Floats, heights: Floats, xs: Floats, ys: Floats) -> Floats:
    """Heights at all pairs of coordinates."""
    found = np.empty((len(xs), len(ys)))
    for i in range(len(xs)):
        for j in range(len(ys)):
            found[i, j] = surface(grid, heights, xs[i], ys[j])[0]
    return found


@njit(cache=True)
def _cubic(s: float, k: int) -> tuple[float, float]:
    """Weight of the sample k (−1, 0, 1, 2) at a share s between samples 0 and 1, and its derivative (Catmull–Rom)."""
    if k == -1:
        return ((-0.5 * s + 1.0) * s - 0.5) * s, (-1.5 * s + 2.0) * s - 0.5
    if k == 0:
        return (1.5 * s - 2.5) * s * s + 1.0, (4.5 * s - 5.0) * s
    if k == 1:
        return ((-1.5 * s + 2.0) * s + 0.5) * s, (-4.5 * s + 4.0) * s + 0.5
    return (0.5 * s - 0.5) * s * s, (1.5 * s - 1.0) * s


@njit(cache=True)
def _at(heights: Floats, i: int, j: int) -> float:
    """A sample; those just outside the grid continue it straight."""
    nx, ny = heights.shape
    a = min(max(i, 0), nx - 1)
    b = min(max(j, 0), ny - 1)
    value = heights[a, b]
    if i != a:
        value += heights[a, b] - heights[a + 1 if i < 0 else a - 1, b]
    if j != b:
        value += heights[a, b] - heights[a, b + 1 if j < 0 else b - 1]
    return value
