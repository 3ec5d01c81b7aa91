"""`tailwork video`: runs as MP4 or GIF, in slow motion."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tailwork.cli.picture import VIEW_HELP
from tailwork.cli.progress import bar
from tailwork.cli.runs import add_runs, chosen_runs, target
from tailwork.cli.tables import wide_console


def add_video(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "video",
        help=what,
        description="Films runs side by side as MP4 or GIF, by the end of the file's name. No window is opened.",
    )
    add_runs(command)
    command.add_argument(
        "--slow", type=float, help="how many times slower than life (default: such that it lasts about 6 s)"
    )
    command.add_argument("--fps", type=float, help="pictures a second (default 30; of a GIF 25)")
    command.add_argument("--size", metavar="WxH", help="in pixels, even (default 1280x720; of a GIF 800x450)")
    command.add_argument("--view", default="three-quarter", help=VIEW_HELP)
    command.add_argument(
        "--plots", action=argparse.BooleanOptionalAction, default=True,
        help="angles of the torso, normal forces of the feet and efforts of the tail beside the robot",
    )  # fmt: skip
    command.add_argument(
        "--forces", action=argparse.BooleanOptionalAction, default=True, help="arrows for the forces on the feet"
    )
    command.add_argument(
        "--traces", action=argparse.BooleanOptionalAction, default=True, help="centres of mass and their ways"
    )
    command.add_argument("--dark", action="store_true", help="light on dark paper")
    command.add_argument(
        "--out", type=Path, help="the file (default: RUN.mp4 beside the run; video.mp4 here for several)"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Film and write the video."""
    console = wide_console(80, markup=False)
    out = target(options.out, options.runs, ".mp4", "video")
    runs = chosen_runs(options.runs)
    from tailwork.view.film.video import size_from_text, write_video  # slow to import, and needed for pictures only

    size = None if options.size is None else size_from_text(options.size)
    with bar(console, "nothing was written: run the command again") as tell:
        write_video(
            runs, out, slow=options.slow, fps=options.fps, size=size, view=options.view, plots=options.plots,
            forces=options.forces, traces=options.traces, dark=options.dark,
            tell=lambda done, total: tell(done, total, ""),
        )  # fmt: skip
    console.print(f"{out}: {out.stat().st_size / 1e6:.2f} MB", soft_wrap=True, highlight=False)
    return 0
