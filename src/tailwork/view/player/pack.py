"""Scenes as one text: names and shapes as JSON, all samples as single-precision numbers in base 64."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tailwork.typing import Floats
from tailwork.view.scene import Bar, Box, Scene, Surface, Terrain
from tailwork.view.scene.colors import LINES
from tailwork.view.scene.scene import SceneShape

MOST_GROUND = 201  # points of a height field along an axis: of more, so many are drawn


def packed(scenes: Sequence[Scene], layout: str) -> str:
    """The scenes as JSON that may stand in a script element: no "<" ends it."""
    samples: list[Floats] = []
    written = [_scene(scene, samples) for scene in scenes]
    dashes = [[] if isinstance(line, str) else list(line[1]) for line in LINES]
    floats = base64.b64encode(b"".join(part.tobytes() for part in samples)).decode("ascii")
    whole = {"layout": layout, "dashes": dashes, "scenes": written, "floats": floats}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _put(values: Floats, samples: list[Floats]) -> int:
    """Append an array to all samples, row by row; the place of its first number."""
    start = sum(part.size for part in samples)
    samples.append(np.asarray(values).astype("<f4").ravel())
    return start


def _scene(scene: Scene, samples: list[Floats]) -> dict[str, Any]:
    times = [round(float(time), 9) for time in scene.times]
    terrain = None if scene.terrain.flat else _terrain(scene.terrain, samples)
    return _plain(dataclasses.replace(scene, times=times, terrain=terrain), samples) | {"size": scene.size}


def _plain(value: Any, samples: list[Floats]) -> Any:
    """Fields of dataclasses by name; an array becomes the place of its first number among all samples."""
    if isinstance(value, np.ndarray):
        return _put(value, samples)
    if isinstance(value, SceneShape):
        return _shape(value, samples)
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name), samples) for field in dataclasses.fields(value)}
    return [_plain(item, samples) for item in value] if isinstance(value, tuple) else value


def _shape(shape: SceneShape, samples: list[Floats]) -> dict[str, Any]:
    if isinstance(shape, Surface):
        place = _put(np.array(shape.vertices), samples)
        faces = [k for face in shape.faces for k in face]
        return {"kind": "surface", "vertices": place, "count": len(shape.vertices), "faces": faces}
    if isinstance(shape, Bar):
        radii = (shape.start_radius, shape.end_radius)
        return {"kind": "bar", "start": shape.start, "end": shape.end, "radii": radii, "rounded": shape.rounded}
    return {"kind": "box" if isinstance(shape, Box) else "ball", **dataclasses.asdict(shape)}


def _terrain(terrain: Terrain, samples: list[Floats]) -> dict[str, Any]:
    columns, rows = (
        np.unique(np.linspace(0, len(axis) - 1, min(len(axis), MOST_GROUND)).round().astype(int))
        for axis in (terrain.x, terrain.y)
    )
    heights = _put(terrain.heights[np.ix_(columns, rows)], samples)
    return {"x": terrain.x[columns].tolist(), "y": terrain.y[rows].tolist(), "heights": heights}
