"""`tailwork reproduce` and its reports: pages that need nothing else, and requests that are refused."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from pages import bare
from small_walks import small_biswal, small_nelson_quinn
from tailwork.cli import main
from tailwork.papers.biswal import experiments as biswal
from tailwork.papers.claims import Claim
from tailwork.papers.liu2018 import experiments as liu2018
from tailwork.papers.liu2018.report import figure_6
from tailwork.papers.nelson_quinn import experiments as nelson_quinn
from tailwork.papers.report import claim_table
from tailwork.robots import liu2020
from tailwork.simulation import Run, load_run
from tailwork.studies.compare import comparison
from tailwork.studies.motions import yaw
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario
from tailwork.view.draw.style import save
from tailwork.view.figures.runs import Panel, series
from tailwork.view.report import page as saving


def test_a_table_of_claims() -> None:
    """Paper and ours side by side, with the reading."""
    table = claim_table([Claim("speed [m/s]", "1.2", "1.3", "of the feet"), Claim("mass [kg]", "—", "2")])
    assert list(table.header) == ["quantity", "paper", "ours", "note"]
    assert [list(row) for row in table.rows] == [
        ["speed [m/s]", "1.2", "1.3", "of the feet"],
        ["mass [kg]", "—", "2", ""],
    ]


def test_panels_over_time() -> None:
    """A label has the same line in each panel; times are in milliseconds; panels left over are empty."""
    time = np.linspace(0.0, 0.5, 11)
    figure = series(
        [
            Panel("angle [deg]", {"a": (time, time), "b": (time, -time)}),
            Panel("torque [N m]", {"b": (time[1:], time[1:])}, log=True),
        ],
        columns=3,
    )
    first, second, empty = figure.axes
    lines = {line.get_label(): line for line in first.get_lines() if len(line.get_xdata()) > 2}  # type: ignore[arg-type]
    assert set(lines) == {"a", "b"}
    np.testing.assert_allclose(lines["a"].get_xdata(), 1e3 * time)
    (again,) = second.get_lines()
    assert again.get_color() == lines["b"].get_color() != lines["a"].get_color()
    assert again.get_linestyle() == lines["b"].get_linestyle()
    assert second.get_yscale() == "log" and first.get_yscale() == "linear"
    assert (first.get_ylabel(), second.get_ylabel()) == ("angle [deg]", "torque [N m]")
    assert not empty.axison


def test_the_figure_of_a_run() -> None:
    """Place from where it stood [mm], attitude and tail [deg]."""
    run = perform(Scenario(liu2020("pendulum"), yaw(20), "paper"), samples=11)
    axes = {panel.get_ylabel(): panel for panel in figure_6(run).axes}
    assert list(axes) == ["x [mm]", "y [mm]", "z [mm]", "pitch [deg]", "roll [deg]", "yaw [deg]", "tail pitch [deg]",
                          "tail yaw [deg]"]  # fmt: skip
    shown = [line.get_ydata() for line in axes["tail yaw [deg]"].get_lines() if line.get_label() == "ours"]
    np.testing.assert_allclose(np.asarray(shown)[0, [0, -1]], [0.0, 20.0], atol=1e-9)


@pytest.mark.parametrize("paper", ["liu2018", "liu2020", "nelson-quinn", "biswal"])
def test_a_folder_that_cannot_be_written(
    paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said before any simulation: 2, one line on stderr."""

    def never(*given: Any, **more: Any) -> Run:
        raise AssertionError("simulated")

    monkeypatch.setattr(comparison, "perform", never)
    monkeypatch.setattr(liu2018, "simulate", never)
    monkeypatch.setattr(nelson_quinn, "run_all", never)
    monkeypatch.setattr(biswal, "run_all", never)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "figures").write_text("mine")
    for name in ("file", "file/below", "half"):
        assert main(["reproduce", paper, "--out", str(tmp_path / name)]) == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith("error: ") and said.err.count("\n") == 1
        assert name in said.err
    assert (tmp_path / "file").read_text() == "mine"


def test_an_unknown_paper(capsys: pytest.CaptureFixture[str]) -> None:
    """The parser names those that there are."""
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "liu2019"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert all(paper in said for paper in ("liu2018", "liu2020", "nelson-quinn", "biswal"))


class Fetched(HTMLParser):
    """Everything that a browser would fetch for a page, and its links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]


@pytest.mark.parametrize(
    ("paper", "study", "small", "printed", "left"),
    [
        ("nelson-quinn", nelson_quinn, small_nelson_quinn,
         ("Nelson & Quinn", "Table 1", "41.7", "1.2e+07"),
         ("table-1.csv", "sweep.csv", "reactions.csv", "runs/settled.nc", "runs/walk.nc")),
        ("biswal", biswal, small_biswal,
         ("Biswal & Mohanty", "24.2", "70.6", "−206.7"), ("leg.csv", "trot-torques.csv", "runs/trot.nc")),
    ],
)  # fmt: skip
def test_a_walking_robot_reproduced(
    paper: str, study: Any, small: Callable[[], Any], printed: tuple[str, ...], left: tuple[str, ...],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Tables on the terminal; a folder with runs, numbers and figures; one page that needs nothing else."""

    def told(progress: Callable[[int, int, str], None]) -> Any:
        progress(0, 1, "working")
        return small()

    def shown_only(figure: Figure, folder: Path, name: str, kinds: tuple[str, ...]) -> dict[str, Path]:
        """PDFs, and PNGs of what is shown as SVG, are left out: time."""
        return save(figure, folder, name, ["svg" if "svg" in kinds else "png"])

    monkeypatch.setattr(study, "run_all", told)
    monkeypatch.setattr(saving, "save", shown_only)
    assert main(["reproduce", paper, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "a number" in said and "report.html" in said.replace("\n", "")
    assert all(text in said for text in printed)
    assert all((tmp_path / name).is_file() for name in left)
    for name in left:
        if name.endswith(".nc"):
            assert load_run(tmp_path / name).model.robot.name in ("blaberus", "biswal")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Fetched(html)
    pictures = [address for address in page.found if address.startswith("data:image/")]
    assert "script" not in Fetched(bare(html)).tags
    assert len(pictures) == len(list((tmp_path / "figures").iterdir())) >= 6
    assert all(address.startswith(("data:", "#")) for address in page.found)
    assert all(name in html for name in left), "it says where the numbers are"
