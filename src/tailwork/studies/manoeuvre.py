"""One manoeuvre: a robot, a tail motion and a leg policy make a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.control.context import Law
from tailwork.control.curvature_tracking import CurvatureTracking
from tailwork.control.laws import Tracking
from tailwork.control.profiles import Profiles
from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.simulation import Run, simulate
from tailwork.simulation.events import FootPulls, LegStraight
from tailwork.studies.motions import TailMotion, motion_words
from tailwork.studies.policies import POLICIES, stand
from tailwork.studies.tail_coordinates import MAPS, profiles, segment_profiles, shapes

ATTITUDES = ("rpy", "rpy-small-angle")
DRIVES = ("auto", "prescribed", "motors")
PENDULUM_KP, PENDULUM_KD = 1000.0, 20.0  # [N m/rad], [N m s/rad]: keeps within the paper's 0.5° up to 80°
R3_FACTOR = 12.0  # R3's beta moves twelve joints at once
CABLE_KP, CABLE_KD = 60.0, 3.0  # [N m/rad], [N m s/rad]; the paper does not state its cable controller
RTOL, ATOL = 1e-8, 1e-10
"""Open-loop errors grow about ninefold in 0.3 s, so tolerances are tight."""
SAMPLES = 301


@dataclass(frozen=True)
class Manoeuvre:
    """A motion of a robot's tail, how it is driven, and what the legs do meanwhile.

    Drives of the tail: "prescribed" imposes its motion; "motors" has PD laws on its motors follow it; "auto" imposes
    motions that start from rest and leaves others, whose first speed must come from somewhere, to the motors. A USRT is
    always pulled by its cables.
    """

    robot: Robot  # with one tail
    motion: TailMotion  # what the tail's centre of mass does
    policy: str = "constant"  # what the legs do: "paper", "constant", "joint", "foot" or "airborne"
    drive: str = "auto"  # how the tail is moved: "auto", "prescribed" or "motors"
    com_map: str = "arc"  # how a tail of links bends to put its centre of mass: "arc" (2020, Eq. 86), "chain" (exact)
    attitude: str = "rpy"  # "rpy", or "rpy-small-angle" as in the papers

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise RobotError("robot", self.robot, "a Robot, from tailwork.robots or tailwork.load")
        if not isinstance(self.motion, TailMotion):
            raise RobotError("motion", self.motion, "a TailMotion, such as yaw(40) or motion_from_text('yaw:40')")
        for name, value, known in (
            ("policy", self.policy, POLICIES), ("drive", self.drive, DRIVES), ("map", self.com_map, MAPS),
            ("attitude", self.attitude, ATTITUDES),
        ):  # fmt: skip
            if value not in known:
                raise UnknownNameError.among(name, str(value), known, name)
        if self.robot.forward != "y":
            raise RobotError("robot", self.robot.name, "a robot that faces y: tails leave the torso towards −y")
        if self.drive == "prescribed" and self.by_cables:
            raise RobotError("drive", self.drive, "'auto' or 'motors' for a USRT, which its cables bend")
        if self.drive == "prescribed" and self.motion.period:
            raise RobotError("drive", self.drive, "'auto' or 'motors' for a motion that does not start from rest")

    @property
    def tail(self) -> str:
        """Name of the robot's tail."""
        return tail_name(self.robot)

    @property
    def tail_part(self) -> Any:
        """The tail's description."""
        return self.robot.part(self.tail)

    @property
    def imposed(self) -> bool:
        """Whether the tail's motion is imposed."""
        return not self.by_cables and (self.drive == "prescribed" or (self.drive == "auto" and not self.motion.period))

    @property
    def by_cables(self) -> bool:
        """Whether cables bend the tail."""
        return isinstance(self.tail_part, Usrt)

    @property
    def words(self) -> str:
        """What is done, for captions."""
        return f"{self.motion.name}: {motion_words(self.motion)}; leg policy {self.policy}"

    def start_shape(self) -> dict[str, float]:
        """The tail's coordinates at the start [rad]."""
        found = shapes(self.tail_part, self.motion, self.com_map, np.zeros(1))
        return {name: float(values[0]) for name, values in found.items()}


def tail_name(robot: Robot) -> str:
    """The one part of a robot that is a tail."""
    tails = [name for name, part in robot.parts.items() if isinstance(part, (Pendulum, R3, Usrt))]
    if len(tails) != 1:
        raise RobotError("robot", robot.name, f"a robot with one pendulum, R3 or USRT tail (this one has {len(tails)})")
    return tails[0]


def perform(manoeuvre: Manoeuvre, *, samples: int = SAMPLES, rtol: float = RTOL, atol: float = ATOL) -> Run:
    """Simulate a manoeuvre: its start, its laws and its duration [s] follow from it.

    Args:
        manoeuvre: what is done.
        samples: how many times the run's data holds, evenly spaced.
        rtol: relative tolerance.
        atol: absolute tolerance [SI].
    """
    tail, motion, imposed = manoeuvre.tail, manoeuvre.motion, manoeuvre.imposed
    shape = manoeuvre.start_shape()
    ready = stand(manoeuvre.robot, manoeuvre.policy, tail, shape, prescribed=imposed, attitude=manoeuvre.attitude)
    laws: list[Law] = list(ready.laws)
    motions: dict[str, dict[str, Profiles]] = dict(ready.legs)
    if imposed:
        motions[tail] = profiles(manoeuvre.tail_part, motion, manoeuvre.com_map)
    else:
        laws += tail_laws(manoeuvre)
    run = simulate(
        ready.model,
        ready.q,
        motion.duration,
        control=laws,
        tail=motions,
        events=(LegStraight(), FootPulls()),
        rtol=rtol,
        atol=atol,
        samples=samples,
    )
    return run.titled(manoeuvre.words)


def tail_laws(manoeuvre: Manoeuvre) -> list[Law]:
    """Laws by which a tail's own actuators follow the motion."""
    tail, part, motion = manoeuvre.tail, manoeuvre.tail_part, manoeuvre.motion
    if manoeuvre.by_cables:
        wanted: dict[str, Any] = segment_profiles(part, motion, manoeuvre.com_map)
        return [CurvatureTracking(limb=tail, kp=CABLE_KP, kd=CABLE_KD, stiffness=part.bending_stiffness, **wanted)]
    gain = {"alpha": 1.0} if isinstance(part, R3) else {"ta": 1.0, "tb": 1.0}
    return [
        Tracking(
            limb=tail, coordinate=name, profile=profile,
            kp=PENDULUM_KP * gain.get(name, R3_FACTOR), kd=PENDULUM_KD * gain.get(name, R3_FACTOR),
        )
        for name, profile in profiles(part, motion, manoeuvre.com_map).items()
    ]  # fmt: skip
