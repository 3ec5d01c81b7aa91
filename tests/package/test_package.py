"""The package as others get it: what is in it, what it needs, what importing it does."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import tailwork
from benchmarks.readme import with_section

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tailwork"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(module.name for module in pkgutil.walk_packages([str(SOURCE)], "tailwork."))
NOT_AT_IMPORT = (
    "pinocchio", "mujoco", "matplotlib", "rich", "sympy", "pytest", "hypothesis", "viser", "imageio_ffmpeg", "pymoo",
    "casadi", "scipy", "xarray", "pandas", "pyarrow", "tailwork.cli",
)  # fmt: skip
"""What `import tailwork` has no use for."""


def in_new_process(code: str) -> str:
    """What some code prints in a new process in which every warning is an error."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


def test_the_package_under_test_is_this_one() -> None:
    assert Path(tailwork.__file__).parent == SOURCE


def test_importing_warns_of_nothing_and_loads_no_more_than_it_needs() -> None:
    """No warning, no output, and none of what only some need."""
    loaded = json.loads(in_new_process("import tailwork, json, sys; print(json.dumps(sorted(sys.modules)))"))
    assert "tailwork.model" in loaded
    assert [name for name in NOT_AT_IMPORT if name in loaded] == []
    heavy = {name.split(".")[0] for name in loaded} & {"casadi", "llvmlite", "numpy", "scipy"}
    print(f"import tailwork loads {len(loaded)} modules, with {', '.join(sorted(heavy))}")


def test_every_module_can_be_imported() -> None:
    """Last ones first, so that none rests on what an earlier one has imported; no warning, and nothing is printed."""
    names = [name for name in reversed(MODULES) if not name.endswith("__main__")]
    assert len(names) > 30
    assert in_new_process(f"import importlib\nfor name in {names!r}: importlib.import_module(name)") == ""


def test_public_names() -> None:
    for name in MODULES:
        module = sys.modules.get(name)
        for public in getattr(module, "__all__", ()):
            assert hasattr(module, public), f"{name}.{public}"
    assert sorted(tailwork.__all__) == sorted(set(tailwork.__all__))
    assert all(hasattr(tailwork, public) for public in tailwork.__all__)


def test_one_version() -> None:
    """Said once, in the package; pyproject reads it there, and CITATION.cff agrees."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", tailwork.__version__)
    assert PROJECT["project"]["dynamic"] == ["version"] and "version" not in PROJECT["project"]
    said = (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', said, re.MULTILINE) == [tailwork.__version__]
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited == [tailwork.__version__]


def test_the_installed_version() -> None:
    try:
        installed = importlib.metadata.version("tailwork")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("tailwork is not installed here, only on the path")
    assert installed == tailwork.__version__, "install anew: make clean test"


def test_every_import_is_declared() -> None:
    """What the source imports is the standard library, the package itself or a dependency of pyproject.toml."""
    optional = PROJECT["project"]["optional-dependencies"]
    lines = [*PROJECT["project"]["dependencies"], *optional["design"], *optional["mjcf"]]
    declared = {re.split(r"[<>=~!\[ ]", line)[0].replace("-", "_") for line in lines}
    needed: dict[str, str] = {}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            needed.update({name.split(".")[0]: str(file.relative_to(SOURCE)) for name in names})
    others = {name for name in needed if name not in sys.stdlib_module_names and name != "tailwork"}
    assert others <= declared, f"not declared: { {name: needed[name] for name in others - declared} }"
    assert declared <= others, f"declared and not imported: {declared - others}"


def test_the_command_exists() -> None:
    """The script of pyproject.toml names a function."""
    module, _, function = PROJECT["project"]["scripts"]["tailwork"].partition(":")
    assert in_new_process(f"import {module} as m; print(callable(m.{function}))") == "True\n"


def test_every_folder_is_a_package() -> None:
    """Each folder of modules has its __init__.py, and py.typed says that there are types."""
    folders = {file.parent for file in SOURCE.rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []
    assert (SOURCE / "py.typed").read_bytes() == b""


def test_the_wheel(tmp_path: Path) -> None:
    """The built wheel holds py.typed, every module, style sheets, robots, an example and the built player; no tests."""
    wheel = pytest.importorskip("hatchling.builders.wheel")
    built = Path(next(iter(wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))))
    names = zipfile.ZipFile(built).namelist()
    built_player = {f"tailwork/view/player/built/player.{kind}" for kind in ("js", "css")}
    expected = {str(file.relative_to(SOURCE.parent)) for file in SOURCE.rglob("*.py")}
    styles = {"tailwork/view/draw/tailwork.mplstyle", "tailwork/view/report/report.css"}
    robots = {f"tailwork/robots/presets/{name}.toml" for name in ("a1", "anymal_c", "go2", "solo12", "spot")}
    expected |= {"tailwork/py.typed", "tailwork/studies/design/example.toml"} | built_player | styles | robots
    assert {name for name in names if not name.startswith(f"tailwork-{tailwork.__version__}.dist-info/")} == expected
    assert f"tailwork-{tailwork.__version__}.dist-info/entry_points.txt" in names
    assert any(name.endswith("LICENSE") for name in names)


def test_the_readme_shows_what_was_measured() -> None:
    """The section on speed is what the kept benchmark says, and the operations are those of the kept counts."""
    readme = (ROOT / "README.md").read_text()
    kept = json.loads((ROOT / "benchmarks" / "results" / "engine.json").read_text())
    assert readme == with_section(readme, kept), "write it anew: python -m benchmarks.readme"
    counts = json.loads((ROOT / "tests" / "data" / "operation_counts.json").read_text())["forward_dynamics"]
    for row in kept["forward_dynamics"]:
        assert row["operations"] == counts["blaberus" if row["robot"] == "cockroach" else row["robot"]]
    assert all(row["failed"] == 0 for row in kept["designs"])


def test_the_readme_fences_its_commands() -> None:
    """A command that stands in an indented block would be run by nothing."""
    assert not re.findall(
        r"^ {4}(?:\$ )?(?:tailwork|make|pip|python)\b.*$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
