"""The model: a robot with a stance, answering for one state or many."""

from tailwork.mechanics.layout import Push
from tailwork.model.admissible import Admissible
from tailwork.model.allocation import Allocation
from tailwork.model.contact import ContactForces, Impact
from tailwork.model.model import LIU2018_REDUNDANT, Model
from tailwork.model.results import Energy, Momentum, PartMomenta, PathValues

__all__ = [
    "LIU2018_REDUNDANT", "Admissible", "Allocation", "ContactForces", "Energy", "Impact", "Model", "Momentum",
    "PartMomenta", "PathValues", "Push",
]  # fmt: skip
