r"""
The workspace of a D-H leg
==========================

**Objective:** read the leg of Biswal & Mohanty from its Denavit–Hartenberg table, see where its foot can go and how
well it moves there, and bring it to a place: forward and inverse kinematics (their Eqs. 8–13, with the misprints put
right). How well it moves is told by the determinant of the Jacobian, :math:`-A\,r_2 r_3 \sin\theta_3` with :math:`A`
the drop of the foot below the hip: zero means that in some direction the foot cannot move at all.
"""

import matplotlib.pyplot as plt
import numpy as np

from tailwork.papers.biswal import leg as biswal
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, ORANGE

leg = biswal.Leg()  # r = (70, 100, 100) mm, mounted at (180, 100, −40) mm; x forward, y left, z up
foot = biswal.foot_place(leg, np.radians(biswal.POSTURE))  # the quoted posture, (−10, −35, 45) deg
branches = np.degrees(biswal.joint_angles(leg, foot))  # every posture that brings the foot there
space = biswal.workspace(leg)  # at theta_1 = 0: a disc
times = np.linspace(0.0, biswal.DURATION, 101)
paths = {reading: biswal.foot_path(leg, times, reading) for reading in biswal.READINGS}
print(f"foot at {1e3 * foot.round(7)} mm by theta = {branches.round(6).tolist()} deg")


def joints(theta: np.ndarray) -> np.ndarray:
    """Places of the hinges and the foot in the base frame [mm]: the frames of the table, one after the other."""
    frames = [biswal.base_transform(leg)]
    for link in biswal.link_transforms(leg, np.radians(theta)):
        frames.append(frames[-1] @ link)
    return 1e3 * np.array([frame[:3, 3] for frame in frames])


bends = np.stack(np.meshgrid(0.0, np.linspace(-np.pi, np.pi, 181), np.linspace(0.0, np.pi, 91), indexing="ij"), -1)[0]
places, volumes = 1e3 * biswal.foot_place(leg, bends), 1e3 * np.abs(biswal.jacobian_determinant(leg, bends))
plt.rcParams.update(RC)
figure, (side, rear) = plt.subplots(1, 2, figsize=(7.2, 3.8), width_ratios=(2.6, 1), layout="constrained", sharey=True)
drawn = side.pcolormesh(places[..., 0], places[..., 2], volumes, cmap="Greys", vmax=4.0, shading="gouraud")
figure.colorbar(drawn, ax=(side, rear), label="determinant of the Jacobian [10⁻³ m³]", aspect=30)
for edge in space.boundary():
    side.plot(*1e3 * edge.T, color=INK, lw=0.8)
for axes, across in ((side, 0), (rear, 1)):
    for theta, color in zip(branches, (BLUE, ORANGE), strict=True):
        label = "theta = ({:.0f}, {:.0f}, {:.0f})°".format(*theta).replace("-", "−")
        axes.plot(*joints(theta).T[[across, 2]], "-o", color=color, lw=2.5, label=label)
    for (reading, path), style in zip(paths.items(), (":", "--", "-"), strict=True):
        axes.plot(*1e3 * path.T[[across, 2]], style, color=GREEN, lw=1.8, label=f"foot over 5 s, reading {reading}")
    axes.plot(*1e3 * foot[[across, 2]], "o", color=INK, ms=6, zorder=3)
    axes.set(aspect="equal", xlabel=("forward, x [mm]", "left, y [mm]")[across])
side.set(ylabel="up, z [mm]", title="from the side; circle: within reach at theta_1 = 0")
rear.set(title="from behind", xlim=(120, 20))
figure.legend(*side.get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()
# %%
# **What one sees.** Two knees reach one place. At the edge, and level with the hip, the leg is singular. Of three
# readings of the printed motion, C ends in the quoted posture. **Try next:** your own table as a
# ``tailwork.robots.DhChain``.
