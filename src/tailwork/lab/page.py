"""The page around the controls: its title, its two sides, dark or light, what it says, and the time that is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from typing import Any

from viser import ClientHandle

TITLE = "tailwork lab"
LEFT_WIDTH, RIGHT_WIDTH = 300.0, 340.0  # of controls and plots [px]
COLORS = {"note": "#d9a400", "error": "#e03131", "done": "#2f9e44", "busy": "#1c7ed6"}
DARK, LIKES_DARK, FAST = "tailwork dark", "tailwork likes dark", "tailwork fast"
"""Under these names the browser keeps "yes" or "no": the person's choice, what the browser's settings say, and whether
there is a graphics card."""
PATIENCE = 10.0  # how long the page has to say so [s]
# What the server of the page has no words for: the window's title, and a look at the browser, whose answers go to where
# `ClientHandle.local_storage` reads.
ONCE = f"""<style onload="document.title = '{TITLE}';
const keep = (name, yes) => localStorage['viser-user:' + name] = yes ? 'yes' : 'no';
const gl = document.createElement('canvas').getContext('webgl');
const card = gl && gl.getExtension('WEBGL_debug_renderer_info');
keep('{FAST}', card && !/swiftshader|llvmpipe|software/i.test(gl.getParameter(card.UNMASKED_RENDERER_WEBGL)));
keep('{LIKES_DARK}', matchMedia('(prefers-color-scheme: dark)').matches);"></style>"""
SPEEDS = {"1": 1.0, "1/2": 0.5, "1/5": 0.2, "1/10": 0.1, "1/20": 0.05, "1/50": 0.02}
"""By what is shown: seconds of the run in a second."""
REST = 0.7  # how long the end stays before it starts again, on the wall [s]


def prepare(client: ClientHandle) -> None:
    """Title and sides of the page."""
    set_dark(client, False)
    client.gui.set_panel_label(TITLE)
    client.gui.add_html(ONCE)
    client.gui.main_panel.dock_left()
    client.gui.main_panel.set_width(LEFT_WIDTH)


def add_results(client: ClientHandle) -> Any:
    """The container of the results, on the right side."""
    panel = client.gui.add_panel()
    results = panel.add_tab("Results")
    panel.dock_right()
    panel.set_width(RIGHT_WIDTH)
    return results


def set_dark(client: ClientHandle, dark: bool) -> None:
    """A dark page, or a light one. The logo and the share button are another's: sharing would leave the machine."""
    client.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=dark)


def page_settings(client: ClientHandle) -> tuple[bool, bool]:
    """Whether the page should be dark, as last chosen here or as the browser's settings say; and whether shadows are
    drawn fast enough."""
    end = time.monotonic() + PATIENCE
    with suppress(RuntimeError, TimeoutError):  # the person has left, or the browser keeps nothing
        while time.monotonic() < end:
            chosen, likes, fast = (client.local_storage.get_item(name, PATIENCE) for name in (DARK, LIKES_DARK, FAST))
            if likes is not None:
                return (chosen or likes) == "yes", fast == "yes"
            time.sleep(0.1)
    return False, False


def keep_dark(client: ClientHandle, dark: bool) -> None:
    """Remember what the person has chosen."""
    client.local_storage.set_item(DARK, "yes" if dark else "no")


def message_html(kind: str, text: str) -> str:
    """What the page says: a "note", an "error", that it is "busy" or "done"."""
    if not text:
        return ""
    style = (
        f"margin:0.2em 0.9em 0.5em;padding:0.3em 0.6em;border-left:4px solid {COLORS[kind]};background:"
        f"{COLORS[kind]}1a;font-size:0.8em;line-height:1.35;overflow-wrap:anywhere;white-space:pre-wrap"
    )
    return f'<div role="status" style="{style}">{escape(text)}</div>'


@dataclass
class Clock:
    """The time within a run that is played again and again [s]."""

    duration: float = 0.0
    speed: float = 1.0
    playing: bool = True
    wall: Callable[[], float] = time.monotonic
    _at: float = field(default=0.0, init=False)  # the time shown at `_since`; beyond the duration while it rests
    _since: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._since = self.wall()

    def now(self) -> float:
        """The time shown, from 0 to the duration."""
        return min(self._reached(), self.duration)

    def restart(self, duration: float) -> None:
        """Play another run, from its start."""
        self.duration = duration
        self.seek(0.0)

    def seek(self, to: float) -> None:
        """Show another time."""
        self._at, self._since = min(max(to, 0.0), self.duration), self.wall()

    def play(self, playing: bool) -> None:
        """Go on, or stay."""
        self._at, self._since = self.now(), self.wall()
        self.playing = playing

    def go(self, speed: float) -> None:
        """Play faster or slower from here on."""
        self._at, self._since = self.now(), self.wall()
        self.speed = speed

    def _reached(self) -> float:
        if not self.playing:
            return self._at
        round_trip = self.duration + REST * self.speed
        return (self._at + self.speed * (self.wall() - self._since)) % round_trip if round_trip > 0 else 0.0
