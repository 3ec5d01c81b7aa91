"""A robot with a stance: equations compiled on first use, for one state or a batch of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, StateError, as_floats
from tailwork.format import first_few
from tailwork.mechanics.foot_solve import closed
from tailwork.mechanics.kinematics import joint_names, point_names
from tailwork.mechanics.layout import Push
from tailwork.mechanics.observe import part_names
from tailwork.mechanics.rigid.problem import stopped_joints
from tailwork.model.checks import show_rows
from tailwork.model.compiled import Compiled
from tailwork.model.efforts.admissible import Admissible, admissible_efforts
from tailwork.model.efforts.allocation import (
    NONE_PINNED,
    Allocation,
    States,
    allocated,
    check_reached,
    pulling_groups,
)
from tailwork.model.efforts.rules import rules_for
from tailwork.model.points import Point, frame_and_offset, named_places
from tailwork.model.results import ContactForces, Energy, Impact, Momentum, PartMomenta, PathValues
from tailwork.robots.paths import total_paths
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

LIU2018_REDUNDANT: tuple[str, ...] = ("leg3.ha", "leg4.ha", "leg1.hb", "leg2.hb", "leg3.hb", "leg4.hb")
"""The six redundant actuators of the 2018 paper (Eq. 28)."""


class Model(Compiled):
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
        super().__init__(robot, stance, prescribed, torso, attitude, pushes)
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

    def standing(self) -> Floats:
        """The state q in which the robot stands: P where the robot says, everything else at zero [m, rad].

        Angles of pinned legs without a closed form are those that bring their feet to their places, solved from the
        angles with which the robot says that they stand (`Foot.angles`); see `closed`.
        """
        q = np.zeros(len(self.coordinate_names))
        if self.layout.torso_free:
            q[:3] = self.robot.stand
            if self.layout.attitude == "quaternion":
                q[3] = 1.0
        for name in self.layout.dependent:
            for coordinate, angle in self.layout.limbs[name].foot_angles.items():
                q[self.coordinate_names.index(f"{name}.{coordinate}")] = angle
        return closed(self.layout, q) if self.layout.dependent else q

    def closed(self, q: ArrayLike) -> Floats:
        """A state q [m, rad] with the angles of pinned legs without a closed form solved, from those that it has.

        Such angles are part of q; models take them within 1 mrad of where they bring the feet to their places, which
        this finds.

        Raises:
            RobotError: a foot is out of reach.
        """
        required = f"{len(self.coordinate_names)} finite numbers, a single state"
        given = as_floats("q", q, required)
        if given.shape != (len(self.coordinate_names),) or not np.isfinite(given).all():
            raise StateError("q", f"required: {required}")
        return closed(self.layout, given)

    @cached_property
    def _joint_names(self) -> tuple[str, ...]:
        return tuple(joint_names(self.layout))

    @cached_property
    def _named_points(self) -> dict[str, tuple[int, Floats]]:
        """By name of a point: its frame and its place there [m]."""
        return named_places(self.layout)

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
            f"  {len(self.velocity_names)} velocities: {first_few(self.velocity_names)}\n"
            f"  {len(self.actuator_names)} actuators: {first_few(self.actuator_names)}{imposed}"
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
        if self.layout.legs and not self.layout.stance:
            required = f"a model with pinned feet. {NONE_PINNED}; forces of a run on ground are in its data"
            raise ArgumentError("stance", "none", required)
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
        check_reached(self.layout, allocation, self.cables, "a")
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
        check_reached(self.layout, allocation, self.cables, "q")
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
        from tailwork.model.contact.impact import delassus  # which brings the solver

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
        from tailwork.model.contact.impact import impact

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
        from tailwork.model.contact.impact import contact_forces

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

    def point_jacobian(self, point: Point, q: ArrayLike) -> Floats:
        """J(q) of a point, (..., 3, velocities): its velocity in the inertial frame is J v [m/s].

        Feet of stance legs and what moves with them follow from the torso; J has that in it.

        Args:
            point: one of `point_names`; or a limb (or "torso"), its joint (None for the torso) and a point in the
                frame of that joint [m], such as ("tail", "tb", (0.0, −0.48, 0.0)).
            q: coordinates.
        """
        k, offset = frame_and_offset(self.layout, self._named_points, point)
        found = self.ask("frame_jacobians", q=q)
        away = found["rotations"][..., k, :, :] @ offset
        columns = np.swapaxes(found["angular"][..., k, :, :], -1, -2)
        return found["linear"][..., k, :, :] + np.swapaxes(np.cross(columns, away[..., None, :]), -1, -2)

    def point_drift(self, point: Point, q: ArrayLike, v: ArrayLike) -> Floats:
        """J-dot v of a point, (..., 3) [m/s²]: its acceleration in the inertial frame is J a + this.

        Arguments as for `point_jacobian`, and the velocities.
        """
        k, offset = frame_and_offset(self.layout, self._named_points, point)
        found, rotation = self.ask("frame_drifts", q=q, v=v), self.ask("frame_jacobians", q=q)["rotations"]
        omega, alpha = found["omega"][..., k, :], found["alpha"][..., k, :]
        own = found["acceleration"][..., k, :] + np.cross(alpha, offset) + np.cross(omega, np.cross(omega, offset))
        return (rotation[..., k, :, :] @ own[..., None])[..., 0]

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Time derivative of q [m/s, rad/s]: of the angles, not omega."""
        return self.ask("coordinate_rates", q=q, v=v)["rates"]

    def export_c(self, folder: str | os.PathLike[str], functions: Sequence[str]) -> tuple[str, ...]:
        """Writes functions of the model as C, with a header and an example; returns the names of the files.

        Args:
            folder: where the files go; it is made if it is not there.
            functions: as for `casadi`, and "foot_forces".
        """
        from tailwork.model.c_code import export_c

        return export_c(self, folder, functions)

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
