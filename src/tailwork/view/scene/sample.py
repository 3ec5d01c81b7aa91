"""A scene at any time: between two of its samples, places are mixed linearly and rotations spherically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tailwork.typing import Floats
from tailwork.view.scene.scene import ARROW, Scene, rotation_matrices

PIGTAIL = 0.12  # share of a coil's length that is straight at either end


@dataclass(frozen=True, eq=False)
class SceneSample:
    """Where everything of a scene is at one time, in the inertial frame."""

    time: float  # [s]
    places: Floats  # of the frames, (frames, 3) [m]
    turns: Floats  # of the frames, unit quaternions w, x, y, z, (frames, 4) [1]
    forces: Floats  # on the feet, (feet, 3) [N]
    markers: Floats  # centres of mass, (markers, 3) [m]

    @cached_property
    def rotations(self) -> Floats:
        """Rotations of the frames, (frames, 3, 3) [1]."""
        return rotation_matrices(self.turns)

    def points(self, frames: Any, points: Any) -> Floats:
        """Points (…, 3) of frames, by their numbers (…), in the inertial frame [m]."""
        return self.places[frames] + np.einsum("...ij,...j->...i", self.rotations[frames], np.asarray(points))

    def feet(self, scene: Scene) -> Floats:
        """Where the ground's forces act, (feet, 3) [m]."""
        points = np.array([force.point for force in scene.forces]).reshape(-1, 3)
        return self.points([force.frame for force in scene.forces], points)

    def arrows(self, scene: Scene) -> Floats:
        """The forces on the feet as arrows, (feet, start and end, 3) [m]."""
        feet = self.feet(scene)
        return np.stack([feet, feet + self.forces * (ARROW * scene.size / scene.force_unit)], axis=1)


def samples_at(scene: Scene, times: Sequence[float] | Floats) -> list[SceneSample]:
    """The scene at some times [s]; before its first and after its last one it stands still."""
    at = np.clip(np.asarray(times, dtype=float), scene.times[0], scene.times[-1])
    after = np.minimum(np.searchsorted(scene.times, at, side="right"), len(scene.times) - 1)
    before = np.maximum(after - 1, 0)
    gap = scene.times[after] - scene.times[before]
    share = np.where(gap > 0, (at - scene.times[before]) / np.where(gap > 0, gap, 1.0), 0.0)[:, None, None]
    places, turns, forces, markers = scene.stacked
    mixed = [(1.0 - share) * values[before] + share * values[after] for values in (places, forces, markers)]
    turned = slerp(turns[before], turns[after], share)
    return [SceneSample(float(t), *rest) for t, *rest in zip(at, mixed[0], turned, *mixed[1:], strict=True)]


def quaternions(rotations: Floats) -> Floats:
    """Unit quaternions w, x, y, z of rotations (times, 3, 3), with signs such that neighbours are near each other."""
    found = Rotation.from_matrix(rotations).as_quat(scalar_first=True)
    flips = np.einsum("ti,ti->t", found[1:], found[:-1]) < 0.0
    found[1:] *= np.cumprod(np.where(flips, -1.0, 1.0))[:, None]
    return found


def slerp(start: Floats, end: Floats, share: Floats) -> Floats:
    """Unit quaternions a share (…, 1) of the way from some (…, 4) to others, at an even rate."""
    angle = np.arccos(np.clip(np.sum(start * end, axis=-1, keepdims=True), -1.0, 1.0))
    small = angle < 1e-6  # the path is straight there
    sine = np.where(small, 1.0, np.sin(angle))
    first = np.where(small, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
    second = np.where(small, share, np.sin(share * angle) / sine)
    found = first * start + second * end
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def coils(a: Floats, b: Floats, radius: Floats, turns: float, corners: int) -> Floats:
    """Springs as lines (n, corners, 3) that wind about the line from a to b, (n, 3), with straight ends [m]."""
    along = (b - a)[:, None]
    unit = along[:, 0] / np.maximum(np.linalg.norm(along, axis=-1), 1e-12)
    first = np.cross(unit, np.eye(3)[np.argmin(np.abs(unit), axis=1)])
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-12)
    share = np.linspace(0.0, 1.0, corners - 2)[None, :, None]
    angle = 2.0 * np.pi * turns * share
    beside = np.cos(angle) * first[:, None] + np.sin(angle) * np.cross(unit, first)[:, None]
    wound = a[:, None] + (PIGTAIL + (1.0 - 2.0 * PIGTAIL) * share) * along + radius[:, None, None] * beside
    return np.concatenate([a[:, None], wound, b[:, None]], axis=1)
