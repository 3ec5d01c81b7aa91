"""The playback page, players within other pages, and what a notebook shows of a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.simulation import Run
from tailwork.view.player.pack import packed
from tailwork.view.scene import Scene, scenes_of

LAYOUTS = ("side", "overlay")
HEIGHT = 480  # of a player within another page [px]
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""What the page may load: nothing but what it holds."""
MOST = 201  # samples of the run: notebooks are saved with what they show
NOTEBOOK_HEIGHT = 620  # of the frame [px]


def playback_page(scenes: Sequence[Scene], *, title: str = "", layout: str = "side") -> str:
    """One HTML page that plays the scenes, holds everything it shows, and asks the network for nothing.

    Args:
        scenes: what is played, all on one clock.
        title: of the page; the labels of the scenes, if empty.
        layout: "side" by side, or "overlay": all robots in the same place. The reader can change it.
    """
    if not isinstance(title, str):
        raise ArgumentError("title", title, "text")
    shown = title or ", ".join(scene.label for scene in _checked(scenes))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(shown)}</title>
{player_assets()}
</head>
<body class="tailwork-page">
<h1>{escape(shown)}</h1>
{_player(scenes, layout, "page", "")}
</body>
</html>
"""


def player_assets() -> str:
    """Style and script of the player, which a page with players holds once."""
    return f"<style>\n{_built('player.css')}</style>\n<script>\n{_built('player.js')}</script>"


def player_fragment(scenes: Sequence[Scene], *, height: int = HEIGHT, layout: str = "side") -> str:
    """A player with its data as a part of a page that also holds `player_assets`; it starts when it comes into sight.

    Args:
        scenes: what is played, all on one clock.
        height: of picture and plots where they stand side by side [px].
        layout: as for `playback_page`.
    """
    if not isinstance(height, int) or isinstance(height, bool) or height < 200:
        raise ArgumentError("height", height, "an integer number of pixels, at least 200")
    return _player(scenes, layout, "part", f' style="--tailwork-height: {height}px"')


def _player(scenes: Sequence[Scene], layout: str, place: str, style: str) -> str:
    if layout not in LAYOUTS:
        raise UnknownNameError.among("layout", str(layout), LAYOUTS, "layout")
    return (
        f'<div class="tailwork" data-tailwork="{place}" tabindex="-1"{style}>'
        "<noscript>To play this run, the browser must be allowed to run scripts.</noscript>"
        f'<script type="application/json">{packed(_checked(scenes), layout)}</script></div>'
    )


def _checked(scenes: Sequence[Scene]) -> Sequence[Scene]:
    if not isinstance(scenes, (list, tuple)) or not scenes or not all(isinstance(scene, Scene) for scene in scenes):
        raise ArgumentError("scenes", scenes, "a list of at least one scene (see tailwork.view.scene.scenes_of)")
    return scenes


@cache
def _built(name: str) -> str:
    """A file of the built player (its source stands in the folder `player` of the project)."""
    return files("tailwork.view.player").joinpath("built", name).read_text(encoding="utf-8")


def notebook_html(run: Run) -> str:
    """The run as HTML; the page stands in a frame, so that neither its style nor its script touches the notebook."""
    name = run.model.robot.name
    page = playback_page(scenes_of({name: run}, most=MOST), title=name)
    return (
        f"<pre>{escape(run.summary())}</pre>"
        f'<iframe title="playback of {escape(name, quote=True)}" srcdoc="{escape(page, quote=True)}" '
        f'style="width: 100%; height: {NOTEBOOK_HEIGHT}px; border: 0" sandbox="allow-scripts"></iframe>'
    )
