"""Robots on the stage of one person's page, and from where they are seen. What is there is moved, not built again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from viser import SceneApi

from tailwork.lab.meshes import mesh_of
from tailwork.typing import Floats
from tailwork.view.scene import Bar, Scene, Solid, Surface, Thread
from tailwork.view.scene.colors import channels
from tailwork.view.scene.sample import SceneSample, coils, samples_at
from tailwork.view.scene.scene import directions

GAP = 0.5  # least distance between robots that stand side by side, in lengths of the torso
GRID_STEP = 0.1  # [m]; robots stand at whole steps, so that another design does not move them
SEEN_THROUGH = 0.7  # opacity of the torso, so that the centre of mass is seen in it
COIL_TURNS = 7  # of a spring, with ten points each
MOST_TRACE = 100  # points of a trace
GROUND = 1.6  # how far the ground is drawn either way [m]
GRID_COLORS = {False: ((214, 218, 223), (176, 182, 190)), True: ((52, 58, 66), (78, 86, 96))}
"""Of the lines on the ground, fine and coarse, on a light page and on a dark one."""


Extent = tuple[Floats, Floats]  # lower and upper corner of what is drawn of a robot [m]
LEFT, BEHIND, ABOVE = 0.55, 1.0, 0.62
"""Shares of the direction from the robots to the eye: behind them, where their tails are, to the left and above."""
NARROW = 0.6
"""Windows that are narrower than this, for their height, are those of phones: controls cover their lower part."""
FREE = 0.4  # share of a phone's height that they leave free


def places(extents: Sequence[Extent], gap: float, forward: str = "y") -> list[float]:
    """Where robots stand, from left to right as they face along an axis, so that they never come nearer to each other
    than a gap [m]; their middle is at 0."""
    _, right = directions(forward)
    reach = [sorted((float(lower @ right), float(upper @ right))) for lower, upper in extents]
    found = [0.0]
    for (_, end), (start, _) in pairwise(reach):
        distance = end - start + gap
        found.append(found[-1] + GRID_STEP * ceil(distance / GRID_STEP - 1e-9))
    return [place - found[-1] / 2.0 for place in found]


class LabStage:
    """The ground and the robots on it."""

    def __init__(self, api: SceneApi) -> None:
        self._api = api
        api.configure_environment_map(None)  # lights alone
        api.add_light_ambient("/light", intensity=1.1)
        self._shaded = api.add_grid(
            "/ground", width=2 * GROUND, height=2 * GROUND, cell_size=GRID_STEP, section_size=5 * GRID_STEP,
            shadow_opacity=0.3, fade_distance=8.0, cell_thickness=0.8, section_thickness=1.0,
        )  # fmt: skip
        self._lines = api.add_line_segments("/lines", _grid(), (0, 0, 0), thickness=1.0, thickness_units="screen")
        self.darken(False)
        self.shade(False)
        self._robots: list[StagedRobot] = []
        self.extent: Extent = np.zeros(3), np.zeros(3)  # of all robots together
        self.forward = "y"  # axis along which they face

    def show(self, scenes: Sequence[Scene], *, forces: bool, traces: bool) -> None:
        """Put these robots on the stage, at their start."""
        while len(self._robots) > len(scenes):
            self._robots.pop().remove()
        while len(self._robots) < len(scenes):
            self._robots.append(StagedRobot(self._api, f"/robot {len(self._robots) + 1}"))
        extents = [scene.extent() for scene in scenes]
        self.forward = scenes[0].forward
        _, right = directions(self.forward)
        stands = [at * right for at in places(extents, GAP * max(scene.size for scene in scenes), self.forward)]
        for robot, scene, place, (_, upper) in zip(self._robots, scenes, stands, extents, strict=True):
            robot.show(scene, place, float(upper[2]), forces=forces, traces=traces)
        shifted = [corner + place for place, two in zip(stands, extents, strict=True) for corner in two]
        self.extent = np.min(shifted, axis=0), np.max(shifted, axis=0)

    def pose(self, time: float) -> None:
        """Move all to a time [s]."""
        for robot in self._robots:
            robot.pose(time)

    def darken(self, dark: bool) -> None:
        """Colours of the ground for a dark page or a light one."""
        fine, coarse = GRID_COLORS[dark]
        self._shaded.cell_color, self._shaded.section_color, self._lines.colors = fine, coarse, np.array(fine)

    def shade(self, shadows: bool) -> None:
        """With shadows, or without: without a graphics card, they make everything slow."""
        self._api.configure_default_lights(cast_shadow=shadows)
        self._shaded.visible, self._lines.visible = shadows, not shadows


class StagedRobot:
    """One robot: a node a frame, and on it the shapes; lines, arrows and traces beside them."""

    def __init__(self, api: SceneApi, name: str) -> None:
        self._api, self._name = api, name
        self._root: Any = None
        self._kind: Any = None  # what the nodes are made for
        self._frames: list[Any] = []
        self._shapes: list[Any] = []
        self._solids: tuple[Solid, ...] = ()  # what those shapes are of
        self._markers: list[Any] = []
        self._traces: list[Any] = []
        self._threads: list[tuple[tuple[Thread, ...], Any]] = []
        self._arrows: Any = None
        self._label: Any = None
        self._scene: Scene | None = None

    def show(self, scene: Scene, place: Floats, top: float, *, forces: bool, traces: bool) -> None:
        """Another run, on the nodes that are there, where they are of the same kind; at a place (3,), with its label
        above the highest that is ever drawn of it [m]."""
        kind = (
            [(solid.frame, type(solid.shape), _flat(solid.shape)) for solid in scene.solids],
            [(thread.kind, len(thread.points)) for thread in scene.threads],
            (len(scene.frames), len(scene.markers), len(scene.forces), len(_trace(scene.markers[0].places))),
        )
        if kind != self._kind:
            self.remove()
            self._kind = kind
            self._build(scene)
        elif scene is not self._scene:
            self._reshape(scene)
        self._scene, self._solids = scene, scene.solids
        self._root.position = place
        if self._label.text != _label(scene):
            self._label.text = _label(scene)
        x, y, _ = scene.frames[0].places[0]
        self._label.position = (x, y, top + 0.12 * scene.size)
        for node in (*self._markers, *self._traces):
            node.visible = traces
        if self._arrows is not None:
            self._arrows.visible = forces
        self.pose(float(scene.times[0]))

    def remove(self) -> None:
        """Take it off the stage."""
        if self._root is not None:
            self._root.remove()  # and with it all that stands on it
        self._root = self._arrows = self._kind = None
        for nodes in (self._frames, self._shapes, self._markers, self._traces, self._threads):
            nodes.clear()

    def pose(self, time: float) -> None:
        """Move it to a time [s]."""
        if self._scene is None:
            return
        (sample,) = samples_at(self._scene, [time])
        for node, position, turn in zip(self._frames, sample.places, sample.turns, strict=True):
            node.position, node.wxyz = position, turn
        for node, position in zip(self._markers, sample.markers, strict=True):
            node.position = position
        for threads, node in self._threads:
            node.points = thread_lines(threads, sample)
        if self._arrows is not None:
            self._arrows.points = sample.arrows(self._scene)

    def _build(self, scene: Scene) -> None:
        api, root = self._api, self._name
        (start,) = samples_at(scene, [scene.times[0]])
        self._root = api.add_frame(root, show_axes=False)
        for k, frame in enumerate(scene.frames):
            self._frames.append(api.add_frame(f"{root}/{k} {frame.name}", show_axes=False))
        for k, solid in enumerate(scene.solids):
            corners, triangles = mesh_of(solid.shape)
            self._shapes.append(
                api.add_mesh_simple(
                    f"{self._frames[solid.frame].name}/shape {k}", corners, triangles, color=channels(solid.color),
                    opacity=SEEN_THROUGH if solid.role in ("torso", "front") else None,
                    side="double" if isinstance(solid.shape, Surface) else "front",  # files may have it inside out
                )
            )  # fmt: skip
        for k, marker in enumerate(scene.markers):
            color = channels(marker.color)
            self._markers.append(api.add_icosphere(f"{root}/marker {k}", radius=marker.radius, color=color))
            line = _trace(marker.places)
            self._traces.append(
                api.add_line_segments(f"{root}/trace {k}", line, color, thickness=2.0, thickness_units="screen")
            )
        for kind in ("cable", "spring"):
            threads = tuple(thread for thread in scene.threads if thread.kind == kind)
            if threads:
                width = 2.0 * threads[0].radius if kind == "cable" else 0.35 * threads[0].radius
                lines = thread_lines(threads, start)
                node = api.add_line_segments(f"{root}/{kind}s", lines, channels(threads[0].color), thickness=width)
                self._threads.append((threads, node))
        if scene.forces:
            thick = 0.012 * scene.size
            colors = np.array([channels(force.color) for force in scene.forces], dtype=np.uint8)
            self._arrows = api.add_arrows(
                f"{root}/forces", start.arrows(scene), colors, shaft_radius=thick, head_radius=2.6 * thick,
                head_length=6.0 * thick,
            )  # fmt: skip
        self._label = api.add_label(f"{root}/label", _label(scene), anchor="bottom-center", font_screen_scale=1.3)

    def _reshape(self, scene: Scene) -> None:
        for node, before, solid in zip(self._shapes, self._solids, scene.solids, strict=True):
            if solid.shape != before.shape:
                node.vertices = mesh_of(solid.shape)[0]
            if solid.color != before.color:
                node.color = channels(solid.color)
        for node, line, marker in zip(self._markers, self._traces, scene.markers, strict=True):
            node.radius, node.color, line.colors = (
                marker.radius,
                channels(marker.color),
                np.array(channels(marker.color)),
            )
            line.points = _trace(marker.places)
        self._threads = [
            (tuple(thread for thread in scene.threads if thread.kind == before[0].kind), node)
            for before, node in self._threads
        ]


def thread_lines(threads: Sequence[Thread], sample: SceneSample) -> Floats:
    """Cables and springs as line segments, (segments, 2, 3) [m]; always as many of them."""
    found: list[Floats] = []
    for thread in threads:
        frames, points = zip(*thread.points, strict=True)
        path = sample.points(list(frames), points)
        if thread.kind == "spring":
            path = coils(path[:1], path[-1:], np.array([thread.radius]), COIL_TURNS, 10 * COIL_TURNS + 3)[0]
        found += [np.stack(pair) for pair in pairwise(path)]
    return np.array(found).reshape(-1, 2, 3)


def _grid() -> Floats:
    """Lines on the ground, (lines, 2, 3) [m]."""
    at = np.arange(-GROUND, GROUND + 1e-9, 2 * GRID_STEP)
    ends = np.stack([np.full_like(at, -GROUND), np.full_like(at, GROUND)], axis=1)
    across = np.stack([np.stack([at, at], axis=1), ends, np.zeros_like(ends)], axis=-1)
    return np.concatenate([across, across[..., [1, 0, 2]]])


def _label(scene: Scene) -> str:
    early = any(note.startswith("stopped at") for note in scene.caption.notes)
    return f"{scene.label} (stopped at {scene.duration * 1e3:.0f} ms)" if early else scene.label


def _trace(path: Floats) -> Floats:
    """A path as line segments, (segments, 2, 3) [m]."""
    few = path[np.unique(np.linspace(0, len(path) - 1, MOST_TRACE).round().astype(int))]
    return np.stack([few[:-1], few[1:]], axis=1)


def _flat(shape: Any) -> bool:
    return isinstance(shape, Bar) and not shape.rounded


def eye_for(middle: Floats, radius: float, aspect: float, field: float, forward: str = "y") -> tuple[Floats, Floats]:
    """Where the eye is and where it looks, so that a ball is seen in the free part of the window [m].

    Args:
        middle: of the ball [m].
        radius: of the ball [m].
        aspect: width of the window for its height.
        field: angle from the lower edge of the window to the upper one [rad].
        forward: axis along which the robots face.
    """
    ahead, aside = directions(forward)
    direction = ABOVE * np.array([0.0, 0.0, 1.0]) - BEHIND * ahead - LEFT * aside
    direction /= np.linalg.norm(direction)
    free = FREE if aspect < NARROW else 1.0
    slope = math.tan(field / 2.0)
    distance = radius / math.sin(math.atan(min(free, aspect) * slope))
    right = np.cross([0.0, 0.0, 1.0], direction)
    up = np.cross(direction, right / np.linalg.norm(right))
    lower = (1.0 - free) * slope  # what is free is above the middle of the window: the eye looks down
    position = middle + distance * direction
    return position, position - distance * (direction + lower * up) / math.hypot(1.0, lower)
