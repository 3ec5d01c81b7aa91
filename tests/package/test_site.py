"""The pages of the site as they are written: links that lead somewhere, blocks that are run, by the build or others."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from blocks import FENCE, Block, PageError, blocks_of, made_of, same_output  # noqa: E402

WRITTEN = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if not {"_build", "_ran", "auto_gallery"} & set(path.relative_to(DOCS).parts)
]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *WRITTEN]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """To files that are there, and to headings in them; pages of the gallery are made by the build."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link) or "auto_gallery" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in _anchors(target), f"{link}: no such heading"


def _anchors(page: Path) -> set[str]:
    """What code hosts and the site call the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_run(page: Path) -> None:
    """Where the page is built, or by a file that it names; commands of `make` are those of the Makefile."""
    text = page.read_text(encoding="utf-8")
    made_of(text)
    for block in blocks_of(text):
        by = block.notes.get("run by")
        assert by is None or (ROOT / by).is_file(), f"{by} is to run a block, but is not there"
        for command in re.findall(r"^\$ make (.*?)(?:#.*)?$", block.body, re.MULTILINE):
            asked = set(command.split())
            assert by == ".ci/run" and asked <= TARGETS, f"make {command}"


def test_what_ci_is_said_to_run_it_runs() -> None:
    """Each target of `make` that a page leaves to CI is asked for there, or by a target that is."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    asked = set(
        re.findall(r"[a-z-]+", " ".join(re.findall(r"^make (.*)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)))
    )
    needs = dict(re.findall(r"^([a-z][a-z-]*): ([^\n#]*)", makefile, re.MULTILINE))
    left = {
        target
        for page in PAGES
        for block in blocks_of(page.read_text(encoding="utf-8"))
        if block.notes.get("run by") == ".ci/run"
        for command in re.findall(r"^\$ make (.*?)(?:#.*)?$", block.body, re.MULTILINE)
        for target in command.split()
    }
    for target in left:
        parts = set(needs.get(target, "").split()) & TARGETS
        assert target in asked or (parts and parts <= asked), f"make {target} is left to CI, which does not run it"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```ruby\nputs 1\n```\n", "known are"),
        ("<!-- shows: a.png | a -->\n", "known are"),
        ("<!-- show: a.png -->\n", "what one sees"),
    ],
)
def test_pages_that_cannot_be_run_are_refused(text: str, said: str) -> None:
    with pytest.raises(PageError, match=said):
        blocks_of(text)
        made_of(text)


def test_notes_belong_to_the_block_that_follows() -> None:
    text = "<!-- file: a.toml -->\n```toml\nx = 1\n```\n\n"
    text += "<!-- figure: what -->\n<!-- lines: 3 -->\n```python\nprint(1)\n```\n"
    first, second = blocks_of(text)
    assert first.notes == {"file": "a.toml"} and first.body == "x = 1\n"
    assert second.notes == {"figure": "what", "lines": "3"} and text[: second.end].endswith("```")


def test_outputs_are_compared_as_readers_would() -> None:
    """Numbers may differ by what machines differ by, words may not, and rounding is rounding."""

    def same(one: str, other: str, **notes: str) -> bool:
        return same_output(Block("python", "", notes, 0, one), other)

    assert same("yaw 12.34 deg", "yaw  12.35 deg") and not same("yaw 12.34 deg", "yaw 13.34 deg")
    assert same("error 3e-13", "error 8e-14") and not same("yaw 1 deg", "roll 1 deg")
    assert same("took 1.2 s", "took 9.9 s", varies="times") and not same("took 1.2 s", "", varies="times")
    assert same("today", "tomorrow", unchecked="dates") and not same("today", "", unchecked="dates")
