"""One table of measures. Each is a quantity along the path (an expression) and a reduction over time, or is combined
from others. Comparisons, sweeps, designs, the lab and reports all read it; `add_measure` puts an own one into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.algebra.expression import Scalar, arctan2, larger, sqrt, step
from tailwork.algebra.vectors import Array, array, cross, dot
from tailwork.errors import ArgumentError, UnknownNameError, check_known
from tailwork.robots.tails.tail import direction_vector
from tailwork.simulation.batch.batch import ENERGY_BALANCE
from tailwork.studies.sample import DEGREES, Sample
from tailwork.studies.scenario import ActuatorMass

AXES = ("pitch", "roll", "yaw")
STILL = 1e-6  # [deg]; a tail that has been carried less than this has not moved
SLACK = 1e-6  # [N]; a cable below this tension is slack
LEAST_PUSH = 1e-3
"""Normal force [N] below which a foot is taken to have lost its grip."""
TINY = 1e-300
"""Under a square root that may be of zero, whose derivative would not be finite."""

REDUCTIONS = ("final", "change", "max", "min", "peak", "integral", "mean", "rms", "length")
"""Of a quantity over time: its last value; last less first; largest; smallest; largest size; integral; the mean of the
component where that is largest in size; the root of the mean square over time and components; the way of a unit vector
in degrees."""
EXTREMES = ("max", "min", "peak")
"""Reductions that look for the worst time: a limit on such a measure is a limit at every time."""

Quantity = Callable[[Sample], Sequence[Scalar]]


@dataclass(frozen=True)
class Measure:
    """A number of a run, from a quantity along its path."""

    name: str  # by which studies, files and commands ask for it
    unit: str  # "1" for none
    meaning: str  # in a few words, for tables
    quantity: Quantity  # its components at one time, as expressions
    reduction: str  # one of `REDUCTIONS`
    hidden: bool = False  # whether it only serves others

    def __post_init__(self) -> None:
        check_known(f"measures.{self.name}.reduction", [self.reduction], REDUCTIONS, "reduction")


@dataclass(frozen=True)
class Combined:
    """A number of a run, from other measures."""

    name: str  # by which studies, files and commands ask for it
    unit: str  # "1" for none
    meaning: str  # in a few words, for tables
    of: tuple[str, ...]  # names of the others
    combine: Callable[[Mapping[str, Any], ActuatorMass], Any]  # from their values, and what actuators weigh
    worst: str = ""  # one of these that is the worst along the path and that the measure rises with; empty: none
    hidden: bool = False  # whether it only serves others

    @property
    def reduction(self) -> str:
        """What a limit on it must look at: the worst time, or the run as a whole."""
        return "max" if self.worst else "final"


KINDS = {
    f"peak_tail_{what}": (f"peak_joint_{what}", f"peak_segment_{what}") for what in ("torque", "speed")
}  # fmt: skip
"""Measures of coordinates of different kinds, by that of all: a torque on a segment bends all of its joints."""

MEASURES: dict[str, Measure | Combined] = {}
"""All measures by name, in the order of tables."""


def add_measure(measure: Measure | Combined) -> None:
    """Put a measure into the table: every command, study and report has it from then on."""
    if not isinstance(measure, (Measure, Combined)):
        raise ArgumentError("measures", measure, "a Measure or a Combined")
    if measure.name in MEASURES:
        raise ArgumentError("measures", measure.name, "a name that no other measure has")
    check_known(f"measures.{measure.name}.of", getattr(measure, "of", ()), MEASURES, "measure")
    MEASURES[measure.name] = measure


def norm(x: Array) -> Scalar:
    """Length of a vector; its derivative at zero is zero."""
    return sqrt(dot(x, x) + TINY)


def finite_friction(force: tuple[Scalar, Scalar, Scalar]) -> Scalar:
    """Tangential over normal force; where the foot hardly pushes, or pulls, more than any ground gives, the more the
    harder it pulls: of the bare ratio, a pull would make a small or a negative number."""
    x, y, z = force
    return (sqrt(x * x + y * y + TINY) + larger(LEAST_PUSH - z, 0.0)) / larger(z, LEAST_PUSH)


def _momentum(group: str) -> Quantity:
    def quantity(s: Sample) -> list[Scalar]:
        names = {"torso": ["torso"], "tail": [s.tail]}.get(group) or [n for n in s.parts if n not in ("torso", s.tail)]
        found = [s.parts[name][3] for name in names]
        return [norm(sum(found[1:], found[0]))] if found else []

    return quantity


def _spin(axis: int) -> Quantity:
    """Angular momentum of the tail about where P stands, along one of `AXES` [N m s]."""

    def quantity(s: Sample) -> list[Scalar]:
        total = sum((mass for mass, _, _, _ in s.parts.values()), 0.0)
        whole = sum((c * m for m, c, _, _ in s.parts.values()), array([0.0] * 3)) * (1.0 / total)
        drift = sum((p for _, _, p, _ in s.parts.values()), array([0.0] * 3)) * (1.0 / total)
        mass, center, linear, spin = s.parts[s.tail]
        at = array(list(s.layout.robot.stand))
        about = spin + cross(center - whole, drift) * mass + cross(whole - at, linear)
        return [dot(s.axes[axis], about)]

    return quantity


def _weight_moment(axis: int) -> Quantity:
    """Moment of the tail's weight about where P stands, along one of `AXES` [N m]."""

    def quantity(s: Sample) -> list[Scalar]:
        mass, center, _, _ = s.parts[s.tail]
        force = array([0.0, 0.0, -1.0]) * (mass * s.layout.robot.gravity)
        return [dot(s.axes[axis], cross(center - array(list(s.layout.robot.stand)), force))]

    return quantity


def _deviation(s: Sample) -> list[Scalar]:
    if not s.part.points:
        return []
    wanted = direction_vector(*s.motion.direction(s.context.t))
    return [2.0 * DEGREES * arctan2(norm(s.direction - wanted), norm(s.direction + wanted))]


def _leg_torques(s: Sample) -> list[Scalar]:
    layout = s.layout
    legs = [layout.efforts[leg] for leg in layout.legs if leg in layout.actuated]
    return [s.context.tau[k] for here in legs for k in range(here.start, here.stop)]


def _slack(s: Sample) -> list[Scalar]:
    cables = s.tail_efforts[1]
    return [sum((step(SLACK - pull) for pull in cables), 0.0) * (1.0 / len(cables))] if cables else []


def _turned(s: Sample) -> list[Scalar]:
    """The torso's angle about the motion's axis, positive against the tail [deg]."""
    k = 0 if s.motion.axis == "roll" else 1
    bend = s.motion.end[k] - s.motion.start[k]
    side = bend * (1.0 / sqrt(bend * bend + TINY))
    return [-(s.angles[s.motion.axis] * side)]


def _curvature(s: Sample) -> list[Scalar]:
    return s.curvature_errors


def _rate(name: str) -> Quantity:
    return lambda s: [s.angle_rates[name]]


def _angle(name: str) -> Quantity:
    return lambda s: [s.angles[name]]


def size_of(x: Any) -> Any:
    """|x| of a number that may carry its derivative as an imaginary part."""
    return np.where(np.real(x) < 0.0, -x, x)


def _ratio(over: Any, under: Any, least: float = 0.0) -> Any:
    """A ratio; NaN where what is below is not above `least`."""
    fine = np.real(under) > least
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(fine, over / np.where(fine, under, 1.0), np.nan)


def _needs(values: Mapping[str, Any], actuator: ActuatorMass) -> Any:
    torque, power = (np.where(np.isnan(values[n]), 0.0, values[n]) for n in ("peak_tail_torque", "peak_tail_power"))
    return actuator.base + actuator.per_torque * torque + actuator.per_power * power


def _table() -> Iterable[Measure | Combined]:
    yield Measure("duration", "s", "time simulated", lambda s: [s.context.t], "change")
    for name in AXES:
        yield Measure(name, "deg", f"net {name} of the torso", _angle(name), "change")
    yield Measure("turn", "deg", "net turn of the torso about the motion's axis, against the tail", _turned, "change")
    for name in AXES:
        yield Measure(f"peak_{name}", "deg", f"largest {name} of the torso", _angle(name), "peak")
    for name in AXES:
        yield Measure(f"peak_{name}_rate", "deg/s", f"largest {name} rate", _rate(name), "peak")
    yield Measure("tail_rotation", "deg", "how far the tail's centre of mass has been carried about its mount",
                  lambda s: list(s.direction), "length")  # fmt: skip
    yield Combined(
        "effectiveness", "1", "torso rotation about the motion's axis for each degree that the tail moves",
        ("turn", "tail_rotation"), lambda v, _: _ratio(size_of(v["turn"]), v["tail_rotation"], STILL),
    )  # fmt: skip
    yield Measure("tail_deviation", "deg", "largest angle between the tail's centre of mass and where it should be",
                  _deviation, "max")  # fmt: skip
    for k, axis in enumerate(AXES):
        yield Measure(f"_tail_spin_{axis}", "N m s", "change of the tail's angular momentum about P at the start",
                      _spin(k), "change", hidden=True)  # fmt: skip
        yield Measure(f"_tail_weight_{axis}", "N m s", "angular impulse of the tail's weight about P at the start",
                      _weight_moment(k), "integral", hidden=True)  # fmt: skip
        yield Combined(
            f"impulse_{axis}", "N m s", f"angular impulse of the tail on the torso about P at the start, {axis}",
            (f"_tail_spin_{axis}", f"_tail_weight_{axis}"),
            lambda v, _, axis=axis: v[f"_tail_weight_{axis}"] - v[f"_tail_spin_{axis}"],
        )  # fmt: skip
    for group, whose in (("torso", "the torso"), ("legs", "all else"), ("tail", "the tail")):
        yield Measure(f"{group}_momentum", "N m s", f"largest angular momentum of {whose} about the centre of mass",
                      _momentum(group), "max")  # fmt: skip
    for what, unit, word, values in (
        ("torque", "N m", "torque on", Sample.tail_torques), ("speed", "deg/s", "rate of", Sample.tail_rates)
    ):  # fmt: skip
        yield Measure(f"peak_tail_{what}", unit, f"largest {word} a coordinate of the tail: a joint or a segment",
                      values, "peak")  # fmt: skip
        yield Measure(f"peak_joint_{what}", unit, f"largest {word} a single joint of the tail",
                      lambda s, values=values: values(s, several=False), "peak")  # fmt: skip
        yield Measure(f"peak_segment_{what}", unit, f"largest {word} a segment of the tail, whose joints bend alike",
                      lambda s, values=values: values(s, several=True), "peak")  # fmt: skip
    yield Measure("peak_leg_torque", "N m", "largest torque of a leg motor", _leg_torques, "peak")
    yield Measure("motor_load", "1", "largest effort of a motor or cable, as a share of its limit",
                  lambda s: s.loads, "max")  # fmt: skip
    yield Measure("joint_speed_load", "1", "largest rate of a joint, as a share of its limit",
                  lambda s: s.speed_loads, "max")  # fmt: skip
    yield Measure("peak_tail_power", "W", "largest power of the tail's actuators together",
                  lambda s: [sum(s.tail_powers, 0.0)], "peak")  # fmt: skip
    yield Measure("tail_energy", "J", "work of the tail's actuators, positive and negative counted alike",
                  lambda s: [sum((larger(power, -power) for power in s.tail_powers), 0.0)], "integral")  # fmt: skip
    yield Combined("cost", "J/deg", "that work for each degree of torso rotation about the motion's axis",
                   ("tail_energy", "turn"), lambda v, _: _ratio(v["tail_energy"], size_of(v["turn"])))  # fmt: skip
    yield Measure("least_normal_force", "N", "smallest normal force of a foot; negative: it would pull",
                  lambda s: [z for _, _, z in s.foot_forces], "min")  # fmt: skip
    yield Measure("_friction", "1", "largest ratio of tangential to normal force of a foot, finite where it pulls",
                  lambda s: [finite_friction(force) for force in s.foot_forces], "max", hidden=True)  # fmt: skip
    yield Combined(
        "friction_needed", "1", "largest ratio of tangential to normal force of a foot; ∞: a foot would pull",
        ("_friction", "least_normal_force"),
        lambda v, _: np.where(np.real(v["least_normal_force"]) <= 0.0, np.inf, v["_friction"]), worst="_friction",
    )  # fmt: skip
    yield Measure("most_extension", "1", "extension of the straightest leg; 1 is straight",
                  lambda s: list(s.path.extensions), "max")  # fmt: skip
    yield Measure("tail_clearance", "m", "least height of the tail above the ground; negative: it is below it",
                  lambda s: s.tail_heights, "min")  # fmt: skip
    yield Measure("curvature_error_mean", "1/m", "mean curvature error, worst segment",
                  _curvature, "mean")  # fmt: skip
    yield Measure("curvature_error_peak", "1/m", "largest curvature error of any segment",
                  _curvature, "peak")  # fmt: skip
    yield Measure("curvature_error_rms", "1/m", "root of the mean square curvature error over time and segments",
                  _curvature, "rms")  # fmt: skip
    yield Measure("peak_tension", "N", "largest cable tension, those on pulleys among them",
                  lambda s: [*s.tail_efforts[1], *s.tail_efforts[2]], "peak")  # fmt: skip
    yield Measure("slack", "1", "share of the time that a cable is slack, mean over the cables", _slack, "mean")
    yield Measure("tail_mass", "kg", "mass of the tail, and of its actuators that the robot carries",
                  lambda s: [s.part.carried_mass()], "final")  # fmt: skip
    yield Measure("tail_length", "m", "length of the straight tail from mount to tip",
                  lambda s: [s.part.total_length()], "final")  # fmt: skip
    yield Combined("actuator_mass", "kg", "mass of the tail's actuators, from what they give",
                   ("peak_tail_torque", "peak_tail_power"), _needs, worst="peak_tail_torque")  # fmt: skip
    yield Measure("_tail_alone", "kg", "mass of the tail without its actuators",
                  lambda s: [s.part.total_mass()], "final", hidden=True)  # fmt: skip
    yield Combined(
        "added_mass", "kg", "mass of the tail and its actuators",
        ("peak_tail_torque", "peak_tail_power", "_tail_alone"),
        lambda v, actuator: _needs(v, actuator) + v["_tail_alone"], worst="peak_tail_torque",
    )  # fmt: skip


for _measure in _table():
    add_measure(_measure)


def shown_measures() -> list[str]:
    """Names of all measures that tables show.

    The energy balance is the one that is not of the path but of its integration: runs and batches by adaptive steps
    have it.
    """
    return [*(name for name, measure in MEASURES.items() if not measure.hidden), ENERGY_BALANCE]


def by_kind(names: Iterable[str], runs: Iterable[Mapping[str, float]]) -> list[str]:
    """Measures of a table of several runs: those of coordinates of both kinds, joints and segments, are split."""
    known, found = list(runs), []
    for name in names:
        parts = [own for own in KINDS.get(name, ()) if any(not np.isnan(run.get(own, np.nan)) for run in known)]
        found += parts if len(parts) > 1 else [name]
    return list(dict.fromkeys(found))


def whole_measure(name: str) -> str:
    """The measure of coordinates of all kinds that one of a single kind is part of; else itself."""
    return next((whole for whole, parts in KINDS.items() if name in parts), name)


def unit_of(name: str) -> str:
    """The unit of a measure."""
    return "1" if name == ENERGY_BALANCE else MEASURES[name].unit


def meaning_of(name: str) -> str:
    """What a measure means."""
    if name == ENERGY_BALANCE:
        return "energy that does not balance, as a share of what moved"
    return MEASURES[name].meaning


def checked_measures(names: Iterable[str] | None) -> list[str]:
    """Names of measures, each known; None: all that tables show."""
    if names is None:
        return shown_measures()
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ArgumentError("measures", names, "a list of names, such as ['yaw']")
    found = list(names)
    for name in found:
        if not isinstance(name, str) or (name not in MEASURES and name != ENERGY_BALANCE):
            raise UnknownNameError.among("measures", str(name), shown_measures(), "measure")
    return found


def needed(names: Iterable[str]) -> list[Measure]:
    """Measures of the path that some measures are made from, each once."""
    found: dict[str, Measure] = {}
    for name in names:
        measure = MEASURES[name]
        if isinstance(measure, Combined):
            found |= {own.name: own for own in needed(measure.of)}
        else:
            found[name] = measure
    return list(found.values())
