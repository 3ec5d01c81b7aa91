"""The report: one page that says everything and fetches nothing."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tailwork import view
from tailwork.view.report.page import Section, Table, page


class Seen(HTMLParser):
    """Tags that balance, text, and everything that a browser might fetch."""

    EMPTY = ("meta", "link", "img", "br")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []  # (tag, text)
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.classes: dict[str, list[str]] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids += [values["id"]] if "id" in values else []
        if tag == "a":
            self.links.append(values["href"])
        else:
            self.fetched += [values[name] for name in ("src", "href", "srcset", "data") if name in values]
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.kind = values.get("class", "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.texts.append((self.open[-1], data))
            self.classes.setdefault(data, []).append(self.kind)


def report() -> str:
    figure = view.net_rotation([10.0, 20.0], {"pendulum": [-1.0, -2.0]}, axis="yaw")
    table = view.Table(
        ("tail", "yaw [deg]", "feet stay", "note"),
        [("pendulum", -20.0125, True, "<b>far</b>"), ("R3", None, False, ""), ("USRT", 3, True, "a & b")],
        "Net <rotations>.",
    )
    sections = [
        view.Section(
            "Yaw < 90°", "First.\n\nSecond: 1 < 2 & <script>alert(1)</script>.", [view.Picture(figure, '"Yaw"')]
        ),
        view.Section("Yaw < 90°", tables=[table]),
        view.Section("–"),
    ]
    return view.page("Tails & torsos", "In short: x < y.", sections, "Made by <us>.")


def test_the_report_says_everything_and_fetches_nothing() -> None:
    html = report()
    seen = Seen(html)
    assert [text for tag, text in seen.texts if tag == "h2"] == ["Yaw < 90°", "Yaw < 90°", "–"]
    paragraphs = [text for tag, text in seen.texts if tag == "p"]
    assert {"In short: x < y.", "First.", "Second: 1 < 2 & <script>alert(1)</script>.", "Made by <us>."} <= {
        *paragraphs
    }
    assert ("h1", "Tails & torsos") in seen.texts and ("figcaption", '"Yaw"') in seen.texts
    assert seen.links == [f"#{name}" for name in seen.ids] and len(set(seen.ids)) == 3
    assert len(seen.fetched) == 2 and all(address.startswith("data:") for address in seen.fetched)
    assert not re.search(r"https?://|//\w|url\(|@import|<script", html.replace("data:image/svg+xml", ""), re.IGNORECASE)
    (image,) = (address for address in seen.fetched if address.startswith("data:image/svg+xml;base64,"))
    picture = base64.b64decode(image.partition(",")[2]).decode()
    assert "<svg" in picture and not re.search(r'href="(?!#)', picture)
    assert "prefers-color-scheme: dark" in html and "@media print" in html and 'name="viewport"' in html


def test_tables_of_the_report() -> None:
    seen = Seen(report())
    cells = [text for tag, text in seen.texts if tag == "td"]
    assert cells == ["pendulum", "−20.01", "yes", "<b>far</b>", "R3", "—", "no", "USRT", "3", "yes", "a & b"]
    assert ("caption", "Net <rotations>.") in seen.texts
    for text, kind in (("−20.01", "number"), ("3", "number"), ("yaw [deg]", "number"), ("a & b", "note"), ("yes", "")):
        assert set(seen.classes[text]) == {kind}


def test_the_report_is_the_same_each_time(tmp_path: Path) -> None:
    html = report()
    assert html == report()
    view.write_page(tmp_path / "report.html", html)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html


def test_a_wide_table_shows_every_cell_on_a_phone(open_page: Callable[..., Any], tmp_path: Path) -> None:
    """Its rows stand as blocks, each number below its head; a narrow table stays a table."""
    heads = ("motion", "tail", *(f"quantity {k} [N m]" for k in range(8)), "feet")
    wide = Table(heads, [["yaw80", "pendulum", *("−123.45 †" for _ in range(8)), "RR slips at 39 ms, 2 more"]])
    file = tmp_path / "report.html"
    file.write_text(page("Tables", "Said.", [Section("", tables=[wide, Table(("leg", "torque"), [["FL", 1.5]])])]))
    phone = open_page(file.as_uri(), viewport={"width": 390, "height": 780})
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    cells = phone.locator("td").all()
    assert len(cells) == len(heads) + 2
    boxes = [cell.bounding_box() for cell in cells]
    assert all(box["width"] > 0 and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    said = [cell.evaluate("cell => getComputedStyle(cell, '::before').content").strip('"') for cell in cells]
    assert tuple(said) == (*heads, "none", "none")
    wall = open_page(file.as_uri(), viewport={"width": 1280, "height": 780})
    assert wall.locator("td").first.evaluate("cell => getComputedStyle(cell).display") == "table-cell"
