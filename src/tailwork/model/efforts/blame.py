"""Why there are no admissible efforts: the constraints to blame, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, floor, inf, isfinite, log10
from typing import Any

import numpy as np

from tailwork.errors import InadmissibleError
from tailwork.mechanics.layout import Layout
from tailwork.model.checks import SHOWN, show_rows
from tailwork.model.efforts.cones import HELD, ScaledState, rows_of, shortfall
from tailwork.model.efforts.rules import Rules, constraint_names

DOMINANT = 0.05
"""Constraints with at least this share of the largest part in a certificate are blamed."""


def inadmissible(layout: Layout, rules: Rules, bad: dict[int, ScaledState], lead: tuple[int, ...]) -> InadmissibleError:
    """The error for states without admissible efforts; reasons for the first of them."""
    row, state = next(iter(bad.items()))
    blame = _blame(constraint_names(layout, rules), state, rules)
    remedies, friction = _remedies(state, rules)
    shown = ", ".join(blame[:SHOWN]) + (f" and {len(blame) - SHOWN} more" if len(blame) > SHOWN else "")
    which = "" if len(bad) == 1 else f" (reasons for {show_rows((row,), lead)})"
    said = f"Possible {'; or '.join(remedies)}" if remedies else "No single kind of constraint is to blame"
    return InadmissibleError(
        "a",
        f"no admissible efforts give this in {show_rows(tuple(bad), lead)}{which}: not all of these can hold: {shown}. "
        f"{said}",
        tuple(bad),
        blame,
        remedies,
        friction,
    )


def _changed(rules: Rules, factor: float = 1.0, push: bool = False, **changes: float) -> Rules:
    """Rules with limits `factor` times as large, cables that may push, or another friction or least normal force."""
    lower = np.where(rules.cable, -inf if push else rules.lower, -factor * rules.upper)
    return replace(rules, upper=factor * rules.upper, lower=lower, **changes)


def _blame(names: list[str], state: ScaledState, rules: Rules) -> tuple[str, ...]:
    """The constraints that a certificate rests on, the foremost first."""
    # Kinds of constraints without which it is no more possible are not to blame.
    kinds: tuple[dict[str, Any], ...] = ({"friction": inf}, {"factor": inf}, {"least": -inf}, {"push": True})
    for without in kinds:
        fewer = _changed(rules, **without)
        if shortfall(rows_of(state, fewer))[0] > 0.5 * HELD:
            rules = fewer
    rows = rows_of(state, rules)
    multipliers = shortfall(rows)[1]
    parts = np.zeros(len(names))
    np.add.at(parts, rows.owner, multipliers[: rows.linear])
    feet = len(state.ground)
    for foot, k in enumerate(range(rows.linear, len(multipliers), 3)):
        # A friction cone also says that the foot pushes: what does not act across is that.
        across = np.hypot(*multipliers[k + 1 : k + 3])
        parts[len(parts) - feet + foot] += across
        parts[len(parts) - 2 * feet + foot] += max(multipliers[k] - across, 0.0) * min(rules.friction, 1.0)
    order = [int(k) for k in np.argsort(-parts, kind="stable") if parts[k] >= DOMINANT * parts.max()]
    return tuple(names[k] for k in order)


def _remedies(state: ScaledState, rules: Rules) -> tuple[tuple[str, ...], float | None]:
    """What alone would make it possible, and the least friction that would."""

    def possible(**changes: Any) -> bool:
        return shortfall(rows_of(state, _changed(rules, **changes)))[0] <= 0.5 * HELD

    found: list[str] = []
    friction: float | None = None
    if np.isfinite(rules.upper).any() and possible(factor=inf):
        factor = _least(lambda factor: possible(factor=factor), 1.0)
        found.append("without limits of the actuators" if factor is None else f"with limits {factor:g} times as large")
    if rules.cable.any() and possible(push=True):
        found.append("if cables could push")
    unloaded = rules.least > 0.0 and possible(least=0.0)
    if unloaded:
        found.append("if any normal force of 0 or more were enough")
    slippery = isfinite(rules.friction) and len(state.ground) > 0
    if slippery and possible(friction=inf):
        friction = _least(lambda value: possible(friction=value), rules.friction)
        found.append("if feet never slipped" if friction is None else f"with friction of at least {friction:g}")
    elif len(state.ground) and not unloaded and possible(least=-inf, friction=inf):
        found.append("if feet could pull" + (" and never slipped" if slippery else ""))
    return tuple(found), friction


def _least(possible: Callable[[float], bool], start: float) -> float | None:
    """The least number above `start` that makes something possible, rounded up to three digits; None beyond 1e4 ×."""
    low, high = start, 2.0 * start
    while not possible(high):
        low, high = high, 2.0 * high
        if high > 1e4 * max(start, 1.0):
            return None
    while high > (1.0 + 1e-5) * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if possible(middle) else (middle, high)
    digit = 10.0 ** (floor(log10(high)) - 2)
    return float(f"{ceil(high / digit) * digit:.3g}")
