"""The ground under a robot: a grid on which lengths can be read."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from tailwork.kernels.kernel import Floats
from tailwork.view.camera import Camera
from tailwork.view.style import FAINT, RULE


@dataclass(frozen=True)
class Ground:
    """A part of the plane z = 0 and the mesh of its grid [m]."""

    lower: Floats
    upper: Floats
    mesh: float

    @property
    def shown(self) -> str:
        """The mesh with its unit."""
        return f"{self.mesh:g} m" if self.mesh >= 0.1 else f"{self.mesh * 1e3:g} mm"


def ground_under(places: Floats) -> Ground:
    """The ground under points (…, 3), in whole meshes."""
    flat = places[:, :2]
    mesh = nice(float(np.ptp(flat, axis=0).max()) / 14.0)
    lower = np.floor(flat.min(axis=0) / mesh - 0.3) * mesh
    return Ground(lower, np.ceil(flat.max(axis=0) / mesh + 0.3) * mesh, mesh)


def nice(length: float) -> float:
    """The least of 1, 2 and 5 times the powers of ten that is not less than a length."""
    power = 10.0 ** floor(log10(length))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= length * (1.0 - 1e-9))


def draw_ground(axes: Axes, camera: Camera, ground: Ground) -> None:
    """The grid; a line where the eye is level with the ground."""
    if not camera.sees_ground:
        axes.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0.5)
        return
    (left, near), (right, far) = ground.lower, ground.upper
    half = ground.mesh / 2.0
    lines = [((x, near, 0.0), (x, far, 0.0)) for x in np.arange(left, right + half, ground.mesh)]
    lines += [((left, y, 0.0), (right, y, 0.0)) for y in np.arange(near, far + half, ground.mesh)]
    drawn = LineCollection(list(camera.project(np.array(lines))), colors=RULE, linewidths=0.5, zorder=0.5)
    axes.add_collection(drawn, autolim=False)
