"""`tailwork import`, and commands that take a URDF or an MJCF."""

from __future__ import annotations

from pathlib import Path

import pytest

import tailwork
from real_robots import mjcf, urdf
from tailwork.cli.main import main


def test_a_file_with_comments_that_loads_as_the_same_robot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was merged and assumed is said on the terminal and in the file; a file that is there is not written over."""
    out = tmp_path / "go2.toml"
    assert main(["import", str(urdf("go2")), "--out", str(out), "--foot-radius", "0.022"]) == 0
    text = out.read_text(encoding="utf-8")
    assert text.startswith("# go2_description, from go2.urdf.\n") and "# FL: FL_hip_joint → hip" in text
    assert "standing" in text and "FL_hip_rotor" in text and "FL_hip_rotor" in capsys.readouterr().out
    assert tailwork.load(out) == tailwork.load(urdf("go2"), foot_radius=0.022)
    assert main(["import", str(urdf("go2")), "--out", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["import", str(urdf("go2")), "--out", str(out), "--force"]) == 0
    assert main(["import", str(urdf("go2")), "--out", "go2.xml"]) == 2


def test_show_takes_urdf_and_mjcf_with_options(capsys: pytest.CaptureFixture[str]) -> None:
    """Feet and posture, by name and by value."""
    assert main(["show", str(urdf("solo")), "--feet", "FL_FOOT,FR_FOOT"]) == 0
    assert "No leg has a closed form" in capsys.readouterr().out
    assert main(["show", str(urdf("go2")), "--feet", ""]) == 0
    assert "No limb has a foot" in capsys.readouterr().out
    straight = ",".join(f"{leg}_{joint}" for leg in ("fl", "fr", "hl", "hr") for joint in ("hy=0.9", "kn=-1.7"))
    assert main(["show", str(mjcf("spot")), "--posture", straight]) == 0
    assert "−97.4" in capsys.readouterr().out  # knees of -1.7 rad
    assert main(["show", str(mjcf("spot")), "--posture", "fl_hy=x"]) == 2
    assert "joint values" in capsys.readouterr().err
    assert main(["show", "liu2020", "--feet", "leg1"]) == 2
    assert "--feet" in capsys.readouterr().err


def test_a_tail_is_put_on(tmp_path: Path) -> None:
    """The file holds the robot with it, and says so."""
    out = tmp_path / "go2.toml"
    assert main(["import", str(urdf("go2")), "--out", str(out), "--tail", "r3", "--tail-mass", "0.5"]) == 0
    tail = tailwork.load(out).part("tail")
    assert tail.kind == "r3" and float(tail.total_mass()) == pytest.approx(0.5)
    assert "# tail put on: r3 of 0.5 kg and 0.371 m" in out.read_text(encoding="utf-8")


def test_an_axis_that_looks_like_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    """`--forward -x` is what `--forward=-x` is."""
    said = []
    for given in (["--forward", "-x"], ["--forward=-x"]):
        assert main(["show", str(urdf("go2")), *given]) == 0
        said.append(capsys.readouterr())
    assert said[0] == said[1] and "turned by 180° about z" in said[0].err


def test_a_run_in_the_place_of_a_robot(capsys: pytest.CaptureFixture[str]) -> None:
    """The command that plays it is named."""
    assert main(["show", "push.nc"]) == 2
    assert "push.nc: a run, not a robot" in capsys.readouterr().err
