"""Outlines of many simple solids at once, as parallel light draws them on the sheet.

Every outline has the same number of corners, the first one again at its end, so that all of them are one array.
"""

from __future__ import annotations

import numpy as np

from tailwork.typing import Floats

CORNERS = 25
HALF = (CORNERS - 1) // 2
"""Corners of half a circle."""
FULL = np.linspace(0.0, 2.0 * np.pi, CORNERS)
TURNS = 6
"""Of a coil: four corners each."""


def circles(centers: Floats, matrices: Floats) -> Floats:
    """Ellipses: unit circles, stretched by matrices (n, 2, 2), about centers (n, 2); (n, corners, 2)."""
    return centers[:, None] + np.stack([np.cos(FULL), np.sin(FULL)], axis=-1) @ np.swapaxes(matrices, 1, 2)


def capsules(a: Floats, b: Floats, first: Floats, second: Floats) -> Floats:
    """Two circles about a and b, (n, 2), of radii (n,), and all between them."""
    along = b - a
    length = np.hypot(*along.T)
    within = length <= np.abs(first - second) + 1e-12  # one circle holds the other
    larger = (first >= second)[:, None]
    a, b = np.where(within[:, None] & ~larger, b, a), np.where(within[:, None] & larger, a, b)
    first, second = (np.where(within, np.maximum(first, second), radius) for radius in (first, second))
    heading = np.arctan2(along[:, 1], along[:, 0])
    tilt = np.arccos((first - second) / np.where(within, 1.0, length))
    whole = 2.0 * np.pi
    return np.concatenate([
        _arcs(a, first, heading + tilt, heading + whole - tilt),
        _arcs(b, second, heading - tilt, heading + tilt),
        a[:, None] + first[:, None, None] * _directions(heading + tilt)[:, None],
    ], axis=1)  # fmt: skip


def drums(a: Floats, b: Floats, heading: Floats, narrow: Floats, first: Floats, second: Floats) -> Floats:
    """Round bars with flat ends.

    Args:
        a: middles of their starts (n, 2).
        b: middles of their ends.
        heading: directions (n, 2) of their axes on the sheet, unit vectors.
        narrow: how much their ends are foreshortened, (n,) from 0 to 1.
        first: radii of their starts (n,).
        second: radii of their ends.
    """
    across = np.stack([-heading[:, 1], heading[:, 0]], axis=-1)
    angles = np.linspace(-np.pi / 2.0, np.pi / 2.0, HALF)[None, :, None]
    end = narrow[:, None, None] * np.cos(angles) * heading[:, None] + np.sin(angles) * across[:, None]
    found = [a[:, None] - first[:, None, None] * end, b[:, None] + second[:, None, None] * end]
    return np.concatenate([*found, found[0][:, :1]], axis=1)


def roots(squares: Floats) -> Floats:
    """Symmetric square roots of symmetric matrices (n, 2, 2)."""
    values, vectors = np.linalg.eigh(squares)
    return (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ np.swapaxes(vectors, 1, 2)


def padded(corners: Floats) -> Floats:
    """Polygons or lines of fewer corners (n, few, …), their last one again and again."""
    few = corners.shape[1]
    return corners[:, np.minimum(np.arange(CORNERS), few - 1)]


def coils(a: Floats, b: Floats, radius: Floats) -> Floats:
    """Lines (n, corners, 3) that wind about the way from a to b, (n, 3)."""
    along = b - a
    unit = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    other = np.eye(3)[np.argmin(np.abs(unit), axis=1)]
    first = np.cross(unit, other)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(unit, first)
    share = np.linspace(0.0, 1.0, CORNERS)[None, :, None]
    angle = 2.0 * np.pi * TURNS * share
    wide = radius[:, None, None] * np.minimum(1.0, 6.0 * np.minimum(share, 1.0 - share))  # it starts on its axis
    return a[:, None] + share * along[:, None] + wide * (
        np.cos(angle) * first[:, None] + np.sin(angle) * second[:, None]
    )  # fmt: skip


def _arcs(centers: Floats, radii: Floats, start: Floats, end: Floats) -> Floats:
    return centers[:, None] + radii[:, None, None] * _directions(np.linspace(start, end, HALF, axis=-1))


def _directions(angles: Floats) -> Floats:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)
