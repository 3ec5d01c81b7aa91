"""What tests share: a real browser for pages (Chromium of this machine, headless, with the network cut), and a record
of what is measured."""

from __future__ import annotations

import gc
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # without a graphics card
LOCAL = ("127.0.0.1", "localhost", "[::1]", "")


def chromium() -> str | None:
    """Where Chromium is on this machine, if anywhere."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


def pytest_collection_finish() -> None:
    """What has been imported stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser a test session."""
    program = chromium()
    if program is None:
        reason = f"no browser: none of {', '.join(NAMES)} is installed (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=[*FLAGS, *WEBGL])
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens an address in a fresh context; options are those of a Playwright context (viewport, color_scheme, …).

    A test fails at its end if a page has raised an error, or has asked for anything that is not on this machine.
    """
    contexts, wrong = [], []

    def opened(address: str, **options: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 800}} | options))
        contexts.append(context)

        def guard(route: Any) -> None:
            url = route.request.url
            if urlsplit(url).scheme in ("http", "https", "ws", "wss") and (urlsplit(url).hostname or "") not in LOCAL:
                wrong.append(f"a request left the machine: {url}")
                route.abort()
            else:
                route.continue_()

        context.route("**/*", guard)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"an error in the page: {error}"))
        page.on("console", lambda said: wrong.append(f"the page says: {said.text}") if said.type == "error" else None)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong, "\n".join(wrong)


# What is measured

MEASURED = Path(__file__).parent.parent / ".measured.json"
STARTED, RUNNING = pytest.StashKey[float](), pytest.StashKey[pytest.Item]()
CHOOSING = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "collectonly")  # options that leave tests out
WHOLE = ("", "measured")  # marks asked for that leave none of these out


def pytest_configure(config: pytest.Config) -> None:
    """Tests that measure are marked."""
    config.addinivalue_line("markers", "measured(part): records how near it comes to what it checks, and in which part")
    config.stash[STARTED] = time.time()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The test that runs is the one that measures."""
    item.config.stash[RUNNING] = item


@pytest.fixture(scope="session")
def measured(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Asserts that an error is at most so large, and records it for the summary and for the site's page on trust.

    `measured("Accelerations beside Pinocchio", error, at_most=1e-9, unit="m/s²")`, in a test that is marked with the
    part of the whole that it checks; without a unit the error is relative, or a number. Of errors of one name, the
    largest is told.
    """

    def checked(what: str, error: float, *, at_most: float, unit: str = "") -> None:
        item = pytestconfig.stash[RUNNING]
        mark = item.get_closest_marker("measured")
        assert mark is not None, "a test that measures is marked: @pytest.mark.measured(part)"
        item.user_properties.append(("measured", (mark.args[0], what, float(error), float(at_most), unit)))
        assert error <= at_most, f"{what}: {error:.3g} {unit}, allowed {at_most:g}"

    return checked


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """A table of what was measured. A session that left no test out and passed also writes it to a file."""
    if hasattr(config, "workerinput"):  # one of several processes, which has run its share only
        return
    reports = [report for how in ("passed", "failed") for report in terminalreporter.stats.get(how, ())]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for name, value in (pair for report in reports for pair in report.user_properties):
        if name != "measured":
            continue
        part, what, error, at_most, unit = value
        row = found.setdefault((part, what), {"part": part, "what": what, "error": error, "unit": unit, "times": 0})
        at_most = max(at_most, row.get("at_most", at_most))
        row |= {"error": max(error, row["error"]), "at_most": at_most, "times": row["times"] + 1}
    if not found:
        return
    terminalreporter.section("measured: the largest of so many, and what is allowed")
    for part, what in sorted(found):
        row = found[part, what]
        numbers = f"{row['times']:>5}  {row['error']:<8.1e} ≤ {row['at_most']:<7g} {row['unit']}"
        terminalreporter.write_line(f"{part:<14}{what:<64}{numbers}")
    left_out = any(config.getoption(name, None) for name in CHOOSING) or config.getoption("markexpr") not in WHOLE
    if exitstatus == 0 and not left_out and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        MEASURED.write_text(json.dumps([found[key] for key in sorted(found)], indent=1), encoding="utf-8")
        started = config.stash[STARTED]
        os.utime(MEASURED, (started, started))  # of the code that was there when the session began
