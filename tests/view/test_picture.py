"""Stills: what stands in the picture is where the simulation has it, and what cannot be drawn is said."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from test_scene import run_of, scene_for

from small_scenes import ended_early, gliding
from tailwork import view
from tailwork.cli.pictures import add_picture
from tailwork.errors import ArgumentError, FileError, TailworkError, UnknownNameError
from tailwork.view.draw.camera import camera, heights_of
from tailwork.view.draw.picture import strip_of
from tailwork.view.draw.stage import CENTERS, FORCES, ROBOT, subject
from tailwork.view.draw.style import DARK, LIGHT, luminance
from tailwork.view.scene import Bar, Scene
from tailwork.view.scene.sample import samples_at, slerp
from tailwork.view.scene.scene import ARROW


def drawn(figure: Figure, name: str) -> list[PolyCollection]:
    return [
        c for axes in figure.axes for c in axes.collections if c.get_gid() == name and isinstance(c, PolyCollection)
    ]


def corners(collection: PolyCollection) -> np.ndarray:
    return np.array([path.vertices for path in collection.get_paths()])


def pixels(figure: Figure) -> np.ndarray:
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=60, facecolor="auto")
    memory.seek(0)
    return imread(memory)


# Moments


def test_at_a_sample_a_moment_is_the_sample() -> None:
    scene = scene_for("usrt")
    for k, moment in zip((0, 7, 20), samples_at(scene, scene.times[[0, 7, 20]]), strict=True):
        assert moment.time == scene.times[k]
        np.testing.assert_array_equal(moment.places, [frame.places[k] for frame in scene.frames])
        np.testing.assert_allclose(moment.rotations, [f.rotations()[k] for f in scene.frames], atol=1e-15)
        np.testing.assert_array_equal(moment.forces, [force.forces[k] for force in scene.forces])
        np.testing.assert_array_equal(moment.markers, [marker.places[k] for marker in scene.markers])


def test_between_samples_bodies_stay_rigid_and_turn_evenly() -> None:
    scene = scene_for("usrt")
    early, late = (0.8 * scene.times[4] + 0.2 * scene.times[5], 0.2 * scene.times[4] + 0.8 * scene.times[5])
    for moment in samples_at(scene, [early, late]):
        squares = moment.rotations @ np.swapaxes(moment.rotations, 1, 2)
        np.testing.assert_allclose(squares, np.broadcast_to(np.eye(3), squares.shape), atol=1e-14)
    start, end = np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([[np.cos(0.6), np.sin(0.6), 0.0, 0.0]])
    for share in (0.0, 0.25, 0.5, 1.0):
        angle = 1.2 * share
        expected = [[np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0]]
        np.testing.assert_allclose(slerp(start, end, np.array([[share]])), expected, atol=1e-15)


def test_before_its_start_and_after_its_end_a_scene_stands_still() -> None:
    scene = scene_for("pendulum")
    first, last = samples_at(scene, [-1.0, 9.0])
    np.testing.assert_array_equal(first.places[0], scene.frames[0].places[0])
    np.testing.assert_array_equal(last.places[0], scene.frames[0].places[-1])


# What stands where


@pytest.mark.parametrize("kind", ["pendulum", "usrt"])
@pytest.mark.parametrize("view_name", ["three-quarter", "top", "-30,10"])
def test_the_tip_of_the_tail_is_drawn_where_it_was_simulated(kind: str, view_name: str) -> None:
    run, scene = run_of(kind), scene_for(kind)
    time = float(scene.times[13])
    (robot,) = drawn(view.picture([scene], "pose", times=[time], view=view_name), ROBOT)
    tip = camera(view_name).project(run.data["points"].sel(point="tail.tip").to_numpy()[13])
    _, frame, point = scene.tips[0]
    (bar,) = (s.shape for s in scene.solids if s.frame == frame and isinstance(s.shape, Bar) and s.shape.end == point)
    away = np.linalg.norm(corners(robot) - tip, axis=2)
    round_it = (np.abs(away - bar.end_radius) < 1e-9).sum(axis=1)
    assert round_it.max() >= 12, "the end of the tail is half a circle about its tip, as far as it is not hidden"


def test_arrows_start_at_the_feet_and_are_as_long_as_the_forces() -> None:
    run, scene = run_of("pendulum"), scene_for("pendulum")
    row, eye = 15, camera("side")
    (arrows,) = drawn(view.picture([scene], "pose", times=[float(scene.times[row])], view="side"), FORCES)
    longest = ARROW * scene.size / scene.weight
    for outline, foot, force in zip(
        corners(arrows),
        run.data["points"].sel(point=[f"{force.foot}.foot" for force in scene.forces]).to_numpy()[row],
        run.data["foot_force"].to_numpy()[row],
        strict=True,
    ):
        np.testing.assert_allclose((outline[0] + outline[6]) / 2.0, eye.project(foot), atol=1e-12)
        np.testing.assert_allclose(outline[3], eye.project(foot + longest * force), atol=1e-12)
    np.testing.assert_allclose(arrows.get_facecolor()[:, :3], [to_rgb(force.color) for force in scene.forces])


def test_a_foot_that_would_pull_has_an_arrow_of_warning() -> None:
    scene = scene_for("pendulum")
    first = scene.forces[0]
    pulled = replace(scene, forces=(replace(first, forces=-first.forces), *scene.forces[1:]))
    for dark, theme in ((False, LIGHT), (True, DARK)):
        (arrows,) = drawn(view.picture([pulled], "pose", dark=dark), FORCES)
        np.testing.assert_allclose(arrows.get_facecolor()[0, :3], to_rgb(theme.warning))
        assert corners(arrows)[0, 3, 1] < corners(arrows)[0, 0, 1], "and it points down"


def test_centres_of_mass_and_their_ways() -> None:
    run, scene = run_of("pendulum"), scene_for("pendulum")
    row, eye = 12, camera("rear")
    figure = view.picture([scene], "pose", times=[float(scene.times[row])], view="rear")
    (discs,) = drawn(figure, CENTERS)
    whole, tail = corners(discs)
    center = run.model.center_of_mass(run.data["q"].to_numpy())
    np.testing.assert_allclose(whole[:-1].mean(axis=0), eye.project(center[row]), atol=1e-12)
    (way,) = (line for line in figure.axes[0].lines if line.get_gid() == "centre of mass of the tail")
    path = eye.project(run.data["part_center"].sel(part="tail").to_numpy()[: row + 1])
    np.testing.assert_allclose(np.array(way.get_data()).T[:-1], path, atol=1e-12)
    np.testing.assert_allclose(tail[:-1].mean(axis=0), path[-1], atol=1e-12)
    assert not drawn(view.picture([scene], "pose", traces=False, forces=False), CENTERS)


def test_feet_stand_on_uneven_ground() -> None:
    scene = scene_for("hills")
    field = run_of("hills").ground.surface
    places = np.array([[0.0, 0.0], [0.11, -0.07], [0.3, 0.2]])
    expected = [field.height(x, y) for x, y in places]
    np.testing.assert_allclose(heights_of(scene.terrain)(places), expected, atol=2e-3)
    figure = view.picture([scene], "pose")
    assert any(isinstance(c, PolyCollection) and len(c.get_paths()) > 100 for c in figure.axes[0].collections)


# Kinds of pictures


@pytest.mark.parametrize(
    ("kind", "dark"),
    [("usrt", False), ("airborne", False), ("fixed", False), ("hills", False), ("usrt", True)],
)
def test_every_kind_of_picture_of_every_kind_of_robot(kind: str, dark: bool) -> None:
    """Nothing of a robot and no text leaves the page, and something is on it."""
    for what in view.PICTURES:
        figure = view.picture([scene_for(kind)], what, frames=3, dark=dark)
        figure.draw_without_rendering()
        page = figure.bbox
        for text in figure.findobj(Text):
            if text.get_text().strip() and text.get_visible() and text.axes is None:
                box = text.get_window_extent()
                assert box.x0 >= page.x0 and box.x1 <= page.x1 and box.y0 >= page.y0 and box.y1 <= page.y1
        for axes in figure.axes:
            (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
            for robot in (c for c in axes.collections if c.get_gid() == ROBOT):
                places = corners(robot)
                assert places.min(axis=(0, 1))[0] >= x0 and places.max(axis=(0, 1))[0] <= x1
                assert places.min(axis=(0, 1))[1] >= y0 and places.max(axis=(0, 1))[1] <= y1
        if what == "pose":
            seen = pixels(figure)[..., :3]
            paper = np.array(to_rgb((DARK if dark else LIGHT).paper))
            share = (np.abs(seen - paper).max(axis=-1) > 0.02).mean()
            assert 0.02 < share < 0.9


def test_a_strip_shows_every_moment_and_says_its_time() -> None:
    scenes = [scene_for("pendulum"), scene_for("usrt")]
    figure = view.picture(scenes, "strip", times=[0.3, 0.0, 0.1])
    texts = [text.get_text() for text in figure.texts]
    assert [text for text in texts if text.endswith(" ms")] == ["0 ms", "100 ms", "300 ms"] * 2
    assert {"pendulum", "USRT"} <= set(texts) and len(figure.axes) == 6
    assert len(drawn(figure, ROBOT)) == 6 and not drawn(figure, FORCES)
    assert len(drawn(view.picture(scenes, "strip", frames=2, forces=True), FORCES)) == 4


def test_the_eye_goes_along_with_a_robot_that_walks() -> None:
    stander = scene_for("pendulum")
    walker = gliding(stander, (0.0, 4.0, 0.0))
    for scene, walks in ((walker, True), (stander, False)):
        strip = strip_of(subject(scene, "side", LIGHT), samples_at(scene, scene.times), follow=True)
        assert strip.follows == walks
    seen = [np.mean(axes.get_xlim()) for axes in view.picture([walker], "strip", frames=3, view="side").axes]
    torso = samples_at(walker, [0.0, 0.15, 0.3])
    np.testing.assert_allclose(np.diff(seen), np.diff([moment.places[0, 1] for moment in torso]), atol=1e-9)
    assert len({axes.get_xlim() for axes in view.picture([stander], "strip", frames=3).axes}) == 1


def test_a_run_that_ended_early_shows_its_end_and_says_why() -> None:
    scene = scene_for("pendulum")
    short = ended_early(scene, 0.5, "a leg is straight")
    for kind in view.PICTURES:
        texts = [text.get_text() for text in view.picture([scene, short], kind, frames=4).texts]
        assert any("stopped at 150 ms: a leg is straight" in text for text in texts)
        assert any(text.endswith("150 ms") for text in texts) and any(text.endswith("300 ms") for text in texts)


def test_dark_paper_is_dark_and_threads_are_seen_on_it() -> None:
    light, dark = (pixels(view.picture([scene_for("usrt")], "pose", dark=dark))[2, 2, :3] for dark in (False, True))
    assert light == pytest.approx(to_rgb(LIGHT.paper), abs=0.01) and dark == pytest.approx(to_rgb(DARK.paper), abs=0.01)
    for thread in scene_for("usrt").threads:
        contrast = (luminance(DARK.readable(thread.color)) + 0.05) / (luminance(DARK.paper) + 0.05)
        assert contrast > 3.0 and LIGHT.readable(thread.color) == thread.color


# Files


def test_files_by_their_names(tmp_path: Path) -> None:
    figure = view.picture([scene_for("pendulum")], "pose")
    for name, start in (("a.png", b"\x89PNG"), ("b.pdf", b"%PDF"), ("c.SVG", b"<?xml")):
        path = view.write_picture(figure, tmp_path / name, dpi=50)
        content = path.read_bytes()
        assert content.startswith(start)
        assert view.write_picture(figure, path, dpi=50).read_bytes() == content, "the same bytes each time"
    wide, tall = figure.get_size_inches()
    assert imread(tmp_path / "a.png").shape[:2] == (pytest.approx(50 * tall, abs=1), pytest.approx(50 * wide, abs=1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.pdf", "c.SVG"]


def test_without_paper_what_is_no_robot_is_transparent(tmp_path: Path) -> None:
    scene = scene_for("pendulum")
    for transparent in (True, False):
        figure = view.picture([scene], "pose", transparent=transparent)
        alpha = imread(view.write_picture(figure, tmp_path / "a.png", dpi=50))[..., 3]
        assert alpha.max() == 1.0 and (alpha.min() == 0.0) == transparent
        if transparent:
            assert 0.3 < (alpha == 0.0).mean() < 0.95


# Errors


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"kind": "strips"}, UnknownNameError, "did you mean 'strip'"),
        ({"view": "tp"}, UnknownNameError, "did you mean 'top'"),
        ({"frames": 1}, ArgumentError, "frames.*at least 2"),
        ({"times": [0.1, 0.4]}, ArgumentError, "from 0 to 0.3 s"),
        ({"times": [float("nan")]}, ArgumentError, "from 0 to 0.3 s"),
        ({"times": []}, ArgumentError, "from 0 to 0.3 s"),
        ({"times": ["soon"]}, ArgumentError, "numbers"),
        ({"kind": "pose", "times": [0.1, 0.2]}, ArgumentError, "one time for a pose"),
    ],
)
def test_what_cannot_be_drawn_is_said(options: dict, kind: type[TailworkError], message: str) -> None:
    with pytest.raises(kind, match=message):
        view.picture([scene_for("pendulum")], **options)


@pytest.mark.parametrize("shown", [[], {}, ["run.nc"]])
def test_nothing_to_draw(shown: Sequence[Scene]) -> None:
    with pytest.raises(ArgumentError, match="at least one"):
        view.picture(shown)


def test_names_that_are_none_for_a_picture(tmp_path: Path) -> None:
    figure = view.picture([scene_for("pendulum")], "pose")
    for name, message in (
        ("a.jpg", r"\.png, \.pdf or \.svg"),
        ("png", r"\.png, \.pdf or \.svg"),
        ("missing/a.png", "no folder .*missing"),
    ):
        with pytest.raises(FileError, match=message):
            view.write_picture(figure, tmp_path / name)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(FileError, match="a folder is where"):
        view.write_picture(figure, tmp_path / "folder.png")
    with pytest.raises(ArgumentError, match="dpi"):
        view.write_picture(figure, tmp_path / "a.png", dpi=0)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


# The command


def command(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    add_picture(parser)
    options = parser.parse_args([*map(str, arguments)])
    return options.run(options)


def test_the_command_draws_beside_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "swing.nc"
    run_of("pendulum").save(run)
    assert command(run, "--frames", 2, "--dpi", 40, "--dark") == 0
    assert imread(tmp_path / "swing.png")[0, 0, :3] == pytest.approx(to_rgb(DARK.paper), abs=0.01)
    assert "swing.png" in capsys.readouterr().out
    assert (
        command(run, "--time", 0.1, "--view=-30,20", "--transparent", "--no-forces", "--out", tmp_path / "a.svg") == 0
    )
    drawing = (tmp_path / "a.svg").read_text()
    assert "<!-- swing -->" in drawing and f'id="{ROBOT}"' in drawing and f'id="{FORCES}"' not in drawing
    (tmp_path / "none.nc").write_text("no run")
    for arguments, message in (
        ((tmp_path / "none.nc",), "not a NetCDF file"),
        ((run, "--out", tmp_path / "a.bmp"), "a picture"),
        ((run, "--times", "0,x"), "--times"),
        ((run, "--time", "0.1", "--kind", "ghosts"), "--time"),
        ((run, "--times", "0,3"), "from 0 to 0.3 s"),
    ):
        with pytest.raises(TailworkError, match=message):
            command(*arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "none.nc", "swing.nc", "swing.png"]


def test_long_names_stay_over_their_own_panel() -> None:
    """Names of three runs side by side, of 34 letters each, do not run into each other; short ones keep their size."""
    run = run_of("pendulum")
    names = [f"yaw80-pendulum-joint-rigid-e81e8cb{k}" for k in range(3)]
    figure = view.picture(dict.fromkeys(names, run), "pose")
    boxes = [text.get_window_extent() for text in figure.texts if text.get_text() in names]
    assert len(boxes) == 3 and all(a.x1 < b.x0 for a, b in pairwise(boxes))
    (short,) = (text for text in view.picture({"pendulum": run}, "pose").texts if text.get_text() == "pendulum")
    assert short.get_fontsize() == 8.0
