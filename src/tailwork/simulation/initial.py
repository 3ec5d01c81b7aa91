"""Initial states that follow from the robot: equations of its numbers, like everything else of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import array, zeros
from tailwork.control.standing import standing_angles
from tailwork.errors import RobotError
from tailwork.mechanics.attitude import attitude_size
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.layout import Layout, Push
from tailwork.robots.quantities import Described, Vector, vector


@dataclass(frozen=True, kw_only=True)
class Standing(Described):
    """At rest where the robot stands: the torso level, legs as they stand, limbs with a motion where that starts, all
    other limbs at zero."""

    def configuration(self, layout: Layout, limbs: Mapping[str, Mapping[str, Scalar]]) -> list[Scalar]:
        """q [m, rad]; `limbs` are the coordinates of limbs with a motion, at the start."""
        if layout.dependent:
            required = (
                "a state of numbers, such as model.standing(): pinned legs without a closed form have angles in it"
            )
            raise RobotError("initial", ", ".join(layout.dependent), required)
        q: list[Scalar] = []
        if layout.torso_free:
            turned = [1.0, 0.0, 0.0, 0.0] if attitude_size(layout.attitude) == 4 else [0.0, 0.0, 0.0]
            q += [*layout.robot.stand, *turned]
        for name in layout.moving:
            limb = layout.limbs[name]
            own = limbs.get(name, {})
            if name not in limbs and limb.foot is not None and limb.closed_form is not None and layout.torso_free:
                own = standing_angles(layout.robot, name)
            q += [own.get(coordinate, 0.0) for coordinate in limb.coordinates]
        return q

    def velocity(self, layout: Layout, q: Sequence[Scalar]) -> list[Scalar]:
        """v [m/s, rad/s] of all that is not prescribed."""
        return [0.0] * len(layout.velocity_names)


@dataclass(frozen=True, kw_only=True)
class Struck(Standing):
    """Standing, and struck at the torso: the feet stay, and the robot has the velocity that the impulse gives."""

    impulse: Vector = vector("N s")  # on the torso, inertial frame
    point: Vector = vector("m", (0.0, 0.0, 0.0))  # where it acts, torso frame

    def velocity(self, layout: Layout, q: Sequence[Scalar]) -> list[Scalar]:
        """M v = Jᵀ impulse [m/s, rad/s]: what a force of that size does to the acceleration."""
        pushed = replace(layout, pushes=(Push("torso", point=self.point),))
        still, tau = [0.0] * len(layout.velocity_names), [0.0] * len(layout.actuator_names)
        given = [0.0] * len(layout.prescribed_names)
        changes = [
            forward_dynamics(pushed, Inputs(q, still, tau, given, forces=[force])).acceleration
            for force in (array(list(self.impulse)), zeros(3))
        ]
        return [after - before for after, before in zip(*changes, strict=True)]
