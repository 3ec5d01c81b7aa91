"""
A map of tails
==============

**Objective:** sweep two numbers of a design and draw what comes of it as maps. Which tail turns a standing quadruped by
10°, a long and light one or a short and heavy one, and which motor does it need? The tail swings 40° to the right in
0.3 s. Every design is a simulation of its own, with leg torques that balance that design at the start.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.studies import Scenario, perform_many, yaw
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import INK, VERMILION

lengths, masses = np.linspace(0.2, 0.8, 37), np.linspace(0.2, 2.0, 37)  # [m], [kg]
length, mass = np.meshgrid(lengths, masses)
found = perform_many(
    Scenario(tailwork.robots.liu2020("pendulum"), yaw(40), policy="constant"),
    {"tail.length": length.ravel(), "tail.mass": mass.ravel()},
    measures=["yaw", "peak_tail_torque"],
    samples=61,
)
whole = np.array([not reason for reason in found.reasons]).reshape(length.shape)
turn, torque = (np.where(whole, np.abs(found.measures[name]).reshape(length.shape), np.nan) for name in found.measures)
print(f"{whole.size} designs, {(~whole).sum()} ended early: {set(found.reasons) - {''}}")

plt.rcParams.update(RC)
figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.3), sharey=True, layout="constrained")
for axes, values, title, label in zip(
    panels,
    (turn, torque),
    ("how far the torso turns", "torque that the tail needs"),
    ("yaw [deg]", "[N m]"),
    strict=True,
):
    drawn = axes.pcolormesh(lengths, masses, values, cmap="viridis", rasterized=True)
    lines = axes.contour(lengths, masses, values, 8, colors="white", linewidths=0.6)
    axes.clabel(lines, fontsize=6.5)
    ten = axes.contour(lengths, masses, turn, [10.0], colors=VERMILION, linewidths=2.0)
    axes.set_facecolor("#e4e7eb")
    axes.grid(visible=False)
    axes.set(xlabel="length of the tail [m]", title=title)
    figure.colorbar(drawn, ax=axes, label=label, aspect=30)
panels[0].set_ylabel("mass of the tail [kg]")
panels[0].text(0.79, 1.96, "a leg becomes\nstraight", ha="right", va="top", color=INK)
line = ten.allsegs[0][0]  # the designs that turn the torso by 10°
inertia = line[:, 1] * line[:, 0] ** 2 / 3  # of the tail about its hinge [kg m²]
print(f"10° take {inertia.min():.4f} to {inertia.max():.4f} kg m², from {line[0].round(2)} to {line[-1].round(2)}")
plt.show()
# %%
# **What one sees.** On the red line, where the torso turns by 10°, the tail's inertia about its hinge hardly changes,
# and so neither does the torque: length counts twice. Grey designs were not forgotten; their runs ended early.
#
# **Try next:** ``tailwork sweep liu2020 --vary tail.length=0.2:0.8:50 --vary tail.mass=0.2:2:50`` for tables and a
# report.
