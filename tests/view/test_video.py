"""Videos: as many pictures as asked, of the asked size, that show the run; whole or not at all."""

from __future__ import annotations

import argparse
import os
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from test_scene import run_of, scene_for

from small_scenes import ended_early, gliding
from tailwork import view
from tailwork.cli.pictures import add_video
from tailwork.errors import ArgumentError, FileError, TailworkError
from tailwork.view.draw.stage import ROBOT, subject
from tailwork.view.draw.style import DARK, LIGHT, Theme
from tailwork.view.film.charts import panels_of
from tailwork.view.film.film import Film, film
from tailwork.view.film.video import LASTS, ffmpeg, picture_times, size_from_text
from tailwork.view.scene.colors import lit
from tailwork.view.scene.sample import samples_at

SMALL = (320, 180)


def decoded(path: Path, size: tuple[int, int]) -> np.ndarray:
    """The pictures of a video, (pictures, height, width, 3)."""
    command = [
        ffmpeg(),
        "-loglevel",
        "error",
        "-i",
        str(path),
        "-fps_mode",
        "passthrough",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    ]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, dtype=np.uint8).reshape(-1, size[1], size[0], 3)


@cache
def small_film(kind: str, theme: Theme = LIGHT) -> Film:
    scenes = [scene_for(one) for one in kind.split()]
    return film(scenes, picture_times(scenes, 2.0, 10.0), SMALL, view="three-quarter", theme=theme, plots=True,
                forces=True, traces=True, slow="2 times slower")  # fmt: skip


def picture(of: Film, number: int) -> np.ndarray:
    """A picture, (height, width, 3), from 0 to 1."""
    return np.array(of.picture(number))[..., :3] / 255.0


# Pictures


def test_times_of_the_pictures() -> None:
    scenes = [scene_for("pendulum")]
    times = picture_times(scenes, 20.0, 30.0)
    assert len(times) == 181 and times[0] == 0.0 and times[-1] == pytest.approx(0.3)
    np.testing.assert_allclose(np.diff(times), 1.0 / 600.0, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "theme"),
    [(kind, LIGHT) for kind in ("usrt", "pendulum usrt", "airborne", "fixed", "hills")] + [("usrt", DARK)],
)
def test_pictures_move_and_what_stands_still_does_not(kind: str, theme: Theme) -> None:
    of = small_film(kind, theme)
    first, last = picture(of, 0), picture(of, len(of.times) - 1)
    assert first.shape == (*SMALL[::-1], 3)
    moved = np.abs(last - first).max(axis=-1) > 0.05
    assert 0.002 < moved.mean() < 0.5
    assert first[0, 0] == pytest.approx(to_rgb(theme.paper), abs=0.01)
    np.testing.assert_array_equal(picture(of, 0), first, err_msg="whatever was shown in between")
    assert not moved[-6:].any(), "the note at the bottom stays"


def test_the_robot_of_a_picture_is_where_it_was_at_that_time() -> None:
    of, scene = small_film("usrt"), scene_for("usrt")
    for number in (5, 1):
        of.picture(number)
        (shot,) = of.shots
        (moment,) = samples_at(scene, [of.times[number]])
        (robot,) = (shape for shape, _ in shot.stage.shapes if shape.get_gid() == ROBOT)
        painted = [path.vertices for path in robot.get_paths()]
        np.testing.assert_array_equal(painted, subject(scene, "three-quarter", LIGHT).robot(moment).outlines)


def test_the_cursor_follows_and_dots_are_on_the_curves() -> None:
    scene, of = scene_for("pendulum"), small_film("pendulum")
    panels = panels_of(scene)
    assert [panel.title for panel in panels] == ["torso angles", "normal force", "tail torques (imposed)"]
    for number in (0, 2, len(of.times) - 1):
        of.picture(number)
        for chart, panel in zip(of.charts, panels, strict=True):
            at = of.times[number] * 1e3
            assert chart.cursor.get_xdata() == pytest.approx([at, at])
            expected = [np.interp(of.times[number], scene.times, curve.values) for curve in panel.curves]
            np.testing.assert_allclose(np.array(chart.dots.get_offsets()), [(at, value) for value in expected])
        assert of.clock.get_text() == f"{at:.0f} ms"


def test_curves_have_the_colours_of_the_robot_and_its_arrows() -> None:
    scene = scene_for("usrt")
    angles, feet, tail = panels_of(scene)
    assert [curve.color for curve in angles.curves] == [scene.color, lit(scene.color, 0.4), lit(scene.color, -0.4)]
    assert [curve.color for curve in feet.curves] == [force.color for force in scene.forces]
    shades = [scene.color] * 4 + [lit(scene.color, 0.4)] * 2  # when the four line styles begin again
    assert [curve.color for curve in tail.curves] == shades and tail.unit == "N"
    for axes in small_film("usrt").canvas.figure.axes[1:]:
        assert axes.get_legend() is not None
    headings = {text.get_text() for text in small_film("usrt").canvas.figure.texts}
    assert {"torso angles [°]", "normal force [N]", "tail tensions [N]"} <= headings


def test_robots_side_by_side_are_at_one_scale_and_so_are_their_curves() -> None:
    of = small_film("pendulum usrt")
    assert len(of.shots) == 2 and len(of.charts) == 6
    scales = [np.ptp(shot.axes.get_xlim()) / shot.axes.bbox.width for shot in of.shots]
    assert scales[0] == pytest.approx(scales[1])
    for left, right in zip(of.charts[:3], of.charts[3:], strict=True):
        same = left.cursor.axes.get_ylim() == right.cursor.axes.get_ylim()
        assert same == (left is not of.charts[2]), "but torques and tensions are not"
        assert left.cursor.axes.bbox.y0 == pytest.approx(right.cursor.axes.bbox.y0)


def test_texts_and_panels_do_not_meet() -> None:
    for kind in ("usrt", "airborne", "pendulum usrt"):
        figure = small_film(kind).canvas.figure
        renderer = small_film(kind).canvas.get_renderer()
        boxes = [text.get_window_extent(renderer) for text in figure.texts if text.get_text()]
        boxes += [axes.get_legend().get_window_extent(renderer) for axes in figure.axes if axes.get_legend()]
        boxes += [axes.get_window_extent(renderer) for axes in figure.axes]
        for k, one in enumerate(boxes):
            assert one.x0 >= 0 and one.x1 <= SMALL[0] and one.y0 >= 0 and one.y1 <= SMALL[1]
            for other in boxes[:k]:
                across, up = (
                    min(one.x1, other.x1) - max(one.x0, other.x0),
                    min(one.y1, other.y1) - max(one.y0, other.y0),
                )
                assert min(across, up) < 1.5, "pixels"


def test_the_eye_goes_along_with_a_walker_and_the_ground_passes_by() -> None:
    walker = gliding(scene_for("pendulum"), (0.0, 4.0, 0.0))
    of = film([walker], np.linspace(0.0, 0.3, 5), SMALL, view="side", theme=LIGHT, plots=False, forces=False,
              traces=False, slow="")  # fmt: skip
    (shot,) = of.shots
    assert shot.ground is not None and small_film("usrt").shots[0].ground is None
    middles = []
    for number in range(5):
        of.picture(number)
        middles.append(np.mean(shot.axes.get_xlim()))
    np.testing.assert_allclose(np.diff(middles), 0.3, atol=0.01)
    low, high = shot.seen.lower[1], shot.seen.upper[1]
    assert low <= shot.low[0] and shot.axes.get_xlim()[1] <= high, "it never ends"


# Files


def test_an_mp4_has_the_asked_pictures(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    scenes = [scene_for("pendulum"), scene_for("usrt")]
    path = view.write_video(
        scenes,
        tmp_path / "both.mp4",
        slow=2.0,
        fps=10.0,
        size=SMALL,
        tell=lambda done, total: told.append((done, total)),
    )
    content = path.read_bytes()
    assert content[4:8] == b"ftyp" and content.index(b"moov") < content.index(b"mdat"), "it plays from its start"
    pictures = decoded(path, SMALL)
    assert len(pictures) == 7 and told == [(k, 7) for k in range(8)]
    of = small_film("pendulum usrt")
    for number in (0, 6):
        off = np.abs(pictures[number] / 255.0 - picture(of, number))
        assert off.mean() < 0.015, "colours come back as they were"
    assert (np.abs(np.diff(pictures.astype(int), axis=0)).max(axis=(1, 2, 3)) > 40).all(), "every one differs"
    said = subprocess.run([ffmpeg(), "-hide_banner", "-i", str(path)], capture_output=True, text=True).stderr
    assert "h264" in said and "yuv420p" in said and "10 fps" in said
    assert [file.name for file in tmp_path.iterdir()] == ["both.mp4"]


def test_a_gif_has_the_asked_pictures(tmp_path: Path) -> None:
    runs = {"swing": run_of("pendulum")}
    path = view.write_video(runs, tmp_path / "a.gif", slow=2.0, fps=10.0, size=SMALL, dark=True, plots=False)
    content = path.read_bytes()
    assert content.startswith(b"GIF89a") and b"NETSCAPE2.0" in content, "it starts again"
    pictures = decoded(path, SMALL)
    assert len(pictures) == 7 and (np.abs(np.diff(pictures.astype(int), axis=0)).max(axis=(1, 2, 3)) > 40).all()
    assert np.abs(pictures[0, 0, 0] / 255.0 - to_rgb(DARK.paper)).max() < 0.02
    assert [file.name for file in tmp_path.iterdir()] == ["a.gif"]


def test_interrupted_nothing_is_left_and_what_was_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    (tmp_path / "old.mp4").write_bytes(b"before")

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        view.write_video([scene_for("pendulum")], tmp_path / "old.mp4", slow=2.0, fps=10.0, size=SMALL, tell=interrupt)
    assert (tmp_path / "old.mp4").read_bytes() == b"before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.mp4", "scratch"] and not list(scratch.iterdir())


@pytest.mark.parametrize("exe", ["missing", "present", "failing"])
def test_without_ffmpeg_it_is_said_what_to_do(exe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    if exe != "missing":
        program.write_text("#!/bin/sh\necho out of luck >&2\nexit 1\n" if exe == "failing" else "no program")
        program.chmod(0o755 if exe == "failing" else 0o644)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    message = "out of luck" if exe == "failing" else "IMAGEIO_FFMPEG_EXE"
    with pytest.raises(FileError, match=message):
        view.write_video([scene_for("pendulum")], tmp_path / "a.mp4", slow=2.0, fps=10.0, size=SMALL)
    assert not (tmp_path / "a.mp4").exists()


def test_where_imageio_finds_none_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise RuntimeError("No ffmpeg exe could be found.")

    monkeypatch.setattr("imageio_ffmpeg.get_ffmpeg_exe", none)
    with pytest.raises(FileError, match="pip install"):
        view.write_video([scene_for("pendulum")], tmp_path / "a.mp4")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slow": 0.0}, "slow"),
        ({"slow": float("nan")}, "slow"),
        ({"slow": 1e9}, "100000 pictures"),
        ({"slow": 1e-3}, "2 to 100000 pictures"),
        ({"fps": 0.1}, "fps"),
        ({"size": (321, 180)}, "even"),
        ({"size": (32, 32)}, "from 64"),
        ({"view": "back"}, "view"),
    ],
)
def test_what_cannot_be_filmed_is_said(options: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        view.write_video([scene_for("pendulum")], tmp_path / "a.mp4", **options)
    assert not os.listdir(tmp_path)


def test_names_that_are_none_for_a_video(tmp_path: Path) -> None:
    for name, message in (("a.avi", r"\.mp4 or \.gif"), ("missing/a.mp4", "no folder")):
        with pytest.raises(FileError, match=message):
            view.write_video([scene_for("pendulum")], tmp_path / name)


def test_sizes_as_text() -> None:
    assert size_from_text("640x360") == size_from_text(" 640×360") == (640, 360)
    for text in ("640", "640x", "axb", "-2x4", "641x360"):
        with pytest.raises(ArgumentError, match="size"):
            size_from_text(text)


# The command


def test_the_command_films_beside_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def command(*arguments: object) -> int:
        parser = argparse.ArgumentParser()
        add_video(parser)
        options = parser.parse_args([*map(str, arguments)])
        return options.run(options)

    run = tmp_path / "swing.nc"
    run_of("pendulum").save(run)
    assert command(run, "--fps", 1, "--size", "128x96", "--no-plots", "--no-forces", "--no-traces") == 0
    assert len(decoded(tmp_path / "swing.mp4", (128, 96))) == LASTS + 1, "it lasts about 6 s"
    assert "swing.mp4" in capsys.readouterr().out
    (tmp_path / "none.nc").write_text("no run")
    for arguments in ((tmp_path / "none.nc",), (run, "--size", "big"), (run, "--out", tmp_path / "a.mov")):
        with pytest.raises(TailworkError):
            command(*arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["none.nc", "swing.mp4", "swing.nc"]


def test_a_run_that_ended_early_keeps_its_last_pose() -> None:
    scene = scene_for("pendulum")
    short = ended_early(scene, 0.5, "why")
    of = film([short, scene], np.linspace(0.0, 0.3, 5), SMALL, view="side", theme=LIGHT, plots=True, forces=False,
              traces=False, slow="")  # fmt: skip
    poses = [shot.strip.samples for shot in of.shots]
    np.testing.assert_array_equal(poses[0][2].places, poses[0][4].places)
    np.testing.assert_array_equal(poses[0][2].places, poses[1][4].places)
    of.picture(4)
    assert [chart.cursor.get_xdata()[0] for chart in of.charts[::3]] == pytest.approx([150.0, 300.0])
    assert any("stopped at 150 ms: why" in text.get_text() for text in of.canvas.figure.texts)
