"""Tables of a sweep: the designs at the ends of each measure, and why designs ended early."""

from __future__ import annotations

import re

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.format import number
from tailwork.studies.sweep.folder import Results

SHOWN = 5
"""Designs at each end of a measure."""
TAIL_HEADS = ("tail [kg]", "tail [m]")
_NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
"""A number that stands by itself, not one in a name such as leg4."""


def extremes(results: Results, measure: str) -> tuple[list[str], list[list[str]]]:
    """The designs with the highest and the lowest values of a measure, of those that ran to their end.

    Heads of the columns between what was varied and the value, and rows of "highest" or "lowest" or nothing, the number
    of the design, what was varied, total mass [kg] and length [m] of the tail, and the value. A total that is one of
    the varied numbers is left out.
    """
    values = results.measures[measure]
    candidates = np.flatnonzero(results.whole & np.isfinite(values))
    order = candidates[np.argsort(values[candidates], kind="stable")]
    count = min(SHOWN, len(order))
    if len(order) <= 2 * SHOWN:
        ends = [("highest", order[::-1])]
    else:
        ends = [("highest", order[::-1][:count]), ("lowest", order[:count])]
    firsts, varied, sizes, last = [], [], [], []
    for which, designs in ends:
        for k, design in enumerate(designs):
            firsts.append(["" if k else which, str(design)])
            varied.append([f"{column[design]:.4g}" for column in results.values.values()])
            sizes.append([f"{float(total):.4g}" for total in _tail_size(results, int(design))])
            last.append(number(float(values[design])))
    known = list(zip(*varied, strict=True))
    shown = [k for k, column in enumerate(zip(*sizes, strict=True)) if column not in known]
    rows = [
        [*first, *own, *(size[k] for k in shown), value]
        for first, own, size, value in zip(firsts, varied, sizes, last, strict=True)
    ]
    return [TAIL_HEADS[k] for k in shown], rows


def _tail_size(results: Results, design: int) -> tuple[Scalar, Scalar]:
    """Total mass [kg] and length [m] of the tail of a design."""
    scenario = results.sweep.scenario
    changes = {path: column[design].item() for path, column in results.values.items()}
    tail = scenario.with_robot(scenario.robot.replace(changes)).tail_part
    return tail.total_mass(), tail.total_length()


def reason_rows(results: Results) -> list[tuple[int, int, str]]:
    """Why designs ended early or are not possible: how many, the number of one, and its reason; the most first.

    Reasons that differ only in their numbers count as one.
    """
    counts = np.bincount(results.which, minlength=len(results.texts))
    firsts = np.full(len(results.texts), -1)
    firsts[results.which[::-1]] = np.arange(len(results.which))[::-1]
    groups: dict[str, tuple[int, int, str]] = {}
    for text, count, first in sorted(zip(results.texts, counts, firsts, strict=True), key=lambda found: found[2]):
        if text:
            kind = _NUMBER.sub("#", text)
            before = groups.get(kind, (0, int(first), text))
            groups[kind] = (before[0] + int(count), before[1], before[2])
    return sorted(groups.values(), key=lambda found: (-found[0], found[1]))


def warning_text(results: Results) -> str:
    """How many designs are not to be trusted, and why, of the first of them; empty: none."""
    if not results.warned:
        return ""
    first, said = next(iter(results.warned.items()))
    return f"{len(results.warned):,} designs are not to be trusted: {said} (design {first})"
