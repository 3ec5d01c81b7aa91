"""What is known of a design at every node of its path: quantities with names, units and components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, larger, sqrt
from tailwork.control.context import Moment
from tailwork.control.curvature_tracking import segments
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import Path
from tailwork.mechanics.torso import coordinate_rates
from tailwork.robots.limb import Cable, Joint, Motor, Tip
from tailwork.simulation.pose import TURNS
from tailwork.simulation.system import Recorded

DEGREES = 57.29577951308232
UNITS = {
    "pitch": "deg", "roll": "deg", "yaw": "deg", "pitch_rate": "deg/s", "roll_rate": "deg/s", "yaw_rate": "deg/s",
    "tail_torque": "N m", "tension": "N", "tail_speed": "deg/s", "tail_power": "W", "leg_torque": "N m",
    "normal_force": "N", "friction": "1", "extension": "1", "tail_mass": "kg", "tail_length": "m", "bend": "deg",
}  # fmt: skip
"""Of every quantity."""


@dataclass(frozen=True)
class Nodes:
    """Which quantities a layout has, and where they stand among the numbers of a node."""

    layout: Layout
    tail: str
    axis: str  # about which the tail sweeps
    columns: dict[str, slice]

    def recorded(self, r: Recorded, path: Path) -> list[Scalar]:
        """All quantities at a node, as equations."""
        found = _recorded(r, path, self.tail, self.axis)
        assert {name: len(values) for name, values in found.items()} == {
            name: here.stop - here.start for name, here in self.columns.items()
        }
        return [value for values in found.values() for value in values]


def nodes_of(layout: Layout, tail: str, axis: str) -> Nodes:
    """The quantities of a layout."""
    limb = layout.limbs[tail]
    imposed = tail in layout.prescribed
    cables = [a for a in limb.actuators if isinstance(a, Cable) and not imposed]
    pulled = [a for a in limb.actuators if isinstance(a, Motor) and a.unit == "N"]  # by cables on pulleys
    torques = len(limb.coordinates) if imposed else sum(isinstance(a, Motor) for a in limb.actuators)
    feet = len(layout.stance)
    motors = sum(len(layout.limbs[leg].actuators) for leg in layout.legs if leg in layout.actuated)
    sizes = {name: 1 for name in (*TURNS, *(f"{name}_rate" for name in TURNS))}
    sizes |= {
        "tail_torque": torques, "tension": len(cables) + len(pulled), "tail_speed": len(limb.coordinates),
        "tail_power": 1, "leg_torque": motors, "normal_force": feet, "friction": feet, "extension": feet,
        "tail_mass": 1, "tail_length": 1, "bend": len(segments(limb)) if cables else 0,
    }  # fmt: skip
    columns: dict[str, slice] = {}
    start = 0
    for name, size in sizes.items():
        columns[name] = slice(start, start + size)
        start += size
    return Nodes(layout, tail, axis, columns)


def _recorded(r: Recorded, path: Path, tail: str, axis: str) -> dict[str, list[Scalar]]:
    layout, limb = r.layout, r.layout.limbs[tail]
    order = (0, 1, 2) if layout.robot.forward == "y" else (1, 0, 2)
    rates = coordinate_rates(layout, r.q, r.v)
    found: dict[str, list[Scalar]] = {}
    for name, k in zip(TURNS, order, strict=True):
        found[name] = [r.q[3 + k] * DEGREES]
    for name, k in zip(TURNS, order, strict=True):
        found[f"{name}_rate"] = [rates[3 + k] * DEGREES]
    torques, tensions = _tail_efforts(r, path, tail)
    sources = [
        *layout.actuator_names,
        *(f"{name}." for name in layout.prescribed_accelerations for _ in layout.limbs[name].coordinates),
    ]
    powers = [power for name, power in zip(sources, path.powers, strict=True) if name.startswith(f"{tail}.")]
    found |= {"tail_torque": torques, "tension": tensions}
    found["tail_speed"] = [rate * DEGREES for rate in r.v[layout.rates[tail]]]
    found["tail_power"] = [sum(powers, 0.0)]
    found["leg_torque"] = [r.tau[k] for leg in layout.legs if leg in layout.actuated for k in _range(layout, leg)]
    forces = [path.foot_forces[3 * k : 3 * k + 3] for k in range(len(layout.stance))]
    found["normal_force"] = [z for _, _, z in forces]
    found["friction"] = [_friction(x, y, z) for x, y, z in forces]
    found["extension"] = list(path.extensions)
    found["tail_mass"] = [sum((joint.body.mass for joint in limb.joints if joint.body is not None), 0.0)]
    found["tail_length"] = [_length(limb.joints, limb.tip)]
    found["bend"] = []
    if tail not in layout.prescribed and any(isinstance(a, Cable) for a in limb.actuators):
        moment = Moment(layout, r.t, r.q, r.v)
        for segment in segments(limb):
            joints = segment.yaw if axis == "yaw" else segment.pitch
            angles = [moment.coordinate(f"{tail}.{limb.joints[k].name}") for k in joints]
            found["bend"].append(sum(angles, 0.0) * DEGREES)
    return found


LEAST_PUSH = 1e-3
"""Normal force [N] below which a foot is taken to have lost its grip."""


def _friction(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    """Tangential over normal force; where the foot hardly pushes, or pulls, more than any ground gives, the more the
    harder it pulls: of the bare ratio, a pull would make a small or a negative number."""
    return (sqrt(x * x + y * y) + larger(LEAST_PUSH - z, 0.0)) / larger(z, LEAST_PUSH)


def _range(layout: Layout, limb: str) -> range:
    here = layout.efforts[limb]
    return range(here.start, here.stop)


def _tail_efforts(r: Recorded, path: Path, tail: str) -> tuple[list[Scalar], list[Scalar]]:
    """Torques on the tail's coordinates [N m], and tensions of its cables [N], those on pulleys among them."""
    layout, limb = r.layout, r.layout.limbs[tail]
    motors = [actuator for actuator in limb.actuators if isinstance(actuator, Motor)]
    if tail in layout.prescribed:
        torques = list(path.prescribed_efforts[layout.prescribed_accelerations[tail]])
        by_motor = [torques[limb.coordinates.index(motor.coordinate)] / motor.ratio for motor in motors]
        return torques, [tension for motor, tension in zip(motors, by_motor, strict=True) if motor.unit == "N"]
    efforts = [r.tau[k] for k in _range(layout, tail)]
    pairs = list(zip(limb.actuators, efforts, strict=True))
    torques = [effort * actuator.ratio for actuator, effort in pairs if isinstance(actuator, Motor)]
    pulls = [effort for actuator, effort in pairs if isinstance(actuator, Cable) or actuator.unit == "N"]
    return torques, pulls


def _length(joints: Sequence[Joint], tip: Tip | None) -> Scalar:
    """From the mount to the tip of the straight tail [m]."""
    total: Scalar = 0.0
    for place in [joint.offset for joint in joints[1:]] + ([] if tip is None else [tip.point]):
        if any(not isinstance(x, float) or x != 0.0 for x in place):
            total = total + sqrt(sum((x * x for x in place), 0.0))
    return total
