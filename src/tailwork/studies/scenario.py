"""A scenario: a robot, what its tail does, what its legs do, what disturbs it. It becomes a `Problem`.

Whatever it derives from the robot's numbers (rest torques, rest angles, initial state, the tail's coordinates) is an
equation of those numbers, so that comparisons, sweeps and designs use one definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tailwork.control.context import Law
from tailwork.control.standing import StandingAngles
from tailwork.control.tail_motion import TailMotion, TailTracking
from tailwork.errors import RobotError, StateError, check_known
from tailwork.model import Model
from tailwork.robots.io.toml import as_text, from_text
from tailwork.robots.quantities import Described, Kind, checked, nonnegative
from tailwork.robots.robot import Robot
from tailwork.robots.tails.tail import Tail, tail_name
from tailwork.simulation.events import DEFAULT_EVENTS, FootPulls
from tailwork.simulation.forces import Force
from tailwork.simulation.initial import Standing, Struck
from tailwork.simulation.problem import Problem
from tailwork.simulation.simulate import initial_state
from tailwork.simulation.system import Motion
from tailwork.studies.data import made, plain
from tailwork.studies.leg_policies import POLICIES, LegPolicy, check_paper
from tailwork.studies.motions import motion_text
from tailwork.typing import Floats

ATTITUDES = ("rpy", "rpy-small-angle")
DRIVES = ("auto", "prescribed", "motors")
NO_TORQUE = 1e9
"""Torques beyond this come from a balance that has no solution [N m]."""


@dataclass(frozen=True)
class ActuatorMass(Described):
    """The mass of a tail's actuators as a function of what they give: base + a torque + a power [kg]."""

    base: float = nonnegative("kg", 0.0)  # whatever they give
    per_torque: float = nonnegative("kg/(N m)", 0.0)  # of the largest torque on a coordinate of the tail
    per_power: float = nonnegative("kg/W", 0.0)  # of the largest power


@dataclass(frozen=True)
class Scenario:
    """A motion of a robot's tail, how it is driven, what the legs do meanwhile, and what disturbs the robot.

    Drives of the tail: "prescribed" imposes its motion; "motors" has its own actuators follow it; "auto" imposes
    motions that start from rest and leaves others, whose first speed must come from somewhere, to the motors, as it
    does those of a tail with passive joints. A tail with cables is always pulled by them.
    """

    robot: Robot  # with one tail
    motion: TailMotion  # what the tail's centre of mass does
    policy: str = "constant"  # what the legs do, one of `POLICIES`
    drive: str = "auto"  # how the tail is moved: "auto", "prescribed" or "motors"
    attitude: str = "rpy"  # "rpy", or "rpy-small-angle" as in the papers
    kp: float | None = None  # gain by which the tail's actuators follow its motion [N m/rad]; None: the tail's own
    kd: float | None = None  # likewise [N m s/rad]
    impulse: tuple[float, float, float] = (0.0, 0.0, 0.0)  # on the torso as the motion starts, inertial frame [N s]
    impulse_point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # where it acts, torso frame [m]
    forces: tuple[Force, ...] = ()  # from outside, in time
    actuator: ActuatorMass = ActuatorMass()  # for the measures actuator_mass and added_mass

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise RobotError("robot", self.robot, "a Robot, from tailwork.robots or tailwork.load")
        if not isinstance(self.motion, TailMotion):
            raise RobotError("motion", self.motion, "a TailMotion, such as yaw(40) or motion_from_text('yaw:40')")
        for name, value, known in (
            ("policy", self.policy, POLICIES), ("drive", self.drive, DRIVES), ("attitude", self.attitude, ATTITUDES),
        ):  # fmt: skip
            check_known(name, [value], known, name)
        for name, unit in (("impulse", "N s"), ("impulse_point", "m")):
            try:
                object.__setattr__(self, name, checked(name, getattr(self, name), Kind(unit, (3,))))
            except RobotError:
                required = f"three finite numbers, (x, y, z) [{unit}]"
                raise RobotError(name, getattr(self, name), required) from None
        if self.drive == "prescribed" and self.tail_part.by_cables:
            raise RobotError("drive", self.drive, "'auto' or 'motors' for a tail that its cables bend")
        if self.drive == "prescribed" and not self.motion.from_rest:
            raise RobotError("drive", self.drive, "'auto' or 'motors' for a motion that does not start from rest")

    @property
    def tail(self) -> str:
        """Name of the robot's tail."""
        return tail_name(self.robot)

    @property
    def tail_part(self) -> Tail:
        """The tail's description."""
        return self.robot.part(self.tail)

    @property
    def leg_policy(self) -> LegPolicy:
        """What the legs do."""
        return POLICIES[self.policy]

    @property
    def duration(self) -> float:
        """Of the motion and of the run [s]."""
        return float(self.motion.duration)

    @property
    def imposed(self) -> bool:
        """Whether the tail's motion is imposed."""
        part, own = self.tail_part, self.drive == "auto" and self.motion.from_rest
        return not part.by_cables and (self.drive == "prescribed" or (own and not part.passive))

    @property
    def text(self) -> str:
        """What is done, for captions."""
        return f"{self.motion.name}: {motion_text(self.motion)}; leg policy {self.policy}"

    def with_robot(self, robot: Robot) -> Scenario:
        """The same with another robot."""
        return replace(self, robot=robot)

    def start_shape(self) -> dict[str, float]:
        """The tail's coordinates at the start [rad]."""
        return {name: float(value) for name, value in self.motion.of(self.tail_part, 0.0).items()}

    def held_torques(self) -> Floats:
        """The smallest torques of the legs [N m] that balance the robot at the start, its tail held."""
        held = Model(self.robot, prescribed=[self.tail])
        q = held.standing()
        for name, angle in self.start_shape().items():
            q[held.coordinate_names.index(f"{self.tail}.{name}")] = angle
        return held.static_torques(q)

    @cached_property
    def model(self) -> Model:
        """The robot in stance, or in the air with its legs held."""
        given = [self.tail] if self.imposed else []
        if self.leg_policy.airborne:
            legs = [name for name, limb in self.robot.limbs().items() if limb.foot is not None and limb.closed_form]
            return Model(self.robot, "none", prescribed=[*given, *legs], attitude=self.attitude)
        return Model(self.robot, prescribed=given, attitude=self.attitude)

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """Of the legs, then of the tail where its own actuators move it."""
        own = () if self.imposed else (TailTracking.of(self.tail, self.tail_part, self.kp, self.kd),)
        return (*self.leg_policy.laws(self.robot, self.tail), *own)

    def problem(self) -> Problem:
        """What is simulated.

        Raises:
            RobotError: the tail cannot make the motion, or the legs cannot hold the robot.
        """
        self.motion.check_tail(self.tail_part)
        policy, model = self.leg_policy, self.model
        if not policy.airborne and not model.foot_names:
            raise RobotError("policy", self.policy, "'airborne' for a robot that has no leg to stand on")
        if policy.rest == "paper":
            check_paper(self.held_torques())
        motions: dict[str, Motion] = {self.tail: self.motion}
        motions |= {name: StandingAngles() for name in model.layout.prescribed if name != self.tail}
        initial = Standing()
        if any(self.impulse):
            initial = Struck(impulse=self.impulse, point=self.impulse_point)
        return Problem(
            model=model, initial=initial, duration=self.duration, control=self.laws, motions=motions,
            forces=self.forces, events=(*DEFAULT_EVENTS, FootPulls()),
        )  # fmt: skip

    def check(self) -> Problem:
        """The problem, after a look at whether the robot can stand as it shall at the start."""
        problem = self.problem()
        system = problem.system()
        try:
            x = initial_state(problem, system)
        except StateError:
            held = Model(self.robot, prescribed=[self.tail])
            held.energy(held.standing(), np.zeros(len(held.velocity_names)))  # says which leg cannot reach its foot
            raise
        if self.leg_policy.rest in ("minimum-norm", "straight-down"):
            _, _, tau, _ = system.full(np.zeros(1), x[None], np.zeros((1, system.control_inputs)))
            if not np.abs(tau[0]).max(initial=0.0) < NO_TORQUE:
                self.held_torques()  # says why
                raise StateError("q", "no torques of the legs balance the robot")
        return problem


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """A scenario as plain data, which a file holds and another machine understands."""
    return {"robot": as_text(scenario.robot), **plain(scenario, but=(Robot,))}


def scenario_from(data: Mapping[str, Any], file: str) -> Scenario:
    """The scenario that plain data describe; `file` is named in errors."""
    return made(Scenario, {**data, "robot": from_text(data["robot"], file)})


def parameter_name(scenario: Scenario, name: str) -> tuple[str, ...]:
    """Names among the numbers of the problem for a number of the motion or of the control of a scenario.

    "motion.sweep" is how far the tail bends, "motion.duration", "motion.early" and "motion.skew" its profile,
    "control.kp" and "control.kd" the gains of its actuators. All others are what they are.
    """
    first, _, rest = name.partition(".")
    if first == "motion" and rest in ("sweep", "duration", "early", "skew", "period"):
        return (f"motion.{scenario.tail}.{'end.2' if rest == 'sweep' else rest}",)
    if first == "control" and rest in ("kp", "kd"):
        count = len(scenario.laws)
        gains: Any = getattr(scenario.laws[-1], rest, ()) if scenario.laws else ()
        return tuple(f"control.{count}.{rest}.{k + 1}" for k in range(len(gains)))
    return (name,)
