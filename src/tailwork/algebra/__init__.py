"""Numbers and vectors the equations are written in: floats to compute with, or expressions to record."""

from tailwork.algebra.expression import arctan2, cos, larger, sin, smaller, sqrt, step

__all__ = ["arctan2", "cos", "larger", "sin", "smaller", "sqrt", "step"]
