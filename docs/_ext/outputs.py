"""Writes what the blocks of pages print below them: `python docs/_ext/outputs.py [PAGE …]`, all pages by default.

An output that says the same as the one that stands there already is left as it is.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from blocks import OUTPUT, blocks_of, made_of, same_output

DOCS = Path(__file__).resolve().parent.parent


def main() -> None:
    """Runs the pages that are named, two at a time, and writes their outputs."""
    named = [Path(name).resolve() for name in sys.argv[1:]]
    skipped = ("_build", "_ran", "auto_gallery")
    pages = named or [page for page in sorted(DOCS.rglob("*.md")) if page.relative_to(DOCS).parts[0] not in skipped]
    with ThreadPoolExecutor(2) as pool:
        for page, changed in zip(pages, pool.map(_write, pages), strict=True):
            if changed:
                print(f"{page.relative_to(DOCS)}: {changed} outputs written")


def _write(page: Path) -> int:
    """Runs a page and writes the outputs that have changed; how many."""
    text = page.read_text(encoding="utf-8")
    if not blocks_of(text) and not made_of(text):
        return 0
    with tempfile.TemporaryDirectory() as folder:
        session = [sys.executable, str(Path(__file__).with_name("session.py")), str(page), f"{folder}/run"]
        ran = subprocess.run(session, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{page}:\n{ran.stdout}{ran.stderr}")
    written = with_outputs(text, json.loads(ran.stdout))
    page.write_text(written[0], encoding="utf-8")
    return written[1]


def with_outputs(text: str, outputs: list[dict[str, Any]]) -> tuple[str, int]:
    """A page with the outputs of its blocks, and how many are new."""
    changed = 0
    for block, output in reversed(list(zip(blocks_of(text), outputs, strict=True))):
        if same_output(block.output, output["text"], "varies" not in block.notes):
            continue
        changed += 1
        fence = "````" if "```" in output["text"] else "```"
        below = f"\n\n{fence}{OUTPUT}\n{output['text']}\n{fence}" if output["text"] else ""
        text = f"{text[: block.end]}{below}{text[max(block.end, block.output_end) :]}"
    return text, changed


if __name__ == "__main__":
    main()
