"""Robots in TOML files, read and written exactly. A file is data: nothing in it is evaluated.

    name = "runner"
    gravity = 9.81
    stand = [0.0, 0.0, 0.4]
    forward = "y"

    [torso]
    kind = "plate"
    mass = 12.0
    …

    [tail]
    kind = "pendulum"
    length = 0.48
    …

Every table besides [torso] is a part of that name; `kind` says which. The keys of a table are the fields of the class
of that kind, in SI units. A joint that is left out of a hole or a spring is the torso.
"""

from __future__ import annotations

import dataclasses
import os
import re
import textwrap
import tomllib
from collections.abc import Sequence
from types import NoneType
from typing import Any

import tomli_w

from tailwork.errors import NOTHING, ArgumentError, FileError, RobotError, UnknownNameError
from tailwork.files import read_bytes, write_whole
from tailwork.robots.io.kinds import MODULE, PARTS, part_kind, part_kinds
from tailwork.robots.paths import robot_numbers
from tailwork.robots.quantities import Described, alternatives, field_hints, item_hint, label
from tailwork.robots.robot import PlateTorso, Robot, Torso

TORSOS = (Torso, PlateTorso)
LARGEST_FILE = 1_000_000  # bytes; a robot of ten thousand numbers needs a fifth of that
MOST_WORDS = 32
_WORD = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_KEY = re.compile(rf"#[^\n]*+|{_WORD}(?:[ \t]*+\.[ \t]*+{_WORD})*+")  # a comment, or words joined by dots
_PRINTED = re.compile(r"[^\n -~\u00a0-\ufffd]")  # all but what a comment in TOML may hold
_NUMBERS = re.compile(r"\[\n\s++([-+.\w]++(?:,\s++[-+.\w]++)*+),\s*+\]")


def load_toml(path: str | os.PathLike[str]) -> Robot:
    """The robot described by a TOML file.

    Raises:
        FileError: the file cannot be read, or is not TOML.
        RobotError: it describes no possible robot; the error has the path in the robot ("tail.mass").
    """
    return from_text(read_text(path), path)


def from_text(text: str, path: str | os.PathLike[str]) -> Robot:
    """The robot described by the text of a TOML file, which came from `path`."""
    data = parsed(path, text)
    try:
        return _robot(data)
    except ArgumentError as error:
        error.add_note(f"in the file {os.fspath(path)}")
        raise


def save_toml(robot: Robot, path: str | os.PathLike[str], comments: Sequence[str] = ()) -> None:
    """Writes a robot to a TOML file, whole or not at all, under comments; `load_toml` gives back an equal robot.

    Raises:
        FileError: the file cannot be written.
        RobotError: the robot has something that a file cannot hold: a symbol, or code such as a closed form.
    """
    lines = [line for comment in comments for line in textwrap.wrap(_PRINTED.sub("?", comment), 116)]
    text = "".join(f"# {line}\n" for line in lines) + "\n" * bool(lines) + as_text(robot)
    if len(text.encode("utf-8", "replace")) > LARGEST_FILE:
        raise FileError(path, f"the robot is too large for a file ({LARGEST_FILE} bytes)")
    write_whole(path, text)


def as_text(robot: Robot) -> str:
    """The robot as the text of a TOML file.

    Raises:
        RobotError: the robot has something that a file cannot hold: a symbol, or code such as a closed form.
    """
    for name, part in robot.parts.items():
        _require_kind(name, part, part_kinds())
    _require_kind("torso", robot.torso, TORSOS)
    for path_in_robot, value in robot_numbers(robot).items():  # which refuses closed forms
        if not isinstance(value, float):
            raise RobotError(path_in_robot, value, "a number; a file cannot hold symbols")
    first = {"name": robot.name, "gravity": robot.gravity, "stand": robot.stand, "forward": robot.forward}
    last = {"stops": robot.stops, "contacts": robot.contacts, "air": robot.air}
    data = {**first, "torso": robot.torso, **last, **robot.parts}
    plain = {key: as_plain(value) for key, value in data.items() if value not in (None, ())}
    for name, part in robot.parts.items():
        if type(part) not in PARTS:  # which others may not know
            plain[name] = {"kind": part.kind, MODULE: type(part).__module__, **plain[name]}
    # Vectors on one line each, which is how one reads them. Text never spans lines here, so it cannot match.
    return _NUMBERS.sub(lambda found: "[" + re.sub(r",\s+", ", ", found[1]) + "]", tomli_w.dumps(plain))


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file that a person has written."""
    content = read_bytes(path, LARGEST_FILE)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(path, f"not UTF-8 text (line {line}); save it as UTF-8") from None


def parsed(path: Any, text: str) -> dict[str, Any]:
    """What a text in TOML says; errors tell the file that it came from."""
    if not isinstance(text, str):
        raise ArgumentError("text", text, "the text of a file")
    # The time that the parser takes for a key (a.b.c) grows with the square of its words: hours for a megabyte.
    keys = (key for key in _KEY.findall(text) if not key.startswith("#"))
    if any(len(re.findall(_WORD, key)) > MOST_WORDS for key in keys):
        raise FileError(path, f"nested too deeply: a key of more than {MOST_WORDS} words")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FileError(path, "nested too deeply") from None
    except tomllib.TOMLDecodeError as error:  # its message tells line and column, or that it is the end
        last = text.count("\n") + 1
        said, end = str(error).replace("end of document", f"the end, line {last}"), os.path.splitext(str(path))[1]
        what = "not TOML" if end in ("", ".toml") else f"not TOML (the names of such files end in .toml, not {end})"
        raise FileError(path, f"{what}: {said}") from None
    except ValueError:
        raise FileError(path, "a number of too many digits") from None


def _robot(data: dict[str, Any]) -> Robot:
    own = [f.name for f in dataclasses.fields(Robot) if f.name != "parts"]
    fields: dict[str, Any] = {"parts": {}}
    for key, value in data.items():
        if key == "torso":
            fields[key] = _described(value, TORSOS, key)
        elif key in own:
            fields[key] = described_value(value, field_hints(Robot)[key], key)
        elif isinstance(value, dict):
            fields["parts"][key] = _part(value, key)
        else:
            raise UnknownNameError.among(key, key, own, "key, or a table for a part")
    for key in ("name", "torso"):
        if key not in fields:
            raise RobotError(key, NOTHING, "a name for the robot" if key == "name" else "a table [torso]")
    return Robot(**fields)


def _part(data: dict[str, Any], path: str) -> Any:
    """The part in a table. Of a kind that is not of the library, the table also has the module that it came from."""
    if "kind" not in data:
        return _described(data, part_kinds(), path)
    cls = part_kind(path, data["kind"], data.get(MODULE))
    own = data if cls in PARTS else {key: value for key, value in data.items() if key != MODULE}
    return _described(own, (cls,), path)


def _described(data: Any, classes: tuple[type, ...], path: str) -> Any:
    """The description in a table: of the one class, or of that which its `kind` says."""
    if not isinstance(data, dict):
        raise RobotError(path, data, "a table of fields")
    cls = _class_of(data, classes, path)
    hints = field_hints(cls)
    fields = {f.name: f for f in dataclasses.fields(cls) if _is_readable(hints[f.name])}
    given: dict[str, Any] = {}
    for key, value in data.items():
        if key in fields:
            given[key] = described_value(value, hints[key], f"{path}.{key}")
        elif not (key == "kind" and hasattr(cls, "kind")):
            what = f"field of {getattr(cls, 'kind', cls.__name__.lower())!r}"
            raise UnknownNameError.among(f"{path}.{key}", key, fields, what)
    for key, f in fields.items():
        if key not in given and f.default is dataclasses.MISSING:
            if NoneType not in alternatives(hints[key]):
                raise RobotError(f"{path}.{key}", NOTHING, _requirement(f, hints[key]))
            given[key] = None
    try:
        return cls(**given)
    except ArgumentError as error:
        raise error.within(path) from None


def _class_of(data: dict[str, Any], classes: tuple[type, ...], path: str) -> type:
    kinds = {getattr(cls, "kind", ""): cls for cls in classes}
    if "kind" not in data:
        if len(classes) == 1:
            return classes[0]
        raise RobotError(f"{path}.kind", NOTHING, f"one of {', '.join(map(repr, kinds))}")
    kind = data["kind"]
    if not isinstance(kind, str) or kind not in kinds:
        if list(kinds) == [""]:
            return classes[0]  # this class has no kinds, so that `kind` is reported as an unknown field
        raise UnknownNameError.among(f"{path}.kind", str(kind), kinds, "kind")
    return kinds[kind]


def _classes_in(hint: Any) -> tuple[type, ...]:
    """The description classes that a hint allows, directly or as the items of a list."""
    items = item_hint(hint)
    options = alternatives(hint if items is None else items)
    return tuple(option for option in options if isinstance(option, type) and issubclass(option, Described))


def _is_readable(hint: Any) -> bool:
    """False for what only code can give: a closed form."""
    return not any(getattr(option, "_is_protocol", False) for option in alternatives(hint))


def described_value(data: Any, hint: Any, path: str) -> Any:
    """Tables become descriptions; anything else is checked when the description that holds it is created."""
    classes = _classes_in(hint)
    if not classes:
        return data
    if item_hint(hint) is None:
        return _described(data, classes, path)
    if not isinstance(data, list):
        raise RobotError(path, data, f"a list of tables, [[{path}]]")
    return tuple(_described(item, classes, f"{path}.{label(item, k)}") for k, item in enumerate(data))


def _requirement(f: dataclasses.Field[Any], hint: Any) -> str:
    kind = f.metadata.get("kind")
    if kind is not None:
        return kind.phrase()
    if _classes_in(hint):
        return "a list of tables" if item_hint(hint) is not None else "a table of fields"
    return "text" if hint is str else "a value"


def _require_kind(path: str, value: Any, classes: tuple[type, ...]) -> None:
    if type(value) not in classes:
        known = ", ".join(cls.kind for cls in classes)
        raise RobotError(path, value, f"one of the kinds that files know: {known}; `register` makes others known")


def as_plain(value: Any) -> Any:
    """A description as tables, lists, text and numbers."""
    if isinstance(value, Described):
        fields = {"kind": getattr(value, "kind", None)}
        for f in dataclasses.fields(value):
            item, kind = getattr(value, f.name), f.metadata.get("kind")
            silent = item == () or not f.metadata.get("written", True) or (kind is not None and kind.structure)
            fields[f.name] = None if item == f.default and silent else item  # no empty lists, no rotation by nothing
        return {name: as_plain(item) for name, item in fields.items() if item is not None}
    return [as_plain(item) for item in value] if isinstance(value, tuple) else value
