"""The numbered equations of the four papers and the functions that implement them, as tables on a page.

A fence ```{equations} liu2018 of a page becomes the table of mechanics/equations/liu2018.toml. An equation that is
among the errata is linked to its section there, which is found by the numbers in the section's heading.

What a text cites is read here, too: `Eqs. (36)–(47)`, `Eqs. 2, 3; 2020, Eq. 5`, `Eq. 40, row 3`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # tests read the tables without Sphinx
    from sphinx.application import Sphinx

FOLDER = Path(__file__).resolve().parent.parent / "mechanics"
ERRATA = FOLDER / "errata.md"
KEYS = ("number", "says", "functions", "within", "note", "erratum")

FENCE = re.compile(r"^```\{equations\} (?P<paper>[\w-]+)\n```$", re.MULTILINE)
PAPERS = {"2018": "liu2018", "2020": "liu2020", "Nelson": "nelson-quinn", "Biswal": "biswal"}
"""What names a paper in a text."""
NUMBER = r"\(?\d{1,2}\)?(?!\d)"
SAID = re.compile(
    rf"\b(?P<paper>{'|'.join(PAPERS)})\b|\bEqs?\.\s(?P<list>{NUMBER}(?:(?:,\sand\s|,\s|\sand\s|[–-]){NUMBER})*)"
)


@dataclass(frozen=True)
class Equation:
    """A numbered equation of a paper and where the library has it."""

    number: int
    says: str
    functions: tuple[str, ...] = ()  # "module:name" of those that implement it; they cite its number
    within: tuple[str, ...] = ()  # of those that contain it as a step
    note: str = ""  # what else there is to know; for an equation without functions, why
    erratum: bool = False  # whether the errata put it right


@dataclass(frozen=True)
class Paper:
    """A paper and its numbered equations."""

    key: str
    equations: tuple[Equation, ...]


def read_paper(key: str) -> Paper:
    """The paper of a file in mechanics/equations."""
    data = tomllib.loads((FOLDER / "equations" / f"{key}.toml").read_text(encoding="utf-8"))
    return Paper(key, tuple(_equation(key, row) for row in data["equation"]))


def _equation(key: str, row: dict[str, Any]) -> Equation:
    unknown = set(row) - set(KEYS)
    if unknown:
        raise ValueError(f"{key}, Eq. {row.get('number')}: unknown {sorted(unknown)}; known are {', '.join(KEYS)}")
    listed = {name: tuple(row.get(name, ())) for name in ("functions", "within")}
    return Equation(**{**row, **listed})


def cited(text: str, paper: str | None = None) -> set[tuple[str, int]]:
    """The equations that a text cites, as (paper, number).

    A number belongs to the paper that is named last before it; before any is named, to `paper`.
    """
    found = set()
    for match in SAID.finditer(re.sub(r"\s*\n\s*(#\s*)?", " ", text)):
        if match["paper"]:
            paper = PAPERS[match["paper"]]
        elif paper is not None:
            found |= {(paper, number) for number in _numbers(match["list"])}
    return found


def _numbers(listed: str) -> Iterator[int]:
    """The numbers of a list such as "(2)–(5), 7 and 9"."""
    for part in re.split(r",\sand\s|,\s|\sand\s", listed):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        yield from range(ends[0], ends[-1] + 1)


def errata_sections(text: str) -> dict[tuple[str, int], str]:
    """The anchor of the section on each equation that the headings of the errata name."""
    found: dict[tuple[str, int], str] = {}
    paper = None
    for level, heading in re.findall(r"^(##|###) (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        if level == "##":
            paper = next((key for name, key in PAPERS.items() if name in heading), None)
            continue
        for equation in cited(heading.partition(":")[0], paper):
            if equation in found:
                raise ValueError(f"{equation} has two sections in the errata")
            found[equation] = _anchor(heading)
    return found


def _anchor(heading: str) -> str:
    """The anchor that code hosts, and MyST, make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def table(paper: Paper, errata: dict[tuple[str, int], str]) -> str:
    """The equations of a paper as a Markdown table."""
    rows = ["| Eq. | what it says | where |", "| --- | --- | --- |"]
    for equation in paper.equations:
        number = str(equation.number)
        if equation.erratum:
            number += f" [erratum](errata.md#{errata[paper.key, equation.number]})"
        rows.append(f"| {number} | {equation.says} | {_where(equation)} |")
    return "\n".join(rows)


def _where(equation: Equation) -> str:
    parts = [", ".join(map(_link, equation.functions))] if equation.functions else []
    parts += [f"A step in {', '.join(map(_link, equation.within))}"] if equation.within else []
    return ". ".join([*parts, equation.note] if equation.note else parts)


def _link(function: str) -> str:
    """A reference to a function's documentation, shown without the packages that most are of."""
    full = function.replace(":", ".")
    return f"{{py:obj}}`{full.removeprefix('tailwork.').removeprefix('formulations.')} <{full}>`"


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("source-read", insert_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def insert_tables(app: Sphinx, name: str, content: list[str]) -> None:
    """Puts the tables into the text of a page."""
    if not FENCE.search(content[0]):
        return
    errata = errata_sections(ERRATA.read_text(encoding="utf-8"))
    for file in (ERRATA, *(FOLDER / "equations").glob("*.toml")):
        app.env.note_dependency(str(file))
    content[0] = FENCE.sub(lambda match: table(read_paper(match["paper"]), errata), content[0])
