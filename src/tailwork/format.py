"""Numbers and units as text, the same in every table, picture, page and message."""

from __future__ import annotations

import math
from collections.abc import Sequence


def rounded(x: float | None, digits: int = 4, *, signed: bool = False) -> str:
    """A number to so many significant digits; "—" for NaN or None."""
    return _text(x, f"{'+' if signed else ''}.{digits}g")


def fixed(x: float | None, decimals: int, *, signed: bool = False) -> str:
    """A number to so many decimals; "—" for NaN or None."""
    return _text(x, f"{'+' if signed else ''}.{decimals}f")


def _text(x: float | None, form: str) -> str:
    if x is None or math.isnan(x):
        return "—"
    if math.isinf(x):
        return "∞" if x > 0.0 else "−∞"
    text = format(float(x), form)
    return minus(text if float(text) else format(0.0, form))  # no minus sign on what is only rounding


def minus(text: str) -> str:
    """Text with minus signs in the place of hyphens."""
    return text.replace("-", "−")


def shown_unit(unit: str) -> str:
    """A unit as it is printed; empty: none."""
    return "" if unit == "1" else unit.replace("^2", "²").replace("^3", "³")


def with_unit(x: float | None, unit: str, digits: int = 4) -> str:
    """A number to so many significant digits, and its unit."""
    return f"{rounded(x, digits)} {shown_unit(unit)}".strip()


def headed(name: str, unit: str) -> str:
    """A name with its unit, as the head of a column or of an axis."""
    return f"{name} [{shown_unit(unit)}]" if shown_unit(unit) else name


def capitalised(text: str) -> str:
    """A sentence or a title; names in it stay as they are."""
    return text[:1].upper() + text[1:]


def first_few(names: Sequence[str], most: int = 8) -> str:
    """Names one after the other, the first few of many."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
