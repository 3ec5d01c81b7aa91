"""What each kind of tail must do so that its centre of mass makes a motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tailwork.control.profiles import Mapped, Profiles
from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.studies.motions import TailMotion
from tailwork.typing import Floats

MAPS = ("arc", "chain")
DEGREE = 48
"""Of the series that carry the coordinates as functions of the share; always the same, so that nothing recompiles."""
ARC_END = math.radians(87.0)
"""Bends beyond this are refused by Eq. 86, whose arc is a closed circle at 90° [rad]."""
SINGULAR = math.radians(89.9)
"""Yaw of a pendulum that is too near to its singular joint [rad]."""
ACCURACY = 1e-9  # [rad], largest error of a series that is let pass
MOST_ROUNDS, AT_REST = 60, 1e-15  # of a search for a bend: it comes to rest [rad] after about ten


def arc_angle(theta: Floats) -> Floats:
    """Central angle of an arc whose centre of mass is seen under theta (2020, Eq. 86) [rad]."""
    if np.abs(theta).max(initial=0.0) > ARC_END:
        said, end = (f"{math.degrees(float(x)):.4g}°" for x in (np.abs(theta).max(), ARC_END))
        raise RobotError(
            "motion", said, f"a bend of the centre of mass of at most {end}: by Eq. 86 the tail then rolls up"
        )
    return _inverse(arc_direction, theta, 2.0 * math.pi)


def arc_direction(angle: Floats) -> Floats:
    """Where the centre of mass of an arc of this central angle is seen from its start (2020, Eq. 86) [rad]."""
    angle = np.asarray(angle, dtype=np.float64)
    square = angle * angle
    series = np.ones_like(angle)  # of 6 (a − sin a)/a³, which loses its digits where a is small
    for k in range(10, 0, -1):
        series = 1.0 - square / ((2 * k + 2) * (2 * k + 3)) * series
    over = np.where(np.abs(angle) < 1.0, angle * square / 6.0 * series, angle - np.sin(angle))
    return np.arctan2(over, 2.0 * np.sin(angle / 2.0) ** 2)


def chain_angle(theta: Floats, links: int, link_length: float, link_com: float, taper: float = 0.0) -> Floats:
    """Angle of each joint of an evenly bent chain of links whose centre of mass is seen under theta [rad].

    Exact for the links as they are (lengths in m, taper as of an R3); the tail's base does not count.
    """
    return _inverse(
        lambda bend: chain_direction(bend, links, link_length, link_com, taper), theta, 2.0 * math.pi / links
    )


def chain_direction(bend: Floats, links: int, link_length: float, link_com: float, taper: float = 0.0) -> Floats:
    """Where the centre of mass of an evenly bent chain is seen from its mount [rad]."""
    steps = np.arange(1, links + 1)
    mass = 1.0 - taper * (steps - 1) / max(1, links - 1)
    beyond = mass.sum() - np.cumsum(mass)
    behind = beyond * link_length + mass * link_com  # how much of each link's direction the sum of moments holds
    angles = np.asarray(bend)[..., None] * steps
    return np.arctan2((behind * np.sin(angles)).sum(axis=-1), (behind * np.cos(angles)).sum(axis=-1))


def _inverse(direction: Callable[[Floats], Floats], theta: Floats, most: float) -> Floats:
    """The bend, not more than `most`, at which an odd function that rises from zero takes the values theta."""
    grid = np.linspace(0.0, most, 2001)[:-1]
    values = direction(grid)
    falls = np.flatnonzero(np.diff(values) <= 0)
    top = int(falls[0]) if len(falls) else len(grid) - 1
    size, reached = np.abs(theta), float(values[top]) if values[0] == 0.0 else 0.0
    if size.max(initial=0.0) >= reached:
        raise RobotError(
            "motion",
            f"{math.degrees(float(size.max())):.4g}°",
            f"a bend of the centre of mass below {math.degrees(reached):.4g}°, the most that this tail can make before "
            "it rolls up",
        )
    after = np.maximum(np.searchsorted(values[: top + 1], size), 1)
    low, high = grid[after - 1], grid[after]
    under, over = values[after - 1] - size, values[after] - size
    # Regula falsi; an end that stays has its value halved (the Illinois algorithm). So near, a few rounds do.
    last = np.zeros_like(size)  # which end moved
    found = low
    for _ in range(MOST_ROUNDS):
        before, found = found, high - over * (high - low) / np.where(over > under, over - under, 1.0)
        if np.abs(found - before).max(initial=0.0) <= AT_REST:
            break
        value = direction(found) - size
        below = value < 0.0
        over, under = np.where(below & (last < 0), over / 2, over), np.where(~below & (last > 0), under / 2, under)
        low, under = np.where(below, found, low), np.where(below, value, under)
        high, over = np.where(below, high, found), np.where(below, over, value)
        last = np.where(below, -1.0, 1.0)
    return np.copysign(found, theta)


def _bend_per_joint(tail: R3 | Usrt, theta: Floats, com_map: str) -> Floats:
    """Angle of each joint [rad]."""
    links = tail.links_per_segment * tail.segments if isinstance(tail, R3) else tail.links
    if com_map == "arc":
        return arc_angle(theta) / links
    if com_map == "chain":
        taper = float(tail.taper) if isinstance(tail, R3) else 0.0
        return chain_angle(theta, links, tail.link_length, tail.link_com, taper)
    raise UnknownNameError.among("map", com_map, MAPS, "map from the centre of mass to the tail")


def shapes(tail: Any, motion: TailMotion, com_map: str, share: Floats) -> dict[str, Floats]:
    """Coordinates of a tail at given shares of a motion [rad].

    For the USRT, which no motor holds in a shape, these are the angles of its evenly bent shape.
    """
    alpha, theta = motion.directions(share)
    if isinstance(tail, Pendulum):
        if motion.space == "joints":
            ta, tb = (a + (b - a) * share for a, b in zip(motion.start, motion.end, strict=True))
            beyond = np.abs(tb).max() >= SINGULAR
        else:
            tb = -np.arcsin(np.sin(alpha) * np.sin(theta))
            # A bend to the side comes to the singular joint at 90°, one in the vertical plane never; a roll may.
            far = {"yaw": np.abs(theta).max(), "pitch": 0.0, "roll": np.abs(tb).max()}[motion.axis]
            beyond = far >= SINGULAR or np.abs(theta).max() >= math.pi
            ta = np.arctan2(np.cos(alpha) * np.sin(theta), np.cos(theta))
        if beyond:
            raise RobotError("motion", motion.name, "less than 90° to the side: a pendulum's joint is singular there")
        return {"ta": ta, "tb": tb}
    if not isinstance(tail, (R3, Usrt)):
        raise RobotError("tail", tail, "a pendulum, R3 or USRT tail, for which motions of the centre of mass are known")
    if motion.space == "joints" and np.abs(theta).min() < math.radians(0.1):
        raise RobotError("motion", motion.name, "no way through the straight tail, where its roll is not defined")
    bend = _bend_per_joint(tail, theta, com_map)
    if isinstance(tail, R3):
        return {"alpha": alpha + 0.0 * bend, **{f"beta_{s + 1}": bend for s in range(tail.segments)}}
    # Universal joints bend about x and z; an even bend in one plane, to first order in what each joint turns.
    joints = range(1, tail.links + 1)
    return {f"phi_{i}": bend * np.cos(alpha) for i in joints} | {f"theta_{i}": -bend * np.sin(alpha) for i in joints}


def profiles(tail: Any, motion: TailMotion, com_map: str = "arc") -> dict[str, Profiles]:
    """A tail's coordinates over time, by name.

    Args:
        tail: a pendulum, R3 or USRT tail.
        motion: what its centre of mass shall do.
        com_map: "arc" for Eq. 86, "chain" for the exact centre of mass of the links.
    """
    return _over_time(motion, lambda share: shapes(tail, motion, com_map, share))


def segment_profiles(tail: Usrt, motion: TailMotion, com_map: str = "arc") -> dict[str, tuple[Profiles, ...]]:
    """How much each segment of a USRT shall bend about x ("pitch") and about z ("yaw") over time [rad]."""
    sizes = segment_sizes(tail)

    def bends(share: Floats) -> dict[str, Floats]:
        shape = shapes(tail, motion, com_map, share)
        turns = {"pitch": shape["phi_1"], "yaw": shape["theta_1"]}
        return {f"{name} {k}": turn * size for name, turn in turns.items() for k, size in enumerate(sizes)}

    found = _over_time(motion, bends)
    return {name: tuple(found[f"{name} {k}"] for k in range(len(sizes))) for name in ("pitch", "yaw")}


def segment_sizes(tail: Usrt) -> list[int]:
    """How many links each segment of a USRT has."""
    ends = [(s + 1) * tail.links // tail.segments for s in range(tail.segments)]
    return [b - a for a, b in zip([0, *ends], ends, strict=False)]


def _over_time(motion: TailMotion, of_share: Callable[[Floats], dict[str, Floats]]) -> dict[str, Profiles]:
    """Functions of the share of a motion as profiles in time."""
    low, high = motion.shares
    found: dict[str, Profiles] = {}
    nodes, probes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1)), np.linspace(-1.0, 1.0, 7)
    between = (low + high) / 2 + (high - low) / 2 * np.array([*nodes, *probes])
    for name, values in of_share(between).items():
        series = np.polynomial.chebyshev.chebfit(nodes, values[: DEGREE + 1], DEGREE)
        wrong = np.abs(np.polynomial.chebyshev.chebval(probes, series) - values[DEGREE + 1 :])
        if wrong.max() > ACCURACY:
            required = "a motion that this tail makes smoothly (it comes too near to where its shape is not defined)"
            raise RobotError("motion", motion.name, required)
        # Always a series, even of what is constant or linear: all motions then have the same structure.
        found[name] = Mapped(inner=motion.share, coefficients=tuple(map(float, series)), low=low, high=high)
    return found
