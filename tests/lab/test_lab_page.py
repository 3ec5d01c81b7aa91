"""The lab in a real browser: what one does reaches the simulation, and what comes of it is seen."""

from __future__ import annotations

import argparse
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tailwork.cli.lab import add_lab
from tailwork.errors import ArgumentError
from tailwork.lab import session as session_module
from tailwork.lab.choice import Choice, TailChoice
from tailwork.lab.server import Lab, open_lab
from tailwork.lab.session import Session
from tailwork.robots import liu2018, liu2020
from tailwork.robots.io.toml import as_text, from_text
from tailwork.simulation import load_run

pytestmark = pytest.mark.filterwarnings("ignore:Queued a")  # what was on its way to one who has left

START = Choice(liu2020(), (TailChoice("pendulum"), TailChoice("pendulum", {"total_length": 0.6})), policy="joint")
SOON = 60.0
"""After which something that should happen has not [s]: machines can be slow."""
YAW = """() => {
  const charts = Object.values(window.__viserTestpoints?.uplots ?? {}).map(point => point.chart);
  const yaw = charts.find(chart => chart.root.querySelector(".u-title").textContent === "yaw [°]");
  return yaw ? Array.from(yaw.data[1]) : null;
}"""
"""The first curve of the plot of yaw in the page."""
RUN = """() => new Promise(done => {
  const yaw = YAW, before = JSON.stringify(yaw());
  const start = performance.now();
  [...document.querySelectorAll("button")].find(button => button.textContent === "Run").click();
  const look = () => yaw() === null || JSON.stringify(yaw()) === before
    ? setTimeout(look, 2) : requestAnimationFrame(() => done(performance.now() - start));
  look();
})""".replace("YAW", YAW)
"""Press run; how long until the page draws what came of it [ms]."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """A lab with two pendulums, and nothing of it left behind."""
    with open_lab(START) as opened:
        yield opened
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("lab")] == []


def enter(lab: Lab, open_page: Callable[..., Any], playing: bool = False, **options: Any) -> tuple[Any, Session]:
    """A person who opens the page, and their session once the first run is shown."""
    before = lab.sessions
    page = open_page(lab.address, **({} if playing else {"viewport": {"width": 900, "height": 500}}) | options)
    until(page, lambda: any(one not in before and one.experiment is not None for one in lab.sessions))
    page.wait_for_function(f"({YAW})() !== null", timeout=1e3 * SOON)
    session = lab.sessions[-1]
    session.play(playing)  # without a graphics card, what moves takes all there is
    return page, session


def until(page: Any, done: Callable[[], bool]) -> None:
    """Wait for something on the side of the server while the page goes on."""
    end = time.monotonic() + SOON
    while not done():
        assert time.monotonic() < end, "it has not happened"
        page.wait_for_timeout(20)


def put(page: Any, label: str, value: str) -> None:
    """Type a number beside the first slider of that label."""
    row = page.locator("label", has_text=label).first.locator("xpath=ancestor::div[.//input][1]")
    row.locator("input:not([type=hidden])").last.fill(value)


def first_length(session: Session) -> float:
    """Of the first tail that is shown."""
    assert session.experiment is not None
    return session.experiment.outcomes[0].scenario.tail_part.length


def test_a_changed_slider_and_a_press_of_run_change_simulation_scene_and_plots(
    lab: Lab, open_page: Callable[..., Any], record_property: Callable[[str, object], None]
) -> None:
    page, session = enter(lab, open_page, playing=True, color_scheme="dark")
    assert page.title() == "tailwork lab"
    before, tip = page.evaluate(YAW), shown_tip(session)
    took = []
    for length in (0.3, 0.35, 0.4):
        put(page, "length [m]", str(length))
        until(page, lambda length=length: session.controls.choice().tails[0].design["total_length"] == length)
        took.append(page.evaluate(RUN))
        until(page, lambda length=length: first_length(session) == pytest.approx(length))
    assert session.experiment is not None
    run = session.experiment.outcomes[0].run
    yaw = page.evaluate(YAW)
    assert yaw != before
    assert yaw == pytest.approx(session.experiment.outcomes[0].scene.plots[2].curves[0].values.tolist(), abs=1e-12)
    assert run.model.robot.part("tail").length == pytest.approx(0.4)
    assert shown_tip(session) == pytest.approx(tip - 0.08, abs=1e-6)  # the mesh that the page has been sent
    assert "simulated and shown in" in page.locator("[role=status]").inner_text()
    until(page, lambda: session.controls.dark.value)  # as the browser likes it
    report = ", ".join(f"{one:.0f}" for one in took)
    record_property("press of run until the page draws it [ms]", report)
    print(f"from the press of run until the page draws the changed pendulums: {report} ms")


def shown_tip(session: Session) -> float:
    """How far the first tail reaches from its mount, in the shapes that are on the stage [m]."""
    nodes = session.client.scene._handle_from_node_name.items()
    return max(-float(node.vertices[:, 1].min()) for name, node in nodes if "robot 1/" in name and "tb/shape" in name)


def test_a_newer_press_takes_the_place_of_one_that_runs_and_surprises_are_told(
    lab: Lab, open_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    page, session = enter(lab, open_page)
    started, go_on, shown = threading.Event(), threading.Event(), []
    perform, show = session_module.performed, session._show

    def slow(choice: Choice, before: Any) -> Any:
        if not started.is_set():
            started.set()
            assert go_on.wait(SOON)
        return perform(choice, before)

    monkeypatch.setattr(session_module, "performed", slow)
    monkeypatch.setattr(session, "_show", lambda experiment: (shown.append(experiment), show(experiment)))
    run = page.get_by_role("button", name="Run", exact=True)
    put(page, "length [m]", "0.3")
    until(page, lambda: session.controls.choice().tails[0].design["total_length"] == 0.3)
    run.click()
    until(page, started.is_set)
    put(page, "length [m]", "0.5")
    until(page, lambda: session.controls.choice().tails[0].design["total_length"] == 0.5)
    run.click()
    until(page, lambda: session._presses == 3)
    go_on.set()
    until(page, lambda: bool(shown))
    assert [one.choice.tails[0].design["total_length"] for one in shown] == [0.5]

    def broken(choice: Choice, before: Any) -> Any:
        raise ZeroDivisionError("by a test")

    monkeypatch.setattr(session_module, "performed", broken)
    run.click()
    page.get_by_text("unexpected ZeroDivisionError: by a test").wait_for(timeout=1e3 * SOON)
    assert session.experiment is shown[0]
    monkeypatch.setattr(session_module, "performed", perform)
    run.click()
    until(page, lambda: len(shown) == 2)


def test_robot_files_come_in_and_go_out(lab: Lab, open_page: Callable[..., Any], tmp_path: Any) -> None:
    page, session = enter(lab, open_page)
    before, experiment = session.controls.choice(), session.experiment
    mine = as_text(liu2018()).replace('name = "liu2018"', 'name = "mine"')

    def hand_in(text: str) -> None:
        file = {"name": "mine.toml", "mimeType": "application/toml", "buffer": text.encode()}
        page.locator("input[type=file]").set_input_files(file)

    hand_in(mine.replace("length = 0.6", "length = -0.6"))
    page.get_by_text("tail.length: got -0.6; required: a finite number [m], greater than 0").wait_for(
        timeout=1e3 * SOON
    )
    assert "in the file mine.toml" in page.locator("[role=status]").inner_text()
    assert session.controls.choice() == before and session.experiment is experiment
    hand_in(mine)
    until(page, lambda: session.controls.choice().robot.name == "mine")
    assert session.controls.choice().robot == from_text(mine, "mine.toml")
    assert [tail.name for tail in session.controls.choice().tails] == ["own", "pendulum"]
    assert session.experiment is experiment  # until run is pressed
    page.get_by_text("a new structure is compiled").wait_for(timeout=1e3 * SOON)

    saved = {}
    for button in ("Robot (TOML)", "Run (NetCDF)"):
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        saved[button] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[button])
    assert experiment is not None
    outcome = experiment.outcomes[0]
    assert from_text(saved["Robot (TOML)"].read_text(), "saved") == outcome.scenario.robot
    assert load_run(saved["Run (NetCDF)"]).data["q"].equals(outcome.run.data["q"])


def test_two_people_do_not_disturb_each_other(lab: Lab, open_page: Callable[..., Any]) -> None:
    here, mine = enter(lab, open_page)
    there, yours = enter(lab, open_page)
    theirs, seen = yours.experiment, there.evaluate(YAW)
    put(here, "length [m]", "0.33")
    until(here, lambda: mine.controls.choice().tails[0].design["total_length"] == 0.33)
    here.evaluate(RUN)
    until(here, lambda: first_length(mine) == pytest.approx(0.33))
    here.get_by_role("button", name="Pause").wait_for(timeout=1e3 * SOON)
    assert yours.experiment is theirs and yours.controls.choice().tails[0].design["total_length"] == 0.48
    assert there.evaluate(YAW) == seen
    assert there.get_by_role("button", name="Play", exact=True).count() == 1
    there.context.close()
    until(here, lambda: lab.sessions == [mine])
    until(here, lambda: not yours._player.is_alive())


def test_a_port_that_is_taken_and_a_host_that_is_none_are_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(ArgumentError, match=f"--port: got {port}; required: a port that is free"),
            open_lab(START, port=port),
        ):
            pass
    with pytest.raises(ArgumentError, match=r"--host: got '192\.0\.2\.1'"), open_lab(START, "192.0.2.1"):
        pass
    with pytest.raises(ArgumentError, match="--port: got 70000"), open_lab(START, port=70000):
        pass


def test_without_a_browser_the_address_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tailwork.cli.terminal.webbrowser.open", lambda address: False)
    monkeypatch.setattr("tailwork.cli.lab.wait", interrupted)
    monkeypatch.setattr(Lab, "get_ready", lambda lab: None)
    parser = argparse.ArgumentParser()
    add_lab(parser)
    options = parser.parse_args(["--port", "0"])
    assert (options.host, options.run(options)) == ("127.0.0.1", 0)
    said = capsys.readouterr().out
    assert "no browser could be opened here" in said and "http://127.0.0.1:" in said
