"""Where the frames of a run are over time, from its coordinates alone: nothing has to be compiled to look at a run."""

from __future__ import annotations

import numpy as np

from tailwork.algebra.columns import Column, plain
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.torso import gearing_of
from tailwork.robots.limb import Joint, Limb
from tailwork.simulation.pose import torso_rotations
from tailwork.typing import Floats

Placed = tuple[Floats, Floats]
"""Places of a frame's origin, (times, 3) [m], and rotations to the inertial frame, (times, 3, 3)."""


def torso_motion(layout: Layout, q: Floats) -> Placed:
    """The torso frame over states q."""
    places = q[:, :3] if layout.torso_free else np.zeros((len(q), 3))
    return places, torso_rotations(layout, q)


def limb_motion(layout: Layout, name: str, q: Floats, torso: Placed) -> dict[str, Placed]:
    """By joint of a limb: its frame over states q."""
    limb = layout.limbs[name]
    angles = pinned_angles(limb, torso) if name in layout.stance else free_angles(limb, q[:, layout.coordinates[name]])
    found: dict[str, Placed] = {}
    for k, joint in enumerate(limb.joints):
        places, rotations = torso if joint.parent is None else found[joint.parent]
        offset = np.array(joint.offset, dtype=float)
        found[joint.name] = places + rotations @ offset, rotations @ _hinge(joint, angles[:, k])
    return found


def free_angles(limb: Limb, coordinates: Floats) -> Floats:
    """Joint angles (times, joints) [rad] from the limb's own coordinates."""
    return coordinates @ np.array(gearing_of(limb), dtype=float).T


def pinned_angles(limb: Limb, torso: Placed) -> Floats:
    """Joint angles (times, joints) [rad] of a leg whose foot stays where it stands."""
    assert limb.foot is not None and limb.closed_form is not None
    places, rotations = torso
    feet = np.einsum("tji,tj->ti", rotations, np.array(limb.foot.place, dtype=float) - places)
    with np.errstate(invalid="ignore"):
        pairs = limb.closed_form.angles((Column(feet[:, 0]), Column(feet[:, 1]), Column(feet[:, 2])))
    cosines, sines = (np.stack([plain(pair[k], (len(feet),)) for pair in pairs], axis=1) for k in (0, 1))
    return np.arctan2(sines, cosines)


def _hinge(joint: Joint, angles: Floats) -> Floats:
    """Rotations to the parent's frame, (times, 3, 3): the fixed one, then that about the axis (Rodrigues)."""
    x, y, z = joint.axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.array(joint.rotation, dtype=float) @ (np.eye(3) + sine * across + (1.0 - cosine) * (across @ across))


def quaternions(rotations: Floats) -> Floats:
    """Unit quaternions w, x, y, z of rotations (times, 3, 3), with signs such that neighbours are near each other."""
    r = rotations
    trace = np.trace(r, axis1=1, axis2=2)
    # Four times the products of all pairs of w, x, y, z; the row of the largest is divided by its root.
    products = np.empty((len(r), 4, 4))
    products[:, 0, 0] = 1.0 + trace
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[:, 1 + i, 1 + i] = 1.0 + 2.0 * r[:, i, i] - trace
        products[:, 0, 1 + i] = products[:, 1 + i, 0] = r[:, k, j] - r[:, j, k]
        products[:, 1 + i, 1 + j] = products[:, 1 + j, 1 + i] = r[:, i, j] + r[:, j, i]
    largest = np.argmax(np.diagonal(products, axis1=1, axis2=2), axis=1)
    rows = products[np.arange(len(r)), largest]
    found = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    flips = np.sign(np.einsum("ti,ti->t", found[1:], found[:-1]))
    found[1:] *= np.cumprod(np.where(flips < 0, -1.0, 1.0))[:, None]
    return found
