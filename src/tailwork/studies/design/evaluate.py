"""Designs evaluated, thousands at a time: fixed steps, smooth in every variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tailwork.control.context import Law
from tailwork.control.curvature_tracking import CurvatureTracking
from tailwork.control.laws import FootImpedance, JointImpedance
from tailwork.control.profiles import Profiles, Shaped, held
from tailwork.control.rest_torques import StraightDown
from tailwork.errors import RobotError
from tailwork.model import Model
from tailwork.robots.tails import R3, Usrt
from tailwork.simulation.asked import workers
from tailwork.simulation.designs import answers
from tailwork.simulation.integrate.rollout import Rollout, rollout
from tailwork.simulation.system import System
from tailwork.studies.design.measures import MEASURES, Judge, Moved
from tailwork.studies.design.posture import Standing
from tailwork.studies.design.problem import CONTROL, MOTION, Scenario, Study, Variable
from tailwork.studies.design.quantities import Nodes, nodes_of
from tailwork.studies.design.variables import (
    Design,
    checked_variables,
    compiled_design,
    joints_bent,
    number_columns,
    other_columns,
)
from tailwork.studies.motions import SIDEWAYS
from tailwork.studies.policies import FOOT_DAMPING, FOOT_STIFFNESS, JOINT_DAMPING, JOINT_STIFFNESS, stand
from tailwork.studies.tail_coordinates import segment_sizes
from tailwork.typing import Floats

FEW = 64
"""Designs that one thread takes."""
STRAIGHT = 0.985
"""Extension of a leg beyond which its closed form is too near to its end."""
DIFFERENCE = 1e-5
"""Step of the central differences as a share of a variable's range: errors of about 1e-10 of the values."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A robot with its motion and laws, and where it starts."""

    system: System
    q: Floats  # at the start
    v: Floats
    standing: Standing


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
        ready = prepared(study, compiled_design(study, self.variables))
        self.system, self._standing = ready.system, ready.standing
        self.nodes: Nodes = nodes_of(self.system.model.layout, study.tail_name, study.scenario.axis)
        self.judge = Judge(self.nodes, study.actuator, segment_shares(study.tail))
        name = ("design", study.tail_name, study.scenario.axis)
        self._rollout: Rollout = rollout(self.system, self.nodes.recorded, name, isinstance(study.tail, Usrt))
        self._check_measures()

    def with_steps(self, steps: int) -> Evaluator:
        """The same with another number of steps, and nothing compiled again."""
        other = copy(self)
        other.study = replace(self.study, steps=steps)
        return other

    @cached_property
    def _pool(self) -> Executor | None:
        return ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @property
    def low(self) -> Floats:
        """Lower bounds, in the variables' own units."""
        return np.array([variable.low for variable in self.variables])

    @property
    def high(self) -> Floats:
        """Upper bounds, in the variables' own units."""
        return np.array([variable.high for variable in self.variables])

    def _check_measures(self) -> None:
        """Every measure that is asked for must exist for this robot."""
        missing = [name for name in self.study.asked if not self.judge.has(MEASURES[name].quantity)]
        if missing:
            required = f"measures that this robot has under the policy '{self.study.scenario.policy}'; leave these out"
            raise RobotError("measures", ", ".join(missing), required)

    def _posed(self, designs: Floats, pool: Executor | None) -> tuple[dict[str, Floats], Floats]:
        """By name among the system's numbers: those that vary, (designs,); and where designs start, (designs, n)."""
        robot = number_columns(self.study, self.variables, designs)
        legs, q = self._standing.of(robot, len(designs), pool)
        v = np.zeros((len(designs), len(self.system.model.velocity_names)))
        if any(self.study.scenario.push):
            own = {path: values for path, values in robot.items() if not path.startswith("stand.")}
            masses = answers(self.system.model, "mass_matrix", own, {"q": q[:, None]}, pool)["mass"][:, 0]
            v = pushed(self.study.scenario, masses, self.system)
        return self._columns(robot, designs) | legs, self.system.state(q, v)

    def _columns(self, robot: dict[str, Floats], designs: Floats) -> dict[str, Floats]:
        """Numbers of robot, motion and control that vary."""
        others = other_columns(self.study, self.variables, designs)
        found = {f"robot: {path}": values for path, values in robot.items()}
        for number, values in others.items():
            for path, share in self._places.get(number, ()):
                found[path] = values * share
        if isinstance(self.study.tail, Usrt) and f"{self.study.tail_name}.bending_stiffness" in robot:
            found[f"{self._law}: stiffness"] = robot[f"{self.study.tail_name}.bending_stiffness"]  # fed forward
        return found

    @cached_property
    def _law(self) -> str:
        """What the law that bends a tail with cables is called among the system's numbers."""
        return next(f"law {k + 1}" for k, law in enumerate(self.system.laws) if isinstance(law, CurvatureTracking))

    @cached_property
    def _places(self) -> dict[str, list[tuple[str, float]]]:
        """By number of motion or control: where it stands among the system's numbers, and by what it is multiplied."""
        tail, found = self.study.tail, {name: [] for name in (*MOTION, *CONTROL)}
        if isinstance(tail, Usrt):
            stems = [f"{self._law}: {self.study.scenario.axis}.{k + 1}." for k in range(tail.segments)]
            shares = segment_shares(tail)
            for name in CONTROL:
                found[name].append((f"{self._law}: {name}", 1.0))
        else:
            stems = [f"{self.study.tail_name}.{name}: " for name in driven(self.study)]
            shares = tuple(1.0 / joints_bent(tail) for _ in stems)
        for stem, share in zip(stems, shares, strict=True):
            found["sweep"].append((f"{stem}sweep", share * math.pi / 180.0))
            for name in ("duration", "early", "skew"):
                found[name].append((f"{stem}{name}", 1.0))
        return found

    def roll(self, designs: Floats, steps: int | None = None) -> Floats:
        """Node numbers, (designs, steps + 1, numbers), in the units of `tailwork.studies.design.quantities`."""
        return self._rolled(self._rollout.nodes, designs, steps)

    def _rolled(self, way: Callable[..., Floats], designs: Floats, steps: int | None) -> Floats:
        duration = other_columns(self.study, self.variables, designs)["duration"]
        pool = self._pool if len(designs) > FEW else None
        columns, starts = self._posed(designs, pool)
        return way(columns, starts, duration, steps or self.study.steps, pool)

    def rows(self, name: str, designs: Floats, found: Floats) -> Floats:
        """The numbers whose worst is a measure, (designs, k), in its unit."""
        return self.judge.rows(MEASURES[name], found, self._moved(designs))

    def measures(self, designs: Floats, names: Sequence[str], steps: int | None = None) -> dict[str, Floats]:
        """Measures of designs, by name, (designs,), in the units of `MEASURES`.

        Not a number where a leg comes to be all but straight: there the model ends, and what follows means nothing.
        """
        moved, here = self._moved(designs), self.nodes.columns["extension"]
        if any(MEASURES[name].quantity == "curvature_error" for name in names):
            nodes = self.roll(designs, steps)
            known = {name: self.judge.value(MEASURES[name], nodes, moved) for name in names}
            extension = nodes[..., here].max(axis=(1, 2), initial=0.0)
        else:
            found = self._rolled(self._rollout.summaries, designs, steps)
            known = {name: self.judge.from_summary(MEASURES[name], found, moved) for name in names}
            extension = found[:, 3, here].max(axis=1, initial=0.0)
        with np.errstate(invalid="ignore"):
            fine = extension <= STRAIGHT
        return {name: np.where(fine, values, np.nan) for name, values in known.items()}

    def _moved(self, designs: Floats) -> Moved:
        """What the tails of designs are to do."""
        others = other_columns(self.study, self.variables, designs)
        return Moved(**{name: others[name] for name in MOTION})


def pushed(scenario: Scenario, masses: Floats, system: System) -> Floats:
    """Velocities that a push gives to robots at rest, (designs, …), from their mass matrices: M v = Jᵀ impulse.

    The torso stands level. What is prescribed does not give way.
    """
    impulse, point = np.array(scenario.push), np.array(scenario.push_point)
    given = np.zeros(masses.shape[-1])
    given[:6] = [*impulse, *np.cross(point, impulse)]
    free = system.free_v
    v = np.zeros(masses.shape[:-1])
    if impulse.any():
        right = np.broadcast_to(given[free, None], (len(v), len(free), 1))
        v[:, free] = np.linalg.solve(masses[:, free][:, :, free], right)[..., 0]
    return v


def driven(study: Study) -> list[str]:
    """Coordinates of the tail that sweep."""
    if isinstance(study.tail, R3):
        return [f"beta_{s + 1}" for s in range(study.tail.segments)]
    return ["tb"] if study.scenario.axis == "yaw" else ["ta"]


def segment_shares(tail: Any) -> tuple[float, ...]:
    """Shares of a USRT's links that are in its segments; empty for other tails."""
    return tuple(size / tail.links for size in segment_sizes(tail)) if isinstance(tail, Usrt) else ()


def tail_motion(study: Study, sweep: float, duration: float, early: float, skew: float) -> dict[str, Profiles]:
    """Profiles of all coordinates of the tail; the sweep in degrees."""
    share = math.radians(sweep) / joints_bent(study.tail)
    moving = {
        name: Shaped(sweep=share, duration=duration, early=early, skew=skew) for name in driven(study)
    }  # fmt: skip
    if isinstance(study.tail, R3):
        return {"alpha": held(SIDEWAYS if study.scenario.axis == "yaw" else 0.0), **moving}
    return {name: moving.get(name, held(0.0)) for name in ("ta", "tb")}


def cable_law(study: Study, design: Design) -> CurvatureTracking:
    """The law by which cables bend a USRT, each segment by its share of the sweep."""
    tail = design.robot.part(study.tail_name)
    bends = tuple(
        Shaped(sweep=math.radians(design.sweep) * share, duration=design.duration, early=design.early, skew=design.skew)
        for share in segment_shares(tail)
    )
    still = tuple(held(0.0) for _ in bends)
    other = "pitch" if study.scenario.axis == "yaw" else "yaw"
    wanted: dict[str, Any] = {study.scenario.axis: bends, other: still}
    return CurvatureTracking(
        limb=study.tail_name, kp=design.kp, kd=design.kd, stiffness=float(tail.bending_stiffness), **wanted
    )


def prepared(study: Study, design: Design) -> Prepared:
    """A design of the problem as a system, with where it starts."""
    robot, scenario, tail = design.robot, study.scenario, study.tail_name
    if isinstance(study.tail, Usrt):
        return _by_cables(study, design)
    motion = tail_motion(study.with_robot(robot), design.sweep, design.duration, design.early, design.skew)
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
    return _ready(study, design, system, q, shape, [tail])


def _ready(
    study: Study, design: Design, system: System, q: Floats, shape: dict[str, float], given: list[str]
) -> Prepared:
    """A system with where it starts, pushed."""
    pinned, pinned_q = system.model, q
    if study.scenario.policy == "airborne":
        pinned = Model(design.robot, prescribed=given)
        pinned_q = pinned.standing()
        for name, angle in shape.items():
            pinned_q[pinned.coordinate_names.index(f"{study.tail_name}.{name}")] = angle
    v = pushed(study.scenario, system.model.mass_matrix(q)[None], system)[0]
    return Prepared(system, q, v, Standing(system, q, pinned, pinned_q))


def _by_cables(study: Study, design: Design) -> Prepared:
    """The same for a tail that cables bend: it starts straight, and sags."""
    scenario, tail = study.scenario, study.tail_name
    shape = {name: 0.0 for name in design.robot.limbs()[tail].coordinates}
    if scenario.policy == "airborne":
        ready = stand(design.robot, "airborne", tail, shape, prescribed=False)
        model, q, laws, legs = ready.model, ready.q, list(ready.laws), dict(ready.legs)
    else:
        model = Model(design.robot)
        q, legs = model.standing(), {}
        laws = [StraightDown(posture=tuple(q.tolist())), *_holding(scenario.policy, model, q)]
    system = System(model, [*laws, cable_law(study, design)], legs)
    return _ready(study, design, system, q, shape, [])


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
