"""Tables and report of Liu & Ben-Tzvi 2020; its figures are those of the comparison of tails."""

from __future__ import annotations

import math

from tailwork.format import fixed
from tailwork.papers.liu2020.experiments import VARIANT_NAMES, Liu2020, Ratio
from tailwork.papers.report import PaperReport
from tailwork.studies.compare.comparison import torso_angles
from tailwork.view.report.comparison import comparison_figures, comparison_sections
from tailwork.view.report.page import Section, Table

SUMMARY = (
    "The comparative study of Liu & Ben-Tzvi 2020 in the open loop of Eq. 85, with their claims beside ours. "
    "Nothing is tuned to match: where the paper leaves something open, each reading is shown."
)
RATIO_TEXT = (
    "How much more the torso turns with the R3 tail than with the pendulum at 0.3 s, or when the first of the "
    "two runs ended. The bend of the tail's centre of mass is that of the paper's arc or of the exact chain of "
    "links; angles of the torso are exact or small as in the paper."
)


def ratio_row(ratio: Ratio) -> list[str]:
    """A line of the table of ratios: motion, axis, paper, then ours by variant."""
    cells = []
    for value, time in zip(ratio.ours, ratio.times, strict=True):
        early = "" if math.isclose(time, ratio.motion.duration, abs_tol=1e-9) else f" ({time:.3f} s)"
        cells.append(f"{value:+.1f} %{early}")
    return [ratio.motion.name, ratio.axis, ratio.paper, *cells]


def torso_table(result: Liu2020) -> Table:
    """How far the torso turns on its feet and in the air, and what the feet need."""
    results = (*result.comparison.results, *result.comparison.swept)
    aloft = {(r.case.scenario.motion.name, r.case.tail): r.airborne for r in results}
    rows = []
    for motion, tail, run in result.runs:
        angles = [fixed(x, 1) for x in torso_angles(run)[-1] - torso_angles(run)[0]]
        feet = fixed(run.min_normal_force(), 0), fixed(run.friction_needed(), 2)
        rows.append([motion, tail, *angles, ", ".join(fixed(x, 1) for x in aloft[motion, tail]), *feet])
    header = (
        "motion", "tail", "pitch [°]", "roll [°]", "yaw [°]", "airborne pitch, roll, yaw [°]",
        "least normal force [N]", "friction needed",
    )  # fmt: skip
    return Table(header, rows)


def report(result: Liu2020) -> PaperReport:
    """R3 against pendulum in every reading, then the comparison of all tails."""
    ratios = Table(("motion", "torso", "paper", *VARIANT_NAMES), [ratio_row(ratio) for ratio in result.ratios])
    feet = "Arc and exact angles; ground reactions are not in the paper."
    own = [
        Section("R3 against pendulum", RATIO_TEXT, (), [ratios]),
        Section("Torso and feet", feet, (), [torso_table(result)]),
    ]
    return PaperReport(
        SUMMARY, comparison_figures(result.comparison),
        lambda drawn: [*own, *comparison_sections(result.comparison, drawn)],
        {"Torso rotation with R3 against pendulum": ratios},
    )  # fmt: skip
