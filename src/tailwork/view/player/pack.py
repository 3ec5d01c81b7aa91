"""Scenes as one text: names and shapes as JSON, all samples as single-precision numbers in base 64."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tailwork.typing import Floats
from tailwork.view.scene import Bar, Box, Plot, Scene, Solid, Terrain
from tailwork.view.scene.colors import LINES

MOST_GROUND = 201
"""Points of a height field along an axis: of more, so many are drawn."""


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
    caption = scene.caption
    return {
        "label": scene.label,
        "color": scene.color,
        "forward": scene.forward,
        "weight": scene.weight,
        "size": scene.size,
        "times": [round(float(time), 9) for time in scene.times],
        "frames": [
            {"name": frame.name, "places": samples.put(frame.places), "turns": samples.put(frame.turns)}
            for frame in scene.frames
        ],
        "solids": [_solid(solid) for solid in scene.solids],
        "threads": [
            {
                "kind": thread.kind,
                "name": thread.name,
                "points": thread.points,
                "color": thread.color,
                "radius": thread.radius,
            }
            for thread in scene.threads
        ],
        "forces": [
            {
                "foot": force.foot,
                "frame": force.frame,
                "point": force.point,
                "color": force.color,
                "forces": samples.put(force.forces),
            }
            for force in scene.forces
        ],
        "markers": [
            {
                "name": marker.name,
                "color": marker.color,
                "radius": marker.radius,
                "places": samples.put(marker.places),
            }
            for marker in scene.markers
        ],
        "terrain": None if scene.terrain.flat else _terrain(scene.terrain, samples),
        "plots": [_plot(plot, samples) for plot in scene.plots],
        "events": scene.events,
        "tips": scene.tips,
        "caption": {
            "robot": caption.robot,
            "motion": caption.motion,
            "measures": caption.measures,
            "notes": caption.notes,
        },
    }


def _solid(solid: Solid) -> dict[str, Any]:
    shape = solid.shape
    if isinstance(shape, Box):
        written = {"kind": "box", "center": shape.center, "size": shape.size}
    elif isinstance(shape, Bar):
        radii = (shape.start_radius, shape.end_radius)
        written = {"kind": "bar", "start": shape.start, "end": shape.end, "radii": radii, "rounded": shape.rounded}
    else:
        written = {"kind": "ball", "center": shape.center, "radii": shape.radii}
    return {"frame": solid.frame, "shape": written, "color": solid.color, "role": solid.role}


def _plot(plot: Plot, samples: Samples) -> dict[str, Any]:
    return {
        "key": plot.key,
        "title": plot.title,
        "unit": plot.unit,
        "group": plot.group,
        "shared": plot.shared,
        "curves": [
            {"name": curve.name, "color": curve.color, "dash": curve.dash, "values": samples.put(curve.values)}
            for curve in plot.curves
        ],
    }


def _terrain(terrain: Terrain, samples: Samples) -> dict[str, Any]:
    columns, rows = (
        np.unique(np.linspace(0, len(axis) - 1, min(len(axis), MOST_GROUND)).round().astype(int))
        for axis in (terrain.x, terrain.y)
    )
    return {
        "x": terrain.x[columns].tolist(),
        "y": terrain.y[rows].tolist(),
        "heights": samples.put(terrain.heights[np.ix_(columns, rows)]),
    }
