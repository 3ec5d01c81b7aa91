"""Designs evaluated, thousands at a time: fixed steps, smooth in every variable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailwork.design.measures import MEASURES, Judge
from tailwork.design.problem import Study, Variable
from tailwork.design.quantities import Nodes, nodes_of
from tailwork.design.variables import checked_variables, compiled_robot, joints_bent, motion_columns, number_columns
from tailwork.errors import RobotError
from tailwork.kernels.kernel import Floats
from tailwork.model import Model
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3
from tailwork.simulation.asked import workers
from tailwork.simulation.laws import FootImpedance, JointImpedance
from tailwork.simulation.moment import Law
from tailwork.simulation.profiles import Profiles, Shaped, held
from tailwork.simulation.rollout import Rollout, rollout
from tailwork.simulation.standing_law import StraightDown
from tailwork.simulation.system import System
from tailwork.studies.motions import SIDEWAYS
from tailwork.studies.policies import FOOT_DAMPING, FOOT_STIFFNESS, JOINT_DAMPING, JOINT_STIFFNESS, stand

STRAIGHT = 0.985
"""Extension of a leg beyond which its closed form is too near to its end."""
DIFFERENCE = 1e-5
"""Step of the central differences as a share of a variable's range: errors of about 1e-10 of the values."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A robot with its motion and laws, and where it starts."""

    system: System
    start: Floats


class Evaluator:
    """A design problem compiled: from designs to node numbers and measures.

    Args:
        study: the problem; its choices have been made.
        threads: how many; as many as there are processors, unless told.
    """

    def __init__(self, study: Study, threads: int | None = None) -> None:
        self.study = study
        self.variables: tuple[Variable, ...] = checked_variables(study)
        self.threads = workers(threads)
        ready = prepared(study, compiled_robot(study, self.variables))
        self.system, self.start = ready.system, ready.start
        self.nodes: Nodes = nodes_of(self.system.model.layout, study.tail_name)
        self.judge = Judge(self.nodes, study.scenario.axis, study.actuator)
        self._rollout: Rollout = rollout(self.system, self.nodes.recorded, ("design", study.tail_name))
        self._check_measures()

    @cached_property
    def _pool(self) -> Executor | None:
        return ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @property
    def low(self) -> Floats:
        """Lower bounds."""
        return np.array([variable.low for variable in self.variables])

    @property
    def high(self) -> Floats:
        """Upper bounds."""
        return np.array([variable.high for variable in self.variables])

    def _check_measures(self) -> None:
        """Every measure that is asked for must exist for this robot."""
        for name in [g.measure for g in self.study.goals] + [x.measure for x in self.study.limits]:
            quantity = MEASURES[name].quantity
            here = self.nodes.columns.get(quantity)
            if here is not None and here.start == here.stop:
                required = f"a measure that this robot has under the policy '{self.study.scenario.policy}'"
                raise RobotError("measure", name, required)

    def columns(self, designs: Floats) -> dict[str, Floats]:
        """By name among the system's numbers: those that vary, (designs,)."""
        robot = number_columns(self.study, self.variables, designs)
        motion = motion_columns(self.study, self.variables, designs)
        tail = self.study.tail_name
        found = {f"robot: {path}": values for path, values in robot.items()}
        share = math.pi / 180.0 / joints_bent(self.study.tail)
        for name in driven(self.study):
            found[f"{tail}.{name}: sweep"] = motion["sweep"] * share
            for number in ("duration", "early", "skew"):
                found[f"{tail}.{name}: {number}"] = motion[number]
        return found

    def roll(self, designs: Floats, steps: int | None = None) -> Floats:
        """Node numbers, (designs, steps + 1, numbers)."""
        duration = motion_columns(self.study, self.variables, designs)["duration"]
        states = np.broadcast_to(self.start, (len(designs), len(self.start)))
        pool = self._pool if len(designs) > 64 else None
        return self._rollout.nodes(self.columns(designs), states, duration, steps or self.study.steps, pool)

    def rows(self, name: str, designs: Floats, found: Floats) -> Floats:
        """The numbers whose worst is a measure, (designs, k)."""
        return self.judge.rows(MEASURES[name], found, *self._moved(designs))

    def measures(self, designs: Floats, names: Sequence[str], steps: int | None = None) -> dict[str, Floats]:
        """Measures of designs, by name, (designs,).

        Not a number where a leg comes to be all but straight: there the model ends, and what follows means nothing.
        """
        found = self.roll(designs, steps)
        moved = self._moved(designs)
        legs = found[..., self.nodes.columns["extension"]].reshape(len(designs), -1)
        with np.errstate(invalid="ignore"):
            fine = legs.max(axis=1, initial=0.0) <= STRAIGHT
            return {
                name: np.where(fine, self.judge.value(MEASURES[name], found, *moved), np.nan) for name in names
            }  # fmt: skip

    def _moved(self, designs: Floats) -> tuple[Floats, Floats]:
        """Durations, and the sign by which the torso turns against the tail."""
        motion = motion_columns(self.study, self.variables, designs)
        return motion["duration"], -np.sign(motion["sweep"])


def driven(study: Study) -> list[str]:
    """Coordinates of the tail that sweep."""
    if isinstance(study.tail, R3):
        return [f"beta_{s + 1}" for s in range(study.tail.segments)]
    return ["tb"] if study.scenario.axis == "yaw" else ["ta"]


def tail_motion(study: Study, sweep: float, duration: float, early: float, skew: float) -> dict[str, Profiles]:
    """Profiles of all coordinates of the tail; the sweep in degrees."""
    share = math.radians(sweep) / joints_bent(study.tail)
    moving = {
        name: Shaped(sweep=share, duration=duration, early=early, skew=skew) for name in driven(study)
    }  # fmt: skip
    if isinstance(study.tail, R3):
        return {"alpha": held(SIDEWAYS if study.scenario.axis == "yaw" else 0.0), **moving}
    return {name: moving.get(name, held(0.0)) for name in ("ta", "tb")}


def prepared(study: Study, robot: Robot, motion: dict[str, Profiles] | None = None) -> Prepared:
    """A robot of the problem as a system, with where it starts."""
    own = study.with_robot(robot)
    scenario, tail = study.scenario, study.tail_name
    if motion is None:
        motion = tail_motion(own, scenario.sweep, scenario.duration, scenario.early, scenario.skew)
    shape = {name: float(profile.value(0.0)) for name, profile in motion.items()}
    if scenario.policy == "airborne":
        ready = stand(robot, "airborne", tail, shape, prescribed=True)
        model, q, laws, legs = ready.model, ready.q, list(ready.laws), dict(ready.legs)
    else:
        model = Model(robot, prescribed=[tail])
        q, legs = model.standing(), {}
        for name, angle in shape.items():
            q[model.coordinate_names.index(f"{tail}.{name}")] = angle
        laws = [StraightDown(posture=tuple(q.tolist())), *_holding(scenario.policy, model, q)]
    system = System(model, laws, {**legs, tail: motion})
    return Prepared(system, system.state(q, np.zeros(len(model.velocity_names))))


def _holding(policy: str, model: Model, q: Floats) -> list[Law]:
    """Springs and dampers of the legs."""
    found: list[Law] = []
    if policy == "joint":
        angles = model.joint_angles(q)
        for leg in model.foot_names:
            rest = tuple(float(angles[f"{leg}.{joint.name}"]) for joint in model.layout.limbs[leg].joints)
            found.append(JointImpedance(leg=leg, rest=rest, stiffness=JOINT_STIFFNESS, damping=JOINT_DAMPING))
    if policy == "foot":
        for leg in model.foot_names:
            foot = model.layout.limbs[leg].foot
            assert foot is not None
            x, y, z = (np.array(foot.place, dtype=float) - q[:3]).tolist()
            found.append(FootImpedance(leg=leg, rest=(x, y, z), stiffness=FOOT_STIFFNESS, damping=FOOT_DAMPING))
    return found
