"""Studies: scenarios of tailed robots, measures, comparisons, sweeps and designs."""

from typing import TYPE_CHECKING

from tailwork.lazy import lazily
from tailwork.studies.leg_policies import POLICIES, LegPolicy
from tailwork.studies.measures import MEASURES, Combined, Measure, Sample, add_measure
from tailwork.studies.motions import coupled, motion_from_text, pitch, roll, yaw
from tailwork.studies.perform import Outcomes, measured, perform, perform_many
from tailwork.studies.scenario import ActuatorMass, Scenario

if not TYPE_CHECKING:  # so that types are known
    __getattr__ = lazily(__name__, {})

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
