"""A published number beside ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Telling = Callable[[str], None]
"""Told what is being done."""


@dataclass(frozen=True)
class Claim:
    """One line of a reproduction. Where the two differ, the reading says why, as far as it is known."""

    quantity: str
    paper: str  # as printed; "—" where the paper prints no number
    ours: str
    reading: str = ""
