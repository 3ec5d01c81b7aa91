"""The table from the papers' equations to the functions that implement them is complete and says what is so."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
COUNTS = {"liu2018": 55, "liu2020": 86, "nelson-quinn": 50, "biswal": 15}  # as the papers number them
OWN = {  # modules that are about one paper and cite its numbers alone
    "tailwork.papers.liu2018.legs": "liu2018",
    "tailwork.papers.liu2018.model": "liu2018",
    "tailwork.papers.liu2020.model": "liu2020",
    "tailwork.papers.nelson_quinn.body_tree": "nelson-quinn",
    "tailwork.papers.nelson_quinn.quasicoordinates": "nelson-quinn",
    "tailwork.papers.biswal.leg": "biswal",
    "tailwork.robots.tails.r3": "liu2020",
    "tailwork.papers.biswal.dh_leg": "biswal",
}


def load(name: str) -> ModuleType:
    """A module of the folder of the site's extensions."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


equations = load("equations")
PAPERS = {key: equations.read_paper(key) for key in COUNTS}
every_paper = pytest.mark.parametrize("key", COUNTS)


def named(function: str) -> tuple[Any, ModuleType]:
    """What "module:name" names, and the module."""
    place, name = function.split(":")
    module = importlib.import_module(place)
    found = functools.reduce(getattr, name.split("."), module)
    return getattr(found, "fget", None) or found, module


@every_paper
def test_every_number_once(key: str) -> None:
    assert [equation.number for equation in PAPERS[key].equations] == list(range(1, COUNTS[key] + 1))


def test_there_are_no_other_papers() -> None:
    assert {file.stem for file in (DOCS / "mechanics" / "equations").glob("*")} == set(COUNTS)


@every_paper
def test_every_equation_has_a_function_or_a_reason(key: str) -> None:
    for equation in PAPERS[key].equations:
        assert equation.says
        assert equation.functions or equation.within or equation.note, equation.number
        assert "|" not in equation.says + equation.note, f"Eq. {equation.number} would break its row"


@every_paper
def test_functions_exist_and_are_of_the_library(key: str) -> None:
    for equation in PAPERS[key].equations:
        for function in (*equation.functions, *equation.within):
            found, module = named(function)
            assert callable(found), f"Eq. {equation.number}: {function}"
            assert found.__module__ == module.__name__, f"Eq. {equation.number}: {function} is only imported there"


@every_paper
def test_functions_cite_their_equations(key: str) -> None:
    """In their own lines or in the docstring of their module."""
    for equation in PAPERS[key].equations:
        for function in equation.functions:
            found, module = named(function)
            own = OWN.get(module.__name__)
            cited = equations.cited(inspect.getsource(found), own) | equations.cited(module.__doc__ or "", own)
            assert (key, equation.number) in cited, f"{function} does not cite Eq. {equation.number}"


def test_equations_among_the_errata_are_marked_and_no_others() -> None:
    marked = {(key, equation.number) for key in PAPERS for equation in PAPERS[key].equations if equation.erratum}
    assert set(equations.errata_sections(equations.ERRATA.read_text(encoding="utf-8"))) == marked


@every_paper
def test_table(key: str) -> None:
    """A row of three cells for each equation, linked to the section of its erratum; the page shows each table once."""
    sections = equations.errata_sections(equations.ERRATA.read_text(encoding="utf-8"))
    rows = equations.table(PAPERS[key], sections).splitlines()
    assert len(rows) == COUNTS[key] + 2 and all(row.count(" | ") == 2 for row in rows)
    assert sum("[erratum](errata.md#eq" in row for row in rows) == sum(e.erratum for e in PAPERS[key].equations)
    page = (DOCS / "mechanics" / "equations.md").read_text(encoding="utf-8")
    assert [match["paper"] for match in equations.FENCE.finditer(page)].count(key) == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2018, Eqs. (36)–(39), and more", {("liu2018", n) for n in (36, 37, 38, 39)}),
        ("2018 Eq. 1, 2020 Eq. 4", {("liu2018", 1), ("liu2020", 4)}),
        ("Eq. 40, row 3; Eqs. 63 and 64", {("nelson-quinn", n) for n in (40, 63, 64)}),
        ("(Eqs. 2,\n    # 3; 2020, Eqs. 20–22, 5, and 7)", {("nelson-quinn", 2), ("nelson-quinn", 3)}
         | {("liu2020", n) for n in (20, 21, 22, 5, 7)}),
        ("Biswal & Mohanty, Eqs. 11-13 as corrected", {("biswal", n) for n in (11, 12, 13)}),
        ("Table 1 of 2020; Sect. 3", set()),
    ],
)  # fmt: skip
def test_citations_are_read(text: str, numbers: set[tuple[str, int]]) -> None:
    assert equations.cited(text, "nelson-quinn") == numbers
