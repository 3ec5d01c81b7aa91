"""The built player belongs to its source: whoever changes the one without the other is told. Needs no node."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import tailwork

SOURCE = Path(__file__).parents[2] / "player"
BUILT = Path(tailwork.__file__).parent / "view" / "player" / "built"


def source_digest() -> str:
    """SHA-256 over what the built files depend on: path, NUL, content, NUL of each file, in order of their paths."""
    files = [file for file in (SOURCE / "src").rglob("*") if file.is_file()]
    files += [SOURCE / name for name in ("build.mjs", "package.json", "package-lock.json")]
    digest = hashlib.sha256()
    for name, file in sorted((file.relative_to(SOURCE).as_posix(), file) for file in files):
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def test_the_built_player_is_that_of_its_source() -> None:
    for name in ("player.js", "player.css"):
        first = (BUILT / name).read_text(encoding="utf-8").split("\n", 1)[0]
        assert first == f"/* source {source_digest()} */", (
            f"{name} is older than its source: cd player && npm run build"
        )


def test_the_built_player_is_complete_and_may_stand_in_a_page() -> None:
    script, style = ((BUILT / name).read_text(encoding="utf-8") for name in ("player.js", "player.css"))
    for text in (script, style):
        assert not re.search(r"</(script|style)|<!--", text, re.IGNORECASE)
    assert "url(" not in style, "nothing is fetched"
    assert not re.search(r"\b(fetch|importScripts|XMLHttpRequest|WebSocket|EventSource)\(", script)
    for owner in ("three.js authors", "Leon Sorokin"):
        assert owner in script, "the licences of what it is built with go with it"
    assert script.count("Permission is hereby granted, free of charge") == 2
