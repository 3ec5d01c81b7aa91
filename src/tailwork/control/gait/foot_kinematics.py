"""Where a leg's foot is for its coordinates, and which coordinates bring it to a place: all in the torso frame.

A leg with a closed form is solved by it. Any other limb with a foot is solved by damped Gauss–Newton steps, each the
smallest change of the coordinates that does: from the error e of the foot, dq = Jᵀ (J Jᵀ + damping)⁻¹ e.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, as_floats, check_known
from tailwork.mechanics.foot_solve import (
    REACHED,
    foot_and_jacobian,
    foot_of,
    iterated_angles,
    solved_angles,
    way_length,
    way_to_foot,
)
from tailwork.model import Model
from tailwork.robots.closed_form import ClosedForm
from tailwork.robots.limb import Limb
from tailwork.robots.quantities import Kind, checked
from tailwork.typing import Floats

if TYPE_CHECKING:
    import casadi

PLACE = Kind("m", (3,))
SMALLEST_SHARE = 1e-9
"""Directions in which a foot moves less than this share of the greatest are none."""


@dataclass(frozen=True)
class FootPath:
    """Coordinates of a leg for places of its foot.

    `beyond` says how far a place is out of reach; below zero, how much too near to the hip it is; NaN: it is on the
    hip's axis.
    """

    values: Floats  # (places, coordinates) [rad]
    by_place: Floats  # (places, coordinates, 3): their derivatives by the place [rad/m]
    reached: np.ndarray  # (places,): whether the leg can reach the place, neither straight nor folded up
    beyond: Floats  # (places,) [m]


def hip(limb: Limb) -> Floats:
    """Place of the first hinge on the way from the torso to the foot [m]."""
    return np.array(limb.joints[way_to_foot(limb)[0]].offset, dtype=float)


def foot_place(limb: Limb, coordinates: ArrayLike) -> Floats:
    """Place of the foot for the limb's coordinates, (..., 3) for (..., coordinates) [m]."""
    return foot_and_jacobian(limb, _coordinates(limb, coordinates))[0]


def foot_jacobian(limb: Limb, coordinates: ArrayLike) -> Floats:
    """Derivatives of the foot's place by the limb's coordinates, (..., 3, coordinates) [m/rad]."""
    return foot_and_jacobian(limb, _coordinates(limb, coordinates))[1]


def foot_angles(limb: Limb, foot: ArrayLike, start: ArrayLike | None = None) -> Floats:
    """The limb's coordinates that bring its foot to a place in the torso frame [rad].

    Args:
        limb: of numbers, with a foot.
        foot: the place [m].
        start: for a limb without a closed form: coordinates near those that are wanted (which way a knee bends); zero
            by default.

    Raises:
        ArgumentError: the foot is out of reach; the message says by how much.
    """
    place = np.array(checked("foot", foot, PLACE))
    _check_limb(limb)
    first = _coordinates(limb, np.zeros(len(limb.coordinates)) if start is None else start)
    path = _by_closed_form(limb, place[None])
    if path is not None:
        if path.reached[0]:
            return path.values[0]
        raise ArgumentError("foot", _shown(place), f"a place in reach; {how_far(path.beyond[0])}")
    best, missing = solved_angles(limb, place, first)
    if missing <= REACHED * way_length(limb):
        return best
    raise ArgumentError("foot", _shown(place), f"a place in reach; {how_far(missing)}")


def how_far(beyond: float) -> str:
    """How far a place is out of reach, in words."""
    if math.isnan(beyond):
        return "this one is too near to the axis of the hip"
    return f"this one is {abs(beyond):.3g} m {'too near to the hip' if beyond < 0.0 else 'out of reach'}"


def foot_path(limb: Limb, middle: ArrayLike, places: Floats, start: ArrayLike | None = None) -> FootPath:
    """Coordinates of a leg whose foot goes through places (places, 3), and their exact derivatives by the place.

    A limb without a closed form is solved at `middle` first (`foot_angles`), then along the places one after the
    other. If it has more hinges than it needs, its coordinates change only along the three directions that move the
    foot at `middle` with the least change: so they depend on the place alone, and return when the foot does.
    """
    path = _by_closed_form(limb, places)
    if path is not None:
        return path
    q = foot_angles(limb, middle, start)
    _, sizes, directions = np.linalg.svd(foot_jacobian(limb, q), full_matrices=False)
    moves = directions[sizes > SMALLEST_SHARE * sizes[0]].T
    values, missing = np.zeros((len(places), len(q))), np.zeros(len(places))
    for k, place in enumerate(places):
        q, missing[k] = iterated_angles(limb, place, q, moves)
        values[k] = q
    reached = missing <= REACHED * way_length(limb)
    by_place = np.asarray(moves @ np.linalg.pinv(foot_jacobian(limb, values) @ moves), dtype=np.float64)
    return FootPath(values, by_place, reached, np.where(reached, 0.0, missing))


def standing_feet(
    model: Model, torso_place: ArrayLike | None = None, feet: Mapping[str, ArrayLike] | None = None
) -> dict[str, Floats]:
    """By leg: the place of its foot in the frame of the level torso [m]; arguments as of `posed`."""
    torso = np.array(model.robot.stand if torso_place is None else checked("torso_place", torso_place, PLACE))
    given = {} if feet is None else feet
    if not isinstance(given, Mapping):
        raise ArgumentError("feet", feet, "places by leg, such as {'leg1': (0.15, 0.25, 0.0)}")
    known_legs(model, "feet", given)
    found: dict[str, Floats] = {}
    for name in model.layout.legs:
        place = given.get(name, foot_of(model.layout.limbs[name]).place)
        found[name] = np.array(checked(f"feet.{name}", place, PLACE)) - torso
    return found


def posed(
    model: Model,
    *,
    torso_place: ArrayLike | None = None,
    feet: Mapping[str, ArrayLike] | None = None,
    legs: Sequence[str] | None = None,
    start: ArrayLike | None = None,
) -> Floats:
    """The state q in which a robot stands level on its feet, of a model that pins none (stance "none").

    Args:
        model: with stance "none".
        torso_place: of P, inertial frame [m]; `robot.stand` by default.
        feet: places of feet by leg, inertial frame [m]; others are where the robot says (`Foot.place`).
        legs: those that stand; all by default. Other limbs are at zero.
        start: a state q from which legs without a closed form are solved; by default as they stand (`Foot.angles`).
    """
    q, first = unpinned(model).standing(), leg_starts(model, start)
    known_legs(model, "legs", () if legs is None else legs)
    if torso_place is not None and model.layout.torso_free:
        q[:3] = checked("torso_place", torso_place, PLACE)
    for name, foot in standing_feet(model, torso_place, feet).items():
        if legs is None or name in legs:
            try:
                q[model.layout.coordinates[name]] = foot_angles(model.layout.limbs[name], foot, first[name])
            except ArgumentError as error:
                raise error.within(name) from None
    return q


def unpinned(model: Model) -> Model:
    """The model, if all its legs have coordinates of their own."""
    if not isinstance(model, Model):
        raise ArgumentError("model", type(model).__name__, "a Model, such as Model(robot, 'none')")
    if model.foot_names:
        raise ArgumentError("stance", model.foot_names, "'none': legs whose feet are pinned have no coordinates to set")
    return model


def known_legs(model: Model, argument: str, names: Iterable[str]) -> None:
    """Raises an error for a name that is no leg of the model."""
    check_known(argument, names, model.layout.legs, "leg")


def leg_starts(model: Model, start: ArrayLike | None) -> dict[str, Floats]:
    """By leg: its coordinates in a state; by default as its foot says (`Foot.angles`); else zero, or the middle of a
    joint's range that zero is not in."""
    q = _within_ranges(model) if start is None else as_floats("start", start, "a state q of the model")
    if q.shape != (len(model.coordinate_names),) or not np.isfinite(q).all():
        raise ArgumentError("start", start, f"a state q of the model: {len(model.coordinate_names)} finite numbers")
    return {name: q[model.layout.coordinates[name]] for name in model.layout.legs}


def _within_ranges(model: Model) -> Floats:
    """A state from which knees bend the way that their ranges allow."""
    q = np.zeros(len(model.coordinate_names))
    ranges = {f"{name}.{joint.name}": joint.range for name in model.layout.legs
              for joint in model.layout.limbs[name].joints if joint.range is not None}  # fmt: skip
    for k, name in enumerate(model.coordinate_names):
        low, high = ranges.get(name, (0.0, 0.0))
        q[k] = 0.0 if low <= 0.0 <= high else (low + high) / 2.0
    for name in model.layout.legs:
        for coordinate, angle in model.layout.limbs[name].foot_angles.items():
            q[model.coordinate_names.index(f"{name}.{coordinate}")] = angle
    return q


@lru_cache(maxsize=128)
def _closed_form_function(form: ClosedForm) -> casadi.Function:
    """place → joint angles, extension, and the derivatives of both by the place."""
    import casadi  # takes long to import

    place = casadi.SX.sym("place", 3)
    foot = (place[0], place[1], place[2])
    angles = casadi.vertcat(*(casadi.atan2(sine, cosine) for cosine, sine in form.angles(foot)))
    extension = form.extension(foot)
    derivatives = (casadi.jacobian(angles, place), casadi.jacobian(extension, place))
    return casadi.Function("leg", [place], [angles, extension, *derivatives])


def _by_closed_form(limb: Limb, places: Floats) -> FootPath | None:
    """By the closed form, whose angles are coordinates unless there are gears in between; None: there is none."""
    form = limb.closed_form
    if form is None or limb.gearing is not None:
        return None
    count, joints = len(places), len(limb.joints)
    angles, extension, derivatives, gradient = (np.array(x) for x in _closed_form_function(form)(places.T))
    order = [limb.index(name) for name in limb.coordinates]
    least, most = form.reach()
    extension = extension[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        per_metre = np.linalg.norm(gradient.reshape(count, 3), axis=1)
        beyond = (np.maximum(extension - most, 0.0) + np.minimum(extension - least, 0.0)) / per_metre
    within = (least < extension) & (extension < most)
    on_axis = within & ~np.isfinite(angles).all(axis=0)
    return FootPath(
        values=np.unwrap(angles.T, axis=0)[:, order],
        by_place=derivatives.reshape(joints, count, 3).transpose(1, 0, 2)[:, order],
        reached=within & ~on_axis,
        beyond=np.where(on_axis, np.nan, beyond),
    )


def _check_limb(limb: Limb) -> None:
    if not isinstance(limb, Limb):
        raise ArgumentError("limb", limb, "a Limb, such as robot.limbs()['leg1']")


def _coordinates(limb: Limb, coordinates: ArrayLike) -> Floats:
    _check_limb(limb)
    values = as_floats("coordinates", coordinates, "numbers [rad]")
    if not values.ndim or values.shape[-1] != len(limb.coordinates) or not np.isfinite(values).all():
        required = f"{len(limb.coordinates)} finite numbers [rad], for {', '.join(limb.coordinates)}"
        raise ArgumentError("coordinates", coordinates, required)
    return values


def _shown(place: Floats) -> tuple[float, ...]:
    """A place for a message [m]."""
    return tuple(float(f"{x:.6g}") for x in place)
