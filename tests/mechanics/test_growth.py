"""How the cost of the equations grows with the robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.figures.growth import growth_figure
from benchmarks.races.growth import Growth, fitted_exponent, legs_of, r3_of, usrt_of
from tailwork.kernels.graph import split
from tailwork.mechanics.layout import Layout, make_layout
from tailwork.model.questions import recorded
from tailwork.robots import Articulated, Continuum, Robot, liu2020
from tailwork.robots.paths import rebuild
from tailwork.view.draw.style import rendered


def operations(robot: Robot) -> int:
    """Of the forward dynamics that run once a state; nothing is compiled."""
    layout = make_layout(robot, "all", (), "free", "rpy", ())

    def layout_of(exchange: Any) -> Layout:
        return layout.with_robot(rebuild(robot, lambda path, value, kind: exchange(path, value)))

    graph, _ = recorded(layout_of, "forward_dynamics")
    return split(graph)[1].flops


def rod_of(links: int) -> Robot:
    """The 2020 robot with a continuum tail."""
    return liu2020(None).with_part("tail", Continuum(length=0.5, mass=1.0, rigidity=2.0, links=links, taper=0.5))


def links_of(links: int) -> Robot:
    """The 2020 robot with an articulated tail of two segments."""
    return liu2020(None).with_part("tail", Articulated(links_per_segment=links // 2))


@pytest.mark.parametrize(
    ("robot_of", "sizes"),
    [
        (usrt_of, (4, 8, 12, 24)),
        (r3_of, (4, 8, 12, 24)),
        (legs_of, (2, 4, 6, 12)),
        (rod_of, (4, 8, 12, 24)),
        (links_of, (4, 8, 12, 24)),
    ],
)
def test_cost_is_linear(robot_of: Callable[[int], Robot], sizes: tuple[int, ...]) -> None:
    """Every link, and every leg, costs the same number of operations, however many there are."""
    costs = [operations(robot_of(size)) for size in sizes]
    each = np.diff(costs) / np.diff(sizes)
    np.testing.assert_allclose(each, each[0], rtol=2e-3)


def test_exponent() -> None:
    """A power law gives its exponent, whatever its factor."""
    sizes = (2, 4, 8, 16)
    for power in (0.5, 1.0, 3.0):
        assert fitted_exponent(sizes, [7.0 * size**power for size in sizes]) == pytest.approx(power, rel=1e-12)
    assert fitted_exponent((1, 2), (10.0, 5.0)) == pytest.approx(-1.0, rel=1e-12)


def test_figure() -> None:
    """All four panels are drawn, each line named with its exponent."""
    growths = [
        Growth("USRT", "links", (2, 4, 8), (200.0, 300.0, 500.0), (1, 2, 4)),
        Growth("R3", "links", (2, 4, 8), (100.0, 150.0, 220.0), (1, 2, 4)),
        Growth("pendulum", "legs", (2, 4), (90.0, 150.0), (1, 2)),
        Growth("pendulum, one call", "states", (1, 64), (1200.0, 9600.0), (1, 1)),
        Growth("pendulum, an evaluation", "threads", (1, 2), (150.0, 80.0), (1, 1)),
    ]
    figure = growth_figure(growths)
    said = " ".join(text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts())
    assert len(figure.axes) == 4
    assert "USRT: time ~ n" in said and "R3: time ~ n" in said
    assert rendered(figure, "png").startswith(b"\x89PNG")
