"""Design problems that are solved in no time: three variables, fronts of few designs.

`python small_designs.py design …` is the command with such fronts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from tailwork.studies.design import pareto
from tailwork.studies.design.answer import Answer, DesignOptions, answer_of
from tailwork.studies.design.files import problem_from_text

SMALL = """\
name = "small <problem>"

[robot]
preset = "liu2020"
tail = "pendulum"
change = {{ "tail.tip_mass" = 0.4, "tail.mass" = 0.4, "tail.mount" = [0.0, -0.25, 0.02] }}

[variables]
"tail.length" = [0.2, 0.6]
"tail.tip_mass" = [0.1, 0.8]
"motion.early" = [-3.0, 3.0]

[goals]
turn = "most"
{goals}

[limits]
peak_tail_torque = {{ most = 4.0 }}
roll = {{ least = -15.0, most = 12.0 }}
{limits}
{more}
"""
"""Same structure as problem A, so that it takes the same kernels."""


SECOND = 'peak_tail_torque = "least"'
"""A second goal."""


def small_problem(goals: str = "", limits: str = "", more: str = "") -> str:
    """The text of a problem, with more goals, limits and tables."""
    return SMALL.format(goals=goals, limits=limits, more=more)


@contextmanager
def hurried() -> Iterator[None]:
    """While it lasts, fronts have few designs."""
    before = pareto.GENERATIONS, pareto.POPULATION, pareto.POINTS
    pareto.GENERATIONS, pareto.POPULATION, pareto.POINTS = 6, 20, 8
    try:
        yield
    finally:
        pareto.GENERATIONS, pareto.POPULATION, pareto.POINTS = before


@cache
def small_answer(goals: str = "") -> Answer:
    """The answer to such a problem; with more goals, it has a front."""
    with hurried():
        return answer_of(
            problem_from_text(small_problem(goals), "own.toml").study, {}, settings=DesignOptions(threads=1)
        )


if __name__ == "__main__":
    from tailwork.cli import main

    with hurried():
        sys.exit(main(sys.argv[1:]))
