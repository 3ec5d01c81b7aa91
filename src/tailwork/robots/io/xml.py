"""XML of robots: read by expat, without entities, with the line of every element for messages."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from tailwork.errors import FileError, nearest
from tailwork.files import read_bytes
from tailwork.typing import Floats

LARGEST_FILE = 20_000_000  # bytes; the largest robots of arms, hands and sensors have a fiftieth of that
DEEPEST = 64
"""Elements within elements; a URDF has five."""


@dataclass
class Element:
    """An element, its attributes and what is inside; text is of no use in robot files."""

    file: str
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def error(self, reason: str) -> FileError:
        """An error about this element."""
        return FileError(self.file, f"line {self.line}, {self.shown()}: {reason}")

    def shown(self) -> str:
        """The element in a message: its tag, and its name if it has one."""
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"<{self.tag} name={name!r}>"

    def all(self, tag: str) -> list[Element]:
        """The elements of a tag inside this one."""
        return [child for child in self.children if child.tag == tag]

    def find(self, tag: str) -> Element | None:
        """The only element of a tag inside this one; None: there is none."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"a second <{tag}> in {self.shown()}; required: one at most")
        return found[0] if found else None

    def required(self, tag: str) -> Element:
        """The element of a tag that must be inside this one."""
        found = self.find(tag)
        if found is None:
            raise self.error(f"no <{tag}>; required: one")
        return found

    def text(self, name: str) -> str:
        """An attribute that must be there."""
        if name not in self.attributes:
            raise self.error(f'no {name}; required: the attribute {name}="…"')
        return self.attributes[name]

    def numbers(self, name: str, count: int, default: str | None = None) -> Floats:
        """An attribute of `count` finite numbers."""
        text = self.text(name) if default is None else self.attributes.get(name, default)
        what = "one finite number" if count == 1 else f"{count} finite numbers"
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) != count or not all(map(math.isfinite, values)) or "_" in text:
            hint = "; this looks like xacro: expand it first, by `xacro FILE > robot.urdf`" if "$" in text else ""
            raise self.error(f"{name} is {text[:80]!r}; required: {what}{hint}")
        return np.array(values)

    def number(self, name: str, default: str | None = None) -> float:
        """An attribute that is a finite number."""
        return float(self.numbers(name, 1, default)[0])

    def inside(self) -> Iterator[Element]:
        """This element and all that is inside it."""
        yield self
        for child in self.children:
            yield from child.inside()


def read_xml(path: str | os.PathLike[str], root: str = "", what: str = "", deepest: int = DEEPEST) -> Element:
    """The root element of a file, which must have the tag `root`, if one is given, for it to be `what` ("a URDF").

    Raises:
        FileError: the file cannot be read, is not XML, declares a document type (entities are never expanded), is
            nested deeper than any robot, or has another root.
    """
    content = read_bytes(path, LARGEST_FILE)
    name = os.fspath(path)
    parser = expat.ParserCreate()
    top: list[Element] = []
    open_: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(str(name), tag, attributes, parser.CurrentLineNumber)
        if len(open_) >= deepest:
            raise element.error(f"nested too deeply: more than {deepest} elements in each other")
        (open_[-1].children if open_ else top).append(element)
        open_.append(element)

    def doctype(*_: object) -> None:
        reason = "a DOCTYPE: robot files need none, and entities are not expanded; remove it"
        raise FileError(path, f"line {parser.CurrentLineNumber}: {reason}")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_.pop()
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FileError(path, f"not XML: {error}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not know, or misuses
        raise FileError(path, f"not XML: {error}; save it as UTF-8") from None
    if root and top[0].tag != root:
        known = {"robot": "a URDF or SRDF", "mujoco": "an MJCF", "sdf": "an SDF"}.get(top[0].tag, "no robot file")
        hint = "" if top[0].tag in ("robot", "mujoco", "sdf") else f" ({nearest(top[0].tag, [root])})"
        raise FileError(path, f"its root is <{top[0].tag}>, {known}; required: <{root}> of {what}{hint}")
    return top[0]
