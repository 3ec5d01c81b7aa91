"""Laws that use the robot's own inverse dynamics: computed torque, and feed-forward with feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, times
from tailwork.control.context import Context
from tailwork.control.laws import least_norm
from tailwork.control.profiles import Profiles
from tailwork.errors import ArgumentError, check_known
from tailwork.mechanics.attitude import angular_acceleration, angular_velocity
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.inverse import actuation_matrix, generalised_force
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.solve import Factored
from tailwork.mechanics.torso import coordinate_rates
from tailwork.model import Model
from tailwork.robots.limb import Cable
from tailwork.robots.quantities import Described, nonnegative, numbers
from tailwork.typing import Floats

WORST_CONDITION = 1e6
"""Its square, which the normal equations have, still leaves four digits."""


@dataclass(frozen=True, kw_only=True)
class InverseDynamics(Described):
    """A desired motion of every coordinate that is not prescribed, and which efforts are given beforehand.

    Efforts are the smallest that do (minimum norm); with `redundant`, the efforts of those actuators are given and the
    others, as many as velocities, solved for (2018, Eqs. 37 and 41).
    """

    coordinates: tuple[str, ...]  # all that are not prescribed, by name
    profiles: tuple[Profiles, ...]  # what each of them shall do
    kp: Scalar = nonnegative("1/s^2", 0.0)  # of the error of a coordinate
    kd: Scalar = nonnegative("1/s", 0.0)  # of the error of its rate
    redundant: tuple[str, ...] = ()  # actuators whose efforts are given; none: the smallest efforts of all
    redundant_efforts: tuple[Scalar, ...] = numbers("N m or N", ())  # of those

    def check(self) -> None:
        """As many profiles as coordinates, as many efforts as redundant actuators; names that differ."""
        if len(self.coordinates) != len(self.profiles):
            raise ArgumentError("profiles", len(self.profiles), f"as many as coordinates, {len(self.coordinates)}")
        if len(self.redundant) != len(self.redundant_efforts):
            raise ArgumentError("redundant_efforts", self.redundant_efforts, f"{len(self.redundant)} efforts")
        for field, names in (("coordinates", self.coordinates), ("redundant", self.redundant)):
            if len(set(names)) != len(names):
                raise ArgumentError(field, names, "names that differ")

    def check_start(self, model: Model, q: Floats, v: Floats) -> None:
        """Whether the actuators can be solved for where a run begins."""
        redundant = dict(zip(self.redundant, map(float, self.redundant_efforts), strict=True)) or None
        condition = float(model.allocation(q, v, np.zeros(len(v)), redundant=redundant).condition)
        if not condition < WORST_CONDITION:
            raise ArgumentError(
                "redundant" if self.redundant else "control",
                self.redundant or type(self).__name__,
                "actuators that can move every coordinate where the run begins; here the matrix to invert is singular "
                f"(condition number {condition:.1e})",
            )

    def _corrected(self, context: Context) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
        """Desired q, q-dot, q-ddot with the feedback on it, and the present q-dot; what is prescribed is what it is."""
        layout, t = context.layout, context.t
        if layout.attitude == "quaternion":
            raise ArgumentError(
                "control", layout.attitude, "an attitude of angles ('rpy') with a desired motion of them"
            )
        imposed = dict(zip(layout.prescribed_names, context.prescribed_acceleration, strict=True))
        own = [name for name in layout.coordinate_names if name not in imposed]
        given = dict(zip(self.coordinates, self.profiles, strict=True))
        check_known("coordinates", given, own, "coordinate that is not prescribed")
        wanted: list[tuple[Scalar, Scalar, Scalar]] = []
        for k, name in enumerate(layout.coordinate_names):
            if name in imposed:
                wanted.append((context.q[k], context.rate(name), imposed[name]))
            elif name in given:
                wanted.append((given[name].value(t), given[name].rate(t), given[name].acceleration(t)))
            else:
                raise ArgumentError(
                    "coordinates", self.coordinates, f"every coordinate of the model; {name} is missing"
                )
        now = coordinate_rates(layout, context.q, context.v)
        corrected = [
            a + (want - have) * self.kp + (rate - pace) * self.kd
            for (want, rate, a), have, pace in zip(wanted, context.q, now, strict=True)
        ]
        return [want for want, _, _ in wanted], [rate for _, rate, _ in wanted], corrected, now

    def _allocated(self, layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar], a: Array) -> dict[str, Scalar]:
        """Efforts for an acceleration."""
        names = layout.actuator_names
        if any(isinstance(actuator, Cable) for actuator in layout.actuators):
            raise ArgumentError(
                "control", self, "a robot without cables: they can only pull, which this law cannot see to"
            )
        own = [k for k, name in enumerate(layout.velocity_names)
               if name.removesuffix(" rate") not in layout.prescribed_names]  # fmt: skip
        if len(own) > len(names):
            raise ArgumentError("control", len(names), f"at least {len(own)} actuators, one a velocity of the model")
        whole = generalised_force(layout, Inputs(q, v, ()), list(a))
        force = array([whole[k] for k in own])
        actuation = actuation_matrix(layout, q)[own]
        if not self.redundant:
            return dict(zip(names, least_norm(actuation, force), strict=True))
        given = dict(zip(self.redundant, self.redundant_efforts, strict=True))
        check_known("redundant", given, names, "actuator")
        free = [k for k, name in enumerate(names) if name not in given]
        if len(free) != len(own):
            required = f"{len(names) - len(own)} of the {len(names)} actuators, so that {len(own)} are left"
            raise ArgumentError("redundant", self.redundant, required)
        rest = [k for k in range(len(names)) if k not in free]
        square = actuation[:, free]
        load = force - times(actuation[:, rest], array([given[names[k]] for k in rest]))
        # By the normal equations: they need no pivoting, and the squares of our condition numbers (about 100) are mild.
        found = Factored(times(square.T, square)).solve(list(times(square.T, load)))
        return given | {names[k]: effort for k, effort in zip(free, found, strict=True)}


@dataclass(frozen=True, kw_only=True)
class ComputedTorque(InverseDynamics):
    """Inverse dynamics where the robot is: M(q) (q-ddot_d + kp e + kd e-dot) + h(q, q-dot)."""

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Efforts of all actuators [N m or N]."""
        layout = context.layout
        _, _, wanted, now = self._corrected(context)
        return self._allocated(layout, context.q, context.v, _as_velocities(layout, context.q, now, wanted))


@dataclass(frozen=True, kw_only=True)
class FeedForward(InverseDynamics):
    """Inverse dynamics where the robot should be, and feedback on top (2018, Fig. 7): M(q_d) (q-ddot_d + kp e + kd
    e-dot) + h(q_d, q-dot_d). Without gains it is the open loop.
    """

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Efforts of all actuators [N m or N]."""
        layout = context.layout
        q, rates, wanted, _ = self._corrected(context)
        v = list(rates)
        if layout.torso_free:
            v = [*rates[:3], *angular_velocity(layout.attitude, q[3:6], rates[3:6]), *rates[6:]]
        return self._allocated(layout, q, v, _as_velocities(layout, q, rates, wanted))


def _as_velocities(layout: Layout, q: Sequence[Scalar], rates: Sequence[Scalar], wanted: Sequence[Scalar]) -> Array:
    """Accelerations of the velocities v from those of the coordinates."""
    if not layout.torso_free:
        return array(list(wanted))
    turning = angular_acceleration(layout.attitude, q[3:6], rates[3:6], wanted[3:6])
    return array([*wanted[:3], *turning, *wanted[6:]])
