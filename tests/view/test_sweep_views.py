"""Pictures and report of a sweep: what they show is what was found."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure

from small_sweeps import quick_many, small_sweep, swept
from tailwork.studies.sweep import plan as module
from tailwork.studies.sweep.folder import Results
from tailwork.view.draw import style
from tailwork.view.figures.sweep import curves, design_map, is_smooth, pair_matrix
from tailwork.view.report.page import write_report
from tailwork.view.report.sweep import sweep_report

GRID = ("tail.length=0.2:0.8:9", "tail.mass=0.2:2:8:log")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Designs that cost nothing."""
    monkeypatch.setattr(module, "perform_many", quick_many())


def results_of(folder: Path, *vary: str, **more: Any) -> Results:
    """Of a sweep that is done at once."""
    return swept(folder / "out", small_sweep(*vary, **more))[1]


def labels(figure: Figure) -> list[str]:
    """What the legend says."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_a_map_shows_each_design_in_its_place(tmp_path: Path) -> None:
    """Columns for the first number, rows for the second; designs that are not possible are left open and counted."""
    results = results_of(tmp_path, *GRID)
    figure = design_map(results, "yaw", title="a title")
    axes = figure.axes[0]
    assert axes.get_xlabel() == "tail.length [m]" and axes.get_ylabel() == "tail.mass [kg]"
    assert axes.get_yscale() == "log" and axes.get_xscale() == "linear"
    (first, veil) = (mesh for mesh in axes.collections if isinstance(mesh, QuadMesh))
    cells = first.get_array()
    assert cells is not None and cells.shape == (8, 9)
    wanted = results.measures["yaw"].reshape(9, 8).T
    np.testing.assert_array_equal(np.ma.filled(cells, np.nan), wanted)
    covered = np.ma.getmaskarray(veil.get_array())
    np.testing.assert_array_equal(~covered, results.early.reshape(9, 8).T)
    early, refused = results.early.sum(), results.refused.sum()
    assert early and refused
    assert labels(figure) == ["highest", "lowest", f"ended early ({early})", f"not possible ({refused})"]
    edges = np.asarray(first.get_coordinates())
    assert (edges[0, :-1, 0] < np.linspace(0.2, 0.8, 9)).all() and (edges[0, 1:, 0] > np.linspace(0.2, 0.8, 9)).all()
    best = int(np.nanargmax(np.where(results.whole, results.measures["yaw"], np.nan)))
    marks = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_gid() == "end"]  # type: ignore[index]
    assert marks[0] == [results.values["tail.length"][best], results.values["tail.mass"][best]]
    assert figure.axes[1].get_ylabel() == "yaw [deg]"


def test_lines_of_equal_height_where_it_is_smooth(tmp_path: Path) -> None:
    """A smooth map has them, a noisy one or a small one does not."""
    results = results_of(tmp_path, *GRID)
    lines = [kind for kind in design_map(results, "yaw").axes[0].collections if isinstance(kind, QuadContourSet)]
    assert len(lines) == 1 and len(lines[0].levels) > 2
    x, y = np.meshgrid(np.linspace(0.0, 1.0, 30), np.linspace(0.0, 1.0, 20))
    noise = np.random.default_rng(0).normal(size=x.shape)
    assert is_smooth(np.sin(3 * x) * y) and not is_smooth(noise) and not is_smooth(x * y + 0.2 * noise)
    assert not is_smooth((x * y)[:3]) and not is_smooth(np.zeros((9, 9))) and not is_smooth(np.full((9, 9), np.nan))


def test_borders_of_what_ended_early(tmp_path: Path) -> None:
    """A line between neighbours of which one ended early, nowhere else."""
    results = results_of(tmp_path, *GRID)
    early = results.early.reshape(9, 8)
    between = (early[1:] != early[:-1]).sum() + (early[:, 1:] != early[:, :-1]).sum()
    (border,) = (
        kind for kind in design_map(results, "yaw").axes[0].collections
        if isinstance(kind, LineCollection) and kind.get_gid() == "border early"
    )  # fmt: skip
    assert len(border.get_segments()) == between > 0


def test_a_map_of_drawn_designs(tmp_path: Path) -> None:
    """A point a design; those that ended early are hollow, those that are not possible are crosses."""
    results = results_of(tmp_path, "tail.length=0.2:0.8", "tail.mass=0.2:2:log", sampling="sobol", drawn=200)
    figure = design_map(results, "peak_tail_torque")
    clouds = {cloud.get_gid(): cloud for cloud in figure.axes[0].collections if isinstance(cloud, PathCollection)}
    assert len(clouds["ended early"].get_offsets()) == results.early.sum() > 0
    assert len(clouds["not possible"].get_offsets()) == results.refused.sum() > 0
    (first, *_) = figure.axes[0].collections
    np.testing.assert_array_equal(np.asarray(first.get_array()), results.measures["peak_tail_torque"][~results.refused])


def test_a_single_outlier_does_not_set_the_colours(tmp_path: Path) -> None:
    """Nor does an infinite value: the colour bar says that there are more."""
    results = results_of(tmp_path, "tail.length=0.1:0.2:20", "tail.mass=0.2:0.4:20")
    plain = design_map(results, "yaw").axes[0].collections[0].get_clim()
    results.measures["yaw"] = results.measures["yaw"].copy()
    results.measures["yaw"][[7, 9]] = (1e6, np.inf)
    assert design_map(results, "yaw").axes[0].collections[0].get_clim() == pytest.approx(plain, rel=0.1)


def test_both_signs_have_colours_of_their_own(tmp_path: Path) -> None:
    """Zero is in the middle of a map that has both."""
    results = results_of(tmp_path, "tail.length=0.1:0.2:6", "tail.mass=0.2:0.4:6")
    results.measures["yaw"] = results.measures["yaw"] - np.median(results.measures["yaw"])
    low, high = design_map(results, "yaw").axes[0].collections[0].get_clim()
    assert low == -high < 0.0


def test_curves(tmp_path: Path) -> None:
    """A panel a measure, in the order of what is varied, however it was listed."""
    results = results_of(tmp_path, "tail.length=0.7,0.3,0.5,1.4")
    figure = curves(results)
    assert [axes.get_ylabel() for axes in figure.axes] == ["yaw\n[deg]", "peak tail torque\n[N m]"]
    (line,) = (line for line in figure.axes[0].lines if line.get_gid() == "measure")
    x, y = np.asarray(line.get_xydata()).T
    assert x.tolist() == [0.3, 0.5, 0.7, 1.4] and np.isnan(y[-1])
    np.testing.assert_array_equal(y[:3], results.measures["yaw"][[1, 2, 0]])
    assert labels(figure) == ["not possible (1)"]


def test_a_matrix_of_pairs_shows_means(tmp_path: Path) -> None:
    """Over each pair the mean over the third number, of designs that ran to their end."""
    results = results_of(tmp_path, "tail.length=0.2:0.8:4", "tail.mass=0.2:2:3:log", "torso.mass=13,9", chunk=7)
    found = pair_matrix(results, "yaw")
    panels = {(axes.get_subplotspec().rowspan.start, axes.get_subplotspec().colspan.start): axes  # type: ignore[union-attr]
              for axes in found.axes if axes.get_subplotspec() and axes.get_visible()}  # fmt: skip
    assert sorted(panels) == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    values = np.where(results.whole, results.measures["yaw"], np.nan).reshape(4, 3, 2)
    cells = panels[1, 0].collections[0].get_array()
    with np.errstate(invalid="ignore"):
        sums, counts = np.nansum(values, axis=2), np.isfinite(values).sum(axis=2)
        wanted = np.where(counts, sums / counts, np.nan).T
    np.testing.assert_allclose(np.ma.filled(cells, np.nan), wanted, rtol=1e-13)
    medians = np.asarray(panels[2, 2].lines[0].get_xydata())
    assert medians[:, 0].tolist() == [9.0, 13.0]
    np.testing.assert_allclose(medians[:, 1], [np.nanmedian(values[:, :, k]) for k in (1, 0)], rtol=1e-13)
    assert [panels[2, k].get_xlabel() for k in range(3)] == ["tail.length [m]", "tail.mass [kg]", "torso.mass [kg]"]


def test_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One page that needs nothing else, with a picture and a table a measure, and who ended early and why."""
    monkeypatch.setattr(style, "rendered", lambda figure, kind: f"a {kind} of {len(figure.axes)} panels".encode())
    results = results_of(tmp_path, *GRID)
    report = write_report(sweep_report(results), tmp_path / "out")
    kinds = ("pdf", "png", "svg")
    drawn = sorted(file.name for file in (tmp_path / "out" / "figures").iterdir())
    assert drawn == sorted(f"map-{name}.{kind}" for name in results.sweep.measures for kind in kinds)
    html = report.read_text(encoding="utf-8")
    shown = [base64.b64decode(image).decode() for image in re.findall(r"data:image/svg\+xml;base64,([^\"]*)", html)]
    assert shown == ["a svg of 2 panels"] * 2
    outside = re.sub(r"data:image/[^\"]*", "", html)
    assert "http" not in outside and "url(" not in outside and "<script" not in html
    text = re.sub(r"<[^>]*>", " ", outside)
    assert "72 designs of the robot liu2020-pendulum, all of a grid" in text
    assert "tail.mass from 0.2 to 2 kg in 8 values, logarithmic" in text
    assert f"{results.early.sum()} ended early and {results.refused.sum()} not possible" in text
    assert "leg3 nearly straight" in text and "results.parquet" in text
    assert sorted(sweep_report(results).drawings) == ["map-peak_tail_torque", "map-yaw"]


@pytest.mark.parametrize("vary", [GRID, (*GRID, "gravity=1,2")], ids=["map", "matrix"])
def test_measures_that_no_design_has(vary: tuple[str, ...], tmp_path: Path) -> None:
    """No picture of nothing: the report says so."""
    results = results_of(tmp_path, *vary)
    results.measures["yaw"] = np.full(results.sweep.designs, np.nan)
    assert [name.partition("-")[2] for name in sweep_report(results).drawings] == ["peak_tail_torque"]
    results.measures["peak_tail_torque"] = results.measures["yaw"]
    assert "No design has a value" in write_report(sweep_report(results), tmp_path / "out").read_text(encoding="utf-8")
