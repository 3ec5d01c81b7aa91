"""Compiled objects on disk. They are executable code: kept private, written whole, checked before use.

They stand in the folder `objects`, made for this user alone (mode 0700), within TAILWORK_CACHE if set, else within
`tailwork` in the user's cache folder. A folder or file of somebody else, or that others may use, is not used. Beyond a
limit, what was used longest ago is removed; `tailwork cache` shows the cache and clears it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
import warnings
from itertools import count
from pathlib import Path

from tailwork.files import put

MAGIC = b"tailwork object 1\n"
LIMIT = 10**9
"""Bytes that the cache may take, unless TAILWORK_CACHE_SIZE says otherwise."""
SELDOM = 16
"""The size of the cache is looked at once in so many writes of a process."""
_writes = count()


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
        with contextlib.suppress(OSError):
            os.utime(file, ns=(time.time_ns(), file.stat().st_mtime_ns))  # what is used stays longest
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
        put(str(place / f"{key}.o"), MAGIC + _checksum(key, code) + code, 0o600)
        if next(_writes) % SELDOM == 0:
            shrink(limit())
    except OSError as error:
        _refused(place, error.strerror or str(error))


def limit() -> int:
    """Bytes that the cache may take: TAILWORK_CACHE_SIZE megabytes if set, else LIMIT."""
    said = os.environ.get("TAILWORK_CACHE_SIZE", "")
    return int(said[:18]) * 10**6 if said.isdecimal() else LIMIT


def cached_objects() -> list[tuple[Path, int, float]]:
    """Objects in the cache: file, size in bytes, and when it was last used [s]; those used longest ago come first."""
    found = []
    with contextlib.suppress(OSError, RuntimeError):
        for file in (folder() / "objects").glob("*.o"):
            with contextlib.suppress(OSError):  # another process may remove some meanwhile
                status = file.stat()
                found.append((file, status.st_size, status.st_atime))
    return sorted(found, key=lambda one: one[2])


def shrink(largest: int) -> int:
    """Remove the objects that were used longest ago until the rest fits into so many bytes; how many were removed."""
    objects, removed = cached_objects(), 0
    total = sum(size for _, size, _ in objects)
    for file, size, _ in objects:
        if total <= largest:
            break
        with contextlib.suppress(OSError):
            file.unlink()
        total, removed = total - size, removed + 1
    return removed
