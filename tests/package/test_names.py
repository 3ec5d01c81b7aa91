"""A public name means one thing: no two modules define the same one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import tailwork

SHARED = {
    "main": "the command line, and the module that Python runs",
    "run": "what a command does: cli.main calls it",
    "conclusion": "the first sentences of a report, of each kind of result",
    "begin": "a run in a lane, on compliant and on rigid ground",
    "advance": "steps of all runs, on compliant and on rigid ground",
    "watch": "watched quantities, on compliant and on rigid ground",
}
"""Names of one idea that several modules have, each in its own way."""


def public_names(text: str) -> set[str]:
    """Classes, functions and types that a module defines; constants, in capitals, are the module's own."""
    names = set[str]()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name) and not target.id.isupper()}
    return {name for name in names if not name.startswith("_")}


def test_a_public_name_is_defined_in_one_module() -> None:
    """Papers are left out: their equations have the names that they have in print, each paper's its own."""
    source = Path(tailwork.__file__).parent
    modules = defaultdict[str, list[str]](list)
    for file in sorted(source.rglob("*.py")):
        if "papers" not in file.parts:
            for name in public_names(file.read_text(encoding="utf-8")):
                modules[name].append(str(file.relative_to(source)))
    assert {name: places for name, places in modules.items() if len(places) > 1 and name not in SHARED} == {}
    assert all(len(modules[name]) > 1 for name in SHARED)


def test_the_check_sees_every_kind_of_definition() -> None:
    text = "class A: ...\ndef f(): ...\nBoth = int | str\nc: type = int\nLIMIT = 2\n_own = 1\nx.y = 3\n"
    assert public_names(text) == {"A", "f", "Both", "c"}
