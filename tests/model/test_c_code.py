"""Functions of a model as C: compiled by the machine's compiler, they give what Python gives."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from oracles.layout import relative
from oracles.states import random_state
from tailwork.cli.main import main
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.typing import Floats

ALL = ("leg1", "leg2", "leg3", "leg4")
FUNCTIONS = ("forward_dynamics", "foot_forces", "mass_matrix", "centroidal_momentum")
compiled = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
Pointer = ctypes.POINTER(ctypes.c_double)


def run(folder: Path, *command: str) -> str:
    """What a command prints; it must succeed and not warn."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def called(library: ctypes.CDLL, name: str, *arrays: Floats | None) -> None:
    """Calls a function of the library; None is NULL."""
    pointers = [None if x is None else x.ctypes.data_as(Pointer) for x in arrays]
    assert getattr(library, name)(*pointers) == 0


@compiled
def test_c_gives_what_python_gives(tmp_path: Path) -> None:
    """Accelerations, foot forces, mass matrix (row by row) and momenta to 1e-14, for this design and another."""
    robot = liu2020("pendulum")
    model = Model(robot)
    files = model.export_c(tmp_path, FUNCTIONS)
    assert sorted(files) == sorted(file.name for file in tmp_path.iterdir())
    sources = [file for file in files if file.endswith(".c")]
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-prototypes"]
    run(tmp_path, "cc", *strict, "-O1", "-shared", "-fPIC", "-o", "robot.so", *sources, "-lm")
    library = ctypes.CDLL(str(tmp_path / "robot.so"))
    own = "liu2020_pendulum"
    count = ctypes.c_double * int((tmp_path / f"{own}.h").read_text().split("_PARAMETERS ")[1].split()[0])
    heavier = np.array(count.in_dll(library, f"{own}_parameters"))
    header = (tmp_path / f"{own}.h").read_text(encoding="utf-8")
    masses = [line for line in header.splitlines() if line.endswith(": tail.mass */")]
    heavier[int(masses[0].split("[")[1].split("]")[0])] *= 1.5
    other = Model(robot.replace({"tail.mass": robot.part("tail").mass * 1.5}))
    for seed in range(5):
        q, v, tau = random_state(robot, ALL, np.random.default_rng(seed))
        for design, parameters in ((model, None), (other, heavier)):
            a, f, m = np.empty(8), np.empty((4, 3)), np.empty((8, 8))
            linear, angular = np.empty(3), np.empty(3)
            called(library, f"{own}_forward_dynamics", q, v, tau, parameters, a)
            called(library, f"{own}_foot_forces", q, v, tau, parameters, f)
            called(library, f"{own}_mass_matrix", q, parameters, m)
            called(library, f"{own}_centroidal_momentum", q, v, parameters, None, angular)
            called(library, f"{own}_centroidal_momentum", q, v, parameters, linear, None)
            assert relative(a, design.forward_dynamics(q, v, tau)) < 1e-14
            assert relative(f, design.foot_forces(q, v, tau)) < 1e-14
            assert relative(m, design.mass_matrix(q)) < 1e-14
            momentum = design.centroidal_momentum(q, v)
            assert relative(linear, momentum.linear) < 1e-14 and relative(angular, momentum.angular) < 1e-14


@compiled
def test_the_example_compiles_as_it_says(tmp_path: Path) -> None:
    """`tailwork export --c` leaves an example whose first comment is the command that builds and runs it."""
    out = tmp_path / "c"
    assert main(["export", "liu2020", "--tail", "none", "--c", "forward_dynamics,foot_forces", "--out", str(out)]) == 0
    command = (out / "example.c").read_text(encoding="utf-8").split("*/")[0].splitlines()[-1].strip()
    assert command.startswith("cc -O2 ")
    lines = [line.split() for line in run(out, "sh", "-c", command).splitlines()]
    model = Model(liu2020(None))
    q, zero = model.standing(), np.zeros(6)
    for name, expected in (
        ("forward_dynamics", model.forward_dynamics(q, zero, np.zeros(12))),
        ("foot_forces", model.foot_forces(q, zero, np.zeros(12)).ravel()),
    ):
        found = [float(line[-1]) for line in lines if line[0] == name]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * np.abs(expected).max())


def test_functions_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """Unknown names, none at all, foot forces of a robot in the air; and nothing is written."""
    model = Model(liu2020("pendulum"), "none")
    with pytest.raises(UnknownNameError, match="did you mean 'forward_dynamics'"):
        model.export_c(tmp_path / "c", ["forward_dynamic"])
    for wrong in ([], "forward_dynamics"):
        with pytest.raises(ArgumentError, match="names of functions"):
            model.export_c(tmp_path / "c", wrong)
    with pytest.raises(ArgumentError, match="pins no feet"):
        model.export_c(tmp_path / "c", ["foot_forces"])
    assert not (tmp_path / "c").exists()
