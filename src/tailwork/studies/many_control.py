"""What the control of a manoeuvre derives from a robot, for many designs of one structure at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.columns import plain
from tailwork.control.context import Law
from tailwork.control.curvature_tracking import CurvatureTracking
from tailwork.control.laws import Constant, FootImpedance, JointImpedance
from tailwork.control.profiles import Profiles
from tailwork.errors import StateError, TailworkError
from tailwork.model import Model
from tailwork.model.allocation import Allocation
from tailwork.model.checks import explain
from tailwork.robots.paths import numbers
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3, Usrt
from tailwork.simulation.designs import Designs, finite
from tailwork.studies.design_groups import Group
from tailwork.studies.manoeuvre import Manoeuvre, tail_laws
from tailwork.studies.policies import EQUATION_85, NEARLY, stand
from tailwork.studies.tail_coordinates import profiles
from tailwork.typing import Floats

AXES = ("x", "y", "z")
LENGTHS = ("link_length", "link_com", "taper")
"""Numbers of a tail on which the exact centre of mass of its links depends."""


@dataclass(frozen=True)
class Ready:
    """Designs of one structure, ready to move their tails."""

    rows: np.ndarray  # which designs of all
    manoeuvre: Manoeuvre  # of the first of them
    robot: Robot  # with columns of numbers where they differ
    model: Model
    laws: Sequence[Law]
    motions: dict[str, dict[str, Profiles]]
    q: Floats  # at the start, a row each
    parameters: dict[str, Floats]  # numbers of robot, laws and motions that differ, as simulate_batch takes them


@dataclass(frozen=True)
class Tail:
    """What one tail does in a manoeuvre."""

    shape: dict[str, float]  # at the start [rad]
    laws: Sequence[Law]
    motion: dict[str, Profiles]  # where it is imposed

    @classmethod
    def of(cls, manoeuvre: Manoeuvre) -> Tail:
        """As tailwork.studies.manoeuvre.perform has it."""
        shape = manoeuvre.start_shape()
        if manoeuvre.imposed:
            return cls(shape, (), profiles(manoeuvre.tail_part, manoeuvre.motion, manoeuvre.com_map))
        return cls(shape, tail_laws(manoeuvre), {})

    def numbers(self, tail: str, legs: int) -> dict[str, float]:
        """Numbers of its laws, which come after so many of the legs, and of its motion, by name."""
        laws = {f"control.{k}": law for k, law in enumerate(self.laws, start=legs + 1)}
        described = laws | {f"motion.{tail}.{name}": profile for name, profile in self.motion.items()}
        return {f"{name}.{path}": x for name, part in described.items() for path, x in numbers(part).items()}


@dataclass(frozen=True)
class Tails:
    """The tails of many designs: each kind that moves in its own way, and which design has which."""

    kinds: Sequence[Tail]
    which: np.ndarray

    def shapes(self) -> dict[str, Floats]:
        """Coordinates at the start, by design [rad]."""
        return {name: np.array([kind.shape[name] for kind in self.kinds])[self.which] for name in self.kinds[0].shape}

    def numbers(self, tail: str, legs: int) -> dict[str, Floats]:
        """Numbers that differ between the kinds, by design."""
        if len(self.kinds) == 1:
            return {}
        found = [kind.numbers(tail, legs) for kind in self.kinds]
        return {name: np.array([own[name] for own in found])[self.which] for name in found[0]}

    def only(self, rows: np.ndarray) -> Tails:
        """Those of some of the designs."""
        return Tails(self.kinds, self.which[rows])


def prepared(manoeuvre: Manoeuvre, group: Group, refused: dict[int, str], pool: Executor) -> Ready | None:
    """Designs of a group ready to go, or None; those that are not are added to those refused, with why.

    Args:
        manoeuvre: of any robot.
        group: designs of one structure.
        refused: by design that cannot be simulated: why. It grows.
        pool: threads.
    """
    try:
        first = dataclasses.replace(manoeuvre, robot=group.robot)
        tails, fine = _tails(first, group, refused)
        group, tails = _only(group, fine), tails.only(fine)
        if not len(group.rows):
            return None
        legs = _Legs(first, group, tails, pool)
        torques, fine = legs.balanced(refused)
        group, tails, torques = _only(group, fine), tails.only(fine), torques[fine]
        if not len(group.rows):
            return None
        first = dataclasses.replace(first, robot=design(group, 0))
        return _ready(first, group, tails, torques, pool)
    except TailworkError as error:  # of the structure: it is the same for all
        refused |= {int(k): str(error) for k in group.rows}
        return None


def design(group: Group, k: int) -> Robot:
    """One of the robots of a group."""
    return group.robot.replace({path: float(values[k]) for path, values in group.columns.items()})


def _only(group: Group, fine: np.ndarray) -> Group:
    """The designs of a group that are flagged."""
    return Group(group.rows[fine], group.robot, {path: values[fine] for path, values in group.columns.items()})


def _tails(first: Manoeuvre, group: Group, refused: dict[int, str]) -> tuple[Tails, np.ndarray]:
    """What the tails of the designs do, and which designs' tails can do it."""
    tail, part = first.tail, first.tail_part
    exact = first.com_map == "chain" and isinstance(part, (R3, Usrt))
    own = {path: group.columns[path] for name in LENGTHS if exact and (path := f"{tail}.{name}") in group.columns}
    if not own:
        return Tails([Tail.of(first)], np.zeros(len(group.rows), dtype=np.int64)), np.ones(len(group.rows), dtype=bool)
    kinds, which = np.unique(np.stack(list(own.values()), axis=1), axis=0, return_inverse=True)
    found: dict[int, Tail] = {}
    for k, lengths in enumerate(kinds):
        robot = first.robot.replace(dict(zip(own, map(float, lengths), strict=True)))
        try:
            found[k] = Tail.of(dataclasses.replace(first, robot=robot))
        except (TailworkError, ValueError) as error:  # the latter of a search that finds no bend
            refused |= {int(row): str(error) for row in group.rows[which.ravel() == k]}
    places = np.full(len(kinds), -1)
    places[list(found)] = np.arange(len(found))
    which = places[which.ravel()]
    return Tails(list(found.values()), which), which >= 0


class _Legs:
    """Robots that stand, their tails held: the torques that balance them."""

    def __init__(self, first: Manoeuvre, group: Group, tails: Tails, pool: Executor) -> None:
        self.first, self.group, self.tails = first, group, tails
        self.airborne = first.policy == "airborne"
        # In the air nothing is balanced, but the legs keep the shape in which the robot stood.
        given = [first.tail] if first.imposed or not self.airborne else []
        self.model = Designs(first.robot, group.columns, pool, prescribed=given)
        self.q = start(self.model, group, first.tail, tails)

    def balanced(self, refused: dict[int, str]) -> tuple[Floats, np.ndarray]:
        """The smallest torques that balance each design, and which designs can be balanced."""
        count, model = len(self.group.rows), self.model
        if self.airborne:
            fine = finite(model.ask("joint_angles", q=self.q)["angles"])
            self._refuse_out_of_reach(~fine, refused)
            return np.zeros((count, 0)), fine
        zero = np.zeros(len(model.velocity_names))
        fine = finite(model.generalised_force(self.q, zero, zero)) & finite(model.actuation_matrix(self.q))
        self._refuse_out_of_reach(~fine, refused)
        torques = np.zeros((count, len(model.actuator_names)))
        while fine.any():
            rows = np.flatnonzero(fine)
            columns = _only(self.group, fine).columns
            some = Designs(self.first.robot, columns, model.pool, prescribed=model.layout.prescribed)
            try:
                found = some.allocation(self.q[rows], zero, zero)
            except StateError as error:  # an overflow
                refused |= {int(self.group.rows[rows[k]]): str(error) for k in error.rows}
                fine[rows[list(error.rows)]] = False
                continue
            torques[rows] = found.efforts
            for k in np.flatnonzero(~found.reached).tolist():
                refused[int(self.group.rows[rows[k]])] = _unreached(model, found, k)
                fine[rows[k]] = False
            break
        if self.first.policy == "paper":
            self._refuse_all_but_the_papers(torques, fine, refused)
        return torques, fine

    def _refuse_out_of_reach(self, flags: np.ndarray, refused: dict[int, str]) -> None:
        for k in np.flatnonzero(flags):
            layout = self.model.layout.with_robot(design(self.group, int(k)))
            refused[int(self.group.rows[k])] = str(explain(layout, self.q[k], (0,)))

    def _refuse_all_but_the_papers(self, torques: Floats, fine: np.ndarray, refused: dict[int, str]) -> None:
        """Designs that Eq. 85 is far from balancing."""
        apart = torques.shape[1] != len(EQUATION_85)
        off = fine & (apart or np.abs(torques - EQUATION_85).max(axis=1) > NEARLY)
        if off.any():
            k = int(np.flatnonzero(off)[0])
            shape = {name: float(values[k]) for name, values in self.tails.shapes().items()}
            try:
                stand(design(self.group, k), "paper", self.first.tail, shape, prescribed=self.first.imposed)
            except TailworkError as error:
                refused |= {int(row): str(error) for row in self.group.rows[off]}
                fine &= ~off


def _unreached(model: Model, found: Allocation, k: int) -> str:
    """Why a design cannot be balanced."""
    alone = Allocation(found.efforts[k], found.residual[k], found.reached[k], found.condition[k])
    try:
        model._check_reached(alone, "q")
    except StateError as error:
        return str(error)
    raise AssertionError("this design is balanced")


def start(model: Model, group: Group, tail: str, tails: Tails) -> Floats:
    """Where each design stands, its tail in its first shape."""
    q = np.tile(model.standing(), (len(group.rows), 1))
    for k, axis in enumerate(AXES):
        q[:, k] = group.columns.get(f"stand.{axis}", q[:, k])
    for name, values in tails.shapes().items():
        q[:, model.coordinate_names.index(f"{tail}.{name}")] = values
    return q


def _ready(first: Manoeuvre, group: Group, tails: Tails, torques: Floats, pool: Executor) -> Ready:
    """Laws and motions of the first design, and all numbers of theirs that differ in the others."""
    kind, tail, imposed = tails.kinds[tails.which[0]], first.tail, first.imposed
    ready = stand(first.robot, first.policy, tail, kind.shape, prescribed=imposed, attitude=first.attitude)
    varied, count = group.varied(), len(group.rows)
    q = start(ready.model, group, tail, tails)
    parameters = {path: x for path, x in group.columns.items() if not path.startswith("stand.")}
    angles: Mapping[str, Floats] = {}
    if first.policy in ("joint", "airborne"):
        given = [tail] if imposed else []
        standing = Designs(first.robot, group.columns, pool, prescribed=given, attitude=first.attitude)
        angles = standing.joint_angles(start(standing, group, tail, tails))
    for k, law in enumerate(ready.laws, start=1):
        if isinstance(law, Constant) and first.policy != "paper":
            parameters |= {f"control.{k}.values.{j + 1}": torques[:, j] for j in range(torques.shape[1])}
        elif isinstance(law, JointImpedance):
            joints = ready.model.layout.limbs[law.leg].joints
            rest = [angles[f"{law.leg}.{joint.name}"] for joint in joints]
            parameters |= {f"control.{k}.rest.{j + 1}": angle for j, angle in enumerate(rest)}
        elif isinstance(law, FootImpedance):
            rest = plain(varied.feet()[law.leg].place, (count,)) - q[:, :3]  # the torso stands level
            parameters |= {f"control.{k}.rest.{axis}": rest[:, j] for j, axis in enumerate(AXES)}
    for leg, motion in ready.legs.items():
        for name in motion:
            own = angles[f"{leg}.{name}"]
            parameters[f"motion.{leg}.{name}.coefficients.1"] = own
            q[:, ready.model.coordinate_names.index(f"{leg}.{name}")] = own
    parameters |= tails.numbers(tail, len(ready.laws))
    for k, law in enumerate(kind.laws, start=len(ready.laws) + 1):
        if isinstance(law, CurvatureTracking):
            parameters[f"control.{k}.stiffness"] = plain(varied.part(tail).bending_stiffness, (count,))
    motions = dict(ready.legs) | ({tail: kind.motion} if imposed else {})
    return Ready(group.rows, first, varied, ready.model, [*ready.laws, *kind.laws], motions, q, parameters)
