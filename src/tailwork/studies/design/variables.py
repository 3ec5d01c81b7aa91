"""From the values of variables to the numbers of a robot and its motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.paths import numbers, rebuild
from tailwork.robots.quantities import Kind
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.studies.design.derived import check_whole, derived_names, own_numbers
from tailwork.studies.design.problem import CONTROL, LARGEST_SWEEP, MOTION, Study, Variable
from tailwork.typing import Floats

OTHERS = ("motion.", "control.")
"""What variables begin with that are no numbers of the robot."""
SMALL = 1e-3
"""What stands for a zero, in the robot that is compiled, of a number that varies: zeros are part of the structure."""


@dataclass(frozen=True)
class Design:
    """A robot and a motion."""

    robot: Robot
    sweep: float  # [deg]
    duration: float  # [s]
    early: float
    skew: float
    kp: float  # of the law that bends a tail with cables [N m/rad]
    kd: float  # [N m s/rad]


def known_variables(study: Study) -> dict[str, str]:
    """By name of every number that could vary, those of motion and tail first: its unit."""
    kinds: dict[str, Kind] = {}

    def visit(path: str, value: float, kind: Kind) -> float:
        kinds[path] = kind
        return value

    rebuild(study.robot, visit)
    stem = f"{study.tail_name}."
    own = {path: kind.unit for path, kind in kinds.items()}
    found = {f"motion.{name}": unit for name, unit in MOTION.items()}
    if isinstance(study.tail, Usrt):
        found |= {f"control.{name}": unit for name, unit in CONTROL.items()}
    found |= {f"{stem}{name}": unit for name, unit in derived_names(study.tail).items()}
    return found | {path: unit for path, unit in own.items() if path.startswith(stem)} | own


def checked_variables(study: Study) -> tuple[Variable, ...]:
    """The variables with their units; names, units and what bounds allow are checked."""
    known = known_variables(study)
    found = []
    for variable in study.variables:
        if variable.name not in known:
            raise UnknownNameError.among(
                f"variables.{variable.name}", variable.name, known, "number of robot or motion"
            )
        unit = known[variable.name] or "1"
        if variable.unit and variable.unit != unit:
            raise RobotError(f"variables.{variable.name}", variable.unit, f"values in the unit {unit}")
        found.append(Variable(variable.name, float(variable.low), float(variable.high), unit))
    for variable in found:
        for value in (variable.low, variable.high):
            try:
                design_of(study, _middle(found) | {variable.name: value})
            except RobotError as error:
                raise RobotError(f"variables.{variable.name}", value, f"bounds within which {error}") from None
    return tuple(found)


def _middle(variables: list[Variable]) -> dict[str, float]:
    return {variable.name: 0.5 * (variable.low + variable.high) for variable in variables}


def design_of(study: Study, values: Mapping[str, float]) -> Design:
    """The robot and the motion of a design."""
    motion = {name: float(values.get(f"motion.{name}", getattr(study.scenario, name))) for name in MOTION}
    gains = {name: float(values.get(f"control.{name}", getattr(study.scenario, name))) for name in CONTROL}
    for name, gain in gains.items():
        if gain < 0.0:
            raise RobotError(f"control.{name}", gain, "a gain that is not negative")
    if motion["duration"] <= 0.0:
        raise RobotError("motion.duration", motion["duration"], "a duration greater than 0 [s]")
    if isinstance(study.tail, Pendulum) and study.scenario.axis == "yaw" and abs(motion["sweep"]) > LARGEST_SWEEP:
        raise RobotError("motion.sweep", motion["sweep"], f"at most {LARGEST_SWEEP:g}° to the side")
    stem = f"{study.tail_name}."
    whole = {name.removeprefix(stem): float(value) for name, value in values.items() if name.startswith(stem)}
    check_whole(study.tail, whole)
    own = {name: np.array([float(value)]) for name, value in values.items()}
    changes = {path: float(value[0]) for path, value in _robot_numbers(study, own).items()}
    return Design(study.robot.replace(changes) if changes else study.robot, **motion, **gains)


def _robot_numbers(study: Study, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Numbers of the robot, by path, that follow from variables."""
    stem = f"{study.tail_name}."
    robot = {name: value for name, value in values.items() if not name.startswith(OTHERS)}
    tail = {name.removeprefix(stem): value for name, value in robot.items() if name.startswith(stem)}
    rest = {name: value for name, value in robot.items() if not name.startswith(stem)}
    return rest | {f"{stem}{name}": value for name, value in own_numbers(study.tail, tail).items()}


def compiled_design(study: Study, variables: tuple[Variable, ...]) -> Design:
    """The design whose equations serve all: no number of the robot that varies is zero in it."""
    design = design_of(study, _middle(list(variables)))
    have = numbers(design.robot)
    middle = np.array([list(_middle(list(variables)).values())])
    varied = [path for path in number_columns(study, variables, middle) if path in have]
    zeros = {path: SMALL for path in varied if have[path] == 0.0}
    return replace(design, robot=design.robot.replace(zeros)) if zeros else design


def number_columns(study: Study, variables: tuple[Variable, ...], designs: Floats) -> dict[str, Floats]:
    """By path of the robot: its numbers in all designs, (designs,), of those that vary."""
    return _robot_numbers(study, {variable.name: designs[:, k] for k, variable in enumerate(variables)})


def other_columns(study: Study, variables: tuple[Variable, ...], designs: Floats) -> dict[str, Floats]:
    """By number of the motion and of the control: its values in all designs, (designs,) [deg, s, 1, N m/rad, …]."""
    places = {variable.name: k for k, variable in enumerate(variables)}
    found = {}
    for kind, names in (("motion", MOTION), ("control", CONTROL)):
        for name in names:
            k = places.get(f"{kind}.{name}")
            found[name] = np.full(len(designs), float(getattr(study.scenario, name))) if k is None else designs[:, k]
    return found


def joints_bent(tail: Any) -> int:
    """How many joints share the sweep of a tail."""
    return tail.links_per_segment * tail.segments if isinstance(tail, R3) else 1
