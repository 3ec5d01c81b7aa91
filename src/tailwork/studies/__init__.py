"""Studies: scenarios of tailed robots, measures, comparisons, sweeps and designs."""

from tailwork.studies.leg_policies import POLICIES, LegPolicy
from tailwork.studies.measures import MEASURES, Combined, Measure, Sample, add_measure
from tailwork.studies.motions import coupled, motion_from_text, pitch, roll, yaw
from tailwork.studies.perform import Outcomes, measured, perform, perform_many
from tailwork.studies.scenario import ActuatorMass, Scenario

__all__ = [
    "MEASURES",
    "POLICIES",
    "ActuatorMass",
    "Combined",
    "LegPolicy",
    "Measure",
    "Outcomes",
    "Sample",
    "Scenario",
    "add_measure",
    "coupled",
    "measured",
    "motion_from_text",
    "perform",
    "perform_many",
    "pitch",
    "roll",
    "yaw",
]
