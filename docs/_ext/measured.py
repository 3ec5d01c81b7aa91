"""What the tests and the benchmark measured, for the page on trust.

Tests that are marked `measured` record how near they come to what they check (tests/conftest.py), in `.measured.json`
at the root of the sources. Where that file is missing, or older than the library and its tests, they are run again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".measured.json"
TESTS = ("-m", "pytest", "-m", "measured", "-q", "-n", "2", "--dist", "worksteal")


@cache
def measurements() -> list[dict[str, Any]]:
    """All that was measured: part, what, error, at_most, unit, and how many times."""
    sources = [path for folder in ("src/tailwork", "tests") for path in (ROOT / folder).rglob("*.py")]
    if not FILE.is_file() or FILE.stat().st_mtime < max(path.stat().st_mtime for path in sources):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        ran = subprocess.run([sys.executable, *TESTS], cwd=ROOT, env=environment, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"tests that measure have failed:\n{ran.stdout}{ran.stderr}")
    return json.loads(FILE.read_text(encoding="utf-8"))


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
    return json.loads((ROOT / "benchmarks" / "engine.json").read_text(encoding="utf-8"))


def _short(number: float) -> str:
    return "0" if number == 0.0 else f"{number:.0e}"
