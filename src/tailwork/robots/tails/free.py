"""A tail written out joint by joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tailwork.robots.limb import FORWARD_FRAMES, Limb, placed
from tailwork.robots.tails.tail import Tail


@dataclass(frozen=True, kw_only=True)
class FreeTail(Tail):
    """A limb of any shape that is a tail. Its frame is x right, y forward, z up; at zero angles it points backwards."""

    kind: ClassVar[str] = "tail"

    shape: Limb  # all of it

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The limb, under the name of the part."""
        return {name: placed(self.shape, (0.0, 0.0, 0.0), FORWARD_FRAMES[forward])}

    def totals(self) -> dict[str, str]:
        """None: its numbers are those of its joints and bodies."""
        return {}
