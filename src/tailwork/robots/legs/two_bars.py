"""Two bars in a plane, the part of a leg that two parallel hinges fold: angles from the place of its end."""

from __future__ import annotations

from tailwork.algebra.expression import Scalar, larger, sqrt


def two_bars(x: Scalar, y: Scalar, first: Scalar, second: Scalar, bend: float) -> list[tuple[Scalar, Scalar]]:
    """(cosine, sine) of the two angles of a chain of two bars in a plane whose end is at (x, y) [m].

    x = first cos f + second cos(f + g), y = first sin f + second sin(f + g); g has the sign `bend`.
    """
    reach2 = y * y + x * x
    cos_g = (reach2 - (first * first + second * second)) * (1.0 / (2.0 * first * second))
    sin_g = sqrt(1.0 - cos_g * cos_g) * bend
    along, beside = first + second * cos_g, second * sin_g
    per_reach2 = 1.0 / reach2
    cos_f = (along * x + beside * y) * per_reach2
    sin_f = (along * y - beside * x) * per_reach2
    return [(cos_f, sin_f), (cos_g, sin_g)]


def two_bar_reach(first: Scalar, second: Scalar) -> tuple[Scalar, Scalar]:
    """Extension of two bars that are folded, and of two in line."""
    return larger(first - second, second - first) / (first + second), 1.0
