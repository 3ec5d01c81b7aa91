"""Pictures of walking robots and of their papers: what they show is what the studies hold."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

import tailwork
from small_walks import small_biswal, small_nelson_quinn
from tailwork import view
from tailwork.errors import ArgumentError
from tailwork.papers.biswal import leg as paper
from tailwork.papers.biswal import report as biswal
from tailwork.papers.biswal.experiments import SETTLING, trot_gait
from tailwork.papers.nelson_quinn import report as nelson_quinn
from tailwork.papers.nelson_quinn.experiments import PAPER_EFFORTS, PAPER_ERRORS, PAPER_IMPULSES, ROWS, walking_gait
from tailwork.simulation import Run
from tailwork.simulation.contact.ground import CONTACT_NAMES
from tailwork.simulation.pose import run_torso_angles
from tailwork.view.figures.walking import (
    STATE_COLORS,
    footfall,
    leg_names,
    samples_a_stride,
    spells,
    stride_pictures,
    torso_travel,
)
from tailwork.view.scene import scene_of
from tailwork.view.scene.sample import samples_at

UNIT = re.compile(r"\[(deg|ms|s|mm|cm|m|cm/s|m/s|N m|N mm|mN|cm³|dyn cm/rad|\(mN cm\)²|1)\]$")


def lines_named(axes: Axes, name: str) -> list[np.ndarray]:
    return [np.array(line.get_data()) for line in axes.lines if line.get_gid() == name]


def extents(axes: Axes, name: str) -> np.ndarray:
    """Starts and ends of bars, (bars, 2)."""
    (bars,) = (found for found in axes.collections if found.get_gid() == name)
    across = [path.vertices[:, 0] for path in bars.get_paths()]
    return np.array([(x.min(), x.max()) for x in across]).reshape(-1, 2)


def covers(bars: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Whether some bar holds a time, for each."""
    return ((bars[:, :1] <= times) & (times <= bars[:, 1:])).any(axis=0)


# Footfall


def test_spells_last_until_the_next_sample() -> None:
    times = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert spells(times, [1, 1, 0, 2, 2]) == [(0.0, 2.0, 1), (2.0, 3.0, 0), (3.0, 4.0, 2)]
    assert spells(times, [1, 1, 1, 1, 0]) == [(0.0, 4.0, 1)]


@pytest.mark.parametrize("window", [None, (0.3, 0.7)])
def test_bars_of_feet_are_their_contacts(window: tuple[float, float] | None) -> None:
    run, gait = small_nelson_quinn().walk, walking_gait()
    (axes,) = footfall(run, window=window, gait=gait).axes
    times = run.data["time"].to_numpy()
    first, last = window or (times[0], times[-1])
    inside = (times >= first - 1e-9) & (times <= last + 1e-9)
    middles = (times[inside][1:] + times[inside][:-1]) / 2.0
    for foot in run.data["foot"].to_numpy():
        states = run.data["contact"].sel(foot=foot).to_numpy()[inside][:-1]
        for state in STATE_COLORS:
            expected = states == CONTACT_NAMES.index(state)
            np.testing.assert_array_equal(covers(extents(axes, f"{foot} {state}"), middles), expected)
        wanted = gait.in_stance(foot, times[inside])[:-1]
        np.testing.assert_array_equal(covers(extents(axes, f"{foot} gait"), middles), wanted)
    assert [label.get_text() for label in axes.get_yticklabels()][:3] == ["front left", "front right", "middle left"]


def test_footfall_needs_feet_that_come_and_go() -> None:
    aloft = replace(small_biswal().trot.run, ground=None)
    with pytest.raises(ArgumentError, match="a run on ground"):
        footfall(aloft)
    with pytest.raises(ArgumentError, match="compliant ground"):
        torso_travel(aloft, trot_gait(), settling=0)
    with pytest.raises(ArgumentError, match="window"):
        footfall(small_biswal().trot.run, window=(7.0, 8.0))


def test_legs_are_named_by_where_they_are() -> None:
    assert list(leg_names(tailwork.robots.biswal()).values()) == [
        "front left",
        "front right",
        "hind left",
        "hind right",
    ]
    assert all(name.replace("_", " ") == said for name, said in leg_names(tailwork.robots.blaberus()).items())


# The torso, and pictures of a stride


def test_the_torso_over_time_is_that_of_the_run() -> None:
    """Lengths in the unit asked for; bold lines are means over a stride, so a period leaves no trace in them."""
    run, gait = small_nelson_quinn().walk, walking_gait()
    figure = torso_travel(run, gait, settling=1, unit="cm")
    whole, each = figure.axes[::2], samples_a_stride(run, gait)
    assert [axes.get_ylabel() for axes in whole] == ["height [cm]", "speed [cm/s]", "angle [deg]"]
    times = run.data["time"].to_numpy()
    angles = run_torso_angles(run)
    expected = [
        ("torso", 100 * run.data["q"].sel(coordinate="z").to_numpy()),
        ("torso", 100 * run.data["v"].sel(velocity="v_x").to_numpy()),
        ("roll", np.degrees(angles["roll"])),
    ]
    for axes, late, (name, values) in zip(whole, figure.axes[1::2], expected, strict=True):
        (line,), (mean,), (last,) = lines_named(axes, name), lines_named(axes, f"{name}, mean"), lines_named(late, name)
        np.testing.assert_allclose(line, [times, values], rtol=1e-12)
        np.testing.assert_allclose(mean[1, [0, -1]], [values[:each].mean(), values[-each:].mean()], rtol=1e-9)
        np.testing.assert_allclose(last, [times[-2 * each - 1 :], values[-2 * each - 1 :]], rtol=1e-12)


@pytest.mark.parametrize(
    ("run", "gait", "views"),
    [(lambda: small_nelson_quinn().walk, walking_gait, ("side", "top")),
     (lambda: small_biswal().trot.run, trot_gait, ("side", "three-quarter"))],
    ids=["cockroach", "quadruped"],
)  # fmt: skip
def test_pictures_of_a_stride(run: Callable[[], Run], gait: Callable, views: tuple[str, ...]) -> None:
    """As many as asked for, evenly over the last stride; nothing is cut off; feet on the ground are marked."""
    walk, stride = run(), gait()
    figure = stride_pictures(walk, stride, views=views, frames=4, title="Stride")
    assert len(figure.axes) == 4 * len(views)
    said = [float(text.get_text()[:-3]) for text in figure.texts if text.get_text().endswith(" ms")]
    each = samples_a_stride(walk, stride)
    np.testing.assert_allclose(said, 1e3 * stride.period * np.arange(4) / 4, atol=1.0 + 1e3 * stride.period / each)
    times = walk.data["time"].to_numpy()
    starts = times[-1] - stride.period * (1.0 - np.arange(4) / 4)
    rows = [int(np.abs(times - start).argmin()) for start in starts]
    for k, axes in enumerate(figure.axes):
        (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
        robot = [c for c in axes.collections if isinstance(c, PolyCollection)][-1]
        corners = np.concatenate([path.vertices for path in robot.get_paths()])
        assert corners[:, 0].min() >= x0 and corners[:, 0].max() <= x1
        assert corners[:, 1].min() >= y0 and corners[:, 1].max() <= y1
        states = walk.data["contact"].to_numpy()[rows[k // len(views)]]
        feet = walk.data["foot"].to_numpy()
        down = {
            f"{foot}.foot {CONTACT_NAMES[s]}" for foot, s in zip(feet, states, strict=True) if CONTACT_NAMES[s] != "air"
        }
        assert {str(line.get_gid()) for line in axes.lines if line.get_marker() == "o"} == down
    side = figure.axes[:: len(views)]
    moved = np.diff([np.mean(axes.get_xlim()) for axes in side])
    np.testing.assert_allclose(moved, np.diff(walk.data["q"].sel(coordinate="x").to_numpy()[rows]), rtol=1e-9)


def test_on_the_ground_a_robot_is_drawn_where_it_is() -> None:
    """The eye falls with a robot in the air, but not with one that walks, though no foot of it is pinned either."""
    run = small_biswal().trot.run
    rows, scene = [0, 150, 300], scene_of(run)
    joints = [k for k, frame in enumerate(scene.frames) if frame.name in run.model.point_names]
    assert len(joints) > 8
    for row, moment in zip(rows, samples_at(scene, run.data["time"].to_numpy()[rows]), strict=True):
        points = run.data["points"].isel(time=row).sel(point=[scene.frames[k].name for k in joints])
        np.testing.assert_allclose(moment.places[joints], points, atol=1e-12)


def test_a_run_that_is_too_short_for_a_stride() -> None:
    result = small_nelson_quinn()
    with pytest.raises(ArgumentError, match=r"0\.25 s at least"):
        stride_pictures(result.settled, walking_gait())
    with pytest.raises(ArgumentError, match="more than 6 strides"):
        biswal.stride_torques(small_biswal().trot.run, trot_gait(), settling=6)


# Nelson & Quinn


def test_table_1_shows_the_rows_and_the_paper(tmp_path: Path) -> None:
    result = small_nelson_quinn()
    nelson_quinn.report(result).write_numbers(tmp_path)
    with (tmp_path / "table-1.csv").open() as file:
        header, *rows = list(csv.reader(file))
    numbers = np.array(rows, dtype=float)
    assert header == list(nelson_quinn.table_1(result)[0])
    expected = [(r.stiffness, r.error, r.front_effort, r.efforts.sum(), r.sideways) for r in result.rows]
    np.testing.assert_allclose(numbers[:, [0, 2, 4, 5, 6]], expected, rtol=1e-8)
    np.testing.assert_allclose(numbers[:, [1, 3]].T, [PAPER_ERRORS, PAPER_EFFORTS])
    shown = [[float(str(cell)) for cell in row] for row in nelson_quinn.table_1_shown(result).rows]
    np.testing.assert_allclose(shown, numbers, rtol=0.05, atol=0.005)


def test_effort_curves_show_the_sweeps() -> None:
    result = small_nelson_quinn()
    (axes,) = nelson_quinn.effort_figure(result).axes
    for name, found in (("ours", result.sweep), ("rows", result.rows), (nelson_quinn.HARD, result.stiff_ground)):
        (line,) = lines_named(axes, name)
        np.testing.assert_array_equal(line, [[s.error for s in found], [s.front_effort for s in found]])
    np.testing.assert_array_equal(lines_named(axes, "paper")[0], [PAPER_ERRORS, PAPER_EFFORTS])
    assert axes.get_xscale() == "log"
    effort, share = nelson_quinn.stiffness_figure(result).axes
    np.testing.assert_array_equal(lines_named(effort, "ours")[0][1], [s.efforts.sum() for s in result.sweep])
    np.testing.assert_array_equal(lines_named(share, "ours")[0][1], [s.sideways for s in result.sweep])
    least = lines_named(effort, "least")[0][1]
    np.testing.assert_allclose(least, ((result.least.torques / 1e-5) ** 2).sum())
    assert all(least[0] < s.efforts.sum() for s in (*result.sweep, *result.stiff_ground)), "nothing is below the least"


def test_reactions_are_those_of_the_study(tmp_path: Path) -> None:
    result = small_nelson_quinn()
    found = result.reactions
    panels = nelson_quinn.reaction_figure(result).axes
    for axes, row in zip(panels, ROWS, strict=True):
        (up,), (along,) = lines_named(axes, "vertical"), lines_named(axes, "longitudinal")
        np.testing.assert_allclose(up, [250.0 * found.share, 1e3 * found.force[row][:, 2]])
        np.testing.assert_allclose(along[1], 1e3 * found.force[row][:, 0])
        # the area under the longitudinal line is the impulse of a stride: mN ms are 0.1 g cm/s
        area = along[1].mean() * 250.0 / 10.0
        assert found.stride[row].mean() / 1e-5 == pytest.approx(area, abs=1e-6 * abs(area))
        ours, theirs = re.findall(r"[+−]\d+\.\d", axes.get_title(loc="left"))
        assert float(ours.replace("−", "-")) == pytest.approx(found.stride[row].mean() / 1e-5, abs=0.051)
        assert float(theirs.replace("−", "-")) == PAPER_IMPULSES[row]
    nelson_quinn.report(result).write_numbers(tmp_path)
    table = np.genfromtxt(tmp_path / "reactions.csv", delimiter=",", names=True, deletechars="")
    for row in ROWS:
        written = np.stack([table[f"{row}_{way}_[mN]"] for way in ("forward", "outward", "up")], axis=1)
        np.testing.assert_allclose(written, 1e3 * found.force[row], rtol=1e-8, atol=1e-12)
    rows = [[str(cell).replace("−", "-") for cell in row] for row in nelson_quinn.impulse_table(result).rows]
    numbers = {name: np.array(cells, dtype=float) for name, *cells in rows}
    for row in ROWS:
        printed, contact, before, after, planned = numbers[row]
        assert printed == PAPER_IMPULSES[row] and before + after == pytest.approx(contact, abs=0.11)
        assert contact == pytest.approx(found.stride[row].mean() / 1e-5, abs=0.051)
        assert planned == pytest.approx(found.stance[row].mean() / 1e-5, abs=0.051)
    np.testing.assert_allclose(numbers["sum"], sum(numbers[row] for row in ROWS), atol=0.16)


def test_impulses_against_the_gains() -> None:
    """A line a stiffness, through the impulses of all contact, beside the paper's."""
    result = small_nelson_quinn()
    for axes, row in zip(nelson_quinn.gain_figure(result).axes, ROWS, strict=True):
        for kp, by_damping in result.by_gains.items():
            (line,) = lines_named(axes, f"{kp:g}")
            expected = [[kd, found.stride[row].mean() / 1e-5] for kd, found in by_damping.items()]
            np.testing.assert_allclose(line.T, expected)
        assert lines_named(axes, "paper")[0][1] == pytest.approx(PAPER_IMPULSES[row])


# Biswal & Mohanty


def test_feet_and_torques_by_reading(tmp_path: Path) -> None:
    result = small_biswal()
    for figure, found in (
        (biswal.foot_figure(result.leg), result.leg.feet), (biswal.torque_figure(result.leg), result.leg.torques)
    ):  # fmt: skip
        for k, axes in enumerate(figure.axes):
            for name in paper.READINGS:
                (line,) = lines_named(axes, name)
                np.testing.assert_allclose(line, [result.leg.times, 1e3 * found[name][:, k]])
            widths = {line.get_gid(): line.get_linewidth() for line in axes.lines}
            assert widths["C"] > max(widths["A"], widths["B"]), "the default stands out"
    biswal.report(result).write_numbers(tmp_path)
    table = np.genfromtxt(tmp_path / "leg.csv", delimiter=",", skip_header=1)
    for k, name in enumerate(paper.READINGS):
        expected = 1e3 * np.hstack([result.leg.feet[name], result.leg.torques[name]])
        np.testing.assert_allclose(table[:, 1 + 6 * k : 7 + 6 * k], expected, rtol=1e-8, atol=1e-6)


def test_the_table_of_the_foot() -> None:
    rows = biswal.foot_table(small_biswal().leg).rows
    assert [row[:2] for row in rows] == [[t, axis] for t in "0135" for axis in "xyz"]
    a, b, c = zip(*(row[2:] for row in rows), strict=True)
    assert a[:3] == c[:3] == ("180.0", "100.0", "−310.0") and a[9:] == ("24.2", "70.6", "−206.7")
    assert b[:3] == c[9:] == ("140.0", "56.5", "−286.6"), "C ends in the posture, B starts in it"


def test_tables_of_torques_and_postures() -> None:
    """The largest torque of each joint by reading; both solutions for the foot of the posture."""
    torques = biswal.torque_table(small_biswal().leg).rows
    assert [row[3] for row in torques] == ["68.6", "88.6", "8.4"]
    postures = biswal.posture_table(paper.Leg()).rows
    assert [row[1:] for row in postures] == [["−10", "−10", "−10"], ["−35", "−35", "10"], ["45", "45", "−45"]]


def test_the_workspace_holds_the_samples_and_both_branches_reach_the_foot() -> None:
    leg = paper.Leg()
    reach, poses = biswal.workspace_figure(leg).axes
    (points,), (edge,) = lines_named(reach, "samples"), lines_named(reach, "boundary")
    assert paper.workspace(leg).contains(points.T / 1e3).all()
    np.testing.assert_allclose(np.hypot(*(edge - [[180.0], [-110.0]])), 200.0)
    first, second = lines_named(poses, "leg")
    np.testing.assert_allclose(first[:, -1], 1e3 * paper.foot_place(leg, np.radians(paper.POSTURE))[[0, 2]])
    np.testing.assert_allclose(first[:, [0, 1, 3]], second[:, [0, 1, 3]], atol=1e-9)
    assert abs(first[0, 2] - second[0, 2]) > 50.0, "the knees are on different sides"
    lengths = np.linalg.norm(np.diff(biswal.leg_places(leg, np.radians(paper.POSTURE)), axis=0), axis=1)
    np.testing.assert_allclose(lengths, [leg.hip_length, leg.thigh_length, leg.shank_length])


def test_singular_postures_of_the_motion() -> None:
    """A and C start, and B ends, with a straight knee."""
    result = small_biswal().leg
    along = biswal.singularity_figure(result, paper.Leg()).axes[1]
    for name, end in (("A", 0), ("B", -1), ("C", 0)):
        ((_, values),) = lines_named(along, name)
        assert abs(values[end]) < 1e-9
        assert np.abs(np.delete(values, end)).min() > 1.0


def test_torques_over_a_stride() -> None:
    """Their mean is that of the run after its first strides, and a knee bears more in stance than in swing."""
    run, gait = small_biswal().trot.run, trot_gait()
    share, torques = biswal.stride_torques(run, gait)
    assert len(share) == samples_a_stride(run, gait) == 100
    after = run.data["tau"].to_numpy()[SETTLING * samples_a_stride(run, gait) : -1]
    names = run.model.actuator_names
    for leg, found in torques.items():
        columns = [names.index(f"{leg}.{joint}") for joint in ("ha", "hb", "k")]
        np.testing.assert_allclose(found.mean(axis=0), after[:, columns].mean(axis=0), rtol=1e-9)
        knee = np.abs(found[:, 2])
        assert knee[share < gait.duty].mean() > 4.0 * knee[share >= gait.duty].mean()
    panels = biswal.trot_torque_figure(small_biswal()).axes
    for k, axes in enumerate(panels):
        for leg, found in torques.items():
            np.testing.assert_array_equal(lines_named(axes, leg)[0][1], found[:, k])


# All figures


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    cockroach, quadruped = small_nelson_quinn(), small_biswal()
    return {
        "effort": nelson_quinn.effort_figure(cockroach),
        "stiffness": nelson_quinn.stiffness_figure(cockroach),
        "reactions": nelson_quinn.reaction_figure(cockroach),
        "footfall": footfall(cockroach.walk, gait=walking_gait(), title="Footfall"),
        "torso": torso_travel(quadruped.trot.run, trot_gait(), settling=SETTLING, title="Torso"),
        "workspace": biswal.workspace_figure(paper.Leg()),
        "singularities": biswal.singularity_figure(quadruped.leg, paper.Leg()),
        "feet": biswal.foot_figure(quadruped.leg),
        "trot": biswal.trot_torque_figure(quadruped),
    }


def test_axes_have_units_and_nothing_leaves_the_page(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        for axes in figure.axes:
            for label in (axes.get_xlabel(), axes.get_ylabel()):
                assert not label or UNIT.search(label), (name, label)
        with view.look():
            figure.draw_without_rendering()
        for text in figure.findobj(Text):
            if text.get_visible() and text.get_text().strip():
                assert text.get_fontsize() >= 7.0, (name, text.get_text())
        for legend in figure.legends:
            box = legend.get_window_extent().transformed(figure.transFigure.inverted())
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= 1 and box.y1 <= 1, name
