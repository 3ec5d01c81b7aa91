"""Pictures to MP4 and GIF, by the ffmpeg that imageio-ffmpeg brings along."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tailwork.errors import FileError

VIDEOS = ("mp4", "gif")
REMEDY = "install it (pip install --force-reinstall imageio-ffmpeg), or let IMAGEIO_FFMPEG_EXE name one that works"
H264 = (
    "-c:v", "libx264", "-preset", "veryfast", "-crf", "17", "-pix_fmt", "yuv420p",
    "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-movflags", "+faststart", "-f", "mp4",
)  # fmt: skip
"""What every player and browser plays, from its first bytes on; lines stay sharp."""
TO_BT709 = "scale=out_color_matrix=bt709:out_range=tv"


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


def write_mp4(file: Path, pictures: Iterable[memoryview], size: tuple[int, int], fps: float) -> None:
    """Write a film as H.264. Pictures have 4 bytes a pixel; their size is even."""
    with _fed(_input(size, fps), ["-vf", TO_BT709, *H264, str(file)]) as feed:
        for picture in pictures:
            feed.write(picture)


def write_gif(
    file: Path, few: Iterable[memoryview], pictures: Iterable[memoryview], size: tuple[int, int], fps: float
) -> None:
    """Write a film as a GIF that starts again at its end, in the 256 colours that suit a few of its pictures."""
    palette = file.with_name("palette.png")
    with _fed(
        _input(size, fps), ["-vf", "palettegen=stats_mode=full:reserve_transparent=0", "-frames:v", "1", str(palette)]
    ) as feed:
        for picture in few:
            feed.write(picture)
    mapped = "paletteuse=dither=none:diff_mode=rectangle"
    with _fed(
        [*_input(size, fps), "-i", str(palette)], ["-lavfi", mapped, "-loop", "0", "-f", "gif", str(file)]
    ) as feed:
        for picture in pictures:
            feed.write(picture)


def _input(size: tuple[int, int], fps: float) -> list[str]:
    """Raw pictures that come through a pipe."""
    wide, tall = size
    return ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{wide}x{tall}", "-r", f"{fps:g}", "-i", "-"]


@contextmanager
def _fed(source: Sequence[str], target: Sequence[str]) -> Iterator[IO[bytes]]:
    """A running ffmpeg that takes pictures; at the end it has written its file, or it is gone."""
    command = [ffmpeg(), "-hide_banner", "-loglevel", "error", "-nostdin", "-y", *source, *target]
    with tempfile.TemporaryFile() as said:
        try:
            # A session of its own: an interrupt from the keyboard reaches us, and we stop it.
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )  # fmt: skip
        except OSError as error:
            raise FileError(command[0], f"cannot be run ({error.strerror}): {REMEDY}") from None
        assert process.stdin is not None
        broken = False
        try:
            try:
                yield process.stdin
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
            said.seek(0)
            reason = said.read().decode(errors="replace").strip().splitlines()[-1:] or ["it says nothing"]
            raise FileError(command[0], f"ffmpeg failed: {reason[0]}")
