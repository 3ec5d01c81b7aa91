"""`tailwork ground`: tables, a report that needs nothing else, and requests that are refused."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import numpy as np
import pytest

from pages import bare
from tailwork.cli import ground as command_module
from tailwork.cli import main
from tailwork.robots import liu2020, load
from tailwork.simulation import load_run
from tailwork.studies.compare.ground_comparison import GroundComparison, compare_grounds, grounds_for
from tailwork.studies.motions import yaw
from tailwork.studies.scenario import Scenario
from tailwork.view.draw import style
from tailwork.view.draw.style import WARNING, rendered
from tailwork.view.figures.ground import convergence_figure, feet_figure, foot_spans, torso_figure
from tailwork.view.report.ground import convergence_rows, ground_report, time_rows


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A robot from a file, two grounds: what is said, what is left, and that the report shows all of it."""
    monkeypatch.setattr(command_module, "PROCESSES", 1)
    monkeypatch.setattr(style, "rendered", lambda figure, kind: f"a {kind} of {len(figure.axes)} panels".encode())
    liu2020("pendulum").save(tmp_path / "mine.toml")
    out = tmp_path / "out"
    asked = ["--motion", "yaw:80", "--stiffness", "1e6,1e5", "--friction", "0.6,0.4", "--out", str(out)]
    assert main(["ground", str(tmp_path / "mine.toml"), *asked]) == 0
    said = capsys.readouterr()
    assert "error" not in said.err and str(out / "report.html") in said.out
    assert "constant torques that balance" in said.out and "friction 0.6, 0.4 while slipping" in said.out
    lines = [line.split() for line in said.out.splitlines()]
    assert ["foot", "needs", "pinned", "1e5", "N/m", "1e6", "N/m"] in lines
    assert ["leg1", "0.21", "sticks", "sticks", "sticks"] in lines
    (slipping,) = [line for line in lines if line[:1] == ["leg3"]]
    assert slipping[2] == "†" and "† not possible: a foot needs more friction than the ground's 0.6." in said.out
    assert slipping[3::2] == ["slips"] * 3
    assert 294.0 < float(slipping[4]) < float(slipping[8]) < float(slipping[6]) < 300.0
    table = lines[lines.index(["foot", "needs", "pinned", "1e5", "N/m", "1e6", "N/m"]) :]
    assert [line[0] for line in table if line and line[0] in ("1e5", "1e6", "slope")] == ["1e5", "1e6", "slope"]

    names = [f"figures/{name}.{kind}" for name in ("convergence", "feet", "feet-slipping", "torso")
             for kind in ("pdf", "png", "svg")]  # fmt: skip
    runs = ["runs/ground-1e5.nc", "runs/ground-1e6.nc", "runs/pinned.nc"]
    found = sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file())
    assert found == sorted([*names, *runs, "report.html"])
    soft, pinned = load_run(out / runs[0]), load_run(out / runs[2])
    assert soft.ground is not None and soft.ground.kinetic_friction == 0.4 and soft.ground.stiffness == 1e5
    assert pinned.ground is None and pinned.model.robot == soft.model.robot == load(tmp_path / "mine.toml")
    assert [foot for _, foot, state in soft.changes if state == "slip"] == ["leg3"]

    html = (out / "report.html").read_text(encoding="utf-8")
    shown = [base64.b64decode(image).decode() for image in re.findall(r"data:image/svg\+xml;base64,([^\"]*)", html)]
    assert shown == [f"a svg of {count} panels" for count in (12, 12, 6, 2)]
    assert "slips 29" in bare(html) and "1e6 N/m" in bare(html)


@pytest.fixture(scope="module")
def comparison() -> GroundComparison:
    """A swing that lasts until one foot slips, and one ground."""
    robot = liu2020("pendulum")
    return compare_grounds(Scenario(robot, yaw(80), "paper"), grounds_for(robot, (1e5,)))


def test_pictures(comparison: GroundComparison) -> None:
    """A column a foot; bars where it slips; differences on a scale of decades."""
    figure = feet_figure(comparison, zoomed=True)
    panels = np.array(figure.axes).reshape(3, 4)
    assert [panel.get_title(loc="left") for panel in panels[0]] == ["leg1", "leg2", "leg3", "leg4"]
    bars = [[(bar.get_gid(), bar.get_x()) for bar in panel.patches] for panel in panels[2]]
    starts = [first["leg3"].slips for first in (comparison.pinned_times, comparison.grounds[0].first_times)]
    assert bars[0] == bars[1] == bars[3] == []
    assert bars[2] == [("slip", pytest.approx(1e3 * (start or 0.0))) for start in starts]
    low, high = panels[0, 0].get_xlim()
    assert 260.0 < low < 1e3 * (starts[0] or 0.0) and high == pytest.approx(300.0)
    slid = comparison.grounds[0].run.data["foot_force"].sel(foot="leg3").to_numpy()[-1]
    assert np.hypot(slid[0], slid[1]) == pytest.approx(0.5 * slid[2], rel=0.01)  # kinetic friction
    assert rendered(figure, "png").startswith(b"\x89PNG")

    (*angles, _, first, second) = torso_figure(comparison).axes
    differences = (first, second)
    assert [axes.get_ylabel() for axes in angles] == ["pitch [deg]", "roll [deg]", "yaw [deg]"]
    assert [axes.get_yscale() for axes in differences] == ["log", "log"]
    marked = [line for line in first.get_lines() if line.get_color() == WARNING]
    assert [line.get_xdata()[0] for line in marked] == [pytest.approx(1e3 * comparison.sticking)]  # type: ignore[index]
    assert [axes.get_xscale() for axes in convergence_figure(comparison).axes] == ["log", "log"]


def test_spans_and_rows(comparison: GroundComparison) -> None:
    """Spans follow the changes of a foot; one ground alone has no slope."""
    run = comparison.grounds[0].run
    assert foot_spans(run, "leg1", 0.6) == []
    ((start, end, state),) = foot_spans(run, "leg3", 0.6)
    assert (start, state) == (comparison.grounds[0].first_times["leg3"].slips, "slip")
    assert end == pytest.approx(0.3)
    assert [row[0] for row in convergence_rows(comparison)] == ["1e5"]
    assert [row[2] for row in time_rows(comparison)] == ["sticks", "sticks", "slips 294.1", "sticks"]


def test_feet_that_slip_at_once() -> None:
    """Where there is hardly any friction nothing can be said of convergence, and nothing is drawn of it."""
    robot = liu2020("pendulum")
    found = compare_grounds(Scenario(robot, yaw(80), "paper"), grounds_for(robot, (1e5,), 0.005))
    assert found.sticking == 0.0
    drawings = ground_report(found).drawings
    assert "convergence" not in drawings and "feet-slipping" in drawings
    assert time_rows(found)[0][2] == "slips 0.0"


@pytest.mark.parametrize(
    "asked, said",
    [
        (["--tail", "none"], "a robot with one tail (this one has 0)"),
        (["--stiffness", "1e4,x"], "--stiffness: got '1e4,x'"),
        (["--stiffness", "1e4,1e4"], "stiffnesses that differ"),
        (["--stiffness", "-5"], "stiffness: got -5.0; required: a finite number [N/m], greater than 0"),
        (["--friction", "0.5,0.6"], "at most the static friction, 0.5"),
        (["--friction", "1,2,3"], "static friction, or static and kinetic"),
        (["--motion", "yaw:185"], "less than 180°"),
        (["--motion", "jump"], "kind of motion"),
        (["liu2018", "--policy", "paper"], "the torques of Eq. 85 do not balance this robot"),
        (["biswal"], "a robot with one tail"),
        (["nowhere.toml"], "no such file"),
    ],
)
def test_requests_that_are_refused(
    asked: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong is said, with what would be right, before anything is left behind."""
    out = tmp_path / "out"
    assert main(["ground", *asked, "--out", str(out)]) == 2
    assert said in capsys.readouterr().err.replace("\n", " ")
    assert not out.exists()


def test_a_file_where_the_folder_should_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is kept as it is."""
    (tmp_path / "out").write_text("mine")
    assert main(["ground", "--out", str(tmp_path / "out")]) == 2
    assert "a file is where a folder should be" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "mine"


def test_options_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Policies without feet on the ground are not offered, and a motion is given once."""
    for asked, said in ((["--policy", "airborne"], "invalid choice: 'airborne'"),
                        (["--motion", "yaw:20", "--motion", "yaw:30"], "--motion: one a study")):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main(["ground", *asked])
        assert ended.value.code == 2 and said in capsys.readouterr().err
