"""Where the frames of a run are over time, from its coordinates alone: nothing has to be compiled to look at a run."""

from __future__ import annotations

import numpy as np

from tailwork.algebra.columns import columns, plain
from tailwork.mechanics.kinematics import at_rest, bodies
from tailwork.mechanics.layout import Layout
from tailwork.typing import Floats

Placed = tuple[Floats, Floats]
"""Places of a frame's origin, (times, 3) [m], and rotations to the inertial frame, (times, 3, 3)."""


def frame_motions(layout: Layout, q: Floats) -> dict[str, Placed]:
    """The frames "torso" and "limb.joint" over states q."""
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = bodies(layout, columns(q), at_rest(layout))
    found: dict[str, Placed] = {}
    for name, moving in seen.items():
        joints = [f"{name}.{joint.name}" for joint in layout.limbs[name].joints] if name in layout.limbs else [name]
        shape = (len(q),)
        found |= {key: (plain(x.place, shape), plain(x.rotation, shape)) for key, x in zip(joints, moving, strict=True)}
    return found


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
