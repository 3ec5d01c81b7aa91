"""A few lines of Python that run a best design again: a robot's file has neither the motion nor what the legs do."""

from __future__ import annotations

from pathlib import Path

from tailwork.studies.design.answer import Answer

CODE = """\
import tailwork
from tailwork.studies.design import load_study
from tailwork.studies.design.variables import design_of
from tailwork.studies.design.verify import simulated

kept = tailwork.load_run({run!r})  # the robot, and all that happens over time
print(kept.summary())

study = load_study({problem!r}){beside}
design = design_of(study, {values!r})
again = simulated(study, design, samples=201)
print(again.summary())
"""


def repeat_code(answer: Answer, run: Path, problem: Path, robot_file: str = "") -> str:
    """The lines for an answer.

    Args:
        answer: whose best design it is.
        run: file of its verifying run.
        problem: file of the problem.
        robot_file: name of the robot's file, which is looked for beside the problem's; empty: a preset.
    """
    beside = f"  # with {robot_file} beside it" if robot_file else ""
    return CODE.format(run=str(run), problem=str(problem), values=answer.values, beside=beside)
