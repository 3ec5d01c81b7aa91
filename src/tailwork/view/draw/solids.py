"""A robot at one time as shaded polygons on the sheet, farthest first.

Every outline has the same number of corners, the first one again at its end, so that all of them are one array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from numpy.typing import NDArray

from tailwork.typing import Floats
from tailwork.view.draw.camera import ABOVE, UP, Camera
from tailwork.view.draw.style import Theme, blend
from tailwork.view.scene import Ball, Bar, Box, Scene, Solid, Surface
from tailwork.view.scene.sample import SceneSample, coils

CORNERS = 25
HALF = (CORNERS - 1) // 2  # corners of half a circle
FULL = np.linspace(0.0, 2.0 * np.pi, CORNERS)
TURNS = (CORNERS - 3) / 4  # of a coil: four corners each
Numbers = NDArray[np.int64]
BRIGHT, DEEP = "#ffffff", "#10161d"  # what light and shade are mixed of, as in `tailwork.view.scene.colors.lit`
SPOT = np.array([-0.5, 0.85])  # where round things shine, from their middle towards the light, on the sheet
SHINE, EDGE = 0.35, 0.4  # how bright they shine there, and how dark their edge is
FARTHEST = 0.28  # how far the farthest parts are faded
LINE = 0.5  # width of edges [pt]
SIDES = (((0, 1, 3, 2), 0, -1), ((4, 6, 7, 5), 0, 1), ((0, 4, 5, 1), 1, -1),
         ((2, 3, 7, 6), 1, 1), ((0, 2, 6, 4), 2, -1), ((1, 5, 7, 3), 2, 1))  # fmt: skip
"""Of a box: four corners, and the axis along which, and whether, they lie below or above its middle."""


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
    """Round bars with flat ends, radii (n,), about the middles of their starts a and ends b, (n, 2), with unit vectors
    (n, 2) along their axes; `narrow` from 0 to 1 is how much their ends are foreshortened (n,)."""
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


def _arcs(centers: Floats, radii: Floats, start: Floats, end: Floats) -> Floats:
    return centers[:, None] + radii[:, None, None] * _directions(np.linspace(start, end, HALF, axis=-1))


def _directions(angles: Floats) -> Floats:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


@dataclass(frozen=True, eq=False)
class Solids:
    """Things of one kind: boxes by their eight corners (the last axis changes fastest), triangles of surfaces by their
    three, bars, cables and springs by start and end, balls by their middle."""

    points: Floats  # in their frames (n, points, 3) [m]
    frames: Numbers  # (n, points)
    colors: Floats  # (n, 3)
    radii: Floats  # of bars (n, 2), of balls (n, 3), of the coils of springs (n, 1) [m]; zero: a straight line

    def places(self, sample: SceneSample) -> Floats:
        """The points in the inertial frame, (n, points, 3) [m]."""
        return sample.points(self.frames, self.points)


@dataclass(frozen=True, eq=False)
class Parts:
    """All of a robot."""

    boxes: Solids
    bars: Solids
    rounded: NDArray[np.bool_]  # whether the ends of each bar are
    surfaces: Solids
    balls: Solids
    bar_of_ball: Numbers  # the bar that each ball sits at an end of; −1: none
    lines: Solids  # pieces of cables and springs
    size: float  # longest side of the torso [m]


def drawn_parts(scene: Scene, theme: Theme) -> Parts:
    """The parts of a scene's robot, its threads in colours that can be seen on the paper."""
    boxes = [(solid, solid.shape) for solid in scene.solids if isinstance(solid.shape, Box)]
    bars = [(solid, solid.shape) for solid in scene.solids if isinstance(solid.shape, Bar)]
    balls = [(solid, solid.shape) for solid in scene.solids if isinstance(solid.shape, Ball)]
    pieces = [
        (*zip(*ends, strict=True), theme.readable(thread.color), [thread.radius if thread.kind == "spring" else 0.0])
        for thread in scene.threads
        for ends in pairwise(thread.points)
    ]
    return Parts(
        boxes=_solids([([s.frame] * 8, box.corners, s.color, ()) for s, box in boxes], 8, 0),
        bars=_solids(
            [([s.frame] * 2, (b.start, b.end), s.color, (b.start_radius, b.end_radius)) for s, b in bars], 2, 2
        ),
        rounded=np.array([bar.rounded for _, bar in bars], dtype=bool),
        surfaces=_solids(_triangles(scene), 3, 0),
        balls=_solids([([s.frame], [ball.center], s.color, ball.radii) for s, ball in balls], 1, 3),
        bar_of_ball=np.array([_held_by(solid, ball, bars) for solid, ball in balls], dtype=int),
        lines=_solids(pieces, 2, 1),
        size=scene.size,
    )


def _triangles(scene: Scene) -> list[Any]:
    surfaces = [(solid, solid.shape) for solid in scene.solids if isinstance(solid.shape, Surface)]
    return [([s.frame] * 3, [shape.vertices[k] for k in face], s.color, ())
            for s, shape in surfaces for face in shape.faces]  # fmt: skip


def _solids(things: Sequence[Any], each: int, radii: int) -> Solids:
    """Things with so many points and radii each: (numbers of frames, points, colour, radii)."""
    frames, points, colors, own = zip(*things, strict=True) if things else ((), (), (), ())
    return Solids(
        points=np.array(points, dtype=float).reshape(-1, each, 3),
        frames=np.array(frames, dtype=int).reshape(-1, each),
        colors=np.array([to_rgb(color) for color in colors]).reshape(-1, 3),
        radii=np.array(own, dtype=float).reshape(len(things), radii),
    )


def _held_by(ball: Solid, shape: Ball, bars: Sequence[tuple[Solid, Bar]]) -> int:
    """The bar of the same frame that a ball sits at an end of; −1: none."""
    ends = (k for k, (bar, b) in enumerate(bars) if bar.frame == ball.frame and shape.center in (b.start, b.end))
    return next(ends, -1)


@dataclass(frozen=True, eq=False)
class Patches:
    """Polygons on the sheet, to be painted in this order."""

    outlines: Floats  # (n, corners, 2) [m]
    faces: Floats  # red, green, blue, alpha (n, 4)
    edges: Floats  # (n, 4)
    depths: Floats  # how near the eye (n,) [m]
    widths: Floats  # of edges, as a share of the usual one (n,)

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """Lower left and upper right corner of all [m]."""
        return self.outlines.min(axis=(0, 1)), self.outlines.max(axis=(0, 1))


def patches(parts: Parts, sample: SceneSample, camera: Camera, theme: Theme, faded: float = 0.0) -> Patches:
    """All that is seen of a robot; `faded` from 0 (as it is) to 1 (paper)."""
    bars = _bars(parts.bars, parts.rounded, sample, camera)
    found = [
        _boxes(parts.boxes, sample, camera),
        *bars,
        _surfaces(parts.surfaces, sample, camera),
        *_balls(parts, sample, camera, bars[0].depths),
        _lines(parts.lines, sample, camera),
    ]
    outlines, faces, edges, depths, widths = (
        np.concatenate([getattr(part, name) for part in found])
        for name in ("outlines", "faces", "edges", "depths", "widths")
    )
    base = camera.depth(sample.places[0])
    far = np.clip(0.5 * (base - depths) / parts.size, 0.0, FARTHEST)  # what is farther off is paler
    far[: len(found[0].depths)] = 0.0
    pale = 1.0 - (1.0 - far) * (1.0 - faded)
    faces[:, :3], edges[:, :3] = blend(faces[:, :3], theme.paper, pale), blend(edges[:, :3], theme.paper, pale)
    order = np.argsort(depths, kind="stable")
    return Patches(outlines[order], faces[order], edges[order], depths[order], widths[order])


def shadow(
    parts: Parts, sample: SceneSample, camera: Camera, theme: Theme, height: Callable[[Floats], Floats]
) -> Patches:
    """The shadow of a robot under light from straight above, on ground of a height [m] at places (…, 2)."""
    found = (
        _boxes(parts.boxes, sample, ABOVE),
        _surfaces(parts.surfaces, sample, ABOVE),
        _bars(parts.bars, parts.rounded, sample, ABOVE)[0],
        _balls(parts, sample, ABOVE, np.empty(0))[0],
    )
    flat = np.concatenate([part.outlines for part in found])
    outlines = camera.project(np.concatenate([flat, height(flat)[..., None]], axis=-1))
    colors = np.tile(to_rgba(theme.shadow), (len(flat), 1))
    return Patches(outlines, colors, colors, np.zeros(len(flat)), np.zeros(len(flat)))


def paint(axes: Axes, painted: Patches | None = None, *, zorder: float = 2.0) -> PolyCollection:
    """Add polygons to a panel; None: they will be painted later."""
    drawn = PolyCollection([], closed=False, joinstyle="round", capstyle="round", zorder=zorder)
    axes.add_collection(drawn, autolim=False)
    if painted is not None:
        repaint(drawn, painted)
    return drawn


def repaint(drawn: PolyCollection, painted: Patches, *, line: float = LINE) -> None:
    """Put others in the place of the polygons."""
    drawn.set_verts(painted.outlines, closed=False)  # pyright: ignore[reportArgumentType]
    drawn.set_facecolor(painted.faces)  # pyright: ignore[reportArgumentType]
    drawn.set_edgecolor(painted.edges)  # pyright: ignore[reportArgumentType]
    drawn.set_linewidth(line * painted.widths)  # pyright: ignore[reportArgumentType]


def _patches(outlines: Floats, colors: Floats, depths: Floats, edge: float = EDGE) -> Patches:
    """Filled polygons with edges that are darker than they are."""
    ones = np.ones((len(outlines), 1))
    edges = np.hstack([blend(colors, DEEP, edge), ones])
    return Patches(outlines, np.hstack([colors, ones]), edges, depths, np.ones(len(outlines)))


def _light(camera: Camera) -> Floats:
    """Unit vector towards the light: above, a little to the left and on the side of the eye."""
    light = camera.right * -0.35 + camera.toward * 0.25 + UP * 0.9
    return light / np.linalg.norm(light)


def _shaded(colors: Floats, normals: Floats, camera: Camera) -> Floats:
    """Colours (n, 3) of flat sides by their unit normals (n, 3)."""
    light = -0.42 + 0.62 * np.maximum(0.0, normals @ _light(camera))
    return np.where((light > 0)[:, None], blend(colors, BRIGHT, np.abs(light)), blend(colors, DEEP, np.abs(light)))


def _boxes(boxes: Solids, sample: SceneSample, camera: Camera) -> Patches:
    """The sides of boxes that the eye sees. Boxes of one frame are as near as the first of them."""
    places = boxes.places(sample)
    own = camera.depth(places.mean(axis=1))
    frames = boxes.frames[:, 0]
    _, numbers, again = np.unique(frames, return_index=True, return_inverse=True)
    first = own[numbers[again]]
    near = first + 1e-6 * (own - first)
    sides = places[:, [4, 2, 1]] - places[:, :1]
    axes = _units(np.cross(sides[:, [1, 2, 0]], sides[:, [2, 0, 1]]))
    outlines, colors, depths = [np.empty((0, 5, 2))], [np.empty((0, 3))], [np.empty(0)]
    for corners, axis, side in SIDES:
        normals = side * axes[:, axis]
        seen = normals @ camera.toward > 1e-9
        outlines.append(camera.project(places[seen][:, [*corners, corners[0]]]))
        colors.append(_shaded(boxes.colors[seen], normals[seen], camera))
        depths.append(near[seen])
    return _patches(padded(np.concatenate(outlines)), np.concatenate(colors), np.concatenate(depths), 0.35)


def _surfaces(surfaces: Solids, sample: SceneSample, camera: Camera) -> Patches:
    """The triangles that the eye sees, without edges."""
    places = surfaces.places(sample)
    normals = _units(np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]))
    seen = normals @ camera.toward > 1e-9
    colors = _shaded(surfaces.colors[seen], normals[seen], camera)
    outlines = padded(camera.project(places[seen][:, [0, 1, 2, 0]]))
    return _patches(outlines, colors, camera.depth(places[seen].mean(axis=1)), 0.0)


def _units(vectors: Floats) -> Floats:
    """Vectors (…, 3) made as long as 1; zero stays."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)


def _bars(bars: Solids, rounded: NDArray[np.bool_], sample: SceneSample, camera: Camera) -> list[Patches]:
    """Bodies of bars, then bright stripes on them, then the flat ends that the eye sees."""
    places = bars.places(sample)
    a, b = np.swapaxes(camera.project(places), 0, 1)
    first, second = bars.radii.T
    heading, narrow, axes = _axes(places, camera)
    across = np.stack([-heading[:, 1], heading[:, 0]], axis=-1)
    across = np.where((across @ SPOT < 0)[:, None], -across, across)
    depths = camera.depth(places.mean(axis=1))
    flat = ~rounded

    def outlines(a: Floats, b: Floats, first: Floats, second: Floats, narrow: Floats | float = 0.0) -> Floats:
        ends = narrow * np.ones_like(first)
        return np.where(flat[:, None, None], drums(a, b, heading, ends, first, second), capsules(a, b, first, second))

    start, end = (place + 0.34 * radius[:, None] * across for place, radius in ((a, first), (b, second)))
    stripes = outlines(start, end, 0.3 * first, 0.3 * second)
    nearer = axes @ camera.toward > 0
    ends, radii = np.where(nearer[:, None], b, a)[flat], np.where(nearer, second, first)[flat]
    normals = np.where(nearer[:, None], axes, -axes)[flat]
    directions = np.stack([narrow[:, None] * heading, across], axis=-1)[flat]
    caps = circles(ends, radii[:, None, None] * directions)
    return [
        _patches(outlines(a, b, first, second, narrow), bars.colors, depths),
        _patches(stripes, blend(bars.colors, BRIGHT, SHINE), depths, 0.0),
        _patches(caps, _shaded(bars.colors[flat], normals, camera), depths[flat]),
    ]


def _axes(places: Floats, camera: Camera) -> tuple[Floats, Floats, Floats]:
    """Of bars (n, 2, 3): directions on the sheet (n, 2), foreshortening of their ends (n,), unit axes (n, 3)."""
    axes = places[:, 1] - places[:, 0]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-12)
    seen = camera.project(axes)
    length = np.hypot(*seen.T)[:, None]
    heading = np.where(length > 1e-9, seen / np.maximum(length, 1e-9), np.array([0.7, 0.7]) / np.hypot(0.7, 0.7))
    return heading, np.abs(axes @ camera.toward), axes


def _balls(parts: Parts, sample: SceneSample, camera: Camera, bars: Floats) -> list[Patches]:
    """Balls and ellipsoids, each on top of the bar that it sits at an end of, then their bright spots."""
    balls = parts.balls
    middles = balls.places(sample)[:, 0]
    turns = sample.rotations[balls.frames[:, 0]]
    stretched = np.stack([camera.right, camera.up]) @ (turns * balls.radii[:, None, :])
    matrices = roots(stretched @ np.swapaxes(stretched, 1, 2))
    depths = camera.depth(middles)
    if len(bars):
        depths = np.where(parts.bar_of_ball >= 0, np.maximum(depths, bars[parts.bar_of_ball] + 1e-6), depths)
    centers = camera.project(middles)
    spots = centers + 0.3 * (matrices @ SPOT)
    return [
        _patches(circles(centers, matrices), balls.colors, depths),
        _patches(circles(spots, 0.3 * matrices), blend(balls.colors, BRIGHT, SHINE), depths, 0.0),
    ]


def _lines(lines: Solids, sample: SceneSample, camera: Camera) -> Patches:
    """Cables as straight lines, springs as coils."""
    a, b = np.swapaxes(lines.places(sample), 0, 1)
    lines_drawn = np.where(
        (lines.radii > 0)[:, None], coils(a, b, lines.radii[:, 0], TURNS, CORNERS), padded(np.stack([a, b], axis=1))
    )
    faces, edges = (np.hstack([lines.colors, np.full((len(a), 1), alpha)]) for alpha in (0.0, 1.0))
    return Patches(camera.project(lines_drawn), faces, edges, camera.depth((a + b) / 2.0), np.full(len(a), 1.3))
