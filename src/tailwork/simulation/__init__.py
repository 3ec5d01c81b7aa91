"""Simulation: the equations of motion integrated in compiled code."""

from tailwork.simulation.adjoint import Gradient, Gradients, gradient, gradients
from tailwork.simulation.batch import Batch, simulate_batch
from tailwork.simulation.cable_law import CurvatureTracking
from tailwork.simulation.computed_torque import ComputedTorque, FeedForward
from tailwork.simulation.events import Event, FootPulls, FootSlips, LegStraight, When
from tailwork.simulation.gait import Gait, bound, pace, tripod, trot, walk
from tailwork.simulation.ground import Ground, HeightField
from tailwork.simulation.laws import Constant, Driven, FootImpedance, JointImpedance, Tracking
from tailwork.simulation.leg_kinematics import foot_angles, foot_place, posed
from tailwork.simulation.moment import Law, Moment
from tailwork.simulation.profiles import (
    Mapped,
    PiecewiseCubic,
    PointToPoint,
    Polynomial,
    Shaped,
    Sine,
    held,
    point_to_point,
)
from tailwork.simulation.run import Contact, Run, Stopped, load_run
from tailwork.simulation.sensitivity import Sensitivities, sensitivities
from tailwork.simulation.servo import JointServo
from tailwork.simulation.simulate import simulate
from tailwork.simulation.standing_law import StraightDown
from tailwork.simulation.stepping import JointTable, held_posture, joint_table, walking_start
from tailwork.simulation.tile import Tile

__all__ = [
    "Batch",
    "ComputedTorque",
    "Constant",
    "Contact",
    "CurvatureTracking",
    "Driven",
    "Event",
    "FeedForward",
    "FootImpedance",
    "FootPulls",
    "FootSlips",
    "Gait",
    "Gradient",
    "Gradients",
    "Ground",
    "HeightField",
    "JointImpedance",
    "JointServo",
    "JointTable",
    "Law",
    "LegStraight",
    "Mapped",
    "Moment",
    "PiecewiseCubic",
    "PointToPoint",
    "Polynomial",
    "Run",
    "Sensitivities",
    "Shaped",
    "Sine",
    "Stopped",
    "StraightDown",
    "Tile",
    "Tracking",
    "When",
    "bound",
    "foot_angles",
    "foot_place",
    "gradient",
    "gradients",
    "held",
    "held_posture",
    "joint_table",
    "load_run",
    "pace",
    "point_to_point",
    "posed",
    "sensitivities",
    "simulate",
    "simulate_batch",
    "tripod",
    "trot",
    "walk",
    "walking_start",
]
