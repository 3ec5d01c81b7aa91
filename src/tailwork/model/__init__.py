"""The model: a robot with a stance, answering for one state or many."""

from tailwork.mechanics.layout import Push
from tailwork.model.efforts.admissible import Admissible
from tailwork.model.efforts.allocation import Allocation
from tailwork.model.model import LIU2018_REDUNDANT, Model
from tailwork.model.results import ContactForces, Energy, Impact, Momentum, PartMomenta, PathValues

__all__ = [
    "LIU2018_REDUNDANT", "Admissible", "Allocation", "ContactForces", "Energy", "Impact", "Model", "Momentum",
    "PartMomenta", "PathValues", "Push",
]  # fmt: skip
