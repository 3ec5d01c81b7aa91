"""What is impossible about a run of a model: feet that pull, friction beyond the ground's, motors beyond their limits,
tails below the ground.

One definition, and one mark with its footnote, for the tables of all studies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tailwork.format import rounded
from tailwork.simulation.contact.ground import STATIC_FRICTION

MARK = "†"
FOOT_CHECKS = ("least_normal_force", "friction_needed")
CHECKS = (*FOOT_CHECKS, "motor_load", "joint_speed_load", "tail_clearance")
"""Measures that say whether a run is possible."""
ALLOWED = 1e-6
"""How far a measure may be beyond a limit, as a share of it, and the tail below the ground [m]: that is rounding."""
LEAST_PULL = 1e-9
"""Forces of a foot that pulls less than this [N] are rounding."""


def impossible(measures: Mapping[str, float], friction: float = STATIC_FRICTION) -> dict[str, str]:
    """By measure: why a run with such measures is impossible on ground of that friction; empty: it is possible."""
    most = 1.0 + ALLOWED
    rules = (
        ("least_normal_force", measures.get("least_normal_force", 0.0) < -LEAST_PULL, "a foot would have to pull"),
        ("friction_needed", measures.get("friction_needed", 0.0) > friction * most,
         f"a foot needs more friction than the ground's {friction:.2g}"),
        ("motor_load", measures.get("motor_load", 0.0) > most, "a motor gives more than its limit"),
        ("joint_speed_load", measures.get("joint_speed_load", 0.0) > most, "a joint is faster than its limit"),
        ("tail_clearance", measures.get("tail_clearance", 0.0) < -ALLOWED, "the tail goes below the ground"),
    )  # fmt: skip
    return {name: words for name, beyond, words in rules if beyond}


def depth_text(runs: Iterable[Mapping[str, float]]) -> str:
    """How far the tail goes below the ground in some runs at most, in words; empty: nowhere."""
    found = [measures for measures in runs if "tail_clearance" in impossible(measures)]
    deepest = max((-measures["tail_clearance"] for measures in found), default=0.0)
    return f"the tail goes {rounded(deepest, 2)} m below the ground" if found else ""


def mark(cell: str, name: str, measures: Mapping[str, float], friction: float = STATIC_FRICTION) -> str:
    """A cell of a table with a mark if its measure is impossible; without a name, if anything about the run is."""
    wrong = impossible(measures, friction)
    return f"{cell} {MARK}" if name in wrong or (wrong and not name) else cell


def marked(
    cells: Sequence[str], names: Sequence[str], measures: Mapping[str, float], friction: float = STATIC_FRICTION
) -> list[str]:
    """A row of a table, its first column a label and the others measures by name, with a mark at what is impossible; a
    label is marked for what is not among the columns."""
    wrong = impossible(measures, friction)
    label = f"{cells[0]} {MARK}" if set(wrong).difference(names) else cells[0]
    return [label, *(f"{cell} {MARK}" if name in wrong else cell for cell, name in zip(cells[1:], names, strict=True))]


def footnote(runs: Iterable[Mapping[str, float]], friction: float = STATIC_FRICTION) -> str:
    """What the marks of a table mean, from the measures of all its rows; empty: there are none."""
    known = list(runs)
    found = {name: words for measures in known for name, words in impossible(measures, friction).items()}
    if "tail_clearance" in found:
        found["tail_clearance"] = depth_text(known)
    return f"{MARK} not possible: {'; '.join(found.values())}." if found else ""
