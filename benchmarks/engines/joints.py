"""A state of ours joint by joint, as engines want it that keep every hinge as a coordinate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tailwork.mechanics.forward import joint_torques, leg_torques
from tailwork.mechanics.torso import gearing_of, limb_state, stance_leg, torso_state
from tailwork.model import Model
from tailwork.robots.limb import Limb, Motor
from tailwork.robots.springs import BendingSpring
from tailwork.typing import Floats

Joint = tuple[str, str]
"""(limb, joint)."""


@dataclass(frozen=True)
class JointState:
    """Angle, rate and torque of every joint, those of pinned legs included, and the rotation of the torso."""

    rotation: Floats  # from the torso to the inertial frame
    angles: dict[Joint, float]  # [rad]
    rates: dict[Joint, float]  # [rad/s]
    torques: dict[Joint, float]  # of motors, cables and springs [N m]
    motors: dict[Joint, float]  # of motors alone [N m]
    bending: dict[Joint, float]  # of bending springs, less what a plain spring and damper on each hinge gives [N m]


def joint_state(model: Model, q: Floats, v: Floats, tau: Floats) -> JointState:
    """The joints in a state with its efforts, by our own equations."""
    layout = model.layout
    lists = [[float(x) for x in a] for a in (q, v, tau)]
    torso = torso_state(layout, lists[0], lists[1])
    found = JointState(torso.rotation.astype(float), {}, {}, {}, {}, {})
    for name, limb in layout.limbs.items():
        efforts = lists[2][layout.efforts[name]]
        motors = _motor_torques(limb, efforts)
        if name in layout.stance:
            leg = stance_leg(layout, torso, name)
            values = [float(np.arctan2(s, c)) for c, s in leg.angles]
            rates, torques, bending = leg.rates, leg_torques(layout, name, leg, lists[2]), [0.0] * len(values)
        else:
            state = limb_state(limb, lists[0][layout.coordinates[name]], lists[1][layout.rates[name]])
            values, rates = state.values, state.rates
            torques = joint_torques(limb, state, efforts)
            if limb.gearing is not None:
                torques = [a + b for a, b in zip(torques, motors, strict=True)]
            bent = tuple(spring for spring in limb.springs if isinstance(spring, BendingSpring))
            pure = replace(limb, springs=bent, actuators=())
            bending = joint_torques(pure, replace(state, limb=pure), ())
            for spring in bent:
                for k in (limb.index(spring.first), limb.index(spring.second)):
                    bending[k] = bending[k] + spring.stiffness * values[k] + spring.damping * rates[k]
        for k, joint in enumerate(limb.joints):
            key = (name, joint.name)
            found.angles[key], found.rates[key] = float(values[k]), float(rates[k])
            found.torques[key], found.motors[key] = float(torques[k]), float(motors[k])
            found.bending[key] = float(bending[k])
    return found


def _motor_torques(limb: Limb, efforts: list[float]) -> list[float]:
    """Torques of a limb's motors on its joints [N m]; those of a geared limb are the smallest that do the work."""
    forces = np.zeros(len(limb.coordinates))
    for actuator, effort in zip(limb.actuators, efforts, strict=True):
        if isinstance(actuator, Motor):
            forces[limb.coordinates.index(actuator.coordinate)] += actuator.ratio * effort
    return list(np.linalg.pinv(gearing_of(limb).astype(float)).T @ forces)
