"""A scene at any time: between two of its samples places are mixed, and turns are turned into each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.typing import Floats
from tailwork.view.scene import Frame, Scene


@dataclass(frozen=True, eq=False)
class Moment:
    """Where everything of a scene is at one time, in the inertial frame."""

    time: float  # [s]
    places: Floats  # of the frames, (frames, 3) [m]
    rotations: Floats  # of the frames, (frames, 3, 3)
    forces: Floats  # on the feet, (feet, 3) [N]
    markers: Floats  # (markers, 3) [m]


def moments(scene: Scene, times: Sequence[float] | Floats) -> list[Moment]:
    """The scene at some times [s]; before its first and after its last one it stands still."""
    at = np.clip(np.asarray(times, dtype=float), scene.times[0], scene.times[-1])
    after = np.minimum(np.searchsorted(scene.times, at, side="right"), len(scene.times) - 1)
    before = np.maximum(after - 1, 0)
    gap = scene.times[after] - scene.times[before]
    share = np.where(gap > 0, (at - scene.times[before]) / np.where(gap > 0, gap, 1.0), 0.0)[:, None]

    def between(values: Floats) -> Floats:
        return (1.0 - share) * values[before] + share * values[after]

    frames = [
        Frame(frame.name, between(frame.places), turned(frame.turns[before], frame.turns[after], share))
        for frame in scene.frames
    ]
    places = np.stack([frame.places for frame in frames], axis=1)
    rotations = np.stack([frame.rotations() for frame in frames], axis=1)
    forces = [between(force.forces) for force in scene.forces]
    markers = [between(marker.places) for marker in scene.markers]
    columns = (places, rotations, _side_by_side(forces, len(at)), _side_by_side(markers, len(at)))
    return [Moment(float(t), *rest) for t, *rest in zip(at, *columns, strict=True)]


def _side_by_side(values: list[Floats], times: int) -> Floats:
    """Vectors of several things, (times, things, 3); of none, too."""
    return np.stack(values, axis=1) if values else np.empty((times, 0, 3))


def turned(start: Floats, end: Floats, share: Floats) -> Floats:
    """Unit quaternions a share (…, 1) of the way from some (…, 4) to others, at an even rate."""
    cosine = np.clip(np.einsum("ti,ti->t", start, end), -1.0, 1.0)[:, None]
    angle = np.arccos(cosine)
    small = angle < 1e-6  # the way is straight there
    sine = np.where(small, 1.0, np.sin(angle))
    first = np.where(small, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
    second = np.where(small, share, np.sin(share * angle) / sine)
    found = first * start + second * end
    return found / np.linalg.norm(found, axis=1, keepdims=True)
