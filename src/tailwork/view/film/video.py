"""Videos of runs as MP4 and GIF, by the ffmpeg that imageio-ffmpeg brings along."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from pathlib import Path

import numpy as np

from tailwork.errors import ArgumentError, FileError
from tailwork.files import file_kind, write_whole
from tailwork.simulation import Run
from tailwork.typing import Floats
from tailwork.view.draw.picture import as_scenes
from tailwork.view.draw.style import DARK, LIGHT
from tailwork.view.film.film import Film, film
from tailwork.view.scene import Scene

VIDEOS = ("mp4", "gif")
REMEDY = "install it (pip install --force-reinstall imageio-ffmpeg), or let IMAGEIO_FFMPEG_EXE name one that works"
H264 = (
    "-c:v", "libx264", "-preset", "veryfast", "-crf", "17", "-pix_fmt", "yuv420p",
    "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-movflags", "+faststart", "-f", "mp4",
)  # fmt: skip
"""What every player and browser plays, from its first bytes on; lines stay sharp."""
TO_BT709 = "scale=out_color_matrix=bt709:out_range=tv"
TO_PALETTE = ("-vf", "palettegen=stats_mode=full:reserve_transparent=0", "-frames:v", "1")
FROM_PALETTE = ("-lavfi", "paletteuse=dither=none:diff_mode=rectangle", "-loop", "0", "-f", "gif")
LASTS = 6.0  # how long a video lasts about, by default [s]
SIZES = {"mp4": (1280, 720), "gif": (800, 450)}
RATES = {"mp4": 30.0, "gif": 25.0}  # a GIF counts in hundredths of a second
MOST_RATES = {"mp4": 120.0, "gif": 50.0}  # a GIF counts delays in hundredths of a second, two at least
MOST_PICTURES = 100_000
PALETTE_FROM = 8  # pictures that the colours of a GIF are chosen from


def ffmpeg() -> str:
    """Where ffmpeg is.

    Raises:
        FileError: there is none.
    """
    import imageio_ffmpeg

    try:
        program = imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError:
        raise FileError("ffmpeg", f"not found, and without it there are no videos: {REMEDY}") from None
    if shutil.which(program) is None:
        raise FileError(program, f"no ffmpeg that can be run: {REMEDY}")
    return program


def _encode(pictures: Iterable[memoryview], size: tuple[int, int], fps: float, *more: str) -> None:
    """Feed pictures of 4 bytes a pixel to ffmpeg, with more options; at the end it has written its file, or is gone."""
    source = ("-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:g}", "-i", "-")
    command = [ffmpeg(), "-hide_banner", "-loglevel", "error", "-nostdin", "-y", *source, *more]
    with tempfile.TemporaryFile() as log:
        try:
            # A session of its own: an interrupt from the keyboard reaches us, and we stop it.
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
            )  # fmt: skip
        except OSError as error:
            raise FileError(command[0], f"cannot be run ({error.strerror}): {REMEDY}") from None
        assert process.stdin is not None
        broken = False
        try:
            try:
                for picture in pictures:
                    process.stdin.write(picture)
                process.stdin.close()
            except BrokenPipeError:
                broken = True
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
            with suppress(OSError):
                process.stdin.close()
            process.wait()
        if code != 0 or broken:
            log.seek(0)
            reason = log.read().decode(errors="replace").strip().splitlines()[-1:] or ["it says nothing"]
            raise FileError(command[0], f"ffmpeg failed: {reason[0]}")


def write_video(
    shown: Mapping[str, Run] | Sequence[Scene],
    path: str | os.PathLike[str],
    *,
    slow: float | None = None,
    fps: float | None = None,
    size: tuple[int, int] | None = None,
    view: str = "three-quarter",
    plots: bool = True,
    forces: bool = True,
    traces: bool = True,
    dark: bool = False,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Write a video of one or more runs side by side as MP4 or GIF, by the end of the name, whole or not at all.

    Args:
        shown: runs by label, or their scenes.
        path: of the file.
        slow: how many times slower than life; if None, such that it lasts about 6 s.
        fps: pictures a second; if None, 30, of a GIF 25.
        size: width and height [pixels], even; if None, 1280 × 720, of a GIF 800 × 450.
        view: "three-quarter", "side", "rear", "top", or two angles (see `tailwork.view.draw.camera.camera`).
        plots: with angles of the torso, normal forces of the feet and efforts of the tail, and a cursor in them.
        forces: with arrows for the forces on the feet.
        traces: with centres of mass and their paths until then.
        dark: light on dark paper.
        tell: called with how many pictures are done, and how many there will be.

    Returns:
        The path.
    """
    scenes = as_scenes(shown)
    kind = file_kind(path, VIDEOS, "a video")
    slow, size = _slow(scenes, slow), _size(size or SIZES[kind])
    fps = _fps(RATES[kind] if fps is None else fps, MOST_RATES[kind])
    times = picture_times(scenes, slow, fps)
    ffmpeg()  # fails before the work, if it is missing
    made = film(
        scenes, times, size, view=view, theme=DARK if dark else LIGHT, plots=plots, forces=forces, traces=traces,
        slow=_words(slow),
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tailwork-") as folder:
        file, options = Path(folder) / f"video.{kind}", ("-vf", TO_BT709, *H264)
        if kind == "gif":  # in the 256 colours that suit a few of its pictures; it starts again at its end
            palette = str(Path(folder) / "palette.png")
            few = np.unique(np.linspace(0, len(times) - 1, PALETTE_FROM).astype(int))
            _encode((made.picture(k) for k in few), size, fps, *TO_PALETTE, palette)
            options = ("-i", palette, *FROM_PALETTE)
        _encode(_pictures(made, tell), size, fps, *options, str(file))
        write_whole(path, file.read_bytes())
    return Path(path)


def picture_times(scenes: Sequence[Scene], slow: float, fps: float) -> Floats:
    """Times of the pictures of a video [s], the first and the last sample of the scenes among them."""
    first, last = min(scene.times[0] for scene in scenes), max(scene.times[-1] for scene in scenes)
    if last <= first:
        raise ArgumentError("runs", f"{last - first:g} s", "a run that lasts; `tailwork picture` shows a single time")
    count = round((last - first) * slow * fps) + 1
    if not 2 <= count <= MOST_PICTURES:
        required = (
            f"as many that there are 2 to {MOST_PICTURES} pictures (fps × slow × {last - first:.4g} s); here {count}"
        )
        raise ArgumentError("slow", slow, required)
    return np.linspace(first, last, count)


def size_from_text(text: str) -> tuple[int, int]:
    """A size as "1280x720"."""
    found = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text.strip())
    if found is None:
        raise ArgumentError("size", text, "width and height in pixels, as 1280x720")
    return _size((int(found[1]), int(found[2])))


def _pictures(made: Film, tell: Callable[[int, int], None]) -> Iterator[memoryview]:
    for number in range(len(made.times)):
        tell(number, len(made.times))
        yield made.picture(number)
    tell(len(made.times), len(made.times))


def _slow(scenes: Sequence[Scene], slow: float | None) -> float:
    if slow is None:
        longest = max(scene.times[-1] for scene in scenes) - min(scene.times[0] for scene in scenes)
        return max(1.0, float(f"{LASTS / max(longest, 1e-9):.2g}"))
    if not isinstance(slow, Real) or not np.isfinite(slow) or slow <= 0:
        raise ArgumentError("slow", slow, "a number greater than 0: how many times slower than life")
    return float(slow)


def _fps(fps: float, most: float) -> float:
    if not isinstance(fps, Real) or not 1.0 <= fps <= most:
        raise ArgumentError("fps", fps, f"a number from 1 to {most:g}: pictures a second (a GIF takes at most 50)")
    return float(fps)


def _size(size: tuple[int, int]) -> tuple[int, int]:
    whole = len(size) == 2 and all(isinstance(n, int) and 64 <= n <= 4096 and n % 2 == 0 for n in size)
    if not whole:
        raise ArgumentError("size", size, "two even numbers from 64 to 4096: width and height in pixels")
    return size


def _words(slow: float) -> str:
    if slow == 1.0:
        return "as fast as life"
    return f"{slow:g} times slower" if slow > 1.0 else f"{1.0 / slow:.3g} times faster"
