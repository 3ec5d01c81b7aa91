"""From the values of variables to scenarios, and to the parameters of the compiled problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from tailwork.errors import ArgumentError, check_known
from tailwork.studies.design.problem import CONTROL, MOTION, Study, Variable
from tailwork.studies.scenario import Scenario, parameter_name
from tailwork.studies.structure_groups import number_units

SCALES = {"motion.sweep": math.pi / 180.0}
"""Variables that are not in SI units: what one of theirs is."""


def known_variables(study: Study) -> dict[str, str]:
    """By name of every number that could vary, those of motion and tail first: its unit."""
    own, stem = number_units(study.robot), f"{study.tail_name}."
    found = {f"motion.{name}": unit for name, unit in MOTION.items()}
    if parameter_name(study.scenario, "control.kp"):
        found |= {f"control.{name}": unit for name, unit in CONTROL.items()}
    return found | {path: unit for path, unit in own.items() if path.startswith(stem)} | own


def checked_variables(study: Study) -> tuple[Variable, ...]:
    """The variables with their units; names, units and what bounds allow are checked."""
    known = known_variables(study)
    found = []
    for variable in study.variables:
        check_known(f"variables.{variable.name}", [variable.name], known, "number of robot or motion")
        unit = known[variable.name] or "1"
        if variable.unit and variable.unit != unit:
            raise ArgumentError(f"variables.{variable.name}", variable.unit, f"values in the unit {unit}")
        found.append(Variable(variable.name, float(variable.low), float(variable.high), unit))
    others = {name: value for name, value in middle(found).items() if name.startswith(("motion.", "control."))}
    own = {name: value for name, value in middle(found).items() if name not in others}

    @cache
    def with_middle_robot() -> Study:
        return replace(study, scenario=study.scenario.with_robot(study.robot.replace(own) if own else study.robot))

    for variable in found:
        for value in (variable.low, variable.high):
            try:
                if variable.name in others:
                    design_of(with_middle_robot(), others | {variable.name: value})
                else:
                    design_of(study, own | others | {variable.name: value})
            except ArgumentError as error:
                raise ArgumentError(f"variables.{variable.name}", value, f"bounds within which {error}") from None
    return tuple(found)


def middle(variables: list[Variable] | tuple[Variable, ...]) -> dict[str, float]:
    """The values in the middle of all bounds."""
    return {variable.name: 0.5 * (variable.low + variable.high) for variable in variables}


def design_of(study: Study, values: Mapping[str, float]) -> Scenario:
    """The scenario of a design, by values of variables each in its unit."""
    scenario = study.scenario
    motion, gains, robot = {}, {}, {}
    for name, value in values.items():
        first, _, rest = name.partition(".")
        if first == "motion":
            motion[rest] = float(value)
        elif first == "control":
            gains[rest] = float(value)
            if value < 0.0:
                raise ArgumentError(name, value, "a gain that is not negative")
        else:
            robot[name] = float(value)
    if motion.get("duration", 1.0) <= 0.0:
        raise ArgumentError("motion.duration", motion["duration"], "a duration greater than 0 [s]")
    if "sweep" in motion:
        motion["end"] = (scenario.motion.end[0], math.radians(motion.pop("sweep")))
    changed = scenario.robot.replace(robot) if robot else scenario.robot
    found = replace(scenario, robot=changed, motion=replace(scenario.motion, **motion), **gains)
    found.motion.check_tail(found.tail_part, found.imposed)
    return found


def value_in(scenario: Scenario, name: str) -> float:
    """A number of the motion or of the control of a scenario, in the unit of variables."""
    if name == "sweep":
        return math.degrees(float(scenario.motion.end[1]))
    if name in CONTROL:
        own = scenario.tail_part.tracking_gains()
        given = getattr(scenario, name)
        return float(next(iter(own.values()))[list(CONTROL).index(name)] if given is None else given)
    return float(getattr(scenario.motion, name))
