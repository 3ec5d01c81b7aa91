"""`tailwork picture`, `video` and `view`: runs as stills, films, and pages that play them."""

from __future__ import annotations

import argparse
from pathlib import Path

from tailwork.cli.inputs import add_runs, load_runs, numbers_in, output_file
from tailwork.cli.terminal import progress_bar, show_page, wide_console
from tailwork.errors import ArgumentError
from tailwork.files import file_kind, write_whole
from tailwork.view.player import playback_page
from tailwork.view.scene import scenes_of

MOST = 1001
"""Samples of a run in a page."""
ON_OFF = argparse.BooleanOptionalAction


def _add_look(command: argparse.ArgumentParser, default: bool | None, forces: str, traces: str) -> None:
    """Options of what is drawn, and from where it is seen."""
    command.add_argument(
        "--view", default="three-quarter",
        help="three-quarter (default), side, rear, top, or how far the eye is turned from behind to the right and "
        "raised [deg], such as 44,32 (write --view=-44,32 for a negative one)",
    )  # fmt: skip
    command.add_argument("--forces", action=ON_OFF, default=default, help=f"arrows for the forces on the feet{forces}")
    command.add_argument("--traces", action=ON_OFF, default=default, help=f"centres of mass and their paths{traces}")
    command.add_argument("--dark", action="store_true", help="light on dark paper")


def _add_out(command: argparse.ArgumentParser, alone: str, several: str) -> None:
    text = f"the file (default: {alone} beside the run; {several} here for several)"
    command.add_argument("--out", type=Path, help=text)


def add_picture(command: argparse.ArgumentParser) -> None:
    """The command `picture` and its options."""
    command.description = "Draws runs as PNG, PDF or SVG, by the end of the file's name."
    add_runs(command)
    command.add_argument(
        "--kind",
        help="strip: times one by one (default); ghosts: over each other, older ones paler; pose: one time (default "
        "with --time)",
    )
    command.add_argument("--frames", type=int, default=6, metavar="N", help="how many times, evenly (default 6)")
    command.add_argument("--times", metavar="T,T,…", help="these times instead [s]")
    command.add_argument("--time", metavar="T", help="of a pose [s] (default: the end)")
    _add_look(command, None, " (default: of a pose)", " (default: of ghosts and of a pose)")
    command.add_argument("--transparent", action="store_true", help="without the paper")
    command.add_argument("--dpi", type=float, default=200.0, help="dots an inch of a PNG (default 200)")
    command.add_argument("--title", default="", help="above all")
    _add_out(command, "RUN.png", "picture.png")
    command.set_defaults(run=run_picture)


def run_picture(options: argparse.Namespace) -> int:
    """Draw and write the picture."""
    console = wide_console()
    out = output_file(options.out, options.runs, ".png", "picture")
    if options.time is not None and (options.times is not None or options.kind not in (None, "pose")):
        raise ArgumentError(
            "--time", options.time, "no --times and no other --kind beside it: it is the time of a pose"
        )
    kind = options.kind or ("strip" if options.time is None else "pose")
    option, text = ("--times", options.times) if options.time is None else ("--time", options.time)
    times = numbers_in(option, text, "times in seconds, such as 0,0.1,0.3")
    runs = load_runs(options.runs)
    with console.status("drawing"):
        from tailwork.view import picture, write_picture  # slow to import, and needed for pictures only
        from tailwork.view.draw.picture import check_picture

        check_picture(out)
        figure = picture(
            runs, kind, frames=options.frames, times=times, view=options.view, forces=options.forces,
            traces=options.traces, dark=options.dark, transparent=options.transparent, title=options.title,
        )  # fmt: skip
        write_picture(figure, out, dpi=options.dpi)
    console.print(f"{out}", soft_wrap=True)
    return 0


def add_video(command: argparse.ArgumentParser) -> None:
    """The command `video` and its options."""
    command.description = "Films runs side by side as MP4 or GIF, by the end of the file's name. No window is opened."
    add_runs(command)
    command.add_argument(
        "--slow", type=float, help="how many times slower than life (default: such that it lasts about 6 s)"
    )
    command.add_argument("--fps", type=float, help="pictures a second (default 30; of a GIF 25)")
    command.add_argument("--size", metavar="WxH", help="in pixels, even (default 1280x720; of a GIF 800x450)")
    command.add_argument(
        "--plots", action=ON_OFF, default=True,
        help="angles of the torso, normal forces of the feet and efforts of the tail beside the robot",
    )  # fmt: skip
    _add_look(command, True, "", "")
    _add_out(command, "RUN.mp4", "video.mp4")
    command.set_defaults(run=run_video)


def run_video(options: argparse.Namespace) -> int:
    """Film and write the video."""
    console = wide_console()
    out = output_file(options.out, options.runs, ".mp4", "video")
    runs = load_runs(options.runs)
    from tailwork.view.film.video import size_from_text, write_video  # slow to import, and needed for pictures only

    size = None if options.size is None else size_from_text(options.size)
    with progress_bar(console, "nothing was written: run the command again") as tell:
        write_video(
            runs, out, slow=options.slow, fps=options.fps, size=size, view=options.view, plots=options.plots,
            forces=options.forces, traces=options.traces, dark=options.dark,
            tell=lambda done, total: tell(done, total, ""),
        )  # fmt: skip
    console.print(f"{out}: {out.stat().st_size / 1e6:.2f} MB", soft_wrap=True)
    return 0


def add_view(command: argparse.ArgumentParser) -> None:
    """The command `view` and its options."""
    command.description = (
        "Writes one HTML file that holds the runs and the player, and opens it. It needs no network and no "
        "tailwork: it can be mailed. Space plays and pauses, the arrows step."
    )
    add_runs(command)
    command.add_argument("--overlay", action="store_true", help="robots one over the other (default: side by side)")
    command.add_argument("--title", default="", help="of the page (default: the names of the runs)")
    command.add_argument("--most", type=int, default=MOST, metavar="N", help=f"samples of a run (default {MOST})")
    _add_out(command, "RUN.html", "playback.html")
    command.add_argument("--no-open", action="store_true", help="only write the file")
    command.set_defaults(run=run_view)


def run_view(options: argparse.Namespace) -> int:
    """Write the page and show it."""
    console = wide_console()
    out = output_file(options.out, options.runs, ".html", "playback")
    file_kind(out, ("html",), "a page")
    scenes = scenes_of(load_runs(options.runs), most=options.most)
    page = playback_page(scenes, title=options.title, layout="overlay" if options.overlay else "side")
    write_whole(out, page)
    console.print(f"{out}: {len(page.encode()) / 1e6:.2f} MB", soft_wrap=True)
    show_page(console, out.resolve().as_uri(), not options.no_open)
    return 0
