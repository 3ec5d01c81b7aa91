"""A gecko in the air: a body and a tail."""

from __future__ import annotations

from tailwork.robots.body import ellipsoid_inertia
from tailwork.robots.presets.tails import gecko_tail
from tailwork.robots.robot import Robot, Torso

MASS, LENGTH = 2.9e-3, 0.054
"""Of the body, from snout to vent [kg], [m] (Jusufi, Kawano, Libby & Full, Bioinspir. Biomim. 5, 2010)."""
WIDTH, HEIGHT = 0.012, 0.008
"""Of the body [m]: estimates from photographs of the species."""


def gecko() -> Robot:
    """A flat-tailed house gecko in free fall, its legs drawn in: an ellipsoid with a tail (see `gecko_tail`).

    Mass and length are those of Jusufi et al. 2010; width and height of the body are estimates.
    """
    inertia = ellipsoid_inertia(MASS, WIDTH / 2.0, LENGTH / 2.0, HEIGHT / 2.0)
    tail = gecko_tail((0.0, -LENGTH / 2.0, 0.0))
    return Robot(name="gecko", torso=Torso(mass=MASS, inertia=inertia), parts={"tail": tail}, stand=(0.0, 0.0, 0.1))
