"""`tailwork picture`: stills of runs for papers and slides."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tailwork.cli.runs import add_runs, chosen_runs, target
from tailwork.cli.tables import wide_console
from tailwork.errors import RobotError

VIEW_HELP = (
    "three-quarter (default), side, rear, top, or how far the eye is turned from behind to the right and raised [deg], "
    "such as 44,32 (write --view=-44,32 for a negative one)"
)


def add_picture(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "picture",
        help=what,
        description="Draws runs as PNG, PDF or SVG, by the end of the file's name.",
    )
    add_runs(command)
    command.add_argument(
        "--kind",
        help="strip: moments one by one (default); ghosts: over each other, older ones paler; pose: one moment "
        "(default with --time)",
    )  # fmt: skip
    command.add_argument("--frames", type=int, default=6, metavar="N", help="how many moments, evenly (default 6)")
    command.add_argument("--times", metavar="T,T,…", help="these moments instead [s]")
    command.add_argument("--time", metavar="T", help="of a pose [s] (default: the end)")
    command.add_argument("--view", default="three-quarter", help=VIEW_HELP)
    command.add_argument(
        "--forces", action=argparse.BooleanOptionalAction, help="arrows for the forces on the feet (default: of a pose)"
    )
    command.add_argument(
        "--traces", action=argparse.BooleanOptionalAction,
        help="centres of mass and their ways (default: of ghosts and of a pose)",
    )  # fmt: skip
    command.add_argument("--dark", action="store_true", help="light on dark paper")
    command.add_argument("--transparent", action="store_true", help="without the paper")
    command.add_argument("--dpi", type=float, default=200.0, help="dots an inch of a PNG (default 200)")
    command.add_argument("--title", default="", help="above all")
    command.add_argument(
        "--out", type=Path, help="the file (default: RUN.png beside the run; picture.png here for several)"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw and write the picture."""
    console = wide_console(80, markup=False)
    out = target(options.out, options.runs, ".png", "picture")
    if options.time is not None and (options.times is not None or options.kind not in (None, "pose")):
        raise RobotError("--time", options.time, "no --times and no other --kind beside it: it is the time of a pose")
    kind = options.kind or ("strip" if options.time is None else "pose")
    times = seconds("--times", options.times) if options.time is None else seconds("--time", options.time)
    runs = chosen_runs(options.runs)
    with console.status("drawing"):
        from tailwork.view import picture, write_picture  # slow to import, and needed for pictures only
        from tailwork.view.draw.picture import check_picture

        check_picture(out)
        figure = picture(
            runs, kind, frames=options.frames, times=times, view=options.view, forces=options.forces,
            traces=options.traces, dark=options.dark, transparent=options.transparent, title=options.title,
        )  # fmt: skip
        write_picture(figure, out, dpi=options.dpi)
    console.print(f"{out}", soft_wrap=True, highlight=False)
    return 0


def seconds(option: str, text: str | None) -> list[float] | None:
    """Times separated by commas [s]; None: none given."""
    try:
        return None if text is None else [float(item) for item in text.split(",")]
    except ValueError:
        raise RobotError(option, text, "times in seconds, such as 0,0.1,0.3") from None
