"""Tail synthesis: a design problem, its best designs, and why."""

from tailwork.studies.design.answer import Answer, DesignOptions, solve
from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.files import load_study
from tailwork.studies.design.multistart import ImpossibleError, SearchResult, best_design
from tailwork.studies.design.problem import Goal, Limit, Study, Variable

__all__ = [
    "Answer",
    "DesignOptions",
    "Evaluator",
    "Goal",
    "ImpossibleError",
    "Limit",
    "SearchResult",
    "Study",
    "Variable",
    "best_design",
    "load_study",
    "solve",
]
