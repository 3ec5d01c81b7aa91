"""A scene at any moment: poses between the samples, threads and arrows as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tailwork.typing import Floats
from tailwork.view.scene import Scene, Thread
from tailwork.view.scene.scene import ARROW

TURNS, POINTS_A_TURN, PIGTAIL = 7, 10, 0.12
"""Of a coil: its turns, points in each, and the straight share of its length at either end."""


@dataclass(frozen=True, eq=False)
class Pose:
    """Where all frames of a scene are at a moment."""

    places: Floats  # (frames, 3) [m]
    turns: Floats  # (frames, 4), unit quaternions w, x, y, z
    markers: Floats  # centres of mass, (markers, 3) [m]
    arrows: Floats  # forces on the feet, (feet, start and end, 3) [m]

    def point(self, frame: int, point: Sequence[float]) -> Floats:
        """Where a point of a frame is [m]."""
        w, vector = self.turns[frame, 0], self.turns[frame, 1:]
        across = np.cross(vector, point)
        return self.places[frame] + np.array(point) + 2.0 * (w * across + np.cross(vector, across))


class Poses:
    """The poses of a scene by time."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._places = np.stack([frame.places for frame in scene.frames], axis=1)
        self._turns = np.stack([frame.turns for frame in scene.frames], axis=1)
        self._markers = np.stack([marker.places for marker in scene.markers], axis=1)
        self._scale = ARROW * scene.size / scene.force_unit
        forces = [force.forces for force in scene.forces]
        self._forces = np.stack(forces, axis=1) if forces else np.zeros((len(scene.times), 0, 3))

    def at(self, time: float) -> Pose:
        """The pose at a time of the run [s]; before its start and after its end, that of then."""
        times = self.scene.times
        k = int(np.clip(np.searchsorted(times, time) - 1, 0, max(len(times) - 2, 0)))
        after = min(k + 1, len(times) - 1)
        span = float(times[after] - times[k])
        share = float(np.clip((time - times[k]) / span, 0.0, 1.0)) if span > 0 else 0.0

        def between(values: Floats) -> Floats:
            return (1.0 - share) * values[k] + share * values[after]

        turns = between(self._turns)
        pose = Pose(
            between(self._places),
            turns / np.linalg.norm(turns, axis=1, keepdims=True),
            between(self._markers),
            np.zeros((0, 2, 3)),
        )
        feet = np.array([pose.point(force.frame, force.point) for force in self.scene.forces]).reshape(-1, 3)
        tips = feet + self._scale * between(self._forces)
        return Pose(pose.places, pose.turns, pose.markers, np.stack([feet, tips], axis=1))


def thread_lines(threads: Sequence[Thread], pose: Pose) -> Floats:
    """Cables and springs as line segments, (segments, 2, 3) [m]; always as many of them."""
    found: list[Floats] = []
    for thread in threads:
        points = [pose.point(frame, point) for frame, point in thread.points]
        way = np.array(points) if thread.kind == "cable" else _coil(points[0], points[-1], thread.radius)
        found += [np.stack(pair) for pair in pairwise(way)]
    return np.array(found).reshape(-1, 2, 3)


def _coil(start: Floats, end: Floats, radius: float) -> Floats:
    """A coil between two points, with straight ends."""
    along = end - start
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return np.tile(start, (TURNS * POINTS_A_TURN + 3, 1))
    direction = along / length
    first = np.cross(direction, np.eye(3)[int(np.argmin(np.abs(direction)))])
    first /= np.linalg.norm(first)
    share = np.linspace(0.0, 1.0, TURNS * POINTS_A_TURN + 1)
    angle = 2.0 * np.pi * TURNS * share
    beside = radius * (np.outer(np.cos(angle), first) + np.outer(np.sin(angle), np.cross(direction, first)))
    return np.vstack([start, start + np.outer(PIGTAIL + (1.0 - 2.0 * PIGTAIL) * share, along) + beside, end])
