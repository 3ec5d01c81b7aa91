"""A robot at one moment as shaded polygons on the sheet, farthest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba

from tailwork.typing import Floats
from tailwork.view.draw.camera import ABOVE, UP, Camera
from tailwork.view.draw.moment import Moment
from tailwork.view.draw.outlines import capsules, circles, coils, drums, padded, roots
from tailwork.view.draw.parts import Balls, Bars, Boxes, Lines, Parts
from tailwork.view.draw.theme import Theme, blend

BRIGHT, DEEP = "#ffffff", "#10161d"
"""What light and shade are mixed of, as in `tailwork.view.scene.colors.lit`."""
SPOT = np.array([-0.5, 0.85])
"""Where round things shine, from their middle towards the light, on the sheet."""
SHINE, EDGE = 0.35, 0.4
"""How bright they shine there, and how dark their edge is."""
FARTHEST = 0.28
"""How far the farthest parts are faded."""
LINE = 0.5
"""Width of edges [pt]."""
SIDES = (((0, 1, 3, 2), 0, -1), ((4, 6, 7, 5), 0, 1), ((0, 4, 5, 1), 1, -1),
         ((2, 3, 7, 6), 1, 1), ((0, 2, 6, 4), 2, -1), ((1, 5, 7, 3), 2, 1))  # fmt: skip
"""Of a box: four corners, and the axis along which, and whether, they lie below or above its middle."""


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


def patches(parts: Parts, moment: Moment, camera: Camera, theme: Theme, faded: float = 0.0) -> Patches:
    """All that is seen of a robot; `faded` from 0 (as it is) to 1 (paper)."""
    bars = _bars(parts.bars, moment, camera)
    found = [
        _boxes(parts.boxes, moment, camera),
        *bars,
        *_balls(parts.balls, moment, camera, bars[0].depths),
        _lines(parts.lines, moment, camera),
    ]
    outlines, faces, edges, depths, widths = (
        np.concatenate([getattr(part, name) for part in found])
        for name in ("outlines", "faces", "edges", "depths", "widths")
    )
    base = camera.depth(moment.places[0])
    far = np.clip(0.5 * (base - depths) / parts.size, 0.0, FARTHEST)  # what is farther off is paler
    far[: len(found[0].depths)] = 0.0
    pale = 1.0 - (1.0 - far) * (1.0 - faded)
    faces[:, :3], edges[:, :3] = blend(faces[:, :3], theme.paper, pale), blend(edges[:, :3], theme.paper, pale)
    order = np.argsort(depths, kind="stable")
    return Patches(outlines[order], faces[order], edges[order], depths[order], widths[order])


def shadow(parts: Parts, moment: Moment, camera: Camera, theme: Theme, height: Callable[[Floats], Floats]) -> Patches:
    """The shadow of a robot on the ground under light from straight above.

    Args:
        parts: the robot.
        moment: when.
        camera: from where it is seen.
        theme: its colour.
        height: of the ground [m] at places (…, 2).
    """
    found = (
        _boxes(parts.boxes, moment, ABOVE),
        _bars(parts.bars, moment, ABOVE)[0],
        _balls(parts.balls, moment, ABOVE, np.empty(0))[0],
    )
    flat = np.concatenate([part.outlines for part in found])
    outlines = camera.project(np.concatenate([flat, height(flat)[..., None]], axis=-1))
    colors = np.tile(to_rgba(theme.shadow), (len(flat), 1))
    return Patches(outlines, colors, colors, np.zeros(len(flat)), np.zeros(len(flat)))


def paint(axes: Axes, painted: Patches, *, line: float = LINE, zorder: float = 2.0) -> PolyCollection:
    """Add polygons to a panel; edges are so wide [pt]."""
    drawn = PolyCollection([], closed=False, joinstyle="round", capstyle="round", zorder=zorder)
    axes.add_collection(drawn, autolim=False)
    repaint(drawn, painted, line=line)
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


def _boxes(boxes: Boxes, moment: Moment, camera: Camera) -> Patches:
    """The sides of boxes that the eye sees. Boxes of one frame are as near as the first of them."""
    places = boxes.places(moment)
    own = camera.depth(places.mean(axis=1))
    frames = boxes.frames[:, 0]
    first = own[np.argmax(frames[:, None] == frames[None, :], axis=1)]
    near = first + 1e-6 * (own - first)
    outlines, colors, depths = [np.empty((0, 5, 2))], [np.empty((0, 3))], [np.empty(0)]
    for corners, axis, side in SIDES:
        normals = side * moment.rotations[frames][:, :, axis]
        seen = normals @ camera.toward > 1e-9
        outlines.append(camera.project(places[seen][:, [*corners, corners[0]]]))
        colors.append(_shaded(boxes.colors[seen], normals[seen], camera))
        depths.append(near[seen])
    return _patches(padded(np.concatenate(outlines)), np.concatenate(colors), np.concatenate(depths), 0.35)


def _bars(bars: Bars, moment: Moment, camera: Camera) -> list[Patches]:
    """Bodies of bars, then bright stripes on them, then the flat ends that the eye sees."""
    places = bars.places(moment)
    a, b = np.swapaxes(camera.project(places), 0, 1)
    first, second = bars.radii.T
    heading, narrow, axes = _axes(places, camera)
    across = np.stack([-heading[:, 1], heading[:, 0]], axis=-1)
    across = np.where((across @ SPOT < 0)[:, None], -across, across)
    depths = camera.depth(places.mean(axis=1))
    flat = ~bars.rounded
    bodies = np.where(
        flat[:, None, None], drums(a, b, heading, narrow, first, second), capsules(a, b, first, second)
    )  # fmt: skip
    start, end = (place + 0.34 * radius[:, None] * across for place, radius in ((a, first), (b, second)))
    stripes = np.where(
        flat[:, None, None],
        drums(start, end, heading, np.zeros_like(narrow), 0.3 * first, 0.3 * second),
        capsules(start, end, 0.3 * first, 0.3 * second),
    )
    nearer = axes @ camera.toward > 0
    ends, radii = np.where(nearer[:, None], b, a)[flat], np.where(nearer, second, first)[flat]
    normals = np.where(nearer[:, None], axes, -axes)[flat]
    directions = np.stack([narrow[:, None] * heading, across], axis=-1)[flat]
    caps = circles(ends, radii[:, None, None] * directions)
    return [
        _patches(bodies, bars.colors, depths),
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


def _balls(balls: Balls, moment: Moment, camera: Camera, bars: Floats) -> list[Patches]:
    """Balls and ellipsoids, each on top of the bar that it sits at an end of, then their bright spots."""
    middles = balls.places(moment)[:, 0]
    turns = moment.rotations[balls.frames[:, 0]]
    stretched = np.stack([camera.right, camera.up]) @ (turns * balls.radii[:, None, :])
    matrices = roots(stretched @ np.swapaxes(stretched, 1, 2))
    depths = camera.depth(middles)
    if len(bars):
        depths = np.where(balls.bars >= 0, np.maximum(depths, bars[balls.bars] + 1e-6), depths)
    centers = camera.project(middles)
    spots = centers + 0.3 * (matrices @ SPOT)
    return [
        _patches(circles(centers, matrices), balls.colors, depths),
        _patches(circles(spots, 0.3 * matrices), blend(balls.colors, BRIGHT, SHINE), depths, 0.0),
    ]


def _lines(lines: Lines, moment: Moment, camera: Camera) -> Patches:
    """Cables as straight lines, springs as coils."""
    a, b = np.swapaxes(lines.places(moment), 0, 1)
    ways = np.where((lines.radii > 0)[:, None, None], coils(a, b, lines.radii), padded(np.stack([a, b], axis=1)))
    faces, edges = (np.hstack([lines.colors, np.full((len(a), 1), alpha)]) for alpha in (0.0, 1.0))
    return Patches(camera.project(ways), faces, edges, camera.depth((a + b) / 2.0), np.full(len(a), 1.3))
