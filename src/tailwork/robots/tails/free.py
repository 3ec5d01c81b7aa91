"""A tail written out joint by joint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from tailwork.algebra.vectors import array, times
from tailwork.robots.limb import FORWARD_FRAMES, IDENTITY, Limb, as_vector, placed
from tailwork.robots.quantities import Vector
from tailwork.robots.tails.tail import Tail


@dataclass(frozen=True, kw_only=True)
class FreeTail(Tail):
    """A limb of any shape that is a tail. Its frame is x right, y forward, z up; at zero angles it points backwards."""

    kind: ClassVar[str] = "tail"

    shape: Limb  # all of it; its first joint is its mount

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The limb, under the name of the part."""
        turn, mount = self.mount_frame(forward), array(self.shape.joints[0].offset)
        shift = (0.0, 0.0, 0.0)
        if any(self.mount_rotation):  # about the mount
            shift = as_vector(times(array(FORWARD_FRAMES[forward]), mount) - times(array(turn), mount))
        return {name: placed(self.shape, shift, turn)}

    def mounted(self, place: Vector, forward: str) -> Self:
        """A copy whose first joint is elsewhere [m]; what else is fixed to the torso moves along."""
        own = times(array(FORWARD_FRAMES[forward]).T, array(place)) - array(self.shape.joints[0].offset)
        return replace(self, shape=placed(self.shape, as_vector(own), IDENTITY))

    def totals(self) -> dict[str, str]:
        """None: its numbers are those of its joints and bodies."""
        return {}
