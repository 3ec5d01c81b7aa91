"""What efforts and foot forces must keep to: limits of actuators, cables that pull, feet that push and do not slip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError, UnknownNameError, is_finite_number
from tailwork.mechanics.layout import Layout
from tailwork.robots.limb import Cable
from tailwork.typing import Floats


@dataclass(frozen=True)
class Rules:
    """What efforts and foot forces must keep to. Infinite: no such constraint."""

    lower: Floats  # (actuators,) [N m or N]
    upper: Floats
    cable: np.ndarray  # (actuators,): which can only pull
    least: float  # normal force [N]
    friction: float
    weights: Floats  # (actuators,)


def rules_for(
    layout: Layout,
    friction: float,
    limits: Mapping[str, float] | None,
    least_normal: float,
    weights: Mapping[str, float] | None,
) -> Rules:
    """The constraints, checked; see `Model.admissible_efforts`."""
    if not _real(friction) or not friction > 0.0:
        raise ArgumentError("friction", friction, "a positive number; infinite for feet that never slip")
    if not _real(least_normal) or not 0.0 <= least_normal < inf:
        raise ArgumentError("least_normal", least_normal, "a finite number that is not negative [N]")
    actuators, names = layout.actuators, layout.actuator_names
    upper = np.array([float(actuator.limit) or inf for actuator in actuators])  # zero: no limit is known
    required = "a finite positive number [N m or N]"
    limited = by_name("limits", {} if limits is None else limits, names, required, "{'leg1.k': 40.0}", _positive)
    for name, value in limited.items():
        upper[names.index(name)] = value
    required = "a finite positive number"
    shares = by_name("weights", {} if weights is None else weights, names, required, "{'leg1.k': 2.0}", _positive)
    cable = np.array([isinstance(actuator, Cable) for actuator in actuators], dtype=bool)
    upper[list(layout.stiffnesses)] = 0.0  # a stiffness is set, not asked for an effort
    return Rules(
        lower=np.where(cable, 0.0, -upper),
        upper=upper,
        cable=cable,
        least=float(least_normal),
        friction=float(friction),
        weights=np.array([shares.get(name, 1.0) for name in names]),
    )


def _real(value: Any) -> bool:
    return is_finite_number(value) or (isinstance(value, float) and value == inf)


def _positive(value: float) -> bool:
    return 0.0 < value < inf


def by_name(
    argument: str, values: Any, names: tuple[str, ...], required: str, example: str, allowed: Callable[[float], bool]
) -> dict[str, float]:
    """Numbers by actuator name, checked."""
    if not isinstance(values, Mapping):
        raise ArgumentError(argument, values, f"numbers by actuator name, such as {example}")
    for name, value in values.items():
        if name not in names:
            raise UnknownNameError.among(argument, str(name), names, "actuator")
        if not _real(value) or not allowed(value):
            raise ArgumentError(f"{argument}.{name}", value, required)
    return {name: float(value) for name, value in values.items()}


def constraint_names(layout: Layout, rules: Rules) -> list[str]:
    """All constraints in words: limits, tensions, normal forces, friction; empty for those that do not exist."""
    said = []
    for k, (name, unit) in enumerate(zip(layout.actuator_names, layout.actuator_units, strict=True)):
        sign = "≤ " if rules.cable[k] else "±"
        said.append(f"limit of {name} {sign}{rules.upper[k]:g} {unit}" if isfinite(rules.upper[k]) else "")
    said += [f"tension of {name} ≥ 0" if rules.cable[k] else "" for k, name in enumerate(layout.actuator_names)]
    least = f"{rules.least:g} N" if rules.least else "0"
    said += [f"normal force of {foot} ≥ {least}" for foot in layout.stance]
    said += [f"friction of {foot} ≤ {rules.friction:g}" if isfinite(rules.friction) else "" for foot in layout.stance]
    return said
