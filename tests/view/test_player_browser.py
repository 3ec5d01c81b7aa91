"""The playback page in a real browser, from a file, with the network cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

from tailwork.control.gait.foot_kinematics import posed
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import RigidGround, Run, simulate
from tailwork.studies.motions import coupled
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario
from tailwork.view.player import playback_page, player_assets, player_fragment
from tailwork.view.scene import Curve, Scene, scenes_of

Open = Callable[..., Any]
SMALL = {"viewport": {"width": 800, "height": 480}, "offline": True}
WIDE = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 780}, "offline": True, "color_scheme": "dark", "has_touch": True}
STILL = {"reduced_motion": "reduce"}
STATE = "window.tailwork.players[0].state()"


@cache
def run_of(tail: str) -> Run:
    return perform(Scenario(liu2020(tail), coupled(), "paper"), samples=601)


@cache
def scenes() -> tuple[Scene, ...]:
    """Every other sample of two runs; the second ends early."""
    first, second = scenes_of({tail: run_of(tail) for tail in ("pendulum", "r3")}, most=301)
    return first, shortened(second, 201)


def shortened(scene: Scene, count: int) -> Scene:
    """The first samples of a scene."""

    def cut(curve: Curve) -> Curve:
        return replace(curve, values=curve.values[:count])

    return replace(
        scene,
        times=scene.times[:count],
        frames=tuple(replace(frame, places=frame.places[:count], turns=frame.turns[:count]) for frame in scene.frames),
        forces=tuple(replace(force, forces=force.forces[:count]) for force in scene.forces),
        markers=tuple(replace(marker, places=marker.places[:count]) for marker in scene.markers),
        plots=tuple(replace(plot, curves=tuple(map(cut, plot.curves))) for plot in scene.plots),
        events=((0.05, "the tail starts"),),
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of pages: one run, two, and a report of a dozen."""
    folder, (first, second) = tmp_path_factory.mktemp("pages"), scenes()
    texts = {"one": playback_page([first]), "two": playback_page([first, second]), "report": report(first)}
    return {name: write(folder / f"{name}.html", text) for name, text in texts.items()}


def write(file: Path, text: str) -> str:
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


def report(scene: Scene) -> str:
    """A page with a dozen players."""
    parts = "".join(f"<h2>{k}</h2>{player_fragment([scene], height=360)}" for k in range(12))
    return f"<!DOCTYPE html><html><head><meta charset='utf-8'>{player_assets()}</head><body>{parts}</body></html>"


def state(page: Any) -> dict[str, Any]:
    """What the first player shows."""
    until(page, STATE)
    return page.evaluate(STATE)


def until(page: Any, holds: str) -> None:
    """Wait until an expression holds; asked from here, for the page allows no text to be run as a program."""
    deadline = monotonic() + 20.0
    while not page.evaluate(holds):
        assert monotonic() < deadline, f"never: {holds}"
        page.wait_for_timeout(20)


def go_to(page: Any, time: float) -> dict[str, Any]:
    """Drag the time bar to a time, and wait until that is drawn."""
    state(page)
    page.get_by_label("Time", exact=True).evaluate(
        "(bar, time) => { bar.value = time; bar.dispatchEvent(new Event('input')); }", time
    )
    until(page, f"Math.abs({STATE}.time - {time}) < 1e-12")
    return state(page)


def pixels(page: Any) -> np.ndarray:
    """The picture, (rows, columns, 3), as drawn last."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    width, height, text = page.evaluate("""() => {
        const canvas = document.querySelector('canvas[role=img]');
        const { width, height } = canvas;
        const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        let text = '';
        for (let k = 0; k < data.length; k += 8192) text += String.fromCharCode(...data.subarray(k, k + 8192));
        return [width, height, text];
    }""")
    return np.frombuffer(text.encode("latin-1"), np.uint8).reshape(height, width, 4)[..., :3].astype(int)


def changed(first: np.ndarray, second: np.ndarray) -> float:
    """Share of the picture that differs."""
    return float((np.abs(first - second).max(axis=2) > 12).mean())


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()


def click_in_plot(page: Any, share: float) -> None:
    """Click at a share of the width of the first plot."""
    plot = page.locator(".u-over").first
    box = plot.bounding_box()
    plot.click(position={"x": share * box["width"], "y": 20})


def tip(run: Run, sample: int) -> np.ndarray:
    """Where the simulation has the tail's tip [m]."""
    return run.data["points"].sel(point="tail.tip").to_numpy()[sample]


def test_it_plays_and_shows_the_simulated_tail_tip(open_page: Open, pages: dict[str, str]) -> None:
    page = open_page(pages["one"], **SMALL)
    assert state(page)["playing"]
    until(page, f"{STATE}.time > 0.002")
    before, picture = state(page), pixels(page)
    until(page, f"Math.abs({STATE}.time - {before['time']}) > 0.02")
    assert 0.0005 < changed(picture, pixels(page)) < 0.5, "the tail moves, the rest hardly does"
    assert np.abs(np.subtract(state(page)["tips"][0]["place"], before["tips"][0]["place"])).max() > 1e-3
    press(page, "Pause")
    run = run_of("pendulum")
    for sample in (0, 240, 377, 600):  # 377 is not among the samples of the page: it lies between two of them
        time = float(run.data["time"][sample])
        shown = go_to(page, time)
        (end,) = shown["tips"]
        assert (end["run"], end["limb"], shown["playing"]) == ("pendulum", "tail", False)
        assert end["place"] == pytest.approx(tip(run, sample), abs=1e-5)
        assert shown["cursor"] == pytest.approx(time, abs=1e-4), "the line in the plots is as far as a pixel is fine"


def test_keys(open_page: Open, pages: dict[str, str]) -> None:
    page = open_page(pages["one"], **SMALL, **STILL)
    assert not state(page)["playing"], "whoever wants less motion starts it"
    times = scenes()[0].times
    for key, sample in (("ArrowRight", 1), ("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("End", 300), ("Home", 0)):
        page.keyboard.press(key)
        until(page, f"Math.abs({STATE}.time - {times[sample]}) < 1e-8")
    slow = state(page)["speed"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert state(page)["speed"] == pytest.approx(1 / 50) != slow
    page.keyboard.press("ArrowUp")
    assert state(page)["speed"] == pytest.approx(1 / 20)
    page.keyboard.press("Space")
    until(page, f"{STATE}.time > 0")
    press(page, "Forces")  # a click leaves the space bar to the player
    page.keyboard.press("Space")
    assert not state(page)["playing"] and not state(page)["shown"]["forces"]


def test_plots_follow_and_lead(open_page: Open, pages: dict[str, str]) -> None:
    page = open_page(pages["two"], **SMALL, **STILL)
    scene = scenes()[0]
    go_to(page, 0.2)
    pitch = next(plot.curves[0].values for plot in scene.plots if plot.key == "pitch")
    shown = page.get_by_title("Show or hide pendulum").first.inner_text()
    assert float(shown.split()[-1].replace("−", "-")) == pytest.approx(pitch[200], abs=6e-4)
    for group in ("rates", "torques", "feet"):
        press(page, group)
        assert state(page)["group"] == group
        assert state(page)["cursor"] == pytest.approx(0.2, abs=1e-3)
    assert page.get_by_text("pendulum: normal force [N]").is_visible(), "plots that are not shared say whose they are"
    click_in_plot(page, 0.5)
    until(page, f"Math.abs({STATE}.time - 0.15) < 2e-3")
    press(page, "Zoom")
    until(page, f"Math.abs({STATE}.cursor - {STATE}.time) < 1e-4")
    click_in_plot(page, 0.99)
    until(page, f"Math.abs({STATE}.time - 0.165) < 2e-3")


def test_two_runs_side_by_side_and_overlaid(open_page: Open, pages: dict[str, str]) -> None:
    page = open_page(pages["two"], **SMALL, **STILL)
    shown = go_to(page, 0.25)
    assert shown["end"] == pytest.approx(0.3) and shown["layout"] == "side"
    assert page.get_by_text("ended at 0.200 s").is_visible()
    ends = {end["run"]: end["place"] for end in shown["tips"]}
    assert ends["pendulum"] == pytest.approx(tip(run_of("pendulum"), 500), abs=1e-5)
    assert ends["r3"] == pytest.approx(tip(run_of("r3"), 400), abs=1e-5), "it keeps its last pose"
    apart = pixels(page)
    press(page, "Overlay")
    until(page, f"{STATE}.layout == 'overlay'")
    together = pixels(page)
    assert changed(apart, together) > 0.1
    for name, kind in (("Forces", "forces"), ("Traces", "traces"), ("Masses", "masses")):
        press(page, name)
        assert state(page)["shown"][kind] is False
        bare = pixels(page)
        assert 0.0002 < changed(together, bare) < 0.1, f"without {kind}"
        together = bare
    press(page, "Top")
    assert changed(together, pixels(page)) > 0.1
    assert page.get_by_text("0.050 s: the tail starts (r3)").is_visible()


def test_plots_of_many_runs_fit_beside_the_picture(open_page: Open, tmp_path: Path) -> None:
    """The column of curves is no higher than the page gives it, and no name reaches into the picture of another run."""
    many = [replace(scenes()[0], label=f"pendulum on ground of 1e{k} N/m, as published") for k in range(6)]
    page = open_page(write(tmp_path / "many.html", playback_page(many)), **SMALL | WIDE, **STILL)
    until(page, "document.querySelectorAll('.tailwork-panel').length === 3")
    column = page.evaluate(
        "(({scrollHeight, clientHeight}) => [scrollHeight, clientHeight])(document.querySelector('.tailwork-panels'))"
    )
    assert column[0] <= column[1]
    boxes = [label.bounding_box() for label in page.locator(".tailwork-label").all()[:2]]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1


def test_impulses_flash_and_a_link_leads_to_a_time(open_page: Open, tmp_path: Path) -> None:
    """A page that is opened at a touchdown stands still there and writes each foot's impulse; later none is shown."""
    model = Model(liu2020("pendulum"), "none")
    q = posed(model)
    q[2] += 0.02
    run = simulate(model, q, 0.15, ground=RigidGround(friction=0.6))
    time, impulse = float(run.data["impact_time"][0]), run.data["impact_impulse"].to_numpy()[0]
    address = write(tmp_path / "drop.html", playback_page(scenes_of({"drop": run})))
    page = open_page(f"{address}#t={time + 0.0001:.6f}", **SMALL)
    assert not state(page)["playing"] and state(page)["time"] == pytest.approx(time, abs=2e-4)
    until(page, "document.querySelectorAll('.tailwork-note').length == 4")
    said = [float(text.split()[0]) for text in page.locator(".tailwork-note").all_inner_texts()]
    assert said == pytest.approx(np.linalg.norm(impulse, axis=1), rel=0.05), "two digits are shown"
    assert page.locator(".tailwork-phase.impulse").count() >= 4
    page.evaluate("location.hash = '#t=0.01'")
    until(page, "!document.querySelector('.tailwork-note')")
    assert state(page)["time"] == 0.01


def test_a_phone_in_the_dark(open_page: Open, pages: dict[str, str]) -> None:
    page = open_page(pages["two"], **PHONE, **STILL)
    go_to(page, 0.0)
    dark = pixels(page)
    assert dark.std() > 10 and dark.mean() < 90
    go_to(page, 0.28)
    assert changed(dark, pixels(page)) > 0.005, "it moves"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing is wider than the screen"
    for button in page.get_by_role("button").all():
        box = button.bounding_box()
        assert box is None or box["x"] + box["width"] <= 390
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(20, 24, 29)"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert pixels(page).mean() > 170, "the picture changes with the page"


def test_without_webgl_the_plots_still_work(open_page: Open, pages: dict[str, str]) -> None:
    page = open_page("about:blank", **SMALL, **STILL)
    page.add_init_script("""
        const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
            return kind.startsWith('webgl') ? null : get.call(this, kind, ...more);
        };
    """)
    page.goto(pages["one"])
    assert go_to(page, 0.1)["tips"] is None
    assert page.get_by_text("shows no 3D").is_visible()
    assert state(page)["cursor"] == pytest.approx(0.1, abs=1e-3)


def test_a_report_starts_its_players_when_they_are_seen(open_page: Open, pages: dict[str, str]) -> None:
    page = open_page(pages["report"], **SMALL)
    assert not state(page)["playing"], "it waits to be asked"
    assert page.evaluate("window.tailwork.players.length") == 12
    seen = "window.tailwork.players.map(player => player.state() !== null)"
    assert page.evaluate(seen)[-1] is False
    press(page, "Play")
    until(page, f"{STATE}.time > 0.001")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    until(page, "window.tailwork.players[11].state()")
    assert not all(page.evaluate(seen)), "those between have not been seen"
    first = state(page)["time"]
    page.wait_for_timeout(150)
    assert state(page)["time"] <= first + 0.01, "out of sight, it rests"
    page.locator(".tailwork").last.get_by_role("button", name="Play").click()
    until(page, "window.tailwork.players[11].state().time > 0.001")
    page.keyboard.press("Space")
    assert not page.evaluate("window.tailwork.players[11].state().playing"), "keys go to the player that was used last"
