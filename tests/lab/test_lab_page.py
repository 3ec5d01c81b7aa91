"""The lab in a real browser: what one does reaches the simulation, and what comes of it is seen."""

from __future__ import annotations

import argparse
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any

import numpy as np
import pytest

from tailwork.cli.lab import add_lab
from tailwork.errors import RobotError
from tailwork.format import fixed
from tailwork.lab import server as server_module
from tailwork.lab.choice import Choice, TailChoice
from tailwork.lab.experiment import Outcome
from tailwork.lab.server import Lab, Session, open_lab
from tailwork.robots import liu2018, liu2020
from tailwork.robots.io.toml import as_text, from_text
from tailwork.simulation import load_run

START = Choice(liu2020(), (TailChoice("pendulum"), TailChoice("pendulum", {"total_length": 0.6})), policy="joint")
SOON = 60.0
"""After which something that should happen has not [s]: machines can be slow."""
DONE = """document.getElementById("message").className === "done" && window.tailwork.players[0]?.state()"""
"""Whether what came of the last press is shown."""
STATE = "window.tailwork.players[0].state()"
RUN = f"""async () => {{
  const start = performance.now();
  document.getElementById("message").className = "busy";
  [...document.querySelectorAll("button")].find(button => button.textContent === "Run").click();
  while (!({DONE})) await new Promise(done => setTimeout(done, 2));
  return performance.now() - start;
}}"""
"""Press run; how long until the page draws what came of it [ms]."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """A lab with two pendulums, and nothing of it left behind."""
    with open_lab(START) as opened:
        yield opened
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("lab")] == []


def enter(lab: Lab, open_page: Callable[..., Any], **options: Any) -> tuple[Any, Session]:
    """A person who opens the page, and their session once the first run is shown."""
    page = open_page(lab.address, **options)
    page.wait_for_function(DONE, timeout=1e3 * SOON)
    return page, lab.sessions[page.evaluate("start.session")]


def until(page: Any, done: Callable[[], bool]) -> None:
    """Wait for something on the side of the server while the page goes on."""
    end = time.monotonic() + SOON
    while not done():
        assert time.monotonic() < end, "it has not happened"
        page.wait_for_timeout(20)


def put(page: Any, label: str, value: str) -> None:
    """Type a number beside the first slider of that label."""
    page.get_by_label(label).and_(page.locator("[type=number]")).first.fill(value)


def outcome_of(session: Session, number: int = 0) -> Outcome:
    """What was simulated last for a page."""
    assert session.experiment is not None
    return session.experiment.outcomes[number]


def shown_yaw(page: Any) -> list[str]:
    """Where the curves of yaw end, as the page says."""
    page.locator(".tailwork").press("End")
    page.wait_for_function(f"{STATE}.time === {STATE}.end", timeout=1e3 * SOON)
    panel = page.locator(".tailwork-panel").filter(has=page.locator("h3", has_text="yaw ["))
    return panel.locator(".tailwork-value").all_inner_texts()


def test_a_changed_slider_and_a_press_of_run_change_simulation_scene_and_plots(
    lab: Lab, open_page: Callable[..., Any], record_property: Callable[[str, object], None]
) -> None:
    page, session = enter(lab, open_page, color_scheme="dark", reduced_motion="reduce")
    assert page.title() == "tailwork lab"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark", "as the browser likes it"
    before, tip_before = shown_yaw(page), page.evaluate(STATE)["tips"][0]["place"]
    took = []
    for length in (0.3, 0.35, 0.4):
        put(page, "length [m]", str(length))
        took.append(page.evaluate(RUN))
        assert outcome_of(session).scenario.tail_part.length == pytest.approx(length)
    yaw = shown_yaw(page)
    assert yaw != before
    assert yaw == [fixed(outcome_of(session, k).measures["yaw"], 3) for k in (0, 1)]
    assert outcome_of(session).run.model.robot.part("tail").length == pytest.approx(0.4)
    _, frame, point = outcome_of(session).scene.tips[0]
    tip = page.evaluate(STATE)["tips"][0]["place"]
    assert tip == pytest.approx(outcome_of(session).scene.frames[frame].path(point)[-1], abs=1e-6)
    assert np.linalg.norm(np.array(tip) - tip_before) > 0.05, "what the page draws is the shorter tail"
    assert "simulated and shown in" in page.locator("[role=status]").inner_text()
    report = ", ".join(f"{one:.0f}" for one in took)
    record_property("press of run until the page draws it [ms]", report)
    print(f"from the press of run until the page draws the changed pendulums: {report} ms")


def test_what_one_has_set_stays_for_the_next_run(lab: Lab, open_page: Callable[..., Any]) -> None:
    """Camera, speed, what is shown, the plots; and dark or light when the page is opened again."""
    page, _ = enter(lab, open_page, reduced_motion="reduce")
    page.get_by_role("button", name="Forces").click()
    page.get_by_role("button", name="Torques").click()
    page.locator("canvas").first.hover()
    page.mouse.down()
    page.mouse.move(300, 300, steps=4)
    page.mouse.up()
    before = page.evaluate(STATE)
    assert before["eye"] is not None and not before["shown"]["forces"] and not before["playing"]
    page.evaluate(RUN)
    after = page.evaluate(STATE)
    assert after["eye"] == [pytest.approx(one, abs=1e-9) for one in before["eye"]]
    for name in ("shown", "group", "speed", "loop", "layout", "playing"):
        assert after[name] == before[name], name
    assert page.get_by_role("button", name="Forces").get_attribute("aria-pressed") == "false"
    assert page.evaluate("window.tailwork.players.length") == 1, "the player before is gone"
    page.get_by_label("dark").check()
    page.reload()
    page.wait_for_function(DONE, timeout=1e3 * SOON)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_newer_press_takes_the_place_of_one_that_runs_and_surprises_are_told(
    lab: Lab, open_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    page, session = enter(lab, open_page, reduced_motion="reduce")
    started, go_on, shown = threading.Event(), threading.Event(), []
    perform, fragment = server_module.performed, server_module.player_fragment

    def slow(choice: Choice, before: Any) -> Any:
        if not started.is_set():
            started.set()
            assert go_on.wait(SOON)
        return perform(choice, before)

    monkeypatch.setattr(server_module, "performed", slow)
    monkeypatch.setattr(
        server_module, "player_fragment", lambda scenes, **more: (shown.append(scenes), fragment(scenes, **more))[1]
    )
    run = page.get_by_role("button", name="Run", exact=True)
    put(page, "length [m]", "0.3")
    run.click()
    until(page, started.is_set)
    put(page, "length [m]", "0.5")
    run.click()
    until(page, lambda: session.presses == 3)
    go_on.set()
    until(page, lambda: bool(shown))
    assert session.experiment is not None
    assert session.experiment.choice.tails[0].design["total_length"] == 0.5 and len(shown) == 1
    experiment = session.experiment

    def broken(choice: Choice, before: Any) -> Any:
        raise ZeroDivisionError("by a test")

    monkeypatch.setattr(server_module, "performed", broken)
    run.click()
    page.get_by_text("unexpected ZeroDivisionError: by a test").wait_for(timeout=1e3 * SOON)
    assert session.experiment is experiment
    monkeypatch.setattr(server_module, "performed", perform)
    run.click()
    until(page, lambda: len(shown) == 2)


def test_robot_files_come_in_and_go_out(lab: Lab, open_page: Callable[..., Any], tmp_path: Any) -> None:
    page, session = enter(lab, open_page, reduced_motion="reduce")
    before, experiment = page.evaluate("choice()"), session.experiment
    mine = as_text(liu2018()).replace('name = "liu2018"', 'name = "mine"')

    def hand_in(text: str) -> None:
        file = {"name": "mine.toml", "mimeType": "application/toml", "buffer": text.encode()}
        page.locator("input[type=file]").set_input_files(file)

    hand_in(mine.replace("length = 0.6", "length = -0.6"))
    page.get_by_text("tail.length: got -0.6; required: a finite number [m], greater than 0").wait_for(
        timeout=1e3 * SOON
    )
    assert "in the file mine.toml" in page.locator("[role=status]").inner_text()
    assert page.evaluate("choice()") == before and session.experiment is experiment
    hand_in(mine)
    page.get_by_text("a new structure is compiled").wait_for(timeout=1e3 * SOON)
    now = page.evaluate("choice()")
    assert now["robot"] == "mine" and session.robots["mine"] == from_text(mine, "mine.toml")
    assert [tail["name"] for tail in now["tails"]] == ["own", "pendulum"]
    assert session.experiment is experiment  # until run is pressed

    saved = {}
    for button in ("Robot (TOML)", "Run (NetCDF)", "Playback page (HTML), all"):
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        saved[button] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[button])
    outcome = outcome_of(session)
    assert from_text(saved["Robot (TOML)"].read_text(), "saved") == outcome.scenario.robot
    assert load_run(saved["Run (NetCDF)"]).data["q"].equals(outcome.run.data["q"])
    assert saved["Playback page (HTML), all"].name == "yaw40.html"


def test_the_friction_that_is_asked_for_is_answered(lab: Lab, open_page: Callable[..., Any]) -> None:
    page, _ = enter(lab, open_page, reduced_motion="reduce")
    for friction, answer in (("0", "✗ no"), ("2", "✓ yes")):
        put(page, "friction", friction)
        page.get_by_text(f"with friction {float(friction):.2f}?").wait_for(timeout=1e3 * SOON)
        assert page.locator("#results td", has_text=answer).count() == 2


def test_two_people_do_not_disturb_each_other(lab: Lab, open_page: Callable[..., Any]) -> None:
    here, mine = enter(lab, open_page, reduced_motion="reduce")
    there, yours = enter(lab, open_page, reduced_motion="reduce")
    theirs, seen = yours.experiment, shown_yaw(there)
    put(here, "length [m]", "0.33")
    here.evaluate(RUN)
    assert outcome_of(mine).scenario.tail_part.length == pytest.approx(0.33)
    assert yours.experiment is theirs and there.evaluate("choice()")["tails"][0]["design"]["total_length"] == 0.48
    assert shown_yaw(there) == seen != shown_yaw(here)


def test_only_its_own_page_is_answered(lab: Lab) -> None:
    """A page of another site that names this machine, or that sends a form, gets nothing; nor does an old session."""
    port = int(lab.address.rpartition(":")[2])

    def answer(method: str, path: str, body: str = "", **headers: str) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", port, timeout=SOON)
        connection.request(method, path, body, {"Host": f"127.0.0.1:{port}"} | headers)
        reply = connection.getresponse()
        return reply.status, reply.read()

    assert answer("GET", "/", Host="example.org")[0] == 403
    assert answer("GET", "/elsewhere")[0] == 404
    assert answer("GET", "/save?session=none&what=run&which=")[0] == 400
    assert answer("POST", "/run?session=none", "{}", **{"Content-Type": "text/plain"})[0] == 400
    status, said = answer("POST", "/run?session=none", "{}", **{"Content-Type": "application/json"})
    assert status == 200 and b"open its page again" in said
    with open_lab(START, "0.0.0.0") as shared:
        port = int(shared.address.rpartition(":")[2])
        status, said = answer("GET", "/", Host=f"robots.example:{port}")
        assert status == 200 and b"tailwork lab" in said, "who lets others come is found by any name"


def test_a_port_that_is_taken_and_a_host_that_is_none_are_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(RobotError, match=f"--port: got {port}; required: a port that is free"),
            open_lab(START, port=port),
        ):
            pass
    with pytest.raises(RobotError, match=r"--host: got '192\.0\.2\.1'"), open_lab(START, "192.0.2.1"):
        pass
    with pytest.raises(RobotError, match="--port: got 70000"), open_lab(START, port=70000):
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
    add_lab(parser.add_subparsers(), "")
    options = parser.parse_args(["lab", "--port", "0"])
    assert (options.host, options.run(options)) == ("127.0.0.1", 0)
    said = capsys.readouterr().out
    assert "no browser could be opened here" in said and "http://127.0.0.1:" in said
