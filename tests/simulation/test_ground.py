"""Ground: its numbers are checked, its heights smooth, and what is between the samples is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.errors import ArgumentError
from tailwork.simulation.contact.ground import CompliantGround, HeightField, ground_from_text, surface_at

NUMBERS: dict[str, Any] = {
    "stiffness": 1e4, "damping": 1.0, "tangential_stiffness": 2e4, "tangential_damping": 20.0, "static_friction": 0.8,
    "kinetic_friction": 0.5,
}  # fmt: skip
X, Y, SPACING = (-0.7, 1.3), (0.2, 1.5), 0.1
Function = Callable[[Array, Array], Array]


def plane(x: Array, y: Array) -> Array:
    """Slopes along both axes."""
    return 0.3 - 0.7 * x + 0.4 * y


def quadratic(x: Array, y: Array) -> Array:
    """Of second order along either axis, with all products."""
    return 0.1 - 0.3 * x + 0.2 * y + 0.5 * x * x - 0.7 * x * y + 0.3 * y * y + 0.6 * x * x * y - 0.4 * x * x * y * y


def quadratic_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    """Its derivatives by x and y."""
    by_x = -0.3 + 1.0 * x - 0.7 * y + 1.2 * x * y - 0.8 * x * y * y
    return by_x, 0.2 - 0.7 * x + 0.6 * y + 0.6 * x * x - 0.8 * x * x * y


def bumps(x: Array, y: Array) -> Array:
    """Neither."""
    return 0.05 * np.sin(3.0 * x) * np.cos(2.0 * y)


def field(function: Function, spacing: float = SPACING) -> HeightField:
    """Sampled on a rectangle that is no square."""
    return HeightField.sampled(function, X, Y, spacing)


def places(count: int, margin: float) -> Array:
    """Random places within the field, a margin away from its edge."""
    chance = np.random.default_rng(5)
    low, high = np.array([X[0], Y[0]]) + margin, np.array([X[1], Y[1]]) - margin
    return chance.uniform(low, high, (count, 2))


def seen(ground: HeightField, at: Array) -> Array:
    """Height and slopes at places, (places, 3)."""
    return surface_at(ground.field(), at)


# The surface


def test_planes_are_exact_everywhere() -> None:
    """Height and slopes of a plane, to rounding, up to the edge."""
    at = np.concatenate([places(200, 0.0), [[X[0], Y[0]], [X[1], Y[1]], [X[0], Y[1]]]])
    found = seen(field(plane), at)
    np.testing.assert_allclose(found[:, 0], plane(at[:, 0], at[:, 1]), atol=5e-15)
    np.testing.assert_allclose(found[:, 1:], np.tile([-0.7, 0.4], (len(at), 1)), atol=5e-14)


def test_quadratic_surfaces_are_exact_within() -> None:
    """Height and slopes of a surface of second order, to rounding, but for the outermost cells."""
    at = places(300, SPACING)
    found, wanted = seen(field(quadratic), at), quadratic(at[:, 0], at[:, 1])
    np.testing.assert_allclose(found[:, 0], wanted, atol=1e-14)
    np.testing.assert_allclose(found[:, 1:], np.stack(quadratic_slopes(at[:, 0], at[:, 1]), axis=1), atol=2e-13)


def test_samples_are_kept() -> None:
    """At the samples the surface has their heights."""
    ground = field(bumps)
    xs, ys = np.linspace(*X, ground.heights.shape[0]), np.linspace(*Y, ground.heights.shape[1])
    found = [[ground.height(x, y) for y in ys[:-1]] for x in xs[:-1]]
    np.testing.assert_allclose(found, ground.heights[:-1, :-1], atol=1e-15)


@pytest.mark.parametrize("function", [quadratic, bumps])
def test_slopes_are_derivatives(function: Function) -> None:
    """Slopes agree with central differences of the height, and the normal is the unit vector that they give."""
    ground, step = field(function), 1e-5
    for x, y in places(30, 2 * step):
        by_x = (ground.height(x + step, y) - ground.height(x - step, y)) / (2 * step)
        by_y = (ground.height(x, y + step) - ground.height(x, y - step)) / (2 * step)
        normal = ground.normal(x, y)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-15)
        np.testing.assert_allclose(normal[:2] / -normal[2], [by_x, by_y], atol=2e-9)


def test_no_jumps_across_cells() -> None:
    """Height and slopes are the same from both sides of every line of the grid; rough heights, all lines."""
    chance = np.random.default_rng(2)
    ground = HeightField(x=(0.0, 8.0), y=(0.0, 6.0), heights=chance.normal(size=(9, 7)))
    for along in chance.uniform(0.0, 6.0, 5):
        before, after = (seen(ground, np.array([[s * line, along] for line in range(1, 8)]))
                         for s in (1.0 - 1e-15, 1.0 + 1e-15))  # fmt: skip
        np.testing.assert_allclose(before, after, atol=1e-12)
        before, after = (seen(ground, np.array([[along, s * line] for line in range(1, 6)]))
                         for s in (1.0 - 1e-15, 1.0 + 1e-15))  # fmt: skip
        np.testing.assert_allclose(before, after, atol=1e-12)


def test_error_between_samples_is_told() -> None:
    """None for a plane; for bumps what an own search finds; halving the spacing divides it by 4 (at the edge)."""
    assert field(plane).error_of(plane) < 5e-15
    errors = []
    for spacing in (0.1, 0.05, 0.025):
        ground = field(bumps, spacing)
        errors.append(ground.error_of(bumps))
        x0, y0, dx, dy = ground.field().grid
        heights = ground.heights
        corners = np.stack(np.meshgrid(*(np.arange(n - 1) + 0.5 for n in heights.shape)), axis=-1).reshape(-1, 2)
        at = [x0, y0] + corners * [dx, dy]
        assert errors[-1] == pytest.approx(np.abs(seen(ground, at)[:, 0] - bumps(at[:, 0], at[:, 1])).max(), rel=1e-9)
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(4.0, abs=0.1)


def test_error_within_falls_at_fourth_order() -> None:
    """Away from the edge, in the middles of cells, halving the spacing divides the error by 16."""
    errors = []
    for spacing in (0.05, 0.025):
        ground = field(bumps, spacing)
        x0, y0, dx, dy = ground.field().grid
        heights = ground.heights
        numbers = (np.arange(n - 1) + 0.5 for n in heights.shape)
        middles = [x0, y0] + np.stack(np.meshgrid(*numbers), axis=-1).reshape(-1, 2) * [dx, dy]
        at = middles[(np.abs(middles - [0.3, 0.85]) < 0.5).all(axis=1)]
        errors.append(np.abs(seen(ground, at)[:, 0] - bumps(at[:, 0], at[:, 1])).max())
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(16.0, abs=0.5)


@pytest.mark.parametrize("place", [(-0.70001, 1.0), (1.30001, 1.0), (0.0, 0.19999), (0.0, 1.50001), (np.nan, 1.0)])
def test_outside_there_is_no_ground(place: tuple[float, float]) -> None:
    ground = field(bumps)
    assert np.isnan(ground.height(*place)) and np.isnan(ground.normal(*place)).all()


def test_the_smallest_field() -> None:
    """Two by two samples: a bilinear surface."""
    ground = HeightField(x=(0.0, 2.0), y=(0.0, 1.0), heights=np.array([[0.0, 1.0], [2.0, 5.0]]))
    assert ground.height(1.0, 0.5) == pytest.approx(2.0, abs=1e-15)
    assert [ground.height(0.0, 0.0), ground.height(2.0, 1.0)] == [0.0, 5.0]


def test_spacing_is_at_most_as_asked() -> None:
    _, _, dx, dy = field(plane, 0.3).field().grid
    heights = field(plane, 0.3).heights
    assert (heights.shape, dx <= 0.3, dy <= 0.3) == ((8, 6), True, True)


def test_a_number_is_a_field_too() -> None:
    """A function that gives one height for all places."""
    ground = HeightField.sampled(lambda x, y: 0.25, (0.0, 1.0), (0.0, 1.0), 0.5)
    assert ground.height(0.3, 0.9) == pytest.approx(0.25, abs=1e-16)
    np.testing.assert_allclose(ground.normal(0.3, 0.9), [0.0, 0.0, 1.0], atol=1e-15)


def test_heights_are_ones_own() -> None:
    """A change to the array that was given changes nothing, and the field's own cannot be changed."""
    given = np.zeros((3, 3))
    ground = HeightField(x=(0.0, 1.0), y=(0.0, 1.0), heights=given)
    given[:] = 1.0
    assert ground.height(0.5, 0.5) == 0.0
    with pytest.raises(ValueError, match="read-only"):
        ground.heights[0, 0] = 1.0


# Wrong input

WRONG_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "turned round": ({"x": (1.0, 0.0)}, "x: got .*first smaller than the last"),
    "no width": ({"y": (1.0, 1.0)}, "y: got .*first smaller than the last"),
    "three ends": ({"x": (0.0, 1.0, 2.0)}, r"x: got .*\(first, last\)"),
    "one end": ({"x": 5.0}, r"x: got 5.0; required: \(first, last\)"),
    "endless": ({"y": (0.0, np.inf)}, "y: got .*first smaller than the last"),
    "words": ({"heights": "flat"}, "heights: got 'flat'; required: a matrix of finite numbers"),
    "one row": ({"heights": np.zeros((1, 4))}, "heights: got .*at least 2 × 2"),
    "a list": ({"heights": np.zeros(4)}, "heights: got .*at least 2 × 2"),
    "ragged": ({"heights": [[0.0, 1.0], [2.0]]}, "heights: got .*a matrix of finite numbers"),
    "no number": ({"heights": np.full((2, 2), np.nan)}, "heights: got .*finite"),
}


@pytest.mark.parametrize("what", WRONG_FIELDS)
def test_wrong_fields(what: str) -> None:
    changes, message = WRONG_FIELDS[what]
    with pytest.raises(ArgumentError, match=message):
        HeightField(**({"x": (0.0, 1.0), "y": (0.0, 1.0), "heights": np.zeros((2, 2))} | changes))


@pytest.mark.parametrize("spacing", [0.0, -0.1, np.nan, np.inf])
def test_wrong_spacing(spacing: float) -> None:
    with pytest.raises(ArgumentError, match=r"spacing: got .*greater than 0"):
        field(plane, spacing)


WRONG_SAMPLING: dict[str, tuple[Any, Any, str]] = {
    "endless": ((0.0, np.inf), plane, "x: got"),
    "three ends": ((0.0, 1.0, 2.0), plane, "x: got"),
    "turned round": ((1.0, 0.0), plane, "x: got"),
    "no height": ((0.0, 1.0), lambda x, y: np.log(x - 0.5), "heights: got"),
    "too few heights": ((0.0, 1.0), lambda x, y: np.zeros(7), "heights: got"),
    "words": ((0.0, 1.0), lambda x, y: "flat", "heights: got"),
}


@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning")
@pytest.mark.parametrize("what", WRONG_SAMPLING)
def test_wrong_sampling(what: str) -> None:
    """Ends and functions that give no heights are refused, by name."""
    x, function, message = WRONG_SAMPLING[what]
    with pytest.raises(ArgumentError, match=message):
        HeightField.sampled(function, x, (0.0, 1.0), 0.1)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "soft", None])
def test_wrong_numbers(name: str, value: Any) -> None:
    """What is no number or negative is refused, by name."""
    with pytest.raises(ArgumentError, match=f"^{name}: got .*finite number"):
        CompliantGround(**(NUMBERS | {name: value}))


@pytest.mark.parametrize("name", ["stiffness", "tangential_stiffness"])
def test_no_stiffness(name: str) -> None:
    """Only springs must be there; dampers and friction may be left out."""
    with pytest.raises(ArgumentError, match=f"^{name}: got 0.0; .*greater than 0"):
        CompliantGround(**(NUMBERS | {name: 0.0}))
    others = {other: 0.0 for other in NUMBERS if "stiffness" not in other}
    assert CompliantGround(**(NUMBERS | others)).damping == 0.0


def test_more_kinetic_than_static_friction() -> None:
    with pytest.raises(ArgumentError, match=r"kinetic_friction: got 0.81; required: at most the static friction, 0.8"):
        CompliantGround(**(NUMBERS | {"kinetic_friction": 0.81}))
    assert CompliantGround(**(NUMBERS | {"kinetic_friction": 0.8})).kinetic_friction == 0.8


@pytest.mark.parametrize("wrong", [3.0, np.zeros((3, 3)), bumps, {"x": (0, 1)}])
def test_a_surface_is_a_height_field(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^surface: got (.|\n)*required: a HeightField"):
        CompliantGround(**NUMBERS, surface=wrong)


# As text


def test_ground_as_text() -> None:
    """Written and read, every number and height has the same bits."""
    ground = CompliantGround(**(NUMBERS | {"stiffness": 1e4 / 3.0}), surface=field(bumps))
    again = ground_from_text(ground.as_text())
    assert again.numbers() == ground.numbers()
    one, other = again.field(), ground.field()
    np.testing.assert_array_equal(one.grid, other.grid)
    np.testing.assert_array_equal(one.heights, other.heights)
    assert (one.count_x, one.count_y) == (other.count_x, other.count_y)


def test_flat_ground_as_text() -> None:
    again = ground_from_text(CompliantGround(**NUMBERS).as_text())
    assert again == CompliantGround(**NUMBERS) and again.surface is None
    assert surface_at(again.field(), [123.0, -4.0]).tolist() == [0.0, 0.0, 0.0]
