"""The assembly that is written for LLVM: the oldest and the newest llvmlite that pyproject.toml allows read it.

`python -m tests.kernels.test_assembly` also has both compile it for other processors and systems (minutes).
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import pytest

from tailwork.algebra.expression import OPERATION_NAMES, Tape, arctan2, larger, step
from tailwork.kernels import parts
from tailwork.kernels.graph import Graph, finished, split
from tailwork.kernels.translate import translated
from tailwork.model import Model
from tailwork.model.contact.gauss_seidel import settle_many
from tailwork.robots import liu2020
from tailwork.simulation import simulate, simulate_batch
from tailwork.simulation.contact import compliant_stepping, rigid_stepping
from tailwork.simulation.contact.ground import survey
from tailwork.simulation.derivatives.jvp_steps import tangents
from tailwork.simulation.derivatives.rigid_vjp_stepping import differentiate_rounds
from tailwork.simulation.derivatives.vjp_steps import differentiate
from tailwork.simulation.event_driven import stepping as event_driven
from tailwork.simulation.integrate.driver import drive
from tailwork.simulation.integrate.evaluate import evaluate_rows
from tailwork.simulation.integrate.rollout import roll_out
from tailwork.simulation.system import System

SOURCE = Path(__file__).parents[2]
WIDTHS = (1, 4, 8)
DRIVERS: dict[Callable[[Any], int], tuple[int, ...]] = {
    drive: WIDTHS, roll_out: WIDTHS, tangents: WIDTHS, differentiate: WIDTHS, evaluate_rows: WIDTHS,
    settle_many: WIDTHS, compliant_stepping.advance: WIDTHS, rigid_stepping.advance: WIDTHS,
    differentiate_rounds: WIDTHS, survey: (1,), event_driven.begin_events: (1,), event_driven.refresh: (1,),
    event_driven.advance_events: (1,),
}  # fmt: skip
"""All drivers that are called from Python, and for how many lanes."""
WORDS = """
    define internal void declare ret br label phi call load store alloca getelementptr align ptr attributes nounwind
    noalias readonly double i1 i8 i32 i64 x to true false poison zeroinitializer splat fadd fsub fmul fdiv fneg frem
    fcmp oeq ogt oge olt ole une add sub mul sdiv srem and or xor shl icmp eq ne sgt sge slt sle select bitcast sitofp
    fptosi extractelement insertelement shufflevector extractvalue insertvalue
    @llvm.fma @llvm.sqrt @llvm.fabs @llvm.maximum @llvm.pow !invariant.load
"""
"""Instructions, types, attributes and intrinsics that LLVM 20, of the oldest llvmlite, and LLVM 22 both read. Before
a word is added, run this module as above."""
TRIPLES = (
    "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "arm64-apple-macosx", "x86_64-apple-macosx",
    "x86_64-pc-windows-msvc",
)  # fmt: skip


def every_operation() -> Graph:
    """A graph with all operations that kernels have."""
    tape = Tape()
    x, y = tape.inputs(2, 0)
    one, two = x * y + x, (x - y) / (x * x + 1.0)
    found = [one.sin(), two.cos(), (one * one + 2.0).sqrt(), arctan2(x, y), larger(x, y), step(two), -(one * two)]
    return finished(tape, found, 2, 0)


@cache
def assembly() -> dict[str, str]:
    """All kinds of text that are written, by name and number of lanes."""
    found = {
        f"{entry.__module__}.{entry.__name__} {width}": translated([entry], width)
        for entry, widths in DRIVERS.items()
        for width in widths
    }
    dynamics = System(Model(liu2020("pendulum"))).graphs("derivative")["derivative"][0]
    for name, graph in (("operations", every_operation()), ("dynamics", dynamics)):
        prelude, main = split(graph)
        for size in ("small", "large"):  # which functions are in parts
            with pytest.MonkeyPatch.context() as changed:
                changed.setattr(parts, "LARGE", 0 if size == "large" else math.inf)
                found[f"{name} {size} 1"] = parts.scalar_module(prelude, main)
                for width in WIDTHS[1:]:
                    found[f"{name} {size} {width}"] = parts.lane_module(main, width)
        for width in WIDTHS[1:]:
            found[f"{name} in groups {width}"] = parts.module(main, width)
    return found


def words(text: str) -> set[str]:
    """Words of LLVM's language in a text: no names, numbers, strings or types of overloaded intrinsics."""
    text = re.sub(r'"[^"]*"', " ", text)
    text = re.sub(r"@llvm\.([a-z.]+?)\.(v\d+)?[fi]\d+\b", r"@llvm.\1", text)
    text = re.sub(r"@(?!llvm\.)[\w.]+|%[\w.]+|^[\w.]+:|0x[0-9A-Fa-f]+|-?\b\d[\w.+-]*|!\d+", " ", text, flags=re.M)
    return set(re.findall(r"[@!]?[a-zA-Z_][\w.]*", text))


def test_every_operation_is_written() -> None:
    """The graph of all operations has each; INPUT and CONSTANT among them, a COPY is no instruction."""
    used = {OPERATION_NAMES[entry[0]] for entry in every_operation().entries}
    assert used | {"copy"} == set(OPERATION_NAMES)


def test_drivers_are_all_listed() -> None:
    """Each call of `driver` in the package names a function of the list."""
    found = {
        name.split(".")[-1]
        for file in (SOURCE / "src").rglob("*.py")
        for name in re.findall(r"\bdriver\(([\w.()]+), \w+\)", file.read_text())
    }
    assert found == {entry.__name__ for entry in DRIVERS}


def test_assembly_is_plain() -> None:
    """This LLVM takes all that is written, and no word of it is missing in another version that may be installed."""
    known = set(WORDS.split())
    for name, text in assembly().items():
        llvm.parse_assembly(text).verify()
        assert words(text) <= known, (name, words(text) - known)


# Other versions of llvmlite

PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps")
ONLINE = ("--timeout", "10", "--retries", "1")
RUN = """
import json
import sys
from pathlib import Path
import llvmlite
import llvmlite.binding as llvm
files = sorted(Path(sys.argv[1]).glob("*.ll"))
for file in files:
    llvm.parse_assembly(file.read_text()).verify()
from tests.kernels.test_assembly import ends
print(json.dumps([llvmlite.__version__, len(files), ends()]))
"""
COMPILE = """
import sys
from pathlib import Path
import llvmlite
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
done = set()
files = sorted(Path(sys.argv[1]).glob("*.ll"))
for file in files:
    for triple in sys.argv[2:]:
        try:
            target = llvm.Target.from_triple(triple)
        except RuntimeError:  # this build has no such processor
            continue
        module = llvm.parse_assembly(file.read_text())
        module.verify()
        assert target.create_target_machine(opt=1).emit_object(module)
        done.add(triple)
print(f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}: {len(files)} modules for "
      + ", ".join(sorted(done)))
"""


def allowed_versions() -> tuple[str, str]:
    """The oldest llvmlite that pyproject.toml allows, and the newest there is, which pip is asked for."""
    allowed = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["dependencies"]
    (needed,) = (name for name in allowed if name.startswith("llvmlite"))
    asked = [*PIP, *ONLINE, "--dry-run", "--ignore-installed", "--report", "-", needed]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    (newest,) = json.loads(said)["install"]
    return needed.removeprefix("llvmlite>=") + ".0", newest["metadata"]["version"]


def place_of(version: str, folder: Path) -> Path:
    """Where this version of llvmlite is, by itself: it is installed into a folder."""
    asked = [*PIP, *ONLINE, "--target", str(folder / version), f"llvmlite=={version}"]
    subprocess.run(asked, check=True, capture_output=True, text=True)
    return folder / version


def said_with(place: Path, script: str, *arguments: str) -> str:
    """What a script prints where the llvmlite of that place is found first."""
    path = os.pathsep.join(map(str, (place, SOURCE / "src", SOURCE, SOURCE / "tests")))
    environment = {**os.environ, "PYTHONPATH": path, "TAILWORK_CACHE": str(place / "cache")}
    ran = subprocess.run([sys.executable, "-c", script, *arguments], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def written(folder: Path) -> int:
    """Writes all kinds of text into a folder; how many they are."""
    for k, text in enumerate(assembly().values()):
        (folder / f"{k}.ll").write_text(text)
    return len(assembly())


def ends() -> list[list[float]]:
    """Where a pendulum robot is after 20 ms, alone and in lanes of other masses, by whatever llvmlite there is."""
    model = Model(liu2020("pendulum"))
    start = model.standing()
    run = simulate(model, start, 0.02)
    batch = simulate_batch(model, start, 0.02, parameters={"torso.mass": [5.0, 6.0, 7.0]}, threads=1)
    return [row.tolist() for row in (run.final_state[0], *batch.q)]


def test_the_oldest_and_the_newest_llvmlite_read_it(tmp_path: Path) -> None:
    """Each takes all that is written, and runs by it end where those by the llvmlite that is installed end, to 1e-9."""
    try:
        versions = set(allowed_versions()) - {llvmlite.__version__}
        places = {version: place_of(version, tmp_path) for version in versions}
    except subprocess.CalledProcessError as error:
        pytest.skip(f"pip finds no other llvmlite: {error.stderr.strip()[-200:]}")
    count, wanted = written(tmp_path), ends()
    for version, place in places.items():
        used, read, found = json.loads(said_with(place, RUN, str(tmp_path)))
        assert (used, read) == (version, count)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        written(Path(made))
        for one in allowed_versions():
            print(said_with(place_of(one, Path(made)), COMPILE, made, *TRIPLES), end="")
