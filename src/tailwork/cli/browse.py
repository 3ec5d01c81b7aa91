"""Showing a page to the person at the terminal."""

from __future__ import annotations

import os
import sys
import webbrowser

from rich.console import Console


def show_page(console: Console, address: str, wanted: bool = True) -> None:
    """Open a page in the browser; where there is none, or none is wanted, say where it is.

    Args:
        console: where it is said.
        address: of the page.
        wanted: whether it shall be opened.
    """
    opened = wanted and _can_show() and _opened(address)
    if wanted and not opened:
        console.print("no browser could be opened here; the page is at", style="yellow")
    console.print(address, soft_wrap=True, highlight=False)


def _can_show() -> bool:
    """Whether there is a screen. A browser for the terminal would take it from us."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _opened(address: str) -> bool:
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
