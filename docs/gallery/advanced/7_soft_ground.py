r"""
From soft ground to pinned feet
===============================

**Objective:** see what pinning the feet means. It is the limit of ever stiffer ground, as long as feet push and do not
slip. The same tail motion, 40° to the right in 0.15 s, is simulated with pinned feet and on ground that gives way under
each foot as a spring of stiffness :math:`k` (with damping and friction). How far the torsos are apart must fall as
:math:`1/k`. The method for such ground errs in proportion to its step, so each difference is taken from two runs, with
steps of which one is half the other, and extrapolated to none.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.studies import Scenario, yaw
from tailwork.studies.compare.ground_comparison import compare_grounds, grounds_for
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, ORANGE, VERMILION

robot, stiffnesses = tailwork.robots.liu2020("pendulum"), np.array([1e4, 3e4, 1e5, 3e5])  # [N/m]
scenario = Scenario(robot, yaw(40, duration=0.15), policy="constant")
found = compare_grounds(scenario, grounds_for(robot, stiffnesses))
fall = found.convergence()  # largest differences while all feet stick
print(f"difference ~ k^{fall.place_slope:.3f} in place, k^{fall.attitude_slope:.3f} in attitude")

plt.rcParams.update(RC)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.2, 3.0), layout="constrained")
for ground, color in zip(found.grounds, (VERMILION, ORANGE, GREEN, BLUE), strict=True):
    label = f"{ground.ground.stiffness:.0e} N/m".replace("e+0", "e")
    time, apart = 1e3 * ground.times[1:], 1e6 * ground.place_difference[1:]
    left.plot(1e3 * ground.run.data["time"], 1e3 * ground.run.data["q"].sel(coordinate="z"), color=color, label=label)
    middle.semilogy(time, apart, color=color)
    right.loglog(ground.ground.stiffness, 1e6 * ground.place_difference.max(), "o", color=color)
left.plot(1e3 * found.pinned.data["time"], 1e3 * found.pinned.data["q"].sel(coordinate="z"), color=INK, label="pinned")
right.loglog(stiffnesses, 1e6 * fall.place[-1] * stiffnesses[-1] / stiffnesses, ":", color=INK, label="$1/k$")
left.set(xlabel="time [ms]", ylabel="height of the torso [mm]")
middle.set(xlabel="time [ms]", ylabel="torso from pinned [µm]", ylim=(1e-2, 2e2))
right.set(xlabel="stiffness $k$ [N/m]", ylabel="largest difference [µm]", ylim=(1, 200))
right.legend()
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
plt.show()
# %%
# **What one sees.** On soft ground the robot stands lower; in the middle that is taken off. What remains falls in
# proportion: ten times the stiffness, a tenth of the difference.
#
# **Try next:** ``yaw(80)``, where feet slip in the end and no stiffness helps; ``tailwork ground`` draws all of it.
