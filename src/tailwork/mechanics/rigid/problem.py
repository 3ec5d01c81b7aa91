"""Contacts seen through the torso: how every contact answers to impulses at all of them.

A push on a contact reaches the torso through its limb, whose coordinates are eliminated: three unit pushes become
wrenches on the torso T (3 × 6) and efforts E on the steps of the elimination. The limb alone then yields by
L = E diag(1/pivots) Eᵀ, and with the torso's inertia S = L₆ D L₆ᵀ and Y = D^(−½) L₆⁻¹ Tᵀ the Delassus matrix J M⁻¹ Jᵀ
has the blocks

    A_ij = [same limb] L_ij + Y_iᵀ Y_j.

It is never formed where impulses are solved for: velocities of contacts are b_i + L_i Λ_i + Y_iᵀ w with w = Σ Y_j Λ_j.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tailwork.algebra.expression import Scalar, is_zero, smaller, sqrt
from tailwork.algebra.expression import step as above
from tailwork.algebra.vectors import Array, array, cross, dot, times, zeros
from tailwork.errors import ArgumentError, RobotError
from tailwork.mechanics.forward import Eliminated, Inputs, ReducedRobot, reduced_robot
from tailwork.mechanics.frames import own_frames
from tailwork.mechanics.kinematics import MovingBody, bodies
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.sweeps import NO_WRENCH, Motion, Wrench, motions
from tailwork.mechanics.torso import LimbState
from tailwork.robots.limb import ContactPoint


@dataclass(frozen=True)
class Plane:
    """The ground under a contact point: its tangent plane there."""

    height: Scalar = 0.0  # of the ground below or above the point [m]
    normal: tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, 1.0)  # a unit vector, up; inertial frame
    curvature: tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, 0.0)  # of the height, by xx, xy and yy [1/m]

    def axes(self) -> Array:
        """Axes of the contact as rows, inertial frame: two tangents, and the normal last.

        The frame is the inertial one, turned on the shortest way to where its z axis is the normal.
        """
        x, y, z = self.normal
        if is_zero(x) and is_zero(y):
            return array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        share = 1.0 / (z + 1.0)
        across = -(x * y * share)
        return array([[1.0 - x * x * share, across, -x], [across, 1.0 - y * y * share, -y], [x, y, z]])

    def bend(self, velocity: Array) -> Scalar:
        """Acceleration along the normal by which a point at this velocity [m/s] follows the ground's curvature."""
        by_xx, by_xy, by_yy = self.curvature
        x, y = velocity[0], velocity[1]
        return (by_xx * x * x + by_xy * x * y * 2.0 + by_yy * y * y) * self.normal[2]


LEVEL = Plane()
"""The ground at z = 0."""


@dataclass(frozen=True)
class Touch:
    """A contact: a point of the robot that can touch the ground (three rows), or a joint that can come to a stop (one).

    Vectors are in the frame of the contact, the normal last. A joint at its stop has the normal alone.
    """

    limb: str  # "torso", or the limb by name
    gap: Scalar  # way to the ground, or to the nearer stop [m or rad]
    velocity: Array  # of the point that touches, or of the gap [m/s or rad/s]
    free: Array  # the same after the step, without impulses
    drift: Array  # its acceleration without contact forces [m/s² or rad/s²]
    torso: Array  # T: wrenches on the torso of unit pushes, rows × 6
    efforts: Array  # E: their efforts on the steps of the limb's elimination, rows × steps
    scaled: Array  # Y: 6 × rows
    place: Array | None = None  # of the point, or the centre of the ball, inertial frame [m]; None: a joint
    axes: Array = field(default_factory=LEVEL.axes)  # of a point, as rows, inertial frame

    @property
    def rows(self) -> int:
        """How many: 3 of a point, 1 of a joint."""
        return len(self.torso)


@dataclass(frozen=True)
class ContactProblem:
    """All contacts of a robot in a state: points in the order of `Robot.contact_points`, then joints with a range."""

    robot: ReducedRobot
    contacts: tuple[Touch, ...]
    step: Scalar  # [s]

    def own(self, i: int, k: int) -> Array | None:
        """L_ik of two contacts of the same limb; None: they meet through the torso alone."""
        a, b = self.contacts[i], self.contacts[k]
        if a.limb != b.limb or a.limb == "torso":
            return None
        per_pivot = self.eliminated(a.limb).per_pivot
        block = zeros(a.rows, b.rows)
        for j, share in enumerate(per_pivot):
            scaled = b.efforts[:, j] * share
            for row in range(a.rows):
                for column in range(b.rows):
                    if not (is_zero(a.efforts[row, j]) or is_zero(scaled[column])):
                        block[row, column] = block[row, column] + a.efforts[row, j] * scaled[column]
        return block

    def block(self, i: int, k: int) -> Array:
        """A_ik of the Delassus matrix."""
        through, own = times(self.contacts[i].scaled.T, self.contacts[k].scaled), self.own(i, k)
        return through if own is None else through + own

    def eliminated(self, limb: str) -> Eliminated:
        """How a limb passes on pushes."""
        found = self.robot.parts[limb].eliminated
        assert found is not None
        return found

    def torso_response(self, impulses: Sequence[Array]) -> list[Scalar]:
        """w = Σ Y Λ."""
        w: list[Scalar] = [0.0] * 6
        for contact, impulse in zip(self.contacts, impulses, strict=True):
            w = [x + dot(row, impulse) for x, row in zip(w, contact.scaled, strict=True)]
        return w

    def velocity(self, i: int, free: Array, impulses: Sequence[Array], w: Sequence[Scalar]) -> Array:
        """Of a contact after impulses, from that without them; `w` as `torso_response` gives it."""
        found = free + times(self.contacts[i].scaled.T, array(list(w)))
        for k, impulse in enumerate(impulses):
            own = self.own(i, k)
            if own is not None:
                found = found + times(own, impulse)
        return found

    def change(self, impulses: Sequence[Array], w: Sequence[Scalar], step: Scalar | None = None) -> ContactChange:
        """What impulses and the step change in the velocities; `w` as `torso_response` gives it."""
        robot, layout = self.robot, self.robot.layout
        h = self.step if step is None else step
        linear, angular = robot.linear * h, robot.angular * h
        if robot.factored is not None:
            roots = [sqrt(p) for p in robot.factored.per_pivot]
            more = robot.factored.backward([root * x for root, x in zip(roots, w, strict=True)])
            linear, angular = linear + array(more[:3]), angular + array(more[3:])
        change: list[Scalar] = []
        prescribed: list[Scalar] = []
        if layout.torso_free:
            change = [*robot.torso.to_inertial(linear), *robot.torso.to_inertial(angular)]
        for name in robot.states:
            if name in layout.prescribed:
                own = robot.inputs.prescribed_acceleration[layout.prescribed_accelerations[name]]
                change += [a * h for a in own]
                reply, still = robot.parts[name].reply, zeros(3)
                pairs = zip(reply(linear, angular), reply(still, still), self._efforts(name, impulses), strict=True)
                prescribed += [x - alone + alone * h - pushed for x, alone, pushed in pairs]
                continue
            passing = self.eliminated(name)
            own = [u * h + more for u, more in zip(passing.efforts, self._efforts(name, impulses), strict=True)]
            change += passing.solve(linear, angular, own)
        return ContactChange(change, linear, angular, prescribed)

    def _efforts(self, limb: str, impulses: Sequence[Array]) -> list[Scalar]:
        """Of impulses on the steps of a limb's elimination."""
        efforts: list[Scalar] = [0.0] * len(self.eliminated(limb).efforts)
        for contact, impulse in zip(self.contacts, impulses, strict=True):
            if contact.limb == limb:
                efforts = [u + dot(column, impulse) for u, column in zip(efforts, contact.efforts.T, strict=True)]
        return efforts


@dataclass(frozen=True)
class ContactChange:
    """Changes of velocities."""

    velocities: list[Scalar]  # as v: inertial frame, then limb coordinates
    linear: Array  # of P, torso frame [m/s]
    angular: Array  # of the torso, torso frame [rad/s]
    prescribed: list[Scalar]  # impulses of the efforts on prescribed coordinates [N m s]


def stopped_joints(layout: Layout) -> dict[str, tuple[str, int]]:
    """Joints with a range that are free to move, by name: the limb and the number of the joint."""
    free = [name for name in layout.moving if name not in layout.prescribed]
    return {f"{name}.{joint.name}": (name, k) for name in free for k, joint in enumerate(layout.limbs[name].joints)
            if joint.range is not None}  # fmt: skip


def check_contacts(layout: Layout) -> None:
    """Every point can move, and no foot is pinned."""
    if layout.stance:
        raise ArgumentError("contact", "pinned feet", "a model with stance='none': in contact no foot is pinned")
    for name, (limb, _) in layout.contact_points.items():
        if not layout.torso_free and (limb == "torso" or limb in layout.prescribed):
            raise RobotError(
                "contact", name, "a point that can move: the torso is fixed, or hold it by joints that are free"
            )


def contact_problem(
    layout: Layout, inputs: Inputs, step: Scalar = 0.0, planes: Mapping[str, Plane] | None = None
) -> ContactProblem:
    """All contacts of a robot in a state, for a step [s] of the accelerations that it has without them (0: an impact).

    `planes` are the ground under the points by name; by default all is level at z = 0.
    """
    check_contacts(layout)
    robot = reduced_robot(layout, inputs)
    seen = bodies(layout, inputs.q, inputs.v)
    later = seen if not layout.prescribed else bodies(layout, inputs.q, _at_end(layout, inputs, step))
    moving = _drifts(robot)
    contacts = []
    for name, (limb, point) in layout.contact_points.items():
        plane = LEVEL if planes is None else planes[name]
        contacts.append(_point_contact(robot, limb, point, plane, step, (seen, later, moving)))
    contacts += [_joint_contact(robot, limb, k, step) for limb, k in stopped_joints(layout).values()]
    return ContactProblem(robot, tuple(contacts), step)


def _at_end(layout: Layout, inputs: Inputs, step: Scalar) -> list[Scalar]:
    """Velocities with those of prescribed limbs at the end of the step."""
    v = list(inputs.v)
    for k, a in zip(layout.prescribed_rates, inputs.prescribed_acceleration, strict=True):
        v[k] = v[k] + a * step
    return v


def _drifts(robot: ReducedRobot) -> dict[str, list[Motion]]:
    """How bodies accelerate where nothing that is free does, in their own frames, by limb; the torso's as "torso"."""
    base = Motion(robot.torso.omega, zeros(3), zeros(3))
    found = {"torso": [base]}
    for name, state in robot.states.items():
        accelerations: list[Scalar] = [0.0] * len(state.rates)
        if name in robot.layout.prescribed:
            own = robot.inputs.prescribed_acceleration[robot.layout.prescribed_accelerations[name]]
            accelerations = list(times(state.gearing, array(list(own))))
        found[name] = motions(own_frames(state.limb, state.angles), state.rates, accelerations, base)
    return found


Seen = tuple[dict[str, list[MovingBody]], dict[str, list[MovingBody]], dict[str, list[Motion]]]


def _point_contact(
    robot: ReducedRobot, limb: str, point: ContactPoint, plane: Plane, step: Scalar, seen: Seen
) -> Touch:
    """A point, or a ball about it, over the ground."""
    at = 0 if limb == "torso" else robot.states[limb].limb.index(point.joint)
    body, end, motion = seen[0][limb][at], seen[1][limb][at], seen[2][limb][at]
    axes = plane.axes()
    to_contact = times(axes, body.rotation)  # from the frame of the body
    center = array(point.point)
    arm = center - to_contact[2] * point.radius  # to the lowest point
    place = body.place + times(body.rotation, center)
    gap = (place[2] - plane.height) * plane.normal[2] - point.radius
    # The point that touches moves with the body, but where a ball touches does not turn with it: no centripetal part.
    drift = motion.acceleration + times(motion.spin(), center) + cross(motion.alpha, arm - center)
    if limb == "torso":
        pushes = [([], Wrench(axis, cross(arm, axis))) for axis in to_contact]
        from_push, per_pivot, net = None, (), ()
    else:
        passing = robot.parts[limb].eliminated
        assert passing is not None
        link, unit = passing.links[at], zeros(3, 3)
        unit[0, 0] = unit[1, 1] = unit[2, 2] = 1.0
        arm_in_link = times(link.orientation, arm)
        # Pushed along the axes of the link, where much is zero, and then turned.
        pushes = [passing.passed(at, Wrench(axis, cross(arm_in_link, axis)), 0.0) for axis in unit]
        from_push, per_pivot, net = times(to_contact, link.orientation.T), passing.per_pivot, passing.efforts
    torso = array([[*wrench.force, *wrench.moment] for _, wrench in pushes])
    efforts = array([own for own, _ in pushes]).reshape(3, len(per_pivot))
    if from_push is not None:
        torso, efforts = times(from_push, torso), times(from_push, efforts)
    answer = _acceleration(robot, torso, efforts, per_pivot, net)
    velocity, drift = body.velocity + cross(body.omega, arm), answer + times(to_contact, drift)
    if not all(map(is_zero, plane.curvature)):
        drift[2] = drift[2] - plane.bend(times(body.rotation, velocity))
    return Touch(
        limb=limb, gap=gap, velocity=times(to_contact, velocity),
        free=times(to_contact, end.velocity + cross(end.omega, arm)) + answer * step,
        drift=drift, torso=torso, efforts=efforts, scaled=_scaled(robot, torso),
        place=place, axes=axes,
    )  # fmt: skip


def _joint_contact(robot: ReducedRobot, limb: str, k: int, step: Scalar) -> Touch:
    """A joint and the nearer of its stops."""
    state, passing = robot.states[limb], robot.parts[limb].eliminated
    assert passing is not None
    bounds = state.limb.joints[k].range
    assert bounds is not None
    lower, upper = bounds
    side = stop_side(state, k)
    own, wrench = passing.passed(k, NO_WRENCH, 1.0)
    torso, efforts = array([[*wrench.force, *wrench.moment]]) * side, array([own]) * side
    answer = _acceleration(robot, torso, efforts, passing.per_pivot, passing.efforts)
    velocity = array([state.rates[k] * side])
    return Touch(
        limb=limb, gap=smaller(state.values[k] - lower, upper - state.values[k]), velocity=velocity,
        free=velocity + answer * step, drift=answer, torso=torso, efforts=efforts, scaled=_scaled(robot, torso),
    )  # fmt: skip


def stop_side(state: LimbState, k: int) -> Scalar:
    """1 where the lower stop of a joint is the nearer one, else −1: the direction in which the nearer one pushes."""
    bounds = state.limb.joints[k].range
    assert bounds is not None
    return 1.0 - 2.0 * above(state.values[k] - (bounds[0] + bounds[1]) * 0.5)


def _acceleration(
    robot: ReducedRobot, torso: Array, efforts: Array, per_pivot: Sequence[Scalar], net: Sequence[Scalar]
) -> Array:
    """J a of a contact without contact forces."""
    found = times(torso, array([*robot.linear, *robot.angular]))
    return found + times(efforts, array([u * p for u, p in zip(net, per_pivot, strict=True)]))


def _scaled(robot: ReducedRobot, torso: Array) -> Array:
    """Y = D^(−½) L⁻¹ Tᵀ; zero where the torso is fixed."""
    if robot.factored is None:
        return zeros(6, len(torso))
    roots = [sqrt(p) for p in robot.factored.per_pivot]
    columns = [robot.factored.forward(list(row)) for row in torso]
    return array([[column[k] * roots[k] for column in columns] for k in range(6)])
