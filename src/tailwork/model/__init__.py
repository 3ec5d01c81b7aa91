"""The model: a robot with a stance, answering for one state or many."""

from tailwork.mechanics.layout import Push
from tailwork.model.allocation import Allocation
from tailwork.model.model import LIU2018_REDUNDANT, Model
from tailwork.model.results import Energy, Momentum, PathValues

__all__ = ["LIU2018_REDUNDANT", "Allocation", "Energy", "Model", "Momentum", "PathValues", "Push"]
