"""A tail written out joint by joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import array
from tailwork.robots.limb import FORWARD_FRAMES, IDENTITY, Limb, as_matrix, as_vector, placed
from tailwork.robots.paths import rebuild
from tailwork.robots.quantities import Matrix, Vector
from tailwork.robots.tails.tail import Tail

HERE: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class FreeTail(Tail):
    """A limb of any shape that is a tail. Its axes are x right, y forward, z up; at zero angles it points backwards.

    It hangs at its first joint, a place in the torso frame like all others [m], about which it is turned on a torso
    that faces along x.
    """

    kind: ClassVar[str] = "tail"

    shape: Limb  # all of it; its first joint is its mount

    @classmethod
    def of_limb(cls, limb: Limb, forward: str) -> Self:
        """A limb as it is on a torso that faces along `forward`, as `Robot.limbs` has it, as a tail."""
        return cls(shape=_turned(limb, as_matrix(array(FORWARD_FRAMES[forward]).T)))

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The limb, under the name of the part."""
        return {name: _turned(self.shape, self.mount_frame(forward))}

    def mounted(self, place: Vector, forward: str) -> Self:
        """A copy whose first joint is elsewhere [m]; what else is fixed to the torso moves along."""
        shift = as_vector(array(place) - array(self.shape.joints[0].offset))
        return replace(self, shape=placed(self.shape, shift, IDENTITY))

    def totals(self) -> dict[str, str]:
        """Its mass, and its length where its shape has a tip."""
        return {name: unit for name, unit in super().totals().items() if name == "total_mass" or self.shape.tip}

    def follow(self, total: str) -> tuple[str, ...]:
        """All of its shape follows."""
        return ("shape",)

    def with_totals(self, values: Mapping[str, Scalar]) -> Self:
        """A copy with other `totals` [kg], [m]: lengths, masses and inertias of its shape go in proportion."""
        factors = self._factors(values)
        mount = self.shape.joints[0]
        alone = placed(self.shape, as_vector(-array(mount.offset)), IDENTITY)
        alone = replace(alone, joints=(replace(alone.joints[0], offset=HERE), *alone.joints[1:]))  # exactly
        grown = rebuild(alone, lambda _, value, kind: value * factors.get(kind.unit, 1.0))
        return replace(self, shape=placed(grown, mount.offset, IDENTITY))


def _turned(limb: Limb, turn: Matrix) -> Limb:
    """A limb turned about its first joint."""
    if turn == IDENTITY:
        return limb
    mount = limb.joints[0].offset
    return placed(placed(limb, as_vector(-array(mount)), IDENTITY), mount, turn)
