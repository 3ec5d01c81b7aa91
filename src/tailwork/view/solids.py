"""A robot as simple solids, from its description: a box for the torso, round bars for the limbs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from math import sqrt

import numpy as np

from tailwork.kernels.kernel import Floats
from tailwork.mechanics.layout import Layout
from tailwork.robots import PlateTorso, Robot

LEAST_THICKNESS = 0.09
"""Least height of the drawn torso as a share of its longest side: a plate should be seen from the side, too."""


@dataclass(frozen=True)
class Bar:
    """A round bar between two named points, with its radii at both [m]."""

    start: str
    end: str
    start_radius: float
    end_radius: float
    kind: str  # "leg" or "tail" (any limb without a foot)
    number: int  # along its limb


def torso_box(robot: Robot) -> tuple[Floats, Floats]:
    """Lower and upper corner of the drawn torso in the torso frame [m].

    A plate has its own width and length. Another torso is the box of the same inertia, widened to reach the hips.
    """
    body = robot.torso.body()
    com = np.array(body.com, dtype=float)
    if isinstance(robot.torso, PlateTorso):
        half = np.array([float(robot.torso.width), float(robot.torso.length), 0.0]) / 2.0
        lower, upper = com - half, com + half
    else:
        xx, yy, zz = (float(value) for value in body.inertia[:3])
        squares = (yy + zz - xx, xx + zz - yy, xx + yy - zz)
        half = np.array([sqrt(max(1.5 * square / float(body.mass), 0.0)) for square in squares])
        hips = _hips(robot)
        lower = np.minimum(com - half, hips.min(axis=0)) if len(hips) else com - half
        upper = np.maximum(com + half, hips.max(axis=0)) if len(hips) else com + half
    missing = LEAST_THICKNESS * float((upper - lower).max()) - float(upper[2] - lower[2])
    if missing > 0:
        more = np.array([0.0, 0.0, missing / 2.0])
        lower, upper = lower - more, upper + more
    return lower, upper


def box_corners(lower: Floats, upper: Floats) -> Floats:
    """The eight corners of a box, (8, 3); the last axis changes fastest."""
    return np.array(list(product(*zip(lower, upper, strict=True))))


def _hips(robot: Robot) -> Floats:
    """Where the legs start, in the torso frame [m]."""
    legs = [limb for limb in robot.limbs().values() if limb.foot is not None]
    places = [joint.offset for limb in legs for joint in limb.joints if joint.parent is None]
    return np.array(places, dtype=float).reshape(-1, 3)


def limb_bars(layout: Layout, thickness: float) -> list[Bar]:
    """Bars of all limbs: from each joint to those it carries, to its foot and to its tip.

    Legs become a little thinner towards the foot; limbs without a foot taper to a third.
    """
    bars: list[Bar] = []
    for name, limb in layout.limbs.items():
        steps: list[tuple[str, str]] = []
        for joint in limb.joints:
            if joint.parent is not None and any(joint.offset):
                steps.append((joint.parent, joint.name))
        for end, what in ((limb.foot, "foot"), (limb.tip, "tip")):
            if end is not None and any(end.point):
                steps.append((end.joint, what))
        kind, last = ("leg", 0.75) if limb.foot is not None else ("tail", 0.34)
        radii = thickness * np.linspace(1.0, last, len(steps) + 1)
        for k, ((start, end), (first, second)) in enumerate(zip(steps, pairwise(radii.tolist()), strict=True)):
            bars.append(Bar(f"{name}.{start}", f"{name}.{end}", first, second, kind, k))
    return bars
