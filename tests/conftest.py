"""A real browser for the tests of pages: Chromium of this machine, headless, with the network cut."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
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
