"""Every public name is documented: a docstring, a unit where there is a quantity, and a place in the reference."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pydoc
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tailwork
from tailwork.cli.main import parser
from tailwork.studies import MEASURES

SOURCE = Path(tailwork.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = (
    "robots", "model", "control", "simulation", "studies", "studies.design", "view", "view.scene", "view.player",
)  # fmt: skip
"""Those with names of their own; `tailwork` itself offers theirs."""

QUANTITY = re.compile(r"\b(Scalar|float|Floats|Vector|Point|Symmetric|ArrayLike|NDArray)\b")
"""Types of numbers that have units; integers, and arrays of them, count."""
UNIT = re.compile(r"\[[^\]]+\]|\bSI\b|\bunits?\b")
PAPER = re.compile(r"2018|2020|Nelson & Quinn|Biswal & Mohanty")
DIRECTIVE = re.compile(
    r"^\.\. (?:(?P<module>py:currentmodule)|automodule|auto\w+|py:data):: (?P<name>\S+)$", re.MULTILINE
)


def public(node: ast.AST, path: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """The functions and classes of a module whose names do not begin with _, and the methods of these classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            yield path + child.name, child
            if isinstance(child, ast.ClassDef):
                yield from public(child, f"{path}{child.name}.")


@pytest.mark.parametrize("folder", sorted({str(file.relative_to(SOURCE).parent) for file in MODULES}))
def test_every_public_name_has_a_docstring(folder: str) -> None:
    """A sentence: it begins with a capital, a digit or a symbol, and ends with a full stop or in a list."""
    missing = []
    for file in sorted((SOURCE / folder).glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for name, node in [("the module", tree), *public(tree)]:
            said = ast.get_docstring(node) or ""
            if not re.search(r"[.:;)\]…]$", said):
                missing.append(f"{file.relative_to(SOURCE)}: {name}: {said[-40:]!r}")
    assert missing == []


def exported() -> Iterator[tuple[str, Any]]:
    """Every name that a package offers, with what it is."""
    for package in PACKAGES:
        module = importlib.import_module(f"tailwork.{package}")
        yield from ((f"tailwork.{package}.{name}", getattr(module, name)) for name in module.__all__)
    errors = importlib.import_module("tailwork.errors")
    for name, thing in vars(errors).items():
        if inspect.isclass(thing) and issubclass(thing, tailwork.errors.TailworkError):
            yield f"tailwork.errors.{name}", thing


@cache
def docstrings() -> ModuleType:
    """What the site is built with: it knows the fields of descriptions."""
    spec = importlib.util.spec_from_file_location("docstrings", DOCS / "_ext" / "docstrings.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docstrings"] = module
    spec.loader.exec_module(module)
    return module


def functions(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """A function, or the public methods and properties of a class, with their names."""
    if inspect.isfunction(thing):
        yield name, thing
    for member, value in vars(thing).items() if inspect.isclass(thing) else ():
        found = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        if inspect.isfunction(found) and not member.startswith("_"):
            yield f"{name}.{member}", found


def test_every_quantity_of_a_public_function_has_a_unit() -> None:
    """What takes or gives numbers that are not whole says in which unit: [m], [1] for none, SI, or whose unit it is."""
    without = []
    for name, thing in exported():
        for path, function in functions(name, thing):
            signature = inspect.signature(function)
            types = [
                *(parameter.annotation for parameter in signature.parameters.values()),
                signature.return_annotation,
            ]
            if QUANTITY.search(" ".join(map(str, types))) and not UNIT.search(function.__doc__ or ""):
                without.append(path)
    assert without == []


def test_every_field_of_a_public_class_has_a_meaning_and_a_unit() -> None:
    without = []
    for name, thing in exported():
        for field in docstrings().fields_of(thing) if inspect.isclass(thing) else ():
            # Of numbers by name or in tuples, too; functions and profiles say what their values are.
            is_quantity = QUANTITY.search(field.type) and "Callable" not in field.type
            if not field.meaning or (is_quantity and field.unit is None and not UNIT.search(field.meaning)):
                without.append(f"{name}.{field.name}")
    assert without == []


def test_fields_are_read_as_they_are_written() -> None:
    """Types, units, requirements, defaults and meanings: from metadata, comments, docstrings and `Attributes:`."""
    fields_of = docstrings().fields_of
    _, _, _, length, mass, *_ = fields_of(tailwork.robots.Pendulum)  # the first three are of all tails
    assert (length.name, length.unit, length.requirement, length.default) == ("length", "m", "greater than 0", "")
    assert mass.meaning.startswith("of the bar")
    law = {field.name: field for field in fields_of(importlib.import_module("tailwork.control").FeedForward)}
    assert law["kp"].unit == "1/s^2" and law["kp"].default == "0.0", "of the base class"
    study = {field.name: field for field in fields_of(importlib.import_module("tailwork.studies.design").Study)}
    assert study["choices"].default == "{}" and study["goals"].meaning == "what is wanted; several make a Pareto set."
    assert fields_of(tailwork.Model) == (), "not a dataclass"


def test_every_formulation_names_its_paper() -> None:
    """Which equation each function implements is checked with the tables of equations."""
    files = [file for file in (SOURCE / "papers").rglob("*.py") if file.stem != "claims"]
    assert len(files) > 10
    said = {file.name: ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "" for file in files}
    assert [name for name, text in said.items() if not PAPER.search(text)] == []


@cache
def documented() -> tuple[str, ...]:
    """The full names of all that the pages of the reference document."""
    found = []
    for page in sorted((DOCS / "api").glob("*.md")):
        module = ""
        for match in DIRECTIVE.finditer(page.read_text(encoding="utf-8")):
            if match["module"]:
                module = match["name"]
            else:
                found.append(match["name"] if match["name"].startswith("tailwork.") else f"{module}.{match['name']}")
    return tuple(found)


def test_every_public_name_stands_in_the_reference_once() -> None:
    assert [name for name, count in Counter(documented()).items() if count > 1] == []
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md")}
    for name, thing in exported():
        package, _, last = name.removeprefix("tailwork.").rpartition(".")
        if getattr(thing, "__name__", last) != last:  # a second name of a class: said in a sentence
            assert len(re.findall(f"`{last}`", pages[package.rpartition(".")[2]])) == 1, name
        else:
            assert documented().count(name) == 1, name
    for name in tailwork.__all__:
        assert len(re.findall(rf"^\| .*`tailwork\.{name}[` ]", pages["tailwork"], re.MULTILINE)) == 1, name
    equations = {
        str(file.relative_to(SOURCE).with_suffix("")).replace("/", ".")
        for file in (SOURCE / "papers").rglob("[!_]*.py")
    }
    shown = {name.removeprefix("tailwork.") for name in documented()}
    others = {"claims", "reports", "experiments", "report", "dh_leg"}
    assert {name for name in equations if name.rpartition(".")[2] not in others} <= shown


def test_what_the_reference_documents_exists() -> None:
    for name in documented():
        module, _, last = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), last), name


def test_paths_that_pages_name_exist() -> None:
    """`tailwork.simulation.system` in the text of a page is a module, or a name in one."""
    files = [DOCS.parent / "README.md", *(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)]
    named = {path for file in files for path in re.findall(r"`(tailwork(?:\.\w+)+)`", file.read_text(encoding="utf-8"))}
    assert len(named) > 50
    for path in sorted(named):
        assert pydoc.locate(path) is not None, path


def test_every_command_stands_in_the_reference_once() -> None:
    page = (DOCS / "api" / "command_line.md").read_text(encoding="utf-8")
    commands = next(action.choices for action in parser()._actions if action.dest == "command")
    assert commands
    assert re.findall(r"^## tailwork (\w+)$", page, re.MULTILINE) == list(commands)
    assert re.findall(r'^tailwork\("(\w+)", "--help"\)$', page, re.MULTILINE) == list(commands)


def test_the_code_of_contributing_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All its Python, block after block: a tail, a law, a method and a measure of one's own do what the text says."""
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    module = ModuleType("contributed")
    monkeypatch.setitem(sys.modules, "contributed", module)  # where dataclasses look for the names in their hints
    exec("\n".join(blocks), vars(module))
    assert MEASURES.pop("peak_height").unit == "m"  # for this process, the table is what it was
    run, method = module.run, module.BOGACKI_SHAMPINE
    assert run.model.coordinate_names[-3:] == ("tail.ta", "tail.tb", "tail.lag")
    torque, rate = run.data["tau"].sel(actuator="tail.ta"), run.data["v"].sel(velocity="tail.ta rate")
    np.testing.assert_allclose(torque, -0.3 * rate, atol=1e-15)
    assert run.stopped is None and run.energy_balance_error() < 1e-6
    _, b, c, _, _ = method.arrays
    assert [b.sum(), b @ c, b @ c**2] == pytest.approx([1.0, 1 / 2, 1 / 3], abs=1e-15), "conditions of order 1 to 3"
    assert "energy balance" in capsys.readouterr().out
