"""What a notebook shows of a run: its summary, and its playback in a frame of its own."""

from __future__ import annotations

from html import escape

from tailwork.simulation import Run
from tailwork.view.player.page import playback_page
from tailwork.view.scene import scenes_of

MOST = 201
"""Moments that are kept: notebooks are saved with what they show."""
HEIGHT = 620
"""Of the frame [px]."""


def notebook_html(run: Run) -> str:
    """The run as HTML; the page stands in a frame, so that neither its style nor its script touches the notebook."""
    name = run.model.robot.name
    page = playback_page(scenes_of({name: run}, most=MOST), title=name)
    return (
        f"<pre>{escape(run.summary())}</pre>"
        f'<iframe title="playback of {escape(name, quote=True)}" srcdoc="{escape(page, quote=True)}" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0" sandbox="allow-scripts"></iframe>'
    )
