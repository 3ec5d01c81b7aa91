"""Files written whole or not at all, and read if they are files of a sensible size."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tailwork.errors import FileError


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it. Text is written as UTF-8.

    Raises:
        FileError: it cannot be written; what was there before is kept.
    """
    try:
        target = os.path.realpath(path)  # a link stays a link
        put(target, content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError, TypeError) as error:
        reason = "a name that UTF-8 cannot hold" if isinstance(error, UnicodeEncodeError) else why(error)
        raise FileError(path, reason) from None


def put(target: str, content: bytes, mode: int | None = None) -> None:
    """Write a file whole, with a mode; None: that of the file that is there, else as the user's mask allows, and on the
    disk before this returns.

    On Linux it has no name until it is whole, so that a process that is killed leaves nothing behind.
    """
    temporary = f"{target}.{secrets.token_hex(8)}.tmp"
    nameless, rights = True, 0o666 if mode is None else mode
    try:
        handle = os.open(os.path.dirname(target) or ".", os.O_WRONLY | os.O_TMPFILE, rights)
    except (OSError, AttributeError):  # a system or a file system that has no such files
        handle, nameless = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights), False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if mode is None:
                os.fsync(handle)
            if mode is None and os.path.exists(target):
                os.fchmod(handle, stat.S_IMODE(os.stat(target).st_mode))
            if nameless:
                os.link(f"/proc/self/fd/{handle}", temporary, src_dir_fd=handle, follow_symlinks=True)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            os.remove(temporary)
        raise


LARGEST = 2**34
"""Bytes of a file that is read whole, unless something smaller is asked for."""


def read_bytes(path: str | os.PathLike[str], largest: int = LARGEST) -> bytes:
    """The content of a regular file of at most `largest` bytes. Nothing else is opened: a pipe would wait for ever.

    Raises:
        FileError: it cannot be read, is no regular file or is larger.
    """
    try:
        mode = os.stat(os.fspath(path)).st_mode  # a number would be a file that is open
        if stat.S_ISDIR(mode):
            raise FileError(path, "a directory, not a file")
        if not stat.S_ISREG(mode):
            raise FileError(path, "not a regular file")
        with open(path, "rb") as file:
            content = file.read(largest + 1)
    except (OSError, ValueError, TypeError) as error:
        raise FileError(path, why(error)) from None
    if len(content) > largest:
        raise FileError(path, f"too large (more than {largest} bytes)")
    return content


def file_kind(path: str | os.PathLike[str], kinds: Sequence[str], what: str) -> str:
    """The kind of a file by the end of its name; its folder must be there.

    Args:
        path: of the file.
        kinds: that are possible, such as "png".
        what: the file will be, "a picture".

    Raises:
        FileError: the name ends otherwise, or there is no such folder.
    """
    try:
        file = Path(path)
    except TypeError as error:
        raise FileError(path, why(error)) from None
    kind = file.suffix.lower().removeprefix(".")
    if kind not in kinds:
        ends = ", ".join(f".{kind}" for kind in kinds[:-1]) + (" or " if kinds[1:] else "") + f".{kinds[-1]}"
        raise FileError(path, f"not a name for {what}: let it end in {ends}")
    if is_there(file) and file.is_dir():
        raise FileError(path, f"a folder is where {what} should be")
    if not file.parent.is_dir():
        raise FileError(path, f"there is no folder {file.parent}: make it first")
    return kind


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is something of that name; a name that no file can have is an error."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError, TypeError) as error:
        raise FileError(path, why(error)) from None
    return True


def ready_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, unless it is there, and make sure that files can be written in it."""
    try:
        path = os.fsdecode(path)
        os.makedirs(path, exist_ok=True)
    except (OSError, ValueError, TypeError) as error:
        raise FileError(path, why(error)) from None
    probe = os.path.join(path, f".{secrets.token_hex(8)}")
    write_whole(probe, b"")
    with contextlib.suppress(OSError):
        os.remove(probe)


def why(error: Any) -> str:
    """What is wrong with a path, in a few words."""
    if isinstance(error, FileNotFoundError):
        return "no such file or directory"
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return "a file is where a folder should be"
    if isinstance(error, PermissionError):
        return "no permission"
    return (error.strerror if isinstance(error, OSError) else None) or f"not a path of a file ({error})"
