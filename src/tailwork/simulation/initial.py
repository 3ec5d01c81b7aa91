"""Initial states that follow from the robot: equations of its numbers, like everything else of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, zeros
from tailwork.control.standing import standing_angles
from tailwork.errors import ArgumentError
from tailwork.mechanics.attitude import attitude_size
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.layout import Layout, Push
from tailwork.robots.quantities import Described, Vector, vector


@dataclass(frozen=True, kw_only=True)
class Standing(Described):
    """At rest where the robot stands: the torso level, legs as they stand, limbs with a motion where that starts, all
    other limbs at zero.

    With `in_motion`, limbs with a motion start as fast as it does, be they prescribed or not. The rest of the robot is
    at rest where feet are pinned; where none is, it moves against these limbs, so that the robot has no momentum.
    """

    in_motion: bool = False  # whether limbs with a motion have its rates at the start; else they are at rest

    def configuration(self, layout: Layout, limbs: Mapping[str, Mapping[str, Scalar]]) -> list[Scalar]:
        """q [m, rad]; `limbs` are the coordinates of limbs with a motion, at the start."""
        if unknown := [name for name in layout.dependent if not layout.limbs[name].foot_angles]:
            required = (
                "a state of numbers, such as model.standing(), or a robot whose `foot.angles` say how it stands: "
                "pinned legs without a closed form have angles in the state"
            )
            raise ArgumentError("initial", ", ".join(unknown), required)
        q: list[Scalar] = []
        if layout.torso_free:
            turned = [1.0, 0.0, 0.0, 0.0] if attitude_size(layout.attitude) == 4 else [0.0, 0.0, 0.0]
            q += [*layout.robot.stand, *turned]
        for name in layout.moving:
            limb = layout.limbs[name]
            own = limbs.get(name, {})
            if name not in limbs and limb.foot is not None and layout.torso_free:
                own = standing_angles(layout.robot, name)
            q += [own.get(coordinate, 0.0) for coordinate in limb.coordinates]
        riding = [layout.limbs[name] for name in layout.dependent]
        return q + [limb.foot_angles[joint.name] for limb in riding for joint in limb.joints]

    def velocity(self, layout: Layout, q: Sequence[Scalar], rates: Mapping[str, Mapping[str, Scalar]]) -> list[Scalar]:
        """v [m/s, rad/s] of all that is not prescribed; `rates` [rad/s, m/s] are those with which free limbs start."""
        v: list[Scalar] = [0.0] * len(layout.velocity_names)
        if rates and layout.torso_free and not layout.stance:
            moved = replace(layout, prescribed=(*layout.prescribed, *rates))
            names = [(name, c) for name in moved.prescribed_accelerations for c in layout.limbs[name].coordinates]
            jerked = [rates.get(name, {}).get(c, 0.0) for name, c in names]
            v = _difference(moved, q, jerked)
        for name, own in rates.items():
            v[layout.rates[name]] = [own[coordinate] for coordinate in layout.limbs[name].coordinates]
        return v


@dataclass(frozen=True, kw_only=True)
class Struck(Standing):
    """Standing, and struck at the torso: the feet stay, and the robot has the velocity that the impulse gives."""

    impulse: Vector = vector("N s")  # on the torso, inertial frame
    point: Vector = vector("m", (0.0, 0.0, 0.0))  # where it acts, torso frame

    def velocity(self, layout: Layout, q: Sequence[Scalar], rates: Mapping[str, Mapping[str, Scalar]]) -> list[Scalar]:
        """M v = Jᵀ impulse [m/s, rad/s]: what a force of that size does to the acceleration."""
        pushed = replace(layout, pushes=(Push("torso", point=self.point),))
        struck = _difference(pushed, q, [0.0] * len(layout.prescribed_names), array(list(self.impulse)))
        return [a + b for a, b in zip(super().velocity(layout, q, rates), struck, strict=True)]


def _difference(layout: Layout, q: Sequence[Scalar], given: Sequence[Scalar], *forces: Array) -> list[Scalar]:
    """What accelerations [rad/s², m/s²] that are given, and forces [N], change of the acceleration at rest."""
    still, tau = [0.0] * len(layout.velocity_names), [0.0] * len(layout.actuator_names)
    nothing = [0.0] * len(given), [zeros(3) for _ in forces]
    changes = [
        forward_dynamics(layout, Inputs(q, still, tau, list(own), forces=list(pushes))).acceleration
        for own, pushes in ((given, forces), nothing)
    ]
    return [after - before for after, before in zip(*changes, strict=True)]
