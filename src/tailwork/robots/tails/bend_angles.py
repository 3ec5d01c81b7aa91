"""Evenly bent tails: from the direction of the centre of mass to the bend of each joint, as equations.

Newton's method with a fixed number of steps, so that the bend is an equation of the tail's numbers: one design, a batch
of designs and a gradient use the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tailwork.algebra.expression import Scalar, cos, sin
from tailwork.errors import RobotError
from tailwork.typing import Floats

STEPS = 7
"""Of Newton's method; it comes to rest after four to six."""
TERMS = 18
"""Of the series of an arc, which are exact to rounding up to a closed circle."""
ARC_END = math.radians(87.0)
"""Bends beyond this are refused for Eq. 86, whose arc is a closed circle at 90° [rad]."""


def arc_angle(theta: Scalar) -> Scalar:
    """Central angle of an arc whose centre of mass is seen under theta (Liu & Ben-Tzvi 2020, Eq. 86) [rad]."""
    c, s = cos(theta), sin(theta)
    angle = theta * (3.0 + 0.405 * (theta * theta))
    for _ in range(STEPS):
        # (a − sin a) cos theta = (1 − cos a) sin theta, both divided by a².
        over, over_rate, under, under_rate = _arc(angle)
        angle = angle - (over * c - under * s) / (over_rate * c - under_rate * s)
    return angle


def _arc(a: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """(a − sin a)/a² and (1 − cos a)/a², each followed by its derivative, by their series."""
    square = a * a
    sums: list[Scalar] = [0.0, 0.0, 0.0, 0.0]
    for k in range(TERMS, -1, -1):
        sign = -1.0 if k % 2 else 1.0
        over, under = sign / math.factorial(2 * k + 3), sign / math.factorial(2 * k + 2)
        next_under = -sign / math.factorial(2 * k + 4)
        factors = (over, over * (2 * k + 1), under, next_under * (2 * k + 2))
        sums = [total * square + factor for total, factor in zip(sums, factors, strict=True)]
    return sums[0] * a, sums[1], sums[2], sums[3] * a


def arc_direction(angle: Any) -> Any:
    """Where the centre of mass of an arc of this central angle is seen from its start (2020, Eq. 86) [rad]."""
    angle = np.asarray(angle, dtype=np.float64)
    square = angle * angle
    series = np.ones_like(angle)  # of 6 (a − sin a)/a³, which loses its digits where a is small
    for k in range(10, 0, -1):
        series = 1.0 - square / ((2 * k + 2) * (2 * k + 3)) * series
    over = np.where(np.abs(angle) < 1.0, angle * square / 6.0 * series, angle - np.sin(angle))
    return np.arctan2(over, 2.0 * np.sin(angle / 2.0) ** 2)


def link_weights(masses: Sequence[Scalar], link_length: Scalar, link_com: Scalar) -> list[Scalar]:
    """How much of each link's direction the first moment of mass of a chain holds [kg m]."""
    weights: list[Scalar] = []
    beyond: Scalar = 0.0
    for mass in reversed(masses):
        weights.insert(0, beyond * link_length + mass * link_com)
        beyond = beyond + mass
    return weights


def chain_angle(theta: Scalar, weights: Sequence[Scalar]) -> Scalar:
    """Angle of each joint of an evenly bent chain of links whose centre of mass is seen under theta [rad]."""
    c, s = cos(theta), sin(theta)
    whole = sum(weights[1:], weights[0])
    turned = sum((w * float(k + 1) for k, w in enumerate(weights[1:], start=1)), weights[0])
    # A cubic with the slope of the straight chain and, for even links, the closed circle at its end.
    end, most = math.pi * (0.5 + 1.0 / len(weights)), 2.0 * math.pi / len(weights)
    slope = whole / turned
    bend = theta * (slope + (most / end - slope) * (theta * theta) * (1.0 / (end * end)))
    for _ in range(STEPS):
        # Σ w_k sin(k bend − theta) = 0
        cosine, sine = cos(bend), sin(bend)
        ck, sk = cosine, sine
        missing: Scalar = 0.0
        rate: Scalar = 0.0
        for k, weight in enumerate(weights, start=1):
            missing = missing + weight * (sk * c - ck * s)
            rate = rate + weight * (ck * c + sk * s) * float(k)
            ck, sk = ck * cosine - sk * sine, sk * cosine + ck * sine
        bend = bend - missing / rate
    return bend


def chain_direction(bend: Any, weights: Sequence[float]) -> Any:
    """Where the centre of mass of an evenly bent chain is seen from its mount [rad]."""
    angles = np.asarray(bend)[..., None] * np.arange(1, len(weights) + 1)
    own = np.array(weights, dtype=np.float64)
    return np.arctan2((own * np.sin(angles)).sum(axis=-1), (own * np.cos(angles)).sum(axis=-1))


def largest_chain_bend(weights: Sequence[float]) -> float:
    """The most that the centre of mass of an evenly bent chain is seen aside before the chain rolls up [rad]."""
    grid = np.linspace(0.0, 2.0 * math.pi / len(weights), 2001)[:-1]
    values = chain_direction(grid, weights)
    falls = np.flatnonzero(np.diff(values) <= 0.0)
    top = int(falls[0]) if len(falls) else len(grid) - 1
    return float(values[top]) if values[0] == 0.0 else 0.0


def bend_per_joint(
    masses: Sequence[Scalar], link_length: Scalar, link_com: Scalar, theta: Scalar, angle: str
) -> Scalar:
    """Angle of each joint of an evenly bent tail of links whose bend is theta, measured as `angle` says [rad]."""
    if angle == "chain":
        return chain_angle(theta, link_weights(masses, link_length, link_com))
    return (arc_angle(theta) if angle == "arc" else theta) * (1.0 / len(masses))


def check_bend(masses: Sequence[Scalar], link_length: Scalar, link_com: Scalar, theta: Floats, angle: str) -> None:
    """Refuses bends that an evenly bent tail of links cannot make [rad]."""
    size = float(np.abs(theta).max(initial=0.0))
    if angle == "arc" and size > ARC_END:
        required = (
            f"a bend of the centre of mass of at most {math.degrees(ARC_END):.4g}°: by Eq. 86 the tail then rolls up "
            "(a sweep, as in `tailwork design`, is the angle of its last link and goes farther)"
        )
        raise RobotError("motion", f"{math.degrees(size):.4g}°", required)
    if angle == "chain":
        weights = [float(w) for w in link_weights(masses, link_length, link_com)]
        most = largest_chain_bend(weights)
        if size >= most:
            raise RobotError(
                "motion",
                f"{math.degrees(size):.4g}°",
                f"a bend of the centre of mass below {math.degrees(most):.4g}°, the most that this tail can make "
                "before it rolls up",
            )
