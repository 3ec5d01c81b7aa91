"""A published number beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


def listed(values: Iterable[float], form: str) -> str:
    """Numbers side by side, each in a format such as ".1f"."""
    return ", ".join(f"{x:{form}}" for x in values)


Telling = Callable[[str], None]
"""Told what is being done."""


@dataclass(frozen=True)
class Claim:
    """One line of a reproduction. Where the two differ, the reading says why, as far as it is known."""

    quantity: str
    paper: str  # as printed; "—" where the paper prints no number
    ours: str
    reading: str = ""
