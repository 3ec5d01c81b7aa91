r"""
Eq. 85 from scratch
===================

**Objective:** find the torques that hold a quadruped still with NumPy and virtual work alone, and meet the numbers of
Liu & Ben-Tzvi (2020), Eq. (85). The feet are pinned, so the six motions of the torso, :math:`\nu = [v, \omega]`, turn
all twelve hinges: :math:`\dot\theta = J\nu`. In each of these motions torques and weights together do no work,
:math:`J^T\tau + \sum_i J_i^T m_i g = 0`: six equations for twelve torques. We take the smallest solution, by the
Moore–Penrose inverse: it is the one that the paper prints.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, ORANGE, VERMILION

X, Y, Z = np.eye(3)  # hinges: ha about y and hb about x at the hip, k about x at the knee
P, LENGTH, BEND = 0.4 * Z, 0.25, np.arccos(0.8)  # torso [m]; thigh and shank [m]; thigh from the vertical [rad]


def with_torso(point: np.ndarray) -> np.ndarray:
    """Velocity of a point that moves with the torso, as a matrix on [v, omega]."""
    return np.hstack([np.eye(3), -np.cross(np.eye(3), point - P)])


parts = [(12.0, P, with_torso(P)), (1.0, P - 0.49 * Y, with_torso(P - 0.49 * Y))]  # mass [kg], centre, its Jacobian
turning, legs = [], []
for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
    hip, foot = np.array([0.15 * x, 0.25 * y, 0.4]), np.array([0.15 * x, 0.25 * y, 0.0])
    knee = hip + LENGTH * (np.sin(BEND) * Y - np.cos(BEND) * Z)
    hinges = ((Y, hip), (X, hip), (X, knee))  # axis and place; their rates keep the foot where it is:
    rates = -np.linalg.solve(np.column_stack([np.cross(axis, foot - at) for axis, at in hinges]), with_torso(foot))
    for center, count in (((hip + knee) / 2, 2), ((knee + foot) / 2, 3)):  # thigh and shank, carried by these hinges
        carried = np.column_stack([np.cross(axis, center - at) for axis, at in hinges[:count]])
        parts.append((1.2, center, with_torso(center) + carried @ rates[:count]))
    turning, legs = [*turning, rates], [*legs, (hip, knee, foot)]
torques = np.linalg.pinv(np.vstack(turning).T) @ sum(jacobian.T @ (9.81 * mass * Z) for mass, _, jacobian in parts)

printed = np.array([0.0, 1.63, 7.7, 0.0, 1.63, 7.7, 0.0, 1.9, 7.16, 0.0, 1.9, 7.16])  # Eq. (85) [N m]
model = tailwork.Model(tailwork.robots.liu2020("pendulum").replace({"gravity": 9.81}))
difference = np.abs(torques - model.static_torques(model.standing())[:12]).max()
print(f"hip and knee: {torques[1:3].round(4)} front, {torques[7:9].round(4)} rear; tailwork: {difference:.0e} N m off")
plt.rcParams.update(RC)
figure, (side, bars) = plt.subplots(1, 2, figsize=(7.2, 2.9), width_ratios=(1, 1.25), layout="constrained")
for line in (*legs, (P + 0.25 * Y, P - 0.25 * Y, P - 0.73 * Y)):
    side.plot(*np.array(line).T[1:], "-o", color=INK, lw=2)
side.quiver(*np.array([at for _, at, _ in parts]).T[1:], 0, [-(m**0.5) for m, _, _ in parts], color=VERMILION, scale=16)
side.set(xlabel="forward, y [m]", ylabel="up, z [m]", aspect="equal", ylim=(-0.05, 0.5), title="weights, not to scale")
for k, (name, color) in enumerate((("ha, about y", ORANGE), ("hb, about x", BLUE), ("k, knee", GREEN))):
    bars.bar(np.arange(4) + 0.27 * (k - 1), torques[k::3], 0.25, color=color, label=name)
    bars.plot(np.arange(4) + 0.27 * (k - 1), printed[k::3], "_", color=INK, ms=12, label=None if k else "Eq. (85)")
bars.set(ylabel="torque [N m]", xticks=range(4), xticklabels=["leg 1", "leg 2", "leg 3", "leg 4"], title="held by")
figure.legend(loc="outside lower center", ncols=4)
plt.show()
# %%
# **What one sees.** All bars end at the printed digits. Knees carry most; the hips about y have nothing to do,
# because every foot is below its hip. **Try next:** move the feet, or hang the tail down: which torques change?
