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
import sysconfig
import tarfile
import tomllib
import venv
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
    loaded = json.loads(
        in_new_process("import tailwork, json, sys; tailwork.Model; print(json.dumps(sorted(sys.modules)))")
    )
    assert "tailwork.model" in loaded
    assert [name for name in NOT_AT_IMPORT if name in loaded] == []
    heavy = {name.split(".")[0] for name in loaded} & {"casadi", "llvmlite", "numpy", "scipy"}
    print(f"import tailwork loads {len(loaded)} modules, with {', '.join(sorted(heavy))}")


def test_an_interrupted_import_is_quiet() -> None:
    """Ctrl-C while the command is still being imported: one word, and the exit code of an interrupted program."""
    code = (
        "import sys\nclass Stop:\n    def find_spec(self, name, *rest):\n"
        "        if name == 'numpy': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\nfrom tailwork.__main__ import main\nsys.exit(main())"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "interrupted\n")


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
    """Said once, in the package; pyproject reads it there; CITATION.cff and the changelog agree."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", tailwork.__version__)
    assert PROJECT["project"]["dynamic"] == ["version"] and "version" not in PROJECT["project"]
    said = (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', said, re.MULTILINE) == [tailwork.__version__]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", cited, re.MULTILINE) == [tailwork.__version__]
    dated = re.findall(r"^## \[(.*)\] — (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert dated[0] == (tailwork.__version__, *re.findall(r'^date-released: "(.*)"$', cited, re.MULTILINE))


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


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from what it holds."""
    folder = tmp_path_factory.mktemp("released")
    sdist, wheel = (pytest.importorskip(f"hatchling.builders.{kind}") for kind in ("sdist", "wheel"))
    packed = Path(next(iter(sdist.SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))))
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    source = folder / f"tailwork-{tailwork.__version__}"
    return packed, Path(next(iter(wheel.WheelBuilder(str(source)).build(directory=str(folder), versions=["standard"]))))


def test_the_wheel(released: tuple[Path, Path]) -> None:
    """The wheel of the sdist holds py.typed, every module, style sheets, robots, an example and the built player; no
    tests."""
    names = zipfile.ZipFile(released[1]).namelist()
    built_player = {f"tailwork/view/player/built/player.{kind}" for kind in ("js", "css")}
    expected = {str(file.relative_to(SOURCE.parent)) for file in SOURCE.rglob("*.py")}
    styles = {"tailwork/view/draw/tailwork.mplstyle", "tailwork/view/report/report.css"}
    robots = {f"tailwork/robots/presets/{name}.toml" for name in ("a1", "anymal_c", "go2", "solo12", "spot")}
    expected |= {"tailwork/py.typed", "tailwork/studies/design/example.toml"} | built_player | styles | robots
    assert {name for name in names if not name.startswith(f"tailwork-{tailwork.__version__}.dist-info/")} == expected
    assert f"tailwork-{tailwork.__version__}.dist-info/entry_points.txt" in names
    assert any(name.endswith("LICENSE") for name in names)


def test_the_source_distribution(released: tuple[Path, Path]) -> None:
    """The sdist holds what README, Makefile and tests refer to."""
    top = f"tailwork-{tailwork.__version__}"
    with tarfile.open(released[0]) as archive:
        names = set(archive.getnames())
    files = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "pyproject.toml", "docs/index.md",
             "tests/package/test_package.py", "benchmarks/results/engine.json", "player/package.json")  # fmt: skip
    assert {f"{top}/{name}" for name in files} <= names
    assert not [name for name in names if "/node_modules/" in name or "/_build/" in name or "/.venv/" in name]


def test_the_wheel_in_a_clean_environment(released: tuple[Path, Path], tmp_path: Path) -> None:
    """Installed without network where nothing of this folder is on the path, the command says its version, a preset
    with a tail stands and swings, and a run of it becomes a page."""
    venv.create(tmp_path / "new", with_pip=False)
    python = tmp_path / "new" / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'), sysconfig.get_path('scripts'))"
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_"))}

    def done(*command: str | Path) -> str:
        ran = subprocess.run(command, env=clean, cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    library, scripts = (Path(word) for word in done(python, "-c", asked).split())
    installer = ("-m", "pip", "--disable-pip-version-check", "--python", str(python), "install", "--quiet")
    done(sys.executable, *installer, "--no-deps", "--no-index", "--no-compile", released[1])
    # What it needs is what the tests run with; the package itself comes from the wheel.
    (library / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    assert done(scripts / "tailwork", "--version").split() == ["tailwork", tailwork.__version__]
    code = (
        "import tailwork as tw; from tailwork.simulation import Standing; from tailwork.control import RestTorques\n"
        "model = tw.Model(tw.robots.go2().with_tail('pendulum'))\n"
        "tw.simulate(model, Standing(), 0.01, control=RestTorques()).save('run.nc'); print(tw.__file__)"
    )
    assert Path(done(python, "-c", code).split()[-1]).is_relative_to(library)
    done(scripts / "tailwork", "view", "run.nc", "--no-open")
    assert (tmp_path / "run.html").stat().st_size > 100_000


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
