"""A robot's panel in a video; the eye goes along with a robot that walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from tailwork.typing import Floats
from tailwork.view.draw.ghosts import Strip, ground_of, limits, strip_of
from tailwork.view.draw.ground import Ground, draw_ground, meshed
from tailwork.view.draw.moment import moments
from tailwork.view.draw.panels import show_part
from tailwork.view.draw.stage import Stage, set_stage
from tailwork.view.draw.subject import subject
from tailwork.view.draw.theme import Theme
from tailwork.view.scene import Scene

LOOKS = 25
"""Moments at which one looks how much room the robots need."""


@dataclass(frozen=True, eq=False)
class Framing:
    """How much room robots need over a whole film, at the same scale."""

    strips: list[Strip]  # a moment a picture
    ground: Ground
    low: Floats  # lower left corner of all, on the sheet of the camera [m]
    high: Floats


@dataclass(frozen=True, eq=False)
class Take:
    """What a panel shows over the whole film."""

    strip: Strip  # a moment a picture
    ground: Ground
    low: Floats  # lower left corner of what is seen of the first picture, on the sheet of the camera [m]
    high: Floats


@dataclass(frozen=True, eq=False)
class Shot:
    """A panel as drawn, and what moves in it."""

    take: Take
    axes: Axes
    stage: Stage
    ground: LineCollection | PolyCollection | None  # None: it stands still

    @property
    def moving(self) -> list[Artist]:
        """All that moves, lowest first."""
        return self.stage.moving if self.ground is None else [self.ground, *self.stage.moving]

    def show(self, number: int) -> None:
        """Move all to where it is in a picture."""
        strip = self.take.strip
        if strip.follows:
            show_part(self.axes, self.take.low, self.take.high, strip.eye(number))
        self.stage.show(strip.moments[number])


def framed(scenes: Sequence[Scene], times: Floats, view: str, theme: Theme, forces: bool) -> Framing:
    """What scenes need over some times [s]."""
    strips = [strip_of(subject(scene, view, theme), moments(scene, times), follow=True) for scene in scenes]
    few = np.unique(np.linspace(0, len(times) - 1, LOOKS).astype(int))
    looked = [Strip(s.subject, [s.moments[k] for k in few], s.ways[few]) for s in strips]
    ground = ground_of(looked)
    return Framing(strips, ground, *limits(looked, ground, forces))


def takes_of(framing: Framing, sizes: Sequence[tuple[float, float]]) -> list[Take]:
    """What panels so wide and high [in] show, all at the same scale."""
    scale = max(float(((framing.high - framing.low) / size).max()) for size in sizes)  # m an inch
    middle, ground = (framing.low + framing.high) / 2.0, framing.ground
    found = []
    for strip, size in zip(framing.strips, sizes, strict=True):
        half = scale * np.array(size) / 2.0
        seen = _passed(strip, ground, half) if strip.follows else ground
        found.append(Take(strip, seen, middle - half, middle + half))
    return found


def _passed(strip: Strip, ground: Ground, half: Floats) -> Ground:
    """All the ground that comes into sight of an eye that goes along and sees half as much to each side."""
    reach = 2.0 * float(half.max()) / max(0.3, abs(float(strip.subject.camera.toward[2])))
    ways = strip.ways[:, :2]
    return meshed(ground.lower + ways.min(axis=0) - reach, ground.upper + ways.max(axis=0) + reach, ground.mesh)


def set_shot(figure: Figure, take: Take, place: tuple[float, float, float, float], forces: bool, traces: bool) -> Shot:
    """Draw a panel at a place: left, top, width and height from the upper left corner of the figure [in]."""
    left, top, width, height = place
    wide, tall = figure.get_size_inches()
    axes = figure.add_axes((left / wide, 1.0 - (top + height) / tall, width / wide, height / tall))
    axes.set_axis_off()
    show_part(axes, take.low, take.high)
    one = take.strip.subject
    ground = draw_ground(axes, one.camera, take.ground, one.theme, one.scene.terrain)
    stage = set_stage(axes, one, take.strip.moments[0], forces=forces, traces=traces)
    shot = Shot(take, axes, stage, ground if take.strip.follows else None)
    for artist in shot.moving:
        artist.set_animated(True)
    return shot
