"""Scenes as pages: everything is there, nothing can break out, nothing is asked for."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.robots import liu2020
from tailwork.studies.motions import coupled
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario
from tailwork.view.player import playback_page, player_assets, player_fragment
from tailwork.view.player.pack import MOST_GROUND
from tailwork.view.scene import Scene, Terrain, scene_of
from tailwork.view.scene.colors import LINES, STATE_COLORS

MOST = 1001  # samples that a page holds at most
SINGLE = 6e-8  # relative rounding of single precision


@cache
def r3_scene() -> Scene:
    """The quadruped with the R3 tail, with as many samples as a long run is thinned to."""
    run = perform(Scenario(liu2020("r3"), coupled(), "paper"), samples=2 * MOST)
    return scene_of(run, "R3", most=MOST)


class Outline(HTMLParser):
    """The elements of a page, and what stands in scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[str | None, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.scripts:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)


def held(html: str) -> Any:
    """What the page says about its runs."""
    (text,) = [text for kind, text in Outline(html).scripts if kind == "application/json"]
    return json.loads(text)


def samples(data: Any, start: int, *shape: int) -> np.ndarray:
    """An array among the numbers of a page."""
    numbers = np.frombuffer(base64.b64decode(data["floats"]), "<f4")
    return numbers[start : start + int(np.prod(shape))].reshape(shape)


def assert_same(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(found, wanted, rtol=SINGLE, atol=1e-30)  # gaps are gaps in both


def test_a_page_holds_the_scene_to_single_precision() -> None:
    scene = r3_scene()
    data = held(playback_page([scene]))
    (found,) = data["scenes"]
    count = len(scene.times)
    assert count == MOST and found["times"] == pytest.approx(scene.times, abs=1e-9)
    for frame, entry in zip(scene.frames, found["frames"], strict=True):
        assert entry["name"] == frame.name
        assert_same(samples(data, entry["places"], count, 3), frame.places)
        assert_same(samples(data, entry["turns"], count, 4), frame.turns)
    for force, entry in zip(scene.forces, found["forces"], strict=True):
        assert_same(samples(data, entry["forces"], count, 3), force.forces)
    for marker, entry in zip(scene.markers, found["markers"], strict=True):
        assert_same(samples(data, entry["places"], count, 3), marker.places)
    for plot, entry in zip(scene.plots, found["plots"], strict=True):
        assert (entry["title"], entry["unit"], entry["shared"]) == (plot.title, plot.unit, plot.shared)
        for curve, line in zip(plot.curves, entry["curves"], strict=True):
            assert_same(samples(data, line["values"], count), curve.values)
            assert (line["color"], len(data["dashes"][line["dash"]]) > 0) == (curve.color, LINES[curve.dash] != "-")
    assert len(found["solids"]) == len(scene.solids)
    assert found["tips"] == [[name, frame, list(point)] for name, frame, point in scene.tips]
    assert found["caption"]["measures"][-1] == ["samples shown", f"{MOST} of {2 * MOST}"]


def test_a_long_run_of_the_r3_quadruped_is_below_2_megabytes() -> None:
    assert len(playback_page([r3_scene()]).encode()) < 2e6


def test_the_page_asks_the_network_for_nothing() -> None:
    html = playback_page([r3_scene()])
    for tag, attributes in Outline(html).elements:
        for name in ("src", "href", "srcset", "data", "action"):
            assert not attributes.get(name) or str(attributes[name]).startswith("data:"), tag
    policy = next(a["content"] for _, a in Outline(html).elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'")


def test_text_cannot_break_out() -> None:
    wicked = '</script><img src=x onerror="alert(1)"><!-- & \u2028'
    scene = r3_scene()
    scene = replace(scene, label=wicked, caption=replace(scene.caption, notes=(wicked,)))
    html = playback_page([scene], title=wicked)
    outline = Outline(html)
    assert [tag for tag, _ in outline.elements if tag in ("img", "script")] == ["script", "script"]
    assert held(html)["scenes"][0]["label"] == wicked
    assert held(html)["scenes"][0]["caption"]["notes"] == [wicked]


def test_titles() -> None:
    scene = r3_scene()
    assert "<title>R3, R3</title>" in playback_page([scene, scene])
    assert "<title>A &amp; B</title>" in playback_page([scene], title="A & B")


def test_a_fine_height_field_is_drawn_with_fewer_points_that_keep_its_ends() -> None:
    x, y = np.linspace(-3.0, 2.0, 700), np.linspace(0.0, 1.0, 5)
    scene = replace(r3_scene(), terrain=Terrain(x, y, np.sin(x)[:, None] + y))
    data = held(playback_page([scene]))
    ground = data["scenes"][0]["terrain"]
    assert (len(ground["x"]), ground["x"][0], ground["x"][-1], ground["y"]) == (MOST_GROUND, -3.0, 2.0, y.tolist())
    heights = samples(data, ground["heights"], MOST_GROUND, 5)
    assert heights == pytest.approx(np.sin(ground["x"])[:, None] + y, abs=1e-6)
    assert held(playback_page([r3_scene()]))["scenes"][0]["terrain"] is None, "the plane"


def test_players_in_another_page() -> None:
    assert re.fullmatch(r"<style>.*</style>\n<script>.*</script>", player_assets(), re.DOTALL)
    part = player_fragment([r3_scene()], height=333, layout="overlay")
    assert "--tailwork-height: 333px" in part and "<style" not in part
    assert held(part)["layout"] == "overlay"


@pytest.mark.parametrize("scenes", [[], (), None, "R3", ["R3"], [None]])
def test_no_scenes(scenes: Any) -> None:
    for make in (playback_page, player_fragment):
        with pytest.raises(ArgumentError, match=r"scenes: .* at least one scene"):
            make(scenes)


def test_one_scene_is_no_list() -> None:
    with pytest.raises(ArgumentError, match="a list"):
        playback_page(r3_scene())  # pyright: ignore[reportArgumentType]


def test_wrong_layouts_and_heights() -> None:
    with pytest.raises(UnknownNameError, match=r"layout: got 'overlaid'.*'overlay'"):
        playback_page([r3_scene()], layout="overlaid")
    for height in (0, 1.5, True, "480"):
        with pytest.raises(ArgumentError, match=r"height: .* integer number of pixels"):
            player_fragment([r3_scene()], height=height)  # pyright: ignore[reportArgumentType]


def test_feet_have_the_colours_of_all_pictures() -> None:
    source = (Path(__file__).parents[2] / "player" / "src" / "stage" / "contacts.ts").read_text(encoding="utf-8")
    assert re.findall(r'const (STICKS|SLIPS) = "(#\w+)"', source) == [
        ("STICKS", STATE_COLORS["stick"]),
        ("SLIPS", STATE_COLORS["slip"]),
    ]
