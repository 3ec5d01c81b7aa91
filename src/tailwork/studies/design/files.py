"""Design problems in TOML files. A file is data: nothing in it is evaluated."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tailwork.errors import NOTHING, ArgumentError, UnknownNameError
from tailwork.robots import Robot, load, presets
from tailwork.robots.io.load import OTHERS
from tailwork.robots.io.toml import parsed, read_text
from tailwork.robots.quantities import checked
from tailwork.robots.tails.fit import configured
from tailwork.studies.design.problem import FINITE, Goal, Limit, Study, Variable
from tailwork.studies.design.uncertainty import Robust
from tailwork.studies.motions import sweep
from tailwork.studies.scenario import ActuatorMass, Scenario

TABLES = ("robot", "scenario", "variables", "goals", "limits", "choices", "actuator", "robust")
NUMBERS = ("steps", "seed")
IMPORTS = ("feet", "posture", "forward", "foot_radius")
"""Keys of [robot] that say what a URDF or an MJCF cannot, as `tailwork.load` takes them."""
TAIL_KEYS: dict[str, Any] = {"tail": str, "tail_mass": (int, float), "tail_length": (int, float), "as_published": bool}
"""What the table [robot] may say of a tail that is put on, and of what type it is."""
FILES = (".toml", *OTHERS)


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
        ArgumentError: it states no possible problem.
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
        raise ArgumentError(
            "robust", [goal.measure for goal in study.goals], "one goal: fronts are found without margins"
        )
    if not study.limits:
        raise ArgumentError("robust", robust, "limits for it to keep: a table [limits]")
    return ProblemFile(study, _made("robust", Robust, robust), text)


def study_from_text(text: str, file: str | os.PathLike[str]) -> Study:
    """The problem in the text of a file; a robot's file is looked for beside it."""
    data = parsed(file, text)
    _check_keys("", data, (*TABLES, *NUMBERS, "name"))
    for key in ("robot", "variables", "goals"):
        if key not in data:
            raise ArgumentError(key, NOTHING, f"a table [{key}]")
    for key in TABLES:
        if key in data and not isinstance(data[key], dict):
            raise ArgumentError(key, data[key], f"a table [{key}]")
    return Study(
        name=str(data.get("name", Path(file).stem)),
        scenario=_scenario(
            robot_from(data["robot"], Path(file).parent),
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
    except ArgumentError as error:
        raise error.within("scenario") from None


def robot_from(data: Mapping[str, Any], folder: Path) -> Robot:
    """The robot that a table [robot] describes; files are looked for in a folder."""
    _check_keys("robot", data, ("preset", "file", *TAIL_KEYS, "change", *IMPORTS))
    if ("preset" in data) == ("file" in data):
        raise ArgumentError("robot", dict(data), "either `preset` or `file`")
    options = {key: data[key] for key in IMPORTS if key in data}
    if options and "file" not in data:
        raise ArgumentError(f"robot.{next(iter(options))}", data["preset"], "a `file` that is a URDF or an MJCF")
    robot = load(folder / str(data["file"]), **options) if "file" in data else _preset(data["preset"])
    changes = data.get("change", {})
    if not isinstance(changes, dict):
        raise ArgumentError("robot.change", changes, "a table of numbers by path")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    for key, kind in TAIL_KEYS.items():
        if key in data and (not isinstance(data[key], kind) or (isinstance(data[key], bool) and kind is not bool)):
            raise ArgumentError(f"robot.{key}", data[key], {str: "text", bool: "true or false"}.get(kind, "a number"))
    tail = data.get("tail")
    if tail is not None and str(tail).endswith(FILES):
        tail = str(folder / tail)
    try:
        return configured(
            robot, tail, given, mass=data.get("tail_mass"), length=data.get("tail_length"),
            published=data.get("as_published", False), preset=str(data.get("preset", "")),
        )  # fmt: skip
    except ArgumentError as error:
        raise (error if tail is None else error.within("robot")) from None


def _preset(name: Any) -> Robot:
    known = presets()
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError.among("robot.preset", str(name), known, "preset")
    return known[name]()


def _made(path: str, kind: type, data: Mapping[str, Any]) -> Any:
    _check_keys(path, data, [field.name for field in fields(kind)])
    try:
        return kind(**data)
    except ArgumentError as error:
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
    raise ArgumentError(path, value, required)


def _limit(name: str, value: Any) -> Limit:
    if not isinstance(value, dict) or not value or not value.keys() <= {"least", "most"}:
        raise ArgumentError(f"limits.{name}", value, "{ least = … }, { most = … } or both")
    return Limit(name, value.get("least"), value.get("most"))


def _list(path: str, values: Any) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise ArgumentError(path, values, "a list of values to try")
    return values
