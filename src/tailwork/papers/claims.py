"""What the experiments of all papers share: published numbers beside ours, progress, and runs that are saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tailwork.simulation.run import Run


def silent(done: int, total: int, what: str) -> None:
    """Progress that nobody wants to see."""


@dataclass(frozen=True)
class Claim:
    """One line of a reproduction. Where the two differ, the reading says why, as far as it is known."""

    quantity: str
    paper: str  # as printed; "—" where the paper prints no number
    ours: str
    reading: str = ""


def listed(values: Iterable[float], form: str) -> str:
    """Numbers side by side, each in a format such as ".1f"."""
    return ", ".join(f"{x:{form}}" for x in values)


def save_runs(folder: Path, runs: Mapping[str, Run]) -> None:
    """Save runs as NetCDF files in `folder`/runs."""
    for name, run in runs.items():
        run.save(folder / "runs" / f"{name}.nc")
