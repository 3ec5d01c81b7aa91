"""Studies: manoeuvres of tailed robots, what they are judged by, comparisons, reproduced papers, the benchmark."""

from tailwork.studies.compare.comparison import Plan, compare, paper_plan
from tailwork.studies.manoeuvre import Manoeuvre, perform
from tailwork.studies.many import Outcomes, perform_many
from tailwork.studies.measures import Measures, measured
from tailwork.studies.motions import TailMotion, coupled, motion_from_text, pitch, roll, yaw

__all__ = [
    "Manoeuvre",
    "Measures",
    "Outcomes",
    "Plan",
    "TailMotion",
    "compare",
    "coupled",
    "measured",
    "motion_from_text",
    "paper_plan",
    "perform",
    "perform_many",
    "pitch",
    "roll",
    "yaw",
]
