"""Waits for compilation are said once on stderr, with what is compiled, unless nobody wants to know."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tailwork
from tailwork import progress
from tailwork.progress import announced, quiet, show_progress

COMPILED = "tailwork: compiling the equations of liu2020-pendulum (once; kept for later)\n"
CODE = """
from tailwork import Model, progress, robots, show_progress
progress.PATIENCE = {patience}
{first}
model = Model(robots.liu2020("pendulum"))
model.energy(model.standing(), [0.0] * 8)
"""


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience of 50 ms, and nothing said before."""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_shown", True)
    for name, empty in (("_spent", {}), ("_said", set())):
        monkeypatch.setattr(progress, name, empty)


def work(seconds: float, what: str = "making tea") -> None:
    """Something that takes so long."""
    with announced(what):
        time.sleep(seconds)


def test_what_takes_long_is_said_once(hurried: None, capsys: pytest.CaptureFixture[str]) -> None:
    """While it goes on; what is quick is not, several parts that are long together are."""
    work(0.001, "a moment")
    work(0.3)
    work(0.3)
    for _ in range(4):
        work(0.03, "many parts")
    assert capsys.readouterr().err == "tailwork: making tea\ntailwork: many parts\n"


def test_nothing_is_said(hurried: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Within `quiet`, and after `show_progress(False)`."""
    with quiet():
        work(0.15)
    show_progress(False)
    work(0.15)
    assert capsys.readouterr().err == ""
    tailwork.show_progress(True)
    work(0.15)
    assert capsys.readouterr().err == "tailwork: making tea\n"


def compiled(folder: Path, patience: float = 0.01, first: str = "", **environment: str) -> str:
    """What a new process says on stderr that compiles into an empty cache."""
    own = {**os.environ, "TAILWORK_CACHE": str(folder), "TAILWORK_PROGRESS": "1", **environment}
    command = [sys.executable, "-c", CODE.format(patience=patience, first=first)]
    return subprocess.run(command, env=own, check=True, capture_output=True, text=True).stderr


def test_compilation_says_what_is_compiled(tmp_path: Path) -> None:
    assert compiled(tmp_path) == COMPILED


def test_compilation_can_be_silent(tmp_path: Path) -> None:
    """By the environment, by a call, and where the machine is quick."""
    assert compiled(tmp_path / "one", TAILWORK_PROGRESS="0") == ""
    assert compiled(tmp_path / "two", first="show_progress(False)") == ""
    assert compiled(tmp_path / "three", patience=1000.0) == ""
