"""Simulation: the equations of motion integrated in compiled code."""

from tailwork.simulation.control import Constant, Driven, PointToPoint, Polynomial, Sine, Tracking, point_to_point
from tailwork.simulation.events import FootPulls, FootSlips, LegStraight, When
from tailwork.simulation.run import Run, Stopped
from tailwork.simulation.simulate import simulate

__all__ = [
    "Constant",
    "Driven",
    "FootPulls",
    "FootSlips",
    "LegStraight",
    "PointToPoint",
    "Polynomial",
    "Run",
    "Sine",
    "Stopped",
    "Tracking",
    "When",
    "point_to_point",
    "simulate",
]
