"""From where a robot is looked at, by parallel projection onto the sheet, and the ground under it as a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from scipy.interpolate import RegularGridInterpolator

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.typing import Floats
from tailwork.view.draw.style import LIGHT, Theme, blend
from tailwork.view.scene import Terrain
from tailwork.view.scene.scene import FLAT, directions

UP = np.array([0.0, 0.0, 1.0])

VIEWS = {"three-quarter": (44.0, 32.0), "side": (90.0, 0.0), "rear": (0.0, 0.0), "top": (90.0, 90.0)}
"""By view: how far the eye is turned from behind the robot to its right, and how far above the ground [deg]."""
PIECES = 2  # pieces that a mesh of uneven ground is drawn in, along each axis


@dataclass(frozen=True)
class Camera:
    """Unit vectors of the inertial frame: to the right and up on the sheet, and towards the eye."""

    right: Floats
    up: Floats
    toward: Floats

    def project(self, points: Floats) -> Floats:
        """Places on the sheet [m] of points (…, 3) of the inertial frame."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def depth(self, points: Floats) -> Floats:
        """How near the eye points are [m]; greater is nearer."""
        return points @ self.toward

    @property
    def sees_ground(self) -> bool:
        """Whether the ground is more than a line."""
        return abs(float(self.toward[2])) > 0.05


ABOVE = Camera(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), UP)  # sees x and y as they are


def camera(view: str, forward: str = "y") -> Camera:
    """The camera of a view, for a robot that faces along an axis: "y" (x is right) or "x" (y is left).

    Args:
        view: one of `VIEWS`, or such a pair of angles as text, "44,32".
        forward: where the robot faces.
    """
    ahead, right = directions(forward)
    turn, lift = np.radians(_angles(view))
    level = np.sin(turn) * right - np.cos(turn) * ahead
    toward = np.cos(lift) * level + np.sin(lift) * UP
    across = np.cross(UP, level)
    return Camera(across, np.cross(toward, across), toward)


def _angles(view: str) -> tuple[float, float]:
    """Both angles of a view [deg]."""
    if isinstance(view, str) and view in VIEWS:
        return VIEWS[view]
    if not isinstance(view, str) or "," not in view:
        raise UnknownNameError.among("view", str(view), VIEWS, 'view, or two angles as "44,32"')
    try:
        turn, lift = (float(angle) for angle in view.split(","))
    except ValueError:
        turn, lift = np.nan, np.nan
    if not np.isfinite(turn) or not -90.0 <= lift <= 90.0:
        required = 'how far the eye is turned from behind to the right, and raised (−90 to 90), as "44,32" [deg]'
        raise ArgumentError("view", view, required)
    return turn, lift


@dataclass(frozen=True)
class Ground:
    """A part of the ground, from above, and the mesh of its grid [m]."""

    lower: Floats
    upper: Floats
    mesh: float

    @property
    def shown(self) -> str:
        """The mesh with its unit."""
        return f"{self.mesh:g} m" if self.mesh >= 0.1 else f"{self.mesh * 1e3:g} mm"

    def near(self, shift: Floats) -> Ground:
        """As much of the ground, so far from here (3,) [m], to a mesh."""
        moved = np.round(shift[:2] / self.mesh) * self.mesh
        return Ground(self.lower + moved, self.upper + moved, self.mesh)


def ground_under(lower: Floats, upper: Floats) -> Ground:
    """The ground under all between two corners (2,) [m], in whole meshes."""
    mesh = nice(float((upper - lower).max()) / 14.0)
    return meshed(lower - 0.3 * mesh, upper + 0.3 * mesh, mesh)


def meshed(lower: Floats, upper: Floats, mesh: float) -> Ground:
    """The ground between two corners (2,) [m] and a little more: in whole meshes."""
    return Ground(np.floor(lower / mesh) * mesh, np.ceil(upper / mesh) * mesh, mesh)


def nice(length: float) -> float:
    """The least of 1, 2 and 5 times the powers of ten that is not less than a length."""
    power = 10.0 ** floor(log10(length))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= length * (1.0 - 1e-9))


def heights_of(terrain: Terrain) -> Callable[[Floats], Floats]:
    """Heights [m] of the ground at places (…, 2), straight between the samples and level beyond them."""
    if terrain.flat:
        return lambda places: np.zeros(places.shape[:-1])
    axes = (terrain.x, terrain.y)
    between = RegularGridInterpolator(axes, terrain.heights)
    low, high = np.array([(axis[0], axis[-1]) for axis in axes]).T
    return lambda places: between(np.clip(places, low, high))


def draw_ground(
    axes: Axes, camera: Camera, ground: Ground, theme: Theme = LIGHT, terrain: Terrain = FLAT
) -> LineCollection | PolyCollection:
    """The grid; a line with marks where the eye is level with flat ground."""
    if not terrain.flat:
        return _draw_terrain(axes, camera, ground, theme, terrain)
    if camera.sees_ground:
        lines = [line for axis in (0, 1) for line in _grid_lines(ground, axis)]
    else:
        axes.axhline(0.0, color=theme.faint, linewidth=0.8, zorder=0.5)
        axis = int(np.argmax(np.abs(camera.right[:2])))
        lines = _grid_lines(ground, axis)
        for line in lines:  # short ones below the ground
            line[:, 1 - axis] = 0.0
            line[1, 2] = -0.2 * ground.mesh
    color = theme.rule if camera.sees_ground else theme.faint
    drawn = LineCollection(list(camera.project(np.array(lines))), colors=color, linewidths=0.5, zorder=0.5)
    axes.add_collection(drawn, autolim=False)
    return drawn


def _grid_lines(ground: Ground, axis: int) -> list[Floats]:
    """Lines of flat ground across an axis, each (2, 3) [m]."""
    lines = []
    for at in np.arange(ground.lower[axis], ground.upper[axis] + ground.mesh / 2.0, ground.mesh):
        ends = np.zeros((2, 3))
        ends[:, axis] = at
        ends[:, 1 - axis] = ground.lower[1 - axis], ground.upper[1 - axis]
        lines.append(ends)
    return lines


def _draw_terrain(axes: Axes, camera: Camera, ground: Ground, theme: Theme, terrain: Terrain) -> PolyCollection:
    """Uneven ground as small pieces, farthest first, brighter where they face up."""
    counts = PIECES * np.round((ground.upper - ground.lower) / ground.mesh).astype(int) + 1
    x, y = (np.linspace(low, high, n) for low, high, n in zip(ground.lower, ground.upper, counts, strict=True))
    flat = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    points = np.concatenate([flat, heights_of(terrain)(flat)[..., None]], axis=-1)
    quads = np.stack([points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    steep = 1.0 - normals[:, 2] / np.linalg.norm(normals, axis=1)
    order = np.argsort(camera.depth(quads.mean(axis=1)))
    paper = np.tile(to_rgb(theme.paper), (len(quads), 1))
    shades = blend(paper, theme.rule, 0.2 + 0.8 * np.clip(6.0 * steep, 0.0, 1.0))
    outlines = list(camera.project(quads)[order])
    drawn = PolyCollection(outlines, facecolors=shades[order], edgecolors=theme.rule, linewidths=0.4, zorder=0.5)
    axes.add_collection(drawn, autolim=False)
    return drawn
