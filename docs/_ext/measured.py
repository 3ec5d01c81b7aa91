"""What the tests and the benchmark measured, for the page on trust.

Tests that are marked `measured` record how near they come to what they check (tests/conftest.py), in `.measured.json`
at the root of the sources. Where that file is missing, or older than the library and its tests, the record of an
earlier session is taken, which is kept with the sources (`make measured` replaces it).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FRESH, KEPT = ROOT / ".measured.json", ROOT / "benchmarks" / "results" / "measured.json"


@cache
def measurements() -> list[dict[str, Any]]:
    """All that was measured: part, what, error, at_most, unit, and how many times."""
    return json.loads((FRESH if is_fresh() else KEPT).read_text(encoding="utf-8"))


@cache
def is_fresh() -> bool:
    """Whether there is a record of the tests of these very sources."""
    sources = [path for folder in ("src/tailwork", "tests") for path in (ROOT / folder).rglob("*.py")]
    return FRESH.is_file() and FRESH.stat().st_mtime >= max(path.stat().st_mtime for path in sources)


def session() -> str:
    """Which test session the numbers are of."""
    if is_fresh():
        return "Numbers of a session of all tests of these very sources."
    kept = KEPT.relative_to(ROOT)
    return f"Numbers of an earlier session of all tests, kept in {kept}; `make test` makes new ones."


def table(part: str) -> str:
    """What was measured in a part: of so many checks the largest error, and what is allowed."""
    rows = [row for row in measurements() if row["part"] == part]
    if not rows:
        raise ValueError(f"nothing was measured in {part!r}: {sorted({row['part'] for row in measurements()})}")
    lines = [f"{'checks':>6}{'largest':>9}{'allowed':>9}"]
    for row in rows:
        error, at_most = _short(row["error"]), _short(row["at_most"])
        lines.append(f"{row['times']:>6}{error:>9}{at_most:>9} {row['unit']:4} {row['what']}")
    return "\n".join(lines)


def benchmark() -> dict[str, Any]:
    """What `make bench` last wrote."""
    return json.loads((ROOT / "benchmarks" / "results" / "engine.json").read_text(encoding="utf-8"))


def _short(number: float) -> str:
    return "0" if number == 0.0 else f"{number:.0e}"
