"""Compiled objects on disk. They are executable code: kept private, written whole, checked before use.

They stand in the folder `objects`, made for this user alone (mode 0700), within TAILWORK_CACHE if set, else within
`tailwork` in the user's cache folder. A folder or file of somebody else, or that others may use, is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import warnings
from pathlib import Path

MAGIC = b"tailwork object 1\n"


class CacheWarning(UserWarning):
    """The cache of compiled kernels cannot be used; everything still works, only compiled anew each time."""


def folder() -> Path:
    """Where compiled kernels are kept."""
    chosen = os.environ.get("TAILWORK_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tailwork"


def _private_folder() -> Path | None:
    """The folder, made if need be; None, with a warning, if it cannot be trusted or made."""
    place = Path("objects")
    try:
        place = folder() / "objects"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours_alone(place.stat()):
            return _refused(place, "it belongs to another user, or others may use it (mode 0700 is required)")
    except (OSError, RuntimeError) as error:  # RuntimeError: this user has no home
        return _refused(place, getattr(error, "strerror", None) or str(error))
    return place


def _ours_alone(status: os.stat_result) -> bool:
    """Whether something belongs to this user and nobody else may use it."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077)


def _refused(place: Path, reason: str) -> None:
    warnings.warn(
        f"compiled kernels are not kept in {place}: {reason}. Set TAILWORK_CACHE to a folder of your own.",
        CacheWarning,
        stacklevel=4,
    )


def _checksum(key: str, code: bytes) -> bytes:
    """Of an object under its own name: another kernel's file in its place is as bad as a damaged one."""
    return hashlib.sha256(key.encode() + b"\n" + code).digest()


def read(key: str) -> bytes | None:
    """The object of that key, or None if there is none or it is damaged (then it is removed)."""
    place = _private_folder()
    if place is None:
        return None
    file = place / f"{key}.o"
    try:
        with file.open("rb") as opened:
            content = opened.read() if _ours_alone(os.fstat(opened.fileno())) else b""
    except OSError:
        return None
    head = len(MAGIC) + 32
    if content.startswith(MAGIC) and _checksum(key, content[head:]) == content[len(MAGIC) : head]:
        return content[head:]
    with contextlib.suppress(OSError):
        file.unlink()
    return None


def write(key: str, code: bytes) -> None:
    """Keep an object: written aside, then renamed, so that no reader ever sees half of it."""
    place = _private_folder()
    if place is None:
        return
    try:
        handle, name = tempfile.mkstemp(dir=place, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _checksum(key, code) + code)
            os.replace(name, place / f"{key}.o")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        _refused(place, error.strerror or str(error))
