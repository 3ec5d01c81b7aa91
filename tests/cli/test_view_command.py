"""`tailwork view`, and runs in a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from pucks import thrown
from tailwork.cli import terminal
from tailwork.cli.main import main


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """A short run in a file."""
    file = tmp_path / "run.nc"
    thrown(duration=0.02, samples=11).titled("dropped").save(file)
    return file


def test_a_page_is_written_beside_its_run_and_opened(
    run_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(terminal.webbrowser, "open", lambda address: opened.append(address) or True)
    assert main(["view", str(run_file)]) == 0
    page = run_file.with_suffix(".html")
    assert opened == [page.as_uri()] and "no browser" not in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert "dropped" in text and "<title>run</title>" in text and "src=" not in text.split("<script>")[0]


def test_where_no_browser_can_be_opened_the_address_is_printed(
    run_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(terminal.sys, "platform", "linux")
    out = run_file.with_name("two.html")
    other = run_file.parent / "other" / "run.nc"
    other.parent.mkdir()
    other.write_bytes(run_file.read_bytes())
    assert main(["view", str(run_file), str(other), "--overlay", "--title", "Two", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "no browser could be opened here" in said and out.as_uri() in said
    text = out.read_text(encoding="utf-8")
    assert "<title>Two</title>" in text and f"{run_file.parent.name}/run" in text and "other/run" in text


WRONG = {
    "none": "no such file",
    "text": "not a NetCDF file of a run",
    "cut": "cut short or damaged",
    "twice": "files that differ",
    "few": "at least 2",
    "folder": "make it first",
    "kind": "let it end in .html",
    "dot": "a folder; required: a run in a file",
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_shown_is_said(run_file: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    other = run_file.with_name("other.nc")
    content = run_file.read_bytes()
    if what in ("text", "cut"):
        other.write_bytes(b"q, v\n" if what == "text" else content[: len(content) // 2])
    asked = {
        "twice": [run_file, run_file],
        "few": [run_file, "--most", 1],
        "folder": [run_file, "--out", run_file.parent / "no" / "page.html"],
        "kind": [run_file, "--out", run_file.with_suffix(".pdf")],
        "dot": [run_file.parent],
    }.get(what, [other])
    assert main(["view", *map(str, asked), "--no-open"]) == 2
    assert WRONG[what] in " ".join(capsys.readouterr().err.split())


def test_a_notebook_shows_a_run_by_itself(open_page: object, tmp_path: Path) -> None:
    """IPython finds HTML for a run: its summary, and a frame in which it plays."""
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    run = thrown(duration=0.02, samples=11)
    shown, _ = formatter.format(run, include={"text/html", "text/plain"})
    assert run.summary().splitlines()[0] in shown["text/plain"]
    file = tmp_path / "notebook.html"
    file.write_text(f"<!DOCTYPE html><title>notebook</title><body>{shown['text/html']}", encoding="utf-8")
    page = open_page(file.as_uri())  # type: ignore[operator]
    frame = page.frames[1]
    for _ in range(100):
        if frame.evaluate("window.tailwork?.players?.[0]?.state() != null"):
            break
        page.wait_for_timeout(100)
    assert frame.evaluate("window.tailwork.players[0].state().end") == pytest.approx(0.02)
    assert "puck" in page.inner_text("pre")
