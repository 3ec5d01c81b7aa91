"""`tailwork compare`: a study from the command line, its report, and what is said of wrong requests."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pages import bare
from tailwork.cli import compare as command_module
from tailwork.cli import main
from tailwork.cli.inputs import robots_of, warn_motions
from tailwork.cli.main import parser
from tailwork.format import fixed
from tailwork.robots import liu2018, liu2020, load
from tailwork.simulation import Run, load_run
from tailwork.studies.compare import comparison as module
from tailwork.studies.compare.comparison import Comparison, Plan, paper_plan
from tailwork.studies.motions import motion_from_text
from tailwork.view.report import page as report_page
from tailwork.view.report.comparison import comparison_method


def files_in(folder: Path) -> list[str]:
    """All files below a folder."""
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def never(*given: Any, **more: Any) -> Run:
    """In the place of what must not be called."""
    raise AssertionError(f"simulated: {given}")


class Links(HTMLParser):
    """Collects all that a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Attributes that name something else."""
        self.tags.append(tag)
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A robot of one's own from a file, with its own tail and another, leaves a study with a report."""
    monkeypatch.setattr(command_module, "SWEPT", (10, 20))
    liu2020("pendulum").replace({"torso.mass": 14.0, "tail.length": 0.5}).save(tmp_path / "mine.toml")
    out = tmp_path / "out"
    asked = ["--tails", "own,r3", "--motion", "yaw:20", "--sweep", "yaw", "--out", str(out)]
    assert main(["compare", str(tmp_path / "mine.toml"), *asked]) == 0
    said = capsys.readouterr()
    assert "error" not in said.err
    assert str(out / "report.html") in said.out and "constant torques that balance" in said.out
    names = [
        f"runs/yaw{angle}-{tail}-{policy}-DIGEST.nc"
        for angle in (10, 20) for tail in ("own", "r3") for policy in ("airborne", "constant")
    ]  # fmt: skip
    figures = ["feet-yaw20", "net-yaw", "timelapse-yaw20", "torso-yaw20"]
    kinds = {name: ("pdf", "png") if "timelapse" in name else ("pdf", "png", "svg") for name in figures}
    drawn = [f"figures/{name}.{kind}" for name, found in kinds.items() for kind in found]
    found = sorted(re.sub(r"-[0-9a-f]{8}\.nc$", "-DIGEST.nc", name) for name in files_in(out))
    assert found == sorted(["measures.csv", "report.html", *names, *drawn])
    assert all((out / name).stat().st_size > 1000 for name in drawn)
    run, changed = (load_run(*(out / "runs").glob(f"yaw20-{tail}-constant-*.nc")) for tail in ("own", "r3"))
    assert run.model.robot == load(tmp_path / "mine.toml")
    other = changed.model.robot
    assert other.torso == run.model.robot.torso and other.part("tail").kind == "r3"

    # The report is one page that needs nothing else.
    html = (out / "report.html").read_text(encoding="utf-8")
    page = Links()
    page.feed(bare(html))
    assert [link[:30] for link in page.found if not link.startswith(("data:", "#")) and link] == []
    assert not {"script", "iframe", "object", "embed"} & set(page.tags)
    assert page.tags.count("img") == len(figures)
    assert html.count('class="tailwork" data-tailwork') == 1, "the motion can be played"
    told, played, table, how = (html.index(text) for text in (
        "all feet stay for friction ≥ ", 'class="tailwork" data-', "How far the torso turns about ", "Leg policy: ",
    ))  # fmt: skip
    assert told < played < table < how, "the conclusion, what is to be seen of it, its table, and how it was done"
    lines = list(csv.DictReader((out / "measures.csv").read_text().splitlines()))
    assert [(line["motion"], line["tail"]) for line in lines] == [
        (f"yaw{angle}", tail) for angle in (20, 10) for tail in ("own", "r3")
    ]
    for line in lines[:2]:
        assert f">{fixed(float(line['yaw [deg]']), 1)}</td>" in html


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["liu2021"], "robot: got 'liu2021'"),
        (["missing.toml"], "missing.toml: no such file"),
        (["--tails", "r4"], "tail: got 'r4'"),
        (["--tails", "r3,r3"], "tails that differ"),
        (["liu2018", "--tail-mass", "1"], "a tail that is put on"),
        (["--tail", "r3", "--tail-mass", "1", "--as-published"], "they are other numbers"),
        (["--tails", "other.toml"], "other.toml: no such file"),
        (["--motion", "jaw:40"], "did you mean 'yaw'"),
        (["--motion", "yaw"], "an angle in degrees"),
        (["--motion", "yaw:x"], "got 'x'; required: a number"),
        (["--motion", "yaw:40,duration=0"], "duration: got 0.0"),
        (["--motion", "yaw:95"], "yaw95 of the r3 tail"),
        (["--motion", "yaw:40", "--motion", "yaw:40"], "motions that differ"),
        (["--motion", "yaw:40,duration=1,duration=2"], "each word once"),
        (["--motion", "roll:40,angle=0"], "an angle other than 0"),
        (["liu2018", "--motion", "yaw:40", "--policy", "paper"], "yaw40 of the own tail: got 'paper'"),
        (["blaberus", "--motion", "yaw:40"], "required: a robot with one tail (this one has 0)"),
        (["--motion", "yaw:40", "--out", "{file}"], "file: a file is where a folder should be"),
        (["--motion", "yaw:40", "--out", "{file}/below"], "below: a file is where a folder should be"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_wrong_commands(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """2, one line on stderr, nothing on stdout, nothing simulated and nothing left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "perform", never)
    (tmp_path / "file").write_text("mine")
    assert main(["compare", *(option.replace("{file}", str(tmp_path / "file")) for option in options)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ") and shown.err.count("\n") == 1
    assert said in shown.err
    assert files_in(tmp_path) == ["file"]


@pytest.mark.parametrize("options", [["--policy", "papers"], ["--map", "line"], ["--sweep", "pitch"]])
def test_choices_that_are_not_offered(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The parser itself refuses them."""
    with pytest.raises(SystemExit) as ended:
        main(["compare", *options])
    assert ended.value.code == 2
    assert "invalid choice" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["pendulum", "r3"], ["pendulum,", "r3"], ["pendulum", ",", "r3"]])
def test_tails_with_spaces_between(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What belongs together is said; of an option that nobody knows, nothing."""
    for options, hint in ((["--tail", *words], True), (["--tail", "r3", "--at", "60"], False)):
        with pytest.raises(SystemExit) as ended:
            main(["compare", "go2", *options])
        assert ended.value.code == 2
        shown = capsys.readouterr().err
        assert "unrecognized arguments: " in shown
        assert shown.rstrip().endswith("are separated by commas, without spaces: --tail pendulum,r3") == hint


def test_motions_in_radians_get_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    """0.7° is hardly meant, and what it would be from radians is said; 40° are not doubted."""
    warn_motions([motion_from_text(text) for text in ("yaw:0.7", "yaw:40", "roll:40", "coupled", "pitch:-20")])
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "warning: the motion yaw0.7 is 0.7°; angles are in degrees here: 0.7 rad are 40.1°"


def test_an_interrupted_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """130, as other commands do."""

    def interrupted(*given: Any, **more: Any) -> Run:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "perform", interrupted)
    assert main(["compare", "--motion", "yaw:20", "--tails", "r3", "--out", str(tmp_path / "out")]) == 130
    assert not (tmp_path / "out" / "report.html").exists()


def test_notes_stand_below_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Why a run ended early is a line of its own."""
    monkeypatch.setattr(report_page, "write_report", lambda report, out, *more: out / "report.html")
    assert main(["compare", "--tails", "pendulum", "--motion", "roll:80", "--out", str(tmp_path / "out")]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    (line,) = csv.DictReader((tmp_path / "out" / "measures.csv").read_text().splitlines())
    assert line["note"].startswith("ends at 0.270 s: leg4 nearly straight")
    (row,) = (
        k
        for k, text in enumerate(lines)
        if text.split()[:2] + text.split()[3:4] == ["pendulum", "†", fixed(float(line["pitch [deg]"]), 1)]
    )
    assert "ends" not in lines[row]
    (note,) = (k for k, text in enumerate(lines) if "ends at 0.270 s" in text)
    assert line["note"] in " ".join(lines[note : note + 2])
    assert note > row and lines[note].startswith("pendulum")


def test_options_given_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """There is one policy for all runs: two of them are refused."""
    with pytest.raises(SystemExit) as ended:
        main(["compare", "--policy", "joint", "--policy", "foot"])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and "error: --policy: one a study" in said.err


def test_the_map_is_the_angle_of_every_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that are asked for, of sweeps and of the paper's own; the report says which."""
    plans: list[Plan] = []

    def stopped(plan: Plan, *more: Any) -> None:
        plans.append(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(command_module, "compare", stopped)
    for asked, angle in ((["--motion", "yaw:20", "--sweep", "roll", "--map", "chain"], "chain"), ([], "arc")):
        assert main(["compare", *asked, "--out", str(tmp_path)]) == 130
        plan = plans[-1]
        assert {motion.angle for motions in (plan.motions, *plan.sweeps.values()) for motion in motions} == {angle}
    assert plans[-1] == paper_plan()
    said = {"chain": "the evenly bent chain of links", "arc": "the arc of Eq. 86"}
    for plan, angle in zip(plans, ("chain", "arc"), strict=True):
        assert (
            f"along the same motion, by {'the centre of mass of ' * (angle == 'chain')}{said[angle]};"
            in comparison_method(Comparison(plan, (), ()))
        )


def test_a_tail_from_the_file_of_a_robot_that_faces_elsewhere(tmp_path: Path) -> None:
    """All go where the robot's own is, as heavy and as long; as published, that of the file is mounted as it was there,
    behind, whichever axis is forward."""
    tail = replace(liu2020("usrt").part("tail"), mount=(0.01, -0.2, 0.03))
    liu2020().with_part("tail", tail).save(tmp_path / "other.toml")
    replace(liu2018(), forward="x").replace({"tail.mount": (-0.3, 0.0, 0.02)}).save(tmp_path / "x.toml")
    asked = ["compare", str(tmp_path / "x.toml"), "--tail", f"own,pendulum,{tmp_path / 'other.toml'}"]
    found = robots_of(parser().parse_args(asked))
    mounts = {label: robot.part("tail").mount for label, robot in found.items()}
    assert mounts == dict.fromkeys(["own", "pendulum", "other"], (-0.3, 0.0, 0.02))
    totals = [(float(r.part("tail").total_mass()), float(r.part("tail").total_length())) for r in found.values()]
    assert totals == [pytest.approx((1.4347, 0.6), rel=1e-13)] * 3
    sized = robots_of(parser().parse_args([*asked, "--tail-mass", "2", "--set", "tail.mount.z=0.1"]))
    assert sized["other"].part("tail").mount == (-0.3, 0.0, 0.1)
    assert float(sized["other"].part("tail").total_mass()) == pytest.approx(2.0)
    kept = robots_of(parser().parse_args([*asked, "--as-published"]))["other"]
    assert kept.part("tail").mount == pytest.approx((-0.2, -0.01, 0.03), abs=1e-15)
    assert kept.part("tail").kind == "usrt" and kept.forward == "x"
    assert replace(kept.part("tail"), mount=tail.mount) == tail
