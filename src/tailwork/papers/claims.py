"""What the experiments of all papers share: published numbers beside ours, and progress."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
