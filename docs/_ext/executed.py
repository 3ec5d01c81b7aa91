"""A Sphinx extension: pages are run before they are read, two at a time, and their outputs stand below their blocks.

What a page makes is kept in `_ran`, with a digest of the page and of the library: what has not changed is not run
again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import posixpath
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from blocks import PageError, blocks_of, made_of, same_output
from session import run_page
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

HERE = Path(__file__).parent
START = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PROCESSES: Any = multiprocessing.get_context(START)
"""Pages are children of one process that has imported what nearly all of them need, which takes longer than most."""
RAN = "_ran"
log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("builder-inited", run_pages)
    app.connect("source-read", insert_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def run_pages(app: Sphinx) -> None:
    """Runs every page that has changed since it was last run."""
    pages = [name for name in app.project.discover() if _page(app, name).suffix == ".md"]
    pages.sort(key=lambda name: (-_page(app, name).read_text(encoding="utf-8").count("\n$ "), name))  # long ones first
    try:
        waiting = [name for name in pages if _has_code(_page(app, name)) and not _is_ran(app, name)]
        PROCESSES.set_forkserver_preload(["session", "tailwork.simulation", "tailwork.studies", "tailwork.view"])
        with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            for name, seconds in pool.map(lambda name: _run(app, name), waiting):
                log.info("ran %s in %.1f s", name, seconds)
    except PageError as error:
        raise ExtensionError(str(error)) from None


def insert_outputs(app: Sphinx, name: str, content: list[str]) -> None:
    """Puts outputs, figures and what commands have made into the text of a page, below what made them."""
    if _page(app, name).suffix != ".md" or not _has_code(_page(app, name)):
        return
    text = content[0]
    ran = json.loads((_folder(app, name) / "ran.json").read_text(encoding="utf-8"))["outputs"]
    added = []
    for block, output in zip(blocks_of(text), ran, strict=True):
        if not same_output(block, output["text"]):
            said = (
                f"below this block stands\n{block.output}\nbut it prints\n{output['text']}\n(`make outputs` writes it)"
            )
            log.warning("%s:\n%s\n%s", name, block.body, said)  # which fails the build, after all pages were looked at
        added.append((block.end, max(block.end, block.output_end), _output(name, output, block.notes)))
    added += [(made.end, made.end, _shown(app, name, made.kind, made.path, made.words)) for made in made_of(text)]
    for start, end, words in sorted(added, reverse=True):
        text = f"{text[:start]}{words}{text[end:]}"
    content[0] = text


def _output(name: str, output: dict[str, Any], notes: dict[str, str]) -> str:
    """The output of a block as Markdown."""
    parts = []
    if output["text"]:
        kind = "output error" if "raises" in notes else "output"
        parts.append(f"````{{code-block}} text\n:class: {kind}\n\n{output['text']}\n````")
    if "file" in notes:
        parts.append(f'```{{raw}} html\n<p class="file-name">{notes["file"]}</p>\n```')
    parts += [_figure(name, figure, notes["figure"]) for figure in output["figures"]]
    return "".join(f"\n\n{part}\n" for part in parts)


def _shown(app: Sphinx, name: str, kind: str, path: str, words: str) -> str:
    """A picture that a page has made, or a link to a page that it has made."""
    path = f"{path}.svg" if kind == "draw" else path
    if not (_folder(app, name) / path).is_file():
        raise ExtensionError(f"{name}: {path} is shown, but nothing has made it")
    if kind in ("show", "draw"):
        return f"\n{_figure(name, path, words)}\n"
    copy = Path(app.outdir) / RAN / name / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_folder(app, name) / path, copy)
    address = posixpath.relpath(f"{RAN}/{name}/{path}", posixpath.dirname(name) or ".")
    return f'\n```{{raw}} html\n<p class="made"><a href="{address}">{words}</a></p>\n```\n'


def _figure(name: str, path: str, caption: str) -> str:
    return f"```{{figure}} /{RAN}/{name}/{path}\n:alt: {caption}\n\n{caption}\n```"


def _run(app: Sphinx, name: str) -> tuple[str, float]:
    """Runs a page; how long that took [s]."""
    folder, page, start = _folder(app, name), _page(app, name), time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    process = PROCESSES.Process(target=_in_child, args=(page, folder, _digest(page)))
    process.start()
    process.join()
    failed = folder / "failed.txt"
    if process.exitcode or failed.exists():
        raise PageError(failed.read_text(encoding="utf-8") if failed.exists() else f"{page} ended the process")
    return name, time.monotonic() - start


def _in_child(page: Path, folder: Path, digest: str) -> None:
    """Runs a page in a process of its own, which leaves what came out, or what went wrong, in the page's folder."""
    folder = folder.resolve()
    try:
        kept = {"digest": digest, "outputs": run_page(page, folder)}
        (folder / "ran.json").write_text(json.dumps(kept), encoding="utf-8")
    except PageError as error:
        (folder / "failed.txt").write_text(str(error), encoding="utf-8")


def _is_ran(app: Sphinx, name: str) -> bool:
    kept = _folder(app, name) / "ran.json"
    return kept.is_file() and json.loads(kept.read_text(encoding="utf-8"))["digest"] == _digest(_page(app, name))


def _digest(page: Path) -> str:
    return hashlib.sha256(page.read_bytes() + _library()).hexdigest()


@cache
def _library() -> bytes:
    """A digest of the library and of what runs the pages."""
    import tailwork

    files = [*Path(tailwork.__file__).parent.rglob("*.py"), *HERE.glob("*.py"), *(HERE.parent / "figures").glob("*.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).digest()


def _has_code(page: Path) -> bool:
    text = page.read_text(encoding="utf-8")
    return bool(blocks_of(text) or made_of(text))


def _page(app: Sphinx, name: str) -> Path:
    return Path(app.env.doc2path(name))


def _folder(app: Sphinx, name: str) -> Path:
    return Path(app.srcdir) / RAN / name
