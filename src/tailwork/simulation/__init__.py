"""Simulation: the equations of motion integrated in compiled code."""

from tailwork.simulation.cable_law import CurvatureTracking
from tailwork.simulation.computed_torque import ComputedTorque, FeedForward
from tailwork.simulation.events import FootPulls, FootSlips, LegStraight, When
from tailwork.simulation.laws import Constant, Driven, FootImpedance, JointImpedance, Tracking
from tailwork.simulation.profiles import Mapped, PiecewiseCubic, PointToPoint, Polynomial, Sine, held, point_to_point
from tailwork.simulation.run import Run, Stopped, load_run
from tailwork.simulation.simulate import simulate

__all__ = [
    "ComputedTorque",
    "Constant",
    "CurvatureTracking",
    "Driven",
    "FeedForward",
    "FootImpedance",
    "FootPulls",
    "FootSlips",
    "JointImpedance",
    "LegStraight",
    "Mapped",
    "PiecewiseCubic",
    "PointToPoint",
    "Polynomial",
    "Run",
    "Sine",
    "Stopped",
    "Tracking",
    "When",
    "held",
    "load_run",
    "point_to_point",
    "simulate",
]
