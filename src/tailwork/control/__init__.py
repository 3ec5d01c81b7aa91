"""Control: profiles in time, laws that are compiled with the robot, gaits."""

from typing import TYPE_CHECKING

from tailwork.control.computed_torque import ComputedTorque, FeedForward
from tailwork.control.context import Context, Law, LimbMotion
from tailwork.control.curvature_tracking import CurvatureTracking
from tailwork.control.gait.foot_kinematics import foot_angles, foot_place, posed
from tailwork.control.gait.gait import Gait, bound, pace, tripod, trot, walk
from tailwork.control.gait.joint_table import JointTable, held_posture, joint_table, walking_start
from tailwork.control.laws import Constant, Driven, FootImpedance, JointImpedance, Stiffness, Tracking
from tailwork.control.posture import posture_warnings
from tailwork.control.profiles import (
    Mapped,
    PiecewiseCubic,
    PointToPoint,
    Polynomial,
    Shaped,
    Sine,
    held,
    point_to_point,
)
from tailwork.control.servo import JointServo
from tailwork.control.standing import HoldPosture, RestTorques, StandingAngles
from tailwork.control.tail_motion import TailMotion, TailTracking
from tailwork.lazy import lazily

if not TYPE_CHECKING:  # so that types are known
    __getattr__ = lazily(__name__, {})

__all__ = [
    "ComputedTorque",
    "Constant",
    "Context",
    "CurvatureTracking",
    "Driven",
    "FeedForward",
    "FootImpedance",
    "Gait",
    "HoldPosture",
    "JointImpedance",
    "JointServo",
    "JointTable",
    "Law",
    "LimbMotion",
    "Mapped",
    "PiecewiseCubic",
    "PointToPoint",
    "Polynomial",
    "RestTorques",
    "Shaped",
    "Sine",
    "StandingAngles",
    "Stiffness",
    "TailMotion",
    "TailTracking",
    "Tracking",
    "bound",
    "foot_angles",
    "foot_place",
    "held",
    "held_posture",
    "joint_table",
    "pace",
    "point_to_point",
    "posed",
    "posture_warnings",
    "tripod",
    "trot",
    "walk",
    "walking_start",
]
