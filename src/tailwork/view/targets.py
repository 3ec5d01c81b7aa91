"""Files that are going to be written: what is wrong with their names is said before the work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tailwork.errors import FileError


def kind_of(path: str | os.PathLike[str], kinds: Sequence[str], what: str) -> str:
    """The kind of a file by the end of its name; its folder must be there.

    Args:
        path: of the file.
        kinds: that are possible, such as "png".
        what: the file will be, "a picture".

    Raises:
        FileError: the name ends otherwise, or there is no such folder.
    """
    file = Path(path)
    kind = file.suffix.lower().removeprefix(".")
    if kind not in kinds:
        *most, last = (f".{kind}" for kind in kinds)
        raise FileError(path, f"not a name for {what}: let it end in {', '.join(most)} or {last}")
    if file.is_dir():
        raise FileError(path, f"a folder is where {what} should be")
    if not file.parent.is_dir():
        raise FileError(path, f"there is no folder {file.parent}: make it first")
    return kind
