"""The contact problem by dense matrices and another solver: De Saxcé's projections on cones, then Newton's method."""

from __future__ import annotations

import numpy as np

from oracles.layout import Array


def projected(points: Array, mu: float) -> Array:
    """The nearest impulses (…, 3) in the friction cone, the normal last."""
    across, normal = np.linalg.norm(points[..., :2], axis=-1), points[..., 2]
    on_cone = (mu * across + normal) / (mu * mu + 1.0)
    scale = mu * on_cone / np.where(across > 0.0, across, 1.0)
    cone = np.concatenate([points[..., :2] * scale[..., None], on_cone[..., None]], axis=-1)
    inside, polar = across <= mu * normal, mu * across <= -normal
    return np.where(inside[..., None], points, np.where(polar[..., None], 0.0, cone))


def solved(a: Array, b: Array, mu: float, rounds: int = 400) -> Array:
    """Impulses (…, points, 3) of problems u = A Λ + b, (…, 3 points, 3 points) and (…, 3 points)."""
    count = b.shape[-1] // 3
    per_size = 1.0 / np.linalg.norm(a, ord=2, axis=(-2, -1))[..., None, None]
    impulse = np.zeros((*b.shape[:-1], count, 3))
    for _ in range(rounds):
        u = ((a @ impulse.reshape(*b.shape, 1))[..., 0] + b).reshape(impulse.shape)
        u[..., 2] += mu * np.linalg.norm(u[..., :2], axis=-1)
        impulse = projected(impulse - per_size * u, mu)
    flat = [polished(*one, mu) for one in zip(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, b.shape[-1]),
                                              impulse.reshape(-1, count, 3), strict=True)]  # fmt: skip
    return np.array(flat).reshape(impulse.shape)


def residual(a: Array, b: Array, impulse: Array, mu: float) -> float:
    """The natural map of one problem [m/s], each contact by its own normal mobility."""
    u = (a @ impulse.ravel() + b).reshape(-1, 3)
    bent = u + np.outer(mu * np.linalg.norm(u[:, :2], axis=1), [0.0, 0.0, 1.0])
    own = np.diag(a)[2::3, None]
    return float(np.abs((impulse - projected(impulse - bent / own, mu)) * own).max())


def polished(a: Array, b: Array, impulse: Array, mu: float) -> Array:
    """Semismooth Newton steps with a line search on the natural map, as long as they help."""
    best = residual(a, b, impulse, mu)
    for _ in range(60):
        if best < 1e-15:
            break
        flat, small = impulse.ravel(), 1e-7
        base = _map(a, b, flat, mu)
        slope = np.array([(_map(a, b, flat + small * e, mu) - _map(a, b, flat - small * e, mu)) / (2 * small)
                          for e in np.eye(len(flat))]).T  # fmt: skip
        change = np.linalg.lstsq(slope, -base, rcond=1e-12)[0]
        for share in (1.0, 0.5, 0.25, 0.1, 0.01):
            tried = (flat + share * change).reshape(-1, 3)
            now = residual(a, b, tried, mu)
            if now < best:
                impulse, best = tried, now
                break
        else:
            break
    return impulse


def _map(a: Array, b: Array, flat: Array, mu: float) -> Array:
    impulse = flat.reshape(-1, 3)
    u = (a @ flat + b).reshape(-1, 3)
    bent = u + np.outer(mu * np.linalg.norm(u[:, :2], axis=1), [0.0, 0.0, 1.0])
    own = np.diag(a)[2::3, None]
    return ((impulse - projected(impulse - bent / own, mu)) * own).ravel()
