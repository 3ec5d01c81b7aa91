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
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for page, said in zip(pages, pool.map(_write, pages), strict=True):
            if said:
                print(f"{page.relative_to(DOCS)}: {said}", flush=True)
            failed += "\n" in said
    sys.exit(bool(failed))


def _write(page: Path) -> str:
    """Runs a page and writes the outputs that have changed; how many, or what went wrong, in words."""
    text = page.read_text(encoding="utf-8")
    if not blocks_of(text) and not made_of(text):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        session = [sys.executable, str(Path(__file__).with_name("session.py")), str(page), f"{folder}/run"]
        ran = subprocess.run(session, capture_output=True, text=True, check=False)
    if ran.returncode:
        return f"\n{ran.stdout}{ran.stderr}"
    text, changed = with_outputs(text, json.loads(ran.stdout))
    page.write_text(text, encoding="utf-8")
    return f"{changed} outputs written" if changed else ""


def with_outputs(text: str, outputs: list[dict[str, Any]]) -> tuple[str, int]:
    """A page with the outputs of its blocks, and how many are new."""
    changed = 0
    for block, output in reversed(list(zip(blocks_of(text), outputs, strict=True))):
        if same_output(block, output["text"]):
            continue
        changed += 1
        fence = "````" if "```" in output["text"] else "```"
        below = f"\n\n{fence}{OUTPUT}\n{output['text']}\n{fence}" if output["text"] else ""
        text = f"{text[: block.end]}{below}{text[max(block.end, block.output_end) :]}"
    return text, changed


if __name__ == "__main__":
    main()
