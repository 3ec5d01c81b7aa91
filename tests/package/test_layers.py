"""The stages of the source: a module imports only from its own stage or from earlier ones."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import tailwork

STAGES = (
    "typing",
    "lazy",
    "errors",
    "format",
    "files",
    "locks",
    "progress",
    "algebra",
    "robots",
    "mechanics",
    "kernels",
    "model",
    "control",
    "simulation",
    "studies",
    "view",
    "papers",
    "lab",
    "",  # the package itself: its __init__ offers what the stages have made; only the command line builds on it
    "cli",
)
SOURCE = Path(tailwork.__file__).parent
MODULES = sorted(str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py"))


def stage(module: str) -> str:
    """The stage of a file, given from the package's folder."""
    first = Path(module).parts[0].removesuffix(".py")
    return {"__init__": "", "__main__": "cli"}.get(first, first)


def imported_stages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and stage of each import from tailwork, wherever it stands in the module."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write imports in full, from tailwork…"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            first, *rest = name.split(".")
            if first == "tailwork":
                yield node.lineno, rest[0] if rest and rest[0] in STAGES else ""


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_its_stage_or_earlier_ones(module: str) -> None:
    own = stage(module)
    assert own in STAGES, f"{module} belongs to no stage; the stages are {', '.join(filter(None, STAGES))}"
    for line, other in imported_stages(ast.parse((SOURCE / module).read_text(encoding="utf-8"))):
        later = other or "the package itself"
        assert STAGES.index(other) <= STAGES.index(own), f"{module}:{line}: {own or 'the package'} comes before {later}"


COMPILING = ("kernels", "model", "simulation", "studies/observer.py", "cli/cache.py", "__init__.py")
"""Who imports the compiler: equations and drivers, measures along a path, and who frees or lists what was compiled."""


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith(COMPILING)])
def test_only_what_compiles_imports_the_compiler(module: str) -> None:
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    assert "kernels" not in {other for _, other in imported_stages(tree)}


def test_the_check_sees_imports_of_every_form() -> None:
    text = "import tailwork.kernels.cache\nfrom tailwork.robots import Limb\ndef f():\n    from tailwork import model\n"
    assert sorted(imported_stages(ast.parse(text))) == [(1, "kernels"), (2, "robots"), (4, "model")]
    assert list(imported_stages(ast.parse("import tailwork\nimport numpy"))) == [(1, "")]
    assert list(imported_stages(ast.parse("from tailwork import load"))) == [(1, "")]


def test_a_folder_has_at_most_sixteen_modules() -> None:
    folders = Counter(Path(module).parent for module in MODULES if not Path(module).name.startswith("__"))
    assert max(folders.values()) <= 16, folders.most_common(1)
