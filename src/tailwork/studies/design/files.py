"""Design problems in TOML files. A file is data: nothing in it is evaluated."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tailwork.errors import NOTHING, RobotError, UnknownNameError
from tailwork.robots import Robot, load, presets
from tailwork.robots.io.toml import parsed, read_text
from tailwork.robots.quantities import checked
from tailwork.studies.design.problem import FINITE, Goal, Limit, Study, Variable
from tailwork.studies.design.uncertainty import Robust
from tailwork.studies.motions import sweep
from tailwork.studies.scenario import ActuatorMass, Scenario

TABLES = ("robot", "scenario", "variables", "goals", "limits", "choices", "actuator", "robust")
NUMBERS = ("steps", "seed")

EXAMPLE = """\
# A design problem for tailwork: run it with `tailwork design problem.toml`.
# The tail of a quadruped shall turn the torso as far as it can, within what its motor can give.
name = "most turn"

[robot]
preset = "liu2020"       # see `tailwork robots`; or: file = "my-robot.toml"
tail = "pendulum"        # a bar; "r3": many links; "usrt": many links that cables bend
# change = { "torso.mass" = 13.0 }  # numbers of the robot that are not as in the preset

[scenario]
axis = "yaw"             # the tail sweeps to the right; "pitch": down
policy = "straight-down" # what the legs do: constant torques; "joint", "foot": springs; "airborne": no feet
sweep = 40.0             # deg, unless it is a variable; of many links: that of the last one
duration = 0.3           # s
# impulse = [0.0, 5.0, 0.0]  # N s: on the torso at the start, inertial frame
# impulse_point = [0.0, 0.0, 0.05]  # m: where it acts, torso frame
# kp = 60.0              # N m/rad: gains by which cables bend a usrt
# kd = 3.0               # N m s/rad

[variables]              # numbers that may change, with their bounds
"tail.length" = [0.2, 0.8]              # m
"tail.total_mass" = [0.2, 1.2]          # kg
"tail.tip_share" = [0.0, 1.0]           # of that mass, at the tip
"tail.mount.y" = [-0.30, -0.15]         # m
"tail.mount.z" = [-0.08, 0.08]          # m
"motion.sweep" = { from = 40.0, to = 60.0, unit = "deg" }
"motion.early" = [-3.0, 3.0]            # > 0: the motion runs ahead of the even one, which is a cubic; < 0: behind it
"motion.skew" = [-6.0, 6.0]             # > 0: ahead in the first half, behind in the second; < 0: the other way round

[goals]                  # one, or several for the trade-off between them
turn = "most"            # deg: how far the torso has turned against the tail at the end of the motion

[limits]                 # along the whole path
peak_tail_torque = { most = 6.0 }       # N m
least_normal_force = { least = 5.0 }    # N: no foot lifts
friction_needed = { most = 0.6 }        # no foot slips
most_extension = { most = 0.97 }        # no leg is straight
roll = { least = -15.0, most = 15.0 }   # deg, at the end

# [choices]              # values that are no continuous numbers: each is tried
# "tail.links_per_segment" = [3, 6, 9]  # of an r3

# [actuator]             # its mass counts in actuator_mass and added_mass; the robot does not carry it
# base = 0.1             # kg
# per_torque = 0.05      # kg/(N m)

# [robust]               # every limit shall hold for what is made, too
# spread = 0.02          # standard deviation of each variable, as a share of its value
# chance = 0.95          # with which each limit holds, to first order
"""
"""A problem to start from, with comments."""


@dataclass(frozen=True)
class ProblemFile:
    """What a problem file states."""

    study: Study
    robust: Robust | None  # None: limits hold for the design as it is computed
    text: str  # of the file


def load_study(file: str | os.PathLike[str]) -> Study:
    """The problem in a TOML file; `load_problem` also reads how sure its limits shall be kept.

    Raises:
        FileError: the file cannot be read, or is not TOML.
        RobotError: it states no possible problem.
    """
    return load_problem(file).study


def load_problem(file: str | os.PathLike[str]) -> ProblemFile:
    """All that a TOML file states, checked; the same errors as of `load_study`."""
    return problem_from_text(read_text(file), file)


def problem_from_text(text: str, file: str | os.PathLike[str]) -> ProblemFile:
    """All that the text of a file states; a robot's file is looked for beside it."""
    study, robust = study_from_text(text, file), parsed(file, text).get("robust")
    if robust is None:
        return ProblemFile(study, None, text)
    if len(study.goals) > 1:
        raise RobotError("robust", [goal.measure for goal in study.goals], "one goal: fronts are found without margins")
    if not study.limits:
        raise RobotError("robust", robust, "limits for it to keep: a table [limits]")
    return ProblemFile(study, _made("robust", Robust, robust), text)


def study_from_text(text: str, file: str | os.PathLike[str]) -> Study:
    """The problem in the text of a file; a robot's file is looked for beside it."""
    data = parsed(file, text)
    _check_keys("", data, (*TABLES, *NUMBERS, "name"))
    for key in ("robot", "variables", "goals"):
        if key not in data:
            raise RobotError(key, NOTHING, f"a table [{key}]")
    for key in TABLES:
        if key in data and not isinstance(data[key], dict):
            raise RobotError(key, data[key], f"a table [{key}]")
    return Study(
        name=str(data.get("name", Path(file).stem)),
        scenario=_scenario(
            _robot(data["robot"], Path(file).parent),
            data.get("scenario", {}),
            _made("actuator", ActuatorMass, data.get("actuator", {})),
        ),
        variables=tuple(_variable(name, value) for name, value in data["variables"].items()),
        goals=tuple(Goal(name, sense) for name, sense in data["goals"].items()),
        limits=tuple(_limit(name, value) for name, value in data.get("limits", {}).items()),
        choices={name: _list(f"choices.{name}", values) for name, values in data.get("choices", {}).items()},
        **{key: data[key] for key in NUMBERS if key in data},
    )


def _scenario(robot: Robot, data: Mapping[str, Any], actuator: ActuatorMass) -> Scenario:
    """What is done, from the table [scenario]."""
    motion: dict[str, Any] = {"axis": "yaw", "sweep": 40.0, "duration": 0.3, "early": 0.0, "skew": 0.0}
    _check_keys("scenario", data, (*motion, "policy", "kp", "kd", "impulse", "impulse_point"))
    for name in ("sweep", "duration", "early", "skew", "kp", "kd"):
        if name in data:
            checked(f"scenario.{name}", data[name], FINITE)
    given: dict[str, Any] = {**motion, "policy": "straight-down", **data}
    try:
        own = sweep(*(given.pop(name) for name in motion))
        return Scenario(robot, own, actuator=actuator, **given)
    except RobotError as error:
        raise error.within("scenario") from None


def _robot(data: Mapping[str, Any], folder: Path) -> Robot:
    _check_keys("robot", data, ("preset", "tail", "file", "change"))
    if ("preset" in data) == ("file" in data):
        raise RobotError("robot", dict(data), "either `preset` or `file`")
    if "file" in data:
        if "tail" in data:
            raise RobotError("robot.tail", data["tail"], "no tail with a file: the file describes it")
        robot = load(folder / str(data["file"]))
    else:
        robot = _preset(data["preset"], data.get("tail"))
    changes = data.get("change", {})
    if not isinstance(changes, dict):
        raise RobotError("robot.change", changes, "a table of numbers by path")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    return robot.replace(given) if given else robot


def _preset(name: Any, tail: Any) -> Robot:
    known = presets()
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError.among("robot.preset", str(name), known, "preset")
    make = known[name]
    if tail is None:
        return make()
    if "tail" not in inspect.signature(make).parameters:
        raise RobotError("robot.tail", tail, f"no tail to choose: {name} has the one it has")
    return make(tail=tail)


def _made(path: str, kind: type, data: Mapping[str, Any]) -> Any:
    _check_keys(path, data, [field.name for field in fields(kind)])
    try:
        return kind(**data)
    except RobotError as error:
        raise error.within(path) from None


def _check_keys(path: str, data: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in data:
        if key not in known:
            raise UnknownNameError.among(f"{path}.{key}" if path else key, key, known, "key")


def _variable(name: str, value: Any) -> Variable:
    path = f"variables.{name}"
    if isinstance(value, list) and len(value) == 2:
        return Variable(name, *value)
    if isinstance(value, dict) and {"from", "to"} <= value.keys() <= {"from", "to", "unit"}:
        return Variable(name, value["from"], value["to"], str(value.get("unit", "")))
    required = "[from, to], or { from = …, to = …, unit = … }"
    if isinstance(value, dict):
        inner = next(iter(value), "")
        required += f'; a name with dots stands in quotes: "{name}.{inner}" = [from, to]'
    raise RobotError(path, value, required)


def _limit(name: str, value: Any) -> Limit:
    if not isinstance(value, dict) or not value or not value.keys() <= {"least", "most"}:
        raise RobotError(f"limits.{name}", value, "{ least = … }, { most = … } or both")
    return Limit(name, value.get("least"), value.get("most"))


def _list(path: str, values: Any) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise RobotError(path, values, "a list of values to try")
    return values
