"""Rigid contact of a state: impacts, and forces of contacts that stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, StateError, as_floats, check_known
from tailwork.mechanics.rigid.coulomb import FAR, POINT_AT, POINT_SIZE, STOP_AT, STOP_SIZE
from tailwork.mechanics.rigid.problem import Plane
from tailwork.model.contact.gauss_seidel import contact_sizes, paired, settled
from tailwork.model.results import ContactForces, Impact
from tailwork.typing import Floats

if TYPE_CHECKING:
    from tailwork.model.model import Model

MODES = ("free", "stick", "slip")
"""What a contact point can do in `contact_forces`."""
TOUCHES = 1e-6
"""Points lower than this over the ground touch it [m]; likewise joints at their stops [rad]."""
TOLERANCE, MOST_SWEEPS = 1e-14, 200
"""Impacts are solved until no sweep changes a velocity by more than this [m/s], or so often."""


def delassus(model: Model, q: ArrayLike, normals: ArrayLike | None) -> Floats:
    """J M⁻¹ Jᵀ of all contacts; see `Model.delassus`."""
    return model.ask("delassus", q=q, normals=_normals(model, normals))["delassus"]


def impact(
    model: Model, q: ArrayLike, v: ArrayLike, friction: ArrayLike, restitution: ArrayLike, points: Sequence[str] | None,
    normals: ArrayLike | None,
) -> Impact:  # fmt: skip
    """The impact of a state; see `Model.impact`."""
    names, up = model.contact_names, _normals(model, normals)
    mu = _per_point(model, "friction", friction, 0.0, np.inf)
    bounce = _per_point(model, "restitution", restitution, 0.0, 1.0)
    rows = model.ask("impact_rows", q=q, v=v, normals=up)["rows"]
    lead, sizes = rows.shape[:-1], contact_sizes(model.layout)
    rows, count = rows.reshape(-1, rows.shape[-1]).copy(), len(names)
    before = _states(model, q, v, up)
    velocities = np.broadcast_to(before["velocities"], (*lead, before["velocities"].shape[-1])).reshape(len(rows), -1)
    gaps = np.broadcast_to(before["gaps"], (*lead, len(sizes))).reshape(len(rows), -1)
    closed = gaps <= TOUCHES
    if points is not None:
        closed[:, :count] = [name in _known_points(model, points) for name in names]
    starts = [POINT_SIZE * i for i in range(count)]
    starts += [POINT_SIZE * count + STOP_SIZE * i for i in range(len(sizes) - count)]
    wanted = np.zeros_like(velocities)  # velocity after the impact that a contact does not come below
    for i, start in enumerate(starts):
        normal = start + (POINT_AT["free"] + 2 if i < count else STOP_AT["free"])
        if i < count:
            rows[:, start + POINT_AT["friction"]] = mu[i]
            wanted[:, 3 * i + 2] = -bounce[i] * np.minimum(velocities[:, 3 * i + 2], 0.0)
            rows[:, normal] -= wanted[:, 3 * i + 2]
        rows[:, normal] = np.where(closed[:, i], rows[:, normal], FAR)
    found, slips, sweeps = settled(sizes, paired(model.layout), rows, TOLERANCE, MOST_SWEEPS)
    shaped = found.reshape(*lead, -1)
    change = model.ask("contact_change", q=q, normals=up, impulses=shaped)["change"]
    after = np.asarray(v, dtype=np.float64) + change
    later = _states(model, q, after, up)["velocities"].reshape(len(rows), -1) - wanted
    diagonal = [
        start + (POINT_AT["mobility"] + 2 if i < count else STOP_AT["mobility"]) for i, start in enumerate(starts)
    ]
    mobility = rows[:, diagonal]
    own = [
        _residual(found[:, 3 * i : 3 * i + 3], later[:, 3 * i : 3 * i + 3], mu[i], mobility[:, i]) for i in range(count)
    ]
    for i in range(count, len(sizes)):
        k = 2 * count + i
        own.append(np.abs(np.minimum(later[:, k], found[:, k] * mobility[:, i])))
    residual = np.where(closed, np.stack(own, axis=-1), 0.0).max(axis=-1)
    energy = model.energy(q, np.broadcast_to(v, after.shape)).kinetic - model.energy(q, after).kinetic
    return Impact(
        v=after, impulses=_inertial(shaped[..., : 3 * count].reshape(*lead, count, 3), up),
        stops=shaped[..., 3 * count :],
        slips=(slips > 0.5).reshape(*lead, count) & (shaped[..., 2 : 3 * count : 3] > 0.0), loss=energy,
        sweeps=sweeps.reshape(lead).astype(int), residual=residual.reshape(lead),
    )  # fmt: skip


def contact_forces(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, modes: Sequence[str], friction: ArrayLike,
    normals: ArrayLike | None, prescribed_acceleration: ArrayLike, forces: ArrayLike | None,
) -> ContactForces:  # fmt: skip
    """Forces of contacts with given modes; see `Model.contact_forces`."""
    names, up = model.contact_names, _normals(model, normals)
    if not isinstance(modes, (list, tuple)) or len(modes) != len(names) or not all(map(MODES.__contains__, modes)):
        raise ArgumentError("modes", modes, f"one of {', '.join(MODES)} for each of {', '.join(names)}")
    mu = _per_point(model, "friction", friction, 0.0, np.inf)
    acceleration = model.forward_dynamics(q, v, tau, prescribed_acceleration=prescribed_acceleration, forces=forces)
    state = _states(model, q, v, up, tau=tau, prescribed_acceleration=prescribed_acceleration, forces=forces)
    lead, count = acceleration.shape[:-1], len(names)
    matrix = delassus(model, q, up)
    total = matrix.shape[-1]
    matrix = np.broadcast_to(matrix, (*lead, total, total)).reshape(-1, total, total)
    drifts, velocities = (
        np.broadcast_to(state[name], (*lead, total)).reshape(-1, total) for name in ("drifts", "velocities")
    )
    picked = [
        3 * i + k for i, mode in enumerate(modes) for k in range(3) if mode == "stick" or (mode == "slip" and k == 2)
    ]
    found = np.zeros((len(matrix), total))
    for row, (a, drift, speed) in enumerate(zip(matrix, drifts, velocities, strict=True)):
        basis = np.zeros((total, len(picked)))
        for c, k in enumerate(picked):
            i, basis[k, c] = k // 3, 1.0
            if modes[i] == "slip":
                across = speed[3 * i : 3 * i + 2]
                length = float(np.hypot(*across))
                if mu[i] > 0.0 and length == 0.0:
                    raise StateError(
                        "v", f"{names[i]} does not move across the ground: which way it slips is not known"
                    )
                basis[3 * i : 3 * i + 2, c] = -mu[i] * across / (length or 1.0)
        # Contacts that hold each other share their load so that the sum of squares is least.
        found[row] = basis @ np.linalg.lstsq((a @ basis)[picked], -drift[picked], rcond=1e-12)[0]
    shaped = found.reshape(*lead, total)
    change = model.ask("contact_change", q=q, normals=up, impulses=shaped)["change"]
    return ContactForces(acceleration + change, _inertial(shaped[..., : 3 * count].reshape(*lead, count, 3), up))


def _states(model: Model, q: ArrayLike, v: ArrayLike, normals: Floats, **given: ArrayLike | None) -> dict[str, Floats]:
    """Gaps, velocities and so on of all contacts over the plane z = 0, or planes through it."""
    none = {"tau": np.zeros(len(model.actuator_names)), "forces": None,
            "prescribed_acceleration": np.zeros(len(model.prescribed_names)), **given}  # fmt: skip
    heights = np.zeros(len(model.contact_names))
    return model.ask("contact_state", q=q, v=v, heights=heights, normals=normals, **none)


def _normals(model: Model, normals: ArrayLike | None) -> Floats:
    """Unit normals of the ground at all points, (points × 3,)."""
    count = len(model.contact_names)
    up = np.tile([0.0, 0.0, 1.0], count) if normals is None else as_floats("normals", normals, "unit vectors")
    up = np.broadcast_to(up, (count, 3)).reshape(-1) if up.shape in ((3,), (count, 3)) else up
    if up.shape != (3 * count,) or not np.isfinite(up).all() or not count:
        raise ArgumentError("normals", normals, f"a unit vector, or one for each of {', '.join(model.contact_names)}")
    rows = up.reshape(count, 3)
    if np.abs(np.linalg.norm(rows, axis=1) - 1.0).max() > 1e-9 or rows[:, 2].min() <= 0.0:
        raise ArgumentError("normals", normals, "unit vectors that point up")
    return up


def _per_point(model: Model, name: str, values: ArrayLike, least: float, most: float) -> Floats:
    """A number of each point, times that of the point itself."""
    points = model.robot.contact_points().values()
    try:
        given = np.broadcast_to(np.asarray(values, dtype=np.float64), (len(points),))
    except (TypeError, ValueError, OverflowError):
        given = np.full(1, np.nan)
    if not ((given >= least) & (given <= most)).all():
        allowed = f"from {least:g} to {most:g}" if np.isfinite(most) else f"{least:g} or more"
        raise ArgumentError(name, values, f"a number, {allowed}, or one for each of {', '.join(model.contact_names)}")
    return given * np.array([getattr(point, name) for _, point in points], dtype=np.float64)


def _known_points(model: Model, points: Sequence[str]) -> list[str]:
    names: list[str] = list(points) if isinstance(points, (list, tuple)) else [points]  # type: ignore[list-item]
    check_known("points", names, model.contact_names, "contact point")
    return names


def _inertial(vectors: Floats, normals: Floats) -> Floats:
    """Vectors in the frames of the contacts, (..., points, 3), in the inertial frame."""
    axes = np.array([Plane(0.0, tuple(normal)).axes().astype(float) for normal in normals.reshape(-1, 3)])
    return np.einsum("...pk,pkx->...px", vectors, axes)


def _residual(impulse: Floats, velocity: Floats, mu: float, mobility: Floats) -> Floats:
    """The natural map of one contact [m/s]: Λ is what the cone lets through of Λ − (u + μ |u_t| n)/A."""
    across = np.hypot(velocity[:, 0], velocity[:, 1])
    bent = velocity + np.stack([0.0 * across, 0.0 * across, mu * across], axis=-1)
    wanted = impulse - bent / mobility[:, None]
    size, normal = np.hypot(wanted[:, 0], wanted[:, 1]), wanted[:, 2]
    inside, polar = size <= mu * normal, mu * size <= -normal
    on_cone = (mu * size + normal) / (mu * mu + 1.0)
    scale = np.where(size > 0.0, mu * on_cone / np.where(size > 0.0, size, 1.0), 0.0)
    projected = np.stack([wanted[:, 0] * scale, wanted[:, 1] * scale, on_cone], axis=-1)
    projected = np.where(inside[:, None], wanted, np.where(polar[:, None], 0.0, projected))
    return np.linalg.norm(impulse - projected, axis=-1) * mobility
