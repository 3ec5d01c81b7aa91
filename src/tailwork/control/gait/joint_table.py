"""Tables of joint angles over a stride, from a gait by inverse kinematics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.gait.foot_kinematics import (
    FootPath,
    foot_angles,
    foot_path,
    how_far,
    known_legs,
    leg_starts,
    posed,
    standing_feet,
    unpinned,
)
from tailwork.control.gait.gait import Gait, forward_direction
from tailwork.control.laws import motors_of
from tailwork.errors import ArgumentError, as_floats, check_known, check_positive
from tailwork.model import Model
from tailwork.robots.quantities import SMALLEST, Kind, checked
from tailwork.typing import Floats

PERIOD = Kind("s", requirement="greater than 0", allowed=lambda x: x >= SMALLEST)
SAMPLES = 120
"""A stride in so many parts begins and ends every stance of the preset gaits at a sample, where accelerations jump."""

MOST_SAMPLES = 10**6
STAND = 60.0
"""How long a robot stands after its last stride before the table begins anew [s]: longer than most runs."""


@dataclass(frozen=True, eq=False)
class JointTable:
    """Coordinates that repeat: their values and rates at times k · period/n, and cubics (Hermite) in between."""

    coordinates: tuple[str, ...]  # as in `model.coordinate_names`
    period: float  # [s]
    values: Floats  # (n, coordinates) [rad]
    slopes: Floats  # (n, coordinates) [rad/s]
    torso_velocity: tuple[float, float] | None = None  # forward [m/s], turning to the left [rad/s]; None: any

    def __post_init__(self) -> None:
        given = self.coordinates
        if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
            raise ArgumentError("coordinates", self.coordinates, "a list of names")
        object.__setattr__(self, "coordinates", tuple(self.coordinates))
        if not self.coordinates or len(set(self.coordinates)) != len(self.coordinates):
            raise ArgumentError("coordinates", self.coordinates, "at least one name, each once")
        object.__setattr__(self, "period", checked("period", self.period, PERIOD))
        for field in ("values", "slopes"):
            given = as_floats(field, getattr(self, field), "numbers")
            if given.ndim != 2 or not len(given) or given.shape[1] != len(self.coordinates):
                raise ArgumentError(
                    field, given.shape, f"an array of times × coordinates, (n, {len(self.coordinates)})"
                )
            if not np.isfinite(given).all():
                raise ArgumentError(field, given, "finite numbers")
            given.flags.writeable = False
            object.__setattr__(self, field, given)
        if self.values.shape != self.slopes.shape:
            raise ArgumentError("slopes", self.slopes.shape, f"as many as values, {self.values.shape}")

    def at(self, times: ArrayLike) -> tuple[Floats, Floats]:
        """Values [rad] and rates [rad/s] at times [s], (..., coordinates) each."""
        count = len(self.values)
        interval = self.period / count
        moments = np.asarray(times, dtype=float)
        if not np.isfinite(moments).all():
            raise ArgumentError("times", times, "finite numbers [s]")
        passed = np.mod(moments / interval, count)
        before = np.minimum(passed.astype(int), count - 1)
        after = (before + 1) % count
        u = (passed - before)[..., None]
        start, end = self.values[before], self.values[after]
        leaving, arriving = self.slopes[before] * interval, self.slopes[after] * interval
        bend = 3.0 * (end - start) - 2.0 * leaving - arriving
        twist = leaving + arriving - 2.0 * (end - start)
        return (
            start + u * (leaving + u * (bend + u * twist)),
            (leaving + u * (2.0 * bend + u * (3.0 * twist))) / interval,
        )


def held_posture(model: Model, q: ArrayLike) -> JointTable:
    """A table that holds every coordinate that a motor drives where it is in q [rad]."""
    layout, state = unpinned(model).layout, as_floats("q", q, "numbers")
    if state.shape != (len(layout.coordinate_names),):
        raise ArgumentError("q", np.shape(q), f"one state of {len(layout.coordinate_names)} coordinates")
    driven = {f"{name}.{coordinate}" for name in layout.actuated for coordinate in motors_of(layout.limbs[name])}
    names = tuple(name for name in layout.coordinate_names if name in driven)
    values = np.array([[state[layout.coordinate_names.index(name)] for name in names]])
    return JointTable(coordinates=names, period=1.0, values=values, slopes=np.zeros_like(values))


def joint_table(
    model: Model,
    gait: Gait,
    *,
    samples: int = SAMPLES,
    torso_place: ArrayLike | None = None,
    feet: Mapping[str, ArrayLike] | None = None,
    start: ArrayLike | None = None,
    strides: int | None = None,
    stand: float = STAND,
) -> JointTable:
    """Coordinates of the legs over a stride of a gait, the torso level and moving and turning as the gait says.

    Rates at the samples are exact: those of the feet, through the derivatives of the inverse kinematics.

    Args:
        model: with stance "none".
        gait: of some or all legs of the robot; the others stand.
        samples: how many parts a stride has.
        torso_place: of P in mid-stance, inertial frame [m]; `robot.stand` by default.
        feet: places of feet in mid-stance by leg, inertial frame [m]; others are where the robot says (`Foot.place`).
        start: a state q from which legs without a closed form are solved (which way a knee bends); zero by default.
        strides: None: the gait goes on for ever, from `walking_start`. Else the table begins in the posture of `posed`,
            has so many strides, two or more, of which the first comes up to speed and the last slows down, then stands.
        stand: how long it stands then, before it begins anew, in whole strides, at least one [s].

    Raises:
        ArgumentError: a leg cannot reach its path; the message says where, by how much, and what may help.
    """
    layout, first = unpinned(model).layout, leg_starts(model, start)
    _check_legs(model, gait)
    if not isinstance(samples, Integral) or isinstance(samples, bool) or samples < 4:
        raise ArgumentError("samples", samples, "an integer, 4 or more")
    if strides is not None and (not isinstance(strides, Integral) or isinstance(strides, bool) or strides < 2):
        raise ArgumentError("strides", strides, "an integer, 2 or more, or None")
    check_positive("stand", stand)
    standing = 0 if strides is None else max(1, math.ceil(stand / gait.period))  # strides
    if samples * ((strides or 1) + standing) > MOST_SAMPLES:
        raise ArgumentError("samples", samples, f"at most {MOST_SAMPLES:,} over all strides, standing ones among them")
    middles = standing_feet(model, torso_place, feet)
    still = int(samples) * standing
    samples = int(samples) * (strides or 1)
    times = np.linspace(0.0, gait.period * (strides or 1), samples, endpoint=False)
    ahead, up = forward_direction(model.robot), np.array([0.0, 0.0, 1.0])
    axes = np.stack([ahead, np.cross(up, ahead), up])
    names: list[str] = []
    values: list[Floats] = []
    slopes: list[Floats] = []
    for leg in layout.legs:
        limb = layout.limbs[leg]
        names += [f"{leg}.{coordinate}" for coordinate in limb.coordinates]
        if leg not in gait.legs:  # it stands
            values.append(np.tile(foot_angles(limb, middles[leg], first[leg]), (samples, 1)))
            slopes.append(np.zeros_like(values[-1]))
            continue
        if strides is None and gait.turn == 0.0:
            offsets, moving = gait.offset(leg, times)
            places, rates = middles[leg] + offsets @ axes[::2], moving @ axes[::2]
        else:
            seen, moving = gait.foot(leg, times, axes @ middles[leg], strides)
            places, rates = seen @ axes, moving @ axes
        try:
            path = foot_path(limb, middles[leg], places, first[leg])
        except ArgumentError as error:
            raise error.within(leg) from None
        _check_reached(gait, leg, times, places, path)
        values.append(path.values)
        slopes.append(np.einsum("tcx,tx->tc", path.by_place, rates))
    wanted = (gait.speed, gait.turn) if strides is None else None
    walked = np.hstack(values)
    shown = np.concatenate([walked, np.tile(walked[:1], (still, 1))])  # it stands as it began
    rates = np.concatenate([np.hstack(slopes), np.zeros((still, len(names)))])
    return JointTable(tuple(names), gait.period * ((strides or 1) + standing), shown, rates, wanted)


def walking_start(
    model: Model, gait: Gait, table: JointTable, *, torso_place: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """The state (q, v) at time 0 of a robot that already walks: the torso level, moving and turning as the gait says,
    joints as tabled. With a table that begins at rest (`joint_table` with `strides`) the robot stands.

    Legs that the gait leaves out stand (see `posed`); other limbs are at zero. `torso_place` is that of P [m];
    `robot.stand` by default.
    """
    layout = unpinned(model).layout
    _check_legs(model, gait)
    if not layout.torso_free:
        raise ArgumentError("torso", layout.torso, "'free': a fixed torso does not walk")
    if not isinstance(table, JointTable):
        raise ArgumentError("table", table, "a JointTable, such as joint_table(model, gait)")
    check_known("table.coordinates", table.coordinates, layout.coordinate_names, "coordinate")
    q = posed(model, torso_place=torso_place, legs=[name for name in layout.legs if name not in gait.legs])
    v = np.zeros(len(layout.velocity_names))
    values, rates = table.at(0.0)
    if rates.any():
        v[:3] = gait.speed * forward_direction(model.robot)
        v[5] = gait.turn
    q[[layout.coordinate_names.index(name) for name in table.coordinates]] = values
    v[[layout.velocity_names.index(f"{name} rate") for name in table.coordinates]] = rates
    return q, v


def _check_legs(model: Model, gait: Gait) -> None:
    if not isinstance(gait, Gait):
        raise ArgumentError("gait", gait, "a Gait, such as trot(robot, …)")
    known_legs(model, "gait.legs", gait.legs)


def _check_reached(gait: Gait, leg: str, times: Floats, places: Floats, path: FootPath) -> None:
    """Raises an error for the place of a path that is furthest out of reach."""
    if path.reached.all():
        return
    worst = int(np.where(path.reached, -1.0, np.nan_to_num(np.abs(path.beyond), nan=np.inf)).argmax())
    share = float(gait.share(leg, times[worst]))
    phase = "stance" if share < gait.duty else "swing"
    remedy = "shorter steps (less speed, more frequency, a smaller duty factor)"
    remedy += "" if path.beyond[worst] > 0.0 or phase == "stance" else ", less lift"
    raise ArgumentError(
        f"{leg}.foot",
        tuple(float(f"{x:.4g}") for x in places[worst]),
        f"a path in reach of the leg; at {share:.3f} of its stride (in {phase}) {how_far(path.beyond[worst])}. Take "
        f"{remedy}, or another place of the foot in mid-stance (`feet`, `torso_place`)",
    )
