"""A Sphinx extension: docstrings are plain English with `code` between backticks; here they become reStructuredText.

Fields of dataclasses and named tuples are listed with what they hold, their unit, their default and what they mean,
from their metadata, from the docstring or the comment beside them, or from `Attributes:` in the docstring of the class.
Signatures stand as they are written in the source. Code that names something documented becomes a link to it.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import re
import sys
import textwrap
import tokenize
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils.nodes import Element, document, reference
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

CODE = re.compile(r"(`[^`]+`)")
SPECIAL = re.compile(r"([\\*|_])")
NAME = re.compile(r"[A-Za-z_][\w.]*")
ATTRIBUTES = re.compile(r"^Attributes:\n(?P<entries>(?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^    (?P<name>\w+): (?P<meaning>.*(?:\n     .*)*)", re.MULTILINE)
GAP = re.compile(r"(?<=\S) {4,}")
SECTIONS = {
    "Args:": ":param {}: {}",
    "Raises:": ":raises {}: {}",
    "Returns:": ":returns{}: {}",
    "Attributes:": "* **{}**: {}",
}
"""Sections of a docstring, and how an entry of each is written: its name, and what is said of it."""
HIDDEN = ("check", "kind")
"""Members of descriptions: one that only the machinery calls, and one that is said in words."""
WORDS = {
    "Scalar": "number",
    "float": "number",
    "int": "integer",
    "str": "text",
    "bool": "yes or no",
    "Floats": "array",
    "np.ndarray": "array",
    "Any": "anything",
    "Triple": "three numbers",
    "Profiles": "profile",
    "None": "None",
}
"""Types in words."""
SHAPES = {
    (): "number",
    (2,): "two numbers, or None",
    (3,): "three numbers",
    (6,): "six numbers: xx, yy, zz, xy, xz, yz",
    (3, 3): "rotation matrix",
    (-1,): "numbers",
    (-1, 3): "vectors of three numbers",
}
"""What a field of a description holds, by its shape."""
COUNTS = ("no", "one", "two", "three", "four", "five", "six")
POWERS = str.maketrans("23", "²³")


@dataclass(frozen=True)
class Field:
    """A field of a dataclass or named tuple, as it is described."""

    name: str
    type: str  # as it is written
    shape: tuple[int, ...] | None  # of a number of a description; None: metadata does not say
    unit: str | None  # empty: it has none; None: metadata does not say
    requirement: str
    default: str  # as it is written; empty: there is none
    meaning: str


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    from sphinx.util.inspect import TypeAliasForwardRef

    TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # within other types, too, an alias is shown by its name
    app.connect("autodoc-process-docstring", to_rst)
    app.connect("autodoc-process-signature", as_written)
    app.connect("autodoc-skip-member", skipped)
    app.connect("doctree-read", exact)
    app.connect("missing-reference", linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def to_rst(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrites the lines of a docstring in place: code as links or literals, and nothing else special."""
    if what in ("data", "attribute") and "\n".join(lines).strip() == (inspect.getdoc(type(thing)) or "").strip():
        lines[:] = []  # the docstring of a built-in type, not of ours
    fields = fields_of(thing) if what == "class" else ()
    if fields:
        lines[:] = without_attributes("\n".join(lines)).splitlines()
    lines[:] = _marked_up(lines)
    if fields:
        lines += ["", *_kind(thing), _head(thing), "", *(_item(field) for field in fields), ""]


def as_written(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str] | None:
    """The signature as the source has it; none for errors and for classes whose fields are listed."""
    if signature is None:
        return None
    if what == "exception" or (what == "class" and (dataclasses.is_dataclass(thing) or fields_of(thing))):
        return "", ""
    function = thing.__init__ if what == "class" else inspect.unwrap(thing) if callable(thing) else None
    if not inspect.isfunction(function):
        return None
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = node.args
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments.args.pop(0)
    arguments.defaults = [_spelled(default, function) for default in arguments.defaults]
    arguments.kw_defaults = [default and _spelled(default, function) for default in arguments.kw_defaults]
    result = ast.unparse(node.returns) if node.returns is not None and node.name != "__init__" else ""
    return f"({ast.unparse(arguments)})", result


def _spelled(default: ast.expr, function: Any) -> ast.expr:
    """A default: of a constant of the module, what it is."""
    value = function.__globals__.get(default.id) if isinstance(default, ast.Name) else None
    return ast.Constant(value) if isinstance(value, int | float | str) else default


def skipped(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leaves out the members that are hidden."""
    return True if what == "class" and name in HIDDEN else None


def exact(app: Sphinx, doctree: document) -> None:
    """Types in signatures are looked for in their own module; elsewhere by `linked`, which knows what is meant."""
    from sphinx.addnodes import pending_xref

    for node in doctree.findall(pending_xref):
        if node.get("refdomain") == "py":
            node.attributes.pop("refspecific", None)


def linked(app: Sphinx, env: BuildEnvironment, node: Element, words: Element) -> reference | None:
    """The link to what is documented under another path: a class by its bare name, a name by another of its modules."""
    from sphinx.util.nodes import make_refnode

    target = node["reftarget"]
    last = target.rpartition(".")[2]
    if node.get("refdomain") != "py" or not (last[:1].isupper() or target.startswith("tailwork.")):
        return None
    objects = env.get_domain("py").objects  # type: ignore[attr-defined]  # of the Python domain
    found = [entry for full, entry in objects.items() if full.endswith(f".{last}") and not entry.aliased]
    if len(found) != 1:
        return None
    return make_refnode(app.builder, node["refdoc"], found[0].docname, found[0].node_id, words)


@cache
def fields_of(kind: type) -> tuple[Field, ...]:
    """The fields of a dataclass or named tuple, those of its bases first; none for anything else."""
    if not isinstance(kind, type):
        return ()
    if dataclasses.is_dataclass(kind):
        metadata = {field.name: field.metadata for field in dataclasses.fields(kind)}
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        metadata = {name: {} for name in kind._fields}  # type: ignore[attr-defined]  # of a named tuple
    else:
        return ()
    said = {match["name"]: " ".join(match["meaning"].split()) for match in _attributes(inspect.getdoc(kind) or "")}
    written: dict[str, tuple[str, str, str]] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("tailwork"):
            written |= _written(base)
    return tuple(_field(kind, name, data, *written[name], said.get(name, "")) for name, data in metadata.items())


def without_attributes(text: str) -> str:
    """A docstring without its `Attributes:`."""
    return ATTRIBUTES.sub("", text)


def _attributes(text: str) -> list[re.Match[str]]:
    """The entries of `Attributes:` in a docstring."""
    section = ATTRIBUTES.search(text)
    return list(ENTRY.finditer(section["entries"])) if section else []


def _field(owner: type, name: str, metadata: Any, type_: str, value: str, beside: str, said: str) -> Field:
    kind = metadata.get("kind")
    default = _default(value, made="kind" in metadata or "meaning" in metadata)
    if default.isupper() and default.isidentifier():  # a constant of the module: what it is says more than its name
        default = repr(getattr(owner, name))
    return Field(
        name=name,
        type=type_,
        shape=None if kind is None else kind.shape,
        unit=metadata.get("unit") if kind is None else kind.unit,
        requirement="" if kind is None else kind.requirement,
        default=default,
        meaning=said or beside or metadata.get("meaning", ""),
    )


def _default(value: str, made: bool) -> str:
    """The default of a field: what it is set to, or what a function that makes fields is told."""
    if not value:
        return ""
    node: ast.expr | None = ast.parse(value, mode="eval").body
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (made or node.func.id == "field"):
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if node.func.id == "field":
            node = given.get("default", given.get("default_factory"))
            return {"dict": "{}", "tuple": "()", "list": "[]"}.get(ast.unparse(node), ast.unparse(node)) if node else ""
        place = 0 if node.func.id == "matrix" else 1
        if node.func.id == "measure" or len(node.args) <= place:
            return ""
        node = node.args[place]
    return " ".join((ast.get_source_segment(value, node) or "").split())


def _written(kind: type) -> dict[str, tuple[str, str, str]]:
    """By field that a class itself declares: its type, what it is set to, and the docstring or comment beside it."""
    lines, classes, comments = _module(kind.__module__)
    body = classes[kind.__name__].body
    found = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            beside = comments.get(node.end_lineno or 0, "")
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                beside = " ".join(str(after.value.value).split())
            value = _segment(lines, node.value) if node.value else ""
            found[node.target.id] = (ast.unparse(node.annotation), value, beside)
    return found


@cache
def _module(name: str) -> tuple[list[bytes], dict[str, ast.ClassDef], dict[int, str]]:
    """The lines of a module, its classes by name and its comments by line."""
    source = inspect.getsource(sys.modules[name])
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    return source.encode().splitlines(), classes, comments


def _segment(lines: list[bytes], node: ast.expr) -> str:
    """An expression as it is written, on one line."""
    found = lines[node.lineno - 1 : node.end_lineno]
    found[-1] = found[-1][: node.end_col_offset]
    found[0] = found[0][node.col_offset :]
    return " ".join(b" ".join(found).decode().split())


def _head(kind: type) -> str:
    """What stands above the list of fields."""
    parameters = inspect.signature(kind).parameters.values()
    by_name = all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    return "Fields, given by name:" if by_name else "Fields, in this order:"


def _item(field: Field) -> str:
    """A field as an item of a list."""
    unit = f" [{field.unit.translate(POWERS).replace('^', '')}]" if field.unit and field.unit != "1" else ""
    holds = _in_words(ast.parse(field.type, mode="eval").body) if field.shape is None else SHAPES[field.shape]
    default = f"default ``{field.default}``" if field.default else ""
    meaning = f": {_inline(field.meaning)}" if field.meaning else ""
    return f"* **{field.name}** ({', '.join(filter(None, (holds + unit, field.requirement, default)))}){meaning}"


def _kind(thing: Any) -> list[str]:
    """How a kind of part is named in files."""
    kind = thing.__dict__.get("kind")
    return [f'In files: ``kind = "{kind}"``.', ""] if isinstance(kind, str) else []


def _in_words(node: ast.expr) -> str:
    """A type in words, with links to classes."""
    written = ast.unparse(node)
    if written in WORDS:
        return WORDS[written]
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{_in_words(left)} or {_in_words(right)}"
        case ast.Subscript(value=ast.Name("tuple"), slice=ast.Tuple([inner, ast.Constant()])):
            return f"tuple of {_in_words(inner)}"
        case ast.Subscript(value=ast.Name("tuple"), slice=ast.Tuple(inner)):
            words = list(map(_in_words, inner))
            return f"{COUNTS[len(words)]} numbers" if set(words) == {"number"} else f"({', '.join(words)})"
        case ast.Subscript(value=ast.Name("Sequence"), slice=inner):
            return f"sequence of {_in_words(inner)}"
        case ast.Subscript(value=ast.Name("Mapping" | "dict"), slice=ast.Tuple([_, inner])):
            return f"{_in_words(inner)} by name"
    return f":py:obj:`{written}`" if isinstance(node, ast.Name) else f"``{written}``"


def _marked_up(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText: sections as lists; what else is indented stands as it is."""
    shown: list[str] = []
    for head, below in _parts(lines):
        text = "\n".join(below)
        if head == "Attributes:":
            shown += [head, ""]
        if head in SECTIONS:
            entries = ENTRY.finditer(text) if head != "Returns:" else [{"name": "", "meaning": text}]
            shown += [
                SECTIONS[head].format(each["name"], _inline(" ".join(each["meaning"].split()))) for each in entries
            ]
        else:
            shown.append(_inline(head))
            if text.strip():
                shown += ["", ".. code-block:: text", "", *(GAP.sub("    ", line) for line in below)]
        if below:
            shown.append("")
    return shown


def _parts(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Each line that is not indented, with those below it that are indented or empty."""
    parts: list[tuple[str, list[str]]] = []
    for line in lines:
        if line and not line.startswith(" "):
            parts.append((line, []))
        elif parts:
            parts[-1][1].append(line)
    return parts


def _inline(line: str) -> str:
    """A line with its code as links or literals; what else would be markup is escaped."""
    parts = CODE.split(line)
    return "".join(_code(part) if CODE.fullmatch(part) else SPECIAL.sub(r"\\\1", part) for part in parts)


def _code(part: str) -> str:
    return f":py:obj:{part}" if NAME.fullmatch(part[1:-1]) else f"`{part}`"
