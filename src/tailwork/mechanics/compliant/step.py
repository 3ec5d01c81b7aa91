"""One step of the linearly implicit Euler method for the tree on compliant ground.

(M + h B + h² K) a = Q − b + Jᵀf − h K v, then v + h a and q + h q-dot(q, v + h a), for a step h. K and B are what
stiffens and damps: of each coordinate's own force Q (motors with their laws, springs, dampers: the diagonal, exactly
derived) and of the ground under each point (`ContactImpedance`). Both only add inertia to joints and points, so the
system is solved as the forward dynamics are, limb by limb. What K and B leave out is taken at the start of the step;
the method stays consistent, of order one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import Scalar, Tape, is_zero, larger
from tailwork.algebra.vectors import Array, array, times
from tailwork.mechanics.forward import Added, Inputs, coordinate_forces, forward_dynamics, joint_torques
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import outside_power
from tailwork.mechanics.springs_and_cables import spring_torques
from tailwork.mechanics.torso import limb_state, moved


@dataclass(frozen=True)
class ImplicitStep:
    """The end of a step."""

    q: list[Scalar]
    v: list[Scalar]
    points: dict[str, Array]  # by contact point: J a, inertial frame [m/s²]
    power: Scalar  # mean over the step of motors, springs, dampers, outside forces and what moves prescribed limbs [W]


def implicit_step(tape: Tape, layout: Layout, inputs: Inputs, step: Scalar) -> ImplicitStep:
    """Step by `step` [s] from the state in `inputs`; its contacts are those with the ground."""
    own: dict[str, list[Scalar]] = {}
    added: dict[str, list[Added]] = {}
    for name in layout.moving:
        if name not in layout.prescribed:
            own[name], slopes = implicit_forces(tape, layout, name, inputs)
            added[name] = []
            for (by_place, by_rate), rate in zip(slopes, inputs.v[layout.rates[name]], strict=True):
                inertia = -(by_rate * step) - by_place * step * step
                stiffening = 0.0 if is_zero(inertia) else larger(inertia, 0.0)
                added[name].append(Added(stiffening, by_place * step * rate))
    solution = forward_dynamics(layout, replace(inputs, added=added))
    new = [rate + a * step for rate, a in zip(inputs.v, solution.acceleration, strict=True)]
    power: Scalar = 0.0
    for name, forces in own.items():
        here = layout.rates[name]
        rows = zip(forces, added[name], inputs.v[here], solution.acceleration[here], strict=True)
        for force, more, rate, a in rows:
            power = power + (force + more.force - more.inertia * a) * (rate + a * step * 0.5)
    for name, here in layout.prescribed_accelerations.items():
        rates = inputs.v[layout.rates[name]]
        state = limb_state(layout.limbs[name], inputs.q[layout.coordinates[name]], rates)
        springs = times(state.gearing.T, array(spring_torques(state.limb, state.values, state.angles, state.rates)))
        rows = zip(solution.prescribed_efforts[here], springs, rates, inputs.prescribed_acceleration[here], strict=True)
        for effort, spring, rate, a in rows:
            power = power + (effort + spring) * (rate + a * step * 0.5)
    mean = [(before + after) * 0.5 for before, after in zip(inputs.v, new, strict=True)]
    power = power + outside_power(layout, inputs, mean)
    return ImplicitStep(moved(layout, inputs.q, new, step), new, solution.points, power)


def implicit_forces(
    tape: Tape, layout: Layout, name: str, inputs: Inputs
) -> tuple[list[Scalar], list[tuple[Scalar, Scalar]]]:
    """A limb's own forces on its coordinates, and the derivatives of each by its coordinate and by its rate."""
    limb, places, rates = layout.limbs[name], inputs.q[layout.coordinates[name]], inputs.v[layout.rates[name]]
    state, efforts = limb_state(limb, places, rates), inputs.tau[layout.efforts[name]]
    forces = coordinate_forces(state, joint_torques(limb, state, efforts), efforts)
    derivatives = jacobian(tape, forces, [*places, *rates])
    return forces, [(derivatives[k][k], derivatives[k][len(places) + k]) for k in range(len(rates))]
