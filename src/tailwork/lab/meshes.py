"""Shapes as triangles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tailwork.typing import Floats
from tailwork.view.scene import Ball, Bar, Box, Surface
from tailwork.view.scene.scene import SceneShape

AROUND = 20  # corners of what is round
ALONG = 6  # rings of half a ball

Mesh = tuple[Floats, NDArray[np.int64]]
"""Corners (corners, 3) [m] and triangles (triangles, 3), counter-clockwise seen from outside."""


def mesh_of(shape: SceneShape) -> Mesh:
    """The surface of a shape in its frame. Boxes, balls, rounded and flat bars have the same triangles each."""
    if isinstance(shape, Box):
        return _box(shape)
    if isinstance(shape, Surface):
        return np.array(shape.vertices), np.array(shape.faces)
    if isinstance(shape, Ball):
        corners, triangles = _turned(_quarter(1.0, -1.0, 0.0) + _quarter(1.0, 1.0, 0.0)[1:])
        return np.array(shape.center) + corners * np.array(shape.radii), triangles
    return _bar(shape)


def _box(box: Box) -> Mesh:
    """Four corners a side, so that edges stay sharp."""
    corners, triangles = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            square = np.zeros((4, 3))
            square[:, axis] = side
            square[:, (axis + 1) % 3] = np.array([-1.0, 1.0, 1.0, -1.0]) * side
            square[:, (axis + 2) % 3] = [-1.0, -1.0, 1.0, 1.0]
            first = 4 * len(corners)
            corners.append(square)
            triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    half = np.array(box.size) / 2.0
    return np.array(box.center) + (np.concatenate(corners) * half) @ np.array(box.axes), np.array(triangles)


def _bar(bar: Bar) -> Mesh:
    """A profile turned about the line from start to end."""
    start, end = np.array(bar.start), np.array(bar.end)
    length = float(np.linalg.norm(end - start))
    first, last = bar.start_radius, bar.end_radius
    if bar.rounded:
        profile = _quarter(first, -1.0, 0.0) + _quarter(last, 1.0, length)
    else:  # rings on the edges twice: they stay sharp
        profile = [(0.0, 0.0), (0.0, first), (0.0, first), (length, last), (length, last), (length, 0.0)]
    corners, triangles = _turned(profile)
    along = (end - start) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    return start + corners @ _frame(along).T, triangles


def _quarter(radius: float, side: float, at: float) -> list[tuple[float, float]]:
    """Half of a half-circle as (along, radius) in order along the axis: the lower one for side −1."""
    angles = np.linspace(0.0, np.pi / 2.0, ALONG)
    points = [(at + side * radius * float(np.cos(a)), radius * float(np.sin(a))) for a in angles]
    return points if side < 0 else points[::-1]


def _turned(profile: Sequence[tuple[float, float]]) -> Mesh:
    """The surface that a profile of (along z, radius) makes when turned about z."""
    along, radii = np.array(profile).T
    turn = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    x, y = radii[:, None] * np.cos(turn), radii[:, None] * np.sin(turn)
    corners = np.stack([x, y, np.broadcast_to(along[:, None], x.shape)], axis=-1).reshape(-1, 3)
    return corners, _sides(tuple((bool(a != b), bool(a[1] > 0), bool(b[1] > 0)) for a, b in pairwise(profile)))


@lru_cache(maxsize=16)
def _sides(steps: tuple[tuple[bool, bool, bool], ...]) -> NDArray[np.int64]:
    """Triangles between rings that follow each other, by (whether they differ, whether the lower and the upper one are
    more than a point)."""
    first = np.arange(AROUND)
    second = (first + 1) % AROUND
    found = []
    for k, (apart, below, above) in enumerate(steps):
        a, b, c, d = (k * AROUND + first, k * AROUND + second, (k + 1) * AROUND + first, (k + 1) * AROUND + second)
        found += [np.stack([a, b, d], axis=1)] * (apart and below) + [np.stack([a, d, c], axis=1)] * (apart and above)
    return np.concatenate(found)


def _frame(along: Floats) -> Floats:
    """A rotation whose third column is a direction."""
    aside = np.eye(3)[int(np.argmin(np.abs(along)))]
    first = np.cross(aside, along)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(along, first), along], axis=1)
