"""Closed forms of legs: joint angles from the place of the foot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tailwork.algebra.expression import Scalar
from tailwork.robots.quantities import Matrix, Vector


class ClosedForm(Protocol):
    """Joint angles of a leg from the place of its foot. Each kind of leg brings its own.

    A form may also have `clearance(foot)`: how far the foot is from where its first hinge has no answer; see
    `clearance_of`.
    """

    def angles(self, foot: Vector) -> list[tuple[Scalar, Scalar]]:
        """(cosine, sine) of each joint angle for a foot at `foot`, seen from the torso frame [m]."""
        ...

    def extension(self, foot: Vector) -> Scalar:
        """Distance to the foot as a share of the longest the leg can reach; 1 is a straight leg."""
        ...

    def reach(self) -> tuple[Scalar, Scalar]:
        """Least and greatest extension."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlacedForm:
    """A closed form for a leg that is placed on the torso."""

    form: ClosedForm  # in the leg's own frame
    offset: Vector  # of that frame, in the torso frame [m]
    rotation: Matrix  # columns: its axes in the torso frame

    def _own(self, foot: Vector) -> Vector:
        away = [x - y for x, y in zip(foot, self.offset, strict=True)]
        x, y, z = (sum((self.rotation[i][k] * away[i] for i in range(3)), 0.0) for k in range(3))
        return x, y, z

    def angles(self, foot: Vector) -> list[tuple[Scalar, Scalar]]:
        """(cosine, sine) of each joint angle for a foot at `foot` in the torso frame [m]."""
        return self.form.angles(self._own(foot))

    def extension(self, foot: Vector) -> Scalar:
        """Distance to the foot as a share of the longest the leg can reach."""
        return self.form.extension(self._own(foot))

    def reach(self) -> tuple[Scalar, Scalar]:
        """Least and greatest extension."""
        return self.form.reach()


def clearance_of(form: ClosedForm | None) -> Callable[[Vector], Scalar] | None:
    """By the place of a foot in the torso frame [m]: how far it is from where the first hinge of its leg has no answer,
    as a share of the leg's bars; 0 there and beyond. None: the form has no such limit, or does not say."""
    if isinstance(form, PlacedForm):
        inner = clearance_of(form.form)
        return None if inner is None else lambda foot: inner(form._own(foot))
    return getattr(form, "clearance", None)
