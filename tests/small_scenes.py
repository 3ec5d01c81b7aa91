"""Scenes for tests of pictures that need no further simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tailwork.view.scene import Scene


def gliding(scene: Scene, velocity: tuple[float, float, float]) -> Scene:
    """The same scene, carried along at a velocity [m/s]."""
    way = (scene.times - scene.times[0])[:, None] * np.array(velocity)
    return replace(
        scene,
        frames=tuple(replace(frame, places=frame.places + way) for frame in scene.frames),
        markers=tuple(replace(marker, places=marker.places + way) for marker in scene.markers),
    )


def ended_early(scene: Scene, share: float, why: str) -> Scene:
    """The same scene, done sooner: at a share of its time."""
    caption = replace(scene.caption, notes=(f"stopped at {share * scene.times[-1] * 1e3:.0f} ms: {why}",))
    return replace(scene, label="short", times=share * scene.times, caption=caption)
