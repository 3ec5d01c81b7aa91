"""What the forces on feet say about friction."""

from __future__ import annotations

import numpy as np

from tailwork.typing import Floats


def friction_ratio(forces: Floats) -> Floats:
    """Tangential over normal force of each foot [1]: the friction that it takes to stay.

    Args:
        forces: of the ground on the feet, (…, 3), the normal force last [N].

    Returns:
        (…); infinite where a foot does not push on the ground.
    """
    tangential, normal = np.hypot(forces[..., 0], forces[..., 1]), forces[..., 2]
    pushes = normal > 0
    return np.where(pushes, tangential / np.where(pushes, normal, 1.0), np.inf)
