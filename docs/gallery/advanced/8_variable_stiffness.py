r"""
Compliant for slow tasks, rigid for fast ones
=============================================

**Objective:** try what Liu & Ben-Tzvi 2020 suggest at the end of their Sect. 5.3: a tail of changing stiffness.
A USRT on a torso in the air first meets an obstacle, 3 N to the side at its tip for 0.2 s, and then bends to the right
within 0.15 s. It does both with soft joints, with stiff ones, and with joints that are switched in between; its cables
follow the same curvature with the same gains, and feed forward the stiffness of the fast task.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.control import CurvatureTracking, PiecewiseCubic, Stiffness, held
from tailwork.robots import Usrt, liu2020
from tailwork.simulation import Force, pulse
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, VERMILION

SOFT, STIFF, BEND = 4.0, 80.0, np.radians(45.0)  # N m/rad of each joint; of each segment [rad]
tail = Usrt(bending_stiffness=SOFT, bending_damping=0.1, extension_stiffness=(0.0,), mount=(0.0, -0.25, 0.0),
            stiffness_range=(SOFT, STIFF), stiffness_rate=1200.0)  # fmt: skip
model = tailwork.Model(liu2020(None).without("legs").with_part("tail", tail), "none")
start, still = (np.zeros(18), np.zeros(18)), (held(0.0), held(0.0))
swing = PiecewiseCubic(times=(0.6, 0.75), values=(0.0, BEND))
switch = PiecewiseCubic(times=(0.48, 0.58), values=(SOFT, STIFF))
obstacle = Force(limb="tail", joint="theta_6", point=(0.0, -0.08, 0.0), x=pulse(3.0, 0.2, 0.1))
tip, theta = model.point_names.index("tail.tip"), ["theta" in name for name in model.coordinate_names]
cases = {"soft": (held(SOFT), SOFT, GREEN), "stiff": (held(STIFF), STIFF, VERMILION), "switched": (switch, STIFF, BLUE)}
runs, found = {}, {}

plt.rcParams.update(RC)
figure, panels = plt.subplots(1, 2, figsize=(7.2, 2.8), layout="constrained")
for name, (profile, last, color) in cases.items():
    follow = CurvatureTracking(limb="tail", pitch=still, yaw=(swing, swing), kp=20.0, kd=1.0, stiffness=last)
    laws = (Stiffness(actuator="tail.stiffness", profile=profile), follow)
    run = tailwork.simulate(model, start, 1.0, control=laws, forces=obstacle, samples=1001, rtol=1e-7)
    t, q = run.data["time"].to_numpy(), run.data["q"].to_numpy()
    bend, wanted = q[:, theta].sum(axis=1), np.array([2.0 * float(swing.value(float(x))) for x in t])
    error, slow, yaw, away = np.degrees(bend - wanted), t < 0.48, q[:, 5], model.points(q)[:, tip] - q[:, :3]
    aside = 1e3 * (away[:, 0] * np.cos(yaw) + away[:, 1] * np.sin(yaw))  # of the tip, as the torso sees it [mm]
    found[name] = {"gives way [mm]": np.abs(aside[slow]).max(), "torso, slow [°]": np.degrees(np.abs(yaw[slow]).max()),
                   "error, fast [°]": np.sqrt(np.mean(error[~slow] ** 2)), "swings on [°]": np.ptp(error[t > 0.8]),
                   "torso, fast [°]": np.degrees(np.ptp(yaw[~slow]))}  # fmt: skip
    runs[name] = run
    print(f"{name:9}" + "  ".join(f"{what} {value:.2f}" for what, value in found[name].items()))
    panels[0].plot(t, np.degrees(bend), color=color, label=name)
    panels[1].plot(t, np.degrees(yaw), color=color)
panels[0].plot(t, np.degrees(wanted), ":", color=INK, label="wanted")
panels[0].set(xlabel="time [s]", ylabel="bend of the tail [°]")
panels[1].set(xlabel="time [s]", ylabel="yaw of the torso [°]")
panels[0].legend()
plt.show()
# %%
# **What one sees.** Soft joints give way to the obstacle three times as far, and swing on after the bend nearly twice
# as far as stiff ones, which follow better. Switched joints do in each task what the better of the two does.
#
# **Try next:** ``stiffness_rate=500.0``, which is too slow for the switch; a ``Continuum`` with a ``stiffness_range``.
