"""Tail synthesis: a design problem, its best designs, and why."""

from tailwork.design.evaluate import Evaluator
from tailwork.design.files import load_study
from tailwork.design.measures import MEASURES, Actuator
from tailwork.design.problem import Goal, Limit, Scenario, Study, Variable
from tailwork.design.search import Found, ImpossibleError, best_design

__all__ = [
    "MEASURES",
    "Actuator",
    "Evaluator",
    "Found",
    "Goal",
    "ImpossibleError",
    "Limit",
    "Scenario",
    "Study",
    "Variable",
    "best_design",
    "load_study",
]
