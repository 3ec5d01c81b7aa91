"""`tailwork view`: runs as one page that plays them in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tailwork.cli.browse import show_page
from tailwork.cli.runs import add_runs, chosen_runs, target
from tailwork.cli.tables import wide_console
from tailwork.files import kind_of, write_whole
from tailwork.view.player import playback_page
from tailwork.view.scene import scenes_of

MOST = 1001
"""Moments of a run that a page keeps."""


def add_view(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "view",
        help=what,
        description="Writes one HTML file that holds the runs and the player, and opens it. It needs no network and no "
        "tailwork: it can be mailed. Space plays and pauses, the arrows step.",
    )
    add_runs(command)
    command.add_argument("--overlay", action="store_true", help="robots one over the other (default: side by side)")
    command.add_argument("--title", default="", help="of the page (default: the names of the runs)")
    command.add_argument(
        "--most", type=int, default=MOST, metavar="N", help=f"moments of a run that are kept, evenly (default {MOST})"
    )
    command.add_argument(
        "--out", type=Path, help="the file (default: RUN.html beside the run; playback.html here for several)"
    )
    command.add_argument("--no-open", action="store_true", help="only write the file")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page and show it."""
    console = wide_console(80, markup=False)
    out = target(options.out, options.runs, ".html", "playback")
    kind_of(out, ("html",), "a page")
    runs = chosen_runs(options.runs)
    scenes = scenes_of(runs, most=options.most)
    page = playback_page(scenes, title=options.title, layout="overlay" if options.overlay else "side")
    write_whole(out, page)
    console.print(f"{out}: {len(page.encode()) / 1e6:.2f} MB", soft_wrap=True, highlight=False)
    show_page(console, out.resolve().as_uri(), not options.no_open)
    return 0
