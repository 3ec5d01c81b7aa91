"""The solids and threads of a scene, sorted by kind into arrays, so that a picture of them takes milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from tailwork.typing import Floats
from tailwork.view.draw.moment import Moment
from tailwork.view.draw.theme import Theme
from tailwork.view.scene import Ball, Bar, Box, Scene, Solid
from tailwork.view.scene.scene import Point, point_of

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Kind:
    """Things of one kind: points in frames (n, points, 3), their frames (n, points), colours (n, 3)."""

    points: Floats
    frames: Numbers
    colors: Floats

    def places(self, moment: Moment) -> Floats:
        """The points in the inertial frame, (n, points, 3) [m]."""
        return moment.places[self.frames] + np.einsum("npij,npj->npi", moment.rotations[self.frames], self.points)


@dataclass(frozen=True, eq=False)
class Boxes(Kind):
    """Boxes: eight corners each, the last axis changes fastest."""


@dataclass(frozen=True, eq=False)
class Bars(Kind):
    """Round bars: start and end."""

    radii: Floats  # (n, 2) [m]
    rounded: NDArray[np.bool_]  # (n,)


@dataclass(frozen=True, eq=False)
class Balls(Kind):
    """Balls and ellipsoids: the middle."""

    radii: Floats  # (n, 3) [m]
    bars: Numbers  # (n,): the bar that it sits at an end of; −1: none


@dataclass(frozen=True, eq=False)
class Lines(Kind):
    """Pieces of cables and springs: start and end."""

    radii: Floats  # of coils (n,) [m]; zero: a straight line


@dataclass(frozen=True, eq=False)
class Parts:
    """All of a robot."""

    boxes: Boxes
    bars: Bars
    balls: Balls
    lines: Lines
    size: float  # longest side of the torso [m]


def parts_of(scene: Scene, theme: Theme) -> Parts:
    """The parts of a scene's robot, its threads in colours that can be seen on the paper."""
    boxes = [(solid, solid.shape) for solid in scene.solids if isinstance(solid.shape, Box)]
    bars = [(solid, solid.shape) for solid in scene.solids if isinstance(solid.shape, Bar)]
    balls = [(solid, solid.shape) for solid in scene.solids if isinstance(solid.shape, Ball)]
    pieces = [(thread, *ends) for thread in scene.threads for ends in pairwise(thread.points)]
    return Parts(
        boxes=Boxes(*_fixed([(solid, _corners(box)) for solid, box in boxes], 8)),
        bars=Bars(
            *_fixed([(solid, [bar.start, bar.end]) for solid, bar in bars], 2),
            radii=np.array([(bar.start_radius, bar.end_radius) for _, bar in bars]).reshape(-1, 2),
            rounded=np.array([bar.rounded for _, bar in bars], dtype=bool),
        ),
        balls=Balls(
            *_fixed([(solid, [ball.center]) for solid, ball in balls], 1),
            radii=np.array([ball.radii for _, ball in balls]).reshape(-1, 3),
            bars=np.array([_held_by(solid, ball, bars) for solid, ball in balls], dtype=int),
        ),
        lines=Lines(
            points=np.array([(a[1], b[1]) for _, a, b in pieces]).reshape(-1, 2, 3),
            frames=np.array([(a[0], b[0]) for _, a, b in pieces], dtype=int).reshape(-1, 2),
            colors=_colors([theme.readable(thread.color) for thread, _, _ in pieces]),
            radii=np.array([thread.radius if thread.kind == "spring" else 0.0 for thread, _, _ in pieces]),
        ),
        size=scene.size,
    )


def _fixed(solids: Sequence[tuple[Solid, Sequence[Point]]], each: int) -> tuple[Floats, Numbers, Floats]:
    """Points, frames and colours of solids, with so many points each."""
    points = np.array([points for _, points in solids], dtype=float).reshape(-1, each, 3)
    frames = np.repeat(np.array([solid.frame for solid, _ in solids], dtype=int)[:, None], each, axis=1)
    return points, frames, _colors([solid.color for solid, _ in solids])


def _colors(colors: Sequence[str]) -> Floats:
    return np.array([to_rgb(color) for color in colors]).reshape(-1, 3)


def _corners(box: Box) -> list[Point]:
    center, half = np.array(box.center), np.array(box.size) / 2.0
    return [point_of(center + half * signs) for signs in product((-1.0, 1.0), repeat=3)]


def _held_by(ball: Solid, shape: Ball, bars: Sequence[tuple[Solid, Bar]]) -> int:
    """The bar of the same frame that a ball sits at an end of; −1: none."""
    ends = (k for k, (bar, b) in enumerate(bars) if bar.frame == ball.frame and shape.center in (b.start, b.end))
    return next(ends, -1)
