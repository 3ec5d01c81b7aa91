"""Contact of a foot: the ratio of its forces, and a foot on compliant ground over one linearly implicit step.

The ground's force is linearised about the state at the start of the step: force − resistance · (J a), with J a the
foot's acceleration but for its bias, and resistance = step · damping + step² · stiffness, one number along the normal
and one across it. To the leg this is a mass at its foot that the accelerations feel and the bias does not, so a step
costs no more than the forward dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, cross, zeros
from tailwork.mechanics.frames import Link
from tailwork.mechanics.sweeps import Inertia6, Wrench
from tailwork.mechanics.torso import TorsoState, into_link
from tailwork.typing import Floats


@dataclass(frozen=True)
class ContactImpedance:
    """What the ground does to a foot."""

    force: Array  # inertial frame [N]
    normal: Array  # of the ground, a unit vector in the inertial frame
    along: Scalar  # resistance along the normal [kg]
    across: Scalar  # resistance across it [kg]


def on_link(
    contact: ContactImpedance, torso: TorsoState, links: Sequence[Link], at: int, point: Array
) -> tuple[Wrench, Inertia6]:
    """The force as a wrench about the joint of the link that carries the foot, and the inertia that stands for the
    resistance."""
    force, normal = (into_link(links, at, torso.from_inertial(x)) for x in (contact.force, contact.normal))
    resistance = zeros(3, 3)
    more = contact.along - contact.across
    for i in range(3):
        scaled = normal[i] * more
        for k in range(i + 1):
            resistance[i, k] = resistance[k, i] = scaled * normal[k] + (contact.across if i == k else 0.0)
    return Wrench(force, cross(point, force)), Inertia6(resistance, zeros(3, 3), zeros(3, 3)).shifted(point)


def friction_ratio(forces: Floats) -> Floats:
    """Tangential over normal force of each foot [1], (…), for forces (…, 3) of the ground, the normal one last [N].

    It is the friction that it takes to stay; infinite where a foot does not push on the ground.
    """
    tangential, normal = np.hypot(forces[..., 0], forces[..., 1]), forces[..., 2]
    pushes = normal > 0
    return np.where(pushes, tangential / np.where(pushes, normal, 1.0), np.inf)
