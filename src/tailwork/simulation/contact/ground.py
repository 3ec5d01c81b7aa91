"""Compliant and rigid ground: how it pushes back, and how high it is."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tailwork.algebra.expression import Scalar
from tailwork.control.standing import gain_factors
from tailwork.errors import ArgumentError, check_known, is_finite_number
from tailwork.kernels.language import Reals, Struct
from tailwork.kernels.translate import driver
from tailwork.robots.quantities import Described, all_numbers, nonnegative, positive
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

AIR, STICK, SLIP = 0, 1, 2
STIFFNESS = 1e5
"""Of ground under a foot of the quadruped of Liu & Ben-Tzvi 2020 [N/m]."""
STATIC_FRICTION, KINETIC_FRICTION = 0.6, 0.5
DAMPING = 0.1
"""Of the ground, as a share of what is critical for the robot that bounces on it as a whole."""
CONTACT_NAMES = ("air", "stick", "slip")
"""States of a foot by number."""


class Field(Struct):
    """A height field as drivers take it."""

    grid: Reals  # first x, first y, spacing along x, spacing along y [m]
    heights: Reals  # flat [m]
    count_x: int  # 0: the plane z = 0
    count_y: int


MOST_POINTS = 10_000
"""Of a height field along an axis: more are a typing error."""


def _ends(name: str, ends: Any) -> tuple[float, float]:
    """(first, last) of an axis, checked [m]."""
    try:
        first, last = (float(end) for end in ends)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(name, ends, "(first, last) [m]") from None
    if not (np.isfinite(first) and np.isfinite(last) and first < last):
        raise ArgumentError(name, ends, "(first, last) [m], the first smaller than the last")
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
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError("heights", self.heights, "a matrix of finite numbers [m]") from None
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ArgumentError("heights", f"shape {heights.shape}", "at least 2 × 2 numbers [m]")
        if not np.isfinite(heights).all():
            raise ArgumentError("heights", f"{np.sum(~np.isfinite(heights))} that are not finite", "finite numbers [m]")
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
            raise ArgumentError("spacing", spacing, "a finite number greater than 0 [m]")
        axes = []
        for name, ends in (("x", x), ("y", y)):
            first, last = _ends(name, ends)
            count = max(2, int(np.ceil((last - first) / spacing)) + 1)
            if count > MOST_POINTS:
                raise ArgumentError("spacing", spacing, f"at most {MOST_POINTS} points along {name}, here {count}")
            axes.append(np.linspace(first, last, count))
        try:
            heights = function(*np.meshgrid(*axes, indexing="ij"))
        except (TypeError, ValueError, OverflowError) as error:
            raise ArgumentError("function", error, "a function of arrays x and y, such as one of NumPy's") from None
        shape = (len(axes[0]), len(axes[1]))
        try:
            heights = np.broadcast_to(np.asarray(heights, dtype=np.float64), shape)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(
                "heights", heights, f"a function of arrays x and y that gives {shape} heights"
            ) from None
        return HeightField(x=x, y=y, heights=heights)

    def slopes(self) -> tuple[float, float] | None:
        """What a plane rises towards x and y [1]; None: the surface is none."""
        heights, (dx, dy) = self.heights, self.field().grid[2:]
        bent = [np.abs(np.diff(heights, 2, axis=axis)).max(initial=0.0) for axis in (0, 1)]
        twist = np.abs(np.diff(np.diff(heights, axis=0), axis=1)).max(initial=0.0)
        if max(*bent, twist) > 1e-12 * max(1.0, float(np.abs(heights).max())):
            return None
        return float(heights[1, 0] - heights[0, 0]) / dx, float(heights[0, 1] - heights[0, 0]) / dy

    def tilted(self, by_x: float, by_y: float) -> HeightField:
        """The surface that rises by so much more towards x and y [1], about the origin."""
        axes = [np.linspace(*ends, count) for ends, count in zip((self.x, self.y), self.heights.shape, strict=True)]
        return replace(self, heights=self.heights + by_x * axes[0][:, None] + by_y * axes[1])

    def field(self) -> Field:
        """As drivers take it."""
        nx, ny = self.heights.shape
        dx, dy = (self.x[1] - self.x[0]) / (nx - 1), (self.y[1] - self.y[0]) / (ny - 1)
        return Field(
            grid=np.array([self.x[0], self.y[0], dx, dy]), heights=np.ravel(self.heights), count_x=nx, count_y=ny
        )

    def height(self, x: float, y: float) -> float:
        """The height at a point [m]; NaN outside the grid."""
        return float(surface_at(self.field(), [[x, y]])[0, 0])

    def normal(self, x: float, y: float) -> Floats:
        """The unit normal at a point."""
        _, by_x, by_y = surface_at(self.field(), [[x, y]])[0]
        return np.array([-by_x, -by_y, 1.0]) / np.sqrt(1.0 + by_x * by_x + by_y * by_y)

    def error_of(self, function: Callable[[Floats, Floats], Any]) -> float:
        """Farthest that the surface is from a function in the middles of the cells [m]."""
        axes = [np.linspace(*ends, count) for ends, count in zip((self.x, self.y), self.heights.shape, strict=True)]
        middles = np.meshgrid(*((axis[1:] + axis[:-1]) / 2.0 for axis in axes), indexing="ij")
        found = surface_at(self.field(), np.stack(middles, axis=-1))[..., 0]
        return float(np.abs(found - np.broadcast_to(function(*middles), found.shape)).max())


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
    parameter_names: ClassVar[tuple[str, ...]] = (
        "stiffness", "damping", "tangential_stiffness", "tangential_damping", "static_friction", "kinetic_friction"
    )  # fmt: skip
    """Numbers that may differ between the runs of a batch, in the order in which compiled code takes them."""

    def check(self) -> None:
        """Numbers, and no more kinetic than static friction."""
        if not all_numbers(*(getattr(self, name) for name in self.parameter_names)):
            raise ArgumentError("ground", "a symbol", "numbers only")
        if self.kinetic_friction > self.static_friction:
            required = (
                f"at most the static friction, {self.static_friction:g}: a foot that slips is held less than one that "
                "sticks"
            )
            raise ArgumentError("kinetic_friction", self.kinetic_friction, required)

    @classmethod
    def for_robot(
        cls, robot: Robot, stiffness: float | None = None, static_friction: float = STATIC_FRICTION,
        kinetic_friction: float | None = None, damping: float = DAMPING,
    ) -> CompliantGround:  # fmt: skip
        """Flat ground, alike along and across, for a robot that stands on it.

        Args:
            robot: what stands on it.
            stiffness: under a foot [N/m]; by default `default_stiffness`, into which it sinks by about a thousandth of
                the length of its legs.
            static_friction: ratio of tangential to normal force at which a foot slips [1].
            kinetic_friction: the same ratio while it slips [1]; by default 5/6 of the first.
            damping: as a share of what is critical for the robot that bounces on all its feet, each with its share of
                the weight [1]. A leg is lighter: its foot is damped more.
        """
        if not isinstance(robot, Robot):
            raise ArgumentError("robot", robot, "a Robot, from tailwork.robots or tailwork.load")
        own = {"stiffness": stiffness, "static_friction": static_friction, "damping": damping}
        for name, value in own.items():
            if not is_finite_number(value) and not (name == "stiffness" and value is None):
                raise ArgumentError(name, value, "a finite number")
        if not robot.feet() or float(robot.gravity) == 0.0:
            raise ArgumentError("robot", robot.name, "a robot with feet, and gravity that presses them on the ground")
        if stiffness is None:
            stiffness = default_stiffness(robot)
        if kinetic_friction is None:
            kinetic_friction = static_friction * KINETIC_FRICTION / STATIC_FRICTION
        undamped = cls(
            stiffness=stiffness, tangential_stiffness=stiffness, static_friction=static_friction,
            kinetic_friction=kinetic_friction,
        )  # fmt: skip
        resistance = damping * critical_damping(robot, stiffness)
        sinking = resistance / (_mass_on_foot(robot) * float(robot.gravity))
        return replace(undamped, damping=sinking, tangential_damping=resistance)

    def numbers(self) -> dict[str, float]:
        """Its numbers by name [SI]."""
        return {name: float(getattr(self, name)) for name in self.parameter_names}

    def with_numbers(self, values: Mapping[str, float]) -> CompliantGround:
        """The same ground with other ones of its `numbers` [SI]."""
        check_known("ground", values, self.parameter_names, "number of the ground")
        return replace(self, **values, surface=self.surface)

    def field(self) -> Field:
        """The surface [m], as drivers take it; no heights at all for the plane z = 0."""
        return field_of(self.surface)

    def as_text(self) -> str:
        """All of it as JSON, for a file; `ground_from_text` reads it."""
        return _as_text({name: getattr(self, name) for name in self.parameter_names}, self.surface)


def default_stiffness(robot: Robot) -> float:
    """Stiffness of ground under a foot [N/m], to one digit: that of `STIFFNESS` for the quadruped of Liu & Ben-Tzvi
    2020, of others as the mass on each leg over the length of the leg."""
    factors = [float(gain_factors(robot, leg, "foot")[0]) for leg in robot.feet()]
    return float(f"{STIFFNESS * sum(factors) / len(factors):.0e}")


def critical_damping(robot: Robot, stiffness: float) -> float:
    """The damping under each foot [N s/m] from which on the robot as a whole does not bounce, for a stiffness [N/m]."""
    return 2.0 * math.sqrt(stiffness * _mass_on_foot(robot))


def foot_places(robot: Robot) -> dict[str, tuple[float, ...]]:
    """By leg: where its foot stands [m]."""
    return {name: tuple(float(x) for x in foot.place) for name, foot in robot.feet().items()}


def _mass_on_foot(robot: Robot) -> float:
    """Each foot's share of the mass [kg]."""
    return float(robot.mass()) / len(robot.feet())


STEEPEST = 1.75
"""Of a height field under rigid contact: rise between neighbours over their distance [1]; 60°."""


@dataclass(frozen=True, kw_only=True)
class RigidGround(Described):
    """Ground that does not give way: points neither enter it nor pull on it; Coulomb's friction, Newton's restitution.

    A point that is struck leaves with the restitution times its normal speed; slower than 1 cm/s it stays (by
    "event-driven": than 1e-8 m/s). Contact points of the robot have factors of their own on both numbers.
    """

    friction: Scalar = nonnegative("")  # coefficient, the same for points that stick and that slip
    restitution: Scalar = nonnegative("", 0.0)  # from 0 (no rebound) to 1 (all of it)
    surface: HeightField | None = None  # None: the plane z = 0
    parameter_names: ClassVar[tuple[str, ...]] = ("friction", "restitution")
    """Numbers that may differ between the runs of a batch, in the order in which compiled code takes them."""

    def check(self) -> None:
        """Numbers, a restitution of at most 1, and no cliff."""
        if not all_numbers(self.friction, self.restitution):
            raise ArgumentError("ground", "a symbol", "numbers only")
        if self.restitution > 1.0:
            raise ArgumentError("restitution", self.restitution, "from 0 to 1: more would be energy from nowhere")
        if self.surface is None:
            return
        if not isinstance(self.surface, HeightField):
            raise ArgumentError("surface", self.surface, "a HeightField, or None for the plane z = 0")
        grid = self.surface.field().grid
        for axis, name in ((0, "x"), (1, "y")):
            rise = np.abs(np.diff(self.surface.heights, axis=axis)) / grid[2 + axis]
            if rise.max() > STEEPEST:
                place = np.unravel_index(int(rise.argmax()), rise.shape)
                at = f"({grid[0] + place[0] * grid[2]:.3g}, {grid[1] + place[1] * grid[3]:.3g}) m"
                required = (
                    f"slopes of at most {STEEPEST:g} (60°): a point touches the surface below it, not the face of a "
                    "cliff. Make the edge a ramp, or sample it further apart"
                )
                raise ArgumentError("surface", f"a slope of {rise.max():.3g} along {name} at {at}", required)

    def numbers(self) -> dict[str, float]:
        """Its numbers by name: friction, restitution, and what it rises towards x and y [1] where it is a plane that is
        given as a surface."""
        found = {name: float(getattr(self, name)) for name in self.parameter_names}
        slopes = None if self.surface is None else self.surface.slopes()
        return found if slopes is None else found | dict(zip(("slope_x", "slope_y"), slopes, strict=True))

    def with_numbers(self, values: Mapping[str, float]) -> RigidGround:
        """The same ground with other ones of its `numbers` [1]; a plane is turned about the origin."""
        now, own = self.numbers(), dict(values)
        check_known("ground", own, now, "number of the ground")
        more = [own.pop(name, now.get(name, 0.0)) - now.get(name, 0.0) for name in ("slope_x", "slope_y")]
        surface = self.surface if self.surface is None or not any(more) else self.surface.tilted(*more)
        return replace(self, **own, surface=surface)

    def field(self) -> Field:
        """The surface [m], as drivers take it; no heights at all for the plane z = 0."""
        return field_of(self.surface)

    def as_text(self) -> str:
        """All of it as JSON, for a file; `ground_from_text` reads it."""
        return _as_text({name: getattr(self, name) for name in self.parameter_names}, self.surface)


def field_of(surface: HeightField | None) -> Field:
    """A surface [m] as drivers take it; no heights at all for the plane z = 0."""
    if surface is not None:
        return surface.field()
    return Field(grid=np.zeros(4), heights=np.zeros(1), count_x=0, count_y=0)


def _as_text(content: dict[str, Any], surface: HeightField | None) -> str:
    if surface is not None:
        content["surface"] = {"x": surface.x, "y": surface.y, "heights": surface.heights.tolist()}
    return json.dumps(content)


def ground_from_text(text: str) -> CompliantGround | RigidGround:
    """The ground that `as_text` of either kind has written."""
    content = json.loads(text)
    field = content.pop("surface", None)
    if field is not None:
        field = HeightField(x=tuple(field["x"]), y=tuple(field["y"]), heights=np.array(field["heights"]))
    kind = RigidGround if "friction" in content else CompliantGround
    return kind(**content, surface=field)


def surface_at(field: Field, points: ArrayLike, curved: bool = False) -> Floats:
    """Height of the ground [m] and its derivatives by x and y at points (…, 2) [m], (…, 3); NaN outside the grid.

    `curved`: (…, 10), with those by xx, xy, yy, xxx, xxy, xyy and yyy."""
    at, size = np.ascontiguousarray(points, dtype=np.float64), 10 if curved else 3
    found = np.empty((*at.shape[:-1], size))
    job = Survey(field=field, count=found.size // size, size=size, points=at.reshape(-1), found=found.reshape(-1))
    driver(survey, 1)(job)
    return found


class Survey(Struct):
    """Points, flat, and what the ground is there."""

    field: Field
    count: int
    size: int  # numbers a point
    points: Reals
    found: Reals


def survey(job: Survey) -> int:
    """The ground at many points."""
    for k in range(job.count):
        x, y, found = job.points[2 * k], job.points[2 * k + 1], job.found[job.size * k :]
        found[0], found[1], found[2] = surface(job.field, x, y)
        if job.size > 3:
            bends(job.field, x, y, found[3:])
    return 0


def surface(field: Field, x: float, y: float) -> tuple[float, float, float]:
    """Height of the ground and its derivatives by x and y; NaN outside the grid."""
    if field.count_x == 0:
        return 0.0, 0.0, 0.0
    grid, nx, ny = field.grid, field.count_x, field.count_y
    u, v = (x - grid[0]) / grid[2], (y - grid[1]) / grid[3]
    if not (0.0 <= u <= nx - 1 and 0.0 <= v <= ny - 1):
        return math.nan, math.nan, math.nan
    i, j = min(int(u), nx - 2), min(int(v), ny - 2)
    height, by_x, by_y = 0.0, 0.0, 0.0
    for k in range(-1, 3):
        weight, slope, _, _ = catmull_rom(u - i, k)
        column, column_slope = 0.0, 0.0
        for m in range(-1, 3):
            other, other_slope, _, _ = catmull_rom(v - j, m)
            value = height_sample(field, i + k, j + m)
            column += other * value
            column_slope += other_slope * value
        height += weight * column
        by_x += slope * column
        by_y += weight * column_slope
    return height, by_x / grid[2], by_y / grid[3]


def bends(field: Field, x: float, y: float, found: Reals) -> None:
    """Derivatives of the ground's height by xx, xy, yy [1/m], xxx, xxy, xyy and yyy [1/m²], within the grid."""
    dx, dy = field.grid[2], field.grid[3]
    u, v = (x - field.grid[0]) / dx, (y - field.grid[1]) / dy
    i, j = min(max(int(u), 0), field.count_x - 2), min(max(int(v), 0), field.count_y - 2)
    for k in range(7):
        found[k] = 0.0
    for k in range(-1, 3):
        a, a1, a2, a3 = catmull_rom(u - i, k)
        for m in range(-1, 3):
            b, b1, b2, b3 = catmull_rom(v - j, m)
            height = height_sample(field, i + k, j + m)
            found[0] += a2 * b * height / (dx * dx)
            found[1] += a1 * b1 * height / (dx * dy)
            found[2] += a * b2 * height / (dy * dy)
            found[3] += a3 * b * height / (dx * dx * dx)
            found[4] += a2 * b1 * height / (dx * dx * dy)
            found[5] += a1 * b2 * height / (dx * dy * dy)
            found[6] += a * b3 * height / (dy * dy * dy)


def catmull_rom(s: float, k: int) -> tuple[float, float, float, float]:
    """Weight of the sample k (−1, 0, 1, 2) at a share s between samples 0 and 1, and its derivatives (Catmull–Rom)."""
    if k == -1:
        return ((-0.5 * s + 1.0) * s - 0.5) * s, (-1.5 * s + 2.0) * s - 0.5, -3.0 * s + 2.0, -3.0
    if k == 0:
        return (1.5 * s - 2.5) * s * s + 1.0, (4.5 * s - 5.0) * s, 9.0 * s - 5.0, 9.0
    if k == 1:
        return ((-1.5 * s + 2.0) * s + 0.5) * s, (-4.5 * s + 4.0) * s + 0.5, -9.0 * s + 4.0, -9.0
    return (0.5 * s - 0.5) * s * s, (1.5 * s - 1.0) * s, 3.0 * s - 1.0, 3.0


def height_sample(field: Field, i: int, j: int) -> float:
    """A sample; those just outside the grid continue it straight."""
    heights, ny = field.heights, field.count_y
    a, b = min(max(i, 0), field.count_x - 1), min(max(j, 0), ny - 1)
    here = heights[a * ny + b]
    value = here
    if i != a:
        value += here - heights[(a + 1 if i < 0 else a - 1) * ny + b]
    if j != b:
        value += here - heights[a * ny + (b + 1 if j < 0 else b - 1)]
    return value
