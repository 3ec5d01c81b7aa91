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
from tailwork.errors import ArgumentError, StateError, check_known
from tailwork.format import rounded
from tailwork.model import Model
from tailwork.robots.io.toml import as_text, from_text
from tailwork.robots.quantities import Described, Kind, checked, nonnegative
from tailwork.robots.robot import Robot
from tailwork.robots.tails.tail import Tail, tail_name
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.events import DEFAULT_EVENTS, FootPulls
from tailwork.simulation.forces import Force, check_forces
from tailwork.simulation.initial import Standing, Struck
from tailwork.simulation.problem import Problem
from tailwork.simulation.simulate import initial_state
from tailwork.studies.data import json_value, made
from tailwork.studies.leg_policies import POLICIES, LegPolicy, check_paper
from tailwork.studies.motions import motion_text
from tailwork.typing import Floats

ATTITUDES = ("rpy", "rpy-small-angle")
DRIVES = ("auto", "prescribed", "motors")
STARTS = ("auto", "rest", "motion")
NO_TORQUE = 1e9
"""Torques beyond this come from a balance that has no solution [N m]."""

GAIN = Kind("", requirement="0 or more", allowed=lambda x: x >= 0)
"""Any gain, in its own unit."""


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

    A tail that motors or cables move starts at "rest" or in "motion", as fast as the motion that it follows: where a
    motion does not start from rest, a tail at rest is jerked into it, and the largest torques and forces are those of
    this jerk. "auto" starts it in motion, but with the policy "paper" at rest, as in Liu & Ben-Tzvi 2020.
    """

    robot: Robot  # with one tail
    motion: TailMotion  # what the tail's centre of mass does
    policy: str = "constant"  # what the legs do, one of `POLICIES`
    drive: str = "auto"  # how the tail is moved: "auto", "prescribed" or "motors"
    start: str = "auto"  # how a tail starts that its actuators move: "auto", "rest" or "motion"
    attitude: str = "rpy"  # "rpy", or "rpy-small-angle" as in the papers
    kp: float | None = None  # gain by which the tail's actuators follow its motion [N m/rad]; None: the tail's own
    kd: float | None = None  # likewise [N m s/rad]
    impulse: tuple[float, float, float] = (0.0, 0.0, 0.0)  # on the torso as the motion starts, inertial frame [N s]
    impulse_point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # where it acts, torso frame [m]
    forces: tuple[Force, ...] = ()  # from outside, in time
    actuator: ActuatorMass = ActuatorMass()  # for the measures actuator_mass and added_mass

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise ArgumentError("robot", self.robot, "a Robot, from tailwork.robots or tailwork.load")
        if not isinstance(self.motion, TailMotion):
            raise ArgumentError("motion", self.motion, "a TailMotion, such as yaw(40) or motion_from_text('yaw:40')")
        for name, value, known in (
            ("policy", self.policy, POLICIES), ("drive", self.drive, DRIVES), ("start", self.start, STARTS),
            ("attitude", self.attitude, ATTITUDES),
        ):  # fmt: skip
            check_known(name, [value], known, name)
        for name in ("kp", "kd"):
            if getattr(self, name) is not None:
                checked(name, getattr(self, name), GAIN)
        if not isinstance(self.actuator, ActuatorMass):
            raise ArgumentError("actuator", self.actuator, "an ActuatorMass")
        object.__setattr__(self, "forces", check_forces(self.forces))
        for name, unit in (("impulse", "N s"), ("impulse_point", "m")):
            try:
                object.__setattr__(self, name, checked(name, getattr(self, name), Kind(unit, (3,))))
            except ArgumentError:
                required = f"three finite numbers, (x, y, z) [{unit}]"
                raise ArgumentError(name, getattr(self, name), required) from None
        if self.drive == "prescribed" and self.tail_part.by_cables:
            raise ArgumentError("drive", self.drive, "'auto' or 'motors' for a tail that its cables bend")
        if self.drive == "prescribed" and not self.motion.from_rest:
            raise ArgumentError("drive", self.drive, "'auto' or 'motors' for a motion that does not start from rest")

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
    def push_text(self) -> str:
        """What disturbs the robot, in words, after a semicolon; empty: nothing."""
        said = ""
        if any(self.impulse):
            push, point = (", ".join(rounded(x) for x in v) for v in (self.impulse, self.impulse_point))
            said = f"; an impulse of ({push}) N s on the torso at ({point}) m as it starts"
        many = len(self.forces)
        return said + (f"; {many} force{'s' if many > 1 else ''} from outside" if many else "")

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
    def starts(self) -> str:
        """How the tail starts: "rest" or "motion"; a motion that starts from rest leaves no choice."""
        if self.motion.from_rest or self.start == "rest":
            return "rest"
        return "rest" if self.start == "auto" and self.policy == "paper" else "motion"

    @property
    def text(self) -> str:
        """What is done, for captions."""
        done = motion_text(self.motion) + ("; it starts in motion" if self.starts == "motion" else "")
        return f"{self.motion.name}: the tail {done}; leg policy {self.policy}{self.push_text}"

    def with_robot(self, robot: Robot) -> Scenario:
        """The same with another robot."""
        return replace(self, robot=robot)

    def start_shape(self) -> dict[str, float]:
        """The tail's coordinates at the start [rad]."""
        return {name: float(value) for name, value in self.motion.of(self.tail_part, 0.0).items()}

    def start_rates(self) -> dict[str, float]:
        """The rates of the tail's coordinates at the start [rad/s], where its actuators move it."""
        problem = self.problem()
        system = problem.system()
        x = initial_state(problem, system)
        v = system.full(np.zeros(1), x[None], np.zeros((1, system.control_inputs)))[1][0]
        return dict(zip(self.tail_part.limb.coordinates, v[self.model.layout.rates[self.tail]].tolist(), strict=True))

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
        airborne = self.leg_policy.airborne
        held = [*self.prescribed, *(self.robot.feet() if airborne else ())]
        return Model(self.robot, "none" if airborne else "all", prescribed=held, attitude=self.attitude)

    @property
    def prescribed(self) -> list[str]:
        """Limbs whose motion is imposed: the tail's, and none of limbs that are no legs, such as arms."""
        others = [name for name in self.robot.limbs() if name != self.tail and name not in self.robot.feet()]
        return [*([self.tail] if self.imposed else []), *others]

    def motions(self, model: Model) -> dict[str, PrescribedMotion]:
        """Of the tail, and of all limbs of a model that are held, by limb."""
        held = [name for name in model.layout.prescribed if name != self.tail]
        return {self.tail: self.motion, **{name: StandingAngles() for name in held}}

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """Of the legs, then of the tail where its own actuators move it."""
        own = () if self.imposed else (TailTracking.of(self.tail, self.tail_part, self.kp, self.kd),)
        return (*self.leg_policy.laws(self.robot, self.tail), *own)

    def problem(self) -> Problem:
        """What is simulated.

        Raises:
            ArgumentError: the tail cannot make the motion, or the legs cannot hold the robot.
        """
        self.motion.check_tail(self.tail_part, self.imposed)
        policy, model = self.leg_policy, self.model
        if not policy.airborne and not model.foot_names:
            raise ArgumentError("policy", self.policy, "'airborne' for a robot that has no leg to stand on")
        if policy.rest == "paper":
            check_paper(self.held_torques())
        initial = Standing(in_motion=self.starts == "motion")
        if any(self.impulse):
            initial = Struck(impulse=self.impulse, point=self.impulse_point, in_motion=initial.in_motion)
        return Problem(
            model=model, initial=initial, duration=self.duration, control=self.laws, motions=self.motions(model),
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
    return {"robot": as_text(scenario.robot), **json_value(scenario, but=(Robot,))}


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
