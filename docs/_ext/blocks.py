"""The code blocks of a page, and what its comments say of them.

Pages are plain Markdown, so that they read well on a code host. A fence of Python or of console commands is run when
the site is built; a comment before it can change that:

    <!-- file: robot.toml -->      the block is a file of the page's folder; it is written there
    <!-- raises: RobotError -->    the block ends with this error; its message is the output
    <!-- lines: 20 -->             of a long output, the first lines are shown
    <!-- varies: why -->           its numbers differ from run to run (times, random ones): only the words are checked
    <!-- unchecked: why -->        its words differ, too: what stands below it is an example
    <!-- figure: what one sees --> the block leaves a figure; this is its caption
    <!-- run by: tests/test_x.py -->   the block is run there, not here

What a block prints stands below it in a fence of its own, ```output, so that pages can be read unbuilt. The build
checks it; `make outputs` writes it.

Comments of their own show what has been made: `<!-- show: picture.png | what one sees -->` a picture that a block has
made, `<!-- link: comparison/report.html | what it is -->` a page that a block has made, `<!-- draw: frames | what one
sees -->` the picture that `draw()` in figures/frames.py returns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

LANGUAGES = ("python", "console", "toml", "text")
OUTPUT = "output"
NOTES = ("file", "raises", "lines", "varies", "unchecked", "figure", "run by")
MADE = ("show", "link", "draw")

FENCE = re.compile(r"^(?P<fence>```+)(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"<!--\s*(?P<name>[a-z ]+?):\s*(?P<value>.*?)\s*-->[ \t]*\n")


class PageError(ValueError):
    """A page that cannot be run, or that has run to another end than it says."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    body: str
    notes: dict[str, str]
    end: int
    """Where in the page's text the block ends."""
    output: str = ""
    """What stands below it as its output."""
    output_end: int = -1
    """Where that ends; −1: nothing stands there."""


@dataclass(frozen=True)
class Made:
    """A comment that shows what has been made: a picture or a page."""

    kind: str
    path: str
    words: str
    end: int


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, in order; directives (`{…}`) are not among them."""
    found = []
    for match in FENCE.finditer(text):
        language = match["language"].strip()
        if language.startswith("{"):
            continue
        if language == OUTPUT:
            if not found or text[found[-1].end : match.start()].strip():
                raise PageError(f"an output that no block stands before:\n{match['body']}")
            found[-1] = replace(found[-1], output=match["body"].rstrip("\n"), output_end=match.end())
            continue
        if language not in LANGUAGES:
            raise PageError(f"a block of {language or 'no language'!r}: known are {', '.join(LANGUAGES)}")
        found.append(Block(language, match["body"], _notes_before(text, match.start()), match.end()))
    return found


NUMBER = re.compile(r"[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+−]?\d+)?")
CLOSE, SMALL = 5e-3, 1e-6
"""Numbers that differ by no more than this share are the same, and so are all whose size is below rounding's."""


def same_output(block: Block, other: str) -> bool:
    """Whether what stands below a block says the same as another output: words alike, blanks aside, and numbers alike
    up to what machines differ by."""
    one = block.output
    if "unchecked" in block.notes:
        return bool(one) == bool(other)
    words = [" ".join(re.sub(r"[─━═-]{3,}", "", NUMBER.sub("#", text)).split()) for text in (one, other)]
    if words[0] != words[1]:
        return False
    if "varies" in block.notes:
        return True
    pairs = zip(*(map(_value, NUMBER.findall(text)) for text in (one, other)), strict=True)
    return all(abs(x - y) <= CLOSE * max(abs(x), abs(y)) or max(abs(x), abs(y)) < SMALL for x, y in pairs)


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def made_of(text: str) -> list[Made]:
    """The comments that show what has been made, outside of blocks."""
    inside = [range(match.start(), match.end()) for match in FENCE.finditer(text)]
    found = []
    for match in NOTE.finditer(text):
        if any(match.start() in block for block in inside):
            continue
        if match["name"] in MADE:
            path, _, words = (part.strip() for part in match["value"].partition("|"))
            if not words:
                raise PageError(f"{match[0].strip()}: expected 'PATH | what one sees'")
            found.append(Made(match["name"], path, words, match.end()))
        elif match["name"] not in NOTES:
            raise PageError(f"{match[0].strip()}: known are {', '.join((*NOTES, *MADE))}")
    return found


def _notes_before(text: str, start: int) -> dict[str, str]:
    """The comments on the lines straight before a block."""
    notes: dict[str, str] = {}
    lines = text[:start].splitlines(keepends=True)
    while lines and (match := NOTE.fullmatch(lines[-1])) and match["name"] in NOTES:
        notes[match["name"]] = match["value"]
        lines.pop()
    return notes
