"""A robot with a stance: equations compiled on first use, for one state or a batch of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, RobotError, StateError, UnknownNameError
from tailwork.kernels.kernel import Kernel, keeps_kernels
from tailwork.locks import lock
from tailwork.mechanics.foot_solve import closed, with_dependent
from tailwork.mechanics.kinematics import joint_names, named_points, point_names
from tailwork.mechanics.layout import Layout, Push, check_push, make_layout
from tailwork.mechanics.observe import part_names
from tailwork.mechanics.rigid.problem import stopped_joints
from tailwork.model.admissible import Admissible, admissible_efforts
from tailwork.model.allocation import Allocation, States, allocated, missing_text, pulling_groups, unreachable
from tailwork.model.call import Call, CompiledCall
from tailwork.model.checks import show_rows
from tailwork.model.contact import ContactForces, Impact, contact_forces, delassus, impact
from tailwork.model.questions import QUESTIONS, argument_names, recorded
from tailwork.model.results import Energy, Momentum, PartMomenta, PathValues
from tailwork.model.rules import rules_for
from tailwork.robots.paths import numbers, rebuild, structure, total_paths
from tailwork.robots.robot import Robot, listed
from tailwork.typing import Floats

if TYPE_CHECKING:
    import casadi

LIU2018_REDUNDANT: tuple[str, ...] = ("leg3.ha", "leg4.ha", "leg1.hb", "leg2.hb", "leg3.hb", "leg4.hb")
"""The six redundant actuators of the 2018 paper (Eq. 28)."""

_kernels: dict[tuple[Any, ...], tuple[Kernel, tuple[str, ...]]] = {}
"""Kernels of this process by question and structure: a changed number finds its kernel here."""
keeps_kernels(_kernels.clear)
_compiling = lock()


class Structure:
    """What shapes the equations of a model, as a key: its hash is computed once."""

    def __init__(self, content: tuple[Any, ...]) -> None:
        self.content = content
        self._hash = hash(content)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Structure) and self.content == other.content)


class Model:
    """Whole-body dynamics of a robot for a given stance.

    State: q = [p, attitude, limb coordinates], v = [v, omega, limb rates]; p [m], v [m/s] and omega [rad/s] in the
    inertial frame, angles in rad. Limbs without a foot come first (the tail), then the legs that are not in stance.
    Legs in stance without a closed form come last: q has all their joint angles, v the rates of those beyond three.
    With a fixed torso, q and v are the limbs' alone. All methods take arrays with any leading dimensions (a batch) and
    broadcast them.

    Args:
        robot: the robot.
        stance: "all", "none", or the legs whose feet are pinned where the robot says they stand.
        prescribed: limbs whose motion is prescribed; their accelerations are arguments and their efforts results.
        torso: "free", or "fixed" with the torso frame as the inertial frame.
        attitude: "rpy" (exact), "rpy-small-angle" (the papers' omega = phi-dot) or "quaternion" (w, x, y, z).
        pushes: points where outside forces may act.
    """

    def __init__(
        self, robot: Robot, stance: str | Sequence[str] = "all", *, prescribed: Sequence[str] = (), torso: str = "free",
        attitude: str = "rpy", pushes: Sequence[Push] = (),
    ) -> None:  # fmt: skip
        if not isinstance(robot, Robot):
            raise RobotError("robot", robot, "a Robot, from tailwork.robots or tailwork.load")
        own = numbers(robot)
        if not all(isinstance(value, float) for value in own.values()):
            raise RobotError("robot", robot.name, "numbers only; for symbols take the functions of Model.casadi")
        self.robot = robot
        self.layout = with_dependent(make_layout(robot, stance, prescribed, torso, attitude, pushes))
        self._numbers = own
        described = structure((robot.torso, robot.parts, robot.stops, robot.contacts, robot.air))
        driven = (self.layout.drive(), self.layout.riding)
        self.structure = Structure((described, robot.forward, robot.gravity != 0.0, driven))
        self._calls: dict[str, Call] = {}
        self._systems: dict[Any, Any] = {}  # simulations of late; see tailwork.simulation.system
        self.pulling = pulling_groups(self.layout)
        self.cables = [k for group in self.pulling for k in group.cables]
        self._call("forward_dynamics")

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of q: places [m], then angles [rad]."""
        return self.layout.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of v: [m/s], then [rad/s]."""
        return self.layout.velocity_names

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of the entries of tau."""
        return self.layout.actuator_names

    @property
    def actuator_units(self) -> tuple[str, ...]:
        """Units of the entries of tau: N m for torques, N for tensions."""
        return self.layout.actuator_units

    @property
    def prescribed_names(self) -> tuple[str, ...]:
        """Names of the prescribed coordinates."""
        return self.layout.prescribed_names

    @property
    def foot_names(self) -> tuple[str, ...]:
        """The pinned feet, in the order of `foot_forces`."""
        return self.layout.stance

    @cached_property
    def point_names(self) -> tuple[str, ...]:
        """Names of the points that `points` gives."""
        return tuple(point_names(self.layout))

    @property
    def foot_points(self) -> list[int]:
        """Where the feet of all legs, pinned or not, stand among `point_names`."""
        return [self.point_names.index(f"{name}.foot") for name in self.layout.legs]

    @cached_property
    def part_names(self) -> tuple[str, ...]:
        """The parts that `part_momenta` tells apart: the torso and every limb."""
        return tuple(part_names(self.layout))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Paths of the robot's numbers that are inputs of the compiled forward dynamics."""
        return self._recipe("forward_dynamics")[1]

    def standing(self) -> Floats:
        """The state q in which the robot stands: P where the robot says, everything else at zero [m, rad].

        Angles of pinned legs without a closed form are those that bring their feet to their places; see `closed`.
        """
        q = np.zeros(len(self.coordinate_names))
        if self.layout.torso_free:
            q[:3] = self.robot.stand
            if self.layout.attitude == "quaternion":
                q[3] = 1.0
        return closed(self.layout, q) if self.layout.dependent else q

    def closed(self, q: ArrayLike) -> Floats:
        """A state q [m, rad] with the angles of pinned legs without a closed form solved, from those that it has.

        Such angles are part of q; models take them within 1 mrad of where they bring the feet to their places, which
        this finds.

        Raises:
            RobotError: a foot is out of reach.
        """
        given = np.asarray(q, dtype=np.float64)
        if given.shape != (len(self.coordinate_names),) or not np.isfinite(given).all():
            raise StateError("q", f"required: {len(self.coordinate_names)} finite numbers, a single state")
        return closed(self.layout, given)

    @cached_property
    def _joint_names(self) -> tuple[str, ...]:
        return tuple(joint_names(self.layout))

    @cached_property
    def _named_points(self) -> dict[str, tuple[int, Floats]]:
        """By name of a point: its frame and its place there [m]."""
        places = named_points(self.layout).items()
        return {name: self._place(limb, joint, offset) for name, (limb, joint, offset) in places}

    @cached_property
    def _totals(self) -> dict[str, float]:
        """Numbers of whole parts, such as "tail.total_mass", by path [SI]."""
        robot = self.robot
        parted = ((path, *path.partition(".")) for path in total_paths(robot))
        return {path: float(robot.part(part).total(name)) for path, part, _, name in parted}

    def __repr__(self) -> str:
        layout = self.layout
        torso = f"torso free ({layout.attitude})" if layout.torso_free else "torso fixed"
        imposed = f"\n  prescribed: {', '.join(layout.prescribed)}" if layout.prescribed else ""
        return (
            f"Model of {self.robot.name}: {torso}, pinned feet: {', '.join(self.foot_names) or 'none'}\n"
            f"  {len(self.velocity_names)} velocities: {listed(self.velocity_names)}\n"
            f"  {len(self.actuator_names)} actuators: {listed(self.actuator_names)}{imposed}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Models travel between processes; machine code is compiled or loaded anew."""
        names = ("stance", "prescribed", "torso", "attitude", "pushes")
        return partial(Model, self.robot, **dict(zip(names, self.layout.drive(), strict=True))), ()

    # Dynamics

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, prescribed_acceleration: ArrayLike = (),
        forces: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
        """Accelerations for efforts tau, in the order of v [m/s², rad/s²].

        Args:
            q: coordinates.
            v: velocities.
            tau: efforts of the actuators [N m or N].
            prescribed_acceleration: of the prescribed coordinates [rad/s²].
            forces: of the pushes, (..., pushes, 3) or one after the other, inertial frame [N]; None: no push.
        """
        self._check_pulling(tau)
        return self.ask(
            "forward_dynamics", q=q, v=v, tau=tau, prescribed_acceleration=prescribed_acceleration, forces=forces
        )["acceleration"]

    def path(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, prescribed_acceleration: ArrayLike = (),
        forces: ArrayLike | None = None,
    ) -> PathValues:  # fmt: skip
        """Accelerations, foot forces, leg extensions, efforts of prescribed coordinates and powers, in SI units.

        Arguments as for `forward_dynamics`.
        """
        self._check_pulling(tau)
        return PathValues(
            **self.ask("path", q=q, v=v, tau=tau, prescribed_acceleration=prescribed_acceleration, forces=forces)
        )

    def foot_forces(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, prescribed_acceleration: ArrayLike = (),
        forces: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
        """Forces of the ground on the pinned feet, (..., feet, 3), inertial frame [N].

        Arguments as for `forward_dynamics`.
        """
        return self.path(q, v, tau, prescribed_acceleration=prescribed_acceleration, forces=forces).foot_forces

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """M(q), (..., velocities, velocities) [kg, kg m, kg m²]: ½ vᵀ M v is the kinetic energy [J]."""
        return self.ask("mass_matrix", q=q)["mass"]

    def bias(self, q: ArrayLike, v: ArrayLike, *, forces: ArrayLike | None = None) -> Floats:
        """h(q, v) of M a + h = B tau [N, N m]: velocity terms, gravity, springs, dampers, less the pushes."""
        return self.generalised_force(q, v, np.zeros(len(self.velocity_names)), forces=forces)

    def generalised_force(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, forces: ArrayLike | None = None) -> Floats:
        """M a + h: the generalised force [N, N m] that an acceleration [m/s², rad/s²] needs, less the pushes."""
        return self.ask("generalised_force", q=q, v=v, a=a, forces=forces)["force"]

    def actuation_matrix(self, q: ArrayLike) -> Floats:
        """B(q): generalised force = B · efforts, (..., velocities, actuators) [N or N m for each N m or N]."""
        return self.ask("actuation_matrix", q=q)["actuation"]

    def allocation(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, redundant: Mapping[str, float] | None = None,
        forces: ArrayLike | None = None,
    ) -> Allocation:  # fmt: skip
        """Efforts that come nearest to an acceleration, with what is missing and the condition number.

        Args:
            q: coordinates.
            v: velocities.
            a: accelerations, as v. Those of prescribed coordinates take what effort they need and are never missing.
            redundant: None for the smallest efforts (minimum norm; cables only pull). Else efforts of actuators by
                name; the others, as many as velocities, are then solved for (2018, Eq. 41).
            forces: of the pushes, inertial frame [N].
        """
        return allocated(States(self, q, v, a, forces, "forward_dynamics"), redundant)

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, redundant: Mapping[str, float] | None = None,
        forces: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
        """Efforts [N m or N] for an acceleration: the smallest ones, or with a given redundant part (see `allocation`).

        Raises UnreachableError where no efforts give this acceleration, or where a cable would have to push.
        """
        allocation = self.allocation(q, v, a, redundant=redundant, forces=forces)
        self._check_reached(allocation, "a")
        return allocation.efforts

    def admissible_efforts(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, friction: float, limits: Mapping[str, float] | None = None,
        least_normal: float = 0.0, weights: Mapping[str, float] | None = None, forces: ArrayLike | None = None,
    ) -> Admissible:  # fmt: skip
        """The smallest efforts for an acceleration within the limits of actuators, with feet that push and do not slip.

        Raises InadmissibleError where there are none, with what is to blame, and UnreachableError where no efforts of
        any size give the acceleration.

        Args:
            q: coordinates.
            v: velocities.
            a: accelerations, as v.
            friction: largest ratio of tangential to normal force of a pinned foot; infinite: feet never slip.
            limits: of efforts by actuator name; others keep the limit that the robot gives them, if any [N m or N].
            least_normal: normal force that each pinned foot keeps [N].
            weights: of the squared efforts by actuator name; 1 for all others.
            forces: of the pushes, inertial frame [N].
        """
        rules = rules_for(self.layout, friction, limits, least_normal, weights)
        return admissible_efforts(self, rules, q, v, a, forces)

    def static_torques(self, q: ArrayLike) -> Floats:
        """The smallest efforts [N m or N] that hold the robot at rest in q. Raises UnreachableError where none do.

        They are chosen as in Liu & Ben-Tzvi 2020, Eq. 85, by minimum norm.
        """
        zero = np.zeros(len(self.velocity_names))
        allocation = self.allocation(q, zero, zero)
        self._check_reached(allocation, "q")
        return allocation.efforts

    # Contact

    @cached_property
    def contact_names(self) -> tuple[str, ...]:
        """Points that can touch the ground: feet, by their legs, then the contact points of limbs and torso."""
        return tuple(self.robot.contact_points())

    @cached_property
    def stop_names(self) -> tuple[str, ...]:
        """Joints that can come to a stop: those with a range."""
        return tuple(stopped_joints(self.layout))

    def delassus(self, q: ArrayLike, *, normals: ArrayLike | None = None) -> Floats:
        """J M⁻¹ Jᵀ of all contacts, (..., rows, rows) [1/kg, …]: the change of their velocities by unit impulses.

        Rows: for each of `contact_names` two tangents and the normal (on level ground x, y, z); then one for each of
        `stop_names`, away from the nearer stop.

        Args:
            q: coordinates.
            normals: of the ground, a unit vector (3,) for all points or (points, 3); None: straight up.
        """
        return delassus(self, q, normals)

    def impact(
        self, q: ArrayLike, v: ArrayLike, *, friction: ArrayLike, restitution: ArrayLike = 0.0,
        points: Sequence[str] | None = None, normals: ArrayLike | None = None,
    ) -> Impact:  # fmt: skip
        """What a rigid impact does to the velocities: Coulomb's cone and Newton's restitution at all points at once.

        Each point that touches ends with a normal velocity of at least −restitution times that before; it separates,
        sticks, or slips against the friction that belongs to its normal impulse.

        Args:
            q: coordinates.
            v: velocities before the impact.
            friction: coefficient, for all points or one each; times the points' own factors [1].
            restitution: likewise, from 0 to 1 [1].
            points: that touch, by name; None: those at the plane z = 0 or below it.
            normals: as for `delassus`.
        """
        return impact(self, q, v, friction, restitution, points, normals)

    def contact_forces(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, modes: Sequence[str], *, friction: ArrayLike,
        normals: ArrayLike | None = None, prescribed_acceleration: ArrayLike = (), forces: ArrayLike | None = None,
    ) -> ContactForces:  # fmt: skip
        """Accelerations and contact forces where every contact goes on as it is.

        Args:
            q: coordinates.
            v: velocities; those of contacts agree with their modes.
            tau: efforts of the actuators [N m or N].
            modes: for each of `contact_names` "free", "stick" (no acceleration) or "slip" (none along the normal;
                friction against its velocity).
            friction: coefficient, for all points or one each; times the points' own factors [1].
            normals: as for `delassus`.
            prescribed_acceleration: of the prescribed coordinates [rad/s²].
            forces: of the pushes, inertial frame [N].
        """
        return contact_forces(self, q, v, tau, modes, friction, normals, prescribed_acceleration, forces)

    # Observation

    def energy(self, q: ArrayLike, v: ArrayLike) -> Energy:
        """Kinetic, gravitational and elastic energy [J]."""
        found = self.ask("energy", q=q, v=v)["energies"]
        return Energy(found[..., 0], found[..., 1], found[..., 2])

    def air_forces(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Forces of the air on the torso and on the body of each joint, (..., 1 + joints, 3), inertial frame [N]."""
        return self.ask("air_forces", q=q, v=v)["forces"]

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike) -> Momentum:
        """Linear momentum [N s], and angular momentum about the centre of mass [N m s]."""
        return Momentum(**self.ask("centroidal_momentum", q=q, v=v))

    def centroidal_momentum_matrix(self, q: ArrayLike) -> Floats:
        """A(q), (..., 6, velocities): A v is the linear [N s], then the angular [N m s] part of
        `centroidal_momentum`."""
        return self.ask("centroidal_momentum_matrix", q=q)["matrix"]

    def part_momenta(self, q: ArrayLike, v: ArrayLike) -> PartMomenta:
        """Momenta of torso and limbs, each by itself [N s, N m s]; see `part_names`."""
        return PartMomenta(**self.ask("part_momenta", q=q, v=v))

    def center_of_mass(self, q: ArrayLike) -> Floats:
        """Centre of mass, inertial frame [m]."""
        return self.ask("center_of_mass", q=q)["com"]

    def points(self, q: ArrayLike) -> Floats:
        """Places of all joints, feet and tips, (..., points, 3), inertial frame [m]; see `point_names`."""
        return self.ask("points", q=q)["points"]

    def joint_angles(self, q: ArrayLike) -> dict[str, Floats]:
        """Angles of all joints by "limb.joint", stance legs included [rad]."""
        found = self.ask("joint_angles", q=q)["angles"]
        return {name: found[..., k] for k, name in enumerate(self._joint_names)}

    def joint_rates(self, q: ArrayLike, v: ArrayLike) -> dict[str, Floats]:
        """Rates of all joints by "limb.joint", stance legs included [rad/s]."""
        found = self.ask("joint_rates", q=q, v=v)["rates"]
        return {name: found[..., k] for k, name in enumerate(self._joint_names)}

    def point_jacobian(self, point: str | tuple[str, str | None, Sequence[float]], q: ArrayLike) -> Floats:
        """J(q) of a point, (..., 3, velocities): its velocity in the inertial frame is J v [m/s].

        Feet of stance legs and what moves with them follow from the torso; J has that in it.

        Args:
            point: one of `point_names`; or a limb (or "torso"), its joint (None for the torso) and a point in the
                frame of that joint [m], such as ("tail", "tb", (0.0, −0.48, 0.0)).
            q: coordinates.
        """
        k, offset = self._frame_and_offset(point)
        found = self.ask("frame_jacobians", q=q)
        away = found["rotations"][..., k, :, :] @ offset
        columns = np.swapaxes(found["angular"][..., k, :, :], -1, -2)
        return found["linear"][..., k, :, :] + np.swapaxes(np.cross(columns, away[..., None, :]), -1, -2)

    def point_drift(self, point: str | tuple[str, str | None, Sequence[float]], q: ArrayLike, v: ArrayLike) -> Floats:
        """J-dot v of a point, (..., 3) [m/s²]: its acceleration in the inertial frame is J a + this.

        Arguments as for `point_jacobian`, and the velocities.
        """
        k, offset = self._frame_and_offset(point)
        found, rotation = self.ask("frame_drifts", q=q, v=v), self.ask("frame_jacobians", q=q)["rotations"]
        omega, alpha = found["omega"][..., k, :], found["alpha"][..., k, :]
        own = found["acceleration"][..., k, :] + np.cross(alpha, offset) + np.cross(omega, np.cross(omega, offset))
        return (rotation[..., k, :, :] @ own[..., None])[..., 0]

    def _frame_and_offset(self, point: str | tuple[str, str | None, Sequence[float]]) -> tuple[int, Floats]:
        """Number of the frame that holds a point, the torso's first, and the point in it [m]."""
        if isinstance(point, str):
            known = self._named_points
            if point not in known:
                raise UnknownNameError.among("point", point, known, "point")
            return known[point]
        try:
            limb, name, offset = point
        except (TypeError, ValueError, OverflowError):
            required = "the name of a point, or limb, joint and offset, such as ('tail', 'tb', (0.0, -0.48, 0.0))"
            raise ArgumentError("point", point, required) from None
        checked = Push(limb, name, offset)  # type: ignore[arg-type]  # which checks it
        check_push(checked, self.layout.limbs)
        return self._place(limb, 0 if limb == "torso" else self.layout.limbs[limb].index(name), checked.point)

    def _place(self, limb: str, joint: int, offset: Sequence[Any]) -> tuple[int, Floats]:
        """Number of the frame of a joint, and a point in it [m]."""
        limbs = self.layout.limbs
        before = [] if limb == "torso" else list(limbs)[: list(limbs).index(limb)]
        first = 0 if limb == "torso" else 1 + sum(len(limbs[name].joints) for name in before)
        return first + joint, np.array(offset, dtype=float)

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Time derivative of q [m/s, rad/s]: of the angles, not omega."""
        return self.ask("coordinate_rates", q=q, v=v)["rates"]

    def evaluator(self, question: str) -> CompiledCall:
        """One of the model's functions without checks, for inner loops; names as for `casadi`."""
        return CompiledCall(self._call(_known(question)))

    def casadi(self, question: str) -> casadi.Function:
        """One of the model's functions as a casadi.Function, with the design parameters as its last argument.

        Args:
            question: "forward_dynamics", "path", "generalised_force", "mass_matrix", "actuation_matrix", "energy",
                "air_forces", "centroidal_momentum", "centroidal_momentum_matrix", "part_momenta", "center_of_mass",
                "points", "joint_angles", "joint_rates", "frame_jacobians", "frame_drifts", "delassus", "contact_state",
                "contact_change", "impact_rows" or "coordinate_rates".
        """
        from tailwork.kernels.casadi_export import casadi_function  # takes long to import

        graph, names = recorded(self._layout_with, _known(question))
        sizes = {argument: len(argument_names(self.layout, argument)) for argument in QUESTIONS[question].arguments}
        return casadi_function(
            question, graph, sizes | {"parameters": len(names)}, QUESTIONS[question].answers(self.layout)
        )

    def export_c(self, folder: str | os.PathLike[str], functions: Sequence[str]) -> tuple[str, ...]:
        """Writes functions of the model as C, with a header and an example; returns the names of the files.

        Args:
            folder: where the files go; it is made if it is not there.
            functions: as for `casadi`, and "foot_forces".
        """
        from tailwork.model.c_code import export_c

        return export_c(self, folder, functions)

    def parameters(self) -> Floats:
        """Values of the design parameters in SI units, in the order of `parameter_names`."""
        return np.array([self._numbers[name] for name in self.parameter_names])

    # Compilation and calls

    def _layout_with(self, exchange: Any) -> Layout:
        robot = rebuild(self.robot, lambda path, value, kind: exchange(path, value))
        return self.layout.with_robot(robot)

    def _recipe(self, name: str) -> tuple[Kernel, tuple[str, ...]]:
        key = (name, self.structure)
        found = _kernels.get(key)  # those that are there do not wait for one that is being compiled
        if found is not None:
            return found
        with _compiling:
            if key not in _kernels:
                try:
                    graph, parameters = recorded(self._layout_with, name)
                except ZeroDivisionError:
                    required = "every hinge to move some inertia, and springs and cables of some length"
                    raise RobotError("robot", self.robot.name, required) from None
                _kernels[key] = (Kernel(graph, self.robot.name), parameters)
            return _kernels[key]

    def _call(self, name: str) -> Call:
        call = self._calls.get(name)
        if call is None:
            kernel, parameters = self._recipe(name)
            values = np.array([self._numbers[path] for path in parameters])
            call = self._calls[name] = Call(self.layout, name, kernel, kernel.constants(values))
        return call

    def ask(self, question: str, **arguments: ArrayLike | None) -> dict[str, Floats]:
        """A function by name; arguments and answers by name, in SI units. Signs of tensions go unchecked."""
        return self._call(question)(arguments)

    def _check_pulling(self, tau: ArrayLike) -> None:
        if not self.cables:
            return
        efforts = self._call("forward_dynamics").argument("tau", tau)
        if (efforts[..., self.cables] < 0.0).any():
            pushing = [k for k in self.cables if (efforts[..., k] < 0.0).any()]
            bad = tuple(int(row) for row in np.flatnonzero((efforts[..., pushing] < 0.0).any(axis=-1)))
            raise StateError(
                "tau",
                f"{self.actuator_names[pushing[0]]} is {efforts[..., pushing[0]].min():.6g} N in "
                f"{show_rows(bad, efforts.shape[:-1])}; a cable can only pull: required: 0 or more",
                bad,
            )

    def _check_reached(self, allocation: Allocation, argument: str) -> None:
        bad = tuple(int(k) for k in np.flatnonzero(np.logical_not(allocation.reached)))
        if not bad:
            return
        efforts = allocation.efforts.reshape(-1, allocation.efforts.shape[-1])[bad[0]]
        why = missing_text(self.layout, allocation.residual.reshape(-1, allocation.residual.shape[-1])[bad[0]])
        for k in (k for k in self.cables if efforts[k] < 0.0):
            why = f"{self.actuator_names[k]} would have to push"
        condition = f" (condition number {allocation.condition.ravel()[bad[0]]:.3g})"
        raise unreachable(argument, bad, allocation.condition.shape, "", why + condition)


def _known(question: str) -> str:
    if question not in QUESTIONS:
        raise UnknownNameError.among("question", question, QUESTIONS, "function")
    return question
