"""Tail synthesis: a design problem, its best designs, and why."""

from tailwork.design.answer import Answer, Settings, solve
from tailwork.design.evaluate import Evaluator
from tailwork.design.files import load_study
from tailwork.design.measures import MEASURES, Actuator
from tailwork.design.problem import Goal, Limit, Scenario, Study, Variable
from tailwork.design.search import Found, ImpossibleError, best_design

__all__ = [
    "MEASURES",
    "Actuator",
    "Answer",
    "Evaluator",
    "Found",
    "Goal",
    "ImpossibleError",
    "Limit",
    "Scenario",
    "Settings",
    "Study",
    "Variable",
    "best_design",
    "load_study",
    "solve",
]
