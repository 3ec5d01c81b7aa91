"""Commands that nobody would mean end with one line that says what is wrong, and with exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tailwork.cli.main import main

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "liu2020", "--tail=--"], "--tail: expected one argument"),
        (["export", "liu2020", "--out", "a", "--c=--"], "--c: expected one argument"),
        (["import", ""], "not a name of a URDF or an MJCF"),
        (["import", LONG], "not a name of a URDF or an MJCF"),
        (["import", "pipe.urdf", "--out", "new.toml"], "not a regular file"),
        (["import", "pipe.urdf", "--out", f"{LONG}.toml"], "File name too long"),
        (["view", LONG], "File name too long"),
        (["view", "pipe.nc"], "not a regular file"),
        (["design", "--example", "--robot="], "a known preset"),
        (["design", "pipe.toml"], "not a regular file"),
        (["sweep", "liu2020", "--vary", f"tail.mass=1:2:{LONG}", "--motion", "yaw:40"], "a COUNT that is an integer"),
        (
            ["sweep", "liu2020", "--vary", "tail.mass=1,2", "--motion", "yaw:40", "--sample", f"sobol:{LONG}"],
            "how many designs",
        ),
        (["sweep", "liu2020", "--vary", "tail.mass=1,2", "--motion", "yaw:40", "--out", LONG], "File name too long"),
    ],
)
def test_absurd_commands(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("urdf", "nc", "toml"):
        os.mkfifo(f"pipe.{kind}")
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code == 2 and said in capsys.readouterr().err.replace("\n", " ")
