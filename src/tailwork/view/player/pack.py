"""Scenes as one text: names and shapes as JSON, all samples as single-precision numbers in base 64."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tailwork.typing import Floats
from tailwork.view.scene import Bar, Box, Scene, Terrain
from tailwork.view.scene.colors import LINES
from tailwork.view.scene.scene import Shape

MOST_GROUND = 201  # points of a height field along an axis: of more, so many are drawn


class Samples:
    """Arrays, one after the other."""

    def __init__(self) -> None:
        self.parts: list[Floats] = []
        self.count = 0

    def put(self, values: Floats) -> int:
        """Append an array, row by row; the place of its first number."""
        start = self.count
        self.parts.append(np.asarray(values).astype("<f4").ravel())
        self.count += self.parts[-1].size
        return start

    def text(self) -> str:
        """All numbers in base 64."""
        whole = np.concatenate(self.parts) if self.parts else np.zeros(0, "<f4")
        return base64.b64encode(whole.tobytes()).decode("ascii")


def packed(scenes: Sequence[Scene], layout: str) -> str:
    """The scenes as JSON that may stand in a script element: no "<" ends it."""
    samples = Samples()
    written = [_scene(scene, samples) for scene in scenes]
    dashes = [[] if isinstance(line, str) else list(line[1]) for line in LINES]
    whole = {"layout": layout, "dashes": dashes, "scenes": written, "floats": samples.text()}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _scene(scene: Scene, samples: Samples) -> dict[str, Any]:
    times = [round(float(time), 9) for time in scene.times]
    terrain = None if scene.terrain.flat else _terrain(scene.terrain, samples)
    return _plain(dataclasses.replace(scene, times=times, terrain=terrain), samples) | {"size": scene.size}


def _plain(value: Any, samples: Samples) -> Any:
    """Fields of dataclasses by name; an array becomes the place of its first number among all samples."""
    if isinstance(value, np.ndarray):
        return samples.put(value)
    if isinstance(value, Shape):
        return _shape(value)
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name), samples) for field in dataclasses.fields(value)}
    return [_plain(item, samples) for item in value] if isinstance(value, tuple) else value


def _shape(shape: Shape) -> dict[str, Any]:
    if isinstance(shape, Bar):
        radii = (shape.start_radius, shape.end_radius)
        return {"kind": "bar", "start": shape.start, "end": shape.end, "radii": radii, "rounded": shape.rounded}
    return {"kind": "box" if isinstance(shape, Box) else "ball", **dataclasses.asdict(shape)}


def _terrain(terrain: Terrain, samples: Samples) -> dict[str, Any]:
    columns, rows = (
        np.unique(np.linspace(0, len(axis) - 1, min(len(axis), MOST_GROUND)).round().astype(int))
        for axis in (terrain.x, terrain.y)
    )
    heights = samples.put(terrain.heights[np.ix_(columns, rows)])
    return {"x": terrain.x[columns].tolist(), "y": terrain.y[rows].tolist(), "heights": heights}
